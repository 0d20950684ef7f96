/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/dumpi/comms.h"

#include "base/array.h"
#include "base/mem.h"
#include "program/trace/dumpi/walk.h"

#include <stdlib.h>
#include <string.h>

static uint32_t parent_place(uint32_t function)
{
    return function == WF_DUMPI_GRAPH_CREATE || function == WF_DUMPI_CART_SUB ? 1 : 0;
}

int64_t wf_dumpi_parent(const struct wf_dumpi_record *record)
{
    return record->values[parent_place(record->function)];
}

static bool makes_group(uint32_t function)
{
    return function >= WF_DUMPI_COMM_GROUP && function <= WF_DUMPI_GROUP_EXCL;
}

bool wf_dumpi_survey_skims(uint32_t function)
{
    const struct wf_dumpi_call *call = wf_dumpi_call(function);

    return !makes_group(function) && call->handle != wf_dumpi_on_comm &&
           !wf_dumpi_has_counts(call);
}

void wf_dumpi_comms_collect(struct wf_dumpi_comms *comms, uint32_t rank,
                            const struct wf_dumpi_record *record)
{
    struct wf_dumpi_events *all = &comms->events[rank];
    uint32_t created = record->n_values - 1, n = 0;

    if (!makes_group(record->function) &&
        wf_dumpi_call(record->function)->handle != wf_dumpi_on_comm) {
        return;
    }
    struct wf_dumpi_event event = {.function = (uint16_t)record->function,
                                   .parent = (int16_t)wf_dumpi_parent(record),
                                   .created = (int16_t)record->values[created],
                                   .result = WF_DUMPI_NO_COMM};
    for (uint32_t v = 0; v < created && n < WF_DUMPI_EVENT_VALUES; v++) {
        if (v != parent_place(record->function)) {
            event.values[n++] = (int32_t)record->values[v];
        }
    }
    if (record->n_arrays > 0 && record->arrays[0].n > 0) {
        event.n_list = record->arrays[0].n;
        event.list = wf_xcalloc(event.n_list, sizeof(*event.list));
        memcpy(event.list, record->arrays[0].items, event.n_list * sizeof(*event.list));
    }
    WF_PUSH(all->items, all->n, all->capacity, event);
}

uint32_t wf_dumpi_comms_created(const struct wf_dumpi_comms *comms, uint32_t rank,
                                uint32_t *next)
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
    (void)wf_dumpi_comms_add(comms, &(struct wf_dumpi_comm){.id = 0, .size = n_ranks});
    /* All ranks share one entry for MPI_COMM_SELF, in which each rank is alone. */
    (void)wf_dumpi_comms_add(comms, &(struct wf_dumpi_comm){.id = 1, .size = 1});
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
        free(comms->items[i].owned);
        free(comms->items[i].dims);
    }
    free(comms->events);
    free(comms->items);
    free(comms);
}

uint32_t wf_dumpi_comms_add(struct wf_dumpi_comms *comms, const struct wf_dumpi_comm *comm)
{
    WF_PUSH(comms->items, comms->n, comms->capacity, *comm);
    return comms->n - 1;
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
    return wf_group_of(comm->id, comm->size, comm->members, rank, out);
}
