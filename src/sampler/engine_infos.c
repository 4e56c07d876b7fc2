#include "sampler/engine_infos.h"

#include "derive/field.h"

static bool add_engine(struct pt_engine_infos *infos, const struct pt_batch *b, uint32_t row) {
    struct pt_engine_known *e = &infos->known[infos->count];
    pt_str_copy(e->url, sizeof e->url, pt_field_text(b, row, PT_FIELD_ENGINE_URL));
    pt_str_copy(e->engine, sizeof e->engine, pt_field_text(b, row, PT_FIELD_ENGINE_KIND));
    bool is_known = false;
    for (int i = 0; i < infos->count; i++)
        is_known |= strcmp(infos->known[i].url, e->url) == 0;
    if (!e->engine[0] || is_known)
        return false;
    pt_str_copy(e->model, sizeof e->model, pt_field_text(b, row, PT_FIELD_ENGINE_MODEL));
    pt_str_copy(e->config, sizeof e->config, pt_field_text(b, row, PT_FIELD_ENGINE_CONFIG));
    infos->count++;
    return true;
}

bool pt_engine_infos_add(struct pt_engine_infos *infos, const struct pt_sample *sample) {
    const struct pt_batch *b = pt_field_rows(sample, PT_FIELD_ENGINE_URL);
    bool is_new = false;
    for (uint32_t row = 0; b && row < b->row_count; row++)
        if (infos->count < PT_ENGINE_INFOS_MAX)
            is_new |= add_engine(infos, b, row);
    return is_new;
}

void pt_engine_infos_put(struct pt_json *j, void *state) {
    const struct pt_engine_infos *infos = state;
    pt_json_array(j, "engines");
    for (int i = 0; i < infos->count; i++) {
        const struct pt_engine_known *e = &infos->known[i];
        pt_json_object(j, NULL);
        pt_json_text(j, "url", e->url);
        pt_json_text(j, "engine", e->engine);
        pt_json_text(j, "model", *e->model ? e->model : NULL);
        pt_json_text(j, "config", *e->config ? e->config : NULL);
        pt_json_end(j);
    }
    pt_json_end(j);
}
