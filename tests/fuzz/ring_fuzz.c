/* A directory of a ring with any files in it. The input is files: a byte for the name, one for the
 * length, the content; the last one has the rest. */
#include "store/journal.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FILES_MAX 6

static const char *const names[] = { "00000001.pitot",     "00000002.pitot", "00000010.pitot",
                                     "4294967296.pitot",   "x.pitot",        ".pitot",
                                     "00000003.pitot.tmp", "00000001.pitot/" };

static void write_files(int directory, const uint8_t *data, size_t size) {
    for (int i = 0; i < FILES_MAX && size >= 2; i++) {
        const char *name = names[data[0] % PT_COUNT(names)];
        size_t length = i == FILES_MAX - 1 ? size - 2 : (size_t)data[1] * 16;
        length = length < size - 2 ? length : size - 2;
        if (name[strlen(name) - 1] == '/') {
            (void)!mkdirat(directory, name, 0700);
        } else {
            int fd = openat(directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
            if (fd >= 0) {
                (void)!write(fd, data + 2, length);
                close(fd);
            }
        }
        data += 2 + length;
        size -= 2 + length;
    }
}

static void read_ring(const char *path) {
    struct pt_journal_reader r;
    struct pt_sample s;
    struct pt_err err;
    if (pt_journal_open(&r, path, &err))
        return;
    pt_sample_init(&s, &r.schema);
    while (pt_journal_next(&r, &s) > 0)
        ;
    pt_sample_release(&s);
    pt_journal_reader_close(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char top[] = "/dev/shm/ring_fuzz.XXXXXX", ring[PATH_MAX];
    if (!mkdtemp(top))
        return 0;
    snprintf(ring, sizeof ring, "%s/00112233-4455-6677-8899-aabbccddeeff.ring", top);
    if (!mkdir(ring, 0700)) {
        int directory = open(ring, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        write_files(directory, data, size);
        read_ring(ring);
        for (size_t i = 0; i < PT_COUNT(names); i++)
            if (unlinkat(directory, names[i], 0))
                (void)!unlinkat(directory, names[i], AT_REMOVEDIR);
        close(directory);
        rmdir(ring);
    }
    rmdir(top);
    return 0;
}
