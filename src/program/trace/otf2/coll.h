/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Collectives as OTF2 records them: which one, and how many bytes a rank sent and received in
 * all. The arguments of the call are recovered as far as these two numbers tell; lengths that
 * differ from rank to rank are taken as equal ones.
 *
 * OTF2 itself says no more than "size sent" and "size received". The numbers are those of
 * Score-P (scorep_mpi_coll.inc.c of version 8, SCOREP_Mpi_Coll.c before): as if every rank sent
 * its data to every rank, itself included. For a communicator of n ranks and data, or a block,
 * of b bytes, at rank r:
 *
 *                             sent           received       in place, from version 8
 *   bcast                     root: n b      b
 *   reduce, gather            b              root: n b      root: 0, (n-1) b
 *   scatter                   root: n b      b              root: (n-1) b, 0
 *   allreduce, alltoall,
 *   reduce_scatter_block      n b            n b            (n-1) b, (n-1) b
 *   allgather                 n b            n b            (n-1) b, (n-1) b
 *   scan                      (n-r) b        (r+1) b        (n-r-1) b, r b
 *   exscan                    (n-r-1) b      r b
 *
 * With lists of lengths: their sums, and n times a rank's own for what an allgatherv sends and
 * a reduce_scatter receives. Where it cannot be told, nothing is taken to be in place.
 */

#include "base/buf.h"
#include "program/ops/op.h"
#include "program/ops/source.h"

struct wf_otf2_sizes {
    uint64_t sent, received;
};

/* The name of the collective with this number in OTF2; null if there is none. */
const char *wf_otf2_coll_name(uint32_t number);

/* Its kind of op, blocking or not; WF_OP_CALL if ops have no such collective. */
enum wf_op_kind wf_otf2_coll_kind(uint32_t number, bool blocking);

/* The number of a kind of collective; UINT32_MAX if OTF2 has none. */
uint32_t wf_otf2_coll_number(enum wf_op_kind kind);

/* Sets the lengths of an op, whose kind and root are set; lists are kept in `counts` and valid
 * until the next call. *equal is set if differing lengths were taken as equal. */
void wf_otf2_coll_read(struct wf_op *op, const struct wf_group *group,
                       const struct wf_otf2_sizes *sizes, struct wf_buf *counts, bool *equal);

/* The bytes that Score-P records for an op. */
struct wf_otf2_sizes wf_otf2_coll_sizes(const struct wf_op *op, const struct wf_group *group);
