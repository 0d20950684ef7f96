/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Progress of a pass over the ranks of a program, for who waits for it. */

#include <stddef.h>
#include <stdint.h>

struct wf_pass_progress {
    uint64_t ranks, n_ranks; /* done, and in all */
    uint64_t ops;            /* so far */
};

/* Called after every rank, and every WF_PASS_OPS ops, by one thread. Zeroed: nobody listens. */
struct wf_pass {
    void (*progress)(void *arg, const struct wf_pass_progress *progress);
    void *arg;
};

enum { WF_PASS_OPS = 1 << 16 };

static inline void wf_pass_tell(const struct wf_pass *pass,
                                const struct wf_pass_progress *progress)
{
    if (pass->progress != NULL) {
        pass->progress(pass->arg, progress);
    }
}

/* Counts an op. */
static inline void wf_pass_op(const struct wf_pass *pass, struct wf_pass_progress *progress)
{
    if (++progress->ops % WF_PASS_OPS == 0) {
        wf_pass_tell(pass, progress);
    }
}

/* Counts a rank that is done. */
static inline void wf_pass_rank(const struct wf_pass *pass, struct wf_pass_progress *progress)
{
    progress->ranks++;
    wf_pass_tell(pass, progress);
}
