/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/draw/canvas.h"

#include "base/mem.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>

struct svg {
    struct wf_draw_canvas canvas;
    FILE *out;
};

static const char *const ink_names[WF_DRAW_INK_SERIES] = {
    [WF_DRAW_INK_PAPER] = "paper", [WF_DRAW_INK_STRONG] = "strong", [WF_DRAW_INK_SOFT] = "soft",
    [WF_DRAW_INK_GRID] = "grid",   [WF_DRAW_INK_AXIS] = "axis",
};

static const char *const anchors[] = {
    [WF_DRAW_ANCHOR_START] = "start",
    [WF_DRAW_ANCHOR_MIDDLE] = "middle",
    [WF_DRAW_ANCHOR_END] = "end",
};

static void put_ink(FILE *out, enum wf_draw_ink ink)
{
    if (ink < WF_DRAW_INK_SERIES) {
        (void)fputs(ink_names[ink], out);
    } else {
        (void)fprintf(out, "series%d", (int)(ink - WF_DRAW_INK_SERIES));
    }
}

/* A property that takes its colour from the style sheet. */
static void put_colour(FILE *out, const char *property, enum wf_draw_ink ink)
{
    (void)fprintf(out, "%s:var(--", property);
    put_ink(out, ink);
    (void)fputc(')', out);
}

static void put_points(FILE *out, const struct wf_draw_xy *corners, size_t n)
{
    (void)fputs(" points=\"", out);
    for (size_t i = 0; i < n; i++) {
        (void)fprintf(out, "%s%.2f,%.2f", i > 0 ? " " : "", corners[i].x, corners[i].y);
    }
    (void)fputc('"', out);
}

static void svg_path(struct wf_draw_canvas *canvas, const struct wf_draw_xy *corners, size_t n,
                     enum wf_draw_ink ink, double width)
{
    FILE *out = ((struct svg *)canvas)->out;

    (void)fputs("<polyline", out);
    put_points(out, corners, n);
    (void)fputs(" style=\"", out);
    put_colour(out, "stroke", ink);
    (void)fprintf(out, ";stroke-width:%g\"/>\n", width);
}

static void svg_area(struct wf_draw_canvas *canvas, const struct wf_draw_xy *corners, size_t n,
                     double r, const enum wf_draw_ink fill_and_edge[2])
{
    FILE *out = ((struct svg *)canvas)->out;

    if (n == 1) {
        (void)fprintf(out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%g\"", corners->x, corners->y,
                      r);
    } else {
        (void)fputs("<polygon", out);
        put_points(out, corners, n);
    }
    (void)fputs(" style=\"", out);
    put_colour(out, "fill", fill_and_edge[0]);
    (void)fputc(';', out);
    put_colour(out, "stroke", fill_and_edge[1]);
    (void)fputs("\"/>\n", out);
}

static void svg_text(struct wf_draw_canvas *canvas, struct wf_draw_xy at, const char *text,
                     const struct wf_draw_lettering *lettering)
{
    FILE *out = ((struct svg *)canvas)->out;

    if (lettering->upwards) {
        (void)fprintf(out, "<text transform=\"translate(%.2f %.2f) rotate(-90)\"", at.x, at.y);
    } else {
        (void)fprintf(out, "<text x=\"%.2f\" y=\"%.2f\"", at.x, at.y);
    }
    (void)fprintf(out, " font-size=\"%g\" text-anchor=\"%s\"%s style=\"", lettering->size,
                  anchors[lettering->anchor], lettering->bold ? " font-weight=\"600\"" : "");
    put_colour(out, "fill", lettering->ink);
    (void)fputs("\">", out);
    wf_text_markup(out, text);
    (void)fputs("</text>\n", out);
}

static void svg_finish(struct wf_draw_canvas *canvas)
{
    (void)fputs("</svg>\n", ((struct svg *)canvas)->out);
    free(canvas);
}

static const struct wf_draw_canvas_ops svg_ops = {
    .path = svg_path,
    .area = svg_area,
    .text = svg_text,
    .finish = svg_finish,
};

static void put_inks(FILE *out, const uint32_t *inks)
{
    (void)fputs("svg{", out);
    for (enum wf_draw_ink ink = 0; ink < WF_DRAW_INKS; ink++) {
        (void)fputs("--", out);
        put_ink(out, ink);
        (void)fprintf(out, ":#%06" PRIx32 ";", inks[ink]);
    }
    (void)fputs("}\n", out);
}

struct wf_draw_canvas *wf_draw_canvas_svg_new(double width, double height, const char *title,
                                              FILE *out)
{
    struct svg *svg = wf_xcalloc(1, sizeof(*svg));

    svg->canvas.ops = &svg_ops;
    svg->out = out;
    (void)fprintf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
                  "viewBox=\"0 0 %g %g\" role=\"img\">\n<title>",
                  width, height, width, height);
    wf_text_markup(out, title);
    (void)fputs("</title>\n<style>\n", out);
    put_inks(out, wf_draw_ink_light);
    (void)fputs("@media (prefers-color-scheme:dark){", out);
    put_inks(out, wf_draw_ink_dark);
    (void)fputs("}\ntext{font-family:system-ui,'Segoe UI','DejaVu Sans',sans-serif}\n"
                "polyline{fill:none;stroke-linejoin:round}\n"
                "circle,polygon{stroke-width:1.5}\n</style>\n"
                "<rect width=\"100%\" height=\"100%\" style=\"fill:var(--paper)\"/>\n",
                out);
    return &svg->canvas;
}
