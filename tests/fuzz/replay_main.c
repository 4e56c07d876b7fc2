/* Feeds the files of corpus directories to a fuzz target without a fuzzer: each file whole, cut
 * short, and with bytes changed by a fixed sequence. One TAP line per file; a sanitizer or an
 * assert() ends the program, and that is the failure. */
#include "base/attr.h"
#include "base/fs.h"
#include "base/mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PREFIX_COUNT   512
#define MUTATION_COUNT 256

/* Bytes that parsers of text and of binary records stumble over. */
static const uint8_t odd_bytes[] = { 0,   '\n', ' ', '-', '9',  ')',  ':',
                                     '/', '"',  '=', ',', 0x7f, 0x80, 0xff };

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* A copy of exactly that size on the heap: one byte too far is an error that ASan sees. */
static uint8_t *copy_of(struct pt_str text) {
    uint8_t *copy = pt_try_realloc(NULL, text.len); /* libpitot has no pt_malloc() */
    if (text.len > 0)
        memcpy(copy, text.at, text.len);
    return copy;
}

static void feed(struct pt_str text) {
    uint8_t *copy = copy_of(text);
    LLVMFuzzerTestOneInput(copy, text.len);
    pt_free(copy);
}

/* All prefixes of a small file, evenly spread ones of a large file. */
static void feed_prefixes(struct pt_str text) {
    size_t step = text.len / PREFIX_COUNT + 1;
    for (size_t len = 0; len < text.len; len += step)
        feed((struct pt_str){ text.at, len });
}

static void feed_mutations(struct pt_str text) {
    uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
    if (text.len == 0)
        return;
    for (int i = 0; i < MUTATION_COUNT; i++) {
        uint8_t *copy = copy_of(text);
        for (uint64_t changes = 1 + next_random(&state) % 4; changes > 0; changes--) {
            size_t at = next_random(&state) % text.len;
            copy[at] = odd_bytes[next_random(&state) % PT_COUNT(odd_bytes)];
        }
        LLVMFuzzerTestOneInput(copy, text.len);
        pt_free(copy);
    }
}

static int is_visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static int replay(int directory, const char *name, int number) {
    struct pt_text buffer = { 0 };
    struct pt_scan text;
    int rc = pt_fs_read(directory, name, &buffer, &text);
    if (!rc) {
        feed(pt_scan_rest(&text));
        feed_prefixes(pt_scan_rest(&text));
        feed_mutations(pt_scan_rest(&text));
    }
    pt_text_release(&buffer);
    printf("%s %d - %s\n", rc ? "not ok" : "ok", number, name);
    fflush(stdout);
    return rc;
}

static int replay_directory(const char *path) {
    struct dirent **entries;
    int failures = 0;
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int count = scandir(path, &entries, is_visible, alphasort);
    if (directory < 0 || count <= 0) {
        printf("Bail out! no corpus in %s\n", path);
        return 1;
    }
    printf("1..%d\n", count);
    for (int i = 0; i < count; i++) {
        failures += replay(directory, entries[i]->d_name, i + 1) != 0;
        free(entries[i]);
    }
    free(entries);
    close(directory);
    return failures;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: %s CORPUS_DIRECTORY\n", argv[0]);
        return 2;
    }
    return replay_directory(argv[1]) ? 1 : 0;
}
