/* profile/sample/symbolize.h -- resolves the symbols of a recording: functions, files, lines,
 * inlined functions. Once, after sampling. */
#ifndef PT_PROFILE_SAMPLE_SYMBOLIZE_H
#define PT_PROFILE_SAMPLE_SYMBOLIZE_H

#include "profile/sample/recording.h"

/* While there is time: opens the files needed for one more frame. False: all frames are done. */
bool pt_symbolize_prepare(struct pt_recording *r);

/* Renumbers frames, stacks and samples of the profile. */
void pt_symbolize(struct pt_recording *r);

/* Resolves symbols of a profile that was read without them, from the files on this machine; files
 * with another build id are ignored. */
void pt_symbolize_saved(struct pt_profile *p);

#endif
