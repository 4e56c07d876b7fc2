#include "analyze/leak.h"

#include "analyze/trend.h"

#include <math.h>

#define S(name)        PT_SIGNAL_##name

#define LEAK_SKIP      0.25
#define LEAK_BYTES     (8.0 * 1048576)
#define LEAK_SHARE     0.1 /* of what it had */
#define LEAK_FIT       0.85
#define LEAK_EVEN      0.4
#define LEAK_SURE_S    30.0 /* a shorter run may just be loading */
#define LEAK_CERTAIN_S 300.0
#define LEAK_DENIED    0.2 /* of its pace */
#define LEAK_WEAK      0.4

static bool is_leak(const struct pt_trend *t) {
    double growth = t->last - t->first;
    return growth > LEAK_BYTES && growth > LEAK_SHARE * fabs(t->first) && t->fit > LEAK_FIT &&
           t->least_part > LEAK_EVEN;
}

static void add_signal(struct pt_verdict *v, enum pt_signal_id id, double value,
                       const struct pt_trend *t) {
    v->signals[v->signal_count++] =
        (struct pt_verdict_signal){ .signal = id, .value = value, .from = t->from, .to = t->to };
}

/* Memory, and how fast it grows. */
struct watched {
    enum pt_signal_id level, growth;
};

static bool is_same_pace(const struct pt_trend *own, const struct pt_trend *witness) {
    return witness->fit >= LEAK_FIT && witness->per_second >= own->per_second / 2 &&
           witness->per_second <= own->per_second * 2;
}

/* A witness that is level: what grows is no memory of its own, but files that it reads. */
static bool is_denied(const struct pt_trend *own, const struct pt_trend *witness) {
    return fabs(witness->per_second) < LEAK_DENIED * own->per_second;
}

/* Steady growth of one signal, seen at about the same pace by another that is counted elsewhere. If
 * the other is too restless to tell, as memory of a whole machine can be, it is a weak sign. */
static bool find_leak(const struct pt_signals *s, struct watched memory,
                      const struct watched *witnesses, size_t witness_count, struct pt_verdict *v) {
    struct pt_trend own, witness;
    if (!pt_trend_find(s, memory.level, LEAK_SKIP, &own) || !is_leak(&own))
        return false;
    double length = fmin(1, own.seconds / LEAK_CERTAIN_S);
    v->share = own.seconds / s->seconds;
    add_signal(v, memory.growth, own.per_second, &own);
    add_signal(v, memory.level, own.last, &own);
    for (size_t i = 0; i < witness_count; i++) {
        if (!pt_trend_find(s, witnesses[i].level, LEAK_SKIP, &witness))
            continue;
        if (is_denied(&own, &witness))
            return false;
        if (!is_same_pace(&own, &witness))
            continue;
        add_signal(v, witnesses[i].growth, witness.per_second, &witness);
        v->confidence = own.seconds < LEAK_SURE_S ? 0.5 : 0.65 + 0.3 * length * own.fit;
        return true;
    }
    v->confidence = LEAK_WEAK;
    return true;
}

bool pt_find_memory_leak(const struct pt_signals *s, struct pt_verdict *v) {
    static const struct watched memory = { S(OWN_RSS), S(OWN_RSS_GROWTH) };
    static const struct watched witnesses[] = { { S(OWN_ANON), S(OWN_ANON_GROWTH) },
                                                { S(MEM_ANON), S(MEM_ANON_GROWTH) } };
    return find_leak(s, memory, witnesses, PT_COUNT(witnesses), v);
}

bool pt_find_gpu_leak(const struct pt_signals *s, struct pt_verdict *v) {
    static const struct watched memory = { S(GPU_MEMORY), S(GPU_MEMORY_GROWTH) };
    static const struct watched witnesses[] = { { S(GPU_PROCESS_MEMORY), S(GPU_PROCESS_GROWTH) } };
    return find_leak(s, memory, witnesses, PT_COUNT(witnesses), v);
}
