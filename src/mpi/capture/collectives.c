/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives, with bytes and counts as model/coll/coll.h defines them. */
#include "mpi/capture/inside.h"

#include <string.h>

/* A call is named after its op: "iallreduce" is MPI_Iallreduce. */
static void name_call(struct wf_cap_call *call, enum wf_op_kind kind)
{
    const char *name = wf_op_name(kind);

    for (uint32_t i = 0; i < wf_cap_n_call_names; i++) {
        const char *other = wf_cap_call_names[i] + strlen("MPI_");
        if ((other[0] | 0x20) == name[0] && strcmp(other + 1, name + 1) == 0) {
            wf_cap_on_named(call, i);
            return;
        }
    }
}

/* Sets the communicator and the request of a collective. Returns false if it cannot be
 * recorded: its communicator is unknown, or it is no barrier and the communicator is an
 * inter-communicator. Then only the name of the call is recorded, and ops never mention its
 * request. */
static bool begin(struct wf_cap_call *call, struct wf_op *op, const struct wf_cap_comm *comm,
                  const MPI_Request *request)
{
    struct wf_cap_request entry = {.staged = WF_NOT_STAGED};
    bool known = comm != NULL &&
                 (!comm->is_inter || op->kind == WF_OP_BARRIER || op->kind == WF_OP_IBARRIER);

    entry.kind = known ? WF_REQUEST_PLAIN : WF_REQUEST_SILENT;
    if (!known) {
        name_call(call, op->kind);
    }
    if (request != NULL) {
        if (!wf_cap_new_request(request, &entry)) {
            return false;
        }
        op->request = entry.number;
    }
    op->comm = known ? comm->number : 0;
    return known;
}

void wf_cap_on_reduces(struct wf_cap_call *call, MPI_Op op)
{
    static const struct {
        MPI_Op op;
        enum wf_reduction reduction;
    } known[] = {
        {MPI_SUM, WF_REDUCE_SUM},         {MPI_MAX, WF_REDUCE_MAX},
        {MPI_MIN, WF_REDUCE_MIN},         {MPI_PROD, WF_REDUCE_PROD},
        {MPI_LAND, WF_REDUCE_LAND},       {MPI_BAND, WF_REDUCE_BAND},
        {MPI_LOR, WF_REDUCE_LOR},         {MPI_BOR, WF_REDUCE_BOR},
        {MPI_LXOR, WF_REDUCE_LXOR},       {MPI_BXOR, WF_REDUCE_BXOR},
        {MPI_MINLOC, WF_REDUCE_MINLOC},   {MPI_MAXLOC, WF_REDUCE_MAXLOC},
        {MPI_REPLACE, WF_REDUCE_REPLACE}, {MPI_NO_OP, WF_REDUCE_NO_OP},
    };

    call->reduction = WF_REDUCE_USER;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i].op == op) {
            call->reduction = known[i].reduction;
            return;
        }
    }
}

void wf_cap_on_data(struct wf_cap_call *call, enum wf_op_kind kind,
                    const struct wf_cap_data *data, int root, const MPI_Request *request)
{
    const struct wf_cap_comm *comm = wf_cap_comms_find(data->comm);
    struct wf_op op = {
        .kind = kind, .root = root < 0 ? 0 : (uint32_t)root, .reduction = call->reduction};

    if (begin(call, &op, comm, request)) {
        op.bytes = wf_cap_bytes(data->count, data->type);
        wf_cap_emit(&op, comm->size);
    }
}

void wf_cap_on_rooted(struct wf_cap_call *call, enum wf_op_kind kind,
                      const struct wf_cap_data *data, const struct wf_cap_data *at_root,
                      int root, const MPI_Request *request)
{
    const struct wf_cap_comm *comm = wf_cap_comms_find(data->comm);
    bool is_root = comm != NULL && root >= 0 && comm->rank == (uint32_t)root;

    wf_cap_on_data(call, kind, is_root ? at_root : data, root, request);
}

/* ---- blocks of different lengths ---- */

static uint64_t block_bytes(const struct wf_cap_vector *vector, uint32_t i)
{
    const int *narrow = vector->counts;
    const MPI_Count *wide = vector->counts;
    MPI_Count count = vector->width == sizeof(int) ? narrow[i] : wide[i];

    return wf_cap_bytes(count, vector->types != NULL ? vector->types[i] : vector->type);
}

/* Returns the lengths of `n` blocks in bytes; null if there is no memory. The call owns it. */
static uint64_t *lengths(struct wf_cap_call *call, const struct wf_cap_vector *vector,
                         uint32_t n)
{
    uint64_t *bytes = wf_cap_call_memory(call, (size_t)n * sizeof(*bytes));

    for (uint32_t i = 0; i < n && bytes != NULL; i++) {
        bytes[i] = block_bytes(vector, i);
    }
    return bytes;
}

void wf_cap_on_rooted_v(struct wf_cap_call *call, enum wf_op_kind kind,
                        const struct wf_cap_data *data, const struct wf_cap_vector *at_root,
                        int root, const MPI_Request *request)
{
    const struct wf_cap_comm *comm = wf_cap_comms_find(data->comm);
    struct wf_op op = {.kind = kind, .root = root < 0 ? 0 : (uint32_t)root};

    if (!begin(call, &op, comm, request)) {
        return;
    }
    if (comm->rank == op.root) {
        op.counts = lengths(call, at_root, comm->size);
        if (op.counts == NULL) {
            return;
        }
        op.bytes = op.counts[comm->rank];
    } else {
        op.bytes = wf_cap_bytes(data->count, data->type);
    }
    wf_cap_emit(&op, comm->size);
}

void wf_cap_on_vector(struct wf_cap_call *call, enum wf_op_kind kind,
                      const struct wf_cap_vector *vector, MPI_Comm comm,
                      const MPI_Request *request)
{
    const struct wf_cap_comm *found = wf_cap_comms_find(comm);
    struct wf_op op = {.kind = kind, .reduction = call->reduction};

    if (begin(call, &op, found, request)) {
        op.counts = lengths(call, vector, found->size);
        if (op.counts != NULL) {
            wf_cap_emit(&op, found->size);
        }
    }
}

void wf_cap_on_exchange(struct wf_cap_call *call, enum wf_op_kind kind,
                        const struct wf_cap_vector *sent, const struct wf_cap_vector *received,
                        MPI_Comm comm, const MPI_Request *request)
{
    const struct wf_cap_comm *found = wf_cap_comms_find(comm);
    struct wf_op op = {.kind = kind};

    if (begin(call, &op, found, request)) {
        /* MPI_IN_PLACE: the blocks sent have the lengths of the blocks received. */
        op.counts = lengths(call, sent != NULL ? sent : received, found->size);
        op.recv_counts = lengths(call, received, found->size);
        if (op.counts != NULL && op.recv_counts != NULL) {
            wf_cap_emit(&op, found->size);
        }
    }
}

void wf_cap_on_near(struct wf_cap_call *call, enum wf_op_kind kind,
                    const struct wf_cap_data *data, const struct wf_cap_vector *sent,
                    const struct wf_cap_vector *received, const MPI_Request *request)
{
    const struct wf_cap_comm *comm = wf_cap_comms_find(data->comm);
    struct wf_op op = {.kind = kind};

    if (!begin(call, &op, comm, request)) {
        return;
    }
    op.bytes = wf_cap_bytes(data->count, data->type);
    op.sources = comm->sources;
    op.destinations = comm->destinations;
    op.n_sources = comm->n_sources;
    op.n_destinations = comm->n_destinations;
    if (received != NULL) {
        op.recv_counts = lengths(call, received, op.n_sources);
        uint64_t *counts = sent != NULL
                               ? lengths(call, sent, op.n_destinations)
                               : wf_cap_call_memory(call, op.n_destinations * sizeof(*counts));
        for (uint32_t i = 0; i < op.n_destinations && sent == NULL && counts != NULL; i++) {
            counts[i] = op.bytes;
        }
        op.counts = counts;
        if (op.counts == NULL || op.recv_counts == NULL) {
            return;
        }
    }
    wf_cap_emit(&op, comm->size);
}
