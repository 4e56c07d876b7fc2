/* analyze/energy_basis.h -- inputs of energy figures other than samples: the machine and the user's
 * assumptions.
 *
 * The recorder stores it in the journal as the note "energy", one `key value` per line, so that the
 * figures can be recomputed with other assumptions:
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

/* {0}: nothing is known or given, and texts are empty. */
struct pt_energy_basis {
    char cpu_type[128];
    struct pt_given cpu_threads, cpu_sockets, memory_bytes;
    struct pt_given is_guest;    /* 1: virtual machine */
    struct pt_given has_command; /* 1: the first sample precedes the command */

    char region[32];
    struct pt_given carbon_intensity; /* grams per kWh */
    struct pt_given pue;
    struct pt_given price_kwh, price_hour;
    char currency[16];
};

/* Sets one of the keys above, written with '-'. -EINVAL with a message for an invalid value,
 * -ENOENT for an unknown key. */
int pt_energy_basis_set(struct pt_energy_basis *b, struct pt_str key, struct pt_str value,
                        struct pt_err *err) PT_MUST_CHECK;

/* Appends a line for each known or given value. */
void pt_energy_basis_write(const struct pt_energy_basis *b, struct pt_buf *into);
/* Ignores invalid lines and those of newer versions. */
void pt_energy_basis_read(struct pt_energy_basis *b, struct pt_str text);

#endif
