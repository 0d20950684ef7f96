/* SPDX-License-Identifier: Apache-2.0 */
/* A curve as a page: its picture, which needs no other file, and its points. */
#include "study/curve.h"

#include <weft/weft.h>

static void write_text(const char *text, FILE *out)
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
        }
    }
}

static const char *state_of(const struct wf_curve_point *point)
{
    return point->saturated ? "saturated" : point->converged ? "converged" : "not converged";
}

static void write_points(const struct wf_curve *curve, FILE *out)
{
    (void)fputs("<table><thead><tr><th>load</th><th>offered</th><th>accepted</th>"
                "<th>latency</th><th>&plusmn;</th><th>half within</th><th>95 %</th>"
                "<th>99 %</th><th>longest</th><th>hops</th><th></th></tr></thead><tbody>\n",
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

void wf_curve_html(const struct wf_curve *curve, FILE *out)
{
    (void)fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
                "<link rel=\"icon\" href=\"data:,\">\n<title>weft: ",
                out);
    write_text(curve->title, out);
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
    write_text(curve->title, out);
    (void)fputs("</h1>\n<figure id=\"curve\">\n", out);
    wf_curve_svg(curve, out);
    (void)fputs("</figure>\n", out);
    write_points(curve, out);
    (void)fprintf(out,
                  "<p>Loads in phits per node and cycle, latencies in cycles. Made by weft "
                  "%s.</p>\n</html>\n",
                  weft_version());
}
