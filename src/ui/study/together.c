/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/together.h"

#include "run/execute/run.h"

struct told {
    const struct wf_points_host *host;
    size_t n;
};

/* All points advance at the same time: the fraction counts as so many complete points. */
static void tell(void *arg, const struct wf_sim_progress *progress)
{
    const struct told *told = arg;
    double fraction = progress->fraction > 0 ? progress->fraction : 0;

    told->host->progress(told->host->progress_arg, (size_t)(fraction * (double)told->n),
                         told->n);
}

void wf_study_run_together(struct wf_sim_item *items, size_t n,
                           const struct wf_points_host *host)
{
    struct told told = {.host = host, .n = n};
    const struct wf_sim_host own = {
        .stop = host->stop,
        .running = host->running,
        .running_arg = host->running_arg,
        .progress = host->progress != NULL ? tell : NULL,
        .progress_arg = &told,
    };

    wf_sim_batch_run(items, n, &own);
    if (host->progress != NULL) {
        host->progress(host->progress_arg, n, n);
    }
}
