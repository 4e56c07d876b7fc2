/* profile/sample/preload_replay.h -- what a preloaded library wrote into its file, as the
 * records that perf would have made of it. */
#ifndef PT_PROFILE_SAMPLE_PRELOAD_REPLAY_H
#define PT_PROFILE_SAMPLE_PRELOAD_REPLAY_H

#include "profile/sample/preload_source.h"
#include "profile/sample/recording.h"

/* A file was opened: another program under a known number, whose mappings are gone. */
void pt_preloaded_begin(struct pt_recording *r, int32_t pid);
/* A record of maps, with the name of the thread that wrote it. */
void pt_preloaded_maps(struct pt_recording *r, int32_t pid, const struct pt_preload_event *e);
/* The name of the thread. */
void pt_preloaded_name(struct pt_recording *r, int32_t pid, const struct pt_preload_event *e);
/* Registers and stack; borrows the stack. */
struct pt_perf_record pt_preloaded_sample(int32_t pid, const struct pt_preload_event *e);
/* Did the newest stack end where nothing is known to be mapped? */
bool pt_preloaded_is_lost(const struct pt_recording *r);

#endif
