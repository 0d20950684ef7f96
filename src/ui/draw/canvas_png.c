/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A canvas of pixels, two for each unit of length, so that print is sharp. A shape is first
 * drawn as a mask, which holds how much of each pixel the shape covers. Then the shape is
 * coloured as a whole, so that no pixel is painted twice where parts of a line meet.
 */
#include "ui/draw/canvas.h"

#include "base/mem.h"
#include "ui/draw/strokes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { SCALE = 2, CHANNELS = 3, FILTER_NONE = 0 };

#define EDGE_WIDTH 1.5

/* A range of columns and rows; the ends are excluded. */
struct area {
    long left, top, right, bottom;
};

struct raster {
    struct wf_draw_canvas canvas;
    FILE *out;
    long width, height;
    unsigned char *pixels; /* rows of red, green, blue */
    unsigned char *mask;   /* 255 where a pixel is covered; clear between calls */
    struct area marked;    /* the part of the mask that may not be clear */
};

static void begin(struct raster *raster)
{
    raster->marked = (struct area){raster->width, raster->height, 0, 0};
}

static long within(double value, long limit)
{
    return value < 0 ? 0 : value > (double)limit ? limit : (long)value;
}

/* The pixels that a shape may cover if it lies between the two corners or at most `reach`
 * away from them. */
static struct area touch(struct raster *raster, struct wf_draw_xy a, struct wf_draw_xy b,
                         double reach)
{
    struct area area = {
        within(floor(fmin(a.x, b.x) - reach), raster->width),
        within(floor(fmin(a.y, b.y) - reach), raster->height),
        within(ceil(fmax(a.x, b.x) + reach), raster->width),
        within(ceil(fmax(a.y, b.y) + reach), raster->height),
    };
    struct area *all = &raster->marked;

    all->left = area.left < all->left ? area.left : all->left;
    all->top = area.top < all->top ? area.top : all->top;
    all->right = area.right > all->right ? area.right : all->right;
    all->bottom = area.bottom > all->bottom ? area.bottom : all->bottom;
    return area;
}

/* Marks a pixel whose centre is `depth` inside the edge of the shape. To the eye, 16 grades
 * are as smooth as 256, and the file is half as large. */
static void mark(struct raster *raster, long x, long y, double depth)
{
    unsigned char *mask = &raster->mask[y * raster->width + x];
    double covered = fmin(fmax(depth + 0.5, 0), 1);
    unsigned char value = (unsigned char)(17 * lround(15 * covered));

    *mask = value > *mask ? value : *mask;
}

/* The distance of a point from the line between a and b. */
static double distance(struct wf_draw_xy p, struct wf_draw_xy a, struct wf_draw_xy b)
{
    double dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy;
    double t = square > 0 ? ((p.x - a.x) * dx + (p.y - a.y) * dy) / square : 0;

    t = fmin(fmax(t, 0), 1);
    return hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

/* A line with round ends, or, from a point to itself, a disc. */
static void mark_line(struct raster *raster, struct wf_draw_xy a, struct wf_draw_xy b,
                      double half_width)
{
    struct area area = touch(raster, a, b, half_width + 1);

    for (long y = area.top; y < area.bottom; y++) {
        for (long x = area.left; x < area.right; x++) {
            struct wf_draw_xy middle = {(double)x + 0.5, (double)y + 0.5};
            mark(raster, x, y, half_width - distance(middle, a, b));
        }
    }
}

/* How far a point is inside of a convex polygon; negative if it is outside. */
static double depth_of(struct wf_draw_xy p, const struct wf_draw_xy *corners, size_t n)
{
    double depth = HUGE_VAL;

    for (size_t i = 0; i < n; i++) {
        struct wf_draw_xy a = corners[i], b = corners[(i + 1) % n];
        double dx = b.x - a.x, dy = b.y - a.y;
        depth = fmin(depth, ((p.y - a.y) * dx - (p.x - a.x) * dy) / hypot(dx, dy));
    }
    return depth;
}

static void mark_polygon(struct raster *raster, const struct wf_draw_xy *corners, size_t n)
{
    struct wf_draw_xy low = corners[0], high = corners[0];

    for (size_t i = 1; i < n; i++) {
        low = (struct wf_draw_xy){fmin(low.x, corners[i].x), fmin(low.y, corners[i].y)};
        high = (struct wf_draw_xy){fmax(high.x, corners[i].x), fmax(high.y, corners[i].y)};
    }
    struct area area = touch(raster, low, high, 1);
    for (long y = area.top; y < area.bottom; y++) {
        for (long x = area.left; x < area.right; x++) {
            struct wf_draw_xy middle = {(double)x + 0.5, (double)y + 0.5};
            mark(raster, x, y, depth_of(middle, corners, n));
        }
    }
}

/* Colours the marked pixels and clears the mask. */
static void paint(struct raster *raster, enum wf_draw_ink ink)
{
    const struct area *area = &raster->marked;

    for (long y = area->top; y < area->bottom; y++) {
        for (long x = area->left; x < area->right; x++) {
            long at = y * raster->width + x;
            unsigned covered = raster->mask[at];
            for (int i = 0; i < CHANNELS; i++) {
                unsigned char *pixel = &raster->pixels[at * CHANNELS + i];
                unsigned colour = wf_draw_ink_light[ink] >> (16 - 8 * i) & 0xff;
                *pixel =
                    (unsigned char)((*pixel * (255 - covered) + colour * covered + 127) / 255);
            }
            raster->mask[at] = 0;
        }
    }
}

static struct wf_draw_xy scaled(struct wf_draw_xy point)
{
    return (struct wf_draw_xy){point.x * SCALE, point.y * SCALE};
}

static void png_path(struct wf_draw_canvas *canvas, const struct wf_draw_xy *corners, size_t n,
                     enum wf_draw_ink ink, double width)
{
    struct raster *raster = (struct raster *)canvas;

    begin(raster);
    for (size_t i = 1; i < n; i++) {
        mark_line(raster, scaled(corners[i - 1]), scaled(corners[i]), width * SCALE / 2);
    }
    paint(raster, ink);
}

static void png_area(struct wf_draw_canvas *canvas, const struct wf_draw_xy *corners, size_t n,
                     double r, const enum wf_draw_ink fill_and_edge[2])
{
    enum { CORNERS_MAX = 8 };
    struct raster *raster = (struct raster *)canvas;
    struct wf_draw_xy points[CORNERS_MAX] = {{0, 0}};

    n = n < CORNERS_MAX ? n : CORNERS_MAX;
    for (size_t i = 0; i < n; i++) {
        points[i] = scaled(corners[i]);
    }
    begin(raster);
    if (n == 1) { /* the edge is centred on that of the shape, as in SVG */
        mark_line(raster, points[0], points[0], (r + EDGE_WIDTH / 2) * SCALE);
        paint(raster, fill_and_edge[1]);
        begin(raster);
        mark_line(raster, points[0], points[0], (r - EDGE_WIDTH / 2) * SCALE);
        paint(raster, fill_and_edge[0]);
        return;
    }
    mark_polygon(raster, points, n);
    paint(raster, fill_and_edge[0]);
    begin(raster);
    for (size_t i = 0; i < n; i++) {
        mark_line(raster, points[i], points[(i + 1) % n], EDGE_WIDTH / 2 * SCALE);
    }
    paint(raster, fill_and_edge[1]);
}

/* ---- text ---- */

struct pen {
    struct raster *raster;
    double half_width;
};

static void draw_piece(void *context, struct wf_draw_xy from, struct wf_draw_xy to)
{
    const struct pen *pen = context;

    mark_line(pen->raster, scaled(from), scaled(to), pen->half_width);
}

static void png_text(struct wf_draw_canvas *canvas, struct wf_draw_xy at, const char *text,
                     const struct wf_draw_lettering *lettering)
{
    struct pen pen = {.raster = (struct raster *)canvas,
                      .half_width = wf_draw_strokes_pen(lettering) * SCALE / 2};

    begin(pen.raster);
    wf_draw_strokes_text(at, text, lettering, draw_piece, &pen);
    paint(pen.raster, lettering->ink);
}

/* ---- the file: Portable Network Graphics (ISO/IEC 15948), 8 bits a colour ---- */

static void put_number(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        at[i] = (unsigned char)(value >> (24 - 8 * i));
    }
}

/* A chunk has a length, a type, data, and a checksum of type and data. */
static void put_chunk(FILE *out, const char *type, const unsigned char *data, size_t size)
{
    unsigned char head[8], tail[4];
    uLong crc = crc32(0, (const Bytef *)type, 4);

    if (size > 0) {
        crc = crc32(crc, data, (uInt)size);
    }
    put_number(head, (uint32_t)size);
    memcpy(head + 4, type, 4);
    put_number(tail, (uint32_t)crc);
    (void)fwrite(head, 1, sizeof(head), out);
    if (size > 0) {
        (void)fwrite(data, 1, size, out);
    }
    (void)fwrite(tail, 1, sizeof(tail), out);
}

/* Rows are stored unfiltered: drawings have few colours, and the differences between them
 * would be more values. */
static unsigned char *filter(const unsigned char *pixels, size_t row, size_t height)
{
    unsigned char *filtered = wf_xmalloc((row + 1) * height);

    for (size_t y = 0; y < height; y++) {
        filtered[y * (row + 1)] = FILTER_NONE;
        memcpy(&filtered[y * (row + 1) + 1], pixels + y * row, row);
    }
    return filtered;
}

static void write_file(const struct raster *raster)
{
    static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    /* 8 bits, true colour, deflate, adaptive filters, not interlaced. */
    unsigned char header[13] = {0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0};
    size_t width = (size_t)raster->width, height = (size_t)raster->height;
    size_t row = width * CHANNELS;
    FILE *out = raster->out;
    unsigned char *filtered = filter(raster->pixels, row, height);
    uLongf size = compressBound((uLong)((row + 1) * height));
    unsigned char *packed = wf_xmalloc(size);

    put_number(header, (uint32_t)width);
    put_number(header + 4, (uint32_t)height);
    /* This cannot fail: the buffer is large enough for the worst case. */
    (void)compress2(packed, &size, filtered, (uLong)((row + 1) * height), Z_BEST_COMPRESSION);
    (void)fwrite(signature, 1, sizeof(signature), out);
    put_chunk(out, "IHDR", header, sizeof(header));
    put_chunk(out, "IDAT", packed, size);
    put_chunk(out, "IEND", NULL, 0);
    free(packed);
    free(filtered);
}

static void png_finish(struct wf_draw_canvas *canvas)
{
    struct raster *raster = (struct raster *)canvas;

    write_file(raster);
    free(raster->pixels);
    free(raster->mask);
    free(raster);
}

static const struct wf_draw_canvas_ops png_ops = {
    .path = png_path,
    .area = png_area,
    .text = png_text,
    .finish = png_finish,
};

struct wf_draw_canvas *wf_draw_canvas_png_new(double width, double height, const char *title,
                                              FILE *out)
{
    struct raster *raster = wf_xcalloc(1, sizeof(*raster));
    struct wf_draw_xy corner = {0, 0}, opposite;
    size_t n;

    raster->canvas.ops = &png_ops;
    raster->out = out;
    raster->width = lround(width * SCALE);
    raster->height = lround(height * SCALE);
    n = (size_t)raster->width * (size_t)raster->height;
    raster->pixels = wf_xcalloc(n, CHANNELS);
    raster->mask = wf_xmalloc(n);
    memset(raster->mask, 0xff, n);
    opposite = (struct wf_draw_xy){(double)raster->width, (double)raster->height};
    begin(raster);
    (void)touch(raster, corner, opposite, 0);
    paint(raster, WF_DRAW_INK_PAPER);
    return &raster->canvas;
}
