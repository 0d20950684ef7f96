/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/curve.h"

#include "base/extension.h"
#include "base/result/json.h"
#include "base/result/result.h"
#include "base/text.h"
#include "ui/draw/plot.h"
#include "ui/report/output.h"

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
    (void)snprintf(point->digest, sizeof(point->digest), "%s",
                   wf_doc_get_text(doc, "result.digest", ""));
}

static const char *state_of(const struct wf_curve_point *point)
{
    return point->saturated ? "saturated" : point->converged ? "converged" : "not converged";
}

/* ---- several curves ---- */

/* The settings that vary besides the load: all keys but the last. */
static size_t n_others(const struct wf_curve *curve)
{
    return curve->study->n_keys - 1;
}

static const char *other(const struct wf_curve *curve, size_t i, size_t key)
{
    return curve->study->points[curve->points[i].number].values[key]->text;
}

/* Whether another curve begins with the i-th point. */
static bool begins(const struct wf_curve *curve, size_t i)
{
    for (size_t k = 0; k < n_others(curve) && i > 0; k++) {
        if (strcmp(other(curve, i, k), other(curve, i - 1, k)) != 0) {
            return true;
        }
    }
    return i == 0;
}

/* ---- tables ---- */

void wf_curve_text(const struct wf_curve *curve, FILE *out)
{
    (void)fprintf(out, "%s\n\n", curve->study->title);
    (void)fprintf(out, "%7s %9s %9s %10s %8s %9s %7s\n", "load", "offered", "accepted",
                  "latency", "+-", "p99", "hops");
    for (size_t i = 0; i < curve->n; i++) {
        const struct wf_curve_point *p = &curve->points[i];
        for (size_t k = 0; k < n_others(curve) && begins(curve, i); k++) {
            (void)fprintf(out, "%s%s=%s%s",
                          k > 0   ? ", "
                          : i > 0 ? "\n"
                                  : "",
                          curve->study->keys[k], other(curve, i, k),
                          k + 1 == n_others(curve) ? "\n" : "");
        }
        (void)fprintf(out, "%7.4g %9.5f %9.5f %10.2f %8.2f %9.0f %7.3f  %s\n", p->load,
                      p->offered, p->accepted, p->latency, p->half_width, p->p99, p->hops,
                      state_of(p));
    }
    (void)fprintf(out, "\nLoads in phits per node and cycle, latencies in cycles.\n");
}

static void write_csv(const struct wf_curve *curve, FILE *out)
{
    for (size_t k = 0; k < n_others(curve); k++) {
        wf_text_csv(out, curve->study->keys[k]);
        (void)fputc(',', out);
    }
    for (size_t k = 0; k < N_FIGURES; k++) {
        (void)fprintf(out, "%s,", figures[k].csv);
    }
    (void)fputs("cycles,converged,saturated,digest\n", out);
    for (size_t i = 0; i < curve->n; i++) {
        const struct wf_curve_point *p = &curve->points[i];
        for (size_t k = 0; k < n_others(curve); k++) {
            wf_text_csv(out, other(curve, i, k));
            (void)fputc(',', out);
        }
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

    wf_doc_text(root, "title", curve->study->title);
    struct wf_value *list = wf_doc_list(root, "points");
    for (size_t i = 0; i < curve->n; i++) {
        const struct wf_curve_point *p = &curve->points[i];
        struct wf_value *section = wf_doc_section(list, NULL);
        struct wf_value *settings =
            n_others(curve) > 0 ? wf_doc_section(section, "settings") : NULL;
        for (size_t k = 0; k < n_others(curve); k++) {
            wf_doc_text(settings, curve->study->keys[k], other(curve, i, k));
        }
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

/* ---- the page ---- */

static void write_points(const struct wf_curve *curve, FILE *out)
{
    (void)fputs("<table><thead><tr><th>load</th><th>offered</th><th>accepted</th>"
                "<th>latency</th><th>&plusmn;</th><th>p50</th><th>p95</th>"
                "<th>p99</th><th>max</th><th>hops</th><th></th></tr></thead><tbody>\n",
                out);
    for (size_t i = 0; i < curve->n; i++) {
        const struct wf_curve_point *p = &curve->points[i];
        for (size_t k = 0; k < n_others(curve) && begins(curve, i); k++) {
            (void)fputs(k == 0 ? "<tr><th colspan=\"11\">" : ", ", out);
            wf_text_markup(out, curve->study->keys[k]);
            (void)fputs(" = ", out);
            wf_text_markup(out, other(curve, i, k));
            (void)fputs(k + 1 == n_others(curve) ? "</th></tr>\n" : "", out);
        }
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
    wf_text_markup(out, curve->study->title);
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
    wf_text_markup(out, curve->study->title);
    (void)fputs("</h1>\n<figure id=\"curve\">\n", out);
    struct wf_err err;
    if (wf_study_plot(curve->study, wf_draw_plot_for_path("curve.svg"), out, &err) != WF_OK) {
        wf_text_markup(out, err.text);
    }
    (void)fputs("</figure>\n", out);
    write_points(curve, out);
    (void)fprintf(out,
                  "<p>Loads in phits per node and cycle, latencies in cycles. Made by weft "
                  "%s.</p>\n</html>\n",
                  weft_version());
}

/* ---- files ---- */

/* Pictures are drawn as those of any study. */
static const struct {
    const char *extension;
    bool only_curves; /* the format does not exist for single results */
    void (*write)(const struct wf_curve *curve, FILE *out); /* null: a picture */
} formats[] = {
    {".txt", false, wf_curve_text}, {".json", false, wf_curve_json},
    {".csv", true, write_csv},      {".html", false, write_html},
    {".svg", true, NULL},           {".png", true, NULL},
    {".pdf", true, NULL},
};

enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

const char *wf_curve_extension(size_t i)
{
    return i < FORMATS ? formats[i].extension : NULL;
}

bool wf_curve_is_only(const char *path)
{
    size_t i;

    return wf_extension_find(wf_curve_extension, "curve", path, &i, NULL) == WF_OK &&
           formats[i].only_curves;
}

enum wf_status wf_curve_save(const struct wf_curve *curve, const char *path, const char *format,
                             bool force, struct wf_err *err)
{
    struct wf_output *output = NULL;
    size_t i;

    WF_TRY(wf_extension_find(wf_curve_extension, "curve", format, &i, err));
    if (formats[i].write == NULL) {
        return wf_study_plot_file(curve->study, path, force, err);
    }
    WF_TRY(wf_output_open(path, force, &output, err));
    formats[i].write(curve, wf_output_stream(output));
    return wf_output_commit(output, err);
}
