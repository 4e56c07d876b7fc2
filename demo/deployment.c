#include "demo/deployment.h"

#include "base/clock.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#define RUNNING_MAX 12
#define PREFILL_MAX 64
#define CHUNK_MAX   16 /* about as long as one worker's share of decoding */

/* The KV cache holds this many contexts: fewer than running requests, so that it can become
 * full. */
#define CONTEXTS 5

static double seconds_since(int64_t start_ns) {
    return (double)(pt_mono_ns() - start_ns) / (double)PT_NS_PER_SECOND;
}

static size_t cpu_count(void) {
    cpu_set_t set;
    size_t count = sched_getaffinity(0, sizeof set, &set) ? 2 : (size_t)CPU_COUNT(&set);
    return count < 2 ? 2 : count > 8 ? 8 : count;
}

static struct pt_deployment_options with_defaults(const struct pt_deployment_options *given) {
    struct pt_deployment_options o = *given;
    const char *temporary = getenv("TMPDIR");
    if (!o.worker_count)
        o.worker_count = cpu_count();
    if (!o.directory)
        o.directory = temporary && *temporary ? temporary : "/var/tmp";
    if (!o.model)
        o.model = &pt_model_config_default;
    return o;
}

/* Writes the weights and maps them, like a newly deployed server. */
static int load_model(struct pt_deployment *d, const struct pt_deployment_options *o,
                      struct pt_err *err) {
    if (!pt_model_config_is_valid(o->model))
        return pt_fail(err, -EINVAL, "the sizes of the model are inconsistent");
    int fd = pt_weights_temporary(o->directory, err);
    if (fd < 0)
        return fd;
    int64_t start_ns = pt_mono_ns();
    int rc = pt_weights_write(fd, o->model, err);
    d->write_seconds = seconds_since(start_ns);
    start_ns = pt_mono_ns();
    if (!rc)
        rc = pt_model_open(&d->model, fd, o->model, err);
    d->read_seconds = seconds_since(start_ns);
    close(fd);
    return rc;
}

int pt_deployment_open(struct pt_deployment *d, const struct pt_deployment_options *options,
                       struct pt_err *err) {
    struct pt_deployment_options o = with_defaults(options);
    *d = (struct pt_deployment){
        .worker_count = o.worker_count,
        .block_count = CONTEXTS * pt_kv_blocks_for(o.model->context),
    };
    int rc = load_model(d, &o, err);
    if (rc)
        return rc;
    struct pt_demo_engine_options engine = {
        .model = &d->model,
        .worker_count = o.worker_count,
        .running_max = RUNNING_MAX,
        .block_count = d->block_count,
        .prefill_max = PREFILL_MAX,
        .chunk_max = CHUNK_MAX,
    };
    rc = pt_engine_new(&d->engine, &engine, err);
    if (rc)
        pt_deployment_close(d);
    return rc;
}

void pt_deployment_close(struct pt_deployment *d) {
    pt_engine_free(d->engine);
    pt_model_close(&d->model);
    *d = (struct pt_deployment){ 0 };
}

void pt_deployment_print(const struct pt_deployment *d, struct pt_out *out) {
    const struct pt_model_config *c = &d->model.config;
    size_t bytes = pt_weights_file_bytes(c);
    pt_out_printf(out,
                  "model        %zu layers x %zu, %zu heads (%zu KV), %.1f M weights, %.1f MiB\n",
                  c->layer_count, c->width, c->head_count, c->kv_head_count,
                  (double)bytes / sizeof(float) / 1e6, (double)bytes / 0x1p20);
    pt_out_printf(out, "weights      written in %.2f s, read in %.2f s\n", d->write_seconds,
                  d->read_seconds);
}
