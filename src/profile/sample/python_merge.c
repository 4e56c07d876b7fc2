#include "profile/sample/python_merge.h"

static size_t count_loops(const struct pt_native_stack *native) {
    size_t count = 0;
    for (size_t i = 0; i < native->count; i++)
        count += native->is_eval[i];
    return count;
}

/* A run ends with a frame marked as its last; a run cut off at the root counts too. */
static size_t count_runs(const struct pt_python_entry *entries, size_t count) {
    size_t runs = 0;
    for (size_t i = 0; i < count; i++)
        runs += (entries[i].flags & PT_PYTHON_IS_LAST) != 0;
    bool is_open = count > 0 && !(entries[count - 1].flags & PT_PYTHON_IS_LAST);
    return runs + is_open;
}

bool pt_python_matches(const struct pt_native_stack *native, const struct pt_python_entry *entries,
                       size_t count) {
    return count > 0 && (entries[count - 1].flags & PT_PYTHON_IS_LAST) &&
           count_runs(entries, count) == count_loops(native);
}

struct merge {
    const struct pt_python_part *python;
    size_t next; /* Python entry */
    uint32_t *into;
    size_t count, capacity;
};

static void put(struct merge *m, uint32_t frame) {
    if (frame != PT_PROFILE_NONE && m->count < m->capacity)
        m->into[m->count++] = frame;
}

/* Takes one run, including its last frame. */
static void take_run(struct merge *m, bool is_wanted) {
    while (m->next < m->python->count) {
        size_t i = m->next++;
        if (is_wanted)
            put(m, m->python->frames[i]);
        if (m->python->entries[i].flags & PT_PYTHON_IS_LAST)
            return;
    }
}

size_t pt_python_merge(const struct pt_native_stack *native, const struct pt_python_part *python,
                       uint32_t *into, size_t capacity) {
    struct merge m = { .python = python, .into = into, .capacity = capacity };
    size_t loops = count_loops(native), runs = count_runs(python->entries, python->count);
    for (size_t i = loops; i < runs && !native->is_cut; i++)
        take_run(&m, false);
    size_t unmatched = loops > runs && !native->is_cut ? loops - runs : 0;
    for (size_t i = 0; i < native->count; i++) {
        bool is_replaced = native->is_eval[i] && unmatched == 0;
        unmatched -= native->is_eval[i] && unmatched > 0;
        if (is_replaced)
            take_run(&m, true);
        else
            put(&m, native->frames[i]);
    }
    while (native->is_cut && m.next < python->count)
        take_run(&m, true);
    return m.count;
}
