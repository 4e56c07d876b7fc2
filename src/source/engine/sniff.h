/* source/engine/sniff.h -- does an inference engine answer on this port of the loopback interface?
 *
 * Asked of every listening socket of a recorded tree, so it must be cheap: one plain HTTP request
 * on one connection, with a deadline and without a library. It only looks for names of engines at
 * the start of lines; the HTTP client reads the full text later. */
#ifndef PT_SOURCE_ENGINE_SNIFF_H
#define PT_SOURCE_ENGINE_SNIFF_H

#include "base/str.h"

#include <stdint.h>

enum pt_sniffed {
    PT_SNIFFED_OTHER,   /* something else answered */
    PT_SNIFFED_ENGINE,  /* found names of a known engine */
    PT_SNIFFED_LOADING, /* a server that is not ready: 503 */
};

/* enum pt_sniffed; -errno: no answer. */
int pt_sniff(uint16_t port, bool is_ipv6, const char *path, int64_t timeout_ns);

/* Pure: is there a line that starts with the name of an engine's series? */
bool pt_sniff_text(struct pt_str text);

#endif
