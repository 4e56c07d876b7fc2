/* inside/region/layout.h -- the mapped file that an observed process writes and a recorder reads.
 *
 *     header | names | metrics | threads: shards of counters, ring of spans | shards of histograms
 *
 * An ABI between programs: fixed widths, little endian, new fields only in place of reserved ones;
 * any other change is a new version. The file is sparse: a thread's block takes memory when a
 * thread has claimed it. A block belongs to one thread at a time, which is its only writer. It
 * keeps its counts when the thread ends and the next owner continues them, so that the sum over the
 * blocks is always complete. Block 0 is for all threads without a block: they add atomically. */
#ifndef PT_INSIDE_REGION_LAYOUT_H
#define PT_INSIDE_REGION_LAYOUT_H

#include "inside/region/histogram.h"

#include <stddef.h>

#define PT_REGION_MAGIC      UINT64_C(0x4e4f494745525450) /* "PTREGION" */
#define PT_REGION_VERSION    3

#define PT_REGION_NAMES      1024 /* 0 is none */
#define PT_REGION_METRICS    512  /* 0 is none */
#define PT_REGION_COUNTERS   256  /* 0 is scratch */
#define PT_REGION_HISTOGRAMS 64   /* 0 is scratch */
#define PT_REGION_THREADS    128  /* block 0 is shared */
#define PT_REGION_SPANS      8192 /* of one thread; a power of two */
#define PT_REGION_SHARDS     320  /* for histograms; the first ones are shared, one per histogram */
#define PT_REGION_SUMS       8    /* a power of two */

#define PT_REGION_NAMESPACE  "/proc/self/ns/pid" /* its inode is in the header */

enum pt_region_kind { PT_REGION_COUNTER = 1, PT_REGION_GAUGE, PT_REGION_HISTOGRAM };
/* Text: the argument is the number of a name. Work: enum pt_work in two bits, for the argument. */
enum pt_region_span_flag {
    PT_REGION_HAS_ARGUMENT = 1,
    PT_REGION_HAS_REQUEST = 2,
    PT_REGION_HAS_TEXT = 4,
    PT_REGION_WORK_SHIFT = 3,
    PT_REGION_WORK_MASK = 3
};

struct pt_region_header {
    uint64_t magic; /* written last */
    uint32_t version, header_size;
    uint64_t size;
    uint32_t name_size, metric_size, thread_size, shard_size;
    uint32_t pid, has_ended; /* the program exited normally */
    int64_t start_wall_ns;
    uint64_t calibration_ticks; /* read at calibration_mono_ns of CLOCK_MONOTONIC */
    int64_t calibration_mono_ns;
    uint32_t name_count, metric_count, shard_count; /* in use, only increase */
    uint32_t counter_count, histogram_count, reserved_count;
    uint64_t dropped_names, dropped_metrics, dropped_spans; /* the last: calls without a block */
    uint32_t reserved_owners[PT_REGION_THREADS];
    uint32_t is_ready[PT_REGION_THREADS]; /* the block has memory; untouched before that */
    uint64_t pid_namespace;               /* inode of that of `pid`; 0: unknown */
    uint8_t reserved[2944];
};

/* `length` is written after the text: 0 means not ready. */
struct pt_region_name {
    uint32_t length;
    char text[60];
};

struct pt_region_metric {
    uint32_t kind;  /* enum pt_region_kind, written last: 0 means not ready */
    uint32_t slot;  /* of counters or of histograms */
    uint64_t gauge; /* bits of a double */
    char name[96], unit[16], help[128], labels[256]; /* end with a zero */
};

struct pt_region_span_record {
    uint64_t start_ticks, end_ticks;
    int64_t argument;
    uint64_t request;
    uint32_t thread;
    uint16_t name, flags;
};

/* The words of a span, for concurrent writing and reading. */
union pt_region_span_words {
    struct pt_region_span_record span;
    uint64_t words[5];
};

/* One writer, the owner; one reader, the recorder. */
struct pt_region_thread {
    uint32_t thread;     /* id of the owner */
    uint32_t is_writing; /* guards against a signal handler of the same thread */
    uint64_t written;    /* spans, moved by the writer only */
    uint64_t dropped;
    uint64_t
        name[2]; /* of the owner at its first call, 15 bytes and a zero; written before its id */
    uint8_t reserved_writer[24];
    uint64_t read; /* spans, moved by the reader only */
    uint8_t reserved_reader[56];
    uint64_t counters[PT_REGION_COUNTERS];
    uint64_t reserved_addresses[PT_REGION_HISTOGRAMS];
    uint32_t shards[PT_REGION_HISTOGRAMS]; /* plus one; 0: none yet */
    struct pt_region_span_record spans[PT_REGION_SPANS];
    uint8_t reserved[1152];
};

/* The sum is split by bucket: an add does not wait for the previous one. Readers look only at
 * octaves in use, which are marked before the first count of a bucket. */
struct pt_region_shard {
    uint64_t sums[PT_REGION_SUMS]; /* bits of doubles */
    uint8_t is_used[PT_OCTAVE_COUNT];
    uint8_t reserved[48];
    uint64_t buckets[PT_BUCKET_COUNT];
};

struct pt_region_layout {
    struct pt_region_header header;
    struct pt_region_name names[PT_REGION_NAMES];
    struct pt_region_metric metrics[PT_REGION_METRICS];
    struct pt_region_thread threads[PT_REGION_THREADS];
    struct pt_region_shard shards[PT_REGION_SHARDS];
};

_Static_assert(sizeof(struct pt_region_header) == 4096, "ABI");
_Static_assert(sizeof(struct pt_region_name) == 64, "ABI");
_Static_assert(sizeof(struct pt_region_metric) == 512, "ABI");
_Static_assert(sizeof(struct pt_region_span_record) == 40, "ABI");
_Static_assert(sizeof(union pt_region_span_words) == sizeof(struct pt_region_span_record), "ABI");
_Static_assert(offsetof(struct pt_region_span_record, thread) == 32,
               "ABI: a word with the next two");
_Static_assert(offsetof(struct pt_region_span_record, name) == 36, "ABI");
_Static_assert(offsetof(struct pt_region_thread, read) == 64, "ABI: a line for each side");
_Static_assert(sizeof(struct pt_region_thread) % 4096 == 0, "ABI: blocks are whole pages");
_Static_assert(offsetof(struct pt_region_shard, buckets) == 192, "ABI: lines of their own");
_Static_assert(sizeof(struct pt_region_shard) == 192 + 8 * PT_BUCKET_COUNT, "ABI");
_Static_assert(offsetof(struct pt_region_layout, threads) % 4096 == 0, "ABI");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "ABI");

/* Both sides synchronize positions with these; they order all other accesses. */
#define pt_region_load(at)         __atomic_load_n(at, __ATOMIC_RELAXED)
#define pt_region_store(at, value) __atomic_store_n(at, value, __ATOMIC_RELAXED)

/* The first octave in use from `octave` on; PT_OCTAVE_COUNT: none. */
static inline uint32_t pt_region_used_octave(const struct pt_region_shard *shard, uint32_t octave) {
    while (octave < PT_OCTAVE_COUNT) {
        const uint64_t *word = (const uint64_t *)(const void *)shard->is_used + octave / 8;
        uint64_t left = pt_region_load(word) >> octave % 8 * 8;
        if (left)
            return octave + (uint32_t)__builtin_ctzll(left) / 8;
        octave = (octave / 8 + 1) * 8;
    }
    return PT_OCTAVE_COUNT;
}

#endif
