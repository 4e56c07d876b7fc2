#include "base/log.h"
#include "cmd/command.h"
#include "report/energy_text.h"
#include "store/journal.h"
#include "store/rank.h"
#include "store/run.h"

#include <langinfo.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>
#include <uuid.h>

/* Options that are keys of the basis. */
static const struct {
    const char *key;
    size_t offset;
} assumptions[] = {
    { "region", offsetof(struct pt_command_options, region) },
    { "carbon-intensity", offsetof(struct pt_command_options, carbon_intensity) },
    { "pue", offsetof(struct pt_command_options, pue) },
    { "price-kwh", offsetof(struct pt_command_options, price_kwh) },
    { "price-hour", offsetof(struct pt_command_options, price_hour) },
    { "currency", offsetof(struct pt_command_options, currency) },
};

int pt_command_energy_basis(const struct pt_command_options *o, struct pt_energy_basis *basis,
                            struct pt_err *err) {
    for (size_t i = 0; i < PT_COUNT(assumptions); i++) {
        const char *text = *(const char *const *)((const char *)o + assumptions[i].offset);
        struct pt_err reason = { "" };
        int rc = text ? pt_energy_basis_set(basis, pt_str_from(assumptions[i].key),
                                            pt_str_from(text), &reason)
                      : 0;
        if (rc)
            return pt_fail(err, rc, "--%s: %s", assumptions[i].key, reason.text);
    }
    return 0;
}

/* Notes stand between samples, so the basis is known only at the end. */
static int read_run(struct pt_journal_reader *reader, struct pt_energy_meter *meter) {
    struct pt_figure_stream figures;
    struct pt_sample sample;
    int next;
    pt_figure_stream_init(&figures, &reader->schema);
    pt_sample_init(&sample, &reader->schema);
    while ((next = pt_journal_next(reader, &sample)) > 0)
        if (pt_figure_stream_add(&figures, &sample))
            pt_energy_meter_add(meter, &sample, &figures);
    pt_sample_release(&sample);
    pt_figure_stream_release(&figures);
    return next;
}

static int report_run(const char *journal, const struct pt_command_options *o) {
    struct pt_journal_reader reader = { 0 };
    struct pt_energy_meter meter;
    struct pt_energy_basis basis = { 0 };
    struct pt_energy_report report;
    struct pt_err err = { "" };
    struct pt_out out;
    char uuid[37];
    if (pt_journal_open(&reader, journal, &err))
        return pt_command_fail(&err, 1);
    if (pt_journal_note_find(&reader, PT_RANK_NOTE)) {
        pt_log(PT_LOG_ERROR,
               "%s is a merged run: its ranks may share a machine (give one of the runs it was "
               "merged from)",
               journal);
        pt_journal_reader_close(&reader);
        return 1;
    }
    pt_energy_meter_init(&meter, &reader.schema);
    int code = 0, rc = read_run(&reader, &meter);
    if (rc)
        pt_log(PT_LOG_ERROR, "cannot read %s: %s", journal, strerror(-rc));
    /* options override what was given at recording time; a region also overrides a carbon
     * intensity given then */
    const struct pt_journal_note *note = pt_journal_note_find(&reader, PT_ENERGY_NOTE);
    if (note)
        pt_energy_basis_read(&basis, (struct pt_str){ note->text, note->text_len });
    if (o->region)
        basis.carbon_intensity = (struct pt_given){ 0 };
    if (pt_command_energy_basis(o, &basis, &err)) {
        code = pt_command_misused(PT_COMMAND_ENERGY, "%s", err.text);
    } else {
        pt_energy_report_make(&report, &meter, &basis);
        uuid_unparse_lower(reader.uuid, uuid);
        pt_out_show(&out, STDOUT_FILENO);
        if (o->as_json) {
            pt_energy_print_json(&report, uuid, &out);
        } else {
            pt_out_printf(&out, "Run %s, %.1f s\n\n", uuid, report.seconds);
            pt_energy_print(&report, strcmp(nl_langinfo(CODESET), "UTF-8") == 0, &out);
        }
        code = pt_out_close(&out) ? 1 : 0;
        pt_energy_report_release(&report);
    }
    pt_energy_meter_release(&meter);
    pt_journal_reader_close(&reader);
    return code ? code : rc != 0;
}

int pt_cmd_energy(const struct pt_command_options *o, char **operands, bool has_dashes,
                  char **argv) {
    (void)has_dashes;
    (void)argv;
    char journal[PATH_MAX];
    struct pt_err err = { "" };
    if (!operands[0] || operands[1])
        return pt_command_misused(PT_COMMAND_ENERGY, "give one run");
    if (pt_command_find_run(operands[0], journal, &err))
        return pt_command_fail(&err, 1);
    return report_run(journal, o);
}
