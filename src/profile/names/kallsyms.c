#include "profile/names/kallsyms.h"

#include "profile/model/nearest.h"

/* from the start of a function: beyond this it is not its code */
#define FARTHEST (UINT64_C(1) << 24)

static bool is_code(char type) {
    return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/* False at the end of the text. */
static bool next_symbol(struct pt_scan *text, struct pt_kernel_symbol *symbol) {
    struct pt_scan line;
    while (pt_scan_line(text, &line)) {
        symbol->start = pt_scan_hex(&line);
        struct pt_str type = pt_scan_word(&line);
        symbol->name = pt_scan_word(&line);
        if (!line.failed && symbol->start > 0 && type.len == 1 && is_code(type.at[0]))
            return true;
    }
    return false;
}

void pt_kallsyms_find(struct pt_scan text, const uint64_t *addresses, size_t count,
                      struct pt_kernel_symbol *found) {
    struct pt_kernel_symbol symbol;
    for (size_t i = 0; i < count; i++)
        found[i] = (struct pt_kernel_symbol){ 0, PT_STR("") };
    while (next_symbol(&text, &symbol)) {
        size_t i = pt_nearest_first(addresses, count, symbol.start);
        if (i < count && symbol.start > found[i].start)
            found[i] = symbol;
    }
    /* a symbol that precedes an address also precedes the next one */
    for (size_t i = 1; i < count; i++)
        if (found[i - 1].start > found[i].start)
            found[i] = found[i - 1];
    for (size_t i = 0; i < count; i++)
        if (addresses[i] - found[i].start > FARTHEST)
            found[i] = (struct pt_kernel_symbol){ 0, PT_STR("") };
}
