/* Life of the region, a file or private memory: created by the first call, blocks claimed by
 * threads, a new region after fork. */
#include "inside/probe/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define CALIBRATIONS   8
#define CLAIM_INTERVAL 64 /* a thread without a block searches again after this many calls */

int pt_is_on_;
struct pt_region_layout *pt_probe_region_;
void (*pt_probe_on_start)(void);
PT_PROBE_TLS struct pt_region_thread *pt_probe_self_;
PT_PROBE_TLS uint64_t *pt_counters_;
PT_PROBE_TLS struct pt_region_shard **pt_probe_shards_;
struct pt_region_shard *pt_probe_shards[PT_REGION_THREADS][PT_REGION_HISTOGRAMS];
struct pt_region_shard pt_probe_no_shard;
struct pt_probe_own pt_probe_own = { .name_count = 1,
                                     .metric_count = 1,
                                     .counter_count = 1,
                                     .histogram_count = 1,
                                     .shard_count = PT_REGION_HISTOGRAMS,
                                     .owners = { UINT32_MAX },
                                     .is_ready = { 1 } };

static PT_PROBE_TLS uint32_t missed_count; /* calls of this thread without a block */
static PT_PROBE_TLS bool is_claiming;      /* a signal handler must not claim a second one */

/* Below: guarded by the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char directory[PATH_MAX]; /* "": from the environment */
static char path[PATH_MAX];      /* "": the region is not a file */
static unsigned parts = PT_PROBE_ALL;
static struct pt_region_layout *of_parent; /* after fork: copied, then unmapped */
static pthread_key_t thread_key;
static bool has_key;
static bool
    knows_forks; /* initialized at the start: a fork must not copy the lock while it is held */

static int64_t clock_ns(clockid_t id) {
    struct timespec t = { 0 };
    clock_gettime(id, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Of several readings, the one taken in the shortest time. */
static void calibrate(struct pt_region_header *h) {
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < CALIBRATIONS; i++) {
        uint64_t before = pt_ticks_();
        int64_t mono_ns = clock_ns(CLOCK_MONOTONIC);
        uint64_t took = pt_ticks_() - before;
        if (took >= best)
            continue;
        best = took;
        h->calibration_ticks = before + took / 2;
        h->calibration_mono_ns = mono_ns;
    }
}

/* A file size limit would raise a signal. */
static bool fits_file_limit(void) {
    struct rlimit limit;
    bool fits =
        !getrlimit(RLIMIT_FSIZE, &limit) &&
        (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= sizeof(struct pt_region_layout));
    if (!fits)
        errno = EFBIG;
    return fits;
}

/* Before Linux 5.14 with the file, which may be closed already: programs close descriptors that
 * they do not know. Memory is allocated when it is touched. */
static bool allocate_file(size_t offset, size_t size) {
    if (!path[0])
        return true;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    struct stat st;
    bool is_ours = !fstat(fd, &st) && st.st_size == sizeof(struct pt_region_layout);
    bool has_room = is_ours && !posix_fallocate(fd, (off_t)offset, (off_t)size);
    close(fd);
    return has_room;
}

/* Whole pages, as madvise requires: 4 KiB, or up to 64 KiB on arm64. */
bool pt_probe_populate(struct pt_region_layout *region, const void *at, size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t from = (size_t)((const uint8_t *)at - (uint8_t *)region) & ~(page - 1);
    size_t to = (size_t)((const uint8_t *)at - (uint8_t *)region) + size;
    if (!madvise((uint8_t *)region + from, to - from, MADV_POPULATE_WRITE))
        return true;
    return errno == EINVAL && allocate_file(from, to - from);
}

static struct pt_region_layout *map_file(int fd) {
    if (ftruncate(fd, sizeof(struct pt_region_layout)))
        return NULL;
    void *at =
        mmap(NULL, sizeof(struct pt_region_layout), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return NULL;
    struct pt_region_layout *region = at;
    if (pt_probe_populate(region, region, offsetof(struct pt_region_layout, threads)) &&
        pt_probe_populate(region, region->threads, offsetof(struct pt_region_thread, spans)))
        return region;
    munmap(at, sizeof *region);
    return NULL;
}

/* The directory of the file; NULL: no file. */
static const char *get_directory(void) {
    const char *in = directory[0] ? directory : secure_getenv(PITOT_REGION_VARIABLE);
    return in && *in ? in : NULL;
}

static struct pt_region_layout *make_file(const char *in) {
    struct pt_region_layout *region = NULL;
    int fd = -1;
    if (fits_file_limit() && snprintf(path, sizeof path, "%s/%d-%lld", in, (int)getpid(),
                                      (long long)clock_ns(CLOCK_MONOTONIC)) < (int)sizeof path)
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0) {
        region = map_file(fd);
        close(fd);
        if (!region)
            unlink(path);
    }
    if (!region)
        path[0] = '\0';
    return region;
}

/* Shared, so that fork() does not make the parent's next store copy a page. */
static struct pt_region_layout *make_memory(void) {
    path[0] = '\0';
    void *at = mmap(NULL, sizeof(struct pt_region_layout), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void discard(struct pt_region_layout *region) {
    munmap(region, sizeof *region);
    if (path[0])
        unlink(path);
    path[0] = '\0';
}

static void fill_header(struct pt_region_header *h) {
    h->version = PT_REGION_VERSION;
    h->header_size = sizeof *h;
    h->size = sizeof(struct pt_region_layout);
    h->name_size = sizeof(struct pt_region_name);
    h->metric_size = sizeof(struct pt_region_metric);
    h->thread_size = sizeof(struct pt_region_thread);
    h->shard_size = sizeof(struct pt_region_shard);
    h->pid = (uint32_t)getpid();
    struct stat space;
    h->pid_namespace = stat(PT_REGION_NAMESPACE, &space) ? 0 : space.st_ino;
    h->start_wall_ns = clock_ns(CLOCK_REALTIME);
    h->name_count = pt_probe_own.name_count;
    h->metric_count = pt_probe_own.metric_count;
    h->counter_count = pt_probe_own.counter_count;
    h->histogram_count = pt_probe_own.histogram_count;
    h->shard_count = PT_REGION_HISTOGRAMS;
    h->is_ready[0] = 1;
    calibrate(h);
}

/* Memory for the shared shard of a histogram. */
bool pt_probe_prepare_histogram(struct pt_region_layout *region, uint32_t slot) {
    bool has_memory = pt_probe_populate(region, &region->shards[slot], sizeof region->shards[slot]);
    pt_region_store(&pt_probe_own.has_shard[slot], has_memory);
    return has_memory;
}

/* Handles and names that the program holds stay valid in the child, with their own values. False if
 * there is no memory for them. */
static bool take_over_directories(struct pt_region_layout *region,
                                  const struct pt_region_layout *from) {
    memcpy(region->names, from->names, sizeof region->names);
    memcpy(region->metrics, from->metrics, sizeof region->metrics);
    for (uint32_t i = 1; i < pt_probe_own.metric_count; i++)
        region->metrics[i].gauge = 0;
    for (uint32_t i = 1; i < pt_probe_own.histogram_count; i++)
        if (!pt_probe_prepare_histogram(region, i))
            return false;
    return true;
}

/* 0: none. */
static void set_self(struct pt_region_layout *region, uint32_t index) {
    struct pt_region_thread *block = index > 0 ? &region->threads[index] : NULL;
    pt_probe_self_ = block;
    pt_counters_ = block ? block->counters : NULL;
    pt_probe_shards_ = block ? pt_probe_shards[index] : NULL;
}

static void end_thread(void *block) {
    struct pt_region_layout *region = pt_probe_region();
    set_self(NULL, 0);
    if (!region)
        return;
    ptrdiff_t index = (struct pt_region_thread *)block - region->threads;
    /* Release: the next owner sees all that this one wrote. */
    __atomic_store_n(&pt_probe_own.owners[index], 0, __ATOMIC_RELEASE);
}

static void before_fork(void) {
    pthread_mutex_lock(&lock);
}

static void after_fork_in_parent(void) {
    pthread_mutex_unlock(&lock);
}

static void after_fork_in_child(void) {
    if (pt_probe_region_)
        of_parent = pt_probe_region_;
    pt_probe_region_ = NULL;
    for (uint32_t i = 1; i < PT_REGION_THREADS; i++)
        if (pt_probe_own.is_ready[i])
            memset(pt_probe_shards[i], 0, sizeof pt_probe_shards[i]);
    pt_probe_own = (struct pt_probe_own){ .name_count = pt_probe_own.name_count,
                                          .metric_count = pt_probe_own.metric_count,
                                          .counter_count = pt_probe_own.counter_count,
                                          .histogram_count = pt_probe_own.histogram_count,
                                          .shard_count = PT_REGION_HISTOGRAMS,
                                          .owners = { UINT32_MAX },
                                          .is_ready = { 1 } };
    path[0] = '\0';
    set_self(NULL, 0);
    is_claiming = false;
    if (has_key)
        pthread_setspecific(thread_key, NULL);
    pthread_mutex_unlock(&lock);
}

/* With its header and, in a child, what it inherits from its parent. In memory without a
 * directory. */
static struct pt_region_layout *make_complete(const char *in) {
    if (!has_key)
        has_key = knows_forks && !pthread_key_create(&thread_key, end_thread);
    if (!has_key)
        return NULL;
    struct pt_region_layout *region = in ? make_file(in) : make_memory();
    if (!region)
        return NULL;
    fill_header(&region->header);
    if (of_parent && !take_over_directories(region, of_parent)) {
        discard(region);
        return NULL;
    }
    if (of_parent)
        munmap(of_parent, sizeof *of_parent);
    of_parent = NULL;
    return region;
}

/* The lock is held. */
static struct pt_region_layout *make_region(const char *in) {
    struct pt_region_layout *region = make_complete(in);
    if (!region)
        return NULL;
    /* Release, twice: readers of the file and threads of this program see a whole header. */
    __atomic_store_n(&region->header.magic, PT_REGION_MAGIC, __ATOMIC_RELEASE);
    __atomic_store_n(&pt_probe_region_, region, __ATOMIC_RELEASE);
    return region;
}

/* The lock is held. Recording stays off after a failure. */
static struct pt_region_layout *make_region_if_on(void) {
    if (!pt_region_load(&pt_is_on_))
        return NULL;
    struct pt_region_layout *region = make_region(get_directory());
    if (!region)
        pt_region_store(&pt_is_on_, 0);
    return region;
}

struct pt_region_layout *pt_probe_lock(void) {
    pthread_mutex_lock(&lock);
    struct pt_region_layout *region = pt_probe_region();
    if (!region)
        region = make_region_if_on();
    return region ? region : make_region(NULL);
}

void pt_probe_unlock(void) {
    pthread_mutex_unlock(&lock);
}

/* In a child, where no *_new function has created it. Never waits. */
static struct pt_region_layout *region_of_child(void) {
    if (!pt_region_load(&pt_is_on_) || pthread_mutex_trylock(&lock))
        return NULL;
    struct pt_region_layout *region = pt_probe_region();
    if (!region)
        region = make_region_if_on();
    pthread_mutex_unlock(&lock);
    return region;
}

/* Others may still read the block of the last owner. */
static void set_owner(struct pt_region_thread *block, uint32_t thread) {
    uint64_t name[2] = { 0 };
    prctl(PR_GET_NAME, name);
    pt_region_store(&block->name[0], name[0]);
    pt_region_store(&block->name[1], name[1]);
    /* Release: paired with the acquire in pt_region_owner(). */
    __atomic_store_n(&block->thread, thread, __ATOMIC_RELEASE);
}

static bool claim_block(struct pt_region_layout *region, uint32_t index, uint32_t thread) {
    uint32_t *owner = &pt_probe_own.owners[index], none = 0;
    if (pt_region_load(owner) || !__atomic_compare_exchange_n(owner, &none, thread, false,
                                                              __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return false;
    struct pt_region_thread *block = &region->threads[index];
    if (!pt_region_load(&pt_probe_own.is_ready[index])) {
        if (!pt_probe_populate(region, block, sizeof *block)) {
            pt_region_store(owner, 0);
            return false;
        }
        __atomic_store_n(&pt_probe_own.is_ready[index], 1, __ATOMIC_RELEASE);
        __atomic_store_n(&region->header.is_ready[index], 1, __ATOMIC_RELEASE);
    }
    set_owner(block, thread);
    return true;
}

/* 0: none is free. */
static uint32_t find_block(struct pt_region_layout *region) {
    uint32_t thread = (uint32_t)syscall(SYS_gettid);
    for (uint32_t i = 1; i < PT_REGION_THREADS; i++)
        if (claim_block(region, i, thread))
            return i;
    return 0;
}

struct pt_region_thread *pt_probe_claim(void) {
    if (is_claiming)
        return NULL;
    is_claiming = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    int saved_errno = errno;
    struct pt_region_layout *region = pt_probe_region();
    uint32_t index = 0;
    if (!region)
        region = region_of_child();
    if (region && missed_count++ % CLAIM_INTERVAL == 0)
        index = find_block(region);
    if (index > 0) {
        missed_count = 0;
        pthread_setspecific(thread_key, &region->threads[index]);
        set_self(region, index);
    }
    errno = saved_errno;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    is_claiming = false;
    return index > 0 ? pt_probe_self_ : NULL;
}

/* Word by word, as others may write at the same time. */
static bool copy_part(struct pt_region_layout *to, const struct pt_region_layout *from,
                      const void *part, size_t size) {
    size_t offset = (size_t)((const uint8_t *)part - (const uint8_t *)from);
    uint64_t *into = (uint64_t *)((uint8_t *)to + offset);
    if (!pt_probe_populate(to, into, size))
        return false;
    for (size_t i = 0; i < size / sizeof *into; i++)
        into[i] = pt_region_load((const uint64_t *)part + i);
    return true;
}

static bool copy_region(struct pt_region_layout *to, const struct pt_region_layout *from) {
    const struct pt_region_header *h = &from->header;
    bool is_copied = copy_part(to, from, &h->version, /* magic is last */
                               offsetof(struct pt_region_layout, threads) - sizeof h->magic) &&
                     copy_part(to, from, from->threads, offsetof(struct pt_region_thread, spans));
    for (uint32_t i = 1; i < PT_REGION_THREADS && is_copied; i++)
        if (pt_probe_is_ready(i))
            is_copied = copy_part(to, from, &from->threads[i], sizeof from->threads[i]);
    for (uint32_t i = 1; i < PT_REGION_SHARDS && is_copied; i++)
        if (pt_region_load(&pt_probe_own.has_shard[i]))
            is_copied = copy_part(to, from, &from->shards[i], sizeof from->shards[i]);
    /* Release: readers of the file see all of the above. */
    __atomic_store_n(&to->header.magic, PT_REGION_MAGIC, __ATOMIC_RELEASE);
    return is_copied;
}

/* From memory into a file, at the same address: pointers of threads stay valid. */
static bool move_to_file(struct pt_region_layout *region, const char *in) {
    struct pt_region_layout *file = make_file(in);
    if (!file)
        return false;
    int was_on =
        __atomic_exchange_n(&pt_is_on_, 0, __ATOMIC_RELAXED); /* little is added to the old one */
    bool is_moved =
        copy_region(file, region) && mremap(file, sizeof *file, sizeof *file,
                                            MREMAP_MAYMOVE | MREMAP_FIXED, region) != MAP_FAILED;
    if (!is_moved)
        discard(file);
    pt_region_store(&pt_is_on_, was_on);
    return is_moved;
}

static bool has_region_for(const char *in) {
    struct pt_region_layout *region = pt_probe_region();
    if (!region)
        return make_region(in);
    return !in || path[0] || move_to_file(region, in);
}

static int start(const char *in) {
    size_t length = in ? strlen(in) : 0;
    if (length >= sizeof directory)
        return -ENAMETOOLONG;
    bool had_file = path[0];
    if (!has_region_for(length > 0 ? in : get_directory()))
        return errno ? -errno : -EIO;
    if (length > 0 && !had_file)
        memcpy(directory, in, length + 1);
    pt_region_store(&pt_is_on_, (int)parts);
    return 0;
}

int pt_start(const char *in) {
    int saved_errno = errno;
    errno = 0;
    pthread_mutex_lock(&lock);
    int rc = start(in);
    pthread_mutex_unlock(&lock);
    if (!rc && pt_probe_on_start)
        pt_probe_on_start();
    errno = saved_errno;
    return rc;
}

void pt_stop(void) {
    pt_region_store(&pt_is_on_, 0);
}

void pt_probe_set_parts(unsigned wanted) {
    pthread_mutex_lock(&lock);
    parts = wanted | PT_METRICS_ON_;
    if (pt_region_load(&pt_is_on_))
        pt_region_store(&pt_is_on_, (int)parts);
    pthread_mutex_unlock(&lock);
}

bool pt_probe_has_recorder(void) {
    pthread_mutex_lock(&lock);
    bool has_one = path[0] && !directory[0];
    pthread_mutex_unlock(&lock);
    return has_one;
}

uint64_t pt_dropped(void) {
    struct pt_region_layout *region = pt_probe_region();
    if (!region)
        return 0;
    const struct pt_region_header *h = &region->header;
    uint64_t total = pt_region_load(&h->dropped_names) + pt_region_load(&h->dropped_metrics) +
                     pt_region_load(&h->dropped_spans);
    for (uint32_t i = 1; i < PT_REGION_THREADS; i++)
        if (pt_probe_is_ready(i))
            total += pt_region_load(&region->threads[i].dropped);
    return total;
}

/* The first of libpitot's constructors: others may start or stop recording. */
__attribute__((constructor(101))) static void look_at_environment(void) {
    const char *in = secure_getenv(PITOT_REGION_VARIABLE);
    pt_is_on_ = in && *in ? (int)parts : 0;
    knows_forks = !pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

__attribute__((destructor)) static void note_end(void) {
    struct pt_region_layout *region = pt_probe_region();
    if (region)
        pt_region_store(&region->header.has_ended, 1);
}
