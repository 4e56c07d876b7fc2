/* analyze/energy_basis.h -- what energy figures rest on beside the samples: the machine and the
 * assumptions of the user.
 *
 * The recorder keeps it in the journal as the note "energy", a `key value` line each, so that the
 * figures can be computed again with other assumptions:
 *
 *     cpu-type AMD EPYC 7763 64-Core Processor
 *     cpu-threads 4
 *     is-guest 1
 *     region DE */
#ifndef PT_ANALYZE_ENERGY_BASIS_H
#define PT_ANALYZE_ENERGY_BASIS_H

#include "base/buf.h"
#include "base/err.h"

#define PT_ENERGY_NOTE "energy"

struct pt_given {
    bool is_given;
    double value;
};

/* {0}: nothing is known or given. Texts are empty then. */
struct pt_energy_basis {
    char cpu_type[128];
    struct pt_given cpu_threads, cpu_sockets, memory_bytes;
    struct pt_given is_guest;    /* 1: below a hypervisor */
    struct pt_given has_command; /* 1: the first sample is from before the command */

    char region[32];
    struct pt_given carbon_intensity; /* grams a kilowatt-hour */
    struct pt_given pue;
    struct pt_given price_kwh, price_hour;
    char currency[16];
};

/* Sets one of the keys above, written with '-'. -EINVAL with words for a wrong value, -ENOENT for
 * a key that is not known. */
int pt_energy_basis_set(struct pt_energy_basis *b, struct pt_str key, struct pt_str value,
                        struct pt_err *err) PT_MUST_CHECK;

/* Appends the lines of all that is known or given. */
void pt_energy_basis_write(const struct pt_energy_basis *b, struct pt_buf *into);
/* Lines that are wrong or of a newer version are passed over. */
void pt_energy_basis_read(struct pt_energy_basis *b, struct pt_str text);

#endif
