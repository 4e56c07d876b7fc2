/* profile/unwind/call_site.h -- does a call instruction precede a return address? Looks at x86-64
 * code:
 *
 *     e8 10 20 30 00   call 0x302010 further on
 *     ff 54 24 18      call *0x18(%rsp)
 */
#ifndef PT_PROFILE_UNWIND_CALL_SITE_H
#define PT_PROFILE_UNWIND_CALL_SITE_H

#include <stddef.h>
#include <stdint.h>

enum pt_call {
    PT_CALL_NONE,
    PT_CALL_DIRECT,
    PT_CALL_INDIRECT, /* through a pointer, the usual call of generated code */
};

#define PT_CALL_BYTES 7 /* the longest, without prefixes */

/* `code` ends at the address. */
enum pt_call pt_call_before(const uint8_t *code, size_t size);

#endif
