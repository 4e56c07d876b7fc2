/* profile/files/flame_page_parts.h -- the page of web/flame before and after its data; made by
 * tools/embed-page. */
#ifndef PT_PROFILE_FILES_FLAME_PAGE_PARTS_H
#define PT_PROFILE_FILES_FLAME_PAGE_PARTS_H

extern const char pt_flame_page_head[], pt_flame_page_tail[];

#endif
