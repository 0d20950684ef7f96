/* SPDX-License-Identifier: Apache-2.0 */
#include "extrapolate/extrapolate.h"

#include <math.h>
#include <string.h>

/* The next op of a rank that is no computing; adds up the computing before it. */
static bool next_op(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                    struct wf_op *op, double *compute)
{
    while (wf_source_next(source, rank, cursor, op)) {
        if (op->kind != WF_OP_COMPUTE) {
            return true;
        }
        *compute += (double)op->duration;
    }
    return false;
}

static uint32_t peer_of(const struct wf_source *source, uint32_t rank, const struct wf_op *op,
                        uint32_t peer)
{
    struct wf_group group;

    return peer < WF_PROC_NULL && wf_source_group(source, rank, op->comm, &group) &&
                   peer < group.size
               ? wf_group_rank(&group, peer)
               : peer;
}

static bool are_same(const struct wf_source *one, const struct wf_op *a,
                     const struct wf_source *other, const struct wf_op *b, uint32_t rank)
{
    enum wf_op_family family = wf_op_info(a->kind)->family;
    bool peers = family == WF_FAMILY_SEND || family == WF_FAMILY_RECV ||
                 family == WF_FAMILY_SENDRECV || family == WF_FAMILY_PERSISTENT;

    if (a->kind != b->kind) {
        return false;
    }
    if (peers && ((a->tag != b->tag && a->peer != WF_PROC_NULL) ||
                  peer_of(one, rank, a, a->peer) != peer_of(other, rank, b, b->peer))) {
        return false;
    }
    return family != WF_FAMILY_SENDRECV ||
           ((a->recv_tag == b->recv_tag || a->recv_peer == WF_PROC_NULL) &&
            peer_of(one, rank, a, a->recv_peer) == peer_of(other, rank, b, b->recv_peer));
}

static void compare_sizes(const struct wf_op *a, const struct wf_op *b,
                          struct wf_ext_difference *out)
{
    enum wf_op_family family = wf_op_info(a->kind)->family;

    if (family == WF_FAMILY_SEND || family == WF_FAMILY_SENDRECV ||
        family == WF_FAMILY_COLLECTIVE || family == WF_FAMILY_PERSISTENT) {
        out->n_sizes++;
        out->n_same_sizes += a->bytes == b->bytes ? 1 : 0;
        out->bytes += a->bytes;
        out->other_bytes += b->bytes;
    }
}

static void compare_rank(const struct wf_source *one, const struct wf_source *other,
                         uint32_t rank, struct wf_ext_difference *out)
{
    struct wf_cursor at_one, at_other;
    struct wf_op a, b;
    double compute = 0, other_compute = 0;
    bool more = true, other_more = true;

    memset(&at_one, 0, sizeof(at_one));
    memset(&at_other, 0, sizeof(at_other));
    for (uint64_t i = 0; more || other_more; i++) {
        more = more && next_op(one, rank, &at_one, &a, &compute);
        other_more = other_more && next_op(other, rank, &at_other, &b, &other_compute);
        out->n_ops += more ? 1 : 0;
        out->n_other += other_more ? 1 : 0;
        bool same = more == other_more && (!more || are_same(one, &a, other, &b, rank));
        if (!same && out->same) {
            out->same = false;
            out->rank = rank;
            out->op = i;
        }
        if (same && more) {
            compare_sizes(&a, &b, out);
        }
    }
    out->compute += compute;
    out->other_compute += other_compute;
    double off = compute > 0 ? fabs(other_compute - compute) / compute : 0;
    out->worst_compute = off > out->worst_compute ? off : out->worst_compute;
}

enum wf_status wf_ext_compare(const struct wf_source *one, const struct wf_source *other,
                              struct wf_ext_difference *out, struct wf_err *err)
{
    *out = (struct wf_ext_difference){.same = true};
    for (uint32_t r = 0; r < one->n_ranks; r++) {
        compare_rank(one, other, r, out);
    }
    WF_TRY(wf_source_check(one, err));
    return wf_source_check(other, err);
}
