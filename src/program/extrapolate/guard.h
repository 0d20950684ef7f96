/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Which ranks execute a statement: a disjunction of conjunctions of simple tests on the rank, its
 * coordinates, its peer and the round of a loop, learnt from examples.
 */

#include "program/extrapolate/grid.h"

/* A rank in a situation. */
struct wf_ext_where {
    const struct wf_ext_grid *grid;
    uint32_t rank;
    bool has_peer;
    bool swaps; /* the peer is at the transposed place */
    uint32_t peer;
    /* In a loop whose rounds differ: the round, and the parameter of the peer in it. */
    bool in_rounds;
    uint32_t round;
    uint32_t distance;
};

struct wf_ext_atom {
    uint8_t test;
    uint8_t dim;
    uint16_t k;
};

enum { WF_EXT_ATOMS = 6, WF_EXT_TERMS = 4 };

/* Zeroed: always. */
struct wf_ext_guard {
    bool negated;
    uint8_t n_terms;
    uint8_t n_atoms[WF_EXT_TERMS];
    struct wf_ext_atom atoms[WF_EXT_TERMS][WF_EXT_ATOMS];
};

struct wf_ext_example {
    struct wf_ext_where where;
    bool holds;
};

bool wf_ext_guard_holds(const struct wf_ext_guard *guard, const struct wf_ext_where *where);

/* Finds the simplest guard that all examples agree with; false if there is none. */
bool wf_ext_guard_learn(const struct wf_ext_example *examples, uint32_t n,
                        struct wf_ext_guard *out);

/* Writes the guard as a condition; "" if it always holds. */
const char *wf_ext_guard_text(const struct wf_ext_guard *guard, char *text, size_t size);
