/* SPDX-License-Identifier: Apache-2.0 */
#include "gen/rounds.h"

/* The steps of a round. */
enum { RECEIVE, SEND, WAIT, N_STEPS };

/* The requests of a round. */
enum { REQUEST_RECEIVE, REQUEST_SEND, N_REQUESTS };

_Static_assert(sizeof(struct wf_rounds_at) == sizeof(struct wf_cursor),
               "a position is a cursor");

uint64_t wf_rounds_messages(uint32_t n_ranks, uint64_t rounds)
{
    return rounds > UINT64_MAX / n_ranks ? 0 : rounds * n_ranks;
}

struct wf_op wf_rounds_step(struct wf_rounds_at *at, uint64_t bytes)
{
    uint32_t step = at->step;

    at->step = step + 1 == N_STEPS ? 0 : step + 1;
    at->round += at->step == 0;
    if (step == WAIT) {
        return (struct wf_op){.kind = WF_OP_WAITALL, .count = N_REQUESTS};
    }
    return (struct wf_op){
        .kind = step == RECEIVE ? WF_OP_IRECV : WF_OP_ISEND,
        .peer = step == RECEIVE ? at->from : at->to,
        .comm = WF_COMM_WORLD,
        .request = step == RECEIVE ? REQUEST_RECEIVE : REQUEST_SEND,
        .bytes = bytes,
    };
}
