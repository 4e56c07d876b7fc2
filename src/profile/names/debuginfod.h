/* profile/names/debuginfod.h -- debug files from the servers that DEBUGINFOD_URLS names
 * (debuginfod of elfutils): GET URL/buildid/ID/debuginfo. Nobody is asked if the variable is not
 * set. */
#ifndef PT_PROFILE_NAMES_DEBUGINFOD_H
#define PT_PROFILE_NAMES_DEBUGINFOD_H

#include "http/client.h"

struct pt_debuginfod {
    const char *urls; /* with blanks between them; NULL: none */
    struct pt_http_client client;
};

/* 0 or -errno with words; 0 also if there is nobody to ask. */
int pt_debuginfod_open(struct pt_debuginfod *d, struct pt_err *err) PT_MUST_CHECK;
/* A descriptor of the file, for the caller to close, or -1. `debuginfod` is one. */
int pt_debuginfod_fetch(void *debuginfod, const char *build_id);
void pt_debuginfod_close(struct pt_debuginfod *d);

#endif
