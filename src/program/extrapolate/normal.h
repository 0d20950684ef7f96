/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The ops of a rank in a form in which ranks can be compared: without what depended on time when
 * they were recorded.
 *
 *   test, testall                  a wait if it was successful, otherwise nothing
 *   iprobe                         a probe, likewise
 *   waitany, waitsome, testany,    a waitall, if together they complete their set of requests
 *   testsome                       with nothing but computing between them; the computing
 *                                  comes after it
 *   neighbour collectives          messages to and from the neighbours, as replay sends them
 *
 * What else depends on time is refused.
 */

#include "base/map.h"
#include "program/ops/source.h"

struct wf_ext_normal {
    const struct wf_source *source;
    const char *path; /* for messages */
    uint32_t rank;
    uint64_t at;       /* ops read so far */
    uint64_t n_tests;  /* calls that are waits now, or left out */
    uint64_t n_joined; /* waits for some of a set that are a waitall now */
    uint64_t n_neighbors;

    /* Private from here on. */
    struct wf_cursor cursor;
    bool ended;
    struct wf_op *queue; /* ops to return */
    uint32_t n_queue, next, queue_capacity;
    struct wf_op held;  /* computing that may become longer */
    bool holds, grows;  /* ...because an op after it was left out */
    struct wf_map open; /* requests that are not complete */
    uint32_t *drained;  /* requests that waits for some of a set have completed so far */
    uint32_t n_drained, drained_capacity;
    int64_t computed;   /* meanwhile; negative: nothing */
    uint32_t *requests; /* of the latest waitall */
    uint32_t requests_capacity;
};

/* Begins with the first op of a rank. The caller releases it with wf_ext_normal_fini(). */
void wf_ext_normal_begin(struct wf_ext_normal *normal, const struct wf_source *source,
                         const char *path, uint32_t rank);
void wf_ext_normal_fini(struct wf_ext_normal *normal);

/* Sets *op to the next op, and *more to false if there is none. What `op` points to is valid
 * until the next call. */
enum wf_status wf_ext_normal_next(struct wf_ext_normal *normal, struct wf_op *op, bool *more,
                                  struct wf_err *err);

/* WF_EINVAL: names the latest op that was read, and why it cannot be extrapolated. */
enum wf_status wf_ext_normal_refuse(const struct wf_ext_normal *normal, const struct wf_op *op,
                                    const char *why, struct wf_err *err);
