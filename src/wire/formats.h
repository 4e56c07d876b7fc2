/* wire/formats.h -- the writers behind wire/exposition.h, a family each. */
#ifndef PT_WIRE_FORMATS_H
#define PT_WIRE_FORMATS_H

#include "base/json.h"
#include "wire/family.h"

void pt_family_text(struct pt_out *out, const struct pt_family *family, bool is_openmetrics);
void pt_family_proto(struct pt_out *out, const struct pt_family *family);
void pt_family_json(struct pt_json *j, const struct pt_family *family);

#endif
