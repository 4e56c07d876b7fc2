/* sampler/marks.h -- timestamped notes added to a running recording.
 *
 * A recording listens on a FIFO in its directory, <uuid>.ctl. `pitot mark` finds it
 * through the environment (inside the recorded command), a directory or a uuid, and
 * writes one line. */
#ifndef PT_SAMPLER_MARKS_H
#define PT_SAMPLER_MARKS_H

#include "base/err.h"
#include "model/sample.h"

extern const struct pt_table *const pt_mark_table;

/* In the environment of the recorded command: the journal of the run. */
#define PT_RUN_VARIABLE "PITOT_RUN"
#define PT_MARK_MAX     1000 /* bytes; below PIPE_BUF, so that a line arrives whole */
#define PT_MARK_SPACE   (PT_MARK_MAX + 2)

struct pt_marks {
    int fd; /* -1: the file system does not support FIFOs, marks are off */
    char *path;
    char line[4096];
    size_t line_length;
};

/* The control FIFO of a journal: "x.pitot" -> "x.ctl". */
void pt_marks_open(struct pt_marks *m, const char *journal);
void pt_marks_close(struct pt_marks *m); /* removes the FIFO */

/* Takes the text of the next complete line; false if there is none. `must_keep`: a black box shall
 * keep the minutes before it. */
bool pt_marks_next(struct pt_marks *m, struct pt_str *text, bool *must_keep,
                   char into[PT_MARK_SPACE]);

/* Puts a mark with the current time into `sample` (cleared first), at `table` of its schema. */
void pt_mark_fill(struct pt_sample *sample, uint32_t table, struct pt_str text);

/* Is somebody writing this journal now? */
bool pt_mark_is_recording(const char *journal);

/* Sends a text to a running recording. -ENXIO: it is not running. */
int pt_mark_send(const char *journal, const char *text, bool must_keep,
                 struct pt_err *err) PT_MUST_CHECK;

#endif
