#include "demo/tokenizer.h"

static const char letters[] = " etaoinshrdlcumw";

_Static_assert(sizeof letters - 1 == 16, "the pairs are of 16 characters");

/* 0 to 15, or 16 for any other byte. */
static uint32_t letter_index(char c) {
    const char *found = memchr(letters, c, sizeof letters - 1);
    return found ? (uint32_t)(found - letters) : 16;
}

size_t pt_tokenizer_encode(struct pt_str text, uint32_t *tokens, size_t capacity) {
    size_t count = 0;
    for (size_t i = 0; i < text.len && count < capacity; i++) {
        uint32_t first = letter_index(text.at[i]);
        uint32_t second = i + 1 < text.len ? letter_index(text.at[i + 1]) : 16;
        if (first < 16 && second < 16) {
            tokens[count++] = PT_TOKEN_PAIRS + first * 16 + second;
            i++;
        } else {
            tokens[count++] = (uint8_t)text.at[i];
        }
    }
    return count;
}

void pt_tokenizer_decode(uint32_t token, struct pt_buf *text) {
    if (token < 256) {
        pt_buf_u8(text, (uint8_t)token);
    } else if (token >= PT_TOKEN_PAIRS && token < PT_TOKEN_COUNT) {
        uint32_t pair = token - PT_TOKEN_PAIRS;
        pt_buf_u8(text, (uint8_t)letters[pair / 16]);
        pt_buf_u8(text, (uint8_t)letters[pair % 16]);
    }
}
