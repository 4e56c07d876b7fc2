/* store/journal_format.h -- frame of a journal; only the journal's own files include this.
 *
 *     header    magic 8, major u16, minor u16, uuid 16, CRC-32C of these u32
 *     record    type u8, length varint, payload, CRC-32C of these three u32 */
#ifndef PT_STORE_JOURNAL_FORMAT_H
#define PT_STORE_JOURNAL_FORMAT_H

#include "model/sample.h"

/* Not text, and broken by transfers that change line ends. */
#define PT_JOURNAL_MAGIC  "\x89PITOT\r\n"
#define PT_JOURNAL_HEADER 32u

enum pt_record_type {
    PT_RECORD_SCHEMA = 'S', /* of version 1: not compressed */
    PT_RECORD_PACKED_SCHEMA = 'Z',
    PT_RECORD_SYNC =
        'Y', /* uuid and schema: found again after damage; before all but 'D' and 'd' */
    PT_RECORD_KEY = 'K',
    PT_RECORD_DELTA = 'D',
    PT_RECORD_LANE_KEY = 'k', /* the same for another lane; its number comes first */
    PT_RECORD_LANE_DELTA = 'd',
    PT_RECORD_NOTE = 'N',
    PT_RECORD_END = 'E',
};

struct pt_journal_lane;

/* The lane of that number, made with those before it if it is not there yet. */
struct pt_journal_lane *pt_journal_lane_at(struct pt_journal_lane **lanes, size_t *count,
                                           size_t *capacity, uint32_t number,
                                           const struct pt_schema *schema);
void pt_journal_lanes_free(struct pt_journal_lane *lanes, size_t count);

#define PT_RECORD_HEAD 6u /* at most: type and a length of up to five bytes */
#define PT_RECORD_CRC  4u

/* A sync record begins with type, length and uuid; the length tells the version. */
#define PT_RECORD_SYNC_PREFIX 18u
#define PT_RECORD_SYNC_SIZE   30u
enum { PT_SYNC_LENGTH_1 = 16, PT_SYNC_LENGTH = 24 };

/* All bytes of a sync record, which are the same throughout a journal. */
void pt_journal_sync(const uint8_t uuid[16], uint64_t schema_id,
                     uint8_t record[PT_RECORD_SYNC_SIZE]);

void pt_journal_put_schema(const struct pt_schema *schema, struct pt_buf *into);
/* Names a schema: equal for equal payloads. */
uint64_t pt_journal_schema_id(struct pt_str payload);
/* The payload of a PT_RECORD_PACKED_SCHEMA, and back: false if it is none. */
void pt_journal_pack_schema(struct pt_str payload, struct pt_buf *into);
bool pt_journal_unpack_schema(struct pt_bytes from, struct pt_buf *payload);
/* Builds tables from a schema's payload: NULL if anything in it is not as it must be. */
struct pt_table **pt_journal_get_schema(struct pt_bytes from, uint32_t *table_count);
void pt_journal_free_tables(struct pt_table **tables, uint32_t table_count);

#endif
