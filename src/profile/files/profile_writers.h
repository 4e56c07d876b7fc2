/* profile/files/profile_writers.h -- writes profiles to files; the extension selects the format. */
#ifndef PT_PROFILE_FILES_PROFILE_WRITERS_H
#define PT_PROFILE_FILES_PROFILE_WRITERS_H

#include "profile/model/profile.h"

#include "base/out.h"

struct pt_profile_writer {
    const char *extension; /* ".folded"; if two match, the longer one */
    const char *help;
    /* `out` keeps the first error. */
    void (*write)(const struct pt_profile *p, struct pt_out *out);
};

/* NULL after the last. profile_writers.c */
extern const struct pt_profile_writer *const pt_profile_writers[];

/* The writer for a path, or NULL. */
const struct pt_profile_writer *pt_profile_writer_for(const char *path);

/* The extensions, for lists of choices; NULL after the last. */
const char *pt_profile_extension(size_t index);

/* Is there a writer for the path? 0 or -EINVAL with a message that lists the known extensions. */
int pt_profile_check_path(const char *path, struct pt_err *err) PT_MUST_CHECK;

/* 0 or -errno with a message; for an unknown extension (-EINVAL) it lists the known ones. */
int pt_profile_write(const struct pt_profile *p, const char *path,
                     struct pt_err *err) PT_MUST_CHECK;

/* "pitot-cpu-20261116-093042-4242.html": kind, start time, process id. */
void pt_profile_name_page(const struct pt_profile *p, int32_t pid, char *into, size_t capacity);

/* The data of the page of web/flame, as JSON (docs/PROFILES.md). flame_page.c */
void pt_profile_write_page_data(const struct pt_profile *p, struct pt_out *out);

/* Appends the content of a .pitotprof, for pt_saved_parse(). saved.c */
void pt_saved_content(const struct pt_profile *p, struct pt_buf *content);

/* Each is in the file of its name. */
extern const struct pt_profile_writer pt_html_writer;
extern const struct pt_profile_writer pt_svg_writer;
extern const struct pt_profile_writer pt_folded_writer;
extern const struct pt_profile_writer pt_speedscope_writer;
extern const struct pt_profile_writer pt_pprof_writer;
extern const struct pt_profile_writer pt_chrome_trace_writer;
extern const struct pt_profile_writer pt_firefox_writer;
extern const struct pt_profile_writer pt_saved_writer;

#endif
