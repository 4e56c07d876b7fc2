/* serve/dashboard_page_parts.h -- the parts of web/dashboard; made by tools/embed-dashboard. */
#ifndef PT_SERVE_DASHBOARD_PAGE_PARTS_H
#define PT_SERVE_DASHBOARD_PAGE_PARTS_H

extern const char pt_dashboard_html[], pt_dashboard_css[], pt_dashboard_js[];

#endif
