/* SPDX-License-Identifier: Apache-2.0 */
/* What is done to the memory of others. */
#include "mpilib/one_sided.h"
#include "mpilib/interprocess.h"
#include "mpilib/memory.h"
#include "mpilib/request.h"

#include <stdlib.h>
#include <string.h>

/* What a call describes. */
struct access {
    const char *function;
    enum wl_rma_kind kind;
    const void *from; /* the origin's data... */
    int count;
    MPI_Datatype type;
    void *to; /* ...and where it wants what was there */
    int to_count;
    MPI_Datatype to_type;
    int target;
    MPI_Aint displacement;
    int target_count;
    MPI_Datatype target_type;
    MPI_Op op;
    const void *compare;
    MPI_Win win;
};

struct wl_result {
    struct wl_result *next;
    const struct wl_type *type;
    size_t count;
    void *to;
    unsigned char *packed;
};

/* ---- at the target ---- */

static void apply(const struct wl_rank *rank, const struct wl_rma *rma,
                  const unsigned char *data)
{
    size_t bytes = rma->count * rma->type->size;
    const struct wl_reduction what = {rma->op, rma->type, rma->handle, rma->count};

    if (rma->old != NULL) {
        wl_pack(rma->type, rma->at, rma->count, rma->old);
    }
    if (rma->kind == RMA_PUT) {
        wl_unpack(rma->type, data, rma->count, rma->at);
    } else if (rma->kind == RMA_ACCUMULATE) {
        unsigned char *now = wl_malloc(bytes);
        wl_pack(rma->type, rma->at, rma->count, now);
        wl_reduce(rank, &what, data, now);
        wl_unpack(rma->type, now, rma->count, rma->at);
        free(now);
    } else if (rma->kind == RMA_SWAP && memcmp(rma->at, data + bytes, bytes) == 0) {
        memcpy(rma->at, data, bytes);
    }
}

/* A lock of this rank's part of a window that somebody holds. Others may ask for it before this
 * rank knows that it has the window. */
struct wl_lock {
    struct wl_lock *next;
    uint32_t id, first; /* of the window's communicator */
    int holders;        /* -1: one alone */
};

static struct wl_lock **find_lock(struct wl_rank *rank, const struct wl_rma *rma)
{
    struct wl_lock **at = &rank->locks;

    while (*at != NULL && ((*at)->id != rma->id || (*at)->first != rma->first)) {
        at = &(*at)->next;
    }
    return at;
}

static void take_lock(struct wl_lock **lock, const struct wl_rma *rma)
{
    if (*lock == NULL) {
        *lock = wl_malloc(sizeof(**lock));
        **lock = (struct wl_lock){.id = rma->id, .first = rma->first};
    }
    (*lock)->holders += rma->shared ? 1 : -1;
}

/* Says with one byte whether the lock was free. */
static void apply_lock(struct wl_rank *rank, const struct wl_rma *rma)
{
    struct wl_lock **lock = find_lock(rank, rma);

    if (rma->kind == RMA_LOCK) {
        *rma->old = *lock == NULL || (rma->shared && (*lock)->holders > 0);
        if (*rma->old) {
            take_lock(lock, rma);
        }
        return;
    }
    struct wl_lock *held = *lock;
    if (held == NULL) {
        return;
    }
    held->holders += rma->shared ? -1 : 1;
    if (held->holders == 0) {
        *lock = held->next;
        free(held);
    }
}

void wl_locks_free(struct wl_rank *rank)
{
    while (rank->locks != NULL) {
        struct wl_lock *next = rank->locks->next;
        free(rank->locks);
        rank->locks = next;
    }
}

void wl_remote(struct wf_port_rank *self, uint32_t origin)
{
    struct wl_rank *rank = self->lib;
    const struct wl_stream stream = {RMA_CONTEXT, origin, 0};
    struct wl_message *message = wl_mailbox_take(wl.boxes, self->rank, &stream, 0);
    struct wl_arrived_rma arrived = {.asker = NULL};
    struct wl_rma *rma = &arrived.rma;

    if (message == NULL) {
        wl_fatal(rank, "window", "what rank %u does to it is not there", origin);
    }
    memcpy(rma, message->bytes, sizeof(*rma));
    const unsigned char *data =
        rma->far ? wl_rma_unpack(&arrived, message) : message->bytes + sizeof(*rma);
    if (rma->kind == RMA_LOCK || rma->kind == RMA_UNLOCK) {
        apply_lock(rank, rma);
    } else {
        apply(rank, rma, data);
    }
    if (!rma->far) {
        wl_type_release(rma->type);
    }
    wl_rma_answer(&arrived, origin);
    free(message);
}

/* ---- at the origin ---- */

/* Hands it over and tells the simulation. */
static void hand_over(struct wl_rank *rank, const struct wl_view *view, uint32_t target,
                      struct wl_rma *rma, struct wl_message *message)
{
    uint32_t to = wl_member(view->comm, target);
    bool asks = rma->old != NULL;
    size_t data = message->size - sizeof(*rma);
    struct wf_op op = {.kind = asks ? WF_OP_GET : WF_OP_PUT,
                       .peer = target,
                       .comm = view->number,
                       .bytes = data};

    if (rma->kind == RMA_GET) {
        op.bytes = rma->count * rma->type->size;
    } else if (rma->kind == RMA_ACCUMULATE && !asks) {
        op.kind = WF_OP_ACCUMULATE;
    }
    rma->id = view->comm->id;
    rma->first = wl_member(view->comm, 0);
    rma->target = target;
    memcpy(message->bytes, rma, sizeof(*rma));
    if (!wl_is_here(to)) {
        message = wl_rma_pack(rma, message);
        wl_type_release(rma->type);
    }
    message->context = RMA_CONTEXT;
    message->source = rank->self->rank;
    message->tag = 0;
    wl_message_send(to, message);
    wl_post(rank, &op);
}

static unsigned char *find_memory(const struct wl_rank *rank, const struct wl_win *win,
                                  const struct access *what, const struct wl_type *type)
{
    const struct wl_win_part *part = &win->parts[what->target];
    MPI_Aint at = what->displacement * part->unit;
    MPI_Aint end =
        at + type->true_lb + (what->target_count - 1) * type->extent + type->true_extent;

    if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC) {
        return (unsigned char *)(intptr_t)what->displacement; /* NOLINT: it is an address */
    }
    if (what->target_count > 0 && (at + type->true_lb < 0 || end > part->size)) {
        wl_fatal(rank, what->function, "bytes %td to %td of a window that has %td",
                 at + type->true_lb, end, part->size);
    }
    return part->base + at;
}

static void expect(struct wl_rank *rank, struct wl_win *win, const struct access *what,
                   struct wl_rma *rma)
{
    struct wl_result *result = wl_malloc(sizeof(*result));
    struct wl_result **end = &win->results;

    *result = (struct wl_result){
        .type = wl_type_of(rank, what->to_type, what->function),
        .count = (size_t)what->to_count,
        .to = what->to,
        .packed = wl_calloc(rma->count * rma->type->size + 1, 1),
    };
    wl_type_hold(result->type);
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = result;
    rma->old = result->packed;
    rma->old_bytes = rma->count * rma->type->size;
}

/* Here it can be said to the program; at the target, nobody of it is running. */
static void check_operation(const struct wl_rank *rank, const struct wl_rma *rma,
                            const char *function)
{
    const struct wl_reduction what = {rma->op, rma->type, rma->handle, rma->count};

    if (rma->op->function != NULL || !wl_reduction_is_known(&what)) {
        wl_fatal(rank, function, "the operation does not go with %s",
                 rma->type->name != NULL ? rma->type->name : "a type of the program");
    }
}

static int do_access(const struct access *what)
{
    struct wl_rank *rank = wl_enter();
    struct wl_win *win = wl_win_of(rank, what->win, what->function);
    struct wl_view view = wl_comm_of(rank, win->comm, what->function);
    const struct wl_type *type = wl_type_of(rank, what->target_type, what->function);

    if (what->target == MPI_PROC_NULL) {
        wl_leave(rank);
        return MPI_SUCCESS;
    }
    if (what->target < 0 || (uint32_t)what->target >= view.size) {
        wl_fatal(rank, what->function, "there is no rank %d of %u", what->target, view.size);
    }
    wl_win_touch(rank, win, (uint32_t)what->target);
    struct wl_rma rma = {.kind = what->kind,
                         .at = find_memory(rank, win, what, type),
                         .type = type,
                         .handle = what->target_type,
                         .count = (size_t)what->target_count};
    size_t bytes = rma.count * type->size;
    size_t data = what->kind == RMA_GET ? 0 : what->compare != NULL ? 2 * bytes : bytes;
    struct wl_message *message = wl_message_new(sizeof(rma) + data);

    wl_type_hold(type); /* until it has been done: programs free types early */
    if (what->kind == RMA_ACCUMULATE) {
        rma.op = wl_op_of(rank, what->op, what->function);
        rma.handle = wl_pair_within(rank, type, what->target_type);
        check_operation(rank, &rma, what->function);
    }
    if (data > 0 && what->op != MPI_NO_OP) {
        wl_pack(wl_type_of(rank, what->type, what->function), what->from, (size_t)what->count,
                message->bytes + sizeof(rma));
    }
    if (what->compare != NULL) {
        memcpy(message->bytes + sizeof(rma) + bytes, what->compare, bytes);
    }
    if (what->to != NULL) {
        expect(rank, win, what, &rma);
    }
    hand_over(rank, &view, (uint32_t)what->target, &rma, message);
    wl_leave(rank);
    return MPI_SUCCESS;
}

void wl_win_deliver(struct wl_win *win)
{
    while (win->results != NULL) {
        struct wl_result *result = win->results;
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
    wl_win_deliver(win);
}

/* ---- locks ---- */

static void lock_op(struct wl_rank *rank, const struct wl_win *win, uint32_t target,
                    struct wl_rma *rma)
{
    struct wl_view view = wl_comm_of(rank, win->comm, "window");

    hand_over(rank, &view, target, rma, wl_message_new(sizeof(*rma)));
}

bool wl_win_try_lock(struct wl_rank *rank, struct wl_win *win, uint32_t target, bool alone)
{
    const struct wf_op flush = {.kind = WF_OP_WIN_FLUSH};
    unsigned char granted = 0;
    struct wl_rma rma = {.kind = RMA_LOCK, .shared = !alone, .old = &granted, .old_bytes = 1};

    lock_op(rank, win, target, &rma);
    (void)wl_call(rank, &flush);
    return granted != 0;
}

void wl_win_release(struct wl_rank *rank, struct wl_win *win, uint32_t target)
{
    struct wl_rma rma = {.kind = RMA_UNLOCK, .shared = win->held[target] == MPI_LOCK_SHARED};

    lock_op(rank, win, target, &rma);
    win->held[target] = 0;
}

/* ---- the program's ---- */

int MPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
            int target_rank, MPI_Aint target_disp, int target_count,
            MPI_Datatype target_datatype, MPI_Win win)
{
    return do_access(&(struct access){.function = "MPI_Put",
                                      .kind = RMA_PUT,
                                      .from = origin_addr,
                                      .count = origin_count,
                                      .type = origin_datatype,
                                      .target = target_rank,
                                      .displacement = target_disp,
                                      .target_count = target_count,
                                      .target_type = target_datatype,
                                      .win = win});
}

int MPI_Get(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
            MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    return do_access(&(struct access){.function = "MPI_Get",
                                      .kind = RMA_GET,
                                      .to = origin_addr,
                                      .to_count = origin_count,
                                      .to_type = origin_datatype,
                                      .target = target_rank,
                                      .displacement = target_disp,
                                      .target_count = target_count,
                                      .target_type = target_datatype,
                                      .win = win});
}

int MPI_Accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                   int target_rank, MPI_Aint target_disp, int target_count,
                   MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    return do_access(&(struct access){.function = "MPI_Accumulate",
                                      .kind = RMA_ACCUMULATE,
                                      .from = origin_addr,
                                      .count = origin_count,
                                      .type = origin_datatype,
                                      .target = target_rank,
                                      .displacement = target_disp,
                                      .target_count = target_count,
                                      .target_type = target_datatype,
                                      .op = op,
                                      .win = win});
}

int MPI_Get_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                       void *result_addr, int result_count, MPI_Datatype result_datatype,
                       int target_rank, MPI_Aint target_disp, int target_count,
                       MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    return do_access(&(struct access){.function = "MPI_Get_accumulate",
                                      .kind = RMA_ACCUMULATE,
                                      .from = origin_addr,
                                      .count = origin_count,
                                      .type = origin_datatype,
                                      .to = result_addr,
                                      .to_count = result_count,
                                      .to_type = result_datatype,
                                      .target = target_rank,
                                      .displacement = target_disp,
                                      .target_count = target_count,
                                      .target_type = target_datatype,
                                      .op = op,
                                      .win = win});
}

int MPI_Fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype,
                     int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{
    return MPI_Get_accumulate(origin_addr, 1, datatype, result_addr, 1, datatype, target_rank,
                              target_disp, 1, datatype, op, win);
}

int MPI_Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr,
                         MPI_Datatype datatype, int target_rank, MPI_Aint target_disp,
                         MPI_Win win)
{
    return do_access(&(struct access){.function = "MPI_Compare_and_swap",
                                      .kind = RMA_SWAP,
                                      .from = origin_addr,
                                      .count = 1,
                                      .type = datatype,
                                      .to = result_addr,
                                      .to_count = 1,
                                      .to_type = datatype,
                                      .target = target_rank,
                                      .displacement = target_disp,
                                      .target_count = 1,
                                      .target_type = datatype,
                                      .compare = compare_addr,
                                      .win = win});
}

/* ---- with a request: over when they return ---- */

static int complete(MPI_Win win, MPI_Request *handle, int code)
{
    struct wl_rank *rank = wl_enter();
    struct wl_request *request = wl_request_new(rank, WL_REQUEST_DONE, handle);

    wl_win_flush(rank, wl_win_of(rank, win, "request of a window"));
    request->active = true;
    wl_status_empty(&request->status);
    wl_leave(rank);
    return code;
}

int MPI_Rput(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
             int target_rank, MPI_Aint target_disp, int target_count,
             MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
    return complete(win, request,
                    MPI_Put(origin_addr, origin_count, origin_datatype, target_rank,
                            target_disp, target_count, target_datatype, win));
}

int MPI_Rget(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win,
             MPI_Request *request)
{
    return complete(win, request,
                    MPI_Get(origin_addr, origin_count, origin_datatype, target_rank,
                            target_disp, target_count, target_datatype, win));
}

int MPI_Raccumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                    int target_rank, MPI_Aint target_disp, int target_count,
                    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    return complete(win, request,
                    MPI_Accumulate(origin_addr, origin_count, origin_datatype, target_rank,
                                   target_disp, target_count, target_datatype, op, win));
}

int MPI_Rget_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                        void *result_addr, int result_count, MPI_Datatype result_datatype,
                        int target_rank, MPI_Aint target_disp, int target_count,
                        MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                        MPI_Request *request)
{
    return complete(win, request,
                    MPI_Get_accumulate(origin_addr, origin_count, origin_datatype, result_addr,
                                       result_count, result_datatype, target_rank, target_disp,
                                       target_count, target_datatype, op, win));
}
