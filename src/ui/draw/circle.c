/* SPDX-License-Identifier: Apache-2.0 */
/* Rings, stars, full meshes and all other shapes: vertices on a circle, hubs inside. */
#include "base/units.h"
#include "ui/draw/bins.h"
#include "ui/draw/layout.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static uint32_t place_of(const struct wf_topo *topo, uint32_t vertex)
{
    uint32_t coord[WF_TOPO_COORDS_MAX];

    (void)topo->ops->coords(topo, vertex, coord);
    return coord[0];
}

static void circle_place(const struct wf_draw_view *view)
{
    const struct wf_topo *topo = view->topo;
    uint32_t places = 0, hubs = 0, hub = 0;

    for (uint32_t v = view->first; v < topo->n_vertices; v++) {
        uint32_t place = place_of(topo, v);
        if (place == WF_TOPO_NO_VERTEX) {
            hubs += v >= topo->n_nodes || wf_topo_is_direct(topo) ? 1 : 0;
        } else if (place >= places) {
            places = place + 1;
        }
    }

    double inner = wf_draw_layout_radius(hubs, view->pitch);
    double outer = fmax(wf_draw_layout_radius(places, view->pitch), inner + 1.5 * view->pitch);
    for (uint32_t v = view->first; v < topo->n_vertices; v++) {
        struct wf_draw_mark *mark = &view->picture->marks[v - view->first];
        uint32_t place = place_of(topo, v);
        bool is_hub = place == WF_TOPO_NO_VERTEX;
        double angle = is_hub ? wf_draw_layout_angle(hub++, hubs > 0 ? hubs : 1)
                              : wf_draw_layout_angle(place, places);
        double radius = is_hub ? inner : outer;

        mark->x = radius * cos(angle);
        mark->y = radius * sin(angle);
        if (is_hub) {
            mark->r *= hubs == 1 && v >= topo->n_nodes ? 1.6 : 1;
        } else {
            view->facing[v - view->first] = angle;
        }
    }
}

/* ---- parts of the circle ---- */

enum { PARTS_MAX = 36 };

struct parts {
    uint32_t places, n;
};

/* Bin 0 is for the hubs. */
static uint32_t part_of(const void *arg, const uint32_t coord[WF_TOPO_COORDS_MAX])
{
    const struct parts *parts = arg;

    return coord[0] == WF_TOPO_NO_VERTEX
               ? 0
               : 1 + (uint32_t)((uint64_t)coord[0] * parts->n / parts->places);
}

static uint32_t part_begin(const struct parts *parts, uint32_t i)
{
    return (uint32_t)(((uint64_t)i * parts->places + parts->n - 1) / parts->n);
}

static void add_parts(const struct parts *parts, const struct wf_draw_bins *bins,
                      struct wf_draw_picture *picture)
{
    struct wf_draw_mark hub = {
        .kind = WF_DRAW_MARK_SWITCH, .r = 22, .vertex = WF_TOPO_NO_VERTEX};
    char count[WF_UNITS_TEXT_MAX];

    if (bins->routers[0] == 0) {
        hub.kind = WF_DRAW_MARK_DISC;
        hub.r = 0;
    } else if (bins->routers[0] > 1) {
        (void)snprintf(hub.label, sizeof(hub.label), "%s",
                       wf_draw_layout_count(bins->routers[0], count));
    }
    (void)wf_draw_picture_mark(picture, &hub);
    for (uint32_t i = 0; i < parts->n; i++) {
        struct wf_draw_mark mark = {
            .kind = WF_DRAW_MARK_BLOCK, .r = 22, .vertex = WF_TOPO_NO_VERTEX};
        uint32_t begin = part_begin(parts, i), end = part_begin(parts, i + 1);
        double radius = wf_draw_layout_radius(parts->n, 56),
               angle = wf_draw_layout_angle(i, parts->n);

        mark.x = radius * cos(angle);
        mark.y = radius * sin(angle);
        (void)snprintf(mark.label, sizeof(mark.label), "%s",
                       wf_draw_layout_count(end - begin, count));
        (void)snprintf(mark.title, sizeof(mark.title), "places %" PRIu32 " to %" PRIu32, begin,
                       end - 1);
        (void)wf_draw_picture_mark(picture, &mark);
    }
}

static void circle_coarse(const struct wf_topo *topo, struct wf_draw_picture *picture)
{
    struct parts parts = {.places = 1};
    struct wf_draw_bins bins;
    struct wf_draw_sample sample;
    uint32_t vertex;

    wf_draw_sample_begin(&sample, topo, false);
    while (wf_draw_sample_next(&sample, &vertex)) {
        uint32_t place = place_of(topo, vertex);
        if (place != WF_TOPO_NO_VERTEX && place >= parts.places) {
            parts.places = place + 1;
        }
    }
    parts.n = wf_draw_bins_choose(parts.places, PARTS_MAX);
    wf_draw_bins_count(topo, 1 + parts.n, part_of, &parts, &bins);
    add_parts(&parts, &bins, picture);
    wf_draw_picture_legend(picture, "A square stands for as many neighbours as it says");
    wf_draw_bins_finish(&bins, picture, WF_DRAW_LINE_PLAIN);
}

const struct wf_draw_shape_ops wf_draw_shape_circle = {
    .place = circle_place,
    .bend = NULL,
    .coarse = circle_coarse,
};
