/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/shares.h"

#include "run/execute/world.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

static const char ending[] = ".claim-", meeting[] = "meeting";

/* Removes those of all runs: others have ended. */
static void remove_claims(const char *directory)
{
    char path[PATH_BYTES];
    DIR *dir = opendir(directory);
    struct dirent *entry;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        int n = snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
        if (strstr(entry->d_name, ending) != NULL && n < PATH_BYTES) {
            (void)unlink(path);
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
}

static void path_of(const struct wf_study_shares *shares, const char *name,
                    char path[PATH_BYTES])
{
    (void)snprintf(path, PATH_BYTES, "%s/%s%s%s", shares->directory, name, ending,
                   shares->mark);
}

enum wf_status wf_study_shares_begin(struct wf_study_shares *shares, enum wf_status status,
                                     struct wf_err *err)
{
    char path[PATH_BYTES], host[128] = "";

    shares->mark[0] = '\0';
    status = wf_world_first_error(shares->world, status, err);
    if (status != WF_OK || wf_world_size(shares->world) == 1) {
        return status;
    }
    (void)snprintf(shares->mark, sizeof(shares->mark), "%llx-%lx", (long long)time(NULL),
                   (long)getpid());
    if (wf_world_is_first(shares->world)) {
        remove_claims(shares->directory);
        (void)wf_study_shares_claim(shares, meeting);
    }
    wf_study_shares_copy(shares, shares->mark, sizeof(shares->mark));
    path_of(shares, meeting, path);
    if (access(path, W_OK) != 0) {
        (void)gethostname(host, sizeof(host) - 1);
        status =
            wf_err_set(err, WF_EIO,
                       "%s cannot write to the directory '%.200s' of the first process; -o "
                       "must name one in a file system that all hosts share",
                       host, shares->directory);
    }
    return wf_world_first_error(shares->world, status, err);
}

void wf_study_shares_copy(const struct wf_study_shares *shares, void *bytes, size_t size)
{
    wf_world_share(shares->world, bytes, size);
}

bool wf_study_shares_claim(const struct wf_study_shares *shares, const char *name)
{
    char path[PATH_BYTES];

    path_of(shares, name, path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd >= 0) {
        (void)close(fd);
        return true;
    }
    return errno != EEXIST; /* better twice than never */
}

/* ---- the end ---- */

struct failure {
    uint64_t point; /* or UINT64_MAX */
    struct wf_err err;
};

static void take_failure(void *arg, const void *bytes)
{
    struct wf_study *study = arg;
    struct failure failure;

    memcpy(&failure, bytes, sizeof(failure));
    if (failure.point < study->n_points) {
        study->points[failure.point].err = failure.err;
    }
}

bool wf_study_shares_end(const struct wf_study_shares *shares, struct wf_study *study,
                         bool complete)
{
    int64_t n = 0;
    size_t at = 0;

    for (size_t i = 0; i < study->n_points; i++) {
        n += study->points[i].err.status != WF_OK;
    }
    n = wf_world_max(shares->world, n);
    for (; n > 0 && wf_world_size(shares->world) > 1; n--) {
        struct failure failure;
        memset(&failure, 0, sizeof(failure));
        while (at < study->n_points && study->points[at].err.status == WF_OK) {
            at++;
        }
        failure.point = at < study->n_points ? at : UINT64_MAX;
        if (at < study->n_points) {
            failure.err = study->points[at++].err;
        }
        wf_world_collect(shares->world, &failure, sizeof(failure), take_failure, study);
    }
    complete = wf_world_min(shares->world, complete) != 0;
    if (shares->mark[0] != '\0' && wf_world_is_first(shares->world)) {
        remove_claims(shares->directory);
    }
    return complete;
}
