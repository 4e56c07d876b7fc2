/* profile/sample/symbolize.h -- gives the frames of a recording their names: functions, files,
 * lines, and the functions that were inlined. After sampling, once. */
#ifndef PT_PROFILE_SAMPLE_SYMBOLIZE_H
#define PT_PROFILE_SAMPLE_SYMBOLIZE_H

#include "profile/sample/recording.h"

/* While there is time: opens what will be needed for one more of its frames. False: for all there
 * are. */
bool pt_symbolize_prepare(struct pt_recording *r);

/* Frames, stacks and samples of the profile are numbered anew. */
void pt_symbolize(struct pt_recording *r);

/* Of a profile that was read and has no names yet, from the files that are here now; those with
 * another build id are left alone. */
void pt_symbolize_saved(struct pt_profile *p);

#endif
