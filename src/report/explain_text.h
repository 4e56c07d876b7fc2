/* report/explain_text.h -- what held a run back, as text and as JSON. */
#ifndef PT_REPORT_EXPLAIN_TEXT_H
#define PT_REPORT_EXPLAIN_TEXT_H

#include "analyze/death.h"
#include "analyze/verdict.h"
#include "analyze/window.h"
#include "base/out.h"

struct pt_explained_run {
    struct pt_explanation explanation;
    char uuid[37];
    int64_t start_wall_ns;
    struct pt_cause cause; /* why the command ended, or why this was kept */
    bool is_complete;      /* the recording has ended, and well */
};

/* Explains a run from samples that the caller reads anyway. Not for merged runs. */
struct pt_explainer {
    struct pt_windows *windows;
};
void pt_explainer_init(struct pt_explainer *e, const struct pt_schema *schema);
void pt_explainer_add(struct pt_explainer *e, const struct pt_sample *sample);
/* After the last sample: explains, with the notes of the reader and the profiles beside the
 * journal. */
void pt_explainer_finish(const struct pt_explainer *e, const struct pt_journal_reader *reader,
                         const char *journal, struct pt_explained_run *run);
void pt_explainer_release(struct pt_explainer *e);

/* Reads a run and explains it; of a merged run each rank, and all together. 0 or -errno. */
int pt_explain_run(struct pt_explained_run *run, const char *journal,
                   struct pt_err *err) PT_MUST_CHECK;

/* The verdict first, then its numbers; at most a screenful. */
void pt_explain_print(const struct pt_explained_run *run, struct pt_out *out);

/* The object of docs/EXPLAIN.md: {"status", "because", "verdicts": [{"id", "share", ...}]}. Times
 * are seconds since `start`, which is Unix milliseconds. */
void pt_explain_print_json(const struct pt_explained_run *run, struct pt_out *out);

#endif
