#include "report/leak_stack.h"

#include "base/log.h"
#include "profile/heap/leaks.h"
#include "report/run_profile.h"

#define STACKS 2
#define FRAMES 5

static void describe(const struct pt_profile *p, struct pt_verdict *v) {
    struct pt_buf text = { 0 };
    struct pt_out out;
    pt_out_memory(&out, &text);
    if (p->growth.count == 0)
        pt_out_text(&out, "no call stack of the heap profile grows throughout: the memory is "
                          "not from malloc, or was not sampled often enough");
    for (size_t i = 0; i < p->growth.count && i < STACKS; i++) {
        const struct pt_profile_growth *g = &p->growth.at[i];
        char slope[PT_LEAKS_BYTES_TEXT], bytes[PT_LEAKS_BYTES_TEXT];
        pt_out_text(&out, i ? "; " : "");
        pt_leaks_print_stack(p, g->stack, FRAMES, &out);
        pt_out_printf(&out, " (%s/s, %s live near the end)",
                      pt_leaks_bytes_text((double)g->slope, slope),
                      pt_leaks_bytes_text((double)g->bytes, bytes));
    }
    (void)pt_out_close(&out); /* memory does not fail */
    pt_str_copy(v->where, sizeof v->where, pt_buf_as_str(&text));
    pt_buf_release(&text);
}

void pt_leak_stack_add(struct pt_explanation *x, const char *journal) {
    struct pt_profile_file *file;
    struct pt_err err = { "" };
    struct pt_verdict *leak = NULL;
    for (int i = 0; i < x->verdict_count && !leak; i++)
        if (strcmp(x->verdicts[i].rule->id, "memory-leak") == 0)
            leak = &x->verdicts[i];
    if (!leak)
        return;
    if (pt_run_profile_read(&file, journal, "heap", &err))
        pt_log(PT_LOG_WARNING, "%s", err.text);
    else if (file)
        describe(&file->profile, leak);
    pt_run_profile_free(file);
}
