/* SPDX-License-Identifier: Apache-2.0 */
/* Trees and fat trees: levels are rows, the roots on top. */
#include "base/mem.h"
#include "base/units.h"
#include "ui/draw/bins.h"
#include "ui/draw/layout.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* How many vertices each level has. */
struct widths {
    uint32_t n_levels;
    uint32_t *width; /* [n_levels], to be freed */
    uint32_t widest;
};

static void widen(const struct wf_topo *topo, uint32_t vertex, struct widths *widths)
{
    uint32_t coord[WF_TOPO_COORDS_MAX] = {0};

    (void)topo->ops->coords(topo, vertex, coord);
    if (coord[0] >= widths->n_levels) {
        widths->width =
            wf_xrealloc(widths->width, (size_t)coord[0] + 1, sizeof(*widths->width));
        while (widths->n_levels <= coord[0]) {
            widths->width[widths->n_levels++] = 0;
        }
    }
    if (coord[1] >= widths->width[coord[0]]) {
        widths->width[coord[0]] = coord[1] + 1;
    }
    if (coord[1] >= widths->widest) {
        widths->widest = coord[1] + 1;
    }
}

/* A good distance between rows for a picture of this width. */
static double row_height(double width, uint32_t rows)
{
    return fmin(fmax(0.5 * width / rows, 70), 220);
}

/* ---- every vertex ---- */

/* Gives each leaf of a tree the next place, and each other vertex the middle of its
 * children. If only the place in the level counted, an incomplete level would not be above
 * its children. */
struct tidy {
    const struct wf_draw_view *view;
    uint32_t leaves;
};

static double tidy_below(struct tidy *tidy, uint32_t vertex, uint32_t parent)
{
    const struct wf_topo *topo = tidy->view->topo;
    double low = HUGE_VAL, high = -HUGE_VAL;
    uint32_t n_ports = wf_topo_ports(topo, vertex);

    for (uint32_t port = 0; port < n_ports; port++) {
        uint32_t to = topo->ops->neighbor(topo, vertex, port);
        if (to != WF_TOPO_NO_VERTEX && to != parent) {
            double x = tidy_below(tidy, to, vertex);
            low = fmin(low, x);
            high = fmax(high, x);
        }
    }

    double x = low <= high ? (low + high) / 2 : 2.6 * tidy->view->r * tidy->leaves++;
    tidy->view->picture->marks[vertex].x = x;
    return x;
}

static bool is_tree(const struct wf_topo *topo)
{
    return !topo->oneway && topo->n_links + 1 == topo->n_vertices;
}

static void levels_place(const struct wf_draw_view *view)
{
    const struct wf_topo *topo = view->topo;
    struct widths widths = {0};
    uint32_t root = view->first;

    for (uint32_t v = view->first; v < topo->n_vertices; v++) {
        uint32_t before = widths.n_levels;
        widen(topo, v, &widths);
        root = widths.n_levels > before ? v : root;
    }

    double width = 2.6 * view->r * widths.widest;
    double height = row_height(width, widths.n_levels);
    for (uint32_t v = view->first; v < topo->n_vertices; v++) {
        uint32_t coord[WF_TOPO_COORDS_MAX] = {0};
        struct wf_draw_mark *mark = &view->picture->marks[v - view->first];

        (void)topo->ops->coords(topo, v, coord);
        mark->x = width * (coord[1] + 0.5) / widths.width[coord[0]];
        mark->y = -height * coord[0];
    }
    if (is_tree(topo) && view->first == 0) {
        struct tidy tidy = {.view = view};
        (void)tidy_below(&tidy, root, WF_TOPO_NO_VERTEX);
    }
    free(widths.width);
}

/* ---- rows of bins ---- */

enum { ROWS_MAX = 8, ROW_BINS = 24, TOP_ROWS = ROWS_MAX - 2 };

struct row {
    uint32_t level, width;
    uint32_t bins, first_bin;
};

struct rows {
    uint32_t n, n_bins;
    struct row row[ROWS_MAX]; /* the top first */
    bool gap;                 /* levels between the last two rows are left out */
};

static void add_row(struct rows *rows, const struct widths *widths, uint32_t level,
                    uint32_t most)
{
    uint32_t width = widths->width[level];

    if (width > 0) {
        struct row row = {level, width, wf_draw_bins_choose(width, most), rows->n_bins};
        rows->row[rows->n++] = row;
        rows->n_bins += row.bins;
    }
}

/* If there are many levels, draws the upper ones whose vertices can be drawn individually,
 * and the lowest level with as many bins as the row above it. */
static void choose_rows(struct rows *rows, const struct widths *widths)
{
    uint32_t top = widths->n_levels;

    *rows = (struct rows){.gap = top > ROWS_MAX};
    for (uint32_t i = 0; i < (rows->gap ? TOP_ROWS : top); i++) {
        if (rows->gap && i > 1 && widths->width[top - 1 - i] > ROW_BINS) {
            break;
        }
        add_row(rows, widths, top - 1 - i, ROW_BINS);
    }
    if (rows->gap) {
        add_row(rows, widths, 0, rows->row[rows->n - 1].bins);
    }
}

static uint32_t bin_of(const void *arg, const uint32_t coord[WF_TOPO_COORDS_MAX])
{
    const struct rows *rows = arg;

    for (uint32_t i = 0; i < rows->n; i++) {
        const struct row *row = &rows->row[i];
        if (row->level == coord[0]) {
            return row->first_bin + (uint32_t)((uint64_t)coord[1] * row->bins / row->width);
        }
    }
    return WF_DRAW_NO_BIN;
}

static void add_bin(const struct rows *rows, const struct row *row, uint32_t bin, bool nodes,
                    struct wf_draw_picture *picture)
{
    double width = 58.0 * ROW_BINS, height = row_height(width, rows->n);
    uint64_t begin = ((uint64_t)bin * row->width + row->bins - 1) / row->bins;
    uint64_t end = ((bin + UINT64_C(1)) * row->width + row->bins - 1) / row->bins;
    char count[WF_UNITS_TEXT_MAX];
    struct wf_draw_mark mark = {
        .kind = end - begin > 1 ? WF_DRAW_MARK_BLOCK
                : nodes         ? WF_DRAW_MARK_NODE
                                : WF_DRAW_MARK_SWITCH,
        .x = width * (bin + 0.5) / row->bins,
        .y = height * (double)(row - rows->row),
        .r = end - begin > 1 ? 22 : 12,
        .vertex = WF_TOPO_NO_VERTEX,
    };

    if (end - begin > 1) {
        (void)snprintf(mark.label, sizeof(mark.label), "%s",
                       wf_draw_layout_count(end - begin, count));
    }
    (void)snprintf(mark.title, sizeof(mark.title),
                   "level %" PRIu32 ", places %" PRIu64 " to %" PRIu64, row->level, begin,
                   end - 1);
    (void)wf_draw_picture_mark(picture, &mark);
}

/* Adds lines that indicate the omitted levels between the last two rows. */
static void bridge_gap(const struct rows *rows, struct wf_draw_picture *picture)
{
    const struct row *upper = &rows->row[rows->n - 2], *lower = &rows->row[rows->n - 1];
    uint32_t n = upper->bins > lower->bins ? upper->bins : lower->bins;

    for (uint32_t i = 0; i < n; i++) {
        struct wf_draw_line line = {
            .a = upper->first_bin + (uint32_t)((uint64_t)i * upper->bins / n),
            .b = lower->first_bin + (uint32_t)((uint64_t)i * lower->bins / n),
            .style = WF_DRAW_LINE_HINT,
        };
        (void)wf_draw_picture_line(picture, &line);
    }
}

/* Puts the name of each row to its left, with its number of vertices. */
static void name_rows(const struct wf_topo *topo, const struct rows *rows,
                      struct wf_draw_picture *picture)
{
    for (uint32_t i = 0; i < rows->n; i++) {
        const struct row *row = &rows->row[i];
        char count[WF_UNITS_TEXT_MAX];
        bool nodes = row->level == 0 || wf_topo_is_direct(topo);

        wf_draw_picture_note(picture, -80, picture->marks[row->first_bin].y + 5, 14, "%s %s",
                             wf_draw_layout_count(row->width, count),
                             nodes             ? row->width == 1 ? "node" : "nodes"
                             : row->width == 1 ? "switch"
                                               : "switches");
    }
}

static void levels_coarse(const struct wf_topo *topo, struct wf_draw_picture *picture)
{
    struct widths widths = {0};
    struct wf_draw_bins bins;
    struct rows rows;
    struct wf_draw_sample sample;
    uint32_t vertex;

    wf_draw_sample_begin(&sample, topo, false);
    while (wf_draw_sample_next(&sample, &vertex)) {
        widen(topo, vertex, &widths);
    }
    choose_rows(&rows, &widths);
    wf_draw_bins_count(topo, rows.n_bins, bin_of, &rows, &bins);
    for (uint32_t i = 0; i < rows.n; i++) {
        bool nodes = rows.row[i].level == 0 || wf_topo_is_direct(topo);
        for (uint32_t bin = 0; bin < rows.row[i].bins; bin++) {
            add_bin(&rows, &rows.row[i], bin, nodes, picture);
        }
    }
    name_rows(topo, &rows, picture);
    wf_draw_picture_legend(picture, "A square with a number stands for so many of its row");
    wf_draw_bins_finish(&bins, picture, WF_DRAW_LINE_PLAIN);
    if (rows.gap) {
        bridge_gap(&rows, picture);
        wf_draw_picture_legend(picture, "; %" PRIu32 " levels are left out",
                               widths.n_levels - rows.n);
    }
    free(widths.width);
}

const struct wf_draw_shape_ops wf_draw_shape_levels = {
    .place = levels_place,
    .bend = NULL,
    .coarse = levels_coarse,
};
