/* The terminal view without a terminal: numbers, lists, the screen, keys, replay. */
#include "test.h"

#include "sampler/sampler.h"
#include "base/mem.h"
#include "store/ring.h"
#include "top/list.h"
#include "top/meters.h"
#include "top/replay.h"
#include "model/form.h"
#include "top/top_view.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <unistd.h>

#define SECOND   INT64_C(1000000000)
#define START    (1000 * SECOND)
#define WALL     (INT64_C(1700000000) * SECOND)
#define MEBIBYTE INT64_C(1048576)

/* Pitot's own schema, a sample to fill, and all that is made of it. */
struct fixture {
    const struct pt_table *tables[PT_SAMPLER_TABLES];
    struct pt_schema schema;
    struct pt_sample sample;
    struct pt_top_model model;
    struct pt_top_view view;
    struct pt_canvas canvas;
    struct pt_buf text;
};

static int open_fixture(void **state) {
    struct fixture *f = pt_calloc(1, sizeof *f);
    assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
    setenv("TZ", "UTC", 1);
    f->schema = (struct pt_schema){ f->tables, pt_sampler_tables(f->tables) };
    pt_sample_init(&f->sample, &f->schema);
    pt_top_model_init(&f->model, &f->schema);
    pt_top_view_init(&f->view, &f->schema);
    *state = f;
    return 0;
}

static int close_fixture(void **state) {
    struct fixture *f = *state;
    pt_buf_release(&f->text);
    pt_canvas_release(&f->canvas);
    pt_top_view_release(&f->view);
    pt_top_model_release(&f->model);
    pt_sample_release(&f->sample);
    pt_free(f);
    return 0;
}

static struct pt_batch *add_row(struct fixture *f, const char *table, int64_t time_ns) {
    int t = pt_schema_find(&f->schema, table);
    assert_true(t >= 0);
    struct pt_batch *b = &f->sample.batches[t];
    pt_batch_add_row(b);
    for (int s = 0; s < b->table->source_count; s++)
        pt_set_time(b, s, time_ns);
    return b;
}

static int column_of(const struct pt_batch *b, const char *name) {
    int column = pt_table_find(b->table, name);
    assert_true(column >= 0);
    return column;
}

static void set(struct pt_batch *b, const char *column, double value) {
    int c = column_of(b, column);
    if (b->table->columns[c].type == PT_F64)
        pt_set_f64(b, c, value);
    else
        pt_set_i64(b, c, (int64_t)value);
}

static void set_text(struct pt_batch *b, const char *column, const char *text) {
    pt_set_str(b, column_of(b, column), pt_str_from(text));
}

static void add_process(struct fixture *f, int64_t now_ns, int pid, int parent, const char *command,
                        double cpu_seconds, int64_t resident) {
    struct pt_batch *b = add_row(f, "process", now_ns);
    set(b, "pId", pid);
    set(b, "pStartTime", pid * 10);
    set(b, "pParentId", parent);
    set(b, "pNumThreads", 2);
    set(b, "pCpuTimeNs", cpu_seconds * 1e9);
    set(b, "pResidentSetSize", (double)resident);
    set(b, "pReadBytes", cpu_seconds * 1024);
    set(b, "pIsRecorded", pid >= 40);
    set_text(b, "pState", "S");
    set_text(b, "pCmdline", command);
}

/* The machine at second `n`: CPU 25 % busy, 1 MB/s read, four processes; a GPU from `with_gpu`. */
static void fill(struct fixture *f, int n, bool with_gpu) {
    int64_t now_ns = START + n * SECOND;
    pt_sample_clear(&f->sample);
    f->sample.mono_ns = now_ns;
    f->sample.wall_ns = WALL + n * SECOND;
    struct pt_batch *b = add_row(f, "cpu", now_ns);
    set(b, "vCpuTimeUserMode", 50 * n);
    set(b, "vCpuIdleTime", 150 * n);
    set(b, "vLoadAvg", 1.5);
    set(b, "vLoadAvg5", 1);
    set(b, "vLoadAvg15", 0.5);
    for (int core = 0; core < 2; core++) {
        b = add_row(f, "core", now_ns);
        set(b, "cpuNumber", core);
        set(b, "cpuTimeUserMode", core * 50 * n);
        set(b, "cpuIdleTime", (2 - core) * 50 * n);
    }
    b = add_row(f, "mem", now_ns);
    set(b, "vMemoryTotal", 4096.0 * (double)MEBIBYTE);
    set(b, "vMemoryUsed", 1024.0 * (double)MEBIBYTE);
    b = add_row(f, "disk", now_ns);
    set(b, "vDiskReadBytes", (double)(n * MEBIBYTE));
    set(b, "vDiskWriteBytes", 0);
    b = add_row(f, "net", now_ns);
    set(b, "vNetworkBytesRecvd", n * 2048);
    set(b, "vNetworkBytesSent", 0);
    add_process(f, now_ns, 1, 0, "init", 0.001 * n, 8 * MEBIBYTE);
    add_process(f, now_ns, 30, 1, "sshd", 0.01 * n, 20 * MEBIBYTE);
    add_process(f, now_ns, 40, 1, "python serve.py", 0.5 * n, 900 * MEBIBYTE);
    add_process(f, now_ns, 41, 40, "python worker", 1.25 * n, 300 * MEBIBYTE);
    if (!with_gpu)
        return;
    b = add_row(f, "gpu", now_ns);
    set(b, "gGpuIndex", 0);
    set(b, "gUtilizationGpu", 85);
    set(b, "gMemoryUsedMb", 20480);
    set(b, "gMemoryTotalMb", 81920);
    set(b, "gPowerDrawW", 512.3);
    set(b, "gTemperatureC", 61);
    for (int gpu = 0; gpu < 2; gpu++) {
        b = add_row(f, "gpu_process", now_ns);
        set(b, "gGpuIndex", gpu);
        set(b, "pId", 41);
        set(b, "gHostPid", 41);
        set(b, "gSmUtil", 30);
        set(b, "gUsedMemoryMb", 1024);
    }
}

static void feed(struct fixture *f, int n, bool with_gpu) {
    fill(f, n, with_gpu);
    pt_top_model_add(&f->model, &f->sample);
    pt_top_view_update(&f->view, &f->model);
}

static const char *draw(struct fixture *f, int rows, int columns) {
    struct pt_top_view_source source = { .name = "host", .speed = 1 };
    struct pt_out out;
    pt_canvas_clear(&f->canvas, rows, columns);
    int used = pt_top_view_draw(&f->view, &f->model, &source, &f->canvas);
    pt_buf_clear(&f->text);
    pt_out_memory(&out, &f->text);
    pt_canvas_print(&f->canvas, used, &out);
    assert_int_equal(pt_out_close(&out), 0);
    pt_buf_u8(&f->text, 0);
    return (const char *)f->text.at;
}

static const char *line_of(struct fixture *f, int row) {
    static char line[512];
    const char *at = (const char *)f->text.at;
    while (row-- > 0)
        at = strchr(at, '\n') + 1;
    return pt_str_copy(line, sizeof line, (struct pt_str){ at, strcspn(at, "\n") });
}

static void press(struct fixture *f, const char *keys) {
    for (; *keys; keys++)
        assert_int_equal(pt_top_view_press(&f->view, &f->model, false, *keys), PT_REQUEST_NONE);
}

static void type(struct fixture *f, int key) {
    assert_int_equal(pt_top_view_press(&f->view, &f->model, false, key), PT_REQUEST_NONE);
}

static double value_at(struct fixture *f, const char *table, uint32_t row, const char *column) {
    int t = pt_schema_find(&f->schema, table);
    return pt_rates_at(&f->model.rates, t, row, pt_table_find(f->tables[t], column));
}

/* The canvas. */

static const char *put(struct fixture *f, const char *text, int width) {
    struct pt_out out;
    pt_canvas_clear(&f->canvas, 1, 12);
    pt_canvas_put(&f->canvas, 0, 0, width, PT_STYLE_PLAIN, pt_str_from(text));
    pt_buf_clear(&f->text);
    pt_out_memory(&out, &f->text);
    pt_canvas_print(&f->canvas, 1, &out);
    assert_int_equal(pt_out_close(&out), 0);
    pt_buf_u8(&f->text, 0);
    return (const char *)f->text.at;
}

static void text_of_others_cannot_command_the_terminal(void **state) {
    struct fixture *f = *state;
    f->canvas.is_utf8 = true;
    assert_string_equal(put(f, "a\033[2J\a\n\x7f", 12), "a?[2J???\n");
    assert_string_equal(put(f, "x\xff\xc3y\xc2\x9b", 12), "x??y?\n"); /* U+009B: a C1 control */
}

static void text_is_cut_by_columns(void **state) {
    struct fixture *f = *state;
    f->canvas.is_utf8 = true;
    assert_string_equal(put(f, "abcdef", 4), "abcd\n");
    assert_string_equal(put(f, "a much longer text", 99), "a much longe\n");
    assert_string_equal(put(f, "ä日本x", 4), "ä日\n"); /* the second would need two more */
    assert_string_equal(put(f, "e\xcc\x81z", 4), "ez\n");
}

static void without_utf8_all_is_ascii(void **state) {
    struct fixture *f = *state;
    assert_string_equal(put(f, "ä日x", 12), "??x\n");
}

/* Numbers. */

static void counters_are_rates_and_gauges_are_as_they_are(void **state) {
    struct fixture *f = *state;
    feed(f, 0, true);
    assert_true(isnan(value_at(f, "disk", 0, "vDiskReadBytes")));
    feed(f, 2, true);
    assert_true(value_at(f, "disk", 0, "vDiskReadBytes") == (double)MEBIBYTE);
    assert_true(fabs(value_at(f, "cpu", 0, "vCpuTimeUserMode") - 0.5) < 1e-9);
    assert_true(fabs(value_at(f, "process", 3, "pCpuTimeNs") - 1.25) < 1e-9);
    assert_true(value_at(f, "gpu", 0, "gUtilizationGpu") == 0.85);
    assert_true(value_at(f, "gpu", 0, "gMemoryTotalMb") == 81920.0 * (double)MEBIBYTE);
    assert_true(value_at(f, "process", 2, "pId") == 40);
    assert_true(isnan(value_at(f, "process", 2, "pSwap")));
}

static void feed_disk(struct fixture *f, int64_t mono_ns, int64_t read_ns, int64_t bytes) {
    pt_sample_clear(&f->sample);
    f->sample.mono_ns = mono_ns;
    set(add_row(f, "disk", read_ns), "vDiskReadBytes", (double)bytes);
    pt_rates_add(&f->model.rates, &f->sample);
}

static void rates_go_by_the_times_of_the_reads(void **state) {
    struct fixture *f = *state;
    feed_disk(f, START, START, 0);
    feed_disk(f, START + SECOND, START + SECOND / 2, 500);
    assert_true(value_at(f, "disk", 0, "vDiskReadBytes") == 1000);
    feed_disk(f, START + 2 * SECOND, START + SECOND / 2, 500); /* not read again: it holds */
    assert_true(value_at(f, "disk", 0, "vDiskReadBytes") == 1000);
    feed_disk(f, START + 3 * SECOND, START + 3 * SECOND, 10); /* reset */
    assert_true(isnan(value_at(f, "disk", 0, "vDiskReadBytes")));
}

static void a_reused_pid_is_another_process(void **state) {
    struct fixture *f = *state;
    for (int n = 0; n < 2; n++) {
        pt_sample_clear(&f->sample);
        f->sample.mono_ns = START + n * SECOND;
        add_process(f, f->sample.mono_ns, 7, 1, "a", n, 0);
        add_process(f, f->sample.mono_ns, 9, 1, "b", n, 0);
        set(&f->sample.batches[pt_schema_find(&f->schema, "process")], "pStartTime", 90 + n);
        pt_rates_add(&f->model.rates, &f->sample);
    }
    assert_true(value_at(f, "process", 0, "pCpuTimeNs") == 1);
    assert_true(isnan(value_at(f, "process", 1, "pCpuTimeNs")));
}

static void what_sends_nothing_is_gone_after_a_while(void **state) {
    struct fixture *f = *state;
    int gpu = pt_schema_find(&f->schema, "gpu");
    feed(f, 0, true);
    feed(f, 1, false);
    feed(f, 2, false);
    feed(f, 3, false);
    assert_int_equal(pt_rates_rows(&f->model.rates, gpu)->row_count, 1);
    feed(f, 4, false);
    assert_int_equal(pt_rates_rows(&f->model.rates, gpu)->row_count, 0);
}

static void values_are_short(void **state) {
    (void)state;
    static const struct {
        enum pt_kind kind;
        enum pt_unit unit;
        double value;
        const char *text;
        enum pt_form form;
    } cases[] = {
        { PT_GAUGE, PT_BYTES, 1288490188.8, "1.2G" },
        { PT_COUNTER, PT_BYTES, 32505856, "31M/s" },
        { PT_COUNTER, PT_NANOSECONDS, 1.788, "1.79", PT_FORM_CORES },
        { PT_COUNTER, PT_CENTISECONDS, 0.5, "50.0%", PT_FORM_SHARE },
        { PT_GAUGE, PT_RATIO, 0.531, "53.1%" },
        { PT_GAUGE, PT_SECONDS, 0.0452, "45.2ms" },
        { PT_GAUGE, PT_SECONDS, 1.754, "1.75s" },
        { PT_GAUGE, PT_CELSIUS, 61, "61C" },
        { PT_GAUGE, PT_WATTS, 512.34, "512.3W" },
        { PT_COUNTER, PT_MICROJOULES, 35.25, "35.3W" },
        { PT_GAUGE, PT_MEGAHERTZ, 3.2e9, "3200MHz" },
        { PT_GAUGE, PT_COUNT, 12, "12" },
        { PT_COUNTER, PT_COUNT, 20.1, "20.1/s" },
        { PT_COUNTER, PT_COUNT, 5, "5.0/s" },
        { PT_COUNTER, PT_COUNT, 1234567, "1234.6k/s" },
        { PT_KEY, PT_MILLISECONDS, 1794804238527, "1794804238527" },
        { PT_GAUGE, PT_BYTES, NAN, "-" },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_column column = {
            .kind = cases[i].kind, .type = PT_F64, .unit = cases[i].unit, .form = cases[i].form
        };
        char text[64], named[64];
        pt_column_print(&column, cases[i].value, text, sizeof text);
        assert_string_equal(text, cases[i].text);
        pt_column_print_with_unit(&column, cases[i].value, named, sizeof named);
        if (cases[i].form != PT_FORM_CORES)
            assert_string_equal(named, text);
        else
            assert_string_equal(named, "1.79 cores");
    }
}

static void a_curve_has_its_newest_value_at_the_right(void **state) {
    struct fixture *f = *state;
    struct pt_trail trail = { 0 };
    struct pt_out out;
    const double values[] = { 9, 0, 50, NAN, 100 };
    assert_false(pt_trail_is_known(&trail));
    for (size_t i = 0; i < PT_COUNT(values); i++)
        pt_trail_add(&trail, values[i]);
    assert_true(pt_trail_is_known(&trail));
    pt_canvas_clear(&f->canvas, 2, 8);
    pt_trail_draw(&trail, &f->canvas, 0, 0, 4, 100);
    f->canvas.is_utf8 = true;
    pt_trail_draw(&trail, &f->canvas, 1, 0, 6, 0);
    pt_out_memory(&out, &f->text);
    pt_canvas_print(&f->canvas, 2, &out);
    assert_int_equal(pt_out_close(&out), 0);
    assert_str_eq(pt_buf_as_str(&f->text), "_- #\n ▁▁▄ █\n");
    for (int i = 0; i < PT_TRAIL_POINTS; i++)
        pt_trail_add(&trail, NAN);
    assert_false(pt_trail_is_known(&trail));
}

/* Lists. */

static const char *commands(struct fixture *f) {
    static char text[256];
    const struct pt_panel *p = pt_top_view_panel(&f->view);
    text[0] = 0;
    pt_top_view_list(&f->view, &f->model);
    for (size_t i = 0; i < f->view.list.count; i++) {
        const struct pt_list_item *item = &f->view.list.items[i];
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d:%.0f", i ? " " : "",
                 item->depth, pt_rates_at(&f->model.rates, p->table, item->row, p->id));
    }
    return text;
}

static void processes_are_sorted_the_busiest_first(void **state) {
    struct fixture *f = *state;
    feed(f, 0, false);
    feed(f, 1, false);
    assert_string_equal(commands(f), "0:41 0:40 0:30 0:1");
    press(f, "r");
    assert_string_equal(commands(f), "0:1 0:30 0:40 0:41");
    press(f, "M");
    assert_string_equal(commands(f), "0:40 0:41 0:30 0:1");
    press(f, "N");
    assert_string_equal(commands(f), "0:1 0:30 0:40 0:41");
    assert_true(pt_top_view_sort_by(&f->view, &f->schema, "command"));
    assert_string_equal(commands(f), "0:1 0:40 0:41 0:30");
    assert_false(pt_top_view_sort_by(&f->view, &f->schema, "no such column"));
}

static void what_is_unknown_comes_last(void **state) {
    struct fixture *f = *state;
    feed(f, 0, false);
    fill(f, 1, false);
    add_process(f, START + SECOND, 99, 1, "new", 0.1, 0);
    pt_top_model_add(&f->model, &f->sample);
    assert_string_equal(commands(f), "0:41 0:40 0:30 0:1 0:99");
    press(f, "r");
    assert_string_equal(commands(f), "0:1 0:30 0:40 0:41 0:99");
}

static void the_sort_key_walks_over_the_columns_that_are_shown(void **state) {
    struct fixture *f = *state;
    feed(f, 0, false);
    feed(f, 1, false);
    draw(f, 24, 80);
    press(f, "s");
    assert_string_equal(f->view.orders[0].sort->heading, "RSS");
    press(f, ">>>");
    assert_string_equal(f->view.orders[0].sort->heading, "THR");
    press(f, ">>"); /* VIRT, PSS and others need a wider screen */
    assert_string_equal(f->view.orders[0].sort->heading, "PID");
    press(f, "<<");
    assert_string_equal(f->view.orders[0].sort->heading, "THR");
}

static void without_a_cpu_clock_ticks_are_shown(void **state) {
    struct fixture *f = *state;
    for (int n = 0; n < 2; n++) {
        pt_sample_clear(&f->sample);
        f->sample.mono_ns = START + n * SECOND;
        struct pt_batch *b = add_row(f, "process", f->sample.mono_ns);
        set(b, "pId", 7);
        set(b, "pStartTime", 70);
        set(b, "pCpuTimeUserMode", 30 * n);
        set(b, "pCpuTimeKernelMode", 5 * n);
        set_text(b, "pName", "server");
        pt_rates_add(&f->model.rates, &f->sample);
    }
    assert_non_null(
        strstr(draw(f, 24, 80), "      7       -     0.35     -       -       -      - server"));
}

static void a_filter_finds_text_and_ids_whatever_their_case(void **state) {
    struct fixture *f = *state;
    feed(f, 0, false);
    feed(f, 1, false);
    press(f, "/PYTHON");
    assert_string_equal(commands(f), "0:41 0:40");
    type(f, PT_KEY_BACKSPACE);
    press(f, "n w");
    assert_string_equal(commands(f), "0:41");
    type(f, PT_KEY_ENTER);
    assert_false(f->view.is_typing);
    type(f, PT_KEY_ESCAPE);
    assert_string_equal(commands(f), "0:41 0:40 0:30 0:1");
    press(f, "/30");
    assert_string_equal(commands(f), "0:30");
    press(f, "xq"); /* letters while typing are not commands */
    assert_string_equal(commands(f), "");
    assert_non_null(strstr(draw(f, 24, 80), "nothing matches the filter"));
}

static void a_tree_shows_children_below_their_parents(void **state) {
    struct fixture *f = *state;
    feed(f, 0, false);
    feed(f, 1, false);
    press(f, "t");
    assert_string_equal(commands(f), "0:1 1:40 2:41 1:30");
    f->canvas.is_utf8 = true;
    draw(f, 24, 80);
    assert_non_null(strstr(line_of(f, 6), " init"));
    assert_non_null(strstr(line_of(f, 7), " ├─python serve.py"));
    assert_non_null(strstr(line_of(f, 8), " │ └─python worker"));
    assert_non_null(strstr(line_of(f, 9), " └─sshd"));
    f->canvas.is_utf8 = false;
    draw(f, 24, 80);
    assert_non_null(strstr(line_of(f, 8), " | `-python worker"));
}

static void a_filtered_tree_keeps_the_ancestors(void **state) {
    struct fixture *f = *state;
    feed(f, 0, false);
    feed(f, 1, false);
    press(f, "t/worker");
    assert_string_equal(commands(f), "0:1 1:40 2:41");
}

static void only_the_recorded_tree_if_asked(void **state) {
    struct fixture *f = *state;
    feed(f, 0, false);
    feed(f, 1, false);
    press(f, "o");
    assert_string_equal(commands(f), "0:41 0:40");
    press(f, "t");
    assert_string_equal(commands(f), "0:40 1:41");
}

static void parents_in_a_circle_are_still_listed(void **state) {
    struct fixture *f = *state;
    pt_sample_clear(&f->sample);
    f->sample.mono_ns = START;
    add_process(f, START, 5, 6, "a", 0, 3);
    add_process(f, START, 6, 5, "b", 0, 2);
    add_process(f, START, 7, 7, "c", 0, 1);
    pt_rates_add(&f->model.rates, &f->sample);
    press(f, "Mt");
    assert_string_equal(commands(f), "0:7 0:5 0:6");
}

/* The screen. */

static void the_screen_fits_80_by_24(void **state) {
    struct fixture *f = *state;
    for (int n = 0; n < 5; n++)
        feed(f, n, false);
    assert_string_equal(
        draw(f, 14, 80),
        "pitot top  host  22:13:24  load 1.50 1.00 0.50  no GPU  no engine\n"
        "CPUs  [|||25.0% of the machine]    ....  Mem   [||||||      1.0G / 4.0G]   .....\n"
        "Disk  r 1.0M/s   w 0B/s            ####  Net   in 2.0K/s   out 0B/s         ####\n"
        "  0[                                0%]   1[|||||||||||||||||              50%]\n"
        "[processes] cpus  cpu  mem  disk  net\n"
        "    PID     UID S  CORES   RSS    READ   WRITE    THR COMMAND\n"
        "     41       - S   1.25  300M  1.3K/s       -      2 python worker\n"
        "     40       - S   0.50  900M  512B/s       -      2 python serve.py\n"
        "     30       - S   0.01   20M   10B/s       -      2 sshd\n"
        "      1       - S   0.00  8.0M    1B/s       -      2 init\n"
        "\n\n\n"
        "? help  q quit  Tab panel  / filter  <> sort  t tree  Enter details  space pause\n");
}

static void the_smallest_screens_hold(void **state) {
    struct fixture *f = *state;
    for (int n = 0; n < 3; n++)
        feed(f, n, true);
    for (int rows = 1; rows < 12; rows++)
        for (int columns = 1; columns < 40; columns++)
            for (const char *key = "?ta1"; *key; key++) {
                press(f, (const char[]){ *key, 0 });
                draw(f, rows, columns);
            }
}

static void gpus_and_their_processes_show(void **state) {
    struct fixture *f = *state;
    feed(f, 0, true);
    feed(f, 1, true);
    const char *text = draw(f, 24, 80);
    assert_non_null(strstr(text, "GPU0  [||||||||85.0%] 20/80G 512W 61C"));
    assert_null(strstr(text, "no GPU"));
    assert_non_null(strstr(text, "[processes] gpu processes  gpus  cpus"));
    assert_non_null(strstr(text, "GPU MEM GPU BUSY COMMAND"));
    assert_non_null(strstr(text, "    2.0G    60.0% python worker"));
    assert_non_null(strstr(text, "       -        - python serve.py"));
    assert_true(pt_top_view_choose_panel(&f->view, &f->schema, "gpu processes"));
    assert_non_null(strstr(draw(f, 24, 80), "      0      41"));
}

static void engines_of_one_model_are_told_apart(void **state) {
    struct fixture *f = *state;
    for (int n = 0; n < 2; n++) {
        fill(f, n, false);
        for (int engine = 0; engine < 2; engine++) {
            struct pt_batch *b = add_row(f, "engines", START + n * SECOND);
            set_text(b, "eUrl", engine ? "http://b" : "http://a");
            set_text(b, "eModel", "llama");
            set(b, "cache_kv_usage_percent", 0.5 + engine / 4.0);
            set(b, "tokens_generation_total", (engine + 1) * 100 * n);
        }
        pt_top_model_add(&f->model, &f->sample);
    }
    assert_true(pt_top_view_choose_panel(&f->view, &f->schema, "engines"));
    const char *text = draw(f, 24, 90);
    assert_non_null(strstr(
        text, "RUNNING WAITING     KV     REQ/S     TOK/S TTFT p50 ITL p50 MODEL\n"
              "      -       -  75.0%         -   200.0/s        -       - llama  http://b\n"
              "      -       -  50.0%         -   100.0/s        -       - llama  http://a\n"));
}

/* A table that top has never heard of. */
#define ROBOT_COLUMNS(X, t)                                                                   \
    X(t, name, "rName", INFO, STRING, NONE, 0, "", .heading = "NAME", .role = PT_ROLE_NAME)   \
    X(t, number, "rNumber", KEY, I64, NONE, 0, "", .heading = "ROBOT")                        \
    X(t, maker, "rMaker", INFO, STRING, NONE, 0, "", .heading = "MAKER")                      \
    X(t, charge, "rCharge", GAUGE, F64, JOULES, 0, "", .heading = "CHARGE", .limit = "rFull") \
    X(t, heat, "rHeat", GAUGE, F64, CELSIUS, 0, "")                                           \
    X(t, full, "rFull", GAUGE, F64, JOULES, 0, "", .heading = "FULL")                         \
    X(t, busy, "rBusy", COUNTER, I64, NANOSECONDS, 0, "", .heading = "BUSY",                  \
      .form = PT_FORM_SHARE, .importance = PT_HEADLINE)                                       \
    X(t, mode, "rMode", INFO, STRING, NONE, 0, "", .heading = "M")
PT_TABLE(robot, PT_TABLE_FILE("shop_robots", NULL), "Robots", ROBOT_COLUMNS, "robot");

static const char *headings(const struct pt_panel *p, int screen_columns) {
    static char text[256];
    text[0] = 0;
    for (int i = 0; i < p->chosen.count; i++)
        if (p->chosen.list[i].min_screen_columns <= screen_columns)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s ",
                     p->chosen.list[i].heading);
    return text;
}

static void a_list_follows_from_what_the_columns_mean(void **state) {
    (void)state;
    static const struct pt_table *const tables[] = { &robot_table };
    const struct pt_schema schema = { tables, 1 };
    struct pt_panels panels;
    pt_panels_init(&panels, &schema);
    assert_int_equal(panels.count, 1);
    const struct pt_panel *p = &panels.list[0];
    assert_string_equal(p->title, "shop robots");
    assert_int_equal(p->id, robot_number);
    assert_string_equal(headings(p, 200), "ROBOT M BUSY CHARGE FULL MAKER NAME ");
    assert_string_equal(headings(p, 50), "ROBOT M BUSY CHARGE NAME ");
    assert_string_equal(headings(p, 20), "ROBOT M BUSY NAME ");
    assert_int_equal(p->chosen.list[p->sort].column, robot_busy);
    assert_int_equal(pt_panel_find_order(p, &schema, PT_PANEL_BY_USE), p->sort);
    assert_int_equal(pt_panel_find_order(p, &schema, PT_PANEL_BY_ID), 0);
    assert_int_equal(pt_panel_find_order(p, &schema, PT_PANEL_BY_MEMORY), -1);
    pt_panels_release(&panels);
}

static void many_cores_become_marks(void **state) {
    struct fixture *f = *state;
    for (int n = 0; n < 2; n++) {
        fill(f, n, false);
        for (int core = 2; core < 128; core++) {
            struct pt_batch *b = add_row(f, "core", START + n * SECOND);
            set(b, "cpuNumber", core);
            set(b, "cpuTimeUserMode", n * core);
            set(b, "cpuIdleTime", n * (127 - core));
        }
        pt_top_model_add(&f->model, &f->sample);
    }
    draw(f, 24, 80);
    assert_non_null(strstr(line_of(f, 3), "Cores _-__"));
    assert_int_equal(line_of(f, 3)[79], '#');
    press(f, "1");
    draw(f, 24, 80);
    assert_null(strstr(line_of(f, 3), "Cores"));
}

static void every_table_has_a_panel_and_empty_ones_are_passed_over(void **state) {
    struct fixture *f = *state;
    feed(f, 0, false);
    feed(f, 1, false);
    assert_int_equal(f->view.panels.count, f->schema.table_count - 2);
    for (uint32_t t = 0; t < f->schema.table_count; t++) {
        bool has_buckets = strcmp(f->tables[t]->name, "engine_histogram") == 0 ||
                           strcmp(f->tables[t]->name, "app_histogram") == 0;
        assert_int_equal(pt_panels_find(&f->view.panels, &f->schema, f->tables[t]->name) >= 0,
                         !has_buckets);
    }
    static const char *const expected[] = { "cpus", "cpu", "mem", "disk", "net", "processes" };
    for (size_t i = 0; i < PT_COUNT(expected); i++) {
        type(f, PT_KEY_TAB);
        assert_string_equal(pt_top_view_panel(&f->view)->title, expected[i]);
    }
    type(f, PT_KEY_BACK_TAB);
    assert_string_equal(pt_top_view_panel(&f->view)->title, "net");
}

static void details_show_every_column_of_a_row(void **state) {
    struct fixture *f = *state;
    feed(f, 0, false);
    feed(f, 1, false);
    draw(f, 60, 80);
    type(f, PT_KEY_DOWN);
    type(f, PT_KEY_ENTER);
    feed(f, 2, false);
    const char *text = draw(f, 64, 130);
    const struct pt_table *table = f->tables[pt_schema_find(&f->schema, "process")];
    assert_non_null(strstr(text, "process 40/400"));
    for (int c = 0; c < table->column_count; c++)
        if (!strstr(text, table->columns[c].title))
            fail_msg("%s is not in %s", table->columns[c].title, text);
    assert_non_null(strstr(text, "CPU used, cores                      0.50 cores"));
    assert_non_null(strstr(text, "Command line                       python serve.py"));
    assert_non_null(strstr(text, "##  pCpuTimeNs: CPU time of all its threads"));
    press(f, "/hwm");                        /* a search word of the peak */
    assert_string_equal(f->view.filter, ""); /* that of the list is another */
    text = draw(f, 60, 130);
    assert_non_null(strstr(text, "pPeakResidentSetSize"));
    assert_null(strstr(text, "pCmdline"));
    type(f, PT_KEY_ESCAPE);
    pt_sample_clear(&f->sample);
    f->sample.mono_ns = START + 3 * SECOND;
    add_process(f, f->sample.mono_ns, 1, 0, "init", 0, 0);
    pt_top_model_add(&f->model, &f->sample);
    assert_non_null(strstr(draw(f, 24, 80), "process 40/400 is gone"));
    type(f, PT_KEY_ESCAPE);
    assert_non_null(strstr(draw(f, 24, 80), "COMMAND"));
}

static void all_columns_can_be_looked_at(void **state) {
    struct fixture *f = *state;
    feed(f, 0, false);
    feed(f, 1, false);
    press(f, "a");
    draw(f, 24, 80);
    assert_non_null(strstr(line_of(f, 5), "id start_time name             command_line"));
    press(f, "]]");
    draw(f, 24, 80);
    assert_int_equal(strncmp(line_of(f, 5), "name ", 5), 0);
    type(f, PT_KEY_LEFT);
    draw(f, 24, 80);
    assert_int_equal(strncmp(line_of(f, 5), "start_time ", 10), 0);
}

static void the_selected_line_stays_on_the_screen(void **state) {
    struct fixture *f = *state;
    feed(f, 0, false);
    fill(f, 1, false);
    for (int pid = 100; pid < 200; pid++)
        add_process(f, START + SECOND, pid, 1, "many", 0, pid);
    pt_top_model_add(&f->model, &f->sample);
    press(f, "N");
    draw(f, 24, 80);
    type(f, PT_KEY_END);
    assert_non_null(strstr(draw(f, 24, 80), "    199       - S"));
    type(f, PT_KEY_PAGE_UP);
    assert_non_null(strstr(draw(f, 24, 80), "    182       - S"));
    type(f, PT_KEY_HOME);
    assert_non_null(strstr(draw(f, 24, 80), "      1       - S"));
    press(f, "kkk");
    assert_int_equal(f->view.selected, 0);
}

static void the_help_page_lists_every_key(void **state) {
    struct fixture *f = *state;
    struct pt_top_view_source replay = { .name = "run", .is_replay = true, .speed = 1 };
    press(f, "?");
    const char *text = draw(f, 24, 80);
    for (size_t i = 0; i < pt_binding_count; i++)
        if (pt_bindings[i].shown)
            assert_int_equal(strstr(text, pt_bindings[i].help) != NULL,
                             pt_bindings[i].where != PT_REPLAY_ONLY);
    int used = pt_top_view_draw(&f->view, &f->model, &replay, &f->canvas);
    struct pt_out out;
    pt_buf_clear(&f->text);
    pt_out_memory(&out, &f->text);
    pt_canvas_print(&f->canvas, used, &out);
    assert_int_equal(pt_out_close(&out), 0);
    pt_buf_u8(&f->text, 0);
    assert_non_null(strstr((const char *)f->text.at, "faster, slower"));
    press(f, "?");
    assert_false(f->view.with_help);
}

static void keys_ask_for_what_only_the_source_can_do(void **state) {
    struct fixture *f = *state;
    static const struct {
        int key;
        enum pt_top_view_request live, replay;
    } cases[] = {
        { 'q', PT_REQUEST_QUIT, PT_REQUEST_QUIT },
        { PT_KEY_F1 + 9, PT_REQUEST_QUIT, PT_REQUEST_QUIT },
        { ' ', PT_REQUEST_PAUSE, PT_REQUEST_PAUSE },
        { PT_KEY_LEFT, PT_REQUEST_NONE, PT_REQUEST_BACK },
        { PT_KEY_RIGHT, PT_REQUEST_NONE, PT_REQUEST_FORWARD },
        { ')', PT_REQUEST_NONE, PT_REQUEST_FAR_FORWARD },
        { 'b', PT_REQUEST_NONE, PT_REQUEST_START },
        { 'e', PT_REQUEST_NONE, PT_REQUEST_END },
        { '.', PT_REQUEST_NONE, PT_REQUEST_STEP },
        { ',', PT_REQUEST_NONE, PT_REQUEST_STEP_BACK },
        { '+', PT_REQUEST_NONE, PT_REQUEST_FASTER },
        { '-', PT_REQUEST_NONE, PT_REQUEST_SLOWER },
        { PT_KEY_NONE, PT_REQUEST_NONE, PT_REQUEST_NONE },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        assert_int_equal(pt_top_view_press(&f->view, &f->model, false, cases[i].key),
                         cases[i].live);
        assert_int_equal(pt_top_view_press(&f->view, &f->model, true, cases[i].key),
                         cases[i].replay);
    }
}

static void text_for_no_terminal_has_all_rows_and_no_keys(void **state) {
    struct fixture *f = *state;
    feed(f, 0, false);
    fill(f, 1, false);
    for (int pid = 100; pid < 200; pid++)
        add_process(f, START + SECOND, pid, 1, "many", 0, pid);
    pt_top_model_add(&f->model, &f->sample);
    f->view.is_plain = true;
    const char *text = draw(f, pt_top_view_rows(&f->view, &f->model), 80);
    assert_non_null(strstr(text, "    199       - S"));
    assert_null(strstr(text, "help"));
    assert_null(strstr(text, "[processes]"));
}

static void what_happened_is_told_for_a_while(void **state) {
    struct fixture *f = *state;
    feed(f, 0, false);
    pt_sample_clear(&f->sample);
    f->sample.mono_ns = START + SECOND / 2;
    set_text(add_row(f, "mark", f->sample.mono_ns), "mText", "warm-up over");
    pt_top_model_add(&f->model, &f->sample);
    feed(f, 1, false);
    assert_non_null(strstr(draw(f, 24, 80), "warm-up over"));
    assert_true(value_at(f, "disk", 0, "vDiskReadBytes") == (double)MEBIBYTE);
    for (int n = 2; n < 20; n++)
        feed(f, n, false);
    assert_null(strstr(draw(f, 24, 80), "warm-up over"));
}

static void meters_show_the_figures_of_the_last_interval(void **state) {
    struct fixture *f = *state;
    struct pt_figure_totals totals = { 0 };
    int known = 0;
    for (int n = 0; n < 3; n++)
        feed(f, n, true);
    pt_figure_totals_add(&totals, &f->model.figures);
    for (int id = 0; id < PT_FIGURE_COUNT; id++) {
        double value = f->model.figures.now[id].value;
        if (isnan(value) || totals.sums[id].weight == 0)
            continue;
        known++;
        if (fabs(value - pt_figure_totals_value(&totals, (enum pt_figure_id)id)) > 1e-9)
            fail_msg("%s: %g on the screen", pt_figures[id].name, value);
    }
    assert_true(known > 10);
    pt_figure_totals_release(&totals);
}

static void figures_of_engines_hold_between_scrapes(void **state) {
    struct fixture *f = *state;
    for (int n = 0; n < 6; n++) {
        fill(f, n, false);
        int scraped = n < 2 ? n : 1; /* no scrape after the second */
        struct pt_batch *b = add_row(f, "engine", START + scraped * SECOND);
        set(b, "tokens_generation_total", scraped * 500);
        set(b, "system_requests_running", 3);
        set(b, "cache_kv_usage_percent", 0.25);
        pt_top_model_add(&f->model, &f->sample);
        const char *text = draw(f, 24, 80);
        if (n >= 1 && n <= 4)
            assert_non_null(strstr(text, "Token 500.0/s"));
        assert_non_null(strstr(text, n <= 4 ? "Req   run 3        wait -" : "Req   run - "));
        assert_non_null(strstr(text, "25.0%"));
    }
    assert_null(strstr(draw(f, 24, 80), "500.0/s"));
}

/* Replay. */

#define RUN_SAMPLES 600

static void write_run(struct fixture *f, const char *path, struct pt_journal *journal, int from,
                      int to) {
    const uint8_t uuid[16] = { 1, 2, 3 };
    struct pt_err err;
    if (from == 0)
        assert_int_equal(pt_journal_create(journal, path, uuid, &f->schema, &err), 0);
    for (int n = from; n < to; n++) {
        fill(f, n, n % 100 < 50);
        assert_int_equal(pt_journal_write(journal, &f->sample), 0);
        if (n % 10 == 0)
            assert_int_equal(pt_journal_note(journal, PT_STR("tag"), PT_STR("x")), 0);
    }
}

static int64_t bytes_read(const struct pt_sample *s) {
    int table = pt_schema_find(s->schema, "disk");
    return pt_get_i64(&s->batches[table], 0,
                      pt_table_find(s->schema->tables[table], "vDiskReadBytes"));
}

static void check_seek(struct pt_replay *r, int n) {
    const struct pt_sample *s;
    int64_t last = -1, mono_ns;
    int count = 0;
    pt_replay_seek(r, START + n * SECOND);
    while ((s = pt_replay_until(r, START + n * SECOND))) {
        last = bytes_read(s);
        count++;
    }
    assert_int_equal(last, n * MEBIBYTE);
    assert_true(n < 256 ? count == n + 1 : count > 256); /* curves have their points */
    assert_int_equal(pt_replay_peek(r, &mono_ns), n + 1 < RUN_SAMPLES);
    if (n + 1 < RUN_SAMPLES)
        assert_int_equal(mono_ns, START + (n + 1) * SECOND);
}

static void a_run_is_seen_from_any_moment_on(void **state) {
    struct fixture *f = *state;
    char path[64];
    struct pt_journal journal = { 0 };
    struct pt_replay r;
    struct pt_err err;
    snprintf(path, sizeof path, "/tmp/pitot-top-%d.pitot", (int)getpid());
    write_run(f, path, &journal, 0, RUN_SAMPLES);
    assert_int_equal(pt_journal_close(&journal), 0);
    assert_int_equal(pt_replay_open(&r, path, &err), 0);
    assert_int_equal(r.first_ns, START);
    assert_int_equal(r.last_ns, START + (RUN_SAMPLES - 1) * SECOND);
    assert_true(r.reader.is_complete);
    size_t notes = r.reader.note_count;
    static const int moments[] = { 0, 599, 10, 256, 255, 257, 512, 300, 599, 1 };
    for (size_t i = 0; i < PT_COUNT(moments); i++)
        check_seek(&r, moments[i]);
    assert_int_equal(r.reader.note_count, notes);
    pt_replay_close(&r);
    unlink(path);
}

static void a_run_that_is_still_recorded_grows(void **state) {
    struct fixture *f = *state;
    char path[64];
    struct pt_journal journal = { 0 };
    struct pt_replay r;
    struct pt_err err;
    int64_t mono_ns;
    snprintf(path, sizeof path, "/tmp/pitot-top-grow-%d.pitot", (int)getpid());
    write_run(f, path, &journal, 0, 0);
    assert_int_equal(pt_replay_open(&r, path, &err), -ENODATA);
    assert_non_null(strstr(err.text, "has no samples yet"));
    write_run(f, path, &journal, 1, 3);
    assert_int_equal(pt_replay_open(&r, path, &err), 0);
    pt_replay_seek(&r, INT64_MAX);
    while (pt_replay_until(&r, INT64_MAX))
        ;
    assert_false(pt_replay_peek(&r, &mono_ns));
    write_run(f, path, &journal, 3, 4);
    assert_true(pt_replay_peek(&r, &mono_ns));
    assert_int_equal(mono_ns, START + 3 * SECOND);
    assert_int_equal(r.last_ns, START + 3 * SECOND);
    pt_replay_close(&r);
    assert_int_equal(pt_journal_close(&journal), 0);
    unlink(path);
}

/* A ring of which the oldest segments are taken away while it is looked at. */
static void a_ring_is_seen_as_far_as_it_is_left(void **state) {
    struct fixture *f = *state;
    const uint8_t uuid[16] = { 1, 2, 3 };
    char path[64], segment[PATH_MAX];
    struct pt_ring ring = { 0 };
    struct pt_replay r;
    struct pt_err err;
    int64_t mono_ns;
    snprintf(path, sizeof path, "/tmp/pitot-top-%d.ring", (int)getpid());
    assert_int_equal(pt_ring_create(&ring, path, 1 << 20, uuid, &f->schema, &err), 0);
    for (int n = 0; ring.number < 4; n++) {
        fill(f, n, false);
        assert_int_equal(pt_ring_write(&ring, &f->sample), 0);
    }
    assert_int_equal(pt_replay_open(&r, path, &err), 0);
    assert_int_equal(r.first_ns, START);
    assert_true(r.key_count >= 4);
    pt_replay_seek(&r, r.last_ns);
    pt_replay_seek(&r, START);
    assert_true(pt_replay_peek(&r, &mono_ns));
    assert_int_equal(mono_ns, START);
    pt_ring_segment_path(path, 1, segment);
    assert_int_equal(unlink(segment), 0);
    pt_replay_seek(&r, r.last_ns);
    pt_replay_seek(&r, START);
    assert_true(pt_replay_peek(&r, &mono_ns));
    assert_true(mono_ns > START && mono_ns < r.last_ns);
    pt_replay_close(&r);
    assert_int_equal(pt_ring_close(&ring), 0);
    pt_ring_remove(path);
}

#define TEST(function, sentence) \
    { sentence, function, open_fixture, close_fixture, NULL }

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(text_of_others_cannot_command_the_terminal,
             "text of others cannot command the terminal"),
        TEST(text_is_cut_by_columns, "text is cut by the columns it takes"),
        TEST(without_utf8_all_is_ascii, "without UTF-8 all is ASCII"),
        TEST(counters_are_rates_and_gauges_are_as_they_are,
             "counters are shown as rates, gauges in base units"),
        TEST(rates_go_by_the_times_of_the_reads, "rates go by the times of the reads"),
        TEST(a_reused_pid_is_another_process, "a pid that is used again is another process"),
        TEST(what_sends_nothing_is_gone_after_a_while,
             "a table that sends nothing is gone after a while"),
        TEST(values_are_short, "values are short and have their unit"),
        TEST(a_curve_has_its_newest_value_at_the_right,
             "a curve has its newest value at the right"),
        TEST(processes_are_sorted_the_busiest_first, "processes are sorted, the busiest first"),
        TEST(what_is_unknown_comes_last, "what is unknown comes last, whatever the order"),
        TEST(the_sort_key_walks_over_the_columns_that_are_shown,
             "the sort key walks over the columns that are shown"),
        TEST(without_a_cpu_clock_ticks_are_shown,
             "where no CPU clock can be read, CPU time in ticks is shown"),
        TEST(a_filter_finds_text_and_ids_whatever_their_case,
             "a filter finds text and ids, whatever their case"),
        TEST(a_tree_shows_children_below_their_parents,
             "a tree shows children below their parents"),
        TEST(a_filtered_tree_keeps_the_ancestors, "a filtered tree keeps the ancestors"),
        TEST(only_the_recorded_tree_if_asked, "only the recorded tree is shown, if asked"),
        TEST(parents_in_a_circle_are_still_listed, "parents in a circle are still listed"),
        TEST(the_screen_fits_80_by_24, "C240: the screen of a machine, 80 columns wide"),
        TEST(the_smallest_screens_hold, "the smallest screens hold"),
        TEST(gpus_and_their_processes_show,
             "C233: GPUs show with use, memory, power and heat, processes with their part"),
        TEST(engines_of_one_model_are_told_apart, "C240: engines of one model are told apart"),
        TEST(a_list_follows_from_what_the_columns_mean,
             "C314: the list of a new table follows from what its columns mean"),
        TEST(many_cores_become_marks, "many cores become a mark each"),
        TEST(every_table_has_a_panel_and_empty_ones_are_passed_over,
             "every table but those of histograms has a panel, and empty ones are skipped"),
        TEST(details_show_every_column_of_a_row, "details show every column of a row"),
        TEST(all_columns_can_be_looked_at, "all columns of a table can be looked at"),
        TEST(the_selected_line_stays_on_the_screen, "the selected line stays on the screen"),
        TEST(the_help_page_lists_every_key, "the help page lists every key"),
        TEST(keys_ask_for_what_only_the_source_can_do,
             "keys ask for what only the source of samples can do"),
        TEST(text_for_no_terminal_has_all_rows_and_no_keys,
             "text for no terminal has all rows and no keys"),
        TEST(what_happened_is_told_for_a_while, "events are shown for a while"),
        TEST(meters_show_the_figures_of_the_last_interval,
             "C315: meters show what any other page says of the last interval"),
        TEST(figures_of_engines_hold_between_scrapes, "figures of engines hold between scrapes"),
        TEST(a_run_is_seen_from_any_moment_on, "a run is seen from any moment on"),
        TEST(a_ring_is_seen_as_far_as_it_is_left, "a ring is seen as far as it is left"),
        TEST(a_run_that_is_still_recorded_grows, "a run that is still recorded grows"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
