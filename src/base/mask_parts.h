/* base/mask_parts.h -- what the files of base/mask.h share: names and shapes of secrets. */
#ifndef PT_BASE_MASK_PARTS_H
#define PT_BASE_MASK_PARTS_H

#include "base/mask.h"

#include <stdint.h>

/* What a name says about its value. A doubtful one (`key`, `session`) hides what looks random. */
enum pt_mask_name { PT_MASK_PLAIN, PT_MASK_DOUBTFUL, PT_MASK_CERTAIN };
enum pt_mask_name pt_mask_name_kind(struct pt_str name);

/* What the value of an option is, if the words before name a program with secrets behind options of
 * one letter (`mysql -pabc`). The value of `-u` is a login for every program. */
const struct pt_mask_program *pt_mask_program_of(struct pt_str word);
enum pt_mask_next pt_mask_option(const struct pt_mask_program *program, struct pt_str word);

/* The characters of a text, counted; `run` is the longest run of letters and digits. */
struct pt_mask_look {
    size_t digits, upper, lower, run;
};
struct pt_mask_look pt_mask_look_at(struct pt_str s);

/* Length of a token at the start of `s`, which is not empty, or 0. */
size_t pt_mask_shape_length(struct pt_str s);

/* True for text as generators make it: long, letters and digits without a break. */
bool pt_mask_is_random(struct pt_str s);

#endif
