/* report/diff_text.h -- comparison of two sets of runs as text, Markdown and JSON. */
#ifndef PT_REPORT_DIFF_TEXT_H
#define PT_REPORT_DIFF_TEXT_H

#include "analyze/compare.h"
#include "analyze/setting.h"
#include "base/out.h"
#include "store/subject.h"

struct pt_diff {
    struct pt_comparisons comparisons;
    struct pt_subject subject;      /* of all runs */
    struct pt_settings settings[2]; /* of the first run of each side */
    const char *names[2];           /* as given; borrowed */
    const struct pt_gate *gates;    /* borrowed */
    size_t gate_count;
};

enum pt_diff_status { PT_DIFF_PASS, PT_DIFF_REGRESSION, PT_DIFF_INCONCLUSIVE };

/* From the gates. Without gates: regression if a metric is worse, inconclusive if nothing could be
 * compared. */
enum pt_diff_status pt_diff_status(const struct pt_diff *d);

void pt_diff_print(const struct pt_diff *d, struct pt_out *out);
void pt_diff_print_markdown(const struct pt_diff *d, struct pt_out *out);
void pt_diff_print_json(const struct pt_diff *d, struct pt_out *out);

#endif
