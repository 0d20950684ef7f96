/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/calibration_kernels.h"

#include "base/array.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

enum { NODES_MAX = 1 << 20 };

static uint32_t find_kernel(const char *name)
{
    uint32_t i = 0;

    while (wf_calibration_kernels[i].name != NULL &&
           strcmp(wf_calibration_kernels[i].name, name) != 0) {
        i++;
    }
    return i;
}

/* "kernel <node> <name> <three arguments> <seconds> <when>"; false if it is none. */
static bool parse_call(const char *at, struct wf_calibration_call *out)
{
    static const char word[] = "kernel ";
    char name[16];
    char *end;

    if (strncmp(at, word, sizeof(word) - 1) != 0) {
        return false;
    }
    out->node = (uint32_t)strtoul(at + sizeof(word) - 1, &end, 10);
    at = end + strspn(end, " ");
    size_t length = strcspn(at, " ");
    (void)snprintf(name, sizeof(name), "%.*s", (int)length, at);
    out->kernel = find_kernel(name);
    at += length;
    double *const numbers[] = {&out->values[0], &out->values[1], &out->values[2], &out->seconds,
                               &out->when};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++, at = end) {
        *numbers[i] = strtod(at, &end);
        if (end == at) {
            return false;
        }
    }
    return wf_calibration_kernels[out->kernel].name != NULL && out->seconds > 0 &&
           out->node < NODES_MAX;
}

/* The text after a word at the beginning of a line, without its end; null if it has another. */
static const char *text_after(const char *line, const char *word, int *length)
{
    size_t n = strlen(word);

    if (strncmp(line, word, n) != 0) {
        return NULL;
    }
    *length = (int)strcspn(line + n, "\n");
    return line + n;
}

void wf_calibration_kernels_take(struct wf_calibration_calls *calls, const char *line)
{
    struct wf_calibration_call call = {.kernel = 0};
    const char *text;
    int n;

    if (parse_call(line, &call)) {
        WF_PUSH(calls->list, calls->n, calls->capacity, call);
        calls->n_nodes = call.node >= calls->n_nodes ? call.node + 1 : calls->n_nodes;
    } else if (text_after(line, "interrupted ", &n) != NULL) {
        calls->n_interrupted++;
    } else if ((text = text_after(line, "library ", &n)) != NULL) {
        (void)snprintf(calls->library, sizeof(calls->library), "%.*s", n, text);
    } else if ((text = text_after(line, "host ", &n)) != NULL) {
        (void)snprintf(calls->host, sizeof(calls->host), "%.*s", n, text);
    } else if ((text = text_after(line, "missing", &n)) != NULL) {
        char name[32];
        size_t used = strlen(calls->missing);
        (void)snprintf(name, sizeof(name), "%.*s", n, text);
        if (strstr(calls->missing, name) == NULL) {
            (void)snprintf(calls->missing + used, sizeof(calls->missing) - used, "%s", name);
        }
    }
}

void wf_calibration_kernels_release(struct wf_calibration_calls *calls)
{
    free(calls->list);
}

/* ---- fitting ---- */

static double term_of(const struct wf_calibration_kernel *kernel, uint32_t term,
                      const double *values)
{
    double product = 1;

    for (uint32_t i = 0; i < WF_CALIBRATION_ARGUMENTS; i++) {
        for (uint32_t p = wf_calibration_power(kernel->terms[term], i); p > 0; p--) {
            product *= values[i];
        }
    }
    return product;
}

static double time_of(const struct wf_calibration_kernel *kernel, const double *terms,
                      const double *values)
{
    double time = 0;

    for (uint32_t i = 0; i < kernel->n_terms; i++) {
        time += terms[i] * term_of(kernel, i, values);
    }
    return time;
}

static bool is_for(const struct wf_calibration_call *call, uint32_t kernel, uint32_t node)
{
    return call->kernel == kernel && (node == UINT32_MAX || call->node == node);
}

struct equations {
    double a[WF_CALIBRATION_TERMS][WF_CALIBRATION_TERMS + 1];
    uint32_t n;
};

/* The equations of the least squares of relative errors: of times, or of their mean deviations from
 * a formula. */
static struct equations sum_up(const struct wf_calibration_calls *calls, uint32_t number,
                               uint32_t node, const double *formula)
{
    const struct wf_calibration_kernel *kernel = &wf_calibration_kernels[number];
    struct equations sums = {.n = kernel->n_terms};

    for (uint32_t c = 0; c < calls->n; c++) {
        const struct wf_calibration_call *call = &calls->list[c];
        double x[WF_CALIBRATION_TERMS];
        if (!is_for(call, number, node) || call->left_out) {
            continue;
        }
        for (uint32_t i = 0; i < sums.n; i++) {
            x[i] = term_of(kernel, i, call->values) / call->seconds;
        }
        double y = formula == NULL
                       ? 1
                       : fabs(1 - time_of(kernel, formula, call->values) / call->seconds);
        for (uint32_t i = 0; i < sums.n; i++) {
            for (uint32_t j = 0; j < sums.n; j++) {
                sums.a[i][j] += x[i] * x[j];
            }
            sums.a[i][sums.n] += x[i] * y;
        }
    }
    return sums;
}

/* Solves for the terms that are not `zero`; columns are scaled to the diagonal. */
static bool solve(struct equations e, const bool *zero, double *out)
{
    double scale[WF_CALIBRATION_TERMS];

    for (uint32_t i = 0; i < e.n; i++) {
        scale[i] = zero[i] || e.a[i][i] <= 0 ? 0 : 1 / sqrt(e.a[i][i]);
    }
    for (uint32_t i = 0; i < e.n; i++) {
        for (uint32_t j = 0; j < e.n; j++) {
            e.a[i][j] *= scale[i] * scale[j];
        }
        e.a[i][e.n] *= scale[i];
        e.a[i][i] = scale[i] > 0 ? e.a[i][i] : 1;
    }
    for (uint32_t i = 0; i < e.n; i++) { /* positive definite: no pivots are needed */
        if (e.a[i][i] < 1e-12) {
            return false;
        }
        for (uint32_t r = 0; r < e.n; r++) {
            double factor = r != i ? e.a[r][i] / e.a[i][i] : 0;
            for (uint32_t c = i; c <= e.n; c++) {
                e.a[r][c] -= factor * e.a[i][c];
            }
        }
    }
    for (uint32_t i = 0; i < e.n; i++) {
        out[i] = e.a[i][e.n] / e.a[i][i] * scale[i];
    }
    return true;
}

/* Times are sums of positive terms: those that would be negative are left out, the most negative
 * first. */
static bool solve_positive(const struct equations *e, double *out)
{
    bool zero[WF_CALIBRATION_TERMS] = {false};

    for (uint32_t round = 0; round < e->n; round++) {
        uint32_t worst = e->n;
        double least = 0;
        if (!solve(*e, zero, out)) {
            return false;
        }
        for (uint32_t i = 0; i < e->n; i++) {
            double share = out[i] * sqrt(e->a[i][i]);
            if (share < least) {
                least = share;
                worst = i;
            }
        }
        if (worst == e->n) {
            return true;
        }
        zero[worst] = true;
    }
    return false;
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return WF_ORDER(*x, *y);
}

static double median(double *values, uint32_t n)
{
    WF_SORT(values, n, by_value);
    return n > 0 ? values[n / 2] : 0;
}

/* Leaves out calls far from the formula, most of which the system interrupted; returns how many are
 * left. `room` has a number for each call. */
static uint32_t leave_out(struct wf_calibration_calls *calls, uint32_t number, uint32_t node,
                          const double *terms, double *room)
{
    const struct wf_calibration_kernel *kernel = &wf_calibration_kernels[number];
    const double usual = 0.02, times = 8;
    uint32_t n = 0, left = 0;

    for (uint32_t c = 0; c < calls->n; c++) {
        if (is_for(&calls->list[c], number, node)) {
            room[n++] = fabs(
                calls->list[c].seconds / time_of(kernel, terms, calls->list[c].values) - 1);
        }
    }
    double limit = usual + times * median(room, n);
    for (uint32_t c = 0; c < calls->n; c++) {
        struct wf_calibration_call *call = &calls->list[c];
        if (is_for(call, number, node)) {
            double ratio = call->seconds / time_of(kernel, terms, call->values);
            call->left_out = fabs(ratio - 1) > limit;
            left += !call->left_out;
        }
    }
    return left;
}

/* A standard deviation is so many mean deviations, if they are normally distributed. */
static const double deviations = 1.2533;

/* Fits the spread of the calls that are not left out, and their median error. */
static void fit_spread(const struct wf_calibration_calls *calls, uint32_t number, uint32_t node,
                       double *room, struct wf_calibration_formula *out)
{
    const struct wf_calibration_kernel *kernel = &wf_calibration_kernels[number];
    struct equations sums = sum_up(calls, number, node, out->terms);
    uint32_t n = 0;

    for (uint32_t c = 0; c < calls->n; c++) {
        const struct wf_calibration_call *call = &calls->list[c];
        if (is_for(call, number, node) && !call->left_out) {
            room[n++] = fabs(call->seconds / time_of(kernel, out->terms, call->values) - 1);
        }
    }
    out->error = median(room, n);
    (void)solve_positive(&sums, out->spread);
    for (uint32_t i = 0; i < kernel->n_terms; i++) {
        out->spread[i] *= deviations;
    }
}

bool wf_calibration_kernels_fit(struct wf_calibration_calls *calls, uint32_t kernel,
                                uint32_t node, struct wf_calibration_formula *out)
{
    enum { LEAST = 10, ROUNDS = 3 };
    uint32_t n = 0, left;

    *out = (struct wf_calibration_formula){.n = 0};
    for (uint32_t c = 0; c < calls->n; c++) {
        bool fits = is_for(&calls->list[c], kernel, node);
        n += fits;
        calls->list[c].left_out = fits ? false : calls->list[c].left_out;
    }
    if (n < LEAST) {
        return false;
    }
    double *room = calloc(calls->n, sizeof(*room));
    left = n;
    for (uint32_t round = 0; room != NULL && round < ROUNDS && left >= LEAST; round++) {
        struct equations sums = sum_up(calls, kernel, node, NULL);
        if (!solve_positive(&sums, out->terms)) {
            left = 0;
            break;
        }
        left = leave_out(calls, kernel, node, out->terms, room);
    }
    if (room != NULL && left >= LEAST) {
        fit_spread(calls, kernel, node, room, out);
    }
    free(room);
    out->n = n;
    out->n_left_out = n - left;
    return left >= LEAST;
}

double wf_calibration_kernels_drift(const struct wf_calibration_calls *calls)
{
    double *early = calloc(calls->n + 1, sizeof(*early)),
           *late = calloc(calls->n + 1, sizeof(*late));
    uint32_t n_early = 0, n_late = 0;
    double drift = 1;

    for (uint32_t k = 0;
         early != NULL && late != NULL && wf_calibration_kernels[k].name != NULL; k++) {
        struct wf_calibration_formula formula;
        struct wf_calibration_calls copy = *calls;
        if (!wf_calibration_kernels_fit(&copy, k, UINT32_MAX, &formula)) {
            continue;
        }
        for (uint32_t c = 0; c < calls->n; c++) {
            const struct wf_calibration_call *call = &calls->list[c];
            double time = time_of(&wf_calibration_kernels[k], formula.terms, call->values);
            if (call->kernel == k && call->when < 1.0 / 3) {
                early[n_early++] = call->seconds / time;
            } else if (call->kernel == k && call->when > 2.0 / 3) {
                late[n_late++] = call->seconds / time;
            }
        }
    }
    if (n_early > 0 && n_late > 0) {
        drift = median(late, n_late) / median(early, n_early);
    }
    free(early);
    free(late);
    return drift;
}

/* ---- writing ---- */

static void write_formula(const struct wf_calibration_kernel *kernel, const double *terms,
                          FILE *out)
{
    const char *between = "";

    for (uint32_t i = 0; i < kernel->n_terms; i++) {
        if (terms[i] <= 0) {
            continue;
        }
        (void)fprintf(out, "%s%.4gs", between, terms[i]);
        for (uint32_t a = 0; a < WF_CALIBRATION_ARGUMENTS; a++) {
            for (uint32_t p = wf_calibration_power(kernel->terms[i], a); p > 0; p--) {
                (void)fprintf(out, "*%s", kernel->arguments[a]);
            }
        }
        between = " + ";
    }
    if (between[0] == '\0') {
        (void)fprintf(out, "0");
    }
}

static void write_kernel(struct wf_calibration_calls *calls, uint32_t number, uint32_t node,
                         FILE *out)
{
    const struct wf_calibration_kernel *kernel = &wf_calibration_kernels[number];
    struct wf_calibration_formula formula;

    if (!wf_calibration_kernels_fit(calls, number, node, &formula)) {
        return;
    }
    (void)fprintf(out, "%s: ", kernel->name);
    write_formula(kernel, formula.terms, out);
    (void)fprintf(out, "; normal ");
    write_formula(kernel, formula.spread, out);
    (void)fprintf(out,
                  "  # %" PRIu32 " calls, half of them within %.1f %%, %" PRIu32 " left out\n",
                  formula.n, 100 * formula.error, formula.n_left_out);
}

void wf_calibration_kernels_write(struct wf_calibration_calls *calls, FILE *out)
{
    (void)fprintf(
        out,
        "# Measured by weft calibrate --kernels: %s on %s%s\n"
        "# The random part has the standard deviation of calls about their formula.\n",
        calls->library, calls->host, calls->n_nodes > 1 ? " and others" : "");
    if (calls->n_interrupted > 0) {
        (void)fprintf(out, "# %" PRIu32 " calls that the system interrupted do not count.\n",
                      calls->n_interrupted);
    }
    if (calls->missing[0] != '\0') {
        (void)fprintf(out, "# Not in the library:%s\n", calls->missing);
    }
    for (uint32_t k = 0; wf_calibration_kernels[k].name != NULL; k++) {
        write_kernel(calls, k, UINT32_MAX, out);
    }
    for (uint32_t node = 0; calls->n_nodes > 1 && node < calls->n_nodes; node++) {
        (void)fprintf(out, "\n[nodes %" PRIu32 "]\n", node);
        for (uint32_t k = 0; wf_calibration_kernels[k].name != NULL; k++) {
            write_kernel(calls, k, node, out);
        }
    }
}
