/* Golden text of every format that is text, and what happens when a file cannot be written. */
#include "test.h"

#include "derive/bucket_rows.h"
#include "format/rows/sink.h"

#include <dirent.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
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

#define CONTAINER_CPU_COLUMNS(X, t)                \
    X(t, id, "cId", KEY, STRING, NONE, 0, "which") \
    X(t, cpu, "cCpu", KEY, I64, NONE, 0, "where")  \
    X(t, time, "cCpuTime", COUNTER, I64, NANOSECONDS, 0, "how long")
PT_TABLE(container_cpu, PT_TABLE_FILE("container_cpus", "container_cpus"), "container CPU",
         CONTAINER_CPU_COLUMNS, "f");

#define GPU_COLUMNS(X, t)                             \
    X(t, index, "gGpuIndex", KEY, I64, NONE, 0, "nr") \
    X(t, count, "gProcessCount", GAUGE, I64, COUNT, 0, "how many")
PT_TABLE(gpu, PT_TABLE_FILE("gpus", "nvidia"), "GPU", GPU_COLUMNS, "f");

#define GPU_PROCESS_COLUMNS(X, t)                       \
    X(t, index, "gGpuIndex", KEY, I64, NONE, 0, "nr")   \
    X(t, pid, "pId", KEY, I64, NONE, 0, "which")        \
    X(t, host, "gHostPid", KEY, I64, NONE, 0, "which")  \
    X(t, name, "pName", INFO, STRING, NONE, 0, "which") \
    X(t, memory, "gUsedMemoryMb", GAUGE, I64, MEBIBYTES, 0, "how much")
PT_TABLE(gpu_process, PT_TABLE_FILE("gpu_processes", NULL), "GPU process", GPU_PROCESS_COLUMNS,
         "f");

#define ENGINES_COLUMNS(X, t)                      \
    X(t, url, "eUrl", KEY, STRING, NONE, 0, "url") \
    X(t, config, "eConfig", INFO, STRING, NONE, 0, "labels")
PT_TABLE(engines, PT_TABLE_FILE("engines", NULL), "engines", ENGINES_COLUMNS, "f");

#define ENGINE_HISTOGRAM_COLUMNS(X, t)                   \
    X(t, name, "hName", KEY, STRING, NONE, 0, "latency") \
    PT_BUCKET_COLUMNS(X, t, SECONDS)
PT_TABLE(engine_histogram, PT_TABLE_ROWS(EVENTS, "engine_histograms", NULL), "buckets",
         ENGINE_HISTOGRAM_COLUMNS, "f");

#define MARK_COLUMNS(X, t) X(t, text, "text", INFO, STRING, NONE, 0, "of the mark")
PT_TABLE(mark, PT_TABLE_FILE("marks", NULL), "mark", MARK_COLUMNS, "f");

enum { CPU, MEM, ENGINE, TOTAL, PROCESS, CONTAINER, MARK, TABLE_COUNT };
static const struct pt_table *const tables[TABLE_COUNT] = {
    &cpu_table,     &mem_table,       &engine_table, &total_table,
    &process_table, &container_table, &mark_table,
};
static const struct pt_schema schema = { tables, TABLE_COUNT };

/* Tables whose rows are nested in others. */
enum {
    N_CONTAINER,
    N_CONTAINER_CPU,
    N_GPU,
    N_GPU_PROCESS,
    N_ENGINE,
    N_ENGINES,
    N_HISTOGRAM,
    NESTED_COUNT
};
static const struct pt_table *const nested_tables[NESTED_COUNT] = {
    &container_table, &container_cpu_table,    &gpu_table, &gpu_process_table, &engine_table,
    &engines_table,   &engine_histogram_table,
};
static const struct pt_schema nested_schema = { nested_tables, NESTED_COUNT };

#define WALL_NS INT64_C(1703462400000999999)
#define MONO_NS INT64_C(81234567890)

struct fixture {
    char directory[64];
    struct pt_views views;
    struct pt_sample sample;
    struct pt_sink sink;
    struct pt_err err;
};

static void set_up_with(struct fixture *f, const struct pt_schema *of) {
    *f = (struct fixture){ .directory = "/tmp/pitot-sinks-XXXXXX" };
    assert_non_null(mkdtemp(f->directory));
    pt_views_init(&f->views, of);
    pt_sample_init(&f->sample, of);
    f->sample.wall_ns = WALL_NS;
    f->sample.mono_ns = MONO_NS;
}

static void set_up(struct fixture *f) {
    set_up_with(f, &schema);
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
    struct pt_sink_target target = { directory, "run", f->sample.schema, &f->views };
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
                TIMES_COMMA "4,\"'two\nlines\\x0d\tand \\\\\",,\n"   /**/
                TIMES_COMMA "5,caf\xc3\xa9 \xf0\x9f\x94\xa5,,\n"     /**/
                TIMES_COMMA "6,\"\xef\xbf\xbd,\xef\xbf\xbd\",,\n"    /**/
                TIMES_COMMA "7,\"\",,\n"                             /**/
                TIMES_COMMA "8,,,\n"                                 /**/
                TIMES_COMMA "9,'=cmd,,\n");
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
                TIMES_TAB "4\t'two\\nlines\\\\x0d\\tand \\\\\\\\\t\t\n"   /**/
                TIMES_TAB "5\tcaf\xc3\xa9 \xf0\x9f\x94\xa5\t\t\n"         /**/
                TIMES_TAB "6\t\xef\xbf\xbd,\xef\xbf\xbd\t\t\n"            /**/
                TIMES_TAB "7\t\t\t\n"                                     /**/
                TIMES_TAB "8\t\t\t\n"                                     /**/
                TIMES_TAB "9\t'=cmd\t\t\n");
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
                "\"mem\":{},\"vllm\":{\"waiting\":3.0},"
                "\"processes\":{\"pNumProcesses\":2,\"processes\":[{\"pId\":1,"
                "\"pCmdline\":\"init\",\"pSize\":{\"value\":4096,\"time\":1703462400001}},"
                "{\"pId\":2}]},\"containers\":[]}\n");
    assert_int_equal(file_count(&f), 1);
    tear_down(&f);
}

static void add_cpu_time(struct fixture *f, struct pt_str id, int64_t cpu, int64_t ns) {
    struct pt_batch *b = add_row(f, N_CONTAINER_CPU, 3000000);
    pt_set_str(b, container_cpu_id, id);
    pt_set_i64(b, container_cpu_cpu, cpu);
    pt_set_i64(b, container_cpu_time, ns);
}

static void add_gpu_process(struct fixture *f, int64_t gpu, int64_t pid, const char *name,
                            int64_t mb) {
    struct pt_batch *b = add_row(f, N_GPU_PROCESS, 0);
    pt_set_i64(b, gpu_process_index, gpu);
    pt_set_i64(b, name ? gpu_process_pid : gpu_process_host, pid);
    if (name)
        pt_set_str(b, gpu_process_name, pt_str_from(name));
    if (mb >= 0)
        pt_set_i64(b, gpu_process_memory, mb);
}

static void add_engine(struct fixture *f, const char *config) {
    struct pt_batch *b = add_row(f, N_ENGINES, 0);
    pt_set_str(b, engines_url, PT_STR("u"));
    if (config)
        pt_set_str(b, engines_config, pt_str_from(config));
}

static void begin_nested(struct fixture *f) {
    set_up_with(f, &nested_schema);
    assert_int_equal(open_sink(f, "json", f->directory), 0);
}

static void snapshots_have_the_shapes_that_users_know(void **state) {
    (void)state;
    struct fixture f;
    begin_nested(&f);
    pt_set_str(add_row(&f, N_CONTAINER, 0), container_id, PT_STR("a"));
    pt_set_str(add_row(&f, N_CONTAINER, 0), container_id, PT_STR("b"));
    pt_set_str(add_row(&f, N_CONTAINER, 0), container_id, PT_STR("c"));
    add_cpu_time(&f, PT_STR("a"), 0, 5);
    add_cpu_time(&f, PT_STR("a"), 11, 6);
    add_cpu_time(&f, PT_STR("c"), 0, 7);
    for (int64_t i = 0; i < 3; i++) {
        struct pt_batch *b = add_row(&f, N_GPU, 1000000);
        pt_set_i64(b, gpu_index, i);
        if (i < 2)
            pt_set_i64(b, gpu_count, i == 0 ? 3 : 0);
    }
    add_gpu_process(&f, 0, 4711, "python \"x\"", 1024);
    add_gpu_process(&f, 0, 4712, "cat", -1);
    add_gpu_process(&f, 0, 4713, NULL, 0);
    pt_set_f64(add_row(&f, N_ENGINE, 0), engine_waiting, 2);
    add_engine(&f,
               "model_name=m, cache_config.block_size=16, cache_config.share=0.90, "
               "cache_config.dtype=auto, lora.names=\"a, \\\"b\\\"\\n=1\", x.version=007, x.e=");
    write_sample(&f);
    close_sink(&f);
    assert_file(
        &f, "run-1703462400000.json",
        "{\"timestamp\":1703462400000,"
        "\"containers\":[{\"cId\":\"a\",\"perCpu\":{"
        "\"cCpu0Time\":{\"value\":5,\"time\":1703462400003},"
        "\"cCpu11Time\":{\"value\":6,\"time\":1703462400003}}},"
        "{\"cId\":\"b\"},"
        "{\"cId\":\"c\",\"perCpu\":{\"cCpu0Time\":{\"value\":7,\"time\":1703462400003}}}],"
        "\"nvidia\":[{\"gGpuIndex\":0,\"gProcessCount\":{\"value\":3,\"time\":1703462400001},"
        "\"gProcesses\":[\"4711: python \\\"x\\\" (1024 MB)\",\"4712: cat\",\"4713 (0 MB)\"]},"
        "{\"gGpuIndex\":1,\"gProcessCount\":{\"value\":0,\"time\":1703462400001},"
        "\"gProcesses\":[]},{\"gGpuIndex\":2}],"
        "\"vllm\":{\"waiting\":2.0,\"config\":{\"cache_config_info_block_size\":16,"
        "\"cache_config_info_share\":0.90,\"cache_config_info_dtype\":\"auto\","
        "\"lora_info_names\":\"a, \\\"b\\\"\\n=1\",\"x_info_version\":\"007\","
        "\"x_info_e\":\"\"}}}\n");
    tear_down(&f);
}

static void engines_that_differ_have_no_common_configuration(void **state) {
    (void)state;
    struct fixture f;
    begin_nested(&f);
    pt_set_f64(add_row(&f, N_ENGINE, 0), engine_waiting, 0);
    add_engine(&f, NULL); /* has not answered yet */
    add_engine(&f, "c.size=16, c.dtype=auto, c.own=1");
    add_engine(&f, "c.dtype=auto, c.size=32");
    write_sample(&f);
    close_sink(&f);
    assert_file(&f, "run-1703462400000.json",
                "{\"timestamp\":1703462400000,\"containers\":[],\"nvidia\":[],"
                "\"vllm\":{\"waiting\":0.0,\"config\":{\"c_info_dtype\":\"auto\"}}}\n");
    tear_down(&f);
}

static void add_bucket(struct fixture *f, const char *name, double above, double le,
                       int64_t count) {
    struct pt_batch *b = add_row(f, N_HISTOGRAM, 0);
    pt_set_str(b, engine_histogram_name, pt_str_from(name));
    pt_bucket_row_set(b, engine_histogram_above, above, le, count, 1);
}

/* A journal has the growth of each bucket; a snapshot has what was counted up to then. */
static void histograms_in_snapshots_are_cumulative(void **state) {
    (void)state;
    struct fixture f;
    begin_nested(&f);
    for (int i = 0; i < 2; i++) {
        pt_set_f64(add_row(&f, N_ENGINE, 0), engine_waiting, 0);
        add_bucket(&f, "ttft", 0.1, 0.25, 3);
        if (i > 0) {
            add_bucket(&f, "ttft", 1, INFINITY, 2);
            add_bucket(&f, "e2e", 0, 2.5, 1);
        }
        write_sample(&f);
        f.sample.wall_ns += 1000000000;
    }
    close_sink(&f);
    assert_file(&f, "run-1703462400000.json",
                "{\"timestamp\":1703462400000,\"containers\":[],\"nvidia\":[],"
                "\"vllm\":{\"waiting\":0.0,\"histograms\":{"
                "\"ttft\":{\"0.1\":0,\"0.25\":3,\"+Inf\":3}}}}\n");
    assert_file(&f, "run-1703462401000.json",
                "{\"timestamp\":1703462401000,\"containers\":[],\"nvidia\":[],"
                "\"vllm\":{\"waiting\":0.0,\"histograms\":{"
                "\"ttft\":{\"0.1\":0,\"0.25\":6,\"1\":6,\"+Inf\":8},"
                "\"e2e\":{\"0\":0,\"2.5\":1,\"+Inf\":1}}}}\n");
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

/* Tables that the trace has never heard of. */
#define MOVE_COLUMNS(X, t)                                                   \
    X(t, robot, "robot", INFO, I64, NONE, 0, "", .role = PT_ROLE_PROCESS)    \
    X(t, arm, "arm", INFO, I64, NONE, 0, "", .role = PT_ROLE_THREAD)         \
    X(t, what, "what", INFO, STRING, NONE, 0, "", .role = PT_ROLE_NAME)      \
    X(t, from, "from", INFO, I64, NANOSECONDS, 0, "", .role = PT_ROLE_START) \
    X(t, took, "took", INFO, I64, NANOSECONDS, 0, "", .role = PT_ROLE_DURATION)
PT_TABLE(move, PT_TABLE_ROWS(EVENTS, "moves", NULL), "Moves", MOVE_COLUMNS, "robot");

/* Nobody did it: not a line of the trace. */
#define REST_COLUMNS(X, t)                                                   \
    X(t, what, "what", INFO, STRING, NONE, 0, "", .role = PT_ROLE_NAME)      \
    X(t, from, "from", INFO, I64, NANOSECONDS, 0, "", .role = PT_ROLE_START) \
    X(t, took, "took", INFO, I64, NANOSECONDS, 0, "", .role = PT_ROLE_DURATION)
PT_TABLE(rest, PT_TABLE_ROWS(EVENTS, "rests", NULL), "Rests", REST_COLUMNS, "robot");

static void a_trace_shows_what_has_a_start_a_duration_and_a_thread(void **state) {
    (void)state;
    static const struct pt_table *const events[] = { &move_table, &rest_table };
    static const struct pt_schema timed = { events, PT_COUNT(events) };
    struct fixture f;
    set_up_with(&f, &timed);
    assert_int_equal(open_sink(&f, "trace", f.directory), 0);
    struct pt_batch *b = add_row(&f, 0, 0);
    pt_set_i64(b, move_robot, 7);
    pt_set_i64(b, move_arm, 2);
    pt_set_str(b, move_what, PT_STR("lift"));
    pt_set_i64(b, move_from, 5000000);
    pt_set_i64(b, move_took, 1500000);
    b = add_row(&f, 1, 0);
    pt_set_str(b, rest_what, PT_STR("pause"));
    pt_set_i64(b, rest_from, 6500000);
    pt_set_i64(b, rest_took, 1000);
    write_sample(&f);
    close_sink(&f);
    assert_file(&f, "run.trace.json",
                "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
                "{\"ph\":\"X\",\"name\":\"lift\",\"pid\":7,\"tid\":2,\"ts\":5000.000,"
                "\"dur\":1500.000}\n]}\n");
    tear_down(&f);
}

static void writing_again_replaces_the_files(void **state) {
    (void)state;
    static const char *const types[] = { "csv", "json" };
    struct fixture f;
    set_up(&f);
    for (int i = 0; i < 4; i++) {
        /* named after a run, as exports are: base/place.h */
        struct pt_sink_target target = { f.directory, "01234567-89ab-cdef-0123-456789abcdef",
                                         f.sample.schema, &f.views };
        assert_int_equal(
            pt_sink_open(&f.sink, pt_sink_find(pt_str_from(types[i % 2])), &target, &f.err), 0);
        add_cpu(&f, i, 0);
        write_sample(&f);
        close_sink(&f);
    }
    assert_int_equal(file_count(&f), 2);
    tear_down(&f);
}

/* Files of this process cannot grow beyond it: writes fail as on a full disk. */
static void limit_files(rlim_t bytes) {
    struct sigaction ignored = { .sa_handler = SIG_IGN };
    struct rlimit limit;
    assert_int_equal(sigaction(SIGXFSZ, &ignored, NULL), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_file_on_a_full_disk_is_named_at_close_and_the_others_are_written(void **state) {
    (void)state;
    static const char *const types[] = { "csv", "tsv", "jsonl" };
    for (size_t i = 0; i < PT_COUNT(types); i++) {
        struct fixture f;
        char name[32];
        set_up(&f);
        snprintf(name, sizeof name, "run.processes.%s", types[i]);
        static char large[8192];
        memset(large, 'x', sizeof large);
        assert_int_equal(open_sink(&f, types[i], f.directory), 0);
        add_cpu(&f, 1, 1);
        add_process(&f, 1, (struct pt_str){ large, sizeof large });
        pt_set_str(add_row(&f, CONTAINER, 0), container_id, PT_STR("a"));
        write_sample(&f);
        limit_files(4096);
        int rc = pt_sink_close(&f.sink, &f.err);
        limit_files(RLIM_INFINITY);
        assert_int_equal(rc, -EFBIG);
        assert_non_null(strstr(f.err.text, path_of(&f, name)));
        assert_non_null(strstr(f.err.text, strerror(EFBIG)));
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
    limit_files(1000);
    assert_int_equal(open_sink(&f, "csv", f.directory), 0);
    int rc = 0;
    for (int i = 0; i < 10000 && !rc; i++) {
        add_cpu(&f, i, i);
        rc = pt_sink_write(&f.sink, &f.sample);
        pt_sample_clear(&f.sample);
    }
    assert_int_equal(rc, -EFBIG);
    assert_int_equal(pt_sink_close(&f.sink, &f.err), -EFBIG);
    limit_files(RLIM_INFINITY);
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
        PT_TEST(snapshots_have_the_shapes_that_users_know,
                "C099 C116 C129: snapshots nest CPU times, GPU processes and configuration"),
        PT_TEST(histograms_in_snapshots_are_cumulative,
                "C129 C316: histograms in snapshots are cumulative, since the first scrape"),
        PT_TEST(engines_that_differ_have_no_common_configuration,
                "C129: labels on which engines differ are not in the configuration"),
        PT_TEST(two_samples_of_one_millisecond_are_two_snapshots,
                "C021: two samples of one millisecond are two snapshots"),
        PT_TEST(a_mark_alone_is_no_snapshot, "C021: a mark alone is not a snapshot"),
        PT_TEST(a_trace_shows_what_has_a_start_a_duration_and_a_thread,
                "C217: a trace shows the rows of any table with start, duration and thread"),
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
