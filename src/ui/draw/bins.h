/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Bins: marks that stand for many vertices each. Counts the vertices in each bin and the cables
 * between bins. In a very large network only a sample of the vertices is visited.
 */

#include "model/topo/topo.h"
#include "ui/draw/picture.h"

#define WF_DRAW_NO_BIN UINT32_C(0xffffffff)

struct wf_draw_bins {
    uint32_t n;
    uint64_t *nodes, *routers; /* [n] */
    uint64_t *links;           /* [n * n]: cables between a lower bin and a higher one */
    bool sampled;              /* the numbers above are too low, but not 0 where they matter */
};

/* The bin of a vertex with these coordinates, or WF_DRAW_NO_BIN. */
typedef uint32_t wf_draw_bin_fn(const void *arg, const uint32_t coord[WF_TOPO_COORDS_MAX]);

/* The number of bins for `n` neighbours: at most `most`, chosen such that all bins are equal
 * if possible. */
uint32_t wf_draw_bins_choose(uint32_t n, uint32_t most);

/* Steps through the vertices. In a very large network it steps through a sample, which
 * always contains the first and the last few thousand vertices: the roots and hubs are
 * there. */
struct wf_draw_sample {
    uint64_t n, step, next;
};

/* Begins a sample. The sample is smaller if the caller looks at the cables of each vertex. */
void wf_draw_sample_begin(struct wf_draw_sample *sample, const struct wf_topo *topo,
                          bool cables);
bool wf_draw_sample_next(struct wf_draw_sample *sample,
                         uint32_t *vertex); /* false at the end */

/* Counts the vertices in `n` <= 1024 bins; wf_draw_bins_finish() releases `out`. */
void wf_draw_bins_count(const struct wf_topo *topo, uint32_t n, wf_draw_bin_fn *bin,
                        const void *arg, struct wf_draw_bins *out);

/* Adds the lines between bins, where bin i is mark i, and explains them in the legend. Then
 * releases the memory of `bins`. */
void wf_draw_bins_finish(struct wf_draw_bins *bins, struct wf_draw_picture *picture,
                         enum wf_draw_line_style style);
