#include "inside/preload/python_frame.h"

#define TEXT_FLAGS 32

bool pt_memory_read(const struct pt_memory_reader *m, uint64_t address, void *into, size_t size) {
    return m->read(m->state, &(struct pt_memory_piece){ address, into, size }, 1) == 1;
}

uint64_t pt_memory_pointer(const struct pt_memory_reader *m, uint64_t address) {
    uint64_t value;
    return pt_memory_read(m, address, &value, sizeof value) ? value : 0;
}

static size_t most(const size_t *ends, size_t count) {
    size_t end = 0;
    for (size_t i = 0; i < count; i++)
        end = ends[i] > end ? ends[i] : end;
    return end;
}

size_t pt_python_frame_size(const struct pt_python_layout *l) {
    const size_t ends[] = { l->frame_code + 8u, l->frame_previous + 8u, l->frame_instruction + 8u,
                            l->frame_owner + 1u, l->frame_is_entry + 1u };
    return most(ends, sizeof ends / sizeof *ends);
}

size_t pt_python_code_size(const struct pt_python_layout *l) {
    const size_t ends[] = { PT_PYTHON_TYPE + 8u, l->code_filename + 8u, l->code_name + 8u,
                            l->code_lines + 8u, l->code_first_line + 4u };
    return most(ends, sizeof ends / sizeof *ends);
}

uint64_t pt_python_first_frame(const struct pt_python_layout *l, const struct pt_memory_reader *m,
                               uint64_t thread) {
    uint64_t at = pt_memory_pointer(m, thread + l->thread_frame);
    return l->has_cframe && at ? pt_memory_pointer(m, at + l->cframe_frame) : at;
}

static uint32_t instruction_of(const struct pt_python_layout *l, const uint8_t *frame,
                               uint64_t code) {
    uint32_t index = pt_python_u32(frame, l->frame_instruction);
    if (l->instruction_form == PT_PYTHON_INDEX_BYTES)
        return index;
    if (l->instruction_form == PT_PYTHON_INDEX_UNITS)
        return index <= UINT32_MAX / 2 ? index * 2 : UINT32_MAX;
    uint64_t offset = pt_python_u64(frame, l->frame_instruction) - (code + l->code_bytecode);
    if (offset == (uint64_t)-2) /* before the first instruction */
        return 0;
    return offset < UINT32_MAX ? (uint32_t)offset : UINT32_MAX;
}

static uint32_t flags_of(const struct pt_python_layout *l, const uint8_t *frame) {
    switch (l->grouping) {
    case PT_PYTHON_ONE_EACH:
        return PT_PYTHON_IS_LAST;
    case PT_PYTHON_ENTRY:
        return frame[l->frame_is_entry] ? PT_PYTHON_IS_LAST : 0;
    default:
        return frame[l->frame_owner] >= l->first_shim_owner ? PT_PYTHON_IS_LAST | PT_PYTHON_IS_SHIM
                                                            : 0;
    }
}

uint64_t pt_python_parse_frame(const struct pt_python_layout *l,
                               const uint8_t bytes[PT_PYTHON_FRAME_BYTES],
                               struct pt_python_frame *into) {
    /* from 3.14 on, references are tagged in their low bits */
    uint64_t code = pt_python_u64(bytes, l->frame_code) & ~UINT64_C(7);
    into->code = code;
    into->instruction = instruction_of(l, bytes, code);
    into->flags = flags_of(l, bytes);
    return pt_python_u64(bytes, l->frame_previous);
}

struct pt_python_code_key pt_python_code_key(const struct pt_python_layout *l,
                                             const uint8_t bytes[PT_PYTHON_CODE_BYTES]) {
    return (struct pt_python_code_key){ .filename = pt_python_u64(bytes, l->code_filename),
                                        .name = pt_python_u64(bytes, l->code_name),
                                        .lines = pt_python_u64(bytes, l->code_lines),
                                        .first_line = pt_python_u32(bytes, l->code_first_line) };
}

bool pt_python_find_text(const struct pt_python_layout *l, const struct pt_memory_reader *m,
                         uint64_t object, struct pt_python_text *into) {
    uint8_t head[PT_PYTHON_TEXT_BYTES];
    if (!object || !pt_memory_read(m, object, head, sizeof head))
        return false;
    uint64_t length = pt_python_u64(head, PT_PYTHON_SIZE);
    uint32_t flags = pt_python_u32(head, TEXT_FLAGS) >> l->text_kind_shift;
    uint32_t width = flags & 7;
    bool is_compact = flags & 8, is_ascii = flags & 16;
    if (!is_compact || (width != 1 && width != 2 && width != 4) || length > PT_PYTHON_TEXT_MAX)
        return false;
    into->payload = object + (is_ascii ? l->text_ascii : l->text_other);
    into->length = (uint32_t)length;
    into->width = width;
    return true;
}
