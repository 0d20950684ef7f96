/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_BASE_VARINT_H
#define WF_BASE_VARINT_H

/*
 * Numbers in bytes: seven bits a byte, the low ones first, the top bit set in all bytes but the
 * last. Signed differences are folded so that small ones of either sign are short (0, -1, 1,
 * -2, ... become 0, 1, 2, 3, ...). Numbers of fixed length are little-endian.
 */

#include "base/buf.h"
#include "base/varint_word.h"

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

/* Bytes that are read one after the other. Reading past the end sets `failed` and gives 0. */
struct wf_reading {
    const unsigned char *at, *end;
    bool failed;
};

/* Of up to eight bytes at once; false if it is longer. */
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

/* Byte by byte. */
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
        /* A copy, so that `in` itself can stay in registers. */
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

#endif
