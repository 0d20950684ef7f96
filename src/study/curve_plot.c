/* SPDX-License-Identifier: Apache-2.0 */
#include "study/curve.h"

#include "base/mem.h"
#include "draw/plot.h"

#include <stdlib.h>

static void draw(const struct wf_curve *curve, const struct wf_plot_format *format, FILE *out)
{
    static const char x_label[] = "offered load, phits per node and cycle";
    struct wf_plot_point *points = wf_xcalloc(2 * curve->n, sizeof(*points));
    struct wf_plot_point *latency = points, *accepted = points + curve->n;

    for (size_t i = 0; i < curve->n; i++) {
        const struct wf_curve_point *p = &curve->points[i];
        latency[i] = (struct wf_plot_point){p->load, p->latency, p->half_width, p->saturated};
        accepted[i] = (struct wf_plot_point){p->load, p->accepted, 0, p->saturated};
    }
    const struct wf_plot_series series[] = {{"latency", latency, curve->n},
                                            {"accepted load", accepted, curve->n}};
    const struct wf_plot_panel panels[] = {
        {{x_label, false}, {"latency, cycles", false}, &series[0], 1},
        {{x_label, false}, {"accepted load, phits per node and cycle", false}, &series[1], 1},
    };
    const struct wf_plot plot = {
        .title = curve->title,
        .subtitle = "error bars are confidence intervals; hollow points are beyond saturation",
        .panels = panels,
        .n = 2,
    };
    format->write(&plot, out);
    free(points);
}

void wf_curve_svg(const struct wf_curve *curve, FILE *out)
{
    draw(curve, &wf_plot_svg, out);
}

void wf_curve_png(const struct wf_curve *curve, FILE *out)
{
    draw(curve, &wf_plot_png, out);
}
