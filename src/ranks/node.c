/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks/ranks.h"

#include "base/mem.h"
#include "ops/live.h"
#include "ranks/blocked.h"
#include "ranks/slot.h"
#include "ranks/tasks/pe.h"

#include <stdlib.h>
#include <string.h>

/* Ops that a rank may make in one event: bounds what one handler schedules. */
enum { OPS_PER_EVENT = 1024 };

static const char *const policy_names[] = {"timed", "causal", "asap", NULL};
static const char *const wildcard_names[] = {"recorded", "arrival", NULL};

const struct wf_param wf_replay_params[] = {
    {.name = "policy",
     .type = WF_PARAM_ENUM,
     .offset = offsetof(struct wf_replay_params, policy),
     .def = "timed",
     .choices = policy_names,
     .doc =
         "timed: compute times too; causal: only the order of messages; asap: only sends, as "
         "fast as the network takes them"},
    {.name = "wildcards",
     .type = WF_PARAM_ENUM,
     .offset = offsetof(struct wf_replay_params, wildcards),
     .def = "recorded",
     .choices = wildcard_names,
     .doc = "Receives that leave their source open get what they got in the recording, or what "
            "arrives first here"},
    {.name = "granularity",
     .type = WF_PARAM_ENUM,
     .offset = offsetof(struct wf_replay_params, granularity),
     .def = "single",
     .choices = wf_pe_granularity_names,
     .doc = "Of programs of tasks: an event for each task, or for all tasks that are ready"},
    {.name = "captured",
     .type = WF_PARAM_BOOL,
     .offset = offsetof(struct wf_replay_params, captured),
     .def = "false",
     .doc = "Predict the run that was captured: what recording took, as the trace has it, is "
            "added to its compute times"},
    WF_PARAM_END,
};

static struct wf_turn turn_of(const struct wf_replay *replay, const struct wf_caller *who)
{
    uint32_t job = replay->n_jobs == 1 ? 0 : wf_replay_job_of(replay, who->number);

    return (struct wf_turn){
        .replay = replay,
        .who = who,
        .slot = (struct wf_rank_slot *)who->rank,
        .source = replay->jobs[job].source,
        .job = job,
        .rank = who->number - replay->first[job],
    };
}

/* The program is at its end: once more, or never. */
static bool starts_again(const struct wf_turn *turn)
{
    struct wf_script *at = &turn->slot->progress;

    at->runs++;
    if (at->runs >= turn->replay->jobs[turn->job].repeat) {
        return false;
    }
    at->cursor = (struct wf_cursor){.word = {0}};
    return true;
}

/* Lets the program know whom its last open receive was from, in the numbers of its job. */
static void tell_seen(const struct wf_turn *turn, struct wf_cursor *cursor)
{
    cursor->seen_source = turn->who->rank->seen_source - turn->replay->first[turn->job];
    cursor->seen_tag = turn->who->rank->seen_tag;
}

/* The same for a program that runs. */
static void tell_program(const struct wf_turn *turn)
{
    const struct wf_rank *rank = turn->who->rank;
    const struct wf_answer answer = {
        .clock = rank->clock,
        .found = rank->found,
        .seen_source = rank->seen_source - turn->replay->first[turn->job],
        .seen_tag = rank->seen_tag,
    };

    turn->source->live->tell(turn->source, turn->rank, &answer);
}

static void tell_matched(void *arg, const struct wf_caller *who, uint32_t request,
                         uint32_t peer, int32_t tag)
{
    const struct wf_turn turn = turn_of(arg, who);

    if (turn.source->live) {
        turn.source->live->matched(turn.source, turn.rank,
                                   request == WF_RANK_NO_REQUEST ? WF_REQUEST_MAX : request,
                                   peer - turn.replay->first[turn.job], tag);
    }
}

static void tell_taken(void *arg, const struct wf_caller *who, uint32_t request)
{
    const struct wf_turn turn = turn_of(arg, who);

    if (turn.source->live) {
        turn.source->live->taken(turn.source, turn.rank, request);
    }
}

static void tell_remote(void *arg, const struct wf_caller *who, uint32_t origin)
{
    const struct wf_turn turn = turn_of(arg, who);

    if (turn.source->live) {
        turn.source->live->remote(turn.source, turn.rank,
                                  origin - turn.replay->first[turn.job]);
    }
}

/* Makes the rank's calls until one of them does not return. */
static void resume(void *arg, const struct wf_caller *who)
{
    const struct wf_replay *replay = arg;
    const struct wf_turn turn = turn_of(replay, who);
    struct wf_script *at = &turn.slot->progress;

    wf_touch(who->ctx, at, sizeof(*at));
    for (int i = 0; i < OPS_PER_EVENT; i++) {
        struct wf_cursor cursor = at->cursor;
        struct wf_op op;

        tell_seen(&turn, &cursor);
        if (turn.source->live) {
            tell_program(&turn);
        }
        if (replay->mpi.in_step) {
            if (wf_rank_sync(who) == WF_CALLED_AGAIN) {
                return;
            }
            wf_rank_run_deferred(who);
            if (who->rank->state == WF_RANK_FAILED) {
                return;
            }
        }
        if (!wf_source_next(turn.source, turn.rank, &cursor, &op)) {
            if (starts_again(&turn)) {
                continue;
            }
            wf_rank_end(who);
            return;
        }

        enum wf_called called = wf_replay_call(&turn, &op, &at->cursor);
        if (called == WF_CALLED_AGAIN) {
            return;
        }
        at->cursor = cursor;
        if (called == WF_CALLED_BLOCKED || who->rank->state == WF_RANK_FAILED) {
            return;
        }
    }
    wf_rank_yield(who);
}

static void node_init(void *state, struct wf_ctx *ctx)
{
    const struct wf_replay *replay = wf_model(ctx);
    const struct wf_mpi *mpi = &replay->mpi;
    uint32_t node = wf_self(ctx) - mpi->net->first_node;
    uint32_t n_slots = wf_place_n_slots(mpi->place, node);

    for (uint32_t slot = 0; slot < n_slots; slot++) {
        struct wf_caller who = wf_caller_at(mpi, ctx, state, slot);
        uint32_t job = wf_replay_job_of(replay, who.number);
        int64_t start = replay->jobs[job].start;

        who.rank->clock = start;
        who.rank->seen_source = replay->first[job];
        wf_mpi_start(mpi, ctx, slot, start);
    }
}

static void node_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    const struct wf_replay *replay = wf_model(ctx);

    wf_mpi_event(&replay->mpi, ctx, state, ev);
}

static void add_unfinished(const struct wf_turn *turn, struct wf_ranks_tally *tally)
{
    const struct wf_caller *who = turn->who;
    struct wf_blocked blocked = {.rank = who->number, .failure = who->rank->failure};

    tally->unfinished++;
    tally->failed += who->rank->state == WF_RANK_FAILED;
    if (who->rank->state == WF_RANK_FAILED) {
        blocked.fail_peer = who->rank->fail_peer;
    }
    wf_rank_find_blocked(who, &blocked.on);
    blocked.on.group %= wf_replay_groups_per_job(turn->replay);
    wf_tally_block(tally, &blocked);
}

static void record_rank(const struct wf_turn *turn, struct wf_recording *recording)
{
    const struct wf_rank *rank = turn->who->rank;
    struct wf_account account = {
        .ranks = 1,
        .least_rank = turn->who->number + UINT64_C(1),
        .finish_ps = (uint64_t)rank->clock,
    };

    account.spent_ps[WF_SPENT_COMPUTING] = (uint64_t)turn->slot->progress.compute_ps;
    account.spent_ps[WF_SPENT_ON_MESSAGES] = (uint64_t)rank->overhead_ps;
    for (int in = 0; in < WF_IN_KINDS; in++) {
        account.spent_ps[(int)WF_SPENT_WAITING + in] = (uint64_t)rank->wait_ps[in];
    }
    wf_recording_rank(recording, &account);
}

static void add_rank(const struct wf_replay *replay, const struct wf_caller *who,
                     struct wf_ranks_tally *tally)
{
    struct wf_recording *recording = wf_recorder_of(&replay->recorder, tally);
    const struct wf_turn turn = turn_of(replay, who);
    struct wf_job_tally *job = &tally->jobs[turn.job];
    const struct wf_rank *rank = who->rank;
    struct wf_rank_leftover leftover = {.rank = who->number};
    int64_t waits = 0;

    wf_tally_end(tally, who->number, rank->clock);
    job->messages += rank->sent_messages;
    job->bytes = wf_count_add(job->bytes, rank->sent_bytes);
    wf_rank_find_leftover(who, &leftover.what);
    wf_tally_leftover(tally, &leftover);
    tally->timeless += rank->clock == WF_TIME_MAX;
    wf_stat_add(&job->compute, turn.slot->progress.compute_ps);
    wf_stat_add(&job->overhead, rank->overhead_ps);
    for (uint32_t in = 0; in < WF_IN_KINDS; in++) {
        const struct wf_waited waited = {rank->wait_ps[in], who->number, in};

        waits = wf_time_add(waits, rank->wait_ps[in]);
        wf_stat_add(&job->wait[in], rank->wait_ps[in]);
        wf_tally_wait(tally, &waited);
    }
    wf_stat_add(&job->waits, waits);
    if (recording != NULL) {
        record_rank(&turn, recording);
    }
    if (replay->recorder.path_at != 0) {
        wf_path_end(wf_recorder_path(&replay->recorder, tally), who->number, rank->clock);
    }
    if (rank->state == WF_RANK_ENDED) {
        wf_stat_add(&job->finish, rank->clock);
    } else {
        add_unfinished(&turn, tally);
    }
}

static void node_finish(const void *state, struct wf_ctx *ctx)
{
    const struct wf_replay *replay = wf_model(ctx);
    const struct wf_mpi *mpi = &replay->mpi;
    uint32_t n_slots = wf_place_n_slots(mpi->place, wf_self(ctx) - mpi->net->first_node);
    struct wf_ranks_tally *tally = wf_tally(ctx);

    if (mpi->net->ops->finish != NULL) {
        mpi->net->ops->finish(mpi->net, ctx, state, &tally->net);
    }
    for (uint32_t slot = 0; slot < n_slots; slot++) {
        /* Nothing is changed: a caller is how a rank is looked at. */
        const struct wf_caller who = wf_caller_at(mpi, ctx, wf_unconst(state), slot);

        add_rank(replay, &who, tally);
    }
}

static void note_message(void *arg, const struct wf_caller *to,
                         const struct wf_delivery *delivery)
{
    const struct wf_replay *replay = arg;
    const struct wf_replay_note note = {.what = WF_NOTED_LATENCY,
                                        .at = delivery->arrival - delivery->departure};

    wf_note(to->ctx, &note, offsetof(struct wf_replay_note, time));
    if (replay->recorder.at != 0) {
        wf_recorder_message(to->ctx,
                            &(struct wf_sent){delivery->departure, delivery->arrival,
                                              delivery->bytes, delivery->from, to->number});
    }
}

static void note_span(void *arg, const struct wf_caller *who, enum wf_spent what, int64_t until)
{
    (void)arg;
    wf_recorder_span(who->ctx,
                     (struct wf_span){who->rank->clock, until, who->number, (uint32_t)what});
}

static void note_cause(void *arg, const struct wf_caller *who, const struct wf_cause *cause)
{
    (void)arg;
    wf_recorder_cause(who->ctx, cause);
}

/* What is noted is counted when it is final: no rank has to keep it, and nothing is undone. */
static void node_commit(const struct wf_event *ev, const void *at, struct wf_ctx *ctx)
{
    const struct wf_replay *replay = wf_model(ctx);
    const struct wf_net *net = replay->mpi.net;
    struct wf_ranks_tally *tally = wf_tally(ctx);
    struct wf_replay_note note;

    if (net->n_sums > 0 && net->ops->commit != NULL && ev->kind < WF_NET_KINDS) {
        net->ops->commit(net, ev, ctx);
    }
    if (replay->recorder.at != 0) {
        wf_recorder_commit(&replay->recorder, ctx);
    }
    if (at == NULL) {
        return;
    }
    memcpy(&note, at, offsetof(struct wf_replay_note, time));
    if (note.what == WF_NOTED_LATENCY) {
        wf_tally_latency(tally, net->n_sums > 0 ? wf_tally_words(tally) : NULL, note.at);
    } else if (note.what == WF_NOTED_REGION) {
        memcpy(&note, at, sizeof(note));
        wf_marks_region(&tally->marks, note.job, note.number, note.at, note.time);
    } else {
        const struct wf_mark mark = {
            .job = note.job, .number = note.number, .is_end = note.what == WF_NOTED_END};

        wf_marks_pass(&tally->marks, &mark, wf_marks_kept(replay->n_jobs), note.at);
    }
}

/* Completed by the size of the network's payloads. */
static const struct wf_process_ops node_ops = {
    .name = "node",
    .announces_changes = true,
    .init = node_init,
    .event = node_event,
    .commit = node_commit,
    .finish = node_finish,
};

static enum wf_status check(const struct wf_ranks_config *config, uint32_t n_ranks,
                            struct wf_err *err)
{
    const struct wf_place *place = config->place;

    if (place->slots_max > WF_RANK_SLOTS_MAX) {
        return wf_err_set(err, WF_EINVAL, "%u ranks on a node are too many; the limit is %d",
                          place->slots_max, WF_RANK_SLOTS_MAX);
    }
    if (config->net->n_nodes != place->n_nodes || place->n_ranks != n_ranks) {
        return wf_err_set(err, WF_EINVAL,
                          "%u ranks are placed on %u nodes; the jobs have %u, "
                          "the network %u",
                          place->n_ranks, place->n_nodes, n_ranks, config->net->n_nodes);
    }
    return WF_OK;
}

static bool acts_in_background(const struct wf_ranks_config *config)
{
    bool any = false;

    for (uint32_t i = 0; i < config->n_jobs; i++) {
        any |= config->jobs[i].source->acts_in_background;
    }
    return any;
}

/* Behind the tally are the network's statistics, behind these the recording. */
static void ask_for_tally(struct wf_replay *replay, const struct wf_ranks_config *config,
                          struct wf_engine *engine)
{
    struct wf_net *net = config->net;
    size_t size = wf_tally_size(sizeof(struct wf_ranks_tally), net);
    bool more = net->n_sums > 0 || config->recording != NULL;

    if (net->n_sums > 0) {
        net->counters_offset = sizeof(struct wf_ranks_tally);
    }
    if (config->recording != NULL) {
        /* Statistics that are not there are empty ones. */
        size += net->n_sums > 0 ? 0 : sizeof(struct wf_net_counters);
        size = wf_recorder_init(&replay->recorder, config->recording, config->place, size);
    }
    wf_engine_tally(engine, size, more ? wf_tally_merge_all : wf_tally_merge);
}

/* What recording took, of all ranks; null if that is not to count. */
static int64_t *find_costs(const struct wf_replay *replay, uint32_t n_ranks)
{
    int64_t *costs = NULL;

    if (!replay->params.captured) {
        return NULL;
    }
    costs = wf_xcalloc(n_ranks, sizeof(*costs));
    for (uint32_t job = 0; job < replay->n_jobs; job++) {
        const struct wf_source *source = replay->jobs[job].source;
        for (uint32_t rank = 0; rank < source->n_ranks; rank++) {
            (void)wf_source_cost(source, rank, &costs[replay->first[job] + rank]);
        }
    }
    return costs;
}

enum wf_status wf_ranks_new(struct wf_engine *engine, const struct wf_ranks_config *config,
                            struct wf_replay **out, struct wf_err *err)
{
    struct wf_replay *replay = wf_xcalloc(1, sizeof(*replay));
    uint32_t n_ranks = 0;

    replay->params = *config->params;
    replay->cpu = config->cpu;
    replay->n_jobs = config->n_jobs;
    for (uint32_t i = 0; i < config->n_jobs; i++) {
        replay->jobs[i] = config->jobs[i];
        replay->first[i] = n_ranks;
        n_ranks += config->jobs[i].source->n_ranks;
    }
    replay->first[config->n_jobs] = n_ranks;
    replay->mpi = (struct wf_mpi){.place = config->place,
                                  .params = config->mpi,
                                  .sends_only = config->params->policy == WF_POLICY_ASAP,
                                  .arg = replay,
                                  .resume = resume,
                                  .recall = wf_replay_recall,
                                  .note = note_message,
                                  .spent = config->recording != NULL ? note_span : NULL,
                                  .because = config->recording != NULL &&
                                                     config->recording->limits.path_bytes > 0
                                                 ? note_cause
                                                 : NULL};

    enum wf_status status = check(config, n_ranks, err);
    if (status == WF_OK) {
        status = wf_mpi_init(&replay->mpi, config->net, sizeof(struct wf_rank_slot),
                             acts_in_background(config), err);
    }
    if (status != WF_OK) {
        free(replay);
        return status;
    }
    replay->costs = find_costs(replay, n_ranks);
    replay->ops = node_ops;
    for (uint32_t i = 0; i < config->n_jobs; i++) {
        if (config->jobs[i].source->live) {
            replay->ops.careful = true;
            replay->mpi.matched = tell_matched;
            replay->mpi.taken = tell_taken;
            replay->mpi.remote = tell_remote;
        }
    }
    replay->ops.payload_max = wf_mpi_payload_max(&replay->mpi);

    uint32_t first = wf_engine_add(engine, &replay->ops, config->place->n_nodes,
                                   wf_mpi_node_size(&replay->mpi), replay);
    ask_for_tally(replay, config, engine);
    wf_mpi_attach(&replay->mpi, config->net, engine, first);
    wf_spread_programs(replay, engine, first);
    *out = replay;
    return WF_OK;
}

void wf_ranks_free(struct wf_replay *replay)
{
    if (replay != NULL) {
        free(replay->costs);
    }
    free(replay);
}

uint64_t wf_ranks_expected_messages(const struct wf_replay *replay)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < replay->n_jobs; i++) {
        uint64_t messages = replay->jobs[i].source->messages_expected;
        if (messages == 0) {
            return 0;
        }
        sum += replay->jobs[i].repeat * messages;
    }
    return sum;
}

void wf_replay_find(const struct wf_replay *replay, uint32_t rank, uint32_t *job,
                    uint32_t *rank_in_job)
{
    *job = wf_replay_job_of(replay, rank);
    *rank_in_job = rank - replay->first[*job];
}
