/* store/static_field.h -- helpers for the sections of the static file: a kernel file becomes a
 * field, or null if it is unreadable or empty. */
#ifndef PT_STORE_STATIC_FIELD_H
#define PT_STORE_STATIC_FIELD_H

#include "base/fs.h"
#include "base/json.h"

/* Empty text is null. */
void pt_static_text(struct pt_json *j, const char *key, struct pt_str text);
/* The first line of a file. */
void pt_static_line(struct pt_json *j, const char *key, int directory, const char *path);
/* The choice in "always [madvise] never". */
void pt_static_choice(struct pt_json *j, const char *key, int directory, const char *path);
/* A non-negative integer: -1 is how drivers say unknown. */
void pt_static_count(struct pt_json *j, const char *key, int directory, const char *path);

/* The number behind `name` in a text of "name: 5 kB" lines, in bytes; -ENODATA if there is none. */
int pt_static_find_kib(struct pt_scan text, struct pt_str name, int64_t *bytes) PT_MUST_CHECK;

/* The names in a directory, "node2" before "node10"; empty if it cannot be read. */
struct pt_static_names {
    char **at;
    size_t count, capacity;
};

void pt_static_names_read(struct pt_static_names *n, int directory, const char *path);
void pt_static_names_release(struct pt_static_names *n);

#endif
