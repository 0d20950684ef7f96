/* SPDX-License-Identifier: Apache-2.0 */
#include "vrank/program_source.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/units.h"
#include "vrank/compute_meter.h"
#include "vrank/context.h"
#include "vrank/crash.h"
#include "vrank/memory_watch.h"
#include "vrank/oplog.h"
#include "vrank/output_labels.h"
#include "vrank/program_image.h"
#include "vrank/shared_state.h"
#include "vrank/stacks.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Ops that a rank may be ahead of the simulation: bounds the memory for their data too. */
enum { OPS_AHEAD = 256 };

/* What is no larger says how to go on, more likely than what is computed with. */
enum { PAYLOAD_KEPT = 1024 };

enum rank_state { RANK_NEW, RANK_RUNS, RANK_ENDED };

struct live;

struct rank {
    struct wf_port_rank self; /* first */
    struct live *live;
    struct wf_vrank_context context;
    struct wf_vrank_oplog log;
    struct wf_port_answer answer;
    struct wf_buf matches, taken;
    struct wf_port_comm *comms; /* by number - 1 */
    uint32_t n_comms;
    uint32_t made; /* the first communicator since the last answer; or WF_COMM_WORLD */
    uint8_t state; /* enum rank_state */
    uint8_t in_library;
    int64_t computing_since; /* as its thread's meter says */
};

struct live {
    struct wf_source source; /* first */
    struct wf_vrank_config config;
    struct wf_vrank_image *image;
    struct wf_vrank_labels *labels; /* or null */
    const struct wf_port_library *library;
    struct wf_port_simulator port;
    struct wf_vrank_meter meter;
    struct wf_vrank_stacks stacks;
    struct wf_vrank_crash_watch watch;
    struct wf_vrank_shared common;
    struct rank *ranks;
    struct wf_vrank_memory room; /* what was left when memory became short */
    bool is_short;
};

/* What a thread of the simulation is doing: the library asks without saying who it is. */
static _Thread_local struct {
    struct rank *running;
    struct wf_vrank_context simulation;
} here;

static struct live *live_of(const struct wf_source *source)
{
    return (struct live *)wf_unconst(source);
}

/* ---- in the program's thread ---- */

static struct rank *rank_of(struct wf_port_rank *self)
{
    return (struct rank *)self;
}

static struct wf_port_rank *port_self(void)
{
    return here.running != NULL ? &here.running->self : NULL;
}

/* Lets the simulation go on. Other ranks of the thread have the same errno meanwhile. */
static void stop_here(struct rank *rank)
{
    int error = errno;

    here.running = NULL;
    wf_vrank_context_switch(&rank->context, &here.simulation);
    errno = error;
}

static void port_enter(struct wf_port_rank *self)
{
    struct rank *rank = rank_of(self);
    const struct wf_vrank_meter *meter = &rank->live->meter;

    if (rank->in_library++ > 0 || meter->kind == WF_VRANK_METER_NONE) {
        return;
    }
    const struct wf_op op = {.kind = WF_OP_COMPUTE,
                             .duration = wf_vrank_meter_since(meter, rank->computing_since)};
    if (op.duration > 0) {
        wf_vrank_oplog_add(&rank->log, &op);
    }
}

static void port_compute(struct wf_port_rank *self, int64_t picoseconds)
{
    struct rank *rank = rank_of(self);
    const struct wf_op op = {.kind = WF_OP_COMPUTE, .duration = picoseconds};

    if (rank->live->config.compute == WF_VRANK_COMPUTE_MODEL) {
        wf_vrank_oplog_add(&rank->log, &op);
    }
}

static void port_leave(struct wf_port_rank *self)
{
    struct rank *rank = rank_of(self);

    if (--rank->in_library == 0 && rank->live->meter.kind != WF_VRANK_METER_NONE) {
        rank->computing_since = wf_vrank_meter_now(&rank->live->meter);
    }
}

static void port_post(struct wf_port_rank *self, const struct wf_op *op)
{
    struct rank *rank = rank_of(self);

    wf_vrank_oplog_add(&rank->log, op);
    if (rank->log.n >= OPS_AHEAD) {
        stop_here(rank);
    }
}

/* Removes what the program has read from the beginning of a list. */
static void forget_read(struct wf_buf *list, size_t bytes)
{
    if (bytes > 0) {
        list->size -= bytes;
        memmove(list->data, list->data + bytes, list->size);
    }
}

static const struct wf_port_answer *port_call(struct wf_port_rank *self, const struct wf_op *op)
{
    struct rank *rank = rank_of(self);

    forget_read(&rank->matches, rank->answer.n_matches * sizeof(struct wf_port_match));
    forget_read(&rank->taken, rank->answer.n_taken * sizeof(uint32_t));
    wf_vrank_oplog_add(&rank->log, op);
    stop_here(rank);
    rank->made = WF_COMM_WORLD;
    rank->answer.matches = (const void *)rank->matches.data;
    rank->answer.n_matches = (uint32_t)(rank->matches.size / sizeof(struct wf_port_match));
    rank->answer.taken = (const void *)rank->taken.data;
    rank->answer.n_taken = (uint32_t)(rank->taken.size / sizeof(uint32_t));
    return &rank->answer;
}

static void port_comm(struct wf_port_rank *self, const struct wf_port_comm *comm)
{
    struct rank *rank = rank_of(self);

    assert(comm->number > 0);
    if (comm->number > rank->n_comms) {
        rank->comms = wf_xrealloc(rank->comms, comm->number, sizeof(*comm));
        memset(rank->comms + rank->n_comms, 0, (comm->number - rank->n_comms) * sizeof(*comm));
        rank->n_comms = comm->number;
    }
    rank->comms[comm->number - 1] = *comm;
    rank->made = rank->made == WF_COMM_WORLD ? comm->number : rank->made;
}

static void port_comm_drop(struct wf_port_rank *self, uint32_t number)
{
    struct rank *rank = rank_of(self);

    rank->comms[number - 1] = (struct wf_port_comm){.number = 0};
}

static uint32_t port_name(struct wf_port_rank *self, bool region, const char *name)
{
    return wf_vrank_shared_number(&rank_of(self)->live->common,
                                  region ? WF_VRANK_NAME_REGION : WF_VRANK_NAME_CALL, name);
}

static void port_exit(struct wf_port_rank *self, int code, bool all)
{
    struct rank *rank = rank_of(self);

    rank->state = RANK_ENDED;
    if (all) {
        wf_vrank_shared_end(&rank->live->common,
                            &(struct wf_vrank_end){true, self->rank, code, rank->answer.clock});
    }
    stop_here(rank);
    abort(); /* an ended rank is never continued */
}

static void port_touch(struct wf_port_rank *self, void *place, size_t bytes)
{
    wf_vrank_image_touch(rank_of(self)->live->image, place, bytes);
}

static const struct wf_port_simulator port = {
    .version = WF_PORT_VERSION,
    .self = port_self,
    .post = port_post,
    .call = port_call,
    .comm = port_comm,
    .comm_drop = port_comm_drop,
    .name = port_name,
    .enter = port_enter,
    .leave = port_leave,
    .compute = port_compute,
    .exit = port_exit,
    .touch = port_touch,
};

static void rank_main(void *arg)
{
    struct rank *rank = arg;
    struct live *live = rank->live;

    live->library->rank_begins(&rank->self);
    int code = wf_vrank_image_main(live->image, rank->self.rank, live->config.argv);
    live->library->rank_ends(&rank->self);
    port_exit(&rank->self, code, code != 0);
}

/* ---- in the simulation ---- */

static void look_for_memory(struct live *live, uint32_t steps)
{
    struct wf_vrank_memory room;

    if (wf_vrank_memory_short(steps, &room)) {
        (void)pthread_mutex_lock(&live->common.lock);
        live->room = room;
        live->is_short = true;
        (void)pthread_mutex_unlock(&live->common.lock);
        /* An end that a rank asks for comes before. */
        wf_vrank_shared_end(&live->common, &(struct wf_vrank_end){.ended = true,
                                                                  .rank = WF_VRANK_END_NO_RANK,
                                                                  .clock = INT64_MAX});
    }
}

static void run(struct live *live, struct rank *rank)
{
    enum { STEPS_TO_BEGIN = 64 };

    look_for_memory(live, rank->state == RANK_NEW ? STEPS_TO_BEGIN : 1);
    if (rank->state == RANK_NEW) {
        rank->state = RANK_RUNS;
        wf_vrank_stacks_use(&live->stacks, rank->self.rank);
        wf_vrank_context_make(
            &rank->context, wf_vrank_stacks_top(&live->stacks, rank->self.rank),
            wf_vrank_stacks_room(&live->stacks, rank->self.rank), rank_main, rank);
        rank->computing_since = wf_vrank_meter_now(&live->meter);
    }
    wf_vrank_crash_prepare_thread();
    wf_vrank_image_enter(live->image, rank->self.rank);
    here.running = rank;
    wf_vrank_context_switch(&here.simulation, &rank->context);
    if (!live->stacks.guarded &&
        wf_vrank_stacks_overflowed(&live->stacks, rank->self.rank, rank->context.stack)) {
        wf_vrank_crash_overflow(rank->self.rank, rank->answer.clock);
    }
    if (rank->state == RANK_ENDED) {
        wf_vrank_context_free(&rank->context);
        wf_vrank_stacks_drop(&live->stacks, rank->self.rank);
        wf_vrank_image_ended(live->image, rank->self.rank);
        wf_vrank_labels_ended(live->labels, rank->self.rank);
    }
}

static bool live_next(const struct wf_source *source, uint32_t number, struct wf_cursor *cursor,
                      struct wf_op *op)
{
    struct live *live = live_of(source);
    struct rank *rank = &live->ranks[number];
    uint64_t at = cursor->word[0];

    if (cursor->outer[0] != WF_CURSOR_AGAIN) {
        wf_vrank_oplog_drop(&rank->log, at);
        while (at == wf_vrank_oplog_end(&rank->log) && rank->state != RANK_ENDED &&
               !atomic_load_explicit(&live->common.over, memory_order_relaxed)) {
            if (rank->live == NULL) {
                /* Only now: of too many ranks there is nothing before memory is checked. */
                rank->live = live;
                rank->self = (struct wf_port_rank){.rank = number, .n_ranks = source->n_ranks};
            }
            run(live, rank);
        }
    }
    const struct wf_op *found = wf_vrank_oplog_get(&rank->log, at);
    if (found == NULL) {
        return false;
    }
    *op = *found;
    cursor->word[0] = at + 1;
    return true;
}

static bool live_group(const struct wf_source *source, uint32_t number, uint32_t comm,
                       struct wf_group *out)
{
    const struct live *live = live_of(source);
    const struct rank *rank = &live->ranks[number];

    if (comm == WF_COMM_WORLD) {
        *out = (struct wf_group){
            .size = source->n_ranks, .rank = number, .stride = 1, .width = source->n_ranks};
        return true;
    }
    if (comm > rank->n_comms || rank->comms[comm - 1].number == 0) {
        return false;
    }
    const struct wf_port_comm *own = &rank->comms[comm - 1];
    *out = (struct wf_group){
        .id = own->id, .size = own->size, .rank = own->rank, .members = own->members};
    return true;
}

static const char *live_name_of(const struct wf_source *source, enum wf_source_name kind,
                                uint32_t number)
{
    return kind == WF_NAME_COUNTER
               ? NULL
               : wf_vrank_shared_name(&live_of(source)->common,
                                      kind == WF_NAME_REGION ? WF_VRANK_NAME_REGION
                                                             : WF_VRANK_NAME_CALL,
                                      number);
}

static void live_tell(const struct wf_source *source, uint32_t number,
                      const struct wf_answer *answer)
{
    struct rank *rank = &live_of(source)->ranks[number];

    rank->answer.clock = answer->clock;
    rank->answer.found = answer->found;
    rank->answer.source = answer->seen_source;
    rank->answer.tag = answer->seen_tag;
}

static void live_matched(const struct wf_source *source, uint32_t number, uint32_t request,
                         uint32_t peer, int32_t tag)
{
    const struct wf_port_match match = {request, peer, tag};

    wf_buf_append(&live_of(source)->ranks[number].matches, &match, sizeof(match));
}

static void live_taken(const struct wf_source *source, uint32_t number, uint32_t request)
{
    struct rank *rank = &live_of(source)->ranks[number];

    wf_buf_append(&rank->taken, &request, sizeof(request));
    wf_vrank_oplog_complete(&rank->log, request);
}

static void live_remote(const struct wf_source *source, uint32_t number, uint32_t origin)
{
    struct live *live = live_of(source);

    wf_vrank_image_enter(live->image, number);
    live->library->remote(&live->ranks[number].self, origin);
}

static void live_spread(const struct wf_source *source, const struct wf_homes *homes)
{
    struct live *live = live_of(source);

    wf_vrank_shared_spread(&live->common, homes, live->library);
}

static void live_load(const struct wf_source *source, uint32_t process, struct wf_buf *out)
{
    wf_vrank_shared_load(&live_of(source)->common, process, out);
}

static void live_unload(const struct wf_source *source, const unsigned char *bytes, size_t size)
{
    wf_vrank_shared_unload(&live_of(source)->common, bytes, size);
}

static uint32_t live_common_region(const struct wf_source *source, uint32_t number)
{
    return wf_vrank_names_common(live_of(source)->common.names, WF_VRANK_NAME_REGION, number);
}

/* In a signal handler. */
static bool who_runs(uint32_t *rank, int64_t *clock)
{
    if (here.running == NULL) {
        return false;
    }
    *rank = here.running->self.rank;
    *clock = here.running->answer.clock;
    return true;
}

static bool which_rank(uint32_t *rank)
{
    int64_t clock;

    return who_runs(rank, &clock);
}

static bool repair(void *arg, const void *address)
{
    return wf_vrank_image_repair(((struct live *)arg)->image, address);
}

static enum wf_status live_check(const struct wf_source *source, struct wf_err *err)
{
    const struct live *live = live_of(source);
    const struct wf_vrank_end *end = &live->common.end;
    char time[WF_UNITS_TEXT_MAX], left[WF_UNITS_TEXT_MAX], all[WF_UNITS_TEXT_MAX];

    if (!end->ended) {
        return WF_OK;
    }
    if (end->rank == WF_VRANK_END_NO_RANK) {
        return live->is_short
                   ? wf_err_set(err, WF_ELIMIT,
                                "the program was stopped because memory is short: %s of %s is "
                                "left; run fewer ranks, or spread them over more machines",
                                wf_human_size(live->room.left, left),
                                wf_human_size(live->room.all, all))
                   : wf_err_set(err, WF_ELIMIT,
                                "the program was stopped because memory is short where another "
                                "process runs; run fewer ranks, or spread them over more "
                                "machines");
    }
    return wf_err_set(err, WF_ESIM,
                      "rank %u ended the program with code %d at simulated time %s", end->rank,
                      end->code, wf_human_time(end->clock, time));
}

static void live_destroy(struct wf_source *source)
{
    struct live *live = live_of(source);

    wf_vrank_crash_ignore();
    for (uint32_t i = 0; live->ranks != NULL && i < source->n_ranks; i++) {
        if (live->ranks[i].live != NULL) {
            live->library->rank_freed(&live->ranks[i].self);
        }
    }
    if (live->library != NULL) {
        live->library->detach();
    }
    for (uint32_t i = 0; live->ranks != NULL && i < source->n_ranks; i++) {
        struct rank *rank = &live->ranks[i];
        if (rank->live == NULL) {
            continue; /* it never began: not even its page must be touched */
        }
        wf_vrank_oplog_fini(&rank->log);
        wf_buf_fini(&rank->matches);
        wf_buf_fini(&rank->taken);
        wf_vrank_context_free(&rank->context);
        free(rank->comms);
    }
    free(live->ranks);
    wf_vrank_stacks_fini(&live->stacks);
    wf_vrank_image_free(live->image);
    wf_vrank_labels_free(live->labels);
    free(live->config.argv);
    wf_vrank_shared_fini(&live->common);
    free(live);
}

static const struct wf_live_ops live_hooks = {
    .tell = live_tell,
    .matched = live_matched,
    .taken = live_taken,
    .remote = live_remote,
    .spread = live_spread,
    .load = live_load,
    .unload = live_unload,
    .common_region = live_common_region,
};

static const struct wf_source_ops live_ops = {
    .name = "program",
    .summary = "a program that runs",
    .destroy = live_destroy,
    .next = live_next,
    .group = live_group,
    .name_of = live_name_of,
    .check = live_check,
};

static const enum wf_vrank_meter_kind meters[] = {
    [WF_VRANK_COMPUTE_MEASURED] = WF_VRANK_METER_TIME,
    [WF_VRANK_COMPUTE_MODEL] = WF_VRANK_METER_NONE,
    [WF_VRANK_COMPUTE_NONE] = WF_VRANK_METER_NONE,
    [WF_VRANK_COMPUTE_COUNTED] = WF_VRANK_METER_INSTRUCTIONS,
};

enum wf_status wf_vrank_source_new(const struct wf_vrank_config *config, struct wf_source **out,
                                   struct wf_err *err)
{
    struct live *live = wf_xcalloc(1, sizeof(*live));

    live->source = (struct wf_source){.ops = &live_ops,
                                      .n_ranks = config->n_ranks,
                                      .acts_in_background = true,
                                      .depends_on_time = true,
                                      .live = &live_hooks};
    live->config = *config;
    live->config.argv = NULL;
    live->port = port;
    live->port.payload_max = config->no_payload ? PAYLOAD_KEPT : UINT64_MAX;
    live->port.checks_data = config->check;
    wf_vrank_shared_init(&live->common);
    if (config->labels) {
        live->labels = wf_vrank_labels_new(config->n_ranks, which_rank);
    }
    const struct wf_vrank_image_config image = {config->argv[0], config->n_ranks,
                                                config->copies};
    enum wf_status status =
        wf_vrank_meter_init(&live->meter, meters[config->compute], config->rate, err);
    if (status == WF_OK) {
        status = wf_vrank_image_load(&image, &live->image, &live->library, err);
    }
    if (status == WF_OK) {
        status = wf_vrank_stacks_init(&live->stacks, config->n_ranks, config->stack_bytes, err);
    }
    if (status == WF_OK && !live->library->attach(&live->port, config->n_ranks)) {
        live->library = NULL;
        status = wf_err_set(err, WF_EINVAL,
                            "'%.300s' was built with another version of weft; build it again",
                            config->argv[0]);
    }
    if (status != WF_OK) {
        live_destroy(&live->source);
        return status;
    }
    live->config.argv = config->argv;
    live->ranks = wf_xcalloc_huge(config->n_ranks, sizeof(struct rank));
    live->watch = (struct wf_vrank_crash_watch){
        .stacks = &live->stacks, .who = who_runs, .repair = repair, .arg = live};
    wf_vrank_crash_watch(&live->watch);
    *out = &live->source;
    return WF_OK;
}

struct wf_vrank_end wf_vrank_end(const struct wf_source *source)
{
    return live_of(source)->common.end;
}

uint32_t wf_vrank_created_comm(const struct wf_source *source, uint32_t rank)
{
    return live_of(source)->ranks[rank].made;
}
