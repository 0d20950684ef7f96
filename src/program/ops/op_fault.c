/* SPDX-License-Identifier: Apache-2.0 */
#include "program/ops/fields.h"

#include <string.h>

/* Each check looks at one member, and at the members that decide whether it is used. */

static bool is_receiver(enum wf_op_family family)
{
    return family == WF_FAMILY_RECV || family == WF_FAMILY_PROBE;
}

static bool may_be_open(const struct wf_op *op)
{
    return is_receiver(wf_op_info(op->kind)->family) || op->kind == WF_OP_RECV_INIT;
}

static const char *fault_of_partner(const struct wf_op *op, uint32_t comm_size)
{
    bool open = may_be_open(op);

    if (op->peer >= comm_size && op->peer != WF_PROC_NULL &&
        !(open && op->peer == WF_ANY_SOURCE)) {
        return "its peer is no rank of its communicator";
    }
    if (op->tag < 0 && !(open && op->tag == WF_ANY_TAG)) {
        return "its tag is negative";
    }
    return NULL;
}

static const char *fault_of_match(const struct wf_op *op, uint32_t comm_size)
{
    if (!op->recorded) {
        return NULL;
    }
    if (op->kind == WF_OP_IPROBE && op->outcome > 1) {
        return "its outcome is neither 0 nor 1";
    }
    if (op->kind == WF_OP_IPROBE && op->outcome == 0) {
        return NULL;
    }
    if (op->matched_peer >= comm_size && op->matched_peer != WF_PROC_NULL) {
        return "the rank it matched is not in its communicator";
    }
    return op->matched_tag < WF_ANY_TAG ? "the tag it matched is negative" : NULL;
}

static const char *fault_of_sendrecv(const struct wf_op *op, uint32_t comm_size)
{
    if (op->recv_peer >= comm_size && op->recv_peer != WF_PROC_NULL &&
        op->recv_peer != WF_ANY_SOURCE) {
        return "the peer it receives from is no rank of its communicator";
    }
    if (op->recv_bytes > INT64_MAX) {
        return "the size it receives is negative";
    }
    return op->recv_tag < WF_ANY_TAG ? "the tag it receives is negative" : NULL;
}

static const char *fault_of_places(const struct wf_op *op, uint32_t count)
{
    if (!op->recorded || wf_op_info(op->kind)->detail != WF_WAIT_SOME) {
        return NULL;
    }
    if (op->outcome > 0 && op->outcomes == NULL) {
        return "its outcomes are missing";
    }
    for (uint32_t i = 0; i < op->outcome; i++) {
        if (op->outcomes[i] >= count) {
            return "an outcome is no place in its set of requests";
        }
    }
    return NULL;
}

static const char *fault_of_requests(const struct wf_op *op, const struct wf_op_info *info)
{
    bool set = info->family != WF_FAMILY_FREE && info->detail != 0;
    uint32_t count = set ? op->count : 1;

    if (!set || op->requests == NULL) {
        if (op->request >= WF_REQUEST_MAX || count > WF_REQUEST_MAX - op->request) {
            return "a number of a request is too large";
        }
    } else {
        for (uint32_t i = 0; i < count; i++) {
            if (op->requests[i] >= WF_REQUEST_MAX) {
                return "a number of a request is too large";
            }
        }
    }
    bool yes_or_no = info->family == WF_FAMILY_TEST && info->detail < WF_WAIT_ANY;
    if (info->family != WF_FAMILY_TEST &&
        (info->family != WF_FAMILY_WAIT || info->detail < WF_WAIT_ANY)) {
        return NULL;
    }
    if (op->recorded && op->outcome > (yes_or_no ? 1 : count)) {
        return "its outcome is out of range";
    }
    return fault_of_places(op, count);
}

static const char *fault_of_ranks(const uint32_t *ranks, uint32_t n, uint32_t comm_size)
{
    if (ranks == NULL && n > 0) {
        return "its neighbours are missing";
    }
    for (uint32_t i = 0; i < n; i++) {
        if (ranks[i] >= comm_size && ranks[i] != WF_PROC_NULL) {
            return "a neighbour is no rank of its communicator";
        }
    }
    return NULL;
}

/* Returns whether a collective with blocks of different lengths has no lengths. Neighbour
 * collectives may have blocks of one length. */
static bool lacks_counts(const struct wf_op *op, const struct wf_op_layout *layout,
                         const struct wf_group *group)
{
    if (layout->n_arrays == 0 || layout->n_arrays == WF_ARRAYS_MAX) {
        return false;
    }
    if ((layout->flags & WF_HAS_ROOT) != 0) {
        return op->root == group->rank && op->counts == NULL;
    }
    return op->counts == NULL || (layout->n_arrays == 2 && op->recv_counts == NULL);
}

/* A size of 2^63 bytes or more was a negative number before its conversion to unsigned. */
static const char negative_size[] = "its size is negative";

static bool is_negative(uint64_t bytes)
{
    return bytes > INT64_MAX;
}

static const char *fault_of_counts(const uint64_t *counts, uint32_t n)
{
    for (uint32_t i = 0; counts != NULL && i < n; i++) {
        if (is_negative(counts[i])) {
            return "the size of one of its blocks is negative";
        }
    }
    return NULL;
}

static const char *fault_of_sizes(const struct wf_op *op, const struct wf_op_layout *layout,
                                  uint32_t comm_size)
{
    const char *fault = NULL;

    /* A barrier has no size. */
    if (wf_op_info(op->kind)->detail != 0 && is_negative(op->bytes)) {
        return negative_size;
    }
    for (uint32_t i = 0; i < layout->n_arrays && fault == NULL; i++) {
        const uint64_t *counts = NULL;
        if (layout->arrays[i].width == WF_FIELD_64) {
            memcpy(&counts, (const char *)op + layout->arrays[i].offset, sizeof(counts));
            fault = fault_of_counts(counts, wf_op_length(op, &layout->arrays[i], comm_size));
        }
    }
    return fault;
}

static const char *fault_of_collective(const struct wf_op *op, const struct wf_group *group)
{
    const struct wf_op_layout *layout = wf_op_layout_of(op->kind);
    uint32_t comm_size = group->size;
    const char *fault = NULL;

    if ((layout->flags & WF_HAS_ROOT) != 0 && op->root >= comm_size) {
        return "its root is no rank of its communicator";
    }
    if (lacks_counts(op, layout, group)) {
        return "the lengths of its blocks are missing";
    }
    if (layout->n_arrays == WF_ARRAYS_MAX) {
        fault = fault_of_ranks(op->sources, op->n_sources, comm_size);
        if (fault == NULL) {
            fault = fault_of_ranks(op->destinations, op->n_destinations, comm_size);
        }
    }
    return fault != NULL ? fault : fault_of_sizes(op, layout, comm_size);
}

static bool needs_request(const struct wf_op_info *info)
{
    return info->returns_request || info->family == WF_FAMILY_PERSISTENT;
}

static const char *fault_of_message(const struct wf_op *op, enum wf_op_family family,
                                    uint32_t comm_size)
{
    const char *fault = fault_of_partner(op, comm_size);

    if (fault == NULL && family != WF_FAMILY_PROBE && is_negative(op->bytes)) {
        fault = negative_size;
    }
    if (fault == NULL && family == WF_FAMILY_SENDRECV) {
        fault = fault_of_sendrecv(op, comm_size);
    }
    if (fault == NULL && (is_receiver(family) || family == WF_FAMILY_SENDRECV)) {
        fault = fault_of_match(op, comm_size);
    }
    return fault;
}

const char *wf_op_fault(const struct wf_op *op, const struct wf_group *group)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    uint32_t comm_size = group != NULL ? group->size : 0;

    if (group == NULL && wf_op_has_comm(op->kind)) {
        return "the rank has no such communicator";
    }
    if (needs_request(info) && op->kind != WF_OP_IPROBE && op->request >= WF_REQUEST_MAX) {
        return "its number of a request is too large";
    }
    if (wf_op_reduces(op->kind) && op->reduction >= WF_REDUCTIONS) {
        return "it reduces with what is no operation";
    }
    switch (info->family) {
    case WF_FAMILY_COMPUTE:
        if (op->n_counters > WF_COUNTERS_MAX) {
            return "it has too many counters";
        }
        return op->duration < 0 ? "its duration is negative" : NULL;
    case WF_FAMILY_SEND:
    case WF_FAMILY_RECV:
    case WF_FAMILY_SENDRECV:
    case WF_FAMILY_PROBE:
    case WF_FAMILY_PERSISTENT:
    case WF_FAMILY_ONESIDED:
        return fault_of_message(op, info->family, comm_size);
    case WF_FAMILY_START:
    case WF_FAMILY_FREE:
    case WF_FAMILY_WAIT:
    case WF_FAMILY_TEST:
        return fault_of_requests(op, info);
    case WF_FAMILY_COLLECTIVE:
        return group == NULL ? NULL : fault_of_collective(op, group);
    case WF_FAMILY_MARKER:
    case WF_FAMILY_CALL:
        return op->tag < 0 ? "its number of a name is negative" : NULL;
    case WF_FAMILY_FILE:
        return op->tag < 0 ? "its number of a file is negative"
               : is_negative(op->bytes) || is_negative(op->offset) ? negative_size
                                                                   : NULL;
    case WF_FAMILY_COMM:
    case WF_FAMILY_EPOCH:
        break;
    }
    return NULL;
}
