/* libpitot/json_text.h -- JSON as a text that the program free()s; NULL without memory. */
#ifndef PT_LIBPITOT_JSON_TEXT_H
#define PT_LIBPITOT_JSON_TEXT_H

#include "base/json.h"

typedef void pt_json_function(struct pt_json *json, const void *what);

/* NULL: no memory. */
char *pt_json_text_new(pt_json_function *write, const void *what);

#endif
