/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_GEN_LEANMD_H
#define WF_GEN_LEANMD_H

/*
 * LeanMD, molecular dynamics with a cut-off, driven by messages (Mehta, "LeanMD: a Charm++
 * framework for high performance molecular dynamics simulation on large parallel machines",
 * University of Illinois, 2004; Kale et al., "Migratable objects + active messages + adaptive
 * runtime = productivity + performance", 2012). One of the two programs with which TraceR was
 * evaluated (see ranks/tasks/pe.h, figure 7 there).
 *
 * Space is a periodic grid of cells that hold atoms. For each cell, and for each pair of cells
 * that are at most `kaway` apart in every dimension, there is a compute. In each step every
 * cell sends its atoms to its computes; a compute with the atoms of both its cells computes the
 * forces between them and sends each cell its part; a cell that has all forces moves its atoms.
 *
 * Cells and computes are spread over the PEs separately, in blocks of consecutive numbers or in
 * turn. Computes are numbered by the first of their cells: with blocks, they are near it.
 *
 * A cell has between 1 - imbalance and 1 + imbalance times `atoms` atoms, which stay where they
 * are. A compute takes `pair_time` for each pair of atoms within the cut-off, which is `cutoff`
 * times the extent of `kaway` cells; how many these are of all pairs is counted for atoms on a
 * lattice of 8x8x8 in each cell. A cell takes `atom_time` for each of its atoms to move them.
 *
 * The tasks of a PE: one for each of its cells, which sends the first atoms; then, for each
 * step, one for each of its computes and one for each of its cells.
 */

#include "gen/graphs.h"

enum wf_leanmd_map { WF_LEANMD_BLOCK, WF_LEANMD_ROUND_ROBIN };

struct wf_leanmd_params {
    char *cells; /* "8x8x8" */
    uint64_t kaway;
    uint64_t atoms;
    double imbalance;
    double cutoff;
    uint64_t steps;
    int64_t pair_time, atom_time;
    uint64_t atom_bytes;
    int map; /* enum wf_leanmd_map */
};

#endif
