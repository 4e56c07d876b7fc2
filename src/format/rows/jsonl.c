/* format/rows/jsonl.c -- JSON Lines: one flat object per row, times in Unix milliseconds.
 *
 *     {"timestamp":1703462400000,"monotonic_ns":81234567890,"cId":"a,b","cMemoryUsed":null}
 */
#include "format/rows/formats.h"

#include "base/json.h"
#include "base/mem.h"

struct prefix {
    char *text;
    size_t len;
};

struct jsonl {
    const struct pt_view *view;
    struct pt_out *out;
    struct prefix *prefixes; /* the text before the value of a column: ,"cId": */
};

static int begin(void *state, const struct pt_view *view, struct pt_out *out) {
    struct jsonl *jsonl = state;
    *jsonl = (struct jsonl){ view, out, pt_calloc(view->column_count, sizeof *jsonl->prefixes) };
    struct pt_out scratch; /* has no file: only its buffer is used */
    pt_out_borrow(&scratch, -1);
    for (uint32_t i = 0; i < view->column_count; i++) {
        scratch.used = 0;
        pt_out_char(&scratch, i == 0 ? '{' : ',');
        pt_json_quote(&scratch, pt_str_from(view->columns[i].name));
        pt_out_char(&scratch, ':');
        struct pt_str text = { scratch.buffer, scratch.used };
        jsonl->prefixes[i] = (struct prefix){ pt_strndup(text), text.len };
    }
    pt_out_discard(&scratch);
    return 0;
}

static void write_row(void *state, const struct pt_view_row *row) {
    const struct jsonl *jsonl = state;
    struct pt_out *out = jsonl->out;
    for (uint32_t i = 0; i < jsonl->view->column_count; i++) {
        const struct pt_view_column *column = &jsonl->view->columns[i];
        pt_out_bytes(out, jsonl->prefixes[i].text, jsonl->prefixes[i].len);
        if (!row->is_null[i] && column->type == PT_STRING) {
            pt_json_quote(out, row->strings[i]);
            continue;
        }
        char *at = pt_out_reserve(out, PT_DIGITS_MAX);
        size_t n = row->is_null[i] ? 0 : pt_cell_digits(at, column, row->cells[i]);
        out->used += n;
        if (n == 0)
            pt_out_text(out, "null");
    }
    pt_out_text(out, "}\n");
}

static void end(void *state) {
    struct jsonl *jsonl = state;
    for (uint32_t i = 0; i < jsonl->view->column_count; i++)
        pt_free(jsonl->prefixes[i].text);
    pt_free(jsonl->prefixes);
}

static const struct pt_table_format format = { sizeof(struct jsonl), begin, write_row, end };

const struct pt_sink_type pt_jsonl_sink = {
    .name = "jsonl",
    .help = "JSON Lines: one flat object per row",
    .format = &format,
};
