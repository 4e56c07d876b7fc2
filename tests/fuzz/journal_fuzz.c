/* A journal of any bytes. The checksums are made right first, so that the fuzzer gets past them:
 * the input is the schema's payload and those of the records, each behind its type and length. */
#include "base/crc32c.h"
#include "store/journal.h"
#include "store/journal_format.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t uuid[16] = "0123456789abcdef";

static void put_header(struct pt_buf *into) {
    const uint16_t version[] = { PT_JOURNAL_MAJOR, PT_JOURNAL_MINOR };
    pt_buf_bytes(into, PT_JOURNAL_MAGIC, 8);
    pt_buf_bytes(into, version, sizeof version);
    pt_buf_bytes(into, uuid, sizeof uuid);
    pt_buf_u32(into, pt_crc32c(0, into->at, into->len));
}

/* Bytes that are not a record are kept unchanged: damage. */
static void put_records(struct pt_buf *into, struct pt_bytes in) {
    while (in.at < in.end) {
        struct pt_bytes ahead = in;
        uint8_t type = pt_bytes_u8(&ahead);
        struct pt_str payload = pt_bytes_lstr(&ahead);
        if (ahead.failed) {
            pt_buf_bytes(into, in.at, (size_t)(in.end - in.at));
            return;
        }
        size_t start = into->len;
        pt_buf_u8(into, type);
        pt_buf_lstr(into, payload);
        pt_buf_u32(into, pt_crc32c(0, into->at + start, into->len - start));
        in.at = ahead.at;
    }
}

static void read_journal(const char *path) {
    struct pt_journal_reader r;
    struct pt_sample s;
    if (pt_journal_open(&r, path, NULL))
        return;
    pt_sample_init(&s, &r.schema);
    while (pt_journal_next(&r, &s) > 0)
        ;
    (void)pt_journal_note_find(&r, "tag");
    pt_sample_release(&s);
    pt_journal_reader_close(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct pt_buf journal = { 0 };
    char path[32];
    int fd = memfd_create("journal", MFD_CLOEXEC);
    if (fd < 0)
        return 0;
    put_header(&journal);
    put_records(&journal, (struct pt_bytes){ data, data + size, false });
    if (write(fd, journal.at, journal.len) == (ssize_t)journal.len) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        read_journal(path);
    }
    close(fd);
    pt_buf_release(&journal);
    return 0;
}
