#include "launch/descriptors.h"

#define KEPT_LIMIT   8192
#define RAISED_LIMIT 65536
/* For the host's files, the mounts of cgroups, the journal, sockets and files that are written. */
#define OTHERS 44

bool pt_descriptors_raise(struct rlimit *old_limit) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, old_limit))
        return false;
    limit = *old_limit;
    if (limit.rlim_cur >= RAISED_LIMIT)
        return false;
    limit.rlim_cur = limit.rlim_max < RAISED_LIMIT ? limit.rlim_max : RAISED_LIMIT;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

int pt_descriptors_budget(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur / 2 > KEPT_LIMIT)
        return KEPT_LIMIT / 2;
    return limit.rlim_cur > OTHERS ? (int)(limit.rlim_cur - OTHERS) / 4 : 0;
}
