/* SPDX-License-Identifier: Apache-2.0 */
#include "program/extrapolate/write.h"

#include "base/array.h"
#include "base/mem.h"
#include "program/extrapolate/play.h"
#include "program/extrapolate/requests.h"
#include "program/extrapolate/unmatched.h"

#include <stdlib.h>
#include <string.h>

/* A communicator of the rank that is played. */
struct comm {
    uint32_t *members; /* null: not known yet */
    uint32_t size, own;
    bool told;
};

struct writing {
    const struct wf_ext_model *model;
    const struct wf_ext_grid *grid;
    struct wf_spool *spool;
    struct comm *comms;
    struct wf_ext_requests active, persistent;
    uint32_t *uses;     /* by number of a request: how many of the two lists have it */
    uint32_t uses_size; /* numbers from here on were never used */
    uint32_t uses_capacity;
    uint32_t least_free; /* all numbers below it are used */
    uint32_t *chosen;    /* places, then numbers */
    struct wf_ext_balance balance;
    uint32_t n_chosen, capacity;
};

/* ---- communicators ---- */

static const struct comm *find_comm(struct writing *writing, uint32_t rank, uint32_t number)
{
    struct comm *comm = &writing->comms[number];

    if (comm->size == 0 && comm->members == NULL) {
        comm->members = number == 0 ? NULL : wf_xcalloc(writing->grid->n, sizeof(uint32_t));
        comm->own = rank;
        comm->size = number == 0
                         ? writing->grid->n
                         : wf_ext_group_members(writing->grid, &writing->model->groups[number],
                                                rank, comm->members, &comm->own);
    }
    return comm;
}

static uint32_t comm_size(void *arg, uint32_t rank, uint32_t comm)
{
    return find_comm(arg, rank, comm)->size;
}

static enum wf_status tell_comm(struct writing *writing, uint32_t rank, uint32_t number,
                                struct wf_err *err)
{
    const struct comm *comm = find_comm(writing, rank, number);

    if (comm->size == 0) {
        return wf_err_set(err, WF_EINVAL,
                          "with %u ranks, rank %u has no communicator number %u; the rules do "
                          "not fit this number of ranks",
                          writing->grid->n, rank, number);
    }
    if (number == 0 || comm->told) {
        return WF_OK;
    }
    writing->comms[number].told = true;
    const struct wf_group group = {
        .id = number, .size = comm->size, .rank = comm->own, .members = comm->members};
    return wf_spool_tell(writing->spool, rank, number, &group, err);
}

/* The rank in the communicator of a rank of the program. */
static bool to_comm(struct writing *writing, uint32_t rank, uint32_t number, uint32_t *peer)
{
    const struct comm *comm = find_comm(writing, rank, number);

    if (*peer >= WF_PROC_NULL || comm->members == NULL) {
        return true;
    }
    for (uint32_t i = 0; i < comm->size; i++) {
        if (comm->members[i] == *peer) {
            *peer = i;
            return true;
        }
    }
    return false;
}

/* ---- requests ---- */

/* The smallest number that no request has. */
static uint32_t free_number(struct writing *writing)
{
    while (writing->least_free < writing->uses_size && writing->uses[writing->least_free] > 0) {
        writing->least_free++;
    }
    if (writing->least_free == writing->uses_size) {
        WF_PUSH(writing->uses, writing->uses_size, writing->uses_capacity, 0);
    }
    return writing->least_free;
}

static void put_request(struct writing *writing, struct wf_ext_requests *list, uint32_t number,
                        uint32_t sort)
{
    writing->uses[number]++;
    wf_ext_requests_add(list, number, sort);
}

static void release_number(struct writing *writing, uint32_t number)
{
    writing->uses[number]--;
    if (writing->uses[number] == 0 && number < writing->least_free) {
        writing->least_free = number;
    }
}

/* The next rank begins without requests. */
static void forget_requests(struct writing *writing)
{
    writing->active.n = writing->persistent.n = 0;
    writing->uses_size = writing->least_free = 0;
}

static void choose(void *arg, uint32_t place)
{
    struct writing *writing = arg;

    WF_PUSH(writing->chosen, writing->n_chosen, writing->capacity, place);
}

/* Removes the chosen requests, and turns places into numbers. */
static void take_requests(struct writing *writing, struct wf_ext_requests *list, bool remove)
{
    const uint32_t taken = 1U << 31; /* in the sort: does not survive */
    uint32_t kept = 0;

    for (uint32_t j = 0; j < writing->n_chosen; j++) {
        struct wf_ext_request *request = &list->items[writing->chosen[j]];
        request->sort |= remove ? taken : 0;
        writing->chosen[j] = request->number;
    }
    for (uint32_t i = 0; i < list->n && remove; i++) {
        if ((list->items[i].sort & taken) == 0) {
            list->items[kept++] = list->items[i];
        } else {
            release_number(writing, list->items[i].number);
        }
    }
    list->n = remove ? kept : list->n;
}

static bool set_requests(struct writing *writing, const struct wf_ext_shape *shape,
                         struct wf_op *op)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    struct wf_ext_requests *list =
        shape->persistent != 0 ? &writing->persistent : &writing->active;
    bool starts = info->family == WF_FAMILY_START;

    writing->n_chosen = 0;
    if (!wf_ext_requests_choose(list, shape, &writing->model->input.positions, choose,
                                writing)) {
        return false;
    }
    for (uint32_t i = 0; i < writing->n_chosen && starts; i++) {
        const struct wf_ext_request made = list->items[writing->chosen[i]];
        put_request(writing, &writing->active, made.number, made.sort);
    }
    take_requests(writing, list, !starts && op->kind != WF_OP_CANCEL);
    op->count = writing->n_chosen;
    op->request = writing->n_chosen > 0 ? writing->chosen[0] : 0;
    /* Numbers in a row need no list. */
    for (uint32_t i = 0; i < writing->n_chosen && op->requests == NULL; i++) {
        op->requests = writing->chosen[i] != op->request + i ? writing->chosen : NULL;
    }
    return info->detail != WF_WAIT_ONE || writing->n_chosen == 1;
}

/* ---- ops ---- */

static enum wf_status misfit(const struct writing *writing, uint32_t rank,
                             const struct wf_op *op, const char *what, struct wf_err *err)
{
    return wf_err_set(err, WF_EINVAL,
                      "with %u ranks, %s of rank %u %s; the rules do not fit this number of "
                      "ranks",
                      writing->grid->n, wf_op_name(op->kind), rank, what);
}

static void set_name(struct writing *writing, const struct wf_ext_shape *shape,
                     struct wf_op *op)
{
    op->tag = (int32_t)(shape->name == 0 ? shape->number : shape->name - 1);
    if (shape->name > 0) {
        wf_spool_name(writing->spool, wf_op_names(op->kind), shape->name - 1,
                      wf_strings_at(&writing->model->input.names, shape->name - 1));
    }
}

/* Sets the members of an op that depend on its family. */
static enum wf_status fill_op(struct writing *writing, uint32_t rank,
                              const struct wf_ext_played *played, struct wf_op *op,
                              struct wf_err *err)
{
    const struct wf_ext_shape *shape = played->shape;
    const struct wf_op_info *info = wf_op_info(op->kind);

    if (wf_ext_rooted(shape)) {
        op->root = played->op.peer[0];
    } else if (wf_ext_slots(shape) > 0) {
        op->peer = played->op.peer[0];
        op->tag = played->op.tag[0];
        op->recv_peer = played->op.peer[1];
        op->recv_tag = played->op.tag[1];
        op->recv_bytes = played->op.bytes[1];
        if (!to_comm(writing, rank, shape->comm, &op->peer) ||
            (wf_ext_slots(shape) > 1 && !to_comm(writing, rank, shape->comm, &op->recv_peer))) {
            return misfit(writing, rank, op, "has a peer that is not in its communicator", err);
        }
    }
    if (info->family == WF_FAMILY_MARKER || info->family == WF_FAMILY_CALL) {
        set_name(writing, shape, op);
    }
    if (shape->wait != WF_EXT_WAIT_NONE && !set_requests(writing, shape, op)) {
        return misfit(writing, rank, op, "waits for requests that it does not have", err);
    }
    if (info->returns_request || info->family == WF_FAMILY_PERSISTENT) {
        op->request = free_number(writing);
        put_request(writing, info->returns_request ? &writing->active : &writing->persistent,
                    op->request, wf_ext_sort(shape));
    }
    return WF_OK;
}

static enum wf_status write_op(void *arg, uint32_t rank, const struct wf_ext_played *played,
                               struct wf_err *err)
{
    struct writing *writing = arg;
    const struct wf_ext_shape *shape = played->shape;
    struct wf_op op;

    memset(&op, 0, sizeof(op));
    if (played->op.compute >= 0) {
        op.kind = WF_OP_COMPUTE;
        op.duration = played->op.compute;
        op.site = played->op.site;
        WF_TRY(wf_spool_add(writing->spool, rank, &op, err));
    }
    if (shape->kind == WF_OP_COMPUTE) {
        return WF_OK; /* the end of the program */
    }
    memset(&op, 0, sizeof(op));
    op.kind = (enum wf_op_kind)shape->kind;
    op.comm = shape->comm;
    op.new_comm = shape->new_comm;
    op.reduction = shape->reduction;
    op.bytes = played->op.bytes[0];
    op.counts = played->elements[0];
    op.recv_counts = played->elements[1];
    WF_TRY(tell_comm(writing, rank, shape->comm, err));
    /* Ranks that are not in the new communicator do not have it. */
    if (wf_op_info(op.kind)->family == WF_FAMILY_COMM &&
        shape->new_comm < writing->model->n_groups) {
        WF_TRY(tell_comm(writing, rank, shape->new_comm, err));
    }
    WF_TRY(fill_op(writing, rank, played, &op, err));
    wf_ext_balance_add(&writing->balance, rank, played);
    return wf_spool_add(writing->spool, rank, &op, err);
}

static void forget_comms(struct writing *writing)
{
    for (uint32_t i = 0; i < writing->model->n_groups; i++) {
        free(writing->comms[i].members);
        writing->comms[i] = (struct comm){.members = NULL};
    }
}

enum wf_status wf_ext_write(const struct wf_ext_model *model, const struct wf_ext_grid *grid,
                            const struct wf_ext_changes *changes, struct wf_spool *spool,
                            struct wf_err *err)
{
    struct writing writing = {.model = model, .grid = grid, .spool = spool};
    const struct wf_ext_player player = {.model = model,
                                         .grid = grid,
                                         .count = WF_EXT_NO_COUNT,
                                         .changes = changes,
                                         .comm_size = comm_size,
                                         .play = write_op,
                                         .arg = &writing};
    enum wf_status status = WF_OK;

    writing.comms = wf_xcalloc(model->n_groups, sizeof(*writing.comms));
    for (uint32_t r = 0; r < grid->n && status == WF_OK; r++) {
        forget_requests(&writing);
        status = wf_ext_play(&player, r, err);
        forget_comms(&writing);
    }
    if (status == WF_OK && writing.balance.sum != 0 && !writing.balance.is_unknown) {
        status = wf_ext_refuse_unmatched(&player, err);
    }
    forget_comms(&writing);
    free(writing.comms);
    free(writing.active.items);
    free(writing.persistent.items);
    free(writing.uses);
    free(writing.chosen);
    return status;
}
