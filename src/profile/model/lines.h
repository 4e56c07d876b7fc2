/* profile/model/lines.h -- the source of a function with the share of each line.
 *
 *      self   total
 *                      41      def step(self, batch):
 *     2.1 %  40.2 %    42          loss = self.model(batch)
 *            12.0 %    43          loss.backward()
 */
#ifndef PT_PROFILE_MODEL_LINES_H
#define PT_PROFILE_MODEL_LINES_H

#include "base/err.h"
#include "base/out.h"
#include "profile/model/profile.h"

/* `what` is FILE:FUNCTION, FUNCTION or FILE:. A file matches by its last path components, a
 * function by its name or by the part after a dot or "::". If the file can be read, its lines are
 * shown with some context. -ENODATA: nothing matches, or no lines are known. */
int pt_lines_print(const struct pt_profile *p, const char *what, struct pt_out *out,
                   struct pt_err *err) PT_MUST_CHECK;

#endif
