/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/goodput.h"

#include "base/extension.h"
#include "base/mem.h"
#include "base/quantile.h"
#include "base/result/doc.h"
#include "base/result/result.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MILLION 1e6

/* ---- options ---- */

static enum wf_status read_span(const char *option, const char *text, int64_t most,
                                int64_t *out, struct wf_err *err)
{
    char limit[WF_UNITS_TEXT_MAX];

    if (text == NULL) {
        return WF_OK;
    }
    enum wf_status status = wf_parse_span(text, out, err);
    if (status != WF_OK) {
        wf_err_prefix(err, "--%s: ", option);
        return WF_EUSAGE;
    }
    return *out <= most
               ? WF_OK
               : wf_err_set(err, WF_EUSAGE, "--%s: %.32s is too long; expected at most %s",
                            option, text, wf_format_span(most, limit));
}

/* A time, or a result document: of its training step, else of the whole run. */
static enum wf_status read_step(struct wf_study_goodput *study, struct wf_err *err)
{
    const char *text = study->options->step;
    struct wf_value *doc = NULL;
    int64_t step = 0;

    if (text == NULL) {
        return WF_OK;
    }
    if (!wf_extension_is(text, ".json")) {
        WF_TRY(read_span("step", text, INT64_C(1) << 50, &step, err));
        study->step = (double)step;
    } else {
        WF_TRY(wf_result_read(text, &doc, err));
        double whole = wf_doc_get_real(doc, "result.predicted_time_ps", 0);

        study->step = wf_doc_get_real(doc, "result.training.step_ps", whole) / MILLION;
        study->tokens = wf_doc_get_real(doc, "result.training.tokens_per_second", 0);
        wf_doc_free(doc);
    }
    return study->step >= 1
               ? WF_OK
               : wf_err_set(err, WF_EINVAL, "--step: %.64s has no time of a step", text);
}

static enum wf_status read_classes(struct wf_study_goodput *study, struct wf_err *err)
{
    const struct wf_study_goodput_options *options = study->options;

    if (options->n_fail == 0) {
        return wf_err_set(err, WF_EUSAGE,
                          "goodput: nothing fails; give --fail, as in --fail "
                          "gpu:count=16384,mtbf=5y");
    }
    study->classes = wf_xcalloc(options->n_fail, sizeof(*study->classes));
    study->config.classes = study->classes;
    for (size_t i = 0; i < options->n_fail; i++) {
        struct wf_failure_class *class = &study->classes[i];

        WF_TRY(wf_failure_parse(options->fail[i], class, err));
        study->config.n_classes++;
        class->count = class->count > 0 ? class->count : 1;
    }
    return WF_OK;
}

static enum wf_status read_times(struct wf_study_goodput *study, struct wf_err *err)
{
    const int64_t day = INT64_C(86400000000), century = 36500 * day, year = 365 * day;
    const struct wf_study_goodput_options *o = study->options;
    struct wf_goodput_config *config = &study->config;

    WF_TRY(read_span("time", o->time, century, &config->horizon, err));
    WF_TRY(read_span("work", o->work, century, &config->work, err));
    WF_TRY(read_span("checkpoint-cost", o->cost, year, &config->cost, err));
    WF_TRY(read_span("checkpoint-write", o->write, year, &config->write, err));
    WF_TRY(read_span("detect", o->detect, year, &config->detect, err));
    WF_TRY(read_span("restart", o->restart, year, &config->restart, err));
    if (o->steps > 0 && study->step > 0 && (double)o->steps * study->step < (double)century) {
        config->work = llround((double)o->steps * study->step);
    } else if (o->steps > 0) {
        return wf_err_set(err, WF_EUSAGE,
                          "--steps needs --step, and at most 100 years of work");
    }
    if ((config->work > 0) == (config->horizon > 0) || (o->steps > 0 && o->work != NULL)) {
        return wf_err_set(err, WF_EUSAGE,
                          "goodput: give one of --time (wall time), --work (time without "
                          "failures) and --steps");
    }
    if (o->size > 0) {
        if (o->rate == 0 || o->cost != NULL) {
            return wf_err_set(err, WF_EUSAGE,
                              "--checkpoint-size needs --checkpoint-rate, and excludes "
                              "--checkpoint-cost");
        }
        config->cost = wf_transfer_ps(o->size, o->rate) / 1000000;
    }
    if (config->cost <= 0) {
        return wf_err_set(err, WF_EUSAGE,
                          "goodput: a checkpoint must take some time: --checkpoint-cost, or "
                          "--checkpoint-size and --checkpoint-rate");
    }
    config->spares = o->spares;
    return WF_OK;
}

/* ---- runs ---- */

/* Whole steps, at least one; at least a hundredth of the cost of a checkpoint. */
static int64_t whole_steps(const struct wf_study_goodput *study, double interval)
{
    double least = fmax((double)study->config.cost / 100, 1000);

    interval = fmax(interval, least);
    if (study->step > 0) {
        interval = fmax(round(interval / study->step), 1) * study->step;
    }
    return llround(interval);
}

static enum wf_status run_point(const struct wf_study_goodput *study, int64_t interval,
                                struct wf_study_goodput_point *out, struct wf_err *err)
{
    struct wf_goodput_config config = study->config;
    size_t runs = study->options->runs;
    int64_t *useful = wf_xcalloc(runs, sizeof(*useful));
    enum wf_status status = WF_OK;

    *out = (struct wf_study_goodput_point){.interval = interval};
    config.interval = interval;
    for (size_t i = 0; status == WF_OK && i < runs; i++) {
        struct wf_goodput one;

        status = wf_goodput_run(&config, study->options->seed + i, &one, err);
        if (status == WF_OK) {
            const int64_t parts[] = {one.useful, one.lost, one.checkpoint, one.down,
                                     one.waiting};

            for (size_t k = 0; k < WF_STUDY_GOODPUT_SHARES; k++) {
                out->share[k] += (double)parts[k] / (double)one.wall / (double)runs;
            }
            useful[i] = llround((double)one.useful / (double)one.wall * MILLION);
            out->failures += (double)one.failures / (double)runs;
            out->wall += (double)one.wall / (double)runs;
        }
    }
    if (status == WF_OK) {
        wf_quantile_sort(useful, runs);
        out->low = (double)wf_quantile(useful, runs, 5) / MILLION;
        out->high = (double)wf_quantile(useful, runs, 95) / MILLION;
        out->expected = wf_goodput_expected(study->mtbf, (double)interval, (double)config.cost,
                                            (double)(config.restart + config.detect));
    }
    free(useful);
    return status;
}

/* Intervals at equal ratios around Young's. */
static enum wf_status scan(struct wf_study_goodput *study, struct wf_err *err)
{
    enum { MIDDLE = WF_STUDY_GOODPUT_POINTS / 2 };

    for (int i = 0; i < WF_STUDY_GOODPUT_POINTS; i++) {
        double factor = exp2((i - MIDDLE) / 2.0);
        int64_t interval = whole_steps(study, study->young * factor);
        struct wf_study_goodput_point *point = &study->points[study->n_points];

        if (study->n_points > 0 && interval <= point[-1].interval) {
            continue; /* no more whole steps */
        }
        enum wf_status status = run_point(study, interval, point, err);
        if (status == WF_ESIM && (study->n_points > 0 || i + 1 < WF_STUDY_GOODPUT_POINTS)) {
            continue; /* too long to make progress */
        }
        WF_TRY(status);
        if (point->share[0] > study->points[study->best].share[0]) {
            study->best = study->n_points;
        }
        study->n_points++;
    }
    return WF_OK;
}

static enum wf_status choose(struct wf_study_goodput *study, struct wf_err *err)
{
    const char *text = study->options->interval;
    int64_t interval = 0;

    if (strcmp(text, "best") == 0) {
        study->chosen = study->points[study->best];
        return WF_OK;
    }
    if (strcmp(text, "young") == 0 || strcmp(text, "daly") == 0) {
        return run_point(study, whole_steps(study, text[0] == 'y' ? study->young : study->daly),
                         &study->chosen, err);
    }
    WF_TRY(read_span("interval", text, INT64_C(1) << 52, &interval, err));
    return run_point(study, whole_steps(study, (double)interval), &study->chosen, err);
}

enum wf_status wf_study_goodput_run(const struct wf_study_goodput_options *options,
                                    struct wf_study_goodput *out, struct wf_err *err)
{
    *out = (struct wf_study_goodput){.options = options};

    enum wf_status status = read_classes(out, err);
    status = status == WF_OK ? read_step(out, err) : status;
    status = status == WF_OK ? read_times(out, err) : status;
    if (status == WF_OK) {
        int64_t length = out->config.horizon > 0 ? out->config.horizon : out->config.work;

        out->mtbf = 1 / wf_failure_rate(out->classes, out->config.n_classes, length);
        out->young = wf_goodput_young(out->mtbf, (double)out->config.cost);
        out->daly = wf_goodput_daly(out->mtbf, (double)out->config.cost);
        status = scan(out, err);
    }
    status = status == WF_OK ? choose(out, err) : status;
    if (status != WF_OK) {
        wf_study_goodput_fini(out);
    }
    return status;
}

void wf_study_goodput_fini(struct wf_study_goodput *study)
{
    for (size_t i = 0; i < study->config.n_classes; i++) {
        wf_failure_fini(&study->classes[i]);
    }
    free(study->classes);
}
