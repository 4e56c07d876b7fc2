#include "sampler/alert_command.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "derive/field.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FINISH_STEP_US 5000

/* An unknown value is empty. */
static char *number_variable(const char *name, double value) {
    return isnan(value) ? pt_asprintf("PITOT_ALERT_%s=", name)
                        : pt_asprintf("PITOT_ALERT_%s=%.17g", name, value);
}

static char *text_variable(const char *name, struct pt_str value) {
    return pt_asprintf("PITOT_ALERT_%s=%.*s", name, (int)value.len, value.at);
}

static struct pt_alert_call make_call(const struct pt_alert_command *c, const struct pt_batch *b,
                                      uint32_t row, int64_t wall_ns) {
    return (struct pt_alert_call){ {
        text_variable("RULE", pt_field_text(b, row, PT_FIELD_ALERT_RULE)),
        text_variable("ENTITY", pt_field_text(b, row, PT_FIELD_ALERT_ENTITY)),
        text_variable("METRIC", pt_field_text(b, row, PT_FIELD_ALERT_METRIC)),
        text_variable("STATE", pt_field_text(b, row, PT_FIELD_ALERT_STATE)),
        number_variable("VALUE", pt_field_number(b, row, PT_FIELD_ALERT_VALUE)),
        number_variable("THRESHOLD", pt_field_number(b, row, PT_FIELD_ALERT_THRESHOLD)),
        pt_asprintf("PITOT_ALERT_TIME=%lld", (long long)(wall_ns / PT_NS_PER_MS)),
        text_variable("RUN", pt_str_from(c->run ? c->run : "")),
    } };
}

static void release_call(struct pt_alert_call *call) {
    for (size_t i = 0; call->variables[i]; i++)
        pt_free(call->variables[i]);
    *call = (struct pt_alert_call){ { NULL } };
}

/* Logged once: a command that fails will probably fail each time. */
static void note_failure(struct pt_alert_command *c, const char *why) {
    if (c->failed_count++ == 0)
        pt_log(PT_LOG_WARNING, "--alert-command: the command %s; later failures are only counted",
               why);
}

/* The variables of the call, then Pitot's environment: the first of a name counts. */
static char **make_environment(const struct pt_alert_call *call) {
    size_t count = 0, n = 0;
    while (environ[count])
        count++;
    char **environment = pt_calloc(count + PT_ALERT_COMMAND_VARIABLES + 1, sizeof *environment);
    for (size_t i = 0; call->variables[i]; i++)
        environment[n++] = call->variables[i];
    memcpy(environment + n, environ, count * sizeof *environment);
    return environment;
}

/* In its own process group, so that all of it can be killed; with default signals. Its output goes
 * to standard error, because standard output belongs to the recorded command. */
static int spawn(struct pt_alert_command *c, char **environment) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    char shell[] = "/bin/sh", option[] = "-c";
    char *argv[] = { shell, option, (char *)c->command, NULL };
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    int own = getpriority(PRIO_PROCESS, 0);
    (void)setpriority(PRIO_PROCESS, 0, c->nice_value);
    int rc = posix_spawn(&c->pid, shell, &files, &attributes, argv, environment);
    (void)setpriority(PRIO_PROCESS, 0, own);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return -rc;
}

static void start_next(struct pt_alert_command *c) {
    while (c->pid == 0 && c->count > 0) {
        struct pt_alert_call *call = &c->waiting[c->first];
        char **environment = make_environment(call);
        int rc = spawn(c, environment);
        pt_free(environment);
        release_call(call);
        c->first = (c->first + 1) % PT_ALERT_COMMAND_WAITING;
        c->count--;
        c->started_ns = pt_mono_ns();
        if (rc) {
            c->pid = 0;
            note_failure(c, strerror(-rc));
        }
    }
}

void pt_alert_command_add(struct pt_alert_command *c, const struct pt_sample *changes) {
    const struct pt_batch *b = c->command ? pt_field_rows(changes, PT_FIELD_ALERT_RULE) : NULL;
    for (uint32_t row = 0; b && row < b->row_count; row++) {
        if (c->count == PT_ALERT_COMMAND_WAITING) {
            c->dropped_count++;
            continue;
        }
        c->waiting[(c->first + c->count++) % PT_ALERT_COMMAND_WAITING] =
            make_call(c, b, row, changes->wall_ns);
    }
    start_next(c);
}

int64_t pt_alert_command_deadline(const struct pt_alert_command *c) {
    int64_t timeout_ns = c->timeout_ns ? c->timeout_ns : PT_ALERT_COMMAND_TIMEOUT_NS;
    return c->pid ? c->started_ns + timeout_ns : INT64_MAX;
}

static void note_end(struct pt_alert_command *c, int status) {
    char why[64];
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return;
    if (WIFEXITED(status))
        snprintf(why, sizeof why, "exited with %d", WEXITSTATUS(status));
    else
        snprintf(why, sizeof why, "was killed by signal %d", WTERMSIG(status));
    note_failure(c, why);
}

void pt_alert_command_check(struct pt_alert_command *c, int64_t now_ns) {
    int status = 0;
    if (c->pid == 0)
        return;
    if (now_ns >= pt_alert_command_deadline(c)) {
        kill(-c->pid, SIGKILL);
        while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
        note_failure(c, "took too long and was killed");
        c->pid = 0;
    } else {
        pid_t ended = waitpid(c->pid, &status, WNOHANG);
        if (ended == 0)
            return;
        if (ended == c->pid)
            note_end(c, status); /* else it was reaped among the orphans of the recording */
        c->pid = 0;
    }
    start_next(c);
}

void pt_alert_command_finish(struct pt_alert_command *c) {
    int64_t now_ns = pt_mono_ns();
    int64_t end_ns = now_ns + (c->timeout_ns ? c->timeout_ns : PT_ALERT_COMMAND_TIMEOUT_NS);
    for (; c->pid && now_ns < end_ns; now_ns = pt_mono_ns()) {
        pt_alert_command_check(c, now_ns);
        if (c->pid)
            usleep(FINISH_STEP_US);
    }
    c->dropped_count += c->count;
    for (; c->count > 0; c->count--) {
        release_call(&c->waiting[c->first]);
        c->first = (c->first + 1) % PT_ALERT_COMMAND_WAITING;
    }
    if (c->pid)
        pt_alert_command_check(c, INT64_MAX);
    if (c->failed_count > 1 || c->dropped_count > 0)
        pt_log(PT_LOG_WARNING,
               "--alert-command: the command failed %llu times; %llu calls were dropped",
               (unsigned long long)c->failed_count, (unsigned long long)c->dropped_count);
}
