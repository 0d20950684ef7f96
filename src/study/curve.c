/* SPDX-License-Identifier: Apache-2.0 */
#include "study/curve.h"

#include "report/writer.h"
#include "result/result.h"

#include <weft/weft.h>

#include <inttypes.h>
#include <string.h>

static double real_at(const struct wf_value *doc, const char *path)
{
    const struct wf_value *value = wf_doc_find(doc, path);

    if (value == NULL) {
        return 0;
    }
    return value->type == WF_VALUE_REAL    ? value->real
           : value->type == WF_VALUE_COUNT ? (double)value->count
                                           : 0;
}

static bool true_at(const struct wf_value *doc, const char *path)
{
    const struct wf_value *value = wf_doc_find(doc, path);

    return value != NULL && value->type == WF_VALUE_BOOL && value->truth;
}

void wf_curve_point_read(struct wf_curve_point *point, const struct wf_value *doc)
{
    point->offered = real_at(doc, "result.offered_load");
    point->accepted = real_at(doc, "result.accepted_load");
    point->latency = real_at(doc, "result.latency_cycles.mean");
    point->half_width = real_at(doc, "result.latency_cycles.half_width");
    point->p50 = real_at(doc, "result.latency_cycles.p50");
    point->p95 = real_at(doc, "result.latency_cycles.p95");
    point->p99 = real_at(doc, "result.latency_cycles.p99");
    point->max = real_at(doc, "result.latency_cycles.max");
    point->hops = real_at(doc, "result.network.mean_hops");
    point->cycles = wf_doc_get_count(doc, "result.cycles", 0);
    point->converged = true_at(doc, "result.converged");
    point->saturated = true_at(doc, "result.saturated");
    point->done = true;
    (void)snprintf(point->digest, sizeof(point->digest), "%s",
                   wf_doc_get_text(doc, "result.digest", ""));
}

static const char *state_of(const struct wf_curve_point *point)
{
    return point->saturated ? "saturated" : point->converged ? "converged" : "not converged";
}

void wf_curve_table(const struct wf_curve *curve, FILE *out)
{
    (void)fprintf(out, "%s\n\n", curve->title);
    (void)fprintf(out, "%7s %9s %9s %10s %8s %9s %7s\n", "load", "offered", "accepted",
                  "latency", "+-", "99 %", "hops");
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
    (void)fputs("load,offered,accepted,latency_cycles,half_width_cycles,p50_cycles,p95_cycles,"
                "p99_cycles,max_cycles,hops,cycles,converged,saturated,digest\n",
                out);
    for (size_t i = 0; i < curve->n; i++) {
        const struct wf_curve_point *p = &curve->points[i];
        (void)fprintf(
            out, "%.6g,%.6f,%.6f,%.3f,%.3f,%.1f,%.1f,%.1f,%.1f,%.4f,%" PRIu64 ",%d,%d,%s\n",
            p->load, p->offered, p->accepted, p->latency, p->half_width, p->p50, p->p95, p->p99,
            p->max, p->hops, p->cycles, p->converged, p->saturated, p->digest);
    }
}

void wf_curve_json(const struct wf_curve *curve, FILE *out)
{
    struct wf_value *root = wf_result_new(weft_version());
    struct wf_value *list;

    wf_doc_text(root, "title", curve->title);
    list = wf_doc_list(root, "points");
    for (size_t i = 0; i < curve->n; i++) {
        const struct wf_curve_point *p = &curve->points[i];
        struct wf_value *section = wf_doc_section(list, NULL);
        wf_doc_real(section, "load", p->load);
        wf_doc_real(section, "offered_load", p->offered);
        wf_doc_real(section, "accepted_load", p->accepted);
        wf_doc_real(section, "latency_cycles", p->latency);
        wf_doc_real(section, "half_width_cycles", p->half_width);
        wf_doc_real(section, "p50_cycles", p->p50);
        wf_doc_real(section, "p95_cycles", p->p95);
        wf_doc_real(section, "p99_cycles", p->p99);
        wf_doc_real(section, "max_cycles", p->max);
        wf_doc_real(section, "mean_hops", p->hops);
        wf_doc_count(section, "cycles", p->cycles);
        wf_doc_bool(section, "converged", p->converged);
        wf_doc_bool(section, "saturated", p->saturated);
        wf_doc_text(section, "digest", p->digest);
    }
    wf_writer_json.write(root, &(struct wf_write_options){.verbose = false}, out);
    wf_doc_free(root);
}
