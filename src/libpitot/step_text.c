#include "libpitot/step.h"

#include "base/attr.h"
#include "base/clock.h"
#include "libpitot/gpu_watch.h"
#include "libpitot/span_history.h"
#include "libpitot/process_usage.h"

#include <malloc.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define SPANS_AT_ONCE 256
#define NAMES_SHOWN   6
#define BYTES_PER_MB  (1024.0 * 1024)
#define WORK_COUNT    (PT_REGION_WORK_MASK + 1)

struct sums {
    struct {
        uint64_t count;
        double ns;
    } names[PT_REGION_NAMES];
    double work[WORK_COUNT];
};

struct text {
    char *at;
    size_t length;
};

/* Text that does not fit is dropped. */
static void add(struct text *text, const char *format, ...) PT_PRINTF(2, 3);
static void add(struct text *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text->at + text->length, PT_STEP_TEXT - text->length, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= PT_STEP_TEXT - text->length)
        text->at[text->length] = '\0';
    else
        text->length += (size_t)n;
}

static void sum_spans(uint64_t from, struct sums *sums) {
    struct pt_history_span spans[SPANS_AT_ONCE];
    size_t count = SPANS_AT_ONCE;
    for (uint64_t end = pt_history_end(); from < end && count > 0;) {
        count = pt_history_read(from, spans, SPANS_AT_ONCE, &from);
        for (size_t i = 0; i < count; i++) {
            const struct pt_history_span *span = &spans[i];
            unsigned work = span->flags >> PT_REGION_WORK_SHIFT & PT_REGION_WORK_MASK;
            if (span->name >= PT_REGION_NAMES)
                continue;
            sums->names[span->name].count++;
            sums->names[span->name].ns += (double)(span->end_ns - span->start_ns);
            sums->work[work] += work ? (double)span->argument : 0;
        }
    }
}

/* The names with the highest total time. */
static void add_timings(struct text *text, struct sums *sums) {
    struct pt_region region;
    if (!pt_history_region(&region))
        return;
    for (int i = 0; i < NAMES_SHOWN; i++) {
        char name[sizeof((struct pt_region_name *)NULL)->text + 1];
        uint32_t longest = 0;
        for (uint32_t k = 1; k < PT_REGION_NAMES; k++)
            if (sums->names[k].ns > sums->names[longest].ns)
                longest = k;
        if (sums->names[longest].count == 0)
            return;
        double ms =
            sums->names[longest].ns / (double)sums->names[longest].count / (double)PT_NS_PER_MS;
        pt_region_copy_name(&region, longest, name);
        add(text, " %s %.3f ms x %llu,", name, ms, (unsigned long long)sums->names[longest].count);
        sums->names[longest].count = 0;
        sums->names[longest].ns = 0;
    }
}

static void add_spans(const pt_config *config, struct text *text, const struct pt_step_since *since,
                      double seconds) {
    struct sums *sums = calloc(1, sizeof *sums);
    if (!sums)
        return;
    sum_spans(since->span, sums);
    if (config->collect_timing)
        add_timings(text, sums);
    if (config->collect_throughput) {
        static const char *const units[WORK_COUNT] = {
            [PT_SAMPLES] = "samples", [PT_TOKENS] = "tokens", [PT_FLOWS] = "flows"
        };
        for (int i = PT_SAMPLES; i <= PT_FLOWS; i++)
            if (sums->work[i] > 0 && seconds > 0)
                add(text, " %.1f %s/s,", sums->work[i] / seconds, units[i]);
    }
    free(sums);
}

/* Bytes that the allocator holds and the program does not use: fragmentation. */
static void add_memory(const pt_config *config, struct text *text) {
    double ram = pt_process_ram_mb();
    if (config->collect_memory_basic && !isnan(ram))
        add(text, " RAM %.1f MB,", ram);
    if (!config->collect_memory_detailed)
        return;
    struct pt_kernel_text buffer = { 0 };
    struct pt_process_usage usage;
    pt_process_usage_read(&usage, &buffer);
    pt_kernel_text_release(&buffer);
    struct mallinfo2 heap = mallinfo2();
    if (!isnan(usage.highest_ram_mb))
        add(text, " peak %.1f MB,", usage.highest_ram_mb);
    if (heap.arena > 0)
        add(text, " heap %.1f MB with %.0f %% free,", (double)heap.arena / BYTES_PER_MB,
            100 * (double)heap.fordblks / (double)heap.arena);
}

static void add_gpu(struct text *text) {
    struct pt_gpu_now gpu;
    if (!pt_gpu_watch_read(&gpu))
        return;
    if (!isnan(gpu.utilization_percent))
        add(text, " GPU %.0f %%,", gpu.utilization_percent);
    if (!isnan(gpu.memory_used_mb))
        add(text, " GPU memory %.0f MB,", gpu.memory_used_mb);
}

void pt_step_describe(const pt_config *config, const char *name, uint64_t number,
                      const struct pt_step_since *since, char into[PT_STEP_TEXT]) {
    struct text text = { into, 0 };
    double seconds = (double)(pt_mono_ns() - since->time_ns) / (double)PT_NS_PER_SECOND;
    into[0] = '\0';
    add(&text, "step %llu %.64s:", (unsigned long long)number, name);
    if (number > since->number)
        add(&text, " %.3f ms per step,", 1000 * seconds / (double)(number - since->number));
    add_spans(config, &text, since, seconds);
    add_memory(config, &text);
    if (config->enable_gpu_monitoring || config->collect_gpu_utilization)
        add_gpu(&text);
    into[text.length - 1] = '\0'; /* the last comma, or the colon */
}
