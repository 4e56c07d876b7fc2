/* report/engine_contacts.h -- which inference engines answered during a run, and why the others did
 * not. */
#ifndef PT_REPORT_ENGINE_CONTACTS_H
#define PT_REPORT_ENGINE_CONTACTS_H

#include "base/out.h"
#include "model/sample.h"

#define PT_ENGINE_CONTACTS_MAX 16

struct pt_engine_contact {
    char url[256], problem[128]; /* the last problem; "" if there was none */
    bool has_answered;
};

/* {0} is empty. */
struct pt_engine_contacts {
    struct pt_engine_contact at[PT_ENGINE_CONTACTS_MAX];
    int count;
};

void pt_engine_contacts_add(struct pt_engine_contacts *c, const struct pt_sample *sample);
/* A line for each engine that never answered; titles are `width` wide. */
void pt_engine_contacts_print(const struct pt_engine_contacts *c, int width, struct pt_out *out);

#endif
