#include "store/static_field.h"

#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

void pt_static_text(struct pt_json *j, const char *key, struct pt_str text) {
    if (text.len > 0)
        pt_json_str(j, key, text);
    else
        pt_json_null(j, key);
}

/* Device models are padded with blanks. */
static struct pt_str trimmed(const char *line) {
    struct pt_str s = pt_str_from(line);
    while (s.len > 0 && s.at[0] == ' ')
        s = pt_str_skip(s, 1);
    while (s.len > 0 && s.at[s.len - 1] == ' ')
        s.len--;
    return s;
}

void pt_static_line(struct pt_json *j, const char *key, int directory, const char *path) {
    char line[1024];
    int rc = pt_fs_read_line(directory, path, line, sizeof line);
    pt_static_text(j, key, rc ? PT_STR("") : trimmed(line));
}

void pt_static_choice(struct pt_json *j, const char *key, int directory, const char *path) {
    char line[256];
    int rc = pt_fs_read_line(directory, path, line, sizeof line);
    struct pt_scan s = pt_scan_of(pt_str_from(rc ? "" : line));
    (void)pt_scan_until(&s, '[');
    struct pt_str choice = pt_scan_until(&s, ']');
    /* a file that offers no choice names the only one */
    if (s.failed && !rc && !strchr(line, ' '))
        choice = trimmed(line);
    pt_static_text(j, key, choice);
}

void pt_static_count(struct pt_json *j, const char *key, int directory, const char *path) {
    int64_t value;
    if (!pt_fs_read_i64(directory, path, &value) && value >= 0)
        pt_json_i64(j, key, value);
    else
        pt_json_null(j, key);
}

int pt_static_find_kib(struct pt_scan text, struct pt_str name, int64_t *bytes) {
    struct pt_scan line;
    while (pt_scan_line(&text, &line)) {
        const char *found = memmem(line.at, (size_t)(line.end - line.at), name.at, name.len);
        if (!found)
            continue;
        line.at = found + name.len;
        int64_t kib = pt_scan_i64(&line);
        if (line.failed || kib < 0 || kib > INT64_MAX / 1024)
            return -EINVAL;
        *bytes = kib * 1024;
        return 0;
    }
    return -ENODATA;
}

static int by_version(const void *a, const void *b) {
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

void pt_static_names_read(struct pt_static_names *n, int directory, const char *path) {
    DIR *entries = pt_fs_list(directory, path);
    if (!entries)
        return;
    for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
        if (entry->d_name[0] == '.')
            continue;
        pt_grow(&n->at, &n->capacity, n->count + 1, sizeof n->at[0]);
        n->at[n->count++] = pt_strdup(entry->d_name);
    }
    closedir(entries);
    if (n->count > 1)
        qsort(n->at, n->count, sizeof n->at[0], by_version);
}

void pt_static_names_release(struct pt_static_names *n) {
    for (size_t i = 0; i < n->count; i++)
        pt_free(n->at[i]);
    pt_free(n->at);
    *n = (struct pt_static_names){ 0 };
}
