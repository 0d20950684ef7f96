/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "base/mem.h"
#include "program/trace/clog2/walk.h"

#include <stdlib.h>
#include <string.h>

/* Kinds of communicator records. An intercommunicator has three records: one for itself; one
 * for the communicator of the rank's own group, which is an ordinary one; and one for that of
 * the other group, of which the rank knows only the number. */
enum { WORLD = 0, COMM_FREE = 10, COMM_REMOTE = 102, COMM_INTER = 1000 };

void wf_clog2_tables_fini(struct wf_clog2_tables *tables)
{
    for (uint32_t i = 0; i < tables->n_comms; i++) {
        free(tables->comms[i].members);
    }
    wf_map_fini(&tables->events);
    wf_map_fini(&tables->numbers);
    free(tables->comms);
    free(tables->members);
    free(tables->states);
    *tables = (struct wf_clog2_tables){.n_states = 0};
}

/* ---- states ---- */

static enum wf_clog2_role role_of_call(enum wf_op_kind kind)
{
    const struct wf_op_info *info = wf_op_info(kind);

    switch (info->family) {
    case WF_FAMILY_SEND:
    case WF_FAMILY_START:
        return WF_CLOG2_SENDS;
    case WF_FAMILY_RECV:
        return info->returns_request ? WF_CLOG2_IRECV : WF_CLOG2_RECEIVES;
    case WF_FAMILY_SENDRECV:
        return WF_CLOG2_BOTH;
    case WF_FAMILY_WAIT:
        return info->detail == WF_WAIT_ALL ? WF_CLOG2_WAITALL : WF_CLOG2_WAITS;
    case WF_FAMILY_TEST:
        return WF_CLOG2_TESTS;
    case WF_FAMILY_COLLECTIVE:
        return info->returns_request   ? WF_CLOG2_OTHER
               : kind == WF_OP_BARRIER ? WF_CLOG2_BARRIER
                                       : WF_CLOG2_COLLECTIVE;
    case WF_FAMILY_COMPUTE:
    case WF_FAMILY_PROBE:
    case WF_FAMILY_PERSISTENT:
    case WF_FAMILY_FREE:
    case WF_FAMILY_COMM:
    case WF_FAMILY_ONESIDED:
    case WF_FAMILY_EPOCH:
    case WF_FAMILY_MARKER:
    case WF_FAMILY_CALL:
    case WF_FAMILY_FILE:
        break;
    }
    return WF_CLOG2_OTHER;
}

static void set_role(struct wf_clog2_state *state)
{
    state->kind = wf_op_of_call(state->name);
    if (strncmp(state->name, "MPE_", 4) == 0) {
        state->role = WF_CLOG2_INNER;
    } else if (strncmp(state->name, "CLOG_", 5) == 0) {
        state->role = WF_CLOG2_PAUSE;
    } else if (strncmp(state->name, "MPI", 3) == 0) {
        state->role = role_of_call(state->kind);
    } else {
        state->role = WF_CLOG2_REGION;
    }
}

static int by_begin(const void *a, const void *b)
{
    const struct wf_clog2_state *x = a, *y = b;

    return WF_ORDER(x->begin, y->begin);
}

const struct wf_clog2_state *wf_clog2_state(const struct wf_clog2_tables *tables, int32_t event,
                                            bool *begins)
{
    const uint64_t *found = wf_map_get(&tables->events, (uint32_t)event);

    *begins = found != NULL && (*found & 1) != 0;
    return found != NULL ? &tables->states[*found >> 1] : NULL;
}

/* Sorts the states, and enters their events into a map. The value is twice the index of the
 * state, plus 1 for its begin event. The end event has the number after the begin event. */
static void index_states(struct wf_clog2_tables *tables)
{
    WF_SORT(tables->states, tables->n_states, by_begin);
    for (uint32_t i = 0; i < tables->n_states; i++) {
        struct wf_clog2_state *state = &tables->states[i];
        state->record = wf_records_name(tables->records, state->name);
        *wf_map_put(&tables->events, (uint32_t)state->begin) = (uint64_t)i * 2 + 1;
        if (state->end == (int64_t)state->begin + 1 &&
            wf_map_get(&tables->events, (uint32_t)state->end) == NULL) {
            *wf_map_put(&tables->events, (uint32_t)state->end) = (uint64_t)i * 2;
        }
    }
}

static void add_state(struct wf_clog2_tables *tables, const struct wf_clog2_record *record)
{
    WF_GROW(tables->states, tables->n_states, tables->states_capacity);
    struct wf_clog2_state *state = &tables->states[tables->n_states++];
    *state = (struct wf_clog2_state){.begin = record->values[1], .end = record->values[2]};
    memcpy(state->name, record->name, sizeof(state->name));
    set_role(state);
}

/* ---- communicators ---- */

const struct wf_clog2_comm *wf_clog2_comm(const struct wf_clog2_tables *tables, int32_t comm)
{
    const uint64_t *place = wf_map_get(&tables->numbers, (uint32_t)comm);

    return place != NULL ? &tables->comms[*place] : NULL;
}

uint32_t wf_clog2_rank(const struct wf_clog2_tables *tables, int32_t comm, int32_t rank)
{
    const struct wf_clog2_comm *of = wf_clog2_comm(tables, comm);

    return of != NULL && rank >= 0 && (uint32_t)rank < of->size ? of->members[rank]
                                                                : UINT32_MAX;
}

static void add_member(const struct wf_clog2_file *file, struct wf_clog2_tables *tables,
                       const struct wf_clog2_record *record)
{
    int32_t kind = record->values[0], rank = record->values[2], world = record->values[3];

    if (kind == COMM_FREE || kind == COMM_REMOTE || kind >= COMM_INTER) {
        return;
    }
    if (rank < 0 || (uint32_t)rank >= file->n_ranks || world < 0 ||
        (uint32_t)world >= file->n_ranks) {
        wf_trace_bad(&file->in.place,
                     "rank %d of a communicator is rank %d of the world, which has %u ranks",
                     (int)rank, (int)world, file->n_ranks);
        return;
    }
    WF_GROW(tables->members, tables->n_members, tables->members_capacity);
    tables->members[tables->n_members] =
        (struct wf_clog2_member){record->values[1], rank, (uint32_t)world, tables->n_members};
    tables->n_members++;
}

static int by_place(const void *a, const void *b)
{
    const struct wf_clog2_member *x = a, *y = b;

    return 4 * WF_ORDER(x->comm, y->comm) + 2 * WF_ORDER(x->rank, y->rank) +
           WF_ORDER(x->serial, y->serial);
}

/* Builds the communicators from their members. A communicator is cut at the first rank for
 * which the log has no process. */
static void gather_members(struct wf_clog2_tables *tables)
{
    WF_SORT(tables->members, tables->n_members, by_place);
    tables->comms = wf_xcalloc((size_t)tables->n_members + 1, sizeof(*tables->comms));
    for (uint32_t begin = 0, end; begin < tables->n_members; begin = end) {
        struct wf_clog2_comm *comm = &tables->comms[tables->n_comms++];

        for (end = begin; end < tables->n_members &&
                          tables->members[end].comm == tables->members[begin].comm;) {
            end++;
        }
        comm->number = tables->members[begin].comm;
        *wf_map_put(&tables->numbers, (uint32_t)comm->number) = tables->n_comms - 1;
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

/* ---- reading the tables ---- */

static void count(const struct wf_clog2_tables *tables, const struct wf_clog2_record *record)
{
    uint32_t rank = wf_clog2_rank(tables, record->comm, record->rank);
    bool begins = false;

    if (rank != UINT32_MAX && record->type == WF_CLOG2_MSGEVT) {
        bool sent = record->values[0] == WF_CLOG2_SEND;
        uint64_t bytes = record->values[4] > 0 ? (uint64_t)record->values[4] : 0;
        wf_records_add(tables->records, rank, sent ? tables->sent : tables->received, bytes);
    } else if (rank != UINT32_MAX && wf_clog2_is_event(record)) {
        const struct wf_clog2_state *state = wf_clog2_state(tables, record->values[0], &begins);
        if (begins) {
            wf_records_add(tables->records, rank, state->record, 0);
        }
    }
}

void wf_clog2_survey(struct wf_clog2_file *file, struct wf_clog2_tables *tables)
{
    struct wf_clog2_record record;

    while (wf_clog2_next(file, &record)) {
        if (record.type == WF_CLOG2_STATEDEF) {
            add_state(tables, &record);
        } else if (record.type == WF_CLOG2_COMMEVT) {
            add_member(file, tables, &record);
        }
    }
    gather_members(tables);
    const struct wf_clog2_comm *world = wf_clog2_comm(tables, WORLD);
    file->in.place.byte = 0;
    if (world == NULL || world->size != file->n_ranks) {
        wf_trace_bad(&file->in.place, "%u ranks, but the log has records of %u only",
                     file->n_ranks, world != NULL ? world->size : 0);
    }
    index_states(tables);
    tables->sent = wf_records_name(tables->records, "SENDMSG");
    tables->received = wf_records_name(tables->records, "RECVMSG");
    wf_clog2_rewind(file);
    while (wf_clog2_next(file, &record)) {
        count(tables, &record);
    }
}
