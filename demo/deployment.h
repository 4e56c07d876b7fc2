/* demo/deployment.h -- a model that is written, read and put behind an engine. */
#ifndef PT_DEMO_DEPLOYMENT_H
#define PT_DEMO_DEPLOYMENT_H

#include "base/out.h"
#include "demo/engine.h"

/* 0 or NULL is the default of each. */
struct pt_deployment_options {
    size_t worker_count;   /* one for each CPU this process may use, 2 to 8 */
    const char *directory; /* of the weights: $TMPDIR or /var/tmp, which is on a disk */
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
/* The requests must have been freed. */
void pt_deployment_close(struct pt_deployment *d);

/* What it is and how long it took, in two lines. */
void pt_deployment_print(const struct pt_deployment *d, struct pt_out *out);

#endif
