/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses to the memory of windows that are not ordered: by other ranks and by the rank itself.
 * The target keeps those of the current epoch, up to a number: after that it forgets them all.
 */
#include "mpi/lib/checker/spans.h"
#include "mpi/lib/checker/state.h"
#include "mpi/lib/comm/communicator.h"
#include "mpi/lib/memory.h"
#include "mpi/lib/rma/window.h"

#include <stdlib.h>

enum { ACCESSES_MAX = 1024 };

/* An access to a window of this rank. */
struct access {
    struct wl_span span; /* must be first */
    struct wl_access_note note;
};

/* Frees the accesses before an epoch; the others are linked by `left`. */
static struct wl_span *take_since(struct wl_span *root, uint32_t epoch,
                                  struct wl_span *rest) /* NOLINT(misc-no-recursion) */
{
    if (root == NULL) {
        return rest;
    }
    struct wl_span *right = root->right;
    rest = take_since(root->left, epoch, rest);
    if (((const struct access *)root)->note.epoch < epoch) {
        free(root);
    } else {
        root->left = rest;
        rest = root;
    }
    return take_since(right, epoch, rest);
}

static void keep_since(struct wl_checker *checker, uint32_t epoch)
{
    struct wl_span *rest = take_since(checker->accesses, epoch, NULL);

    checker->accesses = checker->last_local = NULL;
    checker->n_accesses = 0;
    while (rest != NULL) {
        struct wl_span *next = rest->left;
        rest->left = rest->right = NULL;
        checker->accesses = wl_spans_with(checker->accesses, rest, &checker->random);
        checker->n_accesses++;
        rest = next;
    }
}

void wl_check_accesses_free(struct wl_checker *checker)
{
    keep_since(checker, UINT32_MAX);
}

/* ---- what is ordered ---- */

void wl_check_learns(struct wl_checker *checker, const struct wf_op *op, int64_t clock)
{
    bool learns = op->kind != WF_OP_COMPUTE && op->kind != WF_OP_WIN_FLUSH &&
                  op->kind != WF_OP_PUT && op->kind != WF_OP_GET &&
                  op->kind != WF_OP_ACCUMULATE && op->kind != WF_OP_ISEND &&
                  op->kind != WF_OP_IRECV;

    checker->now = clock;
    if (learns) {
        checker->learned = clock;
    }
}

uint32_t wl_check_epoch(const struct wl_rank *rank)
{
    return rank->checker != NULL ? rank->checker->epoch : 0;
}

static void tell(struct wl_checker *checker)
{
    checker->learned = checker->now;
}

void wl_check_locked(struct wl_rank *rank, bool learns)
{
    if (rank->checker != NULL) {
        rank->checker->last_local = NULL;
        if (learns) {
            tell(rank->checker);
        }
    }
}

void wl_check_synchronized(struct wl_rank *rank, const struct wl_comm *comm)
{
    if (rank->checker != NULL && comm->size == wl.n_ranks) {
        rank->checker->epoch++;
        rank->checker->learned = INT64_MIN;
        keep_since(rank->checker, rank->checker->epoch);
    }
}

void wl_check_flushed(struct wl_rank *rank, struct wl_win *win)
{
    if (rank->checker != NULL) {
        rank->checker->flushes++;
        if (win->results != NULL) { /* other ranks may have told it something */
            tell(rank->checker);
        }
        wl_check_release(rank, &win->uses);
    }
}

struct wl_access_note wl_check_note(const struct wl_rank *rank, const struct wl_win *win,
                                    uint32_t target)
{
    const struct wl_checker *checker = rank->checker;
    const struct wl_comm *comm = wl_comm_of((struct wl_rank *)(uintptr_t)rank, win->comm).comm;

    return (struct wl_access_note){
        .call = wl_mark_of(rank, wl_caller_of(rank)),
        .id = comm->id,
        .first = wl_member(comm, 0),
        .fence = win->fenced ? win->n_fences : 0,
        .is_checked = 1,
        .lock = win->held[target] != 0     ? win->held[target]
                : win->locked[target] != 0 ? MPI_LOCK_EXCLUSIVE
                                           : 0,
        .epoch = checker->epoch,
        .flushes = checker->flushes,
        .issued = checker->now,
        .learned = checker->learned,
    };
}

/* Accumulates with one operation may go to the same place; those that only read, and those that
 * compare and swap, with any other. */
static bool are_atomic(int32_t one, int32_t other)
{
    return one != 0 && other != 0 &&
           (one == other || one < 0 || other < 0 || one == MPI_NO_OP || other == MPI_NO_OP);
}

static bool is_fenced_alike(const struct wl_access_note *one,
                            const struct wl_access_note *other)
{
    return one->fence != 0 && one->fence == other->fence && one->id == other->id &&
           one->first == other->first && !one->is_local && !other->is_local;
}

static bool are_ordered(const struct wl_access_note *one, const struct wl_access_note *other)
{
    bool excluded = one->lock != 0 && other->lock != 0 &&
                    (one->lock == MPI_LOCK_EXCLUSIVE || other->lock == MPI_LOCK_EXCLUSIVE);

    /* A rank's own loads and stores come before what it calls after them; its accumulates to one
     * place are carried out in order. */
    if (one->call.rank == other->call.rank) {
        return one->is_local || (one->op != 0 && other->op != 0) ||
               one->flushes != other->flushes;
    }
    return !is_fenced_alike(one, other) &&
           (excluded || one->epoch != other->epoch || other->learned > one->issued ||
            one->learned > other->issued);
}

static const struct access *find_access(const struct wl_span *root,
                                        const struct access *access) /* NOLINT */
{
    if (root == NULL || root->highest_end <= access->span.begin) {
        return NULL;
    }
    const struct access *found = find_access(root->left, access);
    const struct access *own = (const struct access *)root;
    if (found != NULL || root->begin >= access->span.end) {
        return found;
    }
    if (root->end > access->span.begin && (root->what.writes || access->span.what.writes) &&
        !are_atomic(own->note.op, access->note.op) && !are_ordered(&own->note, &access->note)) {
        return own;
    }
    return find_access(root->right, access);
}

/* ---- accesses ---- */

/* Returns whether it has reported a conflict. */
static bool add(struct wl_rank *rank, const struct access *what)
{
    struct wl_checker *checker = rank->checker;
    const struct access *found = find_access(checker->accesses, what);

    if (found != NULL) {
        wl_report(WF_FINDING_WINDOW, &what->note.call, &found->note.call,
                  "%s memory of rank %u that rank %u %s in the same epoch",
                  what->span.what.writes ? "writes to" : "reads", rank->self->rank,
                  found->note.call.rank, found->span.what.writes ? "writes to" : "reads");
    }
    if (checker->n_accesses == ACCESSES_MAX) {
        wl_check_accesses_free(checker);
    }
    struct access *access = wl_malloc(sizeof(*access));
    *access = *what;
    checker->n_accesses++;
    checker->accesses = wl_spans_with(checker->accesses, &access->span, &checker->random);
    if (access->note.is_local) {
        checker->last_local = &access->span;
    }
    return found != NULL;
}

void wl_check_access(struct wl_rank *rank, const struct wl_access_note *note,
                     const struct wl_buffer_use *what)
{
    if (!wl_use_is_empty(what)) {
        struct access access = {wl_span_of(rank, what), *note};
        access.span.what.type = NULL; /* it may be freed */
        (void)add(rank, &access);
    }
}

/* Programs go through memory: one access continues the last one. Returns whether it did. */
static bool extend(struct wl_checker *checker, const struct access *access)
{
    struct access *last = (struct access *)checker->last_local;

    if (last == NULL || last->span.what.writes != access->span.what.writes ||
        last->note.learned != access->note.learned || last->note.epoch != access->note.epoch ||
        last->note.flushes != access->note.flushes || last->note.lock != access->note.lock ||
        access->span.begin < last->span.begin || access->span.begin > last->span.end) {
        return false;
    }
    if (access->span.end > last->span.end && find_access(checker->accesses, access) == NULL) {
        checker->accesses = wl_spans_without(checker->accesses, &last->span);
        last->span.end = access->span.end;
        last->span.left = last->span.right = NULL;
        checker->accesses = wl_spans_with(checker->accesses, &last->span, &checker->random);
    }
    return access->span.end <= last->span.end;
}

void wl_check_window(const struct wl_rank *rank, struct wl_win *win)
{
    if (rank->checker != NULL) {
        win->created_epoch = rank->checker->epoch;
        win->created_learned = rank->checker->learned;
    }
}

/* Programs set up their memory after they have created the window, and rely on others to come
 * later. */
static bool sets_up(const struct wl_checker *checker, const struct wl_win *win)
{
    return !wl_epoch_is_open(win) && checker->epoch == win->created_epoch &&
           checker->learned == win->created_learned;
}

/* Whether the last access of the rank itself was to these bytes too, in the same epoch. */
static bool is_known(const struct wl_checker *checker, const struct wl_span *span)
{
    const struct access *last = (const struct access *)checker->last_local;

    return last != NULL && last->span.begin <= span->begin && last->span.end >= span->end &&
           last->span.what.writes == span->what.writes && last->note.epoch == checker->epoch &&
           last->note.learned == checker->learned && last->note.flushes == checker->flushes;
}

bool wl_check_local(struct wl_rank *rank, const struct wl_buffer_use *what)
{
    for (uint32_t i = 0; i < wl_table_n(&rank->wins); i++) {
        const struct wl_win *win = wl_table_at(&rank->wins, i);
        uintptr_t base = win != NULL ? (uintptr_t)win->own.base : 0;
        struct access access = {wl_span_of(rank, what), {.is_local = 0}};
        if (base == 0 || access.span.begin >= base + (uintptr_t)win->own.size ||
            access.span.end <= base) {
            continue;
        }
        if (is_known(rank->checker, &access.span) || sets_up(rank->checker, win)) {
            return false;
        }
        access.note = wl_check_note(rank, win, wl_comm_of(rank, win->comm).rank);
        access.note.is_local = 1;
        access.span.what.type = NULL;
        return !extend(rank->checker, &access) && add(rank, &access);
    }
    return false;
}
