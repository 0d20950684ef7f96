/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/bench_fit.h"

#include "base/result/doc.h"
#include "base/text.h"
#include "base/units.h"
#include "model/coll/nccl.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { SHORT = 64, LONG = 64 << 10 };

static const double ps = 1e12;

static const struct wf_measured_curve *curve_of(const struct wf_measured_log *log,
                                                enum wf_measured_what what)
{
    for (size_t i = 0; i < log->n; i++) {
        if (log->curves[i].what == what) {
            return &log->curves[i];
        }
    }
    return NULL;
}

/* ---- what is known, and what is not ---- */

__attribute__((format(printf, 4, 5))) static void add(struct wf_measured_fit *fit,
                                                      const char *key,
                                                      const struct wf_measured_curve *curve,
                                                      const char *fmt, ...)
{
    struct wf_measured_setting *setting = &fit->settings[fit->n];
    va_list args;

    if (fit->n == WF_MEASURED_SETTINGS_MAX) {
        return;
    }
    fit->n++;
    setting->key = key;
    va_start(args, fmt);
    (void)vsnprintf(setting->value, sizeof(setting->value), fmt, args);
    va_end(args);
    const char *name =
        strrchr(curve->path, '/') != NULL ? strrchr(curve->path, '/') + 1 : curve->path;
    (void)snprintf(setting->from, sizeof(setting->from),
                   "measured: %.40s of %s, %.120s line %zu", curve->name, curve->tool, name,
                   curve->line);
}

/* Makes the last setting an estimate. */
static void estimate(struct wf_measured_fit *fit, const char *how)
{
    (void)snprintf(fit->settings[fit->n - 1].from, sizeof(fit->settings[0].from),
                   "estimate: %s", how);
}

static void miss(struct wf_measured_fit *fit, const char *key, const char *need)
{
    if (fit->n_missing < WF_MEASURED_SETTINGS_MAX) {
        fit->missing[fit->n_missing].key = key;
        fit->missing[fit->n_missing++].need = need;
    }
}

/* ---- messages ---- */

/* The mean of short messages; 0 if there are none. */
static double short_latency(const struct wf_measured_curve *curve)
{
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < curve->n; i++) {
        if (curve->rows[i].bytes <= SHORT) {
            sum += curve->rows[i].value;
            n++;
        }
    }
    return n > 0 ? sum / (double)n : 0;
}

/* The bandwidth of long messages: of a stream if it was measured, else the slope of the latency. */
static double long_bandwidth(const struct wf_measured_curve *latency,
                             const struct wf_measured_curve *stream)
{
    double best = 0;

    for (size_t i = 0; stream != NULL && i < stream->n; i++) {
        best = fmax(best, stream->rows[i].bytes >= LONG ? stream->rows[i].value : 0);
    }
    if (best > 0 || latency == NULL || latency->n < 2) {
        return best;
    }
    const struct wf_measured_row *b = &latency->rows[latency->n - 1], *a = b - 1;
    return a->bytes >= LONG && b->value > a->value
               ? (double)(b->bytes - a->bytes) / (b->value - a->value)
               : 0;
}

/* The longest message before the largest jump of the latency: what is sent eagerly; 0 if no jump
 * is a quarter of the time and what a handshake costs. */
static size_t eager_row(const struct wf_measured_curve *curve, double latency)
{
    size_t found = 0;
    double most = 0;

    for (size_t i = 1; i + 1 < curve->n; i++) {
        const struct wf_measured_row *row = &curve->rows[i];
        double before = (row->value - row[-1].value) / (double)(row->bytes - row[-1].bytes);
        double jump = row[1].value - row->value - before * (double)(row[1].bytes - row->bytes);

        if (row->bytes >= 1024 && row->bytes <= 1 << 20 && jump > row->value / 4 &&
            jump > latency && jump > most) {
            most = jump;
            found = i;
        }
    }
    return found;
}

/* Points of time over size beyond the latency; those of longer messages without the handshake. */
static void add_sizes(struct wf_measured_fit *fit, const struct wf_measured_curve *curve,
                      double latency, size_t eager)
{
    char text[WF_MEASURED_TEXT_MAX] = "", shown[WF_UNITS_TEXT_MAX];
    double last = 0;
    size_t length = 0;

    for (size_t i = 0; i < curve->n; i++) {
        const struct wf_measured_row *row = &curve->rows[i];
        double time = row->value - latency - (eager > 0 && i > eager ? 2 * latency : 0);

        if (row->bytes <= SHORT || time <= last || length + 40 > sizeof(text)) {
            continue;
        }
        int n = snprintf(text + length, sizeof(text) - length, "%s%" PRIu64 ":%s",
                         length > 0 ? "," : "", row->bytes,
                         wf_format_measured_time(time * ps, shown));
        length += (size_t)n;
        last = time;
    }
    if (length > 0) {
        add(fit, "net.sizes", curve, "%s", text);
    }
}

static void fit_messages(const struct wf_measured_log *log, struct wf_measured_fit *fit)
{
    const struct wf_measured_curve *latency = curve_of(log, WF_MEASURED_LATENCY);
    const struct wf_measured_curve *stream = curve_of(log, WF_MEASURED_BANDWIDTH);
    double total = latency != NULL ? short_latency(latency) : 0;
    double bandwidth = long_bandwidth(latency, stream), each = 0;
    char text[WF_UNITS_TEXT_MAX];

    if (stream != NULL && stream->rows[0].bytes <= SHORT) {
        each = (double)stream->rows[0].bytes / stream->rows[0].value;
    }
    if (each > 0) {
        double o = total > 0 ? fmin(each, total * 0.4) : each;
        add(fit, "net.o", stream, "%s", wf_format_measured_time(o * ps, text));
        add(fit, "net.g", stream, "%s", wf_format_measured_time(each * ps, text));
        each = o;
    } else if (total > 0) {
        each = total / 5;
        add(fit, "net.o", latency, "%s", wf_format_measured_time(each * ps, text));
        estimate(fit, "a fifth of the latency; no stream of short messages was measured");
        miss(fit, "net.o, net.g",
             "osu_bw or osu_mbw_mr from 1 byte on: the cost of each message");
    }
    if (total > 0) {
        size_t eager = eager_row(latency, total);

        add(fit, "net.L", latency, "%s",
            wf_format_measured_time((total - 2 * each) * ps, text));
        add_sizes(fit, latency, total, eager);
        if (eager > 0) {
            add(fit, "mpi.eager_max", latency, "%" PRIu64, latency->rows[eager].bytes);
        } else {
            miss(fit, "mpi.eager_max",
                 "a jump of the latency between 1 KiB and 1 MiB; none is in these sizes. "
                 "Setting "
                 "it and osu_latency by single bytes around a suspected limit would show it");
        }
    } else {
        miss(fit, "net.L", "osu_latency, IMB PingPong or NetPIPE between two nodes");
    }
    if (bandwidth > 0) {
        add(fit, "net.bandwidth", stream != NULL ? stream : latency, "%s",
            wf_format_measured_rate(bandwidth, text));
    } else {
        miss(fit, "net.bandwidth", "osu_bw, or a latency of at least two sizes from 64 KiB on");
    }
}

/* ---- collectives of GPUs ---- */

struct gpus {
    const struct wf_measured_log *log;
    struct wf_coll_nccl machine;
    bool several_nodes; /* which curves count */
};

/* The mean error of the table of NCCL over the curves of one or of several nodes; negative
 * if there are none. */
static double gpu_error(const struct gpus *gpus)
{
    double sum = 0;
    size_t n = 0;

    for (size_t c = 0; c < gpus->log->n; c++) {
        const struct wf_measured_curve *curve = &gpus->log->curves[c];
        uint32_t nodes = curve->nodes > 0 ? curve->nodes : 1;

        if (strcmp(curve->tool, "nccl-tests") != 0 || curve->ranks % nodes != 0 ||
            curve->ranks < 2 || (nodes > 1) != gpus->several_nodes ||
            !wf_coll_nccl_has(curve->kind)) {
            continue;
        }
        const struct wf_coll_args args = {.kind = curve->kind,
                                          .size = curve->ranks,
                                          .node_size = curve->ranks / nodes,
                                          .nccl = &gpus->machine};
        for (size_t i = 0; i < curve->n; i++) {
            int64_t time = wf_coll_nccl_choose(&args, curve->rows[i].printed, false).time;
            sum += fabs(log((double)time / ps / curve->rows[i].value));
            n++;
        }
    }
    return n > 0 ? sum / (double)n : -1;
}

/* The rate with the least error, in steps of 2 %. Returns that error. */
static double fit_rate(struct gpus *gpus, uint64_t *rate, uint64_t from, uint64_t to)
{
    double best = HUGE_VAL, at = (double)from;
    uint64_t found = *rate;

    while (at <= (double)to) {
        *rate = (uint64_t)at * WF_RATE_BYTE;
        double error = gpu_error(gpus);
        if (error >= 0 && error < best) {
            best = error;
            found = *rate;
        }
        at *= 1.02;
    }
    *rate = found;
    return best;
}

static const struct wf_measured_curve *gpu_curve(const struct wf_measured_log *log,
                                                 bool several)
{
    for (size_t i = 0; i < log->n; i++) {
        const struct wf_measured_curve *curve = &log->curves[i];
        if (strcmp(curve->tool, "nccl-tests") == 0 && (curve->nodes > 1) == several) {
            return curve;
        }
    }
    return NULL;
}

static void fit_gpus(const struct wf_measured_log *log, struct wf_measured_fit *fit)
{
    static const uint64_t giga = UINT64_C(1000000000);
    const struct wf_measured_curve *one = gpu_curve(log, false),
                                   *several = gpu_curve(log, true);
    struct gpus gpus = {.log = log}, best = gpus;
    double least = HUGE_VAL;
    char text[WF_UNITS_TEXT_MAX];

    if (one == NULL && several == NULL) {
        return;
    }
    const struct wf_measured_curve *any = one != NULL ? one : several;
    /* Volta has the figures of Ampere. */
    for (int i = 2 * WF_COLL_NCCL_AMPERE; i < 2 * WF_COLL_NCCL_GPUS; i++) {
        gpus.machine = wf_coll_nccl_default;
        gpus.machine.gpu = i / 2;
        gpus.machine.nvls = i % 2 != 0;
        gpus.several_nodes = one == NULL;
        double error = one != NULL
                           ? fit_rate(&gpus, &gpus.machine.nvlink, 5 * giga, 1000 * giga)
                           : fit_rate(&gpus, &gpus.machine.nic, giga / 2, 200 * giga);
        if (error < least) {
            least = error;
            best = gpus;
        }
    }
    add(fit, "mpi.rules", any, "nccl");
    add(fit, "mpi.nccl_gpu", any, "%s", wf_coll_nccl_gpu_names[best.machine.gpu]);
    add(fit, "mpi.nccl_nvls", any, "%s", best.machine.nvls ? "true" : "false");
    if (one != NULL) {
        add(fit, "mpi.nccl_nvlink", one, "%s",
            wf_format_measured_rate((double)best.machine.nvlink / (double)WF_RATE_BYTE, text));
        add(fit, "ranks_per_node", one, "%" PRIu32, one->ranks);
    } else {
        miss(fit, "mpi.nccl_nvlink", "nccl-tests on the GPUs of one node");
        add(fit, "ranks_per_node", several, "%" PRIu32, several->ranks / several->nodes);
    }
    best.several_nodes = true;
    if (several != NULL) {
        (void)fit_rate(&best, &best.machine.nic, giga / 2, 200 * giga);
        add(fit, "mpi.nccl_nic", several, "%s",
            wf_format_measured_rate((double)best.machine.nic / (double)WF_RATE_BYTE, text));
    } else {
        miss(fit, "mpi.nccl_nic", "nccl-tests on two nodes or more");
    }
}

/* ---- nodes ---- */

static void fit_nodes(const struct wf_measured_log *log, struct wf_measured_fit *fit)
{
    const struct wf_measured_curve *stream = curve_of(log, WF_MEASURED_STREAM);
    const struct wf_measured_curve *dgemm = curve_of(log, WF_MEASURED_DGEMM);
    char text[WF_UNITS_TEXT_MAX];

    if (stream != NULL) {
        add(fit, "node.memory_bandwidth", stream, "%s",
            wf_format_measured_rate(stream->rows[0].value, text));
    } else {
        miss(fit, "node.memory_bandwidth", "STREAM, with a thread on each core");
    }
    if (dgemm != NULL) {
        miss(fit, "cpu.gflops",
             "the number of processes on each node: multiply the figure of DGEMM by it");
    } else {
        miss(fit, "cpu.gflops", "DGEMM of HPCC, or weft calibrate --kernels");
    }
    if (curve_of(log, WF_MEASURED_HPL) != NULL && dgemm == NULL) {
        miss(fit, "cpu.efficiency", "DGEMM: HPL alone mixes computing with communication");
    }
}

enum wf_status wf_measured_fit(const struct wf_measured_log *log, struct wf_measured_fit *out,
                               struct wf_err *err)
{
    bool messages = curve_of(log, WF_MEASURED_LATENCY) != NULL ||
                    curve_of(log, WF_MEASURED_BANDWIDTH) != NULL;

    *out = (struct wf_measured_fit){.n = 0};
    if (messages || gpu_curve(log, false) == NULL) {
        fit_messages(log, out);
    }
    fit_gpus(log, out);
    fit_nodes(log, out);
    if (out->n > 0) {
        return WF_OK;
    }
    return wf_err_set(err, WF_EINVAL,
                      "%s: nothing in it determines a parameter of a machine; measure "
                      "osu_latency and osu_bw, or nccl-tests",
                      log->curves[0].path);
}

/* ---- output ---- */

static void write_section(const struct wf_measured_fit *fit, const char *section,
                          const char *prefix, FILE *out)
{
    bool begun = false;

    for (size_t i = 0; i < fit->n; i++) {
        const struct wf_measured_setting *setting = &fit->settings[i];

        if (strncmp(setting->key, prefix, strlen(prefix)) != 0) {
            continue;
        }
        if (!begun) {
            (void)fprintf(out, "%s:\n%s", section,
                          strcmp(section, "network") == 0 ? "  model: loggp # choice\n" : "");
            begun = true;
        }
        bool quoted = strchr(setting->value, ':') != NULL;
        (void)fprintf(out, "  # %s\n", setting->from);
        (void)fprintf(out, "  %s: %s%s%s\n", setting->key + strlen(prefix), quoted ? "\"" : "",
                      setting->value, quoted ? "\"" : "");
    }
}

void wf_measured_fit_write(const struct wf_measured_fit *fit, FILE *out)
{
    (void)fputs(
        "# From outputs of benchmarks, by weft calibrate --from. A comment above a figure says "
        "where\n# it comes from. Not determined:\n",
        out);
    for (size_t i = 0; i < fit->n_missing; i++) {
        (void)fprintf(out, "#   %s: %s\n", fit->missing[i].key, fit->missing[i].need);
    }
    (void)fputs("name: calibrated\nsummary: measured by benchmarks\n", out);
    write_section(fit, "network", "net.", out);
    write_section(fit, "node", "node.", out);
    write_section(fit, "mpi", "mpi.", out);
    for (size_t i = 0; i < fit->n; i++) {
        if (strcmp(fit->settings[i].key, "ranks_per_node") == 0) {
            (void)fprintf(out, "# %s\nranks_per_node: %s\n", fit->settings[i].from,
                          fit->settings[i].value);
        }
    }
}

void wf_measured_fit_print(const struct wf_measured_fit *fit, FILE *out)
{
    for (size_t i = 0; i < fit->n; i++) {
        const struct wf_measured_setting *setting = &fit->settings[i];
        wf_text_print(out, "%-22s %-22.40s%s", setting->key, setting->value,
                      strlen(setting->value) > 40 ? "... " : " ");
        wf_text_print(out, "%s\n", setting->from);
    }
    (void)fputs("\nNot determined\n", out);
    for (size_t i = 0; i < fit->n_missing; i++) {
        (void)fprintf(out, "  %-20s needs %s\n", fit->missing[i].key, fit->missing[i].need);
    }
}

void wf_measured_fit_add(const struct wf_measured_fit *fit, struct wf_value *doc)
{
    struct wf_value *list = wf_doc_list(doc, "parameters");

    for (size_t i = 0; i < fit->n; i++) {
        struct wf_value *entry = wf_doc_section(list, NULL);
        wf_doc_text(entry, "key", fit->settings[i].key);
        wf_doc_text(entry, "value", fit->settings[i].value);
        wf_doc_text(entry, "from", fit->settings[i].from);
    }
    list = wf_doc_list(doc, "missing");
    for (size_t i = 0; i < fit->n_missing; i++) {
        struct wf_value *entry = wf_doc_section(list, NULL);
        wf_doc_text(entry, "key", fit->missing[i].key);
        wf_doc_text(entry, "needs", fit->missing[i].need);
    }
}
