/* Allocates known amounts from known functions; the first argument says which story. Prints "done",
 * and ends with code 7, so that a profiler that changes output or exit code is found out. */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each of its own code, so that no compiler makes one of two. */
#define ALLOCATOR(name, number)                                   \
    __attribute__((noinline)) static void *name(size_t bytes) {   \
        void *p = malloc(bytes);                                  \
        __asm__ volatile("nop /* %1 */" : "+r"(p) : "i"(number)); \
        return p;                                                 \
    }

ALLOCATOR(keep_small, 1)
ALLOCATOR(keep_large, 2)
ALLOCATOR(pass_by, 3)
ALLOCATOR(leak_slowly, 4)
ALLOCATOR(warm_up, 5)
ALLOCATOR(come_and_go, 6)
ALLOCATOR(in_thread, 7)
ALLOCATOR(in_child, 8)
ALLOCATOR(in_parent, 9)

static void *sink[4096];

/* 1000 x 100 bytes and 10 x 1 MiB stay, 5000 x 300 bytes go at once. */
static void tell_exact(void) {
    for (int i = 0; i < 1000; i++)
        sink[i % 4096] = keep_small(100);
    for (int i = 0; i < 10; i++)
        sink[i] = keep_large(1 << 20);
    for (int i = 0; i < 5000; i++)
        free(pass_by(300));
}

/* 10,000 blocks, sizes from 16 to 16,000, 80,080,000 bytes in all; none stays. */
static void tell_sampled(void) {
    for (int i = 0; i < 10000; i++) {
        void **slot = &sink[i % 512];
        free(*slot);
        *slot = come_and_go(16 + (size_t)(i % 1000) * 16);
    }
    for (int i = 0; i < 512; i++) {
        free(sink[i]);
        sink[i] = NULL;
    }
}

static void pause_us(long us) {
    struct timespec t = { us / 1000000, us % 1000000 * 1000 };
    nanosleep(&t, NULL);
}

/* 0.6 s: one leak, one warm-up, one that comes and goes. */
static void tell_leaks(void) {
    for (int i = 0; i < 300; i++)
        sink[1024 + i] = warm_up(40000);
    for (int i = 0; i < 300; i++) {
        sink[i] = leak_slowly(50000);
        for (int k = 0; k < 4; k++) {
            free(sink[2048 + (4 * i + k) % 64]);
            sink[2048 + (4 * i + k) % 64] = come_and_go(60000);
        }
        pause_us(2000);
    }
}

static void *work(void *ended) {
    for (int i = 0; i < 1000; i++) {
        void *p = in_thread(200);
        if (i % 2)
            free(p);
    }
    return ended;
}

static void tell_threads(void) {
    pthread_t threads[8];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 8; i++)
            pthread_create(&threads[i], NULL, work, NULL);
        for (int i = 0; i < 8; i++)
            pthread_join(threads[i], NULL);
    }
}

/* What a child inherits is its parent's; what it frees of it changes nothing there. */
static void tell_fork(void) {
    for (int i = 0; i < 100; i++)
        sink[i] = in_parent(1000);
    pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; i < 100; i++)
            free(sink[i]);
        for (int i = 0; i < 50; i++)
            sink[i] = in_child(2000);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    for (int i = 0; i < 50; i++)
        free(sink[i]);
}

__attribute__((noinline)) static void *grow(void *p, size_t bytes) {
    p = realloc(p, bytes);
    __asm__ volatile("" : "+r"(p));
    return p;
}

__attribute__((noinline)) static void *zeroed(size_t count, size_t bytes) {
    void *p = calloc(count, bytes);
    __asm__ volatile("" : "+r"(p));
    return p;
}

__attribute__((noinline)) static void *aligned(size_t bytes) {
    void *p = NULL;
    int rc = posix_memalign(&p, 4096, bytes);
    __asm__ volatile("" : "+r"(p));
    return rc ? NULL : p;
}

__attribute__((noinline)) static void *aligned_old(size_t bytes) {
    void *p = memalign(64, bytes);
    __asm__ volatile("" : "+r"(p));
    return p;
}

__attribute__((noinline)) static void *aligned_new(size_t bytes) {
    void *p = aligned_alloc(64, bytes);
    __asm__ volatile("" : "+r"(p));
    return p;
}

__attribute__((noinline)) static void *paged(size_t bytes) {
    void *p = valloc(bytes);
    __asm__ volatile("" : "+r"(p));
    return p;
}

__attribute__((noinline)) static void *whole_pages(size_t bytes) {
    void *p = pvalloc(bytes);
    __asm__ volatile("" : "+r"(p));
    return p;
}

__attribute__((noinline)) static void *copied(const char *text) {
    void *p = strdup(text);
    __asm__ volatile("" : "+r"(p));
    return p;
}

static void fail(const char *what) {
    printf("wrong: %s\n", what);
}

static volatile size_t too_much = SIZE_MAX / 2;

/* Content, errno and the rules of realloc are as without a profiler. */
static void tell_family(void) {
    char *p = grow(NULL, 1000);
    memset(p, 'x', 1000);
    p = grow(p, 100000);
    for (int i = 0; i < 1000; i++)
        if (p[i] != 'x')
            fail("realloc keeps content");
    errno = 0;
    if (grow(p, too_much) || errno != ENOMEM)
        fail("a realloc that fails says so");
    if (p[999] != 'x')
        fail("a realloc that fails keeps the block");
    errno = 42;
    char *zeros = zeroed(100, 30);
    sink[0] = aligned(5000);
    sink[1] = aligned_old(6400);
    sink[2] = aligned_new(1280);
    sink[3] = reallocarray(NULL, 7, 1000);
    char text[1500];
    memset(text, 'y', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    sink[6] = paged(3000);
    sink[7] = whole_pages(2000);
    sink[8] = copied(text);
    if (errno != 42)
        fail("errno is kept");
    if (zeros[0] || zeros[2999])
        fail("calloc gives zeros");
    if ((uintptr_t)sink[0] % 4096 || (uintptr_t)sink[1] % 64 || (uintptr_t)sink[6] % 4096)
        fail("alignment");
    if (malloc_usable_size(p) < 100000)
        fail("usable size");
    if (reallocarray(NULL, too_much, 4) || errno != ENOMEM)
        fail("reallocarray knows overflow");
    free(NULL);
    sink[4] = p;
    sink[5] = zeros;
}

static void tell_plugin(const char *path) {
    void *plugin = dlopen(path, RTLD_NOW);
    void *(*allocate)(size_t) = plugin ? dlsym(plugin, "plugin_allocate") : NULL;
    for (int i = 0; allocate && i < 100; i++)
        sink[i] = allocate(1000);
}

/* 10,000 blocks at a time, 40 times as many as in "sampled": 3,203,200,000 bytes. */
static void tell_flood(void) {
    for (int i = 0; i < 40; i++)
        tell_sampled();
}

__attribute__((noinline)) static void *map_arena(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    __asm__ volatile("" : "+r"(p));
    return p == MAP_FAILED ? NULL : p;
}

/* Two arenas of 16 MiB, of which one stays. What is only set aside is none. */
static void tell_arenas(void) {
    sink[0] = map_arena(16 << 20);
    sink[1] = map_arena(16 << 20);
    munmap(sink[1], 16 << 20);
    sink[2] = mmap(NULL, 64 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* C++'s new and new[], without a compiler for it. */
static void tell_new(void) {
    void *library = dlopen("libstdc++.so.6", RTLD_NOW);
    void *(*one)(size_t) = library ? dlsym(library, "_Znwm") : NULL;
    void *(*several)(size_t) = library ? dlsym(library, "_Znam") : NULL;
    for (int i = 0; one && several && i < 100; i++) {
        sink[2 * i] = one(1000);
        sink[2 * i + 1] = several(500);
    }
}

/* Waits for its input to end, which a profiler that was killed does not change. */
static void tell_hold(void) {
    char byte;
    tell_exact();
    puts("held");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
}

static void tell_killed(void) {
    tell_exact();
    kill(getpid(), SIGKILL);
}

int main(int argc, char **argv) {
    const char *story = argc > 1 ? argv[1] : "";
    static const struct {
        const char *name;
        void (*tell)(void);
    } stories[] = { { "exact", tell_exact },   { "sampled", tell_sampled },
                    { "leaks", tell_leaks },   { "threads", tell_threads },
                    { "fork", tell_fork },     { "family", tell_family },
                    { "killed", tell_killed }, { "flood", tell_flood },
                    { "arenas", tell_arenas }, { "new", tell_new },
                    { "hold", tell_hold } };
    if (strcmp(story, "plugin") == 0)
        tell_plugin(argv[2]);
    if (strcmp(story, "exec") == 0)
        execl(argv[0], argv[0], "exact", (char *)NULL);
    for (size_t i = 0; i < sizeof stories / sizeof *stories; i++)
        if (strcmp(stories[i].name, story) == 0)
            stories[i].tell();
    puts("done");
    return 7;
}
