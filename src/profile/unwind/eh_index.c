#include "profile/unwind/eh_index.h"

#include "inside/preload/dwarf.h"

#define HEADER_BYTES 12
#define PAIR_BYTES   8

static int64_t start_at(struct pt_str section, size_t pair) {
    int32_t start;
    memcpy(&start, section.at + HEADER_BYTES + pair * PAIR_BYTES, sizeof start);
    return start;
}

/* 0 if the table is not in the format that all linkers write. */
static size_t pair_count(struct pt_str section) {
    static const uint8_t start[] = { PT_EH_HDR_VERSION, PT_EH_HDR_FRAME_ENCODING,
                                     PT_EH_HDR_COUNT_ENCODING, PT_EH_HDR_TABLE_ENCODING };
    uint32_t count;
    if (section.len < HEADER_BYTES || memcmp(section.at, start, sizeof start) != 0)
        return 0;
    memcpy(&count, section.at + 8, sizeof count);
    return count <= (section.len - HEADER_BYTES) / PAIR_BYTES ? count : 0;
}

bool pt_eh_index_find(struct pt_str section, uint64_t section_address, uint64_t address,
                      uint64_t *start) {
    int64_t wanted = (int64_t)(address - section_address);
    size_t low = 0, high = pair_count(section);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (start_at(section, middle) <= wanted)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    *start = section_address + (uint64_t)start_at(section, low - 1);
    return true;
}
