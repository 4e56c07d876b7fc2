/* Feeds arbitrary bytes to the readers of profiles; the first byte chooses which. What they accept
 * must be whole: writers and tables go over it without looking again. */
#include "profile/model/profile_diff.h"
#include "profile/heap/heap_report.h"
#include "profile/model/lines.h"
#include "profile/files/profile_readers.h"
#include "profile/model/by_function.h"
#include "profile/files/profile_writers.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_true) {
    if (!is_true)
        abort();
}

static void check_profile(const struct pt_profile *p) {
    check(p->type_count > 0 && p->values.count == p->samples.count * p->type_count);
    for (size_t i = 0; i < p->stacks.count; i++) {
        check(p->stacks.at[i].parent == PT_PROFILE_NONE || p->stacks.at[i].parent < i);
        check(p->stacks.at[i].frame < p->frames.count);
    }
    for (size_t i = 0; i < p->samples.count; i++)
        check(p->samples.at[i].stack == PT_PROFILE_NONE ||
              p->samples.at[i].stack < p->stacks.count);
    for (size_t i = 0; i < p->growth.count; i++)
        check(p->growth.at[i].stack < p->stacks.count);
    check(p->timeline.count <= PT_PROFILE_STEPS_MAX);
}

static void write_all(const struct pt_profile *p) {
    struct pt_buf bytes = { 0 };
    struct pt_out out;
    pt_out_memory(&out, &bytes);
    for (size_t i = 0; pt_profile_writers[i]; i++)
        pt_profile_writers[i]->write(p, &out);
    struct pt_top top;
    pt_top_make(&top, p);
    pt_top_print(&top, p, 100, &(struct pt_top_style){ .columns = 40, .has_colors = true }, &out);
    pt_top_release(&top);
    const struct pt_heap_report how = { .top_rows = 10, .wants_leaks = true };
    if (pt_heap_report_fits(p)) {
        pt_heap_report_print(p, &how, &out);
        pt_heap_report_print_json(p, 10, &out);
    }
    if (pt_lines_print(p, "main", &out, NULL) == 0)
        check(bytes.len + out.used > 0);
    check(pt_out_close(&out) == 0);
    pt_buf_release(&bytes);
}

static void compare_with_itself(const struct pt_profile *p) {
    struct pt_profile diff;
    check(pt_profile_diff(p, p, &diff, NULL) == 0);
    check_profile(&diff);
    for (size_t i = 0; i < diff.samples.count; i++)
        check(pt_profile_value(&diff, i, 0) == pt_profile_value(&diff, i, 1));
    pt_profile_release(&diff);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static int (*const readers[])(struct pt_str, struct pt_profile_file *, struct pt_err *) = {
        pt_saved_parse, pt_pprof_parse, NULL, /* whole files */
        NULL,           NULL,
    };
    if (size == 0)
        return 0;
    struct pt_profile_file file = { 0 };
    struct pt_str bytes = { (const char *)data + 1, size - 1 };
    /* '0' chooses the first, so that the corpus is readable. */
    size_t choice = (uint8_t)(data[0] - '0') % PT_COUNT(readers);
    int rc = readers[choice] ? readers[choice](bytes, &file, NULL)
                             : pt_profile_readers[choice - 2]->read(bytes, &file, NULL);
    if (rc == 0) {
        check_profile(&file.profile);
        write_all(&file.profile);
        compare_with_itself(&file.profile);
    }
    pt_profile_file_release(&file);
    return 0;
}
