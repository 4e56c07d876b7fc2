#include "libpitot/gpu_watch.h"

#include "base/clock.h"
#include "derive/track.h"
#include "source/gpu/poller.h"
#include "libpitot/ticker.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <unistd.h>

#define SLOWNESS        10
#define DEVICES_MAX     64 /* GPUs with energy counted */
#define PATIENCE_NS     (500 * PT_NS_PER_MS)
#define SEARCH_AGAIN_NS (60 * PT_NS_PER_SECOND)
#define BYTES_PER_MB    (1024.0 * 1024)

static const char procfs[] = "/proc", sysfs[] = "/sys", rootfs[] = "/";

struct meter {
    struct pt_track energy, power; /* joules counted; watts */
};

/* Guarded by `life_lock`, which only start and stop take, for their whole duration. */
static pthread_mutex_t life_lock = PTHREAD_MUTEX_INITIALIZER;
static int reference_count, tick_id;
static int64_t shortest_ns, found_none_ns; /* last search; 0: never */
static bool is_prepared;

/* Guarded by `lock`, which is held briefly. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pt_gpu_poller *poller;        /* NULL: nothing is watched */
static bool is_starting, is_cut_off;        /* the latter: by fork() */
static int slowness = 1;                    /* factor on the intervals */
static int64_t poller_cpu_ns, ended_cpu_ns; /* of this poller, of those before */
static bool sees_host_pids;
static struct pt_gpu_reading reading;
static struct pt_gpu_now now;
static struct pt_gpu_mark total;
static struct meter meters[DEVICES_MAX];

static const struct pt_gpu_now nothing = { NAN, NAN, NAN, NAN, NAN, NAN, 0 };

static double value_of(const struct pt_gpu_device *d, enum pt_gpu_field field, double unit) {
    return pt_gpu_has(d, field) ? (double)d->values[field] / unit : NAN;
}

/* Drivers use the pids of the outermost namespace. */
static bool is_self(const struct pt_gpu_process *p) {
    return p->pid == getpid() && (!p->is_host_pid || sees_host_pids);
}

static bool is_on(size_t device) {
    for (size_t i = 0; i < reading.process_count; i++)
        if (is_self(&reading.processes[i]) && reading.processes[i].gpu == (int)device)
            return true;
    return false;
}

static bool is_on_any(void) {
    for (size_t i = 0; i < reading.device_count; i++)
        if (is_on(i))
            return true;
    return false;
}

static double memory_of_process(void) {
    double mb = NAN;
    for (size_t i = 0; i < reading.process_count; i++) {
        const struct pt_gpu_process *p = &reading.processes[i];
        if (is_self(p) && pt_gpu_process_has(p, PT_GPU_PROCESS_MEMORY_BYTES))
            mb = (isnan(mb) ? 0 : mb) +
                 (double)p->values[PT_GPU_PROCESS_MEMORY_BYTES] / BYTES_PER_MB;
    }
    return mb;
}

/* Joules since the last reading of the device, by its counter; without one, by its power. */
static double take_energy(struct meter *m, const struct pt_gpu_device *d, int64_t time_ns) {
    double joules = value_of(d, PT_GPU_ENERGY_MJ, 1000), watts = value_of(d, PT_GPU_POWER_MW, 1000);
    struct pt_growth counted = { 0 }, integrated = { 0 };
    enum pt_track_step by_counter = PT_TRACK_STARTS, by_power = PT_TRACK_STARTS;
    if (!isnan(joules))
        by_counter = pt_track_next(&m->energy, joules, time_ns, &counted);
    if (!isnan(watts))
        by_power = pt_track_integrate(&m->power, watts, time_ns, &integrated);
    m->energy.has_value &= !isnan(joules); /* the other one counts this time */
    m->power.has_value &= !isnan(watts);
    if (by_counter != PT_TRACK_STARTS)
        return by_counter == PT_TRACK_GROWS ? counted.amount : 0;
    return by_power == PT_TRACK_GROWS ? integrated.amount : 0;
}

static void count_energy(void) {
    bool counts_all = !is_on_any();
    for (size_t i = 0; i < reading.device_count && i < DEVICES_MAX; i++) {
        const struct pt_gpu_device *d = &reading.devices[i];
        double joules = take_energy(&meters[i], d, reading.time_ns);
        /* The power of a MIG instance is that of its GPU. */
        if (!d->info.is_instance && (counts_all || is_on(i)))
            total.energy_joules += joules;
    }
}

/* Uses the latest reading, if it is new. The lock is held. */
static void take_in(void) {
    if (!poller || !pt_gpu_poller_read(poller, &reading) || reading.device_count == 0)
        return;
    const struct pt_gpu_device *first = &reading.devices[0];
    now = (struct pt_gpu_now){
        .utilization_percent = value_of(first, PT_GPU_UTILIZATION_PERCENT, 1),
        .memory_used_mb = value_of(first, PT_GPU_MEMORY_USED_BYTES, BYTES_PER_MB),
        .memory_total_mb = value_of(first, PT_GPU_MEMORY_TOTAL_BYTES, BYTES_PER_MB),
        .temperature_c = value_of(first, PT_GPU_TEMPERATURE_C, 1),
        .power_w = value_of(first, PT_GPU_POWER_MW, 1000),
        .process_memory_mb = memory_of_process(),
        .time_ns = reading.time_ns,
    };
    if (!isnan(now.utilization_percent)) {
        total.utilization_sum += now.utilization_percent;
        total.reading_count++;
    }
    double before_joules = total.energy_joules;
    count_energy();
    total.power_w = total.time_ns
                        ? pt_growth_rate(&(struct pt_growth){ total.energy_joules - before_joules,
                                                              total.time_ns, reading.time_ns })
                        : NAN;
    total.time_ns = reading.time_ns;
    poller_cpu_ns = reading.cpu_ns;
}

static void tick(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    take_in();
    pthread_mutex_unlock(&lock);
}

static void before_fork(void) {
    pthread_mutex_lock(&lock);
}

static void after_fork_in_parent(void) {
    pthread_mutex_unlock(&lock);
}

/* The thread is the parent's, and its poller may be in any state: do not touch it. */
static void after_fork_in_child(void) {
    is_cut_off |= poller || is_starting;
    poller = NULL;
    is_starting = false;
    now = nothing;
    pthread_mutex_init(&life_lock, NULL);
    pthread_mutex_unlock(&lock);
}

/* kthreadd has the pid 2 in the outermost namespace and is in no other. */
static bool is_host_view(const struct pt_fs *fs) {
    char name[32];
    return !pt_fs_read_line(fs->proc, "2/comm", name, sizeof name) && strcmp(name, "kthreadd") == 0;
}

static int search(struct pt_gpu_poller **found, bool *is_host) {
    struct pt_fs fs;
    int rc = pt_fs_open(&fs, procfs, sysfs, rootfs, NULL);
    if (rc)
        return rc;
    *is_host = is_host_view(&fs);
    rc = pt_gpu_poller_start(found, &fs, shortest_ns, PATIENCE_NS, NULL);
    pt_fs_close(&fs);
    return rc;
}

/* False if this process may not: its parent watched GPUs before fork(). */
static bool begin_start(void) {
    pthread_mutex_lock(&lock);
    is_starting = !is_cut_off;
    pthread_mutex_unlock(&lock);
    return is_starting;
}

/* The lock is held. */
static void set_pace(void) {
    if (poller)
        pt_gpu_poller_set_interval(poller,
                                   __atomic_load_n(&shortest_ns, __ATOMIC_RELAXED) * slowness);
}

static void end_start(struct pt_gpu_poller *found, bool is_host) {
    pthread_mutex_lock(&lock);
    poller = found;
    sees_host_pids = is_host;
    is_starting = false;
    set_pace();
    reading.sequence = 0; /* readings of another poller do not count */
    ended_cpu_ns += poller_cpu_ns;
    poller_cpu_ns = 0;
    now = nothing;
    total.time_ns = 0;
    memset(meters, 0, sizeof meters);
    pthread_mutex_unlock(&lock);
}

static int start_watching(void) {
    struct pt_gpu_poller *found = NULL;
    bool is_host = false;
    if (found_none_ns && pt_mono_ns() - found_none_ns < SEARCH_AGAIN_NS)
        return -ENODATA;
    if (!is_prepared)
        return -ENOMEM;
    if (!begin_start())
        return -ENODATA;
    int64_t start_ns = pt_mono_ns();
    int rc = search(&found, &is_host);
    if (!rc)
        (void)pt_gpu_poller_wait(found, 0, PATIENCE_NS - (pt_mono_ns() - start_ns));
    end_start(found, is_host);
    found_none_ns = rc == -ENODATA ? pt_mono_ns() : 0;
    if (rc)
        return rc;
    tick_id = pt_ticker_add(tick, NULL, shortest_ns);
    return 0; /* without a tick, means use only the readings that somebody requested */
}

static void shorten(int64_t interval_ns) {
    if (interval_ns >= shortest_ns)
        return;
    __atomic_store_n(&shortest_ns, interval_ns, __ATOMIC_RELAXED);
    pt_ticker_set_interval(tick_id, interval_ns);
    pthread_mutex_lock(&lock);
    set_pace();
    pthread_mutex_unlock(&lock);
}

int pt_gpu_watch_start(int64_t interval_ns) {
    int rc = 0, saved_errno = errno;
    if (interval_ns < 100 * PT_NS_PER_MS)
        interval_ns = 100 * PT_NS_PER_MS;
    pthread_mutex_lock(&life_lock);
    if (reference_count > 0) {
        shorten(interval_ns);
    } else {
        __atomic_store_n(&shortest_ns, interval_ns, __ATOMIC_RELAXED);
        rc = start_watching();
    }
    reference_count += !rc;
    pthread_mutex_unlock(&life_lock);
    errno = saved_errno;
    return rc;
}

void pt_gpu_watch_stop(void) {
    int saved_errno = errno;
    pthread_mutex_lock(&life_lock);
    if (reference_count > 0 && --reference_count == 0) {
        if (tick_id > 0)
            pt_ticker_remove(tick_id);
        tick_id = 0;
        pthread_mutex_lock(&lock);
        struct pt_gpu_poller *ended = poller;
        poller = NULL;
        now = nothing;
        pthread_mutex_unlock(&lock);
        pt_gpu_poller_stop(ended);
    }
    pthread_mutex_unlock(&life_lock);
    errno = saved_errno;
}

int64_t pt_gpu_watch_cpu_ns(void) {
    pthread_mutex_lock(&lock);
    int64_t ns = ended_cpu_ns + poller_cpu_ns;
    pthread_mutex_unlock(&lock);
    return ns;
}

void pt_gpu_watch_slow(bool is_slow) {
    pthread_mutex_lock(&lock);
    slowness = is_slow ? SLOWNESS : 1;
    set_pace();
    pthread_mutex_unlock(&lock);
}

void pt_gpu_watch_forget(void) {
    pthread_mutex_lock(&life_lock);
    found_none_ns = 0;
    pthread_mutex_unlock(&life_lock);
}

bool pt_gpu_watch_read(struct pt_gpu_now *into) {
    pthread_mutex_lock(&lock);
    take_in();
    *into = now.time_ns ? now : nothing;
    pthread_mutex_unlock(&lock);
    return into->time_ns != 0;
}

void pt_gpu_watch_mark(struct pt_gpu_mark *mark) {
    pthread_mutex_lock(&lock);
    take_in();
    *mark = total;
    mark->time_ns = now.time_ns; /* 0 when nothing is watched any more */
    pthread_mutex_unlock(&lock);
}

void pt_gpu_watch_between(const struct pt_gpu_mark *from, const struct pt_gpu_mark *to,
                          struct pt_gpu_since *since) {
    *since = (struct pt_gpu_since){ NAN, NAN };
    if (to->reading_count > from->reading_count)
        since->utilization_percent = (to->utilization_sum - from->utilization_sum) /
                                     (double)(to->reading_count - from->reading_count);
    if (!from->time_ns || !to->time_ns)
        return;
    if (to->time_ns > from->time_ns)
        since->power_w = pt_growth_rate(&(struct pt_growth){
            to->energy_joules - from->energy_joules, from->time_ns, to->time_ns });
    else
        since->power_w = to->power_w;
}

/* At load: a fork must not copy a lock while it is held. */
__attribute__((constructor(101))) static void prepare(void) {
    is_prepared = !pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}
