/* sampler/machine.h -- properties of the machine for power models. */
#ifndef PT_SAMPLER_MACHINE_H
#define PT_SAMPLER_MACHINE_H

#include "analyze/energy_basis.h"
#include "base/fs.h"

/* Fills in what is available; the rest stays unknown. */
void pt_machine_describe(const struct pt_fs *fs, struct pt_energy_basis *b);

#endif
