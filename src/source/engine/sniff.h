/* source/engine/sniff.h -- does an inference engine answer on this port of the loopback interface?
 *
 * Asked of every listening socket of a recorded tree, so it must be cheap and polite: one plain
 * HTTP request on one connection, with a deadline, and no library to be loaded. It only looks for
 * names of engines at the start of lines; the HTTP client reads the text in earnest later. */
#ifndef PT_SOURCE_ENGINE_SNIFF_H
#define PT_SOURCE_ENGINE_SNIFF_H

#include "base/str.h"

#include <stdint.h>

/* 1: names of a known engine were seen. 0: something else answered. -errno: nothing did. */
int pt_sniff(uint16_t port, bool is_ipv6, const char *path, int64_t timeout_ns);

/* Pure: is there a line that starts with the name of an engine's series? */
bool pt_sniff_text(struct pt_str text);

#endif
