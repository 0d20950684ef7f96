/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_DRAW_BINS_H
#define WF_DRAW_BINS_H

/*
 * Many vertices behind one mark: which vertices are in a bin, how many, and how many cables
 * there are between bins. Of a very large network only a sample is visited.
 */

#include "draw/picture.h"
#include "topo/topo.h"

#define WF_DRAW_NO_BIN UINT32_C(0xffffffff)

struct wf_draw_bins {
    uint32_t n;
    uint64_t *nodes, *routers; /* [n] */
    uint64_t *links;           /* [n * n]: between a lower bin and a higher one */
    bool sampled;              /* the numbers above are too low, but not 0 where they matter */
};

/* The bin of a vertex with these coordinates, or WF_DRAW_NO_BIN. */
typedef uint32_t wf_draw_bin_fn(const void *arg, const uint32_t coord[WF_TOPO_COORDS_MAX]);

/* Into how many bins to put `n` neighbours: at most `most`, all alike if possible. */
uint32_t wf_draw_bins_choose(uint32_t n, uint32_t most);

/* Steps through the vertices, or in a very large network through a sample of them that always
 * has the first and the last few thousand: there are the roots and hubs. */
struct wf_draw_sample {
    uint64_t n, step, next;
};

/* Fewer are taken if the cables of each are looked at as well. */
void wf_draw_sample_begin(struct wf_draw_sample *sample, const struct wf_topo *topo,
                          bool cables);
bool wf_draw_sample_next(struct wf_draw_sample *sample,
                         uint32_t *vertex); /* false at the end */

/* `n` is at most 1024. */
void wf_draw_bins_count(const struct wf_topo *topo, uint32_t n, wf_draw_bin_fn *bin,
                        const void *arg, struct wf_draw_bins *out);

/* Adds the lines between bins, where bin i is mark i, and what they stand for to the legend.
 * Then releases the memory of `bins`. */
void wf_draw_bins_finish(struct wf_draw_bins *bins, struct wf_draw_picture *picture,
                         enum wf_draw_line_style style);

#endif
