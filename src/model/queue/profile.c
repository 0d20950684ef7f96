/* SPDX-License-Identifier: Apache-2.0 */
#include "model/queue/profile.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

static int by_time(const void *a, const void *b)
{
    const struct wf_queue_step *x = a, *y = b;

    return WF_ORDER(x->at, y->at);
}

static void add(struct wf_queue_profile *profile, int64_t at, int64_t change)
{
    WF_PUSH(profile->steps, profile->n, profile->capacity,
            (struct wf_queue_step){.at = at, .free = change});
}

/* Collects changes, sorts them and adds them up. */
void wf_queue_profile_build(struct wf_queue_profile *profile, const struct wf_queue_sim *sim)
{
    profile->n = 0;
    add(profile, sim->now, sim->free);
    for (size_t i = 0; i < sim->n_uses; i++) {
        add(profile, sim->uses[i].expected, sim->uses[i].nodes);
    }
    for (size_t i = 0; i < sim->n_waiting; i++) {
        const struct wf_queue_job *job = wf_queue_waiting(sim, i);
        int64_t start = sim->planned[sim->waiting[i]];

        if (start != WF_QUEUE_NEVER) {
            add(profile, start, -(int64_t)job->nodes);
            add(profile, start + job->requested, job->nodes);
        }
    }
    WF_SORT(profile->steps, profile->n, by_time);

    size_t last = 0;
    for (size_t i = 1; i < profile->n; i++) {
        struct wf_queue_step change = profile->steps[i];

        if (change.at == profile->steps[last].at) {
            profile->steps[last].free += change.free;
        } else {
            change.free += profile->steps[last].free;
            profile->steps[++last] = change;
        }
    }
    profile->n = last + 1;
}

int64_t wf_queue_profile_find(const struct wf_queue_profile *profile, uint32_t nodes,
                              int64_t duration)
{
    const struct wf_queue_step *steps = profile->steps;
    bool fits = false;
    int64_t start = 0;

    for (size_t i = 0; i < profile->n; i++) {
        if (steps[i].free < (int64_t)nodes) {
            fits = false;
        } else if (!fits) {
            fits = true;
            start = steps[i].at;
        }
        if (fits && i + 1 < profile->n && steps[i + 1].at >= start + duration) {
            break;
        }
    }
    return start;
}

/* The place of the step that begins at this time, which is added if there is none. */
static size_t step_at(struct wf_queue_profile *profile, int64_t at)
{
    size_t low = 0;

    WF_BISECT(low, profile->n, middle, profile->steps[middle].at < at);
    if (low < profile->n && profile->steps[low].at == at) {
        return low;
    }
    WF_GROW(profile->steps, profile->n, profile->capacity);
    struct wf_queue_step *step = &profile->steps[low];
    memmove(step + 1, step, (profile->n - low) * sizeof(*step));
    *step = (struct wf_queue_step){.at = at, .free = step[-1].free};
    profile->n++;
    return low;
}

void wf_queue_profile_take(struct wf_queue_profile *profile, int64_t start, int64_t duration,
                           int64_t nodes)
{
    size_t first = step_at(profile, start), end = step_at(profile, start + duration);

    for (size_t i = first; i < end; i++) {
        profile->steps[i].free -= nodes;
    }
}

void wf_queue_profile_fini(struct wf_queue_profile *profile)
{
    free(profile->steps);
    *profile = (struct wf_queue_profile){.n = 0};
}
