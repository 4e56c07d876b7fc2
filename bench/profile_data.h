/* bench/profile_data.h -- a profile as a training run gives it: Python over libtorch over the
 * kernel, several threads, waits, code without symbols. The same for the same number of samples. */
#ifndef PT_BENCH_PROFILE_DATA_H
#define PT_BENCH_PROFILE_DATA_H

#include "profile/model/profile.h"

void profile_data_make(struct pt_profile *p, size_t samples);
/* A slower attention: for differences. */
void profile_data_make_other(struct pt_profile *p, size_t samples);

#endif
