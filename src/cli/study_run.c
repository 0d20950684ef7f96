/* SPDX-License-Identifier: Apache-2.0 */
/* The points of a study side by side, those that are done before left alone. */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/interrupt.h"
#include "cli/result_file.h"
#include "cli/study.h"
#include "report/output.h"
#include "report/writer.h"
#include "sim/scenario.h"
#include "sim/sim.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct work {
    struct wf_study *study;
    const struct wf_study_run *how;
    const volatile sig_atomic_t *stop;
    pthread_mutex_t lock; /* of the rest */
    pthread_cond_t freed; /* memory was */
    size_t next, done, kept, running;
    uint64_t used; /* bytes that those who run were thought to need */
    double began;
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

/* Waits until there is room; a point that is too large for the budget runs alone. */
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

static void run_point(struct work *work, size_t point)
{
    struct wf_study_point *own = &work->study->points[point];
    const struct wf_sim_host host = {.stop = work->stop};
    struct wf_scenario *scenario = wf_study_scenario(work->study, point, &own->err);

    if (scenario == NULL) {
        return;
    }
    uint64_t bytes = memory_of(scenario, &own->err);
    if (own->err.status == WF_OK) {
        take_memory(work, bytes);
        own->err.status = wf_sim_run(scenario, &host, &own->doc, &own->err);
        give_memory(work, bytes);
    }
    if (own->err.status == WF_EINTR) {
        /* A part of a result is none. */
        wf_doc_free(own->doc);
        own->doc = NULL;
    } else if (own->doc != NULL) {
        struct wf_err unkept;
        if (keep(work, point, &unkept) != WF_OK) {
            own->err = unkept;
        }
    }
    wf_scenario_free(scenario);
}

/* ---- all of them ---- */

static void tell(const struct work *work)
{
    size_t n = work->study->n_points, now = work->done - work->kept;
    double elapsed = wf_clock_wall() - work->began;
    FILE *out = work->how->progress;

    if (out == NULL) {
        return;
    }
    (void)fprintf(out, "\r%zu of %zu points", work->done, n);
    if (now > 0 && work->done < n) {
        double left = elapsed / (double)now * (double)(n - work->done);
        (void)fprintf(out, ", about %.0f s to go", left);
    }
    (void)fprintf(out, "\033[K");
    (void)fflush(out);
}

static bool next_point(struct work *work, size_t *point)
{
    struct wf_study *study = work->study;

    (void)pthread_mutex_lock(&work->lock);
    while (work->next < study->n_points && study->points[work->next].doc != NULL) {
        work->next++;
    }
    bool any = work->next < study->n_points && *work->stop == 0;
    *point = work->next;
    work->next += any ? 1 : 0;
    (void)pthread_mutex_unlock(&work->lock);
    return any;
}

static void *labour(void *arg)
{
    struct work *work = arg;
    size_t point;

    while (next_point(work, &point)) {
        run_point(work, point);
        (void)pthread_mutex_lock(&work->lock);
        work->done++;
        tell(work);
        (void)pthread_mutex_unlock(&work->lock);
    }
    return NULL;
}

/* What an earlier run of the same study left. */
static void find_kept(struct work *work)
{
    for (size_t i = 0; i < work->study->n_points; i++) {
        struct wf_err ignored; /* what cannot be read is run again */
        char *path = path_of(work, i);
        if (access(path, R_OK) == 0 &&
            wf_result_read(path, &work->study->points[i].doc, &ignored) == WF_OK) {
            work->kept++;
        }
        free(path);
    }
    work->done = work->kept;
}

static void run_all(struct work *work)
{
    size_t left = work->study->n_points - work->kept, started = 0;
    size_t n = work->how->jobs < left ? work->how->jobs : left;
    pthread_t *threads = wf_xcalloc(n + 1, sizeof(*threads));

    work->began = wf_clock_wall();
    tell(work);
    while (started + 1 < n && pthread_create(&threads[started], NULL, labour, work) == 0) {
        started++;
    }
    (void)labour(work);
    while (started > 0) {
        (void)pthread_join(threads[--started], NULL);
    }
    if (work->how->progress != NULL) {
        (void)fprintf(work->how->progress, "\r\033[K");
    }
    free(threads);
}

static enum wf_status sum_up(const struct work *work, struct wf_err *err)
{
    const struct wf_study *study = work->study;
    size_t failed = 0, first = 0;

    if (*work->stop != 0) {
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
    struct work work = {.study = study, .how = how, .stop = wf_interrupt_watch()};

    if (mkdir(how->directory, 0777) != 0 && errno != EEXIST) {
        return wf_err_set(err, WF_EIO, "cannot make the directory '%.200s': %s", how->directory,
                          strerror(errno));
    }
    (void)pthread_mutex_init(&work.lock, NULL);
    (void)pthread_cond_init(&work.freed, NULL);
    find_kept(&work);
    run_all(&work);
    (void)pthread_cond_destroy(&work.freed);
    (void)pthread_mutex_destroy(&work.lock);
    return sum_up(&work, err);
}
