/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A picture before it is written: marks on a plane, lines between marks, and notes. Lines
 * refer to marks and not to places, so that marks can be moved later. Lengths are pixels as on
 * a screen, y grows downwards.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wf_draw_mark_kind {
    WF_DRAW_MARK_DISC,   /* a circle around other marks, drawn below them */
    WF_DRAW_MARK_NODE,   /* a dot */
    WF_DRAW_MARK_SWITCH, /* a square */
    WF_DRAW_MARK_BLOCK,  /* a larger square that stands for many vertices */
    WF_DRAW_MARK_GROUP,  /* a circle that stands for many vertices */
    WF_DRAW_MARK_KINDS,
};

struct wf_draw_mark {
    enum wf_draw_mark_kind kind;
    double x, y;
    double r;        /* radius; a square is 2r wide */
    uint32_t vertex; /* the vertex that it shows, or WF_TOPO_NO_VERTEX */
    char label[64];  /* text inside it; "" for none */
    char title[120]; /* shown when the user points at it; "" for none */
};

enum wf_draw_line_style {
    WF_DRAW_LINE_FAR,   /* around the edge of a grid, or between groups */
    WF_DRAW_LINE_PLAIN, /* to a neighbour in the picture */
    WF_DRAW_LINE_HINT,  /* stands for levels that are not drawn */
    WF_DRAW_LINE_STYLES,
};

struct wf_draw_line {
    uint32_t a, b; /* numbers of marks */
    enum wf_draw_line_style style;
    double bow;     /* distance of its middle from the straight line, to the left from a to b */
    uint64_t links; /* number of cables that it stands for; 0 if it is one cable */
    bool oneway;    /* an arrow from a to b */
};

struct wf_draw_note {
    double x, y, size; /* middle of the base line; height of letters */
    char text[96];
};

/* A zeroed struct is an empty picture. */
struct wf_draw_picture {
    struct wf_draw_mark *marks;
    struct wf_draw_line *lines;
    struct wf_draw_note *notes;
    uint32_t n_marks, n_lines, n_notes;
    uint32_t marks_capacity, lines_capacity, notes_capacity;
    uint32_t gate;    /* the mark of the gate; meaningful where every vertex has a mark */
    char legend[200]; /* a sentence that explains the marks */
};

struct wf_draw_box {
    double left, top, right, bottom;
};

void wf_draw_picture_fini(struct wf_draw_picture *picture);

/* These add to the picture; the first two return the number of the mark or line. */
uint32_t wf_draw_picture_mark(struct wf_draw_picture *picture, const struct wf_draw_mark *mark);
uint32_t wf_draw_picture_line(struct wf_draw_picture *picture, const struct wf_draw_line *line);
WF_PRINTF(5, 6)
void wf_draw_picture_note(struct wf_draw_picture *picture, double x, double y, double size,
                          const char *fmt, ...);

/* Appends to the legend as much as it has space for. */
WF_PRINTF(2, 3)
void wf_draw_picture_legend(struct wf_draw_picture *picture, const char *fmt, ...);

/* Adds the marks, lines and notes of `from`, scaled by `scale`, with its origin at (x, y).
 * Returns the number of its first mark. */
uint32_t wf_draw_picture_append(struct wf_draw_picture *picture,
                                const struct wf_draw_picture *from, double x, double y,
                                double scale);

/* Moves marks and notes away from the origin without changing their size. */
void wf_draw_picture_spread(struct wf_draw_picture *picture, double factor);

/* The control point of a line that is drawn as a quadratic curve. */
void wf_draw_picture_control(const struct wf_draw_picture *picture,
                             const struct wf_draw_line *line, double *x, double *y);

/* The smallest box around all marks, lines and notes. */
struct wf_draw_box wf_draw_picture_bounds(const struct wf_draw_picture *picture);
