#include "store/subject.h"

#include "base/json_walk.h"
#include "source/kernel/pid.h"

#include <stdio.h>

static const char *const kind_names[] = {
    [PT_SUBJECT_COMMAND] = "command",
    [PT_SUBJECT_PROCESS] = "process",
    [PT_SUBJECT_CONTAINER] = "container",
    [PT_SUBJECT_MACHINE] = "machine",
};

static const char *name_of(const struct pt_subject *s) {
    if (s->kind == PT_SUBJECT_MACHINE)
        return "the machine";
    return s->name[0] ? s->name : "the command";
}

void pt_subject_of_pids(struct pt_subject *s, const struct pt_fs *fs, const pid_t *pids,
                        int count) {
    struct pt_text text = { 0 };
    struct pt_pid_stat stat;
    *s = (struct pt_subject){ .kind = PT_SUBJECT_PROCESS };
    if (count > 1)
        snprintf(s->name, sizeof s->name, "processes %d and %d more", (int)pids[0], count - 1);
    else if (pt_pid_read_stat(fs->proc, pids[0], &text, &stat))
        snprintf(s->name, sizeof s->name, "process %d", (int)pids[0]);
    else
        snprintf(s->name, sizeof s->name, "process %d (%.*s)", (int)pids[0], (int)stat.name.len,
                 stat.name.at);
    pt_text_release(&text);
}

void pt_subject_of_container(struct pt_subject *s, const char *given) {
    *s = (struct pt_subject){ .kind = PT_SUBJECT_CONTAINER };
    snprintf(s->name, sizeof s->name, "container %s", given);
}

void pt_subject_write(const struct pt_subject *s, struct pt_buf *into) {
    pt_buf_str(into, pt_str_from(kind_names[s->kind]));
    pt_buf_u8(into, ' ');
    pt_buf_str(into, pt_str_from(name_of(s)));
}

/* "command": null in the static information of runs that started none. */
static void take_command(void *arg, const char *path, struct pt_json_value value) {
    bool *has_none = arg;
    *has_none |= strcmp(path, "command") == 0 && pt_str_eq(value.text, PT_STR("null"));
}

void pt_subject_read(struct pt_subject *s, const struct pt_journal_reader *reader) {
    const struct pt_journal_note *note = pt_journal_note_find(reader, PT_SUBJECT_NOTE);
    *s = (struct pt_subject){ 0 };
    if (!note) {
        bool has_none = false;
        note = pt_journal_note_find(reader, "static");
        if (note &&
            !pt_json_walk((struct pt_str){ note->text, note->text_len }, take_command, &has_none) &&
            has_none)
            s->kind = PT_SUBJECT_MACHINE;
        return;
    }
    struct pt_scan text = pt_scan_of(pt_str_from(note->text));
    struct pt_str kind = pt_scan_word(&text);
    for (size_t i = 0; i < PT_COUNT(kind_names); i++)
        if (pt_str_eq(kind, pt_str_from(kind_names[i])))
            s->kind = (enum pt_subject_kind)i;
    pt_scan_blanks(&text);
    if (s->kind != PT_SUBJECT_COMMAND)
        pt_str_copy(s->name, sizeof s->name, pt_scan_rest(&text));
}

void pt_subject_join(struct pt_subject *s, const struct pt_subject *other) {
    if (s->kind != other->kind)
        *s = (struct pt_subject){ PT_SUBJECT_PROCESS, "the subject" };
    else if (strcmp(s->name, other->name) != 0)
        snprintf(s->name, sizeof s->name, "the %s", kind_names[s->kind]);
}

/* How texts call a command, and what of it stays behind the name. */
static const struct {
    const char *words;
    bool is_start, is_upper; /* only at the start of the text; the name with a capital letter */
    const char *rest;
} forms[] = {
    { "the command", false, false, "" }, { "this command", false, false, "" },
    { "The command", false, true, "" },  { "Command:", true, true, ":" },
    { "command,", true, false, "," },
};

const char *pt_subject_say(const struct pt_subject *s, const char *text, char *into,
                           size_t capacity) {
    size_t used = 0;
    const char *at = text;
    while (*at && used + 1 < capacity) {
        size_t form = 0;
        while (form < PT_COUNT(forms) &&
               (s->kind == PT_SUBJECT_COMMAND || (forms[form].is_start && at != text) ||
                strncmp(at, forms[form].words, strlen(forms[form].words))))
            form++;
        if (form == PT_COUNT(forms)) {
            into[used++] = *at++;
            continue;
        }
        size_t start = used;
        const char *name = name_of(s), *detail = strstr(name, " (");
        bool is_title = forms[form].is_start && detail; /* titles have little space */
        int n =
            snprintf(into + used, capacity - used, "%.*s%s",
                     is_title ? (int)(detail - name) : (int)strlen(name), name, forms[form].rest);
        used += (size_t)n < capacity - used ? (size_t)n : capacity - used - 1;
        if (forms[form].is_upper && into[start] >= 'a' && into[start] <= 'z')
            into[start] = (char)(into[start] - 'a' + 'A');
        at += strlen(forms[form].words);
    }
    into[used] = 0;
    return into;
}
