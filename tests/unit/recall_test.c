/* Memory that is read again and again: what is recalled is as new as the round, in few calls. */
#include "profile/sample/recall.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define BASE  UINT64_C(0x10000)
#define BYTES 8192

struct fake {
    uint8_t bytes[BYTES];
    uint64_t hole; /* address of a byte that cannot be read; 0 = none */
    int calls;
};

static bool is_readable(const struct fake *f, const struct pt_memory_piece *p) {
    bool has_hole = f->hole >= p->address && f->hole < p->address + p->size;
    return p->address >= BASE && p->address + p->size <= BASE + BYTES && !has_hole;
}

static size_t read_fake(void *state, const struct pt_memory_piece *pieces, size_t count) {
    struct fake *f = state;
    size_t i = 0;
    f->calls++;
    for (; i < count && is_readable(f, &pieces[i]); i++)
        memcpy(pieces[i].into, f->bytes + (pieces[i].address - BASE), pieces[i].size);
    return i;
}

/* The bytes at these offsets, each read by itself; how many calls it took. */
static int read_all(struct fake *f, struct pt_recall *r, const unsigned *offsets, size_t count,
                    uint8_t *into) {
    static uint8_t bytes[PT_RECALL_BYTES];
    f->calls = 0;
    pt_recall_begin(r, (struct pt_memory_reader){ read_fake, f }, bytes);
    const struct pt_memory_reader m = { pt_recall_read, r };
    for (size_t i = 0; i < count; i++)
        if (!pt_memory_read(&m, BASE + offsets[i], &into[i], 1))
            into[i] = 0xff;
    pt_recall_end(r);
    return f->calls;
}

static void fill(struct fake *f) {
    *f = (struct fake){ .calls = 0 };
    for (size_t i = 0; i < BYTES; i++)
        f->bytes[i] = (uint8_t)(i % 251);
}

static void test_one_call(void **state) {
    (void)state;
    struct fake f;
    struct pt_recall r = { .count = 0 };
    uint8_t found[3];
    const unsigned offsets[] = { 10, 500, 4000 };
    fill(&f);
    assert_int_equal(read_all(&f, &r, offsets, 3, found), 3);
    assert_int_equal(read_all(&f, &r, offsets, 3, found), 1);
    f.bytes[500] = 77;
    assert_int_equal(read_all(&f, &r, offsets, 3, found), 1);
    const uint8_t expected[] = { 10, 77, 4000 % 251 };
    assert_memory_equal(found, expected, 3);
}

static void test_new_places(void **state) {
    (void)state;
    struct fake f;
    struct pt_recall r = { .count = 0 };
    uint8_t found[3];
    fill(&f);
    (void)read_all(&f, &r, (const unsigned[]){ 1, 2, 3 }, 3, found);
    assert_int_equal(read_all(&f, &r, (const unsigned[]){ 1, 7, 3 }, 3, found), 2);
    assert_memory_equal(found, ((const uint8_t[]){ 1, 7, 3 }), 3);
    assert_int_equal(read_all(&f, &r, (const unsigned[]){ 3, 2, 7 }, 3, found), 1);
    assert_memory_equal(found, ((const uint8_t[]){ 3, 2, 7 }), 3);
}

static void test_hole(void **state) {
    (void)state;
    struct fake f;
    struct pt_recall r = { .count = 0 };
    uint8_t found[3];
    const unsigned offsets[] = { 1, 2, 3 };
    fill(&f);
    (void)read_all(&f, &r, offsets, 3, found);
    f.hole = BASE + 2;
    (void)read_all(&f, &r, offsets, 3, found);
    assert_memory_equal(found, ((const uint8_t[]){ 1, 0xff, 3 }), 3);
    for (int i = 0; i < 20; i++)
        (void)read_all(&f, &r, (const unsigned[]){ 1, 3 }, 2, found);
    assert_int_equal(r.count, 2); /* what is not asked for is forgotten */
    assert_int_equal(read_all(&f, &r, (const unsigned[]){ 1, 3 }, 2, found), 1);
}

static void test_pieces(void **state) {
    (void)state;
    struct fake f;
    static uint8_t bytes[PT_RECALL_BYTES];
    struct pt_recall r = { .count = 0 };
    uint8_t found[4] = { 0 };
    struct pt_memory_piece pieces[4];
    fill(&f);
    f.hole = BASE + 30;
    for (unsigned i = 0; i < 4; i++)
        pieces[i] = (struct pt_memory_piece){ BASE + 10 * (i + 1), &found[i], 1 };
    for (int round = 0; round < 3; round++) {
        pt_recall_begin(&r, (struct pt_memory_reader){ read_fake, &f }, bytes);
        assert_int_equal(pt_recall_read(&r, pieces, 4), 2);
        assert_int_equal(pt_recall_read(&r, pieces + 3, 1), 1);
        pt_recall_end(&r);
    }
    assert_memory_equal(found, ((const uint8_t[]){ 10, 20, 0, 40 }), 4);
}

static void test_bounds(void **state) {
    (void)state;
    struct fake f;
    struct pt_recall r = { .count = 0 };
    unsigned offsets[200];
    uint8_t found[200];
    fill(&f);
    for (unsigned i = 0; i < 200; i++)
        offsets[i] = 3 * i;
    for (int round = 0; round < 3; round++) {
        (void)read_all(&f, &r, offsets, 200, found);
        assert_true(r.count <= PT_RECALL_PIECES);
        for (unsigned i = 0; i < 200; i++)
            assert_int_equal(found[i], offsets[i] % 251);
    }
}

static void test_ages(void **state) {
    (void)state;
    struct fake f;
    struct pt_recall r = { .count = 0 };
    uint8_t found[2];
    fill(&f);
    (void)read_all(&f, &r, (const unsigned[]){ 5, 6 }, 2, found);
    for (int round = 0; round < 8; round++) {
        assert_int_equal(r.count, 2);
        assert_int_equal(read_all(&f, &r, (const unsigned[]){ 6 }, 1, found), 1);
    }
    assert_int_equal(r.count, 1); /* not asked for eight times */
    assert_int_equal(r.at[0].address, BASE + 6);
    assert_int_equal(read_all(&f, &r, (const unsigned[]){ 5, 6 }, 2, found), 2);
    assert_memory_equal(found, ((const uint8_t[]){ 5, 6 }), 2);
}

/* Reads the first bytes of the fake memory as one piece; how many calls it took. */
static int read_piece(struct fake *f, struct pt_recall *r, size_t size) {
    static uint8_t bytes[PT_RECALL_BYTES], into[BYTES];
    f->calls = 0;
    pt_recall_begin(r, (struct pt_memory_reader){ read_fake, f }, bytes);
    assert_int_equal(pt_recall_read(r, &(struct pt_memory_piece){ BASE, into, size }, 1), 1);
    pt_recall_end(r);
    assert_memory_equal(into, f->bytes, size);
    return f->calls;
}

static void test_large(void **state) {
    (void)state;
    struct fake f;
    struct pt_recall r = { .count = 0 };
    fill(&f);
    assert_int_equal(read_piece(&f, &r, 4096), 1);
    assert_int_equal(r.count, 1);
    r = (struct pt_recall){ .count = 0 };
    assert_int_equal(read_piece(&f, &r, 4097), 1);
    assert_int_equal(r.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        { "C241: places that were read before are read again, in one call", test_one_call, NULL,
          NULL, NULL },
        { "C241: a place that is new is read by itself once", test_new_places, NULL, NULL, NULL },
        { "C241: a place that is gone is not recalled, and then forgotten", test_hole, NULL, NULL,
          NULL },
        { "C241: pieces are read up to the first that cannot be", test_pieces, NULL, NULL, NULL },
        { "C241: a place that is asked for stays, one that is not is forgotten", test_ages, NULL,
          NULL, NULL },
        { "C241: a piece of more than a page is not kept", test_large, NULL, NULL, NULL },
        { "C241: more places than are kept are still read", test_bounds, NULL, NULL, NULL },
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
