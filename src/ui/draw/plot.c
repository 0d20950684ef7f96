/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/draw/plot.h"

#include "base/extension.h"
#include "ui/draw/canvas.h"
#include "ui/draw/scale.h"

#include <math.h>
#include <string.h>

enum {
    PANEL_WIDTH = 480, /* the whole panel: labels, axes and curves */
    HEIGHT = 380,
    LEFT = 76,
    RIGHT = 22,
    TOP = 64,
    BOTTOM = 58,
    LEGEND_LINE = 22,
    CAP = 4, /* half of the width of an error bar's end */
    NAME_MAX_LENGTH = 64,
};

#define MARK 4.0 /* radius of a mark */

/* One hue for each series in a fixed order, lighter on a dark page. */
const uint32_t wf_draw_ink_light[WF_DRAW_INKS] = {
    0xfcfcfb, 0x0b0b0b, 0x52514e, 0xe4e3dd, 0xa3a298, 0x2a78d6, 0xeb6834,
    0x1baf7a, 0xc98500, 0xd6518a, 0x4a3aa7, 0x008300, 0xe34948,
};
const uint32_t wf_draw_ink_dark[WF_DRAW_INKS] = {
    0x1a1a19, 0xffffff, 0xc3c2b7, 0x2c2c2a, 0x5d5d58, 0x3987e5, 0xd95926,
    0x199e70, 0xc98500, 0xd55181, 0x9085e9, 0x2fa02f, 0xe66767,
};

/* Marks differ too, so that colour is never the only difference. Corners are clockwise. */
static const struct shape {
    size_t n;
    struct wf_draw_xy corners[4];
} shapes[] = {
    {1, {{0, 0}}},
    {4, {{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}}},
    {3, {{0, -1.2}, {1.1, 0.8}, {-1.1, 0.8}}},
    {4, {{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}}},
    {3, {{0, 1.2}, {-1.1, -0.8}, {1.1, -0.8}}},
    {3, {{1.2, 0}, {-0.8, 1.1}, {-0.8, -1.1}}},
    {3, {{-1.2, 0}, {0.8, -1.1}, {0.8, 1.1}}},
    {4, {{-0.6, -1.3}, {0.6, -1.3}, {0.6, 1.3}, {-0.6, 1.3}}},
};

/* A panel that is being drawn. */
struct view {
    struct wf_draw_canvas *canvas;
    const struct wf_draw_plot_panel *panel;
    struct wf_draw_scale x, y;
    double left, right, top, bottom; /* edges of the area between the axes */
};

static enum wf_draw_ink ink_of(size_t series)
{
    return (enum wf_draw_ink)(WF_DRAW_INK_SERIES + series % WF_DRAW_INK_N_SERIES);
}

static bool is_shown(const struct wf_draw_plot_panel *panel, const struct wf_draw_plot_point *p)
{
    return isfinite(p->x) && isfinite(p->y) && (!panel->x.log || p->x > 0) &&
           (!panel->y.log || p->y > 0);
}

/* ---- what there is to see ---- */

struct range {
    double low, high;
};

static void widen(struct range *range, double value)
{
    range->low = fmin(range->low, value);
    range->high = fmax(range->high, value);
}

/* The lower end of an error bar, which may not exist on a logarithmic axis. */
static double bar_low(const struct wf_draw_plot_panel *panel,
                      const struct wf_draw_plot_point *p)
{
    return panel->y.log && p->y <= p->below ? p->y : p->y - p->below;
}

static void fit(struct wf_draw_scale *scale, const struct wf_draw_plot_axis *axis,
                const struct range *range)
{
    bool log = axis->log;

    if (range->low > range->high) {
        wf_draw_scale_fit(scale, log, 1, 10); /* nothing to show */
    } else if (axis->bytes) {
        wf_draw_scale_fit_bytes(scale, log, range->low, range->high);
    } else {
        wf_draw_scale_fit(scale, log, log ? range->low : fmin(0, range->low), range->high);
    }
}

static void fit_view(struct view *view)
{
    const struct wf_draw_plot_panel *panel = view->panel;
    struct range x = {HUGE_VAL, -HUGE_VAL}, y = x;

    for (size_t i = 0; i < panel->n; i++) {
        for (size_t j = 0; j < panel->series[i].n; j++) {
            const struct wf_draw_plot_point *p = &panel->series[i].points[j];
            if (is_shown(panel, p)) {
                widen(&x, p->x);
                widen(&y, bar_low(panel, p));
                widen(&y, p->y + p->above);
            }
        }
    }
    if (panel->x.names != NULL) {
        view->x = (struct wf_draw_scale){.low = 0.5, .high = (double)panel->x.n_names + 0.5};
    } else {
        fit(&view->x, &panel->x, &x);
    }
    fit(&view->y, &panel->y, &y);
}

/* ---- drawing ---- */

static double x_of(const struct view *view, double x)
{
    return view->left + wf_draw_scale_place(&view->x, x) * (view->right - view->left);
}

static double y_of(const struct view *view, double y)
{
    return view->bottom - wf_draw_scale_place(&view->y, y) * (view->bottom - view->top);
}

static void draw_line(struct wf_draw_canvas *canvas, struct wf_draw_xy a, struct wf_draw_xy b,
                      enum wf_draw_ink ink, double width)
{
    canvas->ops->path(canvas, (const struct wf_draw_xy[]){a, b}, 2, ink, width);
}

static void draw_mark(struct wf_draw_canvas *canvas, struct wf_draw_xy at, size_t series,
                      bool hollow)
{
    const struct shape *shape = &shapes[series % (sizeof(shapes) / sizeof(shapes[0]))];
    enum wf_draw_ink ink = ink_of(series);
    const enum wf_draw_ink inks[2] = {hollow ? WF_DRAW_INK_PAPER : ink,
                                      hollow ? ink : WF_DRAW_INK_PAPER};
    struct wf_draw_xy corners[4];

    for (size_t i = 0; i < shape->n; i++) {
        corners[i] = (struct wf_draw_xy){at.x + MARK * shape->corners[i].x,
                                         at.y + MARK * shape->corners[i].y};
    }
    canvas->ops->area(canvas, corners, shape->n, MARK, inks);
}

/* "250", "0.05", "2 M": no exponents. */
static void format_tick(const struct wf_draw_plot_axis *axis, double value, char text[32])
{
    static const char *const sizes[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    static const struct {
        double least;
        const char *name;
    } units[] = {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}};

    if (axis->bytes) {
        int power = value >= 1024 ? (int)fmin(log2(value) / 10, 5) : 0;
        (void)snprintf(text, 32, "%.4g %s", value / exp2(10 * power), sizes[power]);
        return;
    }
    if (axis->log && axis->picoseconds > 0) {
        static const char *const times[] = {"ps", "ns", "us", "ms", "s"};
        double ps = value * axis->picoseconds;
        int power = (int)fmin(fmax(floor(log10(ps) / 3 + 1e-9), 0), 4);
        (void)snprintf(text, 32, "%.4g %s", ps / pow(1000, power), times[power]);
        return;
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (fabs(value) >= units[i].least) {
            (void)snprintf(text, 32, "%.6g %s", value / units[i].least, units[i].name);
            return;
        }
    }
    (void)snprintf(text, 32, fabs(value) < 1e-4 && value != 0 ? "%.6f" : "%.7g", value);
}

static double slot_width(const struct view *view)
{
    return (view->right - view->left) / (double)view->panel->x.n_names;
}

/* The names of categories: in two rows if they are long, and cut if they are too long for that. */
static void draw_names(const struct view *view)
{
    const struct wf_draw_plot_axis *axis = &view->panel->x;
    double longest = 0, slot = slot_width(view);

    for (size_t i = 0; i < axis->n_names; i++) {
        longest = fmax(longest, wf_draw_lettering_width(axis->names[i], 12));
    }
    bool rows = longest > slot - 6;
    for (size_t i = 0; i < axis->n_names; i++) {
        char text[NAME_MAX_LENGTH];
        (void)snprintf(text, sizeof(text), "%s", axis->names[i]);
        for (size_t n = strlen(text);
             n > 3 && wf_draw_lettering_width(text, 12) > slot * (rows ? 2 : 1) - 6; n--) {
            memcpy(&text[n - 3], "..", 3);
        }
        const struct wf_draw_xy at = {x_of(view, (double)i + 1),
                                      view->bottom + (rows && i % 2 == 1 ? 32 : 18)};
        view->canvas->ops->text(view->canvas, at, text,
                                &(struct wf_draw_lettering){.size = 12,
                                                            .anchor = WF_DRAW_ANCHOR_MIDDLE,
                                                            .ink = WF_DRAW_INK_SOFT});
    }
}

static void draw_ticks(const struct view *view)
{
    struct wf_draw_canvas *canvas = view->canvas;
    char text[32];

    for (size_t i = 0; i < view->y.n; i++) {
        double y = y_of(view, view->y.ticks[i]);
        draw_line(canvas, (struct wf_draw_xy){view->left, y},
                  (struct wf_draw_xy){view->right, y}, WF_DRAW_INK_GRID, 1);
        format_tick(&view->panel->y, view->y.ticks[i], text);
        canvas->ops->text(canvas, (struct wf_draw_xy){view->left - 8, y + 4}, text,
                          &(struct wf_draw_lettering){.size = 12,
                                                      .anchor = WF_DRAW_ANCHOR_END,
                                                      .ink = WF_DRAW_INK_SOFT});
    }
    for (size_t i = 0; i < view->x.n; i++) {
        double x = x_of(view, view->x.ticks[i]);
        draw_line(canvas, (struct wf_draw_xy){x, view->bottom},
                  (struct wf_draw_xy){x, view->bottom + 5}, WF_DRAW_INK_AXIS, 1);
        format_tick(&view->panel->x, view->x.ticks[i], text);
        canvas->ops->text(canvas, (struct wf_draw_xy){x, view->bottom + 19}, text,
                          &(struct wf_draw_lettering){.size = 12,
                                                      .anchor = WF_DRAW_ANCHOR_MIDDLE,
                                                      .ink = WF_DRAW_INK_SOFT});
    }
}

static void draw_axes(const struct view *view)
{
    struct wf_draw_canvas *canvas = view->canvas;
    struct wf_draw_lettering label = {
        .size = 13, .anchor = WF_DRAW_ANCHOR_MIDDLE, .ink = WF_DRAW_INK_SOFT};

    draw_ticks(view);
    if (view->panel->x.names != NULL) {
        draw_names(view);
    }
    draw_line(canvas, (struct wf_draw_xy){view->left, view->bottom},
              (struct wf_draw_xy){view->right, view->bottom}, WF_DRAW_INK_AXIS, 1);
    canvas->ops->text(canvas,
                      (struct wf_draw_xy){(view->left + view->right) / 2, view->bottom + 48},
                      view->panel->x.label, &label);
    label.upwards = true;
    canvas->ops->text(
        canvas, (struct wf_draw_xy){view->left - LEFT + 18, (view->top + view->bottom) / 2},
        view->panel->y.label, &label);
}

static void draw_error(const struct view *view, const struct wf_draw_plot_point *p, double x,
                       enum wf_draw_ink ink)
{
    double low = y_of(view, bar_low(view->panel, p)), high = y_of(view, p->y + p->above);
    struct wf_draw_canvas *canvas = view->canvas;

    if (!(p->below > 0 || p->above > 0)) {
        return;
    }
    draw_line(canvas, (struct wf_draw_xy){x, low}, (struct wf_draw_xy){x, high}, ink, 1.2);
    draw_line(canvas, (struct wf_draw_xy){x - CAP, low}, (struct wf_draw_xy){x + CAP, low}, ink,
              1.2);
    draw_line(canvas, (struct wf_draw_xy){x - CAP, high}, (struct wf_draw_xy){x + CAP, high},
              ink, 1.2);
}

/* A bar in the colour of a series, by its edges: left, top, right, bottom. */
static void draw_bar(struct wf_draw_canvas *canvas, const double at[4], size_t series)
{
    const enum wf_draw_ink inks[2] = {ink_of(series), WF_DRAW_INK_PAPER};
    const struct wf_draw_xy corners[] = {
        {at[0], at[1]}, {at[2], at[1]}, {at[2], at[3]}, {at[0], at[3]}};

    canvas->ops->area(canvas, corners, 4, MARK, inks);
}

/* Bars of a series beside those of the others of its category, with their error bars. */
static void draw_bars(const struct view *view, size_t number)
{
    const struct wf_draw_plot_series *series = &view->panel->series[number];
    double slot = slot_width(view), wide = 0.8 * slot / (double)view->panel->n;

    for (size_t i = 0; i < series->n; i++) {
        const struct wf_draw_plot_point *p = &series->points[i];
        double left = x_of(view, p->x) - 0.4 * slot + wide * (double)number;
        if (!is_shown(view->panel, p)) {
            continue;
        }
        draw_bar(view->canvas,
                 (const double[]){left, y_of(view, p->y), left + wide, view->bottom}, number);
        draw_error(view, p, left + wide / 2, WF_DRAW_INK_STRONG);
    }
}

/* Lines and bars are drawn before marks, so that marks lie on top. Each two neighbouring
 * points are joined; a point that is not shown leaves a gap. */
static void draw_series(const struct view *view, size_t number)
{
    const struct wf_draw_plot_series *series = &view->panel->series[number];
    struct wf_draw_canvas *canvas = view->canvas;
    struct wf_draw_xy last = {0, 0};
    bool joined = false;

    for (int marks = 0; marks < 2; marks++) {
        for (size_t i = 0; i < series->n; i++) {
            const struct wf_draw_plot_point *p = &series->points[i];
            if (!is_shown(view->panel, p)) {
                joined = false;
                continue;
            }
            struct wf_draw_xy at = {x_of(view, p->x), y_of(view, p->y)};
            if (marks) {
                draw_mark(canvas, at, number, p->hollow);
                continue;
            }
            if (joined) {
                draw_line(canvas, last, at, ink_of(number), 2);
            }
            draw_error(view, p, at.x, ink_of(number));
            last = at;
            joined = true;
        }
    }
}

/* ---- the page ---- */

static const struct wf_draw_plot_panel *legend_of(const struct wf_draw_plot *plot)
{
    const struct wf_draw_plot_panel *most = &plot->panels[0];

    for (size_t i = 1; i < plot->n; i++) {
        most = plot->panels[i].n > most->n ? &plot->panels[i] : most;
    }
    return most;
}

static double legend_width(const struct wf_draw_plot *plot)
{
    const struct wf_draw_plot_panel *panel = legend_of(plot);
    double width = 0;

    if (panel->n > 1 && plot->legend != NULL) {
        width = 14 + wf_draw_lettering_width(plot->legend, 13);
    }
    for (size_t i = 0; panel->n > 1 && i < panel->n; i++) {
        width = fmax(width, 48 + wf_draw_lettering_width(panel->series[i].name, 13));
    }
    return ceil(width);
}

static void draw_legend(struct wf_draw_canvas *canvas, const struct wf_draw_plot *plot,
                        double x)
{
    const struct wf_draw_plot_panel *panel = legend_of(plot);
    double y = TOP + 8;

    if (panel->n > 1 && plot->legend != NULL) {
        canvas->ops->text(canvas, (struct wf_draw_xy){x, y + 4.5}, plot->legend,
                          &(struct wf_draw_lettering){.size = 13, .ink = WF_DRAW_INK_SOFT});
        y += LEGEND_LINE;
    }
    for (size_t i = 0; panel->n > 1 && i < panel->n; i++) {
        if (panel->x.names != NULL) {
            draw_bar(canvas, (const double[]){x + 6, y - 6, x + 20, y + 6}, i);
        } else {
            draw_line(canvas, (struct wf_draw_xy){x, y}, (struct wf_draw_xy){x + 26, y},
                      ink_of(i), 2);
            draw_mark(canvas, (struct wf_draw_xy){x + 13, y}, i, false);
        }
        canvas->ops->text(canvas, (struct wf_draw_xy){x + 34, y + 4.5}, panel->series[i].name,
                          &(struct wf_draw_lettering){.size = 13, .ink = WF_DRAW_INK_STRONG});
        y += LEGEND_LINE;
    }
}

static void draw_plot(const struct wf_draw_plot *plot, struct wf_draw_canvas *canvas)
{
    canvas->ops->text(
        canvas, (struct wf_draw_xy){18, 27}, plot->title,
        &(struct wf_draw_lettering){.size = 16, .ink = WF_DRAW_INK_STRONG, .bold = true});
    canvas->ops->text(canvas, (struct wf_draw_xy){18, 47}, plot->subtitle,
                      &(struct wf_draw_lettering){.size = 13, .ink = WF_DRAW_INK_SOFT});
    for (size_t i = 0; i < plot->n; i++) {
        double start = PANEL_WIDTH * (double)i;
        struct view view = {
            .canvas = canvas,
            .panel = &plot->panels[i],
            .left = start + LEFT,
            .right = start + PANEL_WIDTH - RIGHT,
            .top = TOP,
            .bottom = HEIGHT - BOTTOM,
        };
        fit_view(&view);
        draw_axes(&view);
        for (size_t j = 0; j < view.panel->n; j++) {
            (view.panel->x.names != NULL ? draw_bars : draw_series)(&view, j);
        }
        draw_line(canvas, (struct wf_draw_xy){view.left, view.bottom},
                  (struct wf_draw_xy){view.right, view.bottom}, WF_DRAW_INK_AXIS, 1);
    }
    draw_legend(canvas, plot, PANEL_WIDTH * (double)plot->n);
    canvas->ops->finish(canvas);
}

/* The page is wide enough for the panels, their legend and the text above. */
static double plot_width(const struct wf_draw_plot *plot)
{
    double panels = PANEL_WIDTH * (double)plot->n + legend_width(plot);
    double words = fmax(1.1 * wf_draw_lettering_width(plot->title, 16),
                        wf_draw_lettering_width(plot->subtitle, 13));

    return ceil(fmax(panels, words + 36));
}

static const struct wf_draw_plot_format formats[] = {
    {".svg", wf_draw_canvas_svg_new},
    {".png", wf_draw_canvas_png_new},
    {".pdf", wf_draw_canvas_pdf_new},
};

enum { N_FORMATS = sizeof(formats) / sizeof(formats[0]) };

void wf_draw_plot(const struct wf_draw_plot *plot, const struct wf_draw_plot_format *format,
                  FILE *out)
{
    draw_plot(plot, format->canvas(plot_width(plot), HEIGHT, plot->title, out));
}

const char *wf_draw_plot_extension(size_t i)
{
    return i < N_FORMATS ? formats[i].extension : NULL;
}

const struct wf_draw_plot_format *wf_draw_plot_for_path(const char *path)
{
    for (size_t i = 0; i < N_FORMATS; i++) {
        if (wf_extension_is(path, formats[i].extension)) {
            return &formats[i];
        }
    }
    return NULL;
}
