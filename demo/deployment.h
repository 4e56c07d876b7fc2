/* demo/deployment.h -- writes and reads a model, and starts an engine for it. */
#ifndef PT_DEMO_DEPLOYMENT_H
#define PT_DEMO_DEPLOYMENT_H

#include "base/out.h"
#include "demo/engine.h"

/* 0 or NULL: the default. */
struct pt_deployment_options {
    size_t worker_count;   /* one per CPU available to this process, 2 to 8 */
    const char *directory; /* for the weights: $TMPDIR or /var/tmp, which is on a disk */
    const struct pt_model_config *model; /* pt_model_config_default */
};

struct pt_deployment {
    struct pt_model model;
    struct pt_engine *engine;
    size_t worker_count, block_count;
    double write_seconds, read_seconds;
};

/* The deployment must not move afterwards. */
int pt_deployment_open(struct pt_deployment *d, const struct pt_deployment_options *options,
                       struct pt_err *err) PT_MUST_CHECK;
/* Free the requests before. */
void pt_deployment_close(struct pt_deployment *d);

/* Prints the model and the time of its deployment, in two lines. */
void pt_deployment_print(const struct pt_deployment *d, struct pt_out *out);

#endif
