#include "analyze/death.h"

#include "derive/field.h"
#include "base/json.h"
#include "base/mask.h"
#include "base/json_walk.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

const char *pt_cause_name(enum pt_cause_kind kind) {
    static const char *const names[] = {
        [PT_CAUSE_NONE] = "none",
        [PT_CAUSE_EXIT] = "exit",
        [PT_CAUSE_SIGNAL] = "signal",
        [PT_CAUSE_OOM_KILL] = "oom-kill",
        [PT_CAUSE_MEMORY_LIMIT] = "memory-limit",
        [PT_CAUSE_ALERT] = "alert",
        [PT_CAUSE_HEALTH] = "health",
        [PT_CAUSE_REQUEST] = "request",
    };
    return names[kind];
}

void pt_cause_write(const struct pt_cause *cause, struct pt_buf *into) {
    struct pt_out out;
    struct pt_json j = { .out = &out, .mask = pt_mask_value };
    pt_out_memory(&out, into);
    pt_json_object(&j, NULL);
    pt_json_text(&j, "kind", pt_cause_name(cause->kind));
    pt_json_text(&j, "text", cause->text);
    pt_json_end(&j);
    (void)pt_out_close(&out); /* memory does not fail */
}

static void take_cause(void *arg, const char *path, struct pt_json_value value) {
    struct pt_cause *cause = arg;
    if (strcmp(path, "text") == 0)
        pt_str_copy(cause->text, sizeof cause->text, value.text);
    for (int kind = PT_CAUSE_NONE; strcmp(path, "kind") == 0 && kind <= PT_CAUSE_REQUEST; kind++)
        if (pt_str_eq(value.text, pt_str_from(pt_cause_name((enum pt_cause_kind)kind))))
            cause->kind = (enum pt_cause_kind)kind;
}

void pt_cause_read(struct pt_cause *cause, const struct pt_journal_reader *reader) {
    const struct pt_journal_note *note = pt_journal_note_find(reader, PT_CAUSE_NOTE);
    *cause = (struct pt_cause){ PT_CAUSE_NONE, "" };
    if (note && pt_json_walk((struct pt_str){ note->text, note->text_len }, take_cause, cause))
        cause->kind = PT_CAUSE_NONE;
}

static void count(struct pt_death_counter *c, double value) {
    if (!c->is_known)
        c->first = value;
    c->last = value;
    c->is_known = true;
}

static double grown(const struct pt_death_counter *c) {
    return c->is_known ? fmax(0, c->last - c->first) : 0;
}

/* The maximum of a column over the rows of the recorded command; NAN if there is none. */
static double own_maximum(const struct pt_batch *b, enum pt_field_id id) {
    double maximum = NAN;
    for (uint32_t row = 0; row < b->row_count; row++)
        if (pt_field_number(b, row, PT_FIELD_GROUP_IS_RECORDED) > 0.5)
            maximum = fmax(maximum, pt_field_number(b, row, id)); /* skips NAN */
    return maximum;
}

void pt_death_see(struct pt_death_watch *w, const struct pt_sample *sample) {
    const struct pt_batch *groups = pt_field_rows(sample, PT_FIELD_GROUP_OOM_KILLS);
    const struct pt_batch *memory = pt_field_rows(sample, PT_FIELD_OOM_KILLS);
    if (groups) {
        double kills = own_maximum(groups, PT_FIELD_GROUP_OOM_KILLS);
        double hits = own_maximum(groups, PT_FIELD_GROUP_LIMIT_HITS);
        double limit = own_maximum(groups, PT_FIELD_GROUP_MEMORY_LIMIT);
        if (!isnan(kills))
            count(&w->own_kills, kills);
        if (!isnan(hits))
            count(&w->limit_hits, hits);
        if (!isnan(limit))
            w->limit_bytes = limit;
    }
    double kills = memory && memory->row_count > 0 ? pt_field_number(memory, 0, PT_FIELD_OOM_KILLS)
                                                   : (double)NAN;
    if (!isnan(kills))
        count(&w->machine_kills, kills);
}

static void say_oom(const struct pt_death_watch *w, struct pt_cause *cause) {
    bool is_limit = grown(&w->limit_hits) > 0 && grown(&w->own_kills) > 0;
    cause->kind = is_limit ? PT_CAUSE_MEMORY_LIMIT : PT_CAUSE_OOM_KILL;
    if (is_limit && w->limit_bytes > 0)
        snprintf(cause->text, sizeof cause->text,
                 "the OOM killer ended the command at its memory limit of %.0f MiB (reached %.0f "
                 "times)",
                 w->limit_bytes / 1048576, grown(&w->limit_hits));
    else if (is_limit)
        snprintf(cause->text, sizeof cause->text,
                 "the OOM killer ended the command at its memory limit (reached %.0f times)",
                 grown(&w->limit_hits));
    else if (grown(&w->own_kills) > 0)
        snprintf(cause->text, sizeof cause->text,
                 "the OOM killer ended the command: the machine was out of memory");
    else
        snprintf(
            cause->text, sizeof cause->text,
            "SIGKILL ended the command, most likely sent by the OOM killer: the kernel killed %.0f "
            "processes for lack of memory",
            grown(&w->machine_kills));
}

void pt_death_find(const struct pt_death_watch *w, int wait_status, struct pt_cause *cause) {
    *cause = (struct pt_cause){ PT_CAUSE_NONE, "" };
    int signal_number = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
    bool has_kills = grown(&w->own_kills) > 0 || grown(&w->machine_kills) > 0;
    if (signal_number == SIGKILL && has_kills) {
        say_oom(w, cause);
    } else if (signal_number > 0) {
        cause->kind = PT_CAUSE_SIGNAL;
        snprintf(cause->text, sizeof cause->text, "the command was ended by signal %d (%s)",
                 signal_number, strsignal(signal_number));
    } else if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) != 0) {
        cause->kind = PT_CAUSE_EXIT;
        int used = snprintf(cause->text, sizeof cause->text, "the command exited with %d",
                            WEXITSTATUS(wait_status));
        size_t left = sizeof cause->text - (size_t)used;
        if (grown(&w->own_kills) > 0)
            snprintf(cause->text + used, left, " after the OOM killer ended %.0f of its processes",
                     grown(&w->own_kills));
        else if (grown(&w->limit_hits) > 0)
            snprintf(cause->text + used, left, " after its memory reached the limit %.0f times",
                     grown(&w->limit_hits));
    }
}
