/* SPDX-License-Identifier: Apache-2.0 */
/* The Gantt chart: a grid of cells, each in the colour of the job that has the node at that time,
 * so that its size does not depend on the number of jobs. */
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "model/queue/policy.h"
#include "ui/draw/canvas.h"
#include "ui/study/cluster.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMNS = 600,
    ROWS = 200,
    LEFT = 60,
    TOP = 28,
    PANEL = ROWS + 60,
    INKS = WF_DRAW_INK_N_SERIES
};

#define FREE UINT32_MAX

/* The cells, row by row, and how much time and how many nodes one stands for. */
struct grid {
    uint32_t *jobs;
    int64_t end;
    uint32_t n_nodes;
};

/* The first row or column whose middle is at or after this place of `whole`. */
static int64_t cell_of(int64_t at, int64_t whole, int64_t cells)
{
    double middle = (double)at * (double)cells / (double)whole - 0.5;
    int64_t cell = (int64_t)middle;

    cell += (double)cell < middle ? 1 : 0;
    return cell < 0 ? 0 : cell > cells ? cells : cell;
}

static void fill(struct grid *grid, const struct wf_queue_span *span,
                 const struct wf_queue_range *range)
{
    int64_t from = cell_of(span->start, grid->end, COLUMNS);
    int64_t until = cell_of(span->end, grid->end, COLUMNS);
    int64_t top = cell_of(range->first, grid->n_nodes, ROWS);
    int64_t bottom = cell_of((int64_t)range->last + 1, grid->n_nodes, ROWS);

    for (int64_t row = top; row < bottom; row++) {
        for (int64_t column = from; column < until; column++) {
            grid->jobs[row * COLUMNS + column] = span->job;
        }
    }
}

/* A rectangle of cells of one job, which become free. */
static void take_rectangle(struct grid *grid, int at, double y, FILE *out)
{
    uint32_t *cells = grid->jobs + at, job = *cells;
    int column = at % COLUMNS, row = at / COLUMNS, width = 1, height = 1;

    while (column + width < COLUMNS && cells[width] == job) {
        width++;
    }
    for (bool same = true; same && row + height < ROWS;) {
        for (int i = 0; i < width; i++) {
            same = same && cells[height * COLUMNS + i] == job;
        }
        height += same ? 1 : 0;
    }
    for (int i = 0; i < height; i++) {
        memset(cells + (size_t)i * COLUMNS, 0xff, (size_t)width * sizeof(*cells));
    }
    (void)fprintf(out, "M%d %gh%dv%dh-%dz", LEFT + column, y + row, width, height, width);
}

static uint32_t ink_of(uint32_t job)
{
    return job == WF_QUEUE_DOWN ? INKS : job % INKS;
}

/* All rectangles of one colour are one path; the last colour is that of nodes in repair. */
static void draw_colour(struct grid *grid, uint32_t ink, double y, FILE *out)
{
    uint32_t shade = ink < INKS ? WF_DRAW_INK_SERIES + ink : WF_DRAW_INK_STRONG;

    (void)fprintf(out, "<path fill=\"#%06x\" d=\"", wf_draw_ink_light[shade]);
    for (int at = 0; at < COLUMNS * ROWS; at++) {
        if (grid->jobs[at] != FREE && ink_of(grid->jobs[at]) == ink) {
            take_rectangle(grid, at, y, out);
        }
    }
    (void)fputs("\"/>\n", out);
}

static void draw_panel(const struct wf_cluster *cluster, const struct wf_cluster_run *run,
                       double y, FILE *out)
{
    const struct wf_queue_result *result = &run->result;
    struct grid grid = {.jobs = wf_xmalloc(sizeof(uint32_t) * COLUMNS * ROWS),
                        .end = (int64_t)run->figures[1],
                        .n_nodes = cluster->config.n_nodes};
    char text[WF_UNITS_TEXT_MAX];

    memset(grid.jobs, 0xff, sizeof(uint32_t) * COLUMNS * ROWS);
    for (size_t i = 0; i < result->n_spans; i++) {
        const struct wf_queue_span *span = &result->spans[i];

        for (size_t k = 0; k < span->n_ranges; k++) {
            fill(&grid, span, &result->ranges[span->first_range + k]);
        }
    }
    (void)fprintf(out,
                  "<text x=\"%d\" y=\"%g\">%s</text>\n"
                  "<rect x=\"%d\" y=\"%g\" width=\"%d\" height=\"%d\" fill=\"#f2f2ee\"/>\n"
                  "<text x=\"%d\" y=\"%g\" text-anchor=\"end\">node 0</text>\n"
                  "<text x=\"%d\" y=\"%g\" text-anchor=\"end\">%" PRIu32 "</text>\n"
                  "<text x=\"%d\" y=\"%g\">0</text>\n"
                  "<text x=\"%d\" y=\"%g\" text-anchor=\"end\">%s</text>\n",
                  LEFT, y - 6, run->policy->name, LEFT, y, COLUMNS, ROWS, LEFT - 4, y + 12,
                  LEFT - 4, y + ROWS, grid.n_nodes - 1, LEFT, y + ROWS + 16, LEFT + COLUMNS,
                  y + ROWS + 16, wf_human_span(grid.end, text));
    for (uint32_t ink = 0; ink <= INKS; ink++) {
        draw_colour(&grid, ink, y, out);
    }
    free(grid.jobs);
}

void wf_cluster_gantt(const struct wf_cluster *cluster, FILE *out)
{
    int width = LEFT + COLUMNS + 20, height = TOP + PANEL * (int)cluster->n_runs;

    (void)fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
        "viewBox=\"0 0 %d %d\" font-family=\"system-ui, sans-serif\" font-size=\"12\">\n"
        "<title>Nodes over time; a colour is a job, black a repair</title>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
        width, height, width, height);
    for (size_t r = 0; r < cluster->n_runs; r++) {
        draw_panel(cluster, &cluster->runs[r], TOP + PANEL * (double)r, out);
    }
    (void)fputs("</svg>\n", out);
}
