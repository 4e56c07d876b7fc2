/* Reads a journal, also one that is still written, ends in the middle of a record or is damaged. */
#include "store/journal.h"

#include "base/crc32c.h"
#include "base/place.h"
#include "store/journal_delta.h"
#include "store/journal_format.h"
#include "store/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK          (256u << 10)
#define SEEK_BYTES     (64u << 10) /* near enough */
#define NOTE_BYTES_MAX (64u << 20) /* of all notes together; more are skipped */

struct record {
    uint8_t type;
    struct pt_bytes payload;
    uint64_t size; /* in the file */
};

static size_t buffered(const struct pt_journal_reader *r) {
    return r->end - r->start;
}

static const uint8_t *bytes_at(const struct pt_journal_reader *r) {
    return r->buffer + r->start;
}

static void forget_buffer(struct pt_journal_reader *r) {
    r->start = r->end = 0;
}

static void advance(struct pt_journal_reader *r, uint64_t bytes) {
    r->position += bytes;
    if (bytes > buffered(r))
        forget_buffer(r);
    else
        r->start += (size_t)bytes;
}

/* Bytes of the file from `position` on, or -errno. */
static int64_t remaining(const struct pt_journal_reader *r) {
    struct stat st;
    if (fstat(pt_fd_get(r->fd), &st))
        return -errno;
    return (uint64_t)st.st_size > r->position ? st.st_size - (int64_t)r->position : 0;
}

/* Reads again from `position`: a writer that ran out of space may have replaced the bytes there. */
static int refill(struct pt_journal_reader *r, size_t want) {
    size_t room = want > CHUNK ? want : CHUNK;
    forget_buffer(r);
    pt_grow(&r->buffer, &r->buffer_capacity, room, 1);
    while (r->end < room) {
        ssize_t n = pread(pt_fd_get(r->fd), r->buffer + r->end, room - r->end,
                          (off_t)(r->position + r->end));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        r->end += (size_t)n;
    }
    return 0;
}

/* 1: at least `want` bytes are in the buffer; 0: the file has less; -errno. Never takes more
 * memory than the file has bytes. */
static int fill(struct pt_journal_reader *r, uint64_t want) {
    if (buffered(r) >= want)
        return 1;
    int64_t left = remaining(r);
    if (left < 0)
        return (int)left;
    if (want > CHUNK && (uint64_t)left < want)
        return 0;
    int rc = refill(r, (size_t)want);
    return rc ? rc : buffered(r) >= want;
}

#define PT_RECORD_SHORTEST (1 + 1 + PT_RECORD_CRC)

/* 1: a whole record with the right checksum is next; 0: there is none; -errno. */
static int peek_record(struct pt_journal_reader *r, struct record *record) {
    int rc = fill(r, PT_RECORD_SHORTEST);
    if (rc <= 0)
        return rc;
    struct pt_bytes in = { bytes_at(r), r->buffer + r->end, false };
    record->type = pt_bytes_u8(&in);
    uint64_t len = pt_bytes_varint(&in);
    if (in.failed || len > PT_JOURNAL_RECORD_MAX)
        return 0;
    size_t head = (size_t)(in.at - bytes_at(r));
    record->size = head + len + PT_RECORD_CRC;
    rc = fill(r, record->size);
    if (rc <= 0)
        return rc;
    const uint8_t *start = bytes_at(r), *payload = start + head;
    uint32_t crc;
    memcpy(&crc, payload + len, sizeof crc);
    if (crc != pt_crc32c(0, start, head + (size_t)len))
        return 0;
    record->payload = (struct pt_bytes){ payload, payload + len, false };
    return 1;
}

static int stay_at_tail(struct pt_journal_reader *r, uint64_t position) {
    r->position = position;
    forget_buffer(r);
    int64_t left = remaining(r);
    if (left < 0)
        return (int)left;
    r->tail_bytes = (uint64_t)left;
    return 0;
}

/* Previous samples are not known any more. */
static void forget_rows(struct pt_journal_reader *r) {
    for (size_t i = 0; i < r->lane_count; i++)
        r->lanes[i].needs_key = true;
}

/* What every sync record of the journal begins with. */
static void sync_prefix(const struct pt_journal_reader *r, uint8_t prefix[PT_RECORD_SYNC_PREFIX]) {
    prefix[0] = PT_RECORD_SYNC;
    prefix[1] = r->major > 1 ? PT_SYNC_LENGTH : PT_SYNC_LENGTH_1;
    memcpy(prefix + 2, r->uuid, sizeof r->uuid);
}

/* The next bytes are not a record. 1: skipped to the next sync record; 0: there is none, so the
 * bytes may not be completely written yet; -errno. */
static int skip_damage(struct pt_journal_reader *r, struct record *record) {
    uint8_t prefix[PT_RECORD_SYNC_PREFIX];
    sync_prefix(r, prefix);
    const uint64_t damaged = r->position;
    for (uint64_t step = 1;; step = buffered(r) - (sizeof prefix - 1)) {
        advance(r, step);
        int rc = fill(r, sizeof prefix);
        const uint8_t *found;
        while (rc > 0 && (found = memmem(bytes_at(r), buffered(r), prefix, sizeof prefix))) {
            advance(r, (uint64_t)(found - bytes_at(r)));
            rc = peek_record(r, record);
            if (rc > 0) {
                r->skipped_bytes += r->position - damaged;
                forget_rows(r);
                return 1;
            }
            if (rc == 0) { /* damaged too */
                advance(r, 1);
                rc = fill(r, sizeof prefix);
            }
        }
        if (rc <= 0) {
            int tail_rc = stay_at_tail(r, damaged);
            return rc ? rc : tail_rc;
        }
    }
}

/* 1: a record is next; 0: there is none for now; -errno. */
static int find_record(struct pt_journal_reader *r, struct record *record) {
    int rc = peek_record(r, record);
    return rc ? rc : skip_damage(r, record);
}

static struct pt_journal_place place_of(const struct pt_journal_reader *r) {
    return (struct pt_journal_place){ r->segment, r->position };
}

static bool is_before(struct pt_journal_place a, struct pt_journal_place b) {
    return a.segment < b.segment || (a.segment == b.segment && a.position < b.position);
}

static void take_note(struct pt_journal_reader *r, struct pt_bytes in) {
    struct pt_str key = pt_bytes_lstr(&in);
    struct pt_str text = pt_bytes_take(&in, (uint64_t)(in.end - in.at));
    if (is_before(place_of(r), r->noted_to))
        return;
    r->noted_to = (struct pt_journal_place){ r->segment, r->position + 1 };
    if (in.failed || r->note_bytes + key.len + text.len > NOTE_BYTES_MAX)
        return;
    r->note_bytes += key.len + text.len;
    pt_grow(&r->notes, &r->note_capacity, r->note_count + 1, sizeof *r->notes);
    r->notes[r->note_count++] =
        (struct pt_journal_note){ pt_strndup(key), pt_strndup(text), text.len };
}

static void take_end(struct pt_journal_reader *r, struct pt_bytes in) {
    uint64_t written = pt_bytes_varint(&in), lost = pt_bytes_varint(&in);
    if (in.failed)
        return;
    r->is_complete = true;
    r->written_sample_count += written;
    r->lost_sample_count += lost;
}

static bool is_key(const struct record *record) {
    return record->type == PT_RECORD_KEY || record->type == PT_RECORD_LANE_KEY;
}

static bool has_lane(const struct record *record) {
    return record->type == PT_RECORD_LANE_KEY || record->type == PT_RECORD_LANE_DELTA;
}

static bool is_sample(const struct record *record) {
    return is_key(record) || record->type == PT_RECORD_DELTA || has_lane(record);
}

/* The lane of a sample; reads its number from `in`. NULL: the number is invalid. */
static struct pt_journal_lane *lane_of(struct pt_journal_reader *r, const struct record *record,
                                       struct pt_bytes *in) {
    uint64_t number = has_lane(record) ? pt_bytes_varint(in) : 0;
    if (in->failed || number >= PT_JOURNAL_LANES_MAX)
        return NULL;
    r->lane = (uint32_t)number;
    return pt_journal_lane_at(&r->lanes, &r->lane_count, &r->lane_capacity, (uint32_t)number,
                              &r->schema);
}

static bool decode_sample(struct pt_journal_lane *lane, struct pt_bytes *in, struct pt_sample *s) {
    pt_sample_clear(s);
    if (pt_delta_decode(lane->delta, in, s) == 0)
        return true;
    pt_sample_clear(s);
    lane->needs_key = true;
    return false;
}

static bool take_sample(struct pt_journal_reader *r, const struct record *record,
                        struct pt_sample *s) {
    struct pt_bytes in = record->payload;
    struct pt_journal_lane *lane = lane_of(r, record, &in);
    if (lane && is_key(record)) {
        pt_delta_reset(lane->delta);
        lane->needs_key = false;
        r->key_place = place_of(r);
    }
    if (lane && lane->needs_key) {
        r->skipped_sample_count++;
        return false;
    }
    if (lane && decode_sample(lane, &in, s)) {
        r->sample_count++;
        return true;
    }
    r->skipped_bytes += record->size;
    return false;
}

/* Was it a sample, and is `s` filled? */
static bool take_record(struct pt_journal_reader *r, const struct record *record,
                        struct pt_sample *s) {
    r->tail_bytes = 0;
    if (is_sample(record))
        return take_sample(r, record, s);
    switch (record->type) {
    case PT_RECORD_NOTE:
        take_note(r, record->payload);
        return false;
    case PT_RECORD_END:
        take_end(r, record->payload);
        return false;
    case PT_RECORD_SYNC:
    case PT_RECORD_SCHEMA:
    case PT_RECORD_PACKED_SCHEMA:
        return false;
    default:
        r->unknown_record_count++;
        return false;
    }
}

/* Searches for a sync record of any journal. 1: it is next; 0: there is none; -errno. */
static int find_any_sync(struct pt_journal_reader *r, struct record *record) {
    int rc;
    while ((rc = fill(r, PT_RECORD_SHORTEST)) > 0) {
        const uint8_t *found = memchr(bytes_at(r), PT_RECORD_SYNC, buffered(r));
        advance(r, found ? (uint64_t)(found - bytes_at(r)) : buffered(r));
        if (!found)
            continue;
        rc = peek_record(r, record);
        size_t len = rc > 0 ? (size_t)(record->payload.end - record->payload.at) : 0;
        if (rc < 0 || len == PT_SYNC_LENGTH || len == PT_SYNC_LENGTH_1)
            return rc;
        advance(r, 1);
    }
    return rc;
}

/* The header is damaged: the first sync record says the same. */
static int recover_header(struct pt_journal_reader *r, const char *path, struct pt_err *err) {
    bool has_magic = memcmp(bytes_at(r), PT_JOURNAL_MAGIC, 8) == 0;
    struct record record;
    int rc = find_any_sync(r, &record);
    if (rc < 0)
        return pt_fail(err, rc, "cannot read %s: %s", path, strerror(-rc));
    if (rc == 0)
        return has_magic ? pt_fail(err, -EBADMSG, "the header of %s is damaged", path)
                         : pt_fail(err, -EBADMSG, "%s is not a Pitot journal", path);
    memcpy(r->uuid, record.payload.at, sizeof r->uuid);
    r->major = record.payload.end - record.payload.at == PT_SYNC_LENGTH ? PT_JOURNAL_MAJOR : 1;
    r->minor = 0;
    r->is_header_damaged = true;
    r->skipped_bytes += r->position;
    return 0;
}

static int read_header(struct pt_journal_reader *r, const char *path, struct pt_err *err) {
    int rc = fill(r, PT_JOURNAL_HEADER);
    if (rc < 0)
        return pt_fail(err, rc, "cannot read %s: %s", path, strerror(-rc));
    size_t compared = buffered(r) < 8 ? buffered(r) : 8;
    if (rc == 0 && memcmp(bytes_at(r), PT_JOURNAL_MAGIC, compared) != 0)
        return pt_fail(err, -EBADMSG, "%s is not a Pitot journal", path);
    if (rc == 0)
        return pt_fail(err, -ENODATA, "%s has no data yet: it ends inside its header", path);
    struct pt_bytes in = { bytes_at(r) + 8, bytes_at(r) + PT_JOURNAL_HEADER, false };
    uint32_t version = pt_bytes_u32(&in);
    memcpy(r->uuid, pt_bytes_take(&in, 16).at, 16);
    if (pt_bytes_u32(&in) != pt_crc32c(0, bytes_at(r), PT_JOURNAL_HEADER - 4))
        return recover_header(r, path, err);
    r->major = (uint16_t)version, r->minor = (uint16_t)(version >> 16);
    if (r->major > PT_JOURNAL_MAJOR)
        return pt_fail(err, -EPROTONOSUPPORT,
                       "%s was written by a newer Pitot: it has journal version %u.%u, this Pitot "
                       "reads up to %u.x",
                       path, r->major, r->minor, PT_JOURNAL_MAJOR);
    advance(r, PT_JOURNAL_HEADER);
    return 0;
}

/* True if it was a schema, and r->schema is that. */
static bool take_schema(struct pt_journal_reader *r, const struct record *record) {
    struct pt_buf unpacked = { 0 };
    struct pt_bytes payload = record->payload;
    if (record->type == PT_RECORD_PACKED_SCHEMA) {
        bool is_valid = pt_journal_unpack_schema(record->payload, &unpacked);
        payload = (struct pt_bytes){ unpacked.at, unpacked.at + unpacked.len, !is_valid };
    } else if (record->type != PT_RECORD_SCHEMA) {
        return false;
    }
    if (!payload.failed)
        r->tables = pt_journal_get_schema(payload, &r->schema.table_count);
    if (r->tables)
        r->schema_id = pt_journal_schema_id(
            (struct pt_str){ (const char *)payload.at, (size_t)(payload.end - payload.at) });
    pt_buf_release(&unpacked);
    r->schema.tables = (const struct pt_table *const *)r->tables;
    return r->tables != NULL;
}

/* If the program's own schema has the id that the sync records name, it is that of the journal. */
static bool take_built_in_schema(struct pt_journal_reader *r, uint64_t id) {
    const struct pt_schema *installed = pt_schema_installed();
    struct pt_buf payload = { 0 };
    bool is_same = false;
    /* a recording has the first tables of the program, without those that are added later */
    for (uint32_t count = installed && id ? installed->table_count : 0; count > 0 && !is_same;
         count--) {
        pt_buf_clear(&payload);
        pt_journal_put_schema(&(struct pt_schema){ installed->tables, count }, &payload);
        struct pt_bytes bytes = { payload.at, payload.at + payload.len, false };
        is_same = pt_journal_schema_id(pt_buf_as_str(&payload)) == id &&
                  take_schema(r, &(struct record){ PT_RECORD_SCHEMA, bytes, 0 });
    }
    pt_buf_release(&payload);
    return is_same;
}

/* Searches all records from `position` on for a schema, and notes what the sync records say of it.
 * 1: found; 0: there is none; -errno. */
static int search_schema(struct pt_journal_reader *r, uint64_t *id) {
    struct record record;
    int rc;
    while ((rc = find_record(r, &record)) > 0) {
        struct pt_bytes in = record.payload;
        if (record.type == PT_RECORD_SYNC && in.end - in.at == PT_SYNC_LENGTH)
            memcpy(id, in.at + sizeof r->uuid, sizeof *id);
        if (take_schema(r, &record))
            return 1;
        advance(r, record.size);
    }
    return rc;
}

/* The schema is not where it should be: looks for its copy, or for the same in this program. Then
 * goes on at the first record that can be read. */
static int recover_schema(struct pt_journal_reader *r, const char *path, struct pt_err *err) {
    uint64_t start = r->position, skipped_bytes = r->skipped_bytes, id = 0;
    int rc = search_schema(r, &id);
    if (rc < 0)
        return pt_fail(err, rc, "cannot read %s: %s", path, strerror(-rc));
    r->schema_origin = rc > 0 ? PT_SCHEMA_SECOND : PT_SCHEMA_BUILT_IN;
    if (rc == 0 && !take_built_in_schema(r, id))
        return pt_fail(err, -EBADMSG, "the schema of %s is damaged", path);
    forget_buffer(r);
    r->position = start;
    r->skipped_bytes = skipped_bytes;
    r->tail_bytes = 0;
    return 0;
}

static int read_schema(struct pt_journal_reader *r, const char *path, struct pt_err *err) {
    struct record record = { .size = PT_RECORD_SHORTEST };
    uint64_t start = r->position;
    int rc = peek_record(r, &record);
    if (rc > 0 && record.type == PT_RECORD_SYNC) {
        advance(r, record.size);
        record.size = PT_RECORD_SHORTEST;
        rc = peek_record(r, &record);
    }
    if (rc < 0)
        return pt_fail(err, rc, "cannot read %s: %s", path, strerror(-rc));
    if (rc > 0 && take_schema(r, &record)) {
        advance(r, record.size);
        return 0;
    }
    bool may_grow = rc == 0 && buffered(r) < record.size;
    forget_buffer(r);
    r->position = start;
    rc = recover_schema(r, path, may_grow ? NULL : err);
    return rc == -EBADMSG && may_grow
               ? pt_fail(err, -ENODATA, "%s has no data yet: it ends inside its schema", path)
               : rc;
}

/* Notes about the whole run come before its samples. */
static int read_first_notes(struct pt_journal_reader *r) {
    struct record record;
    int rc;
    while ((rc = peek_record(r, &record)) > 0) {
        if (is_sample(&record))
            return 0;
        take_record(r, &record, NULL);
        advance(r, record.size);
    }
    forget_buffer(r);
    return rc;
}

/* Opens the oldest segment of a ring; if the writer has just removed it, the next one. */
static int open_ring(struct pt_journal_reader *r, const char *path, struct pt_err *err) {
    char segment[PATH_MAX];
    r->ring = pt_strdup(path);
    while (pt_ring_next_segment(path, &r->segment)) {
        pt_ring_segment_path(path, r->segment, segment);
        int fd = open(segment, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd >= 0)
            return fd;
    }
    return pt_fail(err, -ENOENT, "no segments of a run in %s", path);
}

static int open_file(struct pt_journal_reader *r, const char *path, struct pt_err *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return pt_fail(err, -errno, "cannot open %s: %s", path, strerror(errno));
    struct stat st;
    if (fstat(fd, &st) || !S_ISDIR(st.st_mode))
        return fd;
    close(fd);
    return open_ring(r, path, err);
}

/* True if the open segment belongs to the same run as the first one. Its samples can be read with
 * the schema of the first, so that a damaged one does no harm. */
static bool begins_alike(struct pt_journal_reader *r) {
    const struct pt_journal_reader first = *r;
    struct record record;
    bool is_alike = read_header(r, "", NULL) == 0 &&
                    memcmp(first.uuid, r->uuid, sizeof r->uuid) == 0 && r->major == first.major;
    r->major = first.major;
    r->minor = first.minor;
    r->is_header_damaged = first.is_header_damaged;
    memcpy(r->uuid, first.uuid, sizeof r->uuid);
    if (!is_alike || find_record(r, &record) <= 0)
        return false;
    struct pt_bytes in = record.payload;
    uint64_t id = first.major > 1 ? 0 : first.schema_id;
    if (record.type == PT_RECORD_SYNC && in.end - in.at == PT_SYNC_LENGTH)
        memcpy(&id, in.at + sizeof r->uuid, sizeof id);
    else if (record.type == PT_RECORD_SCHEMA)
        id = pt_journal_schema_id((struct pt_str){ (const char *)in.at, (size_t)(in.end - in.at) });
    return id == first.schema_id;
}

/* 1: that segment of the ring is open; 0: it is not one of this run, not yet all written, or was
 * removed; -errno. */
static int open_segment(struct pt_journal_reader *r, uint64_t number) {
    char path[PATH_MAX];
    pt_ring_segment_path(r->ring, number, path);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct pt_fd before = r->fd;
    uint64_t position = r->position, tail_bytes = r->tail_bytes, skipped_bytes = r->skipped_bytes;
    if (fd < 0)
        return errno == ENOENT ? 0 : -errno;
    r->fd = pt_fd_of(fd);
    r->position = 0;
    forget_buffer(r);
    if (!begins_alike(r)) {
        (void)pt_fd_close(&r->fd);
        r->fd = before;
        r->position = position;
        r->tail_bytes = tail_bytes;
        r->skipped_bytes = skipped_bytes;
        forget_buffer(r);
        return 0;
    }
    (void)pt_fd_close(&before);
    r->segment = number;
    r->skipped_bytes += tail_bytes;
    r->tail_bytes = 0;
    r->is_complete = false;
    forget_rows(r);
    return 1;
}

/* 1: the next segment of a ring is open; 0: there is none, for now. */
static int next_segment(struct pt_journal_reader *r) {
    uint64_t number = r->segment;
    while (r->ring && pt_ring_next_segment(r->ring, &number)) {
        uint64_t following = number;
        int rc = open_segment(r, number);
        /* the last one may not be all written yet; any other is damaged beyond recognition */
        if (rc || !pt_ring_next_segment(r->ring, &following))
            return rc;
    }
    return 0;
}

int pt_journal_next(struct pt_journal_reader *r, struct pt_sample *s) {
    for (;;) {
        struct record record;
        uint64_t following = r->segment;
        int rc = find_record(r, &record);
        /* a segment is ended before the next one begins: so it is looked at once more */
        if (rc == 0 && r->ring && pt_ring_next_segment(r->ring, &following) &&
            (rc = find_record(r, &record)) == 0 && (rc = next_segment(r)) > 0)
            continue;
        if (rc <= 0)
            return rc;
        bool is_filled = take_record(r, &record, s);
        advance(r, record.size);
        if (is_filled)
            return 1;
    }
}

int pt_journal_seek(struct pt_journal_reader *r, struct pt_journal_place place) {
    if (place.segment != r->segment) {
        char path[PATH_MAX];
        pt_ring_segment_path(r->ring, place.segment, path);
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
            return -errno;
        (void)pt_fd_close(&r->fd);
        r->fd = pt_fd_of(fd);
        r->segment = place.segment;
    }
    forget_buffer(r);
    r->position = place.position;
    forget_rows(r);
    return 0;
}

static void go_to(struct pt_journal_reader *r, uint64_t position) {
    forget_buffer(r);
    r->position = position;
    forget_rows(r);
}

/* Is the first key sample behind `position` not after the time? */
static int is_key_before(struct pt_journal_reader *r, struct pt_sample *s, uint64_t position,
                         int64_t wall_ns) {
    go_to(r, position);
    int rc = pt_journal_next(r, s);
    return rc <= 0 ? rc : s->wall_ns <= wall_ns;
}

/* Bisects; what it meets on the way counts for nothing. */
int pt_journal_seek_time(struct pt_journal_reader *r, struct pt_sample *s, int64_t wall_ns) {
    const struct pt_journal_reader before = *r;
    uint64_t low = r->position;
    int64_t left = remaining(r);
    if (left < 0)
        return (int)left;
    uint64_t high = low + (uint64_t)left;
    int rc = 0;
    while (rc >= 0 && high - low > SEEK_BYTES) {
        uint64_t middle = low + (high - low) / 2;
        rc = is_key_before(r, s, middle, wall_ns);
        if (rc > 0)
            low = middle;
        else
            high = middle;
    }
    go_to(r, low);
    r->tail_bytes = before.tail_bytes;
    r->sample_count = before.sample_count;
    r->skipped_bytes = before.skipped_bytes;
    r->skipped_sample_count = before.skipped_sample_count;
    r->unknown_record_count = before.unknown_record_count;
    return rc < 0 ? rc : 0;
}

int pt_journal_open(struct pt_journal_reader *r, const char *path, struct pt_err *err) {
    *r = (struct pt_journal_reader){ 0 };
    int fd = open_file(r, path, err);
    if (fd < 0) {
        pt_journal_reader_close(r);
        return fd;
    }
    r->fd = pt_fd_of(fd);
    pt_files_follow(path); /* what is made of a private run is private */
    int rc = read_header(r, path, err);
    if (!rc)
        rc = read_schema(r, path, err);
    if (!rc && (rc = read_first_notes(r)))
        pt_fail(err, rc, "cannot read %s: %s", path, strerror(-rc));
    if (rc)
        pt_journal_reader_close(r);
    return rc;
}

const struct pt_journal_note *pt_journal_note_find(const struct pt_journal_reader *r,
                                                   const char *key) {
    for (size_t i = r->note_count; i-- > 0;)
        if (strcmp(r->notes[i].key, key) == 0)
            return &r->notes[i];
    return NULL;
}

void pt_journal_reader_close(struct pt_journal_reader *r) {
    for (size_t i = 0; i < r->note_count; i++) {
        pt_free(r->notes[i].key);
        pt_free(r->notes[i].text);
    }
    pt_free(r->notes);
    pt_free(r->buffer);
    pt_free(r->ring);
    pt_journal_lanes_free(r->lanes, r->lane_count);
    pt_journal_free_tables(r->tables, r->schema.table_count);
    (void)pt_fd_close(&r->fd);
    *r = (struct pt_journal_reader){ 0 };
}
