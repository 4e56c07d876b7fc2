/* profile/sample/preload_replay.h -- converts what a preloaded library wrote into its file to
 * records like those of perf. */
#ifndef PT_PROFILE_SAMPLE_PRELOAD_REPLAY_H
#define PT_PROFILE_SAMPLE_PRELOAD_REPLAY_H

#include "profile/sample/preload_source.h"
#include "profile/sample/recording.h"

/* A new file: the process runs another program, so its old mappings are gone. */
void pt_preloaded_begin(struct pt_recording *r, int32_t pid);
/* A record of mappings, with the name of the thread that wrote it. */
void pt_preloaded_maps(struct pt_recording *r, int32_t pid, const struct pt_preload_event *e);
/* The name of the thread. */
void pt_preloaded_name(struct pt_recording *r, int32_t pid, const struct pt_preload_event *e);
/* Registers and stack; borrows the stack. */
struct pt_perf_record pt_preloaded_sample(int32_t pid, const struct pt_preload_event *e);
/* Did the latest stack end at an address without a known mapping? */
bool pt_preloaded_is_lost(const struct pt_recording *r);

#endif
