/* SPDX-License-Identifier: Apache-2.0 */
/* What the MPI library asks of the simulator: it runs in the thread of a rank. */
#include "base/array.h"
#include "base/call_site.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/os_watch.h"
#include "mpi/vrank/program_state.h"
#include "mpi/vrank/threads.h"
#include "mpi/vrank/ticks.h"
#include "program/ops/disturbance.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How many ops a rank may be ahead of the simulation. This also bounds the memory for their
 * data. */
enum { OPS_AHEAD = 256 };

/* The rank that runs in this thread of the simulation, since the library's calls do not name
 * it. */
static _Thread_local struct {
    struct wf_vrank_rank *running;
    struct wf_vrank_context simulation;
} here;

struct wf_vrank_rank *wf_vrank_running(void)
{
    return here.running;
}

void wf_vrank_resume(struct wf_vrank_rank *rank)
{
    double begun = wf_clock_wall();

    here.running = rank;
    rank->switches++;
    wf_vrank_context_switch(&here.simulation, &rank->context);
    rank->seconds += wf_clock_wall() - begun;
}

void wf_vrank_leave(struct wf_vrank_rank *rank)
{
    here.running = NULL;
    wf_vrank_context_switch(&rank->context, &here.simulation);
}

static struct wf_vrank_rank *rank_of(struct wf_port_rank *self)
{
    return (struct wf_vrank_rank *)self;
}

static struct wf_port_rank *port_self(void)
{
    return here.running != NULL ? &here.running->self : NULL;
}

/* Returns to the simulation until it continues the rank. Ranks of a thread share errno,
 * which is therefore saved. */
static void yield(struct wf_vrank_rank *rank)
{
    int error = errno;

    wf_vrank_leave(rank);
    errno = error;
}

void wf_vrank_span_begin(struct wf_vrank_rank *rank)
{
    rank->computing_since = wf_vrank_meter_now(&rank->program->meter);
    if (rank->program->meter.kind == WF_VRANK_METER_TIME) {
        wf_os_watch_begin(rank->computing_since); /* its clock is that of the meter */
    }
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
    struct wf_vrank_rank *rank = rank_of(self);
    const struct wf_vrank_meter *meter = &rank->program->meter;

    if (rank->in_library++ > 0 || meter->kind == WF_VRANK_METER_NONE) {
        return;
    }
    struct wf_op op = {.kind = WF_OP_COMPUTE,
                       .duration = wf_vrank_meter_since(meter, rank->computing_since)};
    if (self->computed != NULL) {
        *self->computed += op.duration;
    } else if (op.duration > 0) {
        wf_vrank_kernels_flush(rank);
        op.site = wf_call_site(site);
        if (meter->kind == WF_VRANK_METER_TIME) {
            op.disturbances = disturbances_of(op.duration / 1000);
        }
        wf_vrank_oplog_add(&rank->log, &op);
    }
}

static void port_compute(struct wf_port_rank *self, int64_t picoseconds)
{
    struct wf_vrank_rank *rank = rank_of(self);
    const struct wf_op op = {.kind = WF_OP_COMPUTE, .duration = picoseconds};

    if (rank->program->config.compute == WF_VRANK_COMPUTE_MODEL && self->computed != NULL) {
        *self->computed += picoseconds;
    } else if (rank->program->config.compute == WF_VRANK_COMPUTE_MODEL) {
        wf_vrank_kernels_flush(rank);
        wf_vrank_oplog_add(&rank->log, &op);
    }
}

static void port_leave(struct wf_port_rank *self)
{
    struct wf_vrank_rank *rank = rank_of(self);

    if (--rank->in_library == 0 && rank->program->meter.kind != WF_VRANK_METER_NONE) {
        wf_vrank_span_begin(rank);
    }
}

static void port_post(struct wf_port_rank *self, const struct wf_op *op)
{
    struct wf_vrank_rank *rank = rank_of(self);

    wf_vrank_kernels_flush(rank);
    wf_vrank_oplog_add(&rank->log, op);
    if (rank->log.n >= OPS_AHEAD) {
        yield(rank);
    }
}

/* Many ranks of large runs never wait for an answer. */
struct wf_vrank_answers *wf_vrank_heard_by(struct wf_vrank_rank *rank)
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

static bool is_poll(const struct wf_op *op)
{
    return op->kind == WF_OP_IPROBE || wf_op_info(op->kind)->family == WF_FAMILY_TEST;
}

static const struct wf_port_answer *port_call(struct wf_port_rank *self, const struct wf_op *op)
{
    struct wf_vrank_rank *rank = rank_of(self);
    struct wf_vrank_answers *heard = wf_vrank_heard_by(rank);
    struct wf_port_answer *answer = &heard->answer;
    struct wf_vrank_lent_op lent;

    wf_vrank_kernels_flush(rank);
    drop_read(&heard->matches, answer->n_matches * sizeof(struct wf_port_match));
    drop_read(&heard->taken, answer->n_taken * sizeof(uint32_t));
    wf_vrank_oplog_lend(&rank->log, op, &lent);
    yield(rank); /* until then the simulation has dropped all ops */
    rank->created = WF_COMM_WORLD;
    answer->clock = rank->clock;
    rank->polls += is_poll(op) && !answer->found;
    answer->matches = (const void *)heard->matches.data;
    answer->n_matches = (uint32_t)(heard->matches.size / sizeof(struct wf_port_match));
    answer->taken = (const void *)heard->taken.data;
    answer->n_taken = (uint32_t)(heard->taken.size / sizeof(uint32_t));
    return answer;
}

static void port_comm(struct wf_port_rank *self, const struct wf_port_comm *comm)
{
    struct wf_vrank_rank *rank = rank_of(self);

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
    struct wf_vrank_rank *rank = rank_of(self);

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
    struct wf_vrank_rank *rank = rank_of(self);

    wf_vrank_kernels_flush(rank);
    rank->state = WF_VRANK_RANK_ENDED;
    rank->exit_code = (uint8_t)code;
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
    const struct wf_vrank_rank *rank = (const struct wf_vrank_rank *)self;

    return wf_vrank_image_place(rank->program->image, address);
}

static void port_finding(const struct wf_port_simulator *simulator,
                         const struct wf_finding *finding)
{
    const struct wf_vrank_program *program =
        (const void *)((const char *)simulator - offsetof(struct wf_vrank_program, port));

    wf_vrank_shared_found(&wf_vrank_program_of(&program->source)->shared, finding);
}

static void port_decided(const struct wf_port_simulator *simulator,
                         const struct wf_decision *decision)
{
    const struct wf_vrank_program *program =
        (const void *)((const char *)simulator - offsetof(struct wf_vrank_program, port));
    struct wf_decisions *all = &wf_vrank_program_of(&program->source)->decisions;

    WF_PUSH(all->items, all->n, all->capacity, *decision);
}

static void port_touch(struct wf_port_rank *self, void *place, size_t bytes)
{
    wf_vrank_image_touch(rank_of(self)->program->image, place, bytes);
}

static bool port_load(struct wf_port_rank *self, const char *name, int flags, void **handle,
                      char **why)
{
    return wf_vrank_image_dlopen(rank_of(self)->program->image, self->rank, name, flags, handle,
                                 why);
}

static bool port_is_swapped(struct wf_port_rank *self, const void *place, size_t bytes)
{
    return wf_vrank_image_swaps(rank_of(self)->program->image, place, bytes);
}

static void *port_thread_new(struct wf_port_rank *self, void (*entry)(void *), void *arg)
{
    struct wf_vrank_program *program = rank_of(self)->program;
    struct wf_vrank_thread *thread =
        wf_vrank_thread_new(entry, arg, program->config.stack_bytes);

    if (thread != NULL && entry != NULL) {
        *wf_vrank_thread_note(thread) = wf_vrank_image_tls_new(program->image, self->rank);
    }
    return thread;
}

static void port_thread_switch(struct wf_port_rank *self, void *from, void *to)
{
    struct wf_vrank_program *program = rank_of(self)->program;

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

const struct wf_port_simulator wf_vrank_port = {
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
    .load = port_load,
    .node = port_node,
    .place = port_place,
    .finding = port_finding,
    .decided = port_decided,
};

static int execute(struct wf_vrank_rank *rank)
{
    struct wf_vrank_program *program = rank->program;
    char **given = rank->self.arguments != NULL ? rank->self.arguments : program->config.argv;
    int code, n = 0;

    rank->arguments = wf_vrank_image_begin(program->image, rank->self.rank, given);
    wf_vrank_span_begin(rank); /* constructors take no simulated time */
    if (rank->self.main != NULL) {
        while (rank->arguments[n] != NULL) {
            n++;
        }
        code = rank->self.main(n, rank->arguments, environ);
    } else {
        code = wf_vrank_image_main(program->image, rank->self.rank, rank->arguments);
    }
    program->library->rank_exits(&rank->self, code);
    return code;
}

void wf_vrank_rank_main(void *arg)
{
    struct wf_vrank_rank *rank = arg;
    struct wf_vrank_program *program = rank->program;

    program->library->rank_begins(&rank->self);
    int code = rank->self.is_unused ? 0 : execute(rank);
    program->library->rank_ends(&rank->self);
    port_exit(&rank->self, code, code != 0 && !rank->self.has_finalized);
}
