/* base/utf8.h -- checks and writes UTF-8. */
#ifndef PT_BASE_UTF8_H
#define PT_BASE_UTF8_H

#include "base/buf.h"

#define PT_UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD: replaces a byte that is not UTF-8 */

/* How many bytes at the start of `text` are whole, valid characters. */
size_t pt_utf8_valid_length(struct pt_str text);

/* Appends a character; `code` is below 0x110000. */
void pt_utf8_put(struct pt_buf *into, uint32_t code);

#endif
