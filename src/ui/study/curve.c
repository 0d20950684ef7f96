/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/curve.h"

#include "base/extension.h"
#include "base/mem.h"
#include "base/result/json.h"
#include "base/result/result.h"
#include "base/text.h"
#include "ui/draw/plot.h"

#include <weft/weft.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The figures of a point: their paths in a result document, and their names and digits in the
 * tables. */
static const struct {
    size_t offset;
    const char *path; /* below "result."; null: not in the document */
    const char *json, *csv;
    int digits; /* after the decimal point; -1: six significant digits */
} figures[] = {
#define FIGURE(member) offsetof(struct wf_curve_point, member)
    {FIGURE(load), NULL, "load", "load", -1},
    {FIGURE(offered), "offered_load", "offered_load", "offered", 6},
    {FIGURE(accepted), "accepted_load", "accepted_load", "accepted", 6},
    {FIGURE(latency), "latency_cycles.mean", "latency_cycles", "latency_cycles", 3},
    {FIGURE(half_width), "latency_cycles.half_width", "half_width_cycles", "half_width_cycles",
     3},
    {FIGURE(p50), "latency_cycles.p50", "p50_cycles", "p50_cycles", 1},
    {FIGURE(p95), "latency_cycles.p95", "p95_cycles", "p95_cycles", 1},
    {FIGURE(p99), "latency_cycles.p99", "p99_cycles", "p99_cycles", 1},
    {FIGURE(max), "latency_cycles.max", "max_cycles", "max_cycles", 1},
    {FIGURE(hops), "network.mean_hops", "mean_hops", "hops", 4},
};

enum { N_FIGURES = sizeof(figures) / sizeof(figures[0]) };

static double figure(const struct wf_curve_point *point, size_t i)
{
    double value;

    memcpy(&value, (const char *)point + figures[i].offset, sizeof(value));
    return value;
}

void wf_curve_point_read(struct wf_curve_point *point, const struct wf_value *doc)
{
    const struct wf_value *result = wf_doc_find(doc, "result");

    for (size_t i = 0; i < N_FIGURES && result != NULL; i++) {
        if (figures[i].path != NULL) {
            double value = wf_doc_get_real(result, figures[i].path, 0);
            memcpy((char *)point + figures[i].offset, &value, sizeof(value));
        }
    }
    point->cycles = wf_doc_get_count(doc, "result.cycles", 0);
    point->converged = wf_doc_is_true(doc, "result.converged");
    point->saturated = wf_doc_is_true(doc, "result.saturated");
    point->done = true;
    (void)snprintf(point->digest, sizeof(point->digest), "%s",
                   wf_doc_get_text(doc, "result.digest", ""));
}

static const char *state_of(const struct wf_curve_point *point)
{
    return point->saturated ? "saturated" : point->converged ? "converged" : "not converged";
}

void wf_curve_text(const struct wf_curve *curve, FILE *out)
{
    (void)fprintf(out, "%s\n\n", curve->title);
    (void)fprintf(out, "%7s %9s %9s %10s %8s %9s %7s\n", "load", "offered", "accepted",
                  "latency", "+-", "p99", "hops");
    for (size_t i = 0; i < curve->n; i++) {
        const struct wf_curve_point *p = &curve->points[i];
        (void)fprintf(out, "%7.4g %9.5f %9.5f %10.2f %8.2f %9.0f %7.3f  %s\n", p->load,
                      p->offered, p->accepted, p->latency, p->half_width, p->p99, p->hops,
                      state_of(p));
    }
    (void)fprintf(out, "\nLoads in phits per node and cycle, latencies in cycles.\n");
}

void wf_curve_csv(const struct wf_curve *curve, FILE *out)
{
    for (size_t k = 0; k < N_FIGURES; k++) {
        (void)fprintf(out, "%s,", figures[k].csv);
    }
    (void)fputs("cycles,converged,saturated,digest\n", out);
    for (size_t i = 0; i < curve->n; i++) {
        const struct wf_curve_point *p = &curve->points[i];
        for (size_t k = 0; k < N_FIGURES; k++) {
            int digits = figures[k].digits;
            (void)fprintf(out, digits < 0 ? "%.*g," : "%.*f,", digits < 0 ? 6 : digits,
                          figure(p, k));
        }
        (void)fprintf(out, "%" PRIu64 ",%d,%d,%s\n", p->cycles, p->converged, p->saturated,
                      p->digest);
    }
}

void wf_curve_json(const struct wf_curve *curve, FILE *out)
{
    struct wf_value *root = wf_result_new_as("weft-curve-1", weft_version());

    wf_doc_text(root, "title", curve->title);
    struct wf_value *list = wf_doc_list(root, "points");
    for (size_t i = 0; i < curve->n; i++) {
        const struct wf_curve_point *p = &curve->points[i];
        struct wf_value *section = wf_doc_section(list, NULL);
        for (size_t k = 0; k < N_FIGURES; k++) {
            wf_doc_real(section, figures[k].json, figure(p, k));
        }
        wf_doc_count(section, "cycles", p->cycles);
        wf_doc_bool(section, "converged", p->converged);
        wf_doc_bool(section, "saturated", p->saturated);
        wf_doc_text(section, "digest", p->digest);
    }
    char *text = wf_doc_to_json(root);
    (void)fprintf(out, "%s\n", text);
    free(text);
    wf_doc_free(root);
}

/* ---- the plot ---- */

static void draw(const struct wf_curve *curve, const struct wf_draw_plot_format *format,
                 FILE *out)
{
    static const char x_label[] = "offered load, phits per node and cycle";
    struct wf_draw_plot_point *points = wf_xcalloc(2 * curve->n, sizeof(*points));
    struct wf_draw_plot_point *latency = points, *accepted = points + curve->n;

    for (size_t i = 0; i < curve->n; i++) {
        const struct wf_curve_point *p = &curve->points[i];
        latency[i] = (struct wf_draw_plot_point){.x = p->load,
                                                 .y = p->latency,
                                                 .below = p->half_width,
                                                 .above = p->half_width,
                                                 .hollow = p->saturated};
        accepted[i] =
            (struct wf_draw_plot_point){.x = p->load, .y = p->accepted, .hollow = p->saturated};
    }
    const struct wf_draw_plot_series series[] = {{"latency", latency, curve->n},
                                                 {"accepted load", accepted, curve->n}};
    const struct wf_draw_plot_panel panels[] = {
        {.x.label = x_label, .y.label = "latency, cycles", .series = &series[0], .n = 1},
        {.x.label = x_label,
         .y.label = "accepted load, phits per node and cycle",
         .series = &series[1],
         .n = 1},
    };
    const struct wf_draw_plot plot = {
        .title = curve->title,
        .subtitle = "error bars are confidence intervals; hollow points are beyond saturation",
        .panels = panels,
        .n = 2,
    };
    format->write(&plot, out);
    free(points);
}

static void write_svg(const struct wf_curve *curve, FILE *out)
{
    draw(curve, &wf_draw_plot_svg, out);
}

static void write_png(const struct wf_curve *curve, FILE *out)
{
    draw(curve, &wf_draw_plot_png, out);
}

/* ---- the page ---- */

static void write_points(const struct wf_curve *curve, FILE *out)
{
    (void)fputs("<table><thead><tr><th>load</th><th>offered</th><th>accepted</th>"
                "<th>latency</th><th>&plusmn;</th><th>p50</th><th>p95</th>"
                "<th>p99</th><th>max</th><th>hops</th><th></th></tr></thead><tbody>\n",
                out);
    for (size_t i = 0; i < curve->n; i++) {
        const struct wf_curve_point *p = &curve->points[i];
        (void)fprintf(out,
                      "<tr><td>%.4g</td><td>%.5f</td><td>%.5f</td><td>%.2f</td><td>%.2f</td>"
                      "<td>%.0f</td><td>%.0f</td><td>%.0f</td><td>%.0f</td><td>%.3f</td>"
                      "<td>%s</td></tr>\n",
                      p->load, p->offered, p->accepted, p->latency, p->half_width, p->p50,
                      p->p95, p->p99, p->max, p->hops, state_of(p));
    }
    (void)fputs("</tbody></table>\n", out);
}

static void write_html(const struct wf_curve *curve, FILE *out)
{
    (void)fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                "style-src 'unsafe-inline'; img-src data:\">\n"
                "<link rel=\"icon\" href=\"data:,\">\n<title>weft: ",
                out);
    wf_text_markup(out, curve->title);
    (void)fputs("</title>\n<style>\n"
                "body { font: 15px system-ui, sans-serif; margin: 2em auto; max-width: 62em; "
                "padding: 0 1em; color: #1d2733; background: #fff; }\n"
                "svg { max-width: 100%; height: auto; background: #fff; }\n"
                "table { border-collapse: collapse; font-variant-numeric: tabular-nums; }\n"
                "td, th { text-align: right; padding: 0.2em 0.7em; "
                "border-bottom: 1px solid #dfe3e8; }\n"
                "@media (prefers-color-scheme: dark) { body { color: #d8dee6; "
                "background: #14181d; } td, th { border-color: #333b45; } }\n"
                "</style>\n<h1>",
                out);
    wf_text_markup(out, curve->title);
    (void)fputs("</h1>\n<figure id=\"curve\">\n", out);
    write_svg(curve, out);
    (void)fputs("</figure>\n", out);
    write_points(curve, out);
    (void)fprintf(out,
                  "<p>Loads in phits per node and cycle, latencies in cycles. Made by weft "
                  "%s.</p>\n</html>\n",
                  weft_version());
}

/* ---- files ---- */

static const struct wf_curve_format formats[] = {
    {".txt", false, wf_curve_text}, {".json", false, wf_curve_json},
    {".csv", true, wf_curve_csv},   {".svg", true, write_svg},
    {".png", true, write_png},      {".html", false, write_html},
};

enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

const char *wf_curve_extension(size_t i)
{
    return i < FORMATS ? formats[i].extension : NULL;
}

enum wf_status wf_curve_for_path(const char *path, bool plot,
                                 const struct wf_curve_format **out, struct wf_err *err)
{
    size_t i;

    if (plot) { /* only these draw */
        WF_TRY(wf_extension_find(wf_draw_plot_extension, "plot", path, &i, err));
    }
    WF_TRY(wf_extension_find(wf_curve_extension, "curve", path, &i, err));
    *out = &formats[i];
    return WF_OK;
}
