#include "inside/preload/walk.h"

#include "inside/preload/eh_frame.h"
#include "inside/preload/heap_preload.h"

#include <sys/mman.h>

#define RULES  (1u << 16)
#define PROBES 8
#define BUSY   1u

struct kept_rule {
    uint64_t pc; /* 0: free; BUSY: being written */
    struct pt_eh_rule rule;
};

static struct kept_rule *kept;

bool pt_walk_open(void) {
    if (kept)
        return true;
    void *at = pt_heap_next.mmap(NULL, RULES * sizeof *kept, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at != MAP_FAILED)
        kept = at;
    return kept;
}

static void keep(struct kept_rule *k, uint64_t pc, const struct pt_eh_rule *rule) {
    uint64_t none = 0;
    if (!__atomic_compare_exchange_n(&k->pc, &none, BUSY, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED))
        return;
    k->rule = *rule;
    __atomic_store_n(&k->pc, pc, __ATOMIC_RELEASE); /* paired with the acquire in rule_of */
}

static struct pt_eh_rule rule_of(uint64_t pc) {
    uint64_t first = pc * UINT64_C(0x9e3779b97f4a7c15) >> 48;
    for (unsigned i = 0; i < PROBES; i++) {
        struct kept_rule *k = &kept[(first + i) % RULES];
        uint64_t found = __atomic_load_n(&k->pc, __ATOMIC_ACQUIRE);
        if (found == pc)
            return k->rule;
        if (found != 0)
            continue;
        struct pt_eh_rule rule = pt_eh_find(pc);
        keep(k, pc, &rule);
        return rule;
    }
    return pt_eh_find(pc);
}

static bool read_word(const struct pt_walk *w, uint64_t address, uint64_t *value) {
    if (address < w->sp || address > w->stack_end - 8 || address % 8)
        return false;
    *value = *(const uint64_t *)(uintptr_t)address;
    return true;
}

static void depend(struct pt_walk *w, uint64_t address, uint64_t value) {
    if (w->word_count < PT_WALK_WORDS)
        w->words[w->word_count] = (struct pt_walk_word){ address, value };
    w->word_count++;
}

/* Where the current FP was read from; 0: the register itself. */
struct fp_origin {
    uint64_t address;
    bool is_noted;
};

static void note_fp(struct pt_walk *w, struct fp_origin *o) {
    if (o->is_noted)
        return;
    o->is_noted = true;
    if (o->address == 0)
        w->uses_fp = true;
    else
        depend(w, o->address, w->fp);
}

static bool frame_of(struct pt_walk *w, const struct pt_eh_rule *rule, struct fp_origin *origin,
                     uint64_t *frame) {
    if (rule->kind == PT_EH_FROM_SP) {
        *frame = w->sp + (uint64_t)(int64_t)rule->frame;
        return true;
    }
    note_fp(w, origin);
    *frame = w->fp + (uint64_t)(int64_t)rule->frame;
    if (rule->kind == PT_EH_FROM_FP)
        return true;
    uint64_t at = *frame;
    if (!read_word(w, at, frame))
        return false;
    depend(w, at, *frame);
    return true;
}

static bool restore_fp(struct pt_walk *w, const struct pt_eh_rule *rule, uint64_t frame,
                       struct fp_origin *origin) {
    if (rule->fp_kind == PT_EH_SAME)
        return true;
    if (rule->fp_kind == PT_EH_NEAR_FP)
        note_fp(w, origin);
    uint64_t at = (rule->fp_kind == PT_EH_NEAR_FP ? w->fp : frame) + (uint64_t)(int64_t)rule->fp;
    *origin = (struct fp_origin){ .address = at };
    return rule->fp_kind != PT_EH_GONE && read_word(w, at, &w->fp);
}

/* Moves to the caller. False: the rule fails. */
static bool step(struct pt_walk *w, const struct pt_eh_rule *rule, struct fp_origin *origin) {
    uint64_t frame, pc;
    if (rule->kind == PT_EH_NONE || rule->return_kind != PT_EH_IN_FRAME ||
        !frame_of(w, rule, origin, &frame))
        return false;
    uint64_t at = frame + (uint64_t)(int64_t)rule->return_address;
    if (frame <= w->sp || frame > w->stack_end || !read_word(w, at, &pc) ||
        !restore_fp(w, rule, frame, origin))
        return false;
    depend(w, at, pc);
    w->pc = pc;
    w->sp = frame;
    return true;
}

void pt_walk(struct pt_walk *w, uint64_t own_start, uint64_t own_end) {
    struct fp_origin origin = { 0 };
    uint64_t lookup = w->pc;
    w->depth = w->word_count = 0;
    w->is_whole = w->uses_fp = false;
    while (w->depth < PT_HEAP_DEPTH) {
        struct pt_eh_rule rule = rule_of(lookup);
        if (rule.kind == PT_EH_ROOT) {
            w->is_whole = true;
            return;
        }
        if (!step(w, &rule, &origin))
            return;
        if (w->pc == 0) {
            w->is_whole = true;
            return;
        }
        if (w->depth > 0 || w->pc - own_start >= own_end - own_start)
            w->pcs[w->depth++] = w->pc;
        lookup = w->pc - 1; /* a return address may already belong to the next function */
    }
    w->is_whole = true; /* as deep as walks go */
}
