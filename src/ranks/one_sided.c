/* SPDX-License-Identifier: Apache-2.0 */
/* Puts and gets, and the wait for their end. */
#include "ranks/because.h"
#include "ranks/msg_header.h"

#include <string.h>

/* The rank goes on when the last of its puts and gets is over. */
static void end_flush(const struct wf_caller *who)
{
    struct wf_rank *rank = who->rank;

    if (rank->one_sided_at > rank->clock) {
        wf_cause_note(who, (struct wf_cause){.until = rank->one_sided_at,
                                             .since = rank->one_sided_since,
                                             .from = who->number,
                                             .why = WF_WHY_ONE_SIDED});
    }
    wf_rank_advance(who, rank->one_sided_at, WF_IN_SEND);
}

/* One of the packets with which the rank's own puts and gets end; it began then. */
static void end_one_sided(const struct wf_caller *who, int64_t since, int64_t at)
{
    struct wf_rank *rank = who->rank;

    if (rank->one_sided == 0) {
        return; /* only in a run that is taken back */
    }
    rank->one_sided--;
    if (at > rank->one_sided_at) {
        rank->one_sided_at = at;
        rank->one_sided_since = since;
    }
    if (rank->one_sided == 0 && rank->state == WF_RANK_WAITING && rank->flushing) {
        rank->flushing = 0;
        end_flush(who);
        wf_rank_wake(who);
    }
}

static void tell_remote(const struct wf_arrival *arrival)
{
    if (arrival->who.mpi->remote != NULL) {
        arrival->who.mpi->remote(arrival->who.mpi->arg, &arrival->who, arrival->from);
    }
}

/* The target's interface answers by itself. */
void wf_one_sided_put(const struct wf_arrival *arrival)
{
    struct wf_msg_header header = {.b = wf_msg_with_kind(WF_MSG_PUT_DONE, 0)};

    memcpy(header.c, arrival->header.c, sizeof(header.c));
    wf_arrival_note(arrival);
    tell_remote(arrival);
    (void)wf_msg_transmit(&arrival->who, arrival->from, &header,
                          arrival->who.mpi->params->control_bytes, arrival->at);
}

void wf_one_sided_get(const struct wf_arrival *arrival)
{
    struct wf_msg_header header = {.a = 0};
    uint64_t bytes;

    tell_remote(arrival);
    wf_msg_put_time(&header, WF_MSG_GET_DATA, wf_msg_get_time(&arrival->header, arrival->at));
    memcpy(&bytes, arrival->header.c, sizeof(bytes));
    memcpy(header.c, &arrival->at, sizeof(header.c));
    (void)wf_msg_transmit(&arrival->who, arrival->from, &header, bytes, arrival->at);
}

void wf_one_sided_put_done(const struct wf_arrival *arrival)
{
    int64_t since;

    memcpy(&since, arrival->header.c, sizeof(since));
    end_one_sided(&arrival->who, since, arrival->at);
}

void wf_one_sided_get_data(const struct wf_arrival *arrival)
{
    wf_arrival_note(arrival);
    end_one_sided(&arrival->who, wf_msg_get_time(&arrival->header, arrival->at), arrival->at);
}

enum wf_called wf_rank_put(const struct wf_caller *who, const struct wf_peer *to)
{
    struct wf_msg_header header = {.b = wf_msg_with_kind(WF_MSG_PUT, 0)};

    if (!who->mpi->runs_ahead && wf_rank_sync(who) == WF_CALLED_AGAIN) {
        return WF_CALLED_AGAIN;
    }
    who->rank->one_sided++;
    who->rank->sent_messages++;
    who->rank->sent_bytes = wf_count_add(who->rank->sent_bytes, to->bytes);
    memcpy(header.c, &who->rank->clock, sizeof(header.c));
    (void)wf_msg_transmit(who, to->rank, &header, to->bytes, who->rank->clock);
    return WF_CALLED_DONE;
}

enum wf_called wf_rank_get(const struct wf_caller *who, const struct wf_peer *from)
{
    struct wf_msg_header header = {.a = 0};

    if (!who->mpi->runs_ahead && wf_rank_sync(who) == WF_CALLED_AGAIN) {
        return WF_CALLED_AGAIN;
    }
    who->rank->one_sided++;
    who->rank->sent_messages++;
    who->rank->sent_bytes = wf_count_add(who->rank->sent_bytes, from->bytes);
    wf_msg_put_time(&header, WF_MSG_GET, who->rank->clock);
    memcpy(header.c, &from->bytes, sizeof(header.c));
    (void)wf_msg_transmit(who, from->rank, &header, who->mpi->params->control_bytes,
                          who->rank->clock);
    return WF_CALLED_DONE;
}

enum wf_called wf_rank_flush(const struct wf_caller *who)
{
    struct wf_rank *rank = who->rank;

    if (rank->one_sided > 0) {
        rank->flushing = 1;
        rank->state = WF_RANK_WAITING;
        return WF_CALLED_BLOCKED;
    }
    end_flush(who);
    return WF_CALLED_DONE;
}
