/* Appends records to a journal. */
#include "store/journal.h"

#include "base/crc32c.h"
#include "base/place.h"
#include "store/journal_delta.h"
#include "store/journal_format.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A payload is written after this many bytes; the frame is then placed right before it. */
#define FRONT (PT_RECORD_SYNC_SIZE + PT_RECORD_HEAD)

void pt_journal_sync(const uint8_t uuid[16], uint64_t schema_id,
                     uint8_t record[PT_RECORD_SYNC_SIZE]) {
    record[0] = PT_RECORD_SYNC;
    record[1] = PT_SYNC_LENGTH;
    memcpy(record + 2, uuid, 16);
    memcpy(record + PT_RECORD_SYNC_PREFIX, &schema_id, sizeof schema_id);
    uint32_t crc = pt_crc32c(0, record, 2 + PT_SYNC_LENGTH);
    memcpy(record + 2 + PT_SYNC_LENGTH, &crc, sizeof crc);
}

static void begin_record(struct pt_journal *j) {
    pt_buf_clear(&j->record);
    (void)pt_buf_reserve(&j->record, 4096);
    j->record.len = FRONT;
}

static uint8_t *put_head(uint8_t *payload, enum pt_record_type type, size_t len) {
    uint8_t head[PT_RECORD_HEAD], *p = head;
    *p++ = (uint8_t)type;
    for (; len >= 0x80; len >>= 7)
        *p++ = (uint8_t)(len | 0x80);
    *p++ = (uint8_t)len;
    size_t size = (size_t)(p - head);
    return memcpy(payload - size, head, size);
}

/* Frames the payload, with a sync record in front if it is to be found after damage. */
static struct pt_str end_record(struct pt_journal *j, enum pt_record_type type) {
    struct pt_buf *b = &j->record;
    (void)pt_buf_reserve(b, PT_RECORD_CRC);
    uint8_t *start = put_head(b->at + FRONT, type, b->len - FRONT);
    pt_buf_u32(b, pt_crc32c(0, start, (size_t)(b->at + b->len - start)));
    if (type != PT_RECORD_DELTA && type != PT_RECORD_LANE_DELTA) {
        start -= PT_RECORD_SYNC_SIZE;
        pt_journal_sync(j->uuid, j->schema_id, start);
    }
    return (struct pt_str){ (const char *)start, (size_t)(b->at + b->len - start) };
}

/* One write(2), unless the kernel writes less: then the next one returns the error. */
static int write_all(int fd, struct pt_str bytes) {
    while (bytes.len > 0) {
        ssize_t n = write(fd, bytes.at, bytes.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            return -EIO;
        bytes = pt_str_skip(bytes, (size_t)n);
    }
    return 0;
}

/* Whole or not at all. */
static int append(struct pt_journal *j, struct pt_str bytes) {
    if (j->stopped)
        return j->stopped;
    int fd = pt_fd_get(j->fd), rc = write_all(fd, bytes);
    if (!rc) {
        j->byte_count += bytes.len;
        return 0;
    }
    if (ftruncate(fd, (off_t)j->byte_count))
        j->stopped = rc;
    return rc;
}

static void make_schema(struct pt_journal *j) {
    struct pt_buf payload = { 0 };
    pt_journal_put_schema(j->schema, &payload);
    j->schema_id = pt_journal_schema_id(pt_buf_as_str(&payload));
    begin_record(j);
    pt_journal_pack_schema(pt_buf_as_str(&payload), &j->record);
    pt_buf_str(&j->packed_schema, end_record(j, PT_RECORD_PACKED_SCHEMA));
    pt_buf_release(&j->record); /* samples are smaller */
    pt_buf_release(&payload);
}

/* A second copy of the schema, far from the first, so that damage to one of them costs nothing. If
 * it cannot be written now, the next call tries again. */
static void repeat_schema(struct pt_journal *j) {
    if (!j->has_second_schema)
        j->has_second_schema = append(j, pt_buf_as_str(&j->packed_schema)) == 0;
}

static int write_start(struct pt_journal *j) {
    const uint16_t version[] = { PT_JOURNAL_MAJOR, PT_JOURNAL_MINOR };
    struct pt_buf start = { 0 };
    make_schema(j);
    pt_buf_bytes(&start, PT_JOURNAL_MAGIC, 8);
    pt_buf_bytes(&start, version, sizeof version);
    pt_buf_bytes(&start, j->uuid, 16);
    pt_buf_u32(&start, pt_crc32c(0, start.at, start.len));
    pt_buf_str(&start, pt_buf_as_str(&j->packed_schema));
    int rc = append(j, pt_buf_as_str(&start));
    pt_buf_release(&start);
    return rc;
}

static int release(struct pt_journal *j) {
    int rc = pt_fd_close(&j->fd);
    pt_journal_lanes_free(j->lanes, j->lane_count);
    pt_buf_release(&j->record);
    pt_buf_release(&j->packed_schema);
    j->lanes = NULL;
    j->lane_count = j->lane_capacity = 0;
    return rc;
}

int pt_journal_create(struct pt_journal *j, const char *path, const uint8_t uuid[16],
                      const struct pt_schema *schema, struct pt_err *err) {
    *j = (struct pt_journal){ .schema = schema };
    memcpy(j->uuid, uuid, sizeof j->uuid);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, pt_file_mode());
    if (fd < 0)
        return pt_fail(err, -errno, "cannot create %s: %s", path, strerror(errno));
    j->fd = pt_fd_of(fd);
    int rc = write_start(j);
    if (!rc)
        return 0;
    release(j);
    unlink(path);
    return pt_fail(err, rc, "cannot write %s: %s", path, strerror(-rc));
}

int pt_journal_reopen(struct pt_journal *j, const char *path,
                      const struct pt_journal_reader *reader) {
    struct stat st;
    *j = (struct pt_journal){ .schema = &reader->schema,
                              .schema_id = reader->schema_id,
                              .has_second_schema = true };
    memcpy(j->uuid, reader->uuid, sizeof j->uuid);
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    j->fd = pt_fd_of(fd);
    if (fstat(fd, &st)) {
        int rc = -errno;
        release(j);
        return rc;
    }
    j->byte_count = (uint64_t)st.st_size;
    return 0;
}

/* No reader would take it. */
static bool is_too_large(const struct pt_sample *s) {
    for (uint32_t i = 0; i < s->schema->table_count; i++) {
        const struct pt_batch *b = &s->batches[i];
        if (b->strings.len > PT_JOURNAL_RECORD_MAX ||
            (uint64_t)b->row_count * b->row_words > PT_JOURNAL_RECORD_MAX / sizeof *b->words)
            return true;
    }
    return false;
}

static int write_sample(struct pt_journal *j, struct pt_journal_lane *lane, uint32_t number,
                        const struct pt_sample *s) {
    if (is_too_large(s))
        return -EMSGSIZE;
    bool is_key = lane->samples_since_key == 0 ||
                  lane->samples_since_key >= PT_JOURNAL_KEY_SAMPLES ||
                  lane->bytes_since_key >= PT_JOURNAL_KEY_BYTES;
    if (is_key) {
        if (j->sample_count >= PT_JOURNAL_KEY_SAMPLES)
            repeat_schema(j);
        pt_delta_reset(lane->delta);
        lane->samples_since_key = 0;
        lane->bytes_since_key = 0;
    }
    begin_record(j);
    if (number > 0)
        pt_buf_varint(&j->record, number);
    pt_delta_encode(lane->delta, s, &j->record);
    if (j->record.len - FRONT > PT_JOURNAL_RECORD_MAX)
        return -EMSGSIZE;
    enum pt_record_type type = is_key ? PT_RECORD_KEY : PT_RECORD_DELTA;
    if (number > 0)
        type = is_key ? PT_RECORD_LANE_KEY : PT_RECORD_LANE_DELTA;
    struct pt_str record = end_record(j, type);
    if (!is_key)
        lane->bytes_since_key += record.len;
    return append(j, record);
}

int pt_journal_write_lane(struct pt_journal *j, uint32_t number, const struct pt_sample *s) {
    struct pt_journal_lane *lane =
        pt_journal_lane_at(&j->lanes, &j->lane_count, &j->lane_capacity, number, j->schema);
    int rc = write_sample(j, lane, number, s);
    if (rc) {
        j->lost_sample_count++;
        lane->samples_since_key = 0; /* the rows remembered are not those of the file */
        return rc;
    }
    j->sample_count++;
    lane->samples_since_key++;
    return 0;
}

int pt_journal_write(struct pt_journal *j, const struct pt_sample *s) {
    return pt_journal_write_lane(j, 0, s);
}

int pt_journal_note(struct pt_journal *j, struct pt_str key, struct pt_str text) {
    if (key.len > PT_JOURNAL_NOTE_MAX || text.len > PT_JOURNAL_NOTE_MAX)
        return -EMSGSIZE;
    begin_record(j);
    pt_buf_lstr(&j->record, key);
    pt_buf_str(&j->record, text);
    return append(j, end_record(j, PT_RECORD_NOTE));
}

int pt_journal_close(struct pt_journal *j) {
    if (!pt_fd_is_open(j->fd))
        return 0;
    repeat_schema(j);
    begin_record(j);
    pt_buf_varint(&j->record, j->sample_count);
    pt_buf_varint(&j->record, j->lost_sample_count);
    int rc = append(j, end_record(j, PT_RECORD_END));
    int close_rc = release(j);
    return rc ? rc : close_rc;
}
