/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The rules by which MPI libraries choose algorithms, as data: a table for each kind, in
 * which the first matching row counts. A call does not tell its operation and data type, so
 * operations are assumed to be commutative and predefined, and elements to have 8 bytes.
 */

#include "model/coll/coll.h"

enum { WF_COLL_ELEMENT = 8 }; /* bytes */

/* The number of elements that a library requires before it cuts them into pieces. */
enum wf_coll_enough {
    WF_COLL_ENOUGH_ANY,
    WF_COLL_ENOUGH_FOR_RANKS,   /* at least one for each rank */
    WF_COLL_ENOUGH_FOR_MEMBERS, /* at least as many as the largest power of two in the size */
};

/* An algorithm, and its replacement if it does not apply or there are too few elements. If
 * the replacement is null, the next rule decides. */
struct wf_coll_pick {
    const struct wf_coll_ops *use;
    const struct wf_coll_ops *otherwise;
    enum wf_coll_enough enough;
};

/* A rule for communicators with fewer ranks and data with fewer bytes than these limits. */
struct wf_coll_rule {
    uint32_t below_size;  /* UINT32_MAX: any */
    uint64_t below_bytes; /* UINT64_MAX: any */
    const struct wf_coll_pick *pick;
};

/* The bytes that the rules compare. */
enum wf_coll_measure {
    WF_COLL_MEASURE_GIVEN, /* `bytes` of the call */
    WF_COLL_MEASURE_TOTAL, /* sum of all blocks */
    WF_COLL_MEASURE_MEAN,  /* sum of all blocks, divided by the size */
};

/* The last rule matches any size and bytes, and its algorithm or its replacement always
 * applies. */
struct wf_coll_kind_rules {
    enum wf_coll_measure measure;
    const struct wf_coll_rule *rules;
};

/* For the tables: any limit, an algorithm without a replacement, the only rule of a kind. */
#define WF_COLL_ANY_SIZE  UINT32_MAX
#define WF_COLL_ANY_BYTES UINT64_MAX
#define WF_COLL_PICK(ops) (&(const struct wf_coll_pick){.use = &(ops)})
#define WF_COLL_ONLY(pick)                                   \
    {                                                        \
        WF_COLL_MEASURE_GIVEN, (const struct wf_coll_rule[]) \
        {                                                    \
            {                                                \
                WF_COLL_ANY_SIZE, WF_COLL_ANY_BYTES, pick    \
            }                                                \
        }                                                    \
    }

extern const struct wf_coll_kind_rules wf_coll_rules_mpich[WF_COLL_KINDS];
extern const struct wf_coll_kind_rules wf_coll_rules_openmpi[WF_COLL_KINDS];
extern const struct wf_coll_kind_rules wf_coll_rules_nccl[WF_COLL_KINDS];
