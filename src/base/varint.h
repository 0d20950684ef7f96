/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Variable-length numbers (LEB128): seven bits per byte, the low ones first; the top bit is set
 * in all bytes but the last. Signed numbers are zigzag-encoded first: 0, -1, 1, -2, ... become
 * 0, 1, 2, 3, .... Numbers of fixed length are little-endian.
 */

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { WF_VARINT_MAX = 10 }; /* bytes of the longest */

static inline uint64_t wf_zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
}

static inline uint64_t wf_unzigzag(uint64_t folded)
{
    return (folded >> 1) ^ (0 - (folded & 1));
}

static inline unsigned char *wf_varint_write(unsigned char *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    *at++ = (unsigned char)value;
    return at;
}

static inline void wf_varint_put(struct wf_buf *buf, uint64_t value)
{
    unsigned char bytes[WF_VARINT_MAX];

    wf_buf_append(buf, bytes, (size_t)(wf_varint_write(bytes, value) - bytes));
}

/* A cursor over bytes. Reading past the end sets `failed` and gives 0. */
struct wf_reading {
    const unsigned char *at, *end;
    bool failed;
};

#define WF_VARINT_STOPS UINT64_C(0x8080808080808080)

/* Eight bytes at once, without a branch for each: the number in the bytes of `word` up to the
 * first one whose top bit is clear. `stop` has a bit set at the top of every such byte; there
 * must be one. */
static inline __attribute__((always_inline)) uint64_t wf_varint_of_word(uint64_t word,
                                                                        uint64_t stop)
{
    word &= stop ^ (stop - 1);
    word &= UINT64_C(0x7f7f7f7f7f7f7f7f);
    word = (word & UINT64_C(0x007f007f007f007f)) | (word & UINT64_C(0x7f007f007f007f00)) >> 1;
    word = (word & UINT64_C(0x00003fff00003fff)) | (word & UINT64_C(0x3fff00003fff0000)) >> 2;
    return (word & UINT64_C(0x0fffffff)) | (word & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* Reads a number of up to eight bytes; false, and nothing read, if it is longer or the bytes
 * end before that. */
static inline __attribute__((always_inline)) bool wf_varint_get_quick(struct wf_reading *in,
                                                                      uint64_t *value)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t word = 0;

    if (in->end - in->at < (ptrdiff_t)sizeof(word)) {
        return false;
    }
    memcpy(&word, in->at, sizeof(word));
    uint64_t stop = ~word & WF_VARINT_STOPS;
    if (stop == 0) {
        return false;
    }
    in->at += __builtin_ctzll(stop) / 8 + 1;
    *value = wf_varint_of_word(word, stop);
    return true;
#else
    return (void)in, (void)value, false;
#endif
}

/* Reads a number byte by byte. */
static inline uint64_t wf_varint_get_slow(struct wf_reading *in)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64 && in->at < in->end; shift += 7) {
        unsigned char byte = *in->at++;
        if (shift == 63 && byte > 1) {
            break;
        }
        value |= (uint64_t)(byte & 0x7fU) << shift;
        if (byte < 0x80) {
            return value;
        }
    }
    in->failed = true;
    in->at = in->end;
    return 0;
}

static inline __attribute__((always_inline)) uint64_t wf_varint_get(struct wf_reading *in)
{
    uint64_t value = 0;

    if (in->at < in->end && *in->at < 0x80) {
        return *in->at++;
    }
    if (!wf_varint_get_quick(in, &value)) {
        /* A copy, so that the compiler can keep `in` in registers. */
        struct wf_reading slow = *in;
        value = wf_varint_get_slow(&slow);
        *in = slow;
    }
    return value;
}

/* As wf_varint_get(), for a number that must be at most `max`. */
static inline uint64_t wf_varint_get_max(struct wf_reading *in, uint64_t max)
{
    uint64_t value = wf_varint_get(in);

    if (value > max) {
        in->failed = true;
        return 0;
    }
    return value;
}

static inline uint32_t wf_varint_get_u32(struct wf_reading *in)
{
    return (uint32_t)wf_varint_get_max(in, UINT32_MAX);
}

/* Reads the number at *at and moves *at behind it, for the decoder of ops: no check of where
 * the bytes end. The caller knows that WF_VARINT_MAX bytes may be read, and compares *at with
 * the end later. A number that is too long sets *failed. */
static inline __attribute__((always_inline)) uint64_t wf_varint_take(const unsigned char **at,
                                                                     bool *failed)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t word = 0;

    memcpy(&word, *at, sizeof(word));
    if ((word & 0x80) == 0) {
        *at += 1;
        return word & 0x7f;
    }
    uint64_t stop = ~word & WF_VARINT_STOPS;
    if (stop != 0) {
        *at += __builtin_ctzll(stop) / 8 + 1;
        return wf_varint_of_word(word, stop);
    }
#endif
    struct wf_reading slow = {*at, *at + WF_VARINT_MAX, false};
    uint64_t value = wf_varint_get_slow(&slow);
    *failed |= slow.failed;
    *at = slow.at;
    return value;
}

static inline unsigned char *wf_fixed_write(unsigned char *at, uint64_t value, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        *at++ = (unsigned char)(value >> (8 * i));
    }
    return at;
}

static inline uint64_t wf_fixed_read(const unsigned char **at, unsigned n)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < n; i++) {
        value |= (uint64_t) * (*at)++ << (8 * i);
    }
    return value;
}
