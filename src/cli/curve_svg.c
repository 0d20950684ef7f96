/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/curve.h"

#include <math.h>

/* Two panels side by side. */
enum {
    WIDTH = 420,
    HEIGHT = 320,
    LEFT = 60,
    RIGHT = 15,
    TOP = 40,
    BOTTOM = 45,
    TICKS = 5,
};

/* A panel: where it is and what its axes span, both from 0. */
struct panel {
    double x0;
    double x_max, y_max;
    const char *y_label;
};

static double x_of(const struct panel *panel, double x)
{
    return panel->x0 + LEFT + x / panel->x_max * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct panel *panel, double y)
{
    return HEIGHT - BOTTOM - y / panel->y_max * (HEIGHT - TOP - BOTTOM);
}

/* The next round number: 1, 2 or 5 times a power of ten, for one of the ticks. */
static double round_up(double top)
{
    static const double steps[] = {1, 2, 5, 10};
    double step = top > 0 ? top / TICKS : 1, power = pow(10, floor(log10(step)));

    for (int i = 0; i < 4; i++) {
        if (step <= steps[i] * power * (1 + 1e-9)) {
            return steps[i] * power * TICKS;
        }
    }
    return 10 * power * TICKS;
}

static void draw_axes(const struct panel *panel, FILE *out)
{
    for (int i = 0; i <= TICKS; i++) {
        double x = panel->x_max * i / TICKS, y = panel->y_max * i / TICKS;
        (void)fprintf(out,
                      "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' class='grid'/>\n"
                      "<text x='%.1f' y='%.1f' text-anchor='end'>%g</text>\n"
                      "<text x='%.1f' y='%.1f' text-anchor='middle'>%g</text>\n",
                      x_of(panel, 0), y_of(panel, y), x_of(panel, panel->x_max), y_of(panel, y),
                      x_of(panel, 0) - 6, y_of(panel, y) + 4, y, x_of(panel, x),
                      HEIGHT - BOTTOM + 16.0, x);
    }
    (void)fprintf(out,
                  "<text x='%.1f' y='%d' text-anchor='middle'>offered load, phits per node and "
                  "cycle</text>\n<text x='%.1f' y='%d'>%s</text>\n",
                  x_of(panel, panel->x_max / 2), HEIGHT - 10, x_of(panel, 0), TOP - 10,
                  panel->y_label);
}

static void draw_line(const struct panel *panel, const struct wf_curve *curve, bool latency,
                      FILE *out)
{
    (void)fputs("<polyline class='curve' points='", out);
    for (size_t i = 0; i < curve->n; i++) {
        const struct wf_curve_point *p = &curve->points[i];
        (void)fprintf(out, "%.1f,%.1f ", x_of(panel, p->load),
                      y_of(panel, latency ? p->latency : p->accepted));
    }
    (void)fputs("'/>\n", out);
    for (size_t i = 0; i < curve->n; i++) {
        const struct wf_curve_point *p = &curve->points[i];
        (void)fprintf(out, "<circle cx='%.1f' cy='%.1f' r='3' class='%s'/>\n",
                      x_of(panel, p->load), y_of(panel, latency ? p->latency : p->accepted),
                      p->saturated ? "saturated" : "point");
    }
}

static void print_escaped(const char *text, FILE *out)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<':
            (void)fputs("&lt;", out);
            break;
        case '&':
            (void)fputs("&amp;", out);
            break;
        default:
            (void)fputc(*text, out);
            break;
        }
    }
}

void wf_curve_svg(const struct wf_curve *curve, FILE *out)
{
    double load = 0, latency = 0, accepted = 0;

    for (size_t i = 0; i < curve->n; i++) {
        const struct wf_curve_point *p = &curve->points[i];
        load = fmax(load, p->load);
        latency = fmax(latency, p->latency);
        accepted = fmax(accepted, p->accepted);
    }
    const struct panel left = {0, round_up(load), round_up(latency), "latency, cycles"};
    const struct panel right = {WIDTH, round_up(load), round_up(accepted),
                                "accepted load, phits per node and cycle"};

    (void)fprintf(out,
                  "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d'>\n"
                  "<style>text{font:11px sans-serif}.grid{stroke:#ddd}"
                  ".curve{fill:none;stroke:#1f5fa8;stroke-width:1.5}.point{fill:#1f5fa8}"
                  ".saturated{fill:#fff;stroke:#1f5fa8}</style>\n"
                  "<rect width='100%%' height='100%%' fill='#fff'/>\n<text x='%d' y='16'>",
                  2 * WIDTH, HEIGHT, LEFT);
    print_escaped(curve->title, out);
    (void)fputs("</text>\n", out);
    draw_axes(&left, out);
    draw_line(&left, curve, true, out);
    draw_axes(&right, out);
    draw_line(&right, curve, false, out);
    (void)fputs("</svg>\n", out);
}
