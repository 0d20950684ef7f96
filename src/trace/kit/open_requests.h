/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_KIT_OPEN_REQUESTS_H
#define WF_TRACE_KIT_OPEN_REQUESTS_H

/*
 * The requests of one rank that a foreign trace has begun and not yet completed, by the names
 * that the trace has for them.
 *
 * Names may be given again while they are in use: MPI libraries hand out one and the same
 * request for all sends that are complete at once. Of several with one name the oldest is
 * completed first. Each gets the lowest number that is free, from 1, so that programs which
 * repeat themselves look so.
 */

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct wf_open_request {
    int64_t name;
    uint32_t number;
    uint32_t newer; /* of the same bucket */
    uint32_t call;  /* that looked at it last */
    uint64_t serial;
    bool receives, persistent, wild, cancelled;
};

struct wf_request_bucket {
    uint32_t oldest, newest;
};

struct wf_open_requests {
    struct wf_open_request *items; /* item 0 is none */
    uint32_t n, capacity, free;
    struct wf_request_bucket *buckets;
    uint32_t n_buckets, n_open, call;
    uint64_t *taken; /* bits of numbers */
    uint32_t n_words, lowest;
};

void wf_open_requests_init(struct wf_open_requests *all);
void wf_open_requests_fini(struct wf_open_requests *all);

/* Begins one and returns it, valid until the next is begun. Its name, its number and nothing
 * else is set. */
struct wf_open_request *wf_open_requests_add(struct wf_open_requests *all, int64_t name);

/* A new call begins: what it has looked at counts as free to be looked at again. */
void wf_open_requests_call(struct wf_open_requests *all);

/* The oldest of this name that the call has not looked at yet, or null. */
struct wf_open_request *wf_open_requests_find(struct wf_open_requests *all, int64_t name);

/* It is complete: its number is free. */
void wf_open_requests_remove(struct wf_open_requests *all, struct wf_open_request *request);

/* Nobody can ask for it by name any more, but it is not known to be complete: its number is not
 * used again. */
void wf_open_requests_forget(struct wf_open_requests *all, struct wf_open_request *request);

/* All are complete: appends their numbers, from the lowest, and returns how many. */
uint32_t wf_open_requests_clear(struct wf_open_requests *all, struct wf_buf *numbers);

#endif
