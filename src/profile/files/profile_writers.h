/* profile/files/profile_writers.h -- profiles as files; the ending of the name chooses the
 * format. */
#ifndef PT_PROFILE_FILES_PROFILE_WRITERS_H
#define PT_PROFILE_FILES_PROFILE_WRITERS_H

#include "profile/model/profile.h"

#include "base/out.h"

struct pt_profile_writer {
    const char *ending; /* ".folded"; where two fit, the longer */
    const char *help;
    /* Errors stick to `out`. */
    void (*write)(const struct pt_profile *p, struct pt_out *out);
};

/* NULL after the last. profile_writers.c */
extern const struct pt_profile_writer *const pt_profile_writers[];

/* The writer for a name of a file, or NULL. */
const struct pt_profile_writer *pt_profile_writer_for(const char *path);

/* Their endings, for lists of choices; NULL after the last. */
const char *pt_profile_ending(size_t index);

/* Is there a writer for the name? 0 or -EINVAL with words that list the known endings. */
int pt_profile_check_path(const char *path, struct pt_err *err) PT_MUST_CHECK;

/* 0 or -errno with words; an unknown ending (-EINVAL) lists those that are known. */
int pt_profile_write(const struct pt_profile *p, const char *path,
                     struct pt_err *err) PT_MUST_CHECK;

/* "pitot-cpu-20261116-093042-4242.html": the kind, when it began, and the process. */
void pt_profile_name_page(const struct pt_profile *p, int32_t pid, char *into, size_t capacity);

/* The data that the page of web/flame draws, as JSON: docs/PROFILES.md. flame_page.c */
void pt_profile_write_page_data(const struct pt_profile *p, struct pt_out *out);

/* Each in the file of its name. */
extern const struct pt_profile_writer pt_html_writer;
extern const struct pt_profile_writer pt_svg_writer;
extern const struct pt_profile_writer pt_folded_writer;
extern const struct pt_profile_writer pt_speedscope_writer;
extern const struct pt_profile_writer pt_pprof_writer;
extern const struct pt_profile_writer pt_chrome_trace_writer;
extern const struct pt_profile_writer pt_firefox_writer;
extern const struct pt_profile_writer pt_saved_writer;

#endif
