/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/calibration_errors.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The standard deviation of a normal distribution, from the median of its deviations. */
static const double median_to_sd = 1.4826;

static double off(const struct wf_calibration_model *model,
                  const struct wf_calibration_measure *m, size_t i)
{
    return fabs(model->predicted[i] / m->ns - 1);
}

static void add_residuals(const struct wf_calibration *measured,
                          struct wf_calibration_model *model)
{
    size_t counts[WF_CALIBRATION_KINDS] = {0};

    memset(model->mean, 0, sizeof(model->mean));
    memset(model->worst, 0, sizeof(model->worst));
    for (size_t i = 0; i < measured->n; i++) {
        const struct wf_calibration_measure *m = &measured->measures[i];
        double error = off(model, m, i);

        counts[m->kind]++;
        model->mean[m->kind] += error;
        model->worst[m->kind] = fmax(model->worst[m->kind], error);
    }
    for (int k = 0; k < WF_CALIBRATION_KINDS; k++) {
        model->mean[k] = counts[k] > 0 ? model->mean[k] / (double)counts[k] : 0;
    }
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* Sorts the values; interpolates between two. */
static double quantile(double *values, size_t n, double part)
{
    if (n == 0) {
        return 0;
    }
    WF_SORT(values, n, compare_numbers);
    double at = part * (double)(n - 1);
    size_t i = (size_t)at, next = i + 1 < n ? i + 1 : i;
    return values[i] + (at - (double)i) * (values[next] - values[i]);
}

static double median(double *values, size_t n)
{
    return quantile(values, n, 0.5);
}

/* The standard deviation of measurements of some sizes from the model, with their spread. From
 * medians, so that a pattern that the model does not have at all does not decide. */
static double deviation(const struct wf_calibration *measured,
                        const struct wf_calibration_model *model, uint64_t from, uint64_t to)
{
    double offs[WF_CALIBRATION_MEASURES_MAX], spreads[WF_CALIBRATION_MEASURES_MAX];
    size_t n = 0;

    for (size_t i = 0; i < measured->n; i++) {
        const struct wf_calibration_measure *m = &measured->measures[i];
        /* Short messages of many ranks measure the cores that the ranks share. */
        bool counts = m->bytes > WF_CALIBRATION_SMALL || m->kind <= WF_CALIBRATION_EXCHANGES;
        if (counts && m->bytes >= from && m->bytes <= to) {
            offs[n] = off(model, m, i);
            spreads[n++] = m->spread;
        }
    }
    return hypot(median_to_sd * median(offs, n), median(spreads, n));
}

static void add_uncertainty(const struct wf_calibration *measured,
                            struct wf_calibration_model *model)
{
    for (size_t i = 0; i < model->n; i++) {
        struct wf_calibration_setting *setting = &model->settings[i];
        bool is_rate = strstr(setting->key, "bandwidth") != NULL;

        if (setting->number > 0 || strncmp(setting->key, "node.o_", 7) == 0) {
            bool is_burst = strcmp(setting->key, "net.burst") == 0;
            double sd = is_rate ? deviation(measured, model, WF_CALIBRATION_LARGE, UINT64_MAX)
                        : is_burst ? deviation(measured, model, WF_CALIBRATION_BURST_FROM,
                                               WF_CALIBRATION_BURST_TO)
                                   : deviation(measured, model, 0, WF_CALIBRATION_SMALL);
            setting->percent = fmin(fmax(100 * sd, 0.5), 100);
        }
    }
}

/* The model is off by more than its parameters are uncertain, and a program may be like any of
 * the patterns: nine of ten measurements that bandwidth decides are within the bounds that nine
 * of ten draws keep to. Runs of one program differ by a few percent that no pattern shows. */
static void add_model_error(const struct wf_calibration *measured,
                            struct wf_calibration_model *model)
{
    static const double nine_of_ten = 1.645;  /* of a normal distribution, in deviations */
    static const double least = 5, most = 50; /* percent */
    double offs[WF_CALIBRATION_MEASURES_MAX];
    size_t n = 0;

    for (size_t i = 0; i < measured->n; i++) {
        const struct wf_calibration_measure *m = &measured->measures[i];
        if (m->bytes >= WF_CALIBRATION_LARGE && model->predicted[i] > 0) {
            offs[n++] = fabs(log(model->predicted[i] / m->ns));
        }
    }
    double sd = 100 * quantile(offs, n, 0.9) / nine_of_ten;
    model->model_percent = fmin(fmax(sd, least), most);
    model->cpu_percent = fmin(fmax(measured->lost, 1), most);
}

void wf_calibration_add_errors(const struct wf_calibration *measured,
                               struct wf_calibration_model *model)
{
    add_residuals(measured, model);
    add_uncertainty(measured, model);
    add_model_error(measured, model);
}
