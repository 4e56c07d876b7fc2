/* Another process that writes anything into the region files of a directory, until it is killed.
 *
 *     scribble DIRECTORY PART SEED
 *
 * PART is a part of the layout, or "all". */
#include "inside/region/layout.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX 64
#define THREADS   6 /* blocks and shards that a small program has */

struct part {
    const char *name;
    size_t start, size;  /* of the first one */
    size_t step, number; /* how far apart, how many */
};

#define HEADER(first, last)                   \
    offsetof(struct pt_region_header, first), \
        offsetof(struct pt_region_header, last) - offsetof(struct pt_region_header, first), 0, 1
#define BLOCK(first, last)                                                                  \
    offsetof(struct pt_region_layout, threads) + offsetof(struct pt_region_thread, first),  \
        offsetof(struct pt_region_thread, last) - offsetof(struct pt_region_thread, first), \
        sizeof(struct pt_region_thread), THREADS

static const struct part parts[] = {
    { "sizes", HEADER(magic, pid) },
    { "clock", HEADER(pid, name_count) },
    { "counts", HEADER(name_count, dropped_names) },
    { "dropped", HEADER(dropped_names, reserved_owners) },
    { "ready", HEADER(reserved_owners, reserved) },
    { "names", offsetof(struct pt_region_layout, names), sizeof(struct pt_region_name),
      sizeof(struct pt_region_name), 64 },
    { "metrics", offsetof(struct pt_region_layout, metrics), sizeof(struct pt_region_metric),
      sizeof(struct pt_region_metric), 128 },
    { "metric-slots", offsetof(struct pt_region_layout, metrics), 16,
      sizeof(struct pt_region_metric), 128 },
    { "positions", BLOCK(thread, counters) },
    { "counters", BLOCK(counters, reserved_addresses) },
    { "addresses", BLOCK(reserved_addresses, shards) },
    { "shard-numbers", BLOCK(shards, spans) },
    { "spans", BLOCK(spans, reserved) },
    { "shards", offsetof(struct pt_region_layout, shards), sizeof(struct pt_region_shard),
      sizeof(struct pt_region_shard), 8 },
    { "own-shards",
      offsetof(struct pt_region_layout, shards) +
          PT_REGION_HISTOGRAMS * sizeof(struct pt_region_shard),
      sizeof(struct pt_region_shard), sizeof(struct pt_region_shard), 16 },
};
#define PART_COUNT (sizeof parts / sizeof *parts)

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Numbers that code may mistake for an index, a count or an address, and random ones. */
static uint64_t hostile(uint64_t *state) {
    static const uint64_t words[] = { 0,
                                      1,
                                      2,
                                      63,
                                      64,
                                      65,
                                      255,
                                      256,
                                      319,
                                      320,
                                      321,
                                      511,
                                      512,
                                      1023,
                                      1024,
                                      1025,
                                      8191,
                                      8192,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff,
                                      INT64_MAX,
                                      (uint64_t)INT64_MAX + 1,
                                      UINT64_MAX,
                                      0x4141414141414141,
                                      0x7ff0000000000000,
                                      0x7ff8000000000000,
                                      UINT64_C(0x0000000100000001),
                                      UINT64_C(0xffffffff00000003) };
    uint64_t choice = next_random(state);
    return choice % 3 ? words[choice / 3 % (sizeof words / sizeof *words)] : next_random(state);
}

static void scribble(uint8_t *file, const struct part *part, uint64_t *state) {
    for (int i = 0; i < 64; i++) {
        size_t offset = part->start + next_random(state) % part->number * part->step +
                        next_random(state) % part->size;
        size_t width = (size_t)1 << next_random(state) % 4;
        uint64_t word = hostile(state);
        offset &= ~(width - 1);
        memcpy(file + offset, &word, width);
    }
}

/* Writes to a part after the other while one of the files is there. */
int main(int argc, char **argv) {
    struct {
        char name[256];
        uint8_t *at;
    } files[FILES_MAX] = { 0 };
    size_t count = 0;
    if (argc < 4)
        return 2;
    uint64_t state = strtoull(argv[3], NULL, 10) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    for (;;) {
        DIR *entries = opendir(argv[1]);
        for (struct dirent *entry; entries && (entry = readdir(entries));) {
            bool is_known = entry->d_name[0] == '.' || count == FILES_MAX;
            for (size_t i = 0; i < count; i++)
                is_known |= strcmp(files[i].name, entry->d_name) == 0;
            if (is_known)
                continue;
            struct stat st;
            int fd = openat(dirfd(entries), entry->d_name, O_RDWR | O_CLOEXEC);
            void *at = MAP_FAILED;
            if (fd >= 0 && !fstat(fd, &st) && st.st_size == sizeof(struct pt_region_layout))
                at = mmap(NULL, sizeof(struct pt_region_layout), PROT_READ | PROT_WRITE, MAP_SHARED,
                          fd, 0);
            if (fd >= 0)
                close(fd);
            if (at == MAP_FAILED)
                continue;
            snprintf(files[count].name, sizeof files[count].name, "%s", entry->d_name);
            files[count++].at = at;
            puts("found");
            fflush(stdout);
        }
        if (entries)
            closedir(entries);
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < PART_COUNT; k++)
                if (strcmp(argv[2], "all") == 0 || strcmp(argv[2], parts[k].name) == 0)
                    scribble(files[i].at, &parts[k], &state);
        if (strcmp(argv[2], "list") == 0) {
            for (size_t k = 0; k < PART_COUNT; k++)
                puts(parts[k].name);
            return 0;
        }
        usleep(200);
    }
}
