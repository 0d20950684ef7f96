/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A surface for plots. Lengths are pixels of a screen; y grows downwards. Later shapes cover
 * earlier ones.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Colours by their purpose. The canvas chooses the shade for a light or a dark page. */
enum wf_draw_ink {
    WF_DRAW_INK_PAPER,
    WF_DRAW_INK_STRONG, /* titles and names */
    WF_DRAW_INK_SOFT,   /* other text */
    WF_DRAW_INK_GRID,
    WF_DRAW_INK_AXIS,
    WF_DRAW_INK_SERIES, /* the first of WF_DRAW_INK_N_SERIES */
    WF_DRAW_INK_N_SERIES = 8,
    WF_DRAW_INKS = WF_DRAW_INK_SERIES + WF_DRAW_INK_N_SERIES,
};

/* 0xRRGGBB on a light and a dark page, each by enum wf_draw_ink. */
extern const uint32_t wf_draw_ink_light[WF_DRAW_INKS];
extern const uint32_t wf_draw_ink_dark[WF_DRAW_INKS];

struct wf_draw_xy {
    double x, y;
};

enum wf_draw_anchor { WF_DRAW_ANCHOR_START, WF_DRAW_ANCHOR_MIDDLE, WF_DRAW_ANCHOR_END };

struct wf_draw_lettering {
    double size; /* font size */
    enum wf_draw_anchor anchor;
    enum wf_draw_ink ink;
    bool bold;
    bool upwards; /* rotated to be read from bottom to top */
};

struct wf_draw_canvas;

/* All members are required. */
struct wf_draw_canvas_ops {
    void (*path)(struct wf_draw_canvas *canvas, const struct wf_draw_xy *corners, size_t n,
                 enum wf_draw_ink ink, double width);
    /* A convex polygon of at least 3 corners, in clockwise order on the screen, or, if n is
     * 1, a disc of radius `r` around the corner. Its edge is 1.5 pixels wide. */
    void (*area)(struct wf_draw_canvas *canvas, const struct wf_draw_xy *corners, size_t n,
                 double r, const enum wf_draw_ink fill_and_edge[2]);
    /* `at` is on the base line. */
    void (*text)(struct wf_draw_canvas *canvas, struct wf_draw_xy at, const char *text,
                 const struct wf_draw_lettering *lettering);
    /* Writes the drawing and releases the canvas. */
    void (*finish)(struct wf_draw_canvas *canvas);
};

struct wf_draw_canvas {
    const struct wf_draw_canvas_ops *ops;
};

/* All create a canvas of this size, filled with paper. Screen readers read the title aloud.
 * The canvas writes to `out` and is released by its finish(). */
struct wf_draw_canvas *wf_draw_canvas_svg_new(double width, double height, const char *title,
                                              FILE *out);
struct wf_draw_canvas *wf_draw_canvas_png_new(double width, double height, const char *title,
                                              FILE *out);
struct wf_draw_canvas *wf_draw_canvas_pdf_new(double width, double height, const char *title,
                                              FILE *out);

/* The width of the text in the widest font of all canvases. */
double wf_draw_lettering_width(const char *text, double size);
