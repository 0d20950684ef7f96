/* SPDX-License-Identifier: Apache-2.0 */
#include "model/failure/goodput.h"

#include "base/array.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>

/* Runs that take this many times their work, or have so many failures, are given up. */
enum { HOPELESS = 100, FAILURES_MAX = 1 << 24 };

struct run {
    const struct wf_goodput_config *config;
    const struct wf_failure_event *failures;
    size_t n, next;
    int64_t end;      /* of the failures that are known */
    int64_t *returns; /* when nodes in repair come back, in order */
    size_t n_returns, returns_capacity, returned;
    struct wf_goodput *out;
    int64_t now;
};

/* ---- nodes ---- */

/* When the job has all its nodes after a failure at `at`. Nodes of a class come back in the order in which
 * they failed, so that with one class, or times that are alike, nothing or little moves. */
static int64_t nodes_back(struct run *r, const struct wf_failure_event *failure)
{
    int64_t repair = r->config->classes[failure->of].repair;
    int64_t back = failure->at + repair;

    if (repair == 0) {
        return failure->at;
    }
    WF_GROW(r->returns, r->n_returns, r->returns_capacity);
    size_t place = r->n_returns++;
    for (; place > r->returned && r->returns[place - 1] > back; place--) {
        r->returns[place] = r->returns[place - 1];
    }
    r->returns[place] = back;
    while (r->returns[r->returned] <= failure->at) {
        r->returned++;
    }
    return r->n_returns - r->returned > r->config->spares
               ? r->returns[r->n_returns - r->config->spares - 1]
               : failure->at;
}

/* ---- work ---- */

/* The time that this much work takes without failures; no checkpoint follows the end. */
static int64_t time_for(const struct wf_goodput_config *config, int64_t work)
{
    return work + (work - 1) / config->interval * config->cost;
}

/* Works from now until a failure; `until` is the end of the run or of what is known if there is none. */
static void work_until(struct run *r, int64_t until, bool failed)
{
    const struct wf_goodput_config *config = r->config;
    int64_t cycle = config->interval + config->cost, time = until - r->now;
    int64_t rest = time % cycle, part = rest < config->interval ? rest : config->interval;
    int64_t done = time / cycle * config->interval + part;
    int64_t written = time >= config->write ? (time - config->write) / cycle : 0;
    int64_t kept = failed ? written * config->interval : done;

    r->out->useful += kept;
    r->out->lost += done - kept;
    r->out->checkpoint += time - done;
    r->now = until;
}

/* From a failure to the next work. Failures meanwhile prolong it. */
static void recover(struct run *r, int64_t limit)
{
    const struct wf_goodput_config *config = r->config;
    int64_t began = r->now, ready = began, waited = 0;

    do {
        const struct wf_failure_event *failure = &r->failures[r->next++];
        int64_t back = nodes_back(r, failure), known = failure->at + config->detect;
        int64_t from = ready > failure->at ? ready : failure->at;
        int64_t all = back > known ? back : known;

        r->out->failures++;
        from = from > known ? from : known;
        waited += all > from ? all - from : 0;
        ready = ready > all ? ready : all;
    } while (r->next < r->n && r->failures[r->next].at < ready + config->restart &&
             r->failures[r->next].at < limit);
    int64_t resume = ready + config->restart;
    resume = resume < limit ? resume : limit;
    waited = waited < resume - began ? waited : resume - began;
    r->out->waiting += waited;
    r->out->down += resume - began - waited;
    r->now = resume;
}

static enum wf_status check_failures(const struct wf_goodput_config *config, int64_t end,
                                     struct wf_err *err)
{
    double rate = wf_failure_rate(config->classes, config->n_classes, end);

    if (rate * (double)end > FAILURES_MAX) {
        return wf_err_set(err, WF_ELIMIT, "more than %d failures in %.3g days", FAILURES_MAX,
                          (double)end / 86400e6);
    }
    return WF_OK;
}

/* Whether the run ends before the failures that are known. */
static bool play(struct run *r)
{
    const struct wf_goodput_config *config = r->config;
    int64_t limit = config->horizon > 0 ? config->horizon : r->end;

    while (r->now < limit) {
        int64_t fails = r->next < r->n ? r->failures[r->next].at : limit;
        int64_t left = config->work - r->out->useful;

        if (config->work > 0 && r->now + time_for(config, left) <= fails) {
            r->out->useful += left;
            r->out->checkpoint += time_for(config, left) - left;
            r->now += time_for(config, left);
            return true;
        }
        bool failed = r->next < r->n;
        work_until(r, fails, failed);
        if (failed) {
            recover(r, limit);
        }
    }
    return config->horizon > 0;
}

enum wf_status wf_goodput_run(const struct wf_goodput_config *config, uint64_t seed,
                              struct wf_goodput *out, struct wf_err *err)
{
    int64_t end = config->horizon > 0 ? config->horizon : 2 * time_for(config, config->work);
    bool done = false;

    while (!done) {
        struct wf_failure_event *failures = NULL;
        struct run r = {.config = config, .out = out, .end = end};

        WF_TRY(check_failures(config, end, err));
        *out = (struct wf_goodput){.wall = 0};
        r.n = wf_failure_trace(config->classes, config->n_classes, seed, end, &failures);
        r.failures = failures;
        done = play(&r);
        out->wall = r.now;
        free(failures);
        free(r.returns);
        if (!done && (end / HOPELESS > config->work || end > WF_SPAN_MAX / 4)) {
            return wf_err_set(
                err, WF_ESIM,
                "the job makes no progress: after %d times the time of its work "
                "it is not done; failures come before checkpoints, or faster than "
                "nodes come back",
                HOPELESS);
        }
        end *= 4;
    }
    return WF_OK;
}

/* ---- formulas ---- */

/* J. W. Young, "A first order approximation to the optimum checkpoint interval", CACM 17(9),
 * 1974. */
double wf_goodput_young(double mtbf, double cost)
{
    return sqrt(2 * cost * mtbf);
}

/* J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps",
 * FGCS 22(3), 2006, equation 37. */
double wf_goodput_daly(double mtbf, double cost)
{
    double half = cost / (2 * mtbf);

    return half < 1 ? sqrt(2 * cost * mtbf) * (1 + sqrt(half) / 3 + half / 9) - cost : mtbf;
}

/* The same, equation 20: work / expected time. */
double wf_goodput_expected(double mtbf, double interval, double cost, double restart)
{
    return interval / (mtbf * exp(restart / mtbf) * expm1((interval + cost) / mtbf));
}
