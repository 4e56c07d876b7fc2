#include "profile/sample/python_process.h"

#include "base/confine.h"
#include "base/scan.h"
#include "profile/sample/python_gil.h"
#include "profile/sample/recall.h"

#define PIECES_MAX      64
#define LOOK_AGAIN      64 /* samples at most until an unknown thread is looked up again */
#define THREADS_KNOWN   256
#define FRAMES_PER_READ PIECES_MAX

struct known_thread {
    int32_t tid;
    uint32_t passed; /* samples since the lookup failed */
    uint64_t state;  /* 0: Python does not know it */
    uint64_t gil;    /* 0: unknown */
    struct pt_recall *recall;
};

/* A code object that was already read. */
struct known_code {
    uint64_t address;
    struct pt_python_code_key key;
    uint32_t number;
};

struct pt_python_process {
    int32_t pid;
    struct pt_python_place place;
    bool has_layout, is_hopeless;
    struct pt_python_layout layout;
    struct pt_gil_form gil_form;
    struct known_thread threads[THREADS_KNOWN]; /* by tid modulo the array size */
    struct known_code *codes;
    size_t code_count, code_capacity;
    struct pt_intern code_index;
};

bool pt_python_is_file(struct pt_str path, unsigned *minor) {
    const char *slash = path.len > 0 ? memrchr(path.at, '/', path.len) : NULL;
    struct pt_scan s = pt_scan_of(slash ? pt_str_skip(path, (size_t)(slash + 1 - path.at)) : path);
    (void)pt_scan_take(&s, PT_STR("lib"));
    if (!pt_scan_take(&s, PT_STR("python")))
        return false;
    *minor = pt_scan_take(&s, PT_STR("3.")) ? (unsigned)pt_scan_u64(&s) : 0;
    return true;
}

void pt_pythons_init(struct pt_pythons *p) {
    *p = (struct pt_pythons){ 0 };
    pthread_mutex_init(&p->lock, NULL);
}

static void release_process(struct pt_python_process *process) {
    for (size_t i = 0; i < THREADS_KNOWN; i++)
        pt_free(process->threads[i].recall);
    pt_free(process->codes);
    pt_intern_release(&process->code_index);
    pt_free(process);
}

static void release_code(struct pt_python_code *code) {
    pt_free(code->name);
    pt_free(code->file);
    pt_buf_release(&code->table);
}

void pt_pythons_release(struct pt_pythons *p) {
    for (size_t i = 0; i < p->process_count; i++)
        release_process(p->processes[i]);
    for (size_t i = 0; i < p->code_count; i++) {
        release_code(p->codes[i]);
        pt_free(p->codes[i]);
    }
    pt_free(p->processes);
    pt_free(p->codes);
    pt_free(p->recalled);
    pthread_mutex_destroy(&p->lock);
    *p = (struct pt_pythons){ 0 };
}

/* Where a process is, or would be. */
static size_t place_of(const struct pt_pythons *p, int32_t pid) {
    size_t low = 0, high = p->process_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->processes[middle]->pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct pt_python_process *find(const struct pt_pythons *p, int32_t pid) {
    size_t i = place_of(p, pid);
    return i < p->process_count && p->processes[i]->pid == pid ? p->processes[i] : NULL;
}

static void remove_process(struct pt_pythons *p, int32_t pid) {
    if (!find(p, pid))
        return;
    struct pt_python_process **at = &p->processes[place_of(p, pid)];
    release_process(*at);
    p->process_count--;
    memmove(at, at + 1, (size_t)(p->processes + p->process_count - at) * sizeof *at);
}

static void add(struct pt_pythons *p, int32_t pid, struct pt_python_place place) {
    remove_process(p, pid);
    if (p->process_count >= PT_PYTHON_PROCESSES_MAX)
        return;
    pt_grow(&p->processes, &p->process_capacity, p->process_count + 1, sizeof *p->processes);
    struct pt_python_process **at = &p->processes[place_of(p, pid)];
    memmove(at + 1, at, (size_t)(p->processes + p->process_count - at) * sizeof *at);
    p->process_count++;
    *at = pt_calloc(1, sizeof **at);
    (*at)->pid = pid;
    (*at)->place = place;
}

void pt_pythons_add(struct pt_pythons *p, int32_t pid, struct pt_python_place place) {
    pthread_mutex_lock(&p->lock);
    add(p, pid, place);
    pthread_mutex_unlock(&p->lock);
}

void pt_pythons_fork(struct pt_pythons *p, int32_t pid, int32_t parent) {
    pthread_mutex_lock(&p->lock);
    struct pt_python_process *from = find(p, parent);
    if (from)
        add(p, pid, from->place);
    pthread_mutex_unlock(&p->lock);
}

void pt_pythons_remove(struct pt_pythons *p, int32_t pid) {
    pthread_mutex_lock(&p->lock);
    remove_process(p, pid);
    pthread_mutex_unlock(&p->lock);
}

static size_t read_process(void *state, const struct pt_memory_piece *pieces, size_t count) {
    const struct pt_python_process *process = state;
    struct iovec local[PIECES_MAX] = { 0 }, remote[PIECES_MAX] = { 0 };
    if (count > PIECES_MAX)
        count = PIECES_MAX;
    for (size_t i = 0; i < count; i++) {
        local[i] = (struct iovec){ pieces[i].into, pieces[i].size };
        remote[i] = (struct iovec){ (void *)(uintptr_t)pieces[i].address, pieces[i].size };
    }
    ssize_t n = pt_confine_read(process->pid, local, remote, count);
    size_t done = 0, left = n > 0 ? (size_t)n : 0;
    while (done < count && left >= pieces[done].size)
        left -= pieces[done++].size;
    return done;
}

/* Fails while the program is still loading. Py_Version is 0x030b02f0 for 3.11.2. */
static bool find_layout(struct pt_python_process *process, const struct pt_memory_reader *m) {
    const struct pt_python_place *place = &process->place;
    uint8_t head[PT_PYTHON_DEBUG_BYTES];
    if (process->has_layout || process->is_hopeless)
        return process->has_layout;
    if (!pt_memory_read(m, place->runtime, head, sizeof head))
        return false;
    if (memcmp(head, PT_PYTHON_COOKIE, 8) == 0) {
        process->has_layout = pt_python_layout_from(head, &process->layout);
        process->is_hopeless = !process->has_layout;
        return process->has_layout;
    }
    unsigned minor = place->minor;
    uint32_t version;
    if (place->version_address &&
        pt_memory_read(m, place->version_address, &version, sizeof version) && version >> 24 == 3)
        minor = version >> 16 & 0xff;
    const struct pt_python_layout *known = pt_python_layout(minor);
    if (!known)
        return false;
    process->layout = *known;
    process->has_layout = true;
    return true;
}

/* Is it a Python thread? A thread runs for a moment before Python registers it, so an unknown
 * thread is looked up again after 1, 2, 4 samples; most that remain unknown are not Python threads.
 */
static bool find_thread(const struct pt_python_process *process, const struct pt_memory_reader *m,
                        int32_t tid, struct known_thread *known) {
    const struct pt_python_layout *l = &process->layout;
    uint64_t runtime = process->place.runtime;
    if (known->tid == tid && known->state && pt_python_is_thread(l, m, known->state, tid))
        return true;
    uint32_t passed = 0;
    if (known->tid == tid && !known->state) {
        passed = ++known->passed;
        if ((passed & (passed - 1)) != 0 && passed % LOOK_AGAIN != 0)
            return false;
    }
    *known = (struct known_thread){ .tid = tid, .passed = passed, .recall = known->recall };
    known->state = pt_python_find_thread(l, m, runtime, tid);
    if (!known->state)
        return false;
    known->gil = pt_python_find_gil(l, m, runtime, known->state);
    return true;
}

static bool is_known(const void *owner, uint32_t number, const void *key) {
    const struct pt_python_process *process = owner;
    const uint64_t *address = key;
    return process->codes[number].address == *address;
}

static char *read_name(const struct pt_python_process *process, const struct pt_memory_reader *m,
                       uint64_t object) {
    struct pt_buf text = { 0 };
    bool is_text = pt_python_read_text(&process->layout, m, object, &text);
    char *name = pt_strndup(is_text && text.len > 0 ? pt_buf_as_str(&text) : PT_STR("?"));
    pt_buf_release(&text);
    return name;
}

static uint32_t add_code(struct pt_pythons *p, struct pt_python_code code) {
    if (p->code_count >= PT_PYTHON_CODES_MAX) {
        release_code(&code);
        return UINT32_MAX;
    }
    struct pt_python_code *kept = pt_calloc(1, sizeof *kept);
    *kept = code;
    pt_grow(&p->codes, &p->code_capacity, p->code_count + 1, sizeof(void *));
    p->codes[p->code_count] = kept;
    return (uint32_t)p->code_count++;
}

static uint32_t read_code(struct pt_pythons *p, const struct pt_python_process *process,
                          const struct pt_memory_reader *m, const struct pt_python_code_key *key) {
    if (p->code_count >= PT_PYTHON_CODES_MAX)
        return UINT32_MAX;
    struct pt_python_code code = { .name = read_name(process, m, key->name),
                                   .file = read_name(process, m, key->filename),
                                   .first_line = key->first_line,
                                   .lines = process->layout.lines };
    (void)pt_python_read_bytes(m, key->lines, &code.table);
    return add_code(p, code);
}

static uint32_t number_of(struct pt_pythons *p, struct pt_python_process *process,
                          const struct pt_memory_reader *m, uint64_t address,
                          const struct pt_python_code_key *key) {
    if (key->name == 0 || key->filename == 0)
        return UINT32_MAX;
    uint32_t next = (uint32_t)process->code_count;
    uint32_t number = pt_intern_find(&process->code_index, pt_intern_hash(&address, sizeof address),
                                     is_known, process, &address, next);
    if (number == next) {
        process->code_count++;
        pt_grow(&process->codes, &process->code_capacity, process->code_count,
                sizeof *process->codes);
        process->codes[number] = (struct known_code){ .address = address, .number = UINT32_MAX };
    }
    struct known_code *known = &process->codes[number];
    if (known->number == UINT32_MAX || memcmp(&known->key, key, sizeof *key) != 0) {
        known->key = *key;
        known->number = read_code(p, process, m, key);
    }
    return known->number;
}

/* Reads all code objects of a stack with as few system calls as possible. */
static void add_entries(struct pt_pythons *p, struct pt_python_process *process,
                        const struct pt_memory_reader *m, const struct pt_python_frame *frames,
                        size_t count, struct pt_buf *into) {
    uint8_t bytes[FRAMES_PER_READ][PT_PYTHON_CODE_BYTES];
    struct pt_memory_piece pieces[FRAMES_PER_READ];
    for (size_t i = 0; i < count; i++)
        pieces[i] = (struct pt_memory_piece){ frames[i].code, bytes[i], PT_PYTHON_CODE_BYTES };
    size_t done = 0;
    while (done < count) {
        done += m->read(m->state, pieces + done, count - done);
        if (done < count) /* a shim has no readable code object */
            memset(bytes[done++], 0, PT_PYTHON_CODE_BYTES);
    }
    for (size_t i = 0; i < count; i++) {
        struct pt_python_code_key key = pt_python_code_key(&process->layout, bytes[i]);
        bool is_shim = frames[i].flags & PT_PYTHON_IS_SHIM;
        struct pt_python_entry entry = { is_shim ? UINT32_MAX
                                                 : number_of(p, process, m, frames[i].code, &key),
                                         frames[i].instruction, frames[i].flags };
        pt_buf_bytes(into, &entry, sizeof entry);
    }
}

static size_t read_thread(struct pt_pythons *p, struct pt_python_process *process,
                          const struct pt_memory_reader *m, int32_t tid,
                          struct known_thread *thread, struct pt_buf *into) {
    struct pt_python_frame frames[PT_PYTHON_DEPTH_MAX];
    if (!find_thread(process, m, tid, thread))
        return 0;
    size_t count = pt_python_frames(&process->layout, m, thread->state, frames);
    if (count > 0)
        frames[0].flags |=
            pt_python_read_gil(&process->layout, m, thread->gil, thread->state, &process->gil_form)
            << PT_PYTHON_GIL_SHIFT;
    for (size_t i = 0; i < count; i += FRAMES_PER_READ) {
        size_t some = count - i < FRAMES_PER_READ ? count - i : FRAMES_PER_READ;
        add_entries(p, process, m, frames + i, some, into);
    }
    return count;
}

static size_t read_stack(struct pt_pythons *p, struct pt_python_process *process, int32_t tid,
                         struct pt_buf *into) {
    struct pt_memory_reader memory = { read_process, process };
    if (!find_layout(process, &memory))
        return 0;
    struct known_thread *thread = &process->threads[(uint32_t)tid % THREADS_KNOWN];
    if (!p->recalled)
        p->recalled = pt_calloc(1, PT_RECALL_BYTES);
    if (!thread->recall)
        thread->recall = pt_calloc(1, sizeof *thread->recall);
    pt_recall_begin(thread->recall, memory, p->recalled);
    const struct pt_memory_reader m = { pt_recall_read, thread->recall };
    size_t count = read_thread(p, process, &m, tid, thread, into);
    pt_recall_end(thread->recall);
    return count;
}

bool pt_pythons_any(struct pt_pythons *p) {
    pthread_mutex_lock(&p->lock);
    bool is_any = p->process_count > 0;
    pthread_mutex_unlock(&p->lock);
    return is_any;
}

bool pt_pythons_has(struct pt_pythons *p, int32_t pid) {
    pthread_mutex_lock(&p->lock);
    bool is_there = find(p, pid) != NULL;
    pthread_mutex_unlock(&p->lock);
    return is_there;
}

size_t pt_pythons_read(struct pt_pythons *p, int32_t pid, int32_t tid, struct pt_buf *into) {
    pthread_mutex_lock(&p->lock);
    struct pt_python_process *process = find(p, pid);
    size_t count = process ? read_stack(p, process, tid, into) : 0;
    pthread_mutex_unlock(&p->lock);
    return count;
}

uint32_t pt_pythons_add_code(struct pt_pythons *p, struct pt_python_code code) {
    pthread_mutex_lock(&p->lock);
    uint32_t number = add_code(p, code);
    pthread_mutex_unlock(&p->lock);
    return number;
}

const struct pt_python_code *pt_pythons_code(struct pt_pythons *p, uint32_t number) {
    pthread_mutex_lock(&p->lock);
    const struct pt_python_code *code = number < p->code_count ? p->codes[number] : NULL;
    pthread_mutex_unlock(&p->lock);
    return code;
}
