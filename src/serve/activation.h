/* serve/activation.h -- socket activation by systemd (sd_listen_fds(3)). */
#ifndef PT_SERVE_ACTIVATION_H
#define PT_SERVE_ACTIVATION_H

#include "base/err.h"
#include "base/fd.h"

/* `socket` is not open if there is none. 0 or -errno with a message (-EINVAL: there are several).
 * Removes the variables from the environment. */
int pt_activation_take(struct pt_fd *socket, struct pt_err *err) PT_MUST_CHECK;

#endif
