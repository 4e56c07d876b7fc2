/* cmd/cmd_cpu_files.c -- `pitot cpu show` and `pitot cpu diff`: existing profiles. */
#include "cmd/command.h"
#include "profile/model/profile_diff.h"
#include "profile/model/lines.h"
#include "profile/files/profile_readers.h"
#include "profile/model/by_function.h"
#include "profile/files/profile_writers.h"

#include <unistd.h>

static int write_files(const struct pt_option_list *outputs, const struct pt_profile *p) {
    struct pt_err err;
    for (size_t i = 0; i < outputs->count; i++)
        if (pt_profile_write(p, outputs->items[i], &err))
            return pt_command_fail(&err, 1);
    return 0;
}

static int print_lines(const struct pt_profile *p, const char *what, struct pt_out *out) {
    struct pt_err err;
    return pt_lines_print(p, what, out, &err) ? pt_command_fail(&err, 1) : 0;
}

static int show(const struct pt_command_options *o, const struct pt_profile *p) {
    struct pt_out out;
    pt_out_borrow(&out, STDOUT_FILENO);
    int code = 0;
    if (o->lines) {
        code = print_lines(p, o->lines, &out);
    } else if (o->top_rows > 0 && !o->is_quiet) {
        struct pt_top_style style = pt_top_style_of(STDOUT_FILENO);
        struct pt_top top;
        pt_top_make(&top, p);
        pt_top_print(&top, p, (size_t)o->top_rows, &style, &out);
        pt_top_release(&top);
        pt_top_print_gil(p, &out);
    }
    return pt_command_close(&out, code);
}

int pt_cmd_cpu_show(const struct pt_command_options *o, char **operands) {
    struct pt_profile_file file;
    struct pt_err err;
    if (!operands[0] || operands[1])
        return pt_command_misused(PT_COMMAND_CPU, "give one profile to show");
    int code = pt_profile_file_read(&file, operands[0], &err) ? pt_command_fail(&err, 1) : 0;
    if (!code)
        code = write_files(&o->profile_outputs, &file.profile);
    if (!code)
        code = show(o, &file.profile);
    pt_profile_file_release(&file);
    return code;
}

static int compare(const struct pt_command_options *o, const struct pt_profile *before,
                   const struct pt_profile *after) {
    struct pt_profile diff;
    struct pt_err err;
    struct pt_out out;
    if (pt_profile_diff(before, after, &diff, &err))
        return pt_command_fail(&err, 1);
    int code = write_files(&o->profile_outputs, &diff);
    pt_out_borrow(&out, STDOUT_FILENO);
    if (!code && !o->is_quiet && o->top_rows > 0)
        pt_profile_diff_print(&diff, (size_t)o->top_rows, &out);
    pt_profile_release(&diff);
    return pt_command_close(&out, code);
}

int pt_cmd_cpu_diff(const struct pt_command_options *o, char **operands) {
    struct pt_profile_file before, after;
    struct pt_err err;
    if (!operands[0] || !operands[1] || operands[2])
        return pt_command_misused(PT_COMMAND_CPU, "give two profiles to compare");
    int rc = pt_profile_file_read(&before, operands[0], &err);
    if (rc) {
        pt_profile_file_release(&before);
        return pt_command_fail(&err, 1);
    }
    rc = pt_profile_file_read(&after, operands[1], &err);
    int code = rc ? pt_command_fail(&err, 1) : compare(o, &before.profile, &after.profile);
    pt_profile_file_release(&before);
    pt_profile_file_release(&after);
    return code;
}
