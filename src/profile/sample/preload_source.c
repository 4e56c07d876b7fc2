#include "profile/sample/preload_source.h"

#include "base/confine.h"
#include "inside/preload/python_layout.h"
#include "inside/region/sigbus_guard.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEAN_SHIFT_MAX 24u /* the largest plausible value */

static struct pt_preload_header *header_of(const struct pt_preload_source *s) {
    return (struct pt_preload_header *)(void *)s->at;
}

static bool is_layout(const struct pt_preload_header *h, size_t size) {
    uint64_t stacks = sizeof *h + PT_PRELOAD_RING_BYTES;
    uint64_t nodes = stacks + PT_HEAP_STACKS * sizeof(struct pt_heap_stack);
    uint64_t whole = nodes + PT_HEAP_NODES * sizeof(struct pt_heap_node);
    bool is_every = h->flags & PT_PRELOAD_EVERY;
    return h->version == PT_PRELOAD_VERSION && h->header_size == sizeof *h &&
           h->ring_offset == sizeof *h && h->ring_size == PT_PRELOAD_RING_BYTES &&
           h->size == (is_every ? whole : stacks) && size >= h->size &&
           h->stacks_offset == (is_every ? stacks : 0) &&
           h->nodes_offset == (is_every ? nodes : 0) && h->pid > 0 && h->pid <= INT32_MAX &&
           is_every == (h->mean_bytes == 0);
}

int pt_preload_source_attach(struct pt_preload_source *s, void *at, size_t size) {
    *s = (struct pt_preload_source){ .at = at, .size = size };
    if (size < sizeof(struct pt_preload_header))
        return -EAGAIN;
    /* Acquire: paired with the release of the writer that made the file. */
    if (__atomic_load_n(&header_of(s)->magic, __ATOMIC_ACQUIRE) != PT_PRELOAD_MAGIC)
        return -EAGAIN;
    struct pt_preload_header h = *header_of(s);
    if (!is_layout(&h, size))
        return -EINVAL;
    s->pid = (int32_t)h.pid;
    s->mean_bytes = h.mean_bytes;
    s->start_mono_ns = h.start_mono_ns;
    s->start_wall_ns = h.start_wall_ns;
    s->is_every = h.flags & PT_PRELOAD_EVERY;
    s->has_own_malloc = h.flags & PT_PRELOAD_OWN_MALLOC;
    return 0;
}

int pt_preload_source_open(struct pt_preload_source *s, int directory, const char *name) {
    struct stat st;
    *s = (struct pt_preload_source){ 0 };
    int fd = pt_confine_open(directory, name);
    if (fd < 0)
        return fd;
    int rc = fstat(fd, &st) ? -errno : !S_ISREG(st.st_mode) ? -EINVAL : 0;
    size_t size = rc ? 0 : (size_t)st.st_size;
    void *at = size > 0 ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    close(fd);
    if (rc || at == MAP_FAILED)
        return rc ? rc : -EAGAIN;
    /* the program may truncate its file at any time */
    rc = pt_sigbus_guard_add(at, size);
    if (rc) {
        munmap(at, size);
        return rc;
    }
    rc = pt_preload_source_attach(s, at, size);
    s->is_mapped = true;
    if (rc)
        pt_preload_source_close(s);
    return rc;
}

void pt_preload_source_close(struct pt_preload_source *s) {
    if (s->is_mapped) {
        pt_sigbus_guard_remove(s->at);
        munmap(s->at, s->size);
    }
    pt_buf_release(&s->record);
    *s = (struct pt_preload_source){ 0 };
}

uint64_t pt_preload_source_position(const struct pt_preload_source *s) {
    return __atomic_load_n(&header_of(s)->read, __ATOMIC_RELAXED);
}

void pt_preload_source_consume(struct pt_preload_source *s, uint64_t position) {
    /* Release: paired with the acquire in pt_preload_claim; the bytes are no longer needed. */
    __atomic_store_n(&header_of(s)->read, position, __ATOMIC_RELEASE);
}

static const struct pt_preload_record *record_at(const struct pt_preload_source *s,
                                                 uint64_t position) {
    const uint8_t *ring = s->at + sizeof(struct pt_preload_header);
    return (const struct pt_preload_record *)(const void *)(ring +
                                                            position % PT_PRELOAD_RING_BYTES);
}

/* Records may wrap around the end of the ring. */
static void copy_record(struct pt_preload_source *s, uint64_t position, size_t size) {
    const uint8_t *ring = s->at + sizeof(struct pt_preload_header);
    size_t start = position % PT_PRELOAD_RING_BYTES, first = PT_PRELOAD_RING_BYTES - start;
    first = first < size ? first : size;
    pt_buf_clear(&s->record);
    pt_buf_bytes(&s->record, ring + start, first);
    pt_buf_bytes(&s->record, ring, size - first);
}

static bool parse_allocation(const struct pt_buf *b, struct pt_preload_event *e) {
    struct pt_preload_sample a;
    if (b->len < sizeof a)
        return false;
    memcpy(&a, b->at, sizeof a);
    size_t python_size = a.python_count * sizeof(struct pt_preload_python_frame);
    if (a.stack_size > b->len - sizeof a || a.python_count > PT_PRELOAD_PYTHON_MAX ||
        python_size > b->len - sizeof a - a.stack_size || a.thread == 0 || a.thread > INT32_MAX)
        return false;
    e->mono_ns = a.mono_ns;
    e->address = a.address;
    e->bytes = a.bytes;
    e->thread = (int32_t)a.thread;
    e->stack_number = a.stack;
    e->mean_shift = a.mean_shift < MEAN_SHIFT_MAX ? a.mean_shift : MEAN_SHIFT_MAX;
    memcpy(e->name, a.name, sizeof a.name);
    memcpy(e->registers, a.registers, sizeof a.registers);
    e->stack = (struct pt_str){ (const char *)b->at + sizeof a, a.stack_size };
    e->python = (struct pt_str){ e->stack.at + a.stack_size, python_size };
    return true;
}

static bool parse_free(const struct pt_buf *b, struct pt_preload_event *e) {
    struct pt_preload_free f;
    if (b->len < sizeof f)
        return false;
    memcpy(&f, b->at, sizeof f);
    e->mono_ns = f.mono_ns;
    e->address = f.address;
    return true;
}

static bool parse_maps(const struct pt_buf *b, struct pt_preload_event *e) {
    struct pt_preload_maps m;
    if (b->len < sizeof m)
        return false;
    memcpy(&m, b->at, sizeof m);
    if (m.text_size > b->len - sizeof m || m.thread == 0 || m.thread > INT32_MAX)
        return false;
    e->thread = (int32_t)m.thread;
    memcpy(e->name, m.name, sizeof m.name);
    e->mono_ns = m.mono_ns;
    e->maps = (struct pt_str){ (const char *)b->at + sizeof m, m.text_size };
    return true;
}

static bool is_width(uint32_t width) {
    return width == 1 || width == 2 || width == 4;
}

static bool parse_code(const struct pt_buf *b, struct pt_preload_event *e) {
    struct pt_preload_code c;
    if (b->len < sizeof c)
        return false;
    memcpy(&c, b->at, sizeof c);
    uint64_t name = (uint64_t)c.name_length * c.name_width;
    uint64_t file = (uint64_t)c.file_length * c.file_width;
    if (c.number >= PT_PRELOAD_CODES || !is_width(c.name_width) || !is_width(c.file_width) ||
        c.lines_form > PT_PYTHON_LOCATIONS || name + file + c.lines_size > b->len - sizeof c)
        return false;
    const char *at = (const char *)b->at + sizeof c;
    e->code = (struct pt_preload_event_code){ .number = c.number,
                                              .first_line = c.first_line,
                                              .name_width = c.name_width,
                                              .file_width = c.file_width,
                                              .lines_form = c.lines_form,
                                              .name = { at, name },
                                              .file = { at + name, file },
                                              .lines = { at + name + file, c.lines_size } };
    return true;
}

static bool parse(const struct pt_buf *b, struct pt_preload_event *e) {
    struct pt_preload_record r;
    memcpy(&r, b->at, sizeof r);
    *e = (struct pt_preload_event){ .kind = (enum pt_preload_kind)r.kind,
                                    .is_temporary = r.flags & PT_PRELOAD_TEMPORARY,
                                    .is_untracked = r.flags & PT_PRELOAD_UNTRACKED,
                                    .is_mmap = r.flags & PT_PRELOAD_IS_MMAP };
    switch (e->kind) {
    case PT_PRELOAD_ALLOCATION:
    case PT_PRELOAD_STACK_COPY:
    case PT_PRELOAD_CPU:
    case PT_PRELOAD_CPU_REST:
        return parse_allocation(b, e);
    case PT_PRELOAD_FREE:
    case PT_PRELOAD_RESTORE:
        return parse_free(b, e);
    case PT_PRELOAD_MAPS:
        return parse_maps(b, e);
    case PT_PRELOAD_CODE:
        return parse_code(b, e);
    }
    return false;
}

bool pt_preload_source_next(struct pt_preload_source *s, uint64_t *position, bool is_final,
                            unsigned kind, struct pt_preload_event *event) {
    uint64_t claimed = __atomic_load_n(&header_of(s)->claimed, __ATOMIC_RELAXED);
    if (claimed - *position > PT_PRELOAD_RING_BYTES || *position % PT_PRELOAD_ALIGNMENT)
        return false; /* impossible in a valid ring */
    while (*position < claimed) {
        /* Acquire: paired with the release in pt_preload_publish. */
        bool is_there = __atomic_load_n(&record_at(s, *position)->stamp, __ATOMIC_ACQUIRE) ==
                        (*position ^ PT_PRELOAD_STAMP);
        if (!is_there && !is_final)
            return false;
        uint32_t size = record_at(s, *position)->size;
        bool is_size = size >= sizeof(struct pt_preload_record) && size <= PT_PRELOAD_RECORD_MAX &&
                       size <= claimed - *position && size % PT_PRELOAD_ALIGNMENT == 0;
        if (!is_there || !is_size) {
            *position += PT_PRELOAD_ALIGNMENT;
            continue;
        }
        bool is_wanted = kind == 0 || record_at(s, *position)->kind == kind;
        if (is_wanted)
            copy_record(s, *position, size);
        *position += size;
        if (is_wanted && parse(&s->record, event))
            return true;
    }
    return false;
}

struct pt_preload_losses pt_preload_source_losses(const struct pt_preload_source *s) {
    const struct pt_preload_header *h = header_of(s);
    return (struct pt_preload_losses){
        .allocations = __atomic_load_n(&h->dropped_allocations, __ATOMIC_RELAXED),
        .frees = __atomic_load_n(&h->dropped_frees, __ATOMIC_RELAXED),
        .untracked = __atomic_load_n(&h->untracked, __ATOMIC_RELAXED),
        .stacks = __atomic_load_n(&h->lost_stacks, __ATOMIC_RELAXED),
    };
}

bool pt_preload_source_has_unknown_python(const struct pt_preload_source *s) {
    return __atomic_load_n(&header_of(s)->python, __ATOMIC_RELAXED) == PT_PRELOAD_PYTHON_UNKNOWN;
}

double pt_preload_source_fill(const struct pt_preload_source *s) {
    uint64_t claimed = __atomic_load_n(&header_of(s)->claimed, __ATOMIC_RELAXED);
    return (double)(claimed - pt_preload_source_position(s)) / PT_PRELOAD_RING_BYTES;
}

bool pt_preload_source_is_sandboxed(const struct pt_preload_source *s) {
    return __atomic_load_n(&header_of(s)->flags, __ATOMIC_RELAXED) & PT_PRELOAD_SANDBOXED;
}

uint64_t pt_preload_source_peak_bytes(const struct pt_preload_source *s) {
    return __atomic_load_n(&header_of(s)->peak_bytes, __ATOMIC_RELAXED);
}

int64_t pt_preload_source_peak_ns(const struct pt_preload_source *s) {
    return __atomic_load_n(&header_of(s)->peak_mono_ns, __ATOMIC_RELAXED);
}

uint32_t pt_preload_source_stack_count(const struct pt_preload_source *s) {
    uint32_t count = __atomic_load_n(&header_of(s)->stack_count, __ATOMIC_ACQUIRE);
    return !s->is_every ? 0 : count < PT_HEAP_STACKS ? count : PT_HEAP_STACKS;
}

static const struct pt_heap_stack *stack_at(const struct pt_preload_source *s, uint32_t number) {
    const struct pt_heap_stack *all =
        (const void *)(s->at + sizeof(struct pt_preload_header) + PT_PRELOAD_RING_BYTES);
    return &all[number];
}

bool pt_preload_source_stack(const struct pt_preload_source *s, uint32_t number,
                             struct pt_heap_stack *into) {
    if (number >= pt_preload_source_stack_count(s))
        return false;
    /* Acquire: paired with the release of the writer, so that the nodes are visible. */
    uint32_t node = __atomic_load_n(&stack_at(s, number)->node, __ATOMIC_ACQUIRE);
    *into = *stack_at(s, number);
    into->node = node;
    return number == 0 || node >= PT_HEAP_FIRST_NODE;
}

void pt_preload_source_path(const struct pt_preload_source *s, uint32_t node,
                            struct pt_heap_path *into) {
    const struct pt_heap_node *nodes = (const void *)stack_at(s, PT_HEAP_STACKS);
    into->depth = into->python_count = 0;
    while (node >= PT_HEAP_FIRST_NODE && node < PT_HEAP_NODES) {
        struct pt_heap_node n = nodes[node];
        if (!(n.pc & PT_HEAP_PYTHON_NODE))
            into->frames[into->depth++] = n.pc;
        else if (into->python_count < PT_HEAP_DEPTH)
            into->python[into->python_count++] = pt_preload_python_frame_of(n.pc);
        if (into->depth == PT_HEAP_DEPTH || n.parent >= node)
            break; /* full; or a caller with a larger number: the node is invalid */
        node = n.parent;
    }
    into->is_whole = node == PT_HEAP_WHOLE;
}
