/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_DUMPI_CALLS_H
#define WF_TRACE_DUMPI_CALLS_H

/* What trace/dumpi/comms.h keeps: for the two files that implement it. */

#include "trace/dumpi/comms.h"

enum { WF_DUMPI_EVENT_VALUES = 4, WF_DUMPI_WORLD = 0, WF_DUMPI_SELF = 1 };

/* A call that makes a communicator or a group. */
struct wf_dumpi_event {
    uint16_t function;
    int16_t parent, made;                  /* handles of the rank */
    int32_t values[WF_DUMPI_EVENT_VALUES]; /* the other numbers, in their order */
    int32_t *list;                         /* the first array */
    uint32_t n_list;
    uint32_t result;
};

struct wf_dumpi_events {
    struct wf_dumpi_event *items;
    uint32_t n, capacity, next; /* which is to be played */
};

/* How far the calls on a communicator are. */
struct wf_dumpi_progress {
    uint32_t n_arrived;
    bool waits_for_other; /* all are there, but the other side of an intercommunicator is not */
};

struct wf_dumpi_comms {
    uint32_t n_ranks;
    struct wf_dumpi_events *events; /* of each rank */
    struct wf_dumpi_comm *items;
    uint32_t **owned; /* the members that are to be freed with it */
    struct wf_dumpi_progress *progress;
    uint32_t n, capacity, next_id;
};

/* Adds a communicator and returns its place; takes `owned`. */
uint32_t wf_dumpi_comms_add(struct wf_dumpi_comms *comms, const struct wf_dumpi_comm *comm,
                            uint32_t *owned);

#endif
