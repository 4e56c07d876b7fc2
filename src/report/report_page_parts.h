/* report/report_page_parts.h -- the page of web/report, cut where the data and the numbers go;
 * made by tools/embed-report. */
#ifndef PT_REPORT_REPORT_PAGE_PARTS_H
#define PT_REPORT_REPORT_PAGE_PARTS_H

/* All NULL in a build that could not get the page's chart library. */
extern const char *const pt_report_page_head, *const pt_report_page_middle,
                                                  *const pt_report_page_tail;

#endif
