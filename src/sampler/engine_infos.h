/* sampler/engine_infos.h -- the inference engines of a run, for the static file.
 *
 * Engines are detected some time after the start, so they are taken from the samples on the way to
 * the journal. */
#ifndef PT_SAMPLER_ENGINE_INFOS_H
#define PT_SAMPLER_ENGINE_INFOS_H

#include "base/json.h"
#include "model/sample.h"

#define PT_ENGINE_INFOS_MAX 16

/* {0} is empty. */
struct pt_engine_infos {
    struct pt_engine_known {
        char url[256], engine[32], model[128], config[2048];
    } known[PT_ENGINE_INFOS_MAX];
    int count;
};

/* True if the sample has a new engine. */
bool pt_engine_infos_add(struct pt_engine_infos *infos, const struct pt_sample *sample);

/* Writes the member "engines"; `infos` is a struct pt_engine_infos. */
void pt_engine_infos_put(struct pt_json *j, void *infos);

#endif
