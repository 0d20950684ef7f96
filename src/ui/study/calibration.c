/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/calibration.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    NUMBERS_MAX = 11,
    /* What a measuring program may say; anything else is a mistake. */
    RANKS_MAX = 65536,
    ROUNDS_MAX = 1000
};

/* A short measurement whose quartiles are further apart than this was disturbed. */
static const double disturbed_ratio = 1.25, short_ns = 5e6;

/* The distance of the quartiles of a normal distribution, in standard deviations. */
static const double quartiles_sd = 1.349;

const char *const wf_calibration_kind_names[] = {
    [WF_CALIBRATION_PINGPONG] = "pingpong",   [WF_CALIBRATION_ONEWAY] = "oneway",
    [WF_CALIBRATION_EXCHANGE] = "exchange",   [WF_CALIBRATION_EXCHANGES] = "exchanges",
    [WF_CALIBRATION_INCAST] = "incast",       [WF_CALIBRATION_OUTCAST] = "outcast",
    [WF_CALIBRATION_BISECTION] = "bisection", [WF_CALIBRATION_ALLPAIRS] = "allpairs",
    [WF_CALIBRATION_BUTTERFLY] = "butterfly", [WF_CALIBRATION_KINDS] = NULL,
};

/* ---- lines ---- */

/* The rest of a line after its first word; null if the line begins with another word. */
static const char *after(const char *line, const char *word)
{
    size_t length = strlen(word);

    return strncmp(line, word, length) == 0 && line[length] == ' ' ? line + length + 1 : NULL;
}

static size_t read_numbers(const char *text, double *numbers)
{
    size_t n = 0;

    for (char *end = NULL; n < NUMBERS_MAX; n++, text = end) {
        numbers[n] = strtod(text, &end);
        if (end == text) {
            break;
        }
    }
    return n;
}

struct quantiles {
    double median, first, third, least;
};

#define BYTES_MAX   (UINT64_C(1) << 30)
#define TIME_MAX_NS 1e15

static uint64_t whole(double number)
{
    return number > 0 && number < 1e15 ? (uint64_t)number : 0;
}

/* The time that counts. Noise adds time, so of a ping-pong that was disturbed the least counts
 * instead of the median. It can also take time away from the other patterns: a rank that started
 * late found messages there already. Of these the lower quartile counts. */
static double time_of(const struct wf_calibration *measured, enum wf_calibration_kind kind,
                      const struct quantiles *ns)
{
    bool is_uneven = ns->median < short_ns && ns->third > disturbed_ratio * ns->first;
    bool is_busy = measured->lost > WF_CALIBRATION_LOST_MAX;
    /* Ranks without a part disturb the others now and then. */
    bool is_shared = measured->cores > 0 && measured->n_ranks > measured->cores &&
                     ns->median < short_ns && kind <= WF_CALIBRATION_EXCHANGES;

    if (!is_uneven && !is_busy && !is_shared) {
        return ns->median;
    }
    return kind == WF_CALIBRATION_PINGPONG ? ns->least : ns->first;
}

/* "measure KIND FIRST SECOND ROUNDS LAG BYTES N MEDIAN Q1 Q3 MIN", from KIND on. */
static void read_measure(const char *text, struct wf_calibration *measured)
{
    size_t length = strcspn(text, " ");
    double v[NUMBERS_MAX];
    struct wf_calibration_measure m = {.kind = WF_CALIBRATION_KINDS};

    for (int i = 0; i < WF_CALIBRATION_KINDS; i++) {
        if (strlen(wf_calibration_kind_names[i]) == length &&
            strncmp(wf_calibration_kind_names[i], text, length) == 0) {
            m.kind = (enum wf_calibration_kind)i;
        }
    }
    if (m.kind == WF_CALIBRATION_KINDS || read_numbers(text + length, v) != 10 ||
        measured->n == WF_CALIBRATION_MEASURES_MAX || !(v[9] > 0) || !(v[6] > 0)) {
        return;
    }
    m.first = whole(v[0]);
    m.second = whole(v[1]);
    m.rounds = whole(v[2]);
    m.lag = v[3];
    m.bytes = whole(v[4]);
    measured->repeats = whole(v[5]);
    m.ns = time_of(
        measured, m.kind,
        &(struct quantiles){.median = v[6], .first = v[7], .third = v[8], .least = v[9]});
    m.spread = (v[8] - v[7]) / quartiles_sd / m.ns;
    if (m.kind == WF_CALIBRATION_EXCHANGE && m.rounds > 2 && m.lag > 0) {
        m.kind = WF_CALIBRATION_EXCHANGES;
    }
    if (m.rounds > 0 && m.rounds <= ROUNDS_MAX && m.bytes > 0 && m.bytes <= BYTES_MAX &&
        m.lag >= 0 && m.ns > m.lag && m.ns < TIME_MAX_NS) {
        measured->measures[measured->n++] = m;
    }
}

/* "host RANK NAME", from RANK on. The name becomes that of the machine, so it is one word. */
static void read_host(const char *text, struct wf_calibration *measured)
{
    const char *at = text + strcspn(text, " ");
    char name[sizeof(measured->host)] = "";

    at += strspn(at, " ");
    for (size_t i = 0; i + 1 < sizeof(name) && at[i] != '\0'; i++) {
        bool is_letter = (at[i] >= 'a' && at[i] <= 'z') || (at[i] >= 'A' && at[i] <= 'Z') ||
                         (at[i] >= '0' && at[i] <= '9');
        if (is_letter || at[i] == '.' || at[i] == '_') {
            name[i] = at[i];
        } else {
            name[i] = '-';
        }
    }
    if (measured->host[0] == '\0') {
        (void)snprintf(measured->host, sizeof(measured->host), "%s",
                       name[0] != '\0' ? name : "host");
        measured->one_host = true;
    } else {
        measured->one_host = measured->one_host && strcmp(measured->host, name) == 0;
    }
}

static void read_lost(const char *text, struct wf_calibration *measured)
{
    double v[NUMBERS_MAX];

    if (read_numbers(text, v) == 2 && v[1] >= 0 && v[1] <= 100) {
        measured->n_lost++;
        measured->lost += (v[1] - measured->lost) / (double)measured->n_lost;
    }
}

static void read_ranks(const char *text, struct wf_calibration *measured)
{
    uint64_t n = whole(strtod(text, NULL));

    measured->n_ranks = n <= RANKS_MAX ? n : 0;
}

static void read_cores(const char *text, struct wf_calibration *measured)
{
    measured->cores = whole(strtod(text, NULL));
}

static void read_eager(const char *text, struct wf_calibration *measured)
{
    measured->eager_max = whole(strtod(text, NULL));
    measured->has_limit = true;
}

bool wf_calibration_line(struct wf_calibration *measured, const char *line, double *progress)
{
    const struct {
        const char *word;
        double *number;
    } singles[] = {{"send", &measured->send},           {"take", &measured->take},
                   {"stream", &measured->stream},       {"copy_send", &measured->copy_send},
                   {"copy_take", &measured->copy_take}, {"combine", &measured->combine},
                   {"overlap", &measured->overlap},     {"progress", progress}};
    const struct {
        const char *word;
        void (*read)(const char *text, struct wf_calibration *measured);
    } others[] = {{"measure", read_measure}, {"host", read_host},   {"lost", read_lost},
                  {"ranks", read_ranks},     {"cores", read_cores}, {"eager", read_eager}};
    const char *text = NULL;

    for (size_t i = 0; i < sizeof(singles) / sizeof(singles[0]); i++) {
        if ((text = after(line, singles[i].word)) != NULL) {
            double number = strtod(text, NULL);
            *singles[i].number = isfinite(number) ? number : *singles[i].number;
            return singles[i].number != progress;
        }
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if ((text = after(line, others[i].word)) != NULL) {
            others[i].read(text, measured);
            return true;
        }
    }
    return false;
}

/* ---- samples of two ranks ---- */

static const struct wf_calibration_measure *find_measure(const struct wf_calibration *measured,
                                                         enum wf_calibration_kind kind,
                                                         uint64_t bytes)
{
    for (size_t i = 0; i < measured->n; i++) {
        const struct wf_calibration_measure *m = &measured->measures[i];
        if (m->kind == kind && m->bytes == bytes && m->first == 0 && m->second == 1) {
            return m;
        }
    }
    return NULL;
}

static int compare(const void *a, const void *b)
{
    const struct wf_fit_sample *x = a, *y = b;

    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

void wf_calibration_samples(const struct wf_calibration *measured,
                            struct wf_fit_sample *samples, struct wf_fit_input *input)
{
    *input = (struct wf_fit_input){
        .samples = samples,
        .send = measured->send,
        .take = measured->take,
        .stream = measured->stream,
        .eager_max = measured->has_limit ? measured->eager_max : 0,
    };
    for (size_t i = 0; i < measured->n; i++) {
        const struct wf_calibration_measure *m = &measured->measures[i];
        if (m->kind != WF_CALIBRATION_PINGPONG || m->first != 0 || m->second != 1 ||
            input->n == WF_CALIBRATION_SAMPLES_MAX) {
            continue;
        }
        const struct wf_calibration_measure *both =
            find_measure(measured, WF_CALIBRATION_EXCHANGE, m->bytes);
        samples[input->n++] = (struct wf_fit_sample){
            m->bytes, m->ns / (2 * (double)m->rounds),
            both != NULL ? (both->ns - both->lag) / (double)both->rounds : 0};
    }
    WF_SORT(samples, input->n, compare);
}
