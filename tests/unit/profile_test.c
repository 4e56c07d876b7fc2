/* The model of profiles and the writers' table. */
#include "base/fs.h"
#include "profile/model/profile.h"
#include "profile/files/profile_writers.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

static const struct pt_profile_value_type types[] = { { "cpu", PT_PROFILE_SAMPLES },
                                                      { "time", PT_PROFILE_NANOSECONDS } };

static uint32_t named_frame(struct pt_profile *p, const char *name) {
    uint32_t function = pt_profile_function(
        p, (struct pt_profile_function){ .name = pt_profile_string(p, pt_str_from(name)),
                                         .module = PT_PROFILE_NONE,
                                         .kind = PT_KIND_NATIVE });
    return pt_profile_frame(
        p, (struct pt_profile_frame){ .function = function, .module = PT_PROFILE_NONE });
}

static uint32_t stack_of(struct pt_profile *p, const char *const *names, size_t count) {
    uint32_t stack = PT_PROFILE_NONE;
    for (size_t i = 0; i < count; i++)
        stack = pt_profile_stack(p, stack, named_frame(p, names[i]));
    return stack;
}

static void add_samples(struct pt_profile *p, uint32_t stack, int count) {
    uint32_t name = pt_profile_string(p, PT_STR("train"));
    uint32_t thread = pt_profile_thread(p, (struct pt_profile_thread){ 7, 7, name, name });
    const int64_t values[] = { 1, 10101010 };
    for (int i = 0; i < count; i++)
        assert_true(pt_profile_sample(
            p, &(struct pt_profile_sample){ .time_ns = i, .thread = thread, .stack = stack },
            values));
}

static void test_equal_things(void **state) {
    (void)state;
    struct pt_profile p;
    pt_profile_init(&p, types, 2);
    const char *names[] = { "main", "step", "matmul" };
    uint32_t first = stack_of(&p, names, 3);
    assert_int_equal(stack_of(&p, names, 3), first);
    assert_int_equal(p.stacks.count, 3);
    assert_int_equal(p.frames.count, 3);
    assert_int_equal(p.strings.count, 4); /* and the empty one */
    assert_int_equal(p.stacks.at[first].parent, stack_of(&p, names, 2));
    pt_profile_release(&p);
}

static void test_many(void **state) {
    (void)state;
    struct pt_profile p;
    pt_profile_init(&p, types, 2);
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 20000; i++) {
            char text[32];
            int n = snprintf(text, sizeof text, "name %u", i);
            assert_int_equal(pt_profile_string(&p, (struct pt_str){ text, (size_t)n }), i + 1);
        }
    assert_true(pt_str_eq(pt_profile_text(&p, 12346), PT_STR("name 12345")));
    pt_profile_release(&p);
}

static void test_unnamed(void **state) {
    (void)state;
    struct pt_profile p;
    char buffer[PT_PROFILE_NAME_BYTES];
    pt_profile_init(&p, types, 2);
    uint32_t module = pt_profile_module(
        &p, (struct pt_profile_module){ pt_profile_string(&p, PT_STR("/usr/lib/libc.so.6")), 0 });
    struct pt_profile_frame f = { .function = PT_PROFILE_NONE, .module = module, .address = 0x1f };
    assert_true(pt_str_eq(pt_profile_frame_name(&p, pt_profile_frame(&p, f), buffer),
                          PT_STR("libc.so.6+0x1f")));
    f.module = PT_PROFILE_NONE;
    assert_true(
        pt_str_eq(pt_profile_frame_name(&p, pt_profile_frame(&p, f), buffer), PT_STR("0x1f")));
    pt_profile_release(&p);
}

static void test_folded(void **state) {
    (void)state;
    struct pt_profile p;
    struct pt_buf text = { 0 };
    struct pt_out out;
    pt_profile_init(&p, types, 2);
    add_samples(&p, stack_of(&p, (const char *[]){ "main", "a;b\nc" }, 2), 3);
    uint32_t main_frame = p.stacks.at[stack_of(&p, (const char *[]){ "main" }, 1)].frame;
    struct pt_profile_frame elsewhere = p.frames.at[main_frame];
    elsewhere.line = 12;
    add_samples(&p, stack_of(&p, (const char *[]){ "main" }, 1), 1);
    add_samples(&p, pt_profile_stack(&p, PT_PROFILE_NONE, pt_profile_frame(&p, elsewhere)), 1);
    add_samples(&p, PT_PROFILE_NONE, 1);
    pt_out_memory(&out, &text);
    pt_folded_writer.write(&p, &out);
    assert_int_equal(pt_out_close(&out), 0);
    assert_true(pt_str_eq(pt_buf_as_str(&text), PT_STR("train;main;a:b:c 3\n"
                                                       "train;main 2\n"
                                                       "train 1\n")));
    pt_buf_release(&text);
    pt_profile_release(&p);
}

static void test_unknown_extension(void **state) {
    (void)state;
    struct pt_profile p = { 0 };
    struct pt_err err;
    assert_int_equal(pt_profile_write(&p, "profile.txt", &err), -EINVAL);
    assert_non_null(strstr(err.text, ".folded"));
    assert_int_equal(pt_profile_write(&p, "/dev/null/profile.folded", &err), -ENOTDIR);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        { "C242: equal frames and stacks have one number", test_equal_things },
        { "C242: twenty thousand texts keep their numbers", test_many },
        { "C242: a frame without a symbol is called by module and offset", test_unnamed },
        { "C241: collapsed stacks are summed by name, and names cannot break a line", test_folded },
        { "C241: an unknown extension lists the known ones", test_unknown_extension },
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
