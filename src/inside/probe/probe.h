/* inside/probe/probe.h -- shared by the files of the probe; nothing of it is exported.
 *
 * This code runs inside other people's programs: it never prints, blocks, aborts or allocates. */
#ifndef PT_INSIDE_PROBE_PROBE_H
#define PT_INSIDE_PROBE_PROBE_H

#include "inside/region/layout.h"

#include <pitot/pitot.h>
#include <stdbool.h>

#define PT_PROBE_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define PT_PROBE_TLS               _Thread_local __attribute__((tls_model("initial-exec")))

extern struct pt_region_layout *pt_probe_region_;            /* NULL: none yet; see below */
extern PT_PROBE_TLS struct pt_region_thread *pt_probe_self_; /* block of this thread, or NULL */

/* What the process itself knows of its region. Other processes may write anything into the file, so
 * the copies there are for readers only, and nothing else in it is an address or an index. */
struct pt_probe_own {
    uint32_t name_count, metric_count, counter_count, histogram_count; /* guarded by the lock */
    uint32_t shard_count;                 /* this and the rest: atomic */
    uint32_t owners[PT_REGION_THREADS];   /* of the blocks: thread ids, 0: free */
    uint32_t is_ready[PT_REGION_THREADS]; /* the block has memory */
    uint8_t has_shard[PT_REGION_SHARDS];  /* the shard has memory */
};
extern struct pt_probe_own pt_probe_own;
/* By block and histogram; NULL: none yet; pt_probe_no_shard: only the shared one. */
extern struct pt_region_shard *pt_probe_shards[PT_REGION_THREADS][PT_REGION_HISTOGRAMS];
extern PT_PROBE_TLS struct pt_region_shard **pt_probe_shards_; /* of this thread's block, or NULL */
extern struct pt_region_shard pt_probe_no_shard;               /* stays empty */

/* Acquire: paired with the release that publishes a new region. */
static inline struct pt_region_layout *pt_probe_region(void) {
    return __atomic_load_n(&pt_probe_region_, __ATOMIC_ACQUIRE);
}

/* The region, created if needed, in memory while recording is off; NULL: no memory. Between these
 * two calls the directories belong to the caller; not for signal handlers. */
struct pt_region_layout *pt_probe_lock(void);
void pt_probe_unlock(void);

/* Called by pt_start() when recording is on; NULL: nothing. Set once, before main(). */
extern void (*pt_probe_on_start)(void);

/* What is recorded while recording is on: spans and histograms can be switched off, at once and for
 * all threads; PT_METRICS_ON_ cannot. */
#define PT_PROBE_ALL ((unsigned)(PT_METRICS_ON_ | PT_SPANS_ON_ | PT_HISTOGRAMS_ON_))
void pt_probe_set_parts(unsigned wanted);

/* Is the region a file for a recorder around us, which empties the rings? */
bool pt_probe_has_recorder(void);

/* A block for a thread without one; NULL: none is free. */
struct pt_region_thread *pt_probe_claim(void);

static inline struct pt_region_thread *pt_probe_self(void) {
    struct pt_region_thread *self = pt_probe_self_;
    return PT_PROBE_LIKELY(self) ? self : pt_probe_claim();
}

/* Acquire: paired with the release by the thread that gave the block its memory. */
static inline bool pt_probe_is_ready(uint32_t block) {
    return __atomic_load_n(&pt_probe_own.is_ready[block], __ATOMIC_ACQUIRE);
}

/* The shard of a block; NULL: none of its own. */
static inline struct pt_region_shard *pt_probe_shard(uint32_t block, uint32_t slot) {
    struct pt_region_shard *shard =
        __atomic_load_n(&pt_probe_shards[block][slot], __ATOMIC_ACQUIRE);
    return shard == &pt_probe_no_shard ? NULL : shard;
}

/* Allocates memory for a part of the region, so that touching it cannot fail later. */
bool pt_probe_populate(struct pt_region_layout *region, const void *at, size_t size);

bool pt_probe_prepare_histogram(struct pt_region_layout *region, uint32_t slot);

/* By any thread, unlike the adds of a block's owner. */
static inline void pt_probe_add_shared(uint64_t *at, uint64_t n) {
    __atomic_fetch_add(at, n, __ATOMIC_RELAXED);
}

/* By the only writer: readers see the old or the new value. */
static inline void pt_probe_add(uint64_t *at, uint64_t n) {
    pt_region_store(at, pt_region_load(at) + n);
}

static inline double pt_probe_double(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t pt_probe_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

#endif
