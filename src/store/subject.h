/* store/subject.h -- whom a run is about, and how texts call it.
 *
 * Titles and sentences are written for a command: "Command: CPU", "the command waits for a disk".
 * Everything that shows them passes them through pt_subject_say(). The note "subject" of a
 * journal:
 *
 *     process process 4242 (python3)
 */
#ifndef PT_STORE_SUBJECT_H
#define PT_STORE_SUBJECT_H

#include "base/fs.h"
#include "store/journal.h"

#include <sys/types.h>

#define PT_SUBJECT_NOTE "subject"

enum pt_subject_kind {
    PT_SUBJECT_COMMAND,
    PT_SUBJECT_PROCESS, /* --pid, one or several */
    PT_SUBJECT_CONTAINER,
    PT_SUBJECT_MACHINE,
};

/* {0} is a command. */
struct pt_subject {
    enum pt_subject_kind kind;
    char name[96]; /* inside a sentence: "process 4242 (python3)"; "": the command */
};

void pt_subject_of_pids(struct pt_subject *s, const struct pt_fs *fs, const pid_t *pids, int count);
void pt_subject_of_container(struct pt_subject *s, const char *given);

/* The text of the note. */
void pt_subject_write(const struct pt_subject *s, struct pt_buf *into);
/* From the note. A run without one is that of a command, or, if it started none, of the machine. */
void pt_subject_read(struct pt_subject *s, const struct pt_journal_reader *reader);

/* Of several runs: what their subjects have in common. */
void pt_subject_join(struct pt_subject *s, const struct pt_subject *other);

/* Writes a text about "the command" for this subject into `into`, which it returns. */
const char *pt_subject_say(const struct pt_subject *s, const char *text, char *into,
                           size_t capacity);

/* Space for a title or a sentence. */
#define PT_SUBJECT_TEXT 1024

#endif
