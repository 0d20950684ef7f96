/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page of the Portable Document Format (ISO 32000-1) as large as the plot, for papers. Letters are
 * strokes, so that no font has to be embedded. The same plot always gives the same bytes: no
 * date, no producer.
 */
#include "ui/draw/canvas.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/status.h"
#include "ui/draw/strokes.h"

#include <stdarg.h>
#include <stdlib.h>
#include <zlib.h>

#define POINTS_PER_PIXEL 0.75
#define EDGE_WIDTH       1.5

struct pdf {
    struct wf_draw_canvas canvas;
    FILE *out;
    struct wf_buf content; /* the drawing */
    double width, height;
};

WF_PRINTF(2, 3)
static void emit(struct wf_buf *out, const char *fmt, ...)
{
    char line[256];
    va_list args;

    va_start(args, fmt);
    int n = vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    wf_buf_append(out, line, n > 0 ? (size_t)n : 0);
}

static void put_colour(struct wf_buf *out, enum wf_draw_ink ink, const char *operator_name)
{
    uint32_t rgb = wf_draw_ink_light[ink];

    emit(out, "%.3f %.3f %.3f %s\n", (rgb >> 16 & 0xff) / 255.0, (rgb >> 8 & 0xff) / 255.0,
         (rgb & 0xff) / 255.0, operator_name);
}

static void put_corners(struct wf_buf *out, const struct wf_draw_xy *corners, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        emit(out, "%.2f %.2f %s\n", corners[i].x, corners[i].y, i == 0 ? "m" : "l");
    }
}

static void pdf_path(struct wf_draw_canvas *canvas, const struct wf_draw_xy *corners, size_t n,
                     enum wf_draw_ink ink, double width)
{
    struct wf_buf *out = &((struct pdf *)canvas)->content;

    put_colour(out, ink, "RG");
    emit(out, "%.2f w\n", width);
    put_corners(out, corners, n);
    emit(out, "S\n");
}

/* A disc of four Bezier curves. */
static void put_disc(struct wf_buf *out, struct wf_draw_xy at, double r)
{
    static const double quarters[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    const double k = 0.5523 * r; /* how far control points are from the ends of a quarter */

    emit(out, "%.2f %.2f m\n", at.x + r, at.y);
    for (int i = 0; i < 4; i++) {
        const double *from = quarters[i], *to = quarters[(i + 1) % 4];
        emit(out, "%.2f %.2f %.2f %.2f %.2f %.2f c\n", at.x + r * from[0] + k * to[0],
             at.y + r * from[1] + k * to[1], at.x + r * to[0] + k * from[0],
             at.y + r * to[1] + k * from[1], at.x + r * to[0], at.y + r * to[1]);
    }
}

static void pdf_area(struct wf_draw_canvas *canvas, const struct wf_draw_xy *corners, size_t n,
                     double r, const enum wf_draw_ink fill_and_edge[2])
{
    struct wf_buf *out = &((struct pdf *)canvas)->content;

    put_colour(out, fill_and_edge[0], "rg");
    put_colour(out, fill_and_edge[1], "RG");
    emit(out, "%.2f w\n", EDGE_WIDTH);
    if (n == 1) {
        put_disc(out, corners[0], r);
    } else {
        put_corners(out, corners, n);
    }
    emit(out, "b\n");
}

static void draw_piece(void *context, struct wf_draw_xy from, struct wf_draw_xy to)
{
    put_corners(context, (const struct wf_draw_xy[]){from, to}, 2);
}

static void pdf_text(struct wf_draw_canvas *canvas, struct wf_draw_xy at, const char *text,
                     const struct wf_draw_lettering *lettering)
{
    struct wf_buf *out = &((struct pdf *)canvas)->content;

    put_colour(out, lettering->ink, "RG");
    emit(out, "%.2f w\n", wf_draw_strokes_pen(lettering));
    wf_draw_strokes_text(at, text, lettering, draw_piece, out);
    emit(out, "S\n");
}

/* ---- the file: a catalogue, a list of pages, a page, what is on it ---- */

enum { OBJECTS = 4 };

/* Begins the next object and notes its place. */
static void begin_object(struct wf_buf *file, size_t places[OBJECTS], int *n)
{
    places[*n] = file->size;
    emit(file, "%d 0 obj\n", ++*n);
}

static void put_content(const struct pdf *pdf, struct wf_buf *file)
{
    uLongf size = compressBound((uLong)pdf->content.size);
    unsigned char *packed = wf_xmalloc(size);

    /* This cannot fail: the buffer is large enough for the worst case. */
    (void)compress2(packed, &size, pdf->content.data, (uLong)pdf->content.size,
                    Z_BEST_COMPRESSION);
    emit(file, "<< /Length %lu /Filter /FlateDecode >>\nstream\n", (unsigned long)size);
    wf_buf_append(file, packed, size);
    emit(file, "\nendstream\n");
    free(packed);
}

static void pdf_finish(struct wf_draw_canvas *canvas)
{
    struct pdf *pdf = (struct pdf *)canvas;
    struct wf_buf file = {.data = NULL};
    size_t places[OBJECTS];
    int n = 0;

    emit(&file, "%%PDF-1.4\n");
    begin_object(&file, places, &n);
    emit(&file, "<< /Type /Catalog /Pages 2 0 R >>\nendobj\n");
    begin_object(&file, places, &n);
    emit(&file, "<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n");
    begin_object(&file, places, &n);
    emit(&file,
         "<< /Type /Page /Parent 2 0 R /Resources << >> /MediaBox [0 0 %.2f %.2f] "
         "/Contents 4 0 R >>\nendobj\n",
         pdf->width * POINTS_PER_PIXEL, pdf->height * POINTS_PER_PIXEL);
    begin_object(&file, places, &n);
    put_content(pdf, &file);
    emit(&file, "endobj\n");
    size_t table = file.size;
    emit(&file, "xref\n0 %d\n0000000000 65535 f \n", OBJECTS + 1);
    for (int i = 0; i < OBJECTS; i++) {
        emit(&file, "%010zu 00000 n \n", places[i]);
    }
    emit(&file, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%zu\n%%%%EOF\n", OBJECTS + 1,
         table);
    (void)fwrite(file.data, 1, file.size, pdf->out);
    wf_buf_fini(&file);
    wf_buf_fini(&pdf->content);
    free(pdf);
}

static const struct wf_draw_canvas_ops pdf_ops = {
    .path = pdf_path,
    .area = pdf_area,
    .text = pdf_text,
    .finish = pdf_finish,
};

struct wf_draw_canvas *wf_draw_canvas_pdf_new(double width, double height, const char *title,
                                              FILE *out)
{
    struct pdf *pdf = wf_xcalloc(1, sizeof(*pdf));

    pdf->canvas.ops = &pdf_ops;
    pdf->out = out;
    pdf->width = width;
    pdf->height = height;
    /* y grows downwards; ends and corners of lines are round. */
    emit(&pdf->content, "%g 0 0 %g 0 %.2f cm\n1 J 1 j\n", POINTS_PER_PIXEL, -POINTS_PER_PIXEL,
         height * POINTS_PER_PIXEL);
    return &pdf->canvas;
}
