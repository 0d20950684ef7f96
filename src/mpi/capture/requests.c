/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/capture/requests.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 256 };

static uint32_t place_of(const struct wf_cap_requests *requests, uint64_t handle)
{
    return (uint32_t)((handle * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & requests->mask;
}

bool wf_cap_number_take(struct wf_cap_requests *requests, uint32_t *number)
{
    if (requests->n_free > 0) {
        *number = requests->free_numbers[--requests->n_free];
        return true;
    }
    /* free_numbers must be able to hold every number, so that giving one back cannot fail. */
    if (requests->next_number == requests->room) {
        uint32_t room = requests->room == 0 ? FIRST_CAPACITY : requests->room * 2;
        uint32_t *grown = realloc(requests->free_numbers, room * sizeof(*grown));
        if (grown == NULL) {
            return false;
        }
        requests->free_numbers = grown;
        requests->room = room;
    }
    *number = requests->next_number++;
    return true;
}

void wf_cap_number_give(struct wf_cap_requests *requests, uint32_t number)
{
    requests->free_numbers[requests->n_free++] = number;
}

static void add(struct wf_cap_requests *requests, const struct wf_cap_request *request)
{
    uint32_t at = place_of(requests, request->handle);

    while (requests->entries[at].handle != 0) {
        at = (at + 1) & requests->mask;
    }
    requests->entries[at] = *request;
    requests->n++;
}

static bool grow(struct wf_cap_requests *requests)
{
    uint32_t capacity = requests->entries == NULL ? FIRST_CAPACITY : (requests->mask + 1) * 2;
    struct wf_cap_requests larger = *requests;

    larger.entries = calloc(capacity, sizeof(*larger.entries));
    if (larger.entries == NULL) {
        return false;
    }
    larger.mask = capacity - 1;
    larger.n = 0;
    for (uint32_t i = 0; requests->entries != NULL && i <= requests->mask; i++) {
        if (requests->entries[i].handle != 0) {
            add(&larger, &requests->entries[i]);
        }
    }
    free(requests->entries);
    *requests = larger;
    return true;
}

bool wf_cap_requests_put(struct wf_cap_requests *requests, const struct wf_cap_request *request)
{
    if ((requests->entries == NULL || requests->n * 2 > requests->mask) && !grow(requests)) {
        return false;
    }
    add(requests, request);
    return true;
}

struct wf_cap_request *wf_cap_requests_find(const struct wf_cap_requests *requests,
                                            uint64_t handle)
{
    if (requests->n == 0) {
        return NULL;
    }
    for (uint32_t at = place_of(requests, handle); requests->entries[at].handle != 0;
         at = (at + 1) & requests->mask) {
        if (requests->entries[at].handle == handle) {
            return &requests->entries[at];
        }
    }
    return NULL;
}

/* Closes the gap at `hole` of the hash table with linear probing: later entries that were
 * displaced past it move up. */
static void close_gap(struct wf_cap_requests *requests, uint32_t hole)
{
    uint32_t at = hole;

    for (;;) {
        at = (at + 1) & requests->mask;
        if (requests->entries[at].handle == 0) {
            break;
        }
        uint32_t home = place_of(requests, requests->entries[at].handle);
        if (((at - home) & requests->mask) >= ((at - hole) & requests->mask)) {
            requests->entries[hole] = requests->entries[at];
            hole = at;
        }
    }
    requests->entries[hole].handle = 0;
}

bool wf_cap_requests_take(struct wf_cap_requests *requests, uint64_t handle,
                          struct wf_cap_request *out)
{
    struct wf_cap_request *found = wf_cap_requests_find(requests, handle);

    if (found == NULL) {
        return false;
    }
    *out = *found;
    requests->n--;
    close_gap(requests, (uint32_t)(found - requests->entries));
    return true;
}
