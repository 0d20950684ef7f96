/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* How programs lay out their ranks: a grid of a few dimensions, numbered with the first one
 * varying fastest. */

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { WF_GEN_GRID_DIMS_MAX = 4 };

/* The factors of n >= 1 that give the most cubic grid of `n_dims` dimensions: the one with
 * the smallest surface, and among equal surfaces the one whose smallest factor is largest.
 * size[0] >= size[1] >= ... */
WF_PLUGIN_API void wf_gen_grid_factor(uint32_t n, uint32_t n_dims, uint32_t *size);

/* Reads "4x4x2". Sets *product to the product of the sizes, or to any number above UINT32_MAX
 * if it is larger. Returns false unless `text` consists of `n_dims` sizes. */
WF_PLUGIN_API bool wf_gen_grid_parse(const char *text, uint32_t n_dims, uint32_t *size,
                                     uint64_t *product);

/* Reads "4x4x2" for n ranks, or factors n if `text` is empty or null. A text that does not
 * have `n_dims` sizes with the product n is WF_EUSAGE and leaves `size` unchanged; `name` is
 * that of the generator. */
enum wf_status wf_gen_grid_read(const char *name, const char *text, uint32_t n, uint32_t n_dims,
                                uint32_t *size, struct wf_err *err);
