/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Mutations that keep most of the structure of a file, so that a reader gets far: numbers become
 * limits or other numbers of the file, values exchange their types, parts of the file or of a file
 * of the same format change places, nest, and repeat. A text is taken as tokens and brackets, whatever its
 * format; a binary file as integers of any width and order, and as numbers of variable length.
 * Everything follows from the seed.
 */

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MUTATE_MAX = 1 << 17, MUTATE_TOKENS = 4096 };

struct mutate_bytes {
    uint8_t *data; /* of MUTATE_MAX bytes */
    size_t size;
};

struct mutate_span {
    size_t at, n;
};

static inline uint64_t mutate_draw(uint64_t *state, uint64_t n)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return n > 0 ? (z ^ (z >> 31)) % n : 0;
}

/* Replaces a span by other bytes, which may be a part of the file. */
static inline void mutate_replace(struct mutate_bytes *file, struct mutate_span span,
                                  const uint8_t *with, size_t n)
{
    uint8_t *copy = malloc(n + 1);

    if (copy == NULL || file->size - span.n + n > MUTATE_MAX) {
        free(copy);
        return;
    }
    if (n > 0) {
        memcpy(copy, with, n);
    }
    memmove(file->data + span.at + n, file->data + span.at + span.n,
            file->size - span.at - span.n);
    if (n > 0) {
        memcpy(file->data + span.at, copy, n);
    }
    file->size = file->size - span.n + n;
    free(copy);
}

/* ---- texts ---- */

static inline bool mutate_is_text(const struct mutate_bytes *file)
{
    size_t odd = 0;

    for (size_t i = 0; i < file->size; i++) {
        uint8_t c = file->data[i];
        odd += c < 0x80 && !isprint(c) && !isspace(c) ? 1 : 0;
    }
    return odd * 50 < file->size;
}

/* The kind of a token by its first byte: 0 space, 1 number, 2 word, 3 quoted, 4 anything else. */
static inline int mutate_kind(uint8_t c)
{
    return isspace(c)                           ? 0
           : isdigit(c) || c == '-' || c == '+' ? 1
           : isalpha(c) || c == '_' || c > 0x7f ? 2
           : c == '"'                           ? 3
                                                : 4;
}

static inline size_t mutate_token_end(const struct mutate_bytes *file, size_t at)
{
    int kind = mutate_kind(file->data[at]);
    size_t end = at + 1;

    while (end < file->size && kind != 4) {
        uint8_t c = file->data[end];
        if (kind == 3) {
            end++;
            if (c == '"' || c == '\n') {
                break;
            }
            end += c == '\\' && end < file->size ? 1 : 0;
            continue;
        }
        bool goes_on = kind == 1   ? isalnum(c) || c == '.'
                       : kind == 2 ? isalnum(c) || c == '_' || c > 0x7f
                                   : isspace(c) != 0;
        if (!goes_on) {
            break;
        }
        end++;
    }
    return end;
}

/* Tokens without spaces, from a place that the seed chooses if there are too many. */
static inline size_t mutate_tokens(const struct mutate_bytes *file, struct mutate_span *out,
                                   uint64_t *seed)
{
    size_t n = 0, at = file->size > MUTATE_TOKENS ? mutate_draw(seed, file->size / 2) : 0;

    at = mutate_draw(seed, 3) == 0 ? at : 0;
    while (at < file->size && n < MUTATE_TOKENS) {
        size_t end = mutate_token_end(file, at);
        if (mutate_kind(file->data[at]) != 0) {
            out[n++] = (struct mutate_span){at, end - at};
        }
        at = end;
    }
    return n;
}

/* The bracketed part that begins at a token, or its line. */
static inline struct mutate_span mutate_group(const struct mutate_bytes *file, size_t at)
{
    static const char open[] = "{[(<", close[] = "}])>";
    const char *which = file->data[at] != 0 ? strchr(open, file->data[at]) : NULL;
    size_t end = at, depth = 0;

    while (which != NULL && end < file->size) {
        depth += file->data[end] == (uint8_t)*which ? 1 : 0;
        depth -= file->data[end] == (uint8_t)close[which - open] ? 1 : 0;
        end++;
        if (depth == 0) {
            return (struct mutate_span){at, end - at};
        }
    }
    while (at > 0 && file->data[at - 1] != '\n') {
        at--;
    }
    for (end = at; end < file->size && file->data[end] != '\n';) {
        end++;
    }
    return (struct mutate_span){at, end + (end < file->size ? 1 : 0) - at};
}

static const char *const mutate_words[] = {
    "0",
    "1",
    "-1",
    "2",
    "7",
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "1e308",
    "-1e-308",
    "1e999",
    "nan",
    "0.1",
    "1000003",
    "1000000000",
    "00",
    "0x10",
    "1e18ps",
    "16EiB",
    "100000x100000",
    "\"\"",
    "\"a\"",
    "null",
    "true",
    "[]",
    "{}",
    "[[[[]]]]",
    "{\"a\": 1}",
    "\"\\u001b[31m\"",
    "\"4294967295\"",
    "x",
    "-",
    ",",
    ":",
    "",
    "\xc2\x9b",
    "\xe2\x80\xae", /* NOLINT(misc-misleading-bidirectional): that is what it is for */
    "../../x",
    "/dev/zero",
};

static inline void mutate_text(struct mutate_bytes *file, const struct mutate_bytes *other,
                               uint64_t *seed)
{
    static struct mutate_span own[MUTATE_TOKENS], theirs[MUTATE_TOKENS];
    enum { WORDS = sizeof(mutate_words) / sizeof(mutate_words[0]) };
    size_t n = mutate_tokens(file, own, seed), m = mutate_tokens(other, theirs, seed);

    if (n == 0 || m == 0) {
        return;
    }
    struct mutate_span a = own[mutate_draw(seed, n)], b = theirs[mutate_draw(seed, m)];
    const char *word = mutate_words[mutate_draw(seed, WORDS)];
    switch (mutate_draw(seed, 9)) {
    case 0:
    case 1: /* a number, if one is near, becomes a limit */
        for (size_t i = 0; i < 64 && mutate_kind(file->data[a.at]) != 1; i++) {
            a = own[mutate_draw(seed, n)];
        }
        mutate_replace(file, a, (const uint8_t *)word, strlen(word));
        break;
    case 2: /* any value of any type */
        mutate_replace(file, a, (const uint8_t *)word, strlen(word));
        break;
    case 3: /* a token of the same kind, or of another */
        for (size_t i = 0;
             i < 64 && mutate_kind(other->data[b.at]) != mutate_kind(file->data[a.at]); i++) {
            b = theirs[mutate_draw(seed, m)];
        }
        mutate_replace(file, a, other->data + b.at, b.n);
        break;
    case 4: /* a part is lost */
        a = mutate_group(file, a.at);
        mutate_replace(file, a, NULL, 0);
        break;
    case 5: /* a part of this file or another one takes its place */
        a = mutate_group(file, a.at);
        b = mutate_group(other, b.at);
        mutate_replace(file, a, other->data + b.at, b.n);
        break;
    case 6: /* a part within another one */
        b = mutate_group(other, b.at);
        a.n = 0;
        mutate_replace(file, a, other->data + b.at, b.n);
        break;
    case 7: /* a part many times */
        a = mutate_group(file, a.at);
        for (uint64_t i = mutate_draw(seed, 3) == 0 ? 200 : 2; i > 0; i--) {
            mutate_replace(file, (struct mutate_span){a.at, 0}, file->data + a.at, a.n);
        }
        break;
    default: /* nested deeply */
        for (uint64_t i = mutate_draw(seed, 2) == 0 ? 2000 : 3; i > 0; i--) {
            mutate_replace(file, (struct mutate_span){a.at, 0}, file->data + a.at,
                           mutate_kind(file->data[a.at]) == 4 ? 1 : 0);
        }
    }
}

/* ---- binary files ---- */

static inline size_t mutate_varint(uint64_t value, uint8_t *out)
{
    size_t n = 0;

    for (; value >= 0x80; value >>= 7) {
        out[n++] = (uint8_t)(value | 0x80);
    }
    out[n++] = (uint8_t)value;
    return n;
}

static inline uint64_t mutate_limit(const struct mutate_bytes *file, uint64_t *seed)
{
    static const uint64_t limits[] = {
        0,          1,          2,         3,           127,        128,
        255,        256,        65535,     65536,       INT32_MAX,  UINT64_C(1) << 31,
        UINT32_MAX, 1ULL << 32, INT64_MAX, 1ULL << 63,  UINT64_MAX, 1000003,
        1 << 20,    1 << 28,    44,        0xfffffffeU, 1ULL << 40, 1ULL << 62,
    };
    uint64_t value = limits[mutate_draw(seed, sizeof(limits) / sizeof(limits[0]))];

    switch (mutate_draw(seed, 5)) {
    case 0:
        return file->size + mutate_draw(seed, 3) - 1;
    case 1:
        return value - mutate_draw(seed, 3);
    case 2:
        return mutate_draw(seed, 64);
    default:
        return value;
    }
}

static inline void mutate_put(struct mutate_bytes *file, size_t at, size_t width, bool swapped,
                              uint64_t value)
{
    for (size_t i = 0; i < width && at + i < file->size; i++) {
        file->data[at + i] = (uint8_t)(value >> 8 * (swapped ? width - 1 - i : i));
    }
}

static inline void mutate_binary(struct mutate_bytes *file, const struct mutate_bytes *other,
                                 uint64_t *seed)
{
    size_t at = mutate_draw(seed, file->size), from = mutate_draw(seed, other->size), end = at;
    size_t width = (size_t)1 << mutate_draw(seed, 4);
    uint8_t varint[10];
    size_t n = 0;

    /* Heads have most of the counts and offsets. */
    at = mutate_draw(seed, 3) == 0 ? at % 256 % file->size : at;
    switch (mutate_draw(seed, 8)) {
    case 0:
    case 1:
        mutate_put(file, at, width, mutate_draw(seed, 2) == 0, mutate_limit(file, seed));
        break;
    case 2: /* a small step from what is there */
        file->data[at] = (uint8_t)(file->data[at] + mutate_draw(seed, 5) - 2);
        break;
    case 3:
    case 4: /* a number of variable length, which moves what follows */
        for (end = at; end + 1 < file->size && end < at + 9 && file->data[end] >= 0x80;) {
            end++;
        }
        n = mutate_varint(mutate_limit(file, seed), varint);
        mutate_replace(file, (struct mutate_span){at, end + 1 - at}, varint, n);
        break;
    case 5: /* a part of this or of the other file, in place */
        n = mutate_draw(seed, 64);
        n = n < other->size - from ? n : other->size - from;
        n = n < file->size - at ? n : file->size - at;
        memmove(file->data + at, other->data + from, n);
        break;
    case 6: /* a part once more */
        n = mutate_draw(seed, 200);
        n = n < file->size - at ? n : file->size - at;
        mutate_replace(file, (struct mutate_span){at, 0}, file->data + at, n);
        break;
    default: /* a part is lost */
        n = mutate_draw(seed, 64);
        n = n < file->size - at ? n : file->size - at;
        mutate_replace(file, (struct mutate_span){at, n}, NULL, 0);
    }
}

/* Mutates the file some times, mostly once or twice. */
static inline void mutate(struct mutate_bytes *file, const struct mutate_bytes *other,
                          uint64_t seed)
{
    static const uint8_t times[] = {1, 1, 1, 2, 2, 3, 6, 12};
    bool text = mutate_is_text(file);
    uint64_t state = seed;

    for (uint64_t i = times[mutate_draw(&state, sizeof(times))]; i > 0; i--) {
        if (file->size == 0 || other->size == 0) {
            return;
        }
        if (text && mutate_draw(&state, 30) != 0) {
            mutate_text(file, other, &state);
        } else {
            mutate_binary(file, other, &state);
        }
    }
}
