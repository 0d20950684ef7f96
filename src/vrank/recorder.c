/* SPDX-License-Identifier: Apache-2.0 */
#include "vrank/recorder.h"

#include "base/buf.h"
#include "base/mem.h"
#include "ops/fields.h"
#include "ops/live.h"
#include "ops/tidy.h"
#include "vrank/oplog.h"
#include "vrank/program_source.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Ops of all ranks together that may be held. */
enum { HELD_MAX = 1 << 20 };

/* What is known of a rank's last op, and what of it is held. */
struct tee_rank {
    uint64_t n; /* ops that were asked for */
    struct wf_vrank_oplog *held;
    struct wf_created made; /* in the trace */
    struct wf_buf taken;    /* requests */
    uint32_t match_peer;    /* a rank of the program */
    int32_t match_tag;
    uint32_t seen_source;
    int32_t seen_tag;
    uint32_t told; /* the communicator that the writer was told of last */
    bool matched, found, ended;
};

struct tee {
    struct wf_source source; /* first */
    struct wf_vrank_recorder_config config;
    struct tee_rank *ranks;
    pthread_mutex_t lock;   /* of what follows, and of the writer */
    struct wf_buf outcomes; /* of the op that is being written */
    struct wf_tidy tidy;    /* with what is the rank's own while it is used */
    uint64_t n_ops, n_held, n_unmatched;
    enum wf_status status; /* of the writer */
    struct wf_err err;
    atomic_bool failed;
};

static struct tee *tee_of(const struct wf_source *source)
{
    return (struct tee *)wf_unconst(source);
}

/* ---- writing ---- */

static void fail(struct tee *tee, enum wf_status status, const struct wf_err *err)
{
    if (status != WF_OK && tee->status == WF_OK) {
        tee->status = status;
        tee->err = *err;
        atomic_store(&tee->failed, true);
    }
}

static void tell_name(struct tee *tee, const struct wf_op *op)
{
    const struct wf_source *program = tee->config.program;
    struct wf_trace_writer *writer = tee->config.writer;
    enum wf_op_family family = wf_op_info(op->kind)->family;
    bool region = family == WF_FAMILY_MARKER;

    if ((!region && family != WF_FAMILY_CALL) || writer->ops->name_of == NULL || op->tag < 0) {
        return;
    }
    enum wf_source_name kind = region ? WF_NAME_REGION : WF_NAME_CALL;
    const char *name = wf_source_name_of(program, kind, (uint32_t)op->tag);
    if (name != NULL) {
        writer->ops->name_of(writer, kind, (uint32_t)op->tag, name);
    }
}

/* The number of a communicator in the trace. A program uses numbers again that it has freed; a
 * trace cannot, but no rank meets the same id twice. */
static uint32_t comm_in_trace(struct tee *tee, uint32_t number, uint32_t comm)
{
    struct wf_trace_writer *writer = tee->config.writer;
    struct tee_rank *rank = &tee->ranks[number];
    struct wf_group group;
    struct wf_err err;

    if (comm == WF_COMM_WORLD || !wf_source_group(tee->config.program, number, comm, &group)) {
        return comm;
    }
    if (rank->told != group.id && writer->ops->group != NULL) {
        rank->told = group.id;
        fail(tee, writer->ops->group(writer, number, group.id, &group, &err), &err);
    }
    return group.id;
}

/* The library names requests of messages to nobody too, which the simulation never sees. */
static bool tidy_op(struct tee *tee, uint32_t number, struct wf_op *op)
{
    tee->tidy.made = tee->ranks[number].made;
    bool left = wf_tidy_op(&tee->tidy, op);
    tee->ranks[number].made = tee->tidy.made;
    return left;
}

static void put(struct tee *tee, uint32_t number, const struct wf_op *whole)
{
    struct wf_trace_writer *writer = tee->config.writer;
    struct wf_op op = *whole;
    struct wf_err err;

    if (tee->status == WF_OK && tidy_op(tee, number, &op)) {
        tell_name(tee, &op);
        fail(tee, writer->ops->add(writer, number, &op, &err), &err);
        tee->n_ops++;
    }
}

/* ---- what came of an op ---- */

static bool is_open(const struct wf_op *op)
{
    enum wf_op_family family = wf_op_info(op->kind)->family;

    if (family == WF_FAMILY_SENDRECV) {
        return op->recv_peer == WF_ANY_SOURCE || op->recv_tag == WF_ANY_TAG;
    }
    return (family == WF_FAMILY_RECV || family == WF_FAMILY_PROBE) &&
           (op->peer == WF_ANY_SOURCE || op->tag == WF_ANY_TAG);
}

/* Who a rank of the program is in the group; group->size if nobody. */
static uint32_t member_of(const struct wf_group *group, uint32_t peer)
{
    uint32_t i = 0;

    if (peer < group->size && wf_group_rank(group, peer) == peer) {
        return peer;
    }
    while (i < group->size && wf_group_rank(group, i) != peer) {
        i++;
    }
    return i;
}

static void set_match(const struct tee *tee, uint32_t number, uint32_t comm, struct wf_op *op,
                      uint32_t peer, int32_t tag)
{
    struct wf_group group;

    if (wf_source_group(tee->config.program, number, comm, &group)) {
        op->matched_peer = member_of(&group, peer);
        op->matched_tag = tag;
        op->recorded = op->matched_peer < group.size;
    }
}

static uint32_t place_in(const struct wf_op *op, uint32_t request)
{
    uint32_t i = 0;

    while (i < op->count &&
           (op->requests != NULL ? op->requests[i] : op->request + i) != request) {
        i++;
    }
    return i;
}

static void set_outcomes(struct tee *tee, const struct tee_rank *rank, struct wf_op *op)
{
    const uint32_t *taken = (const void *)rank->taken.data;
    uint32_t n = (uint32_t)(rank->taken.size / sizeof(uint32_t));
    uint8_t detail = wf_op_info(op->kind)->detail;

    op->recorded = true;
    if (detail == WF_WAIT_ONE || detail == WF_WAIT_ALL) {
        op->outcome = rank->found;
    } else if (detail == WF_WAIT_ANY) {
        op->outcome = n > 0 ? place_in(op, taken[0]) : op->count;
    } else {
        tee->outcomes.size = 0;
        op->outcome = 0;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t place = place_in(op, taken[i]);
            if (place < op->count) {
                wf_buf_append(&tee->outcomes, &place, sizeof(place));
                op->outcome++;
            }
        }
        op->outcomes = (const void *)tee->outcomes.data;
    }
}

static void set_probed(const struct tee *tee, uint32_t number, struct wf_op *op)
{
    const struct tee_rank *rank = &tee->ranks[number];

    op->recorded = true;
    op->outcome = op->kind == WF_OP_PROBE || rank->found;
    op->matched_peer = op->peer;
    op->matched_tag = op->tag;
    if (is_open(op) && op->outcome != 0) {
        set_match(tee, number, op->comm, op, rank->seen_source, rank->seen_tag);
    }
}

/* Fills in what is known of the last op when the next one is asked for. */
static void set_record(struct tee *tee, uint32_t number, struct wf_op *op)
{
    const struct tee_rank *rank = &tee->ranks[number];
    const struct wf_op_info *info = wf_op_info(op->kind);

    op->recorded = false;
    if (info->family == WF_FAMILY_PROBE) {
        set_probed(tee, number, op);
    } else if (info->family == WF_FAMILY_TEST ||
               (info->family == WF_FAMILY_WAIT && info->detail >= WF_WAIT_ANY)) {
        set_outcomes(tee, rank, op);
    } else if (rank->matched && is_open(op)) {
        set_match(tee, number, op->comm, op, rank->match_peer, rank->match_tag);
    } else if (info->family == WF_FAMILY_COMPUTE && tee->config.duration != NULL) {
        op->duration = tee->config.duration(tee->config.arg, op->duration);
    }
}

/* ---- what is held ---- */

static bool waits_for_match(const struct wf_op *op)
{
    return op->kind == WF_OP_IRECV && is_open(op) && !op->recorded;
}

static bool makes_comm(const struct wf_op *op)
{
    return wf_op_info(op->kind)->family == WF_FAMILY_COMM;
}

/* Ops are held behind the first one whose outcome is not known. Of a receive, `root`, which
 * means nothing to it, is the communicator as the program calls it. */
static void hold(struct tee *tee, struct tee_rank *rank, const struct wf_op *op)
{
    if (rank->held == NULL) {
        rank->held = wf_xcalloc(1, sizeof(*rank->held));
    }
    wf_vrank_oplog_add(rank->held, op);
    tee->n_held++;
}

static struct wf_op *held_at(const struct tee_rank *rank, uint64_t i)
{
    return wf_unconst(wf_vrank_oplog_get(rank->held, rank->held->first + i));
}

/* Writes what need not be held any longer. */
static void let_go(struct tee *tee, uint32_t number, bool all)
{
    struct tee_rank *rank = &tee->ranks[number];
    uint64_t n = rank->held != NULL ? rank->held->n : 0, i = 0;

    for (; i < n; i++) {
        const struct wf_op *op = held_at(rank, i);
        bool waits = waits_for_match(op);
        if (waits && !all && tee->n_held <= HELD_MAX) {
            break;
        }
        tee->n_unmatched += waits;
        tee->n_held--;
        put(tee, number, op);
    }
    if (i > 0) {
        wf_vrank_oplog_drop(rank->held, rank->held->first + i);
    }
    if (n > 0 && i == n) {
        wf_vrank_oplog_fini(rank->held);
        free(rank->held);
        rank->held = NULL;
    }
}

/* A communicator is known only when the program goes on behind the call that made it. */
static void set_made(struct tee *tee, uint32_t number)
{
    struct tee_rank *rank = &tee->ranks[number];
    struct wf_op *op = held_at(rank, rank->held->n - 1);
    uint32_t made = wf_vrank_created_comm(tee->config.program, number);

    op->new_comm = made != WF_COMM_WORLD ? comm_in_trace(tee, number, made) : op->comm;
}

static bool last_op(const struct tee *tee, uint32_t number, struct wf_op *op)
{
    struct wf_cursor cursor = {.word = {tee->ranks[number].n - 1}, .outer = {WF_CURSOR_AGAIN}};

    return wf_source_next(tee->config.program, number, &cursor, op);
}

/* The rank's last op has returned. */
static void conclude(struct tee *tee, uint32_t number)
{
    struct tee_rank *rank = &tee->ranks[number];
    struct wf_op op;

    if (rank->n == 0 || !last_op(tee, number, &op)) {
        return;
    }
    set_record(tee, number, &op);
    if (wf_op_has_comm(op.kind)) {
        if (waits_for_match(&op)) {
            op.root = op.comm;
        }
        op.comm = comm_in_trace(tee, number, op.comm);
    }
    if (rank->held != NULL || waits_for_match(&op) || makes_comm(&op)) {
        hold(tee, rank, &op);
    } else {
        put(tee, number, &op);
    }
    rank->taken.size = 0;
    rank->matched = false;
}

/* ---- the source ---- */

static bool tee_next(const struct wf_source *source, uint32_t number, struct wf_cursor *cursor,
                     struct wf_op *op)
{
    struct tee *tee = tee_of(source);
    const struct wf_source *program = tee->config.program;
    struct tee_rank *rank = &tee->ranks[number];

    if (cursor->outer[0] == WF_CURSOR_AGAIN || cursor->word[0] < rank->n) {
        return wf_source_next(program, number, cursor, op);
    }
    if (atomic_load(&tee->failed) || rank->ended) {
        return false;
    }
    (void)pthread_mutex_lock(&tee->lock);
    conclude(tee, number);
    bool made = rank->held != NULL && makes_comm(held_at(rank, rank->held->n - 1));
    (void)pthread_mutex_unlock(&tee->lock);
    rank->ended = !wf_source_next(program, number, cursor, op);
    rank->n += !rank->ended;
    if (rank->held != NULL) {
        (void)pthread_mutex_lock(&tee->lock);
        if (made) {
            set_made(tee, number);
        }
        let_go(tee, number, rank->ended);
        (void)pthread_mutex_unlock(&tee->lock);
    }
    return !rank->ended;
}

static void tee_tell(const struct wf_source *source, uint32_t number,
                     const struct wf_answer *answer)
{
    const struct wf_source *program = tee_of(source)->config.program;
    struct tee_rank *rank = &tee_of(source)->ranks[number];

    rank->found = answer->found;
    rank->seen_source = answer->seen_source;
    rank->seen_tag = answer->seen_tag;
    program->live->tell(program, number, answer);
}

static void tee_matched(const struct wf_source *source, uint32_t number, uint32_t request,
                        uint32_t peer, int32_t tag)
{
    struct tee *tee = tee_of(source);
    struct tee_rank *rank = &tee->ranks[number];
    struct wf_op op;

    tee->config.program->live->matched(tee->config.program, number, request, peer, tag);
    if (request == WF_REQUEST_MAX || (rank->n > 0 && last_op(tee, number, &op) &&
                                      op.kind == WF_OP_IRECV && op.request == request)) {
        rank->matched = true;
        rank->match_peer = peer;
        rank->match_tag = tag;
        return;
    }
    for (uint64_t i = rank->held != NULL ? rank->held->n : 0; i-- > 0;) {
        struct wf_op *held = held_at(rank, i);
        if (held->kind == WF_OP_IRECV && held->request == request && waits_for_match(held)) {
            set_match(tee, number, held->root, held, peer, tag);
            return;
        }
    }
}

static void tee_taken(const struct wf_source *source, uint32_t number, uint32_t request)
{
    struct tee *tee = tee_of(source);

    wf_buf_append(&tee->ranks[number].taken, &request, sizeof(request));
    tee->config.program->live->taken(tee->config.program, number, request);
}

static void tee_remote(const struct wf_source *source, uint32_t number, uint32_t origin)
{
    const struct wf_source *program = tee_of(source)->config.program;

    program->live->remote(program, number, origin);
}

static enum wf_status tee_check(const struct wf_source *source, struct wf_err *err)
{
    const struct tee *tee = tee_of(source);

    if (tee->status != WF_OK) {
        *err = tee->err;
        return tee->status;
    }
    return wf_source_check(tee->config.program, err);
}

static void tee_destroy(struct wf_source *source)
{
    struct tee *tee = tee_of(source);

    for (uint32_t i = 0; i < source->n_ranks; i++) {
        if (tee->ranks[i].held != NULL) {
            wf_vrank_oplog_fini(tee->ranks[i].held);
            free(tee->ranks[i].held);
        }
        wf_buf_fini(&tee->ranks[i].taken);
        wf_created_fini(&tee->ranks[i].made);
    }
    free(tee->ranks);
    wf_buf_fini(&tee->outcomes);
    tee->tidy.made = (struct wf_created){.spans = NULL}; /* was the last rank's */
    wf_tidy_fini(&tee->tidy);
    wf_source_free(tee->config.program);
    (void)pthread_mutex_destroy(&tee->lock);
    free(tee);
}

static const struct wf_live_ops tee_hooks = {
    .tell = tee_tell,
    .matched = tee_matched,
    .taken = tee_taken,
    .remote = tee_remote,
};

static const struct wf_source_ops tee_ops = {
    .name = "program",
    .summary = "a program that runs and is recorded",
    .destroy = tee_destroy,
    .next = tee_next,
    .check = tee_check,
};

struct wf_source *wf_vrank_recorder_new(const struct wf_vrank_recorder_config *config)
{
    struct tee *tee = wf_xcalloc(1, sizeof(*tee));

    tee->source = *config->program;
    tee->source.ops = &tee_ops;
    tee->source.inner = config->program;
    tee->source.live = &tee_hooks;
    tee->config = *config;
    tee->ranks = wf_xcalloc(config->program->n_ranks, sizeof(*tee->ranks));
    (void)pthread_mutex_init(&tee->lock, NULL);
    return &tee->source;
}

enum wf_status wf_vrank_recorder_finish(struct wf_source *source, struct wf_err *err)
{
    struct tee *tee = tee_of(source);

    for (uint32_t i = 0; i < source->n_ranks && tee->status == WF_OK; i++) {
        let_go(tee, i, true);
    }
    if (tee->status != WF_OK) {
        *err = tee->err;
    }
    return tee->status;
}

uint64_t wf_vrank_recorder_n_ops(const struct wf_source *tee)
{
    return tee_of(tee)->n_ops;
}

uint64_t wf_vrank_recorder_n_unmatched(const struct wf_source *tee)
{
    return tee_of(tee)->n_unmatched;
}
