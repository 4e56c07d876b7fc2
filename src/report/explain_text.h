/* report/explain_text.h -- the bottleneck of a run as text and as JSON. */
#ifndef PT_REPORT_EXPLAIN_TEXT_H
#define PT_REPORT_EXPLAIN_TEXT_H

#include "analyze/death.h"
#include "analyze/verdict.h"
#include "analyze/window.h"
#include "base/out.h"
#include "store/subject.h"

struct pt_explained_run {
    struct pt_explanation explanation;
    struct pt_subject subject;
    char uuid[37];
    int64_t start_wall_ns;
    struct pt_cause cause;           /* why the command ended, or why the run was kept */
    bool is_complete;                /* the recording ended normally */
    bool has_figures;                /* not of a merged run */
    double figures[PT_FIGURE_COUNT]; /* over the whole run; NAN: unknown */
};

/* Explains a run from samples that the caller reads. Not for merged runs. */
struct pt_explainer {
    struct pt_windows *windows;
};
void pt_explainer_init(struct pt_explainer *e, const struct pt_schema *schema);
void pt_explainer_add(struct pt_explainer *e, const struct pt_sample *sample);
/* After the last sample. Uses the notes of the reader and the profiles next to the journal. */
void pt_explainer_finish(const struct pt_explainer *e, const struct pt_journal_reader *reader,
                         const char *journal, struct pt_explained_run *run);
void pt_explainer_release(struct pt_explainer *e);

/* Reads and explains a run; for a merged run each rank and all ranks together. 0 or -errno. */
int pt_explain_run(struct pt_explained_run *run, const char *journal,
                   struct pt_err *err) PT_MUST_CHECK;

/* The verdict first, then its numbers; fits on one screen. */
void pt_explain_print(const struct pt_explained_run *run, struct pt_out *out);

/* The object of docs/EXPLAIN.md: {"status", "verdicts": [{"id", "share", ...}], "figures"}. Times
 * are seconds since `start`, which is Unix milliseconds. */
void pt_explain_print_json(const struct pt_explained_run *run, struct pt_out *out);

#endif
