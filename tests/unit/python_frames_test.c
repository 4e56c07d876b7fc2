/* Frames of Python, read from a small memory made by hand. */
#include "inside/preload/python_layout.h"
#include "profile/sample/recording.h"
#include "profile/sample/python_gil.h"
#include "profile/names/python_lines.h"
#include "profile/sample/python_merge.h"
#include "profile/sample/python_stack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/* Memory of a process: 64 KiB from BASE on. */
#define BASE  UINT64_C(0x10000)
#define BYTES 65536

struct fake {
    uint8_t bytes[BYTES];
};

static size_t read_fake(void *state, const struct pt_memory_piece *pieces, size_t count) {
    const struct fake *f = state;
    for (size_t i = 0; i < count; i++) {
        uint64_t offset = pieces[i].address - BASE;
        if (offset > BYTES || pieces[i].size > BYTES - offset)
            return i;
        memcpy(pieces[i].into, f->bytes + offset, pieces[i].size);
    }
    return count;
}

static void put(struct fake *f, uint64_t address, uint64_t value, size_t size) {
    memcpy(f->bytes + (address - BASE), &value, size);
}

enum { RUNTIME = 0x10000, INTERPRETER = 0x11000, THREAD = 0x12000, CFRAME = 0x13000 };
enum { FRAME_A = 0x14ff0, FRAME_B = 0x14f00, FRAME_C = 0x18000, CODE = 0x1a000, TEXT = 0x1b000 };

/* 3.11: A (leaf) was called by B in one loop, B's loop was entered from C's. */
static void make_311(struct fake *f) {
    memset(f, 0, sizeof *f);
    put(f, RUNTIME + 40, INTERPRETER, 8);
    put(f, INTERPRETER + 16, THREAD, 8);
    put(f, THREAD + 8, 0, 8);
    put(f, THREAD + 56, CFRAME, 8);
    put(f, THREAD + 160, 4242, 8);
    put(f, CFRAME + 8, FRAME_A, 8);
    const uint64_t frames[] = { FRAME_A, FRAME_B, FRAME_C, 0 };
    for (int i = 0; i < 3; i++) {
        put(f, frames[i] + 32, CODE, 8);
        put(f, frames[i] + 48, frames[i + 1], 8);
        put(f, frames[i] + 56, CODE + 184 + 10, 8);
        put(f, frames[i] + 68, i > 0, 1);
    }
}

static void test_frames_311(void **state) {
    (void)state;
    struct fake f;
    struct pt_memory_reader m = { read_fake, &f };
    struct pt_python_frame frames[PT_PYTHON_DEPTH_MAX];
    const struct pt_python_layout *l = pt_python_layout(11);
    make_311(&f);
    assert_int_equal(pt_python_find_thread(l, &m, RUNTIME, 4242), THREAD);
    assert_int_equal(pt_python_find_thread(l, &m, RUNTIME, 4243), 0);
    assert_true(pt_python_is_thread(l, &m, THREAD, 4242));
    assert_int_equal(pt_python_frames(l, &m, THREAD, frames), 3);
    assert_int_equal(frames[0].code, CODE);
    assert_int_equal(frames[0].instruction, 10);
    assert_int_equal(frames[0].flags, 0);
    assert_int_equal(frames[1].flags, PT_PYTHON_IS_LAST);
    assert_int_equal(frames[2].flags, PT_PYTHON_IS_LAST);
}

/* A thread of the 64th interpreter is found, of the 65th it is not looked for. */
static void test_interpreters(void **state) {
    (void)state;
    enum { FIRST = 0x1d000, STEP = 0x20 };
    struct fake f;
    struct pt_memory_reader m = { read_fake, &f };
    const struct pt_python_layout *l = pt_python_layout(11);
    for (uint64_t count = 64; count <= 65; count++) {
        make_311(&f);
        put(&f, RUNTIME + 40, FIRST, 8);
        for (uint64_t i = 0; i + 1 < count; i++)
            put(&f, FIRST + i * STEP, FIRST + (i + 1) * STEP, 8);
        put(&f, FIRST + (count - 1) * STEP + 16, THREAD, 8);
        assert_int_equal(pt_python_find_thread(l, &m, RUNTIME, 4242), count == 64 ? THREAD : 0);
    }
    /* the third thread of an interpreter, then one without */
    make_311(&f);
    put(&f, INTERPRETER + 16, THREAD + 0x200, 8);
    put(&f, THREAD + 0x200 + 8, THREAD + 0x400, 8);
    put(&f, THREAD + 0x400 + 8, THREAD, 8);
    assert_int_equal(pt_python_find_thread(l, &m, RUNTIME, 4242), THREAD);
    put(&f, THREAD + 0x400 + 8, 0, 8);
    assert_int_equal(pt_python_find_thread(l, &m, RUNTIME, 4242), 0);
    assert_false(pt_python_is_thread(l, &m, THREAD + 0x200, 4242));
    assert_false(pt_python_is_thread(l, &m, 8, 4242));
}

static void test_circle(void **state) {
    (void)state;
    struct fake f;
    struct pt_memory_reader m = { read_fake, &f };
    struct pt_python_frame frames[PT_PYTHON_DEPTH_MAX];
    const struct pt_python_layout *l = pt_python_layout(11);
    make_311(&f);
    put(&f, FRAME_C + 48, FRAME_A, 8);
    assert_int_equal(pt_python_frames(l, &m, THREAD, frames), PT_PYTHON_DEPTH_MAX);
    put(&f, THREAD + 8, THREAD, 8);
    assert_int_equal(pt_python_find_thread(l, &m, RUNTIME, 1), 0);
    put(&f, FRAME_B + 48, 0xdead0000, 8); /* torn: leads out of the memory */
    assert_int_equal(pt_python_frames(l, &m, THREAD, frames), 2);
}

static void test_texts(void **state) {
    (void)state;
    struct fake f = { 0 };
    struct pt_memory_reader m = { read_fake, &f };
    struct pt_buf text = { 0 };
    put(&f, TEXT + 16, 4, 8);
    put(&f, TEXT + 32, 1 << 2 | 1 << 5 | 1 << 6, 4); /* one byte each, compact, ASCII */
    memcpy(f.bytes + (TEXT - BASE) + 48, "leaf", 4);
    assert_true(pt_python_read_text(pt_python_layout(11), &m, TEXT, &text));
    assert_true(pt_str_eq(pt_buf_as_str(&text), PT_STR("leaf")));
    pt_buf_clear(&text);
    memcpy(f.bytes + (TEXT - BASE) + 56, "\xe9\x00\xac\x20", 4); /* UTF-16: é € */
    put(&f, TEXT + 16, 2, 8);
    put(&f, TEXT + 32, 2 << 2 | 1 << 5, 4);
    assert_true(pt_python_read_text(pt_python_layout(12), &m, TEXT, &text));
    assert_true(pt_str_eq(pt_buf_as_str(&text), PT_STR("\xc3\xa9\xe2\x82\xac")));
    put(&f, TEXT + 16, 1 << 30, 8);
    assert_false(pt_python_read_text(pt_python_layout(12), &m, TEXT, &text));
    assert_false(pt_python_read_bytes(&m, TEXT, &text));
    pt_buf_release(&text);
}

/* The words that Python 3.13.0 carries. */
static void test_debug_offsets(void **state) {
    (void)state;
    uint64_t words[PT_PYTHON_DEBUG_BYTES / 8] = { 0 };
    struct pt_python_layout l;
    memcpy(words, PT_PYTHON_COOKIE, 8);
    words[1] = 0x30d00f0;
    words[5] = 632;
    words[8] = 7264;
    words[9] = 7344;
    words[23] = 72;
    words[25] = 160;
    words[29] = 8;
    words[31] = 56;
    words[33] = 70;
    words[43] = 200;
    assert_true(pt_python_layout_from((const uint8_t *)words, &l));
    assert_int_equal(l.minor, 13);
    assert_int_equal(l.runtime_interpreters, 632);
    assert_int_equal(l.interpreter_threads, 7344);
    assert_int_equal(l.thread_frame, 72);
    assert_int_equal(l.thread_native, 160);
    assert_int_equal(l.code_bytecode, 200);
    words[2] = 1; /* free-threaded */
    assert_false(pt_python_layout_from((const uint8_t *)words, &l));
    words[2] = 0;
    words[9] = UINT64_C(1) << 40;
    assert_false(pt_python_layout_from((const uint8_t *)words, &l));
    assert_null(pt_python_layout(7));
}

enum { GIL = 0x1c000, CONDITION = GIL + 32 };

/* A lock held by a thread, and those who sleep on its two conditions. */
static void make_gil(struct fake *f, uint64_t holder, uint32_t first, uint32_t second,
                     size_t count_at) {
    const size_t both = sizeof(pthread_cond_t) + sizeof(pthread_mutex_t);
    memset(f->bytes + (GIL - BASE), 0, 256);
    put(f, GIL + 8, holder, 8);
    put(f, GIL + 16, 1, 4);
    put(f, CONDITION + count_at, first * 8 + 2, 4);
    put(f, CONDITION + both + count_at, second * 8 + 2, 4);
}

static uint32_t read_gil(struct fake *f, struct pt_gil_form *form) {
    struct pt_memory_reader m = { read_fake, f };
    return pt_python_read_gil(pt_python_layout(11), &m, GIL, THREAD, form);
}

static void test_gil(void **state) {
    (void)state;
    struct fake f = { 0 };
    struct pt_gil_form form = { 0 };
    make_gil(&f, THREAD, 0, 0, 36);
    assert_int_equal(read_gil(&f, &form), PT_GIL_KNOWN | PT_GIL_HELD);
    make_gil(&f, THREAD, 3, 0, 36);
    assert_int_equal(read_gil(&f, &form), PT_GIL_CONTENDED);
    make_gil(&f, THREAD, 0, 1, 36);
    assert_int_equal(read_gil(&f, &form), PT_GIL_CONTENDED);
    make_gil(&f, THREAD + 64, 1, 0, 36);
    assert_int_equal(read_gil(&f, &form), PT_GIL_KNOWN | PT_GIL_WANTED);
    make_gil(&f, THREAD, 1, 0, 36);
    put(&f, GIL + 16, 0, 4); /* the last who had it */
    assert_int_equal(read_gil(&f, &form), PT_GIL_KNOWN | PT_GIL_WANTED);
}

/* What is not a count of waiters: too large, or with other flags. */
static void test_gil_counts(void **state) {
    (void)state;
    static const struct {
        uint32_t word, gil;
    } words[] = { { 4096 * 8 + 2, PT_GIL_CONTENDED },
                  { 4097 * 8 + 2, 0 },
                  { 8 + 2, PT_GIL_CONTENDED },
                  { 8 + 3, 0 },
                  { 8 + 6, 0 },
                  { 8, 0 } };
    for (size_t i = 0; i < PT_COUNT(words); i++)
        for (size_t second = 0; second < 2; second++) {
            struct fake f = { 0 };
            make_gil(&f, THREAD, 0, 0, 36);
            put(&f, CONDITION + 36 + second * (sizeof(pthread_cond_t) + sizeof(pthread_mutex_t)),
                words[i].word, 4);
            assert_int_equal(read_gil(&f, &(struct pt_gil_form){ 0 }), words[i].gil);
        }
}

static void test_gil_forms(void **state) {
    (void)state;
    struct fake f = { 0 };
    struct pt_gil_form newer = { 0 }, unclear = { 0 }, other = { 0 };
    make_gil(&f, THREAD, 2, 0, 28);
    assert_int_equal(read_gil(&f, &newer), PT_GIL_CONTENDED);
    put(&f, CONDITION + 36, 2, 4); /* what looks like a count, once it is known where that is */
    assert_int_equal(read_gil(&f, &newer), PT_GIL_CONTENDED);
    put(&f, CONDITION + 88 + 36, 2, 4);
    if (sizeof(pthread_mutex_t) == 40)
        assert_int_equal(read_gil(&f, &unclear), 0);
    make_gil(&f, THREAD, 2, 0, 28);
    assert_int_equal(read_gil(&f, &unclear), PT_GIL_CONTENDED);
    make_gil(&f, THREAD, 0, 0, 0); /* another C library */
    put(&f, CONDITION, 0, 4);
    assert_int_equal(read_gil(&f, &other), 0);
    make_gil(&f, THREAD, 1, 0, 36);
    assert_int_equal(read_gil(&f, &other), 0); /* for good */
    put(&f, GIL + 16, UINT32_MAX, 4);          /* not made yet */
    assert_int_equal(read_gil(&f, &(struct pt_gil_form){ 0 }), 0);
}

static void test_gil_places(void **state) {
    (void)state;
    struct fake f = { 0 };
    struct pt_memory_reader m = { read_fake, &f };
    struct pt_python_layout none = *pt_python_layout(12);
    assert_int_equal(pt_python_find_gil(pt_python_layout(9), &m, RUNTIME, THREAD), RUNTIME + 352);
    assert_int_equal(pt_python_find_gil(pt_python_layout(11), &m, RUNTIME, THREAD), RUNTIME + 360);
    assert_int_equal(pt_python_find_gil(pt_python_layout(12), &m, RUNTIME, THREAD), 0);
    put(&f, THREAD + 16, INTERPRETER, 8);
    put(&f, INTERPRETER + 384, GIL, 8);
    assert_int_equal(pt_python_find_gil(pt_python_layout(12), &m, RUNTIME, THREAD), GIL);
    none.gil_condition = 0;
    assert_int_equal(pt_python_find_gil(&none, &m, RUNTIME, THREAD), 0);
}

/* The words of 3.13.0 on the lock; what they do not say is not guessed. */
static void test_gil_words(void **state) {
    (void)state;
    uint64_t words[PT_PYTHON_DEBUG_BYTES / 8] = { 0 };
    struct pt_python_layout l;
    memcpy(words, PT_PYTHON_COOKIE, 8);
    words[1] = 0x30d00f0;
    words[14] = 16;
    words[15] = 7752;
    words[17] = 7768;
    words[18] = 7760;
    words[22] = 16;
    assert_true(pt_python_layout_from((const uint8_t *)words, &l));
    assert_int_equal(l.thread_interpreter, 16);
    assert_int_equal(l.interpreter_gil, 16);
    assert_int_equal(l.gil_condition, 32);
    words[17] = 7784;
    assert_true(pt_python_layout_from((const uint8_t *)words, &l));
    assert_int_equal(l.gil_condition, 0);
}

/* Every offset of the table, in turn, is what a hostile process may write there. */
static void test_hostile_offsets(void **state) {
    (void)state;
    static const uint64_t hostile[] = {
        105, 112, 201, 205, 208, 249, 256, 4096, 65535, 65536, UINT64_C(1) << 40, UINT64_MAX
    };
    struct fake f;
    struct pt_python_layout l;
    struct pt_python_frame frames[PT_PYTHON_DEPTH_MAX];
    const struct pt_memory_reader m = { read_fake, &f };
    unsigned refused = 0, accepted = 0;
    memset(&f, 0x11, sizeof f);
    for (uint64_t minor = 13; minor <= 14; minor++) {
        for (size_t word = 3; word < PT_PYTHON_DEBUG_BYTES / 8; word++) {
            for (size_t i = 0; i < PT_COUNT(hostile); i++) {
                uint64_t words[PT_PYTHON_DEBUG_BYTES / 8] = { 0 };
                memcpy(words, PT_PYTHON_COOKIE, 8);
                words[1] = 0x30000f0 | minor << 16;
                words[word] = hostile[i];
                if (!pt_python_layout_from((const uint8_t *)words, &l)) {
                    refused++;
                    continue;
                }
                accepted++;
                assert_in_range(l.thread_next + 8, 8, PT_PYTHON_THREAD_BYTES);
                assert_in_range(l.thread_frame + 8, 8, PT_PYTHON_THREAD_BYTES);
                assert_in_range(l.thread_native + 8, 8, PT_PYTHON_THREAD_BYTES);
                assert_in_range(l.thread_interpreter + 8, 8, PT_PYTHON_THREAD_BYTES);
                assert_in_range(pt_python_frame_size(&l), 1, PT_PYTHON_FRAME_BYTES);
                assert_in_range(pt_python_code_size(&l), 1, PT_PYTHON_CODE_BYTES);
                assert_int_equal(pt_python_find_thread(&l, &m, RUNTIME, 7), 0);
                assert_in_range(pt_python_frames(&l, &m, THREAD, frames), 0, PT_PYTHON_DEPTH_MAX);
            }
        }
    }
    assert_in_range(refused, 1, UINT32_MAX);
    assert_in_range(accepted, 1, UINT32_MAX);
    for (unsigned minor = 9; minor <= 12; minor++) {
        assert_in_range(pt_python_frame_size(pt_python_layout(minor)), 1, PT_PYTHON_FRAME_BYTES);
        assert_in_range(pt_python_code_size(pt_python_layout(minor)), 1, PT_PYTHON_CODE_BYTES);
    }
}

/* A profile of one thread, whose frames are functions of modules. */
static uint32_t call(struct pt_profile *p, uint32_t caller, const char *module, const char *name,
                     enum pt_profile_kind kind) {
    struct pt_profile_module m = { pt_profile_string(p, pt_str_from(module)), 0 };
    struct pt_profile_function f = { .name = pt_profile_string(p, pt_str_from(name)),
                                     .module = pt_profile_module(p, m),
                                     .kind = kind };
    struct pt_profile_frame frame = { .function = pt_profile_function(p, f), .module = f.module };
    return pt_profile_stack(p, caller, pt_profile_frame(p, frame));
}

static void add_wait(struct pt_profile *p, uint32_t stack) {
    struct pt_profile_sample s = { .thread = PT_PROFILE_NONE,
                                   .stack = stack,
                                   .state = PT_STATE_IDLE };
    assert_true(pt_profile_sample(p, &s, &(const int64_t){ 1 }));
}

static const char *leaf_name(const struct pt_profile *p, size_t sample, char *buffer) {
    uint32_t frame = p->stacks.at[p->samples.at[sample].stack].frame;
    struct pt_str name = pt_profile_frame_name(p, frame, buffer);
    memmove(buffer, name.at, name.len);
    buffer[name.len] = '\0';
    return buffer;
}

static void test_gil_wait(void **state) {
    (void)state;
    char buffer[PT_PROFILE_NAME_BYTES];
    struct pt_profile p;
    pt_profile_init(&p, &(struct pt_profile_value_type){ "wait", PT_PROFILE_NANOSECONDS }, 1);
    uint32_t python = call(&p, PT_PROFILE_NONE, "/usr/bin/python3.11", "?", PT_KIND_NATIVE);
    uint32_t library = call(&p, python, "/usr/lib/libqueue.so", "take", PT_KIND_NATIVE);
    const uint32_t callers[] = { python, library };
    for (int i = 0; i < 2; i++) {
        uint32_t wait =
            call(&p, callers[i], "/lib/libc.so.6", "pthread_cond_timedwait", PT_KIND_NATIVE);
        add_wait(&p, call(&p, wait, "[kernel]", "futex_wait", PT_KIND_KERNEL));
    }
    add_wait(&p, PT_PROFILE_NONE);
    pt_gil_wait_mark(&p);
    assert_int_equal(p.samples.at[0].state, PT_STATE_GIL);
    assert_string_equal(leaf_name(&p, 0, buffer), "[GIL wait]");
    assert_int_equal(p.stacks.at[p.samples.at[0].stack].parent, python);
    assert_int_equal(p.samples.at[1].state, PT_STATE_IDLE);
    assert_string_equal(leaf_name(&p, 1, buffer), "futex_wait");
    assert_int_equal(p.samples.at[2].stack, PT_PROFILE_NONE);
    pt_profile_release(&p);
}

/* Of: def f(a):      line 10
 *         b = a      line 11
 *
 *         return b   line 13 */
static void test_lines(void **state) {
    (void)state;
    const struct pt_str lnotab = PT_STR("\x00\x01\x04\x02");
    assert_int_equal(pt_python_line(PT_PYTHON_LNOTAB, lnotab, 10, 0), 11);
    assert_int_equal(pt_python_line(PT_PYTHON_LNOTAB, lnotab, 10, 2), 11);
    assert_int_equal(pt_python_line(PT_PYTHON_LNOTAB, lnotab, 10, 4), 13);
    const struct pt_str ranges = PT_STR("\x04\x01\x02\x80\x04\x02");
    assert_int_equal(pt_python_line(PT_PYTHON_LINETABLE_310, ranges, 10, 2), 11);
    assert_int_equal(pt_python_line(PT_PYTHON_LINETABLE_310, ranges, 10, 4), 0);
    assert_int_equal(pt_python_line(PT_PYTHON_LINETABLE_310, ranges, 10, 6), 13);
    assert_int_equal(pt_python_line(PT_PYTHON_LINETABLE_310, ranges, 10, 60), 0);
    /* short (0 lines on, 2 units), one line on (2 units), long (+2 lines, 1 unit), none (1 unit) */
    const struct pt_str locations = PT_STR("\x81\x11"
                                           "\xd9\x04\x05"
                                           "\xf0\x04\x00\x01\x02"
                                           "\xf8");
    assert_int_equal(pt_python_line(PT_PYTHON_LOCATIONS, locations, 10, 2), 10);
    assert_int_equal(pt_python_line(PT_PYTHON_LOCATIONS, locations, 10, 4), 11);
    assert_int_equal(pt_python_line(PT_PYTHON_LOCATIONS, locations, 10, 8), 13);
    assert_int_equal(pt_python_line(PT_PYTHON_LOCATIONS, locations, 10, 10), 0);
    assert_int_equal(pt_python_line(PT_PYTHON_LOCATIONS, PT_STR("\xf0\x44"), 10, 0), 0);
    /* +100 lines in two parts of six bits, 70 lines back, +40000 in three */
    const struct pt_str far = PT_STR("\xe8\x48\x03"
                                     "\xe8\x4d\x02"
                                     "\xe8\x40\x62\x13");
    assert_int_equal(pt_python_line(PT_PYTHON_LOCATIONS, far, 10, 0), 110);
    assert_int_equal(pt_python_line(PT_PYTHON_LOCATIONS, far, 10, 2), 40);
    assert_int_equal(pt_python_line(PT_PYTHON_LOCATIONS, far, 10, 4), 40040);
}

static const struct pt_python_entry three[] = { { 0, 0, 0 },
                                                { 1, 0, PT_PYTHON_IS_LAST },
                                                { 2, 0, PT_PYTHON_IS_LAST } };
static const uint32_t three_frames[] = { 100, 101, 102 };

static void check_merge(const struct pt_native_stack *native, const uint32_t *expected,
                        size_t count) {
    uint32_t merged[16];
    struct pt_python_part python = { three, three_frames, 3 };
    assert_int_equal(pt_python_merge(native, &python, merged, 16), count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(merged[i], expected[i]);
}

static void test_merge(void **state) {
    (void)state;
    const uint32_t frames[] = { 1, 2, 3, 4, 5, 6 };
    const bool two_loops[] = { false, true, false, true, false, false };
    struct pt_native_stack native = { frames, two_loops, 6 };
    assert_true(pt_python_matches(&native, three, 3));
    check_merge(&native, (const uint32_t[]){ 1, 100, 101, 3, 102, 5, 6 }, 7);
}

static void test_mismatch(void **state) {
    (void)state;
    const uint32_t frames[] = { 1, 2, 3, 4, 5, 6 };
    const bool three_loops[] = { true, true, false, true, false, false };
    const bool one_loop[] = { false, false, false, true, false, false };
    struct pt_native_stack native = { frames, three_loops, 6 };
    assert_false(pt_python_matches(&native, three, 3));
    check_merge(&native, (const uint32_t[]){ 1, 100, 101, 3, 102, 5, 6 }, 7);
    native.is_eval = one_loop;
    assert_false(pt_python_matches(&native, three, 3));
    check_merge(&native, (const uint32_t[]){ 1, 2, 3, 102, 5, 6 }, 6);
}

static void test_cut(void **state) {
    (void)state;
    const uint32_t frames[] = { 1, 2, 3 };
    const bool one_loop[] = { false, true, false };
    struct pt_native_stack native = { frames, one_loop, 3, true };
    check_merge(&native, (const uint32_t[]){ 1, 100, 101, 3, 102 }, 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        { "C241: frames of a Python thread, and where its loops end", test_frames_311 },
        { "C241: memory that leads in a circle or nowhere ends the reading", test_circle },
        { "C241: names of Python are UTF-8", test_texts },
        { "C241: Python 3.13 says itself where things are", test_debug_offsets },
        { "C241: an offset outside its structure is refused, whichever process wrote it",
          test_hostile_offsets },
        { "C241: a thread holds the GIL if it is the holder of a locked lock", test_gil },
        { "C241: threads of all interpreters are found, up to a limit", test_interpreters },
        { "C241: what cannot be a count of waiters is not one", test_gil_counts },
        { "C241: who waits for the GIL is counted by a C library that is known, or not at all",
          test_gil_forms },
        { "C241: the GIL is the runtime's, or since 3.12 the interpreter's", test_gil_places },
        { "C241: Python 3.13 says where its GIL is", test_gil_words },
        { "C241: a timed wait of the interpreter itself is for the GIL", test_gil_wait },
        { "C241: lines of Python's instructions, in three forms", test_lines },
        { "C241: each evaluation loop becomes the functions it runs", test_merge },
        { "C241: Python knows the rest of a stack that was cut short", test_cut },
        { "C241: stacks that do not match are aligned at the root", test_mismatch },
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
