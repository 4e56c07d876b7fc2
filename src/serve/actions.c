#include "serve/actions.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "serve/answer.h"
#include "serve/service.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGUMENTS_MAX       20
#define NUMBER_BYTES        24
#define RECORDING_SECONDS   86400
#define PROFILE_SECONDS     300
#define PROFILE_SECONDS_DEF 10
#define PROFILE_HZ_MAX      999
#define PROFILE_HZ_DEFAULT  99

#define NO_PROCESS          "pid: no such process"

static const char *const names[] = { "recording", "profile" };

void pt_actions_init(struct pt_actions *a, const char *runs_directory,
                     const char *state_directory) {
    *a =
        (struct pt_actions){ .runs_directory = runs_directory, .state_directory = state_directory };
    char directory[PATH_MAX - sizeof "/pitot"];
    if (!pt_fs_own_directory(directory, sizeof directory))
        snprintf(a->program, sizeof a->program, "%s/pitot", directory);
    pthread_mutex_init(&a->lock, NULL);
}

static void note_end(struct pt_actions *a, int kind, int status) {
    struct pt_action *action = &a->list[kind];
    action->pid = 0;
    action->has_run = true;
    action->end_ms = pt_wall_ns() / PT_NS_PER_MS;
    action->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (action->exit_code != 0)
        pt_log(PT_LOG_WARNING, "the %s ended with exit code %d", names[kind], action->exit_code);
}

void pt_actions_reap(struct pt_actions *a) {
    int status;
    pthread_mutex_lock(&a->lock);
    for (int i = 0; i < PT_ACTION_COUNT; i++)
        if (a->list[i].pid > 0 && waitpid(a->list[i].pid, &status, WNOHANG) == a->list[i].pid)
            note_end(a, i, status);
    pthread_mutex_unlock(&a->lock);
}

void pt_actions_release(struct pt_actions *a) {
    int status;
    pthread_mutex_lock(&a->lock);
    for (int i = 0; i < PT_ACTION_COUNT; i++)
        if (a->list[i].pid > 0)
            kill(a->list[i].pid, SIGINT);
    for (int i = 0; i < PT_ACTION_COUNT; i++)
        if (a->list[i].pid > 0 && waitpid(a->list[i].pid, &status, 0) == a->list[i].pid)
            note_end(a, i, status);
    pthread_mutex_unlock(&a->lock);
    pthread_mutex_destroy(&a->lock);
}

/* Arguments of a `pitot` process, and the memory of those that are numbers. */
struct command {
    char *words[ARGUMENTS_MAX];
    char numbers[4][NUMBER_BYTES];
    size_t count, number_count;
};

static void add_word(struct command *c, const char *word) {
    c->words[c->count++] = (char *)(uintptr_t)word;
}

static void add_number(struct command *c, const char *option, int64_t number) {
    char *text = c->numbers[c->number_count++];
    snprintf(text, NUMBER_BYTES, "%lld", (long long)number);
    add_word(c, option);
    add_word(c, text);
}

/* In its own process group: Ctrl+C on the terminal is for the server only. Shares stderr. */
static int spawn(const struct pt_actions *a, struct command *c, pid_t *pid) {
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t files;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    int rc = posix_spawn(pid, a->program, &files, &attributes, c->words, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return -rc;
}

static void put_action(void *user, struct pt_json *j) {
    const struct pt_action *a = user;
    pt_json_object(j, NULL);
    pt_json_bool(j, "is_running", a->pid > 0);
    if (a->pid > 0 || a->has_run)
        pt_json_i64(j, "start", a->start_ms);
    if (a->target_pid)
        pt_json_i64(j, "pid", a->target_pid);
    if (a->seconds)
        pt_json_i64(j, "seconds", a->seconds);
    if (a->rate_hz)
        pt_json_i64(j, "hz", a->rate_hz);
    if (a->pid == 0 && a->has_run) {
        pt_json_i64(j, "end", a->end_ms);
        pt_json_i64(j, "exit_code", a->exit_code);
    }
    pt_json_end(j);
}

static void get(struct pt_service *s, struct pt_http_exchange *x, int kind) {
    pthread_mutex_lock(&s->actions.lock);
    struct pt_action action = s->actions.list[kind];
    pthread_mutex_unlock(&s->actions.lock);
    pt_answer_json(x, 200, put_action, &action);
}

static void start(struct pt_service *s, struct pt_http_exchange *x, int kind,
                  struct pt_action wanted, struct command *c) {
    struct pt_actions *a = &s->actions;
    pthread_mutex_lock(&a->lock);
    bool is_busy = a->list[kind].pid > 0;
    int rc = is_busy ? -EBUSY : spawn(a, c, &wanted.pid);
    wanted.start_ms = pt_wall_ns() / PT_NS_PER_MS;
    if (!rc)
        a->list[kind] = wanted;
    pthread_mutex_unlock(&a->lock);
    if (is_busy)
        pt_answer_error(x, 409, "already running");
    else if (rc)
        pt_answer_error(x, 500, strerror(-rc));
    else
        pt_answer_json(x, 200, put_action, &wanted);
}

/* An integer parameter within bounds; `absent` if it is not given. False: invalid. */
static bool take_number(const struct pt_http_exchange *x, const char *name, int64_t absent,
                        int64_t min, int64_t max, int64_t *number) {
    const char *text = pt_http_parameter(x, name);
    *number = absent;
    if (!text)
        return true;
    struct pt_scan s = pt_scan_of(pt_str_from(text));
    *number = (int64_t)pt_scan_u64(&s);
    return !s.failed && s.at == s.end && *number >= min && *number <= max;
}

static bool is_missing(int64_t pid) {
    return pid > 0 && kill((pid_t)pid, 0) && errno == ESRCH;
}

void pt_actions_get_recording(void *service, struct pt_http_exchange *x) {
    get(service, x, PT_ACTION_RECORDING);
}

void pt_actions_start_recording(void *service, struct pt_http_exchange *x) {
    struct pt_service *s = service;
    struct pt_action wanted = { 0 };
    struct command c = { .count = 0 };
    if (!s->actions.runs_directory) {
        pt_answer_error(x, 404, "no directory for recordings (start the server with --runs)");
        return;
    }
    if (!take_number(x, "seconds", 0, 1, RECORDING_SECONDS, &wanted.seconds) ||
        !take_number(x, "pid", 0, 1, INT32_MAX, &wanted.target_pid)) {
        pt_answer_error(x, 400, "invalid parameter (seconds: 1 to 86400; pid: a process id)");
        return;
    }
    snprintf(x->note, sizeof x->note, " pid=%lld seconds=%lld", (long long)wanted.target_pid,
             (long long)wanted.seconds);
    if (is_missing(wanted.target_pid)) {
        pt_answer_error(x, 404, NO_PROCESS);
        return;
    }
    add_word(&c, "pitot");
    add_word(&c, "record");
    add_word(&c, "--quiet");
    add_word(&c, "--output");
    add_word(&c, s->actions.runs_directory);
    if (wanted.seconds)
        add_number(&c, "--duration", wanted.seconds);
    if (wanted.target_pid)
        add_number(&c, "--pid", wanted.target_pid);
    start(s, x, PT_ACTION_RECORDING, wanted, &c);
}

void pt_actions_stop_recording(void *service, struct pt_http_exchange *x) {
    struct pt_service *s = service;
    pthread_mutex_lock(&s->actions.lock);
    struct pt_action action = s->actions.list[PT_ACTION_RECORDING];
    bool is_signalled = action.pid > 0 && kill(action.pid, SIGINT) == 0;
    pthread_mutex_unlock(&s->actions.lock);
    if (is_signalled)
        pt_answer_json(x, 202, put_action, &action);
    else
        pt_answer_error(x, 409, "not running");
}

/* Files of a profile, and their content types. */
static const struct {
    const char *format, *file, *type;
} profile_files[] = {
    { "html", "profile.html", PT_TYPE_HTML },
    { "speedscope", "profile.speedscope.json", PT_TYPE_JSON },
    { "folded", "profile.folded", PT_TYPE_TEXT },
};

static bool path_of(const struct pt_actions *a, size_t file, char into[PATH_MAX]) {
    return snprintf(into, PATH_MAX, "%s/%s", a->state_directory, profile_files[file].file) <
           PATH_MAX;
}

void pt_actions_get_profile(void *service, struct pt_http_exchange *x) {
    get(service, x, PT_ACTION_PROFILE);
}

void pt_actions_start_profile(void *service, struct pt_http_exchange *x) {
    struct pt_service *s = service;
    struct pt_action wanted = { 0 };
    struct command c = { .count = 0 };
    char paths[PT_COUNT(profile_files)][PATH_MAX];
    if (!take_number(x, "seconds", PROFILE_SECONDS_DEF, 1, PROFILE_SECONDS, &wanted.seconds) ||
        !take_number(x, "hz", PROFILE_HZ_DEFAULT, 1, PROFILE_HZ_MAX, &wanted.rate_hz) ||
        !take_number(x, "pid", 0, 1, INT32_MAX, &wanted.target_pid) || !wanted.target_pid) {
        pt_answer_error(x, 400,
                        "invalid parameter (pid: a process id; seconds: 1 to 300; hz: 1 to 999)");
        return;
    }
    snprintf(x->note, sizeof x->note, " pid=%lld seconds=%lld hz=%lld",
             (long long)wanted.target_pid, (long long)wanted.seconds, (long long)wanted.rate_hz);
    if (is_missing(wanted.target_pid)) {
        pt_answer_error(x, 404, NO_PROCESS);
        return;
    }
    add_word(&c, "pitot");
    add_word(&c, "cpu");
    add_word(&c, "--quiet");
    add_number(&c, "--pid", wanted.target_pid);
    add_number(&c, "--duration", wanted.seconds);
    add_number(&c, "--rate", wanted.rate_hz);
    for (size_t i = 0; i < PT_COUNT(profile_files); i++)
        if (path_of(&s->actions, i, paths[i])) {
            add_word(&c, "--output");
            add_word(&c, paths[i]);
        }
    start(s, x, PT_ACTION_PROFILE, wanted, &c);
}

void pt_actions_show_profile(void *service, struct pt_http_exchange *x) {
    struct pt_service *s = service;
    const char *format = pt_http_parameter(x, "format");
    char path[PATH_MAX];
    for (size_t i = 0; i < PT_COUNT(profile_files); i++) {
        if (strcmp(format ? format : "html", profile_files[i].format) != 0)
            continue;
        if (!path_of(&s->actions, i, path) || pt_answer_file(x, path, profile_files[i].type))
            pt_answer_error(x, 404, "no profile yet");
        return;
    }
    pt_answer_error(x, 400, "format: must be one of: html, speedscope, folded");
}
