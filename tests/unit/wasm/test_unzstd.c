/* SPDX-License-Identifier: Apache-2.0 */
/* The decompression that pages use, against the library that compresses traces. */
#include "base/mem.h"
#include "base/rng.h"
#include "ui/wasm/unzstd.h"

#include "harness/wf_test.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { RAW_MAX = 300000, KINDS = 6, CASES = 60 };

static uint64_t below(uint64_t *random, uint64_t n)
{
    return wf_rng_below(wf_rng_draw(7, 0, (*random)++), n);
}

/* Noise, few symbols, a period, a ramp, copies, and words: every kind of block. */
static unsigned char byte_of(uint64_t *random, int kind, const unsigned char *raw, size_t at)
{
    static const char words[] = "the weft of ranks and messages  ";

    switch (kind) {
    case 0:
        return (unsigned char)below(random, 256);
    case 1:
        return (unsigned char)below(random, 4);
    case 2:
        return (unsigned char)(at % 37);
    case 3:
        return (unsigned char)(below(random, 10) > 0 ? at >> 8 : below(random, 256));
    case 4:
        return at > 100 && below(random, 20) > 0 ? raw[at - 1 - below(random, 100)]
                                                 : (unsigned char)below(random, 64);
    default:
        return (unsigned char)words[below(random, sizeof(words) - 1)];
    }
}

struct example {
    unsigned char *raw, *packed, *out;
    size_t size, packed_size;
};

static struct example example(uint64_t *random, int number)
{
    static const int levels[] = {-1, 1, 3, 9, -5};
    struct example e = {.size = below(random, number % 7 == 0 ? RAW_MAX : 20000)};
    size_t most = ZSTD_compressBound(e.size);

    e.raw = wf_xmalloc(e.size + 1);
    e.packed = wf_xmalloc(most);
    e.out = wf_xcalloc(e.size + 1, 1);
    for (size_t i = 0; i < e.size; i++) {
        e.raw[i] = byte_of(random, number % KINDS, e.raw, i);
    }
    e.packed_size = ZSTD_compress(e.packed, most, e.raw, e.size, levels[number / KINDS % 5]);
    return e;
}

static void release(struct example *e)
{
    free(e->raw);
    free(e->packed);
    free(e->out);
}

static void gives_back_what_was_compressed(void)
{
    uint64_t random = 0;

    for (int i = 0; i < CASES; i++) {
        struct example e = example(&random, i);
        CHECK(wf_wasm_unzstd(e.packed, e.packed_size, e.out, e.size));
        CHECK(memcmp(e.out, e.raw, e.size) == 0);
        CHECK(!wf_wasm_unzstd(e.packed, e.packed_size, e.out, e.size + 1));
        CHECK(!wf_wasm_unzstd(e.packed, e.packed_size / 2, e.out, e.size));
        release(&e);
    }
}

/* Whether damage is noticed is the business of checksums; a sanitizer sees what is read. */
static void damage_does_no_harm(void)
{
    uint64_t random = 1000000000;

    for (int i = 1; i < CASES; i++) {
        struct example e = example(&random, i % 7 == 0 ? i + 1 : i);
        for (int k = 0; k < 10; k++) {
            size_t size = k % 3 == 0 ? below(&random, e.packed_size) : e.packed_size;
            unsigned char *copy = wf_xmalloc(size + 1);
            memcpy(copy, e.packed, size);
            if (size > 0) {
                copy[below(&random, size)] ^= (unsigned char)(1u << below(&random, 8));
            }
            (void)wf_wasm_unzstd(copy, size, e.out, e.size);
            free(copy);
        }
        release(&e);
    }
    CHECK(!wf_wasm_unzstd("", 0, NULL, 0));
}

int main(void)
{
    RUN(gives_back_what_was_compressed);
    RUN(damage_does_no_harm);
    return wf_test_done();
}
