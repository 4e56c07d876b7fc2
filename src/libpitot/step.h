/* libpitot/step.h -- a log line about the steps since the previous line:
 *
 *     step 20 train_step: 12.34 ms per step, total_step 12.10 ms x 10, loss 2.05 ms x 10,
 *     345.2 tokens/s, RAM 123.4 MB, GPU 45 % */
#ifndef PT_LIBPITOT_STEP_H
#define PT_LIBPITOT_STEP_H

#include <pitot/config.h>

#define PT_STEP_TEXT 480

struct pt_step_since {
    uint64_t number;
    int64_t time_ns;
    uint64_t span; /* the first step after it */
};

void pt_step_describe(const pt_config *config, const char *name, uint64_t number,
                      const struct pt_step_since *since, char into[PT_STEP_TEXT]);

#endif
