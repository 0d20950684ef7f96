/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "trace/clog2/walk.h"

#include <stdlib.h>
#include <string.h>

/* Events of communicators. One between two groups has three: itself, the communicator of the
 * rank's own group, which is one of the others, and that of the other group, of which the rank
 * knows no more than its number. */
enum { WORLD = 0, COMM_FREE = 10, COMM_REMOTE = 102, COMM_INTER = 1000 };

void wf_clog2_tables_fini(struct wf_clog2_tables *tables)
{
    for (uint32_t i = 0; i < tables->n_comms; i++) {
        free(tables->comms[i].members);
    }
    free(tables->comms);
    free(tables->members);
    free(tables->states);
    *tables = (struct wf_clog2_tables){.n_states = 0};
}

/* ---- states ---- */

static void set_role(struct wf_clog2_state *state)
{
    static const struct {
        const char *name;
        enum wf_clog2_role role;
        enum wf_op_kind kind;
    } roles[] = {
        {"MPI_Send", WF_CLOG2_SENDS, WF_OP_SEND},
        {"MPI_Ssend", WF_CLOG2_SENDS, WF_OP_SSEND},
        {"MPI_Bsend", WF_CLOG2_SENDS, WF_OP_BSEND},
        {"MPI_Rsend", WF_CLOG2_SENDS, WF_OP_RSEND},
        {"MPI_Isend", WF_CLOG2_SENDS, WF_OP_ISEND},
        {"MPI_Issend", WF_CLOG2_SENDS, WF_OP_ISSEND},
        {"MPI_Ibsend", WF_CLOG2_SENDS, WF_OP_IBSEND},
        {"MPI_Irsend", WF_CLOG2_SENDS, WF_OP_IRSEND},
        {"MPI_Start", WF_CLOG2_SENDS, WF_OP_ISEND},
        {"MPI_Startall", WF_CLOG2_SENDS, WF_OP_ISEND},
        {"MPI_Irecv", WF_CLOG2_IRECV, WF_OP_IRECV},
        {"MPI_Recv", WF_CLOG2_RECEIVES, WF_OP_RECV},
        {"MPI_Sendrecv", WF_CLOG2_BOTH, WF_OP_SENDRECV},
        {"MPI_Sendrecv_replace", WF_CLOG2_BOTH, WF_OP_SENDRECV},
        {"MPI_Wait", WF_CLOG2_WAITS, WF_OP_WAIT},
        {"MPI_Waitany", WF_CLOG2_WAITS, WF_OP_WAIT},
        {"MPI_Waitsome", WF_CLOG2_WAITS, WF_OP_WAIT},
        {"MPI_Waitall", WF_CLOG2_WAITALL, WF_OP_WAITALL},
        {"MPI_Test", WF_CLOG2_TESTS, WF_OP_TEST},
        {"MPI_Testany", WF_CLOG2_TESTS, WF_OP_TEST},
        {"MPI_Testsome", WF_CLOG2_TESTS, WF_OP_TEST},
        {"MPI_Testall", WF_CLOG2_TESTS, WF_OP_TEST},
        {"MPI_Barrier", WF_CLOG2_BARRIER, WF_OP_BARRIER},
        {"MPI_Bcast", WF_CLOG2_COLLECTIVE, WF_OP_CALL},
        {"MPI_Reduce", WF_CLOG2_COLLECTIVE, WF_OP_CALL},
        {"MPI_Allreduce", WF_CLOG2_COLLECTIVE, WF_OP_CALL},
        {"MPI_Gather", WF_CLOG2_COLLECTIVE, WF_OP_CALL},
        {"MPI_Gatherv", WF_CLOG2_COLLECTIVE, WF_OP_CALL},
        {"MPI_Scatter", WF_CLOG2_COLLECTIVE, WF_OP_CALL},
        {"MPI_Scatterv", WF_CLOG2_COLLECTIVE, WF_OP_CALL},
        {"MPI_Allgather", WF_CLOG2_COLLECTIVE, WF_OP_CALL},
        {"MPI_Allgatherv", WF_CLOG2_COLLECTIVE, WF_OP_CALL},
        {"MPI_Alltoall", WF_CLOG2_COLLECTIVE, WF_OP_CALL},
        {"MPI_Alltoallv", WF_CLOG2_COLLECTIVE, WF_OP_CALL},
        {"MPI_Alltoallw", WF_CLOG2_COLLECTIVE, WF_OP_CALL},
        {"MPI_Reduce_scatter", WF_CLOG2_COLLECTIVE, WF_OP_CALL},
        {"MPI_Scan", WF_CLOG2_COLLECTIVE, WF_OP_CALL},
        {"MPI_Exscan", WF_CLOG2_COLLECTIVE, WF_OP_CALL},
    };

    state->kind = WF_OP_CALL;
    state->role = strncmp(state->name, "MPI", 3) == 0     ? WF_CLOG2_OTHER
                  : strncmp(state->name, "CLOG_", 5) == 0 ? WF_CLOG2_PAUSE
                                                          : WF_CLOG2_REGION;
    if (strncmp(state->name, "MPE_", 4) == 0) {
        state->role = WF_CLOG2_INNER;
    }
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
        if (strcmp(state->name, roles[i].name) == 0) {
            state->role = roles[i].role;
            state->kind = roles[i].kind;
        }
    }
}

static int by_begin(const void *a, const void *b)
{
    const struct wf_clog2_state *x = a, *y = b;

    return x->begin < y->begin ? -1 : x->begin > y->begin ? 1 : 0;
}

const struct wf_clog2_state *wf_clog2_state(const struct wf_clog2_tables *tables, int32_t event,
                                            bool *begins)
{
    /* The end of a state has the number behind its beginning, as far as anybody knows. */
    for (int back = 0; back < 2; back++) {
        const struct wf_clog2_state wanted = {.begin = event - (event > INT32_MIN ? back : 0)};
        const struct wf_clog2_state *state =
            tables->n_states == 0 ? NULL
                                  : bsearch(&wanted, tables->states, tables->n_states,
                                            sizeof(*tables->states), by_begin);
        if (state != NULL && (back == 0 || state->end == event)) {
            *begins = back == 0;
            return state;
        }
    }
    return NULL;
}

static void add_state(struct wf_clog2_tables *tables, const struct wf_clog2_record *record)
{
    if (tables->n_states == tables->states_capacity) {
        tables->states_capacity = tables->states_capacity * 2 + 64;
        tables->states =
            wf_xrealloc(tables->states, tables->states_capacity, sizeof(*tables->states));
    }
    struct wf_clog2_state *state = &tables->states[tables->n_states++];
    *state = (struct wf_clog2_state){.begin = record->values[1], .end = record->values[2]};
    memcpy(state->name, record->name, sizeof(state->name));
    set_role(state);
}

/* ---- communicators ---- */

const struct wf_clog2_comm *wf_clog2_comm(const struct wf_clog2_tables *tables, int32_t comm)
{
    uint32_t low = 0, high = tables->n_comms;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (tables->comms[middle].number < comm) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < tables->n_comms && tables->comms[low].number == comm ? &tables->comms[low]
                                                                      : NULL;
}

uint32_t wf_clog2_rank(const struct wf_clog2_tables *tables, int32_t comm, int32_t rank)
{
    const struct wf_clog2_comm *of = wf_clog2_comm(tables, comm);

    return of != NULL && rank >= 0 && (uint32_t)rank < of->size ? of->members[rank]
                                                                : UINT32_MAX;
}

static enum wf_status add_member(const struct wf_clog2_file *file,
                                 struct wf_clog2_tables *tables,
                                 const struct wf_clog2_record *record, struct wf_err *err)
{
    int32_t kind = record->values[0], rank = record->values[2], world = record->values[3];

    if (kind == COMM_FREE || kind == COMM_REMOTE || kind >= COMM_INTER) {
        return WF_OK;
    }
    if (rank < 0 || (uint32_t)rank >= file->n_ranks || world < 0 ||
        (uint32_t)world >= file->n_ranks) {
        return wf_clog2_bad(file, record->offset, err,
                            "a communicator has rank %d, which is rank %d of %u", (int)rank,
                            (int)world, file->n_ranks);
    }
    if (tables->n_members == tables->members_capacity) {
        tables->members_capacity = tables->members_capacity * 2 + 64;
        tables->members =
            wf_xrealloc(tables->members, tables->members_capacity, sizeof(*tables->members));
    }
    tables->members[tables->n_members] =
        (struct wf_clog2_member){record->values[1], rank, (uint32_t)world, tables->n_members};
    tables->n_members++;
    return WF_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct wf_clog2_member *x = a, *y = b;

    if (x->comm != y->comm) {
        return x->comm < y->comm ? -1 : 1;
    }
    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    return x->serial < y->serial ? -1 : 1;
}

/* Makes communicators of their members; behind a rank that nobody is there are none. */
static void gather_members(struct wf_clog2_tables *tables)
{
    if (tables->n_members > 1) {
        qsort(tables->members, tables->n_members, sizeof(*tables->members), by_place);
    }
    tables->comms = wf_xcalloc((size_t)tables->n_members + 1, sizeof(*tables->comms));
    for (uint32_t begin = 0, end; begin < tables->n_members; begin = end) {
        struct wf_clog2_comm *comm = &tables->comms[tables->n_comms++];

        for (end = begin; end < tables->n_members &&
                          tables->members[end].comm == tables->members[begin].comm;) {
            end++;
        }
        comm->number = tables->members[begin].comm;
        comm->members = wf_xcalloc(end - begin, sizeof(*comm->members));
        for (uint32_t i = begin; i < end; i++) {
            uint32_t rank = (uint32_t)tables->members[i].rank;
            if (rank <= comm->size) {
                comm->members[rank] = tables->members[i].world;
                comm->size = rank == comm->size ? rank + 1 : comm->size;
            }
        }
    }
}

/* ---- all ---- */

typedef enum wf_status (*visit_fn)(struct wf_clog2_file *file, struct wf_clog2_tables *tables,
                                   const struct wf_clog2_record *record, struct wf_err *err);

static enum wf_status visit_all(struct wf_clog2_file *file, struct wf_clog2_tables *tables,
                                visit_fn visit, struct wf_err *err)
{
    struct wf_clog2_record record;
    bool more = true;

    wf_clog2_rewind(file);
    enum wf_status status = wf_clog2_next(file, &record, &more, err);
    while (status == WF_OK && more) {
        status = visit(file, tables, &record, err);
        if (status == WF_OK) {
            status = wf_clog2_next(file, &record, &more, err);
        }
    }
    return status;
}

static enum wf_status define(struct wf_clog2_file *file, struct wf_clog2_tables *tables,
                             const struct wf_clog2_record *record, struct wf_err *err)
{
    if (record->type == WF_CLOG2_STATEDEF) {
        add_state(tables, record);
    }
    return record->type == WF_CLOG2_COMMEVT ? add_member(file, tables, record, err) : WF_OK;
}

static enum wf_status count(struct wf_clog2_file *file, struct wf_clog2_tables *tables,
                            const struct wf_clog2_record *record, struct wf_err *err)
{
    uint32_t rank = wf_clog2_rank(tables, record->comm, record->rank);
    bool begins = false;

    (void)file;
    (void)err;
    if (rank == UINT32_MAX) {
        return WF_OK;
    }
    if (record->type == WF_CLOG2_MSGEVT) {
        bool sent = record->values[0] == WF_CLOG2_SEND;
        uint64_t bytes = record->values[4] > 0 ? (uint64_t)record->values[4] : 0;
        wf_records_add(tables->records, rank, sent ? tables->sent : tables->received, bytes);
    } else if (record->type == WF_CLOG2_BAREEVT || record->type == WF_CLOG2_CARGOEVT) {
        const struct wf_clog2_state *state = wf_clog2_state(tables, record->values[0], &begins);
        if (state != NULL && begins) {
            wf_records_add(tables->records, rank, state->record, 0);
        }
    }
    return WF_OK;
}

enum wf_status wf_clog2_survey(struct wf_clog2_file *file, struct wf_clog2_tables *tables,
                               struct wf_err *err)
{
    enum wf_status status = visit_all(file, tables, define, err);

    if (status != WF_OK) {
        return status;
    }
    gather_members(tables);
    const struct wf_clog2_comm *world = wf_clog2_comm(tables, WORLD);
    if (world == NULL || world->size != file->n_ranks) {
        return wf_clog2_bad(file, 0, err, "%u ranks, but the log has records of %u only",
                            file->n_ranks, world != NULL ? world->size : 0);
    }
    if (tables->n_states > 1) {
        qsort(tables->states, tables->n_states, sizeof(*tables->states), by_begin);
    }
    for (uint32_t i = 0; i < tables->n_states; i++) {
        tables->states[i].record = wf_records_name(tables->records, tables->states[i].name);
    }
    tables->sent = wf_records_name(tables->records, "SENDMSG");
    tables->received = wf_records_name(tables->records, "RECVMSG");
    return visit_all(file, tables, count, err);
}
