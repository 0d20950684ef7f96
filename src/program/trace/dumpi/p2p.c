/* SPDX-License-Identifier: Apache-2.0 */
/* Records of messages. */
#include "program/trace/dumpi/walk.h"

/* The indices of the arguments of a message among the values of a record. */
enum { COUNT = 0, TYPE = 1, PEER = 2, TAG = 3, COMM = 4, REQUEST = 5 };

/* Converts a rank of the communicator to the rank in the op. In an intercommunicator, it is a
 * rank of the other group. */
static uint32_t place_of(const struct wf_dumpi_step *step, int64_t rank)
{
    uint32_t n_low = step->comm->n_low;
    struct wf_group group;

    if (n_low == 0 || rank < 0 ||
        !wf_dumpi_comms_group(step->walk->comms,
                              (uint32_t)(step->comm - step->walk->comms->items),
                              step->walk->rank, &group)) {
        return (uint32_t)rank;
    }
    return (uint32_t)rank + (group.rank < n_low ? n_low : 0);
}

static uint32_t destination(const struct wf_dumpi_step *step, int64_t rank)
{
    return rank < 0 ? WF_PROC_NULL : place_of(step, rank);
}

/* -1 is MPI_ANY_SOURCE; other negative numbers are MPI_PROC_NULL. */
static uint32_t source(const struct wf_dumpi_step *step, int64_t rank)
{
    return rank == -1 ? WF_ANY_SOURCE : destination(step, rank);
}

/* Returns whether the source at index `peer`, or the tag after it, is a wildcard. */
static bool is_wildcard(const struct wf_dumpi_record *record, uint32_t peer)
{
    return record->values[peer] == -1 || record->values[peer + 1] == -1;
}

/* Sets the message that a wildcard receive matched. A negative source is MPI_PROC_NULL. */
static void set_match(struct wf_dumpi_step *step, int32_t from, int32_t tag)
{
    step->op.recorded = true;
    step->op.matched_peer = destination(step, from);
    step->op.matched_tag = tag < 0 ? WF_ANY_TAG : tag;
}

static void match_by_status(struct wf_dumpi_step *step)
{
    const struct wf_dumpi_record *record = step->record;

    if (record->n_statuses > 0) {
        set_match(step, record->statuses[0].source, record->statuses[0].tag);
    } else {
        wf_dumpi_step_lose(step, WF_DUMPI_UNMATCHED);
    }
}

static struct wf_open_request *open_request(struct wf_dumpi_step *step, bool receives)
{
    struct wf_dumpi_walk *walk = step->walk;
    int64_t name = step->record->values[REQUEST];

    /* Only sends share request handles. So an open receive with this handle was completed by a
     * call that was not recorded. */
    wf_open_requests_call(&walk->requests);
    struct wf_open_request *old = wf_open_requests_find(&walk->requests, name);
    if (old != NULL && (old->receives || old->persistent)) {
        wf_open_requests_forget(&walk->requests, old);
    }
    struct wf_open_request *request = wf_open_requests_add(&walk->requests, name);
    request->receives = receives;
    step->op.request = request->number;
    return request;
}

/* Sets the members that sends and receives share. False if the communicator is unknown. */
static bool set_message(struct wf_dumpi_step *step)
{
    const int64_t *values = step->record->values;

    if (!wf_dumpi_step_comm(step, values[COMM])) {
        return false;
    }
    step->op.tag = (int32_t)values[TAG];
    step->op.bytes = wf_dumpi_step_bytes(step, values[COUNT], values[TYPE]);
    return true;
}

void wf_dumpi_on_send(struct wf_dumpi_step *step)
{
    const struct wf_op_info *info = wf_op_info(step->op.kind);
    bool persistent = info->family == WF_FAMILY_PERSISTENT;

    if (!set_message(step)) {
        return;
    }
    step->op.peer = destination(step, step->record->values[PEER]);
    step->op.tag = step->op.peer == WF_PROC_NULL ? 0 : step->op.tag;
    if (info->returns_request || persistent) {
        open_request(step, false)->persistent = persistent;
    }
    wf_dumpi_step_put(step);
}

/* Returns the match that the first pass found for this irecv; null if none. */
static const struct wf_dumpi_match *next_match(struct wf_dumpi_walk *walk, uint64_t serial)
{
    while (walk->next_match < walk->n_matches &&
           walk->matches[walk->next_match].serial < serial) {
        walk->next_match++;
    }
    return walk->next_match < walk->n_matches &&
                   walk->matches[walk->next_match].serial == serial
               ? &walk->matches[walk->next_match]
               : NULL;
}

void wf_dumpi_on_recv(struct wf_dumpi_step *step)
{
    struct wf_dumpi_walk *walk = step->walk;
    const struct wf_dumpi_match *match = NULL;
    enum wf_op_kind kind = step->op.kind;
    uint64_t serial = walk->serial;

    walk->serial += kind == WF_OP_IRECV ? 1 : 0;
    if (!set_message(step)) {
        return;
    }
    if (kind == WF_OP_IRECV && walk->spool != NULL) {
        match = next_match(walk, serial);
    }
    if (match != NULL && match->cancelled) {
        /* A cancelled receive matched no message, and must not take the message of another. */
        wf_dumpi_step_call(step);
        return;
    }
    step->op.peer = source(step, step->record->values[PEER]);
    if (kind != WF_OP_RECV) {
        struct wf_open_request *request = open_request(step, true);
        request->persistent = kind == WF_OP_RECV_INIT;
        request->serial = serial;
        request->wild = is_wildcard(step->record, PEER);
    }
    if (match != NULL) {
        set_match(step, match->source, match->tag);
    } else if (is_wildcard(step->record, PEER)) {
        match_by_status(step);
    }
    wf_dumpi_step_put(step);
}

/* The arguments of the receive follow those of the send. MPI_Sendrecv_replace has no count and
 * type for the receive. */
void wf_dumpi_on_sendrecv(struct wf_dumpi_step *step)
{
    const struct wf_dumpi_record *record = step->record;
    const int64_t *values = record->values;
    uint32_t comm = record->n_values - 1, from = comm - 2;

    if (!wf_dumpi_step_comm(step, values[comm])) {
        return;
    }
    step->op.bytes = wf_dumpi_step_bytes(step, values[COUNT], values[TYPE]);
    step->op.recv_bytes = from > TAG + 1
                              ? wf_dumpi_step_bytes(step, values[TAG + 1], values[TAG + 2])
                              : step->op.bytes;
    step->op.peer = destination(step, values[PEER]);
    step->op.tag = step->op.peer == WF_PROC_NULL ? 0 : (int32_t)values[TAG];
    step->op.recv_peer = source(step, values[from]);
    step->op.recv_tag = (int32_t)values[from + 1];
    if (is_wildcard(record, from)) {
        match_by_status(step);
    }
    wf_dumpi_step_put(step);
}

void wf_dumpi_on_probe(struct wf_dumpi_step *step)
{
    const int64_t *values = step->record->values;
    bool found = step->op.kind == WF_OP_PROBE || values[3] != 0;

    if (!wf_dumpi_step_comm(step, values[2])) {
        return;
    }
    step->op.peer = source(step, values[0]);
    step->op.tag = (int32_t)values[1];
    step->op.outcome = found ? 1 : 0;
    if (!found) {
        step->op.recorded = true;
    } else if (step->record->n_statuses == 0 && !is_wildcard(step->record, 0)) {
        set_match(step, (int32_t)values[0], (int32_t)values[1]);
    } else {
        match_by_status(step);
    }
    wf_dumpi_step_put(step);
}
