#include "libpitot/json_text.h"

#include "libpitot/drain.h"

#include <stdlib.h>

char *pt_json_text_new(pt_json_function *write, const void *what) {
    struct pt_text_memory text = { 0 };
    struct pt_out out;
    char *buffer = malloc(PT_OUT_BUFFER);
    if (!buffer)
        return NULL;
    pt_out_through(&out, buffer, pt_drain_memory, &text);
    struct pt_json json = { .out = &out };
    write(&json, what);
    pt_out_char(&out, '\0');
    int rc = pt_out_close(&out);
    free(buffer);
    if (!rc)
        return text.at;
    free(text.at);
    return NULL;
}
