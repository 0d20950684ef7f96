/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPI_COLL_COLL_H
#define WF_MPI_COLL_COLL_H

/*
 * Collectives as algorithms over point-to-point messages.
 *
 * An algorithm is arithmetic: what a rank does in a step is a function of its number, the size
 * of the communicator, the bytes and the step. A step is at most one message sent and at most
 * one received; the rank goes on to its next step when it has both. Combining data takes no
 * time.
 *
 * To add an algorithm: one .c file that defines a const struct wf_coll_ops, and one line in
 * mpi/coll/registry.c. The conformance test picks it up from there.
 */

#include <stdbool.h>
#include <stdint.h>

/* One row per collective: the enumerator and its name. */
#define WF_COLL_MAP(X)    \
    X(BARRIER, "barrier") \
    X(ALLREDUCE, "allreduce")

enum wf_coll_kind {
#define X(name, text) WF_COLL_##name,
    WF_COLL_MAP(X)
#undef X
};

#define WF_COLL_NOBODY UINT32_MAX

struct wf_coll_step {
    uint32_t send_to, recv_from; /* ranks of the communicator, or WF_COLL_NOBODY */
    uint64_t bytes;              /* of each message */
};

/* A rank's place in a collective. */
struct wf_coll_place {
    uint32_t rank, size; /* size >= 1 */
    uint64_t bytes;      /* of each rank's contribution */
};

/* All members are required. */
struct wf_coll_ops {
    const char *name;
    const char *summary; /* one line, for --help */
    enum wf_coll_kind kind;
    /* Whether the algorithm can serve a communicator of this size. */
    bool (*applies)(uint32_t size, uint64_t bytes);
    /* What the rank does in this step; false when the steps before were all. A step without
     * messages is allowed. */
    bool (*step)(const struct wf_coll_place *place, uint32_t step, struct wf_coll_step *out);
};

extern const struct wf_coll_ops wf_coll_allreduce_recursive_doubling;
extern const struct wf_coll_ops wf_coll_barrier_dissemination;

/* The registered algorithms in a fixed order, null-terminated. Of those that apply, the first
 * of its kind is the default. */
const struct wf_coll_ops *const *wf_coll_table(void);

/* The number in the table of the algorithm to use. */
uint16_t wf_coll_choose(enum wf_coll_kind kind, uint32_t size, uint64_t bytes);

#endif
