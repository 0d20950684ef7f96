/* SPDX-License-Identifier: Apache-2.0 */
#include "vrank/program_source.h"

#include "base/buf.h"
#include "base/call_site.h"
#include "base/mem.h"
#include "base/os_watch.h"
#include "base/units.h"
#include "ops/disturbance.h"
#include "vrank/compute_meter.h"
#include "vrank/context.h"
#include "vrank/crash.h"
#include "vrank/memory_watch.h"
#include "vrank/oplog.h"
#include "vrank/output_labels.h"
#include "vrank/program_image.h"
#include "vrank/shared_state.h"
#include "vrank/spill.h"
#include "vrank/stacks.h"
#include "vrank/threads.h"
#include "vrank/ticks.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How many ops a rank may be ahead of the simulation. This also bounds the memory for their
 * data. */
enum { OPS_AHEAD = 256 };

/* With --no-payload, data up to this size is still transferred: it often controls what the
 * program does. */
enum { PAYLOAD_KEPT = 1024 };

enum rank_state { RANK_NEW, RANK_RUNS, RANK_ENDED };

struct program;

struct answers {
    struct wf_port_answer answer;
    struct wf_buf matches, taken;
};

struct rank {
    struct wf_port_rank self; /* must be first */
    struct program *program;
    struct wf_vrank_context context;
    char **arguments; /* of main() */
    struct wf_vrank_oplog log;
    int64_t clock;              /* picoseconds, when it was last known */
    struct answers *heard;      /* what the simulation has told it; null: nothing yet */
    struct wf_port_comm *comms; /* [number - 1] */
    uint32_t n_comms;
    uint32_t created; /* first communicator created since the last answer, or WF_COMM_WORLD */
    uint32_t stack;   /* its number, while the rank runs */
    uint8_t state;    /* enum rank_state */
    uint8_t in_library;
    int64_t computing_since; /* reading of its thread's meter */
};

struct program {
    struct wf_source source; /* must be first */
    struct wf_vrank_config config;
    struct wf_vrank_image *image;
    struct wf_vrank_labels *labels; /* may be null */
    const struct wf_port_library *library;
    struct wf_port_simulator port;
    const struct wf_homes *places; /* null: not placed */
    struct wf_vrank_meter meter;
    struct wf_vrank_stacks stacks;
    struct wf_vrank_spill *spill; /* null: memory is not spilled */
    struct wf_vrank_crash_watch watch;
    struct wf_vrank_shared shared;
    struct rank *ranks;
    struct wf_vrank_memory memory; /* state of the memory when it became short */
    bool is_short;
    atomic_bool is_left; /* the run is being interrupted: no rank continues */
};

/* The rank that runs in this thread of the simulation, since the library's calls do not name
 * it. */
static _Thread_local struct {
    struct rank *running;
    struct wf_vrank_context simulation;
} here;

static struct program *program_of(const struct wf_source *source)
{
    return (struct program *)wf_unconst(source);
}

/* ---- in the rank's thread ---- */

static struct rank *rank_of(struct wf_port_rank *self)
{
    return (struct rank *)self;
}

static struct wf_port_rank *port_self(void)
{
    return here.running != NULL ? &here.running->self : NULL;
}

/* Returns to the simulation until it continues the rank. Ranks of a thread share errno,
 * which is therefore saved. */
static void yield(struct rank *rank)
{
    int error = errno;

    here.running = NULL;
    wf_vrank_context_switch(&rank->context, &here.simulation);
    errno = error;
}

static void begin_span(struct rank *rank)
{
    if (rank->program->meter.kind == WF_VRANK_METER_TIME) {
        wf_os_watch_begin(wf_os_watch_now());
    }
    rank->computing_since = wf_vrank_meter_now(&rank->program->meter);
}

/* What the system did during a span of this thread, which took so many nanoseconds. */
static uint32_t disturbances_of(int64_t ns)
{
    if (ns < WF_OS_WATCH_NS) {
        return 0;
    }
    const struct wf_os_watch_counts counts = wf_os_watch_end(wf_os_watch_now(), ns);

    return wf_disturbance_of(&counts, counts.stolen, ns);
}

static void port_enter(struct wf_port_rank *self, const void *site)
{
    struct rank *rank = rank_of(self);
    const struct wf_vrank_meter *meter = &rank->program->meter;

    if (rank->in_library++ > 0 || meter->kind == WF_VRANK_METER_NONE) {
        return;
    }
    struct wf_op op = {.kind = WF_OP_COMPUTE,
                       .duration = wf_vrank_meter_since(meter, rank->computing_since)};
    if (self->computed != NULL) {
        *self->computed += op.duration;
    } else if (op.duration > 0) {
        op.site = wf_call_site(site);
        if (meter->kind == WF_VRANK_METER_TIME) {
            op.disturbances = disturbances_of(op.duration / 1000);
        }
        wf_vrank_oplog_add(&rank->log, &op);
    }
}

static void port_compute(struct wf_port_rank *self, int64_t picoseconds)
{
    struct rank *rank = rank_of(self);
    const struct wf_op op = {.kind = WF_OP_COMPUTE, .duration = picoseconds};

    if (rank->program->config.compute == WF_VRANK_COMPUTE_MODEL && self->computed != NULL) {
        *self->computed += picoseconds;
    } else if (rank->program->config.compute == WF_VRANK_COMPUTE_MODEL) {
        wf_vrank_oplog_add(&rank->log, &op);
    }
}

static void port_leave(struct wf_port_rank *self)
{
    struct rank *rank = rank_of(self);

    if (--rank->in_library == 0 && rank->program->meter.kind != WF_VRANK_METER_NONE) {
        begin_span(rank);
    }
}

static void port_post(struct wf_port_rank *self, const struct wf_op *op)
{
    struct rank *rank = rank_of(self);

    wf_vrank_oplog_add(&rank->log, op);
    if (rank->log.n >= OPS_AHEAD) {
        yield(rank);
    }
}

/* Many ranks of large runs never wait for an answer. */
static struct answers *heard_by(struct rank *rank)
{
    if (rank->heard == NULL) {
        rank->heard = wf_xcalloc(1, sizeof(*rank->heard));
    }
    return rank->heard;
}

/* Removes from the beginning of a list what the program has read. */
static void drop_read(struct wf_buf *list, size_t bytes)
{
    if (bytes > 0) {
        list->size -= bytes;
        memmove(list->data, list->data + bytes, list->size);
    }
}

static const struct wf_port_answer *port_call(struct wf_port_rank *self, const struct wf_op *op)
{
    struct rank *rank = rank_of(self);
    struct answers *heard = heard_by(rank);
    struct wf_port_answer *answer = &heard->answer;

    drop_read(&heard->matches, answer->n_matches * sizeof(struct wf_port_match));
    drop_read(&heard->taken, answer->n_taken * sizeof(uint32_t));
    wf_vrank_oplog_add(&rank->log, op);
    yield(rank);
    rank->created = WF_COMM_WORLD;
    answer->clock = rank->clock;
    answer->matches = (const void *)heard->matches.data;
    answer->n_matches = (uint32_t)(heard->matches.size / sizeof(struct wf_port_match));
    answer->taken = (const void *)heard->taken.data;
    answer->n_taken = (uint32_t)(heard->taken.size / sizeof(uint32_t));
    return answer;
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
    rank->created = rank->created == WF_COMM_WORLD ? comm->number : rank->created;
}

static void port_comm_drop(struct wf_port_rank *self, uint32_t number)
{
    struct rank *rank = rank_of(self);

    rank->comms[number - 1] = (struct wf_port_comm){.number = 0};
}

static uint32_t port_name(struct wf_port_rank *self, bool region, const char *name)
{
    return wf_vrank_shared_number(&rank_of(self)->program->shared,
                                  region ? WF_VRANK_NAME_REGION : WF_VRANK_NAME_CALL, name);
}

static void port_destructors(struct wf_port_rank *self)
{
    wf_vrank_image_end(rank_of(self)->program->image, self->rank);
}

static void port_exit(struct wf_port_rank *self, int code, bool all)
{
    struct rank *rank = rank_of(self);

    rank->state = RANK_ENDED;
    if (all) {
        wf_vrank_shared_end(&rank->program->shared,
                            &(struct wf_vrank_end){true, self->rank, code, rank->clock});
    }
    yield(rank);
    abort(); /* an ended rank is never continued */
}

static void port_child(struct wf_port_rank *self)
{
    wf_vrank_crash_in_child();
    wf_vrank_labels_in_child(rank_of(self)->program->labels);
}

/* Without a simulated machine, as while a trace is written, each rank has its own node. */
static uint32_t port_node(struct wf_port_rank *self, uint32_t number)
{
    const struct wf_homes *places = rank_of(self)->program->places;

    return places != NULL ? places->node(places, number) : number;
}

static uint64_t port_place(const struct wf_port_rank *self, const void *address)
{
    const struct rank *rank = (const struct rank *)self;

    return wf_vrank_image_place(rank->program->image, address);
}

static void port_finding(const struct wf_port_simulator *simulator,
                         const struct wf_finding *finding)
{
    const struct program *program =
        (const void *)((const char *)simulator - offsetof(struct program, port));

    wf_vrank_shared_found(&program_of(&program->source)->shared, finding);
}

static void port_touch(struct wf_port_rank *self, void *place, size_t bytes)
{
    wf_vrank_image_touch(rank_of(self)->program->image, place, bytes);
}

static bool port_is_swapped(struct wf_port_rank *self, const void *place, size_t bytes)
{
    return wf_vrank_image_swaps(rank_of(self)->program->image, place, bytes);
}

static void *port_thread_new(struct wf_port_rank *self, void (*entry)(void *), void *arg)
{
    struct program *program = rank_of(self)->program;
    struct wf_vrank_thread *thread =
        wf_vrank_thread_new(entry, arg, program->config.stack_bytes);

    if (thread != NULL && entry != NULL) {
        *wf_vrank_thread_note(thread) = wf_vrank_image_tls_new(program->image, self->rank);
    }
    return thread;
}

static void port_thread_switch(struct wf_port_rank *self, void *from, void *to)
{
    struct program *program = rank_of(self)->program;

    *wf_vrank_thread_note(from) =
        wf_vrank_image_tls_use(program->image, self->rank, *wf_vrank_thread_note(to));
    wf_vrank_thread_switch(from, to, &rank_of(self)->in_library);
}

static void port_thread_free(void *thread)
{
    wf_vrank_thread_free(thread);
}

static unsigned char *port_thread_locals(struct wf_port_rank *self, size_t *bytes)
{
    return wf_vrank_image_tls_place(rank_of(self)->program->image, bytes);
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
    .destructors = port_destructors,
    .exit = port_exit,
    .child = port_child,
    .thread_new = port_thread_new,
    .thread_switch = port_thread_switch,
    .thread_free = port_thread_free,
    .refuse = wf_vrank_crash_refuse,
    .thread_locals = port_thread_locals,
    .ticks = wf_vrank_ticks_set,
    .touch = port_touch,
    .is_swapped = port_is_swapped,
    .node = port_node,
    .place = port_place,
    .finding = port_finding,
};

static void rank_main(void *arg)
{
    struct rank *rank = arg;
    struct program *program = rank->program;

    program->library->rank_begins(&rank->self);
    rank->arguments =
        wf_vrank_image_begin(program->image, rank->self.rank, program->config.argv);
    begin_span(rank); /* constructors take no simulated time */
    int code = wf_vrank_image_main(program->image, rank->self.rank, rank->arguments);
    program->library->rank_exits(&rank->self, code);
    program->library->rank_ends(&rank->self);
    port_exit(&rank->self, code, code != 0);
}

static void describe_rank(const struct rank *rank, struct wf_live_crash *crash);

/* ---- in the simulation ---- */

static void check_memory(struct program *program, uint32_t steps)
{
    struct wf_vrank_memory memory;

    if (wf_vrank_memory_short(steps, &memory)) {
        (void)pthread_mutex_lock(&program->shared.lock);
        program->memory = memory;
        program->is_short = true;
        (void)pthread_mutex_unlock(&program->shared.lock);
        /* If a rank also ends the program, that end takes precedence, since its clock is
         * lower. */
        wf_vrank_shared_end(&program->shared,
                            &(struct wf_vrank_end){.ended = true,
                                                   .rank = WF_VRANK_END_NO_RANK,
                                                   .clock = INT64_MAX});
    }
}

static void run(struct program *program, struct rank *rank)
{
    enum { STEPS_TO_BEGIN = 64 };

    check_memory(program, rank->state == RANK_NEW ? STEPS_TO_BEGIN : 1);
    if (rank->state == RANK_NEW) {
        rank->state = RANK_RUNS;
        rank->stack = wf_vrank_stacks_take(&program->stacks);
        wf_vrank_context_make(
            &rank->context, wf_vrank_stacks_top(&program->stacks, rank->stack),
            wf_vrank_stacks_size(&program->stacks, rank->stack), rank_main, rank);
        begin_span(rank);
    }
    wf_vrank_crash_prepare_thread();
    wf_vrank_image_enter(program->image, rank->self.rank);
    here.running = rank;
    wf_vrank_context_switch(&here.simulation, &rank->context);
    if (!program->stacks.guarded && rank->self.computed == NULL &&
        wf_vrank_stacks_overflowed(&program->stacks, rank->stack, rank->context.stack)) {
        struct wf_live_crash crash = {.call = NULL};
        describe_rank(rank, &crash);
        wf_vrank_crash_overflow(&crash);
    }
    if (rank->state == RANK_ENDED) {
        free(rank->arguments);
        rank->arguments = NULL;
        wf_vrank_context_free(&rank->context);
        wf_vrank_stacks_give(&program->stacks, rank->stack);
        wf_vrank_image_ended(program->image, rank->self.rank);
        wf_vrank_labels_ended(program->labels, rank->self.rank);
    }
}

static bool program_next(const struct wf_source *source, uint32_t number,
                         struct wf_cursor *cursor, struct wf_op *op)
{
    struct program *program = program_of(source);
    struct rank *rank = &program->ranks[number];
    uint64_t at = cursor->word[0];

    if (cursor->outer[0] != WF_CURSOR_AGAIN) {
        wf_vrank_oplog_drop(&rank->log, at);
        while (at == wf_vrank_oplog_end(&rank->log) && rank->state != RANK_ENDED &&
               !atomic_load_explicit(&program->shared.over, memory_order_relaxed) &&
               !atomic_load_explicit(&program->is_left, memory_order_relaxed)) {
            if (rank->program == NULL) {
                /* Not done earlier, since a rank that has not begun must not use any memory. */
                rank->program = program;
                rank->self = (struct wf_port_rank){.rank = number, .n_ranks = source->n_ranks};
            }
            run(program, rank);
        }
    }
    bool found = wf_vrank_oplog_read(&rank->log, at, op);
    if (!found && atomic_load_explicit(&program->is_left, memory_order_relaxed)) {
        /* A receive that nothing matches: the rank has not ended. */
        *op = (struct wf_op){.kind = WF_OP_RECV, .peer = number, .tag = INT32_MAX};
        return true;
    }
    cursor->word[0] += found;
    return found;
}

static bool program_group(const struct wf_source *source, uint32_t number, uint32_t comm,
                          struct wf_group *out)
{
    const struct program *program = program_of(source);
    const struct rank *rank = &program->ranks[number];

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

static const char *program_name_of(const struct wf_source *source, enum wf_source_name kind,
                                   uint32_t number)
{
    return kind == WF_NAME_COUNTER || kind == WF_NAME_SITE
               ? NULL
               : wf_vrank_shared_name(&program_of(source)->shared,
                                      kind == WF_NAME_REGION ? WF_VRANK_NAME_REGION
                                                             : WF_VRANK_NAME_CALL,
                                      number);
}

static void program_tell(const struct wf_source *source, uint32_t number,
                         const struct wf_answer *answer)
{
    struct rank *rank = &program_of(source)->ranks[number];

    rank->clock = answer->clock;
    if (rank->heard != NULL) { /* or it waits for nothing */
        rank->heard->answer.found = answer->found;
        rank->heard->answer.source = answer->seen_source;
        rank->heard->answer.tag = answer->seen_tag;
    }
}

static void program_matched(const struct wf_source *source, uint32_t number, uint32_t request,
                            uint32_t peer, int32_t tag)
{
    const struct wf_port_match match = {request, peer, tag};

    wf_buf_append(&heard_by(&program_of(source)->ranks[number])->matches, &match,
                  sizeof(match));
}

static void program_taken(const struct wf_source *source, uint32_t number, uint32_t request)
{
    struct rank *rank = &program_of(source)->ranks[number];

    wf_buf_append(&heard_by(rank)->taken, &request, sizeof(request));
    wf_vrank_oplog_complete(&rank->log, request);
}

static void program_remote(const struct wf_source *source, uint32_t number, uint32_t origin)
{
    struct program *program = program_of(source);

    wf_vrank_image_enter(program->image, number);
    program->library->remote(&program->ranks[number].self, origin);
}

static void program_place(const struct wf_source *source, const struct wf_homes *homes)
{
    program_of(source)->places = homes;
}

static void program_spread(const struct wf_source *source, const struct wf_homes *homes)
{
    struct program *program = program_of(source);

    wf_vrank_shared_spread(&program->shared, homes, program->library);
}

static void program_load(const struct wf_source *source, uint32_t process, struct wf_buf *out)
{
    wf_vrank_shared_load(&program_of(source)->shared, process, out);
}

static void program_unload(const struct wf_source *source, const unsigned char *bytes,
                           size_t size)
{
    wf_vrank_shared_unload(&program_of(source)->shared, bytes, size);
}

static uint32_t program_common_region(const struct wf_source *source, uint32_t number)
{
    return wf_vrank_names_common(program_of(source)->shared.names, WF_VRANK_NAME_REGION,
                                 number);
}

/* Ranks that are not here have no part in it. */
static void program_findings(const struct wf_source *source, struct wf_findings *out)
{
    struct program *program = program_of(source);
    struct wf_port_rank **begun = wf_xcalloc(source->n_ranks, sizeof(struct wf_port_rank *));
    uint32_t n = 0;

    for (uint32_t i = 0; i < source->n_ranks; i++) {
        if (program->ranks[i].program != NULL) {
            begun[n++] = &program->ranks[i].self;
        }
    }
    program->library->left_over(begun, n);
    free((void *)begun);
    wf_vrank_shared_findings(&program->shared, out);
}

static bool which_rank(uint32_t *rank)
{
    if (here.running == NULL) {
        return false;
    }
    *rank = here.running->self.rank;
    return true;
}

/* ---- in signal handlers ---- */

static void describe_rank(const struct rank *rank, struct wf_live_crash *crash)
{
    crash->rank = rank->self.rank;
    crash->clock = rank->clock;
    crash->call = rank->self.call;
    crash->in_call = rank->in_library > 0;
    crash->program = rank->program->config.argv[0];
}

static bool who_runs(struct wf_live_crash *crash)
{
    if (here.running == NULL) {
        return false;
    }
    describe_rank(here.running, crash);
    return true;
}

static uint32_t stack_of_running(void)
{
    return here.running->stack;
}

static uintptr_t place_of(void *arg, const void *instruction)
{
    return wf_vrank_image_place(((struct program *)arg)->image, instruction);
}

/* Goes back to the simulation as if the rank had asked it something, but for ever. A rank in
 * the library, which may hold a lock, is not left. */
static void leave(void *arg)
{
    struct program *program = arg;
    struct rank *rank = here.running;

    if (rank != NULL && rank->in_library == 0) {
        atomic_store(&program->is_left, true);
        here.running = NULL;
        wf_vrank_context_switch(&rank->context, &here.simulation);
    }
}

/* A rank with several threads in a region: another thread may go on. */
static void tick(void *arg)
{
    const struct program *program = arg;
    struct rank *rank = here.running;

    if (rank != NULL && rank->in_library == 0 && rank->self.computed != NULL) {
        program->library->tick(&rank->self);
    }
}

static bool repair(void *arg, const void *address)
{
    return wf_vrank_image_repair(((struct program *)arg)->image, address);
}

static enum wf_status program_check(const struct wf_source *source, struct wf_err *err)
{
    const struct program *program = program_of(source);
    const struct wf_vrank_end *end = &program->shared.end;
    char time[WF_UNITS_TEXT_MAX], left[WF_UNITS_TEXT_MAX], all[WF_UNITS_TEXT_MAX];

    if (!end->ended) {
        return WF_OK;
    }
    if (end->rank == WF_VRANK_END_NO_RANK) {
        return program->is_short
                   ? wf_err_set(err, WF_ELIMIT,
                                "the program was stopped because memory is short: %s of %s is "
                                "left; run fewer ranks, or spread them over more machines",
                                wf_human_size(program->memory.left, left),
                                wf_human_size(program->memory.all, all))
                   : wf_err_set(err, WF_ELIMIT,
                                "the program was stopped because memory is short where another "
                                "process runs; run fewer ranks, or spread them over more "
                                "machines");
    }
    return wf_err_set(err, WF_ESIM,
                      "rank %u ended the program with code %d at simulated time %s", end->rank,
                      end->code, wf_human_time(end->clock, time));
}

static void program_destroy(struct wf_source *source)
{
    struct program *program = program_of(source);

    wf_vrank_crash_ignore();
    for (uint32_t i = 0; program->ranks != NULL && i < source->n_ranks; i++) {
        if (program->ranks[i].program != NULL) {
            program->library->rank_freed(&program->ranks[i].self);
        }
    }
    if (program->library != NULL) {
        program->library->detach();
    }
    for (uint32_t i = 0; program->ranks != NULL && i < source->n_ranks; i++) {
        struct rank *rank = &program->ranks[i];
        if (rank->program == NULL) {
            continue; /* it never began: do not touch its memory page */
        }
        wf_vrank_oplog_fini(&rank->log);
        if (rank->heard != NULL) {
            wf_buf_fini(&rank->heard->matches);
            wf_buf_fini(&rank->heard->taken);
            free(rank->heard);
        }
        wf_vrank_context_free(&rank->context);
        free(rank->arguments);
        free(rank->comms);
    }
    free(program->ranks);
    wf_vrank_stacks_fini(&program->stacks);
    wf_vrank_image_free(program->image);
    wf_vrank_spill_free(program->spill);
    wf_vrank_labels_free(program->labels);
    free(program->config.argv);
    wf_vrank_shared_fini(&program->shared);
    free(program);
}

static const struct wf_live_ops program_hooks = {
    .tell = program_tell,
    .matched = program_matched,
    .taken = program_taken,
    .remote = program_remote,
    .place = program_place,
    .spread = program_spread,
    .load = program_load,
    .unload = program_unload,
    .common_region = program_common_region,
    .findings = program_findings,
};

static const struct wf_source_ops program_ops = {
    .name = "program",
    .summary = "a program that runs",
    .destroy = program_destroy,
    .next = program_next,
    .group = program_group,
    .name_of = program_name_of,
    .check = program_check,
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
    struct program *program = wf_xcalloc(1, sizeof(*program));

    program->source = (struct wf_source){.ops = &program_ops,
                                         .n_ranks = config->n_ranks,
                                         .acts_in_background = true,
                                         .depends_on_time = true,
                                         .live = &program_hooks};
    program->config = *config;
    program->config.argv = NULL;
    program->port = port;
    program->port.payload_max = config->no_payload ? PAYLOAD_KEPT : UINT64_MAX;
    program->port.checks_data = config->check;
    program->port.checks_use = config->check_use;
    program->port.host_clock = config->host_clock;
    program->port.cores = config->cores;
    program->port.scale = config->scale > 0 ? config->scale : 1;
    wf_vrank_shared_init(&program->shared);
    if (config->labels) {
        program->labels = wf_vrank_labels_new(config->n_ranks, which_rank);
    }
    struct wf_vrank_image_config image = {config->argv[0], config->n_ranks, config->copies,
                                          NULL};
    /* GNU Fortran writes each record to the standard output at once: ranks of a process share
     * it, and their lines stay whole and in order. */
    (void)setenv("GFORTRAN_UNBUFFERED_PRECONNECTED", "y", 0);
    enum wf_status status =
        wf_vrank_meter_init(&program->meter, meters[config->compute], config->rate, err);
    if (status == WF_OK && config->spill != NULL && config->spill[0] != '\0') {
        status = wf_vrank_spill_new(config->spill, &program->spill, err);
    }
    program->config.spill = NULL;
    image.spill = program->spill;
    if (status == WF_OK) {
        status = wf_vrank_image_load(&image, &program->image, &program->library, err);
    }
    if (status == WF_OK) {
        status = wf_vrank_stacks_init(&program->stacks, config->n_ranks, config->stack_bytes,
                                      program->spill, err);
    }
    if (status == WF_OK && !program->library->attach(&program->port, config->n_ranks)) {
        program->library = NULL;
        status = wf_err_set(err, WF_EINVAL,
                            "'%.300s' was built with another version of weft; build it again",
                            config->argv[0]);
    }
    if (status != WF_OK) {
        program_destroy(&program->source);
        return status;
    }
    program->config.argv = config->argv;
    program->ranks = wf_xcalloc_huge(config->n_ranks, sizeof(struct rank));
    program->watch = (struct wf_vrank_crash_watch){.stacks = &program->stacks,
                                                   .who = who_runs,
                                                   .stack = stack_of_running,
                                                   .repair = repair,
                                                   .place = place_of,
                                                   .leave = leave,
                                                   .tick = tick,
                                                   .arg = program};
    wf_vrank_crash_watch(&program->watch);
    *out = &program->source;
    return WF_OK;
}

struct wf_vrank_end wf_vrank_end(const struct wf_source *source)
{
    return program_of(source)->shared.end;
}

uint32_t wf_vrank_created_comm(const struct wf_source *source, uint32_t rank)
{
    return program_of(source)->ranks[rank].created;
}
