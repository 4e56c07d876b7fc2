#include "report/ranks.h"

#include "store/rank.h"

#define NAMES_SHOWN 50

void pt_report_ranks_write(const struct pt_journal_reader *reader, const struct pt_stragglers *s,
                           struct pt_json *j) {
    const struct pt_journal_note *note = pt_journal_note_find(reader, PT_RANK_NOTE);
    if (!note) {
        pt_json_null(j, "merge");
        return;
    }
    pt_json_str(j, "merge", (struct pt_str){ note->text, note->text_len });
    pt_json_array(j, "stragglers");
    for (size_t i = 0; i < s->count && i < NAMES_SHOWN; i++) {
        const struct pt_straggling *one = &s->list[i];
        pt_json_object(j, NULL);
        pt_json_str(j, "name", s->names.list[one->name]);
        pt_json_str(j, "rank", s->ranks.list[one->rank]);
        pt_json_bool(j, "is_collective", one->is_collective);
        pt_json_bool(j, "is_straggler", one->is_straggler);
        pt_json_i64(j, "ranks", (int64_t)one->rank_count);
        pt_json_i64(j, "steps", (int64_t)one->step_count);
        pt_json_f64(j, "slowest_share", one->slowest_share);
        pt_json_f64(j, "pace", one->pace);
        pt_json_f64(j, "median", one->median_s);
        pt_json_f64(j, "lost", one->lost_s);
        pt_json_end(j);
    }
    pt_json_end(j);
}

void pt_report_stragglers_print(const struct pt_stragglers *s, struct pt_out *out) {
    if (s->count == 0) {
        pt_out_text(out,
                    "No spans to compare ranks (spans come from programs that use libpitot).\n");
        return;
    }
    pt_out_printf(out, "%-28s %8s %12s  %-12s %10s %8s %10s\n", "span", "steps", "median",
                  "slowest", "of steps", "pace", "lost");
    for (size_t i = 0; i < s->count && i < NAMES_SHOWN; i++) {
        const struct pt_straggling *one = &s->list[i];
        struct pt_str name = s->names.list[one->name], rank = s->ranks.list[one->rank];
        pt_out_printf(out, "%-28.*s %8zu %9.3f ms  %-12.*s %8.0f %% %8.2f %8.2f s%s\n",
                      (int)name.len, name.at, one->step_count, one->median_s * 1e3, (int)rank.len,
                      rank.at, one->slowest_share * 100, one->pace, one->lost_s,
                      one->is_straggler ? "  straggler" : "");
    }
}
