/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_BASE_VARINT_WORD_H
#define WF_BASE_VARINT_WORD_H

/* Numbers in bytes (base/varint.h), eight bytes at once. */

#include <stdint.h>

/* Of the bytes of a word, the number in those up to the first without the top bit; `stop` has
 * the top bits of all that are so, of which there is one. Without a branch for each byte. */
static inline __attribute__((always_inline)) uint64_t wf_varint_of_word(uint64_t word,
                                                                        uint64_t stop)
{
    word &= stop ^ (stop - 1);
    word &= UINT64_C(0x7f7f7f7f7f7f7f7f);
    word = (word & UINT64_C(0x007f007f007f007f)) | (word & UINT64_C(0x7f007f007f007f00)) >> 1;
    word = (word & UINT64_C(0x00003fff00003fff)) | (word & UINT64_C(0x3fff00003fff0000)) >> 2;
    return (word & UINT64_C(0x0fffffff)) | (word & UINT64_C(0x0fffffff00000000)) >> 4;
}

#define WF_VARINT_STOPS UINT64_C(0x8080808080808080)

#endif
