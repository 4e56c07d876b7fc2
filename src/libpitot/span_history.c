#include "libpitot/span_history.h"

#include "base/clock.h"
#include "libpitot/component.h"
#include "libpitot/library_log.h"
#include "libpitot/overhead.h"
#include "libpitot/ticker.h"
#include "inside/probe/probe.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#define DEFAULT_CAPACITY 200000
#define SPANS_AT_ONCE    256
#define READS_AT_ONCE    (PT_REGION_THREADS * PT_REGION_SPANS / SPANS_AT_ONCE)
/* A ring holds 8192 spans: at the usual interval it takes 400,000 per second without a loss, at the
 * shortest 4,000,000. Idle rings are read less and less often. */
#define USUAL_NS     (20 * PT_NS_PER_MS)
#define SHORTEST_NS  (2 * PT_NS_PER_MS)
#define LONGEST_NS   (200 * PT_NS_PER_MS)
#define NEVER_NS     (PT_NS_PER_SECOND * 86400) /* until pt_history_hurry() */

#define THREADS_KEPT 1024 /* the newest threads; names are known after their end */

struct thread {
    uint32_t id;
    char name[PT_REGION_OWNER_NAME];
};

/* Guarded by the lock, under which the ticker is never called. */
static struct {
    pthread_mutex_t lock;
    struct pt_history_span *spans; /* the newest; number n is at n % capacity */
    size_t capacity;
    uint64_t first, end; /* numbers of the spans kept */
    struct pt_region region;
    struct pt_region_cursor cursor;
    struct thread threads[THREADS_KEPT];
    uint64_t thread_count;              /* number n is at n % THREADS_KEPT */
    uint32_t owners[PT_REGION_THREADS]; /* of the blocks, as last seen */
    int tick_id;
    int64_t interval_ns;
} history = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void add_span(const struct pt_region_span_record *span) {
    history.spans[history.end++ % history.capacity] = (struct pt_history_span){
        .start_ns = pt_region_mono_ns(&history.region, span->start_ticks),
        .end_ns = pt_region_mono_ns(&history.region, span->end_ticks),
        .argument = span->argument,
        .request = span->request,
        .thread = span->thread,
        .name = span->name,
        .flags = span->flags,
    };
    if (history.end - history.first > history.capacity)
        history.first = history.end - history.capacity;
}

static bool attach(struct pt_region *region) {
    struct pt_region_layout *at = pt_probe_region();
    if (!at || pt_region_attach(region, at, sizeof *at))
        return false;
    region->is_ready = pt_probe_own.is_ready;
    region->has_shard = pt_probe_own.has_shard;
    return true;
}

/* The lock is held. */
static void take_in(void) {
    struct pt_region_span_record spans[SPANS_AT_ONCE];
    history.cursor.fullest = 0;
    if (!history.spans || (!history.region.at && !attach(&history.region)))
        return;
    for (uint32_t i = 1; i < PT_REGION_THREADS; i++) { /* new threads */
        struct thread thread;
        thread.id = pt_region_owner(&history.region, i, thread.name);
        if (thread.id == 0 || thread.id == history.owners[i])
            continue;
        history.owners[i] = thread.id;
        history.threads[history.thread_count++ % THREADS_KEPT] = thread;
    }
    bool is_ours = !pt_probe_has_recorder();
    /* No more than there can be at once: another process may move the positions in the file. */
    size_t count = SPANS_AT_ONCE;
    for (size_t k = 0; k < READS_AT_ONCE && count == SPANS_AT_ONCE; k++) {
        count = pt_region_peek_spans(&history.region, &history.cursor, spans, SPANS_AT_ONCE);
        if (is_ours)
            pt_region_release_spans(&history.region, &history.cursor);
        if (count > 0)
            pt_region_follow(&history.region);
        for (size_t i = 0; i < count; i++)
            add_span(&spans[i]);
    }
}

/* Sooner after a ring was half full, later after all were nearly empty. */
int64_t pt_history_next_interval(int64_t interval_ns, uint64_t fullest) {
    if (fullest == 0)
        return 2 * interval_ns < LONGEST_NS ? 2 * interval_ns : LONGEST_NS;
    if (fullest > PT_REGION_SPANS / 2)
        interval_ns /= 4;
    else if (fullest < PT_REGION_SPANS / 16)
        interval_ns *= 2;
    if (interval_ns < SHORTEST_NS)
        return SHORTEST_NS;
    return interval_ns > USUAL_NS ? USUAL_NS : interval_ns;
}

static void tick(void *unused) {
    (void)unused;
    pthread_mutex_lock(&history.lock);
    take_in();
    int64_t before_ns = history.interval_ns;
    int64_t interval_ns = pt_history_next_interval(before_ns, history.cursor.fullest);
    history.interval_ns = interval_ns;
    int id = history.tick_id;
    pthread_mutex_unlock(&history.lock);
    pt_components_feed();
    if (pt_is_off_(PT_SPANS_ON_)) {
        pt_ticker_set_interval(id, NEVER_NS);
        /* Recording may have been switched on since, and pt_history_hurry() called too early. */
        if (!pt_is_off_(PT_SPANS_ON_))
            pt_history_hurry();
    } else if (interval_ns != before_ns) {
        pt_ticker_set_interval(id, interval_ns);
    }
}

static void before_fork(void) {
    pthread_mutex_lock(&history.lock);
}

static void after_fork_in_parent(void) {
    pthread_mutex_unlock(&history.lock);
}

/* The spans kept are the parent's, and the child will have its own region. */
static void after_fork_in_child(void) {
    history.first = history.end;
    history.region = (struct pt_region){ 0 };
    history.cursor = (struct pt_region_cursor){ 0 };
    history.thread_count = 0;
    memset(history.owners, 0, sizeof history.owners);
    pthread_mutex_unlock(&history.lock);
}

static void prepare_process(void) {
    (void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

/* Memory is allocated when it is touched. */
static struct pt_history_span *map_spans(size_t capacity) {
    if (capacity == 0 || capacity > SIZE_MAX / sizeof(struct pt_history_span)) {
        errno = EINVAL;
        return NULL;
    }
    void *at = mmap(NULL, capacity * sizeof(struct pt_history_span), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void unmap_spans(void) {
    if (history.spans)
        munmap(history.spans, history.capacity * sizeof *history.spans);
    history.spans = NULL;
}

static int set_capacity(size_t capacity) {
    if (history.spans && history.capacity == capacity)
        return 0;
    struct pt_history_span *spans = map_spans(capacity);
    if (!spans)
        return -errno;
    if (history.end - history.first > capacity)
        history.first = history.end - capacity;
    for (uint64_t n = history.first; n < history.end && history.spans; n++)
        spans[n % capacity] = history.spans[n % history.capacity];
    unmap_spans();
    history.spans = spans;
    history.capacity = capacity;
    return 0;
}

/* If two threads added one at once, one is removed again. */
static int start_ticking(void) {
    int id = pt_ticker_add(tick, NULL, USUAL_NS);
    if (id < 0)
        return id;
    pthread_mutex_lock(&history.lock);
    bool is_needed = history.spans && history.tick_id == 0;
    if (is_needed)
        history.tick_id = id;
    pthread_mutex_unlock(&history.lock);
    if (!is_needed)
        pt_ticker_remove(id);
    return 0;
}

static int go_on_ticking(int id) {
    pt_ticker_set_interval(id, USUAL_NS);
    pt_ticker_wake();
    return 0;
}

int pt_history_start(size_t capacity) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare_process);
    pthread_mutex_lock(&history.lock);
    int rc = set_capacity(capacity);
    int id = history.tick_id;
    history.interval_ns = USUAL_NS;
    pthread_mutex_unlock(&history.lock);
    if (rc)
        return rc;
    return id ? go_on_ticking(id) : start_ticking();
}

void pt_history_hurry(void) {
    pthread_mutex_lock(&history.lock);
    int id = history.tick_id;
    history.interval_ns = USUAL_NS;
    pthread_mutex_unlock(&history.lock);
    if (id)
        pt_ticker_set_interval(id, USUAL_NS);
}

void pt_history_stop(void) {
    pthread_mutex_lock(&history.lock);
    int id = history.tick_id;
    history.tick_id = 0;
    unmap_spans();
    history.first = history.end;
    pthread_mutex_unlock(&history.lock);
    pt_ticker_remove(id);
}

size_t pt_history_read(uint64_t from, struct pt_history_span *into, size_t capacity,
                       uint64_t *next) {
    pthread_mutex_lock(&history.lock);
    take_in();
    if (from < history.first)
        from = history.first;
    size_t count = 0;
    for (; from < history.end && count < capacity; from++)
        into[count++] = history.spans[from % history.capacity];
    *next = from;
    pthread_mutex_unlock(&history.lock);
    return count;
}

uint64_t pt_history_end(void) {
    pthread_mutex_lock(&history.lock);
    take_in();
    uint64_t end = history.end;
    pthread_mutex_unlock(&history.lock);
    return end;
}

/* The lock is held. Ids are reused: the newest counts. */
static const struct thread *find_thread(uint32_t id) {
    uint64_t count = history.thread_count < THREADS_KEPT ? history.thread_count : THREADS_KEPT;
    for (uint64_t i = 1; i <= count; i++) {
        const struct thread *thread = &history.threads[(history.thread_count - i) % THREADS_KEPT];
        if (thread->id == id)
            return thread;
    }
    return NULL;
}

bool pt_history_thread_name(uint32_t id, char name[PT_REGION_OWNER_NAME]) {
    pthread_mutex_lock(&history.lock);
    const struct thread *thread = find_thread(id);
    if (thread)
        memcpy(name, thread->name, PT_REGION_OWNER_NAME);
    pthread_mutex_unlock(&history.lock);
    return thread && *name;
}

uint64_t pt_history_lost(void) {
    pthread_mutex_lock(&history.lock);
    uint64_t lost = history.cursor.lost;
    pthread_mutex_unlock(&history.lock);
    return lost;
}

int64_t pt_history_wall_ns(int64_t mono_ns) {
    return mono_ns + pt_wall_ns() - pt_mono_ns();
}

bool pt_history_region(struct pt_region *region) {
    return attach(region);
}

/* pt_start() was called; keeps a capacity that was set before. */
static void begin(void) {
    pthread_mutex_lock(&history.lock);
    size_t capacity = history.spans ? history.capacity : DEFAULT_CAPACITY;
    pthread_mutex_unlock(&history.lock);
    int rc = pt_history_start(capacity);
    if (rc)
        pt_monitor_log(PT_LEVEL_WARNING, "spans will not be kept in the process: %s",
                       strerror(-rc));
    pt_overhead_begin();
}

/* Before the constructor of config.c, which may start recording. */
__attribute__((constructor(101))) static void wait_for_start(void) {
    pt_probe_on_start = begin;
}
