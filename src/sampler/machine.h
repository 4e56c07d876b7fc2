/* sampler/machine.h -- the machine, as far as models of its power need to know it. */
#ifndef PT_SAMPLER_MACHINE_H
#define PT_SAMPLER_MACHINE_H

#include "analyze/energy_basis.h"
#include "base/fs.h"

/* Fills in what can be found out; the rest stays unknown. */
void pt_machine_describe(const struct pt_fs *fs, struct pt_energy_basis *b);

#endif
