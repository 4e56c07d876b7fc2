/* collect/memory.c -- memory, swap and page faults of the machine. */
#include "collect/collector.h"
#include "collect/source.h"
#include "source/kernel/keyed.h"

enum { MEMINFO, VMSTAT };

#define MEM_COLUMNS(X, t)                                                                          \
    X(t, total, "vMemoryTotal", GAUGE, I64, BYTES, MEMINFO, "RAM available to the kernel",         \
      .title = "Memory of the machine", .words = "ram size", .otel = "system.memory.limit")        \
    X(t, free, "vMemoryFree", GAUGE, I64, BYTES, MEMINFO,                                          \
      "Memory available to programs without swapping (MemAvailable)", .title = "Memory available", \
      .better = PT_HIGHER_IS_BETTER, .limit = "vMemoryTotal", .importance = PT_HEADLINE,           \
      .words = "free ram MemAvailable", .otel = "system.memory.linux.available")                   \
    X(t, used, "vMemoryUsed", GAUGE, I64, BYTES, MEMINFO,                                          \
      "Memory in use: total - free - buffers - cached - reclaimable slab", .title = "Memory used", \
      .family = "Memory by use", .is_stacked = true, .better = PT_LOWER_IS_BETTER,                 \
      .limit = "vMemoryTotal", .importance = PT_HEADLINE, .words = "ram",                          \
      .otel = "system.memory.usage system.memory.state=used")                                      \
    X(t, buffers, "vMemoryBuffers", GAUGE, I64, BYTES, MEMINFO, "Kernel buffers",                  \
      .title = "Buffers", .family = "Memory by use", .is_stacked = true,                           \
      .otel = "system.memory.usage system.memory.state=buffers")                                   \
    X(t, cached, "vMemoryCached", GAUGE, I64, BYTES, MEMINFO, "Page cache and reclaimable slab",   \
      .title = "Page cache", .family = "Memory by use", .is_stacked = true, .words = "file cache", \
      .otel = "system.memory.usage system.memory.state=cached")                                    \
    X(t, percent, "vMemoryPercent", GAUGE, F64, PERCENT, MEMINFO,                                  \
      "Share of memory not available to programs: (total - available) / total",                    \
      .title = "Memory not available", .better = PT_LOWER_IS_BETTER, .words = "used percent ram")  \
    X(t, swap_total, "vSwapTotal", GAUGE, I64, BYTES, MEMINFO, "Swap space",                       \
      .title = "Swap space")                                                                       \
    X(t, swap_free, "vSwapFree", GAUGE, I64, BYTES, MEMINFO, "Swap space not in use",              \
      .title = "Swap free", .family = "Swap", .is_stacked = true, .better = PT_HIGHER_IS_BETTER,   \
      .limit = "vSwapTotal", .otel = "system.paging.usage system.paging.state=free")               \
    X(t, swap_used, "vSwapUsed", GAUGE, I64, BYTES, MEMINFO, "Swap space in use",                  \
      .title = "Swap used", .family = "Swap", .is_stacked = true, .better = PT_LOWER_IS_BETTER,    \
      .limit = "vSwapTotal", .importance = PT_HEADLINE,                                            \
      .otel = "system.paging.usage system.paging.state=used")                                      \
    X(t, faults, "vPgFault", COUNTER, I64, COUNT, VMSTAT,                                          \
      "Minor page faults (pgfault - pgmajfault)", .title = "Minor page faults",                    \
      .family = "Page faults",                                                                     \
      .otel = "system.paging.faults {fault} system.paging.fault.type=minor")                       \
    X(t, major_faults, "vMajorPageFault", COUNTER, I64, COUNT, VMSTAT,                             \
      "Major page faults: needed a read from disk", .title = "Major page faults",                  \
      .family = "Page faults", .better = PT_LOWER_IS_BETTER, .importance = PT_HEADLINE,            \
      .words = "disk reads",                                                                       \
      .otel = "system.paging.faults {fault} system.paging.fault.type=major")                       \
    X(t, unused, "vMemoryUnused", GAUGE, I64, BYTES, MEMINFO, "RAM not used at all (MemFree)",     \
      .title = "Memory not used at all", .family = "Memory by use", .is_stacked = true,            \
      .better = PT_HIGHER_IS_BETTER, .limit = "vMemoryTotal", .words = "free MemFree",             \
      .otel = "system.memory.usage system.memory.state=free")                                      \
    X(t, anonymous, "vMemoryAnon", GAUGE, I64, BYTES, MEMINFO, "Anonymous memory of programs",     \
      .title = "Anonymous memory", .family = "Memory by kind", .better = PT_LOWER_IS_BETTER,       \
      .words = "heap stack")                                                                       \
    X(t, shared, "vMemoryShmem", GAUGE, I64, BYTES, MEMINFO, "Shared memory and tmpfs",            \
      .title = "Shared memory and tmpfs", .family = "Memory by kind", .words = "shm",              \
      .otel = "system.memory.linux.shared")                                                        \
    X(t, dirty, "vMemoryDirty", GAUGE, I64, BYTES, MEMINFO,                                        \
      "Memory waiting to be written to disk", .title = "Dirty memory",                             \
      .family = "Memory to be written", .better = PT_LOWER_IS_BETTER, .words = "writeback")        \
    X(t, writeback, "vMemoryWriteback", GAUGE, I64, BYTES, MEMINFO,                                \
      "Memory being written to disk", .title = "Memory being written",                             \
      .family = "Memory to be written", .better = PT_LOWER_IS_BETTER, .words = "flush")            \
    X(t, mapped, "vMemoryMapped", GAUGE, I64, BYTES, MEMINFO, "Files mapped by programs",          \
      .title = "Mapped files", .family = "Memory by kind", .words = "mmap")                        \
    X(t, slab, "vMemorySlab", GAUGE, I64, BYTES, MEMINFO, "Kernel data structures",                \
      .title = "Kernel data (slab)", .family = "Memory by kind", .words = "kernel")                \
    X(t, page_tables, "vMemoryPageTables", GAUGE, I64, BYTES, MEMINFO, "Page tables",              \
      .title = "Page tables", .family = "Memory by kind", .words = "kernel")                       \
    X(t, committed, "vMemoryCommitted", GAUGE, I64, BYTES, MEMINFO,                                \
      "Memory committed to programs", .title = "Committed memory", .words = "overcommit")          \
    X(t, huge_free, "vHugePagesFree", GAUGE, I64, COUNT, MEMINFO, "Huge pages not in use",         \
      .title = "Huge pages free", .family = "Huge pages", .limit = "vHugePagesTotal",              \
      .words = "hugetlb")                                                                          \
    X(t, huge_total, "vHugePagesTotal", GAUGE, I64, COUNT, MEMINFO, "Huge pages reserved",         \
      .title = "Huge pages reserved", .family = "Huge pages", .words = "hugetlb")                  \
    X(t, swap_in, "vSwapIn", COUNTER, I64, COUNT, VMSTAT, "Pages read from swap",                  \
      .title = "Pages swapped in", .family = "Swapping", .better = PT_LOWER_IS_BETTER,             \
      .words = "thrashing",                                                                        \
      .otel = "system.paging.operations {operation} system.paging.direction=in")                   \
    X(t, swap_out, "vSwapOut", COUNTER, I64, COUNT, VMSTAT, "Pages written to swap",               \
      .title = "Pages swapped out", .family = "Swapping", .better = PT_LOWER_IS_BETTER,            \
      .words = "thrashing",                                                                        \
      .otel = "system.paging.operations {operation} system.paging.direction=out")                  \
    X(t, direct_scans, "vPgScanDirect", COUNTER, I64, COUNT, VMSTAT,                               \
      "Pages scanned by programs in direct reclaim", .title = "Pages scanned in direct reclaim",   \
      .family = "Memory reclaim", .better = PT_LOWER_IS_BETTER, .words = "pressure")               \
    X(t, refaults, "vPgRefaultFile", COUNTER, I64, COUNT, VMSTAT,                                  \
      "File pages read again soon after they were evicted", .title = "File pages read again",      \
      .family = "Memory reclaim", .better = PT_LOWER_IS_BETTER, .words = "thrashing page cache")   \
    X(t, oom_kills, "vOomKills", COUNTER, I64, COUNT, VMSTAT,                                      \
      "Processes killed by the OOM killer", .title = "Out-of-memory kills",                        \
      .better = PT_LOWER_IS_BETTER, .importance = PT_HEADLINE, .words = "oom killer")

PT_TABLE(mem, PT_TABLE_MAIN("mem"), "Memory of the machine", MEM_COLUMNS, "/proc/meminfo",
         "/proc/vmstat");

/* Values that go directly into a column: X(name, key in the file, factor, column). Those with
 * column -1 are only needed for derived columns. */
#define MEMINFO_KEYS(X)                                  \
    X(TOTAL, "MemTotal:", 1024, mem_total)               \
    X(UNUSED, "MemFree:", 1024, mem_unused)              \
    X(AVAILABLE, "MemAvailable:", 1024, mem_free)        \
    X(BUFFERS, "Buffers:", 1024, mem_buffers)            \
    X(CACHED, "Cached:", 1024, -1)                       \
    X(SWAP_TOTAL, "SwapTotal:", 1024, mem_swap_total)    \
    X(SWAP_FREE, "SwapFree:", 1024, mem_swap_free)       \
    X(DIRTY, "Dirty:", 1024, mem_dirty)                  \
    X(WRITEBACK, "Writeback:", 1024, mem_writeback)      \
    X(ANON, "AnonPages:", 1024, mem_anonymous)           \
    X(MAPPED, "Mapped:", 1024, mem_mapped)               \
    X(SHMEM, "Shmem:", 1024, mem_shared)                 \
    X(SLAB, "Slab:", 1024, mem_slab)                     \
    X(RECLAIMABLE, "SReclaimable:", 1024, -1)            \
    X(PAGE_TABLES, "PageTables:", 1024, mem_page_tables) \
    X(COMMITTED, "Committed_AS:", 1024, mem_committed)   \
    X(HUGE_TOTAL, "HugePages_Total:", 1, mem_huge_total) \
    X(HUGE_FREE, "HugePages_Free:", 1, mem_huge_free)

#define VMSTAT_KEYS(X)                                          \
    X(REFAULT_FILE, "workingset_refault_file", 1, mem_refaults) \
    X(SWAP_IN, "pswpin", 1, mem_swap_in)                        \
    X(SWAP_OUT, "pswpout", 1, mem_swap_out)                     \
    X(FAULT, "pgfault", 1, -1)                                  \
    X(MAJOR_FAULT, "pgmajfault", 1, mem_major_faults)           \
    X(SCAN_DIRECT, "pgscan_direct", 1, mem_direct_scans)        \
    X(OOM_KILL, "oom_kill", 1, mem_oom_kills)

#define KEY_ENUM(name, ...)                  KEY_##name,
#define KEY_NAME(name, key, factor, column)  { key, sizeof key - 1 },
#define KEY_PLACE(name, key, factor, column) { factor, column },

enum { MEMINFO_KEYS(KEY_ENUM) MEMINFO_KEY_COUNT };
enum { VMSTAT_KEYS(KEY_ENUM) VMSTAT_KEY_COUNT };

struct place {
    int factor, column;
};

static const struct pt_str meminfo_keys[] = { MEMINFO_KEYS(KEY_NAME) };
static const struct pt_str vmstat_keys[] = { VMSTAT_KEYS(KEY_NAME) };
static const struct place meminfo_places[] = { MEMINFO_KEYS(KEY_PLACE) };
static const struct place vmstat_places[] = { VMSTAT_KEYS(KEY_PLACE) };

struct memory_state {
    struct pt_file meminfo, vmstat;
    struct pt_keyed meminfo_order, vmstat_order;
    struct pt_batch last; /* kept only below PT_FINEST_NS */
};

static int memory_open(void *state, const struct pt_context *context, struct pt_err *err) {
    struct memory_state *s = state;
    (void)context;
    (void)err;
    pt_batch_init(&s->last, &mem_table);
    return 0;
}

static void memory_close(void *state) {
    struct memory_state *s = state;
    pt_file_close(&s->meminfo);
    pt_file_close(&s->vmstat);
    pt_batch_release(&s->last);
}

/* Values read from one file. A product that overflows is absent. */
struct reading {
    int64_t values[PT_KEYED_MAX];
    bool is_present[PT_KEYED_MAX];
};

static void place(struct reading *r, const struct place *places, int count, struct pt_batch *rows) {
    for (int i = 0; i < count; i++) {
        if (r->is_present[i])
            r->is_present[i] =
                !__builtin_mul_overflow(r->values[i], places[i].factor, &r->values[i]);
        if (r->is_present[i] && places[i].column >= 0)
            pt_set_i64(rows, places[i].column, r->values[i]);
    }
}

/* Columns that are sums of values. */
struct sum {
    int column, term_count;
    struct {
        int key, sign;
    } terms[5];
};

static const struct sum meminfo_sums[] = {
    { mem_cached, 2, { { KEY_CACHED, 1 }, { KEY_RECLAIMABLE, 1 } } },
    { mem_used,
      5,
      { { KEY_TOTAL, 1 },
        { KEY_UNUSED, -1 },
        { KEY_BUFFERS, -1 },
        { KEY_CACHED, -1 },
        { KEY_RECLAIMABLE, -1 } } },
    { mem_swap_used, 2, { { KEY_SWAP_TOTAL, 1 }, { KEY_SWAP_FREE, -1 } } },
};

static const struct sum vmstat_sums[] = {
    { mem_faults, 2, { { KEY_FAULT, 1 }, { KEY_MAJOR_FAULT, -1 } } },
};

/* A negative sum is unknown, like one with a missing value: its parts are inconsistent (a container
 * manager that fakes some lines of meminfo). */
static void set_sums(const struct reading *r, const struct sum *sums, size_t count,
                     struct pt_batch *rows) {
    for (size_t i = 0; i < count; i++) {
        struct pt_total total = { 0 };
        for (int k = 0; k < sums[i].term_count; k++) {
            int key = sums[i].terms[k].key;
            bool is_known = r->is_present[key];
            pt_total_add(&total, is_known, is_known ? sums[i].terms[k].sign * r->values[key] : 0);
        }
        if (total.value >= 0)
            pt_total_set(&total, rows, sums[i].column);
    }
}

static void set_percent(const struct reading *r, struct pt_batch *rows) {
    int64_t total = r->values[KEY_TOTAL], available = r->values[KEY_AVAILABLE];
    if (!r->is_present[KEY_TOTAL] || !r->is_present[KEY_AVAILABLE])
        return;
    if (total > 0 && available <= total)
        pt_set_f64(rows, mem_percent, (double)(total - available) / (double)total * 100);
}

static int collect_meminfo(struct memory_state *s, const struct pt_context *context,
                           struct pt_batch *rows) {
    struct pt_scan text;
    struct reading r;
    int rc = pt_file_read_kept(&s->meminfo, context->fs->proc, "meminfo", context->text, &text);
    if (rc)
        return rc;
    pt_set_time(rows, MEMINFO, pt_mono_ns());
    pt_keyed_read(&s->meminfo_order, meminfo_keys, MEMINFO_KEY_COUNT, text, r.values, r.is_present);
    place(&r, meminfo_places, MEMINFO_KEY_COUNT, rows);
    set_sums(&r, meminfo_sums, PT_COUNT(meminfo_sums), rows);
    set_percent(&r, rows);
    return 0;
}

static int collect_vmstat(struct memory_state *s, const struct pt_context *context,
                          struct pt_batch *rows) {
    struct pt_scan text;
    struct reading r;
    int rc = pt_file_read_kept(&s->vmstat, context->fs->proc, "vmstat", context->text, &text);
    if (rc)
        return rc;
    pt_set_time(rows, VMSTAT, pt_mono_ns());
    pt_keyed_read(&s->vmstat_order, vmstat_keys, VMSTAT_KEY_COUNT, text, r.values, r.is_present);
    place(&r, vmstat_places, VMSTAT_KEY_COUNT, rows);
    set_sums(&r, vmstat_sums, PT_COUNT(vmstat_sums), rows);
    return 0;
}

static int memory_collect(void *state, const struct pt_context *context, struct pt_batch *rows) {
    struct memory_state *s = state;
    pt_batch_add_row(rows);
    int rc = collect_meminfo(s, context, rows);
    if (!pt_is_fine_due(context) && s->last.row_count > 0) {
        pt_batch_carry(rows, &s->last, VMSTAT);
        return rc;
    }
    int rc_vmstat = collect_vmstat(s, context, rows);
    if (context->interval_ns < PT_FINEST_NS)
        pt_batch_copy(&s->last, rows);
    return rc ? rc : rc_vmstat;
}

const struct pt_collector pt_memory_collector = {
    .name = "mem",
    .help = "memory, swap, page faults",
    .keep = PT_KEEP_LAST,
    .tables = { &mem_table },
    .state_size = sizeof(struct memory_state),
    .open = memory_open,
    .collect = memory_collect,
    .close = memory_close,
};
