/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/cut/cut.h"

#include "base/mem.h"
#include "base/units.h"
#include "program/ops/created.h"
#include "program/ops/fields.h"
#include "program/trace/cut/match.h"
#include "program/trace/cut/ranks.h"

#include <stdlib.h>
#include <string.h>

/* The state of a rank while its ops are read in order. */
struct walk {
    int64_t time;
    uint64_t n_regions;    /* open regions with the wanted name */
    uint64_t n_open;       /* open iterations */
    uint64_t n_iterations; /* begun so far, without nested ones */
};

struct wf_cut {
    const struct wf_source *source;
    const struct wf_cut_options *options;
    struct wf_cut_ranks *ranks;
    struct wf_cut_matches *matches; /* null if only ranks are cut, not ops */
    struct walk walk;
    struct wf_created_filter requests;
    bool region_seen;
    uint64_t n_kept;
    struct wf_cut_losses losses;
};

/* ---- which ops are wanted ---- */

static bool is_region(const struct wf_cut *cut, const struct wf_op *op)
{
    const struct wf_source *source = cut->source;
    const char *name =
        op->tag >= 0 ? wf_source_name_of(source, WF_NAME_REGION, (uint32_t)op->tag) : NULL;

    return name != NULL && strcmp(name, cut->options->region) == 0;
}

/* Begin and end markers belong to the region that they mark. */
static bool in_region(struct wf_cut *cut, const struct wf_op *op)
{
    struct walk *walk = &cut->walk;
    bool inside = walk->n_regions > 0;

    if (cut->options->region == NULL) {
        return true;
    }
    if (op->kind == WF_OP_REGION_BEGIN && is_region(cut, op)) {
        cut->region_seen = true;
        walk->n_regions++;
        inside = true;
    } else if (op->kind == WF_OP_REGION_END && inside && is_region(cut, op)) {
        walk->n_regions--;
    }
    return inside;
}

static bool in_iterations(struct wf_cut *cut, const struct wf_op *op)
{
    const struct wf_cut_options *options = cut->options;
    struct walk *walk = &cut->walk;

    if (!options->has_iterations) {
        return true;
    }
    if (op->kind == WF_OP_ITERATION_BEGIN && walk->n_open++ == 0) {
        walk->n_iterations++;
    }
    bool inside = walk->n_open > 0 && walk->n_iterations > options->first &&
                  walk->n_iterations - 1 <= options->last;
    if (op->kind == WF_OP_ITERATION_END && walk->n_open > 0) {
        walk->n_open--;
    }
    return inside;
}

/* Shortens a compute op to the part that is within the wanted span of time. */
static bool in_time(struct wf_cut *cut, struct wf_op *op)
{
    const struct wf_cut_options *options = cut->options;
    int64_t begin = cut->walk.time;

    bool lasts = wf_op_info(op->kind)->family == WF_FAMILY_COMPUTE;

    if (lasts) {
        cut->walk.time =
            op->duration > WF_TIME_MAX - begin ? WF_TIME_MAX : begin + op->duration;
    }
    if (!options->has_time) {
        return true;
    }
    if (!lasts) {
        return begin >= options->begin && begin < options->end;
    }
    int64_t from = begin > options->begin ? begin : options->begin;
    int64_t to = cut->walk.time < options->end ? cut->walk.time : options->end;
    op->duration = to > from ? to - from : 0;
    return to > from || (begin >= options->begin && begin < options->end);
}

/* Returns whether the options select the op, whatever happens to its partner. */
static bool is_wanted(struct wf_cut *cut, struct wf_op *op)
{
    bool wanted = in_region(cut, op);

    wanted = in_iterations(cut, op) && wanted;
    return in_time(cut, op) && wanted;
}

/* ---- partners ---- */

static bool is_open(uint32_t peer, int32_t tag)
{
    return peer == WF_ANY_SOURCE || tag == WF_ANY_TAG;
}

/* Translates a rank of a communicator to a rank of the program. */
static uint32_t rank_behind(const struct wf_group *group, uint32_t peer)
{
    return peer < group->size ? wf_group_rank(group, peer) : peer;
}

/* One end of a message. */
struct end {
    bool there; /* it exists, and its peer is known */
    bool open;  /* the peer is not known: a wildcard */
    bool sends;
    struct wf_cut_key key;
};

static struct end sending_end(const struct wf_op *op, uint32_t rank,
                              const struct wf_group *group)
{
    enum wf_op_family family = wf_op_info(op->kind)->family;
    struct end end = {.sends = true};

    if ((family == WF_FAMILY_SEND || family == WF_FAMILY_SENDRECV) && op->peer < group->size) {
        end.there = true;
        end.key = (struct wf_cut_key){rank, rank_behind(group, op->peer), group->id, op->tag};
    }
    return end;
}

static struct end receiving_end(const struct wf_op *op, uint32_t rank,
                                const struct wf_group *group)
{
    enum wf_op_family family = wf_op_info(op->kind)->family;
    bool both = family == WF_FAMILY_SENDRECV;
    uint32_t peer = both ? op->recv_peer : op->peer;
    int32_t tag = both ? op->recv_tag : op->tag;
    struct end end = {.sends = false};

    if ((family != WF_FAMILY_RECV && !both) || peer == WF_PROC_NULL) {
        return end;
    }
    if (is_open(peer, tag)) {
        end.open = !op->recorded;
        peer = op->recorded ? op->matched_peer : peer;
        tag = op->recorded ? op->matched_tag : tag;
    }
    end.there = !end.open && peer < group->size;
    end.key = (struct wf_cut_key){rank_behind(group, peer), rank, group->id, tag};
    return end;
}

/* Returns whether all ranks of the communicator take part in such a call. */
static bool is_call(enum wf_op_kind kind)
{
    const struct wf_op_info *info = wf_op_info(kind);

    return info->family == WF_FAMILY_COLLECTIVE || info->family == WF_FAMILY_COMM ||
           (info->family == WF_FAMILY_EPOCH && info->detail == 0);
}

static struct wf_cut_key call_key(const struct wf_group *group)
{
    return (struct wf_cut_key){wf_group_rank(group, 0), WF_CUT_CALL, group->id, 0};
}

static void note(struct wf_cut *cut, uint32_t rank, const struct wf_op *op, bool kept)
{
    struct wf_group group;

    if (!wf_op_has_comm(op->kind) || !wf_source_group(cut->source, rank, op->comm, &group)) {
        return;
    }
    if (is_call(op->kind)) {
        wf_cut_match_note(cut->matches, call_key(&group), true, kept);
        return;
    }
    struct end out = sending_end(op, rank, &group), in = receiving_end(op, rank, &group);
    if (out.there) {
        wf_cut_match_note(cut->matches, out.key, true, kept);
    }
    if (in.there) {
        wf_cut_match_note(cut->matches, in.key, false, kept);
    }
}

/* The first pass: reads all ops, and notes which ends of messages and calls are kept. */
static enum wf_status read_all(struct wf_cut *cut, struct wf_err *err)
{
    struct wf_pass_progress progress = {.n_ranks = cut->source->n_ranks};

    for (uint32_t rank = 0; rank < cut->source->n_ranks; rank++) {
        struct wf_cursor cursor;
        struct wf_op op;
        uint32_t to = 0;

        wf_pass_rank(&cut->options->pass, &progress);
        if (!wf_cut_ranks_number(cut->ranks, rank, &to)) {
            continue;
        }
        memset(&cursor, 0, sizeof(cursor));
        memset(&cut->walk, 0, sizeof(cut->walk));
        wf_cut_match_begin(cut->matches);
        while (wf_source_next(cut->source, rank, &cursor, &op)) {
            if (wf_op_info(op.kind)->family == WF_FAMILY_PERSISTENT) {
                return wf_err_set(err, WF_EINVAL,
                                  "rank %u has persistent requests (%s), which can be cut by "
                                  "ranks only",
                                  rank, wf_op_name(op.kind));
            }
            bool kept = is_wanted(cut, &op);
            wf_pass_op(&cut->options->pass, &progress);
            cut->n_kept += kept ? 1 : 0;
            note(cut, rank, &op, kept);
        }
        wf_cut_match_end(cut->matches);
    }
    wf_cut_match_turn(cut->matches);
    return wf_source_check(cut->source, err);
}

/* ---- the second pass: the copy ---- */

static bool keep_call(struct wf_cut *cut, uint32_t rank, struct wf_op *op,
                      const struct wf_group *group, bool wanted)
{
    uint32_t size = wf_cut_ranks_size(cut->ranks, rank, op->comm);
    bool complete =
        cut->matches == NULL || wf_cut_match_has(cut->matches, call_key(group), true, size);

    if (!wanted) {
        return false;
    }
    if (!complete || !wf_cut_ranks_collective(cut->ranks, group, op)) {
        cut->losses.n_collectives++;
        return false;
    }
    return true;
}

/* Returns whether the other end of a message is kept. True if there is no known other end. */
static bool has_other(struct wf_cut *cut, const struct end *end)
{
    uint32_t number = 0;

    if (!end->there) {
        return true;
    }
    bool met = cut->matches == NULL || wf_cut_match_has(cut->matches, end->key, end->sends, 0);
    return met &&
           wf_cut_ranks_number(cut->ranks, end->sends ? end->key.to : end->key.from, &number);
}

/* Drops a message whose other end is not kept. Of a sendrecv, the other half is kept. */
static bool keep_message(struct wf_cut *cut, uint32_t rank, struct wf_op *op,
                         const struct wf_group *group, bool wanted)
{
    struct end out = sending_end(op, rank, group), in = receiving_end(op, rank, group);
    bool out_stays = has_other(cut, &out), in_stays = has_other(cut, &in);
    bool both = wf_op_info(op->kind)->family == WF_FAMILY_SENDRECV;

    if (!wanted) {
        return false;
    }
    cut->losses.n_open += in.open ? 1 : 0;
    cut->losses.n_messages += (out_stays ? 0U : 1U) + (in_stays ? 0U : 1U);
    if ((both && !out_stays && !in_stays) || (!both && (!out_stays || !in_stays))) {
        return false;
    }
    if (!in_stays) {
        op->recv_peer = WF_PROC_NULL;
        op->recv_tag = op->recv_tag < 0 ? 0 : op->recv_tag;
        op->recorded = false;
    }
    if (!out_stays) {
        op->peer = WF_PROC_NULL;
    }
    wf_cut_ranks_message(cut->ranks, rank, op);
    return true;
}

/* One-sided operations, probes and persistent requests are not matched with a single op: they
 * are kept if the rank that they name is kept. */
static bool keep_other(struct wf_cut *cut, uint32_t rank, struct wf_op *op,
                       const struct wf_group *group, bool wanted)
{
    enum wf_op_family family = wf_op_info(op->kind)->family;
    uint32_t number = 0;
    bool there = op->peer >= group->size ||
                 wf_cut_ranks_number(cut->ranks, wf_group_rank(group, op->peer), &number);

    if (!wanted) {
        return false;
    }
    if (family == WF_FAMILY_CALL) {
        return true;
    }
    if (!there) {
        cut->losses.n_messages++;
        if (family != WF_FAMILY_PERSISTENT) {
            return false;
        }
        op->peer = WF_PROC_NULL;
    }
    wf_cut_ranks_message(cut->ranks, rank, op);
    return true;
}

static bool keep(struct wf_cut *cut, uint32_t rank, struct wf_op *op)
{
    enum wf_op_family family = wf_op_info(op->kind)->family;
    bool wanted = is_wanted(cut, op);
    struct wf_group group;

    if (!wf_op_has_comm(op->kind) || !wf_source_group(cut->source, rank, op->comm, &group)) {
        return wanted;
    }
    if (is_call(op->kind)) {
        return keep_call(cut, rank, op, &group, wanted);
    }
    if (family == WF_FAMILY_SEND || family == WF_FAMILY_RECV || family == WF_FAMILY_SENDRECV) {
        return keep_message(cut, rank, op, &group, wanted);
    }
    return keep_other(cut, rank, op, &group, wanted);
}

static bool change(void *arg, uint32_t rank, struct wf_op *op)
{
    struct wf_cut *cut = arg;

    return keep(cut, rank, op) && wf_created_filter_op(&cut->requests, op);
}

static bool rank_of(void *arg, uint32_t rank, uint32_t *out)
{
    struct wf_cut *cut = arg;

    memset(&cut->walk, 0, sizeof(cut->walk));
    wf_created_fini(&cut->requests.created);
    if (cut->matches != NULL) {
        wf_cut_match_begin(cut->matches);
    }
    return wf_cut_ranks_number(cut->ranks, rank, out);
}

static bool group_of(void *arg, uint32_t rank, uint32_t comm, struct wf_group *out)
{
    struct wf_cut *cut = arg;

    return wf_cut_ranks_group(cut->ranks, rank, comm, out);
}

/* ---- interface ---- */

enum wf_status wf_cut_new(const struct wf_source *source, const struct wf_cut_options *options,
                          struct wf_cut **out, struct wf_err *err)
{
    struct wf_cut *cut = wf_xcalloc(1, sizeof(*cut));
    enum wf_status status = WF_OK;

    cut->source = source;
    cut->options = options;
    cut->ranks = wf_cut_ranks_new(source, options->ranks);
    if (options->has_time || options->has_iterations || options->region != NULL) {
        cut->matches = wf_cut_match_new();
        status = read_all(cut, err);
        if (status == WF_OK && options->region != NULL && !cut->region_seen) {
            status = wf_err_set(err, WF_EINVAL, "no rank that is kept has a region '%.100s'",
                                options->region);
        } else if (status == WF_OK && cut->n_kept == 0) {
            status =
                wf_err_set(err, WF_EINVAL, "nothing is left: no op is in what was asked for");
        }
    }
    if (status != WF_OK) {
        wf_cut_free(cut);
        return status;
    }
    *out = cut;
    return WF_OK;
}

void wf_cut_free(struct wf_cut *cut)
{
    if (cut != NULL) {
        wf_cut_ranks_free(cut->ranks);
        wf_cut_match_free(cut->matches);
        wf_created_filter_fini(&cut->requests);
        free(cut);
    }
}

uint32_t wf_cut_n_ranks(const struct wf_cut *cut)
{
    return wf_cut_ranks_n(cut->ranks);
}

struct wf_copy_changes wf_cut_changes(struct wf_cut *cut)
{
    return (struct wf_copy_changes){
        .arg = cut, .rank_of = rank_of, .change = change, .group = group_of};
}

const struct wf_cut_losses *wf_cut_losses(const struct wf_cut *cut)
{
    return &cut->losses;
}
