/* SPDX-License-Identifier: Apache-2.0 */
/* Meshes and tori: two dimensions are drawn flat and the third slants to the back. Further
 * dimensions become copies of that drawing beside or below each other. */
#include "base/units.h"
#include "ui/draw/layout.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A grid of vertices, or of blocks of vertices. */
struct lattice {
    uint32_t n_dims;
    uint32_t size[WF_TOPO_COORDS_MAX];
    double dx[WF_TOPO_COORDS_MAX], dy[WF_TOPO_COORDS_MAX]; /* of one step in a dimension */
    double pitch;
};

/* Vertices are numbered with the first coordinate varying fastest, so that the last vertex
 * has the highest value of each coordinate. */
static void read_sizes(const struct wf_topo *topo, struct lattice *lattice)
{
    uint32_t coord[WF_TOPO_COORDS_MAX];

    memset(lattice, 0, sizeof(*lattice));
    lattice->n_dims = topo->ops->coords(topo, topo->n_vertices - 1, coord);
    for (uint32_t d = 0; d < lattice->n_dims; d++) {
        lattice->size[d] = coord[d] + 1;
    }
}

/* The third dimension goes to the back. If it is at most four deep, all of it fits between
 * one vertex and its neighbour, so that nothing is hidden. If it is deeper, the slant is
 * chosen such that few vertices overlap. */
static void set_depth(struct lattice *lattice, double pitch)
{
    uint32_t n = lattice->size[2];

    if (n < 2) {
        return;
    }
    lattice->pitch = pitch * fmin(0.2 + 0.62 * n, 2.8);
    lattice->dx[2] = lattice->pitch * (n <= 4 ? 0.84 / n : 0.37);
    lattice->dy[2] = lattice->pitch * (n <= 4 ? -0.62 / n : -0.27);
}

static void set_steps(struct lattice *lattice, double pitch)
{
    double width = 0, height = 0;

    lattice->pitch = pitch;
    if (lattice->n_dims > 2) {
        set_depth(lattice, pitch);
    }
    for (uint32_t d = 0; d < lattice->n_dims; d++) {
        uint32_t steps = lattice->size[d] - 1;

        if (d == 0 || (d > 2 && d % 2 == 1)) {
            lattice->dx[d] = d == 0 ? lattice->pitch : width + lattice->pitch;
        } else if (d != 2) {
            lattice->dy[d] = d == 1 ? lattice->pitch : height + lattice->pitch;
        }
        width += fabs(lattice->dx[d]) * steps;
        height += fabs(lattice->dy[d]) * steps;
    }
}

static void put(const struct lattice *lattice, const uint32_t *coord, struct wf_draw_mark *mark)
{
    mark->x = mark->y = 0;
    for (uint32_t d = 0; d < lattice->n_dims; d++) {
        mark->x += coord[d] * lattice->dx[d];
        mark->y += coord[d] * lattice->dy[d];
    }
}

/* Only a step to the next vertex in one of the three dimensions of a block is a straight
 * line. Longer lines bend around the vertices between their ends. */
static void bend_between(const struct lattice *lattice, const uint32_t *from,
                         const uint32_t *to, struct wf_draw_line *line)
{
    uint32_t differ = 0, dim = 0, steps = 0;

    for (uint32_t d = 0; d < lattice->n_dims; d++) {
        if (from[d] != to[d]) {
            differ++;
            dim = d;
            steps = from[d] < to[d] ? to[d] - from[d] : from[d] - to[d];
        }
    }
    if (differ == 1 && steps == 1 && dim < 3) {
        return;
    }
    line->style = WF_DRAW_LINE_FAR;
    line->bow = 0.3 * lattice->pitch;
    if (differ == 1 && dim < 3) {
        line->bow = 0.5 * lattice->pitch * steps / lattice->size[dim];
    }
    /* All lines of a dimension bend to the same side. */
    if (differ == 1 && from[dim] > to[dim]) {
        line->bow = -line->bow;
    }
}

static void grid_place(const struct wf_draw_view *view)
{
    const struct wf_topo *topo = view->topo;
    struct lattice lattice;

    read_sizes(topo, &lattice);
    set_steps(&lattice, view->pitch);
    for (uint32_t v = view->first; v < topo->n_vertices; v++) {
        uint32_t coord[WF_TOPO_COORDS_MAX];
        (void)topo->ops->coords(topo, v, coord);
        put(&lattice, coord, &view->picture->marks[v - view->first]);
    }
}

static void grid_bend(const struct wf_draw_view *view, const struct wf_draw_cable *cable,
                      struct wf_draw_line *line)
{
    uint32_t from[WF_TOPO_COORDS_MAX], to[WF_TOPO_COORDS_MAX];
    struct lattice lattice;

    read_sizes(view->topo, &lattice);
    set_steps(&lattice, view->pitch);
    (void)view->topo->ops->coords(view->topo, cable->from, from);
    (void)view->topo->ops->coords(view->topo, cable->to, to);
    bend_between(&lattice, from, to, line);
}

/* ---- blocks ---- */

enum { BLOCKS_MAX = 128, ROW_MAX = 16 };

struct blocks {
    struct lattice vertices, blocks;
    uint32_t first; /* first vertex */
};

static uint64_t lattice_points(const struct lattice *lattice)
{
    uint64_t n = 1;

    for (uint32_t d = 0; d < lattice->n_dims; d++) {
        n *= lattice->size[d]; /* vertices have 32-bit numbers */
    }
    return n;
}

static uint32_t longest_row(const struct lattice *lattice)
{
    uint32_t longest = 0;

    for (uint32_t d = 0; d < lattice->n_dims; d++) {
        longest = lattice->size[d] > longest ? lattice->size[d] : longest;
    }
    return longest;
}

/* Halves the dimensions whose size is `longest`. Halving all of them keeps the shape, but if
 * there are many short dimensions, not all of them should vanish: then only the last is
 * halved. */
static void halve(struct lattice *lattice, uint32_t longest)
{
    for (uint32_t d = lattice->n_dims; d-- > 0;) {
        if (lattice->size[d] == longest) {
            lattice->size[d] = (longest + 1) / 2;
            if (longest <= 3) {
                return;
            }
        }
    }
}

/* Halves dimensions until there are few enough blocks. */
static void choose_blocks(struct lattice *lattice)
{
    while (lattice_points(lattice) > BLOCKS_MAX || longest_row(lattice) > ROW_MAX) {
        halve(lattice, longest_row(lattice));
    }
}

/* The first coordinate in a dimension that belongs to a block. */
static uint32_t block_begin(const struct blocks *blocks, uint32_t d, uint32_t block)
{
    return (uint32_t)((uint64_t)block * blocks->vertices.size[d] / blocks->blocks.size[d]);
}

static uint32_t block_of(const struct blocks *blocks, uint32_t d, uint32_t coord)
{
    uint64_t n = blocks->blocks.size[d];

    return (uint32_t)(((coord + UINT64_C(1)) * n - 1) / blocks->vertices.size[d]);
}

static void split(const struct lattice *lattice, uint32_t number, uint32_t *coord)
{
    for (uint32_t d = 0; d < lattice->n_dims; d++) {
        coord[d] = number % lattice->size[d];
        number /= lattice->size[d];
    }
}

static uint32_t join(const struct lattice *lattice, const uint32_t *coord)
{
    uint32_t number = 0;

    for (uint32_t d = lattice->n_dims; d-- > 0;) {
        number = number * lattice->size[d] + coord[d];
    }
    return number;
}

/* The radius is large enough for the label. */
static double block_radius(const struct wf_draw_mark *mark)
{
    return fmax(14, 3.6 * (double)strlen(mark->label) + 4);
}

static void add_block(const struct wf_topo *topo, const struct blocks *blocks, uint32_t number,
                      struct wf_draw_picture *picture)
{
    struct wf_draw_mark mark = {.kind = WF_DRAW_MARK_BLOCK, .vertex = WF_TOPO_NO_VERTEX};
    uint32_t coord[WF_TOPO_COORDS_MAX];
    uint64_t vertices = 1;
    size_t used = 0;
    char count[WF_UNITS_TEXT_MAX];

    split(&blocks->blocks, number, coord);
    for (uint32_t d = 0; d < blocks->blocks.n_dims; d++) {
        uint32_t begin = block_begin(blocks, d, coord[d]);
        uint32_t end = block_begin(blocks, d, coord[d] + 1);

        vertices *= end - begin;
        if (used < sizeof(mark.title)) {
            used +=
                (size_t)snprintf(mark.title + used, sizeof(mark.title) - used,
                                 "%s%" PRIu32 "-%" PRIu32, d > 0 ? ", " : "", begin, end - 1);
        }
    }
    uint64_t nodes = vertices * topo->n_nodes / wf_topo_n_routers(topo);
    (void)snprintf(mark.label, sizeof(mark.label), "%s", wf_draw_layout_count(nodes, count));
    put(&blocks->blocks, coord, &mark);
    mark.r = block_radius(&mark);
    (void)wf_draw_picture_mark(picture, &mark);
}

/* Follows the cables of the vertices at the corners of a block: they lead to all blocks to
 * which the block has cables. */
static void link_block(const struct wf_topo *topo, const struct blocks *blocks, uint32_t number,
                       bool *linked)
{
    const struct lattice *lattice = &blocks->blocks;
    uint32_t block[WF_TOPO_COORDS_MAX], coord[WF_TOPO_COORDS_MAX] = {0};

    split(lattice, number, block);
    for (uint32_t corner = 0; corner < 1U << lattice->n_dims; corner++) {
        for (uint32_t d = 0; d < lattice->n_dims; d++) {
            bool high = (corner >> d & 1) != 0;
            coord[d] = high ? block_begin(blocks, d, block[d] + 1) - 1
                            : block_begin(blocks, d, block[d]);
        }
        uint32_t vertex = blocks->first + join(&blocks->vertices, coord);
        uint32_t n_ports = wf_topo_ports(topo, vertex);
        for (uint32_t port = 0; port < n_ports; port++) {
            uint32_t to = topo->ops->neighbor(topo, vertex, port);
            uint32_t other[WF_TOPO_COORDS_MAX] = {0};

            if (to == WF_TOPO_NO_VERTEX) {
                continue;
            }
            (void)topo->ops->coords(topo, to, other);
            for (uint32_t d = 0; d < lattice->n_dims; d++) {
                other[d] = block_of(blocks, d, other[d]);
            }
            linked[join(lattice, other)] = true;
        }
    }
}

static void say_legend(const struct blocks *blocks, struct wf_draw_picture *picture)
{
    char size[96] = "";
    size_t used = 0;
    bool about = false;

    for (uint32_t d = 0; d < blocks->blocks.n_dims; d++) {
        uint32_t most = 0;
        for (uint32_t i = 0; i < blocks->blocks.size[d]; i++) {
            uint32_t here = block_begin(blocks, d, i + 1) - block_begin(blocks, d, i);
            about = about || (i > 0 && here != most);
            most = here > most ? here : most;
        }
        used += (size_t)snprintf(size + used, sizeof(size) - used, "%s%" PRIu32,
                                 d > 0 ? "x" : "", most);
    }
    wf_draw_picture_legend(picture,
                           "A square stands for %s%s routers, its number for their nodes",
                           about ? "up to " : "", size);
}

static void grid_coarse(const struct wf_topo *topo, struct wf_draw_picture *picture)
{
    struct blocks blocks = {.first = wf_topo_is_direct(topo) ? 0 : topo->n_nodes};

    read_sizes(topo, &blocks.vertices);
    blocks.blocks = blocks.vertices;
    choose_blocks(&blocks.blocks);
    set_steps(&blocks.blocks, 74);

    uint32_t n = (uint32_t)lattice_points(&blocks.blocks);
    for (uint32_t i = 0; i < n; i++) {
        add_block(topo, &blocks, i, picture);
    }
    for (uint32_t i = 0; i < n; i++) {
        bool linked[BLOCKS_MAX] = {false};
        uint32_t from[WF_TOPO_COORDS_MAX], to[WF_TOPO_COORDS_MAX];

        link_block(topo, &blocks, i, linked);
        split(&blocks.blocks, i, from);
        for (uint32_t j = i + 1; j < n; j++) {
            struct wf_draw_line line = {.a = i, .b = j, .style = WF_DRAW_LINE_PLAIN};
            if (linked[j]) {
                split(&blocks.blocks, j, to);
                bend_between(&blocks.blocks, from, to, &line);
                (void)wf_draw_picture_line(picture, &line);
            }
        }
    }
    say_legend(&blocks, picture);
}

const struct wf_draw_shape_ops wf_draw_shape_grid = {
    .place = grid_place,
    .bend = grid_bend,
    .coarse = grid_coarse,
};
