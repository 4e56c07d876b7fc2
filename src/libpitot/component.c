#include "libpitot/component.h"

#include "base/clock.h"
#include "libpitot/span_history.h"

#include <pitot/pitot.h>
#include <pthread.h>
#include <stdio.h>

#define SPANS_AT_ONCE 128
#define NAME_CAPACITY (sizeof((struct pt_region_name *)NULL)->text + 1)

static bool is_on; /* atomic: while off nothing is locked */

/* Guarded by the lock; the locks of the history and the probe are taken under it. So fork() does
 * not take it: a child gets a new one. Its names and histograms are those of its parent. */
static struct {
    pthread_mutex_t lock;
    uint64_t next;                            /* the next span to count */
    bool was_tried[PT_REGION_NAMES];          /* to make the histogram of a name */
    pt_histogram histograms[PT_REGION_NAMES]; /* 0: the table is full */
} components = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* As the value of a label; each character may take two bytes. */
static void escape(const char *name, char into[2 * NAME_CAPACITY]) {
    for (; *name; name++) {
        if (*name == '"' || *name == '\\' || *name == '\n')
            *into++ = '\\';
        *into++ = *name == '\n' ? 'n' : *name;
    }
    *into = '\0';
}

static pt_histogram make_histogram(const struct pt_region *region, uint16_t number) {
    char name[NAME_CAPACITY], value[2 * NAME_CAPACITY], labels[2 * NAME_CAPACITY + 16];
    pt_region_copy_name(region, number, name);
    escape(name, value);
    snprintf(labels, sizeof labels, "component=\"%s\"", value);
    return pt_histogram_new("pitot_component_seconds", "s", "Duration of spans by name", labels);
}

static void count(const struct pt_region *region, const struct pt_history_span *span) {
    if (span->name >= PT_REGION_NAMES)
        return;
    if (!components.was_tried[span->name]) {
        components.was_tried[span->name] = true;
        components.histograms[span->name] = make_histogram(region, span->name);
    }
    pt_histogram_record(components.histograms[span->name],
                        (double)(span->end_ns - span->start_ns) / (double)PT_NS_PER_SECOND);
}

static void feed(void) {
    struct pt_history_span spans[SPANS_AT_ONCE];
    struct pt_region region;
    if (!pt_history_region(&region))
        return;
    uint64_t end = pt_history_end();
    while (components.next < end) {
        size_t n = pt_history_read(components.next, spans, SPANS_AT_ONCE, &components.next);
        if (n == 0)
            return;
        for (size_t i = 0; i < n; i++)
            count(&region, &spans[i]);
    }
}

void pt_components_feed(void) {
    if (!__atomic_load_n(&is_on, __ATOMIC_RELAXED))
        return;
    pthread_mutex_lock(&components.lock);
    feed();
    pthread_mutex_unlock(&components.lock);
}

static void after_fork_in_child(void) {
    pthread_mutex_init(&components.lock, NULL);
}

static void prepare_process(void) {
    (void)pthread_atfork(NULL, NULL, after_fork_in_child);
}

void pt_components_set(bool wanted) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (wanted == __atomic_load_n(&is_on, __ATOMIC_RELAXED))
        return;
    pthread_once(&once, prepare_process);
    uint64_t end = pt_history_end();
    pthread_mutex_lock(&components.lock);
    components.next = end > components.next ? end : components.next;
    pthread_mutex_unlock(&components.lock);
    __atomic_store_n(&is_on, wanted, __ATOMIC_RELAXED);
}
