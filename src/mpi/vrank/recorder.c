/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/recorder.h"

#include "base/buf.h"
#include "base/mem.h"
#include "mpi/vrank/oplog.h"
#include "mpi/vrank/program_source.h"
#include "program/ops/created.h"
#include "program/ops/fields.h"
#include "program/ops/live.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* The largest number of held ops of all ranks together. */
enum { HELD_MAX = 1 << 20 };

/* The outcome of a rank's last op, and the rank's held ops. */
struct recorder_rank {
    uint64_t n; /* ops that the simulation has asked for */
    struct wf_vrank_oplog *held;
    struct wf_created created; /* requests that exist in the trace */
    struct wf_buf taken;       /* requests that the last op completed */
    uint32_t match_peer;       /* a rank number of the program */
    int32_t match_tag;
    uint32_t seen_source;
    int32_t seen_tag;
    uint32_t told; /* the last communicator that was passed to the writers */
    bool matched, found, ended;
};

struct recorder {
    struct wf_source source; /* must be first */
    struct wf_vrank_recorder_config config;
    struct recorder_rank *ranks;
    pthread_mutex_t lock;            /* protects the members below and the writers */
    struct wf_buf outcomes;          /* outcomes of the op that is being written */
    struct wf_created_filter filter; /* its `created` is that of the current rank */
    uint64_t n_ops, n_held, n_unmatched;
    enum wf_status status; /* of the writers */
    struct wf_err err;
    struct wf_err lost[WF_VRANK_RECORDS_MAX]; /* why a record is not written any more */
    atomic_bool failed;
};

static struct recorder *recorder_of(const struct wf_source *source)
{
    return (struct recorder *)wf_unconst(source);
}

/* ---- writing ---- */

static void fail(struct recorder *recorder, uint32_t record, enum wf_status status,
                 const struct wf_err *err)
{
    if (status != WF_OK && recorder->config.records[record].optional) {
        recorder->lost[record] = *err;
    } else if (status != WF_OK && recorder->status == WF_OK) {
        recorder->status = status;
        recorder->err = *err;
        atomic_store(&recorder->failed, true);
    }
}

/* The writer of a record; null if it has failed. */
static struct wf_trace_writer *writer_of(const struct recorder *recorder, uint32_t record)
{
    return recorder->lost[record].status == WF_OK ? recorder->config.records[record].writer
                                                  : NULL;
}

static void tell_name(struct recorder *recorder, const struct wf_op *op)
{
    enum wf_source_name kind = wf_op_names(op->kind);

    if (kind == WF_NAME_KINDS || op->tag < 0) {
        return;
    }
    const char *name = wf_source_name_of(recorder->config.program, kind, (uint32_t)op->tag);
    for (uint32_t i = 0; name != NULL && i < recorder->config.n_records; i++) {
        struct wf_trace_writer *writer = writer_of(recorder, i);
        if (writer != NULL && writer->ops->name_of != NULL) {
            writer->ops->name_of(writer, kind, (uint32_t)op->tag, name);
        }
    }
}

/* The program handles the error if ranks call this collective with different sizes. */
static void tell_sizes(struct recorder *recorder, const struct wf_op *op)
{
    if (!op->any_sizes || wf_op_info(op->kind)->family != WF_FAMILY_COLLECTIVE) {
        return;
    }
    for (uint32_t i = 0; i < recorder->config.n_records; i++) {
        struct wf_trace_writer *writer = writer_of(recorder, i);
        if (writer != NULL && writer->ops->any_sizes != NULL) {
            writer->ops->any_sizes(writer);
        }
    }
}

/* The number of a communicator in the trace. A program reuses the numbers of communicators that
 * it has freed; a trace cannot. Ids are unique for each rank. */
static uint32_t comm_in_trace(struct recorder *recorder, uint32_t number, uint32_t comm)
{
    struct recorder_rank *rank = &recorder->ranks[number];
    struct wf_group group;
    struct wf_err err;

    if (comm == WF_COMM_WORLD ||
        !wf_source_group(recorder->config.program, number, comm, &group)) {
        return comm;
    }
    for (uint32_t i = 0; rank->told != group.id && i < recorder->config.n_records; i++) {
        struct wf_trace_writer *writer = writer_of(recorder, i);
        if (writer != NULL && writer->ops->group != NULL) {
            fail(recorder, i, writer->ops->group(writer, number, group.id, &group, &err), &err);
        }
    }
    rank->told = group.id;
    return group.id;
}

/* Drops requests that the simulation never sees: those of messages to MPI_PROC_NULL. Returns
 * false if nothing remains of the op. */
static bool tidy_op(struct recorder *recorder, uint32_t number, struct wf_op *op)
{
    recorder->filter.created = recorder->ranks[number].created;
    bool left = wf_created_filter_op(&recorder->filter, op);
    recorder->ranks[number].created = recorder->filter.created;
    return left;
}

static void write_op(struct recorder *recorder, uint32_t i, uint32_t number,
                     const struct wf_op *op)
{
    const struct wf_vrank_record *record = &recorder->config.records[i];
    struct wf_trace_writer *writer = writer_of(recorder, i);
    struct wf_op changed = *op;
    struct wf_err err;

    if (op->kind == WF_OP_COMPUTE && record->duration != NULL) {
        changed.duration = record->duration(record->arg, op->duration);
    }
    if (writer != NULL) {
        fail(recorder, i, writer->ops->add(writer, number, &changed, &err), &err);
    }
}

static void put(struct recorder *recorder, uint32_t number, const struct wf_op *whole)
{
    struct wf_op op = *whole;

    if (recorder->status == WF_OK && tidy_op(recorder, number, &op)) {
        tell_name(recorder, &op);
        tell_sizes(recorder, &op);
        for (uint32_t i = 0; i < recorder->config.n_records; i++) {
            write_op(recorder, i, number, &op);
        }
        recorder->n_ops++;
    }
}

/* ---- the outcome of an op ---- */

static bool is_open(const struct wf_op *op)
{
    enum wf_op_family family = wf_op_info(op->kind)->family;

    if (family == WF_FAMILY_SENDRECV) {
        return op->recv_peer == WF_ANY_SOURCE || op->recv_tag == WF_ANY_TAG;
    }
    return (family == WF_FAMILY_RECV || family == WF_FAMILY_PROBE) &&
           (op->peer == WF_ANY_SOURCE || op->tag == WF_ANY_TAG);
}

/* The number in the group of a rank of the program; group->size if the rank is not a member. */
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

static void set_match(const struct recorder *recorder, uint32_t number, uint32_t comm,
                      struct wf_op *op, uint32_t peer, int32_t tag)
{
    struct wf_group group;

    if (wf_source_group(recorder->config.program, number, comm, &group)) {
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

static void set_outcomes(struct recorder *recorder, const struct recorder_rank *rank,
                         struct wf_op *op)
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
        recorder->outcomes.size = 0;
        op->outcome = 0;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t place = place_in(op, taken[i]);
            if (place < op->count) {
                wf_buf_append(&recorder->outcomes, &place, sizeof(place));
                op->outcome++;
            }
        }
        op->outcomes = (const void *)recorder->outcomes.data;
    }
}

static void set_probed(const struct recorder *recorder, uint32_t number, struct wf_op *op)
{
    const struct recorder_rank *rank = &recorder->ranks[number];

    op->recorded = true;
    op->outcome = op->kind == WF_OP_PROBE || rank->found;
    op->matched_peer = op->peer;
    op->matched_tag = op->tag;
    if (is_open(op) && op->outcome != 0) {
        set_match(recorder, number, op->comm, op, rank->seen_source, rank->seen_tag);
    }
}

/* Fills in the outcome of the last op. Called when the simulation asks for the next op. */
static void set_record(struct recorder *recorder, uint32_t number, struct wf_op *op)
{
    const struct recorder_rank *rank = &recorder->ranks[number];
    const struct wf_op_info *info = wf_op_info(op->kind);

    op->recorded = false;
    if (info->family == WF_FAMILY_PROBE) {
        set_probed(recorder, number, op);
    } else if (info->family == WF_FAMILY_TEST ||
               (info->family == WF_FAMILY_WAIT && info->detail >= WF_WAIT_ANY)) {
        set_outcomes(recorder, rank, op);
    } else if (rank->matched && is_open(op)) {
        set_match(recorder, number, op->comm, op, rank->match_peer, rank->match_tag);
    }
}

/* ---- ops that are held ---- */

static bool waits_for_match(const struct wf_op *op)
{
    return op->kind == WF_OP_IRECV && is_open(op) && !op->recorded;
}

static bool creates_comm(const struct wf_op *op)
{
    return wf_op_info(op->kind)->family == WF_FAMILY_COMM;
}

/* Ops are held from the first one whose outcome is unknown. In a held receive, the unused
 * member `root` has the communicator's number in the program. */
static void hold(struct recorder *recorder, struct recorder_rank *rank, const struct wf_op *op)
{
    if (rank->held == NULL) {
        rank->held = wf_xcalloc(1, sizeof(*rank->held));
        rank->held->whole = true;
    }
    wf_vrank_oplog_add(rank->held, op);
    recorder->n_held++;
}

static struct wf_op *held_at(const struct recorder_rank *rank, uint64_t i)
{
    return wf_vrank_oplog_get(rank->held, rank->held->first + i);
}

/* Writes the ops that need not be held any longer. */
static void release(struct recorder *recorder, uint32_t number, bool all)
{
    struct recorder_rank *rank = &recorder->ranks[number];
    uint64_t n = rank->held != NULL ? rank->held->n : 0, i = 0;

    for (; i < n; i++) {
        const struct wf_op *op = held_at(rank, i);
        bool waits = waits_for_match(op);
        if (waits && !all && recorder->n_held <= HELD_MAX) {
            break;
        }
        recorder->n_unmatched += waits;
        recorder->n_held--;
        put(recorder, number, op);
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

/* Nothing more comes from a rank. */
static void end_rank(struct recorder *recorder, uint32_t number)
{
    (void)pthread_mutex_lock(&recorder->lock);
    for (uint32_t i = 0; i < recorder->config.n_records; i++) {
        struct wf_trace_writer *writer = writer_of(recorder, i);
        if (writer != NULL && writer->ops->rank_ends != NULL) {
            writer->ops->rank_ends(writer, number);
        }
    }
    (void)pthread_mutex_unlock(&recorder->lock);
}

/* A new communicator is known once the program goes on after the call that created it. */
static void set_created(struct recorder *recorder, uint32_t number)
{
    struct recorder_rank *rank = &recorder->ranks[number];
    struct wf_op *op = held_at(rank, rank->held->n - 1);
    uint32_t comm = wf_vrank_created_comm(recorder->config.program, number);

    op->new_comm = comm != WF_COMM_WORLD ? comm_in_trace(recorder, number, comm) : op->comm;
}

static bool last_op(const struct recorder *recorder, uint32_t number, struct wf_op *op)
{
    struct wf_cursor cursor = {.word = {recorder->ranks[number].n - 1},
                               .outer = {WF_CURSOR_AGAIN}};

    return wf_source_next(recorder->config.program, number, &cursor, op);
}

/* The rank's last op has returned. */
static void conclude(struct recorder *recorder, uint32_t number)
{
    struct recorder_rank *rank = &recorder->ranks[number];
    struct wf_op op;

    if (rank->n == 0 || !last_op(recorder, number, &op)) {
        return;
    }
    set_record(recorder, number, &op);
    if (wf_op_has_comm(op.kind)) {
        if (waits_for_match(&op)) {
            op.root = op.comm;
        }
        op.comm = comm_in_trace(recorder, number, op.comm);
    }
    if (rank->held != NULL || waits_for_match(&op) || creates_comm(&op)) {
        hold(recorder, rank, &op);
    } else {
        put(recorder, number, &op);
    }
    rank->taken.size = 0;
    rank->matched = false;
}

/* ---- the source ---- */

static bool recorder_next(const struct wf_source *source, uint32_t number,
                          struct wf_cursor *cursor, struct wf_op *op)
{
    struct recorder *recorder = recorder_of(source);
    const struct wf_source *program = recorder->config.program;
    struct recorder_rank *rank = &recorder->ranks[number];

    if (cursor->outer[0] == WF_CURSOR_AGAIN || cursor->word[0] < rank->n) {
        return wf_source_next(program, number, cursor, op);
    }
    if (atomic_load(&recorder->failed) || rank->ended) {
        return false;
    }
    (void)pthread_mutex_lock(&recorder->lock);
    conclude(recorder, number);
    bool creates = rank->held != NULL && creates_comm(held_at(rank, rank->held->n - 1));
    (void)pthread_mutex_unlock(&recorder->lock);
    rank->ended = !wf_source_next(program, number, cursor, op);
    rank->n += !rank->ended;
    if (rank->held != NULL) {
        (void)pthread_mutex_lock(&recorder->lock);
        if (creates) {
            set_created(recorder, number);
        }
        release(recorder, number, rank->ended);
        (void)pthread_mutex_unlock(&recorder->lock);
    }
    if (rank->ended) {
        end_rank(recorder, number);
    }
    return !rank->ended;
}

static void recorder_tell(const struct wf_source *source, uint32_t number,
                          const struct wf_answer *answer)
{
    const struct wf_source *program = recorder_of(source)->config.program;
    struct recorder_rank *rank = &recorder_of(source)->ranks[number];

    rank->found = answer->found;
    rank->seen_source = answer->seen_source;
    rank->seen_tag = answer->seen_tag;
    program->live->tell(program, number, answer);
}

static void recorder_matched(const struct wf_source *source, uint32_t number, uint32_t request,
                             uint32_t peer, int32_t tag)
{
    struct recorder *recorder = recorder_of(source);
    struct recorder_rank *rank = &recorder->ranks[number];
    struct wf_op op;

    recorder->config.program->live->matched(recorder->config.program, number, request, peer,
                                            tag);
    if (request == WF_REQUEST_MAX || (rank->n > 0 && last_op(recorder, number, &op) &&
                                      op.kind == WF_OP_IRECV && op.request == request)) {
        rank->matched = true;
        rank->match_peer = peer;
        rank->match_tag = tag;
        return;
    }
    for (uint64_t i = rank->held != NULL ? rank->held->n : 0; i-- > 0;) {
        struct wf_op *held = held_at(rank, i);
        if (held->kind == WF_OP_IRECV && held->request == request && waits_for_match(held)) {
            set_match(recorder, number, held->root, held, peer, tag);
            return;
        }
    }
}

static void recorder_taken(const struct wf_source *source, uint32_t number, uint32_t request)
{
    struct recorder *recorder = recorder_of(source);

    wf_buf_append(&recorder->ranks[number].taken, &request, sizeof(request));
    recorder->config.program->live->taken(recorder->config.program, number, request);
}

static void recorder_remote(const struct wf_source *source, uint32_t number, uint32_t origin)
{
    const struct wf_source *program = recorder_of(source)->config.program;

    program->live->remote(program, number, origin);
}

static void recorder_place(const struct wf_source *source, const struct wf_homes *homes)
{
    const struct wf_source *program = recorder_of(source)->config.program;

    program->live->place(program, homes);
}

static void recorder_findings(const struct wf_source *source, struct wf_findings *out)
{
    const struct wf_source *program = recorder_of(source)->config.program;

    program->live->findings(program, out);
}

static struct wf_live_spent recorder_spent(const struct wf_source *source)
{
    const struct wf_source *program = recorder_of(source)->config.program;

    return program->live->spent(program);
}

static struct wf_live_ends recorder_ends(const struct wf_source *source)
{
    const struct wf_source *program = recorder_of(source)->config.program;

    return program->live->ends(program);
}

static enum wf_status recorder_check(const struct wf_source *source, struct wf_err *err)
{
    const struct recorder *recorder = recorder_of(source);

    if (recorder->status != WF_OK) {
        *err = recorder->err;
        return recorder->status;
    }
    return wf_source_check(recorder->config.program, err);
}

static void recorder_destroy(struct wf_source *source)
{
    struct recorder *recorder = recorder_of(source);

    for (uint32_t i = 0; i < source->n_ranks; i++) {
        if (recorder->ranks[i].held != NULL) {
            wf_vrank_oplog_fini(recorder->ranks[i].held);
            free(recorder->ranks[i].held);
        }
        wf_buf_fini(&recorder->ranks[i].taken);
        wf_created_fini(&recorder->ranks[i].created);
    }
    free(recorder->ranks);
    wf_buf_fini(&recorder->outcomes);
    recorder->filter.created = (struct wf_created){.spans = NULL}; /* was the last rank's */
    wf_created_filter_fini(&recorder->filter);
    wf_source_free(recorder->config.program);
    (void)pthread_mutex_destroy(&recorder->lock);
    free(recorder);
}

static const struct wf_live_ops recorder_hooks = {
    .tell = recorder_tell,
    .matched = recorder_matched,
    .taken = recorder_taken,
    .remote = recorder_remote,
    .place = recorder_place,
    .findings = recorder_findings,
    .spent = recorder_spent,
    .ends = recorder_ends,
};

static const struct wf_source_ops recorder_ops = {
    .name = "program",
    .summary = "a program that runs and is recorded",
    .destroy = recorder_destroy,
    .next = recorder_next,
    .check = recorder_check,
};

struct wf_source *wf_vrank_recorder_new(const struct wf_vrank_recorder_config *config)
{
    struct recorder *recorder = wf_xcalloc(1, sizeof(*recorder));

    recorder->source = *config->program;
    recorder->source.ops = &recorder_ops;
    recorder->source.inner = config->program;
    recorder->source.live = &recorder_hooks;
    recorder->config = *config;
    recorder->ranks = wf_xcalloc(config->program->n_ranks, sizeof(*recorder->ranks));
    (void)pthread_mutex_init(&recorder->lock, NULL);
    return &recorder->source;
}

enum wf_status wf_vrank_recorder_finish(struct wf_source *source, struct wf_err *err)
{
    struct recorder *recorder = recorder_of(source);

    for (uint32_t i = 0; i < source->n_ranks && recorder->status == WF_OK; i++) {
        release(recorder, i, true);
    }
    if (recorder->status != WF_OK) {
        *err = recorder->err;
    }
    return recorder->status;
}

bool wf_vrank_recorder_keeps(const struct wf_source *recorder, uint32_t record,
                             struct wf_err *err)
{
    const struct wf_err *lost = &recorder_of(recorder)->lost[record];

    if (lost->status != WF_OK) {
        *err = *lost;
    }
    return lost->status == WF_OK;
}

uint64_t wf_vrank_recorder_n_ops(const struct wf_source *recorder)
{
    return recorder_of(recorder)->n_ops;
}

uint64_t wf_vrank_recorder_n_unmatched(const struct wf_source *recorder)
{
    return recorder_of(recorder)->n_unmatched;
}
