/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/local.h"

#include "base/arith.h"
#include "base/units.h"
#include "model/ranks/node_params.h"
#include "model/ranks/ranks.h"

static enum wf_status check_list(const struct wf_list *list, const char *name,
                                 struct wf_err *err)
{
    return list->n == 1 || list->n == WF_CORES_DISTANCES
               ? WF_OK
               : wf_err_set(err, WF_EUSAGE,
                            "node.%s: %zu values; expected one, or three: within a domain, a "
                            "socket and a node",
                            name, list->n);
}

enum wf_status wf_local_check(const struct wf_node_params *params, struct wf_err *err)
{
    WF_TRY(check_list(&params->local_latency, "local_latency", err));
    return check_list(&params->local_bandwidth, "local_bandwidth", err);
}

/* The value for a distance; `otherwise` if it is "auto". */
static uint64_t value_of(const struct wf_list *list, int distance, uint64_t otherwise)
{
    uint64_t value = list->items[list->n == 1 ? 0 : distance];

    return value == WF_PARAM_WORD ? otherwise : value;
}

size_t wf_local_init(struct wf_local *local, const struct wf_node_params *params,
                     const struct wf_mpi_params *mpi, uint32_t slots_max, size_t offset)
{
    *local = (struct wf_local){
        .cores = wf_cores_init(params, slots_max),
        .uniform = params->local_latency.n == 1 && params->local_bandwidth.n == 1,
        .memory_bandwidth = params->memory_bandwidth,
        .offset = offset,
    };
    for (int i = 0; i < WF_CORES_DISTANCES; i++) {
        local->latency[i] =
            (int64_t)value_of(&params->local_latency, i, (uint64_t)mpi->local_latency);
        local->bandwidth[i] = value_of(&params->local_bandwidth, i, mpi->local_bandwidth);
    }
    if (params->memory_bandwidth != WF_PARAM_WORD && mpi->local) {
        local->n_memories = wf_cores_domains_used(&local->cores, slots_max);
    }
    return offset + local->n_memories * sizeof(int64_t);
}

int64_t wf_local_transfer(const struct wf_local *local, enum wf_cores_distance distance,
                          uint64_t bytes)
{
    int64_t transfer = wf_transfer_ps(bytes, local->bandwidth[distance]);

    return local->n_memories > 0
               ? wf_max_i64(transfer, wf_transfer_ps(bytes, local->memory_bandwidth))
               : transfer;
}

/* Passes the memory of one or two domains, which is free again after `busy`. Returns when the
 * message begins to pass. */
static int64_t pass_memory(const struct wf_local *local, struct wf_ctx *ctx, void *node,
                           const uint32_t domain[2], int64_t busy)
{
    int64_t *free_at = (int64_t *)(void *)((unsigned char *)node + local->offset);
    int64_t begin = wf_max_i64(wf_now(ctx), wf_max_i64(free_at[domain[0]], free_at[domain[1]]));

    for (int i = 0; i < 2; i++) {
        wf_touch(ctx, &free_at[domain[i]], sizeof(free_at[domain[i]]));
        free_at[domain[i]] = wf_time_add(begin, busy);
    }
    return begin;
}

struct wf_local_times wf_local_carry(const struct wf_local *local, struct wf_ctx *ctx,
                                     void *node, uint32_t from, uint32_t to, uint64_t bytes)
{
    enum wf_cores_distance distance = wf_local_distance(local, from, to);
    int64_t now = wf_now(ctx), begin = now;

    if (local->n_memories > 0 && bytes > 0) {
        const uint32_t domain[2] = {wf_cores_domain(&local->cores, from),
                                    wf_cores_domain(&local->cores, to)};

        begin = pass_memory(local, ctx, node, domain,
                            wf_transfer_ps(bytes, local->memory_bandwidth));
    }
    int64_t arrival = wf_time_add(begin, wf_local_transfer(local, distance, bytes));
    /* A message that is shorter than its latency has left before this event. */
    return (struct wf_local_times){.left = wf_max_i64(now, arrival - local->latency[distance]),
                                   .arrival = arrival};
}
