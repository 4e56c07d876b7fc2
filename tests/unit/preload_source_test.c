/* The file of a preloaded library: which layouts are read, and which records of its ring. */
#include "test.h"

#include "base/mem.h"
#include "inside/preload/python_layout.h"
#include "profile/sample/preload_source.h"

#include <errno.h>
#include <sys/mman.h>

#define STACKS (sizeof(struct pt_preload_header) + PT_PRELOAD_RING_BYTES)
#define NODES  (STACKS + PT_HEAP_STACKS * sizeof(struct pt_heap_stack))
#define WHOLE  (NODES + PT_HEAP_NODES * sizeof(struct pt_heap_node))

static const struct pt_preload_header sampled = { .magic = PT_PRELOAD_MAGIC,
                                                  .version = PT_PRELOAD_VERSION,
                                                  .header_size = sizeof sampled,
                                                  .size = STACKS,
                                                  .ring_offset = sizeof sampled,
                                                  .ring_size = PT_PRELOAD_RING_BYTES,
                                                  .mean_bytes = 1000,
                                                  .start_mono_ns = 11,
                                                  .start_wall_ns = 22,
                                                  .pid = 7 };

static const struct pt_preload_header every = { .magic = PT_PRELOAD_MAGIC,
                                                .version = PT_PRELOAD_VERSION,
                                                .header_size = sizeof every,
                                                .size = WHOLE,
                                                .ring_offset = sizeof every,
                                                .ring_size = PT_PRELOAD_RING_BYTES,
                                                .stacks_offset = STACKS,
                                                .nodes_offset = NODES,
                                                .start_mono_ns = 11,
                                                .start_wall_ns = 22,
                                                .pid = INT32_MAX,
                                                .flags = PT_PRELOAD_EVERY | PT_PRELOAD_OWN_MALLOC };

/* Memory that costs nothing until it is used. */
static uint8_t *at;

static int make_memory(void **state) {
    (void)state;
    at = mmap(NULL, WHOLE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
              0);
    return at == MAP_FAILED ? -1 : 0;
}

static int remove_memory(void **state) {
    (void)state;
    return munmap(at, WHOLE);
}

static struct pt_preload_header *header(void) {
    return (struct pt_preload_header *)(void *)at;
}

static int attach(const struct pt_preload_header *h, size_t size) {
    struct pt_preload_source s;
    *header() = *h;
    return pt_preload_source_attach(&s, at, size);
}

static void headers_are_checked(void **state) {
    (void)state;
    struct pt_preload_source s;
    *header() = sampled;
    assert_int_equal(pt_preload_source_attach(&s, at, STACKS), 0);
    assert_int_equal(s.pid, 7);
    assert_int_equal(s.mean_bytes, 1000);
    assert_int_equal(s.start_mono_ns, 11);
    assert_int_equal(s.start_wall_ns, 22);
    assert_false(s.is_every || s.has_own_malloc);
    *header() = every;
    assert_int_equal(pt_preload_source_attach(&s, at, WHOLE), 0);
    assert_int_equal(s.pid, INT32_MAX);
    assert_true(s.is_every && s.has_own_malloc);
    assert_int_equal(attach(&sampled, STACKS + 1), 0);
    assert_int_equal(attach(&sampled, STACKS - 1), -EINVAL);
    assert_int_equal(attach(&every, WHOLE - 1), -EINVAL);
    assert_int_equal(attach(&sampled, sizeof sampled - 1), -EAGAIN);
    struct pt_preload_header h = sampled;
    h.magic++;
    assert_int_equal(attach(&h, STACKS), -EAGAIN);
    struct pt_preload_header wrong[18];
    for (size_t i = 0; i < 9; i++) {
        wrong[i] = sampled;
        wrong[9 + i] = every;
    }
    for (size_t i = 0; i < 18; i += 9) {
        wrong[i].version++;
        wrong[i + 1].header_size++;
        wrong[i + 2].ring_offset++;
        wrong[i + 3].ring_size *= 2;
        wrong[i + 4].size--;
        wrong[i + 5].stacks_offset++;
        wrong[i + 6].nodes_offset++;
        wrong[i + 7].pid = i ? 0 : INT32_MAX + 1u;
        wrong[i + 8].mean_bytes = i ? 1 : 0;
    }
    for (size_t i = 0; i < 18; i++)
        assert_int_equal(attach(&wrong[i], WHOLE), -EINVAL);
}

static uint64_t claimed;

static void begin(uint64_t position) {
    *header() = sampled;
    header()->claimed = header()->read = claimed = position;
}

/* Returns where the record is. */
static uint64_t append(void *record, size_t size, unsigned kind, unsigned flags) {
    struct pt_preload_record r = { claimed ^ PT_PRELOAD_STAMP, (uint32_t)size, (uint16_t)kind,
                                   (uint16_t)flags };
    memcpy(record, &r, sizeof r);
    for (size_t i = 0; i < size; i++)
        at[sizeof(struct pt_preload_header) + (claimed + i) % PT_PRELOAD_RING_BYTES] =
            ((uint8_t *)record)[i];
    claimed += size;
    header()->claimed = claimed;
    return claimed - size;
}

/* How many records of a kind there are. */
static size_t count(unsigned kind, bool is_final) {
    struct pt_preload_source s;
    struct pt_preload_event e;
    size_t found = 0;
    assert_int_equal(pt_preload_source_attach(&s, at, STACKS), 0);
    uint64_t position = pt_preload_source_position(&s);
    while (pt_preload_source_next(&s, &position, is_final, kind, &e))
        found++;
    pt_preload_source_close(&s);
    return found;
}

/* The record around the end of the ring has its bytes in order. */
static void a_record_is_read_whole(void **state) {
    (void)state;
    struct {
        struct pt_preload_sample a;
        char stack[8];
        struct pt_preload_python_frame frames[2];
    } r = { .a = { .mono_ns = 5,
                   .address = 6,
                   .bytes = 7,
                   .thread = 8,
                   .stack_size = 8,
                   .stack = 9,
                   .mean_shift = 3,
                   .python_count = 2,
                   .name = "sixteen letters!",
                   .registers = { 1, 2, 3, 4, 5, 6, 7, 8, 9 } },
            .stack = "abcdefg",
            .frames = { { 1, 2, 3 }, { 4, 5, 6 } } };
    for (uint64_t end = 16; end <= sizeof r; end += 16) {
        struct pt_preload_source s;
        struct pt_preload_event e;
        begin(3 * PT_PRELOAD_RING_BYTES - end);
        append(&r, sizeof r, PT_PRELOAD_ALLOCATION,
               PT_PRELOAD_TEMPORARY | PT_PRELOAD_UNTRACKED | PT_PRELOAD_IS_MMAP);
        assert_int_equal(pt_preload_source_attach(&s, at, STACKS), 0);
        uint64_t position = pt_preload_source_position(&s);
        assert_true(pt_preload_source_next(&s, &position, false, 0, &e));
        assert_int_equal(position, claimed);
        assert_int_equal(e.kind, PT_PRELOAD_ALLOCATION);
        assert_true(e.is_temporary && e.is_untracked && e.is_mmap);
        assert_int_equal(e.mono_ns, 5);
        assert_int_equal(e.address, 6);
        assert_int_equal(e.bytes, 7);
        assert_int_equal(e.thread, 8);
        assert_int_equal(e.stack_number, 9);
        assert_int_equal(e.mean_shift, 3);
        assert_string_equal(e.name, "sixteen letters!");
        for (size_t i = 0; i < PT_PRELOAD_REGISTERS; i++)
            assert_int_equal(e.registers[i], i + 1);
        assert_int_equal(e.stack.len, 8);
        assert_memory_equal(e.stack.at, "abcdefg", 8);
        assert_int_equal(e.python.len, sizeof r.frames);
        assert_memory_equal(e.python.at, r.frames, sizeof r.frames);
        assert_false(pt_preload_source_next(&s, &position, false, 0, &e));
        assert_true(pt_preload_source_fill(&s) == (double)sizeof r / PT_PRELOAD_RING_BYTES);
        pt_preload_source_consume(&s, position);
        assert_int_equal(header()->read, claimed);
        assert_true(pt_preload_source_fill(&s) == 0);
        pt_preload_source_close(&s);
    }
}

static size_t allocation(uint32_t thread, uint32_t stack_size, uint32_t python_count) {
    struct {
        struct pt_preload_sample a;
        uint8_t rest[PT_PRELOAD_PYTHON_MAX * sizeof(struct pt_preload_python_frame) + 32];
    } r = { .a = { .thread = thread, .stack_size = stack_size, .python_count = python_count } };
    begin(0);
    append(&r, sizeof r, PT_PRELOAD_CPU, 0);
    return count(PT_PRELOAD_CPU, false);
}

static size_t maps(uint32_t thread, uint32_t text_size) {
    struct {
        struct pt_preload_maps m;
        char text[32];
    } r = { .m = { .thread = thread, .text_size = text_size } };
    begin(0);
    append(&r, sizeof r, PT_PRELOAD_MAPS, 0);
    return count(0, false);
}

static size_t code(struct pt_preload_code c) {
    struct {
        struct pt_preload_code c;
        char text[32];
    } r = { .c = c };
    begin(0);
    append(&r, sizeof r, PT_PRELOAD_CODE, 0);
    return count(PT_PRELOAD_CODE, false);
}

static void what_does_not_fit_is_not_a_record(void **state) {
    (void)state;
    const uint32_t python_bytes = PT_PRELOAD_PYTHON_MAX * sizeof(struct pt_preload_python_frame);
    const uint32_t rest = python_bytes + 32;
    assert_int_equal(allocation(1, 0, 0), 1);
    assert_int_equal(allocation(INT32_MAX, rest, 0), 1);
    assert_int_equal(allocation(1, rest + 1, 0), 0);
    assert_int_equal(allocation(0, 0, 0), 0);
    assert_int_equal(allocation(INT32_MAX + 1u, 0, 0), 0);
    assert_int_equal(allocation(1, 32, PT_PRELOAD_PYTHON_MAX), 1);
    assert_int_equal(allocation(1, 33, PT_PRELOAD_PYTHON_MAX), 0);
    assert_int_equal(allocation(1, 0, PT_PRELOAD_PYTHON_MAX + 1), 0);
    assert_int_equal(maps(1, 32), 1);
    assert_int_equal(maps(INT32_MAX, 0), 1);
    assert_int_equal(maps(1, 33), 0);
    assert_int_equal(maps(0, 1), 0);
    assert_int_equal(maps(INT32_MAX + 1u, 1), 0);
    struct pt_preload_code c = { .number = PT_PRELOAD_CODES - 1,
                                 .name_length = 4,
                                 .name_width = 4,
                                 .file_length = 7,
                                 .file_width = 2,
                                 .lines_size = 2,
                                 .lines_form = PT_PYTHON_LOCATIONS };
    assert_int_equal(code(c), 1);
    struct pt_preload_code wrong[] = { c, c, c, c, c, c, c };
    wrong[0].number++;
    wrong[1].name_width = 3;
    wrong[2].file_width = 0;
    wrong[3].lines_form++;
    wrong[4].lines_size++;
    wrong[5].name_width = 5;
    wrong[6].file_length++;
    for (size_t i = 0; i < PT_COUNT(wrong); i++)
        assert_int_equal(code(wrong[i]), 0);
    c.name_width = c.file_width = 1;
    assert_int_equal(code(c), 1);
    /* too short for what they are; of no kind */
    struct pt_preload_maps short_one = { .thread = 1 };
    static const struct {
        unsigned kind;
        size_t size, least;
    } kinds[] = { { PT_PRELOAD_ALLOCATION, 144, 160 },
                  { PT_PRELOAD_FREE, 16, 32 },
                  { PT_PRELOAD_RESTORE, 16, 32 },
                  { PT_PRELOAD_MAPS, 32, 48 },
                  { PT_PRELOAD_CODE, 32, 48 } };
    for (size_t i = 0; i < PT_COUNT(kinds); i++) {
        uint8_t record[256] = { 0 };
        begin(0);
        append(record, kinds[i].size, kinds[i].kind, 0);
        assert_int_equal(count(0, false), 0);
    }
    begin(0);
    append(&short_one, sizeof short_one, 0, 0);
    append(&short_one, sizeof short_one, PT_PRELOAD_CPU_REST + 1, 0);
    append(&short_one, sizeof short_one, PT_PRELOAD_MAPS, 0);
    assert_int_equal(count(0, false), 1);
    assert_int_equal(count(PT_PRELOAD_MAPS, false), 1);
    assert_int_equal(count(PT_PRELOAD_FREE, false), 0);
}

static void fields_of_each_kind(void **state) {
    (void)state;
    struct pt_preload_source s;
    struct pt_preload_event e;
    struct pt_preload_free f = { .mono_ns = 1, .address = 2 };
    struct {
        struct pt_preload_maps m;
        char text[16];
    } m = { .m = { .mono_ns = 3, .thread = 4, .text_size = 5, .name = "a" }, .text = "text." };
    struct {
        struct pt_preload_code c;
        char text[16];
    } c = { .c = { .number = 6,
                   .first_line = 7,
                   .name_length = 2,
                   .name_width = 1,
                   .file_length = 2,
                   .file_width = 2,
                   .lines_size = 3,
                   .lines_form = 1 },
            .text = "nmf.f.lns" };
    struct pt_preload_sample shifted = { .thread = 1, .mean_shift = 25 };
    begin(0);
    append(&f, sizeof f, PT_PRELOAD_FREE, PT_PRELOAD_UNTRACKED);
    append(&m, sizeof m, PT_PRELOAD_MAPS, 0);
    append(&c, sizeof c, PT_PRELOAD_CODE, 0);
    append(&shifted, sizeof shifted, PT_PRELOAD_STACK_COPY, 0);
    shifted.mean_shift = 23;
    append(&shifted, sizeof shifted, PT_PRELOAD_CPU_REST, 0);
    assert_int_equal(pt_preload_source_attach(&s, at, STACKS), 0);
    uint64_t position = 0;
    assert_true(pt_preload_source_next(&s, &position, false, 0, &e));
    assert_int_equal(e.kind, PT_PRELOAD_FREE);
    assert_true(e.is_untracked && !e.is_temporary && !e.is_mmap);
    assert_int_equal(e.mono_ns, 1);
    assert_int_equal(e.address, 2);
    assert_true(pt_preload_source_next(&s, &position, false, 0, &e));
    assert_int_equal(e.mono_ns, 3);
    assert_int_equal(e.thread, 4);
    assert_string_equal(e.name, "a");
    assert_str_eq(e.maps, "text.");
    assert_true(pt_preload_source_next(&s, &position, false, 0, &e));
    assert_int_equal(e.code.number, 6);
    assert_int_equal(e.code.first_line, 7);
    assert_int_equal(e.code.name_width, 1);
    assert_int_equal(e.code.file_width, 2);
    assert_int_equal(e.code.lines_form, 1);
    assert_str_eq(e.code.name, "nm");
    assert_str_eq(e.code.file, "f.f.");
    assert_str_eq(e.code.lines, "lns");
    assert_true(pt_preload_source_next(&s, &position, false, 0, &e));
    assert_int_equal(e.mean_shift, 24); /* no larger one is plausible */
    assert_true(pt_preload_source_next(&s, &position, false, 0, &e));
    assert_int_equal(e.mean_shift, 23);
    pt_preload_source_close(&s);
}

/* Unfinished records end the reading, unless their writer is gone: then they are stepped over. */
static void a_damaged_ring_is_read_as_far_as_possible(void **state) {
    (void)state;
    struct pt_preload_free f = { .address = 1 };
    struct pt_preload_record *r = (void *)(at + sizeof(struct pt_preload_header));
    begin(0);
    for (int i = 0; i < 3; i++)
        append(&f, sizeof f, PT_PRELOAD_FREE, 0);
    assert_int_equal(count(0, false), 3);
    r->stamp++;
    assert_int_equal(count(0, false), 0);
    assert_int_equal(count(0, true), 2);
    r->stamp--;
    static const uint32_t sizes[] = { 0, 8, 24, 40, 3 * sizeof f + 16, PT_PRELOAD_RECORD_MAX + 16 };
    for (size_t i = 0; i < PT_COUNT(sizes); i++) {
        r->size = sizes[i];
        assert_int_equal(count(0, true), 2);
        assert_int_equal(count(0, false), 0); /* what follows has no stamp */
    }
    r->size = sizeof f;
    /* positions that cannot be */
    header()->read = 8;
    assert_int_equal(count(0, true), 0);
    header()->read = 0;
    header()->claimed = PT_PRELOAD_RING_BYTES;
    assert_int_equal(count(0, false), 3);
    header()->claimed = PT_PRELOAD_RING_BYTES + 16;
    assert_int_equal(count(0, false), 0);
    /* a record of the largest size */
    static struct pt_preload_sample
        large[PT_PRELOAD_RECORD_MAX / sizeof(struct pt_preload_sample) + 2];
    large[0] = (struct pt_preload_sample){ .thread = 1 };
    begin(0);
    append(large, PT_PRELOAD_RECORD_MAX, PT_PRELOAD_ALLOCATION, 0);
    assert_int_equal(count(0, false), 1);
    begin(0);
    append(large, PT_PRELOAD_RECORD_MAX + 16, PT_PRELOAD_ALLOCATION, 0);
    assert_int_equal(count(0, true), 0);
}

static void losses_are_those_of_the_header(void **state) {
    (void)state;
    struct pt_preload_source s;
    begin(0);
    header()->dropped_allocations = 1;
    header()->dropped_frees = 2;
    header()->untracked = 3;
    header()->lost_stacks = 4;
    header()->peak_bytes = 5;
    header()->peak_mono_ns = 6;
    header()->python = PT_PRELOAD_PYTHON;
    header()->stack_count = 7;
    assert_int_equal(pt_preload_source_attach(&s, at, STACKS), 0);
    struct pt_preload_losses l = pt_preload_source_losses(&s);
    assert_int_equal(l.allocations, 1);
    assert_int_equal(l.frees, 2);
    assert_int_equal(l.untracked, 3);
    assert_int_equal(l.stacks, 4);
    assert_int_equal(pt_preload_source_peak_bytes(&s), 5);
    assert_int_equal(pt_preload_source_peak_ns(&s), 6);
    assert_false(pt_preload_source_has_unknown_python(&s));
    header()->python = PT_PRELOAD_PYTHON_UNKNOWN;
    assert_true(pt_preload_source_has_unknown_python(&s));
    assert_int_equal(pt_preload_source_stack_count(&s), 0); /* only with every allocation */
    pt_preload_source_close(&s);
}

static void set_node(uint32_t number, uint64_t pc, uint32_t parent) {
    struct pt_heap_node *nodes = (void *)(at + NODES);
    nodes[number] = (struct pt_heap_node){ .pc = pc, .parent = parent };
}

static void stacks_are_paths_of_nodes(void **state) {
    (void)state;
    struct pt_preload_source s;
    struct pt_heap_stack stack;
    struct pt_heap_path path;
    struct pt_heap_stack *stacks = (void *)(at + STACKS);
    *header() = every;
    header()->stack_count = 3;
    stacks[0] = (struct pt_heap_stack){ .node = 0, .thread = 1 };
    stacks[1] = (struct pt_heap_stack){ .node = 5, .thread = 2, .allocated_count = 3 };
    stacks[2] = (struct pt_heap_stack){ .node = 1, .thread = 4 };
    stacks[3] = (struct pt_heap_stack){ .node = 5, .thread = 4 };
    assert_int_equal(pt_preload_source_attach(&s, at, WHOLE), 0);
    assert_int_equal(pt_preload_source_stack_count(&s), 3);
    assert_true(pt_preload_source_stack(&s, 0, &stack)); /* the one of unknown stacks */
    assert_int_equal(stack.thread, 1);
    assert_true(pt_preload_source_stack(&s, 1, &stack));
    assert_int_equal(stack.node, 5);
    assert_int_equal(stack.thread, 2);
    assert_int_equal(stack.allocated_count, 3);
    assert_false(pt_preload_source_stack(&s, 2, &stack)); /* not complete yet */
    assert_false(pt_preload_source_stack(&s, 3, &stack));
    header()->stack_count = PT_HEAP_STACKS + 1;
    assert_int_equal(pt_preload_source_stack_count(&s), PT_HEAP_STACKS);
    /* two native frames below two of Python, whole; the same without its root */
    struct pt_preload_python_frame f = { 9, 10, 1 };
    set_node(2, 100, PT_HEAP_WHOLE);
    set_node(3, 200, 2);
    set_node(4, pt_preload_python_pc(f), 3);
    f.instruction = 11;
    set_node(5, pt_preload_python_pc(f), 4);
    pt_preload_source_path(&s, 5, &path);
    assert_true(path.is_whole);
    assert_int_equal(path.depth, 2);
    assert_int_equal(path.frames[0], 200);
    assert_int_equal(path.frames[1], 100);
    assert_int_equal(path.python_count, 2);
    assert_int_equal(path.python[0].instruction, 11);
    assert_int_equal(path.python[1].instruction, 10);
    assert_int_equal(path.python[1].code, 9);
    set_node(2, 100, PT_HEAP_PART);
    pt_preload_source_path(&s, 5, &path);
    assert_false(path.is_whole);
    assert_int_equal(path.depth, 2);
    set_node(3, 200, 3); /* its own caller: invalid */
    pt_preload_source_path(&s, 5, &path);
    assert_false(path.is_whole);
    assert_int_equal(path.depth, 1);
    pt_preload_source_path(&s, PT_HEAP_WHOLE, &path);
    assert_true(path.is_whole && path.depth == 0);
    pt_preload_source_path(&s, PT_HEAP_NODES, &path);
    assert_true(!path.is_whole && path.depth == 0);
    /* deeper than a path can be, native and of Python */
    for (uint32_t i = 0; i < PT_HEAP_DEPTH + 5; i++)
        set_node(10 + i, 1000 + i, i ? 9 + i : PT_HEAP_WHOLE);
    pt_preload_source_path(&s, 9 + PT_HEAP_DEPTH, &path);
    assert_true(path.depth == PT_HEAP_DEPTH && !path.is_whole);
    assert_int_equal(path.frames[PT_HEAP_DEPTH - 1], 1000);
    pt_preload_source_path(&s, 8 + PT_HEAP_DEPTH, &path);
    assert_true(path.depth == PT_HEAP_DEPTH - 1 && path.is_whole);
    for (uint32_t i = 0; i < PT_HEAP_DEPTH + 5; i++)
        set_node(10 + i, pt_preload_python_pc(f), i ? 9 + i : PT_HEAP_WHOLE);
    pt_preload_source_path(&s, 14 + PT_HEAP_DEPTH, &path);
    assert_true(path.python_count == PT_HEAP_DEPTH && path.is_whole);
    pt_preload_source_close(&s);
}

#define WITH_MEMORY(function, sentence) \
    { sentence, function, make_memory, remove_memory, NULL }

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_MEMORY(headers_are_checked, "C244: a file with another layout is not read"),
        WITH_MEMORY(a_record_is_read_whole, "C244: a record around the end of the ring is read"),
        WITH_MEMORY(what_does_not_fit_is_not_a_record, "C244: parts of a record are within it"),
        WITH_MEMORY(fields_of_each_kind, "C244: each kind of record has its fields"),
        WITH_MEMORY(a_damaged_ring_is_read_as_far_as_possible,
                    "C244: a damaged ring is read as far as possible"),
        WITH_MEMORY(losses_are_those_of_the_header, "C244: losses are those that a process counts"),
        WITH_MEMORY(stacks_are_paths_of_nodes, "C244: stacks are paths in a tree of nodes"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
