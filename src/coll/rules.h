/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_COLL_RULES_H
#define WF_COLL_RULES_H

/*
 * Rules as data: which algorithm an MPI implementation uses, for each kind a table that is read
 * from the top. Operations are taken to be commutative and predefined, and elements to have 8
 * bytes: no call says otherwise.
 */

#include "coll/coll.h"

enum { WF_COLL_ELEMENT = 8 }; /* bytes */

/* What an implementation wants of the number of elements before it cuts them into pieces. */
enum wf_coll_enough {
    WF_COLL_ENOUGH_ANY,
    WF_COLL_ENOUGH_FOR_RANKS,   /* at least one for each rank */
    WF_COLL_ENOUGH_FOR_MEMBERS, /* or for each of the largest power of two in the size */
};

/* What an implementation calls an algorithm: ours, and what it falls back to if that does not
 * apply or there are not enough elements; null if the next rule has the say. */
struct wf_coll_pick {
    const struct wf_coll_ops *use;
    const struct wf_coll_ops *otherwise;
    enum wf_coll_enough enough;
};

/* For communicators of fewer ranks and data of fewer bytes than this. */
struct wf_coll_rule {
    uint32_t below_size;  /* UINT32_MAX: any */
    uint64_t below_bytes; /* UINT64_MAX: any */
    const struct wf_coll_pick *pick;
};

/* Which bytes the rules speak of, given one block or the counts of all. */
enum wf_coll_measure {
    WF_COLL_MEASURE_GIVEN, /* `bytes` of the call */
    WF_COLL_MEASURE_TOTAL, /* of all blocks together */
    WF_COLL_MEASURE_MEAN,  /* of all blocks together, divided by the size */
};

/* The last rule is for any size and bytes, and its pick always applies or falls back to what
 * does. */
struct wf_coll_kind_rules {
    enum wf_coll_measure measure;
    const struct wf_coll_rule *rules;
};

extern const struct wf_coll_kind_rules wf_coll_rules_mpich[WF_COLL_KINDS];
extern const struct wf_coll_kind_rules wf_coll_rules_openmpi[WF_COLL_KINDS];

#endif
