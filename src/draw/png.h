/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_DRAW_PNG_H
#define WF_DRAW_PNG_H

/* Pixels as a file: Portable Network Graphics (ISO/IEC 15948), 8 bits each of red, green and
 * blue. */

#include <stddef.h>
#include <stdio.h>

/* `pixels` has `height` rows of `width` times 3 bytes. Errors of `out` are found by the caller
 * (ferror). */
void wf_png_write(const unsigned char *pixels, size_t width, size_t height, FILE *out);

#endif
