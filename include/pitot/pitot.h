/* include/pitot/pitot.h -- libpitot: a program measures itself, for next to nothing.
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
 * Off until pt_start(), or until the environment has PITOT_REGION, as under `pitot -- program`.
 * While off, a call is one branch, and metrics and names can be made. While on, recording takes no
 * lock, makes no system call and allocates nothing; only a thread's first call, and the functions
 * called *_new and pt_name_once() for the first time, prepare memory. All functions may be called
 * by any thread, leave errno alone and never fail in the caller's face: what finds no room is
 * counted as dropped.
 * Signal handlers may record, with handles and names that exist: a span that interrupts the end of
 * another is dropped, an add may be lost that interrupts one to the same metric.
 *
 * The data are in a mapped file with a fixed size, so they outlive the program, also a SIGKILL; or,
 * where there is no directory for it, in memory of the process with the same size. A child made by
 * fork() has a file or memory of its own from its first call on. Without a recorder nobody empties
 * its rings, of 8192 spans a thread, until it calls pt_start(), which makes a thread for it. */
#ifndef PITOT_H
#define PITOT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PT_API                __attribute__((visibility("default")))
#define PITOT_REGION_VARIABLE "PITOT_REGION" /* a directory that exists */

/* Handles. {0} is valid: what is recorded with it goes nowhere. */
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

/* What the amount of work of a span counts. */
enum pt_work { PT_SAMPLES = 1, PT_TOKENS, PT_FLOWS };

/* A span that has begun. It belongs to the thread that ends it. */
typedef struct pt_span {
    uint64_t start_ticks;
    int64_t argument;
    uint64_t request;
    pt_name name; /* 0: nothing is recorded */
    uint32_t flags;
} pt_span;

/* Switches recording on, and begins to keep the newest spans for exports. `directory` gets the file
 * of this process; NULL: that of PITOT_REGION does, and without it there is no file. What was in
 * memory so far moves into the file; a process that has a file stays there. 0 or -errno, then
 * nothing has changed. Metrics and names made before are valid. */
PT_API int pt_start(const char *directory);
/* Switches recording off for all threads. Handles stay valid, and what was recorded stays;
 * pt_start() goes on with it. */
PT_API void pt_stop(void);

/* A metric is known by its name and labels: asking again gives the same handle. `unit` is s, By,
 * ... or "", `labels` are as in Prometheus text, model="a",kind="b", or NULL. Texts are copied
 * and may be cut, except name and labels. Works while off. A handle of 0 is fine to use: then
 * pt_registration_error() says why. */
PT_API pt_counter pt_counter_new(const char *name, const char *unit, const char *help,
                                 const char *labels);
PT_API pt_gauge pt_gauge_new(const char *name, const char *unit, const char *help,
                             const char *labels);
PT_API pt_histogram pt_histogram_new(const char *name, const char *unit, const char *help,
                                     const char *labels);

/* Of the last of these calls by this thread: 0; -EINVAL: the name is not one of Prometheus,
 * [a-zA-Z_:][a-zA-Z0-9_:]*, or the labels are not; -ENAMETOOLONG: more than 95 bytes of name or 255
 * of labels; -EEXIST: the name is that of another kind of metric, where a counter `x_total` is
 * also called `x`; -ENOSPC: no room; -ENOMEM. */
PT_API int pt_registration_error(void);

/* The q-quantile (0 to 1) of all recorded values, within 1.1 %; NAN if there are none. */
PT_API double pt_histogram_quantile(pt_histogram histogram, double q);
/* What was added so far, by all threads. */
PT_API uint64_t pt_counter_value(pt_counter counter);
/* What it stands at; NAN: nowhere. */
PT_API double pt_gauge_value(pt_gauge gauge);
/* Spans, names and metrics that found no room so far. */
PT_API uint64_t pt_dropped(void);

/* What follows up to the inline functions is used by them, not by programs. */
PT_API extern int pt_is_on_; /* 0: off; else the sum of what is on */
enum { PT_METRICS_ON_ = 1, PT_SPANS_ON_ = 2, PT_HISTOGRAMS_ON_ = 4 };
/* The calling thread's own cells; NULL: it has none (yet). */
PT_API extern __thread uint64_t *pt_counters_ __attribute__((tls_model("initial-exec")));
PT_API void pt_counter_add_(pt_counter counter, uint64_t n);
PT_API void pt_gauge_set_(pt_gauge gauge, double value);
PT_API void pt_gauge_add_(pt_gauge gauge, double n);
PT_API void pt_histogram_record_(pt_histogram histogram, double value);
PT_API pt_name pt_name_new_(pt_name *once, const char *text);
/* By value, so that a span can live in registers. */
PT_API void pt_span_put_(uint64_t start_ticks, uint64_t end_ticks, int64_t argument,
                         uint64_t request, pt_name name, uint32_t flags);

/* One of argument, text and work: they share a place. Work has its enum in two bits. */
enum {
    PT_SPAN_HAS_ARGUMENT_ = 1,
    PT_SPAN_HAS_REQUEST_ = 2,
    PT_SPAN_HAS_TEXT_ = 4,
    PT_SPAN_WORK_SHIFT_ = 3
};

static inline int pt_is_off_(int part) {
    return !(__atomic_load_n(&pt_is_on_, __ATOMIC_RELAXED) & part);
}

/* Of the clock that all CPUs share. */
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

/* Values are not negative; 2^-32 to 2^48 are told apart. NAN is ignored. */
static inline void pt_histogram_record(pt_histogram histogram, double value) {
    if (!pt_is_off_(PT_HISTOGRAMS_ON_))
        pt_histogram_record_(histogram, value);
}

/* The name with that text. `once` is static and zero at first, so that the text is looked up
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

/* While off the name is not looked at. */
static inline pt_span pt_span_begin_once_(pt_name *once, const char *text) {
    pt_span span = { 0, 0, 0, 0, 0 };
    if (pt_is_off_(PT_SPANS_ON_))
        return span;
    span.name = pt_name_once(once, text);
    span.start_ticks = pt_ticks_();
    return span;
}

/* A number of the caller's choice. */
static inline void pt_span_set_argument(pt_span *span, int64_t argument) {
    span->argument = argument;
    span->flags = (span->flags & PT_SPAN_HAS_REQUEST_) | PT_SPAN_HAS_ARGUMENT_;
}

/* Instead of a number: a text, by pt_name_once(). */
static inline void pt_span_set_text(pt_span *span, pt_name text) {
    span->argument = text;
    span->flags = (span->flags & PT_SPAN_HAS_REQUEST_) | PT_SPAN_HAS_TEXT_;
}

/* Instead of a number: how much was done, so that the span has a throughput. */
static inline void pt_span_set_work(pt_span *span, enum pt_work work, int64_t amount) {
    span->argument = amount;
    span->flags = (span->flags & PT_SPAN_HAS_REQUEST_) | PT_SPAN_HAS_ARGUMENT_ |
                  (uint32_t)work << PT_SPAN_WORK_SHIFT_;
}

/* The request that the work was done for. */
static inline void pt_span_set_request(pt_span *span, uint64_t request) {
    span->request = request;
    span->flags |= PT_SPAN_HAS_REQUEST_;
}

/* Once: a second end does nothing. */
static inline void pt_span_end(pt_span *span) {
    if (!span->name)
        return;
    pt_span_put_(span->start_ticks, pt_ticks_(), span->argument, span->request, span->name,
                 span->flags);
    span->name = 0;
}

/* A span from here to the end of the block; `text` is the same each time. */
#define PT_SPAN(var, text)                                      \
    static pt_name var##_name_;                                 \
    pt_span var __attribute__((cleanup(pt_span_end), unused)) = \
        pt_span_begin_once_(&var##_name_, text)

#ifdef __cplusplus
}
#endif

#endif
