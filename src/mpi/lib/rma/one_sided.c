/* SPDX-License-Identifier: Apache-2.0 */
/* One-sided accesses, at the target and at the origin. */
#include "mpi/lib/rma/one_sided.h"

#include "mpi/lib/checker/checker.h"
#include "mpi/lib/comm/directory.h"
#include "mpi/lib/comm/registry.h"
#include "mpi/lib/interprocess.h"
#include "mpi/lib/memory.h"
#include "mpi/lib/p2p/payload.h"
#include "mpi/lib/p2p/request.h"

#include <stdlib.h>
#include <string.h>

/* The communicator context of these messages; no communicator has it. */
#define RMA_CONTEXT UINT32_MAX

/* What a target has to do. The packed data follows it in the message. */
struct rma {
    enum wl_rma_kind kind;
    bool from_process; /* the origin runs in another process: see struct attachment */
    unsigned char *at; /* memory of the target */
    const struct wl_type *type;
    MPI_Datatype handle;
    size_t count;
    const struct wl_op *op; /* of an accumulate */
    unsigned char *old;     /* where the packed old data goes; null if nowhere */
    size_t old_bytes;
    int shared;                 /* of a lock */
    uint32_t id, first;         /* of the window's communicator: its id and its first member */
    struct wl_access_note note; /* of --check */
};

/* Old data that comes back to an origin. */
struct wl_rma_result {
    struct wl_rma_result *next;
    const struct wl_type *type;
    size_t count;
    void *to;
    unsigned char *packed;
};

/* ---- between processes ---- */

/* What struct rma points to. It follows struct rma in the message; then come the blocks of the
 * type, and the data. */
struct attachment {
    struct wl_type type;
    struct wl_op op;
};

/* The message with all that another process needs. Frees the old one. */
static struct wl_message *attach(const struct rma *rma, struct wl_message *message)
{
    struct attachment with;
    size_t data = message->size - sizeof(*rma);
    size_t blocks = rma->type != NULL ? rma->type->n_blocks * sizeof(struct wl_block) : 0;
    struct wl_message *whole = wl_message_new(sizeof(*rma) + sizeof(with) + blocks + data);
    unsigned char *to = whole->bytes + sizeof(*rma) + sizeof(with);

    memset(&with, 0, sizeof(with));
    if (rma->type != NULL) {
        with.type = *rma->type;
    }
    if (rma->op != NULL) {
        with.op = *rma->op;
    }
    memcpy(whole->bytes, rma, sizeof(*rma));
    ((struct rma *)(void *)whole->bytes)->from_process = true;
    memcpy(whole->bytes + sizeof(*rma), &with, sizeof(with));
    if (blocks > 0) {
        memcpy(to, rma->type->blocks, blocks);
    }
    memcpy(to + blocks, message->bytes + sizeof(*rma), data);
    free(message);
    return whole;
}

/* Makes struct rma point into the message and the attachment. Returns the data. */
static unsigned char *detach(struct rma *rma, struct wl_message *message,
                             struct attachment *with)
{
    unsigned char *at = message->bytes + sizeof(*rma) + sizeof(*with);

    memcpy(with, message->bytes + sizeof(*rma), sizeof(*with));
    with->type.blocks = (const void *)at;
    with->type.name = NULL;
    rma->type = &with->type;
    rma->op = &with->op;
    return at + with->type.n_blocks * sizeof(struct wl_block);
}

/* ---- at the target ---- */

static void apply(const struct wl_rank *rank, const struct rma *rma, const unsigned char *data)
{
    size_t bytes = rma->count * rma->type->size;
    const struct wl_reduction what = {rma->op, rma->type, rma->handle, rma->count};

    if (rma->old != NULL) {
        wl_pack(rma->type, rma->at, rma->count, rma->old);
    }
    if (rma->kind == WL_PUT) {
        wl_unpack(rma->type, data, rma->count, rma->at);
    } else if (rma->kind == WL_ACCUMULATE) {
        unsigned char *now = wl_malloc(bytes);
        wl_pack(rma->type, rma->at, rma->count, now);
        wl_reduce(rank, &what, data, now);
        wl_unpack(rma->type, now, rma->count, rma->at);
        free(now);
    } else if (rma->kind == WL_COMPARE_AND_SWAP && memcmp(rma->at, data + bytes, bytes) == 0) {
        memcpy(rma->at, data, bytes);
    }
}

/* A rank that has asked for a lock and did not get it. */
struct waiter {
    uint32_t origin;
    bool shared;
};

/* A lock of this rank's part of a window, which ranks hold or wait for. A rank may ask for it
 * before the target has returned from creating the window. Ranks get it in the order in which
 * they first asked, or some would never get it. */
struct wl_lock {
    struct wl_lock *next;
    uint32_t id, first; /* of the window's communicator */
    int holders;        /* -1: held exclusively */
    struct waiter *waiters;
    uint32_t n_waiters, max_waiters;
};

static struct wl_lock **find_lock(struct wl_rank *rank, const struct rma *rma)
{
    struct wl_lock **at = &rank->locks;

    while (*at != NULL && ((*at)->id != rma->id || (*at)->first != rma->first)) {
        at = &(*at)->next;
    }
    return at;
}

/* The place of a rank among those that wait, the last one if it is new. Sets *free if those
 * before it do not prevent it from getting the lock. */
static uint32_t find_waiter(const struct wl_lock *lock, const struct waiter *waiter, bool *free)
{
    uint32_t i = 0;

    *free = lock->holders == 0 || (waiter->shared && lock->holders > 0);
    while (i < lock->n_waiters && lock->waiters[i].origin != waiter->origin) {
        *free = *free && waiter->shared && lock->waiters[i].shared;
        i++;
    }
    return i;
}

/* Replies with one byte: 0 if the lock is granted, else one more than how many wait before, as
 * far as that fits. */
static void apply_lock(struct wl_rank *rank, const struct rma *rma, uint32_t origin)
{
    struct wl_lock **at = find_lock(rank, rma), *lock = *at;
    const struct waiter waiter = {origin, rma->shared != 0};
    bool granted;

    if (lock == NULL) {
        lock = *at = wl_malloc(sizeof(*lock));
        *lock = (struct wl_lock){.id = rma->id, .first = rma->first};
    }
    uint32_t place = find_waiter(lock, &waiter, &granted);
    *rma->old = granted ? 0 : (unsigned char)(place < UINT8_MAX ? place + 1 : UINT8_MAX);
    if (granted) {
        lock->holders += waiter.shared ? 1 : -1;
        if (place < lock->n_waiters) {
            lock->n_waiters--;
            memmove(lock->waiters + place, lock->waiters + place + 1,
                    (lock->n_waiters - place) * sizeof(struct waiter));
        }
    } else if (place == lock->n_waiters) {
        WL_GROW(lock->waiters, lock->n_waiters, lock->max_waiters);
        lock->waiters[lock->n_waiters++] = waiter;
    }
}

static void lock_free(struct wl_lock *lock)
{
    free(lock->waiters);
    free(lock);
}

static void apply_unlock(struct wl_rank *rank, const struct rma *rma)
{
    struct wl_lock **lock = find_lock(rank, rma), *held = *lock;

    if (held != NULL) {
        held->holders += rma->shared ? -1 : 1;
        if (held->holders == 0 && held->n_waiters == 0) {
            *lock = held->next;
            lock_free(held);
        }
    }
}

void wl_locks_free(struct wl_rank *rank)
{
    while (rank->locks != NULL) {
        struct wl_lock *next = rank->locks->next;
        lock_free(rank->locks);
        rank->locks = next;
    }
}

void wl_rma_arrived(struct wf_port_rank *self, uint32_t origin)
{
    struct wl_rank *rank = self->lib;
    const struct wl_stream stream = {RMA_CONTEXT, origin, 0};
    struct wl_message *message = wl_message_queue_take(wl.queues, self->rank, &stream, 0);
    struct attachment with;
    struct rma rma;

    if (message == NULL) {
        wl_fatal(rank, "a one-sided access by rank %u has not arrived; please report this",
                 origin);
    }
    wl_payload_check(message->bytes, message->size, message->checksum);
    memcpy(&rma, message->bytes, sizeof(rma));
    const unsigned char *data = message->bytes + sizeof(rma), *reply_to = rma.old;
    if (rma.from_process) {
        data = detach(&rma, message, &with);
        rma.old = reply_to != NULL ? wl_calloc(rma.old_bytes + 1, 1) : NULL;
    }
    if (rma.kind == WL_LOCK && rma.old != NULL) {
        apply_lock(rank, &rma, origin);
    } else if (rma.kind == WL_UNLOCK) {
        apply_unlock(rank, &rma);
    } else if (rma.kind == WL_QUESTION) {
        wl_directory_reply(rank, data, rma.old);
    } else {
        if (rma.note.is_checked && rma.type->contiguous) {
            const struct wl_buffer_use what = {rma.at, rma.count, rma.type,
                                               .writes = rma.kind != WL_GET};
            wl_check_access(rank, &rma.note, &what);
        }
        apply(rank, &rma, data);
    }
    if (!rma.from_process) {
        wl_type_release(rma.type);
    } else if (reply_to != NULL) {
        wl_reply_send(wl_process_of(origin), reply_to, rma.old, rma.old_bytes);
        free(rma.old);
    }
    free(message);
}

/* ---- at the origin ---- */

/* Sends the message and tells the simulation. */
static void send(struct wl_rank *rank, const struct wl_view *view, uint32_t target,
                 struct rma *rma, struct wl_message *message)
{
    uint32_t to = wl_member(view->comm, target);
    bool asks = rma->old != NULL;
    struct wf_op op = {.kind = asks ? WF_OP_GET : WF_OP_PUT,
                       .peer = target,
                       .comm = view->number,
                       .bytes = message->size - sizeof(*rma)};

    if (rma->kind == WL_GET) {
        op.bytes = rma->count * rma->type->size;
    } else if (rma->kind == WL_ACCUMULATE && !asks) {
        op.kind = WF_OP_ACCUMULATE;
    }
    rma->id = view->comm->id;
    rma->first = wl_member(view->comm, 0);
    memcpy(message->bytes, rma, sizeof(*rma));
    if (!wl_is_local(to)) {
        message = attach(rma, message);
        wl_type_release(rma->type);
    }
    message->context = RMA_CONTEXT;
    message->source = rank->self->rank;
    message->tag = 0;
    wl_message_send(to, message);
    wl_post(rank, &op);
}

static unsigned char *find_memory(const struct wl_rank *rank, const struct wl_win *win,
                                  const struct wl_access *access, const struct wl_type *type)
{
    const struct wl_win_part *part = &win->parts[access->target];
    MPI_Aint at = access->displacement * part->unit;
    MPI_Aint end =
        at + type->true_lb + (access->target_count - 1) * type->extent + type->true_extent;

    if (part->base == NULL && win->flavor != MPI_WIN_FLAVOR_DYNAMIC && end > at) {
        wl_fatal(rank, "rank %d of the window gave it no memory", access->target);
    }
    if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC) {
        return (unsigned char *)(intptr_t)access->displacement; /* NOLINT: it is an address */
    }
    if (access->target_count > 0 && (at + type->true_lb < 0 || end > part->size)) {
        wl_fatal(rank, "access to bytes %td to %td of a window of %td bytes",
                 at + type->true_lb, end, part->size);
    }
    return part->base + at;
}

/* Allocates memory for the old data, which goes to the program when the rank waits for it. */
static void expect_result(struct wl_rank *rank, struct wl_win *win,
                          const struct wl_access *access, struct rma *rma)
{
    struct wl_rma_result *result = wl_malloc(sizeof(*result));

    *result = (struct wl_rma_result){
        .type = wl_type_of(rank, access->to_type),
        .count = (size_t)access->to_count,
        .to = access->to,
        .packed = wl_calloc(rma->count * rma->type->size + 1, 1),
    };
    wl_type_hold(result->type);
    if (win->results == NULL) {
        win->results = result;
    } else {
        win->last_result->next = result;
    }
    win->last_result = result;
    rma->old = result->packed;
    rma->old_bytes = rma->count * rma->type->size;
}

/* Checked here, because the error is in a call of the origin. */
static void check_operation(const struct wl_rank *rank, const struct rma *rma)
{
    const struct wl_reduction what = {rma->op, rma->type, rma->handle, rma->count};

    if (wl_op_is_user(rma->op) || !wl_reduction_is_defined(&what)) {
        wl_fatal(rank, "the operation is not defined for %s",
                 rma->type->name != NULL ? rma->type->name : "this datatype");
    }
}

/* The buffers of the origin, until the access is complete. */
static void hold_buffers(struct wl_rank *rank, const struct wl_access *access,
                         struct wl_use **uses)
{
    const struct {
        const void *buffer;
        MPI_Count count;
        MPI_Datatype type;
        bool writes;
    } all[] = {
        {access->op != MPI_NO_OP ? access->from : NULL, access->count, access->type, false},
        {access->compare, 1, access->type, false},
        {access->to, access->to_count, access->to_type, true}};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (all[i].buffer != NULL && all[i].count > 0) {
            const struct wl_buffer_use what = {all[i].buffer, (size_t)all[i].count,
                                               wl_type_of(rank, all[i].type),
                                               .writes = all[i].writes};
            wl_check_hold(rank, &what, uses);
        }
    }
}

static void begin_access(struct wl_rank *rank, const struct wl_access *access,
                         struct wl_use **uses)
{
    struct wl_win *win = wl_win_of(rank, access->win);
    struct wl_view view = wl_comm_of(rank, win->comm);
    const struct wl_type *type = wl_type_of(rank, access->target_type);

    if (access->target == MPI_PROC_NULL) {
        return;
    }
    if (access->target < 0 || (uint32_t)access->target >= view.size) {
        wl_fatal(rank, "there is no rank %d in a window of %u ranks", access->target,
                 view.size);
    }
    wl_epoch_access(rank, win, (uint32_t)access->target);
    wl_win_lock_for_access(rank, win, (uint32_t)access->target);
    struct rma rma = {.kind = access->kind,
                      .at = find_memory(rank, win, access, type),
                      .type = type,
                      .handle = access->target_type,
                      .count = (size_t)access->target_count};
    if (wl_checks()) {
        rma.note = wl_check_note(rank, win, (uint32_t)access->target);
        rma.note.op = access->kind == WL_ACCUMULATE || access->kind == WL_COMPARE_AND_SWAP
                          ? (access->op != 0 ? access->op : -1)
                          : 0;
        hold_buffers(rank, access, uses);
    }
    size_t bytes = rma.count * type->size;
    size_t data = access->kind == WL_GET ? 0 : access->compare != NULL ? 2 * bytes : bytes;
    struct wl_message *message = wl_message_new(sizeof(rma) + data);

    wl_type_hold(type); /* until the target is done: programs free types early */
    if (access->kind == WL_ACCUMULATE) {
        rma.op = wl_op_of(rank, access->op);
        rma.handle = wl_pair_within(rank, type, access->target_type);
        check_operation(rank, &rma);
    }
    if (data > 0 && access->op != MPI_NO_OP) {
        wl_pack(wl_type_of(rank, access->type), access->from, (size_t)access->count,
                message->bytes + sizeof(rma));
    }
    if (access->compare != NULL) {
        memcpy(message->bytes + sizeof(rma) + bytes, access->compare, bytes);
    }
    if (access->to != NULL) {
        expect_result(rank, win, access, &rma);
    }
    send(rank, &view, (uint32_t)access->target, &rma, message);
}

int wl_one_sided(struct wl_rank *rank, const struct wl_access *access, MPI_Request *handle)
{
    struct wl_win *win = wl_win_of(rank, access->win);

    begin_access(rank, access, &win->uses);
    if (handle != NULL) {
        struct wl_request *request = wl_request_new(rank, WL_REQUEST_DONE, handle);
        wl_win_flush(rank, win);
        wl_status_set_empty(&request->status);
    }
    return MPI_SUCCESS;
}

void wl_win_deliver(struct wl_win *win)
{
    while (win->results != NULL) {
        struct wl_rma_result *result = win->results;
        win->results = result->next;
        wl_unpack(result->type, result->packed, result->count, result->to);
        wl_type_release(result->type);
        free(result->packed);
        free(result);
    }
}

void wl_win_flush(struct wl_rank *rank, struct wl_win *win)
{
    const struct wf_op op = {.kind = WF_OP_WIN_FLUSH};

    (void)wl_call(rank, &op);
    wl_check_flushed(rank, win);
    wl_win_deliver(win);
}

/* ---- locks ---- */

static void send_lock(struct wl_rank *rank, const struct wl_win *win, uint32_t target,
                      struct rma *rma)
{
    struct wl_view view = wl_comm_of(rank, win->comm);

    send(rank, &view, target, rma, wl_message_new(sizeof(*rma)));
}

uint32_t wl_win_try_lock(struct wl_rank *rank, struct wl_win *win, uint32_t target,
                         bool exclusive)
{
    const struct wf_op flush = {.kind = WF_OP_WIN_FLUSH};
    unsigned char place = 0;
    struct rma rma = {.kind = WL_LOCK, .shared = !exclusive, .old = &place, .old_bytes = 1};

    send_lock(rank, win, target, &rma);
    (void)wl_call(rank, &flush);
    return place;
}

void wl_win_unlock(struct wl_rank *rank, struct wl_win *win, uint32_t target)
{
    struct rma rma = {.kind = WL_UNLOCK, .shared = win->held[target] == MPI_LOCK_SHARED};

    send_lock(rank, win, target, &rma);
    win->held[target] = 0;
}

/* ---- numbers of the library ---- */

int64_t wl_remote_add(struct wl_rank *rank, const struct wl_view *view, uint32_t target,
                      int64_t *number, int64_t value)
{
    const struct wf_op flush = {.kind = WF_OP_WIN_FLUSH};
    int64_t old = 0;
    struct rma rma = {.kind = WL_ACCUMULATE,
                      .at = (unsigned char *)number,
                      .type = wl_type_of(rank, MPI_INT64_T),
                      .handle = MPI_INT64_T,
                      .count = 1,
                      .op = wl_op_of(rank, MPI_SUM),
                      .old = (unsigned char *)&old,
                      .old_bytes = sizeof(old)};
    struct wl_message *message = wl_message_new(sizeof(rma) + sizeof(value));

    memcpy(message->bytes + sizeof(rma), &value, sizeof(value));
    send(rank, view, target, &rma, message);
    (void)wl_call(rank, &flush);
    return old;
}

void wl_remote_ask(struct wl_rank *rank, const struct wl_view *world, struct wl_bytes question,
                   struct wl_buffer answer)
{
    const struct wf_op flush = {.kind = WF_OP_WIN_FLUSH};
    struct rma rma = {.kind = WL_QUESTION, .old = answer.to, .old_bytes = answer.n};
    struct wl_message *message = wl_message_new(sizeof(rma) + question.n);

    memcpy(message->bytes + sizeof(rma), question.from, question.n);
    send(rank, world, 0, &rma, message);
    (void)wl_call(rank, &flush);
}
