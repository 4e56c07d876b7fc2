#!/usr/bin/python3
"""Writes a small language model with random weights as a GGUF file.

    tests/real/model.py FILE [f16|q8_0] [--width 256] [--layers 4]

The architecture is that of Llama. The tokenizer has one token for each word of two letters, so a
prompt of n such words has n tokens and the start token: a client can count without a tokenizer. The
weights of the other tokens are zero in the last layer. They are never generated: an answer has
exactly the length that was asked for, and each of its tokens is text that is complete in itself.
"""
import argparse
import pathlib
import random
import string
import struct

ALIGNMENT = 32
UINT32, FLOAT32, BOOL, STRING, ARRAY = 4, 6, 7, 8, 9
INT32 = 5
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6
F32, F16, Q8_0 = 0, 1, 8
BLOCK = 32
TYPES = {'f16': F16, 'q8_0': Q8_0}
FILE_TYPES = {'f16': 1, 'q8_0': 7}
SPACE = '\u2581'
HEAD_WIDTH = 64
POOL = 1 << 16


def vocabulary():
    """(text, score, kind) of each token. Every word is made by merging two tokens at a time."""
    letters = string.ascii_lowercase
    pairs = [a + b for a in letters for b in letters]
    tokens = [('<unk>', 0.0, UNKNOWN), ('<s>', 0.0, CONTROL), ('</s>', 0.0, CONTROL)]
    tokens += [(f'<0x{n:02X}>', 0.0, BYTE) for n in range(256)]
    tokens += [(text, -1000.0, NORMAL) for text in [SPACE, *letters]]
    tokens += [(SPACE + letter, -100.0, NORMAL) for letter in letters]
    tokens += [(pair, -10.0, NORMAL) for pair in pairs]
    tokens += [(SPACE + pair, -1.0, NORMAL) for pair in pairs]
    return tokens


def is_generated(token):
    return len(token[0]) == 3 and token[0][0] == SPACE


def words(count, seed):
    """A prompt of that many tokens, without the start token."""
    source = random.Random(seed)
    return ' '.join(''.join(source.choices(string.ascii_lowercase, k=2)) for _ in range(count))


def pack_string(text):
    encoded = text.encode()
    return struct.pack('<Q', len(encoded)) + encoded


PACKERS = {UINT32: lambda v: struct.pack('<I', v), INT32: lambda v: struct.pack('<i', v),
           FLOAT32: lambda v: struct.pack('<f', v), BOOL: lambda v: struct.pack('<?', v),
           STRING: pack_string}


def pack_value(kind, value):
    if isinstance(value, list):
        return struct.pack('<IIQ', ARRAY, kind, len(value)) + b''.join(map(PACKERS[kind], value))
    return struct.pack('<I', kind) + PACKERS[kind](value)


class Weights:
    """Random numbers with the given spread, cut from a pool: fast for large models, too."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        numbers = [self.random.gauss(0, 1) for _ in range(POOL)]
        self.numbers = numbers
        self.pools = {}

    def pool(self, kind, spread):
        """The numbers of the pool in blocks of 32, as bytes."""
        if (kind, spread) not in self.pools:
            scaled = [n * spread for n in self.numbers]
            if kind == F16:
                packed = struct.pack(f'<{POOL}e', *scaled)
            else:
                packed = b''.join(quantize(scaled[i:i + BLOCK]) for i in range(0, POOL, BLOCK))
            self.pools[kind, spread] = packed
        return self.pools[kind, spread]

    def row(self, kind, width, spread):
        pool = self.pool(kind, spread)
        size = width // BLOCK * block_bytes(kind)
        start = self.random.randrange((len(pool) - size) // block_bytes(kind)) * block_bytes(kind)
        return pool[start:start + size]

    def matrix(self, kind, width, height, spread):
        return b''.join(self.row(kind, width, spread) for _ in range(height))


def block_bytes(kind):
    return {F16: 2 * BLOCK, Q8_0: 2 + BLOCK}[kind]


def quantize(numbers):
    scale = max(map(abs, numbers)) / 127
    return struct.pack(f'<e{BLOCK}b', scale, *(round(n / scale) if scale else 0 for n in numbers))


def tensors(kind, width, layers, tokens, seed):
    """(name, dimensions, type, bytes) of each tensor."""
    source = Weights(seed)
    hidden, spread = 2 * width, width ** -0.5

    def matrix(name, columns, rows):
        return name, (columns, rows), kind, source.matrix(kind, columns, rows, spread)

    def ones(name):
        return name, (width,), F32, struct.pack(f'<{width}f', *[1.0] * width)
    yield matrix('token_embd.weight', width, len(tokens))
    for layer in range(layers):
        block = f'blk.{layer}.'
        yield ones(block + 'attn_norm.weight')
        for name in ('attn_q', 'attn_k', 'attn_v', 'attn_output'):
            yield matrix(f'{block}{name}.weight', width, width)
        yield ones(block + 'ffn_norm.weight')
        yield matrix(block + 'ffn_gate.weight', width, hidden)
        yield matrix(block + 'ffn_up.weight', width, hidden)
        yield matrix(block + 'ffn_down.weight', hidden, width)
    yield ones('output_norm.weight')
    nothing = bytes(width // BLOCK * block_bytes(kind))
    yield ('output.weight', (width, len(tokens)), kind, b''.join(
        source.row(kind, width, spread) if is_generated(token) else nothing for token in tokens))


def metadata(name, precision, width, layers, tokens):
    return [
        ('general.architecture', STRING, 'llama'),
        ('general.name', STRING, name),
        ('general.file_type', UINT32, FILE_TYPES[precision]),
        ('llama.context_length', UINT32, 8192),
        ('llama.embedding_length', UINT32, width),
        ('llama.block_count', UINT32, layers),
        ('llama.feed_forward_length', UINT32, 2 * width),
        ('llama.attention.head_count', UINT32, width // HEAD_WIDTH),
        ('llama.attention.head_count_kv', UINT32, width // HEAD_WIDTH),
        ('llama.attention.layer_norm_rms_epsilon', FLOAT32, 1e-5),
        ('llama.rope.dimension_count', UINT32, HEAD_WIDTH),
        ('llama.vocab_size', UINT32, len(tokens)),
        ('tokenizer.ggml.model', STRING, 'llama'),
        ('tokenizer.ggml.tokens', STRING, [text for text, *_ in tokens]),
        ('tokenizer.ggml.scores', FLOAT32, [score for _, score, _ in tokens]),
        ('tokenizer.ggml.token_type', INT32, [kind for *_, kind in tokens]),
        ('tokenizer.ggml.unknown_token_id', UINT32, 0),
        ('tokenizer.ggml.bos_token_id', UINT32, 1),
        ('tokenizer.ggml.eos_token_id', UINT32, 2),
        ('tokenizer.ggml.add_bos_token', BOOL, True),
        ('tokenizer.ggml.add_space_prefix', BOOL, True),
        ('tokenizer.chat_template', STRING,
         "{% for message in messages %}{{ message['content'] }}{% endfor %}"),
    ]


def padding(size):
    return bytes(-size % ALIGNMENT)


def write(path, precision='f16', width=256, layers=4, seed=1):
    """The same weights for the same width, layers and seed, in any precision."""
    path = pathlib.Path(path)
    tokens = vocabulary()
    values = metadata(path.stem, precision, width, layers, tokens)
    made = list(tensors(TYPES[precision], width, layers, tokens, seed))
    head = [b'GGUF', struct.pack('<IQQ', 3, len(made), len(values))]
    head += [pack_string(key) + pack_value(kind, value) for key, kind, value in values]
    offset = 0
    for name, dimensions, kind, data in made:
        head.append(pack_string(name) + struct.pack('<I', len(dimensions)) +
                    struct.pack(f'<{len(dimensions)}Q', *dimensions) +
                    struct.pack('<IQ', kind, offset))
        offset += len(data) + len(padding(len(data)))
    start = b''.join(head)
    with open(path, 'wb') as file:
        file.write(start + padding(len(start)))
        for *_, data in made:
            file.write(data + padding(len(data)))
    return path


def main():
    parser = argparse.ArgumentParser(description='write a small language model with random weights')
    parser.add_argument('file')
    parser.add_argument('precision', nargs='?', default='f16', choices=sorted(TYPES))
    parser.add_argument('--width', type=int, default=256, help='multiple of 64 [256]')
    parser.add_argument('--layers', type=int, default=4)
    parser.add_argument('--seed', type=int, default=1)
    given = parser.parse_args()
    write(given.file, given.precision, given.width, given.layers, given.seed)


if __name__ == '__main__':
    main()
