/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "base/mem.h"
#include "base/result/doc.h"
#include "base/text.h"
#include "ui/draw/plot.h"
#include "ui/report/output.h"
#include "ui/study/bench.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---- bandwidths as nccl-tests count them ---- */

uint64_t wf_measured_parts(enum wf_coll_kind kind, uint32_t ranks)
{
    static const bool all[WF_COLL_KINDS] = {[WF_COLL_BCAST] = true,
                                            [WF_COLL_REDUCE] = true,
                                            [WF_COLL_ALLREDUCE] = true,
                                            [WF_COLL_SCAN] = true,
                                            [WF_COLL_EXSCAN] = true};

    return all[kind] ? 1 : ranks;
}

static double whole(const struct wf_measured_pair *pair, size_t i)
{
    return (double)pair->curve->rows[i].bytes *
           (double)wf_measured_parts(pair->curve->kind, pair->ranks);
}

static bool goes_on(const struct wf_measured_pair *pair, size_t i)
{
    return pair->curve->rows[i].bytes > pair->largest;
}

static double bus_share(const struct wf_measured_pair *pair)
{
    double n = pair->ranks;

    return pair->curve->kind == WF_COLL_ALLREDUCE ? 2 * (n - 1) / n
           : pair->curve->kind == WF_COLL_BCAST || pair->curve->kind == WF_COLL_REDUCE
               ? 1
               : (n - 1) / n;
}

static const char *nccl_name(enum wf_coll_kind kind)
{
    static const char *const names[WF_COLL_KINDS] = {
        [WF_COLL_ALLREDUCE] = "all_reduce",
        [WF_COLL_ALLGATHER] = "all_gather",
        [WF_COLL_REDUCE_SCATTER_BLOCK] = "reduce_scatter",
        [WF_COLL_BCAST] = "broadcast",
        [WF_COLL_REDUCE_SCATTER] = "reduce_scatter"};

    return names[kind] != NULL ? names[kind] : wf_coll_name(kind);
}

void wf_measured_print_nccl(const struct wf_measured_pair *pair, FILE *out)
{
    enum { FLOAT = 4 };
    const struct wf_measured_curve *curve = pair->curve;
    bool sums = curve->kind == WF_COLL_ALLREDUCE || curve->kind == WF_COLL_REDUCE ||
                curve->kind == WF_COLL_REDUCE_SCATTER_BLOCK;
    double total = 0;

    (void)fprintf(out, "# Collective test starting: %s_perf\n", nccl_name(curve->kind));
    (void)fprintf(out, "# predicted by weft: %" PRIu32 " ranks\n#\n", pair->ranks);
    (void)fputs(
        "#       size         count      type   redop    root     time   algbw   busbw\n"
        "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)\n",
        out);
    for (size_t i = 0; i < curve->n; i++) {
        double bytes = whole(pair, i), time = pair->predicted[i], alg = bytes / time / 1e9;

        total += alg * bus_share(pair);
        (void)fprintf(out, " %11.0f  %12" PRIu64 "  %8s  %6s  %6d  %7.*f  %6.2f  %6.2f\n",
                      bytes, (uint64_t)curve->rows[i].bytes / FLOAT, "float",
                      sums ? "sum" : "none", -1, time < 1e-2 ? 2 : 0, time * 1e6, alg,
                      alg * bus_share(pair));
    }
    (void)fprintf(out, "# Avg bus bandwidth    : %.3f\n", total / (double)curve->n);
}

void wf_measured_print_osu(const struct wf_measured_pair *pair, FILE *out)
{
    static const char *const osu[WF_COLL_KINDS] = {
        [WF_COLL_ALLREDUCE] = "Allreduce",  [WF_COLL_ALLGATHER] = "Allgather",
        [WF_COLL_ALLTOALL] = "Alltoall",    [WF_COLL_BCAST] = "Broadcast",
        [WF_COLL_REDUCE] = "Reduce",        [WF_COLL_REDUCE_SCATTER_BLOCK] = "Reduce_scatter",
        [WF_COLL_GATHER] = "Gather",        [WF_COLL_SCATTER] = "Scatter",
        [WF_COLL_BARRIER] = "Barrier",      [WF_COLL_ALLTOALLV] = "Alltoallv",
        [WF_COLL_ALLGATHERV] = "Allgatherv"};
    const struct wf_measured_curve *curve = pair->curve;
    bool scatters = curve->kind == WF_COLL_REDUCE_SCATTER_BLOCK;

    (void)fprintf(out, "\n# OSU MPI %s Latency Test, predicted by weft: %" PRIu32 " ranks\n",
                  osu[curve->kind] != NULL ? osu[curve->kind] : wf_coll_name(curve->kind),
                  pair->ranks);
    (void)fprintf(out, "# %-8s%20s\n", "Size", "Avg Latency(us)");
    for (size_t i = 0; i < curve->n; i++) {
        (void)fprintf(out, "%-10.0f%20.2f\n",
                      scatters ? whole(pair, i) : (double)curve->rows[i].bytes,
                      pair->predicted[i] * 1e6);
    }
}

/* ---- errors ---- */

static double off_percent(const struct wf_measured_pair *pair, size_t i)
{
    return 100 * (pair->predicted[i] / pair->curve->rows[i].value - 1);
}

static int by_number(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return WF_ORDER(*x, *y);
}

struct near {
    double median, mean, worst, within10, within25;
    size_t n;
};

static struct near near_of(const struct wf_measured_pairs *pairs, size_t first, size_t end)
{
    struct near near = {.n = 0};
    double *sizes = NULL;
    size_t capacity = 0;

    for (size_t p = first; p < end; p++) {
        for (size_t i = 0; i < pairs->pairs[p].curve->n; i++) {
            double size = fabs(off_percent(&pairs->pairs[p], i));
            WF_PUSH(sizes, near.n, capacity, size);
            near.mean += size;
            near.within10 += size <= 10;
            near.within25 += size <= 25;
            near.worst = fmax(near.worst, size);
        }
    }
    if (near.n > 0) {
        WF_SORT(sizes, near.n, by_number);
        near.median = sizes[near.n / 2];
        near.mean /= (double)near.n;
        near.within10 *= 100 / (double)near.n;
        near.within25 *= 100 / (double)near.n;
    }
    free(sizes);
    return near;
}

static void print_near(const struct near *near, FILE *out)
{
    (void)fprintf(
        out,
        "%zu rows: median error %.1f %%, mean %.1f %%, largest %.1f %%; %.0f %% within "
        "10 %%, %.0f %% within 25 %%\n",
        near->n, near->median, near->mean, near->worst, near->within10, near->within25);
}

static void print_pair(const struct wf_measured_pair *pair, FILE *out)
{
    const struct wf_measured_curve *curve = pair->curve;
    bool collective = curve->what == WF_MEASURED_COLLECTIVE;
    bool bandwidth =
        curve->what == WF_MEASURED_BANDWIDTH || curve->what == WF_MEASURED_BOTH_WAYS;
    double unit = bandwidth ? 1e-6 : 1e6;

    wf_text_print(out, "%s of %s: ", curve->name, curve->tool);
    wf_text_print(out, "%s, line %zu", curve->path, curve->line);
    (void)fprintf(out, ", %" PRIu32 " ranks\n", pair->ranks);
    (void)fprintf(out, "%12s  %14s  %14s  %9s%s\n", "size (B)",
                  bandwidth ? "measured MB/s" : "measured us",
                  bandwidth ? "predicted MB/s" : "predicted us", "off",
                  collective ? "  busbw measured  predicted GB/s" : "");
    for (size_t i = 0; i < curve->n; i++) {
        double m = curve->rows[i].value, p = pair->predicted[i];

        (void)fprintf(out, "%12" PRIu64 "  %14.2f  %14.2f  %+7.1f %%", curve->rows[i].printed,
                      m * unit, p * unit, off_percent(pair, i));
        if (collective) {
            double bus = whole(pair, i) * bus_share(pair) / 1e9;
            (void)fprintf(out, "  %14.2f  %14.2f", bus / m, bus / p);
        }
        (void)fputs(goes_on(pair, i) ? " *\n" : "\n", out);
    }
    if (curve->n > 0 && goes_on(pair, curve->n - 1)) {
        const struct wf_measured_row *last = &curve->rows[curve->n - 1];
        uint64_t largest = last->printed / last->bytes * pair->largest;

        (void)fprintf(out,
                      "* not simulated: in a straight line from the times of %" PRIu64
                      " and %" PRIu64 " bytes\n",
                      largest / 2, largest);
    }
}

void wf_measured_print_errors(const struct wf_measured_pairs *pairs, FILE *out)
{
    for (size_t p = 0; p < pairs->n; p++) {
        const struct near near = near_of(pairs, p, p + 1);

        print_pair(&pairs->pairs[p], out);
        print_near(&near, out);
        (void)fputc('\n', out);
    }
    if (pairs->n > 1) {
        const struct near near = near_of(pairs, 0, pairs->n);

        (void)fputs("Together ", out);
        print_near(&near, out);
    }
}

void wf_measured_add(const struct wf_measured_pairs *pairs, bool measured, struct wf_value *doc)
{
    struct wf_value *curves = wf_doc_list(doc, "curves");

    for (size_t p = 0; p < pairs->n; p++) {
        const struct wf_measured_pair *pair = &pairs->pairs[p];
        struct wf_value *section = wf_doc_section(curves, NULL);
        bool rate = pair->curve->what == WF_MEASURED_BANDWIDTH ||
                    pair->curve->what == WF_MEASURED_BOTH_WAYS;

        wf_doc_text(section, "benchmark", pair->curve->name);
        wf_doc_text(section, "unit", rate ? "B/s" : "s");
        wf_doc_count(section, "ranks", pair->ranks);
        struct wf_value *rows = wf_doc_list(section, "rows");
        for (size_t i = 0; i < pair->curve->n; i++) {
            struct wf_value *row = wf_doc_section(rows, NULL);
            wf_doc_count(row, "bytes", pair->curve->rows[i].printed);
            wf_doc_real(row, "predicted", pair->predicted[i]);
            if (goes_on(pair, i)) {
                wf_doc_bool(row, "continued", true);
            }
            if (measured) {
                wf_doc_real(row, "measured", pair->curve->rows[i].value);
                wf_doc_measured(row, "off_percent", off_percent(pair, i), 1);
            }
        }
    }
    if (measured) {
        const struct near near = near_of(pairs, 0, pairs->n);
        struct wf_value *errors = wf_doc_section(doc, "errors");
        wf_doc_count(errors, "rows", near.n);
        wf_doc_measured(errors, "median_percent", near.median, 1);
        wf_doc_measured(errors, "mean_percent", near.mean, 1);
        wf_doc_measured(errors, "within_10_percent", near.within10, 1);
        wf_doc_measured(errors, "within_25_percent", near.within25, 1);
    }
}

/* ---- the picture ---- */

static struct wf_draw_plot_series series_of(const struct wf_measured_pair *pair, bool measured,
                                            char *name, size_t size)
{
    const struct wf_measured_curve *curve = pair->curve;
    bool rate = curve->what == WF_MEASURED_BANDWIDTH || curve->what == WF_MEASURED_BOTH_WAYS;
    struct wf_draw_plot_point *points = wf_xcalloc(curve->n, sizeof(*points));

    for (size_t i = 0; i < curve->n; i++) {
        double value = measured ? curve->rows[i].value : pair->predicted[i];
        points[i] = (struct wf_draw_plot_point){
            .x = (double)curve->rows[i].printed,
            .y = rate ? (double)curve->rows[i].bytes / value * 1e6 : value * 1e6,
            .hollow = !measured};
    }
    (void)snprintf(name, size, "%s, %s", curve->name, measured ? "measured" : "predicted");
    return (struct wf_draw_plot_series){.name = name, .points = points, .n = curve->n};
}

enum wf_status wf_measured_plot(const struct wf_measured_pairs *pairs, const char *path,
                                bool force, struct wf_err *err)
{
    enum { NAME = 80 };
    const struct wf_draw_plot_format *format = wf_draw_plot_for_path(path);
    struct wf_draw_plot_series *series = wf_xcalloc(2 * pairs->n + 1, sizeof(*series));
    char(*names)[NAME] = wf_xcalloc(2 * pairs->n + 1, sizeof(*names));
    struct wf_output *output = NULL;
    enum wf_status status =
        format != NULL
            ? wf_output_open(path, force, &output, err)
            : wf_err_set(err, WF_EUSAGE,
                         "plot '%.200s': the name must end in .svg, .png or .pdf", path);

    for (size_t i = 0; i < 2 * pairs->n; i++) {
        series[i] = series_of(&pairs->pairs[i / 2], i % 2 == 0, names[i], NAME);
    }
    if (status == WF_OK) {
        const struct wf_draw_plot_panel panel = {
            .x = {.label = "size", .log = true, .bytes = true},
            .y = {.label = "time, us", .log = true},
            .series = series,
            .n = 2 * pairs->n};
        const struct wf_draw_plot plot = {
            .title = "Measured and predicted", .subtitle = "", .panels = &panel, .n = 1};
        wf_draw_plot(&plot, format, wf_output_stream(output));
        status = wf_output_commit(output, err);
    }
    for (size_t i = 0; i < 2 * pairs->n; i++) {
        free(wf_unconst(series[i].points));
    }
    free(names);
    free(series);
    return status;
}
