/* SPDX-License-Identifier: Apache-2.0 */
#include "program/extrapolate/extrapolate.h"
#include "program/extrapolate/normal.h"

#include <math.h>

/* The next op of a rank that is no computing; adds up the computing before it. */
static enum wf_status next_op(struct wf_ext_normal *normal, struct wf_op *op, bool *more,
                              double *compute, struct wf_err *err)
{
    while (*more) {
        WF_TRY(wf_ext_normal_next(normal, op, more, err));
        if (!*more || op->kind != WF_OP_COMPUTE) {
            return WF_OK;
        }
        *compute += (double)op->duration;
    }
    return WF_OK;
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

/* The ranks of the two traces that are compared. */
struct pair {
    struct wf_ext_normal one, other;
    double compute, other_compute;
};

static enum wf_status compare_ops(struct pair *pair, struct wf_ext_difference *out,
                                  struct wf_err *err)
{
    uint32_t rank = pair->one.rank;
    bool more = true, other_more = true;
    struct wf_op a, b;

    for (uint64_t i = 0; more || other_more; i++) {
        WF_TRY(next_op(&pair->one, &a, &more, &pair->compute, err));
        WF_TRY(next_op(&pair->other, &b, &other_more, &pair->other_compute, err));
        out->n_ops += more ? 1 : 0;
        out->n_other += other_more ? 1 : 0;
        bool same = more == other_more &&
                    (!more || are_same(pair->one.source, &a, pair->other.source, &b, rank));
        if (!same && out->same) {
            out->same = false;
            out->rank = rank;
            out->op = i;
        }
        if (same && more) {
            compare_sizes(&a, &b, out);
        }
    }
    out->compute += pair->compute;
    out->other_compute += pair->other_compute;
    double off =
        pair->compute > 0 ? fabs(pair->other_compute - pair->compute) / pair->compute : 0;
    out->worst_compute = off > out->worst_compute ? off : out->worst_compute;
    return WF_OK;
}

static enum wf_status compare_rank(const struct wf_source *one, const struct wf_source *other,
                                   uint32_t rank, struct wf_ext_difference *out,
                                   struct wf_err *err)
{
    struct pair pair = {.compute = 0};

    wf_ext_normal_begin(&pair.one, one, "extrapolated", rank);
    wf_ext_normal_begin(&pair.other, other, "the trace to compare with", rank);
    enum wf_status status = compare_ops(&pair, out, err);
    wf_ext_normal_fini(&pair.one);
    wf_ext_normal_fini(&pair.other);
    return status;
}

enum wf_status wf_ext_compare(const struct wf_source *one, const struct wf_source *other,
                              struct wf_ext_difference *out, struct wf_err *err)
{
    *out = (struct wf_ext_difference){.same = true};
    for (uint32_t r = 0; r < one->n_ranks; r++) {
        WF_TRY(compare_rank(one, other, r, out, err));
    }
    WF_TRY(wf_source_check(one, err));
    return wf_source_check(other, err);
}
