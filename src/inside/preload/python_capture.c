/* The Python frames of the current thread, when it allocates. A thread changes only its own frames,
 * so they cannot change here: no Python lock is needed.
 *
 * The layout is known by version (inside/preload/python_layout.h), but a build may differ. So the
 * first walks read by a system call, which fails where a wrong pointer would crash the program;
 * each code object must have the right type, and each chain must end. After PROOFS such walks,
 * memory is read directly. */
#include "inside/preload/heap_preload.h"

#include "inside/preload/python_frame.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define PROOFS      16
#define CODE_PROBES 64

/* A code object that is in the ring; its index in the table is its number. */
struct known_code {
    uint64_t state; /* enum code_state */
    uint64_t address;
    struct pt_python_code_key key;
};

enum code_state { CODE_FREE, CODE_TAKEN, CODE_KNOWN };

static struct {
    struct pt_python_layout layout;
    size_t frame_size, code_size;
    void *(*this_thread)(void); /* returns NULL for a thread without Python state */
    uint64_t code_type;
    uint32_t proofs;
    struct known_code *codes; /* empty in a child after fork */
    uint32_t found;           /* enum pt_heap_python */
} python;

bool pt_heap_has_python;

static size_t read_own(void *state, const struct pt_memory_piece *pieces, size_t count) {
    (void)state;
    for (size_t i = 0; i < count; i++) {
        const struct pt_memory_piece *p = &pieces[i];
        void *at = (void *)(uintptr_t)p->address;
        if (python.proofs >= PROOFS) {
            memcpy(p->into, at, p->size);
            continue;
        }
        struct iovec to = { p->into, p->size }, from = { at, p->size };
        if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)p->size)
            return i;
    }
    return count;
}

static const struct pt_memory_reader own_memory = { read_own, NULL };

/* "3.11.2 (main, ...)": 11. */
static unsigned minor_of(const char *version) {
    unsigned minor = 0;
    if (!version || version[0] != '3' || version[1] != '.')
        return 0;
    for (version += 2; *version >= '0' && *version <= '9' && minor < 1000; version++)
        minor = minor * 10 + (unsigned)(*version - '0');
    return minor;
}

static bool find_layout(const char *version) {
    unsigned minor = minor_of(version);
    const struct pt_python_layout *known = pt_python_layout(minor);
    if (known) {
        python.layout = *known;
        return true;
    }
    const uint8_t *runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");
    return runtime && minor >= 13 && pt_python_layout_from(runtime, &python.layout);
}

static bool open_codes(void) {
    size_t size = PT_PRELOAD_CODES * sizeof *python.codes;
    void *at = pt_heap_next.mmap(NULL, size, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED || madvise(at, size, MADV_WIPEONFORK))
        return false;
    python.codes = at;
    return true;
}

/* An interpreter that another program loads later is not found. */
void pt_heap_python_find(void) {
    const char *(*version)(void) = NULL;
    void *(*this_thread)(void) = NULL;
    void *at = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
    memcpy(&this_thread, &at, sizeof at);
    at = dlsym(RTLD_DEFAULT, "Py_GetVersion");
    memcpy(&version, &at, sizeof at);
    python.code_type = (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "PyCode_Type");
    if (!this_thread || !version)
        return;
    bool is_known = python.code_type && find_layout(version()) && open_codes();
    python.frame_size = pt_python_frame_size(&python.layout);
    python.code_size = pt_python_code_size(&python.layout);
    python.found = is_known ? PT_PRELOAD_PYTHON : PT_PRELOAD_PYTHON_UNKNOWN;
    python.this_thread = is_known ? this_thread : NULL;
    pt_heap_has_python = is_known;
}

void pt_heap_python_start(void) {
    pt_preload_file.header->python = python.found;
}

/* Once the layout has proved right, only this chain is invalid. */
static PT_PRELOAD_COLD void give_up(void) {
    if (python.proofs >= PROOFS)
        return;
    pt_heap_has_python = false;
    python.found = pt_preload_file.header->python = PT_PRELOAD_PYTHON_UNKNOWN;
}

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Writes the text of a code object into the ring. */
static bool write_code(uint32_t number, const struct pt_python_code_key *key) {
    struct pt_python_text name_text, file_text;
    uint64_t position, lines_size;
    if (!pt_python_find_text(&python.layout, &own_memory, key->name, &name_text) ||
        !pt_python_find_text(&python.layout, &own_memory, key->filename, &file_text) ||
        !pt_memory_read(&own_memory, key->lines + PT_PYTHON_SIZE, &lines_size, sizeof lines_size) ||
        lines_size > PT_PYTHON_LINES_MAX)
        return false;
    size_t name = (size_t)name_text.length * name_text.width;
    size_t file = (size_t)file_text.length * file_text.width;
    size_t size =
        (sizeof(struct pt_preload_code) + name + file + lines_size + PT_PRELOAD_ALIGNMENT - 1) &
        ~(size_t)(PT_PRELOAD_ALIGNMENT - 1);
    struct pt_preload_code *c =
        (struct pt_preload_code *)(void *)pt_preload_claim(size, PT_PRELOAD_RING_BYTES, &position);
    if (!c)
        return false;
    c->number = number;
    c->first_line = key->first_line;
    c->name_length = name_text.length;
    c->name_width = name_text.width;
    c->file_length = file_text.length;
    c->file_width = file_text.width;
    c->lines_size = (uint32_t)lines_size;
    c->lines_form = python.layout.lines;
    uint8_t *into = (uint8_t *)(c + 1);
    bool is_whole =
        pt_memory_read(&own_memory, name_text.payload, into, name) &&
        pt_memory_read(&own_memory, file_text.payload, into + name, file) &&
        pt_memory_read(&own_memory, key->lines + PT_PYTHON_PAYLOAD, into + name + file, lines_size);
    if (!is_whole)
        c->name_length = c->file_length = c->lines_size = 0;
    pt_preload_publish(&c->record, position, size, PT_PRELOAD_CODE, 0);
    return is_whole;
}

/* If two threads add the same code at once, it gets two numbers, which is harmless. */
static uint32_t number_of(uint64_t address, const struct pt_python_code_key *key) {
    uint64_t hash = mix(mix(mix(0, address), key->name), key->lines);
    for (uint32_t i = 0; i < CODE_PROBES; i++) {
        uint32_t number = ((uint32_t)(hash >> 32) + i) % PT_PRELOAD_CODES;
        struct known_code *c = &python.codes[number];
        uint64_t state = __atomic_load_n(&c->state, __ATOMIC_ACQUIRE), none = CODE_FREE;
        if (state == CODE_KNOWN && c->address == address && memcmp(&c->key, key, sizeof *key) == 0)
            return number;
        if (state != CODE_FREE || !__atomic_compare_exchange_n(&c->state, &none, CODE_TAKEN, false,
                                                               __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        c->address = address;
        c->key = *key;
        bool is_written = write_code(number, key);
        /* Release: a thread that sees CODE_KNOWN also sees the rest. */
        __atomic_store_n(&c->state, is_written ? CODE_KNOWN : CODE_FREE, __ATOMIC_RELEASE);
        return is_written ? number : UINT32_MAX;
    }
    return UINT32_MAX;
}

/* False: not a code object. */
static bool find_code(uint64_t address, uint32_t *number) {
    uint8_t bytes[PT_PYTHON_CODE_BYTES];
    if (!address || !pt_memory_read(&own_memory, address, bytes, python.code_size) ||
        pt_python_u64(bytes, PT_PYTHON_TYPE) != python.code_type)
        return false;
    struct pt_python_code_key key = pt_python_code_key(&python.layout, bytes);
    *number = number_of(address, &key);
    return true;
}

/* Returns the address of the caller's frame; fails if this is not a frame. */
static uint64_t take_frame(uint64_t at, struct pt_preload_python_frame *into, bool *failed) {
    uint8_t bytes[PT_PYTHON_FRAME_BYTES];
    struct pt_python_frame frame;
    uint32_t number = UINT32_MAX;
    *failed = !pt_memory_read(&own_memory, at, bytes, python.frame_size);
    if (*failed)
        return 0;
    uint64_t caller = pt_python_parse_frame(&python.layout, bytes, &frame);
    *failed = !(frame.flags & PT_PYTHON_IS_SHIM) && !find_code(frame.code, &number);
    *into = (struct pt_preload_python_frame){ number, frame.instruction, frame.flags };
    return caller;
}

uint32_t pt_heap_python_frames(struct pt_preload_python_frame *into, uint32_t capacity) {
    struct pt_preload_python_frame frame;
    uint32_t count = 0;
    bool failed = false;
    void *thread = pt_heap_has_python ? python.this_thread() : NULL;
    if (!thread)
        return 0;
    uint64_t at = pt_python_first_frame(&python.layout, &own_memory, (uint64_t)(uintptr_t)thread);
    while (at && count < capacity && !failed) {
        at = take_frame(at, into ? &into[count] : &frame, &failed);
        count++;
    }
    if (failed) {
        give_up();
        return 0;
    }
    if (python.proofs < PROOFS && count > 0)
        __atomic_add_fetch(&python.proofs, 1, __ATOMIC_RELAXED);
    return count;
}
