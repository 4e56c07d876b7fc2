#include "doctor/doctor_finding.h"

#include "source/kernel/cpuinfo.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void pt_finding_ok(struct pt_finding *f, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(f->found, sizeof f->found, format, args);
    va_end(args);
    f->state = PT_DOCTOR_OK;
}

void pt_finding_bad(struct pt_finding *f, enum pt_doctor_state state, const char *remedy,
                    const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(f->found, sizeof f->found, format, args);
    va_end(args);
    f->state = state;
    pt_str_copy(f->remedy, sizeof f->remedy, pt_str_from(remedy));
}

/* Root lacks a capability only inside a container. */
void pt_finding_add_capability(struct pt_finding *f, const char *name) {
    size_t used = strlen(f->remedy);
    snprintf(f->remedy + used, sizeof f->remedy - used,
             geteuid() == 0 ? "%sadd the capability to the container: --cap-add %s"
                            : "%ssudo setcap cap_%s+ep $(command -v pitot), or run as root",
             used > 0 ? ", or " : "", name);
}

void pt_finding_denied(struct pt_finding *f, enum pt_doctor_state state, const char *capability,
                       int rc) {
    pt_finding_bad(f, state, "", "not allowed: %s", strerror(-rc));
    pt_finding_add_capability(f, capability);
}

bool pt_finding_is_foreign(const struct pt_fs *fs, struct pt_finding *f) {
    if (!fs->is_live)
        pt_finding_bad(f, PT_DOCTOR_LIMITED, "run pitot doctor on that machine",
                       "not tested: /proc is not that of this machine");
    return !fs->is_live;
}

int pt_doctor_try_read(int directory, const char *path) {
    struct pt_text buffer = { 0 };
    struct pt_scan text;
    int rc = pt_fs_read(directory, path, &buffer, &text);
    pt_text_release(&buffer);
    return rc;
}

bool pt_doctor_is_guest(const struct pt_fs *fs) {
    struct pt_text buffer = { 0 };
    struct pt_scan text;
    struct pt_cpuinfo cpu = { 0 };
    if (!pt_fs_read(fs->proc, "cpuinfo", &buffer, &text))
        pt_cpuinfo_parse(text, &cpu);
    pt_text_release(&buffer);
    return cpu.is_guest;
}

void pt_doctor_each_name(int directory, const char *path,
                         bool (*visit)(const char *name, void *state), void *state) {
    DIR *entries = pt_fs_list(directory, path);
    if (!entries)
        return;
    struct dirent *entry = readdir(entries);
    while (entry && (entry->d_name[0] == '.' || visit(entry->d_name, state)))
        entry = readdir(entries);
    closedir(entries);
}
