/* SPDX-License-Identifier: Apache-2.0 */
/* Puts and gets, and the wait for their completion. */
#include "model/ranks/msg_header.h"

/* The upper bits of a time that is stored in 60 bits... */
#define TIME_HIGH(time) ((uint32_t)((uint64_t)(time) >> 32) & WF_MSG_LOW_MASK)

/* ...and the time itself: the latest time before `now` with these bits. */
static int64_t time_of(uint32_t low, uint32_t high, int64_t now)
{
    const uint64_t mask = (UINT64_C(1) << (32 + WF_MSG_LOW_BITS)) - 1;
    uint64_t since = ((uint64_t)now - ((uint64_t)high << 32 | low)) & mask;

    return now - (int64_t)since;
}

/* The rank continues when the last of its puts and gets is complete. */
static void end_flush(const struct wf_caller *who)
{
    const struct wf_rank_cold *cold = wf_rank_cold(who);

    if (cold->one_sided_at > who->rank->clock) {
        wf_cause_note(who, (struct wf_cause){.until = cold->one_sided_at,
                                             .since = cold->one_sided_since,
                                             .from = who->number,
                                             .why = WF_WHY_ONE_SIDED});
    }
    wf_rank_advance(who, cold->one_sided_at, WF_IN_SEND);
}

/* A put or get of the rank, which began at `since`, is complete. */
static void complete_one_sided(const struct wf_caller *who, int64_t since, int64_t at)
{
    struct wf_rank *rank = who->rank;

    if (wf_rank_cold(who)->one_sided == 0) {
        return; /* only in a run that is rolled back */
    }
    struct wf_rank_cold *cold = wf_rank_cold_edit(who);

    cold->one_sided--;
    if (at > cold->one_sided_at) {
        cold->one_sided_at = at;
        cold->one_sided_since = since;
    }
    if (cold->one_sided == 0 && rank->state == WF_RANK_WAITING &&
        rank->waits_for == WF_WAITS_FOR_FLUSH) {
        rank->waits_for = WF_WAITS_FOR_ALL;
        end_flush(who);
        wf_rank_wake(who);
        return;
    }
    wf_rank_cold_release(who);
}

static void tell_remote(const struct wf_arrival *arrival)
{
    if (arrival->who.ranks->live != NULL) {
        wf_live_remote(&arrival->who, arrival->from);
    }
}

/* The target's network interface answers without the target's CPU. */
void wf_one_sided_put(const struct wf_arrival *arrival)
{
    int64_t departure = arrival->header->put.departure;
    struct wf_msg_header header = {.put = {.kind = WF_MSG_PUT_DONE, .departure = departure}};

    wf_arrival_note(arrival, departure);
    tell_remote(arrival);
    (void)wf_msg_transmit(&arrival->who, arrival->from, &header,
                          arrival->who.ranks->mpi->control_bytes, arrival->at);
}

void wf_one_sided_get(const struct wf_arrival *arrival)
{
    int64_t begin =
        time_of(arrival->header->get.begin_low, arrival->header->get.begin_high, arrival->at);
    struct wf_msg_header header = {.get_data = {.begin_low = (uint32_t)begin,
                                                .begin_high = TIME_HIGH(begin),
                                                .kind = WF_MSG_GET_DATA,
                                                .departure = arrival->at}};

    tell_remote(arrival);
    (void)wf_msg_transmit(&arrival->who, arrival->from, &header, arrival->header->get.bytes,
                          arrival->at);
}

void wf_one_sided_put_done(const struct wf_arrival *arrival)
{
    complete_one_sided(&arrival->who, arrival->header->put.departure, arrival->at);
}

void wf_one_sided_get_data(const struct wf_arrival *arrival)
{
    const struct wf_msg_header *header = arrival->header;

    wf_arrival_note(arrival, header->get_data.departure);
    complete_one_sided(
        &arrival->who,
        time_of(header->get_data.begin_low, header->get_data.begin_high, arrival->at),
        arrival->at);
}

/* Charges and counts a put or get that begins. False if the rank has to wait for the engine's
 * time. */
static bool begin_one_sided(const struct wf_caller *who, uint64_t bytes)
{
    if (who->rank->overhead_paid == 0) {
        wf_rank_charge(who, who->ranks->costs.o_one_sided);
    }
    if (who->ranks->pace != WF_PACE_AHEAD && wf_rank_sync(who) == WF_CALLED_AGAIN) {
        who->rank->overhead_paid = 1;
        return false;
    }
    who->rank->overhead_paid = 0;
    wf_rank_cold_edit(who)->one_sided++;
    who->rank->sent_messages++;
    who->rank->sent_bytes = wf_count_add(who->rank->sent_bytes, bytes);
    return true;
}

enum wf_called wf_rank_put(const struct wf_caller *who, const struct wf_peer *to)
{
    if (!begin_one_sided(who, to->bytes)) {
        return WF_CALLED_AGAIN;
    }
    int64_t clock = who->rank->clock;
    struct wf_msg_header header = {.put = {.kind = WF_MSG_PUT, .departure = clock}};

    (void)wf_msg_transmit(who, to->rank, &header, to->bytes, clock);
    return WF_CALLED_DONE;
}

enum wf_called wf_rank_get(const struct wf_caller *who, const struct wf_peer *from)
{
    if (!begin_one_sided(who, from->bytes)) {
        return WF_CALLED_AGAIN;
    }
    int64_t clock = who->rank->clock;
    struct wf_msg_header header = {.get = {.begin_low = (uint32_t)clock,
                                           .begin_high = TIME_HIGH(clock),
                                           .kind = WF_MSG_GET,
                                           .bytes = from->bytes}};

    (void)wf_msg_transmit(who, from->rank, &header, who->ranks->mpi->control_bytes, clock);
    return WF_CALLED_DONE;
}

enum wf_called wf_rank_flush(const struct wf_caller *who)
{
    struct wf_rank *rank = who->rank;

    if (wf_rank_cold(who)->one_sided > 0) {
        rank->waits_for = WF_WAITS_FOR_FLUSH;
        rank->state = WF_RANK_WAITING;
        return WF_CALLED_BLOCKED;
    }
    end_flush(who);
    return WF_CALLED_DONE;
}
