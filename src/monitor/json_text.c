#include "monitor/json_text.h"

#include <errno.h>
#include <stdlib.h>

struct text {
    char *at;
    size_t length, capacity;
};

/* One byte more than asked for, for the zero at the end. */
static int append(void *arg, const void *bytes, size_t n) {
    struct text *text = arg;
    if (text->capacity - text->length <= n) {
        size_t capacity = 2 * text->capacity + n + 1;
        char *at = realloc(text->at, capacity);
        if (!at)
            return -ENOMEM;
        text->at = at;
        text->capacity = capacity;
    }
    memcpy(text->at + text->length, bytes, n);
    text->length += n;
    text->at[text->length] = '\0';
    return 0;
}

char *pt_json_text_new(pt_json_function *write, const void *what) {
    struct text text = { 0 };
    struct pt_out out;
    char *buffer = malloc(PT_OUT_BUFFER);
    if (!buffer)
        return NULL;
    pt_out_through(&out, buffer, append, &text);
    struct pt_json json = { .out = &out };
    write(&json, what);
    int rc = pt_out_close(&out);
    free(buffer);
    if (!rc)
        return text.at;
    free(text.at);
    return NULL;
}
