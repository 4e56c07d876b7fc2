/* The schema inside a journal: every table, source and column, so that a program with other tables
 * can read it. Nested parts have a length: a newer minor version may append to each. */
#include "store/journal_format.h"

#include <stdlib.h>
#include <zlib.h>

#define TABLES_MAX  1024
#define COLUMNS_MAX 4096
#define SOURCES_MAX 64
#define NAME_MAX_   128
#define HELP_MAX    4096
#define BYTES_MAX   (16u << 20)
#define ZLIB_LEVEL  4 /* higher ones save 2 % and take twice as long */

enum { TABLE_IS_UNTIMED = 1, TABLE_HAS_SECTION = 2 };

static void put_text(struct pt_buf *into, const char *text) {
    pt_buf_lstr(into, pt_str_from(text ? text : ""));
}

static void put_part(struct pt_buf *into, struct pt_buf *part) {
    pt_buf_lstr(into, pt_buf_as_str(part));
    pt_buf_release(part);
}

static void put_column(struct pt_buf *into, const struct pt_column *c) {
    struct pt_buf part = { 0 };
    put_text(&part, c->name);
    put_text(&part, c->short_name);
    pt_buf_u8(&part, (uint8_t)c->kind);
    pt_buf_u8(&part, (uint8_t)c->type);
    put_text(&part, pt_units[c->unit].name);
    pt_buf_u8(&part, c->source);
    put_text(&part, c->help);
    put_part(into, &part);
}

static void put_table(struct pt_buf *into, const struct pt_table *t) {
    struct pt_buf part = { 0 };
    put_text(&part, t->name);
    put_text(&part, t->file);
    pt_buf_u8(&part, (uint8_t)((t->is_untimed ? TABLE_IS_UNTIMED : 0) |
                               (t->section ? TABLE_HAS_SECTION : 0)));
    put_text(&part, t->section);
    put_text(&part, t->help);
    pt_buf_varint(&part, t->source_count);
    for (uint16_t i = 0; i < t->source_count; i++)
        put_text(&part, t->sources[i]);
    pt_buf_varint(&part, t->column_count);
    for (uint16_t i = 0; i < t->column_count; i++)
        put_column(&part, &t->columns[i]);
    put_part(into, &part);
}

void pt_journal_put_schema(const struct pt_schema *schema, struct pt_buf *into) {
    pt_buf_varint(into, schema->table_count);
    for (uint32_t i = 0; i < schema->table_count; i++)
        put_table(into, schema->tables[i]);
}

/* FNV-1a */
uint64_t pt_journal_schema_id(struct pt_str payload) {
    uint64_t id = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < payload.len; i++)
        id = (id ^ (uint8_t)payload.at[i]) * UINT64_C(0x100000001b3);
    return id;
}

/* By zlib: the code and tables of zstd would be a tenth of the memory of a recording. */
void pt_journal_pack_schema(struct pt_str payload, struct pt_buf *into) {
    uLongf bytes = compressBound(payload.len);
    pt_buf_varint(into, payload.len);
    if (compress2(pt_buf_reserve(into, bytes), &bytes, (const Bytef *)payload.at, payload.len,
                  ZLIB_LEVEL)) /* the bound is that of zlib */
        pt_mem_exhausted(bytes);
    into->len += bytes;
}

bool pt_journal_unpack_schema(struct pt_bytes from, struct pt_buf *payload) {
    uint64_t len = pt_bytes_varint(&from);
    if (from.failed || len == 0 || len > BYTES_MAX)
        return false;
    uLongf n = (uLongf)len;
    int rc =
        uncompress(pt_buf_reserve(payload, (size_t)len), &n, from.at, (uLong)(from.end - from.at));
    if (rc != Z_OK || n != len)
        return false;
    payload->len += n;
    return true;
}

static struct pt_bytes get_part(struct pt_bytes *from) {
    struct pt_str part = pt_bytes_lstr(from);
    const uint8_t *at = (const uint8_t *)part.at;
    return (struct pt_bytes){ at, at + part.len, from->failed };
}

static uint16_t get_count(struct pt_bytes *from, uint16_t limit) {
    uint64_t count = pt_bytes_varint(from);
    if (count > limit || count > (uint64_t)(from->end - from->at))
        from->failed = true;
    return from->failed ? 0 : (uint16_t)count;
}

static bool is_word_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

/* Names of tables become names of files. */
static char *get_word(struct pt_bytes *from, bool may_be_empty) {
    struct pt_str word = pt_bytes_lstr(from);
    from->failed |= word.len > NAME_MAX_ || (word.len == 0 && !may_be_empty);
    for (size_t i = 0; i < word.len && !from->failed; i++)
        from->failed = !is_word_char(word.at[i]);
    return pt_strndup(from->failed ? PT_STR("") : word);
}

/* Any bytes but control characters. */
static char *get_text(struct pt_bytes *from, size_t limit) {
    struct pt_str text = pt_bytes_lstr(from);
    from->failed |= text.len > limit;
    for (size_t i = 0; i < text.len && !from->failed; i++)
        from->failed = (uint8_t)text.at[i] < ' ' || text.at[i] == 0x7f;
    return pt_strndup(from->failed ? PT_STR("") : text);
}

/* An unknown unit becomes "none"; the values are unchanged. */
static enum pt_unit get_unit(struct pt_bytes *from) {
    struct pt_str name = pt_bytes_lstr(from);
    for (int i = 0; i < PT_UNIT_COUNT; i++)
        if (pt_str_eq(name, pt_str_from(pt_units[i].name)))
            return (enum pt_unit)i;
    return PT_NONE;
}

static unsigned get_enum(struct pt_bytes *from, unsigned last) {
    unsigned value = pt_bytes_u8(from);
    from->failed |= value > last;
    return from->failed ? 0 : value;
}

static void get_column(struct pt_bytes *from, const struct pt_table *t, struct pt_column *c) {
    struct pt_bytes part = get_part(from);
    c->name = get_text(&part, NAME_MAX_);
    c->short_name = get_word(&part, false);
    c->kind = (enum pt_kind)get_enum(&part, PT_COUNTER);
    c->type = (enum pt_type)get_enum(&part, PT_STRING);
    c->unit = get_unit(&part);
    c->source = pt_bytes_u8(&part);
    c->help = get_text(&part, HELP_MAX);
    part.failed |= c->name[0] == 0;
    part.failed |= pt_column_is_timed(t, c) && c->source >= t->source_count;
    from->failed |= part.failed;
}

static void get_columns(struct pt_bytes *from, struct pt_table *t) {
    uint16_t count = get_count(from, COLUMNS_MAX);
    struct pt_column *columns = pt_calloc(count, sizeof *columns);
    t->columns = columns;
    for (; t->column_count < count && !from->failed; t->column_count++)
        get_column(from, t, &columns[t->column_count]);
    pt_table_describe(t, columns);
    from->failed |= t->column_count == 0;
}

static void get_sources(struct pt_bytes *from, struct pt_table *t) {
    uint16_t count = get_count(from, SOURCES_MAX);
    const char **sources = pt_calloc(count, sizeof *sources);
    t->sources = sources;
    for (; t->source_count < count && !from->failed; t->source_count++)
        sources[t->source_count] = get_text(from, NAME_MAX_);
}

static struct pt_table *get_table(struct pt_bytes *from) {
    struct pt_bytes part = get_part(from);
    struct pt_table *t = pt_calloc(1, sizeof *t);
    t->name = get_word(&part, false);
    t->file = get_word(&part, true);
    unsigned flags = pt_bytes_u8(&part);
    t->is_untimed = flags & TABLE_IS_UNTIMED;
    t->section = get_word(&part, true);
    if (!(flags & TABLE_HAS_SECTION)) {
        pt_free((char *)t->section);
        t->section = NULL;
    }
    t->help = get_text(&part, HELP_MAX);
    get_sources(&part, t);
    get_columns(&part, t);
    from->failed |= part.failed;
    return t;
}

static void free_table(struct pt_table *t) {
    for (uint16_t i = 0; i < t->column_count; i++) {
        pt_free((char *)t->columns[i].name);
        pt_free((char *)t->columns[i].short_name);
        pt_free((char *)t->columns[i].help);
    }
    for (uint16_t i = 0; i < t->source_count; i++)
        pt_free((char *)t->sources[i]);
    pt_free((struct pt_column *)t->columns);
    pt_free((const char **)t->sources);
    pt_free((char *)t->name);
    pt_free((char *)t->file);
    pt_free((char *)t->section);
    pt_free((char *)t->help);
    pt_free(t);
}

void pt_journal_free_tables(struct pt_table **tables, uint32_t table_count) {
    for (uint32_t i = 0; i < table_count; i++)
        free_table(tables[i]);
    pt_free(tables);
}

static int compare_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts the list and releases it. */
static bool has_duplicates(const char **names, size_t count) {
    bool found = false;
    qsort(names, count, sizeof *names, compare_text);
    for (size_t i = 1; i < count; i++)
        found |= strcmp(names[i - 1], names[i]) == 0;
    pt_free(names);
    return found;
}

static bool has_duplicate_tables(struct pt_table **tables, uint32_t count) {
    const char **names = pt_calloc(count, sizeof *names);
    for (uint32_t i = 0; i < count; i++)
        names[i] = tables[i]->name;
    return has_duplicates(names, count);
}

/* Two tables of one file would overwrite each other; only the main file joins tables. */
static bool has_duplicate_files(struct pt_table **tables, uint32_t count) {
    const char **files = pt_calloc(count, sizeof *files);
    size_t file_count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (tables[i]->file[0])
            files[file_count++] = tables[i]->file;
    return has_duplicates(files, file_count);
}

/* The tables of the main file are joined on their keys: those are one column of it. */
static size_t add_main_names(const struct pt_table *t, const char **names, size_t count) {
    size_t added = 0;
    for (uint16_t i = 0; i < t->column_count; i++) {
        bool is_joined = false;
        for (size_t k = 0; t->columns[i].kind == PT_KEY && k < count; k++)
            is_joined |= strcmp(names[k], t->columns[i].name) == 0;
        if (!is_joined)
            names[count + added++] = t->columns[i].name;
    }
    return added;
}

static bool has_duplicate_columns(struct pt_table **tables, uint32_t count) {
    const char **main_names = pt_calloc(count, COLUMNS_MAX * sizeof *main_names);
    size_t main_count = 0;
    bool found = false;
    for (uint32_t i = 0; i < count && !found; i++) {
        if (tables[i]->file[0] == 0) {
            main_count += add_main_names(tables[i], main_names, main_count);
            continue;
        }
        const char **names = pt_calloc(tables[i]->column_count, sizeof *names);
        for (uint16_t k = 0; k < tables[i]->column_count; k++)
            names[k] = tables[i]->columns[k].name;
        found = has_duplicates(names, tables[i]->column_count);
    }
    return has_duplicates(main_names, main_count) || found;
}

struct pt_table **pt_journal_get_schema(struct pt_bytes from, uint32_t *table_count) {
    uint32_t count = get_count(&from, TABLES_MAX), filled = 0;
    struct pt_table **tables = pt_calloc(count, sizeof *tables);
    for (; filled < count && !from.failed; filled++)
        tables[filled] = get_table(&from);
    if (from.failed || count == 0 || has_duplicate_tables(tables, count) ||
        has_duplicate_files(tables, count) || has_duplicate_columns(tables, count)) {
        pt_journal_free_tables(tables, filled);
        return NULL;
    }
    *table_count = count;
    return tables;
}
