#include "report/engine_contacts.h"

#include "derive/field.h"

static struct pt_engine_contact *contact_of(struct pt_engine_contacts *c, struct pt_str url) {
    for (int i = 0; i < c->count; i++)
        if (pt_str_eq(pt_str_from(c->at[i].url), url))
            return &c->at[i];
    if (c->count == PT_ENGINE_CONTACTS_MAX)
        return NULL;
    struct pt_engine_contact *added = &c->at[c->count++];
    *added = (struct pt_engine_contact){ 0 };
    pt_str_copy(added->url, sizeof added->url, url);
    return added;
}

void pt_engine_contacts_add(struct pt_engine_contacts *c, const struct pt_sample *sample) {
    const struct pt_batch *rows = pt_field_rows(sample, PT_FIELD_ENGINE_URL);
    for (uint32_t row = 0; rows && row < rows->row_count; row++) {
        struct pt_engine_contact *e = contact_of(c, pt_field_text(rows, row, PT_FIELD_ENGINE_URL));
        if (!e)
            continue;
        e->has_answered |= pt_field_text(rows, row, PT_FIELD_ENGINE_KIND).len > 0;
        pt_str_copy(e->problem, sizeof e->problem,
                    pt_field_text(rows, row, PT_FIELD_ENGINE_PROBLEM));
    }
}

void pt_engine_contacts_print(const struct pt_engine_contacts *c, int width, struct pt_out *out) {
    for (int i = 0; i < c->count; i++) {
        const struct pt_engine_contact *e = &c->at[i];
        if (!e->has_answered)
            pt_out_printf(out, "%-*s %s never answered: %s\n", width, "Engine", e->url,
                          e->problem[0] ? e->problem : "no answer before the end of the run");
    }
}
