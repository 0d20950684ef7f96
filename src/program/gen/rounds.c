/* SPDX-License-Identifier: Apache-2.0 */
#include "program/gen/rounds.h"

#include "program/gen/make.h"

/* The steps of a round. */
enum { RECEIVE, SEND, WAIT, N_STEPS };

/* The requests of a round. */
enum { REQUEST_RECEIVE, REQUEST_SEND, N_REQUESTS };

WF_GEN_IS_CURSOR(struct wf_gen_rounds_at);

uint64_t wf_gen_rounds_messages(uint32_t n_ranks, uint64_t rounds)
{
    return rounds > UINT64_MAX / n_ranks ? 0 : rounds * n_ranks;
}

void wf_gen_rounds_step(struct wf_gen_rounds_at *at, uint64_t bytes, struct wf_op *op)
{
    uint32_t step = at->step;

    at->step = step + 1 == N_STEPS ? 0 : step + 1;
    at->round += at->step == 0;
    if (step == RECEIVE) {
        wf_gen_make_irecv(op, at->from, 0, bytes, REQUEST_RECEIVE);
    } else if (step == SEND) {
        wf_gen_make_isend(op, at->to, 0, bytes, REQUEST_SEND);
    } else {
        wf_gen_make_waitall(op, N_REQUESTS);
    }
}
