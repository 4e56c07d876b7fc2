#include "profile/sample/recall.h"

#define AGE_MAX     8
#define PIECE_BYTES 4096 /* larger pieces are not remembered */

void pt_recall_begin(struct pt_recall *r, struct pt_memory_reader from, uint8_t *bytes) {
    struct pt_memory_piece pieces[PT_RECALL_PIECES];
    r->from = from;
    r->bytes = bytes;
    r->next = 0;
    for (uint32_t i = 0; i < r->count; i++)
        pieces[i] =
            (struct pt_memory_piece){ r->at[i].address, bytes + r->at[i].offset, r->at[i].size };
    r->read_count = r->count > 0 ? (uint32_t)from.read(from.state, pieces, r->count) : 0;
}

/* Pieces are usually requested in the same order as before, so the first one examined matches. */
static uint32_t find(const struct pt_recall *r, const struct pt_memory_piece *p) {
    for (uint32_t passed = 0, i = r->next; passed < r->count; passed++, i++) {
        i = i < r->count ? i : 0;
        if (r->at[i].address == p->address && r->at[i].size == p->size)
            return i;
    }
    return r->count;
}

static bool take(struct pt_recall *r, const struct pt_memory_piece *p) {
    uint32_t i = find(r, p);
    if (i >= r->read_count)
        return false;
    memcpy(p->into, r->bytes + r->at[i].offset, p->size);
    r->at[i].age = 0;
    r->next = i + 1;
    return true;
}

/* Remembers a piece: it is read with the others from the next round on. */
static void note(struct pt_recall *r, const struct pt_memory_piece *p) {
    uint32_t i = find(r, p);
    if (i < r->count)
        r->at[i].age = 0;
    else if (r->count < PT_RECALL_PIECES && p->size <= PIECE_BYTES)
        r->at[r->count++] =
            (struct pt_recalled){ .address = p->address, .size = (uint32_t)p->size };
}

size_t pt_recall_read(void *recall, const struct pt_memory_piece *pieces, size_t count) {
    struct pt_recall *r = recall;
    struct pt_memory_piece missing[PT_RECALL_PIECES];
    size_t places[PT_RECALL_PIECES], missing_count = 0;
    count = count < PT_RECALL_PIECES ? count : PT_RECALL_PIECES;
    for (size_t i = 0; i < count; i++) {
        if (take(r, &pieces[i]))
            continue;
        missing[missing_count] = pieces[i];
        places[missing_count++] = i;
    }
    size_t done = missing_count > 0 ? r->from.read(r->from.state, missing, missing_count) : 0;
    for (size_t i = 0; i < done; i++)
        note(r, &missing[i]);
    return done < missing_count ? places[done] : count;
}

void pt_recall_end(struct pt_recall *r) {
    uint32_t kept = 0, used = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        struct pt_recalled piece = r->at[i];
        if (piece.age++ >= AGE_MAX || piece.size > PT_RECALL_BYTES - used)
            continue;
        piece.offset = used;
        used += piece.size;
        r->at[kept++] = piece;
    }
    r->count = kept;
}
