/* SPDX-License-Identifier: Apache-2.0 */
/* Dragonflies and similar networks: groups are discs on a circle, the routers of a group
 * form a circle in its disc, and links between groups are chords. */
#include "base/units.h"
#include "ui/draw/bins.h"
#include "ui/draw/layout.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { NAMED_GROUPS_MAX = 40, NOTE_SIZE = 12 };

struct groups {
    uint32_t n;    /* groups */
    uint32_t most; /* largest number of routers in a group */
};

static void widen(const struct wf_topo *topo, uint32_t vertex, struct groups *groups)
{
    uint32_t coord[WF_TOPO_COORDS_MAX] = {0};

    (void)topo->ops->coords(topo, vertex, coord);
    groups->n = coord[0] >= groups->n ? coord[0] + 1 : groups->n;
    groups->most = coord[1] >= groups->most ? coord[1] + 1 : groups->most;
}

static void add_discs(const struct wf_draw_view *view, const struct groups *groups,
                      double outer, double disc)
{
    for (uint32_t g = 0; g < groups->n; g++) {
        double angle = wf_draw_layout_angle(g, groups->n);
        struct wf_draw_mark mark = {
            .kind = WF_DRAW_MARK_DISC,
            .x = outer * cos(angle),
            .y = outer * sin(angle),
            .r = disc,
            .vertex = WF_TOPO_NO_VERTEX,
        };
        double note = outer + disc + 2.0 * NOTE_SIZE;

        (void)snprintf(mark.title, sizeof(mark.title), "group %" PRIu32, g);
        (void)wf_draw_picture_mark(view->picture, &mark);
        if (groups->n > 1 && groups->n <= NAMED_GROUPS_MAX) {
            wf_draw_picture_note(view->picture, note * cos(angle),
                                 note * sin(angle) + NOTE_SIZE / 3.0, NOTE_SIZE, "%" PRIu32, g);
        }
    }
}

static void groups_place(const struct wf_draw_view *view)
{
    const struct wf_topo *topo = view->topo;
    struct groups groups = {0, 0};

    for (uint32_t v = view->first; v < topo->n_vertices; v++) {
        widen(topo, v, &groups);
    }

    double inner = groups.most > 1
                       ? fmax(wf_draw_layout_radius(groups.most, view->pitch), 1.2 * view->r)
                       : 0;
    double disc = inner + view->reach + 0.6 * view->r;
    double outer = wf_draw_layout_radius(groups.n, 2 * disc + view->r);
    for (uint32_t v = view->first; v < topo->n_vertices; v++) {
        uint32_t coord[WF_TOPO_COORDS_MAX] = {0};
        struct wf_draw_mark *mark = &view->picture->marks[v - view->first];

        (void)topo->ops->coords(topo, v, coord);
        double group = wf_draw_layout_angle(coord[0], groups.n);
        double place = wf_draw_layout_angle(coord[1], groups.most);
        mark->x = outer * cos(group) + inner * cos(place);
        mark->y = outer * sin(group) + inner * sin(place);
        if (groups.most > 1) {
            view->facing[v - view->first] = place;
        }
    }
    add_discs(view, &groups, outer, disc);
}

static void groups_bend(const struct wf_draw_view *view, const struct wf_draw_cable *cable,
                        struct wf_draw_line *line)
{
    uint32_t from[WF_TOPO_COORDS_MAX] = {0}, to[WF_TOPO_COORDS_MAX] = {0};

    (void)view->topo->ops->coords(view->topo, cable->from, from);
    (void)view->topo->ops->coords(view->topo, cable->to, to);
    if (from[0] != to[0]) {
        line->style = WF_DRAW_LINE_FAR;
    }
}

/* ---- a group, or several, is one disc ---- */

enum { DISCS_MAX = 96 };

struct bundles {
    uint32_t groups, n;
};

static uint32_t bundle_of(const void *arg, const uint32_t coord[WF_TOPO_COORDS_MAX])
{
    const struct bundles *bundles = arg;

    return (uint32_t)((uint64_t)coord[0] * bundles->n / bundles->groups);
}

static void add_bundles(const struct bundles *bundles, const struct wf_draw_bins *bins,
                        struct wf_draw_picture *picture)
{
    double r = 24, radius = fmax(wf_draw_layout_radius(bundles->n, 2.5 * r), 3 * r);

    for (uint32_t i = 0; i < bundles->n; i++) {
        uint32_t n = bundles->n, all = bundles->groups;
        uint64_t begin = ((uint64_t)i * all + n - 1) / n;
        uint64_t end = ((i + UINT64_C(1)) * all + n - 1) / n;
        double angle = wf_draw_layout_angle(i, n);
        struct wf_draw_mark mark = {
            .kind = WF_DRAW_MARK_GROUP,
            .x = radius * cos(angle),
            .y = radius * sin(angle),
            .r = r,
            .vertex = WF_TOPO_NO_VERTEX,
        };

        if (end - begin == 1) {
            (void)snprintf(mark.label, sizeof(mark.label), "%" PRIu64, begin);
        } else {
            (void)snprintf(mark.label, sizeof(mark.label), "%" PRIu64 "-%" PRIu64, begin,
                           end - 1);
        }
        if (!bins->sampled) {
            (void)snprintf(mark.title, sizeof(mark.title),
                           "%" PRIu64 " groups, %" PRIu64 " switches, %" PRIu64 " nodes",
                           end - begin, bins->routers[i], bins->nodes[i]);
        }
        (void)wf_draw_picture_mark(picture, &mark);
    }
}

static void say_legend(const struct wf_topo *topo, const struct bundles *bundles,
                       struct wf_draw_picture *picture)
{
    char routers[WF_UNITS_TEXT_MAX], nodes[WF_UNITS_TEXT_MAX];
    uint32_t all = wf_topo_n_routers(topo);

    wf_draw_picture_legend(
        picture, "A disc stands for the groups it names (a group is %s%s routers, %s nodes)",
        all % bundles->groups != 0 ? "about " : "",
        wf_draw_layout_count(all / bundles->groups, routers),
        wf_draw_layout_count(topo->n_nodes / bundles->groups, nodes));
}

static void groups_coarse(const struct wf_topo *topo, struct wf_draw_picture *picture)
{
    struct groups groups = {1, 1};
    struct wf_draw_bins bins;
    struct wf_draw_sample sample;
    uint32_t vertex;

    wf_draw_sample_begin(&sample, topo, false);
    while (wf_draw_sample_next(&sample, &vertex)) {
        widen(topo, vertex, &groups);
    }

    struct bundles bundles = {groups.n, wf_draw_bins_choose(groups.n, DISCS_MAX)};
    wf_draw_bins_count(topo, bundles.n, bundle_of, &bundles, &bins);
    add_bundles(&bundles, &bins, picture);
    say_legend(topo, &bundles, picture);
    wf_draw_bins_finish(&bins, picture, WF_DRAW_LINE_FAR);
}

const struct wf_draw_shape_ops wf_draw_shape_groups = {
    .place = groups_place,
    .bend = groups_bend,
    .coarse = groups_coarse,
};
