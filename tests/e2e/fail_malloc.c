/* A preloaded library in which allocations fail, in the program called FAIL_MALLOC_IN:
 *
 *     FAIL_MALLOC_AT=N              the Nth allocation
 *     FAIL_MALLOC_HOW=from          this one and all later ones [default]
 *                     once          only this one
 *                     every         this one and each Nth one after it
 *     FAIL_MALLOC_UNDER=TEXT        counts only those made by a function of an object with TEXT in
 *                                   its name, or below one; mappings and threads count, too
 *     FAIL_MALLOC_NOT_IN=NAME       not those of this function, which has an error of its own
 *
 * A process can set the first three, and begin to count again, with fail_malloc(). */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#define EXPORTED    __attribute__((visibility("default")))
#define FRAMES_MAX  24
#define OBJECTS_MAX 8

extern void *__libc_malloc(size_t size), *__libc_calloc(size_t count, size_t size),
    *__libc_realloc(void *old, size_t size);

static long at = -1; /* -1: no limit */
static long seen;    /* atomic */
static char how = 'f';
static char under[64];

static __thread __attribute__((tls_model("initial-exec"))) bool is_looking;

/* Objects whose name has the text. */
static struct { uintptr_t start, end; } objects[OBJECTS_MAX];
static size_t object_count;
static uintptr_t spared_start, spared_end; /* the function of FAIL_MALLOC_NOT_IN */
static unsigned long long adds_seen;

static int look_at_object(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size;
    (void)unused;
    if (info->dlpi_adds == adds_seen)
        return 1;
    if (!strstr(info->dlpi_name, under) || object_count == OBJECTS_MAX)
        return 0;
    uintptr_t end = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD &&
            info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz > end)
            end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    for (size_t i = 0; i < object_count; i++)
        if (objects[i].start == info->dlpi_addr)
            return 0;
    objects[object_count].start = info->dlpi_addr;
    objects[object_count++].end = end;
    return 0;
}

static int note_adds(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size;
    (void)unused;
    adds_seen = info->dlpi_adds;
    return 1;
}

static void look_for_spared(void) {
    const char *name = getenv("FAIL_MALLOC_NOT_IN");
    void *function = name && !spared_start ? dlsym(RTLD_DEFAULT, name) : NULL;
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;
    if (!function || !dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol)
        return;
    spared_start = (uintptr_t)function;
    spared_end = spared_start + symbol->st_size;
}

struct walk {
    int left;
    bool is_found;
};

static _Unwind_Reason_Code look_at_frame(struct _Unwind_Context *context, void *user) {
    struct walk *walk = user;
    uintptr_t ip = _Unwind_GetIP(context);
    if (ip >= spared_start && ip < spared_end)
        return _URC_END_OF_STACK;
    for (size_t i = 0; i < object_count; i++)
        walk->is_found |= ip >= objects[i].start && ip < objects[i].end;
    return walk->is_found || --walk->left == 0 ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static bool is_counted(void) {
    if (!under[0])
        return true;
    if (is_looking)
        return false;
    is_looking = true;
    if (dl_iterate_phdr(look_at_object, NULL) == 0)
        dl_iterate_phdr(note_adds, NULL);
    struct walk walk = { FRAMES_MAX, false };
    if (object_count > 0)
        _Unwind_Backtrace(look_at_frame, &walk);
    is_looking = false;
    return walk.is_found;
}

static bool may_have(void) {
    if (__atomic_load_n(&at, __ATOMIC_RELAXED) < 0 || !is_counted())
        return true;
    long number = __atomic_add_fetch(&seen, 1, __ATOMIC_RELAXED);
    bool fails = how == 'o' ? number == at : how == 'e' ? number % at == 0 : number >= at;
    if (at == 0)
        fails = true;
    if (fails)
        errno = ENOMEM;
    return !fails;
}

/* Returns how many were counted since the last call. */
long fail_malloc(long number, const char *way, const char *text);
EXPORTED long fail_malloc(long number, const char *way, const char *text) {
    strncpy(under, text, sizeof under - 1);
    how = way[0];
    look_for_spared();
    long counted = __atomic_exchange_n(&seen, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&at, number, __ATOMIC_RELAXED);
    return counted;
}

__attribute__((constructor)) static void begin(void) {
    const char *name = getenv("FAIL_MALLOC_IN"), *number = getenv("FAIL_MALLOC_AT");
    const char *way = getenv("FAIL_MALLOC_HOW"), *text = getenv("FAIL_MALLOC_UNDER");
    if (name && number && strcmp(name, program_invocation_short_name) == 0)
        fail_malloc(strtol(number, NULL, 10), way ? way : "from", text ? text : "");
}

EXPORTED void *malloc(size_t size) {
    return may_have() ? __libc_malloc(size) : NULL;
}

EXPORTED void *calloc(size_t count, size_t size) {
    return may_have() ? __libc_calloc(count, size) : NULL;
}

EXPORTED void *realloc(void *old, size_t size) {
    return may_have() ? __libc_realloc(old, size) : NULL;
}

EXPORTED void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset) {
    if (under[0] && !may_have())
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
}

EXPORTED int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                            void *(*run)(void *), void *user) {
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    void *found = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&next, &found, sizeof next);
    return under[0] && !may_have() ? EAGAIN : next(thread, attributes, run, user);
}
