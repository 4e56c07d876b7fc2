/* runs/export.h -- converts a journal to other formats, during a run, after it or after a crash. */
#ifndef PT_RUNS_EXPORT_H
#define PT_RUNS_EXPORT_H

#include "format/rows/sink.h"
#include "store/own_cost.h"

#define PT_EXPORT_FORMATS 16

struct pt_export_formats {
    const struct pt_sink_type *types[PT_EXPORT_FORMATS];
    int count;
};

/* "parquet,csv"; the message for an unknown format lists the known ones. */
int pt_export_formats_parse(struct pt_export_formats *f, const char *list,
                            struct pt_err *err) PT_MUST_CHECK;

struct pt_export_result {
    uint64_t sample_count;
    uint64_t tail_bytes, skipped_bytes, skipped_sample_count;
    bool is_complete;
    bool has_failed[PT_EXPORT_FORMATS]; /* at least one file of the format is missing */
    char uuid[37];
};

/* Sees the samples during the export. Any function may be NULL. */
struct pt_export_observer {
    void *user;
    void (*begin)(void *user, const struct pt_journal_reader *reader);
    void (*sample)(void *user, const struct pt_sample *sample);
    /* When every file is complete but that of Pitot's own cost: what it was until now. Without this
     * function it is what the journal says. */
    void (*cost)(void *user, struct pt_own_cost *cost);
    void (*end)(void *user, const struct pt_journal_reader *reader);
};

/* Reads the journal once and writes all formats into `directory` under `name`; a format that
 * fails does not stop the others. 0 or the first error with a message. */
int pt_export(const char *journal, const struct pt_export_formats *formats, const char *directory,
              const char *name, const struct pt_export_observer *observer,
              struct pt_export_result *result, struct pt_err *err) PT_MUST_CHECK;

#endif
