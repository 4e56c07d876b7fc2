#include "serve/runs.h"

#include "base/fs.h"
#include "base/json_walk.h"
#include "base/log.h"
#include "report/report_page.h"
#include "serve/answer.h"
#include "serve/service.h"
#include "store/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uuid.h>

#define ID_LENGTH 36 /* of a uuid */

struct run {
    char id[ID_LENGTH + 1];
    int64_t bytes, modified_ms;
};

struct list {
    struct run *at;
    size_t count, capacity;
};

/* <uuid>.pitot */
static bool take_id(const char *name, char id[ID_LENGTH + 1]) {
    uuid_t uuid;
    struct pt_str text = pt_str_from(name);
    if (!pt_str_ends(text, PT_STR(PT_RUN_EXTENSION)) ||
        text.len != ID_LENGTH + strlen(PT_RUN_EXTENSION))
        return false;
    pt_str_copy(id, ID_LENGTH + 1, text);
    return uuid_parse(id, uuid) == 0;
}

static int by_age(const void *a, const void *b) {
    const struct run *left = a, *right = b;
    return left->modified_ms > right->modified_ms ? -1 : left->modified_ms < right->modified_ms;
}

/* The files of a run that are read. */
static const char *const file_names[][2] = {
    { "", PT_RUN_EXTENSION },
    { "static_", ".json" },
    { "", ".cpu.pitotprof" },
    { "", ".heap.pitotprof" },
};

/* A link may lead to a file that the server can read and its clients must not. */
static bool has_link(const char *directory, const char *id) {
    for (size_t i = 0; i < PT_COUNT(file_names); i++) {
        char path[PATH_MAX];
        struct stat st;
        int length = snprintf(path, sizeof path, "%s/%s%s%s", directory, file_names[i][0], id,
                              file_names[i][1]);
        if (length >= PATH_MAX || (lstat(path, &st) == 0 && !S_ISREG(st.st_mode)))
            return true;
    }
    return false;
}

/* Newest first. A missing directory has no runs. */
static void list_runs(const char *directory, struct list *list) {
    DIR *d = opendir(directory);
    for (struct dirent *e; d && (e = readdir(d));) {
        struct run run;
        struct stat st;
        if (!take_id(e->d_name, run.id) || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
            !S_ISREG(st.st_mode))
            continue;
        run.bytes = st.st_size;
        run.modified_ms = st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
        pt_grow(&list->at, &list->capacity, list->count + 1, sizeof *list->at);
        list->at[list->count++] = run;
    }
    if (d)
        closedir(d);
    if (list->count > 0)
        qsort(list->at, list->count, sizeof *list->at, by_age);
}

/* From the static information of a run. */
struct about {
    char start_ms[24], host[64], command[256];
    bool is_cut;
};

/* The command line is cut before the first word that does not fit. */
static void add_word(struct about *a, struct pt_str word) {
    size_t used = strlen(a->command);
    a->is_cut |= used + 1 + word.len >= sizeof a->command;
    if (!a->is_cut)
        snprintf(a->command + used, sizeof a->command - used, "%s%.*s", used ? " " : "",
                 (int)word.len, word.at);
}

static void take_value(void *arg, const char *path, struct pt_json_value value) {
    struct about *a = arg;
    if (strcmp(path, "start_time") == 0 && value.kind == PT_JSON_NUMBER)
        pt_str_copy(a->start_ms, sizeof a->start_ms, value.text);
    else if (strcmp(path, "host.hostname") == 0 && value.kind == PT_JSON_STRING)
        pt_str_copy(a->host, sizeof a->host, value.text);
    else if (strncmp(path, "command.argv.", 13) == 0)
        add_word(a, value.text);
}

/* Reads static_<uuid>.json next to the journal. */
static void put_about(struct pt_json *j, const char *directory, const char *id) {
    struct pt_text text = { 0 };
    struct pt_scan scan;
    struct about about = { "", "", "", false };
    char path[PATH_MAX];
    if (!has_link(directory, id) &&
        snprintf(path, sizeof path, "%s/static_%s.json", directory, id) < PATH_MAX &&
        !pt_fs_read(AT_FDCWD, path, &text, &scan) &&
        pt_json_walk(pt_scan_rest(&scan), take_value, &about))
        about = (struct about){ "", "", "", false };
    pt_text_release(&text);
    if (about.start_ms[0])
        pt_json_raw(j, "start", pt_str_from(about.start_ms));
    pt_json_text(j, "host", about.host[0] ? about.host : NULL);
    pt_json_text(j, "command", about.command[0] ? about.command : NULL);
}

static void put_runs(void *user, struct pt_json *j) {
    const char *directory = user;
    struct list list = { 0 };
    list_runs(directory, &list);
    pt_json_object(j, NULL);
    pt_json_i64(j, "count", (int64_t)list.count);
    pt_json_array(j, "runs");
    for (size_t i = 0; i < list.count && i < PT_RUNS_SHOWN; i++) {
        pt_json_object(j, NULL);
        pt_json_text(j, "id", list.at[i].id);
        pt_json_i64(j, "bytes", list.at[i].bytes);
        pt_json_i64(j, "modified", list.at[i].modified_ms);
        put_about(j, directory, list.at[i].id);
        pt_json_end(j);
    }
    pt_json_end(j);
    pt_json_end(j);
    pt_free(list.at);
}

static void answer_runs(void *user, struct pt_job *job) {
    struct pt_service *s = user;
    pt_answer_json(job->exchange, 200, put_runs, (void *)(uintptr_t)s->o->runs_directory);
}

#define NO_DIRECTORY "no directory of runs (start the server with --runs)"

/* Not an error: there are no runs. */
static void put_none(void *user, struct pt_json *j) {
    (void)user;
    pt_json_object(j, NULL);
    pt_json_i64(j, "count", 0);
    pt_json_array(j, "runs");
    pt_json_end(j);
    pt_json_text(j, "note", NO_DIRECTORY);
    pt_json_end(j);
}

void pt_runs_get(void *service, struct pt_http_exchange *x) {
    struct pt_service *s = service;
    if (s->o->runs_directory)
        pt_worker_add(&s->worker, (struct pt_job){ answer_runs, s, x, NULL });
    else
        pt_answer_json(x, 200, put_none, NULL);
}

static bool is_listed(const char *directory, const char *id) {
    struct list list = { 0 };
    bool is_found = false;
    list_runs(directory, &list);
    for (size_t i = 0; i < list.count && !is_found; i++)
        is_found = strcmp(list.at[i].id, id) == 0;
    pt_free(list.at);
    return is_found;
}

/* The page is written to a temporary file, which is removed once it is sent. */
static int send_report(struct pt_service *s, struct pt_http_exchange *x, const char *journal,
                       struct pt_err *err) {
    char path[PATH_MAX];
    struct pt_report_options options = { .journal = journal, .path = path };
    if (snprintf(path, sizeof path, "%s/report.html", s->o->state_directory) >= PATH_MAX)
        return pt_fail(err, -ENAMETOOLONG, "the path of the state directory is too long");
    int rc = pt_report_write(&options, err);
    if (rc)
        return rc;
    rc = pt_answer_file(x, path, PT_TYPE_HTML);
    unlink(path);
    return rc ? pt_fail(err, rc, "cannot read the report: %s", strerror(-rc)) : 0;
}

/* The message has paths of this machine. */
static void refuse_report(struct pt_http_exchange *x, const struct pt_err *err) {
    pt_log(PT_LOG_WARNING, "cannot send a report: %s", err->text);
    pt_answer_error(x, 500, "cannot make the report of this run (see the log of the server)");
}

static void report(void *user, struct pt_job *job) {
    struct pt_service *s = user;
    struct pt_err err = { "" };
    char path[PATH_MAX];
    if (!is_listed(s->o->runs_directory, job->query) ||
        has_link(s->o->runs_directory, job->query) ||
        snprintf(path, sizeof path, "%s/%s" PT_RUN_EXTENSION, s->o->runs_directory,
                 (const char *)job->query) >= PATH_MAX)
        pt_answer_error(job->exchange, 404, "no such run (see /api/runs)");
    else if (pt_report_check(&err))
        pt_answer_error(job->exchange, 501, err.text);
    else if (send_report(s, job->exchange, path, &err))
        refuse_report(job->exchange, &err);
}

void pt_runs_report(void *service, struct pt_http_exchange *x) {
    struct pt_service *s = service;
    const char *id = pt_http_parameter(x, "run");
    if (!s->o->runs_directory)
        pt_answer_error(x, 404, NO_DIRECTORY);
    else if (!id || strlen(id) != ID_LENGTH)
        pt_answer_error(x, 400, "run: must be a uuid (see /api/runs)");
    else
        pt_worker_add(&s->worker, (struct pt_job){ report, s, x, pt_strdup(id) });
}
