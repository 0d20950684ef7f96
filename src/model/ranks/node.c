/* SPDX-License-Identifier: Apache-2.0 */
/* The handlers of the node process: its first events, the dispatch by event kind, arrivals, the
 * commit of final events, and the sums at the end. */
#include "model/ranks/node.h"

#include "base/mem.h"
#include "model/ranks/files.h"
#include "model/ranks/formula.h"
#include "model/ranks/node_totals.h"
#include "model/ranks/protocol.h"
#include "model/ranks/rendezvous.h"
#include "model/ranks/resume.h"

#include <string.h>

/* ---- messages of the network ---- */

/* A message has arrived, its last byte at the time `at`, now or later. */
static inline void deliver(const struct wf_ranks *ranks, struct wf_ctx *ctx, void *node,
                           const struct wf_net_message *msg, int64_t at)
{
    struct wf_arrival arrival;

    /* Without an initialiser, which would set all of it to zero first: 2 % of a run on loggp. */
    arrival.bytes = msg->bytes;
    arrival.at = at;
    arrival.header = (const void *)msg->header;
    if (arrival.header->any.kind == WF_MSG_FILE) {
        wf_files_serve(ranks, ctx, node, msg, at);
        return;
    }
    arrival.who = wf_caller_enter(ranks, ctx, node, arrival.header->dst_slot);
    arrival.from = wf_rails_sender(&ranks->rails, msg, arrival.header->src_slot);
    if (arrival.who.rank->state != WF_RANK_FAILED) {
        wf_protocol_receive(&arrival);
        wf_rank_go_on(&arrival.who);
    }
}

static void on_arrival(void *ranks, struct wf_ctx *ctx, void *node,
                       const struct wf_net_message *msg, int64_t at)
{
    deliver(ranks, ctx, node, msg, at);
}

/* The interface that the message arrives by delays it. */
static int64_t delay_at_nic(const struct wf_ranks *ranks, struct wf_ctx *ctx, void **part)
{
    *part = wf_rails_state(&ranks->rails, ctx, *part);
    return wf_node_nic_delay(&ranks->nics, ctx, *part);
}

static void on_early_arrival(void *ranks, struct wf_ctx *ctx, void *part,
                             const struct wf_net_message *msg, int64_t at)
{
    int64_t delay = delay_at_nic(ranks, ctx, &part);

    deliver(ranks, ctx, part, msg, wf_time_add(at, delay));
}

static void on_arrival_in_events(void *ranks, struct wf_ctx *ctx, void *part,
                                 const struct wf_net_message *msg, int64_t at)
{
    const struct wf_node_delayed delayed = {*msg, at - wf_now(ctx)};
    int64_t delay = delay_at_nic(ranks, ctx, &part);

    if (delay > 0) {
        wf_schedule(ctx, wf_self(ctx), delay, WF_NODE_ARRIVED, &delayed, sizeof(delayed));
    } else {
        deliver(ranks, ctx, part, msg, at);
    }
}

/* The rank polls after the first byte of the message has come, and again after the last byte. */
static void schedule_poll(const struct wf_ranks *ranks, struct wf_ctx *ctx,
                          const struct wf_net_message *msg, int64_t first, int64_t last)
{
    uint32_t node = wf_self(ctx) - ranks->net->first_node;
    struct wf_msg_header header;

    memcpy(&header, msg->header, sizeof(header));
    uint32_t rank = wf_place_rank(ranks->place, node, header.dst_slot);
    int64_t begin = wf_node_next_poll(&ranks->polling, rank, first);
    const struct wf_node_delayed delayed = {
        *msg, wf_node_next_poll(&ranks->polling, rank, last) - begin};

    wf_schedule(ctx, wf_self(ctx), begin == WF_TIME_MAX ? begin : begin - wf_now(ctx),
                WF_NODE_ARRIVED, &delayed, sizeof(delayed));
}

static void on_polled_arrival(void *ranks, struct wf_ctx *ctx, void *part,
                              const struct wf_net_message *msg, int64_t at)
{
    const struct wf_msg_header *header = (const void *)msg->header;
    int64_t delay = delay_at_nic(ranks, ctx, &part);

    if (header->any.kind == WF_MSG_FILE) {
        deliver(ranks, ctx, part, msg, wf_time_add(at, delay));
        return;
    }
    schedule_poll(ranks, ctx, msg, wf_time_add(wf_now(ctx), delay), wf_time_add(at, delay));
}

/* The last byte of a message leaves at the time `at`. `noted`: the event has a note already. */
static void note_leaving(const struct wf_ranks *ranks, struct wf_ctx *ctx, void *node,
                         const void *header_words, int64_t at, bool noted)
{
    struct wf_msg_header header;

    memcpy(&header, header_words, sizeof(header));
    if (wf_rendezvous_awaits_leaving(ranks, &header)) {
        const struct wf_caller who = wf_caller_enter(ranks, ctx, node, header.src_slot);

        who.rank->noted = noted;
        wf_rendezvous_left(&who, &header, at);
        wf_rank_go_on(&who);
    }
}

static void on_sent(void *arg, struct wf_ctx *ctx, void *part, const struct wf_net_message *msg)
{
    const struct wf_ranks *ranks = arg;

    note_leaving(ranks, ctx, wf_rails_state(&ranks->rails, ctx, part), msg->header,
                 wf_time_add(wf_now(ctx), ranks->costs.injection), false);
}

struct wf_net_user wf_node_net_user(struct wf_ranks *ranks)
{
    static void (*const arrived[WF_ARRIVALS_KINDS])(void *, struct wf_ctx *, void *,
                                                    const struct wf_net_message *, int64_t) = {
        [WF_ARRIVALS_AT_ONCE] = on_arrival,
        [WF_ARRIVALS_EARLY] = on_early_arrival,
        [WF_ARRIVALS_IN_EVENTS] = on_arrival_in_events,
        [WF_ARRIVALS_POLLED] = on_polled_arrival,
    };

    return (struct wf_net_user){.arg = ranks,
                                .arrived = arrived[ranks->arrivals],
                                .sent = on_sent,
                                .may_overtake = wf_protocol_may_overtake,
                                .is_control = wf_protocol_is_control};
}

/* ---- events of the node ---- */

static void on_resume(const struct wf_ranks *ranks, struct wf_ctx *ctx, void *node,
                      const struct wf_event *ev)
{
    const struct wf_node_wakeup *wakeup = (const void *)ev->payload;
    const struct wf_caller who = wf_caller_enter(ranks, ctx, node, wakeup->slot);

    if (who.rank->ticket == wakeup->ticket && who.rank->state != WF_RANK_FAILED) {
        wf_request_take(&who);
        wf_rank_wake(&who);
        wf_rank_go_on(&who);
    }
}

/* A core has served a rank. */
static void on_core(const struct wf_ranks *ranks, struct wf_ctx *ctx, void *node,
                    const struct wf_event *ev)
{
    uint32_t slot;

    if (!wf_timeshare_next(ranks->timeshare, ctx, node, (const void *)ev->payload, &slot)) {
        return;
    }
    const struct wf_caller who = wf_caller_enter(ranks, ctx, node, slot);
    if (who.rank->state == WF_RANK_FAILED) {
        return;
    }
    if (wf_rank_cold(&who)->current != 0) {
        wf_collective_served(&who);
    } else {
        wf_rank_served(&who);
        wf_rank_wake(&who);
    }
    wf_rank_go_on(&who);
}

static void on_continue(const struct wf_ranks *ranks, struct wf_ctx *ctx, void *node,
                        const struct wf_event *ev)
{
    const struct wf_node_wakeup *wakeup = (const void *)ev->payload;
    const struct wf_caller who = wf_caller_enter(ranks, ctx, node, wakeup->slot);
    uint32_t cell = wf_cellmap_get(ctx, &wf_rank_cold(&who)->handles, wakeup->ticket);

    if (cell != 0 && who.rank->state != WF_RANK_FAILED) {
        wf_collective_continue(&who, cell);
        wf_rank_go_on(&who);
    }
}

/* The interface may now take a message. */
static void on_departure(const struct wf_ranks *ranks, struct wf_ctx *ctx, void *node,
                         const struct wf_event *ev)
{
    const struct wf_node_departure *departure = (const void *)ev->payload;
    int64_t left = wf_node_nic_event(&ranks->nics, ctx, node, ev);

    if (left != WF_NET_LATER) {
        note_leaving(ranks, ctx, node, departure->header, left, false);
    }
}

/* A message within the node. Its sender may go on in the same event, which has left its note:
 * marks of the sender get another event. */
static void on_local(const struct wf_ranks *ranks, struct wf_ctx *ctx, void *node,
                     const struct wf_event *ev)
{
    const struct wf_net_message *msg = (const void *)ev->payload;
    const struct wf_msg_header *header = (const void *)msg->header;
    const struct wf_local_times times = wf_local_carry(
        &ranks->local, ctx, node, header->src_slot, header->dst_slot, msg->bytes);

    deliver(ranks, ctx, node, msg, times.arrival);
    if (wf_local_leaves_later(&ranks->local)) {
        note_leaving(ranks, ctx, node, msg->header, times.left, true);
    }
}

static void on_delayed(const struct wf_ranks *ranks, struct wf_ctx *ctx, void *node,
                       const struct wf_event *ev)
{
    const struct wf_node_delayed *delayed = (const void *)ev->payload;

    deliver(ranks, ctx, node, &delayed->msg, wf_time_add(wf_now(ctx), delayed->tail));
}

static void on_signal(const struct wf_ranks *ranks, struct wf_ctx *ctx, void *node,
                      const struct wf_event *ev)
{
    struct wf_formula_signal signal;

    memcpy(&signal, ev->payload, sizeof(signal));
    const struct wf_caller who = wf_caller_enter(ranks, ctx, node, signal.slot);
    if (who.rank->state != WF_RANK_FAILED) {
        wf_formula_signalled(&who, &signal);
        wf_rank_go_on(&who);
    }
}

static void on_file(const struct wf_ranks *ranks, struct wf_ctx *ctx, void *node,
                    const struct wf_event *ev)
{
    const struct wf_net_message *msg = (const void *)ev->payload;
    const struct wf_msg_header *header = (const void *)msg->header;
    int64_t at = wf_now(ctx);

    if (header->any.kind == WF_MSG_FILE_DONE) {
        at = wf_files_received(ranks, ctx, node, msg->bytes, at);
    }
    deliver(ranks, ctx, node, msg, at);
}

static void node_init(void *state, struct wf_ctx *ctx)
{
    const struct wf_ranks *ranks = wf_model(ctx);
    uint32_t node = wf_self(ctx) - ranks->net->first_node;
    uint32_t n_slots = wf_place_n_slots(ranks->place, node);

    for (uint32_t slot = 0; slot < n_slots; slot++) {
        const struct wf_node_wakeup wakeup = {.slot = slot};
        struct wf_caller who = wf_caller_at(ranks, ctx, state, slot);
        uint32_t job = wf_ranks_job_of(ranks, who.number);
        int64_t start = ranks->jobs[job].start;

        who.rank->clock = start;
        wf_schedule(ctx, wf_self(ctx), start, WF_NODE_RESUME, &wakeup, sizeof(wakeup));
    }
}

static void node_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    static void (*const on_kind[])(const struct wf_ranks *, struct wf_ctx *, void *,
                                   const struct wf_event *) = {
        [WF_NODE_RESUME - WF_NET_KINDS] = on_resume,
        [WF_NODE_CONTINUE - WF_NET_KINDS] = on_continue,
        [WF_NODE_DEPART - WF_NET_KINDS] = on_departure,
        [WF_NODE_LOCAL - WF_NET_KINDS] = on_local,
        [WF_NODE_SIGNAL - WF_NET_KINDS] = on_signal,
        [WF_NODE_INJECT - WF_NET_KINDS] = on_departure,
        [WF_NODE_ARRIVED - WF_NET_KINDS] = on_delayed,
        [WF_NODE_CORE - WF_NET_KINDS] = on_core,
        [WF_NODE_FILE - WF_NET_KINDS] = on_file,
    };
    const struct wf_ranks *ranks = wf_model(ctx);
    uint32_t kind = wf_net_kind(ev);

    if (kind < WF_NET_KINDS) {
        wf_net_event(ranks->net, ctx, state, ev);
    } else {
        on_kind[kind - WF_NET_KINDS](ranks, ctx, state, ev);
    }
}

/* If the run is recorded. */
static void recorded_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    const struct wf_ranks *ranks = wf_model(ctx);

    node_event(state, ev, ctx);
    wf_recorder_end_event(&ranks->recorder, ctx);
}

/* A message will be matched with the receives of its rank: those with small numbers are mostly all,
 * and reading one after another along their list would wait for each. */
static void node_fetch(const void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    enum { USUAL = 8 };
    const struct wf_ranks *ranks = wf_model(ctx);
    const struct wf_rank *rank = (const void *)((const unsigned char *)state + ranks->slots_at);

    if (rank->match.posted.head != rank->match.posted.tail) {
        wf_cell_fetch(ctx, rank->small_requests, USUAL);
    }
}

/* ---- final events ---- */

/* Counts a note. The event is final, so ranks need not keep the note and nothing is undone. */
static void commit_note(const struct wf_ranks *ranks, const void *at, struct wf_ctx *ctx)
{
    struct wf_ranks_tally *tally = wf_tally(ctx);
    struct wf_node_note note;

    memcpy(&note, at, offsetof(struct wf_node_note, time));
    if (note.what == WF_NOTED_LATENCY) {
        wf_node_count_latency(&ranks->recorder, tally, note.at);
    } else if (note.what == WF_NOTED_REGION) {
        memcpy(&note, at, sizeof(note));
        tally->at = ranks->recorder.at;
        wf_marks_region(&wf_tally_edit_job(tally, note.job)->marks, note.number, note.at,
                        note.time);
    } else {
        const struct wf_iteration_mark mark = {
            .job = note.job, .number = note.number, .is_end = note.what == WF_NOTED_END};

        tally->at = ranks->recorder.at;
        wf_marks_pass(&tally->marks, &wf_tally_edit_job(tally, note.job)->marks, &mark,
                      wf_marks_kept(ranks->n_jobs), note.at);
    }
}

/* Most events of most runs leave no note. */
static void node_commit(const struct wf_event *ev, const void *note, struct wf_ctx *ctx)
{
    if (note != NULL) {
        commit_note(wf_model(ctx), note, ctx);
    }
}

/* If the run is recorded or the network has statistics. */
static void observed_commit(const struct wf_event *ev, const void *note, struct wf_ctx *ctx)
{
    const struct wf_ranks *ranks = wf_model(ctx);

    wf_node_commit(ranks->net, &ranks->recorder, ev, ctx);
    node_commit(ev, note, ctx);
}

/* ---- the end ---- */

static void add_unfinished(const struct wf_rank_program *program, struct wf_ranks_tally *tally)
{
    const struct wf_caller *who = program->who;
    struct wf_blocked blocked = {.rank = who->number, .failure = who->rank->failure};

    tally->unfinished++;
    tally->failed += who->rank->state == WF_RANK_FAILED;
    if (who->rank->state == WF_RANK_FAILED) {
        blocked.fail_peer = wf_rank_cold(who)->blocked_peer;
    }
    wf_rank_find_blocked(who, &blocked.on);
    blocked.on.group %= wf_ranks_groups_per_job(program->ranks);
    wf_tally_block(tally, &blocked);
}

static void add_rank(const struct wf_caller *who, struct wf_ranks_tally *tally)
{
    const struct wf_rank_program program = wf_rank_program_of(who);
    const struct wf_rank *rank = who->rank;
    struct wf_rank_leftover leftover = {.rank = who->number};
    struct wf_rank_totals totals = {
        .number = who->number,
        .job = program.job,
        .messages = rank->sent_messages,
        .bytes = rank->sent_bytes,
        .longest = rank->longest,
        .clock = rank->clock,
        .compute_ps = program.slot->progress.compute_ps,
        .overhead_ps = rank->overhead_ps,
        .wait_ps = {[WF_IN_CORE] = WF_NO_WAIT},
        .ended = rank->state == WF_RANK_ENDED,
    };

    memcpy(totals.wait_ps, rank->wait_ps, sizeof(rank->wait_ps));
    if (who->ranks->timeshare != NULL) {
        totals.wait_ps[WF_IN_CORE] = wf_rank_claim(who)->wait_ps;
    }
    wf_files_count_rank(who, &totals.files);
    if (totals.files.n == 0 || who->ranks->files.storage.model->place == NULL) {
        totals.wait_ps[WF_IN_FILE] = WF_NO_WAIT;
    }
    wf_node_count_rank(&who->ranks->recorder, tally, &totals);
    wf_rank_find_leftover(who, &leftover.what);
    wf_tally_leftover(tally, &leftover);
    if (!totals.ended) {
        add_unfinished(&program, tally);
    }
}

static void node_finish(const void *state, struct wf_ctx *ctx)
{
    const struct wf_ranks *ranks = wf_model(ctx);
    uint32_t n_slots = wf_place_n_slots(ranks->place, wf_self(ctx) - ranks->net->first_node);
    struct wf_ranks_tally *tally = wf_tally(ctx);

    wf_node_finish(ranks->net, &ranks->recorder, state, tally, ctx);
    wf_files_count_node(ranks, state, wf_self(ctx) - ranks->net->first_node, tally);
    for (uint32_t slot = 0; slot < n_slots; slot++) {
        /* Nothing is changed: the caller is used only to read the rank. */
        const struct wf_caller who = wf_caller_at(ranks, ctx, wf_unconst(state), slot);

        add_rank(&who, tally);
    }
}

static size_t payload_max(const struct wf_ranks *ranks)
{
    bool delayed =
        ranks->arrivals == WF_ARRIVALS_IN_EVENTS || ranks->arrivals == WF_ARRIVALS_POLLED;

    return wf_max_u64(wf_node_payload_max(ranks->net),
                      delayed ? sizeof(struct wf_node_delayed) : 0);
}

struct wf_process_ops wf_node_ops_of(const struct wf_ranks *ranks)
{
    bool recorded = wf_recorder_is_on(&ranks->recorder);
    /* Few events of a network with larger payloads are whole messages. */
    bool fetches = ranks->net->payload_max <= sizeof(struct wf_net_message);

    return (struct wf_process_ops){
        .name = "node",
        .announces_changes = true,
        .careful = ranks->live != NULL,
        .commits_notes = ranks->net->n_sums == 0,
        .payload_max = payload_max(ranks),
        .init = node_init,
        .event = recorded ? recorded_event : node_event,
        .fetch = fetches ? node_fetch : NULL,
        .commit = recorded || ranks->net->n_sums > 0 ? observed_commit : node_commit,
        .finish = node_finish,
    };
}
