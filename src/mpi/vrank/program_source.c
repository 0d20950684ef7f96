/* SPDX-License-Identifier: Apache-2.0 */
/* A running program as the simulation sees it. program_port.c is what its ranks see. */
#include "mpi/vrank/program_source.h"

#include "base/guard.h"
#include "base/mem.h"
#include "base/units.h"
#include "mpi/vrank/kernel_file.h"
#include "mpi/vrank/program_state.h"

#include <stdio.h>
#include <stdlib.h>

/* The exit code of a rank that has crashed. */
enum { CRASHED = 134 };

#define UNBUFFERED "GFORTRAN_UNBUFFERED_PRECONNECTED"

static void describe_rank(const struct wf_vrank_rank *rank, struct wf_live_crash *crash)
{
    crash->rank = rank->self.rank;
    crash->clock = rank->clock;
    crash->call = rank->self.call;
    crash->in_call = rank->in_library > 0;
    crash->program = rank->program->config.argv[0];
}

static void check_memory(struct wf_vrank_program *program, uint32_t steps)
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

static void run(struct wf_vrank_program *program, struct wf_vrank_rank *rank)
{
    enum { STEPS_TO_BEGIN = 64 };

    check_memory(program, rank->state == WF_VRANK_RANK_NEW ? STEPS_TO_BEGIN : 1);
    if (rank->state == WF_VRANK_RANK_NEW) {
        rank->state = WF_VRANK_RANK_RUNS;
        rank->stack = wf_vrank_stacks_take(&program->stacks);
        wf_vrank_context_make(
            &rank->context, wf_vrank_stacks_top(&program->stacks, rank->stack),
            wf_vrank_stacks_size(&program->stacks, rank->stack), wf_vrank_rank_main, rank);
        wf_vrank_span_begin(rank);
    }
    wf_vrank_crash_prepare_thread();
    wf_vrank_image_enter(program->image, rank->self.rank);
    wf_vrank_resume(rank);
    if (!program->stacks.guarded && rank->self.computed == NULL &&
        wf_vrank_stacks_overflowed(&program->stacks, rank->stack, rank->context.stack)) {
        struct wf_live_crash crash = {.call = NULL};
        describe_rank(rank, &crash);
        wf_vrank_crash_overflow(&crash);
    }
    if (rank->state == WF_VRANK_RANK_ENDED) {
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
    struct wf_vrank_program *program = wf_vrank_program_of(source);
    struct wf_vrank_rank *rank = &program->ranks[number];
    uint64_t at = cursor->word[0];

    if (cursor->outer[0] != WF_CURSOR_AGAIN) {
        wf_vrank_oplog_drop(&rank->log, at);
        while (at == wf_vrank_oplog_end(&rank->log) && rank->state != WF_VRANK_RANK_ENDED &&
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
    const struct wf_vrank_program *program = wf_vrank_program_of(source);
    const struct wf_vrank_rank *rank = &program->ranks[number];

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
    return kind != WF_NAME_REGION && kind != WF_NAME_CALL
               ? NULL
               : wf_vrank_shared_name(&wf_vrank_program_of(source)->shared,
                                      kind == WF_NAME_REGION ? WF_VRANK_NAME_REGION
                                                             : WF_VRANK_NAME_CALL,
                                      number);
}

static void program_tell(const struct wf_source *source, uint32_t number,
                         const struct wf_answer *answer)
{
    struct wf_vrank_rank *rank = &wf_vrank_program_of(source)->ranks[number];

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

    wf_buf_append(&wf_vrank_heard_by(&wf_vrank_program_of(source)->ranks[number])->matches,
                  &match, sizeof(match));
}

static void program_taken(const struct wf_source *source, uint32_t number, uint32_t request)
{
    struct wf_vrank_rank *rank = &wf_vrank_program_of(source)->ranks[number];

    wf_buf_append(&wf_vrank_heard_by(rank)->taken, &request, sizeof(request));
    wf_vrank_oplog_complete(&rank->log, request);
}

static void program_remote(const struct wf_source *source, uint32_t number, uint32_t origin)
{
    struct wf_vrank_program *program = wf_vrank_program_of(source);

    wf_vrank_image_enter(program->image, number);
    program->library->remote(&program->ranks[number].self, origin);
}

static void program_place(const struct wf_source *source, const struct wf_homes *homes)
{
    wf_vrank_program_of(source)->places = homes;
}

static void program_spread(const struct wf_source *source, const struct wf_homes *homes)
{
    struct wf_vrank_program *program = wf_vrank_program_of(source);

    wf_vrank_shared_spread(&program->shared, homes, program->library);
}

static void program_load(const struct wf_source *source, uint32_t process, struct wf_buf *out)
{
    wf_vrank_shared_load(&wf_vrank_program_of(source)->shared, process, out);
}

static void program_unload(const struct wf_source *source, const unsigned char *bytes,
                           size_t size)
{
    wf_vrank_shared_unload(&wf_vrank_program_of(source)->shared, bytes, size);
}

static uint32_t program_common_region(const struct wf_source *source, uint32_t number)
{
    return wf_vrank_names_common(wf_vrank_program_of(source)->shared.names,
                                 WF_VRANK_NAME_REGION, number);
}

/* Ranks that are not here have no part in it. */
static void program_findings(const struct wf_source *source, struct wf_findings *out)
{
    struct wf_vrank_program *program = wf_vrank_program_of(source);
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

static const struct wf_decisions *program_decisions(const struct wf_source *source)
{
    return &wf_vrank_program_of(source)->decisions;
}

static struct wf_live_spent program_spent(const struct wf_source *source)
{
    const struct wf_vrank_program *program = wf_vrank_program_of(source);
    struct wf_live_spent sum = {0};

    for (uint32_t i = 0; i < source->n_ranks; i++) {
        sum.switches += program->ranks[i].switches;
        sum.polls += program->ranks[i].polls;
        sum.seconds += program->ranks[i].seconds;
    }
    sum.switch_seconds = wf_vrank_image_seconds(program->image);
    return sum;
}

static struct wf_live_ends program_ends(const struct wf_source *source)
{
    const struct wf_vrank_program *program = wf_vrank_program_of(source);
    struct wf_live_ends ends = {.left = source->n_ranks, .failed = source->n_ranks};

    for (uint32_t i = source->n_ranks; i-- > 0;) {
        const struct wf_vrank_rank *rank = &program->ranks[i];
        ends.left = rank->self.has_left ? i : ends.left;
        if (rank->exit_code != 0) {
            ends.failed = i;
            ends.code = rank->exit_code;
            ends.n_failed++;
        }
    }
    return ends;
}

static bool program_kernels(const struct wf_source *source, uint32_t i,
                            struct wf_live_kernel *out)
{
    return wf_vrank_kernels_counted(wf_vrank_program_of(source), i, out);
}

static bool which_rank(uint32_t *rank)
{
    if (wf_vrank_running() == NULL) {
        return false;
    }
    *rank = wf_vrank_running()->self.rank;
    return true;
}

/* ---- in signal handlers ---- */

static bool is_running(void *arg)
{
    return wf_vrank_running() != NULL && wf_vrank_running()->program == arg;
}

static void who_runs(struct wf_live_crash *crash)
{
    describe_rank(wf_vrank_running(), crash);
}

static uint32_t stack_of_running(void)
{
    return wf_vrank_running()->stack;
}

static uintptr_t place_of(void *arg, const void *instruction)
{
    return wf_vrank_image_place(((struct wf_vrank_program *)arg)->image, instruction);
}

/* Goes back to the simulation as if the rank had asked it something, but for ever. A rank in
 * the library, which may hold a lock, is not left. */
static void leave(void *arg)
{
    struct wf_vrank_program *program = arg;
    struct wf_vrank_rank *rank = wf_vrank_running();

    if (rank != NULL && rank->in_library == 0) {
        atomic_store(&program->is_left, true);
        wf_vrank_leave(rank);
    }
}

/* Memory and locks that the rank has stay as they are. */
static void lose(void *arg, const struct wf_live_crash *crash)
{
    struct wf_vrank_program *program = arg;
    struct wf_vrank_rank *rank = wf_vrank_running();

    if (rank == NULL || atomic_exchange(&program->has_crashed, true)) {
        return;
    }
    program->crash = *crash;
    rank->state = WF_VRANK_RANK_ENDED;
    wf_vrank_shared_end(&program->shared,
                        &(struct wf_vrank_end){true, rank->self.rank, CRASHED, rank->clock});
    wf_vrank_leave(rank);
}

/* A rank with several threads in a region: another thread may go on. */
static void tick(void *arg)
{
    const struct wf_vrank_program *program = arg;
    struct wf_vrank_rank *rank = wf_vrank_running();

    if (rank != NULL && rank->in_library == 0 && rank->self.computed != NULL) {
        program->library->tick(&rank->self);
    }
}

static bool repair(void *arg, const void *address)
{
    return wf_vrank_image_repair(((struct wf_vrank_program *)arg)->image, address);
}

static enum wf_status program_check(const struct wf_source *source, struct wf_err *err)
{
    const struct wf_vrank_program *program = wf_vrank_program_of(source);
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
    if (atomic_load(&program->has_crashed) && program->crash.rank == end->rank) {
        const struct wf_live_crash *crash = &program->crash;
        return wf_err_set(err, WF_ESIM, "rank %u crashed at simulated time %s: %s%s%.40s",
                          crash->rank, wf_human_time(crash->clock, time), crash->what,
                          crash->call == NULL ? ""
                          : crash->in_call    ? ", during "
                                              : ", after ",
                          crash->call != NULL ? crash->call : "");
    }
    return wf_err_set(err, WF_ESIM,
                      "rank %u ended the program with code %d at simulated time %s", end->rank,
                      end->code, wf_human_time(end->clock, time));
}

static void program_destroy(struct wf_source *source)
{
    struct wf_vrank_program *program = wf_vrank_program_of(source);

    (void)fflush(stdout); /* before weft prints what it found */
    wf_vrank_crash_ignore(&program->watch);
    for (uint32_t i = 0; program->ranks != NULL && i < source->n_ranks; i++) {
        if (program->ranks[i].program != NULL) {
            program->library->rank_freed(&program->ranks[i].self);
        }
    }
    if (program->library != NULL) {
        program->library->detach();
    }
    for (uint32_t i = 0; program->ranks != NULL && i < source->n_ranks; i++) {
        struct wf_vrank_rank *rank = &program->ranks[i];
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
        free(rank->blocks.list);
        free(rank->comms);
    }
    free(program->ranks);
    wf_vrank_stacks_fini(&program->stacks);
    wf_vrank_image_free(program->image);
    wf_vrank_overlay_free(program->overlay);
    wf_vrank_spill_free(program->spill);
    wf_vrank_labels_free(program->labels);
    wf_vrank_kernels_free(program->kernels);
    free(program->kernel_counts);
    free(program->decisions.items);
    wf_schedule_fini(&program->schedule);
    free(program->config.argv);
    wf_vrank_shared_fini(&program->shared);
    if (program->set_unbuffered) {
        (void)unsetenv(UNBUFFERED);
    }
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
    .decisions = program_decisions,
    .spent = program_spent,
    .ends = program_ends,
    .kernels = program_kernels,
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
    wf_guard_disarm(); /* what runs on stacks of ranks cannot be left half done */
    struct wf_vrank_program *program = wf_xcalloc(1, sizeof(*program));

    program->source = (struct wf_source){.ops = &program_ops,
                                         .n_ranks = config->n_ranks,
                                         .acts_in_background = true,
                                         .depends_on_time = true,
                                         .live = &program_hooks};
    program->config = *config;
    program->config.argv = NULL;
    program->port = wf_vrank_port;
    program->port.program = config->argv[0];
    program->port.n_started = config->n_ranks - config->n_spare;
    program->port.payload_max = config->payload_kept;
    program->port.checks_data = config->check;
    program->port.checks_use = config->check_use;
    program->port.host_clock = config->host_clock;
    program->port.measures = config->compute == WF_VRANK_COMPUTE_MEASURED ||
                             config->compute == WF_VRANK_COMPUTE_COUNTED;
    program->port.cores = config->cores;
    program->port.scale = config->scale > 0 ? config->scale : 1;
    wf_vrank_shared_init(&program->shared);
    if (config->labels) {
        program->labels = wf_vrank_labels_new(config->n_ranks, which_rank);
    }
    struct wf_vrank_image_config image = {
        .program = config->argv[0], .n_ranks = config->n_ranks, .copies = config->copies};
    /* GNU Fortran writes each record to the standard output at once: ranks of a process share
     * it, and their lines stay whole and in order. */
    program->set_unbuffered = getenv(UNBUFFERED) == NULL && setenv(UNBUFFERED, "y", 0) == 0;
    enum wf_status status =
        wf_vrank_meter_init(&program->meter, meters[config->compute], config->rate, err);
    if (status == WF_OK && config->spill != NULL && config->spill[0] != '\0') {
        status = wf_vrank_spill_new(config->spill, &program->spill, err);
    }
    program->config.spill = NULL;
    image.memory = program->spill != NULL ? wf_vrank_spill_port(program->spill) : NULL;
    WF_THEN(status, wf_vrank_program_kernels(program, config->kernels, err));
    program->config.kernels = NULL;
    if (status == WF_OK && config->schedule != NULL && config->schedule[0] != '\0') {
        status = wf_schedule_parse(config->schedule, &program->schedule, err);
        program->port.schedule = &program->schedule;
    }
    program->config.schedule = NULL;
    image.kernels = program->kernels;
    if (status == WF_OK && program->kernels != NULL && program->kernels->n_shares > 0) {
        status = wf_vrank_overlay_new(program->kernels, image.memory, &program->overlay, err);
        image.memory = status == WF_OK ? wf_vrank_overlay_port(program->overlay) : NULL;
    }
    WF_THEN(status, wf_vrank_image_load(&image, &program->image, &program->library, err));
    WF_THEN(status, wf_vrank_stacks_init(&program->stacks, config->n_ranks, config->stack_bytes,
                                         program->spill, err));
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
    program->ranks = wf_xcalloc_huge(config->n_ranks, sizeof(struct wf_vrank_rank));
    program->watch = (struct wf_vrank_crash_watch){.stacks = &program->stacks,
                                                   .runs = is_running,
                                                   .who = who_runs,
                                                   .stack = stack_of_running,
                                                   .repair = repair,
                                                   .place = place_of,
                                                   .leave = leave,
                                                   .lose = lose,
                                                   .tick = tick,
                                                   .arg = program};
    wf_vrank_crash_watch(&program->watch);
    *out = &program->source;
    return WF_OK;
}

struct wf_vrank_end wf_vrank_end(const struct wf_source *source)
{
    return wf_vrank_program_of(source)->shared.end;
}

uint32_t wf_vrank_created_comm(const struct wf_source *source, uint32_t rank)
{
    return wf_vrank_program_of(source)->ranks[rank].created;
}
