/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/polling.h"

#include "base/int128.h"
#include "base/rng.h"
#include "base/units.h"
#include "model/ranks/node_params.h"

/* Separates these random numbers from all others of the run. */
#define STREAMS UINT64_C(0x6c6f6f6b73)

/* The time between two polls. On cores that all nodes share, every rank of a core takes a turn
 * in it. */
static int64_t period_of(const struct wf_node_params *node, uint32_t n_ranks)
{
    uint64_t cores = node->host_cores;

    if (cores == WF_PARAM_WORD) {
        return node->poll;
    }
    if (n_ranks <= cores) {
        return 0;
    }
    wf_u128 period = (wf_u128)(uint64_t)node->poll * n_ranks / cores;
    return period > (wf_u128)WF_TIME_MAX ? WF_TIME_MAX : (int64_t)period;
}

struct wf_node_polling wf_node_polling_of(const struct wf_node_params *node, uint32_t n_ranks,
                                          uint64_t seed)
{
    return (struct wf_node_polling){.period = period_of(node, n_ranks),
                                    .seed = wf_rng_mix(seed ^ STREAMS)};
}

static int64_t poll_in(const struct wf_node_polling *polling, uint32_t rank, uint64_t i)
{
    uint64_t length = (uint64_t)polling->period;
    wf_u128 at =
        (wf_u128)i * length + wf_rng_below(wf_rng_draw(polling->seed, rank, i), length);

    return at > (wf_u128)WF_TIME_MAX ? WF_TIME_MAX : (int64_t)at;
}

int64_t wf_node_next_poll(const struct wf_node_polling *polling, uint32_t rank, int64_t at)
{
    if (polling->period <= 0) {
        return at;
    }
    uint64_t i = (uint64_t)at / (uint64_t)polling->period;
    int64_t poll = poll_in(polling, rank, i);

    return poll >= at ? poll : poll_in(polling, rank, i + 1);
}
