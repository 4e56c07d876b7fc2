/* report/rules_page.h -- `pitot docs explain`: the verdicts of `pitot explain` and their conditions
 * as Markdown. */
#ifndef PT_REPORT_RULES_PAGE_H
#define PT_REPORT_RULES_PAGE_H

#include "base/out.h"

void pt_rules_page_print(struct pt_out *out);

#endif
