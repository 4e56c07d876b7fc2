/* Collapsed stacks of any tool: frames from the root, a blank, a number.
 *
 *     python3;main;train (train.py:12);matmul;clear_page_[k] 1024
 *
 * The suffixes _[k] and _[j] mark kernel and JIT frames, as flamegraph.pl and perf's scripts write
 * them; a Python file and line are in parentheses, as py-spy writes them. */
#include "base/scan.h"
#include "profile/files/profile_readers.h"

#include <errno.h>

struct suffix {
    struct pt_str text;
    enum pt_profile_kind kind;
};

static enum pt_profile_kind kind_of(struct pt_str *name) {
    const struct suffix suffixes[] = {
        { PT_STR("_[k]"), PT_KIND_KERNEL },
        { PT_STR("_[j]"), PT_KIND_JIT },
        { PT_STR("_[i]"), PT_KIND_NATIVE },
    };
    for (size_t i = 0; i < PT_COUNT(suffixes); i++)
        if (name->len > suffixes[i].text.len && pt_str_ends(*name, suffixes[i].text)) {
            name->len -= suffixes[i].text.len;
            return suffixes[i].kind;
        }
    return memmem(name->at, name->len, ".py", 3) ? PT_KIND_PYTHON : PT_KIND_NATIVE;
}

/* "step (train.py:12)": splits off file and line. False: there are none. */
static bool split_place(struct pt_str *name, struct pt_str *file, uint32_t *line) {
    const char *colon = memrchr(name->at, ':', name->len);
    const char *blank = memmem(name->at, name->len, " (", 2);
    if (!colon || !blank || blank == name->at || blank + 2 > colon ||
        !pt_str_ends(*name, PT_STR(")")))
        return false;
    struct pt_scan number = { colon + 1, name->at + name->len - 1, false };
    uint64_t value = pt_scan_u64(&number);
    if (number.failed || number.at != number.end || value > UINT32_MAX)
        return false;
    *file = (struct pt_str){ blank + 2, (size_t)(colon - blank - 2) };
    *line = (uint32_t)value;
    name->len = (size_t)(blank - name->at);
    return true;
}

static uint32_t frame_of(struct pt_profile *p, struct pt_str name) {
    enum pt_profile_kind kind = kind_of(&name);
    struct pt_str file = PT_STR("");
    uint32_t line = 0;
    if (kind == PT_KIND_PYTHON)
        (void)split_place(&name, &file, &line); /* otherwise the whole text is the name */
    uint32_t function =
        pt_profile_function(p, (struct pt_profile_function){ .name = pt_profile_string(p, name),
                                                             .module = PT_PROFILE_NONE,
                                                             .file = pt_profile_string(p, file),
                                                             .kind = (uint32_t)kind });
    return pt_profile_frame(p, (struct pt_profile_frame){
                                   .function = function, .module = PT_PROFILE_NONE, .line = line });
}

/* The number follows the last blank. */
static bool split(struct pt_scan line, struct pt_str *frames, int64_t *value) {
    struct pt_str text = pt_scan_rest(&line);
    const char *blank = text.len > 0 ? memrchr(text.at, ' ', text.len) : NULL;
    if (!blank || blank == text.at)
        return false;
    struct pt_scan number = { blank + 1, line.end, false };
    *value = pt_scan_i64(&number);
    *frames = (struct pt_str){ text.at, (size_t)(blank - text.at) };
    return !number.failed && number.at == number.end && blank + 1 < line.end;
}

static bool add_line(struct pt_profile_file *f, struct pt_scan line) {
    struct pt_str frames;
    int64_t value;
    uint32_t stack = PT_PROFILE_NONE;
    if (!split(line, &frames, &value))
        return false;
    while (frames.len > 0) {
        const char *end = memchr(frames.at, ';', frames.len);
        struct pt_str name = { frames.at, end ? (size_t)(end - frames.at) : frames.len };
        frames = pt_str_skip(frames, name.len + 1);
        if (name.len == 0)
            name = PT_STR("[unknown]");
        if (!pt_profile_file_stack(f, stack, frame_of(&f->profile, name), &stack))
            return false;
    }
    struct pt_profile_sample sample = { .thread = PT_PROFILE_NONE,
                                        .stack = stack,
                                        .cpu = UINT16_MAX };
    return pt_profile_file_sample(f, &sample, &value);
}

static int read_folded(struct pt_str bytes, struct pt_profile_file *f, struct pt_err *err) {
    const struct pt_profile_file_type type = { PT_STR("samples"), PT_PROFILE_SAMPLES };
    struct pt_scan text = pt_scan_of(bytes), line;
    pt_profile_file_init(f, PT_STR("imported"), &type, 1);
    struct pt_profile_meta *m = &f->profile.meta;
    m->lost = m->rooted = m->truncated = m->unwound = -1;
    for (int number = 1; pt_scan_line(&text, &line); number++) {
        bool is_blank = line.at == line.end || *line.at == '#';
        if (!is_blank && !add_line(f, line))
            return pt_fail(err, -EBADMSG, "line %d is not a stack with a number", number);
    }
    if (f->profile.samples.count == 0)
        return pt_fail(err, -EBADMSG, "no stacks found");
    return 0;
}

const struct pt_profile_reader pt_folded_reader = { ".folded", read_folded };
