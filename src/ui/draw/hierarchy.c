/* SPDX-License-Identifier: Apache-2.0 */
/* Nested networks. If they are small, each node of the outer network is a disc that contains
 * a copy of the inner one. Otherwise there is one picture for each level, side by side. */
#include "base/mem.h"
#include "model/topo/nested.h"
#include "model/topo/spec.h"
#include "ui/draw/draw.h"
#include "ui/draw/layout.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* In deeper hierarchies, discs in discs would be too small to see. */
enum { DISC_LEVELS_MAX = 3, PANELS_MAX = 4 };

/* ---- discs in discs ---- */

/* The picture of a level and of all levels inside it, around the origin. */
struct part {
    struct wf_draw_picture picture;
    uint32_t nodes, switches;
    double radius;
};

/* Moves the centre to the origin. Sets *radius to that of a disc that holds all marks. */
static void center(struct wf_draw_picture *picture, double *radius)
{
    struct wf_draw_box box = wf_draw_picture_bounds(picture);
    double x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;

    *radius = 0;
    for (uint32_t i = 0; i < picture->n_marks; i++) {
        struct wf_draw_mark *mark = &picture->marks[i];
        mark->x -= x;
        mark->y -= y;
        *radius = fmax(*radius, hypot(mark->x, mark->y) + mark->r);
    }
    for (uint32_t i = 0; i < picture->n_notes; i++) {
        picture->notes[i].x -= x;
        picture->notes[i].y -= y;
    }
}

/* The smallest distance between two of the first `n` marks. */
static double least_gap(const struct wf_draw_picture *picture, uint32_t n)
{
    double gap = HUGE_VAL;

    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = i + 1; j < n; j++) {
            gap = fmin(gap, hypot(picture->marks[i].x - picture->marks[j].x,
                                  picture->marks[i].y - picture->marks[j].y));
        }
    }
    return gap;
}

/* The number of a vertex in the whole network, as in model/topo/nested.h: nodes copy by copy,
 * inner switches copy by copy, outer switches. */
static uint32_t vertex_in_whole(const struct part *inner, uint32_t copies, uint32_t copy,
                                uint32_t vertex)
{
    return vertex < inner->nodes
               ? copy * inner->nodes + vertex
               : copies * inner->nodes + copy * inner->switches + (vertex - inner->nodes);
}

static void add_copy(struct wf_draw_picture *picture, const struct wf_draw_mark *at,
                     const struct part *inner, uint32_t copies)
{
    uint32_t copy = at->vertex;
    struct wf_draw_mark disc = {
        .kind = WF_DRAW_MARK_DISC,
        .x = at->x,
        .y = at->y,
        .r = inner->radius + 4,
        .vertex = WF_TOPO_NO_VERTEX,
    };

    (void)snprintf(disc.title, sizeof(disc.title), "copy %" PRIu32, copy);
    (void)wf_draw_picture_mark(picture, &disc);
    uint32_t first = wf_draw_picture_append(picture, &inner->picture, at->x, at->y, 1);
    for (uint32_t i = first; i < picture->n_marks; i++) {
        struct wf_draw_mark *mark = &picture->marks[i];
        if (mark->vertex != WF_TOPO_NO_VERTEX) {
            mark->vertex = vertex_in_whole(inner, copies, copy, mark->vertex);
        }
    }
}

/* Puts a copy of `inner` into each node of `outer`, and leads the lines of `outer` to the
 * gates. */
static void combine(const struct wf_topo *outer, const struct wf_draw_picture *frame,
                    const struct part *inner, struct part *out)
{
    struct wf_draw_picture *picture = &out->picture;
    uint32_t *moved = wf_xcalloc(frame->n_marks, sizeof(*moved));
    uint32_t copies = outer->n_nodes;

    for (uint32_t i = 0; i < frame->n_marks; i++) {
        struct wf_draw_mark mark = frame->marks[i];

        if (mark.vertex < copies) {
            moved[i] = picture->n_marks + 1 + inner->picture.gate;
            add_copy(picture, &mark, inner, copies);
            continue;
        }
        if (mark.vertex != WF_TOPO_NO_VERTEX) {
            mark.vertex = copies * (inner->nodes + inner->switches) + (mark.vertex - copies);
        }
        moved[i] = wf_draw_picture_mark(picture, &mark);
    }
    for (uint32_t i = 0; i < frame->n_lines; i++) {
        struct wf_draw_line line = frame->lines[i];
        line.a = moved[line.a];
        line.b = moved[line.b];
        line.style = WF_DRAW_LINE_FAR;
        (void)wf_draw_picture_line(picture, &line);
    }
    picture->gate = moved[frame->gate];
    out->nodes = copies * inner->nodes;
    out->switches = copies * inner->switches + (outer->n_vertices - copies);
    free(moved);
}

static void draw_part(const struct wf_topo *topo, uint32_t level, struct part *out)
{
    const struct wf_topo *outer = wf_topo_level(topo, level);
    struct wf_draw_picture frame = {.n_marks = 0};
    struct part inner = {.nodes = 0};

    if (level + 1 == wf_topo_n_levels(topo)) {
        wf_draw_layout_network(outer, &out->picture);
        out->nodes = outer->n_nodes;
        out->switches = outer->n_vertices - outer->n_nodes;
        center(&out->picture, &out->radius);
        return;
    }

    draw_part(topo, level + 1, &inner);
    wf_draw_layout_network(outer, &frame);
    frame.n_notes = 0; /* group numbers would lie among the copies */
    double gap = least_gap(&frame, outer->n_vertices);
    wf_draw_picture_spread(&frame, fmax(1, 2.3 * (inner.radius + 4) / gap));
    combine(outer, &frame, &inner, out);
    center(&out->picture, &out->radius);
    wf_draw_picture_fini(&frame);
    wf_draw_picture_fini(&inner.picture);
}

/* ---- side by side ---- */

static void level_name(const char *spec, uint32_t level, char *buf, size_t size)
{
    struct wf_topo_spec_level part;
    size_t at = 0;

    buf[0] = '\0';
    for (uint32_t i = 0; i <= level; i++) {
        if (wf_topo_spec_next(spec, &at, &part, NULL) != WF_OK || part.ops == NULL) {
            return;
        }
    }
    (void)snprintf(buf, size, "%.*s", (int)(part.len < 40 ? part.len : 40), part.text);
}

static double add_panel(const struct wf_topo *topo, const char *spec, uint32_t level, double x,
                        struct wf_draw_picture *picture)
{
    enum { SIZE = 420 };
    const struct wf_topo *network = wf_topo_level(topo, level);
    struct wf_draw_picture panel = {.n_marks = 0};
    double radius;
    char name[48];

    wf_draw_layout_network(network, &panel);
    center(&panel, &radius);
    for (uint32_t i = 0; i < panel.n_marks; i++) {
        panel.marks[i].vertex = WF_TOPO_NO_VERTEX; /* stands for many vertices */
    }
    struct wf_draw_box box = wf_draw_picture_bounds(&panel);
    double scale = fmin(1, SIZE / fmax(box.right - box.left, box.bottom - box.top));
    double width = fmax(220, (box.right - box.left) * scale);

    (void)wf_draw_picture_append(picture, &panel, x + width / 2, 0, scale);
    level_name(spec, level, name, sizeof(name));
    wf_draw_picture_note(picture, x + width / 2, -SIZE / 2.0 - 36, 16, "%s", name);
    wf_draw_picture_note(picture, x + width / 2, -SIZE / 2.0 - 18, 12, "%s",
                         level == 0 ? "the outermost network" : "in each node to the left");
    wf_draw_picture_fini(&panel);
    return width;
}

static void draw_panels(const struct wf_topo *topo, const char *spec,
                        struct wf_draw_picture *picture)
{
    uint32_t n = wf_topo_n_levels(topo), shown = n < PANELS_MAX ? n : PANELS_MAX;
    double x = 0;

    for (uint32_t i = 0; i < shown; i++) {
        x += add_panel(topo, spec, i, x, picture) + 70;
    }
    wf_draw_picture_legend(
        picture, "Each node of a network is a whole copy of the network to its right");
    if (n > shown) {
        wf_draw_picture_legend(picture, "; %" PRIu32 " more levels are not drawn", n - shown);
    }
}

/* ---- all ---- */

/* Writes names into the marks that are large enough. */
static void name_vertices(const struct wf_topo *topo, struct wf_draw_picture *picture)
{
    for (uint32_t i = 0; i < picture->n_marks; i++) {
        struct wf_draw_mark *mark = &picture->marks[i];
        char name[WF_DRAW_VERTEX_NAME_MAX], coords[WF_DRAW_VERTEX_COORDS_MAX];

        if (mark->vertex == WF_TOPO_NO_VERTEX) {
            continue;
        }
        (void)wf_draw_vertex_name(topo, mark->vertex, name);
        (void)snprintf(mark->title, sizeof(mark->title), "%s (%.48s)", name,
                       wf_draw_vertex_coords(topo, mark->vertex, ',', coords));
        if (mark->r > 8) {
            (void)snprintf(mark->label, sizeof(mark->label), "%s", name);
        }
    }
}

void wf_draw_layout(const struct wf_topo *topo, const char *spec,
                    struct wf_draw_picture *picture)
{
    uint32_t levels = wf_topo_n_levels(topo);

    if (levels == 1) {
        wf_draw_layout_network(topo, picture);
    } else if (levels <= DISC_LEVELS_MAX && wf_draw_layout_is_small(topo)) {
        struct part whole = {.nodes = 0};
        draw_part(topo, 0, &whole);
        *picture = whole.picture;
        wf_draw_picture_legend(
            picture, "A disc is a node of the outer network and holds a copy of the inner");
    } else {
        draw_panels(topo, spec, picture);
    }
    name_vertices(topo, picture);
}
