/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Curves on axes, as a picture in a file: panels side by side, each with series of points
 * that may have error bars, or bars of categories. The same plot always gives the same bytes.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct wf_draw_plot_point {
    double x, y;
    double below, above; /* how far the error bar reaches down and up; 0 for none */
    bool hollow;         /* draws only the edge of the mark: a point with a reservation */
};

/* The position in the list determines colour and mark. */
struct wf_draw_plot_series {
    const char *name; /* name in the legend */
    const struct wf_draw_plot_point *points;
    size_t n;
};

/* A linear axis begins at 0, or lower if there are negative values. A logarithmic axis
 * leaves out values that are not above 0. */
struct wf_draw_plot_axis {
    const char *label;
    bool log;
    bool bytes; /* ticks at powers of two, such as "64 KiB" */
    double
        picoseconds; /* a value of 1, if values are times: a logarithmic axis has "10 us", "1 ms" */
    /* Of x: categories, at 1, 2 and so on; series are bars side by side. Null: x is a number. */
    const char *const *names;
    size_t n_names;
};

struct wf_draw_plot_panel {
    struct wf_draw_plot_axis x, y;
    const struct wf_draw_plot_series *series;
    size_t n;
};

/* Panels share one legend, that of the panel with the most series. There is no legend for a
 * single series. Texts are UTF-8; a PNG shows characters outside ASCII as "?". */
struct wf_draw_plot {
    const char *title, *subtitle;
    const char *legend; /* above the names of the series; null: nothing */
    const struct wf_draw_plot_panel *panels;
    size_t n;
};

struct wf_draw_canvas;

struct wf_draw_plot_format {
    const char *extension; /* including the dot */
    struct wf_draw_canvas *(*canvas)(double width, double height, const char *title, FILE *out);
};

/* The caller checks `out` for errors (ferror). */
void wf_draw_plot(const struct wf_draw_plot *plot, const struct wf_draw_plot_format *format,
                  FILE *out);

/* The extensions of all formats (base/extension.h). */
const char *wf_draw_plot_extension(size_t i);
/* The format for a file called `path`, by its extension; null if there is none. */
const struct wf_draw_plot_format *wf_draw_plot_for_path(const char *path);
