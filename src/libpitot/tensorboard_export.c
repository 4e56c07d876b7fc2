/* libpitot/tensorboard_export.c -- an event file of TensorBoard: records are appended and
 * flushed. */
#include "format/trace/tensorboard.h"

#include "base/clock.h"
#include "libpitot/drain.h"
#include "libpitot/span_history.h"
#include "libpitot/metric_families.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pitot/export.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct pt_tensorboard {
    int fd;
    struct pt_out out;
    char buffer[PT_OUT_BUFFER];
};

static double wall_time(void) {
    return (double)pt_wall_ns() / (double)PT_NS_PER_SECOND;
}

/* Creates its parent directories. */
static int make_directory(const char *path) {
    char part[PATH_MAX];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof part)
        return length ? -ENAMETOOLONG : -EINVAL;
    for (size_t i = 1; i <= length; i++) {
        if (path[i] && path[i] != '/')
            continue;
        pt_str_copy(part, sizeof part, (struct pt_str){ path, i });
        if (mkdir(part, 0755) && errno != EEXIST)
            return -errno;
    }
    return 0;
}

/* Readers recognize such files by "tfevents", and sort them by the seconds. */
static int create_file(const char *directory) {
    char host[HOST_NAME_MAX + 1] = "", path[PATH_MAX];
    if (gethostname(host, sizeof host - 1) || !host[0] || strchr(host, '/'))
        pt_str_copy(host, sizeof host, PT_STR("localhost"));
    int64_t seconds = pt_wall_ns() / PT_NS_PER_SECOND;
    int length = snprintf(path, sizeof path, "%s/events.out.tfevents.%lld.%s.%d.pitot", directory,
                          (long long)seconds, host, (int)getpid());
    if (length >= (int)sizeof path)
        return -ENAMETOOLONG;
    struct stat st;
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
    if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid()))
        return fd < 0 ? -errno : fd;
    close(fd); /* the name can be guessed */
    return -EEXIST;
}

static int open_board(struct pt_tensorboard *board, const char *directory) {
    int rc = directory ? make_directory(directory) : -EINVAL;
    if (rc)
        return rc;
    board->fd = create_file(directory);
    if (board->fd < 0)
        return board->fd;
    pt_out_through(&board->out, board->buffer, pt_drain_descriptor, &board->fd);
    pt_event_version(&board->out, wall_time());
    return pt_out_flush(&board->out);
}

pt_tensorboard *pt_tensorboard_open(const char *directory) {
    struct pt_tensorboard *board = malloc(sizeof *board);
    if (!board) {
        errno = ENOMEM;
        return NULL;
    }
    board->fd = -1;
    int rc = open_board(board, directory);
    if (!rc)
        return board;
    if (board->fd >= 0)
        close(board->fd);
    free(board);
    errno = -rc;
    return NULL;
}

int pt_tensorboard_scalar(pt_tensorboard *board, const char *tag, int64_t step, double value) {
    if (!board || !tag)
        return -EINVAL;
    const struct pt_event event = { wall_time(), step, pt_str_from(tag) };
    pt_event_scalar(&board->out, &event, value);
    return board->out.error;
}

int pt_tensorboard_histogram(pt_tensorboard *board, const char *tag, int64_t step,
                             pt_histogram histogram) {
    if (!board || !tag)
        return -EINVAL;
    const struct pt_event event = { wall_time(), step, pt_str_from(tag) };
    struct pt_region region;
    struct pt_region_blocks blocks;
    struct pt_bucket_range used = pt_all_buckets; /* limited by the size of the stack buffer */
    uint64_t buckets[PT_BUCKET_COUNT];
    double sum;
    if (histogram.slot == 0 || histogram.slot >= PT_REGION_HISTOGRAMS ||
        !pt_history_region(&region))
        return -ENODATA;
    pt_region_find_blocks(&region, &blocks);
    pt_region_histogram(&region, &blocks, histogram.slot, buckets, &used, &sum);
    pt_event_histogram(&board->out, &event, buckets, used, sum);
    return board->out.error;
}

/* requests{model="a"}: TensorBoard groups tags by the part before a slash; there is none here. */
static void put_series(struct pt_out *out, const struct pt_family *family,
                       const struct pt_series *series, struct pt_event event) {
    char tag[512];
    int length = snprintf(tag, sizeof tag, series->labels.len > 0 ? "%.*s%s{%.*s}" : "%.*s%s",
                          (int)family->name.len, family->name.at,
                          family->kind == PT_FAMILY_COUNTER ? "_total" : "",
                          (int)series->labels.len, series->labels.at);
    event.tag = (struct pt_str){ tag, (size_t)length };
    const struct pt_distribution *d = series->distribution;
    if (d)
        pt_event_histogram(out, &event, d->buckets, d->used, d->sum);
    else
        pt_event_scalar(out, &event, series->is_integer ? (double)series->integer : series->value);
}

int pt_tensorboard_metrics(pt_tensorboard *board, int64_t step) {
    const struct pt_event event = { .wall_time = wall_time(), .step = step };
    struct pt_metric_families_view view;
    int rc = board ? pt_metric_families_read(&view) : -EINVAL;
    if (rc)
        return rc;
    for (size_t i = 0; i < view.family_count; i++)
        for (size_t k = 0; k < view.families[i].series_count; k++)
            put_series(&board->out, &view.families[i], &view.families[i].series[k], event);
    pt_metric_families_release(&view);
    return board->out.error;
}

int pt_tensorboard_flush(pt_tensorboard *board) {
    return board ? pt_out_flush(&board->out) : -EINVAL;
}

int pt_tensorboard_close(pt_tensorboard *board) {
    if (!board)
        return 0;
    int rc = pt_out_flush(&board->out);
    if (close(board->fd) && !rc)
        rc = -errno;
    free(board);
    return rc;
}
