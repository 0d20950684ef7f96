/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_BASE_VARINT_TAKE_H
#define WF_BASE_VARINT_TAKE_H

/* Numbers in bytes (base/varint.h) as they are read for every op. */

#include "base/varint.h"

/* The number at `*at`, which is moved behind it, without a look at where the bytes end: the
 * caller knows that WF_VARINT_MAX more may be read, and finds out later. One that is too long
 * sets `*failed`. */
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

#endif
