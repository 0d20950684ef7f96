/* SPDX-License-Identifier: Apache-2.0 */
/* Executes ops: translates each into calls of its rank. */
#include "model/ranks/cpu/cpu.h"
#include "model/ranks/files.h"
#include "model/ranks/live_polls.h"
#include "model/ranks/resume.h"
#include "program/ops/fields.h"

#include <string.h>

static enum wf_called refuse_op(const struct wf_rank_program *program, const struct wf_op *op)
{
    wf_rank_fail(program->who, WF_FAILURE_OP, (uint32_t)op->kind);
    return WF_CALLED_BLOCKED;
}

/* find_peer() where the peer is no rank of WF_COMM_WORLD, or has to be asked for. */
static bool search_peer(const struct wf_rank_program *program, const struct wf_op *op,
                        uint32_t rank, struct wf_peer *out)
{
    struct wf_rank_group group;

    if (op->comm == WF_COMM_WORLD && program->only_world) {
        out->group = program->job * wf_ranks_groups_per_job(program->ranks);
    } else {
        if (!wf_rank_find_group(program, op->comm, &group)) {
            return false;
        }
        out->group = group.id;
        if (rank < group.size) {
            out->rank = wf_rank_group_member(&group, rank);
            return true;
        }
    }
    out->rank = rank == WF_ANY_SOURCE ? WF_MATCH_ANY_SOURCE : WF_RANK_PROC_NULL;
    return rank == WF_ANY_SOURCE || rank == WF_PROC_NULL;
}

/* Finds the rank of the run at the other side of a message. False if there is no such rank. */
static inline bool find_peer(const struct wf_rank_program *program, const struct wf_op *op,
                             uint32_t rank, struct wf_peer *out)
{
    if (op->comm == WF_COMM_WORLD && program->only_world && rank < program->source->n_ranks) {
        out->group = program->job * wf_ranks_groups_per_job(program->ranks);
        out->rank = program->first + rank;
        return true;
    }
    return search_peer(program, op, rank, out);
}

/* Whether the op is executed as it was recorded. If a kind of op has no recorded outcome,
 * its outcome fields are undefined. */
static bool follows_record(const struct wf_rank_program *program, const struct wf_op *op)
{
    return (wf_op_layout_of(op->kind)->flags & WF_HAS_RECORD) != 0 && op->recorded &&
           program->ranks->params.wildcards == WF_WILDCARDS_RECORDED;
}

/* The time of a computation that shares memory or cores with others. */
static int64_t contended_ps(const struct wf_rank_program *program,
                            const struct wf_cpu_work *work, int64_t duration)
{
    const struct wf_ranks *ranks = program->ranks;
    const struct wf_cores *cores = &ranks->local.cores;
    uint32_t node = wf_self(program->who->ctx) - ranks->net->first_node;
    uint32_t n_cores = wf_cores_used(cores, wf_cores_domain(cores, program->who->slot),
                                     wf_place_n_slots(ranks->place, node));
    uint64_t memory_bound = ranks->contention.memory_bound;

    if (ranks->cpu != NULL) {
        memory_bound = wf_cpu_memory_bound(ranks->cpu, work, memory_bound);
    }
    return wf_cpu_contention_time(&ranks->contention, memory_bound, n_cores, duration);
}

/* A rank that sleeps does not need its core. */
static enum wf_called do_sleep(const struct wf_rank_program *program, const struct wf_op *op)
{
    struct wf_script *at = &program->slot->progress;

    if (program->ranks->params.policy != WF_POLICY_TIMED) {
        return WF_CALLED_DONE;
    }
    if (program->ranks->timeshare != NULL && wf_rank_sync(program->who) == WF_CALLED_AGAIN) {
        return WF_CALLED_AGAIN;
    }
    wf_rank_poll_over(program);
    at->compute_ps = wf_time_add(at->compute_ps, wf_rank_sleep(program->who, op->duration));
    return WF_CALLED_DONE;
}

/* A computation, for the processor model. */
static struct wf_cpu_work work_of(const struct wf_rank_program *program, const struct wf_op *op)
{
    const struct wf_script_cold *at = wf_rank_script_cold(program);
    const struct wf_script_region *region = at->region != 0 && at->n_regions <= WF_SLOT_REGIONS
                                                ? wf_cell_read(program->who->ctx, at->region)
                                                : NULL;

    return (struct wf_cpu_work){
        .duration = op->duration,
        .region = region != NULL ? region->number : WF_CPU_NO_REGION,
        .value = region != NULL ? region->value : 0,
        .iteration = at->iteration,
        .rank = program->rank,
        .size = program->source->n_ranks,
        .counters = op->counters,
        .n_counters = op->n_counters,
        .job = program->job,
    };
}

static enum wf_called do_compute(const struct wf_rank_program *program, const struct wf_op *op)
{
    struct wf_script *at = &program->slot->progress;
    int64_t duration = op->duration;

    if (op->kind == WF_OP_SLEEP) {
        return do_sleep(program, op);
    }
    if (program->ranks->params.policy != WF_POLICY_TIMED) {
        return WF_CALLED_DONE;
    }
    if (program->ranks->cpu != NULL || program->ranks->contention.on) {
        const struct wf_cpu_work work = work_of(program, op);

        if (program->ranks->cpu != NULL) {
            duration = wf_cpu_duration(program->ranks->cpu, &work);
            if (duration == WF_CPU_NO_TIME) {
                wf_rank_fail(program->who, WF_FAILURE_FORMULA, work.region);
                return WF_CALLED_BLOCKED;
            }
        }
        if (program->ranks->contention.on) {
            duration = contended_ps(program, &work, duration);
        }
    }
    if (program->ranks->capture_ps != NULL) {
        duration = wf_time_add(duration, program->ranks->capture_ps[program->who->number]);
    }
    wf_rank_poll_computes(program, duration);
    at->compute_ps = wf_time_add(at->compute_ps, wf_rank_compute(program->who, duration));
    return WF_CALLED_DONE;
}

static enum wf_called do_send(const struct wf_rank_program *program, const struct wf_op *op)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    struct wf_peer to = {.tag = op->tag,
                         .bytes = op->bytes,
                         .synchronous = info->detail == WF_SEND_SYNCHRONOUS,
                         .buffered = info->detail == WF_SEND_BUFFERED};

    if (!find_peer(program, op, op->peer, &to) || to.rank == WF_MATCH_ANY_SOURCE ||
        op->tag < 0) {
        return refuse_op(program, op);
    }
    if (to.rank == WF_RANK_PROC_NULL) {
        return WF_CALLED_DONE;
    }
    return wf_rank_send(program->who, &to,
                        info->returns_request ? op->request : WF_RANK_NO_REQUEST);
}

/* Finds the source of a receive, as recorded or as the program asks for it. */
static inline bool find_source(const struct wf_rank_program *program, const struct wf_op *op,
                               uint32_t asked, struct wf_peer *out)
{
    bool recorded = follows_record(program, op);

    out->open = asked == WF_ANY_SOURCE || out->tag == WF_ANY_TAG;
    if (recorded) {
        out->tag = op->matched_tag;
    }
    return find_peer(program, op, recorded ? op->matched_peer : asked, out) &&
           out->tag >= WF_ANY_TAG;
}

static enum wf_called do_recv(const struct wf_rank_program *program, const struct wf_op *op)
{
    struct wf_peer from = {.tag = op->tag, .bytes = op->bytes};

    if (wf_ranks_only_send(program->ranks)) {
        return WF_CALLED_DONE;
    }
    if (!find_source(program, op, op->peer, &from)) {
        return refuse_op(program, op);
    }
    if (from.rank == WF_RANK_PROC_NULL) {
        return WF_CALLED_DONE;
    }
    return wf_rank_recv(program->who, &from,
                        wf_op_info(op->kind)->returns_request ? op->request
                                                              : WF_RANK_NO_REQUEST);
}

static enum wf_called do_sendrecv(const struct wf_rank_program *program, const struct wf_op *op)
{
    struct wf_peer to = {.tag = op->tag, .bytes = op->bytes};
    struct wf_peer from = {.tag = op->recv_tag, .bytes = op->recv_bytes};

    if (!find_peer(program, op, op->peer, &to) || to.rank == WF_MATCH_ANY_SOURCE ||
        op->tag < 0 || !find_source(program, op, op->recv_peer, &from)) {
        return refuse_op(program, op);
    }
    if (wf_ranks_only_send(program->ranks)) {
        from.rank = WF_RANK_PROC_NULL;
    }
    return wf_rank_sendrecv(program->who, &to, &from);
}

/* A recorded program does not see the result of an iprobe. But if the iprobe was recorded as
 * successful, its message must have arrived. */
static enum wf_called do_probe(const struct wf_rank_program *program, const struct wf_op *op)
{
    bool waits = op->kind == WF_OP_PROBE || (follows_record(program, op) && op->outcome != 0);
    struct wf_peer from = {.tag = op->tag};

    if (program->source->live && op->kind == WF_OP_IPROBE) {
        program->who->rank->found = 0;
        if (!find_source(program, op, op->peer, &from) || from.rank == WF_RANK_PROC_NULL) {
            return refuse_op(program, op);
        }
        wf_rank_poll_begin(program, op);
        return wf_rank_poll_end(program, op, wf_rank_iprobe(program->who, &from));
    }
    if (wf_ranks_only_send(program->ranks) || !waits) {
        return WF_CALLED_DONE;
    }
    if (!find_source(program, op, op->peer, &from)) {
        return refuse_op(program, op);
    }
    return from.rank == WF_RANK_PROC_NULL ? WF_CALLED_DONE : wf_rank_probe(program->who, &from);
}

static enum wf_called do_persistent(const struct wf_rank_program *program,
                                    const struct wf_op *op)
{
    uint8_t detail = wf_op_info(op->kind)->detail;
    bool receives = detail == WF_PERSISTENT_RECV;
    struct wf_peer peer = {.tag = op->tag,
                           .bytes = op->bytes,
                           .synchronous = detail == WF_SEND_SYNCHRONOUS,
                           .buffered = detail == WF_SEND_BUFFERED};

    /* The matches of a persistent receive are not recorded, so the fields for them are
     * undefined. */
    if (!find_peer(program, op, op->peer, &peer) || op->tag < (receives ? WF_ANY_TAG : 0) ||
        (!receives && peer.rank == WF_MATCH_ANY_SOURCE)) {
        return refuse_op(program, op);
    }
    peer.open = receives && (op->peer == WF_ANY_SOURCE || op->tag == WF_ANY_TAG);
    if (receives && wf_ranks_only_send(program->ranks)) {
        peer.rank = WF_RANK_PROC_NULL;
    }
    wf_rank_persistent(program->who, &peer, receives, op->request);
    return WF_CALLED_DONE;
}

/* In an op with one request, the list fields are undefined. */
static struct wf_request_set set_of(const struct wf_op *op)
{
    bool one = wf_op_info(op->kind)->detail == WF_WAIT_ONE;

    return (struct wf_request_set){.numbers = one ? NULL : op->requests,
                                   .first = op->request,
                                   .count = one ? 1 : op->count};
}

/* Starts one request after another; a send may have to wait for the engine's time. */
static enum wf_called do_start(const struct wf_rank_program *program, const struct wf_op *op)
{
    struct wf_request_set set = set_of(op);
    uint32_t *part = &program->slot->progress.part;

    for (; *part < set.count; ++*part) {
        uint32_t number = wf_request_set_at(&set, *part);
        enum wf_called called = wf_rank_start_request(program->who, number);
        if (called != WF_CALLED_DONE) {
            return called;
        }
    }
    *part = 0;
    return WF_CALLED_DONE;
}

static enum wf_called do_free(const struct wf_rank_program *program, const struct wf_op *op)
{
    if (op->kind == WF_OP_CANCEL) {
        return wf_rank_cancel(program->who, op->request);
    }
    wf_rank_detach(program->who, op->request);
    return WF_CALLED_DONE;
}

/* Waits for the part of a set that was complete when the call was recorded. */
static enum wf_called wait_recorded(const struct wf_rank_program *program,
                                    const struct wf_op *op)
{
    struct wf_request_set set = set_of(op);
    uint32_t *part = &program->slot->progress.part;
    uint8_t detail = wf_op_info(op->kind)->detail;

    if (detail == WF_WAIT_ONE || detail == WF_WAIT_ALL) {
        return op->outcome != 0 ? wf_rank_wait(program->who, &set) : WF_CALLED_DONE;
    }

    uint32_t n = detail == WF_WAIT_ANY ? (op->outcome < set.count ? 1 : 0) : op->outcome;
    while (*part < n) {
        uint32_t place = detail == WF_WAIT_ANY ? op->outcome : op->outcomes[*part];
        if (place >= set.count) {
            return refuse_op(program, op);
        }
        uint32_t number = wf_request_set_at(&set, place);
        const struct wf_request_set one = {.first = number, .count = 1};

        ++*part;
        if (wf_rank_wait(program->who, &one) == WF_CALLED_BLOCKED) {
            return WF_CALLED_AGAIN;
        }
    }
    *part = 0;
    return WF_CALLED_DONE;
}

static enum wf_called do_wait(const struct wf_rank_program *program, const struct wf_op *op)
{
    struct wf_request_set set = set_of(op);
    uint8_t detail = wf_op_info(op->kind)->detail;

    if (detail == WF_WAIT_ONE || detail == WF_WAIT_ALL) {
        return wf_rank_wait(program->who, &set);
    }
    return follows_record(program, op)
               ? wait_recorded(program, op)
               : wf_rank_wait_any(program->who, &set, detail == WF_WAIT_SOME);
}

static enum wf_called do_test(const struct wf_rank_program *program, const struct wf_op *op)
{
    static const enum wf_take take[] = {[WF_WAIT_ONE] = WF_TAKE_ALL,
                                        [WF_WAIT_ALL] = WF_TAKE_ALL,
                                        [WF_WAIT_ANY] = WF_TAKE_ONE,
                                        [WF_WAIT_SOME] = WF_TAKE_SOME};
    struct wf_request_set set = set_of(op);

    if (follows_record(program, op)) {
        return wait_recorded(program, op);
    }
    wf_rank_poll_begin(program, op);
    return wf_rank_poll_end(
        program, op, wf_rank_test(program->who, &set, take[wf_op_info(op->kind)->detail]));
}

/* The last match of a wildcard receive when the program called a nonblocking collective. By
 * the time the collective is recalled, the program may have received more. Never 0. */
static uint64_t pack_seen(const struct wf_rank_cold *cold)
{
    return (uint64_t)cold->seen_source << 32 | UINT32_C(1) << 31 |
           ((uint32_t)cold->seen_tag & INT32_MAX);
}

static enum wf_called do_collective(const struct wf_rank_program *program,
                                    const struct wf_op *op)
{
    struct wf_rank_group group;

    if (!wf_rank_find_group(program, op->comm, &group) ||
        (wf_op_info(op->kind)->family == WF_FAMILY_COLLECTIVE && op->root >= group.size &&
         wf_coll_has_root((enum wf_coll_kind)wf_op_info(op->kind)->detail))) {
        return refuse_op(program, op);
    }
    uint64_t cookie[WF_RANK_COOKIE_WORDS] = {0};
    bool returns = wf_op_info(op->kind)->returns_request;

    memcpy(cookie, program->slot->progress.word, sizeof(program->slot->progress.word));
    if (returns && program->source->depends_on_time) {
        cookie[WF_RANK_COOKIE_WORDS - 1] = pack_seen(wf_rank_cold(program->who));
    }
    const struct wf_collective_call call = {
        .request = returns ? op->request : WF_RANK_NO_REQUEST,
        .any_sizes = program->source->any_sizes ||
                     (program->source->live != NULL &&
                      wf_op_info(op->kind)->family == WF_FAMILY_COLLECTIVE && op->any_sizes)};
    return wf_rank_collective(program->who, cookie, &call);
}

/* Ends an epoch of a window: waits for the rank's own puts and gets, then, if the epoch is
 * collective, for all ranks. */
static enum wf_called do_epoch(const struct wf_rank_program *program, const struct wf_op *op)
{
    uint32_t *part = &program->slot->progress.part;

    if (wf_op_info(op->kind)->detail != 0) {
        return wf_ranks_only_send(program->ranks) ? WF_CALLED_DONE
                                                  : wf_rank_flush(program->who);
    }
    if (*part == 0 && !wf_ranks_only_send(program->ranks)) {
        *part = 1;
        if (wf_rank_flush(program->who) == WF_CALLED_BLOCKED) {
            return WF_CALLED_AGAIN;
        }
        /* A collective claims its core when it begins. */
        if (program->ranks->timeshare != NULL &&
            wf_rank_sync(program->who) == WF_CALLED_AGAIN) {
            return WF_CALLED_AGAIN;
        }
    }
    *part = 0;
    return do_collective(program, op);
}

static enum wf_called do_one_sided(const struct wf_rank_program *program,
                                   const struct wf_op *op)
{
    struct wf_peer peer = {.bytes = op->bytes};

    if (!find_peer(program, op, op->peer, &peer) || peer.rank == WF_MATCH_ANY_SOURCE) {
        return refuse_op(program, op);
    }
    if (peer.rank == WF_RANK_PROC_NULL) {
        return WF_CALLED_DONE;
    }
    return op->kind == WF_OP_GET ? wf_rank_get(program->who, &peer)
                                 : wf_rank_put(program->who, &peer);
}

static void note_mark(const struct wf_rank_program *program, enum wf_node_noted what,
                      uint32_t number, int64_t time)
{
    const struct wf_node_note noted = {(uint16_t)what, (uint16_t)program->job, number,
                                       program->who->rank->clock, time};

    program->who->rank->noted = 1;
    wf_note(program->who->ctx, &noted, sizeof(noted));
}

static void enter_region(const struct wf_rank_program *program, const struct wf_op *op)
{
    struct wf_script_cold *at = wf_rank_script_cold_edit(program);

    if (at->n_regions < WF_SLOT_REGIONS) {
        uint32_t cell = wf_cell_new_for(program->who->ctx, sizeof(struct wf_script_region));

        *(struct wf_script_region *)wf_cell_edit(program->who->ctx, cell) =
            (struct wf_script_region){.since = program->who->rank->clock,
                                      .value = op->bytes,
                                      .number = (uint32_t)op->tag,
                                      .around = at->region};
        at->region = cell;
    }
    at->n_regions++;
}

static void leave_region(const struct wf_rank_program *program)
{
    if (wf_rank_script_cold(program)->n_regions == 0) {
        return;
    }
    struct wf_script_cold *at = wf_rank_script_cold_edit(program);

    at->n_regions--;
    if (at->n_regions < WF_SLOT_REGIONS) {
        uint32_t cell = at->region;
        const struct wf_script_region *region = wf_cell_read(program->who->ctx, cell);

        note_mark(program, WF_NOTED_REGION, region->number,
                  program->who->rank->clock - region->since);
        at->region = region->around;
        wf_cell_free(program->who->ctx, cell);
    }
}

/* An event can leave one note. If it has left one already, the mark gets another event. */
static enum wf_called do_marker(const struct wf_rank_program *program, const struct wf_op *op)
{
    if (op->kind == WF_OP_REGION_BEGIN) {
        enter_region(program, op);
        return WF_CALLED_DONE;
    }
    if (program->who->rank->noted) {
        wf_rank_yield(program->who);
        return WF_CALLED_AGAIN;
    }
    if (op->kind == WF_OP_REGION_END) {
        leave_region(program);
    } else if (op->kind == WF_OP_ITERATION_BEGIN) {
        note_mark(program, WF_NOTED_BEGIN, wf_rank_script_cold_edit(program)->iteration++, 0);
    } else {
        uint32_t begun = wf_rank_script_cold(program)->iteration;

        note_mark(program, WF_NOTED_END, begun > 0 ? begun - 1 : 0, 0);
    }
    return WF_CALLED_DONE;
}

static enum wf_called do_file(const struct wf_rank_program *program, const struct wf_op *op)
{
    return wf_ranks_only_send(program->ranks) ? WF_CALLED_DONE : wf_rank_file(program, op);
}

static enum wf_called do_nothing(const struct wf_rank_program *program, const struct wf_op *op)
{
    return WF_CALLED_DONE;
}

enum wf_called wf_rank_execute(const struct wf_rank_program *program, const struct wf_op *op)
{
    static enum wf_called (*const calls[])(const struct wf_rank_program *,
                                           const struct wf_op *) = {
        [WF_FAMILY_COMPUTE] = do_compute,    [WF_FAMILY_SEND] = do_send,
        [WF_FAMILY_RECV] = do_recv,          [WF_FAMILY_SENDRECV] = do_sendrecv,
        [WF_FAMILY_PROBE] = do_probe,        [WF_FAMILY_PERSISTENT] = do_persistent,
        [WF_FAMILY_START] = do_start,        [WF_FAMILY_FREE] = do_free,
        [WF_FAMILY_WAIT] = do_wait,          [WF_FAMILY_TEST] = do_test,
        [WF_FAMILY_ONESIDED] = do_one_sided, [WF_FAMILY_MARKER] = do_marker,
        [WF_FAMILY_CALL] = do_nothing,       [WF_FAMILY_COLLECTIVE] = do_collective,
        [WF_FAMILY_COMM] = do_collective,    [WF_FAMILY_EPOCH] = do_epoch,
        [WF_FAMILY_FILE] = do_file,
    };
    enum wf_op_family family = wf_op_info(op->kind)->family;

    if (program->slot->progress.cold != 0 && family != WF_FAMILY_TEST &&
        family != WF_FAMILY_PROBE && family != WF_FAMILY_COMPUTE) {
        wf_rank_poll_over(program);
    }
    return calls[family](program, op);
}
