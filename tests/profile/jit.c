/* A JIT: makes a function, says so in jit-PID.dump of the directory it is given, runs it, and puts
 * another at the same place. Ends with 3.
 *
 *     jit DIRECTORY
 */
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define STEPS   UINT64_C(1000000) /* of one call */
#define UNIT_NS UINT64_C(200000000)

/* Counts its argument down to 0. */
#if defined(__x86_64__)
#define MACHINE EM_X86_64
static const uint8_t code[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 };
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
static const uint32_t code[] = { 0xf1000400, 0x54ffffe1, 0xd65f03c0 };
#endif

struct header {
    uint32_t magic, version, size, machine, nothing, pid;
    uint64_t time, flags;
};

struct load {
    uint32_t id, size;
    uint64_t time;
    uint32_t pid, tid;
    uint64_t vma, address, code_size, index;
};

static uint64_t read_clock(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t now(void) {
    return read_clock(CLOCK_MONOTONIC);
}

/* For so much CPU time, however fast the machine is meanwhile. */
static void burn(void (*run)(uint64_t steps), uint64_t cpu_ns) {
    uint64_t end = read_clock(CLOCK_PROCESS_CPUTIME_ID) + cpu_ns;
    while (read_clock(CLOCK_PROCESS_CPUTIME_ID) < end)
        run(STEPS);
}

static int put(int fd, const void *bytes, size_t size) {
    return write(fd, bytes, size) == (ssize_t)size;
}

static int open_dump(const char *directory) {
    char path[PATH_MAX];
    struct header header = {
        0x4A695444, 1, sizeof header, MACHINE, 0, (uint32_t)getpid(), now(), 0
    };
    snprintf(path, sizeof path, "%s/jit-%d.dump", directory, (int)getpid());
    int fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
    if (fd < 0 || !put(fd, &header, sizeof header))
        return -1;
    /* nobody runs this: it tells profilers where the dump is */
    void *marker =
        mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    return marker == MAP_FAILED ? -1 : fd;
}

static int make(int fd, void *place, const char *name, uint64_t index) {
    memcpy(place, code, sizeof code);
    __builtin___clear_cache((char *)place, (char *)place + sizeof code);
    struct load load = { .id = 0,
                         .size = (uint32_t)(sizeof load + strlen(name) + 1 + sizeof code),
                         .time = now(),
                         .pid = (uint32_t)getpid(),
                         .tid = (uint32_t)getpid(),
                         .vma = (uint64_t)(uintptr_t)place,
                         .address = (uint64_t)(uintptr_t)place,
                         .code_size = sizeof code,
                         .index = index };
    return put(fd, &load, sizeof load) && put(fd, name, strlen(name) + 1) &&
           put(fd, code, sizeof code);
}

int main(int argc, char **argv) {
    void *place =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int fd = argc > 1 ? open_dump(argv[1]) : -1;
    void (*run)(uint64_t steps);
    if (fd < 0 || place == MAP_FAILED)
        return 1;
    memcpy(&run, &place, sizeof run);
    if (!make(fd, place, "jit::first", 1))
        return 1;
    burn(run, UNIT_NS);
    if (!make(fd, place, "jit::second", 2))
        return 1;
    burn(run, 3 * UNIT_NS);
    return 3;
}
