/* Cost of pushing: 1,000 series of containers, five samples per request, from families to the bytes
 * written to disk; compared with copying the finished 1.0 request and compressing it, which is the
 * minimum cost of remote write. */
#include "bench.h"

#include "push/protocol.h"
#include "push/snappy.h"
#include "format/metrics/remote_write.h"

#include <stdlib.h>

#define FAMILIES   20
#define CONTAINERS 50
#define SAMPLES    5
#define POINTS     (FAMILIES * CONTAINERS * SAMPLES)

static struct pt_series series[FAMILIES][CONTAINERS];
static char names[FAMILIES][64], labels[CONTAINERS][96];
static int64_t now_ns = INT64_C(1790000000000000000);
static double growth;

struct side {
    const struct pt_push_protocol *protocol;
    void *state;
    struct pt_push_batch batch;
    struct pt_buf request, packed;
};

static void make_names(void) {
    for (int c = 0; c < CONTAINERS; c++) {
        uint64_t h = (uint64_t)(c + 1) * UINT64_C(0x9e3779b97f4a7c15);
        snprintf(labels[c], sizeof labels[c], "id=\"%016llx%016llx%016llx%016llx\"",
                 (unsigned long long)h, (unsigned long long)(h * h),
                 (unsigned long long)(h ^ h >> 9), (unsigned long long)(h * 31));
    }
    for (int f = 0; f < FAMILIES; f++)
        snprintf(names[f], sizeof names[f], "pitot_container_measure_%02d_seconds", f);
}

/* Half of the values are counters that grow, half do not change. */
static void add_sample(struct side *s) {
    now_ns += PT_NS_PER_SECOND;
    growth += 0.37;
    pt_push_batch_begin(&s->batch, now_ns);
    for (int f = 0; f < FAMILIES; f++) {
        for (int c = 0; c < CONTAINERS; c++)
            series[f][c] = (struct pt_series){ .labels = pt_str_from(labels[c]),
                                               .value = f % 2 ? 1048576.0 * c : c + f * growth,
                                               .time_ns = now_ns + c };
        struct pt_family family = { .name = pt_str_from(names[f]),
                                    .help =
                                        PT_STR("What containers do, in seconds since their start"),
                                    .unit = PT_STR("seconds"),
                                    .kind = f % 2 ? PT_FAMILY_GAUGE : PT_FAMILY_COUNTER,
                                    .series = series[f],
                                    .series_count = CONTAINERS };
        s->protocol->add(s->state, &s->batch, &family);
    }
    pt_push_batch_end(&s->batch);
}

static void make_request(struct side *s) {
    for (int i = 0; i < SAMPLES; i++)
        add_sample(s);
    pt_buf_clear(&s->request);
    pt_buf_clear(&s->packed);
    s->protocol->encode(s->state, &s->batch, &s->request);
    s->protocol->pack(s->state, pt_buf_as_str(&s->request), &s->packed);
    pt_push_batch_clear(&s->batch);
}

static void run_side(void *user, int iterations) {
    while (iterations-- > 0)
        make_request(user);
}

struct floor {
    const struct pt_snappy_interface *snappy;
    struct pt_buf finished, copy, packed;
};

static void run_floor(void *user, int iterations) {
    struct floor *f = user;
    while (iterations-- > 0) {
        pt_buf_clear(&f->copy);
        pt_buf_clear(&f->packed);
        pt_buf_str(&f->copy, pt_buf_as_str(&f->finished));
        f->snappy->compress(pt_buf_as_str(&f->copy), &f->packed);
    }
}

struct downgrade {
    struct side *side;
    const struct pt_snappy_interface *snappy;
    struct pt_buf v1, packed;
};

static void run_downgrade(void *user, int iterations) {
    struct downgrade *d = user;
    while (iterations-- > 0) {
        make_request(d->side);
        pt_buf_clear(&d->v1);
        pt_buf_clear(&d->packed);
        if (pt_rw_downgrade(pt_buf_as_str(&d->side->request), false, &d->v1))
            abort();
        d->snappy->compress(pt_buf_as_str(&d->v1), &d->packed);
    }
}

static void open_side(struct side *s, const struct pt_push_protocol *protocol,
                      const struct pt_push_settings *settings) {
    static const struct pt_schema empty;
    struct pt_err err;
    s->protocol = protocol;
    if (protocol->open(&s->state, settings, &empty, &err)) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    struct pt_push_naming naming = protocol->naming(s->state);
    pt_push_batch_init(&s->batch, &naming);
    make_request(s);
}

static void row(const char *what, const struct bench_side *side, const struct bench_side *floor,
                size_t bytes) {
    char title[160];
    snprintf(title, sizeof title, "%s, %.1f bytes per point", what, (double)bytes / POINTS);
    bench_row(title, (double)side->best_ns / POINTS, (double)floor->best_ns / POINTS,
              "ns per point", (double)side->best_ns / (double)floor->best_ns, "");
}

int main(void) {
    const char *given[] = { "cluster=bench" };
    struct pt_push_options options = { .remote_write = "http://h",
                                       .otlp = "http://h",
                                       .state_directory = "/nonexistent",
                                       .labels = given,
                                       .label_count = 1 };
    struct pt_push_settings settings;
    static struct side remote_write, otlp;
    struct downgrade v1 = { .side = &remote_write };
    struct floor least = { 0 };
    struct pt_err err;
    if (pt_push_settings_read(&settings, &options, &err) || pt_snappy_open(&v1.snappy, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    make_names();
    open_side(&remote_write, &pt_push_remote_write, &settings);
    open_side(&otlp, &pt_push_otlp, &settings);
    run_downgrade(&v1, 1);
    least.snappy = v1.snappy;
    pt_buf_str(&least.finished, pt_buf_as_str(&v1.v1));
    struct bench_side sides[] = {
        { "2.0", run_side, &remote_write, 0 },
        { "1.0", run_downgrade, &v1, 0 },
        { "otlp", run_side, &otlp, 0 },
        { "floor", run_floor, &least, 0 },
    };
    bench_interleave(sides, 4, 15, 20);
    row("pushing 1,000 series by remote-write 2.0 vs. a copy and snappy", &sides[0], &sides[3],
        remote_write.packed.len);
    row("the same as 1.0, made from 2.0", &sides[1], &sides[3], v1.packed.len);
    row("the same by OTLP, gzip", &sides[2], &sides[3], otlp.packed.len);
    return 0;
}
