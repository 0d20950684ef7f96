/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Quantities as functions of the number of ranks and the sizes of the grid: a constant, a term
 * times a number, a constant and a term, a block of an uneven division, or a product of two
 * sides. Terms are powers and
 * logarithms, as in Extra-P (Calotoiu et al., SC 2013). The function is chosen by how well it
 * predicts each count from the others.
 */

#include "program/extrapolate/grid.h"

struct wf_ext_point {
    const struct wf_ext_grid *grid;
    double value;
};

enum wf_ext_form { WF_EXT_CONSTANT, WF_EXT_TERM, WF_EXT_SUM, WF_EXT_SIDES, WF_EXT_BLOCKS };

struct wf_ext_law {
    uint8_t form;
    uint16_t term;
    double c0, c1;
    bool exact;    /* all counts are met exactly */
    bool doubtful; /* another law of the same form is exact too, but differs at the target */
    double error;  /* how far predictions of one count from the others are off, relative */
};

double wf_ext_law_at(const struct wf_ext_law *law, const struct wf_ext_grid *grid);

/* Knowledge about a quantity besides its points. */
struct wf_ext_hint {
    /* Number of ranks and grid for which the law is wanted. */
    const struct wf_ext_grid *target;
    /* The dimension in which a message moves: its size is probably that of a face across this
     * dimension. WF_EXT_WHOLE: none. */
    uint32_t across;
};

/* A law that meets all points, integers, exactly; false if there is none. */
bool wf_ext_law_exact(const struct wf_ext_point *points, uint32_t n,
                      const struct wf_ext_hint *hint, struct wf_ext_law *out);
/* The law that predicts best. The points are not negative. If they were measured, only laws that
 * times usually follow are tried, and the usual ones are preferred to others that are hardly
 * better: noise fits many laws. */
void wf_ext_law_fit(const struct wf_ext_point *points, uint32_t n, bool measured,
                    struct wf_ext_law *out);

const char *wf_ext_law_text(const struct wf_ext_law *law, char *text, size_t size);
