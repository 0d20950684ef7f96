/* SPDX-License-Identifier: Apache-2.0 */
#include "program/extrapolate/plain.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* Messages of neighbour collectives have this tag, which programs hardly use. */
enum { NEIGHBOR_TAG = 1 << 30 };

/* Their requests have numbers from here on. */
#define NEIGHBOR_REQUEST (UINT32_C(1) << 30)

/* As in model/coll/coll.h, which this module does not know. */
enum { NEIGHBOR_ALLGATHER = 16, NEIGHBOR_ALLTOALL = 17 };

static const char *const uncertain =
    "its outcome depends on time, so that it is not known with more ranks";

void wf_ext_plain_begin(struct wf_ext_plain *plain, const struct wf_source *source,
                        const char *path, uint32_t rank)
{
    *plain =
        (struct wf_ext_plain){.source = source, .path = path, .rank = rank, .computed = -1};
    memset(&plain->cursor, 0, sizeof(plain->cursor));
}

void wf_ext_plain_fini(struct wf_ext_plain *plain)
{
    free(plain->queue);
    free(plain->drained);
    free(plain->requests);
    wf_map_fini(&plain->open);
    memset(plain, 0, sizeof(*plain));
}

enum wf_status wf_ext_plain_refuse(const struct wf_ext_plain *plain, const struct wf_op *op,
                                   const char *why, struct wf_err *err)
{
    return wf_err_set(err, WF_EINVAL, "'%.200s': rank %u, op %llu (%s): %s", plain->path,
                      plain->rank, (unsigned long long)plain->at - 1, wf_op_name(op->kind),
                      why);
}

/* ---- what is returned next ---- */

static void put(struct wf_ext_plain *plain, const struct wf_op *op)
{
    WF_PUSH(plain->queue, plain->n_queue, plain->queue_capacity, *op);
}

static void let_go(struct wf_ext_plain *plain)
{
    if (plain->holds) {
        put(plain, &plain->held);
    }
    plain->holds = plain->grows = false;
}

static void hold(struct wf_ext_plain *plain, const struct wf_op *op)
{
    if (plain->holds && plain->grows) {
        plain->held.duration += op->duration;
        plain->grows = false;
        return;
    }
    let_go(plain);
    plain->held = *op;
    plain->holds = true;
}

static void leave_out(struct wf_ext_plain *plain)
{
    plain->grows = true;
    plain->n_tests++;
}

/* ---- requests ---- */

static void open_request(struct wf_ext_plain *plain, uint32_t number)
{
    *wf_map_put(&plain->open, number) = 1;
}

static uint32_t n_requests(const struct wf_op *op)
{
    return wf_op_info(op->kind)->detail == WF_WAIT_ONE ? 1 : op->count;
}

/* Notes what becomes of requests in ops that are returned as they are. */
static void follow_requests(struct wf_ext_plain *plain, const struct wf_op *op)
{
    const struct wf_op_info *info = wf_op_info(op->kind);

    if (info->returns_request) {
        open_request(plain, op->request);
    } else if (info->family == WF_FAMILY_START) {
        for (uint32_t i = 0; i < (op->kind == WF_OP_START ? 1 : op->count); i++) {
            open_request(plain, wf_op_request_at(op, i));
        }
    } else if (info->family == WF_FAMILY_WAIT) {
        for (uint32_t i = 0; i < n_requests(op); i++) {
            (void)wf_map_remove(&plain->open, wf_op_request_at(op, i));
        }
    } else if (op->kind == WF_OP_REQUEST_FREE) {
        (void)wf_map_remove(&plain->open, op->request);
    }
}

/* ---- waits for some of a set ---- */

static void drain(struct wf_ext_plain *plain, uint32_t number)
{
    if (wf_map_remove(&plain->open, number)) {
        WF_PUSH(plain->drained, plain->n_drained, plain->drained_capacity, number);
    }
}

/* The first request of a set that is not complete yet, or the size of the set. */
static uint32_t first_open(const struct wf_ext_plain *plain, const struct wf_op *op)
{
    uint32_t i = 0;

    while (i < op->count && wf_map_get(&plain->open, wf_op_request_at(op, i)) == NULL) {
        i++;
    }
    return i;
}

/* Takes the requests that the op has completed. */
static enum wf_status drain_set(struct wf_ext_plain *plain, const struct wf_op *op,
                                struct wf_err *err)
{
    bool any = wf_op_info(op->kind)->detail == WF_WAIT_ANY;
    bool waits = wf_op_info(op->kind)->family == WF_FAMILY_WAIT;

    if (!op->recorded && !(any && waits)) {
        return wf_ext_plain_refuse(plain, op, uncertain, err);
    }
    if (any) {
        /* Which one it is makes no difference in the end. */
        uint32_t place = op->recorded ? op->outcome : first_open(plain, op);
        if (place < op->count) {
            drain(plain, wf_op_request_at(op, place));
        }
        return WF_OK;
    }
    for (uint32_t i = 0; i < op->outcome && op->outcomes != NULL; i++) {
        if (op->outcomes[i] < op->count) {
            drain(plain, wf_op_request_at(op, op->outcomes[i]));
        }
    }
    return WF_OK;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return WF_ORDER(*x, *y);
}

/* The set is complete: one waitall, then the computing. */
static void end_drain(struct wf_ext_plain *plain)
{
    struct wf_op op;

    memset(&op, 0, sizeof(op));
    qsort(plain->drained, plain->n_drained, sizeof(*plain->drained), by_number);
    for (uint32_t i = 0; i < plain->n_drained; i++) {
        WF_GROW(plain->requests, i, plain->requests_capacity);
        plain->requests[i] = plain->drained[i];
    }
    op.kind = WF_OP_WAITALL;
    op.requests = plain->requests;
    op.request = plain->requests[0];
    op.count = plain->n_drained;
    let_go(plain);
    put(plain, &op);
    if (plain->computed >= 0) {
        memset(&op, 0, sizeof(op));
        op.kind = WF_OP_COMPUTE;
        op.duration = plain->computed;
        hold(plain, &op);
        /* Computing that follows belongs to the same set of messages. */
        plain->grows = true;
    }
    plain->n_drained = 0;
    plain->computed = -1;
}

static enum wf_status wait_for_some(struct wf_ext_plain *plain, const struct wf_op *op,
                                    struct wf_err *err)
{
    WF_TRY(drain_set(plain, op, err));
    plain->n_joined++;
    if (plain->n_drained == 0) {
        leave_out(plain);
    } else if (first_open(plain, op) == op->count) {
        end_drain(plain);
    }
    return WF_OK;
}

/* ---- neighbour collectives ---- */

static void put_message(struct wf_ext_plain *plain, const struct wf_op *op, uint32_t slot,
                        bool receives)
{
    const uint64_t *lengths = receives ? op->recv_counts : op->counts;
    struct wf_op message;

    memset(&message, 0, sizeof(message));
    message.kind = receives ? WF_OP_IRECV : WF_OP_ISEND;
    message.peer = receives ? op->sources[slot] : op->destinations[slot];
    message.tag = NEIGHBOR_TAG;
    message.comm = op->comm;
    message.bytes = lengths != NULL ? lengths[slot] : op->bytes;
    message.request = NEIGHBOR_REQUEST + slot + (receives ? 0 : op->n_sources);
    put(plain, &message);
}

static enum wf_status put_neighbors(struct wf_ext_plain *plain, const struct wf_op *op,
                                    struct wf_err *err)
{
    struct wf_op wait;

    if (wf_op_info(op->kind)->returns_request) {
        return wf_ext_plain_refuse(
            plain, op, "nonblocking neighbour collectives cannot be extrapolated", err);
    }
    let_go(plain);
    plain->n_neighbors++;
    for (uint32_t i = 0; i < op->n_sources; i++) {
        put_message(plain, op, i, true);
    }
    for (uint32_t i = 0; i < op->n_destinations; i++) {
        put_message(plain, op, i, false);
    }
    memset(&wait, 0, sizeof(wait));
    wait.kind = WF_OP_WAITALL;
    wait.request = NEIGHBOR_REQUEST;
    wait.count = op->n_sources + op->n_destinations;
    if (wait.count > 0) {
        put(plain, &wait);
    }
    return WF_OK;
}

/* ---- one op ---- */

/* Takes a test or probe as what it was found to be. */
static enum wf_status take_test(struct wf_ext_plain *plain, struct wf_op *op,
                                enum wf_op_kind if_found, struct wf_err *err)
{
    if (!op->recorded) {
        return wf_ext_plain_refuse(plain, op, uncertain, err);
    }
    if (op->outcome == 0) {
        leave_out(plain);
        return WF_OK;
    }
    plain->n_tests++;
    op->kind = if_found;
    let_go(plain);
    follow_requests(plain, op);
    put(plain, op);
    return WF_OK;
}

static enum wf_status take(struct wf_ext_plain *plain, struct wf_op *op, struct wf_err *err)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    bool completes = info->family == WF_FAMILY_WAIT || info->family == WF_FAMILY_TEST;

    if (completes && info->detail >= WF_WAIT_ANY) {
        return wait_for_some(plain, op, err);
    }
    if (plain->n_drained > 0 && op->kind == WF_OP_COMPUTE) {
        plain->computed = (plain->computed < 0 ? 0 : plain->computed) + op->duration;
        return WF_OK;
    }
    if (plain->n_drained > 0) {
        return wf_ext_plain_refuse(plain, op,
                                   "it follows a waitany or the like before all requests of "
                                   "its set are complete, so that what comes first decides "
                                   "what the rank does; that is not known with more ranks",
                                   err);
    }
    if (op->kind == WF_OP_COMPUTE) {
        hold(plain, op);
        return WF_OK;
    }
    if (info->family == WF_FAMILY_TEST) {
        return take_test(plain, op, info->detail == WF_WAIT_ONE ? WF_OP_WAIT : WF_OP_WAITALL,
                         err);
    }
    if (op->kind == WF_OP_IPROBE) {
        return take_test(plain, op, WF_OP_PROBE, err);
    }
    if (info->family == WF_FAMILY_COLLECTIVE &&
        (info->detail == NEIGHBOR_ALLGATHER || info->detail == NEIGHBOR_ALLTOALL)) {
        return put_neighbors(plain, op, err);
    }
    let_go(plain);
    follow_requests(plain, op);
    put(plain, op);
    return WF_OK;
}

enum wf_status wf_ext_plain_next(struct wf_ext_plain *plain, struct wf_op *op, bool *more,
                                 struct wf_err *err)
{
    struct wf_op read;

    if (plain->next == plain->n_queue) {
        plain->next = plain->n_queue = 0;
    }
    while (plain->n_queue == 0 && !plain->ended) {
        if (wf_source_next(plain->source, plain->rank, &plain->cursor, &read)) {
            plain->at++;
            WF_TRY(take(plain, &read, err));
        } else {
            plain->ended = true;
            let_go(plain);
        }
    }
    *more = plain->next < plain->n_queue;
    if (*more) {
        *op = plain->queue[plain->next++];
        return WF_OK;
    }
    if (plain->n_drained > 0) {
        memset(&read, 0, sizeof(read));
        read.kind = WF_OP_WAITANY;
        return wf_ext_plain_refuse(plain, &read, "some requests of its set never complete",
                                   err);
    }
    return WF_OK;
}
