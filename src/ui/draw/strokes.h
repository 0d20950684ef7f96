/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Letters as strokes of a pen, for pictures that bring no font. They are on a grid in which
 * capitals are 14 high; y grows upwards from the base line.
 */

#include "ui/draw/canvas.h"

enum { WF_DRAW_STROKES_EM = 20, WF_DRAW_STROKES_GAP = 3 };

/* Called for each straight segment of a letter. */
typedef void wf_draw_strokes_fn(void *context, struct wf_draw_xy from, struct wf_draw_xy to);

/* Passes the segments of `letter` to `fn`, which may be null, and returns the width of the
 * letter without the gap to the next. Characters outside ASCII look like "?". */
double wf_draw_strokes_letter(char letter, wf_draw_strokes_fn *fn, void *context);

/* Passes the segments of a text on a canvas to `fn`, which are to be drawn as wide as
 * wf_draw_strokes_pen() says. */
void wf_draw_strokes_text(struct wf_draw_xy at, const char *text,
                          const struct wf_draw_lettering *lettering, wf_draw_strokes_fn *fn,
                          void *context);
double wf_draw_strokes_pen(const struct wf_draw_lettering *lettering);
