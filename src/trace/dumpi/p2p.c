/* SPDX-License-Identifier: Apache-2.0 */
/* Records of messages. */
#include "base/mem.h"
#include "trace/dumpi/calls.h"
#include "trace/dumpi/walk.h"

#include <stddef.h>

/* Where the arguments of a message are among the values. */
enum { COUNT = 0, TYPE = 1, PEER = 2, TAG = 3, COMM = 4, REQUEST = 5, MESSAGE_VALUES = 5 };

/* A rank of the communicator as the op has it. Between two groups it is one of the other. */
static uint32_t place_of(const struct wf_dumpi_step *step, int64_t rank)
{
    uint32_t n_low = step->comm->n_low;
    struct wf_group group;

    if (n_low == 0 || rank < 0 ||
        !wf_dumpi_comms_group(step->walk->comms,
                              (uint32_t)(step->comm - wf_dumpi_comms_at(step->walk->comms, 0)),
                              step->walk->rank, &group)) {
        return (uint32_t)rank;
    }
    return (uint32_t)rank + (group.rank < n_low ? n_low : 0);
}

static uint32_t destination(const struct wf_dumpi_step *step, int64_t rank)
{
    return rank < 0 ? WF_PROC_NULL : place_of(step, rank);
}

/* -1 asks for any source; other negative numbers are nobody. */
static uint32_t source(const struct wf_dumpi_step *step, int64_t rank)
{
    return rank == -1 ? WF_ANY_SOURCE : destination(step, rank);
}

static bool is_open(const struct wf_dumpi_record *record, int peer)
{
    return record->values[peer] == -1 || record->values[peer + 1] == -1;
}

/* What an open receive got; of nobody's messages the source is negative. */
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
        step->walk->losses->n_unmatched += step->walk->spool != NULL ? 1 : 0;
    }
}

static struct wf_open_request *open_request(struct wf_dumpi_step *step, bool receives)
{
    struct wf_dumpi_walk *walk = step->walk;
    int64_t name = step->record->values[REQUEST];

    /* A receive that is still open under this name was completed by something unseen: only
     * sends share names. */
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

static enum wf_status start_message(struct wf_dumpi_step *step, bool *known)
{
    const int64_t *values = step->record->values;

    *known = wf_dumpi_step_comm(step, values[COMM]);
    if (!*known) {
        return wf_dumpi_step_call(step);
    }
    step->op.tag = (int32_t)values[TAG];
    return wf_dumpi_step_bytes(step, values[COUNT], values[TYPE], &step->op.bytes);
}

static enum wf_status do_send(struct wf_dumpi_step *step)
{
    const struct wf_op_info *info = wf_op_info(step->op.kind);
    bool known;

    enum wf_status status = start_message(step, &known);
    if (status != WF_OK || !known) {
        return status;
    }
    step->op.peer = destination(step, step->record->values[PEER]);
    step->op.tag = step->op.peer == WF_PROC_NULL ? 0 : step->op.tag;
    if (info->returns_request || info->family == WF_FAMILY_PERSISTENT) {
        open_request(step, false)->persistent = info->family == WF_FAMILY_PERSISTENT;
    }
    return wf_dumpi_step_put(step);
}

static enum wf_status do_recv(struct wf_dumpi_step *step)
{
    bool known;

    enum wf_status status = start_message(step, &known);
    if (status != WF_OK || !known) {
        return status;
    }
    step->op.peer = source(step, step->record->values[PEER]);
    if (is_open(step->record, PEER)) {
        match_by_status(step);
    }
    return wf_dumpi_step_put(step);
}

/* What the first walk found out of this irecv, if it is special. */
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

static enum wf_status do_irecv(struct wf_dumpi_step *step)
{
    struct wf_dumpi_walk *walk = step->walk;
    uint64_t serial = walk->serial++;
    bool known;

    enum wf_status status = start_message(step, &known);
    if (status != WF_OK || !known) {
        return status;
    }
    const struct wf_dumpi_match *match = walk->spool != NULL ? next_match(walk, serial) : NULL;
    if (match != NULL && match->cancelled) {
        /* It received nothing, and must not take what was meant for another. */
        return wf_dumpi_step_call(step);
    }
    step->op.peer = source(step, step->record->values[PEER]);
    struct wf_open_request *request = open_request(step, true);
    request->serial = serial;
    request->wild = is_open(step->record, PEER);
    if (match != NULL) {
        set_match(step, match->source, match->tag);
    } else if (request->wild && walk->spool != NULL) {
        walk->losses->n_unmatched++;
    }
    return wf_dumpi_step_put(step);
}

static enum wf_status do_recv_init(struct wf_dumpi_step *step)
{
    bool known;

    enum wf_status status = start_message(step, &known);
    if (status != WF_OK || !known) {
        return status;
    }
    step->op.peer = source(step, step->record->values[PEER]);
    struct wf_open_request *request = open_request(step, true);
    request->persistent = true;
    if (is_open(step->record, PEER) && step->walk->spool != NULL) {
        step->walk->losses->n_unmatched++;
    }
    return wf_dumpi_step_put(step);
}

/* Both parts; `at` are the places of: destination, its tag, source, its tag, communicator. */
static enum wf_status exchange(struct wf_dumpi_step *step, const uint8_t *at)
{
    const int64_t *values = step->record->values;

    step->op.peer = destination(step, values[at[0]]);
    step->op.tag = step->op.peer == WF_PROC_NULL ? 0 : (int32_t)values[at[1]];
    step->op.recv_peer = source(step, values[at[2]]);
    step->op.recv_tag = (int32_t)values[at[3]];
    if (values[at[2]] == -1 || values[at[3]] == -1) {
        match_by_status(step);
    }
    return wf_dumpi_step_put(step);
}

static enum wf_status do_sendrecv(struct wf_dumpi_step *step)
{
    static const uint8_t at[] = {2, 3, 6, 7};
    const int64_t *values = step->record->values;

    if (!wf_dumpi_step_comm(step, values[8])) {
        return wf_dumpi_step_call(step);
    }
    enum wf_status status = wf_dumpi_step_bytes(step, values[0], values[1], &step->op.bytes);
    if (status == WF_OK) {
        status = wf_dumpi_step_bytes(step, values[4], values[5], &step->op.recv_bytes);
    }
    return status == WF_OK ? exchange(step, at) : status;
}

static enum wf_status do_sendrecv_replace(struct wf_dumpi_step *step)
{
    static const uint8_t at[] = {2, 3, 4, 5};
    const int64_t *values = step->record->values;

    if (!wf_dumpi_step_comm(step, values[6])) {
        return wf_dumpi_step_call(step);
    }
    enum wf_status status = wf_dumpi_step_bytes(step, values[0], values[1], &step->op.bytes);
    step->op.recv_bytes = step->op.bytes;
    return status == WF_OK ? exchange(step, at) : status;
}

static enum wf_status do_probe(struct wf_dumpi_step *step)
{
    const int64_t *values = step->record->values;
    bool found = step->op.kind == WF_OP_PROBE || values[3] != 0;

    if (!wf_dumpi_step_comm(step, values[2])) {
        return wf_dumpi_step_call(step);
    }
    step->op.peer = source(step, values[0]);
    step->op.tag = (int32_t)values[1];
    if (!found) {
        step->op.recorded = true;
    } else if (step->record->n_statuses > 0) {
        set_match(step, step->record->statuses[0].source, step->record->statuses[0].tag);
    } else if (!is_open(step->record, 0)) {
        set_match(step, (int32_t)values[0], (int32_t)values[1]);
    } else {
        match_by_status(step);
    }
    step->op.outcome = found ? 1 : 0;
    return wf_dumpi_step_put(step);
}

wf_dumpi_handler wf_dumpi_p2p(uint32_t function, enum wf_op_kind *kind)
{
    static const struct {
        enum wf_op_kind kind;
        wf_dumpi_handler handler;
    } calls[] = {
        [0] = {WF_OP_SEND, do_send},
        [1] = {WF_OP_RECV, do_recv},
        [3] = {WF_OP_BSEND, do_send},
        [4] = {WF_OP_SSEND, do_send},
        [5] = {WF_OP_RSEND, do_send},
        [8] = {WF_OP_ISEND, do_send},
        [9] = {WF_OP_IBSEND, do_send},
        [10] = {WF_OP_ISSEND, do_send},
        [11] = {WF_OP_IRSEND, do_send},
        [12] = {WF_OP_IRECV, do_irecv},
        [22] = {WF_OP_IPROBE, do_probe},
        [23] = {WF_OP_PROBE, do_probe},
        [26] = {WF_OP_SEND_INIT, do_send},
        [27] = {WF_OP_BSEND_INIT, do_send},
        [28] = {WF_OP_SSEND_INIT, do_send},
        [29] = {WF_OP_RSEND_INIT, do_send},
        [30] = {WF_OP_RECV_INIT, do_recv_init},
        [33] = {WF_OP_SENDRECV, do_sendrecv},
        [34] = {WF_OP_SENDRECV, do_sendrecv_replace},
    };

    if (function >= sizeof(calls) / sizeof(calls[0])) {
        return NULL;
    }
    *kind = calls[function].kind;
    return calls[function].handler;
}
