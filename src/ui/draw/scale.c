/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/draw/scale.h"

#include <math.h>

enum { LINEAR_STEPS = 6, DECADES_WITH_FRACTIONS = 3 };

/* Steps within a decade that people find round. */
static const double round_steps[] = {1, 2, 5};

static double next_round(double step)
{
    double power = pow(10, floor(log10(step)));

    for (size_t i = 0; i < sizeof(round_steps) / sizeof(round_steps[0]); i++) {
        if (step <= round_steps[i] * power * (1 + 1e-9)) {
            return round_steps[i] * power;
        }
    }
    return 10 * power;
}

static void fit_linear(struct wf_draw_scale *scale, double low, double high)
{
    double span = high - low;
    double step = next_round((span > 0 ? span : fmax(fabs(high), 1)) / LINEAR_STEPS);
    double first = floor(low / step + 1e-9), last = ceil(high / step - 1e-9);

    last = fmax(last, first + 1);
    while (first + (double)scale->n <= last && scale->n < WF_DRAW_SCALE_TICKS_MAX) {
        double tick = (first + (double)scale->n) * step;
        scale->ticks[scale->n++] = tick;
    }
}

/* Chooses the ticks: all decades and, if these are few, fractions of them, as many as
 * WF_DRAW_SCALE_TICKS_MAX allows. If there are many decades, some are skipped in equal
 * steps. */
static void fit_log(struct wf_draw_scale *scale, double low, double high)
{
    double first = floor(log10(low) + 1e-9), last = ceil(log10(high) - 1e-9);
    double decades = fmax(last - first, 1);
    double skip = ceil(decades / (WF_DRAW_SCALE_TICKS_MAX - 2));
    bool fractions = decades <= DECADES_WITH_FRACTIONS;

    for (int k = 0; k * skip < decades + skip; k++) {
        double e = first + k * skip;
        for (size_t i = 0; i < (fractions ? 3 : 1); i++) {
            double tick = round_steps[i] * pow(10, e), next = i < 2 ? round_steps[i + 1] : 10;
            bool below = fractions && next * pow(10, e) <= low * (1 + 1e-9);
            bool above = scale->n > 1 && scale->ticks[scale->n - 1] >= high * (1 - 1e-9);
            if (!below && !above && scale->n < WF_DRAW_SCALE_TICKS_MAX) {
                scale->ticks[scale->n++] = tick;
            }
        }
    }
}

void wf_draw_scale_fit(struct wf_draw_scale *scale, bool log, double low, double high)
{
    scale->log = log;
    scale->n = 0;
    (log ? fit_log : fit_linear)(scale, low, high);
    scale->low = scale->ticks[0];
    scale->high = scale->ticks[scale->n - 1];
}

void wf_draw_scale_fit_bytes(struct wf_draw_scale *scale, bool log, double low, double high)
{
    enum { STEPS = 7 };
    double first = log ? floor(log2(low) + 1e-9) : 0, last = log ? ceil(log2(high) - 1e-9) : 0;
    double step = log ? fmax(ceil((last - first) / STEPS), 1)
                      : exp2(ceil(log2(fmax(high, 1) / STEPS) - 1e-9));

    *scale = (struct wf_draw_scale){.log = log, .low = log ? exp2(first) : 0};
    do {
        double place = (double)scale->n * step;
        scale->high = log ? exp2(first + place) : place;
        scale->ticks[scale->n++] = scale->high;
    } while (scale->high < high * (1 - 1e-9) || scale->n < 2);
}

double wf_draw_scale_place(const struct wf_draw_scale *scale, double value)
{
    if (scale->log) {
        double low = log(scale->low);
        return (log(value) - low) / (log(scale->high) - low);
    }
    return (value - scale->low) / (scale->high - scale->low);
}
