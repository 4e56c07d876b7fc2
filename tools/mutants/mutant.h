/* tools/mutants/mutant.h -- selects the active mutant; first line of every mutated source file.
 *
 * PT_MUTANT(17) is true in a process with MUTANT=17 in its environment. With MUTANT_COVER=FILE it
 * is false and leaves marks in FILE, a shared mapping: they survive fork, exec and SIGKILL. FILE
 * has two bytes per mutant: byte 2 * 17 says that the place was reached, byte 2 * 17 + 1 that the
 * mutant would have computed something else there.
 *
 * The state exists once per program or library (weak, hidden). It is set before other constructors
 * run and then only read, so PT_MUTANT is safe in signal handlers and inside malloc. */
#ifndef PT_MUTANT_H
#define PT_MUTANT_H

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PT_MUTANT_STATE __attribute__((weak, visibility("hidden")))

PT_MUTANT_STATE int pt_mutant_active;
PT_MUTANT_STATE int pt_mutant_count;
PT_MUTANT_STATE unsigned char *pt_mutant_marks;

static inline int pt_mutant_mark(int id, int differs) {
    if (id < pt_mutant_count) {
        pt_mutant_marks[2 * id] = 1;
        if (differs)
            pt_mutant_marks[2 * id + 1] = 1;
    }
    return 0;
}

#define PT_MUTANT(id) \
    (__builtin_expect(pt_mutant_active == (id), 0) || (pt_mutant_marks && pt_mutant_mark(id, 1)))

static inline void pt_mutant_map(const char *path) {
    struct stat info;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &info) == 0 && info.st_size > 0) {
        size_t size = (size_t)info.st_size;
        void *marks = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (marks != MAP_FAILED) {
            pt_mutant_count = (int)(size / 2);
            pt_mutant_marks = marks;
        }
    }
    close(fd);
}

__attribute__((constructor(101), unused)) static void pt_mutant_start(void) {
    const char *active = getenv("MUTANT");
    const char *cover = getenv("MUTANT_COVER");
    if (active && pt_mutant_active == 0)
        pt_mutant_active = (int)strtol(active, NULL, 10);
    if (cover && !pt_mutant_marks)
        pt_mutant_map(cover);
}

/* Overwrites a constant table with its mutated copy. */
__attribute__((unused)) static void pt_mutant_copy(const void *to, const void *from, size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t first = (size_t)to / page * page;
    size_t end = ((size_t)to + size + page - 1) / page * page;
    if (mprotect((void *)first, end - first, PROT_READ | PROT_WRITE) == 0)
        memcpy((void *)(size_t)to, from, size);
}

#endif
