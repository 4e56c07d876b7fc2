/* demo/tokenizer.h -- text to tokens and back, without loss.
 *
 * Tokens 0 to 255 are bytes; then a mark for the beginning and one for the end;
 * then pairs of the 16 commonest characters of English, taken greedily:
 * "the cat" is th|e |ca|t. */
#ifndef PT_DEMO_TOKENIZER_H
#define PT_DEMO_TOKENIZER_H

#include "base/buf.h"

enum {
    PT_TOKEN_BEGIN = 256,
    PT_TOKEN_END = 257,
    PT_TOKEN_PAIRS = 258,
    PT_TOKEN_COUNT = PT_TOKEN_PAIRS + 16 * 16,
};

/* Writes at most `capacity` tokens and returns how many; text.len is always enough. */
size_t pt_tokenizer_encode(struct pt_str text, uint32_t *tokens, size_t capacity);

/* Appends the bytes a token stands for; none for the marks and unknown tokens. */
void pt_tokenizer_decode(uint32_t token, struct pt_buf *text);

#endif
