/* SPDX-License-Identifier: Apache-2.0 */
/* Results copied from a device. */
#include "base/mem.h"
#include "model/net/deadlock.h"
#include "model/net/router/lockstep/group.h"

#include <stdlib.h>

/* A launch of a kernel over all threads of the device, whatever their number. */
static enum wf_status launch_plain(struct wf_lockstep_group *group, const char *kernel,
                                   void *args, size_t size, struct wf_err *err)
{
    const struct wf_gpu_launch how = {.kernel = kernel,
                                      .threads = wf_lockstep_plain_threads(group),
                                      .blocks = wf_lockstep_plain_blocks(group),
                                      .args = args,
                                      .args_size = size};

    return group->ops->launch(group->gpu, &how, err);
}

/* Adds up the counts of the blocks of one network. */
static enum wf_status sum_up(struct wf_lockstep_group *group, struct wf_err *err)
{
    struct wf_lockstep_sum sum = {.out = group->launch.net.out, .n = (uint32_t)group->n_outs};

    return group->n > 1 ? WF_OK
                        : launch_plain(group, "wf_gpu_lockstep_sum", &sum, sizeof(sum), err);
}

/* The state that is copied from the device after a run. */
struct final {
    uint32_t *packets, *blocked;    /* as in struct wf_lockstep_pack */
    struct wf_lockstep_wait *waits; /* of all networks */
    size_t *n_waits;                /* of each */
};

static enum wf_status get_state(struct wf_lockstep_group *group, struct final *final,
                                struct wf_err *err)
{
    const struct wf_lockstep_net *net = &group->launch.net;
    const struct wf_gpu_ops *ops = group->ops;
    uint64_t routers = (uint64_t)group->n * net->n,
             channels = routers * net->n_ports * net->rules.vcs;
    uint64_t bytes = (channels + routers) * sizeof(uint32_t);
    wf_gpu_address at = 0;
    enum wf_status status = ops->allocate(group->gpu, bytes, &at, err);
    struct wf_lockstep_pack pack = {.net = *net,
                                    .state_stride = group->state_bytes,
                                    .packets = wf_gpu_pointer(at),
                                    .n_nets = group->launch.n_nets};

    pack.blocked = pack.packets + channels;
    final->packets = wf_xmalloc(bytes);
    final->blocked = final->packets + channels;
    WF_THEN(status, launch_plain(group, "wf_gpu_lockstep_pack", &pack, sizeof(pack), err));
    WF_THEN(status, sum_up(group, err));
    WF_THEN(status, ops->copy_out(group->gpu, final->packets, at, bytes, err));
    ops->release(group->gpu, at);
    return status;
}

/* Lists the blocked queues of the first routers of each network. Returns their number. */
static size_t list_waits(const struct wf_lockstep_group *group, struct final *final)
{
    uint32_t n = group->launch.net.n;
    size_t all = 0, room = 0;

    for (size_t i = 0; i < group->n; i++) {
        for (uint32_t r = 0; r < n && final->n_waits[i] < WF_NET_WAITS_MAX; r++) {
            uint32_t bits = final->blocked[i * n + r];
            for (; bits != 0 && final->n_waits[i] < WF_NET_WAITS_MAX; bits &= bits - 1) {
                if (all == room) {
                    room = room == 0 ? 64 : 2 * room;
                    final->waits = wf_xrealloc(final->waits, room, sizeof(*final->waits));
                }
                final->waits[all++] = (struct wf_lockstep_wait){
                    .router = r, .input = (uint32_t)__builtin_ctz(bits), .n = (uint32_t)i};
                final->n_waits[i]++;
            }
        }
    }
    return all;
}

/* Learns what the blocked queues wait for. */
static enum wf_status get_waits(struct wf_lockstep_group *group, struct final *final,
                                struct wf_err *err)
{
    const struct wf_gpu_ops *ops = group->ops;
    wf_gpu_address at = 0;

    final->n_waits = wf_xcalloc(group->n, sizeof(*final->n_waits));
    size_t n = list_waits(group, final), bytes = n * sizeof(*final->waits);
    if (n == 0) {
        return WF_OK;
    }
    enum wf_status status = ops->allocate(group->gpu, bytes, &at, err);
    struct wf_lockstep_waits waits = {.net = group->launch.net,
                                      .state_stride = group->state_bytes,
                                      .waits = wf_gpu_pointer(at),
                                      .n = (uint32_t)n};
    WF_THEN(status, ops->copy_in(group->gpu, at, final->waits, bytes, err));
    WF_THEN(status, launch_plain(group, "wf_gpu_lockstep_waits", &waits, sizeof(waits), err));
    WF_THEN(status, ops->copy_out(group->gpu, final->waits, at, bytes, err));
    ops->release(group->gpu, at);
    return status;
}

enum wf_status wf_lockstep_group_collect(struct wf_lockstep_group *group,
                                         enum wf_status outcome, struct wf_err *err)
{
    const struct wf_lockstep_net *net = &group->launch.net;
    size_t channels = (size_t)net->n * net->n_ports * net->rules.vcs, first = 0;
    struct final final = {.packets = NULL};
    struct wf_lockstep_out *out = wf_xcalloc(1, sizeof(*out));
    enum wf_status status = get_state(group, &final, err);

    WF_THEN(status, get_waits(group, &final, err));
    for (size_t i = 0; i < group->n && status == WF_OK; i++) {
        struct wf_lockstep_task *task = group->tasks[i];
        const struct wf_lockstep_final one = {.out = out,
                                              .packets = final.packets + i * channels,
                                              .waits = final.waits != NULL ? final.waits + first
                                                                           : NULL,
                                              .n_waits = final.n_waits[i]};
        first += final.n_waits[i];
        status = group->ops->copy_out(group->gpu, out, group->out + i * sizeof(*out),
                                      sizeof(*out), err);
        if (status != WF_OK) {
            break;
        }
        task->result->blocked = out->blocked > 0;
        if (task->result->blocked) {
            task->status = wf_err_set(&task->err, WF_ELIMIT,
                                      "packets do not move any more; only events can tell "
                                      "whether this is a deadlock");
            continue;
        }
        wf_lockstep_collect(task->lockstep, &one, task->result->tally);
        task->result->cycle = group->launch.begin;
        task->result->hops = out->sends;
        task->status = outcome;
    }
    free(final.waits);
    free(final.n_waits);
    free(final.packets);
    free(out);
    return status;
}
