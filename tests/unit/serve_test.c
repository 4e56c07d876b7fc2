/* The pure parts of `pitot serve`: what is known now, what changed, history in steps, the token,
 * health; and that the page of its routes is complete. */
#include "tree_fixture.h"

#include "base/clock.h"
#include "base/fs.h"
#include "http/reach.h"
#include "serve/changes.h"
#include "serve/access.h"
#include "serve/health_route.h"
#include "serve/history_route.h"
#include "serve/routes.h"
#include "store/segments.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)

#define DISK_COLUMNS(X, t)                                     \
    X(t, name, "dName", KEY, STRING, NONE, 0, "which")         \
    X(t, model, "dModel", INFO, STRING, NONE, 0, "what it is") \
    X(t, read, "dRead", COUNTER, I64, BYTES, 0, "")            \
    X(t, busy, "dBusy", GAUGE, F64, PERCENT, 0, "")
PT_TABLE(disk, PT_TABLE_FILE("disks", NULL), "disks", DISK_COLUMNS, "file");
#define MEM_COLUMNS(X, t) X(t, used, "vMemoryUsed", GAUGE, I64, BYTES, 0, "")
PT_TABLE(mem, PT_TABLE_MAIN("mem"), "memory", MEM_COLUMNS, "file");
#define GPU_COLUMNS(X, t)                           \
    X(t, index, "gGpuIndex", KEY, I64, NONE, 0, "") \
    X(t, use, "gUtilizationGpu", GAUGE, I64, PERCENT, 0, "")
PT_TABLE(gpu, PT_TABLE_FILE("gpus", NULL), "GPUs", GPU_COLUMNS, "file");
#define EVENT_COLUMNS(X, t) X(t, text, "eText", INFO, STRING, NONE, 0, "what happened")
PT_TABLE(event, PT_TABLE_ROWS(EVENTS, "events", NULL), "events", EVENT_COLUMNS, "none");

enum { DISK, MEM, GPU, EVENT, TABLE_COUNT };
static const struct pt_table *const tables[] = { &disk_table, &mem_table, &gpu_table,
                                                 &event_table };
static const struct pt_schema schema = { tables, TABLE_COUNT };

static void begin(struct pt_sample *s, double seconds) {
    pt_sample_clear(s);
    s->mono_ns = (int64_t)(seconds * 1e9);
    s->wall_ns = 1000 * SECOND + s->mono_ns;
}

static void add_disk(struct pt_sample *s, const char *name, int64_t read, double busy) {
    struct pt_batch *b = &s->batches[DISK];
    pt_batch_add_row(b);
    pt_set_time(b, 0, s->mono_ns);
    pt_set_str(b, disk_name, pt_str_from(name));
    pt_set_str(b, disk_model, PT_STR("a \"model\""));
    pt_set_i64(b, disk_read, read);
    pt_set_f64(b, disk_busy, busy);
}

static void add_mem(struct pt_sample *s, int64_t used) {
    pt_batch_add_row(&s->batches[MEM]);
    pt_set_time(&s->batches[MEM], 0, s->mono_ns);
    pt_set_i64(&s->batches[MEM], mem_used, used);
}

static void rows_stay_until_they_are_renewed_or_old(void **state) {
    (void)state;
    struct pt_latest l;
    struct pt_sample s;
    pt_latest_init(&l, &schema);
    pt_sample_init(&s, &schema);
    begin(&s, 1);
    add_disk(&s, "a", 100, 50);
    add_mem(&s, 7);
    pt_latest_update(&l, &s);
    begin(&s, 2);
    add_mem(&s, 8);
    pt_latest_update(&l, &s);
    assert_int_equal(l.sample_count, 2);
    assert_int_equal(l.now.batches[DISK].row_count, 1);
    assert_int_equal(pt_get_i64(&l.now.batches[MEM], 0, mem_used), 8);
    begin(&s, 62);
    add_mem(&s, 9);
    pt_latest_update(&l, &s);
    assert_int_equal(l.now.batches[DISK].row_count, 0);
    begin(&s, 63);
    pt_batch_add_row(&s.batches[EVENT]);
    pt_latest_update(&l, &s); /* an event is not a sample */
    assert_int_equal(l.sample_count, 3);
    assert_int_equal(l.now.batches[EVENT].row_count, 0);
    pt_sample_release(&s);
    pt_latest_release(&l);
}

static void a_steady_tick_allocates_nothing(void **state) {
    (void)state;
    struct pt_latest l;
    struct pt_changes c;
    struct pt_sample s;
    uint64_t before = 0;
    pt_latest_init(&l, &schema);
    pt_changes_init(&c, &schema);
    pt_sample_init(&s, &schema);
    for (int i = 0; i < 20; i++) {
        if (i == 5)
            before = pt_mem_allocation_count();
        begin(&s, i + 1);
        add_disk(&s, "a", 100 * i, 50);
        add_disk(&s, "b", 200 * i, i);
        add_mem(&s, i);
        pt_latest_update(&l, &s);
        pt_changes_update(&c, &l);
    }
    assert_int_equal(pt_mem_allocation_count(), before);
    pt_sample_release(&s);
    pt_changes_release(&c);
    pt_latest_release(&l);
}

static void numbers_are_drawn_in_base_units_and_counters_as_rates(void **state) {
    (void)state;
    struct pt_latest l;
    struct pt_sample s;
    pt_latest_init(&l, &schema);
    pt_sample_init(&s, &schema);
    begin(&s, 1);
    add_disk(&s, "x", 1000, 25);
    add_disk(&s, "y", 5000, 25);
    pt_latest_update(&l, &s);
    begin(&s, 3);
    add_disk(&s, "y", 6000, 50);
    add_disk(&s, "new", 10, 50);
    pt_latest_update(&l, &s);
    assert_true(pt_rates_at(&l.rates, DISK, 0, disk_read) == 500);
    assert_true(pt_rates_at(&l.rates, DISK, 0, disk_busy) == 0.5);
    assert_true(isnan(pt_rates_at(&l.rates, DISK, 1, disk_read)));
    begin(&s, 4);
    add_disk(&s, "y", 5999, 50); /* fell: a reset */
    pt_latest_update(&l, &s);
    assert_true(isnan(pt_rates_at(&l.rates, DISK, 0, disk_read)));
    pt_sample_release(&s);
    pt_latest_release(&l);
}

/* The message as an independent reader sees it. */
static json_t *message(struct pt_changes *c, struct pt_latest *l, bool is_whole) {
    struct pt_buf text = { 0 };
    struct pt_out out;
    json_error_t error;
    pt_out_memory(&out, &text);
    pt_changes_write(c, l, is_whole, &out);
    assert_int_equal(pt_out_close(&out), 0);
    json_t *read = json_loadb((const char *)text.at, text.len, 0, &error);
    if (!read)
        fail_msg("%s", error.text);
    pt_buf_release(&text);
    return read;
}

static void expect(json_t *got, const char *path, const char *expected) {
    json_t *tables_read = json_object_get(got, "tables");
    json_t *part = json_object_get(json_object_get(tables_read, "disk"), path);
    char *text = part ? json_dumps(part, JSON_COMPACT) : strdup("absent");
    assert_string_equal(text, expected);
    free(text);
}

static void a_stream_tells_new_rows_changes_and_what_is_gone(void **state) {
    (void)state;
    struct pt_latest l;
    struct pt_changes c;
    struct pt_sample s;
    pt_latest_init(&l, &schema);
    pt_changes_init(&c, &schema);
    pt_sample_init(&s, &schema);

    begin(&s, 1);
    add_disk(&s, "a", 100, 50);
    add_disk(&s, "b", 100, 0);
    pt_latest_update(&l, &s);
    pt_changes_update(&c, &l);
    json_t *m = message(&c, &l, false);
    expect(m, "rows",
           "[[0,\"a\",{\"dName\":\"a\",\"dModel\":\"a \\\"model\\\"\"},[null,0.5]],"
           "[1,\"b\",{\"dName\":\"b\",\"dModel\":\"a \\\"model\\\"\"},[null,0]]]");
    assert_int_equal(json_integer_value(json_object_get(m, "time")), 1001000);
    json_decref(m);

    begin(&s, 2);
    add_disk(&s, "b", 100, 0);
    add_disk(&s, "c", 5, 0);
    pt_latest_update(&l, &s);
    pt_changes_update(&c, &l);
    m = message(&c, &l, false);
    expect(m, "rows", "[[2,\"c\",{\"dName\":\"c\",\"dModel\":\"a \\\"model\\\"\"},[null,0]]]");
    expect(m, "changes", "[[1,0,0]]");
    expect(m, "gone", "[0]");
    json_decref(m);

    begin(&s, 3);
    add_disk(&s, "b", 100, 0);
    add_disk(&s, "c", 2005, 0);
    add_disk(&s, "d", 1, 1);
    pt_latest_update(&l, &s);
    pt_changes_update(&c, &l);
    m = message(&c, &l, false);
    expect(m, "changes", "[[2,0,2000]]");
    expect(m, "rows", "[[0,\"d\",{\"dName\":\"d\",\"dModel\":\"a \\\"model\\\"\"},[null,0.01]]]");
    expect(m, "gone", "[]");
    json_decref(m);
    m = message(&c, &l, true); /* for somebody new */
    expect(m, "changes", "absent");
    assert_int_equal(json_array_size(json_object_get(
                         json_object_get(json_object_get(m, "tables"), "disk"), "rows")),
                     3);
    json_decref(m);

    begin(&s, 4); /* nothing of disks in this tick */
    add_mem(&s, 1);
    pt_latest_update(&l, &s);
    pt_changes_update(&c, &l);
    m = message(&c, &l, false);
    assert_null(json_object_get(json_object_get(m, "tables"), "disk"));
    json_decref(m);
    m = message(&c, &l, true);
    assert_non_null(json_object_get(json_object_get(m, "tables"), "disk"));
    json_decref(m);
    pt_sample_release(&s);
    pt_changes_release(&c);
    pt_latest_release(&l);
}

static void queries_are_read_strictly(void **state) {
    (void)state;
    static const struct pt_history_texts good[] = {
        { "disk" },
        { "disk", "500", "1000", "5s", "dRead,dBusy", "64" },
        { "disk", "0", "4102444800000", "1", "dRead", "1" },
    };
    static const struct pt_history_texts bad[] = {
        { NULL },
        { "" },
        { "../disk" },
        { "disk", "x" },
        { "disk", "" },
        { "disk", "-" },
        { "disk", "--1" },
        { "disk", "-1y" },
        { "disk", "1e3" },
        { "disk", "99999999999999999999" },
        { "disk", "5000000000000" },
        { "disk", "2000", "1000" },
        { "disk", "1000", "1000" },
        { "disk", NULL, "x" },
        { "disk", NULL, NULL, "0" },
        { "disk", NULL, NULL, "-5s" },
        { "disk", NULL, NULL, "1us" },
        { "disk", NULL, NULL, NULL, "dRead," },
        { "disk", NULL, NULL, NULL, "" },
        { "disk", NULL, NULL, NULL, "dread" },
        { "disk", NULL, NULL, NULL, NULL, "0" },
        { "disk", NULL, NULL, NULL, NULL, "65" },
        { "disk", NULL, NULL, NULL, NULL, "1x" },
    };
    struct pt_history_query q;
    struct pt_err err;
    int64_t now_ns = INT64_C(1700000000) * SECOND;
    for (size_t i = 0; i < PT_COUNT(good); i++)
        if (pt_history_parse(&q, &good[i], &schema, now_ns, &err))
            fail_msg("%zu: %s", i, err.text);
    for (size_t i = 0; i < PT_COUNT(bad); i++) {
        err.text[0] = 0;
        if (pt_history_parse(&q, &bad[i], &schema, now_ns, &err) != -EINVAL || !err.text[0])
            fail_msg("number %zu was taken", i);
    }
    struct pt_history_texts recent = { "disk", "-10m", NULL, "5s", "dBusy" };
    assert_int_equal(pt_history_parse(&q, &recent, &schema, now_ns, &err), 0);
    assert_int_equal(q.table, DISK);
    assert_int_equal(q.from_ns, now_ns - 600 * SECOND);
    assert_int_equal(q.to_ns, now_ns);
    assert_int_equal(q.step_ns, 5 * SECOND);
    assert_int_equal(q.columns[0], 1u << disk_busy);
}

/* 1000 seconds of a disk that reads 1000 bytes per second and is busy once, and of an idle one. */
static void write_history(void) {
    struct pt_segments segments;
    struct pt_segments_options o = { tree.root, 8 << 20, 0 };
    struct pt_sample s;
    assert_int_equal(pt_segments_open(&segments, &o, &schema, NULL), 0);
    pt_sample_init(&s, &schema);
    for (int i = 0; i < 1000; i++) {
        begin(&s, i + 1);
        add_disk(&s, "idle", 5, 0);
        add_disk(&s, "a", 1000 * i, i == 555 ? 100 : 1);
        assert_int_equal(pt_segments_write(&segments, &s), 0);
    }
    pt_sample_release(&s);
    pt_segments_close(&segments);
}

static json_t *ask(struct pt_history_texts texts) {
    struct pt_history_query q;
    struct pt_err err = { "" };
    struct pt_buf text = { 0 };
    if (pt_history_parse(&q, &texts, &schema, 2001 * SECOND, &err))
        fail_msg("%s", err.text);
    assert_int_equal(pt_history_write(&q, &schema, tree.root, SECOND, &text), 0);
    json_t *read = json_loadb((const char *)text.at, text.len, 0, NULL);
    assert_non_null(read);
    pt_buf_release(&text);
    return read;
}

static json_t *series_of(json_t *answer, size_t thing, const char *column, const char *statistic) {
    json_t *things = json_object_get(answer, "things");
    json_t *columns = json_object_get(json_array_get(things, thing), "columns");
    return json_object_get(json_object_get(columns, column), statistic);
}

static void history_in_steps_keeps_peaks_and_rates(void **state) {
    (void)state;
    write_history();
    json_t *a = ask((struct pt_history_texts){ "disk", "1001000", "2000000", "100s" });
    assert_int_equal(json_integer_value(json_object_get(a, "from")), 1000000);
    assert_int_equal(json_integer_value(json_object_get(a, "step")), 100000);
    assert_int_equal(json_integer_value(json_object_get(a, "count")), 11);
    json_t *first = json_array_get(json_object_get(a, "things"), 0);
    assert_string_equal(json_string_value(json_object_get(first, "key")), "a");
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(first, "texts"), "dModel")),
        "a \"model\"");
    for (size_t i = 0; i < 10; i++) {
        double low = json_number_value(json_array_get(series_of(a, 0, "dBusy", "min"), i));
        double high = json_number_value(json_array_get(series_of(a, 0, "dBusy", "max"), i));
        double rate = json_number_value(json_array_get(series_of(a, 0, "dRead", "mean"), i));
        assert_true(fabs(low - 0.01) < 1e-6);
        assert_true(fabs(high - (i == 5 ? 1 : 0.01)) < 1e-6);
        assert_true(fabs(rate - 1000) < 1e-3);
    }
    double mean = json_number_value(json_array_get(series_of(a, 0, "dBusy", "mean"), 5));
    assert_true(fabs(mean - (99 * 0.01 + 1) / 100) < 1e-6);
    json_decref(a);
}

static void a_short_span_has_each_sample(void **state) {
    (void)state;
    write_history();
    json_t *a = ask((struct pt_history_texts){ "disk", "1550000", "1560000", NULL, "dBusy", "1" });
    assert_int_equal(json_integer_value(json_object_get(a, "step")), 1000);
    assert_int_equal(json_integer_value(json_object_get(a, "thing_count")), 2);
    assert_int_equal(json_array_size(json_object_get(a, "things")), 1);
    json_t *values = series_of(a, 0, "dBusy", "mean");
    assert_int_equal(json_array_size(values), 11);
    for (size_t i = 0; i < 11; i++)
        assert_true(fabs(json_number_value(json_array_get(values, i)) - (i == 6 ? 1 : 0.01)) <
                    1e-6);
    assert_null(series_of(a, 0, "dBusy", "min"));
    assert_null(series_of(a, 0, "dRead", "mean"));
    json_decref(a);
}

/* A disk whose counters are read at even seconds, and from the tenth on not at all: rows that
 * repeat an old read are what a hanging driver leaves. */
static void history_has_the_numbers_of_the_stream(void **state) {
    (void)state;
    enum { SAMPLES = 20 };
    struct pt_segments segments;
    struct pt_segments_options o = { tree.root, 8 << 20, 0 };
    struct pt_sample s;
    struct pt_latest l;
    double live[SAMPLES][2];
    pt_latest_init(&l, &schema);
    pt_sample_init(&s, &schema);
    assert_int_equal(pt_segments_open(&segments, &o, &schema, NULL), 0);
    for (int i = 0; i < SAMPLES; i++) {
        int read_s = i < 10 ? i / 2 * 2 : 10;
        begin(&s, i + 1);
        add_mem(&s, i);
        add_disk(&s, "a", 100 * read_s * read_s, read_s);
        pt_set_time(&s.batches[DISK], 0, (read_s + 1) * SECOND);
        assert_int_equal(pt_segments_write(&segments, &s), 0);
        pt_latest_update(&l, &s);
        live[i][0] = pt_rates_at(&l.rates, DISK, 0, disk_read);
        live[i][1] = pt_rates_at(&l.rates, DISK, 0, disk_busy);
    }
    pt_segments_close(&segments);
    assert_true(isnan(live[0][0]) && live[9][0] > 0 && live[9][0] == live[8][0]);
    assert_true(isnan(live[SAMPLES - 1][0]) && isnan(live[SAMPLES - 1][1]));

    json_t *a = ask((struct pt_history_texts){ "disk", "1001000", "1020000", "1s" });
    assert_int_equal(json_integer_value(json_object_get(a, "from")), 1001000);
    for (int i = 0; i < SAMPLES; i++)
        for (int column = 0; column < 2; column++) {
            json_t *values = series_of(a, 0, column == 0 ? "dRead" : "dBusy", "mean");
            json_t *value = json_array_get(values, (size_t)i);
            bool is_new = column == 1 || (i % 2 == 0 && i <= 10); /* a counter that was read */
            if (isnan(live[i][column]) || !is_new
                    ? !json_is_null(value)
                    : fabs(json_number_value(value) - live[i][column]) > 1e-4)
                fail_msg("sample %d, column %d: %f, not %f", i, column, json_number_value(value),
                         live[i][column]);
        }
    json_decref(a);
    pt_sample_release(&s);
    pt_latest_release(&l);
}

static void a_span_without_samples_is_empty(void **state) {
    (void)state;
    write_history();
    json_t *a = ask((struct pt_history_texts){ "disk", "10", "20" });
    assert_int_equal(json_array_size(json_object_get(a, "things")), 0);
    json_decref(a);
    a = ask((struct pt_history_texts){ "gpu", "1000000", "2000000", "1" });
    assert_int_equal(json_array_size(json_object_get(a, "things")), 0);
    assert_true(json_integer_value(json_object_get(a, "count")) <= PT_HISTORY_STEPS + 1);
    json_decref(a);
}

static void a_token_is_compared_as_a_whole(void **state) {
    (void)state;
    char large[1000];
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = 0;
    assert_true(pt_token_is("0123456789abcdef", "0123456789abcdef"));
    static const char *const others[] = { "",
                                          "0",
                                          "0123456789abcde",
                                          "0123456789abcdeg",
                                          "1123456789abcdef",
                                          "0123456789abcdef ",
                                          "0123456789abcdef0" };
    for (size_t i = 0; i < PT_COUNT(others); i++)
        assert_false(pt_token_is("0123456789abcdef", others[i]));
    assert_false(pt_token_is("0123456789abcdef", large));
}

static void write_token(const char *path, const char *text, mode_t mode) {
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
    assert_true(fd >= 0);
    assert_int_equal(fchmod(fd, mode), 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void wrong_tokens_are_limited_by_address(void **state) {
    (void)state;
    const char *right = "Bearer 0123456789abcdef", *wrong = "Bearer 0123456789abcdeg";
    const int64_t minute_ns = PT_ACCESS_WINDOW_NS, start_ns = 5 * minute_ns;
    char from[48];
    struct pt_access g;
    pt_access_init(&g);
    pt_str_copy(g.token, sizeof g.token, PT_STR("0123456789abcdef"));
    for (int i = 0; i < PT_ACCESS_FAILURES; i++) {
        assert_int_equal(pt_access_admits(&g, PT_ACCESS_ACT, "10.0.0.1", NULL, start_ns), 401);
        assert_int_equal(pt_access_admits(&g, PT_ACCESS_ACT, "10.0.0.1", right, start_ns), 0);
        assert_int_equal(pt_access_admits(&g, PT_ACCESS_ACT, "10.0.0.1", wrong, start_ns), 401);
        snprintf(from, sizeof from, "2001:db8::%x", i + 1);
        assert_int_equal(pt_access_admits(&g, PT_ACCESS_ACT, from, "Basic x", start_ns), 401);
    }
    int64_t end_ns = start_ns + minute_ns;
    assert_int_equal(pt_access_admits(&g, PT_ACCESS_ACT, "10.0.0.1", right, end_ns - 1), 429);
    assert_int_equal(pt_access_admits(&g, PT_ACCESS_READ, "10.0.0.1", wrong, end_ns - 1), 429);
    assert_int_equal(pt_access_admits(&g, PT_ACCESS_READ, "10.0.0.1", NULL, end_ns - 1), 401);
    assert_int_equal(pt_access_admits(&g, PT_ACCESS_OPEN, "10.0.0.1", right, end_ns - 1), 0);
    assert_int_equal(pt_access_admits(&g, PT_ACCESS_ACT, "10.0.0.2", right, end_ns - 1), 0);
    assert_int_equal(pt_access_admits(&g, PT_ACCESS_ACT, "2001:db8::99", right, end_ns - 1), 429);
    assert_int_equal(pt_access_admits(&g, PT_ACCESS_ACT, "2001:db8:0:1::1", right, end_ns - 1), 0);
    assert_int_equal(pt_access_admits(&g, PT_ACCESS_ACT, "10.0.0.1", right, end_ns), 0);
    assert_int_equal(pt_access_admits(&g, PT_ACCESS_ACT, "10.0.0.1", wrong, end_ns), 401);
    assert_int_equal(pt_access_admits(&g, PT_ACCESS_ACT, "10.0.0.1", right, end_ns), 0);
    /* many others do not make the table grow, and push out the oldest only */
    for (int i = 0; i < PT_ACCESS_FAILURES; i++)
        assert_int_equal(pt_access_admits(&g, PT_ACCESS_ACT, "10.0.0.7", wrong, end_ns + 2), 401);
    for (int i = 0; i < PT_ACCESS_ADDRESSES - 1; i++) {
        snprintf(from, sizeof from, "10.1.%d.%d", i / 256, i % 256);
        assert_int_equal(pt_access_admits(&g, PT_ACCESS_ACT, from, wrong, end_ns + 3 + i), 401);
        assert_int_equal(pt_access_admits(&g, PT_ACCESS_ACT, "10.9.0.1", right, end_ns + 3 + i), 0);
    }
    assert_int_equal(pt_access_admits(&g, PT_ACCESS_ACT, "10.0.0.7", right, end_ns + 200), 429);
    assert_int_equal(pt_access_admits(&g, PT_ACCESS_ACT, "10.2.0.1", wrong, end_ns + 200), 401);
    assert_int_equal(pt_access_admits(&g, PT_ACCESS_ACT, "10.0.0.7", right, end_ns + 200), 0);
    pt_access_release(&g);
}

static void routes_ask_for_the_token_they_need(void **state) {
    (void)state;
    char path[80];
    struct pt_access g;
    struct pt_err err;
    const char *right = "Bearer 0123456789abcdef";
    snprintf(path, sizeof path, "%s/token", tree.root);
    pt_access_init(&g);
    g.is_loopback = true;
    assert_int_equal(pt_access_admits(&g, PT_ACCESS_READ, "10.0.0.1", NULL, 0), 0);
    assert_int_equal(pt_access_admits(&g, PT_ACCESS_ACT, "10.0.0.1", NULL, 0), 403);
    assert_int_equal(pt_access_admits(&g, PT_ACCESS_ACT, "10.0.0.1", "Bearer ", 0), 403);
    write_token(path, "0123456789abcdef\n", 0600);
    assert_int_equal(pt_access_load(&g, path, &err), 0);
    assert_int_equal(pt_access_admits(&g, PT_ACCESS_ACT, "10.0.0.1", NULL, 0), 401);
    assert_int_equal(pt_access_admits(&g, PT_ACCESS_ACT, "10.0.0.1", "Basic 0123456789abcdef", 0),
                     401);
    assert_int_equal(pt_access_admits(&g, PT_ACCESS_ACT, "10.0.0.1", "Bearer 0123456789abcdeg", 0),
                     401);
    assert_int_equal(pt_access_admits(&g, PT_ACCESS_ACT, "10.0.0.1", right, 0), 0);
    g.is_loopback = false;
    assert_int_equal(pt_access_admits(&g, PT_ACCESS_READ, "10.0.0.1", NULL, 0), 401);
    assert_int_equal(pt_access_admits(&g, PT_ACCESS_READ, "10.0.0.1", right, 0), 0);
    assert_int_equal(pt_access_admits(&g, PT_ACCESS_OPEN, "10.0.0.1", NULL, 0), 0);

    static const struct {
        const char *text;
        mode_t mode;
    } wrong[] = { { "0123456789abcdef\n", 0640 },
                  { "0123456789abcdef\n", 0604 },
                  { "short\n", 0600 },
                  { "", 0600 },
                  { "0123456789 abcdef\n", 0600 } };
    for (size_t i = 0; i < PT_COUNT(wrong); i++) {
        write_token(path, wrong[i].text, wrong[i].mode);
        assert_true(pt_access_load(&g, path, &err) < 0);
        assert_true(strlen(err.text) > 0);
    }
    assert_int_equal(pt_access_admits(&g, PT_ACCESS_READ, "10.0.0.1", right, 0),
                     0); /* the old one stays */
    assert_true(pt_access_load(&g, tree.root, &err) < 0);
    pt_access_release(&g);
}

static void health_is_that_of_the_probe_or_of_the_engine(void **state) {
    (void)state;
    struct pt_latest l;
    struct pt_sample s;
    struct pt_probe_result *probe = calloc(1, sizeof *probe);
    pt_health health;
    pt_latest_init(&l, &schema);
    pt_sample_init(&s, &schema);
    begin(&s, 1);
    add_mem(&s, INT64_C(3) << 30);
    for (int i = 0; i < 2; i++) {
        pt_batch_add_row(&s.batches[GPU]);
        pt_set_i64(&s.batches[GPU], gpu_index, i);
        pt_set_i64(&s.batches[GPU], gpu_use, i == 0 ? 90 : 50);
    }
    pt_latest_update(&l, &s);
    pt_health_of(&health, &l, NULL);
    assert_true(health.is_healthy);
    assert_true(health.memory_usage_mb == 3072);
    assert_true(health.gpu_utilization == 70);
    assert_true(isnan(health.latency_p50) && isnan(health.error_rate));

    probe->has_run = probe->has_failed = true;
    probe->recent.requests = 4;
    probe->recent.errors = 1;
    probe->seconds = 0.25;
    for (int i = 0; i < 3; i++)
        probe->recent.buckets[pt_bucket_of(0.25)]++;
    pt_health_of(&health, &l, probe);
    assert_false(health.is_healthy);
    assert_true(health.error_rate == 0.25);
    assert_true(fabs(health.latency_p50 / 0.25 - 1) < 0.012);
    assert_true(fabs(health.latency_p95 / 0.25 - 1) < 0.012);
    assert_true(health.probe_seconds == 0.25);
    free(probe);
    pt_sample_release(&s);
    pt_latest_release(&l);
}

static void private_addresses_are_known(void **state) {
    (void)state;
    static const char *const inside[] = { "127.0.0.1",      "10.1.2.3",    "172.16.0.1",
                                          "172.31.9.9",     "192.168.1.1", "169.254.1.1",
                                          "0.0.0.0",        "224.0.0.1",   "100.64.0.1",
                                          "255.255.255.255" };
    static const char *const outside[] = { "8.8.8.8", "172.15.0.1", "172.32.0.1", "100.128.0.1",
                                           "193.0.0.1" };
    static const char *const inside6[] = {
        "::1",     "::",      "fe80::1",         "fc00::1",
        "fd12::1", "ff02::1", "::ffff:10.0.0.1", "64:ff9b::7f00:1"
    };
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
    for (size_t i = 0; i < PT_COUNT(inside); i++) {
        assert_int_equal(inet_pton(AF_INET, inside[i], &v4.sin_addr), 1);
        if (!pt_http_is_private((const struct sockaddr *)&v4))
            fail_msg("%s", inside[i]);
    }
    for (size_t i = 0; i < PT_COUNT(outside); i++) {
        assert_int_equal(inet_pton(AF_INET, outside[i], &v4.sin_addr), 1);
        assert_false(pt_http_is_private((const struct sockaddr *)&v4));
    }
    for (size_t i = 0; i < PT_COUNT(inside6); i++) {
        assert_int_equal(inet_pton(AF_INET6, inside6[i], &v6.sin6_addr), 1);
        if (!pt_http_is_private((const struct sockaddr *)&v6))
            fail_msg("%s", inside6[i]);
    }
    assert_int_equal(inet_pton(AF_INET6, "2001:4860::8888", &v6.sin6_addr), 1);
    assert_false(pt_http_is_private((const struct sockaddr *)&v6));
    assert_int_equal(pt_http_url_is_public(PT_STR("http://127.0.0.1:80/x")), -EACCES);
    assert_int_equal(pt_http_url_is_public(PT_STR("https://[::1]/")), -EACCES);
    assert_int_equal(pt_http_url_is_public(PT_STR("http://8.8.8.8/x?y")), 0);
    static const char *const no_urls[] = { "", "http://", "ftp://8.8.8.8/", "http://a@8.8.8.8/",
                                           "8.8.8.8" };
    for (size_t i = 0; i < PT_COUNT(no_urls); i++)
        assert_int_equal(pt_http_url_is_public(pt_str_from(no_urls[i])), -EINVAL);
}

static void the_page_of_routes_is_complete(void **state) {
    (void)state;
    static const char *const guards[] = { "no", "remote", "always" };
    struct pt_text text = { 0 };
    struct pt_scan scan, line;
    char path[512];
    size_t listed = 0;
    snprintf(path, sizeof path, "%s/docs/SERVE.md", getenv("PITOT_SOURCE"));
    assert_int_equal(pt_fs_read(AT_FDCWD, path, &text, &scan), 0);
    struct pt_str page = pt_scan_rest(&scan);
    while (pt_scan_line(&scan, &line))
        listed += pt_str_starts(pt_scan_rest(&line), PT_STR("| GET |")) ||
                  pt_str_starts(pt_scan_rest(&line), PT_STR("| POST |"));
    assert_int_equal(listed, pt_route_count);
    for (size_t i = 0; i < pt_route_count; i++) {
        char row[128];
        snprintf(row, sizeof row, "\n| %s | `%s` | %s |", pt_routes[i].method, pt_routes[i].path,
                 guards[pt_routes[i].guard]);
        if (!memmem(page.at, page.len, row, strlen(row)))
            fail_msg("docs/SERVE.md has no line%s", row);
    }
    pt_text_release(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(rows_stay_until_they_are_renewed_or_old, "rows stay until they are renewed or old"),
        PT_TEST(a_steady_tick_allocates_nothing, "a steady tick allocates nothing"),
        PT_TEST(numbers_are_drawn_in_base_units_and_counters_as_rates,
                "numbers are drawn in base units, counters as rates"),
        PT_TEST(a_stream_tells_new_rows_changes_and_what_is_gone,
                "a stream tells new rows, changes and what is gone"),
        PT_TEST(queries_are_read_strictly, "queries of history are read strictly"),
        WITH_TREE(history_in_steps_keeps_peaks_and_rates, "history in steps keeps peaks and rates"),
        WITH_TREE(history_has_the_numbers_of_the_stream,
                  "C315 C318: history has the numbers of the stream, and no old ones"),
        WITH_TREE(a_short_span_has_each_sample, "a short span has each sample"),
        WITH_TREE(a_span_without_samples_is_empty, "a span without samples is empty"),
        PT_TEST(a_token_is_compared_as_a_whole, "a token is compared as a whole"),
        PT_TEST(wrong_tokens_are_limited_by_address, "wrong tokens are limited by address"),
        WITH_TREE(routes_ask_for_the_token_they_need, "routes ask for the token they need"),
        PT_TEST(health_is_that_of_the_probe_or_of_the_engine,
                "C259 C260 C261 C262 C263 C264 C267 C268 C269 C270 C271: health is that of the "
                "probe, or of the engine"),
        PT_TEST(private_addresses_are_known, "addresses of private networks are known"),
        PT_TEST(the_page_of_routes_is_complete, "the page of routes is complete"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
