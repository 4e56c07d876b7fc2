/* base/utf8.h -- checks and writes UTF-8. */
#ifndef PT_BASE_UTF8_H
#define PT_BASE_UTF8_H

#include "base/buf.h"

#define PT_UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD: replaces a byte that is not UTF-8 */

/* How many bytes at the start of `text` are whole, valid characters. */
size_t pt_utf8_valid_length(struct pt_str text);

/* Appends the text; each byte that is not UTF-8 is replaced. */
void pt_utf8_add(struct pt_buf *into, struct pt_str text);

/* Appends text of others for a terminal: control characters (C0, DEL, C1 in either encoding)
 * besides those of `kept` are written \x1b, other bytes that are not UTF-8 as U+FFFD. At most
 * PT_PRINTABLE_MAX(bytes). */
#define PT_PRINTABLE_MAX(bytes) (4 * (bytes))
void pt_utf8_printable(struct pt_buf *into, struct pt_str text, const char *kept);

/* Appends a character; `code` is below 0x110000. */
void pt_utf8_put(struct pt_buf *into, uint32_t code);

#endif
