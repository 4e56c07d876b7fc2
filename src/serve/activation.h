/* serve/activation.h -- a socket that systemd listens on for us (sd_listen_fds(3)). */
#ifndef PT_SERVE_ACTIVATION_H
#define PT_SERVE_ACTIVATION_H

#include "base/err.h"

/* The descriptor plus one; 0: there is none; -EINVAL with words: there are several. Takes the
 * variables out of the environment. */
int pt_activation_take(struct pt_err *err) PT_MUST_CHECK;

#endif
