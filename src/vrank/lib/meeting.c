/* SPDX-License-Identifier: Apache-2.0 */
#include "vrank/lib/meeting.h"

#include "vrank/lib/data.h"
#include "vrank/lib/memory.h"

#include <stdlib.h>

struct wl_meeting {
    struct wl_meeting *next;
    uint32_t sequence;
    uint32_t n_gone;
    struct wl_part for_all;
    bool computing, computed;
    pthread_cond_t known;  /* what one of them computes */
    struct wl_part *parts; /* by member; made with the first */
    uint64_t *sums;        /* of them, if data is checked */
};

static void lock(struct wl_comm *comm)
{
    (void)pthread_mutex_lock(&comm->lock);
}

static void unlock(struct wl_comm *comm)
{
    (void)pthread_mutex_unlock(&comm->lock);
}

struct wl_meeting *wl_meeting_come(struct wl_comm *comm, uint32_t sequence)
{
    lock(comm);
    struct wl_meeting *meeting = comm->meetings;
    while (meeting != NULL && meeting->sequence != sequence) {
        meeting = meeting->next;
    }
    if (meeting == NULL) {
        meeting = wl_calloc(1, sizeof(*meeting));
        meeting->sequence = sequence;
        (void)pthread_cond_init(&meeting->known, NULL);
        meeting->next = comm->meetings;
        comm->meetings = meeting;
    }
    unlock(comm);
    return meeting;
}

static void meeting_free(const struct wl_comm *comm, struct wl_meeting *meeting)
{
    for (uint32_t i = 0; meeting->parts != NULL && i < comm->size; i++) {
        free(meeting->parts[i].bytes);
    }
    free(meeting->parts);
    free(meeting->sums);
    free(meeting->for_all.bytes);
    (void)pthread_cond_destroy(&meeting->known);
    free(meeting);
}

void wl_meeting_leave(struct wl_comm *comm, struct wl_meeting *meeting)
{
    lock(comm);
    bool last = ++meeting->n_gone == comm->size;
    if (last) {
        struct wl_meeting **at = &comm->meetings;
        while (*at != meeting) {
            at = &(*at)->next;
        }
        *at = meeting->next;
    }
    unlock(comm);
    if (last) {
        meeting_free(comm, meeting);
    }
}

void wl_meeting_bring(struct wl_comm *comm, struct wl_meeting *meeting, uint32_t member,
                      struct wl_part part)
{
    lock(comm);
    if (meeting->parts == NULL) {
        meeting->parts = wl_calloc(comm->size, sizeof(struct wl_part));
    }
    meeting->parts[member] = part;
    if (wl.port->checks_data) {
        if (meeting->sums == NULL) {
            meeting->sums = wl_calloc(comm->size, sizeof(uint64_t));
        }
        meeting->sums[member] = wl_data_sum(part.bytes, part.size);
    }
    unlock(comm);
}

void wl_meeting_bring_for_all(struct wl_comm *comm, struct wl_meeting *meeting,
                              struct wl_part part)
{
    lock(comm);
    meeting->for_all = part;
    meeting->computed = true;
    unlock(comm);
}

struct wl_part wl_meeting_part(struct wl_comm *comm, struct wl_meeting *meeting,
                               uint32_t member)
{
    lock(comm);
    struct wl_part part =
        meeting->parts != NULL ? meeting->parts[member] : (struct wl_part){.bytes = NULL};
    uint64_t sum = meeting->sums != NULL ? meeting->sums[member] : 0;
    unlock(comm);
    wl_data_check(part.bytes, part.size, sum);
    return part;
}

struct wl_part wl_meeting_for_all(struct wl_comm *comm, struct wl_meeting *meeting)
{
    lock(comm);
    struct wl_part part = meeting->for_all;
    unlock(comm);
    return part;
}

/* Computing takes long and may call the program's own functions: without the lock. */
struct wl_part wl_meeting_compute(struct wl_comm *comm, struct wl_meeting *meeting,
                                  struct wl_part (*make)(void *arg), void *arg)
{
    lock(comm);
    while (meeting->computing && !meeting->computed) {
        (void)pthread_cond_wait(&meeting->known, &comm->lock);
    }
    if (!meeting->computed) {
        meeting->computing = true;
        unlock(comm);
        struct wl_part made = make(arg);
        lock(comm);
        meeting->for_all = made;
        meeting->computed = true;
        (void)pthread_cond_broadcast(&meeting->known);
    }
    struct wl_part part = meeting->for_all;
    unlock(comm);
    return part;
}

void wl_meetings_free(struct wl_comm *comm)
{
    while (comm->meetings != NULL) {
        struct wl_meeting *next = comm->meetings->next;
        meeting_free(comm, comm->meetings);
        comm->meetings = next;
    }
}
