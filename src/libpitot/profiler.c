#include "libpitot/profiler.h"

#include "base/clock.h"
#include "libpitot/gpu_watch.h"
#include "libpitot/process_usage.h"
#include "libpitot/ticker.h"

#include <errno.h>
#include <math.h>
#include <pitot/config.h>
#include <pthread.h>
#include <stdlib.h>

#define INTERVAL_DEFAULT_S 0.5
#define INTERVAL_LOW_S     0.01
#define INTERVAL_HIGH_S    3600
#define OTHER_NAMES        "(other)"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t event, generation;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

void pt_profilers_lock(void) {
    pthread_mutex_lock(&lock);
}

void pt_profilers_unlock(void) {
    pthread_mutex_unlock(&lock);
}

uint64_t pt_profilers_event(void) {
    return ++event;
}

uint64_t pt_profilers_generation(void) {
    return generation;
}

static void after_fork_in_child(void) {
    generation++;
    pthread_mutex_unlock(&lock);
}

static void prepare(void) {
    pthread_atfork(pt_profilers_lock, pt_profilers_unlock, after_fork_in_child);
}

void pt_profiler_options_init(pt_profiler_options *options) {
    pt_config config;
    pt_config_get(&config);
    *options = (pt_profiler_options){
        .size = sizeof *options,
        .track_gpu = true,
        .memory_interval = config.memory_interval,
        .exact_peak = true,
    };
}

static int64_t interval_ns(const pt_profiler *p) {
    return (int64_t)(p->options.memory_interval * (double)PT_NS_PER_SECOND);
}

pt_profiler *pt_profiler_new(const pt_profiler_options *options) {
    int saved_errno = errno;
    pthread_once(&prepared, prepare);
    pt_profiler *p = calloc(1, sizeof *p);
    if (p) {
        /* Fields unknown to a program built for an earlier version have their defaults. */
        pt_profiler_options_init(&p->options);
        if (options)
            memcpy(&p->options, options,
                   options->size < sizeof p->options ? options->size : sizeof p->options);
        p->options.size = sizeof p->options;
        if (!(p->options.memory_interval > 0))
            p->options.memory_interval = INTERVAL_DEFAULT_S;
        p->options.memory_interval =
            fmin(fmax(p->options.memory_interval, INTERVAL_LOW_S), INTERVAL_HIGH_S);
        struct pt_kernel_text buffer = { 0 };
        if (p->options.track_gpu)
            p->watches_gpu = !pt_gpu_watch_start(interval_ns(p));
        if (p->options.track_carbon)
            pt_energy_use_open(&p->energy, &buffer);
        pt_kernel_text_release(&buffer);
        int id = pt_ticker_add(pt_operations_tick, p, interval_ns(p));
        p->tick_id = id > 0 ? id : 0; /* without: only what is read at both ends */
    }
    errno = saved_errno;
    return p;
}

void pt_profiler_free(pt_profiler *p) {
    int saved_errno = errno;
    if (!p)
        return;
    pt_ticker_remove(p->tick_id);
    pt_profilers_lock();
    pt_operations_abandon(p);
    pt_profilers_unlock();
    if (p->watches_gpu)
        pt_gpu_watch_stop();
    pt_energy_use_close(&p->energy);
    for (size_t i = 0; i < p->record_count; i++) {
        pt_memory_series_release(&p->records[i]->samples);
        free(p->records[i]);
    }
    free(p->records);
    free(p);
    errno = saved_errno;
}

static struct pt_record *find_record(pt_profiler *p, const char *name) {
    for (size_t i = 0; i < p->record_count; i++)
        if (strncmp(p->records[i]->name, name, sizeof p->records[i]->name - 1) == 0)
            return p->records[i];
    return NULL;
}

static bool make_room(pt_profiler *p) {
    if (p->record_count < p->record_capacity)
        return true;
    size_t capacity = p->record_capacity ? p->record_capacity * 2 : 8;
    struct pt_record **moved = realloc(p->records, capacity * sizeof *moved);
    if (!moved)
        return false;
    p->records = moved;
    p->record_capacity = capacity;
    return true;
}

static struct pt_record *add_record(pt_profiler *p, const char *name) {
    struct pt_record *record = make_room(p) ? calloc(1, sizeof *record) : NULL;
    if (!record)
        return NULL;
    pt_str_copy(record->name, sizeof record->name, pt_str_from(name));
    p->records[p->record_count++] = record;
    return record;
}

struct pt_record *pt_profiler_record(pt_profiler *p, const char *name) {
    struct pt_record *record = find_record(p, name);
    if (record)
        return record;
    if (p->record_count < PT_PROFILER_NAMES)
        return add_record(p, name);
    record = find_record(p, OTHER_NAMES);
    return record ? record : add_record(p, OTHER_NAMES);
}

/* The record with the latest result; NULL: none. */
static struct pt_record *find_result(pt_profiler *p, const char *name) {
    struct pt_record *latest = name ? find_record(p, name) : NULL;
    for (size_t i = 0; !name && i < p->record_count; i++)
        if (!latest || p->records[i]->event > latest->event)
            latest = p->records[i];
    return latest && latest->event > 0 ? latest : NULL;
}

static int get_result(pt_profiler *p, const char *name, pt_performance *into) {
    pt_profilers_lock();
    struct pt_record *record = find_result(p, name);
    if (record)
        *into = record->result;
    pt_profilers_unlock();
    return record ? 0 : -ENOENT;
}

/* When the requested open operation began; 0: use the latest result. */
static uint64_t find_open(pt_profiler *p, const char *name) {
    const struct pt_memory_series *samples;
    pt_profilers_lock();
    struct pt_record *record = find_result(p, name);
    uint64_t began = pt_operations_find(p, name, &samples);
    bool has_ended_later = record && record->event > began;
    pt_profilers_unlock();
    return has_ended_later ? 0 : began;
}

int pt_profiler_get(pt_profiler *p, const char *name, pt_performance *into) {
    int saved_errno = errno;
    uint64_t open = p ? find_open(p, name) : 0;
    int rc = p ? 0 : -ENOENT;
    if (p && (open == 0 || !pt_operations_measure(p, open, into)))
        rc = get_result(p, name, into);
    errno = saved_errno;
    return rc;
}

bool pt_profiler_has_results(pt_profiler *p) {
    const struct pt_memory_series *samples;
    if (!p)
        return false;
    pt_profilers_lock();
    bool has = find_result(p, NULL) || pt_operations_find(p, NULL, &samples);
    pt_profilers_unlock();
    return has;
}

size_t pt_profiler_breakdown(pt_profiler *p, const char **names, double *seconds, size_t capacity) {
    if (!p)
        return 0;
    pt_profilers_lock();
    size_t count = p->record_count;
    for (size_t i = 0; i < count && i < capacity; i++) {
        if (names)
            names[i] = p->records[i]->name;
        if (seconds)
            seconds[i] = p->records[i]->total_s;
    }
    pt_profilers_unlock();
    return count;
}

size_t pt_profiler_memory_samples(pt_profiler *p, const char *name, double *seconds, double *mb,
                                  size_t capacity) {
    const struct pt_memory_series *samples = NULL;
    if (!p)
        return 0;
    pt_profilers_lock();
    struct pt_record *record = find_result(p, name);
    uint64_t began = pt_operations_find(p, name, &samples);
    if (record && record->event > began)
        samples = &record->samples;
    if (samples) {
        size_t n = samples->count < capacity ? samples->count : capacity;
        if (seconds && n > 0)
            memcpy(seconds, samples->x, n * sizeof *seconds);
        if (mb && n > 0)
            memcpy(mb, samples->mb, n * sizeof *mb);
    }
    size_t count = samples ? samples->count : 0;
    pt_profilers_unlock();
    return count;
}

double pt_current_memory_mb(void) {
    return pt_process_ram_mb();
}

/* A question without a watching profiler starts the watch for good. */
double pt_current_gpu_memory(void) {
    static int is_watched;
    struct pt_gpu_now now;
    if (!pt_gpu_watch_read(&now) && !__atomic_exchange_n(&is_watched, 1, __ATOMIC_ACQ_REL) &&
        pt_gpu_watch_start(PT_NS_PER_SECOND / 2))
        __atomic_store_n(&is_watched, 0, __ATOMIC_RELEASE);
    (void)pt_gpu_watch_read(&now);
    return now.memory_used_mb / now.memory_total_mb;
}
