/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Formula collectives: `ideal`, `hardware` and `nccl` (enum wf_formula). They send no messages
 * through the network and spend no CPU time. When a rank continues depends on when others
 * called; separate events carry that information. See docs/models/collectives-by-formula.md.
 * Private to ranks/.
 */

#include "model/ranks/collective.h"

/* A rank's knowledge about a formula collective: a cell that lives from the first signal or
 * the rank's own call to the release. wf_rank_cold.handles finds it by a number whose highest bit
 * is set. */
struct wf_formula_entry {
    uint32_t context;
    int32_t tag;
    uint32_t next;     /* cell of another entry with the same number, or 0 */
    uint32_t own_call; /* cell of the rank's own collective; 0 before its call */
    int64_t at;        /* hub: the latest call so far; elsewhere: when to continue */
    uint64_t bytes;    /* hub: the largest size so far; elsewhere: own or released size */
    uint32_t awaited;  /* rank that this one waits for; WF_MATCH_ANY_SOURCE at the hub */
    uint32_t reports;  /* hub: reports so far */
    uint32_t last;     /* hub: rank whose call was the latest */
    uint32_t first;    /* hub: rank that reported first */
    uint32_t odd;      /* hub: rank whose size differs from that of `first`, if has_odd */
    uint8_t has_odd;
    uint8_t released; /* elsewhere: released before the rank's own call */
    uint16_t padding;
    uint64_t
        value; /* hub: the odd size; its own size once it has called; the sum of a gatherv */
};

_Static_assert(sizeof(struct wf_formula_entry) <= WF_REQ_SIZE, "a entry is a cell");

#define WF_FORMULA_NUMBERS UINT32_C(0x80000000) /* no handle is that large */

static inline const struct wf_formula_entry *wf_formula_read(const struct wf_caller *who,
                                                             uint32_t cell)
{
    return wf_cell_read(who->ctx, cell);
}

/* A collective in progress. */
struct wf_formula_call {
    const struct wf_coll_args *args;
    const struct wf_rank_group *group;
    int32_t tag;  /* the same at all members; unique on the communicator */
    int64_t from; /* where all wait for all: when this member is counted as having called */
};

/* The bytes that this member sends or the bytes that it receives, whichever is more. */
uint64_t wf_formula_bytes(const struct wf_coll_args *args);

/* The latest `from` of this member with which a collective ends at `end` or little later. */
int64_t wf_formula_latest_start(const struct wf_caller *who, const struct wf_coll_args *args,
                                int64_t end);

/* Begins or continues a collective; true if it is complete at the time of its clock. */
bool wf_formula_run(const struct wf_caller *who, uint32_t cell,
                    const struct wf_formula_call *call);

/* What one member tells another. */
enum { WF_FORMULA_REPORT, WF_FORMULA_RELEASE };

/* The payload of WF_NODE_SIGNAL; it has no padding. */
struct wf_formula_signal {
    int64_t time;   /* report: when the member called; release: when to continue */
    uint64_t bytes; /* report: size of the call; release by the root: the receiver's size */
    uint32_t context;
    int32_t tag;
    uint32_t src; /* a rank of the run */
    uint16_t slot, what;
};

/* A signal has reached this rank. */
void wf_formula_signalled(const struct wf_caller *who, const struct wf_formula_signal *signal);
