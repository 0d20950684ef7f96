/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of MPI that wait, in a rank with several threads and MPI_THREAD_MULTIPLE. To the simulation
 * a rank is one sequence of ops, so that an op that waits would stop all threads. Here such an op
 * becomes one that does not wait and a request. The thread looks for its end from time to time while
 * others compute. Once all threads wait, the rank waits for the first request of any of them.
 */
#include "mpi/lib/memory.h"
#include "mpi/lib/p2p/request.h"
#include "mpi/lib/threads/openmp.h"

#include <stdlib.h>

/* The time between two looks: this part of the time waited so far, and at least so many
 * picoseconds. */
enum { LOOKS = 16, LEAST_PS = 100000 };

/* ---- ops that do not wait ---- */

static const struct {
    enum wf_op_family family;
    uint32_t detail;
    bool returns; /* at once, with a request */
} infos[] = {
#define X(name, text, family, detail, returns) {WF_FAMILY_##family, detail, returns},
    WF_OP_MAP(X)
#undef X
};

static uint32_t request_at(const struct wf_op *op, uint32_t i)
{
    return op->requests != NULL ? op->requests[i] : op->request + i;
}

/* A wait in one of the forms that do not, and the form that does. */
static const struct {
    enum wf_op_kind waits, looks;
    bool all; /* for all of the set */
} forms[] = {
    {WF_OP_WAIT, WF_OP_TEST, true},        {WF_OP_WAITALL, WF_OP_TESTALL, true},
    {WF_OP_WAITANY, WF_OP_TESTANY, false}, {WF_OP_WAITSOME, WF_OP_TESTSOME, false},
    {WF_OP_PROBE, WF_OP_IPROBE, false},
};
enum { FORMS = sizeof(forms) / sizeof(forms[0]) };

static uint32_t form_of(enum wf_op_kind kind)
{
    uint32_t i = 0;

    while (i < FORMS && forms[i].waits != kind) {
        i++;
    }
    return i;
}

/* The op that begins what `op` does and waits for; WF_OP_KINDS if it never waits for long, or if
 * what it waits for needs nothing of this rank. */
static enum wf_op_kind started_kind(const struct wf_op *op)
{
    static const struct {
        enum wf_op_family family;
        uint32_t detail; /* at most; more of them do not wait */
        enum wf_op_kind first,
            started; /* kinds from `first` on become those from `started` on */
    } rows[] = {
        {WF_FAMILY_SEND, UINT32_MAX, WF_OP_SEND, WF_OP_ISEND},
        {WF_FAMILY_RECV, UINT32_MAX, WF_OP_RECV, WF_OP_IRECV},
        {WF_FAMILY_SENDRECV, UINT32_MAX, WF_OP_SENDRECV, WF_OP_IRECV},
        {WF_FAMILY_COLLECTIVE, UINT32_MAX, WF_OP_BARRIER, WF_OP_IBARRIER},
        {WF_FAMILY_COMM, UINT32_MAX, WF_OP_KINDS, WF_OP_IALLGATHER},
        {WF_FAMILY_EPOCH, 0, WF_OP_KINDS, WF_OP_IBARRIER},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && !infos[op->kind].returns; i++) {
        if (infos[op->kind].family == rows[i].family &&
            infos[op->kind].detail <= rows[i].detail) {
            uint32_t distance = rows[i].first < WF_OP_KINDS ? op->kind - rows[i].first : 0;
            return (enum wf_op_kind)(rows[i].started + distance);
        }
    }
    return WF_OP_KINDS;
}

bool wl_omp_may_wait(const struct wf_op *op)
{
    return form_of(op->kind) < FORMS || started_kind(op) != WF_OP_KINDS;
}

/* Begins the op. Returns how many requests it has. */
static uint32_t start(struct wl_omp_thread *thread, const struct wf_op *op, uint32_t *numbers)
{
    struct wl_rank *rank = thread->omp->rank;
    enum wf_op_family family = infos[op->kind].family;
    struct wf_op begun = *op;
    uint32_t n = 1;

    begun.kind = started_kind(op);
    numbers[0] = begun.request = wl_number_new(rank);
    if (family == WF_FAMILY_RECV ||
        (family == WF_FAMILY_SENDRECV && op->recv_peer != WF_PROC_NULL)) {
        /* The receive was posted just now, without a number. */
        rank->last_recv->number = begun.request;
    }
    if (family == WF_FAMILY_SENDRECV) {
        begun.peer = op->recv_peer;
        begun.tag = op->recv_tag;
        begun.bytes = op->recv_bytes;
    } else if (family == WF_FAMILY_COMM) {
        begun.bytes = sizeof(uint64_t); /* as the simulation of the op */
    } else if (family == WF_FAMILY_EPOCH) {
        (void)wl_call_alone(rank, &(struct wf_op){.kind = WF_OP_WIN_FLUSH});
    }
    (void)wl_call_alone(rank, &begun);
    if (family == WF_FAMILY_SENDRECV && op->peer != WF_PROC_NULL) {
        begun = *op;
        begun.kind = WF_OP_ISEND;
        numbers[n] = begun.request = wl_number_new(rank);
        (void)wl_call_alone(rank, &begun);
        n++;
    }
    return n;
}

/* ---- threads of the rank ---- */

static struct wl_omp_thread *thread_at(const struct wl_omp *omp, uint32_t i)
{
    return i < omp->n_threads ? omp->threads[i] : omp->others[i - omp->n_threads];
}

/* Whether another thread can do something, now or later. Sets *n to the threads that wait for MPI,
 * and *probes to whether one of them waits for a message that no receive is posted for. */
static bool others_run(const struct wl_omp_thread *thread, uint32_t *n, bool *probes)
{
    const struct wl_omp *omp = thread->omp;
    bool runs = false;

    *n = 0;
    *probes = false;
    for (uint32_t i = 0; i < omp->n_threads + omp->n_others; i++) {
        const struct wl_omp_thread *other = thread_at(omp, i);
        if (other != NULL && other->wait != NULL) {
            ++*n;
            *probes |= other->wait->kind == WF_OP_PROBE;
        } else if (other != NULL && other != thread) {
            runs |= other->ready == NULL || other->ready(other) != WL_OMP_NEVER;
        }
    }
    return runs;
}

/* What the thread waits for is complete, or one request of it, at the time of the ops. */
static void give(const struct wl_omp *omp, uint32_t number)
{
    for (uint32_t i = 0; i < omp->n_threads + omp->n_others; i++) {
        struct wl_omp_thread *other = thread_at(omp, i);
        for (uint32_t k = 0; other != NULL && other->wait != NULL && k < other->wait->count;
             k++) {
            if (request_at(other->wait, k) == number) {
                other->given = number;
                other->has_given = true;
                other->look_at = omp->posted;
                return;
            }
        }
    }
}

/* All threads wait: for the first request of any. */
static void wait_together(struct wl_omp_thread *thread)
{
    struct wl_omp *omp = thread->omp;
    uint32_t n = 0, *numbers = NULL;

    for (uint32_t i = 0; i < omp->n_threads + omp->n_others; i++) {
        const struct wl_omp_thread *other = thread_at(omp, i);
        if (other != NULL && other->wait != NULL) {
            numbers = wl_realloc(numbers, n + (size_t)other->wait->count, sizeof(uint32_t));
            for (uint32_t k = 0; k < other->wait->count; k++) {
                numbers[n++] = request_at(other->wait, k);
            }
        }
    }
    const struct wf_op op = {.kind = WF_OP_WAITANY, .requests = numbers, .count = n};
    const struct wf_port_answer *answer = wl_omp_call_now(thread, &op);
    if (answer->n_taken > 0) {
        give(omp, answer->taken[0]);
    }
    free(numbers);
}

/* ---- waiting ---- */

static int64_t look_ready(const struct wl_omp_thread *thread)
{
    return thread->look_at;
}

/* The answer to a wait whose request another thread's wait has found complete. */
static const struct wf_port_answer *given_answer(struct wl_omp_thread *thread)
{
    thread->has_given = false;
    thread->answer = (struct wf_port_answer){.clock = thread->omp->posted + thread->omp->base,
                                             .found = true,
                                             .taken = &thread->given,
                                             .n_taken = 1};
    return &thread->answer;
}

/* A copy of the set of requests, from which those go that are complete. */
static uint32_t *copy_set(const struct wf_op *op)
{
    uint32_t *numbers = wl_malloc((op->count + (size_t)1) * sizeof(uint32_t));

    for (uint32_t i = 0; i < op->count; i++) {
        numbers[i] = request_at(op, i);
    }
    numbers[op->count] = 0;
    return numbers;
}

static void remove_given(struct wf_op *op, uint32_t *numbers, uint32_t given)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < op->count; i++) {
        if (numbers[i] != given) {
            numbers[kept++] = numbers[i];
        }
    }
    op->count = kept;
}

/* Others go on until it is time to look again, or until a request of the thread is complete. */
static void let_others_go(struct wl_omp_thread *thread, int64_t begin, bool all_wait)
{
    const struct wl_omp *omp = thread->omp;
    int64_t step = (omp->posted - begin) / LOOKS;

    thread->look_at = omp->posted + (step > LEAST_PS ? step : LEAST_PS);
    if (all_wait) {
        wait_together(thread);
    }
    if (!thread->has_given) {
        wl_omp_wait(thread, look_ready);
    }
}

/* Waits as `asked` says, which is a wait or a probe. */
static const struct wf_port_answer *wait_for(struct wl_omp_thread *thread,
                                             const struct wf_op *asked)
{
    uint32_t form = form_of(asked->kind), n = 0;
    const struct wf_port_answer *answer = NULL;
    struct wf_op own = *asked;
    int64_t begin = thread->clock;
    bool probes = false;

    own.count = asked->kind != WF_OP_PROBE ? own.count : 0;
    uint32_t *numbers = copy_set(&own);
    own.requests = numbers;
    thread->wait = &own;
    thread->has_given = false;
    while (answer == NULL) {
        bool runs = others_run(thread, &n, &probes);
        struct wf_op op = own;
        op.kind = !runs && n == 1 ? forms[form].waits : forms[form].looks; /* 1: this thread */
        op.request = numbers[0];
        answer = wl_omp_call_now(thread, &op);
        if (op.kind == asked->kind || answer->found || answer->n_taken > 0) {
            break;
        }
        answer = NULL;
        let_others_go(thread, begin, !runs && !probes);
        if (thread->has_given && forms[form].all) {
            remove_given(&own, numbers, thread->given);
        }
        if (thread->has_given && (!forms[form].all || own.count == 0)) {
            answer = given_answer(thread);
        }
        thread->has_given = false;
    }
    thread->wait = NULL;
    free(numbers);
    return answer;
}

const struct wf_port_answer *wl_omp_call_waiting(struct wl_omp_thread *thread,
                                                 const struct wf_op *op)
{
    uint32_t numbers[2], n = 0;
    bool probes;

    if (form_of(op->kind) < FORMS) {
        return wait_for(thread, op);
    }
    if (!others_run(thread, &n, &probes) && n == 0) {
        return wl_omp_call_now(thread, op);
    }
    wl_omp_catch_up(thread);
    n = start(thread, op, numbers);
    const struct wf_op wait = {.kind = WF_OP_WAITALL, .requests = numbers, .count = n};
    const struct wf_port_answer *answer = wait_for(thread, &wait);
    for (uint32_t i = 0; i < n; i++) {
        wl_number_free(thread->omp->rank, numbers[i]);
    }
    return answer;
}
