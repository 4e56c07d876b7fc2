/* derive/span_role.h -- which spans of a program are training steps, waits for data, or collective
 * operations: known by their names, because programs and libraries use the same ones.
 *
 *     train_step  STEP         DataLoader.next  DATA_WAIT       ncclAllReduce  COLLECTIVE
 *
 * Case and punctuation do not matter. docs/LIBRARY.md lists the names. */
#ifndef PT_DERIVE_SPAN_ROLE_H
#define PT_DERIVE_SPAN_ROLE_H

#include "base/str.h"

enum pt_span_role {
    PT_SPAN_OTHER,
    PT_SPAN_STEP,
    PT_SPAN_DATA_WAIT,
    PT_SPAN_COLLECTIVE, /* all ranks leave it together */
    PT_SPAN_ROLE_COUNT
};

enum pt_span_role pt_span_role(struct pt_str name);

#endif
