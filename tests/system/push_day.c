/* Pushes the samples of many seconds as fast as the receiver takes them.
 *
 *     push-day URL STATE_DIRECTORY SECONDS
 *
 * A sample is 60 things with two values each; one of them comes and goes, another has a new name
 * every ten minutes. Prints what became of the points, and the memory and disk that took. */
#include "base/clock.h"
#include "base/fs.h"
#include "push/push.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THINGS     60
#define BEHIND_MAX 16 /* requests that may wait */

#define THING_COLUMNS(X, t)                                                     \
    X(t, name, "tName", KEY, STRING, NONE, 0, "Its name")                       \
    X(t, bytes, "tBytes", COUNTER, I64, BYTES, 0, "Bytes that went through it") \
    X(t, load, "tLoad", GAUGE, F64, RATIO, 0, "How busy it is")
PT_TABLE(thing, PT_TABLE_FILE("things", NULL), "Things", THING_COLUMNS, "nowhere");

static const struct pt_table *tables[2] = { &thing_table, NULL };

static int64_t disk_bytes;

static int add_size(const char *path, const struct stat *status, int type, struct FTW *place) {
    (void)path;
    (void)place;
    disk_bytes += type == FTW_F ? status->st_blocks * 512 : 0;
    return 0;
}

static int64_t disk_of(const char *directory) {
    disk_bytes = 0;
    nftw(directory, add_size, 16, FTW_PHYS);
    return disk_bytes;
}

static int64_t resident_bytes(void) {
    struct pt_err err;
    struct pt_fs fs;
    char line[128];
    if (pt_fs_open(&fs, "/proc", "/sys", "/", &err) ||
        pt_fs_read_line(fs.proc, "self/statm", line, sizeof line))
        return -1;
    pt_fs_close(&fs);
    char *second = strchr(line, ' ');
    return second ? strtoll(second, NULL, 10) * sysconf(_SC_PAGESIZE) : -1;
}

static void fill(struct pt_sample *sample, int64_t second, int64_t start_ns) {
    pt_sample_clear(sample);
    sample->wall_ns = start_ns + second * PT_NS_PER_SECOND;
    sample->mono_ns = (second + 1) * PT_NS_PER_SECOND;
    for (int i = 0; i < THINGS; i++) {
        char name[32];
        bool is_gone = i == 0 && second / 100 % 2 == 1;
        /* one of them is a new thing every ten minutes: series must be forgotten */
        snprintf(name, sizeof name, "thing%d", i == 1 ? (int)(1000 + second / 600) : i);
        if (is_gone)
            continue;
        struct pt_batch *b = &sample->batches[0];
        pt_batch_add_row(b);
        pt_set_time(b, 0, sample->mono_ns);
        pt_set_str(b, thing_name, pt_str_from(name));
        pt_set_i64(b, thing_bytes, second * 1000 + i);
        pt_set_f64(b, thing_load, (double)((second * 7 + i) % 100) / 100);
    }
}

/* A number of the row that pushing fills, by the name of its column. */
static int64_t count_of(struct pt_push *push, struct pt_sample *own, const char *column) {
    pt_sample_clear(own);
    pt_push_fill(push, own);
    return pt_get_i64(&own->batches[1], 0, pt_table_find(pt_push_table, column));
}

static void wait_for_receiver(struct pt_push *push, struct pt_sample *own, int64_t least) {
    struct timespec moment = { 0, PT_NS_PER_MS };
    while (count_of(push, own, "pushRequests") < least)
        nanosleep(&moment, NULL);
}

int main(int argc, char **argv) {
    if (argc != 4)
        return 2;
    int64_t seconds = strtoll(argv[3], NULL, 10),
            start_ns = pt_wall_ns() - seconds * PT_NS_PER_SECOND;
    tables[1] = pt_push_table;
    struct pt_schema schema = { tables, 2 };
    struct pt_push_options options = { .remote_write = argv[1],
                                       .otlp = "off",
                                       .state_directory = argv[2] };
    struct pt_sample sample, own;
    struct pt_push *push;
    struct pt_err err;
    if (pt_push_open(&push, &options, &schema, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    pt_sample_init(&sample, &schema);
    pt_sample_init(&own, &schema);
    int64_t early_rss = 0, most_disk = 0;
    for (int64_t second = 0; second < seconds; second++) {
        fill(&sample, second, start_ns);
        pt_push_sample(push, &sample);
        if (second % 50 == 49)
            wait_for_receiver(push, &own, second / 5 - BEHIND_MAX);
        if (second % 1000 == 999) {
            int64_t disk = disk_of(argv[2]);
            most_disk = disk > most_disk ? disk : most_disk;
        }
        if (second == seconds / 4)
            early_rss = resident_bytes();
    }
    int64_t last_rss = resident_bytes();
    wait_for_receiver(push, &own, (seconds - 1) / 5 + 1); /* the first goes alone */
    int64_t taken = count_of(push, &own, "pushPoints");
    int64_t dropped = count_of(push, &own, "pushDropped") + count_of(push, &own, "pushRejected");
    pt_push_close(push, pt_mono_ns() + 10 * PT_NS_PER_SECOND);
    printf("{\"seconds\": %lld, \"accepted_points\": %lld, \"dropped_points\": %lld, "
           "\"early_rss\": %lld, \"last_rss\": %lld, \"most_disk\": %lld, \"last_disk\": %lld}\n",
           (long long)seconds, (long long)taken, (long long)dropped, (long long)early_rss,
           (long long)last_rss, (long long)most_disk, (long long)disk_of(argv[2]));
    pt_sample_release(&sample);
    pt_sample_release(&own);
    return 0;
}
