/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/draw/strokes.h"

#include <math.h>

enum { CURVE_PIECES = 6 };

/* The paths of the characters from ' ' to '~': M moves the pen, L draws a line, Q draws a
 * curve by a control point to its end. Numbers are on the grid: x from the left edge, y from
 * the base line. */
static const char *const letters[] = {
    "M 5 0",
    "M 0 14 L 0 4 M 0 0 L 0 1",
    "M 0 14 L 0 10 M 4 14 L 4 10",
    "M 2 0 L 4 14 M 7 0 L 9 14 M 1 9 L 11 9 M 0 5 L 10 5",
    "M 8 11 Q 7 12 4 12 Q 0 12 0 10 Q 0 7 4 7 Q 8 7 8 4 Q 8 2 4 2 Q 1 2 0 3 M 4 14 L 4 0",
    ("M 1 0 L 11 14 M 3 8 Q 0 8 0 11 Q 0 14 3 14 Q 6 14 6 11 Q 6 8 3 8 "
     "M 9 0 Q 6 0 6 3 Q 6 6 9 6 Q 12 6 12 3 Q 12 0 9 0"),
    "M 10 0 L 2 10 Q 1 14 4 14 Q 7 14 7 11 Q 7 9 3 7 Q 0 6 0 3 Q 0 0 4 0 Q 8 0 9 6",
    "M 0 14 L 0 10",
    "M 3 16 Q 0 12 0 6 Q 0 0 3 -4",
    "M 0 16 Q 3 12 3 6 Q 3 0 0 -4",
    "M 3 14 L 3 8 M 0 13 L 6 9 M 6 13 L 0 9",
    "M 4 3 L 4 11 M 0 7 L 8 7",
    "M 1 1 L 0 -3",
    "M 0 6 L 5 6",
    "M 0 0 L 0 1",
    "M 0 -2 L 6 15",
    "M 4 0 Q 8 0 8 7 Q 8 14 4 14 Q 0 14 0 7 Q 0 0 4 0",
    "M 1 11 L 5 14 L 5 0 M 8 0",
    "M 0 11 Q 0 14 4 14 Q 8 14 8 10 Q 8 8 5 5 L 0 0 L 8 0",
    "M 0 12 Q 1 14 4 14 Q 8 14 8 11 Q 8 8 4 8 L 3 8 M 4 8 Q 8 8 8 4 Q 8 0 4 0 Q 1 0 0 2",
    "M 6 0 L 6 14 L 0 4 L 8 4",
    "M 7 14 L 1 14 L 0 8 Q 2 9 4 9 Q 8 9 8 5 Q 8 0 4 0 Q 1 0 0 2",
    "M 7 13 Q 6 14 4 14 Q 0 14 0 5 Q 0 0 4 0 Q 8 0 8 5 Q 8 9 4 9 Q 1 9 0 5",
    "M 0 14 L 8 14 L 3 0",
    ("M 4 8 Q 0 8 0 11 Q 0 14 4 14 Q 8 14 8 11 Q 8 8 4 8 Q 0 8 0 4 Q 0 0 4 0 Q 8 0 8 4 Q 8 8 4 "
     "8"),
    "M 1 1 Q 2 0 4 0 Q 8 0 8 9 Q 8 14 4 14 Q 0 14 0 9 Q 0 5 4 5 Q 7 5 8 9",
    "M 0 0 L 0 1 M 0 8 L 0 9",
    "M 1 8 L 1 9 M 1 1 L 0 -3",
    "M 8 11 L 0 7 L 8 3",
    "M 0 9 L 8 9 M 0 5 L 8 5",
    "M 0 11 L 8 7 L 0 3",
    "M 0 12 Q 1 14 3 14 Q 7 14 7 11 Q 7 9 5 8 Q 3 7 3 4 M 3 0 L 3 1",
    ("M 10 5 Q 9 4 7 4 Q 4 4 4 7 Q 4 10 7 10 Q 10 10 10 7 L 10 5 Q 11 4 12 4 Q 14 5 14 8 "
     "Q 13 14 7 14 Q 0 14 0 6 Q 0 -2 7 -2 Q 10 -2 12 -1"),
    "M 0 0 L 5 14 L 10 0 M 2 5 L 8 5",
    "M 4 8 Q 8 8 8 11 Q 8 14 4 14 L 0 14 L 0 0 L 4 0 Q 9 0 9 4 Q 9 8 4 8 L 0 8",
    "M 10 11 Q 9 14 6 14 Q 0 14 0 7 Q 0 0 6 0 Q 9 0 10 3",
    "M 0 0 L 0 14 L 4 14 Q 10 14 10 7 Q 10 0 4 0 L 0 0",
    "M 8 0 L 0 0 L 0 14 L 8 14 M 0 7 L 7 7",
    "M 0 0 L 0 14 L 8 14 M 0 7 L 7 7",
    "M 10 11 Q 9 14 6 14 Q 0 14 0 7 Q 0 0 6 0 Q 9 0 10 2 L 10 6 L 6 6",
    "M 0 0 L 0 14 M 9 0 L 9 14 M 0 7 L 9 7",
    "M 0 0 L 0 14",
    "M 5 14 L 5 4 Q 5 0 2 0 Q 0 0 0 2",
    "M 0 0 L 0 14 M 8 14 L 0 6 M 3 9 L 9 0",
    "M 0 14 L 0 0 L 7 0",
    "M 0 0 L 0 14 L 6 3 L 12 14 L 12 0",
    "M 0 0 L 0 14 L 9 0 L 9 14",
    "M 6 0 Q 12 0 12 7 Q 12 14 6 14 Q 0 14 0 7 Q 0 0 6 0",
    "M 0 0 L 0 14 L 5 14 Q 9 14 9 10 Q 9 6 5 6 L 0 6",
    "M 6 0 Q 12 0 12 7 Q 12 14 6 14 Q 0 14 0 7 Q 0 0 6 0 M 8 4 L 12 -1",
    "M 0 0 L 0 14 L 5 14 Q 9 14 9 10 Q 9 6 5 6 L 0 6 M 5 6 L 9 0",
    "M 8 12 Q 7 14 4 14 Q 0 14 0 11 Q 0 8 4 7 Q 9 6 9 3 Q 9 0 4 0 Q 1 0 0 3",
    "M 0 14 L 10 14 M 5 14 L 5 0",
    "M 0 14 L 0 5 Q 0 0 5 0 Q 10 0 10 5 L 10 14",
    "M 0 14 L 5 0 L 10 14",
    "M 0 14 L 3 0 L 7 13 L 11 0 L 14 14",
    "M 0 0 L 9 14 M 0 14 L 9 0",
    "M 0 14 L 5 7 L 10 14 M 5 7 L 5 0",
    "M 0 14 L 9 14 L 0 0 L 9 0",
    "M 3 16 L 0 16 L 0 -4 L 3 -4",
    "M 0 15 L 6 -2",
    "M 0 16 L 3 16 L 3 -4 L 0 -4",
    "M 0 9 L 4 14 L 8 9",
    "M 0 -3 L 9 -3",
    "M 0 14 L 3 11",
    "M 1 9 Q 2 10 4 10 Q 7 10 7 7 L 7 0 M 7 6 L 4 6 Q 0 6 0 3 Q 0 0 3 0 Q 6 0 7 3",
    "M 0 14 L 0 0 M 0 5 Q 0 10 4 10 Q 8 10 8 5 Q 8 0 4 0 Q 0 0 0 5",
    "M 7 8 Q 6 10 4 10 Q 0 10 0 5 Q 0 0 4 0 Q 6 0 7 2",
    "M 8 14 L 8 0 M 8 5 Q 8 10 4 10 Q 0 10 0 5 Q 0 0 4 0 Q 8 0 8 5",
    "M 0 5 L 8 5 Q 8 10 4 10 Q 0 10 0 5 Q 0 0 4 0 Q 7 0 8 2",
    "M 5 14 Q 2 14 2 11 L 2 0 M 0 10 L 5 10",
    "M 8 10 L 8 0 Q 8 -4 4 -4 Q 1 -4 0 -3 M 8 5 Q 8 10 4 10 Q 0 10 0 5 Q 0 0 4 0 Q 8 0 8 5",
    "M 0 14 L 0 0 M 0 6 Q 1 10 4 10 Q 7 10 7 6 L 7 0",
    "M 0 10 L 0 0 M 0 13 L 0 14",
    "M 2 10 L 2 -2 Q 2 -4 0 -4 M 2 13 L 2 14",
    "M 0 14 L 0 0 M 6 10 L 0 4 M 2 6 L 7 0",
    "M 0 14 L 0 0",
    "M 0 10 L 0 0 M 0 6 Q 0 10 3 10 Q 6 10 6 7 L 6 0 M 6 6 Q 6 10 9 10 Q 12 10 12 7 L 12 0",
    "M 0 10 L 0 0 M 0 6 Q 1 10 4 10 Q 7 10 7 6 L 7 0",
    "M 4 0 Q 8 0 8 5 Q 8 10 4 10 Q 0 10 0 5 Q 0 0 4 0",
    "M 0 10 L 0 -4 M 0 5 Q 0 10 4 10 Q 8 10 8 5 Q 8 0 4 0 Q 0 0 0 5",
    "M 8 10 L 8 -4 M 8 5 Q 8 10 4 10 Q 0 10 0 5 Q 0 0 4 0 Q 8 0 8 5",
    "M 0 10 L 0 0 M 0 6 Q 1 10 5 10",
    "M 6 8 Q 5 10 3 10 Q 0 10 0 8 Q 0 6 3 5 Q 7 4 7 2 Q 7 0 3 0 Q 1 0 0 2",
    "M 2 13 L 2 3 Q 2 0 5 0 M 0 10 L 5 10",
    "M 0 10 L 0 4 Q 0 0 3 0 Q 6 0 7 4 M 7 10 L 7 0",
    "M 0 10 L 4 0 L 8 10",
    "M 0 10 L 3 0 L 6 9 L 9 0 L 12 10",
    "M 0 0 L 7 10 M 0 10 L 7 0",
    "M 0 10 L 4 0 M 8 10 L 3 -3 Q 2 -4 0 -4",
    "M 0 10 L 7 10 L 0 0 L 7 0",
    "M 4 16 Q 2 16 2 12 Q 2 6 0 6 Q 2 6 2 0 Q 2 -4 4 -4",
    "M 0 16 L 0 -4",
    "M 0 16 Q 2 16 2 12 Q 2 6 4 6 Q 2 6 2 0 Q 2 -4 0 -4",
    "M 0 6 Q 1 9 4 7 Q 7 5 8 8",
};

static double read_number(const char **at)
{
    int sign = 1, value = 0;

    while (**at == ' ') {
        ++*at;
    }
    if (**at == '-') {
        sign = -1;
        ++*at;
    }
    for (; **at >= '0' && **at <= '9'; ++*at) {
        value = 10 * value + (**at - '0');
    }
    return sign * value;
}

static struct wf_draw_xy read_point(const char **at)
{
    double x = read_number(at);

    return (struct wf_draw_xy){x, read_number(at)};
}

static void draw_curve(const struct wf_draw_xy points[3], wf_draw_strokes_fn *fn, void *context)
{
    struct wf_draw_xy last = points[0];

    for (int i = 1; i <= CURVE_PIECES; i++) {
        double t = (double)i / CURVE_PIECES, u = 1 - t;
        struct wf_draw_xy next = {
            u * u * points[0].x + 2 * u * t * points[1].x + t * t * points[2].x,
            u * u * points[0].y + 2 * u * t * points[1].y + t * t * points[2].y,
        };
        fn(context, last, next);
        last = next;
    }
}

double wf_draw_strokes_letter(char letter, wf_draw_strokes_fn *fn, void *context)
{
    size_t number = (size_t)((unsigned char)letter - ' ');
    size_t known = sizeof(letters) / sizeof(letters[0]);
    struct wf_draw_xy pen = {0, 0};
    double width = 0;

    for (const char *at = letters[number < known ? number : '?' - ' ']; *at != '\0';) {
        char command = *at++;
        if (command == ' ') {
            continue;
        }
        struct wf_draw_xy points[3] = {pen, read_point(&at), {0, 0}};
        if (command == 'Q') {
            points[2] = read_point(&at);
        }
        pen = command == 'Q' ? points[2] : points[1];
        width = fmax(width, pen.x);
        if (fn != NULL && command == 'L') {
            fn(context, points[0], pen);
        } else if (fn != NULL && command == 'Q') {
            draw_curve(points, fn, context);
        }
    }
    return width;
}

/* ---- texts ---- */

/* The position and style of the next letter. */
struct pen {
    struct wf_draw_xy at; /* on the base line */
    double unit;          /* unit of the letters' grid */
    bool upwards;
    wf_draw_strokes_fn *fn;
    void *context;
};

static struct wf_draw_xy on_page(const struct pen *pen, struct wf_draw_xy point)
{
    double x = point.x * pen->unit, y = point.y * pen->unit;

    return pen->upwards ? (struct wf_draw_xy){pen->at.x - y, pen->at.y - x}
                        : (struct wf_draw_xy){pen->at.x + x, pen->at.y - y};
}

static void draw_piece(void *context, struct wf_draw_xy from, struct wf_draw_xy to)
{
    const struct pen *pen = context;

    pen->fn(pen->context, on_page(pen, from), on_page(pen, to));
}

/* The width of a text in units of the letters' grid. */
static double text_width(const char *text)
{
    double width = 0;

    for (const char *c = text; *c != '\0'; c++) {
        width +=
            wf_draw_strokes_letter(*c, NULL, NULL) + (c[1] != '\0' ? WF_DRAW_STROKES_GAP : 0);
    }
    return width;
}

void wf_draw_strokes_text(struct wf_draw_xy at, const char *text,
                          const struct wf_draw_lettering *lettering, wf_draw_strokes_fn *fn,
                          void *context)
{
    static const double before[] = {
        [WF_DRAW_ANCHOR_START] = 0, [WF_DRAW_ANCHOR_MIDDLE] = 0.5, [WF_DRAW_ANCHOR_END] = 1};
    struct pen pen = {.at = at,
                      .unit = lettering->size / WF_DRAW_STROKES_EM,
                      .upwards = lettering->upwards,
                      .fn = fn,
                      .context = context};
    double x = -text_width(text) * before[lettering->anchor];

    pen.at = on_page(&pen, (struct wf_draw_xy){x, 0});
    for (; *text != '\0'; text++) {
        double width = wf_draw_strokes_letter(*text, draw_piece, &pen);
        pen.at = on_page(&pen, (struct wf_draw_xy){width + WF_DRAW_STROKES_GAP, 0});
    }
}

double wf_draw_strokes_pen(const struct wf_draw_lettering *lettering)
{
    static const double PLAIN = 1.5, BOLD = 2.3; /* in units of the letters' grid */

    return (lettering->bold ? BOLD : PLAIN) * lettering->size / WF_DRAW_STROKES_EM;
}

double wf_draw_lettering_width(const char *text, double size)
{
    /* System fonts are up to a tenth wider than the strokes. */
    return 1.1 * size * text_width(text) / WF_DRAW_STROKES_EM;
}
