/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the points of a study in parallel, except for those that already have a result. */
#include "base/mem.h"
#include "base/result/result.h"
#include "run/execute/world.h"
#include "run/scenario/scenario.h"
#include "ui/report/output.h"
#include "ui/report/writer.h"
#include "ui/study/shares.h"
#include "ui/study/study.h"
#include "ui/study/together.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct work {
    struct wf_study *study;
    const struct wf_study_run *how;
    size_t *left, n_left; /* points without a result so far */
    struct wf_study_shares shares;
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

/* Keeps the result of a point that was run. A partial result is not kept: the point runs again
 * next time. */
static void ended(void *arg, size_t i, struct wf_value *doc, const struct wf_err *err)
{
    const struct work *work = arg;
    struct wf_study_point *own = &work->study->points[work->left[i]];
    struct wf_err unkept;

    own->err = *err;
    own->doc = doc;
    if (err->status == WF_EINTR) {
        wf_doc_free(doc);
        own->doc = NULL;
    } else if (doc != NULL && work->how->directory != NULL &&
               keep(work, work->left[i], &unkept) != WF_OK) {
        own->err = unkept;
    }
}

/* The scenario of a point with the executor that was asked for; null on failure. */
static struct wf_scenario *scenario_of(void *arg, size_t i, struct wf_err *err)
{
    const struct work *work = arg;
    struct wf_scenario *scenario = wf_study_scenario(work->study, work->left[i], err);

    if (scenario != NULL && work->how->exec != NULL) {
        err->status = wf_scenario_set(scenario, "engine.exec", work->how->exec, "--exec", err);
        if (err->status != WF_OK) {
            wf_scenario_free(scenario);
            return NULL;
        }
    }
    return scenario;
}

/* ---- all points ---- */

/* Loads the result of a point if there is one. */
static bool load(const struct work *work, size_t point)
{
    struct wf_value **doc = &work->study->points[point].doc;
    struct wf_err ignored; /* points with unreadable results run again */
    char *path = path_of(work, point);
    bool loaded = access(path, R_OK) == 0 && wf_result_read(path, doc, &ignored) == WF_OK;

    free(path);
    return loaded;
}

/* Loads the results of an earlier run of the same study; lists the other points, for all
 * processes. */
static void find_kept(struct work *work)
{
    size_t n = work->study->n_points;
    bool *kept = wf_xcalloc(n, sizeof(*kept));

    for (size_t i = 0; i < n && wf_world_is_first(work->how->world); i++) {
        kept[i] = work->how->directory != NULL && !work->how->again && load(work, i);
    }
    wf_study_shares_copy(&work->shares, kept, n * sizeof(*kept));
    for (size_t i = 0; i < n; i++) {
        if (!kept[i]) {
            work->left[work->n_left++] = i;
        }
    }
    free(kept);
}

static bool claim(void *arg, size_t i)
{
    const struct work *work = arg;

    return wf_study_shares_claim(&work->shares, work->study->points[work->left[i]].name);
}

/* Loads what other processes have simulated. */
static void find_others(const struct work *work)
{
    DIR *dir = opendir(work->how->directory); /* network file systems look again then */

    for (size_t i = 0; i < work->n_left && wf_world_is_first(work->how->world); i++) {
        struct wf_study_point *point = &work->study->points[work->left[i]];
        if (point->doc == NULL && point->err.status == WF_OK && !load(work, work->left[i])) {
            (void)wf_err_set(&point->err, WF_EIO, "its result is not in '%.200s'",
                             work->how->directory);
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
}

static enum wf_status sum_up(const struct work *work, bool complete, struct wf_err *err)
{
    const struct wf_study *study = work->study;
    size_t failed = 0, first = 0, done = 0;

    for (size_t i = study->n_points; i-- > 0;) {
        if (study->points[i].err.status != WF_OK && study->points[i].err.status != WF_EINTR) {
            failed++;
            first = i;
        }
        done += study->points[i].doc != NULL ? 1 : 0;
    }
    if (work->how->directory == NULL && (failed > 0 || !complete)) {
        *err = study->points[first].err;
        return failed > 0 ? err->status
                          : wf_err_set(err, WF_EINTR, "interrupted; %zu of %zu %s are done",
                                       done, study->n_points, work->how->what);
    }
    if (!complete) {
        return wf_err_set(err, WF_EINTR,
                          "interrupted; finished points are kept in '%.200s', the same command "
                          "goes on from there",
                          work->how->directory);
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
    struct work work = {.study = study,
                        .how = how,
                        .shares = {.world = how->world, .directory = how->directory}};
    const uint32_t processes = wf_world_size(how->world);
    enum wf_status status = WF_OK;

    if (wf_world_is_first(how->world) && how->directory != NULL &&
        mkdir(how->directory, 0777) != 0 && errno != EEXIST) {
        status = wf_err_set(err, WF_EIO, "cannot make the directory '%.200s': %s",
                            how->directory, strerror(errno));
    }
    WF_TRY(wf_study_shares_begin(&work.shares, status, err));
    work.left = wf_xcalloc(study->n_points, sizeof(*work.left));
    find_kept(&work);
    const struct wf_study_batch batch = {.n = work.n_left,
                                         .done = study->n_points - work.n_left,
                                         .host = &how->host,
                                         .memory = how->memory,
                                         .claim = processes > 1 ? claim : NULL,
                                         .share = (work.n_left + processes - 1) / processes,
                                         .scenario = scenario_of,
                                         .ended = ended,
                                         .arg = &work};
    bool complete = wf_study_shares_end(&work.shares, study, wf_study_batch_run(&batch));
    if (complete && how->directory != NULL) {
        find_others(&work);
    }
    free(work.left);
    return wf_world_agree(how->world, sum_up(&work, complete, err), err);
}
