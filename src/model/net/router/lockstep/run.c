/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lock step on the cores of this machine. Each thread has a fixed share of the routers; a
 * barrier ends each cycle.
 */
#include "base/clock.h"
#include "base/guard.h"
#include "base/mem.h"
#include "engine/hosts/barrier.h"
#include "model/net/router/lockstep/flits.h"
#include "model/net/router/lockstep/form.h"
#include "model/net/router/lockstep/inside.h"
#include "model/net/router/lockstep/mail.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

enum {
    CYCLES_BETWEEN_LOOKS = 256,        /* between checks for an interruption, and reports */
    ROUTERS_BETWEEN_LOOKS = 64 * 1024, /* cycles of routers, if that is sooner: half a second */
};

enum { WAIT, GO, GIVE_UP };

/* Whether nodes may inject packets (net.global_restriction). All threads compute the same. */
struct gate {
    bool shut;   /* according to the last count */
    uint32_t at; /* cycle in which the nodes know it; 0: they know it */
};

/* What a router knows of the packets in the network. */
struct router_count {
    int64_t change;     /* packets that it injected, minus those that it consumed, since... */
    uint32_t report_at; /* ...its last report; cycle of the next one; 0: nothing to report */
};

/* What the threads of a run share. */
struct crew {
    const struct wf_lockstep_run *run;
    const struct wf_lockstep_form *form;
    struct wf_barrier barrier;
    struct worker *workers;
    uint32_t n;            /* threads */
    uint32_t looks_every;  /* cycles */
    _Atomic int go;        /* whether the threads may begin */
    _Atomic uint32_t last; /* the run ends after this cycle; a thread that has not seen the end
                            * of an earlier one yet must go on */
    _Atomic bool over;     /* because the user wants it */
    _Atomic bool blocked;  /* because packets do not move any more */
};

struct worker {
    struct crew *crew;
    struct wf_lockstep_net net; /* with counts of its own */
    struct wf_lockstep_work work;
    struct wf_lockstep_out *out;
    struct wf_lockstep_share share; /* its routers */
    uint32_t number;
    uint32_t cycle;           /* reached */
    uint64_t open;            /* closed loops: rounds of its nodes that have not ended */
    int64_t inside;           /* packets in the network, as its routers have reported them */
    struct router_count *own; /* of each of its routers; null without net.global_restriction */
    struct gate gate;
    pthread_t thread;
};

static void look(struct worker *worker, uint32_t cycle)
{
    const struct wf_lockstep_net *net = &worker->net;

    if (net->watchdog == 0 || cycle == 0 || cycle % net->watchdog != 0) {
        return;
    }
    worker->crew->form->look(net, worker->share, cycle, worker->work.ports);
    if (net->out->blocked > 0) {
        worker->crew->blocked = true;
        worker->crew->last = cycle;
    }
}

/* Tells the user how far the run is; the first thread learns whether it should stop. */
static void report(struct worker *worker, uint32_t cycle)
{
    const struct wf_lockstep_run *run = worker->crew->run;

    if (worker->number != 0 || cycle % worker->crew->looks_every != 0) {
        return;
    }
    if (run->stop != NULL && *run->stop != 0) {
        worker->crew->over = true;
        worker->crew->last = cycle;
    }
    if (run->progress != NULL) {
        run->progress(run->progress_arg, cycle);
    }
}

/* ---- the number of packets in the network: model/net/router/events/detector.c ---- */

/* Whether routers report in this cycle, after its decisions. */
static bool reports(const struct worker *worker, uint32_t cycle)
{
    const struct wf_router_net *model = wf_lockstep_of(&worker->net)->model;

    return worker->own != NULL && cycle > 0 && cycle % model->set.global_delay == 0;
}

/* A cycle of a router that counts. A change is reported in a later cycle, unless a report is
 * due in this one. */
static void counted_cycle(struct worker *worker, uint32_t r, uint32_t cycle)
{
    const struct wf_router_net *model = wf_lockstep_of(&worker->net)->model;
    uint32_t every = (uint32_t)model->set.global_delay;
    struct router_count *own = &worker->own[r - worker->share.first];
    const struct wf_lockstep_count *count = &worker->work.count;
    uint64_t injected = count->injected, consumed = count->consumed;

    worker->crew->form->cycle(&worker->net, (struct wf_lockstep_share){r, r + 1}, cycle,
                              &worker->work);
    injected = count->injected - injected;
    consumed = count->consumed - consumed;
    own->change += (int64_t)injected - (int64_t)consumed;
    if (injected + consumed > 0 && own->report_at == 0) {
        own->report_at = (uint32_t)wf_router_next_round(cycle, every);
    }
    if (own->report_at == cycle && cycle > 0) {
        worker->inside += own->change;
        *own = (struct router_count){.report_at = 0};
    }
}

/* After all threads have reported. */
static void count_inside(struct worker *worker, uint32_t cycle)
{
    const struct wf_router_net *model = wf_lockstep_of(&worker->net)->model;
    int64_t inside = 0;

    for (uint32_t i = 0; i < worker->crew->n; i++) {
        inside += worker->crew->workers[i].inside;
    }
    if (wf_router_gate_moves(&worker->gate.shut, inside, model->packets_limit)) {
        worker->gate.at = cycle + (uint32_t)model->set.global_delay;
    }
}

/* At the beginning of a cycle. */
static void move_gate(struct worker *worker, uint32_t cycle)
{
    const struct wf_lockstep_net *net = &worker->net;

    if (worker->gate.at == 0 || worker->gate.at != cycle) {
        return;
    }
    worker->gate.at = 0;
    for (uint32_t r = worker->share.first; r < worker->share.end && r < net->n_nodes; r++) {
        net->routers[r].shut = worker->gate.shut;
        if (!worker->gate.shut) {
            wf_lockstep_wake(net, r, cycle);
        }
    }
}

/* ---- closed loops ---- */

static bool is_closed(const struct worker *worker)
{
    return wf_lockstep_of(&worker->net)->traffic->set->rounds > 0;
}

static uint64_t rounds_left(const struct worker *worker)
{
    const struct wf_lockstep_net *net = &worker->net;
    uint64_t left = 0;

    for (uint32_t r = worker->share.first; r < worker->share.end && r < net->n_nodes; r++) {
        left += wf_lockstep_messages_left(net, r);
    }
    return left;
}

/* Whether all rounds have ended, according to the last look of all threads. */
static bool is_done(const struct worker *worker)
{
    uint64_t open = 0;

    for (uint32_t i = 0; i < worker->crew->n; i++) {
        open += worker->crew->workers[i].open;
    }
    return open == 0;
}

/* ---- the run ---- */

/* A cycle of the routers of a thread. */
static void take_cycle(struct worker *worker, uint32_t cycle)
{
    if (worker->own == NULL) {
        worker->crew->form->cycle(&worker->net, worker->share, cycle, &worker->work);
        return;
    }
    for (uint32_t r = worker->share.first; r < worker->share.end; r++) {
        counted_cycle(worker, r, cycle);
    }
}

static void end(const struct worker *worker)
{
    for (uint32_t r = worker->share.first; r < worker->share.end && r < worker->net.n_nodes;
         r++) {
        if (worker->net.mail.needed != 0 && !worker->crew->over) {
            wf_lockstep_messages_end(&worker->net, r);
        }
    }
    if (is_closed(worker)) {
        worker->out->rounds_left = rounds_left(worker);
    }
    wf_lockstep_count_add(&worker->net, &worker->work.count);
}

static void work(struct worker *worker)
{
    const struct wf_lockstep_net *net = &worker->net;
    struct crew *crew = worker->crew;
    bool closed = is_closed(worker);

    crew->form->begin(net, worker->share);
    for (uint32_t cycle = 0; cycle < net->end; cycle++) {
        bool looks = closed && cycle % CYCLES_BETWEEN_LOOKS == 0;
        move_gate(worker, cycle);
        take_cycle(worker, cycle);
        if (looks) {
            worker->open = rounds_left(worker);
        }
        look(worker, cycle);
        report(worker, cycle);
        worker->cycle = cycle + 1;
        if (crew->n > 1) {
            wf_barrier_wait(&crew->barrier);
        }
        if (reports(worker, cycle)) {
            count_inside(worker, cycle);
        }
        if (cycle >= crew->last || (looks && is_done(worker))) {
            break;
        }
    }
    if (closed && worker->cycle == net->end) { /* too long for the numbers of cycles here */
        crew->blocked = true;
    }
    end(worker);
}

static void *thread_main(void *arg)
{
    struct worker *worker = arg;
    uint32_t spins = 0;

    while (worker->crew->go == WAIT) {
        wf_relax(&spins);
    }
    if (worker->crew->go == GO) {
        work(worker);
    }
    return NULL;
}

static uint64_t weight_of(const struct wf_lockstep_net *net, uint32_t r)
{
    return 1 + wf_lockstep_ports(net, r);
}

/* Shares the routers by their numbers of ports. */
static void share(struct worker *workers, uint32_t n, const struct wf_lockstep_net *net)
{
    uint64_t all = 0, sum = 0;
    uint32_t r = 0;

    for (uint32_t i = 0; i < net->n; i++) {
        all += weight_of(net, i);
    }
    for (uint32_t i = 0; i < n; i++) {
        workers[i].share.first = r;
        while (r < net->n && (i + 1 == n || sum < all * (i + 1) / n)) {
            sum += weight_of(net, r++);
        }
        workers[i].share.end = r;
    }
}

/* Cycles of large networks take long, so they check for an interruption more often. */
static uint32_t looks_every(const struct wf_lockstep_net *net)
{
    uint32_t cycles = ROUTERS_BETWEEN_LOOKS / net->n;

    return cycles == 0 ? 1 : cycles > CYCLES_BETWEEN_LOOKS ? CYCLES_BETWEEN_LOOKS : cycles;
}

static void worker_init(struct worker *worker, struct crew *crew, uint32_t number,
                        const struct wf_lockstep_net *net)
{
    size_t words = ((size_t)net->n_ports * net->rules.vcs + 1) * net->n_words;

    *worker = (struct worker){.crew = crew, .number = number};
    worker->net = *net;
    worker->out = wf_xcalloc(1, sizeof(*worker->out));
    worker->net.out = worker->out;
    worker->work.asking = wf_xcalloc(words, sizeof(uint32_t));
    worker->work.ports = wf_xcalloc(WF_ROUTER_INPUTS_MAX, sizeof(uint32_t));
}

static void worker_fini(struct worker *worker)
{
    free(worker->out);
    free(worker->work.asking);
    free(worker->work.ports);
    free(worker->own);
}

static void add_up(struct wf_lockstep_out *into, const struct wf_lockstep_out *from)
{
    into->digest += from->digest;
    into->consumed += from->consumed;
    into->hops += from->hops;
    into->injected += from->injected;
    into->waited += from->waited;
    into->sends += from->sends;
    into->blocked += from->blocked;
    into->rounds_left += from->rounds_left;
    into->last = from->last > into->last ? from->last : into->last;
    for (uint32_t i = 0; i < WF_LOCKSTEP_HOPS; i++) {
        into->by_hops[i] += from->by_hops[i];
    }
    for (uint32_t i = 0; i < WF_HISTOGRAM_BUCKETS; i++) {
        into->latencies[i] += from->latencies[i];
    }
    for (uint32_t i = 0; i < WF_TRAFFIC_BATCHES; i++) {
        wf_traffic_batch_add(&into->batches[i], &from->batches[i]);
    }
}

/* ---- after the run ---- */

static uint32_t *packets_of(const struct worker *worker)
{
    const struct wf_lockstep_net *net = &worker->net;
    uint32_t n = net->n_ports * net->rules.vcs;
    uint32_t *packets = wf_xcalloc((size_t)net->n * n + 1, sizeof(*packets));

    for (uint32_t r = 0; r < net->n; r++) {
        for (uint32_t c = 0; c < n; c++) {
            packets[(size_t)r * n + c] = worker->crew->form->packets(net, r, c);
        }
    }
    return packets;
}

/* The blocked queues of the first routers; returns their number. */
static size_t find_waits(const struct worker *worker, struct wf_lockstep_wait *waits,
                         size_t most)
{
    const struct wf_lockstep_net *net = &worker->net;
    const struct wf_lockstep_form *form = worker->crew->form;
    size_t n = 0;

    for (uint32_t r = 0; r < net->n; r++) {
        for (uint32_t i = 0; i < wf_lockstep_inputs_of(net, r) && n < most; i++) {
            n += form->is_blocked(net, r, i, worker->work.ports, &waits[n]);
        }
    }
    return n;
}

static void collect(const struct wf_lockstep *lock, struct worker *workers, uint32_t n,
                    struct wf_lockstep_result *result)
{
    struct worker *first = &workers[0];
    struct wf_lockstep_wait *waits = wf_xcalloc(WF_NET_WAITS_MAX, sizeof(*waits));

    for (uint32_t i = 1; i < n; i++) {
        add_up(first->out, workers[i].out);
    }
    uint32_t *packets = packets_of(first);
    const struct wf_lockstep_final final = {
        .out = first->out,
        .packets = packets,
        .loads = first->net.loads,
        .waits = waits,
        .n_waits = find_waits(first, waits, WF_NET_WAITS_MAX),
    };
    wf_lockstep_collect(lock, &final, result->tally);
    result->cycle = first->cycle;
    result->hops = first->out->sends;
    result->threads = n;
    free(packets);
    free(waits);
}

/* Starts the threads and works, too. */
static enum wf_status run_all(struct worker *workers, uint32_t n, struct wf_err *err)
{
    struct crew *crew = workers[0].crew;
    uint32_t started = 1;

    while (started < n &&
           wf_thread_start(&workers[started].thread, thread_main, &workers[started]) == 0) {
        started++;
    }
    crew->go = started == n ? GO : GIVE_UP;
    if (started == n) {
        work(&workers[0]);
    }
    for (uint32_t i = 1; i < started; i++) {
        wf_thread_join(workers[i].thread);
    }
    return started == n
               ? WF_OK
               : wf_err_set(err, WF_ELIMIT, "cannot start thread %" PRIu32 " of %" PRIu32,
                            started + 1, n);
}

/* Allocates the state of the network and sets the pointers into it. */
static void *state_new(struct wf_lockstep_net *net, const struct wf_lockstep_form *form)
{
    void *state = wf_xcalloc_huge(1, form->place(net, net));

    (void)form->place(net, state);
    return state;
}

enum wf_status wf_lockstep_run_host(const struct wf_lockstep *lock,
                                    const struct wf_lockstep_run *run,
                                    struct wf_lockstep_result *result, struct wf_err *err)
{
    if (lock->model->set.switching == WF_ROUTER_WORMHOLE) {
        return wf_lockstep_run_flits(lock, run, result, err);
    }
    struct wf_lockstep_net net = lock->net;
    uint32_t wanted = run->threads > 0 ? run->threads : 1, n = wanted < net.n ? wanted : net.n;
    const struct wf_lockstep_form *grid = wf_lockstep_grid(&net);
    const struct wf_lockstep_form *form = grid != NULL ? grid : &wf_lockstep_any;
    void *state = state_new(&net, form);
    struct worker *workers = wf_xcalloc(n, sizeof(*workers));
    struct crew crew = {.run = run,
                        .form = form,
                        .n = n,
                        .workers = workers,
                        .looks_every = looks_every(&net),
                        .last = WF_LOCKSTEP_NEVER};
    enum wf_status status = WF_OK;

    wf_lockstep_mail_new(&net);
    net.loads = lock->model->set.stats == WF_NET_STATS_LINKS
                    ? wf_xcalloc((size_t)net.n * net.n_ports, sizeof(struct wf_net_link_load))
                    : NULL;
    wf_barrier_init(&crew.barrier, n, wf_clock_cores());
    for (uint32_t i = 0; i < n; i++) {
        worker_init(&workers[i], &crew, i, &net);
    }
    share(workers, n, &net);
    for (uint32_t i = 0; lock->model->packets_limit > 0 && i < n; i++) {
        workers[i].own = wf_xcalloc(workers[i].share.end - workers[i].share.first + 1,
                                    sizeof(*workers[i].own));
    }
    status = run_all(workers, n, err);
    result->blocked = crew.blocked;
    if (status == WF_OK && crew.blocked) {
        status = wf_err_set(err, WF_ELIMIT,
                            "packets do not move any more; only events can tell whether this "
                            "is a deadlock");
    } else if (status == WF_OK) {
        collect(lock, workers, n, result);
        status = crew.over ? WF_EINTR : WF_OK;
    }
    for (uint32_t i = 0; i < n; i++) {
        worker_fini(&workers[i]);
    }
    wf_lockstep_mail_free(&net);
    free(net.loads);
    free(workers);
    free(state);
    return status;
}
