/* SPDX-License-Identifier: Apache-2.0 */
#include "program/extrapolate/normal.h"

#include "base/array.h"
#include "base/units.h"

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

void wf_ext_normal_begin(struct wf_ext_normal *normal, const struct wf_source *source,
                         const char *path, uint32_t rank)
{
    *normal =
        (struct wf_ext_normal){.source = source, .path = path, .rank = rank, .computed = -1};
    memset(&normal->cursor, 0, sizeof(normal->cursor));
}

void wf_ext_normal_fini(struct wf_ext_normal *normal)
{
    free(normal->queue);
    free(normal->drained);
    free(normal->requests);
    wf_map_fini(&normal->open);
    memset(normal, 0, sizeof(*normal));
}

enum wf_status wf_ext_normal_refuse(const struct wf_ext_normal *normal, const struct wf_op *op,
                                    const char *why, struct wf_err *err)
{
    return wf_err_set(err, WF_EINVAL, "'%.200s': rank %u, op %llu (%s): %s", normal->path,
                      normal->rank, (unsigned long long)normal->at - 1, wf_op_name(op->kind),
                      why);
}

/* ---- what is returned next ---- */

static void put(struct wf_ext_normal *normal, const struct wf_op *op)
{
    WF_PUSH(normal->queue, normal->n_queue, normal->queue_capacity, *op);
}

static void let_go(struct wf_ext_normal *normal)
{
    if (normal->holds) {
        put(normal, &normal->held);
    }
    normal->holds = normal->grows = false;
}

static void hold(struct wf_ext_normal *normal, const struct wf_op *op)
{
    if (normal->holds && normal->grows) {
        normal->held.duration = wf_time_add(normal->held.duration, op->duration);
        normal->grows = false;
        return;
    }
    let_go(normal);
    normal->held = *op;
    normal->holds = true;
}

static void leave_out(struct wf_ext_normal *normal)
{
    normal->grows = true;
    normal->n_tests++;
}

/* ---- requests ---- */

static void open_request(struct wf_ext_normal *normal, uint32_t number)
{
    *wf_map_put(&normal->open, number) = 1;
}

static uint32_t n_requests(const struct wf_op *op)
{
    return wf_op_info(op->kind)->detail == WF_WAIT_ONE ? 1 : op->count;
}

/* Notes what becomes of requests in ops that are returned as they are. */
static void follow_requests(struct wf_ext_normal *normal, const struct wf_op *op)
{
    const struct wf_op_info *info = wf_op_info(op->kind);

    if (info->returns_request) {
        open_request(normal, op->request);
    } else if (info->family == WF_FAMILY_START) {
        for (uint32_t i = 0; i < (op->kind == WF_OP_START ? 1 : op->count); i++) {
            open_request(normal, wf_op_request_at(op, i));
        }
    } else if (info->family == WF_FAMILY_WAIT) {
        for (uint32_t i = 0; i < n_requests(op); i++) {
            (void)wf_map_remove(&normal->open, wf_op_request_at(op, i));
        }
    } else if (op->kind == WF_OP_REQUEST_FREE) {
        (void)wf_map_remove(&normal->open, op->request);
    }
}

/* ---- waits for some of a set ---- */

static void drain(struct wf_ext_normal *normal, uint32_t number)
{
    if (wf_map_remove(&normal->open, number)) {
        WF_PUSH(normal->drained, normal->n_drained, normal->drained_capacity, number);
    }
}

/* The first request of a set that is not complete yet, or the size of the set. */
static uint32_t first_open(const struct wf_ext_normal *normal, const struct wf_op *op)
{
    uint32_t i = 0;

    while (i < op->count && wf_map_get(&normal->open, wf_op_request_at(op, i)) == NULL) {
        i++;
    }
    return i;
}

/* Takes the requests that the op has completed. */
static enum wf_status drain_set(struct wf_ext_normal *normal, const struct wf_op *op,
                                struct wf_err *err)
{
    bool any = wf_op_info(op->kind)->detail == WF_WAIT_ANY;
    bool waits = wf_op_info(op->kind)->family == WF_FAMILY_WAIT;

    if (!op->recorded && !(any && waits)) {
        return wf_ext_normal_refuse(normal, op, uncertain, err);
    }
    if (any) {
        /* Which one it is makes no difference in the end. */
        uint32_t place = op->recorded ? op->outcome : first_open(normal, op);
        if (place < op->count) {
            drain(normal, wf_op_request_at(op, place));
        }
        return WF_OK;
    }
    for (uint32_t i = 0; i < op->outcome && op->outcomes != NULL; i++) {
        if (op->outcomes[i] < op->count) {
            drain(normal, wf_op_request_at(op, op->outcomes[i]));
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
static void end_drain(struct wf_ext_normal *normal)
{
    struct wf_op op;

    memset(&op, 0, sizeof(op));
    WF_SORT(normal->drained, normal->n_drained, by_number);
    for (uint32_t i = 0; i < normal->n_drained; i++) {
        WF_GROW(normal->requests, i, normal->requests_capacity);
        normal->requests[i] = normal->drained[i];
    }
    op.kind = WF_OP_WAITALL;
    op.requests = normal->requests;
    op.request = normal->requests[0];
    op.count = normal->n_drained;
    let_go(normal);
    put(normal, &op);
    if (normal->computed >= 0) {
        memset(&op, 0, sizeof(op));
        op.kind = WF_OP_COMPUTE;
        op.duration = normal->computed;
        hold(normal, &op);
        /* Computing that follows belongs to the same set of messages. */
        normal->grows = true;
    }
    normal->n_drained = 0;
    normal->computed = -1;
}

static enum wf_status wait_for_some(struct wf_ext_normal *normal, const struct wf_op *op,
                                    struct wf_err *err)
{
    WF_TRY(drain_set(normal, op, err));
    normal->n_joined++;
    if (normal->n_drained == 0) {
        leave_out(normal);
    } else if (first_open(normal, op) == op->count) {
        end_drain(normal);
    }
    return WF_OK;
}

/* ---- neighbour collectives ---- */

static void put_message(struct wf_ext_normal *normal, const struct wf_op *op, uint32_t slot,
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
    put(normal, &message);
}

static enum wf_status put_neighbors(struct wf_ext_normal *normal, const struct wf_op *op,
                                    struct wf_err *err)
{
    struct wf_op wait;

    if (wf_op_info(op->kind)->returns_request) {
        return wf_ext_normal_refuse(
            normal, op, "nonblocking neighbour collectives cannot be extrapolated", err);
    }
    let_go(normal);
    normal->n_neighbors++;
    for (uint32_t i = 0; i < op->n_sources; i++) {
        put_message(normal, op, i, true);
    }
    for (uint32_t i = 0; i < op->n_destinations; i++) {
        put_message(normal, op, i, false);
    }
    memset(&wait, 0, sizeof(wait));
    wait.kind = WF_OP_WAITALL;
    wait.request = NEIGHBOR_REQUEST;
    wait.count = op->n_sources + op->n_destinations;
    if (wait.count > 0) {
        put(normal, &wait);
    }
    return WF_OK;
}

/* ---- one op ---- */

/* Takes a test or probe as what it was found to be. */
static enum wf_status take_test(struct wf_ext_normal *normal, struct wf_op *op,
                                enum wf_op_kind if_found, struct wf_err *err)
{
    if (!op->recorded) {
        return wf_ext_normal_refuse(normal, op, uncertain, err);
    }
    if (op->outcome == 0) {
        leave_out(normal);
        return WF_OK;
    }
    normal->n_tests++;
    op->kind = if_found;
    let_go(normal);
    follow_requests(normal, op);
    put(normal, op);
    return WF_OK;
}

static enum wf_status take(struct wf_ext_normal *normal, struct wf_op *op, struct wf_err *err)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    bool completes = info->family == WF_FAMILY_WAIT || info->family == WF_FAMILY_TEST;

    if (completes && info->detail >= WF_WAIT_ANY) {
        return wait_for_some(normal, op, err);
    }
    if (normal->n_drained > 0 && op->kind == WF_OP_COMPUTE) {
        normal->computed =
            wf_time_add(normal->computed < 0 ? 0 : normal->computed, op->duration);
        return WF_OK;
    }
    if (normal->n_drained > 0) {
        return wf_ext_normal_refuse(normal, op,
                                    "it follows a waitany or the like before all requests of "
                                    "its set are complete, so that what comes first decides "
                                    "what the rank does; that is not known with more ranks",
                                    err);
    }
    if (op->kind == WF_OP_COMPUTE) {
        hold(normal, op);
        return WF_OK;
    }
    if (info->family == WF_FAMILY_TEST) {
        return take_test(normal, op, info->detail == WF_WAIT_ONE ? WF_OP_WAIT : WF_OP_WAITALL,
                         err);
    }
    if (op->kind == WF_OP_IPROBE) {
        return take_test(normal, op, WF_OP_PROBE, err);
    }
    if (info->family == WF_FAMILY_COLLECTIVE &&
        (info->detail == NEIGHBOR_ALLGATHER || info->detail == NEIGHBOR_ALLTOALL)) {
        return put_neighbors(normal, op, err);
    }
    let_go(normal);
    follow_requests(normal, op);
    put(normal, op);
    return WF_OK;
}

enum wf_status wf_ext_normal_next(struct wf_ext_normal *normal, struct wf_op *op, bool *more,
                                  struct wf_err *err)
{
    struct wf_op read;

    if (normal->next == normal->n_queue) {
        normal->next = normal->n_queue = 0;
    }
    while (normal->n_queue == 0 && !normal->ended) {
        if (wf_source_next(normal->source, normal->rank, &normal->cursor, &read)) {
            normal->at++;
            WF_TRY(take(normal, &read, err));
        } else {
            normal->ended = true;
            let_go(normal);
        }
    }
    *more = normal->next < normal->n_queue;
    if (*more) {
        *op = normal->queue[normal->next++];
        return WF_OK;
    }
    if (normal->n_drained > 0) {
        memset(&read, 0, sizeof(read));
        read.kind = WF_OP_WAITANY;
        return wf_ext_normal_refuse(normal, &read, "some requests of its set never complete",
                                    err);
    }
    return WF_OK;
}
