/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/png.h"

#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { CHANNELS = 3, FILTER_NONE = 0 };

static void put_number(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        at[i] = (unsigned char)(value >> (24 - 8 * i));
    }
}

/* Length, type, data, and a checksum of the last two. */
static void put_chunk(FILE *out, const char *type, const unsigned char *data, size_t size)
{
    unsigned char head[8], tail[4];
    uLong crc = crc32(0, (const Bytef *)type, 4);

    if (size > 0) {
        crc = crc32(crc, data, (uInt)size);
    }
    put_number(head, (uint32_t)size);
    memcpy(head + 4, type, 4);
    put_number(tail, (uint32_t)crc);
    (void)fwrite(head, 1, sizeof(head), out);
    if (size > 0) {
        (void)fwrite(data, 1, size, out);
    }
    (void)fwrite(tail, 1, sizeof(tail), out);
}

/* Each row as it is: drawings have few colours, and differences of them would be more. */
static unsigned char *filter(const unsigned char *pixels, size_t row, size_t height)
{
    unsigned char *filtered = wf_xmalloc((row + 1) * height);

    for (size_t y = 0; y < height; y++) {
        filtered[y * (row + 1)] = FILTER_NONE;
        memcpy(&filtered[y * (row + 1) + 1], pixels + y * row, row);
    }
    return filtered;
}

void wf_png_write(const unsigned char *pixels, size_t width, size_t height, FILE *out)
{
    static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    /* 8 bits, true colour, deflate, adaptive filters, not interlaced. */
    unsigned char header[13] = {0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0};
    size_t row = width * CHANNELS;
    unsigned char *filtered = filter(pixels, row, height);
    uLongf size = compressBound((uLong)((row + 1) * height));
    unsigned char *packed = wf_xmalloc(size);

    put_number(header, (uint32_t)width);
    put_number(header + 4, (uint32_t)height);
    /* Cannot fail: there is room for the worst case, and memory was asked for. */
    (void)compress2(packed, &size, filtered, (uLong)((row + 1) * height), Z_BEST_COMPRESSION);
    (void)fwrite(signature, 1, sizeof(signature), out);
    put_chunk(out, "IHDR", header, sizeof(header));
    put_chunk(out, "IDAT", packed, size);
    put_chunk(out, "IEND", NULL, 0);
    free(packed);
    free(filtered);
}
