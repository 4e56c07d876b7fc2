/* What a sample costs in the journal: CPU to write and to read it, and bytes.
 *
 * Synthetic, with the habits of the real thing: counters that grow by about the same each tick,
 * memory in whole pages, some gauges, many cells that never change. */
#include "base/clock.h"
#include "store/journal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uint32_t below(uint32_t limit) {
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % limit;
}

#define KEY_COLUMN 10

/* Of each ten columns, `changing` change; if negative, three do in -`changing` % of the rows. */
struct shape {
    const char *name;
    int table_count, column_count, row_count, string_count, changing;
    int samples;
};

static const struct shape shapes[] = {
    { "host, 5 tables x 12 cells, 25 change", 5, 12, 1, 0, 4, 20000 },
    { "host, 100 cells in one row, 60 change", 1, 100, 1, 0, 6, 20000 },
    { "5,000 rows x 40 cells, none change", 1, 40, 5000, 4, 0, 200 },
    { "5,000 rows x 40 cells, 3 % of rows change", 1, 40, 5000, 4, -3, 200 },
};

static char *name_of(const char *prefix, int i) {
    return pt_asprintf("%s%d", prefix, i);
}

/* Lives as long as the program. */
static struct pt_table *make_table(const struct shape *shape, int index) {
    struct pt_table *t = pt_calloc(1, sizeof *t);
    struct pt_column *columns = pt_calloc((size_t)shape->column_count, sizeof *columns);
    const char **sources = pt_calloc(1, sizeof *sources);
    sources[0] = "file";
    for (int i = 0; i < shape->column_count; i++) {
        enum pt_type type = i < shape->string_count ? PT_STRING : i % 20 == 19 ? PT_F64 : PT_I64;
        enum pt_kind kind = i % 3 ? PT_COUNTER : PT_GAUGE;
        if (shape->row_count > 1 && i == KEY_COLUMN)
            kind = PT_KEY;
        columns[i] = (struct pt_column){ .name = name_of("column", i + 100 * index),
                                         .short_name = name_of("c", i),
                                         .kind = type == PT_STRING ? PT_INFO : kind,
                                         .type = type,
                                         .unit = i % 3 ? PT_NONE : PT_BYTES,
                                         .help = "help" };
    }
    *t = (struct pt_table){ .name = name_of("table", index),
                            .file = shape->row_count > 1 ? "rows" : "",
                            .help = "bench",
                            .columns = columns,
                            .sources = sources,
                            .column_count = (uint16_t)shape->column_count,
                            .source_count = 1 };
    return t;
}

static const struct pt_schema *make_schema(const struct shape *shape) {
    struct pt_schema *schema = pt_calloc(1, sizeof *schema);
    const struct pt_table **tables = pt_calloc((size_t)shape->table_count, sizeof *tables);
    for (int i = 0; i < shape->table_count; i++)
        tables[i] = make_table(shape, i);
    *schema = (struct pt_schema){ tables, (uint32_t)shape->table_count };
    return schema;
}

static void set_first(struct pt_batch *b, int column, int row) {
    char text[96];
    switch (b->table->columns[column].type) {
    case PT_STRING:
        snprintf(text, sizeof text, "%d of /usr/bin/something --and some --arguments", row);
        pt_set_str(b, column, (struct pt_str){ text, column == 0 ? strlen(text) : 8 });
        break;
    case PT_F64:
        pt_set_f64(b, column, below(400) / 100.0);
        break;
    case PT_I64:
        pt_set_i64(b, column, row + (int64_t)below(column % 10 ? 1 << 30 : 1));
        break;
    }
}

static void change_cell(const struct pt_batch *b, uint32_t row, int column) {
    union pt_cell *c = &pt_batch_cells(b, row)[column];
    const struct pt_column *k = &b->table->columns[column];
    if (k->type == PT_F64)
        c->f64 = below(400) / 100.0;
    else if (k->kind == PT_COUNTER && column % 4)
        c->i64 += 40 + below(20); /* jiffies */
    else if (k->kind == PT_COUNTER)
        c->i64 += 3000 + below(4000); /* context switches */
    else if (k->kind == PT_GAUGE)
        c->i64 += 4096 * ((int64_t)below(400) - 200);
}

static void fill(const struct shape *shape, struct pt_sample *s) {
    for (int t = 0; t < shape->table_count; t++)
        for (int row = 0; row < shape->row_count; row++) {
            pt_batch_add_row(&s->batches[t]);
            for (int i = 0; i < shape->column_count; i++)
                set_first(&s->batches[t], i, row);
        }
}

static void tick(const struct shape *shape, struct pt_sample *s) {
    s->mono_ns += PT_NS_PER_SECOND + below(50000);
    s->wall_ns = s->mono_ns + INT64_C(1700000000000000000) + below(200);
    for (int t = 0; t < shape->table_count; t++) {
        struct pt_batch *b = &s->batches[t];
        int64_t read_ns = s->mono_ns + 20000 * (t + 1) + below(15000);
        for (uint32_t row = 0; row < b->row_count; row++) {
            pt_batch_row(b, row)[0] = (uint64_t)(read_ns += 4000 + below(3000));
            bool does_change = shape->changing > 0 || (int)below(100) < -shape->changing;
            int changing = shape->changing > 0 ? shape->changing : 3;
            for (int i = shape->string_count; does_change && i < shape->column_count; i++)
                if (i * 7 % 10 < changing && b->table->columns[i].kind != PT_KEY)
                    change_cell(b, row, i);
        }
    }
}

static int64_t cpu_ns(void) {
    return pt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void check(int rc, const struct pt_err *err) {
    if (rc >= 0)
        return;
    fprintf(stderr, "journal_bench: %s\n", err->text);
    exit(1);
}

/* The kernel's part: appending as many bytes as many times. */
static int64_t bare_write_ns(const char *path, int samples, size_t bytes) {
    struct pt_buf zeros = { 0 };
    memset(pt_buf_reserve(&zeros, bytes), 0, bytes);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
    int64_t start = cpu_ns();
    for (int i = 0; i < samples; i++)
        if (write(fd, zeros.at, bytes) != (ssize_t)bytes)
            break;
    int64_t used_ns = cpu_ns() - start;
    close(fd);
    unlink(path);
    pt_buf_release(&zeros);
    return used_ns;
}

static int64_t read_back(const char *path, const struct shape *shape) {
    struct pt_journal_reader r;
    struct pt_sample s;
    struct pt_err err = { "" };
    check(pt_journal_open(&r, path, &err), &err);
    pt_sample_init(&s, &r.schema);
    int64_t start = cpu_ns();
    while (pt_journal_next(&r, &s) > 0)
        ;
    int64_t used_ns = cpu_ns() - start;
    if (r.sample_count != (uint64_t)shape->samples)
        fprintf(stderr, "journal_bench: %ju samples read\n", (uintmax_t)r.sample_count);
    pt_sample_release(&s);
    pt_journal_reader_close(&r);
    return used_ns;
}

/* CPU of all ticks, with or without appending them. */
static int64_t run_ticks(const struct shape *shape, struct pt_sample *s, struct pt_journal *j) {
    struct pt_err err = { "pt_journal_write failed" };
    int64_t start = cpu_ns();
    for (int i = 0; i < shape->samples; i++) {
        tick(shape, s);
        if (j)
            check(pt_journal_write(j, s), &err);
    }
    return cpu_ns() - start;
}

static void run(const struct shape *shape, const char *path) {
    const struct pt_schema *schema = make_schema(shape);
    struct pt_journal j;
    struct pt_sample s;
    struct pt_err err = { "" };
    check(pt_journal_create(&j, path, (const uint8_t *)"0123456789abcdef", schema, &err), &err);
    uint64_t start_bytes = j.byte_count;
    pt_sample_init(&s, schema);
    fill(shape, &s);
    int64_t tick_ns = run_ticks(shape, &s, NULL);
    int64_t write_ns = run_ticks(shape, &s, &j) - tick_ns;
    int64_t read_ns = read_back(path, shape);
    double n = shape->samples, bytes = (double)(j.byte_count - start_bytes) / n;
    pt_journal_close(&j);
    int64_t bare_ns = bare_write_ns(path, shape->samples, (size_t)bytes);
    printf("%-42s %8.1f %10.2f %10.2f %10.2f\n", shape->name, bytes, (double)write_ns / n / 1000,
           (double)bare_ns / n / 1000, (double)read_ns / n / 1000);
    pt_sample_release(&s);
    unlink(path);
}

int main(int argc, char **argv) {
    char *path =
        pt_asprintf("%s/pitot-journal-bench-%ld", argc > 1 ? argv[1] : "/tmp", (long)getpid());
    printf("%-42s %8s %10s %10s %10s\n", "CPU per sample", "bytes", "append us", "write(2) us",
           "read us");
    for (size_t i = 0; i < PT_COUNT(shapes); i++)
        run(&shapes[i], path);
    pt_free(path);
    return 0;
}
