/* Golden text of every format that is text, and what happens when a file cannot be written. */
#include "test.h"

#include "format/rows/sink.h"

#include <dirent.h>
#include <errno.h>
#include <float.h>
#include <sys/stat.h>
#include <unistd.h>

#define CPU_COLUMNS(X, t)                                           \
    X(t, time, "vTime", COUNTER, I64, CENTISECONDS, 0, "a counter") \
    X(t, load, "vLoad", GAUGE, F64, RATIO, 1, "of another source")  \
    X(t, model, "vModel", INFO, STRING, NONE, 0, "text without time")
PT_TABLE(cpu, PT_TABLE_MAIN("cpu"), "cpu", CPU_COLUMNS, "stat", "loadavg");

#define MEM_COLUMNS(X, t) X(t, used, "vUsed", GAUGE, I64, BYTES, 0, "a gauge")
PT_TABLE(mem, PT_TABLE_MAIN("mem"), "mem", MEM_COLUMNS, "meminfo");

#define ENGINE_PLACE         PT_TABLE_MAIN("vllm"), .is_untimed = true
#define ENGINE_COLUMNS(X, t) X(t, waiting, "waiting", GAUGE, F64, COUNT, 0, "has no time")
PT_TABLE(engine, ENGINE_PLACE, "engine", ENGINE_COLUMNS, "metrics");

#define TOTAL_COLUMNS(X, t) X(t, count, "pNumProcesses", INFO, I64, COUNT, 0, "how many")
PT_TABLE(total, PT_TABLE_MAIN("processes"), "total", TOTAL_COLUMNS, "proc");

#define PROCESS_COLUMNS(X, t)                                     \
    X(t, pid, "pId", KEY, I64, NONE, 0, "which")                  \
    X(t, command, "pCmdline", INFO, STRING, NONE, 0, "its words") \
    X(t, size, "pSize", GAUGE, I64, BYTES, 0, "how large")
PT_TABLE(process, PT_TABLE_FILE("processes", "processes"), "process", PROCESS_COLUMNS, "stat");

#define CONTAINER_COLUMNS(X, t) X(t, id, "cId", KEY, STRING, NONE, 0, "which")
PT_TABLE(container, PT_TABLE_FILE("containers", "containers"), "container", CONTAINER_COLUMNS, "f");

#define MARK_COLUMNS(X, t) X(t, text, "text", INFO, STRING, NONE, 0, "of the mark")
PT_TABLE(mark, PT_TABLE_FILE("marks", NULL), "mark", MARK_COLUMNS, "f");

enum { CPU, MEM, ENGINE, TOTAL, PROCESS, CONTAINER, MARK, TABLE_COUNT };
static const struct pt_table *const tables[TABLE_COUNT] = {
    &cpu_table,     &mem_table,       &engine_table, &total_table,
    &process_table, &container_table, &mark_table,
};
static const struct pt_schema schema = { tables, TABLE_COUNT };

#define WALL_NS INT64_C(1703462400000999999)
#define MONO_NS INT64_C(81234567890)

struct fixture {
    char directory[64];
    struct pt_views views;
    struct pt_sample sample;
    struct pt_sink sink;
    struct pt_err err;
};

static void set_up(struct fixture *f) {
    *f = (struct fixture){ .directory = "/tmp/pitot-sinks-XXXXXX" };
    assert_non_null(mkdtemp(f->directory));
    pt_views_init(&f->views, &schema);
    pt_sample_init(&f->sample, &schema);
    f->sample.wall_ns = WALL_NS;
    f->sample.mono_ns = MONO_NS;
}

static void tear_down(struct fixture *f) {
    DIR *directory = opendir(f->directory);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));)
        unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    assert_int_equal(rmdir(f->directory), 0);
    pt_sample_release(&f->sample);
    pt_views_release(&f->views);
}

static int file_count(const struct fixture *f) {
    int count = 0;
    DIR *directory = opendir(f->directory);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

static char *path_of(const struct fixture *f, const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", f->directory, name);
    return path;
}

static bool exists(const struct fixture *f, const char *name) {
    return access(path_of(f, name), F_OK) == 0;
}

static void assert_file(const struct fixture *f, const char *name, const char *expected) {
    char text[8192];
    FILE *file = fopen(path_of(f, name), "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    assert_string_equal(text, expected);
}

static int open_sink(struct fixture *f, const char *type, const char *directory) {
    struct pt_sink_target target = { directory, "run", &schema, &f->views };
    assert_non_null(pt_sink_find(pt_str_from(type)));
    return pt_sink_open(&f->sink, pt_sink_find(pt_str_from(type)), &target, &f->err);
}

static void begin(struct fixture *f, const char *type) {
    set_up(f);
    assert_int_equal(open_sink(f, type, f->directory), 0);
}

static void write_sample(struct fixture *f) {
    assert_int_equal(pt_sink_write(&f->sink, &f->sample), 0);
    pt_sample_clear(&f->sample);
}

static void close_sink(struct fixture *f) {
    assert_int_equal(pt_sink_close(&f->sink, &f->err), 0);
}

static struct pt_batch *add_row(struct fixture *f, int table, int64_t after_ns) {
    struct pt_batch *b = &f->sample.batches[table];
    pt_batch_add_row(b);
    for (int source = 0; source < b->table->source_count; source++)
        pt_set_time(b, source, MONO_NS + after_ns * (source + 1));
    return b;
}

static void add_cpu(struct fixture *f, int64_t time, double load) {
    struct pt_batch *b = add_row(f, CPU, 2000000);
    pt_set_i64(b, cpu_time, time);
    pt_set_f64(b, cpu_load, load);
}

static void add_process(struct fixture *f, int64_t pid, struct pt_str command) {
    struct pt_batch *b = add_row(f, PROCESS, 1);
    pt_set_i64(b, process_pid, pid);
    pt_set_str(b, process_command, command);
}

#define MAIN_HEADER \
    "timestamp,monotonic_ns,vTime,vTimeT,vLoad,vLoadT,vModel,vUsed,vUsedT,waiting,pNumProcesses\n"

static void csv_has_a_header_and_a_row_per_sample(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "csv");
    add_cpu(&f, 12345678, 0.1);
    pt_set_str(&f.sample.batches[CPU], cpu_model, PT_STR("Xeon"));
    pt_set_i64(add_row(&f, MEM, -1000000), mem_used, INT64_MIN);
    write_sample(&f);
    add_cpu(&f, INT64_MAX, -0.0);
    pt_set_f64(add_row(&f, ENGINE, 0), engine_waiting, 1e300);
    pt_set_i64(add_row(&f, TOTAL, 0), total_count, 0);
    write_sample(&f);
    close_sink(&f);
    assert_file(&f, "run.csv",
                MAIN_HEADER "1703462400000,81234567890,12345678,1703462400002,0.1,1703462400004,"
                            "Xeon,-9223372036854775808,1703462399999,,\n"
                            "1703462400000,81234567890,9223372036854775807,1703462400002,-0,"
                            "1703462400004,,,,1e+300,0\n");
    tear_down(&f);
}

static void a_column_seen_in_one_sample_is_empty_in_the_others(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "csv");
    pt_set_i64(add_row(&f, MEM, 0), mem_used, 7);
    write_sample(&f);
    pt_set_f64(add_row(&f, CPU, 0), cpu_load, 2.5);
    write_sample(&f);
    close_sink(&f);
    assert_file(&f, "run.csv",
                MAIN_HEADER "1703462400000,81234567890,,,,,,7,1703462400000,,\n"
                            "1703462400000,81234567890,,,2.5,1703462400000,,,,,\n");
    tear_down(&f);
}

/* The same texts in every format. */
static void write_texts(struct fixture *f) {
    add_process(f, 1, PT_STR("plain"));
    add_process(f, 2, PT_STR("a,b"));
    add_process(f, 3, PT_STR("say \"hi\""));
    add_process(f, 4, PT_STR("two\nlines\r\tand \\"));
    add_process(f, 5, PT_STR("caf\xc3\xa9 \xf0\x9f\x94\xa5"));
    add_process(f, 6, PT_STR("\xff,\xc3"));
    add_process(f, 7, PT_STR(""));
    pt_set_i64(add_row(f, PROCESS, 0), process_pid, 8);
    add_process(f, 9, PT_STR("=cmd"));
    write_sample(f);
    close_sink(f);
}

#define TIMES_COMMA "1703462400000,81234567890,"

static void csv_quotes_what_needs_it_and_keeps_null_and_empty_apart(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "csv");
    write_texts(&f);
    assert_file(&f, "run.csv", MAIN_HEADER);
    assert_file(&f, "run.processes.csv",
                "timestamp,monotonic_ns,pId,pCmdline,pSize,pSizeT\n" /**/
                TIMES_COMMA "1,plain,,\n"                            /**/
                TIMES_COMMA "2,\"a,b\",,\n"                          /**/
                TIMES_COMMA "3,\"say \"\"hi\"\"\",,\n"               /**/
                TIMES_COMMA "4,\"two\nlines\r\tand \\\",,\n"         /**/
                TIMES_COMMA "5,caf\xc3\xa9 \xf0\x9f\x94\xa5,,\n"     /**/
                TIMES_COMMA "6,\"\xef\xbf\xbd,\xef\xbf\xbd\",,\n"    /**/
                TIMES_COMMA "7,\"\",,\n"                             /**/
                TIMES_COMMA "8,,,\n"                                 /**/
                TIMES_COMMA "9,=cmd,,\n");
    tear_down(&f);
}

#define TIMES_TAB "1703462400000\t81234567890\t"

static void tsv_escapes_tabs_and_line_ends(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "tsv");
    write_texts(&f);
    assert_file(&f, "run.processes.tsv",
                "timestamp\tmonotonic_ns\tpId\tpCmdline\tpSize\tpSizeT\n" /**/
                TIMES_TAB "1\tplain\t\t\n"                                /**/
                TIMES_TAB "2\ta,b\t\t\n"                                  /**/
                TIMES_TAB "3\tsay \"hi\"\t\t\n"                           /**/
                TIMES_TAB "4\ttwo\\nlines\\r\\tand \\\\\t\t\n"            /**/
                TIMES_TAB "5\tcaf\xc3\xa9 \xf0\x9f\x94\xa5\t\t\n"         /**/
                TIMES_TAB "6\t\xef\xbf\xbd,\xef\xbf\xbd\t\t\n"            /**/
                TIMES_TAB "7\t\t\t\n"                                     /**/
                TIMES_TAB "8\t\t\t\n"                                     /**/
                TIMES_TAB "9\t=cmd\t\t\n");
    tear_down(&f);
}

#define TIMES_JSON "{\"timestamp\":1703462400000,\"monotonic_ns\":81234567890,\"pId\":"
#define NO_SIZE    ",\"pSize\":null,\"pSizeT\":null}\n"

static void jsonl_has_an_object_per_row(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "jsonl");
    write_texts(&f);
    assert_file(&f, "run.jsonl", "");
    assert_file(
        &f, "run.processes.jsonl",
        TIMES_JSON "1,\"pCmdline\":\"plain\"" NO_SIZE                                         /**/
            TIMES_JSON "2,\"pCmdline\":\"a,b\"" NO_SIZE                                       /**/
                TIMES_JSON "3,\"pCmdline\":\"say \\\"hi\\\"\"" NO_SIZE                        /**/
                    TIMES_JSON "4,\"pCmdline\":\"two\\nlines\\r\\tand \\\\\"" NO_SIZE         /**/
                        TIMES_JSON "5,\"pCmdline\":\"caf\xc3\xa9 \xf0\x9f\x94\xa5\"" NO_SIZE  /**/
                            TIMES_JSON "6,\"pCmdline\":\"\xef\xbf\xbd,\xef\xbf\xbd\"" NO_SIZE /**/
                                TIMES_JSON "7,\"pCmdline\":\"\"" NO_SIZE                      /**/
                                    TIMES_JSON "8,\"pCmdline\":null" NO_SIZE                  /**/
                                        TIMES_JSON "9,\"pCmdline\":\"=cmd\"" NO_SIZE);
    tear_down(&f);
}

static void jsonl_numbers_are_exact(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "jsonl");
    add_cpu(&f, INT64_MIN, 0.1);
    write_sample(&f);
    close_sink(&f);
    assert_file(&f, "run.jsonl",
                "{\"timestamp\":1703462400000,\"monotonic_ns\":81234567890,"
                "\"vTime\":-9223372036854775808,\"vTimeT\":1703462400002,"
                "\"vLoad\":0.1,\"vLoadT\":1703462400004,\"vModel\":null,"
                "\"vUsed\":null,\"vUsedT\":null,\"waiting\":null,\"pNumProcesses\":null}\n");
    tear_down(&f);
}

static void only_views_with_rows_have_a_file(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "csv");
    pt_set_str(add_row(&f, CONTAINER, 0), container_id, PT_STR("a"));
    write_sample(&f);
    pt_set_str(add_row(&f, CONTAINER, 0), container_id, PT_STR("b"));
    write_sample(&f);
    close_sink(&f);
    assert_int_equal(file_count(&f), 2);
    assert_file(&f, "run.csv", MAIN_HEADER);
    assert_file(&f, "run.containers.csv",
                "timestamp,monotonic_ns,cId\n" TIMES_COMMA "a\n" TIMES_COMMA "b\n");
    tear_down(&f);
}

static void a_time_before_1970_is_rounded_down(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "csv");
    f.sample.wall_ns = -1;
    pt_set_str(add_row(&f, MARK, 0), mark_text, PT_STR("x"));
    write_sample(&f);
    close_sink(&f);
    assert_file(&f, "run.marks.csv", "timestamp,monotonic_ns,text\n-1,81234567890,x\n");
    tear_down(&f);
}

static void a_snapshot_nests_sections_and_leaves_nulls_out(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "json");
    add_cpu(&f, 12345678, 0.1);
    pt_set_str(&f.sample.batches[CPU], cpu_model, PT_STR("Xeon \"E\""));
    pt_set_f64(add_row(&f, ENGINE, 0), engine_waiting, 3);
    pt_set_i64(add_row(&f, TOTAL, 0), total_count, 2);
    add_process(&f, 1, PT_STR("init"));
    pt_set_i64(&f.sample.batches[PROCESS], process_size, 4096);
    pt_set_i64(add_row(&f, PROCESS, 0), process_pid, 2);
    pt_set_str(add_row(&f, MARK, 0), mark_text, PT_STR("not here"));
    write_sample(&f);
    close_sink(&f);
    assert_file(&f, "run-1703462400000.json",
                "{\"timestamp\":1703462400000,"
                "\"cpu\":{\"vTime\":{\"value\":12345678,\"time\":1703462400002},"
                "\"vLoad\":{\"value\":0.1,\"time\":1703462400004},\"vModel\":\"Xeon \\\"E\\\"\"},"
                "\"mem\":{},\"vllm\":{\"waiting\":3},"
                "\"processes\":{\"pNumProcesses\":2,\"processes\":[{\"pId\":1,"
                "\"pCmdline\":\"init\",\"pSize\":{\"value\":4096,\"time\":1703462400001}},"
                "{\"pId\":2}]},\"containers\":[]}\n");
    assert_int_equal(file_count(&f), 1);
    tear_down(&f);
}

static void two_samples_of_one_millisecond_are_two_snapshots(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "json");
    static const int64_t steps_ms[] = { 5, 5, 6, 5, 0, 1 };
    for (size_t i = 0; i < PT_COUNT(steps_ms); i++) {
        f.sample.wall_ns = steps_ms[i] * 1000000;
        add_cpu(&f, (int64_t)i, 0);
        write_sample(&f);
    }
    close_sink(&f);
    static const char *const names[] = { "run-0.json", "run-1.json", "run-5.json",
                                         "run-6.json", "run-7.json", "run-8.json" };
    for (size_t i = 0; i < PT_COUNT(names); i++)
        assert_true(exists(&f, names[i]));
    assert_int_equal(file_count(&f), PT_COUNT(names));
    tear_down(&f);
}

static void a_mark_alone_is_no_snapshot(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "json");
    pt_set_str(add_row(&f, MARK, 0), mark_text, PT_STR("x"));
    write_sample(&f);
    close_sink(&f);
    assert_int_equal(file_count(&f), 0);
    tear_down(&f);
}

static void writing_again_replaces_the_files(void **state) {
    (void)state;
    static const char *const types[] = { "csv", "json" };
    struct fixture f;
    set_up(&f);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(open_sink(&f, types[i % 2], f.directory), 0);
        add_cpu(&f, i, 0);
        write_sample(&f);
        close_sink(&f);
    }
    assert_int_equal(file_count(&f), 2);
    tear_down(&f);
}

static void a_file_on_a_full_disk_is_named_at_close_and_the_others_are_written(void **state) {
    (void)state;
    static const char *const types[] = { "csv", "tsv", "jsonl" };
    for (size_t i = 0; i < PT_COUNT(types); i++) {
        struct fixture f;
        char name[32];
        set_up(&f);
        snprintf(name, sizeof name, "run.processes.%s", types[i]);
        assert_int_equal(symlink("/dev/full", path_of(&f, name)), 0);
        assert_int_equal(open_sink(&f, types[i], f.directory), 0);
        add_cpu(&f, 1, 1);
        add_process(&f, 1, PT_STR("x"));
        pt_set_str(add_row(&f, CONTAINER, 0), container_id, PT_STR("a"));
        write_sample(&f);
        assert_int_equal(pt_sink_close(&f.sink, &f.err), -ENOSPC);
        assert_non_null(strstr(f.err.text, path_of(&f, name)));
        assert_non_null(strstr(f.err.text, strerror(ENOSPC)));
        snprintf(name, sizeof name, "run.%s", types[i]);
        assert_true(exists(&f, name));
        snprintf(name, sizeof name, "run.containers.%s", types[i]);
        assert_true(exists(&f, name));
        tear_down(&f);
    }
}

static void a_disk_that_fills_up_is_reported_while_writing_too(void **state) {
    (void)state;
    struct fixture f;
    set_up(&f);
    assert_int_equal(symlink("/dev/full", path_of(&f, "run.csv")), 0);
    assert_int_equal(open_sink(&f, "csv", f.directory), 0);
    int rc = 0;
    for (int i = 0; i < 10000 && !rc; i++) {
        add_cpu(&f, i, i);
        rc = pt_sink_write(&f.sink, &f.sample);
        pt_sample_clear(&f.sample);
    }
    assert_int_equal(rc, -ENOSPC);
    assert_int_equal(pt_sink_close(&f.sink, &f.err), -ENOSPC);
    assert_non_null(strstr(f.err.text, "run.csv"));
    tear_down(&f);
}

static void a_snapshot_that_fails_is_named_and_the_next_is_written(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "json");
    assert_int_equal(mkdir(path_of(&f, "run-5.json"), 0700), 0);
    f.sample.wall_ns = 5000000;
    add_cpu(&f, 1, 1);
    assert_int_equal(pt_sink_write(&f.sink, &f.sample), -EISDIR);
    f.sample.wall_ns = 6000000;
    assert_int_equal(pt_sink_write(&f.sink, &f.sample), -EISDIR);
    assert_int_equal(pt_sink_close(&f.sink, &f.err), -EISDIR);
    assert_non_null(strstr(f.err.text, path_of(&f, "run-5.json")));
    assert_true(exists(&f, "run-6.json"));
    assert_int_equal(rmdir(path_of(&f, "run-5.json")), 0);
    assert_int_equal(file_count(&f), 1);
    tear_down(&f);
}

static void a_directory_that_cannot_be_written_is_an_error(void **state) {
    (void)state;
    struct fixture f;
    set_up(&f);
    /* /proc takes no new files, not even from root. */
    assert_true(open_sink(&f, "csv", "/proc") < 0);
    assert_non_null(strstr(f.err.text, "/proc/run.csv"));
    assert_int_equal(open_sink(&f, "csv", path_of(&f, "missing")), -ENOENT);
    assert_int_equal(open_sink(&f, "json", path_of(&f, "missing")), -ENOENT);
    assert_int_equal(pt_sink_close(&f.sink, &f.err), 0);
    assert_int_equal(open_sink(&f, "json", "/proc"), 0);
    add_cpu(&f, 1, 1);
    assert_true(pt_sink_write(&f.sink, &f.sample) < 0);
    assert_true(pt_sink_close(&f.sink, &f.err) < 0);
    assert_non_null(strstr(f.err.text, "/proc/run-1703462400000.json"));
    tear_down(&f);
}

static void nothing_has_its_name_before_close(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "csv");
    assert_false(exists(&f, "run.csv"));
    close_sink(&f);
    assert_file(&f, "run.csv", MAIN_HEADER);
    tear_down(&f);
}

/* Cells of every width around the place where the buffer is emptied. */
static void rows_longer_than_the_buffer_are_whole(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "csv");
    enum { ROWS = 5000 };
    char word[64];
    memset(word, 'w', sizeof word);
    for (size_t i = 0; i < ROWS; i++)
        add_process(&f, (int64_t)i, (struct pt_str){ word, i % sizeof word });
    write_sample(&f);
    close_sink(&f);
    char line[256], expected[256];
    FILE *file = fopen(path_of(&f, "run.processes.csv"), "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    for (int i = 0; i < ROWS; i++) {
        int width = i % (int)sizeof word;
        snprintf(expected, sizeof expected, TIMES_COMMA "%d,%.*s,,\n", i, width ? width : 2,
                 width ? word : "\"\"");
        assert_non_null(fgets(line, sizeof line, file));
        assert_string_equal(line, expected);
    }
    assert_null(fgets(line, sizeof line, file));
    fclose(file);
    tear_down(&f);
}

static void formats_are_found_by_name(void **state) {
    (void)state;
    assert_string_equal(pt_sink_find(PT_STR("tsv"))->name, "tsv");
    assert_null(pt_sink_find(PT_STR("xml")));
    assert_null(pt_sink_find(PT_STR("")));
    for (const struct pt_sink_type *const *type = pt_sink_types; *type; type++)
        assert_ptr_equal(pt_sink_find(pt_str_from((*type)->name)), *type);
}

int main(void) {
    const struct CMUnitTest tests_[] = {
        PT_TEST(csv_has_a_header_and_a_row_per_sample,
                "C022 C027 C028 C029 C031: CSV has a header and a row per sample"),
        PT_TEST(a_column_seen_in_one_sample_is_empty_in_the_others,
                "C030: a column seen in one sample is empty in the others"),
        PT_TEST(csv_quotes_what_needs_it_and_keeps_null_and_empty_apart,
                "C022 C030: CSV quotes what needs it and keeps null and empty apart"),
        PT_TEST(tsv_escapes_tabs_and_line_ends, "C023: TSV escapes tabs and line ends"),
        PT_TEST(jsonl_has_an_object_per_row, "C025 C030: JSON Lines has an object per row"),
        PT_TEST(jsonl_numbers_are_exact, "C027 C031: numbers of JSON Lines are exact"),
        PT_TEST(only_views_with_rows_have_a_file, "C019 C022: only views with rows have a file"),
        PT_TEST(a_time_before_1970_is_rounded_down, "C027: a time before 1970 is rounded down"),
        PT_TEST(a_snapshot_nests_sections_and_leaves_nulls_out,
                "C021 C025 C026 C027 C028 C032 C033 C036 C038 C039: "
                "a snapshot nests sections and leaves nulls out"),
        PT_TEST(two_samples_of_one_millisecond_are_two_snapshots,
                "C021: two samples of one millisecond are two snapshots"),
        PT_TEST(a_mark_alone_is_no_snapshot, "C021: a mark alone is not a snapshot"),
        PT_TEST(writing_again_replaces_the_files, "C019 C021: writing again replaces the files"),
        PT_TEST(a_file_on_a_full_disk_is_named_at_close_and_the_others_are_written,
                "C022: a file on a full disk is named at close and the others are written"),
        PT_TEST(a_disk_that_fills_up_is_reported_while_writing_too,
                "C022: a disk that fills up is reported while writing too"),
        PT_TEST(a_snapshot_that_fails_is_named_and_the_next_is_written,
                "C021: a snapshot that fails is named and the next is written"),
        PT_TEST(a_directory_that_cannot_be_written_is_an_error,
                "C012: a directory that cannot be written is an error"),
        PT_TEST(nothing_has_its_name_before_close, "C022: nothing has its name before close"),
        PT_TEST(rows_longer_than_the_buffer_are_whole,
                "C022: files longer than the buffer are whole"),
        PT_TEST(formats_are_found_by_name, "C007: formats are found by name"),
    };
    return cmocka_run_group_tests(tests_, NULL, NULL);
}
