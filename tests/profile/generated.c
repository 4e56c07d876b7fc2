/* Makes code while it runs, which has no rules for unwinding, and spends its CPU time in it or in
 * what it calls. The first argument chooses the code. Ends with 3.
 *
 * The caller keeps a frame pointer, which most of the code destroys, and the stack below it is full
 * of return addresses of calls that are over.
 */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define STEPS   UINT64_C(200000) /* of one call */
#define UNIT_NS INT64_C(300000000)
#if __has_attribute(noipa)
#define NOINLINE __attribute__((noipa))
#else
#define NOINLINE __attribute__((noinline))
#endif

typedef void (*generated)(uint64_t steps, void (*back)(void));

#define COUNT_DOWN 0x48, 0xff, 0xcf, 0x75, 0xfb /* dec rdi; jnz there */

/* No frame. */
static const uint8_t leaf[] = { COUNT_DOWN, 0xc3 };
/* As oneDNN: push rbx, rbp, r12 to r15; xor ebp, ebp; work; pop them; vzeroupper is left out. */
static const uint8_t saves[] = { 0x53, 0x55, 0x41, 0x54, 0x41,       0x55, 0x41, 0x56,
                                 0x41, 0x57, 0x31, 0xed, COUNT_DOWN, 0x41, 0x5f, 0x41,
                                 0x5e, 0x41, 0x5d, 0x41, 0x5c,       0x5d, 0x5b, 0xc3 };
/* push rbp; mov rbp, rsp; sub rsp, 64; work; leave; ret */
static const uint8_t pointer[] = { 0x55, 0x48, 0x89,       0xe5, 0x48, 0x83,
                                   0xec, 0x40, COUNT_DOWN, 0xc9, 0xc3 };
/* push rbx, rbp; sub rsp, 136; xor ebp, ebp; work; lea rsp, [rsp + 136]; pop rbp, rbx; ret */
static const uint8_t hidden[] = { 0x53, 0x55, 0x48, 0x81,       0xec, 0x88, 0,    0,
                                  0,    0x31, 0xed, COUNT_DOWN, 0x48, 0x8d, 0xa4, 0x24,
                                  0x88, 0,    0,    0,          0x5d, 0x5b, 0xc3 };
/* push rbx, rbp; sub rsp, 24; xor ebp, ebp; call rsi; xor eax, eax; add rsp, 24; pop both; ret */
static const uint8_t calls[] = { 0x53, 0x55, 0x48, 0x83, 0xec, 0x18, 0x31, 0xed, 0xff, 0xd6,
                                 0x31, 0xc0, 0x48, 0x83, 0xc4, 0x18, 0x5d, 0x5b, 0xc3 };

static const struct {
    const char *name;
    const uint8_t *code;
    size_t size;
} kinds[] = {
    { "leaf", leaf, sizeof leaf },          { "saves", saves, sizeof saves },
    { "pointer", pointer, sizeof pointer }, { "hidden", hidden, sizeof hidden },
    { "calls", calls, sizeof calls },
};

static volatile uint64_t sink;

static int64_t cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static NOINLINE void called_back(void) {
    for (uint64_t i = 0; i < STEPS; i++)
        sink += i;
}

static NOINLINE void leaves_traces(int depth, void (*volatile *next)(int, void *)) {
    if (depth > 0)
        (*next)(depth - 1, (void *)next);
    if (depth > 1)
        leaves_traces(depth - 2, next);
    sink++;
}

static NOINLINE void calls_generated(generated run) {
    volatile char buffer[128] __attribute__((aligned(64)));
    void (*volatile next)(int, void *) = (void (*)(int, void *))leaves_traces;
    int64_t end_ns = cpu_ns() + UNIT_NS;
    buffer[0] = 1;
    while (cpu_ns() < end_ns) {
        leaves_traces(6, &next);
        run(STEPS, called_back);
        sink += (uint64_t)buffer[0];
    }
}

int main(int argc, char **argv) {
    generated run;
    void *place = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (argc < 2 || place == MAP_FAILED)
        return 1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(argv[1], kinds[i].name) == 0)
            memcpy(place, kinds[i].code, kinds[i].size);
    if (mprotect(place, 4096, PROT_READ | PROT_EXEC))
        return 1;
    memcpy(&run, &place, sizeof run);
    calls_generated(run);
    sink++;
    return 3;
}
