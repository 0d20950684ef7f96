/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Builds programs of a few ranks op by op, for random_program.h. */

#include "base/mem.h"
#include "harness/script.h"
#include "harness/wf_test.h"

enum { PROGRAM_RANKS = 9, PROGRAM_OPS = 4096, PROGRAM_COUNTS = PROGRAM_RANKS };

struct program {
    struct script script;
    struct wf_op *ops[PROGRAM_RANKS];
    uint32_t n[PROGRAM_RANKS];
    uint64_t counts[PROGRAM_COUNTS]; /* for collectives whose blocks differ in length */
    uint64_t seed, draw;
};

/* Random numbers that are the same for all ranks. */
static inline uint64_t program_draw(struct program *p, uint64_t below)
{
    return wf_test_rand(p->seed, 0, p->draw++) % below;
}

static inline void program_add(struct program *p, uint32_t rank, struct wf_op op)
{
    if (p->n[rank] + 1 == PROGRAM_OPS) {
        abort();
    }
    p->ops[rank][p->n[rank]++] = op;
}

static inline void program_add_all(struct program *p, struct wf_op op)
{
    for (uint32_t rank = 0; rank < PROGRAM_RANKS; rank++) {
        program_add(p, rank, op);
    }
}

/* Every rank computes, each for a different time. */
static inline void program_compute(struct program *p)
{
    for (uint32_t rank = 0; rank < PROGRAM_RANKS; rank++) {
        int64_t duration = (int64_t)program_draw(p, 8000000);
        program_add(p, rank, (struct wf_op)COMPUTE(duration));
    }
}

static inline uint32_t program_up(uint32_t rank, uint32_t shift)
{
    return (rank + shift) % PROGRAM_RANKS;
}

static inline uint32_t program_down(uint32_t rank, uint32_t shift)
{
    return (rank + PROGRAM_RANKS - shift) % PROGRAM_RANKS;
}

/* Communicator 1 has every other rank, communicator 2 the ranks with the same remainder modulo
 * 3 in reverse order. */
static inline bool program_group(uint32_t rank, uint32_t comm, struct wf_group *out)
{
    static const uint32_t members[3][3] = {{6, 3, 0}, {7, 4, 1}, {8, 5, 2}};

    if (comm == 1) {
        uint32_t odd = rank % 2, size = (PROGRAM_RANKS + 1 - odd) / 2;
        *out = (struct wf_group){.id = 1 + odd,
                                 .size = size,
                                 .rank = rank / 2,
                                 .first = odd,
                                 .stride = 2,
                                 .width = size};
        return true;
    }
    *out = (struct wf_group){
        .id = 3 + rank % 3, .size = 3, .rank = 2 - rank / 3, .members = members[rank % 3]};
    return comm == 2;
}
