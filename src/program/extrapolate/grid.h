/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Process grids as functions of the number of ranks. A rule says how a program lays out n ranks:
 * as cubic as possible in some dimensions, perhaps with one dimension of a fixed size, or as a line
 * between two of them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WF_EXT_DIMS = 4,
    WF_EXT_WHOLE = 4, /* used as a dimension: the rank itself, on a line of all ranks */
};

struct wf_ext_rule {
    uint32_t n_dims;   /* dimensions of variable size, at least 1 */
    bool small_first;  /* the smallest variable dimension varies fastest */
    uint32_t fixed;    /* size of one more dimension; 0: there is none */
    bool fixed_inside; /* the fixed dimension varies fastest; otherwise slowest */
    uint32_t outer;    /* with a fixed dimension inside: size of one more, outside; 0: none */
};

/* The grid of a rule for one number of ranks. Dimension 0 varies fastest. */
struct wf_ext_grid {
    uint32_t n, n_dims;
    uint32_t size[WF_EXT_DIMS + 1]; /* the last is n */
    uint32_t stride[WF_EXT_DIMS + 1];
};

/* False if n ranks do not fit the rule. */
bool wf_ext_grid_make(const struct wf_ext_rule *rule, uint32_t n, struct wf_ext_grid *out);

/* Rule number i of those to try, the simplest first; false after the last. `divisor` divides all
 * counts of ranks. */
bool wf_ext_rule_at(uint32_t i, uint32_t divisor, struct wf_ext_rule *out);

/* What coordinates and sizes of dimensions are called in texts. */
extern const char *const wf_ext_coord_names[WF_EXT_DIMS + 1];
extern const char *const wf_ext_size_names[WF_EXT_DIMS + 1];

/* Writes "8x4" to `text` and returns it. */
const char *wf_ext_grid_text(const struct wf_ext_grid *grid, char *text, size_t size);
/* Writes the rule in words to `text` and returns it. */
const char *wf_ext_rule_text(const struct wf_ext_rule *rule, char *text, size_t size);

static inline uint32_t wf_ext_coord(const struct wf_ext_grid *grid, uint32_t dim, uint32_t rank)
{
    return rank / grid->stride[dim] % grid->size[dim];
}

/* The rank that has coordinate `x` in a dimension and the others of `rank`. */
static inline uint32_t wf_ext_moved(const struct wf_ext_grid *grid, uint32_t dim, uint32_t rank,
                                    uint32_t x)
{
    return rank + (x - wf_ext_coord(grid, dim, rank)) * grid->stride[dim];
}
