/* cmd/collector_options.c -- options of all sampling commands that select collectors. */
#include "cmd/command.h"
#include "collect/collector.h"

#include <errno.h>

static int unknown_collector(struct pt_str name, struct pt_err *err) {
    char known[160];
    pt_choices_join(pt_collector_name, known, sizeof known);
    return pt_fail(err, -EINVAL, "unknown collector '%.*s' (one of: %s)", (int)name.len, name.at,
                   known);
}

/* Switches each collector of a comma-separated list on or off. */
static int switch_collectors(bool *is_enabled, const char *list, bool value, struct pt_err *err) {
    for (const char *at = list;; at++) {
        struct pt_str name = { at, strcspn(at, ",") };
        int i = 0;
        while (pt_collectors[i] && !pt_str_eq(pt_str_from(pt_collectors[i]->name), name))
            i++;
        if (!pt_collectors[i])
            return unknown_collector(name, err);
        is_enabled[i] = value;
        at += name.len;
        if (!*at)
            return 0;
    }
}

int pt_command_collectors(const struct pt_command_options *o, bool *is_enabled,
                          struct pt_err *err) {
    for (int i = 0; pt_collectors[i]; i++)
        is_enabled[i] = !o->collect && !pt_collectors[i]->is_optional;
    int rc = o->collect ? switch_collectors(is_enabled, o->collect, true, err) : 0;
    if (!rc && o->processes)
        rc = switch_collectors(is_enabled, "processes", true, err);
    if (!rc && o->no_collect)
        rc = switch_collectors(is_enabled, o->no_collect, false, err);
    return rc;
}
