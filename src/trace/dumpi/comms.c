/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/dumpi/comms.h"

#include "base/mem.h"
#include "trace/dumpi/calls.h"

#include <stdlib.h>
#include <string.h>

/* What a call has among its values and arrays. */
static const struct {
    uint32_t function;
    uint8_t parent, made; /* places among the values */
    bool makes_comm;
} calls[] = {
    {WF_DUMPI_COMM_GROUP, 0, 1, false},
    {WF_DUMPI_GROUP_UNION, 0, 2, false},
    {WF_DUMPI_GROUP_INTERSECTION, 0, 2, false},
    {WF_DUMPI_GROUP_DIFFERENCE, 0, 2, false},
    {WF_DUMPI_GROUP_INCL, 0, 2, false},
    {WF_DUMPI_GROUP_EXCL, 0, 2, false},
    {WF_DUMPI_COMM_DUP, 0, 1, true},
    {WF_DUMPI_COMM_CREATE, 0, 2, true},
    {WF_DUMPI_COMM_SPLIT, 0, 3, true},
    {WF_DUMPI_INTERCOMM_CREATE, 0, 5, true},
    {WF_DUMPI_INTERCOMM_MERGE, 0, 2, true},
    {WF_DUMPI_CART_CREATE, 0, 3, true},
    {WF_DUMPI_GRAPH_CREATE, 1, 4, true},
    {WF_DUMPI_CART_SUB, 1, 2, true},
};

enum { N_CALLS = sizeof(calls) / sizeof(calls[0]) };

static int find_call(const struct wf_dumpi_record *record)
{
    for (int i = 0; i < N_CALLS; i++) {
        if (calls[i].function == record->function && record->n_values > calls[i].made) {
            return i;
        }
    }
    return -1;
}

bool wf_dumpi_makes_comm(const struct wf_dumpi_record *record, int64_t *parent, int64_t *made)
{
    int i = find_call(record);

    if (i < 0 || !calls[i].makes_comm) {
        return false;
    }
    *parent = record->values[calls[i].parent];
    *made = record->values[calls[i].made];
    return true;
}

void wf_dumpi_comms_collect(struct wf_dumpi_comms *comms, uint32_t rank,
                            const struct wf_dumpi_record *record)
{
    int i = find_call(record);

    if (i < 0) {
        return;
    }
    struct wf_dumpi_events *all = &comms->events[rank];
    struct wf_dumpi_event event = {
        .function = (uint16_t)record->function,
        .parent = (int16_t)record->values[calls[i].parent],
        .made = (int16_t)record->values[calls[i].made],
        .result = WF_DUMPI_NO_COMM,
    };
    uint32_t n = 0;
    for (uint32_t v = 0; v < record->n_values && n < WF_DUMPI_EVENT_VALUES; v++) {
        if (v != calls[i].parent && v != calls[i].made) {
            event.values[n++] = (int32_t)record->values[v];
        }
    }
    if (record->n_arrays > 0 && record->arrays[0].n > 0) {
        event.n_list = record->arrays[0].n;
        event.list = wf_xcalloc(event.n_list, sizeof(*event.list));
        memcpy(event.list, record->arrays[0].items, event.n_list * sizeof(*event.list));
    }
    if (all->n == all->capacity) {
        all->capacity = all->capacity * 2 + 4;
        all->items = wf_xrealloc(all->items, all->capacity, sizeof(*all->items));
    }
    all->items[all->n++] = event;
}

uint32_t wf_dumpi_comms_made(const struct wf_dumpi_comms *comms, uint32_t rank, uint32_t *next)
{
    const struct wf_dumpi_events *all = &comms->events[rank];

    while (*next < all->n) {
        const struct wf_dumpi_event *event = &all->items[(*next)++];
        if (event->function >= WF_DUMPI_COMM_DUP) {
            return event->result;
        }
    }
    return WF_DUMPI_NO_COMM;
}

/* ---- the table ---- */

struct wf_dumpi_comms *wf_dumpi_comms_new(uint32_t n_ranks)
{
    struct wf_dumpi_comms *comms = wf_xcalloc(1, sizeof(*comms));

    comms->n_ranks = n_ranks;
    comms->events = wf_xcalloc(n_ranks, sizeof(*comms->events));
    (void)wf_dumpi_comms_add(comms, &(struct wf_dumpi_comm){.id = 0, .size = n_ranks}, NULL);
    /* That of a rank alone is the same for all, but for who is in it. */
    (void)wf_dumpi_comms_add(comms, &(struct wf_dumpi_comm){.id = 1, .size = 1}, NULL);
    comms->next_id = 2;
    return comms;
}

void wf_dumpi_comms_free(struct wf_dumpi_comms *comms)
{
    if (comms == NULL) {
        return;
    }
    for (uint32_t rank = 0; rank < comms->n_ranks; rank++) {
        for (uint32_t i = 0; i < comms->events[rank].n; i++) {
            free(comms->events[rank].items[i].list);
        }
        free(comms->events[rank].items);
    }
    for (uint32_t i = 0; i < comms->n; i++) {
        free(comms->owned[i]);
        free(wf_unconst(comms->items[i].dims));
    }
    free(comms->events);
    free(comms->items);
    free(comms->owned);
    free(comms->progress);
    free(comms);
}

uint32_t wf_dumpi_comms_add(struct wf_dumpi_comms *comms, const struct wf_dumpi_comm *comm,
                            uint32_t *owned)
{
    if (comms->n == comms->capacity) {
        comms->capacity = comms->capacity * 2 + 16;
        comms->items = wf_xrealloc(comms->items, comms->capacity, sizeof(*comms->items));
        comms->owned = wf_xrealloc(comms->owned, comms->capacity, sizeof(*comms->owned));
        comms->progress =
            wf_xrealloc(comms->progress, comms->capacity, sizeof(*comms->progress));
    }
    comms->items[comms->n] = *comm;
    comms->owned[comms->n] = owned;
    comms->progress[comms->n] = (struct wf_dumpi_progress){.n_arrived = 0};
    return comms->n++;
}

const struct wf_dumpi_comm *wf_dumpi_comms_at(const struct wf_dumpi_comms *comms, uint32_t i)
{
    return &comms->items[i];
}

bool wf_dumpi_comms_group(const struct wf_dumpi_comms *comms, uint32_t i, uint32_t rank,
                          struct wf_group *out)
{
    const struct wf_dumpi_comm *comm = &comms->items[i];

    *out = (struct wf_group){
        .id = comm->id, .size = comm->size, .rank = rank, .stride = 1, .width = comm->size};
    if (i == WF_DUMPI_SELF) {
        out->rank = 0;
        out->first = rank;
        return true;
    }
    if (comm->members == NULL) {
        return rank < comm->size;
    }
    out->members = comm->members;
    for (out->rank = 0; out->rank < comm->size; out->rank++) {
        if (comm->members[out->rank] == rank) {
            return true;
        }
    }
    return false;
}
