/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The communicators of a DUMPI trace.
 *
 * A file names communicators and groups by handles of its own rank, and says of a new one only
 * what its own rank asked for. So the calls that create them are collected from all ranks first.
 * Then they are played together, each when all members of the parent have come to it. After
 * that it is known which communicator the k-th of these calls of a rank has created.
 */

#include "program/ops/source.h"
#include "program/trace/dumpi/file.h"

#define WF_DUMPI_NO_COMM UINT32_MAX

/* Handles that the format defines, and the places of these communicators in the table. */
enum { WF_DUMPI_COMM_NULL = 1, WF_DUMPI_COMM_WORLD = 2, WF_DUMPI_COMM_SELF = 3 };
enum { WF_DUMPI_WORLD = 0, WF_DUMPI_SELF = 1 };

/* The calls that are collected. */
enum wf_dumpi_function {
    WF_DUMPI_COMM_GROUP = 72,
    WF_DUMPI_GROUP_UNION = 73,
    WF_DUMPI_GROUP_INTERSECTION = 74,
    WF_DUMPI_GROUP_DIFFERENCE = 75,
    WF_DUMPI_GROUP_INCL = 76,
    WF_DUMPI_GROUP_EXCL = 77,
    WF_DUMPI_COMM_DUP = 84,
    WF_DUMPI_COMM_CREATE = 85,
    WF_DUMPI_COMM_SPLIT = 86,
    WF_DUMPI_INTERCOMM_CREATE = 91,
    WF_DUMPI_INTERCOMM_MERGE = 92,
    WF_DUMPI_CART_CREATE = 99,
    WF_DUMPI_GRAPH_CREATE = 101,
    WF_DUMPI_CART_SUB = 111,
};

struct wf_dumpi_comm {
    uint32_t id; /* the same for all that one call created; 0 is the world, 1 each rank's own */
    uint32_t size;
    const uint32_t *members; /* null: member r is rank r of the world */
    uint32_t *owned;         /* members to be freed with the communicator, or null */
    uint32_t n_low;          /* of an intercommunicator: ranks of the first group; else 0 */
    uint32_t n_dims;         /* of a grid, else 0 */
    int32_t *dims;
    /* While the calls are played. */
    uint32_t n_arrived;   /* ranks that have come to a call on it */
    bool waits_for_other; /* all have, but the other side of an intercommunicator has not */
};

enum { WF_DUMPI_EVENT_VALUES = 4 };

/* A call that creates a communicator or a group. */
struct wf_dumpi_event {
    uint16_t function;
    int16_t parent, created;               /* handles of the rank */
    int32_t values[WF_DUMPI_EVENT_VALUES]; /* the other numbers, in their order */
    int32_t *list;                         /* the first array */
    uint32_t n_list;
    uint32_t result; /* place of the communicator, or WF_DUMPI_NO_COMM */
};

struct wf_dumpi_events {
    struct wf_dumpi_event *items;
    uint32_t n, capacity, next; /* next: the one to be played */
};

struct wf_dumpi_comms {
    uint32_t n_ranks;
    struct wf_dumpi_events *events; /* of each rank */
    struct wf_dumpi_comm *items;
    uint32_t n, capacity, next_id;
};

struct wf_dumpi_comms *wf_dumpi_comms_new(uint32_t n_ranks);
void wf_dumpi_comms_free(struct wf_dumpi_comms *comms); /* null is allowed */

/* Adds a communicator, which takes `owned` and `dims`, and returns its place. */
uint32_t wf_dumpi_comms_add(struct wf_dumpi_comms *comms, const struct wf_dumpi_comm *comm);

/* The handle of the parent, in a call that creates a communicator or a group; the created one
 * is the last of the values. */
int64_t wf_dumpi_parent(const struct wf_dumpi_record *record);

/* Collects a record if its call creates a communicator or a group. The records of a rank come
 * in their order. */
void wf_dumpi_comms_collect(struct wf_dumpi_comms *comms, uint32_t rank,
                            const struct wf_dumpi_record *record);

/* Plays the collected calls, after those of all ranks. Returns how many calls could not be
 * resolved, since some ranks did not make them. */
uint64_t wf_dumpi_comms_resolve(struct wf_dumpi_comms *comms);

/* What the next such call of the rank created; WF_DUMPI_NO_COMM if nothing, or it is not known.
 * `*next` is 0 before the first. */
uint32_t wf_dumpi_comms_created(const struct wf_dumpi_comms *comms, uint32_t rank,
                                uint32_t *next);

/* A communicator as the rank sees it; false if the rank is no member. */
bool wf_dumpi_comms_group(const struct wf_dumpi_comms *comms, uint32_t i, uint32_t rank,
                          struct wf_group *out);
