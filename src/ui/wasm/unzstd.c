/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/wasm/unzstd.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    FSE_LOG_MAX = 9,
    SYMBOLS_MAX = 256,
    HUFFMAN_BITS_MAX = 11,
    BLOCK_MAX = 128 << 10,
};

/* ---- bits ---- */

/* A stream that is read from its end; its last byte has a one above the first bit. Bits before the
 * beginning are zero, and `at` is then negative. */
struct backward {
    const uint8_t *bytes;
    size_t size;
    int64_t at; /* bits that are left */
};

static uint32_t highest_bit(uint64_t value)
{
    return 63 - (uint32_t)__builtin_clzll(value);
}

static bool backward_open(struct backward *in, const uint8_t *bytes, size_t size)
{
    if (size == 0 || bytes[size - 1] == 0) {
        return false;
    }
    *in = (struct backward){bytes, size,
                            (int64_t)(8 * (size - 1) + highest_bit(bytes[size - 1]))};
    return true;
}

/* The eight bytes from `byte` on, as far as there are any. */
static uint64_t load(const struct backward *in, size_t byte)
{
    uint64_t word = 0;
    size_t left = in->size - byte;

    memcpy(&word, in->bytes + byte, left < sizeof(word) ? left : sizeof(word));
    return word;
}

/* `n` is at most 31. */
static uint32_t take(struct backward *in, uint32_t n)
{
    int64_t from = in->at - n;
    uint32_t missing = from >= 0 ? 0 : from < -31 ? 31 : (uint32_t)-from;
    uint64_t mask = (UINT64_C(1) << n) - 1;

    in->at = from;
    if (n == 0 || missing >= n) {
        return 0;
    }
    if (missing > 0) {
        return (uint32_t)(load(in, 0) << missing & mask);
    }
    return (uint32_t)(load(in, (size_t)from / 8) >> (from % 8) & mask);
}

/* A stream that is read from its beginning. */
struct forward {
    const uint8_t *bytes;
    size_t size, at; /* bytes, and bits that were read */
    bool failed;
};

static uint32_t take_forward(struct forward *in, uint32_t n)
{
    uint32_t value = 0;

    for (uint32_t i = 0; i < n; i++, in->at++) {
        if (in->at / 8 >= in->size) {
            in->failed = true;
            return 0;
        }
        value |= (uint32_t)(in->bytes[in->at / 8] >> (in->at % 8) & 1) << i;
    }
    return value;
}

/* ---- finite-state entropy ---- */

struct fse {
    uint32_t log;
    uint8_t symbol[1 << FSE_LOG_MAX], bits[1 << FSE_LOG_MAX];
    uint16_t next[1 << FSE_LOG_MAX];
};

/* The table for frequencies; -1 stands for less than one. */
static bool fse_build(struct fse *table, const int16_t *freq, uint32_t n, uint32_t log)
{
    uint16_t count[SYMBOLS_MAX];
    uint32_t size = 1u << log, high = size, at = 0, sum = 0;

    for (uint32_t s = 0; s < n; s++) {
        uint32_t own = freq[s] < 0 ? 1u : (uint32_t)freq[s];
        sum += own;
    }
    if (sum != size) {
        return false;
    }
    for (uint32_t s = 0; s < n; s++) {
        count[s] = freq[s] < 0 ? 1 : (uint16_t)freq[s];
        if (freq[s] < 0) {
            table->symbol[--high] = (uint8_t)s;
        }
    }
    for (uint32_t s = 0; s < n; s++) {
        for (int i = 0; i < freq[s]; i++) {
            table->symbol[at] = (uint8_t)s;
            do {
                at = (at + (size >> 1) + (size >> 3) + 3) & (size - 1);
            } while (at >= high);
        }
    }
    for (uint32_t i = 0; i < size; i++) {
        uint32_t next = count[table->symbol[i]]++;
        table->bits[i] = (uint8_t)(log - highest_bit(next));
        table->next[i] = (uint16_t)((next << table->bits[i]) - size);
    }
    table->log = log;
    return true;
}

/* Reads frequencies and builds the table. Returns the bytes read, 0 on failure. */
static size_t fse_read(struct fse *table, const uint8_t *bytes, size_t size, uint32_t most,
                       uint32_t log_max)
{
    struct forward in = {.bytes = bytes, .size = size};
    int16_t freq[SYMBOLS_MAX] = {0};
    uint32_t log = 5 + take_forward(&in, 4), n = 0;
    int32_t left = 1 << (log & 15);

    if (log > log_max) {
        return 0;
    }
    while (left > 0 && n < most && !in.failed) {
        uint32_t bits = highest_bit((uint32_t)left + 1) + 1, low = (1u << (bits - 1)) - 1;
        uint32_t limit = (1u << bits) - 1 - ((uint32_t)left + 1),
                 value = take_forward(&in, bits - 1);
        if ((value & low) >= limit) {
            value |= take_forward(&in, 1) << (bits - 1);
            value -= value > low ? limit : 0;
        }
        freq[n] = (int16_t)((int32_t)value - 1);
        left -= freq[n] < 0 ? 1 : freq[n];
        if (freq[n++] == 0) {
            for (uint32_t more = 3; more == 3 && !in.failed;) {
                more = take_forward(&in, 2);
                n += more;
            }
        }
    }
    if (in.failed || left != 0 || n > most || !fse_build(table, freq, n, log)) {
        return 0;
    }
    return (in.at + 7) / 8;
}

/* ---- Huffman codes ---- */

struct huffman {
    uint32_t bits; /* of the longest code; 0: there is no table yet */
    uint8_t symbol[1 << HUFFMAN_BITS_MAX], length[1 << HUFFMAN_BITS_MAX];
};

/* Weights of all symbols but the last. */
static bool huffman_build(struct huffman *table, uint8_t *weights, uint32_t n)
{
    uint32_t sum = 0, at = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (weights[i] > HUFFMAN_BITS_MAX) {
            return false;
        }
        sum += weights[i] > 0 ? 1u << (weights[i] - 1) : 0;
    }
    if (sum == 0 || highest_bit(sum) + 1 > HUFFMAN_BITS_MAX) {
        return false;
    }
    table->bits = highest_bit(sum) + 1;
    uint32_t rest = (1u << table->bits) - sum;
    if ((rest & (rest - 1)) != 0) {
        table->bits = 0;
        return false;
    }
    weights[n++] = (uint8_t)(highest_bit(rest) + 1);
    for (uint32_t weight = 1; weight <= table->bits; weight++) {
        for (uint32_t s = 0; s < n; s++) {
            uint32_t room = weights[s] == weight ? 1u << (weight - 1) : 0;
            memset(table->symbol + at, (int)s, room);
            memset(table->length + at, (int)(table->bits + 1 - weight), room);
            at += room;
        }
    }
    return true;
}

/* Weights that are compressed by two states in turn. Returns their number, 0 on failure. */
static uint32_t unpack_weights(const uint8_t *bytes, size_t size, uint8_t *weights)
{
    struct fse table;
    struct backward in;
    uint32_t state[2], n = 0;
    size_t used = fse_read(&table, bytes, size, SYMBOLS_MAX, 6);

    if (used == 0 || used >= size || !backward_open(&in, bytes + used, size - used)) {
        return 0;
    }
    state[0] = take(&in, table.log);
    state[1] = take(&in, table.log);
    while (n < SYMBOLS_MAX - 2) {
        uint32_t now = state[n % 2];
        weights[n++] = table.symbol[now];
        state[(n - 1) % 2] = table.next[now] + take(&in, table.bits[now]);
        if (in.at < 0) {
            weights[n] = table.symbol[state[n % 2]];
            return n + 1;
        }
    }
    return 0;
}

/* Reads a table. Returns the bytes read, 0 on failure. */
static size_t huffman_read(struct huffman *table, const uint8_t *bytes, size_t size)
{
    uint8_t weights[SYMBOLS_MAX + 1];
    uint32_t n = 0;
    size_t used = size > 0 ? 1 : 0;

    if (used == 1 && bytes[0] >= 128) {
        n = bytes[0] - 127u;
        used += (n + 1) / 2;
        for (uint32_t i = 0; i < n && used <= size; i++) {
            weights[i] = i % 2 == 0 ? bytes[1 + i / 2] >> 4 : bytes[1 + i / 2] & 15;
        }
    } else if (used == 1) {
        used += bytes[0];
        n = used <= size ? unpack_weights(bytes + 1, bytes[0], weights) : 0;
    }
    return used <= size && n > 0 && huffman_build(table, weights, n) ? used : 0;
}

static bool huffman_stream(const struct huffman *table, const uint8_t *bytes, size_t size,
                           uint8_t *out, size_t n)
{
    struct backward in;

    if (!backward_open(&in, bytes, size)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        struct backward ahead = in;
        uint32_t code = take(&ahead, table->bits);
        out[i] = table->symbol[code];
        in.at -= table->length[code];
        if (in.at < 0) {
            return false;
        }
    }
    return in.at == 0;
}

/* ---- a frame ---- */

struct frame {
    uint8_t *out;
    size_t n, room; /* bytes written, and how many there can be */
    struct huffman huffman;
    struct fse tables[3]; /* literal lengths, offsets, match lengths */
    bool known[3];
    uint32_t repeated[3];
    uint8_t literals[BLOCK_MAX];
    size_t n_literals;
};

static uint64_t little(const uint8_t *bytes, size_t n)
{
    uint64_t value = 0;

    for (size_t i = 0; i < n; i++) {
        value |= (uint64_t)bytes[i] << (8 * i);
    }
    return value;
}

/* Literals by Huffman codes, in one stream or four. */
static bool huffman_literals(struct frame *frame, const uint8_t *bytes, size_t size, bool four)
{
    const struct huffman *table = &frame->huffman;
    size_t n = frame->n_literals, each = (n + 3) / 4, at = 6;

    if (table->bits == 0) {
        return false;
    }
    if (!four) {
        return huffman_stream(table, bytes, size, frame->literals, n);
    }
    if (size < at || 3 * each > n) {
        return false;
    }
    for (size_t i = 0; i < 4; i++) {
        size_t own = i < 3 ? (size_t)little(bytes + 2 * i, 2) : size - at;
        if (own > size - at ||
            !huffman_stream(table, bytes + at, own, frame->literals + i * each,
                            i < 3 ? each : n - 3 * each)) {
            return false;
        }
        at += own;
    }
    return true;
}

/* Returns the bytes of the literals section, 0 on failure. */
static size_t read_literals(struct frame *frame, const uint8_t *bytes, size_t size)
{
    static const uint8_t plain_head[4] = {1, 2, 1, 3}, coded_head[4] = {3, 3, 4, 5};
    uint32_t type = bytes[0] & 3, format = bytes[0] >> 2 & 3;
    size_t head = type < 2 ? plain_head[format] : coded_head[format], used = head;

    if (size < head) {
        return 0;
    }
    uint64_t word = little(bytes, head);
    if (type < 2) {
        frame->n_literals = (size_t)(word >> (format == 1 || format == 3 ? 4 : 3));
        used += type == 0 ? frame->n_literals : 1;
        if (frame->n_literals > BLOCK_MAX || used > size) {
            return 0;
        }
        if (type == 0) {
            memcpy(frame->literals, bytes + head, frame->n_literals);
        } else {
            memset(frame->literals, bytes[head], frame->n_literals);
        }
        return used;
    }
    uint32_t bits = format < 2 ? 10 : format == 2 ? 14 : 18;
    size_t packed = (size_t)(word >> (4 + bits) & ((1u << bits) - 1)), tree = 0;
    frame->n_literals = (size_t)(word >> 4 & ((1u << bits) - 1));
    if (frame->n_literals > BLOCK_MAX || packed > size - head) {
        return 0;
    }
    if (type == 2) {
        tree = huffman_read(&frame->huffman, bytes + head, packed);
        if (tree == 0) {
            return 0;
        }
    }
    return huffman_literals(frame, bytes + head + tree, packed - tree, format != 0)
               ? head + packed
               : 0;
}

/* ---- sequences ---- */

enum { LITERALS, OFFSETS, MATCHES };

static const struct {
    uint32_t n, log_max, log;
    int16_t usual[53];
} codes[3] = {
    {36, 9, 6, {4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1,  1,  2,  2,
                2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1}},
    {32, 8, 5, {1, 1, 1, 1, 1, 1, 2, 2, 2, 1,  1,  1,  1,  1, 1,
                1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1}},
    {53, 9, 6, {1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1,  1,  1,  1,  1,  1,  1, 1,
                1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
                1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1}},
};

/* The table of one kind of code. Returns the bytes read; SIZE_MAX on failure. */
static size_t read_table(struct frame *frame, int kind, uint32_t mode, const uint8_t *bytes,
                         size_t size)
{
    struct fse *table = &frame->tables[kind];
    size_t used = 0;

    if (mode == 0) {
        uint32_t n = kind == OFFSETS ? 29 : codes[kind].n;
        (void)fse_build(table, codes[kind].usual, n, codes[kind].log);
    } else if (mode == 1) {
        if (size == 0 || bytes[0] >= codes[kind].n) {
            return SIZE_MAX;
        }
        table->log = 0;
        table->symbol[0] = bytes[0];
        table->bits[0] = 0;
        table->next[0] = 0;
        used = 1;
    } else if (mode == 2) {
        used = fse_read(table, bytes, size, codes[kind].n, codes[kind].log_max);
        if (used == 0) {
            return SIZE_MAX;
        }
    } else if (!frame->known[kind]) {
        return SIZE_MAX;
    }
    frame->known[kind] = true;
    return used;
}

/* The length that a code stands for, with its extra bits. */
static uint32_t length_of(struct backward *in, int kind, uint32_t code)
{
    static const uint8_t literal_bits[20] = {1, 1, 1, 1,  2,  2,  3,  3,  4,  6,
                                             7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    static const uint8_t match_bits[21] = {1, 1, 1, 1,  2,  2,  3,  3,  4,  4, 5,
                                           7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    uint32_t first = kind == LITERALS ? 16 : 32, least = kind == LITERALS ? 0 : 3;
    const uint8_t *bits = kind == LITERALS ? literal_bits : match_bits;
    uint32_t base = first + least;

    if (code < first) {
        return code + least;
    }
    for (uint32_t i = 0; i < code - first; i++) {
        base += 1u << bits[i];
    }
    return base + take(in, bits[code - first]);
}

/* The offset, and the list of the last three. */
static uint32_t offset_of(uint32_t *last, uint32_t value, bool no_literals)
{
    uint32_t which = value - 1 + (no_literals ? 1 : 0);
    uint32_t offset = value > 3 ? value - 3 : which < 3 ? last[which] : last[0] - 1;

    if (value > 3 || which >= 2) {
        last[2] = last[1];
    }
    if (value > 3 || which >= 1) {
        last[1] = last[0];
    }
    last[0] = offset;
    return offset;
}

static bool copy_literals(struct frame *frame, size_t *literal, size_t n)
{
    if (n > frame->n_literals - *literal || n > frame->room - frame->n) {
        return false;
    }
    memcpy(frame->out + frame->n, frame->literals + *literal, n);
    frame->n += n;
    *literal += n;
    return true;
}

/* Copies byte by byte: the copy may overlap its origin. */
static bool copy_match(struct frame *frame, uint32_t offset, uint32_t length)
{
    if (offset == 0 || offset > frame->n || length > frame->room - frame->n) {
        return false;
    }
    for (uint32_t i = 0; i < length; i++, frame->n++) {
        frame->out[frame->n] = frame->out[frame->n - offset];
    }
    return true;
}

static bool run_sequences(struct frame *frame, struct backward *in, uint32_t n)
{
    uint32_t state[3];
    size_t literal = 0;

    for (int kind = 0; kind < 3; kind++) {
        state[kind] = take(in, frame->tables[kind].log);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t code[3];
        for (int kind = 0; kind < 3; kind++) {
            code[kind] = frame->tables[kind].symbol[state[kind]];
        }
        if (in->at < 0 || code[OFFSETS] > 31) {
            return false;
        }
        uint32_t value = (1u << code[OFFSETS]) + take(in, code[OFFSETS]);
        uint32_t length = length_of(in, MATCHES, code[MATCHES]);
        uint32_t n_literals = length_of(in, LITERALS, code[LITERALS]);
        uint32_t offset = offset_of(frame->repeated, value, n_literals == 0);
        if (!copy_literals(frame, &literal, n_literals) || !copy_match(frame, offset, length)) {
            return false;
        }
        for (int k = 0; k < 3 && i + 1 < n; k++) {
            static const int order[3] = {LITERALS, MATCHES, OFFSETS};
            const struct fse *table = &frame->tables[order[k]];
            uint32_t now = state[order[k]];
            state[order[k]] = table->next[now] + take(in, table->bits[now]);
        }
    }
    return in->at == 0 && copy_literals(frame, &literal, frame->n_literals - literal);
}

static bool read_block(struct frame *frame, const uint8_t *bytes, size_t size)
{
    size_t at = size > 0 ? read_literals(frame, bytes, size) : 0, literal = 0;

    if (at == 0 || at >= size) {
        return false;
    }
    uint32_t n = bytes[at++];
    if (n >= 128 && n < 255 && at < size) {
        n = (n - 128) << 8 | bytes[at++];
    } else if (n == 255 && size - at >= 2) {
        n = (uint32_t)little(bytes + at, 2) + 0x7f00;
        at += 2;
    }
    if (n == 0) {
        return at == size && copy_literals(frame, &literal, frame->n_literals);
    }
    if (at >= size || (bytes[at] & 3) != 0) {
        return false;
    }
    uint32_t modes = bytes[at++];
    for (int kind = 0; kind < 3; kind++) {
        size_t used =
            read_table(frame, kind, modes >> (6 - 2 * kind) & 3, bytes + at, size - at);
        if (used > size - at) {
            return false;
        }
        at += used;
    }
    struct backward in;
    return backward_open(&in, bytes + at, size - at) && run_sequences(frame, &in, n);
}

/* The blocks from `at` on. */
static bool read_blocks(struct frame *frame, const uint8_t *bytes, size_t size, size_t at)
{
    for (bool last = false; !last;) {
        if (size - at < 3) {
            return false;
        }
        uint32_t head = (uint32_t)little(bytes + at, 3), type = head >> 1 & 3, n = head >> 3;
        size_t stored = type == 1 ? 1 : n;
        at += 3;
        last = (head & 1) != 0;
        if (type == 3 || n > BLOCK_MAX || stored > size - at ||
            (type < 2 && n > frame->room - frame->n)) {
            return false;
        }
        if (type == 0) {
            memcpy(frame->out + frame->n, bytes + at, n);
            frame->n += n;
        } else if (type == 1) {
            memset(frame->out + frame->n, bytes[at], n);
            frame->n += n;
        } else if (!read_block(frame, bytes + at, n)) {
            return false;
        }
        at += stored;
    }
    return true;
}

bool wf_wasm_unzstd(const void *packed, size_t size, void *raw, size_t raw_size)
{
    static const uint8_t magic[4] = {0x28, 0xb5, 0x2f, 0xfd};
    static const uint8_t content_bytes[4] = {0, 2, 4, 8};
    const uint8_t *bytes = packed;

    if (size < 6 || memcmp(bytes, magic, sizeof(magic)) != 0) {
        return false;
    }
    bool single = (bytes[4] & 32) != 0;
    size_t content = bytes[4] >> 6 == 0 && single ? 1 : content_bytes[bytes[4] >> 6];
    size_t at = (single ? 5u : 6u) + content;
    if ((bytes[4] & 3) != 0 || at > size) {
        return false;
    }
    struct frame *frame = calloc(1, sizeof(*frame));
    if (frame == NULL) {
        return false;
    }
    frame->out = raw;
    frame->room = raw_size;
    frame->repeated[0] = 1;
    frame->repeated[1] = 4;
    frame->repeated[2] = 8;
    bool done = read_blocks(frame, bytes, size, at) && frame->n == raw_size;
    free(frame);
    return done;
}
