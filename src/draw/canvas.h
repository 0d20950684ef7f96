/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_DRAW_CANVAS_H
#define WF_DRAW_CANVAS_H

/*
 * What a plot is drawn on. Lengths are pixels as on a screen, y grows downwards. The first
 * thing drawn is the lowest.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Colours by what they are for: a canvas knows those for its surroundings. */
enum wf_ink {
    WF_INK_PAPER,
    WF_INK_STRONG, /* titles and names */
    WF_INK_SOFT,   /* other text */
    WF_INK_GRID,
    WF_INK_AXIS,
    WF_INK_SERIES, /* the first of WF_INK_N_SERIES */
    WF_INK_N_SERIES = 8,
    WF_INKS = WF_INK_SERIES + WF_INK_N_SERIES,
};

/* 0xRRGGBB on a light and a dark page, each by enum wf_ink. */
extern const uint32_t wf_ink_light[WF_INKS];
extern const uint32_t wf_ink_dark[WF_INKS];

struct wf_xy {
    double x, y;
};

enum wf_anchor { WF_ANCHOR_START, WF_ANCHOR_MIDDLE, WF_ANCHOR_END };

struct wf_lettering {
    double size; /* of the font */
    enum wf_anchor anchor;
    enum wf_ink ink;
    bool bold;
    bool upwards; /* turned to be read from below to above */
};

struct wf_canvas;

/* All members are required. */
struct wf_canvas_ops {
    void (*path)(struct wf_canvas *canvas, const struct wf_xy *corners, size_t n,
                 enum wf_ink ink, double width);
    /* A convex polygon of at least 3 corners, in clockwise order as seen, or, if n is 1, a
     * disc of radius `r` around the corner; with an edge of 1.5 pixels. */
    void (*area)(struct wf_canvas *canvas, const struct wf_xy *corners, size_t n, double r,
                 const enum wf_ink fill_and_edge[2]);
    /* `at` is on the base line. */
    void (*text)(struct wf_canvas *canvas, struct wf_xy at, const char *text,
                 const struct wf_lettering *lettering);
    /* Writes what was drawn, and releases the canvas. */
    void (*finish)(struct wf_canvas *canvas);
};

struct wf_canvas {
    const struct wf_canvas_ops *ops;
};

/* Both are as high and wide as given and filled with paper. A title is for programs that read
 * pictures to people. */
struct wf_canvas *wf_canvas_svg_new(double width, double height, const char *title, FILE *out);
struct wf_canvas *wf_canvas_png_new(double width, double height, const char *title, FILE *out);

/* How wide the text is, at most: canvases have different fonts. */
double wf_lettering_width(const char *text, double size);

#endif
