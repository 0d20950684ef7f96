/* SPDX-License-Identifier: Apache-2.0 */
#include "program/extrapolate/unmatched.h"

#include "base/rng.h"

#include <inttypes.h>
#include <stdio.h>

/* A message of an op: from, to and tag in one number. */
struct side {
    bool is_there;
    uint32_t peer;
    uint64_t key;
};

static uint64_t key_of(uint32_t from, uint32_t to, int32_t tag)
{
    return wf_rng_mix(((uint64_t)from << 32 | to) + wf_rng_mix((uint32_t)tag));
}

static struct side sent_by(uint32_t rank, const struct wf_ext_played *played)
{
    const struct wf_op_info *info = wf_op_info((enum wf_op_kind)played->shape->kind);
    bool sends = info->family == WF_FAMILY_SEND || info->family == WF_FAMILY_SENDRECV;
    uint32_t peer = played->op.peer[0];

    return (struct side){.is_there = sends && peer < WF_PROC_NULL,
                         .peer = peer,
                         .key = key_of(rank, peer, played->op.tag[0])};
}

static struct side received_by(uint32_t rank, const struct wf_ext_played *played)
{
    const struct wf_op_info *info = wf_op_info((enum wf_op_kind)played->shape->kind);
    bool receives = info->family == WF_FAMILY_RECV || info->family == WF_FAMILY_SENDRECV;
    uint32_t slot = info->family == WF_FAMILY_SENDRECV ? 1 : 0, peer = played->op.peer[slot];

    return (struct side){.is_there = receives && peer < WF_PROC_NULL,
                         .peer = peer,
                         .key = key_of(peer, rank, played->op.tag[slot])};
}

void wf_ext_balance_add(struct wf_ext_balance *balance, uint32_t rank,
                        const struct wf_ext_played *played)
{
    const struct wf_op_info *info = wf_op_info((enum wf_op_kind)played->shape->kind);
    const struct side out = sent_by(rank, played), in = received_by(rank, played);
    uint32_t slot = info->family == WF_FAMILY_SENDRECV ? 1 : 0;
    bool receives = info->family == WF_FAMILY_RECV || info->family == WF_FAMILY_SENDRECV;

    balance->is_unknown = balance->is_unknown || played->shape->any != 0 ||
                          info->family == WF_FAMILY_PERSISTENT ||
                          (receives && played->op.tag[slot] == WF_ANY_TAG);
    balance->sum += out.is_there ? out.key : 0;
    balance->sum -= in.is_there ? in.key : 0;
}

/* ---- which one ---- */

struct search {
    const struct wf_ext_player *player;
    struct wf_map surplus; /* by message: how many more are sent than received, modulo 2^64 */
    bool reports;          /* the second time */
};

static uint32_t comm_size(void *arg, uint32_t rank, uint32_t comm)
{
    const struct wf_ext_player *player = ((struct search *)arg)->player;

    return player->comm_size(player->arg, rank, comm);
}

static enum wf_status report(const struct search *search, uint32_t rank,
                             const struct wf_ext_played *played, const struct side *side,
                             bool sends, struct wf_err *err)
{
    char why[160];

    (void)snprintf(why, sizeof(why),
                   "with %" PRIu32 " ranks, rank %" PRIu32 " would %s rank %" PRIu32
                   ", which %s: the rules do not fit",
                   search->player->grid->n, rank, sends ? "send to" : "receive from",
                   side->peer, sends ? "has no receive for it" : "does not send");
    return wf_ext_refuse(search->player->model, played->step->statements[0], why, err);
}

static enum wf_status look(void *arg, uint32_t rank, const struct wf_ext_played *played,
                           struct wf_err *err)
{
    struct search *search = arg;
    const struct side sides[] = {sent_by(rank, played), received_by(rank, played)};

    for (uint32_t i = 0; i < 2; i++) {
        if (!sides[i].is_there) {
            continue;
        }
        uint64_t *surplus = wf_map_put(&search->surplus, sides[i].key);
        if (!search->reports) {
            *surplus += i == 0 ? 1 : UINT64_MAX;
        } else if ((int64_t)*surplus > 0 ? i == 0 : *surplus != 0 && i == 1) {
            return report(search, rank, played, &sides[i], i == 0, err);
        }
    }
    return WF_OK;
}

enum wf_status wf_ext_refuse_unmatched(const struct wf_ext_player *player, struct wf_err *err)
{
    struct search search = {.player = player};
    struct wf_ext_player other = *player;
    enum wf_status status = WF_OK;

    other.comm_size = comm_size;
    other.play = look;
    other.arg = &search;
    for (uint32_t pass = 0; pass < 2 && status == WF_OK; pass++) {
        search.reports = pass > 0;
        for (uint32_t r = 0; r < player->grid->n && status == WF_OK; r++) {
            status = wf_ext_play(&other, r, err);
        }
    }
    wf_map_fini(&search.surplus);
    return status != WF_OK ? status
                           : wf_err_set(err, WF_EINVAL,
                                        "with %u ranks, messages and receives would not match",
                                        player->grid->n);
}
