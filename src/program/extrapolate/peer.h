/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Peers as functions of the rank and the grid: a symbol is a family of functions and its
 * parameters, which are the same for all ranks and all numbers of ranks.
 */

#include "program/extrapolate/grid.h"

/* In the order of preference. `d` is a dimension, or WF_EXT_WHOLE for the rank itself; x is the
 * coordinate and X the size in this dimension. */
enum wf_ext_family {
    WF_EXT_MOVE,     /* (d, k): x + k, around the end */
    WF_EXT_VECTOR,   /* moves in several dimensions at once */
    WF_EXT_SET,      /* (d, c): c */
    WF_EXT_SET_TOP,  /* (d, c): X - 1 - c */
    WF_EXT_XOR,      /* (d, m): x ^ m */
    WF_EXT_XOR_TOP,  /* (d, k): x ^ (X >> k) */
    WF_EXT_FRACTION, /* (d, a, b, o): x + a * X / b + o, around the end */
    WF_EXT_MIRROR,   /* (d): X - 1 - x */
    WF_EXT_SWAP,     /* (d, e): coordinates d and e change places; if X is k times as large as
                        the other size, k neighbours move together */
    WF_EXT_ROTATE,   /* (d, k): the bits of the rank rotated left by k; d < WF_EXT_WHOLE: by
                        log2 of X times the direction k */
    WF_EXT_REVERSE,  /* (d): the bits of x in reverse order */
    WF_EXT_LOW,      /* (d): x without its lowest one bit */
    WF_EXT_HIGH,     /* (d): x without its highest one bit */
    WF_EXT_LEADER,   /* (d, k): x - x mod k */
    WF_EXT_PARENT,   /* (d, k): (x - 1) / k */
    WF_EXT_CHILD,    /* (d, k, i): k * x + i */
    WF_EXT_FAMILIES,
};

struct wf_ext_symbol {
    uint8_t family;
    int32_t v[4];
};

/* One number for a symbol, and back. The parameters are below 8,192. */
uint64_t wf_ext_symbol_pack(const struct wf_ext_symbol *symbol);
struct wf_ext_symbol wf_ext_symbol_unpack(uint64_t packed);

/* The peer of a rank; false if it has none. */
bool wf_ext_peer(const struct wf_ext_grid *grid, const struct wf_ext_symbol *symbol,
                 uint32_t rank, uint32_t *out);

enum { WF_EXT_SYMBOLS_MAX = 256 };

/* All symbols, packed, that lead from a rank to a peer. Returns their number. */
uint32_t wf_ext_symbols(const struct wf_ext_grid *grid, uint32_t rank, uint32_t peer,
                        uint64_t out[WF_EXT_SYMBOLS_MAX]);

/* The order of preference of symbols that explain equally much: lower is better. */
uint64_t wf_ext_symbol_cost(uint64_t packed);

/* Whether a parameter of the family counts or doubles in loops, and which one. */
bool wf_ext_symbol_varies(const struct wf_ext_symbol *symbol, uint32_t *which);

/* Writes an expression; `index` stands for the parameter that varies, or is null. */
const char *wf_ext_symbol_text(const struct wf_ext_symbol *symbol, const char *index,
                               char *text, size_t size);
