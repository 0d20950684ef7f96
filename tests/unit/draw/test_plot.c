/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/draw/canvas.h"
#include "ui/draw/plot.h"
#include "ui/draw/scale.h"
#include "ui/draw/strokes.h"

#include "base/rng.h"
#include "harness/wf_test.h"

#include <math.h>
#include <zlib.h>

/* ---- scales ---- */

/* Whether a tick is a small whole number times a power of ten, beyond rounding. */
static bool is_round(double tick, double step)
{
    double part = tick / step;

    return fabs(part - round(part)) < 1e-6;
}

static void check_scale(bool log, double low, double high)
{
    struct wf_draw_scale scale;
    /* Beyond rounding: values near one end do not count beside a large other one. */
    double below = 1e-8 * (log ? low : high - low), above = 1e-8 * (high - low);

    wf_draw_scale_fit(&scale, log, low, high);
    CHECK(scale.n >= 2 && scale.n <= WF_DRAW_SCALE_TICKS_MAX);
    CHECK(scale.low <= low + below && scale.high >= high - above);
    CHECK(wf_draw_scale_place(&scale, scale.low) == 0);
    CHECK(fabs(wf_draw_scale_place(&scale, scale.high) - 1) < 1e-12);
    CHECK(wf_draw_scale_place(&scale, low) > -1e-6 &&
          wf_draw_scale_place(&scale, high) < 1 + 1e-6);
    for (size_t i = 1; i < scale.n; i++) {
        CHECK(scale.ticks[i] > scale.ticks[i - 1]);
        double step = log ? pow(10, floor(log10(scale.ticks[i]) + 1e-9))
                          : scale.ticks[1] - scale.ticks[0];
        CHECK(is_round(scale.ticks[i], step));
    }
    /* No more than one step is empty at each end. */
    CHECK(high >= scale.ticks[scale.n - 2] || scale.n == 2);
    CHECK(low <= scale.ticks[1] * (1 + 1e-9) || scale.n == 2);
}

static void scales_fit(void)
{
    for (uint64_t i = 0; i < 2000 && !wf_test_failed; i++) {
        double a = pow(10, (double)wf_rng_below(wf_rng_draw(1, i, 0), 1200) / 100 - 6);
        double b = a * pow(10, (double)wf_rng_below(wf_rng_draw(1, i, 1), 1800) / 100);
        check_scale(false, 0, b);
        check_scale(false, -a, b);
        check_scale(true, a, b);
    }
    check_scale(false, 0, 0);
    check_scale(true, 1, 1);
    check_scale(true, 1e-300, 1e300);
}

/* ---- letters ---- */

struct extent {
    double left, right, bottom, top, sum;
};

static void extend(void *context, struct wf_draw_xy from, struct wf_draw_xy to)
{
    struct extent *e = context;

    e->left = fmin(e->left, fmin(from.x, to.x));
    e->right = fmax(e->right, fmax(from.x, to.x));
    e->bottom = fmin(e->bottom, fmin(from.y, to.y));
    e->top = fmax(e->top, fmax(from.y, to.y));
    e->sum = 3 * e->sum + from.x + 7 * from.y + 31 * to.x + 101 * to.y;
}

static void letters_stay_in_their_place_and_differ(void)
{
    double sums[128];

    for (int c = ' ' + 1; c <= '~'; c++) {
        struct extent e = {99, -99, 99, -99, 0};
        double width = wf_draw_strokes_letter((char)c, extend, &e);

        CHECK(e.left >= 0 && e.right <= width);
        CHECK(e.bottom >= -4 && e.top <= 16 && e.top > e.bottom - 1);
        CHECK(wf_draw_strokes_letter((char)c, NULL, NULL) == width);
        for (int other = ' ' + 1; other < c; other++) {
            CHECK(sums[other] != e.sum);
        }
        sums[c] = e.sum;
    }
    struct extent e = {99, -99, 99, -99, 0};
    (void)wf_draw_strokes_letter('\x80', extend, &e);
    CHECK(e.sum == sums['?']);
    CHECK(wf_draw_strokes_letter(' ', extend, &e) > 0 &&
          wf_draw_strokes_letter('\n', NULL, NULL) > 0);
}

/* ---- plots ---- */

static const struct wf_draw_plot_point some[] = {{1, 10, 2, 2, false},
                                                 {2, 20, 0, 0, false},
                                                 {3, 15, 4, 3, true},
                                                 {4, (double)NAN, 0, 0, false},
                                                 {5, -1, 0, 0, false}};
static const struct wf_draw_plot_series two[] = {{"one & <two>", some, 5}, {"other", some, 3}};
static const struct wf_draw_plot_panel panels[] = {
    {{.label = "x"}, {.label = "y"}, two, 2},
    {{.label = "x", .log = true}, {.label = "y", .log = true}, two, 1},
    {{.label = "x"}, {.label = "y"}, two, 0},
};

struct file {
    char *bytes; /* to be freed */
    size_t size;
};

static void write_plot(const char *path, struct file *file)
{
    const struct wf_draw_plot plot = {"A <title>", "sub", "legend", panels, 3};
    FILE *out = open_memstream(&file->bytes, &file->size);

    wf_draw_plot(&plot, wf_draw_plot_for_path(path), out);
    (void)fclose(out);
}

static unsigned count(const char *text, const char *what)
{
    unsigned n = 0;

    for (const char *p = strstr(text, what); p != NULL; p = strstr(p + 1, what)) {
        n++;
    }
    return n;
}

static void svg_has_everything(void)
{
    struct file first = {NULL, 0}, again = {NULL, 0};

    write_plot("a.svg", &first);
    write_plot("a.svg", &again);
    const char *svg = first.bytes;
    CHECK_STR(svg, again.bytes);
    /* Marks: 4 and 3 points that can be shown, 3 on the logarithmic panel, 2 in the legend. The
     * first series has discs, the second squares. */
    CHECK_U64(count(svg, "<circle"), 4 + 3 + 1);
    CHECK_U64(count(svg, "<polygon"), 3 + 1);
    CHECK_U64(count(svg, "<circle") - count(svg, "style=\"fill:var(--series0)"), 2);
    /* Error bars of three pieces each: two points of each series on each panel. */
    CHECK_U64(count(svg, "stroke-width:1.2"), 3 * 2 * 3);
    CHECK_U64(count(svg, "one &amp; &lt;two&gt;"), 1);
    CHECK_U64(count(svg, "A &lt;title&gt;"), 2);
    CHECK_U64(count(svg, "nan"), 0);
    CHECK_U64(count(svg, "inf"), 0);
    free(first.bytes);
    free(again.bytes);
}

/* ---- PNG, read by hand ---- */

static uint32_t number_at(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* The checksum as the standard defines it, bit by bit. */
static uint32_t crc_of(const unsigned char *p, size_t n)
{
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc & 1) != 0 ? crc >> 1 ^ UINT32_C(0xedb88320) : crc >> 1;
        }
    }
    return ~crc;
}

struct image {
    uint32_t width, height;
    unsigned char *pixels; /* rows of a filter byte and 3 bytes each */
};

/* False if it is no PNG of the kind that is written here. */
static bool read_png(const unsigned char *png, size_t size, struct image *image)
{
    static const char *const order[] = {"IHDR", "IDAT", "IEND"};
    size_t at = 8;

    if (size < 8 || memcmp(png, "\x89PNG\r\n\x1a\n", 8) != 0) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        uint32_t length = at + 12 <= size ? number_at(png + at) : UINT32_MAX;
        if (length > size - at - 12 || memcmp(png + at + 4, order[i], 4) != 0 ||
            crc_of(png + at + 4, length + 4) != number_at(png + at + 8 + length)) {
            return false;
        }
        if (i == 0) {
            image->width = number_at(png + at + 8);
            image->height = number_at(png + at + 12);
        } else if (i == 1) {
            uLongf room = (3 * (uLongf)image->width + 1) * image->height, expected = room;
            image->pixels = malloc(room);
            if (uncompress(image->pixels, &room, png + at + 8, length) != Z_OK ||
                room != expected) {
                return false;
            }
        }
        at += 12 + (size_t)length;
    }
    return at == size;
}

/* How many pixels have the colour, if no row has a filter. */
static uint64_t count_pixels(const struct image *image, uint32_t colour)
{
    size_t row = 3 * (size_t)image->width + 1;
    uint64_t n = 0;

    for (uint32_t y = 0; y < image->height; y++) {
        const unsigned char *line = image->pixels + y * row;
        for (size_t x = 1; line[0] == 0 && x < row; x += 3) {
            n += ((uint32_t)line[x] << 16 | (uint32_t)line[x + 1] << 8 | line[x + 2]) == colour;
        }
    }
    return n;
}

static void png_shows_what_it_should(void)
{
    struct file first = {NULL, 0}, again = {NULL, 0};
    struct image image = {0, 0, NULL};

    write_plot("a.png", &first);
    write_plot("a.png", &again);
    CHECK(first.size == again.size && memcmp(first.bytes, again.bytes, first.size) == 0);
    CHECK(read_png((unsigned char *)first.bytes, first.size, &image));
    CHECK(image.width > 3 * 480 * 2 && image.height == 380 * 2);
    uint64_t all = (uint64_t)image.width * image.height;
    uint64_t paper = count_pixels(&image, wf_draw_ink_light[WF_DRAW_INK_PAPER]);
    CHECK(paper > all * 9 / 10 && paper < all);
    /* A disc of radius 4 has some 150 pixels inside its edge; 6 are filled, with lines. */
    CHECK(count_pixels(&image, wf_draw_ink_light[WF_DRAW_INK_SERIES]) > 6 * 100);
    CHECK(count_pixels(&image, wf_draw_ink_light[WF_DRAW_INK_SERIES + 1]) > 3 * 100);
    CHECK_U64(count_pixels(&image, wf_draw_ink_light[WF_DRAW_INK_SERIES + 2]), 0);
    CHECK(count_pixels(&image, wf_draw_ink_light[WF_DRAW_INK_STRONG]) > 100); /* the title */
    free(image.pixels);
    free(first.bytes);
    free(again.bytes);
}

/* The table of the file says where each object begins; the drawing is packed and ends with what was
 * drawn last. */
static void pdf_is_whole(void)
{
    enum { CONTENT_MAX = 1 << 20 };
    struct file file = {NULL, 0}, again = {NULL, 0};
    static unsigned char content[CONTENT_MAX];
    uLongf size = sizeof(content) - 1;

    write_plot("a.pdf", &file);
    write_plot("a.pdf", &again);
    CHECK(file.size == again.size && memcmp(file.bytes, again.bytes, file.size) == 0);
    CHECK(memcmp(file.bytes, "%PDF-1.4\n", 9) == 0);
    CHECK(memcmp(file.bytes + file.size - 6, "%%EOF\n", 6) == 0);
    size_t at = file.size - 10;
    while (memcmp(file.bytes + at, "startxref\n", 10) != 0) {
        at--;
    }
    const char *table = file.bytes + strtoul(file.bytes + at + 10, NULL, 10);
    CHECK(memcmp(table, "xref\n0 5\n", 9) == 0);
    for (unsigned long i = 1; i < 5; i++) {
        const char *object = file.bytes + strtoul(table + 9 + 20 * i, NULL, 10);
        CHECK_U64(strtoul(object, NULL, 10), i);
        CHECK(memcmp(object + 1, " 0 obj\n", 7) == 0);
    }
    const char *stream = strstr(file.bytes + strtoul(table + 9 + 20 * 4, NULL, 10), "Length ");
    const char *packed = strstr(stream, "stream\n") + 7;
    CHECK(uncompress(content, &size, (const Bytef *)packed, strtoul(stream + 7, NULL, 10)) ==
          Z_OK);
    content[size] = '\0';
    CHECK(strcmp((const char *)content + size - 2, "S\n") == 0);
    CHECK(strstr((const char *)content, "nan") == NULL);
    CHECK_U64(count((const char *)content, " c\n"), 4 * (4 + 3 + 1)); /* discs of a series */
    free(file.bytes);
    free(again.bytes);
}

static void names_choose_formats(void)
{
    CHECK_STR(wf_draw_plot_for_path("a/b.svg")->extension, ".svg");
    CHECK_STR(wf_draw_plot_for_path("b.png")->extension, ".png");
    CHECK_STR(wf_draw_plot_for_path("b.pdf")->extension, ".pdf");
    CHECK(wf_draw_plot_for_path(".png") == NULL);
    CHECK(wf_draw_plot_for_path("b.eps") == NULL);
}

int main(void)
{
    RUN(scales_fit);
    RUN(letters_stay_in_their_place_and_differ);
    RUN(svg_has_everything);
    RUN(png_shows_what_it_should);
    RUN(pdf_is_whole);
    RUN(names_choose_formats);
    return wf_test_done();
}
