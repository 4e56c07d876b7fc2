/* include/pitot/pitot.h -- libpitot: metrics and spans from inside a program, at very low cost.
 *
 *     pt_counter tokens = pt_counter_new("tokens", "", "Tokens generated", "model=\"a\"");
 *
 *     void prefill(struct request *r) {
 *         PT_SPAN(span, "prefill"); -- ends with the block
 *         pt_span_set_request(&span, r->id);
 *         ...
 *         pt_counter_add(tokens, n);
 *     }
 *
 * Off until pt_start(), or if the environment has PITOT_REGION, as under `pitot -- program`.
 * While off, a call costs one branch, and metrics and names can be registered. While on,
 * recording takes no lock, makes no system call and allocates nothing; only the first call of a
 * thread, the functions *_new and the first pt_name_once() prepare memory. All functions may be
 * called by any thread, preserve errno and never fail visibly: what does not fit is counted as
 * dropped. Signal handlers may record, with existing handles and names: a span that interrupts
 * the end of another is dropped, and an add that interrupts one to the same metric may be lost.
 *
 * The data is in a mapped file of fixed size, so it outlives the program, even after SIGKILL;
 * without a directory it is in process memory of the same size. A child made by fork() has its
 * own file or memory from its first call on. Without a recorder, its rings of 8192 spans per
 * thread are not emptied until it calls pt_start(), which starts a thread for that. */
#ifndef PITOT_H
#define PITOT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PT_API                __attribute__((visibility("default")))
#define PITOT_REGION_VARIABLE "PITOT_REGION" /* an existing directory */

/* Handles. {0} is valid and records nothing. */
typedef struct pt_counter {
    uint32_t slot;
} pt_counter;
typedef struct pt_gauge {
    uint32_t slot;
} pt_gauge;
typedef struct pt_histogram {
    uint32_t slot;
} pt_histogram;
typedef uint32_t pt_name; /* of spans; 0: none */

/* The unit of the amount of work of a span. */
enum pt_work { PT_SAMPLES = 1, PT_TOKENS, PT_FLOWS };

/* A span that has begun. It belongs to the thread that ends it. */
typedef struct pt_span {
    uint64_t start_ticks;
    int64_t argument;
    uint64_t request;
    pt_name name; /* 0: nothing is recorded */
    uint32_t flags;
} pt_span;

/* Turns recording on, and starts keeping the newest spans for exports. The file of this process is
 * created in `directory`; NULL: in PITOT_REGION, and without that there is no file. Data in memory
 * moves into the file; a process that already has a file keeps it. 0 or -errno, then nothing has
 * changed. Existing metrics and names stay valid. */
PT_API int pt_start(const char *directory);
/* Turns recording off for all threads. Handles stay valid and recorded data is kept; pt_start()
 * continues with it. */
PT_API void pt_stop(void);

/* A metric is identified by name and labels: registering it again returns the same handle. `unit`
 * is s, By, ... or "", `labels` are as in Prometheus text, model="a",kind="b", or NULL. Texts are
 * copied and may be truncated, except name and labels. Works while off. A handle of 0 is safe to
 * use; pt_registration_error() then gives the reason. */
PT_API pt_counter pt_counter_new(const char *name, const char *unit, const char *help,
                                 const char *labels);
PT_API pt_gauge pt_gauge_new(const char *name, const char *unit, const char *help,
                             const char *labels);
PT_API pt_histogram pt_histogram_new(const char *name, const char *unit, const char *help,
                                     const char *labels);

/* The result of the last of these calls by this thread: 0; -EINVAL: the name is not a Prometheus
 * name, [a-zA-Z_:][a-zA-Z0-9_:]*, or the labels are not valid; -ENAMETOOLONG: more than 95 bytes
 * of name or 255 of labels; -EEXIST: the name is used by another kind of metric (a counter
 * `x_total` also occupies `x`); -ENOSPC: the table is full; -ENOMEM. */
PT_API int pt_registration_error(void);

/* The q-quantile (0 to 1) of all recorded values, within 1.1 %; NAN if there are none. */
PT_API double pt_histogram_quantile(pt_histogram histogram, double q);
/* The total of all threads. */
PT_API uint64_t pt_counter_value(pt_counter counter);
/* The current value; NAN: none. */
PT_API double pt_gauge_value(pt_gauge gauge);
/* Number of dropped spans, names and metrics. */
PT_API uint64_t pt_dropped(void);

/* The declarations up to the inline functions are for these, not for programs. */
PT_API extern int pt_is_on_; /* 0: off; otherwise the sum of the parts that are on */
enum { PT_METRICS_ON_ = 1, PT_SPANS_ON_ = 2, PT_HISTOGRAMS_ON_ = 4 };
/* The cells of the calling thread; NULL: none (yet). */
PT_API extern __thread uint64_t *pt_counters_ __attribute__((tls_model("initial-exec")));
PT_API void pt_counter_add_(pt_counter counter, uint64_t n);
PT_API void pt_gauge_set_(pt_gauge gauge, double value);
PT_API void pt_gauge_add_(pt_gauge gauge, double n);
PT_API void pt_histogram_record_(pt_histogram histogram, double value);
PT_API pt_name pt_name_new_(pt_name *once, const char *text);
/* By value, so that a span can live in registers. */
PT_API void pt_span_put_(uint64_t start_ticks, uint64_t end_ticks, int64_t argument,
                         uint64_t request, pt_name name, uint32_t flags);

/* Argument, text and work share a field. Work has its enum in two bits. */
enum {
    PT_SPAN_HAS_ARGUMENT_ = 1,
    PT_SPAN_HAS_REQUEST_ = 2,
    PT_SPAN_HAS_TEXT_ = 4,
    PT_SPAN_WORK_SHIFT_ = 3
};

static inline int pt_is_off_(int part) {
    return !(__atomic_load_n(&pt_is_on_, __ATOMIC_RELAXED) & part);
}

/* Ticks of the clock that all CPUs share. */
static inline uint64_t pt_ticks_(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
}

static inline void pt_counter_add(pt_counter counter, uint64_t n) {
    if (pt_is_off_(PT_METRICS_ON_))
        return;
    uint64_t *cells = pt_counters_;
    if (__builtin_expect(!cells, 0)) {
        pt_counter_add_(counter, n);
        return;
    }
    uint64_t sum = __atomic_load_n(&cells[counter.slot], __ATOMIC_RELAXED) + n;
    __atomic_store_n(&cells[counter.slot], sum, __ATOMIC_RELAXED);
}

static inline void pt_gauge_set(pt_gauge gauge, double value) {
    if (!pt_is_off_(PT_METRICS_ON_))
        pt_gauge_set_(gauge, value);
}

static inline void pt_gauge_add(pt_gauge gauge, double n) {
    if (!pt_is_off_(PT_METRICS_ON_))
        pt_gauge_add_(gauge, n);
}

/* Values must not be negative; 2^-32 to 2^48 are distinguished. NAN is ignored. */
static inline void pt_histogram_record(pt_histogram histogram, double value) {
    if (!pt_is_off_(PT_HISTOGRAMS_ON_))
        pt_histogram_record_(histogram, value);
}

/* The name with that text. `once` is static and initially zero, so that the text is looked up only
 * once. */
static inline pt_name pt_name_once(pt_name *once, const char *text) {
    pt_name name = __atomic_load_n(once, __ATOMIC_RELAXED);
    return __builtin_expect(name != 0, 1) ? name : pt_name_new_(once, text);
}

static inline pt_span pt_span_begin(pt_name name) {
    pt_span span = { 0, 0, 0, 0, 0 };
    if (pt_is_off_(PT_SPANS_ON_))
        return span;
    span.name = name;
    span.start_ticks = pt_ticks_();
    return span;
}

/* While off the name is not used. */
static inline pt_span pt_span_begin_once_(pt_name *once, const char *text) {
    pt_span span = { 0, 0, 0, 0, 0 };
    if (pt_is_off_(PT_SPANS_ON_))
        return span;
    span.name = pt_name_once(once, text);
    span.start_ticks = pt_ticks_();
    return span;
}

/* Attaches a number of the caller's choice. */
static inline void pt_span_set_argument(pt_span *span, int64_t argument) {
    span->argument = argument;
    span->flags = (span->flags & PT_SPAN_HAS_REQUEST_) | PT_SPAN_HAS_ARGUMENT_;
}

/* Instead of a number: a text from pt_name_once(). */
static inline void pt_span_set_text(pt_span *span, pt_name text) {
    span->argument = text;
    span->flags = (span->flags & PT_SPAN_HAS_REQUEST_) | PT_SPAN_HAS_TEXT_;
}

/* Instead of a number: the amount of work, which gives the span a throughput. */
static inline void pt_span_set_work(pt_span *span, enum pt_work work, int64_t amount) {
    span->argument = amount;
    span->flags = (span->flags & PT_SPAN_HAS_REQUEST_) | PT_SPAN_HAS_ARGUMENT_ |
                  (uint32_t)work << PT_SPAN_WORK_SHIFT_;
}

/* The request the span belongs to. */
static inline void pt_span_set_request(pt_span *span, uint64_t request) {
    span->request = request;
    span->flags |= PT_SPAN_HAS_REQUEST_;
}

/* A second end does nothing. */
static inline void pt_span_end(pt_span *span) {
    if (!span->name)
        return;
    pt_span_put_(span->start_ticks, pt_ticks_(), span->argument, span->request, span->name,
                 span->flags);
    span->name = 0;
}

/* A span from here to the end of the block; `text` must be the same each time. */
#define PT_SPAN(var, text)                                      \
    static pt_name var##_name_;                                 \
    pt_span var __attribute__((cleanup(pt_span_end), unused)) = \
        pt_span_begin_once_(&var##_name_, text)

#ifdef __cplusplus
}
#endif

#endif
