/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Rounds of point-to-point messages that are correct under every protocol, for
 * random_program.h. */

#include "harness/random_builder.h"

/* Sends to the rank `shift` above in any mode, and computes before the wait. */
static inline void round_exchange(struct program *p)
{
    static const enum wf_op_kind modes[] = {WF_OP_ISEND, WF_OP_ISSEND, WF_OP_IBSEND,
                                            WF_OP_IRSEND};
    uint32_t shift = (uint32_t)program_draw(p, PROGRAM_RANKS);
    /* Request numbers that fit into the slots, and larger ones. */
    uint32_t first = (uint32_t)program_draw(p, 30);
    uint64_t bytes = program_draw(p, 20000);

    for (uint32_t rank = 0; rank < PROGRAM_RANKS; rank++) {
        struct wf_op send = ISEND(program_up(rank, shift), 3, bytes, first);
        send.kind = modes[program_draw(p, 4)];
        bool early = program_draw(p, 2) == 0;
        struct wf_op recv = IRECV(program_down(rank, shift), 3, first + 1);
        program_add(p, rank, early ? recv : send);
        program_add(p, rank, early ? send : recv);
    }
    program_compute(p);
    program_add_all(p, (struct wf_op)WAITALL(first, 2));
}

static inline void round_sendrecv(struct program *p)
{
    uint32_t shift = (uint32_t)program_draw(p, PROGRAM_RANKS);
    uint64_t bytes = program_draw(p, 20000);

    for (uint32_t rank = 0; rank < PROGRAM_RANKS; rank++) {
        uint32_t up = program_up(rank, shift), down = program_down(rank, shift);
        program_add(p, rank, (struct wf_op)SENDRECV(up, 5, bytes, down, 5));
    }
}

/* Along a line with blocking calls: the first rank only sends, the last one only receives. */
static inline void round_line(struct program *p)
{
    uint64_t bytes = program_draw(p, 20000), mode = program_draw(p, 2),
             probes = program_draw(p, 2);

    for (uint32_t rank = 0; rank < PROGRAM_RANKS; rank++) {
        uint32_t down = rank > 0 ? rank - 1 : WF_PROC_NULL;
        uint32_t up = rank + 1 < PROGRAM_RANKS ? rank + 1 : WF_PROC_NULL;
        struct wf_op send = SSEND(up, 6, bytes);
        send.kind = mode == 0 ? WF_OP_SEND : WF_OP_SSEND;
        if (probes) {
            program_add(p, rank, (struct wf_op)PEER_OP(PROBE, down, 6, 0, 0));
        }
        program_add(p, rank, (struct wf_op)RECV(down, 6));
        program_add(p, rank, send);
    }
}

/* Persistent requests that are started twice, by different calls. */
static inline void round_persistent(struct program *p)
{
    static const enum wf_op_kind modes[] = {WF_OP_SEND_INIT, WF_OP_SSEND_INIT,
                                            WF_OP_BSEND_INIT};
    uint32_t shift = (uint32_t)program_draw(p, PROGRAM_RANKS);
    uint64_t bytes = program_draw(p, 20000);

    for (uint32_t rank = 0; rank < PROGRAM_RANKS; rank++) {
        struct wf_op send = PEER_OP(SEND_INIT, program_up(rank, shift), 9, bytes, 14);
        send.kind = modes[program_draw(p, 3)];
        program_add(p, rank, send);
        program_add(p, rank,
                    (struct wf_op)PEER_OP(RECV_INIT, program_down(rank, shift), 9, 20000, 15));
    }
    program_add_all(p, (struct wf_op)SET_OP(STARTALL, 14, 2));
    program_compute(p);
    program_add_all(p, (struct wf_op)WAITALL(14, 2));
    program_add_all(p, (struct wf_op)SET_OP(START, 15, 1));
    program_add_all(p, (struct wf_op)SET_OP(START, 14, 1));
    program_add_all(p, (struct wf_op)WAIT(15));
    program_add_all(p, (struct wf_op)WAIT(14));
    program_add_all(p, (struct wf_op)SET_OP(REQUEST_FREE, 14, 1));
    program_add_all(p, (struct wf_op)SET_OP(REQUEST_FREE, 15, 1));
}
