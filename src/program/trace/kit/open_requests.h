/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The requests of one rank that a foreign trace has begun and not yet completed, by the names
 * that the trace has for them. A zeroed struct is an empty table.
 *
 * Several requests may have one name: MPI libraries hand out the same handle for all sends that
 * are complete at once. The oldest of them is completed first. Each request gets the lowest
 * free number, from 1, so that the ops of a program that repeats itself repeat too.
 */

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct wf_open_request {
    int64_t name;
    uint32_t number;
    uint32_t newer; /* the next request of this name, or 0 */
    uint32_t call;  /* that looked at it last */
    uint64_t serial;
    bool receives, persistent, wild, cancelled;
};

/* The open requests of a name, if `epoch` is that of the table; else it has none. */
struct wf_open_name {
    int64_t name;
    uint32_t oldest, newest; /* items; 0: none */
    uint32_t epoch;          /* 0: this place is free */
};

struct wf_open_requests {
    struct wf_open_request *items; /* item 0 is not used */
    uint32_t n, capacity, free;
    /* A hash table. Names without requests stay in it until it grows, since programs use most
     * of them again. */
    struct wf_open_name *names;
    uint32_t n_names, names_capacity; /* a power of two, or 0 */
    uint32_t epoch;                   /* changes when all requests are complete */
    uint32_t n_open, call;
    uint64_t *taken; /* a bit for each number */
    uint32_t n_words, words_capacity, lowest;
};

void wf_open_requests_fini(struct wf_open_requests *all); /* leaves an empty table */

/* Begins a request, of which only the name and the number are set. The pointer is valid until
 * the next request begins. */
struct wf_open_request *wf_open_requests_add(struct wf_open_requests *all, int64_t name);

/* A new call begins. It finds each request at most once. */
void wf_open_requests_call(struct wf_open_requests *all);

/* The oldest request of this name that the call has not found yet, or null. */
struct wf_open_request *wf_open_requests_find(struct wf_open_requests *all, int64_t name);

/* The request is complete: its number is free. */
void wf_open_requests_remove(struct wf_open_requests *all, struct wf_open_request *request);

/* The request has lost its name, but is not known to be complete: its number stays taken. */
void wf_open_requests_forget(struct wf_open_requests *all, struct wf_open_request *request);

/* If no request of `from` is open and no number taken, gives its memory to `to`, which is empty. */
void wf_open_requests_hand_over(struct wf_open_requests *from, struct wf_open_requests *to);

/* All requests are complete: appends their numbers, from the lowest on, and returns how many
 * there were. */
uint32_t wf_open_requests_clear(struct wf_open_requests *all, struct wf_buf *numbers);
