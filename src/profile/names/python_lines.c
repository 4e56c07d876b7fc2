#include "profile/names/python_lines.h"

#include "base/buf.h"

static uint32_t as_line(int64_t line) {
    return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}

static uint32_t line_39(struct pt_bytes table, int64_t line, uint32_t instruction) {
    uint64_t at = 0;
    while (table.end - table.at >= 2) {
        at += pt_bytes_u8(&table);
        int8_t step = (int8_t)pt_bytes_u8(&table);
        if (at > instruction)
            break;
        line += step;
    }
    return as_line(line);
}

static uint32_t line_310(struct pt_bytes table, int64_t line, uint32_t instruction) {
    uint64_t end = 0;
    while (table.end - table.at >= 2) {
        end += pt_bytes_u8(&table);
        int8_t step = (int8_t)pt_bytes_u8(&table);
        bool has_line = step != -128;
        line += has_line ? step : 0;
        if (instruction < end)
            return has_line ? as_line(line) : 0;
    }
    return 0;
}

/* Six bits per byte, low bits first; bit 6 means that more follow. */
static uint64_t varint(struct pt_bytes *table) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 36 && !table->failed; shift += 6) {
        uint8_t byte = pt_bytes_u8(table);
        value |= (uint64_t)(byte & 63) << shift;
        if (!(byte & 64))
            break;
    }
    return value;
}

static int64_t signed_varint(struct pt_bytes *table) {
    uint64_t value = varint(table);
    return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

enum { FORM_ONE_LINE = 10, FORM_NO_COLUMNS = 13, FORM_LONG = 14, FORM_NONE = 15 };

/* The change of the line by an entry; skips columns. */
static int64_t line_step(struct pt_bytes *table, unsigned form) {
    int64_t step = 0;
    if (form == FORM_NONE)
        return 0;
    if (form == FORM_LONG) {
        step = signed_varint(table);
        for (int i = 0; i < 3; i++)
            (void)varint(table);
    } else if (form == FORM_NO_COLUMNS) {
        step = signed_varint(table);
    } else if (form >= FORM_ONE_LINE) {
        step = form - FORM_ONE_LINE;
        (void)pt_bytes_take(table, 2);
    } else {
        (void)pt_bytes_take(table, 1);
    }
    return step;
}

static uint32_t line_311(struct pt_bytes table, int64_t line, uint32_t instruction) {
    uint64_t end = 0;
    while (table.at < table.end && !table.failed) {
        uint8_t head = pt_bytes_u8(&table);
        unsigned form = head >> 3 & 15;
        end += ((uint64_t)(head & 7) + 1) * 2;
        line += line_step(&table, form);
        if (instruction < end)
            return form == FORM_NONE || table.failed ? 0 : as_line(line);
    }
    return 0;
}

uint32_t pt_python_line(enum pt_python_lines form, struct pt_str table, uint32_t first_line,
                        uint32_t instruction) {
    struct pt_bytes bytes = pt_bytes_of(table);
    switch (form) {
    case PT_PYTHON_LNOTAB:
        return line_39(bytes, first_line, instruction);
    case PT_PYTHON_LINETABLE_310:
        return line_310(bytes, first_line, instruction);
    default:
        return line_311(bytes, first_line, instruction);
    }
}
