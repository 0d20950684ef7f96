/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/draw/layout.h"

#include "base/mem.h"
#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Up to this number of marks, there is space for their numbers. */
enum { LABELS_MAX = 130 };

static const struct wf_draw_shape_ops *const shape_table[] = {
    [WF_TOPO_SHAPE_GRID] = &wf_draw_shape_grid,
    [WF_TOPO_SHAPE_LEVELS] = &wf_draw_shape_levels,
    [WF_TOPO_SHAPE_GROUPS] = &wf_draw_shape_groups,
    [WF_TOPO_SHAPE_CIRCLE] = &wf_draw_shape_circle,
};

double wf_draw_layout_radius(uint32_t n, double gap)
{
    return n < 2 ? 0 : gap / 2 / sin(WF_DRAW_TURN / 2 / n);
}

char *wf_draw_layout_count(uint64_t count, char *buf)
{
    if (count >= 100000) {
        return wf_human_count((double)count, buf);
    }
    (void)snprintf(buf, WF_UNITS_TEXT_MAX, "%" PRIu64, count);
    return buf;
}

/* ---- nodes around their router ---- */

/* The switch beside which a node is drawn; WF_TOPO_NO_VERTEX if it has a place of its own. */
static uint32_t host_of(const struct wf_topo *topo, uint32_t vertex)
{
    uint32_t mine[WF_TOPO_COORDS_MAX] = {0}, its[WF_TOPO_COORDS_MAX] = {0};

    if (vertex >= topo->n_nodes || topo->ops->shape == WF_TOPO_SHAPE_LEVELS ||
        wf_topo_ports(topo, vertex) == 0) {
        return WF_TOPO_NO_VERTEX;
    }
    uint32_t host = topo->ops->neighbor(topo, vertex, 0);
    if (host == WF_TOPO_NO_VERTEX || host < topo->n_nodes) {
        return WF_TOPO_NO_VERTEX;
    }
    uint32_t n = topo->ops->coords(topo, vertex, mine);
    uint32_t m = topo->ops->coords(topo, host, its);
    return n == m && memcmp(mine, its, sizeof(mine)) == 0 ? host : WF_TOPO_NO_VERTEX;
}

/* The number of nodes around each router, by vertex - n_nodes; the caller frees the array. */
static uint32_t *count_guests(const struct wf_topo *topo, uint32_t *most)
{
    uint32_t *guests = wf_xcalloc((size_t)topo->n_vertices - topo->n_nodes, sizeof(*guests));

    *most = 0;
    for (uint32_t v = 0; v < topo->n_nodes; v++) {
        uint32_t host = host_of(topo, v);
        if (host != WF_TOPO_NO_VERTEX) {
            uint32_t n = ++guests[host - topo->n_nodes];
            *most = n > *most ? n : *most;
        }
    }
    return guests;
}

/* The distance between the centre of a router and its `n` nodes of radius `r`. The nodes are
 * on a third of a circle or all around, which needs less space. */
static double guest_distance(const struct wf_draw_view *view, uint32_t n, double r, bool around)
{
    double least = view->r + 1.6 * r;
    double needed =
        around ? wf_draw_layout_radius(n, 2.4 * r) : (n - 1) * 2.4 * r / (WF_DRAW_TURN / 3);

    return fmax(least, needed);
}

static void place_guests(const struct wf_draw_view *view, const uint32_t *guests)
{
    const struct wf_topo *topo = view->topo;
    uint32_t *placed = wf_xcalloc((size_t)topo->n_vertices - topo->n_nodes, sizeof(*placed));

    for (uint32_t v = 0; v < topo->n_nodes; v++) {
        uint32_t host = host_of(topo, v);
        if (host == WF_TOPO_NO_VERTEX) {
            continue;
        }

        struct wf_draw_mark *mark = &view->picture->marks[v];
        const struct wf_draw_mark *router = &view->picture->marks[host];
        uint32_t n = guests[host - topo->n_nodes], k = placed[host - topo->n_nodes]++;
        bool around = isnan(view->facing[host]);
        double angle = around ? (0.375 + (double)k / n) * WF_DRAW_TURN
                              : view->facing[host] + ((k + 0.5) / n - 0.5) * (WF_DRAW_TURN / 3);
        double far = guest_distance(view, n, mark->r, around);

        mark->x = router->x + far * cos(angle);
        mark->y = router->y + far * sin(angle);
    }
    free(placed);
}

/* ---- every vertex has a mark ---- */

static void add_vertices(const struct wf_draw_view *view, bool guests)
{
    const struct wf_topo *topo = view->topo;

    for (uint32_t v = view->first; v < topo->n_vertices; v++) {
        bool is_node = v < topo->n_nodes;
        struct wf_draw_mark mark = {
            .kind = is_node ? WF_DRAW_MARK_NODE : WF_DRAW_MARK_SWITCH,
            .r = is_node && guests ? 0.8 * view->r : view->r,
            .vertex = v,
        };
        (void)wf_draw_picture_mark(view->picture, &mark);
    }
}

static void add_lines(const struct wf_draw_view *view)
{
    const struct wf_draw_shape_ops *shape = shape_table[view->topo->ops->shape];
    struct wf_draw_cables cables;
    struct wf_draw_cable cable;

    wf_draw_cables_begin(&cables, view->topo);
    while (wf_draw_cables_next(&cables, &cable)) {
        if (cable.from < view->first || cable.to < view->first) {
            continue;
        }
        struct wf_draw_line line = {
            .a = cable.from - view->first,
            .b = cable.to - view->first,
            .style = WF_DRAW_LINE_PLAIN,
        };
        if (shape->bend != NULL && host_of(view->topo, cable.from) == WF_TOPO_NO_VERTEX) {
            shape->bend(view, &cable, &line);
        }
        (void)wf_draw_picture_line(view->picture, &line);
    }
    wf_draw_cables_end(&cables);
}

static bool has_far_lines(const struct wf_draw_picture *picture)
{
    for (uint32_t i = 0; i < picture->n_lines; i++) {
        if (picture->lines[i].style == WF_DRAW_LINE_FAR) {
            return true;
        }
    }
    return false;
}

static void say_legend(const struct wf_draw_view *view, uint32_t most_guests)
{
    struct wf_draw_picture *picture = view->picture;
    const struct wf_topo *topo = view->topo;
    bool alike = (uint64_t)most_guests * wf_topo_n_routers(topo) == topo->n_nodes;

    if (view->first > 0) {
        wf_draw_picture_legend(picture, "A square is a switch with %s%" PRIu32 " node%s",
                               alike ? "" : "up to ", most_guests, most_guests == 1 ? "" : "s");
    } else {
        wf_draw_picture_legend(picture, "%s",
                               wf_topo_is_direct(topo) ? "A dot is a node"
                                                       : "A dot is a node, a square a switch");
    }
    if (has_far_lines(picture)) {
        wf_draw_picture_legend(picture, "%s",
                               topo->ops->shape == WF_TOPO_SHAPE_GROUPS
                                   ? "; coloured lines join groups"
                                   : "; curved lines pass others by");
    }
}

static void draw_vertices(const struct wf_topo *topo, bool nodes,
                          struct wf_draw_picture *picture)
{
    uint32_t first = nodes ? 0 : topo->n_nodes, most = 0;
    uint32_t *guests = count_guests(topo, &most);
    uint32_t n = topo->n_vertices - first;
    struct wf_draw_view view = {
        .topo = topo,
        .picture = picture,
        .first = first,
        .r = n <= LABELS_MAX ? 11 : 5,
        .facing = wf_xcalloc(n, sizeof(*view.facing)),
    };

    for (uint32_t i = 0; i < n; i++) {
        view.facing[i] = (double)NAN;
    }
    view.reach = view.r;
    if (nodes && most > 0) {
        view.reach = guest_distance(&view, most, 0.8 * view.r, false) + 0.8 * view.r;
    }
    view.pitch = fmax(4.4 * view.r, 2 * view.reach + 2 * view.r);
    add_vertices(&view, most > 0);
    shape_table[topo->ops->shape]->place(&view);
    if (nodes && most > 0) {
        place_guests(&view, guests);
    }
    add_lines(&view);
    say_legend(&view, most);
    picture->gate = topo->gate - first;
    free(guests);
    free(view.facing);
}

void wf_draw_layout_network(const struct wf_topo *topo, struct wf_draw_picture *picture)
{
    bool guests =
        !wf_topo_is_direct(topo) && topo->n_nodes > 0 && host_of(topo, 0) != WF_TOPO_NO_VERTEX;
    uint32_t routers = wf_topo_n_routers(topo);

    if (wf_draw_layout_is_small(topo)) {
        draw_vertices(topo, true, picture);
    } else if (guests && routers > 1 && routers <= WF_DRAW_VERTICES_MAX &&
               topo->n_links - topo->n_nodes <= WF_DRAW_CABLES_MAX) {
        draw_vertices(topo, false, picture);
    } else {
        shape_table[topo->ops->shape]->coarse(topo, picture);
    }
    for (uint32_t i = 0; i < picture->n_lines; i++) {
        picture->lines[i].oneway = topo->oneway;
    }
}
