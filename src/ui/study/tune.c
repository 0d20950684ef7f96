/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/tune.h"

#include "base/arith.h"
#include "base/mem.h"
#include "run/execute/run.h"
#include "run/scenario/scenario.h"

#include <stdlib.h>
#include <string.h>

/* What is varied unless the scenario has a value. Recomputation comes last, from the least to the
 * most, so that the points of a group differ only by it. */
static const char *const varied[] = {
    "gen.tensor=1,2,4,8,16,32,64", "gen.pipeline=1,2,3,4,5,6,7,8,10,12,14,16,20,24,32,40,64",
    "gen.micro=1,2,4,8,16", "gen.chunks=1,2,4,8", "gen.recompute=none,attention,full"};
enum { N_VARIED = sizeof(varied) / sizeof(varied[0]) };

/* ---- points ---- */

static char *copy_of(const char *text, size_t length)
{
    char *copy = wf_xmalloc(length + 1);

    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

static enum wf_status add_values(struct wf_study *study, const char *text, size_t *n,
                                 struct wf_err *err)
{
    const char *equals = strchr(text, '=');

    if (equals == NULL || equals == text || study->n_keys == WF_STUDY_KEYS_MAX) {
        return wf_err_set(err, WF_EUSAGE,
                          "--vary '%.100s': expected <parameter>=<value>,<value>..., such as "
                          "gen.zero=1,3",
                          text);
    }
    char *key = copy_of(text, (size_t)(equals - text));
    study->keys[study->n_keys++] = key; /* owned by its first value */
    for (const char *at = equals + 1;; at++) {
        size_t length = strcspn(at, ",");
        study->all = wf_xrealloc(study->all, study->n_all + 1, sizeof(*study->all));
        study->all[study->n_all++] = (struct wf_study_value){
            .key = *n == 0 ? key : wf_xstrdup(key), .text = copy_of(at, length)};
        (*n)++;
        at += length;
        if (*at == '\0') {
            return WF_OK;
        }
    }
}

/* Whether the key is varied by the user, and not by us. */
static bool is_taken(const struct wf_tune_options *options, const char *text)
{
    size_t length = strcspn(text, "=") + 1;

    for (size_t i = 0; options->vary != NULL && options->vary[i] != NULL; i++) {
        if (strncmp(options->vary[i], text, length) == 0) {
            return true;
        }
    }
    return false;
}

static enum wf_status list_values(struct wf_tune *tune, const struct wf_tune_options *options,
                                  size_t *sizes, struct wf_err *err)
{
    struct wf_study *study = &tune->study;

    for (size_t i = 0; options->vary != NULL && options->vary[i] != NULL; i++) {
        WF_TRY(add_values(study, options->vary[i], &sizes[study->n_keys], err));
    }
    for (size_t i = 0; i < N_VARIED; i++) {
        char key[32];
        (void)snprintf(key, sizeof(key), "%.*s", (int)strcspn(varied[i], "="), varied[i]);
        if (!is_taken(options, varied[i]) && wf_scenario_find(tune->base, key) == NULL) {
            WF_TRY(add_values(study, varied[i], &sizes[study->n_keys], err));
        }
    }
    return WF_OK;
}

static enum wf_status make_points(struct wf_tune *tune, const struct wf_tune_options *options,
                                  struct wf_err *err)
{
    struct wf_study *study = &tune->study;
    size_t sizes[WF_STUDY_KEYS_MAX + 1] = {0}, n = 1;

    WF_TRY(list_values(tune, options, sizes, err));
    for (size_t k = 0; k < study->n_keys && n <= WF_STUDY_POINTS_MAX; k++) {
        n *= sizes[k];
    }
    if (n > WF_STUDY_POINTS_MAX) {
        return wf_err_set(err, WF_EUSAGE,
                          "tune: more than %d combinations; set some parameters, such as "
                          "-p gen.micro=1",
                          WF_STUDY_POINTS_MAX);
    }
    study->n_points = n;
    study->points = wf_xcalloc(n, sizeof(*study->points));
    for (size_t i = 0; i < n; i++) {
        size_t rest = i, end = study->n_all;
        for (size_t k = study->n_keys; k-- > 0;) {
            study->points[i].values[k] = &study->all[end - sizes[k] + rest % sizes[k]];
            rest /= sizes[k];
            end -= sizes[k];
        }
    }
    tune->state = wf_xcalloc(n, sizeof(*tune->state));
    tune->fast_ps = wf_xcalloc(n, sizeof(*tune->fast_ps));
    tune->least_ps = wf_xcalloc(n, sizeof(*tune->least_ps));
    tune->order = wf_xcalloc(n, sizeof(*tune->order));
    return WF_OK;
}

/* ---- scenarios ---- */

/* The scenario of a point, with further settings. Null on failure. */
static struct wf_scenario *scenario_of(const struct wf_tune *tune, size_t point,
                                       const char *const (*more)[2], struct wf_err *err)
{
    struct wf_scenario *scenario = wf_scenario_new();
    const struct wf_study *study = &tune->study;
    enum wf_status status = WF_OK;

    wf_scenario_append(scenario, tune->base);
    for (size_t k = 0; k < study->n_keys && status == WF_OK; k++) {
        const char *text = study->points[point].values[k]->text;
        status = wf_scenario_set(scenario, study->keys[k], text, NULL, err);
        if (status == WF_OK && strcmp(study->keys[k], "gen.chunks") == 0 &&
            strcmp(text, "1") != 0 && wf_scenario_find(scenario, "gen.schedule") == NULL) {
            status = wf_scenario_set(scenario, "gen.schedule", "interleaved", NULL, err);
        }
    }
    for (size_t i = 0; more != NULL && more[i][0] != NULL && status == WF_OK; i++) {
        status = wf_scenario_set(scenario, more[i][0], more[i][1], NULL, err);
    }
    if (status != WF_OK) {
        wf_scenario_free(scenario);
        return NULL;
    }
    return scenario;
}

/* The value of a key that a point varies, or else the scenario's; null if there is none. */
static const char *value_of(const struct wf_tune *tune, size_t point, const char *key)
{
    const char *text = wf_study_text(&tune->study, point, key);
    const struct wf_setting *setting = wf_scenario_find(tune->base, key);

    return text != NULL ? text : setting != NULL ? setting->value : NULL;
}

/* Chunks of a pipeline that has one stage change nothing. */
static bool has_needless_chunks(const struct wf_tune *tune, size_t point)
{
    const char *chunks = value_of(tune, point, "gen.chunks");
    const char *stages = value_of(tune, point, "gen.pipeline");

    return chunks != NULL && strcmp(chunks, "1") != 0 &&
           (stages == NULL || strcmp(stages, "1") == 0);
}

/* One stage: the points of `list`, checked or run with further settings. */
struct stage {
    struct wf_tune *tune;
    const size_t *list;
    const char *const (*more)[2]; /* null: check only */
};

static bool check_point(void *arg, size_t i)
{
    struct stage *stage = arg;
    struct wf_study_point *point = &stage->tune->study.points[i];
    struct wf_sim_facts facts = {.least_ps = 0};

    if (has_needless_chunks(stage->tune, i)) {
        return wf_err_set(&point->err, WF_EUSAGE, "chunks of one stage") != WF_OK;
    }
    struct wf_scenario *scenario = scenario_of(stage->tune, i, stage->more, &point->err);

    if (scenario != NULL) {
        if (wf_sim_check(scenario, &facts, &point->err) == WF_OK) {
            stage->tune->state[i] = facts.lacks_memory ? WF_TUNE_TOO_LARGE : WF_TUNE_FITS;
            stage->tune->least_ps[i] = facts.least_ps;
        }
        wf_scenario_free(scenario);
    }
    return true;
}

static bool run_point(void *arg, size_t i)
{
    struct stage *stage = arg;
    struct wf_study_point *point = &stage->tune->study.points[stage->list[i]];
    struct wf_value *doc = NULL;
    const struct wf_sim_host host = {.run_threads = 1};
    struct wf_scenario *scenario =
        scenario_of(stage->tune, stage->list[i], stage->more, &point->err);

    if (scenario != NULL && wf_sim_run(scenario, &host, &doc, &point->err) == WF_OK) {
        wf_doc_free(point->doc);
        point->doc = doc;
        doc = NULL;
    }
    wf_doc_free(doc);
    wf_scenario_free(scenario);
    return true;
}

/* ---- the search ---- */

static uint64_t time_of(const struct wf_study_point *point)
{
    return wf_doc_get_count(point->doc, "result.predicted_time_ps", UINT64_MAX);
}

/* Orders by time; equal ones stay in the order of points. */
static void sort_points(struct wf_tune *tune, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        size_t own = tune->order[i], at = i;
        uint64_t time = time_of(&tune->study.points[own]);
        for (; at > 0 && time_of(&tune->study.points[tune->order[at - 1]]) > time; at--) {
            tune->order[at] = tune->order[at - 1];
        }
        tune->order[at] = own;
    }
}

static enum wf_status nothing_fits(const struct wf_tune *tune, struct wf_err *err)
{
    size_t first = 0;

    while (first + 1 < tune->study.n_points && tune->state[first] != WF_TUNE_IMPOSSIBLE) {
        first++;
    }
    if (tune->counts[WF_TUNE_TOO_LARGE] == 0) {
        *err = tune->study.points[first].err;
        return wf_err_set(err, err->status, "tune: no combination is possible: %.300s",
                          tune->study.points[first].err.text);
    }
    return wf_err_set(
        err, WF_EINVAL,
        "tune: nothing fits: %zu of %zu combinations need more memory than a device "
        "has (cpu.memory), and %zu are impossible%s%.200s; take more ranks, or "
        "--vary gen.zero=1,3",
        tune->counts[WF_TUNE_TOO_LARGE], tune->study.n_points, tune->counts[WF_TUNE_IMPOSSIBLE],
        tune->counts[WF_TUNE_IMPOSSIBLE] > 0 ? ", the first because of: " : "",
        tune->counts[WF_TUNE_IMPOSSIBLE] > 0 ? tune->study.points[first].err.text : "");
}

/* Drops points that recompute more than they need to, and lists those that fit. */
static enum wf_status choose(struct wf_tune *tune, struct wf_err *err)
{
    const struct wf_study *study = &tune->study;
    bool grouped =
        study->n_keys > 0 && strcmp(study->keys[study->n_keys - 1], "gen.recompute") == 0;

    for (size_t i = 0; i < study->n_points; i++) {
        bool first =
            !grouped || strcmp(study->points[i].values[study->n_keys - 1]->text, "none") == 0;
        uint8_t before = i > 0 ? tune->state[i - 1] : WF_TUNE_IMPOSSIBLE;
        if (!first && tune->state[i] == WF_TUNE_FITS &&
            (before == WF_TUNE_FITS || before == WF_TUNE_NEEDLESS)) {
            tune->state[i] = WF_TUNE_NEEDLESS;
        }
        tune->counts[tune->state[i]]++;
        if (tune->state[i] == WF_TUNE_FITS) {
            tune->order[tune->n_order++] = i;
        }
    }
    return tune->n_order > 0 ? WF_OK : nothing_fits(tune, err);
}

/* Points are ranked in batches, from the least time that they can take on, whatever the number of jobs. */
enum { BATCH = 16 };

/* Orders by the least time; equal ones stay in the order of points. */
static void sort_by_least(struct wf_tune *tune)
{
    for (size_t i = 1; i < tune->n_order; i++) {
        size_t own = tune->order[i], at = i;
        for (; at > 0 && tune->least_ps[tune->order[at - 1]] > tune->least_ps[own]; at--) {
            tune->order[at] = tune->order[at - 1];
        }
        tune->order[at] = own;
    }
}

/* The best points so far. */
struct best {
    size_t points[WF_TUNE_SHOWN];
    size_t n;
    /* For each of them and each key: the least time of a point with another value. */
    int64_t otherwise[WF_TUNE_SHOWN][WF_STUDY_KEYS_MAX];
};

static void find_best(const struct wf_tune *tune, struct best *best)
{
    const struct wf_study *study = &tune->study;

    best->n = 0;
    for (size_t i = 0; i < tune->n_order; i++) {
        size_t point = tune->order[i], at = best->n;
        int64_t time = tune->fast_ps[point];
        while (time > 0 && at > 0 && tune->fast_ps[best->points[at - 1]] > time) {
            at--;
        }
        if (time == 0 || at == WF_TUNE_SHOWN) {
            continue;
        }
        best->n += best->n < WF_TUNE_SHOWN ? 1 : 0;
        memmove(&best->points[at + 1], &best->points[at],
                (best->n - at - 1) * sizeof(best->points[0]));
        best->points[at] = point;
    }
    for (size_t b = 0; b < best->n; b++) {
        for (size_t k = 0; k < study->n_keys; k++) {
            best->otherwise[b][k] = INT64_MAX;
            for (size_t i = 0; i < tune->n_order; i++) {
                size_t point = tune->order[i];
                if (tune->fast_ps[point] > 0 && study->points[point].values[k] !=
                                                    study->points[best->points[b]].values[k]) {
                    best->otherwise[b][k] =
                        wf_min_i64(best->otherwise[b][k], tune->fast_ps[point]);
                }
            }
        }
    }
}

/* Whether a point may be among the best that are shown, or the best with another value than one of
 * those that may win in detail. */
static bool may_count(const struct wf_tune *tune, const struct best *best, size_t candidates,
                      size_t point)
{
    const struct wf_study *study = &tune->study;
    int64_t least = tune->least_ps[point];

    if (best->n < WF_TUNE_SHOWN || least < tune->fast_ps[best->points[best->n - 1]]) {
        return true;
    }
    for (size_t b = 0; b < best->n && b < candidates; b++) {
        for (size_t k = 0; k < study->n_keys; k++) {
            if (least < best->otherwise[b][k] &&
                study->points[point].values[k] != study->points[best->points[b]].values[k]) {
                return true;
            }
        }
    }
    return false;
}

/* Ranks the next points that may count. Returns how many; sets *going to false if it was interrupted. */
static size_t rank_batch(struct wf_tune *tune, const struct wf_tune_options *options,
                         struct stage *stage, bool *going)
{
    size_t candidates = options->top > 1 ? options->top : 1, n = 0;
    size_t list[BATCH];
    struct best best;

    find_best(tune, &best);
    for (size_t i = 0; i < tune->n_order && n < BATCH; i++) {
        size_t point = tune->order[i];
        if (tune->state[point] == WF_TUNE_FITS && may_count(tune, &best, candidates, point)) {
            list[n++] = point;
        }
    }
    stage->list = list;
    *going = wf_points_run(&options->ranks, n, 0, run_point, stage);
    for (size_t i = 0; i < n; i++) {
        uint64_t time = time_of(&tune->study.points[list[i]]);
        tune->fast_ps[list[i]] = time < INT64_MAX ? (int64_t)time : 0;
        tune->state[list[i]] = WF_TUNE_RANKED;
    }
    stage->list = NULL;
    return n;
}

static enum wf_status rank(struct wf_tune *tune, const struct wf_tune_options *options,
                           struct wf_err *err)
{
    bool folds = wf_scenario_find(tune->base, "replay.copies") == NULL;
    const char *const fast[][2] = {
        {"network", options->fast}, {folds ? "replay.copies" : NULL, "one"}, {NULL, NULL}};
    struct stage stage = {.tune = tune, .more = fast};
    size_t n = 0, fits = tune->n_order;
    bool going = true;

    sort_by_least(tune);
    do {
        n = rank_batch(tune, options, &stage, &going);
    } while (going && n > 0);
    n = 0;
    if (!going) {
        return wf_err_set(err, WF_EINTR, "tune: interrupted");
    }
    for (size_t i = 0; i < fits; i++) {
        if (tune->state[tune->order[i]] == WF_TUNE_RANKED) {
            tune->order[n++] = tune->order[i];
        }
    }
    tune->counts[WF_TUNE_SLOW] = fits - n;
    tune->n_order = n;
    sort_points(tune, n);
    const struct wf_study_point *best = &tune->study.points[tune->order[0]];
    if (best->doc == NULL) {
        *err = best->err;
        return err->status;
    }
    return WF_OK;
}

/* Replicas do the same, and messages of 64 KiB take the same time as smaller ones. */
static enum wf_status detail(struct wf_tune *tune, const struct wf_tune_options *options,
                             struct wf_err *err)
{
    const struct wf_setting *network = wf_scenario_find(tune->base, "network");
    const struct wf_setting *packet = wf_scenario_find(tune->base, "net.packet");
    bool by_packets = network != NULL && strcmp(network->value, "packet") == 0 &&
                      (packet == NULL || packet->place != NULL);
    const char *const fine[][2] = {
        {"replay.copies", "one"}, {by_packets ? "net.packet" : NULL, "64KiB"}, {NULL, NULL}};
    struct stage stage = {tune, tune->order, fine};

    if (network == NULL || strcmp(network->value, options->fast) == 0) {
        return WF_OK;
    }
    tune->n_detailed = tune->n_order < options->top ? tune->n_order : options->top;
    if (!wf_points_run(&options->details, tune->n_detailed, 0, run_point, &stage)) {
        return wf_err_set(err, WF_EINTR, "tune: interrupted");
    }
    for (size_t i = 0; i < tune->n_detailed; i++) {
        const struct wf_study_point *point = &tune->study.points[tune->order[i]];
        if (point->err.status != WF_OK) {
            *err = point->err;
            return err->status;
        }
    }
    sort_points(tune, tune->n_detailed);
    return WF_OK;
}

static enum wf_status require(const struct wf_scenario *base, const char *key,
                              const char *words, struct wf_err *err)
{
    return wf_scenario_find(base, key) != NULL
               ? WF_OK
               : wf_err_set(err, WF_EUSAGE, "tune: %s is missing: %s", key, words);
}

enum wf_status wf_study_tune_run(const struct wf_scenario *base,
                                 const struct wf_tune_options *options, struct wf_tune **out,
                                 struct wf_err *err)
{
    struct wf_tune *tune = *out = wf_xcalloc(1, sizeof(*tune));
    struct stage stage = {.tune = tune};

    tune->base = base;
    WF_TRY(require(base, "ranks", "-n says how many devices there are", err));
    WF_TRY(require(base, "gen.batch",
                   "-p gen.batch=1024 says how many sequences a step has, whatever divides it",
                   err));
    WF_TRY(make_points(tune, options, err));
    if (!wf_points_run(&options->checks, tune->study.n_points, 0, check_point, &stage)) {
        return wf_err_set(err, WF_EINTR, "tune: interrupted");
    }
    WF_TRY(choose(tune, err));
    WF_TRY(rank(tune, options, err));
    return detail(tune, options, err);
}

void wf_study_tune_free(struct wf_tune *tune)
{
    if (tune == NULL) {
        return;
    }
    for (size_t i = 0; i < tune->study.n_points; i++) {
        wf_doc_free(tune->study.points[i].doc);
    }
    for (size_t i = 0; i < tune->study.n_all; i++) {
        free(tune->study.all[i].key);
        free(tune->study.all[i].text);
    }
    free(tune->study.all);
    free(tune->study.points);
    free(tune->state);
    free(tune->fast_ps);
    free(tune->least_ps);
    free(tune->order);
    free(tune);
}

void wf_study_tune_keep_results(struct wf_tune *tune)
{
    struct wf_study_point *kept = wf_xcalloc(tune->n_order, sizeof(*kept));
    size_t n = 0;

    for (size_t i = 0; i < tune->n_order; i++) {
        struct wf_study_point *point = &tune->study.points[tune->order[i]];
        if (point->doc != NULL) {
            kept[n++] = *point;
            point->doc = NULL;
        }
    }
    for (size_t i = 0; i < tune->study.n_points; i++) {
        wf_doc_free(tune->study.points[i].doc);
    }
    free(tune->study.points);
    tune->study.points = kept;
    tune->study.n_points = n;
}
