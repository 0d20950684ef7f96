/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_DUMPI_COMMS_H
#define WF_TRACE_DUMPI_COMMS_H

/*
 * The communicators of a DUMPI trace.
 *
 * A file names communicators and groups by numbers of its own rank, and says of a new one only
 * what its own rank asked for. So the calls that make them are collected from all ranks first;
 * then they are played together, each when all members of the parent have come to it. The k-th
 * of these calls of a rank then has made a known communicator, or none.
 */

#include "ops/source.h"
#include "trace/dumpi/file.h"

#define WF_DUMPI_NO_COMM UINT32_MAX

/* Numbers of handles that the format gives. */
enum { WF_DUMPI_COMM_NULL = 1, WF_DUMPI_COMM_WORLD = 2, WF_DUMPI_COMM_SELF = 3 };

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
    uint32_t id; /* the same for all that one call made; 0 is the world, 1 each rank's own */
    uint32_t size;
    const uint32_t *members; /* null: rank r is r of the program */
    uint32_t n_low;          /* of two groups that are joined: the first; else 0 */
    uint32_t n_dims;         /* of a grid, else 0 */
    const int32_t *dims;
};

struct wf_dumpi_comms;

struct wf_dumpi_comms *wf_dumpi_comms_new(uint32_t n_ranks);
void wf_dumpi_comms_free(struct wf_dumpi_comms *comms); /* null is allowed */

/* Whether this call makes a communicator, and where its number is among the values. */
bool wf_dumpi_makes_comm(const struct wf_dumpi_record *record, int64_t *parent, int64_t *made);

/* Takes a record of a rank, in order, if it matters. */
void wf_dumpi_comms_collect(struct wf_dumpi_comms *comms, uint32_t rank,
                            const struct wf_dumpi_record *record);

/* After all ranks. Returns how many calls could not be understood, since not all ranks that
 * belong to them made them. */
uint64_t wf_dumpi_comms_resolve(struct wf_dumpi_comms *comms);

/* What the next making call of the rank made; WF_DUMPI_NO_COMM if nothing, or it is not known.
 * `*next` is 0 before the first. */
uint32_t wf_dumpi_comms_made(const struct wf_dumpi_comms *comms, uint32_t rank, uint32_t *next);

/* A communicator; of the world and WF_DUMPI_COMM_SELF the first two. */
const struct wf_dumpi_comm *wf_dumpi_comms_at(const struct wf_dumpi_comms *comms, uint32_t i);

/* As the rank sees it; false if it is no member. */
bool wf_dumpi_comms_group(const struct wf_dumpi_comms *comms, uint32_t i, uint32_t rank,
                          struct wf_group *out);

#endif
