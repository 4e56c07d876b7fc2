/* profile/names/debuginfod.h -- downloads debug files from the servers in DEBUGINFOD_URLS (elfutils
 * debuginfod): GET URL/buildid/ID/debuginfo. Without the variable, no server is contacted. */
#ifndef PT_PROFILE_NAMES_DEBUGINFOD_H
#define PT_PROFILE_NAMES_DEBUGINFOD_H

#include "http/client.h"

struct pt_debuginfod {
    const char *urls; /* separated by blanks; NULL: none */
    struct pt_http_client client;
};

/* 0 or -errno with a message; 0 also if there is no server. */
int pt_debuginfod_open(struct pt_debuginfod *d, struct pt_err *err) PT_MUST_CHECK;
/* A descriptor of the file, which the caller closes, or -1. `debuginfod` is a struct pt_debuginfod.
 */
int pt_debuginfod_fetch(void *debuginfod, const char *build_id);
void pt_debuginfod_close(struct pt_debuginfod *d);

#endif
