#include "sampler/marks.h"
#include "base/log.h"
#include "cmd/command.h"
#include "store/run.h"

#include <stdlib.h>

int pt_cmd_mark(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv) {
    (void)has_dashes;
    (void)argv;
    char journal[PATH_MAX];
    struct pt_err err = { "" };
    int other_count;
    if (!operands[0] || operands[1])
        return pt_command_misused(PT_COMMAND_MARK, "give one text (quote it if it has spaces)");
    /* PITOT_RUN, set for recorded commands, arrives here as the value of --run. */
    int rc = pt_run_find(o->run ? o->run : PT_RUN_DEFAULT_DIRECTORY, journal, &other_count, &err);
    if (rc && !o->run)
        pt_fail(&err, rc, "nothing is being recorded in %s (name the recording with --run)",
                PT_RUN_DEFAULT_DIRECTORY);
    if (!rc)
        rc = pt_mark_send(journal, operands[0], o->must_keep, &err);
    if (rc)
        pt_log(PT_LOG_ERROR, "%s", err.text);
    return rc ? 1 : 0;
}
