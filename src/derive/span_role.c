#include "derive/span_role.h"

#include "base/mem.h"

#include <ctype.h>

/* Parts would count a step inside a step twice: total_step, optimizer_step. */
static const struct {
    const char *name;
    bool is_part;
    enum pt_span_role role;
} names[] = {
    { "step", false, PT_SPAN_STEP },
    { "trainstep", false, PT_SPAN_STEP },
    { "trainingstep", false, PT_SPAN_STEP },
    { "data", false, PT_SPAN_DATA_WAIT },
    { "datawait", false, PT_SPAN_DATA_WAIT },
    { "nextbatch", false, PT_SPAN_DATA_WAIT },
    { "getbatch", false, PT_SPAN_DATA_WAIT },
    { "loadbatch", false, PT_SPAN_DATA_WAIT },
    { "fetchbatch", false, PT_SPAN_DATA_WAIT },
    { "dataload", true, PT_SPAN_DATA_WAIT },
    { "loaddata", true, PT_SPAN_DATA_WAIT },
    { "allreduce", true, PT_SPAN_COLLECTIVE },
    { "allgather", true, PT_SPAN_COLLECTIVE },
    { "reducescatter", true, PT_SPAN_COLLECTIVE },
    { "alltoall", true, PT_SPAN_COLLECTIVE },
    { "broadcast", true, PT_SPAN_COLLECTIVE },
    { "barrier", true, PT_SPAN_COLLECTIVE },
    { "nccl", true, PT_SPAN_COLLECTIVE },
};

enum pt_span_role pt_span_role(struct pt_str name) {
    char plain[64];
    size_t length = 0;
    for (size_t i = 0; i < name.len && length + 1 < sizeof plain; i++)
        if (isalnum((unsigned char)name.at[i]))
            plain[length++] = (char)tolower((unsigned char)name.at[i]);
    plain[length] = 0;
    for (size_t i = 0; i < PT_COUNT(names); i++)
        if (names[i].is_part ? strstr(plain, names[i].name) != NULL
                             : strcmp(plain, names[i].name) == 0)
            return names[i].role;
    return PT_SPAN_OTHER;
}
