#include "base/log.h"
#include "base/mem.h"
#include "base/place.h"
#include "cmd/command.h"
#include "sampler/marks.h"
#include "store/journal_repair.h"
#include "store/run.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define EXIT_ERROR  2
#define SET_ASIDE   ".damaged"
#define COPY_SUFFIX ".repaired"

static void print_damage(const struct pt_journal_damage *d) {
    if (d->is_header_damaged)
        pt_say("The header was damaged; it was restored from the records.");
    if (d->is_schema_damaged)
        pt_say("The schema was damaged; it was restored.");
    if (d->skipped_bytes > 0)
        pt_say("Damaged: %llu bytes.", (unsigned long long)d->skipped_bytes);
    if (d->tail_bytes > 0)
        pt_say("The last %llu bytes are an incomplete record.", (unsigned long long)d->tail_bytes);
    if (!d->is_complete)
        pt_say("The recording was cut off: it has no end record.");
    pt_say("Samples saved: %llu, lost: %llu.", (unsigned long long)d->sample_count,
           (unsigned long long)d->lost_sample_count);
}

/* Puts the copy in the place of the damaged journal, which is kept. */
static int replace(const char *journal, const char *copy, bool is_quiet, struct pt_err *err) {
    char *aside = pt_asprintf("%s" SET_ASIDE, journal);
    struct pt_str stem = pt_run_stem(pt_str_from(journal));
    char *whole = pt_asprintf("%.*s" PT_RUN_EXTENSION, (int)stem.len, stem.at);
    int rc = 0;
    if (access(aside, F_OK) == 0)
        rc = pt_fail(err, -EEXIST, "%s exists (move it away first)", aside);
    else if ((rc = pt_place_move(journal, aside)))
        pt_fail(err, rc, "cannot rename %s: %s", journal, strerror(-rc));
    else if ((rc = pt_place_move(copy, whole)))
        pt_fail(err, rc, "cannot rename %s: %s", copy, strerror(-rc));
    if (!rc && !is_quiet)
        pt_say("%s is whole again; the damaged journal is %s.", whole, aside);
    pt_free(aside);
    pt_free(whole);
    return rc;
}

static int repair(const struct pt_command_options *o, const char *journal, struct pt_err *err) {
    struct pt_journal_damage damage;
    struct pt_str stem = pt_run_stem(pt_str_from(journal));
    char directory[PATH_MAX], name[NAME_MAX + 1], *copy;
    size_t made_from;
    if (pt_mark_is_recording(journal))
        return pt_fail(err, -EBUSY, "%s is still being recorded (stop the recording first)",
                       journal);
    int rc = pt_journal_repair(journal, NULL, &damage, err);
    if (rc)
        return rc;
    if (!pt_journal_is_damaged(&damage)) {
        if (!o->is_quiet)
            pt_say("Nothing to repair: %s is complete and has %llu samples.", journal,
                   (unsigned long long)damage.sample_count);
        return 0;
    }
    if (o->output) {
        pt_run_split(journal, directory, name);
        rc = pt_run_make_directory(o->output, &made_from, err);
        copy = pt_asprintf("%s/%s" PT_RUN_EXTENSION, o->output, name);
    } else {
        copy = pt_asprintf("%.*s" COPY_SUFFIX, (int)stem.len, stem.at);
        unlink(copy); /* of an attempt that was killed */
    }
    if (!rc)
        rc = pt_journal_repair(journal, copy, &damage, err);
    if (!rc && !o->is_quiet)
        print_damage(&damage);
    if (!rc && !o->output)
        rc = replace(journal, copy, o->is_quiet, err);
    else if (!rc && !o->is_quiet)
        pt_say("Wrote %s.", copy);
    pt_free(copy);
    return rc;
}

int pt_cmd_repair(const struct pt_command_options *o, char **operands, bool has_dashes,
                  char **argv) {
    (void)has_dashes;
    (void)argv;
    char journal[PATH_MAX];
    struct pt_err err = { "" };
    if (!operands[0] || operands[1])
        return pt_command_misused(PT_COMMAND_REPAIR, "give one run to repair");
    int rc = pt_command_find_run(operands[0], journal, &err);
    if (!rc)
        rc = repair(o, journal, &err);
    return rc ? pt_command_fail(&err, EXIT_ERROR) : 0;
}
