/* base/utf8.h -- which bytes are UTF-8. */
#ifndef PT_BASE_UTF8_H
#define PT_BASE_UTF8_H

#include "base/str.h"

#define PT_UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD: stands for a byte that is not UTF-8 */

/* How many bytes at the start of `text` are whole, valid characters. */
size_t pt_utf8_valid_length(struct pt_str text);

#endif
