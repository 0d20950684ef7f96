/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_GEN_IS_H
#define WF_GEN_IS_H

/*
 * Sorting of whole numbers by buckets, after the benchmark IS of the NAS Parallel Benchmarks
 * (Bailey et al., NAS report RNR-94-007). In each iteration a rank counts how many of its keys
 * fall into each bucket (computes), the counts of all ranks are added up (allreduce), every
 * rank tells every other how many keys it will get (alltoall of 4 bytes), sends them
 * (alltoallv), and sorts what it got (computes).
 *
 * The keys are spread evenly: a rank sends another keys / ranks^2 keys of 4 bytes, by `spread`
 * more or less.
 */

#include "gen/gen.h"

struct wf_is_params {
    uint64_t keys;
    uint64_t buckets;
    uint64_t iterations;
    int64_t compute;
    double spread;
};

#endif
