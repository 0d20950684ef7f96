/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Turns a topology into a picture.
 *
 * How much is drawn depends on the size: every vertex, or every switch without its nodes, or
 * marks that stand for many vertices. Each shape of model/topo/topo.h has a struct wf_draw_shape_ops
 * that places its vertices and draws networks that are too large for that.
 */

#include "model/topo/topo.h"
#include "ui/draw/cable.h"
#include "ui/draw/picture.h"

/* Up to these numbers, every vertex and cable is drawn. */
enum { WF_DRAW_VERTICES_MAX = 600, WF_DRAW_CABLES_MAX = 5000 };

#define WF_DRAW_TURN 6.283185307179586

/* A picture in which every shown vertex has its own mark. */
struct wf_draw_view {
    const struct wf_topo *topo;
    struct wf_draw_picture *picture;
    uint32_t first; /* vertices from here on are shown: vertex v as mark v - first */
    double r;       /* radius of a router */
    double reach;   /* radius of a router together with the nodes around it */
    double pitch;   /* a good distance between neighbours */
    double *facing; /* [mark] direction in which its nodes are; NAN: all around */
};

struct wf_draw_shape_ops {
    /* Moves the marks of the shown vertices to their places, and may add further marks after
     * them. Nodes around their router are moved later. */
    void (*place)(const struct wf_draw_view *view);
    /* Sets style and bow of the line for a cable; its other members are set. May be null. */
    void (*bend)(const struct wf_draw_view *view, const struct wf_draw_cable *cable,
                 struct wf_draw_line *line);
    /* Draws a network that is too large to have a mark for each vertex. */
    void (*coarse)(const struct wf_topo *topo, struct wf_draw_picture *picture);
};

extern const struct wf_draw_shape_ops wf_draw_shape_grid;
extern const struct wf_draw_shape_ops wf_draw_shape_levels;
extern const struct wf_draw_shape_ops wf_draw_shape_groups;
extern const struct wf_draw_shape_ops wf_draw_shape_circle;

/* Draws a network that is not nested into an empty picture. */
void wf_draw_layout_network(const struct wf_topo *topo, struct wf_draw_picture *picture);

/* Draws any network into an empty picture; `spec` is the user's text. */
void wf_draw_layout(const struct wf_topo *topo, const char *spec,
                    struct wf_draw_picture *picture);

/* Whether every vertex and cable is drawn. */
static inline bool wf_draw_layout_is_small(const struct wf_topo *topo)
{
    return topo->n_vertices <= WF_DRAW_VERTICES_MAX && topo->n_links <= WF_DRAW_CABLES_MAX;
}

/* The radius of a circle on which `n` marks are `gap` apart. */
double wf_draw_layout_radius(uint32_t n, double gap);

/* The angle of place k of n on a circle: from the top, clockwise. */
static inline double wf_draw_layout_angle(uint32_t k, uint32_t n)
{
    return ((double)k / n - 0.25) * WF_DRAW_TURN;
}

/* Formats a count in few characters: "4096", "65.5 k". `buf` has WF_UNITS_TEXT_MAX bytes. */
char *wf_draw_layout_count(uint64_t count, char *buf);
