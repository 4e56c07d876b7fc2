/* tests/unit/json_text.h -- reads back JSON that was written to a pt_out, with jansson. */
#ifndef PT_TEST_JSON_TEXT_H
#define PT_TEST_JSON_TEXT_H

#include "test.h"

#include "base/mem.h"
#include "base/out.h"

#include <jansson.h>
#include <sys/mman.h>
#include <unistd.h>

/* A file in memory to write to. */
static inline void memory_open(struct pt_out *out) {
    pt_out_borrow(out, memfd_create("test", MFD_CLOEXEC));
}

/* Closes it and returns what was written; the caller frees it. */
static inline char *memory_text(struct pt_out *out) {
    int fd = out->fd;
    assert_int_equal(pt_out_close(out), 0);
    off_t size = lseek(fd, 0, SEEK_END);
    char *text = pt_malloc((size_t)size + 1);
    assert_int_equal(pread(fd, text, (size_t)size, 0), size);
    text[size] = 0;
    close(fd);
    return text;
}

static inline json_t *parsed(const char *text) {
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        fail_msg("line %d: %s", error.line, error.text);
    return root;
}

/* The value at a path like "host.vCpuCache.L1d" or "disks.0.name"; it must be there. */
static inline json_t *at(json_t *value, const char *path) {
    for (const char *name = path; *name;) {
        size_t n = strcspn(name, ".");
        char key[128];
        pt_str_copy(key, sizeof key, (struct pt_str){ name, n });
        value = json_is_array(value) ? json_array_get(value, strtoul(key, NULL, 10))
                                     : json_object_get(value, key);
        if (!value)
            fail_msg("no %s", path);
        name += n + (name[n] == '.');
    }
    return value;
}

static inline void assert_text(json_t *root, const char *path, const char *expected) {
    json_t *value = at(root, path);
    if (!json_is_string(value))
        fail_msg("%s is not a string", path);
    assert_string_equal(json_string_value(value), expected);
}

static inline void assert_number(json_t *root, const char *path, double expected) {
    json_t *value = at(root, path);
    if (!json_is_number(value) || json_number_value(value) != expected)
        fail_msg("%s is not %.17g", path, expected);
}

static inline void assert_null_at(json_t *root, const char *path) {
    if (!json_is_null(at(root, path)))
        fail_msg("%s is not null", path);
}

#endif
