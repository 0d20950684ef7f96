/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_GEN_TRAINING_H
#define WF_GEN_TRAINING_H

/*
 * Data-parallel training of a neural network (as of Li et al., "PyTorch distributed:
 * experiences on accelerating data parallel training", VLDB 2020).
 *
 * All ranks hold the same model of `layers` layers of equal size. In each step a rank computes
 * forwards through all layers, which takes a third of `compute`, and backwards, which takes the
 * rest. Going backwards, gradients are collected in buckets; as soon as a layer fills a bucket,
 * an allreduce of the bucket is started, with `overlap` a nonblocking one that goes on while
 * the rank computes. When all are done the optimizer computes for as long as `optimizer` says.
 */

#include "gen/gen.h"

struct wf_training_params {
    uint64_t model; /* bytes of gradients */
    uint64_t bucket;
    uint64_t layers;
    uint64_t steps;
    int64_t compute;
    int64_t optimizer;
    bool overlap;
    double imbalance;
};

#endif
