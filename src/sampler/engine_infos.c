#include "sampler/engine_infos.h"

static void copy_cell(const struct pt_batch *b, uint32_t row, const char *column, char *into,
                      size_t capacity) {
    int index = pt_table_find(b->table, column);
    bool is_known = index >= 0 && !pt_is_null(b, row, index);
    pt_str_copy(into, capacity, is_known ? pt_get_str(b, row, index) : PT_STR(""));
}

static bool add_engine(struct pt_engine_infos *infos, const struct pt_batch *b, uint32_t row) {
    struct pt_engine_known *e = &infos->known[infos->count];
    copy_cell(b, row, "eUrl", e->url, sizeof e->url);
    copy_cell(b, row, "eEngine", e->engine, sizeof e->engine);
    bool is_known = false;
    for (int i = 0; i < infos->count; i++)
        is_known |= strcmp(infos->known[i].url, e->url) == 0;
    if (!e->engine[0] || is_known)
        return false;
    copy_cell(b, row, "eModel", e->model, sizeof e->model);
    copy_cell(b, row, "eConfig", e->config, sizeof e->config);
    infos->count++;
    return true;
}

bool pt_engine_infos_add(struct pt_engine_infos *infos, const struct pt_sample *sample) {
    int table = pt_schema_find(sample->schema, "engines");
    bool is_new = false;
    for (uint32_t row = 0; table >= 0 && row < sample->batches[table].row_count; row++)
        if (infos->count < PT_ENGINE_INFOS_MAX)
            is_new |= add_engine(infos, &sample->batches[table], row);
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
