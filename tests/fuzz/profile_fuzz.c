/* Feeds arbitrary bytes to what reads records of perf events, memory of Python, and files of names;
 * the first byte chooses which. What is found must lie within the bytes. */
#include "base/attr.h"
#include "profile/unwind/call_site.h"
#include "profile/unwind/cfi_rule.h"
#include "profile/unwind/eh_index.h"
#include "profile/unwind/epilogue.h"
#include "profile/names/jit_map.h"
#include "profile/names/kernel_names.h"
#include "profile/sample/perf_record.h"
#include "profile/sample/perf_ring.h"
#include "profile/sample/python_gil.h"
#include "profile/names/python_lines.h"
#include "profile/sample/python_merge.h"
#include "profile/sample/python_stack.h"
#include "profile/sample/record_order.h"
#include "profile/unwind/space.h"
#include "profile/unwind/x86.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_true) {
    if (!is_true)
        abort();
}

static void check_inside(struct pt_str piece, struct pt_str whole) {
    check(piece.len == 0 || (piece.at >= whole.at && piece.at + piece.len <= whole.at + whole.len));
}

static void fuzz_record(struct pt_str text) {
    struct pt_perf_record r;
    const uint8_t *bytes = (const uint8_t *)text.at;
    (void)pt_perf_record_time(bytes, text.len);
    if (!pt_perf_record_parse(bytes, text.len, 9, &r))
        return;
    if (r.kind == PT_PERF_SAMPLE)
        check_inside((struct pt_str){ (const char *)r.sample.stack, r.sample.stack_size }, text);
    if (r.kind == PT_PERF_MMAP)
        check_inside(r.mmap.path, text);
    if (r.kind == PT_PERF_COMM)
        check_inside(r.comm.name, text);
}

/* The bytes are a ring, read from every eighth of it. */
static void fuzz_ring(struct pt_str text) {
    size_t size = 4096;
    uint8_t *ring = calloc(1, size);
    struct pt_buf taken = { 0 };
    memcpy(ring, text.at, text.len < size ? text.len : size);
    for (uint64_t start = 0; start < size; start += size / 8) {
        uint64_t tail = start, head = start + size;
        while (pt_perf_ring_take_at(ring, size, head, &tail, 9, PT_PERF_RECORD_MAX, &taken))
            check(tail <= head);
        pt_buf_clear(&taken);
    }
    struct perf_event_mmap_page page = { .data_head = size };
    struct pt_perf_ring mapped = { &page, ring, size };
    uint64_t end;
    if (pt_perf_ring_has_only_samples(&mapped, INT64_MAX, &end)) {
        check(end <= size);
        for (struct pt_str first; (first = pt_perf_ring_first(&mapped, end, &taken)).len > 0;) {
            fuzz_record(first);
            pt_perf_ring_drop(&mapped, first.len);
        }
        check(page.data_tail == end);
    }
    pt_buf_release(&taken);
    free(ring);
}

static void fuzz_order(struct pt_str text) {
    struct pt_record_order o = { 0 };
    pt_record_order_sort(&o, text);
    for (size_t i = 1; i < o.count; i++)
        check(o.at[i - 1].time_ns <= o.at[i].time_ns);
    pt_record_order_hold(&o, o.count / 2);
    pt_record_order_sort(&o, text);
    pt_record_order_release(&o);
}

static size_t read_garbage(void *state, const struct pt_memory_piece *pieces, size_t count) {
    const struct pt_str *text = state;
    for (size_t i = 0; i < count; i++) {
        uint8_t *into = pieces[i].into;
        if (text->len == 0 || pieces[i].address > 0x20000 || pieces[i].address % 97 == 13)
            return i;
        for (size_t k = 0; k < pieces[i].size; k++)
            into[k] = (uint8_t)text->at[(pieces[i].address + k) % text->len];
    }
    return count;
}

static void look_at_gil(const struct pt_python_layout *l, const struct pt_memory_reader *m) {
    struct pt_gil_form form = { 0 };
    for (uint64_t thread = 0x2000; thread < 0x2400; thread += 0x100) {
        uint64_t gil = pt_python_find_gil(l, m, 0x1000, thread);
        uint32_t marks = pt_python_read_gil(l, m, gil, thread, &form);
        check(marks == 0 || marks & PT_GIL_KNOWN);
        check(marks <= PT_GIL_CONTENDED);
    }
}

static void walk(const struct pt_python_layout *l, const struct pt_memory_reader *m) {
    struct pt_python_frame frames[PT_PYTHON_DEPTH_MAX];
    struct pt_buf text = { 0 };
    uint8_t code[PT_PYTHON_CODE_BYTES] = { 0 };
    (void)pt_python_find_thread(l, m, 0x1000, 7);
    size_t count = pt_python_frames(l, m, 0x2000, frames);
    check(count <= PT_PYTHON_DEPTH_MAX);
    (void)pt_memory_read(m, 0x3000, code, sizeof code);
    struct pt_python_code_key key = pt_python_code_key(l, code);
    (void)pt_python_read_text(l, m, key.name, &text);
    (void)pt_python_read_bytes(m, key.lines, &text);
    pt_buf_release(&text);
    look_at_gil(l, m);
}

static void fuzz_python(struct pt_str text) {
    struct pt_memory_reader m = { read_garbage, &text };
    uint8_t head[PT_PYTHON_DEBUG_BYTES] = { 0 };
    struct pt_python_layout own;
    memcpy(head, text.at, text.len < sizeof head ? text.len : sizeof head);
    for (unsigned minor = 9; minor <= 12; minor++)
        walk(pt_python_layout(minor), &m);
    if (pt_python_layout_from(head, &own))
        walk(&own, &m);
    /* with a valid start, so that every input is a table of offsets; they are small, as a
     * hostile process would choose them */
    for (uint8_t minor = 13; minor <= 14; minor++) {
        const uint8_t start[] = { 0xf0, 0, minor, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
        memcpy(head, PT_PYTHON_COOKIE, 8);
        memcpy(head + 8, start, sizeof start);
        for (size_t i = 24; i < sizeof head; i++)
            head[i] = i % 8 < 2 ? head[i] : 0;
        if (pt_python_layout_from(head, &own))
            walk(&own, &m);
    }
}

static void fuzz_lines(struct pt_str text) {
    for (uint32_t instruction = 0; instruction < 64; instruction += 2) {
        (void)pt_python_line(PT_PYTHON_LNOTAB, text, 1, instruction);
        (void)pt_python_line(PT_PYTHON_LINETABLE_310, text, 1, instruction);
        (void)pt_python_line(PT_PYTHON_LOCATIONS, text, 1, instruction);
    }
}

static void fuzz_merge(struct pt_str text) {
    uint32_t frames[64] = { 0 }, python[64] = { 0 }, merged[32];
    bool is_eval[64] = { false };
    struct pt_python_entry entries[64] = { 0 };
    size_t count = text.len < 64 ? text.len : 64;
    for (size_t i = 0; i < count; i++) {
        is_eval[i] = text.at[i] & 1;
        entries[i].flags = (uint32_t)(text.at[i] >> 1 & 3);
    }
    struct pt_native_stack native = { frames, is_eval, count };
    (void)pt_python_matches(&native, entries, count);
    check(pt_python_merge(&native, &(struct pt_python_part){ entries, python, count }, merged,
                          32) <= 32);
}

static void fuzz_maps(struct pt_str text) {
    struct pt_maps_line m;
    if (pt_maps_parse(pt_scan_of(text), &m))
        check_inside(m.path, text);
}

static void fuzz_names(struct pt_str text) {
    const uint64_t wanted[] = { 0, 0x1000, UINT64_C(0xffffffff81000100), UINT64_MAX };
    struct pt_kernel_symbol kernel[4];
    struct pt_jit_symbol jit[4];
    pt_kallsyms_find(pt_scan_of(text), wanted, 4, kernel);
    pt_jit_map_find(pt_scan_of(text), wanted, 4, jit);
    for (int i = 0; i < 4; i++) {
        if (kernel[i].name.len > 0)
            check_inside(kernel[i].name, text);
        if (jit[i].name.len > 0)
            check_inside(jit[i].name, text);
    }
}

static void fuzz_eh_index(struct pt_str text) {
    uint64_t start;
    for (uint64_t address = 0; address < 0x2000; address += 0x123)
        (void)pt_eh_index_find(text, 0x1000, address, &start);
}

/* Rules made of any operations, followed through the bytes as a stack. */
static void fuzz_unwind(struct pt_str text) {
    struct pt_cfi_op ops[4] = { 0 };
    if (text.len < 24)
        return;
    for (int i = 0; i < 4; i++)
        ops[i] = (struct pt_cfi_op){ (uint8_t)text.at[i], (int8_t)text.at[i + 4], text.at[i + 8] };
    struct pt_cfi cfi = { .frame = { PT_CFI_OPS, ops, (uint8_t)text.at[12] % 3 },
                          .return_address = { PT_CFI_OPS, ops + 2, (uint8_t)text.at[13] % 3 } };
    struct pt_unwind_rule rule = pt_cfi_rule(&cfi);
    struct pt_unwind_state s = { .stack = (const uint8_t *)text.at + 16,
                                 .stack_size = text.len - 16 };
    memcpy(&s.stack_start, text.at + 16, 8);
    s.registers[PT_REGISTER_SP] = s.stack_start;
    for (int i = 0; i < 1000 && pt_unwind_step(&s, &rule) == PT_UNWIND_MORE; i++)
        continue;
    for (int i = 0; i < 1000 && pt_unwind_step_fp(&s) == PT_UNWIND_MORE; i++)
        continue;
}

/* The bytes are code. */
static void fuzz_code(struct pt_str text) {
    const uint8_t *code = (const uint8_t *)text.at;
    struct pt_unwind_rule rule;
    struct pt_x86 x;
    for (size_t at = 0; at < text.len && pt_x86_parse(code + at, text.len - at, &x); at += x.length)
        check(x.length > 0 && x.length <= text.len - at);
    if (pt_epilogue_rule(code, text.len, &rule))
        check(rule.kind == PT_RULE_OFFSET && rule.offset >= 8 && rule.return_slot == 1);
    (void)pt_call_before(code, text.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static void (*const parsers[])(struct pt_str text) = {
        fuzz_record, fuzz_ring,  fuzz_order,    fuzz_python, fuzz_lines, fuzz_merge,
        fuzz_maps,   fuzz_names, fuzz_eh_index, fuzz_unwind, fuzz_code,
    };
    if (size == 0)
        return 0;
    /* '0' chooses the first, so that the corpus is readable. */
    parsers[(uint8_t)(data[0] - '0') % PT_COUNT(parsers)](
        (struct pt_str){ (const char *)data + 1, size - 1 });
    return 0;
}
