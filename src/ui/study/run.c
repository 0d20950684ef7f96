/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the points of a study in parallel, except for those that already have a result. */
#include "run/execute/run.h"
#include "base/mem.h"
#include "base/result/result.h"
#include "run/scenario/scenario.h"
#include "ui/report/output.h"
#include "ui/report/writer.h"
#include "ui/study/study.h"
#include "ui/study/together.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct work {
    struct wf_study *study;
    const struct wf_study_run *how;
    size_t *left, n_left; /* points without a result so far */
    pthread_mutex_t lock; /* protects the rest */
    pthread_cond_t freed; /* signalled when a point gives its memory back */
    size_t running;
    uint64_t used; /* estimated bytes of the running points */
};

static char *path_of(const struct work *work, size_t point)
{
    const char *name = work->study->points[point].name;
    size_t size = strlen(work->how->directory) + strlen(name) + 2;
    char *path = wf_xmalloc(size);

    (void)snprintf(path, size, "%s/%s", work->how->directory, name);
    return path;
}

/* ---- one point ---- */

static enum wf_status keep(const struct work *work, size_t point, struct wf_err *err)
{
    const struct wf_write_options options = {.verbose = false};
    struct wf_output *output = NULL;
    char *path = path_of(work, point);

    enum wf_status status = wf_output_open(path, true, &output, err);
    if (status == WF_OK) {
        wf_writer_json.write(work->study->points[point].doc, &options,
                             wf_output_stream(output));
        status = wf_output_commit(output, err);
    }
    free(path);
    return status;
}

static uint64_t memory_of(const struct wf_scenario *scenario, struct wf_err *err)
{
    const struct wf_sim_host host = {.world = NULL};
    struct wf_value *doc = NULL;
    uint64_t bytes = 0;

    err->status = wf_sim_explain(scenario, &host, &doc, err);
    if (err->status == WF_OK) {
        bytes = wf_doc_get_count(doc, "estimate.memory_bytes", 0);
        wf_doc_free(doc);
    }
    return bytes;
}

/* Waits until the memory budget allows the point; a point above the budget runs alone. */
static void take_memory(struct work *work, uint64_t bytes)
{
    (void)pthread_mutex_lock(&work->lock);
    while (work->running > 0 && work->used + bytes > work->how->memory) {
        (void)pthread_cond_wait(&work->freed, &work->lock);
    }
    work->running++;
    work->used += bytes;
    (void)pthread_mutex_unlock(&work->lock);
}

static void give_memory(struct work *work, uint64_t bytes)
{
    (void)pthread_mutex_lock(&work->lock);
    work->running--;
    work->used -= bytes;
    (void)pthread_cond_broadcast(&work->freed);
    (void)pthread_mutex_unlock(&work->lock);
}

/* Keeps the result of a point that was run. A partial result is not kept: the point runs again
 * next time. */
static void keep_or_drop(const struct work *work, size_t point)
{
    struct wf_study_point *own = &work->study->points[point];
    struct wf_err unkept;

    if (own->err.status == WF_EINTR) {
        wf_doc_free(own->doc);
        own->doc = NULL;
    } else if (own->doc != NULL && keep(work, point, &unkept) != WF_OK) {
        own->err = unkept;
    }
}

/* The scenario of a point with the executor that was asked for; null on failure. */
static struct wf_scenario *scenario_of(const struct work *work, size_t point,
                                       struct wf_err *err)
{
    struct wf_scenario *scenario = wf_study_scenario(work->study, point, err);

    if (scenario != NULL && work->how->exec != NULL) {
        err->status = wf_scenario_set(scenario, "engine.exec", work->how->exec, "--exec", err);
        if (err->status != WF_OK) {
            wf_scenario_free(scenario);
            return NULL;
        }
    }
    return scenario;
}

static bool run_point(void *arg, size_t i)
{
    struct work *work = arg;
    size_t point = work->left[i];
    struct wf_study_point *own = &work->study->points[point];
    const struct wf_sim_host host = {.stop = work->how->host.stop,
                                     .running = work->how->host.running,
                                     .running_arg = work->how->host.running_arg,
                                     .run_threads =
                                         wf_points_threads(&work->how->host, work->n_left)};
    struct wf_scenario *scenario = scenario_of(work, point, &own->err);

    if (scenario == NULL) {
        return true;
    }
    uint64_t bytes = memory_of(scenario, &own->err) * host.run_threads;
    if (own->err.status == WF_OK) {
        take_memory(work, bytes);
        own->err.status = wf_sim_run(scenario, &host, &own->doc, &own->err);
        give_memory(work, bytes);
    }
    keep_or_drop(work, point);
    wf_scenario_free(scenario);
    return true;
}

/* Runs all points without a result at once, if their executor is made for that. Returns false if
 * it is not; *complete tells whether all were run. */
static bool run_together(struct work *work, bool *complete)
{
    struct wf_err ignored;
    size_t n = 0;
    struct wf_scenario *first =
        work->n_left > 1 ? scenario_of(work, work->left[0], &ignored) : NULL;
    bool suits = first != NULL && wf_sim_batch_suits(first, work->n_left);

    wf_scenario_free(first);
    if (!suits) {
        return false;
    }
    struct wf_sim_item *items = wf_xcalloc(work->n_left, sizeof(*items));
    struct wf_scenario **scenarios = wf_xcalloc(work->n_left, sizeof(struct wf_scenario *));
    size_t *point_of = wf_xcalloc(work->n_left, sizeof(*point_of));
    for (size_t i = 0; i < work->n_left; i++) {
        struct wf_study_point *own = &work->study->points[work->left[i]];
        struct wf_scenario *scenario = scenario_of(work, work->left[i], &own->err);
        if (scenario != NULL) {
            scenarios[n] = scenario;
            items[n].scenario = scenario;
            point_of[n++] = work->left[i];
        }
    }
    wf_study_run_together(items, n, &work->how->host);
    *complete = true;
    for (size_t i = 0; i < n; i++) {
        struct wf_study_point *own = &work->study->points[point_of[i]];
        own->err = items[i].err;
        own->doc = items[i].doc;
        *complete = *complete && own->err.status != WF_EINTR;
        keep_or_drop(work, point_of[i]);
        wf_scenario_free(scenarios[i]);
    }
    free(point_of);
    free(scenarios);
    free(items);
    return true;
}

/* ---- all points ---- */

/* Loads the results of an earlier run of the same study; lists the other points. */
static void find_kept(struct work *work)
{
    for (size_t i = 0; i < work->study->n_points; i++) {
        struct wf_err ignored; /* points with unreadable results run again */
        char *path = path_of(work, i);
        if (access(path, R_OK) != 0 ||
            wf_result_read(path, &work->study->points[i].doc, &ignored) != WF_OK) {
            work->left[work->n_left++] = i;
        }
        free(path);
    }
}

static enum wf_status sum_up(const struct work *work, bool complete, struct wf_err *err)
{
    const struct wf_study *study = work->study;
    size_t failed = 0, first = 0;

    if (!complete) {
        return wf_err_set(err, WF_EINTR,
                          "interrupted; finished points are kept in '%.200s', the same command "
                          "goes on from there",
                          work->how->directory);
    }
    for (size_t i = study->n_points; i-- > 0;) {
        if (study->points[i].err.status != WF_OK) {
            failed++;
            first = i;
        }
    }
    if (failed == 0) {
        return WF_OK;
    }
    return wf_err_set(err, study->points[first].err.status,
                      "%zu of %zu points failed; the first, point %zu: %.300s", failed,
                      study->n_points, first + 1, study->points[first].err.text);
}

enum wf_status wf_study_run(struct wf_study *study, const struct wf_study_run *how,
                            struct wf_err *err)
{
    struct work work = {.study = study, .how = how};

    if (mkdir(how->directory, 0777) != 0 && errno != EEXIST) {
        return wf_err_set(err, WF_EIO, "cannot make the directory '%.200s': %s", how->directory,
                          strerror(errno));
    }
    work.left = wf_xcalloc(study->n_points, sizeof(*work.left));
    (void)pthread_mutex_init(&work.lock, NULL);
    (void)pthread_cond_init(&work.freed, NULL);
    find_kept(&work);
    bool complete = true;
    if (!run_together(&work, &complete)) {
        complete = wf_points_run(&how->host, work.n_left, study->n_points - work.n_left,
                                 run_point, &work);
    }
    (void)pthread_cond_destroy(&work.freed);
    (void)pthread_mutex_destroy(&work.lock);
    free(work.left);
    return sum_up(&work, complete, err);
}
