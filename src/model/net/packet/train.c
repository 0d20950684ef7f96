/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trains at a port.
 *
 * A train whose packets have the port to themselves is sent on as a whole when its first
 * packet arrives, as if no other packet could come between them. If another packet does
 * come, the packets of the train that arrived before it stay as they are. The next vertex is
 * told that the train ends there. It is told at the very time at which the first missing
 * packet would have arrived. The rest of the train is served packet by packet. This is never
 * too late: an affected packet arrives here now or later, and leaves later still.
 *
 * Packets that are served singly get an event one picosecond after their arrival, when all
 * packets that arrived together are known. The model's promise is therefore one picosecond
 * less than the least delay. A train that has been undisturbed for a while is sent on as a
 * whole again.
 */
#include "model/net/packet/hop.h"

enum { CALM_SHIFT_MAX = 6 };

static struct wf_packet_train *edit(const struct wf_packet_view *view, uint32_t cell)
{
    return wf_cell_edit(view->ctx, cell);
}

uint64_t wf_packet_train_before(const struct wf_packet_train *train, const struct wf_key *key)
{
    bool tie =
        key->delta > 0 || train->src < wf_packet_source_of(key); /* the train comes first */

    if (key->time < train->at || (key->time == train->at && !tie)) {
        return 0;
    }
    uint64_t elapsed = (uint64_t)(key->time - train->at), spacing = (uint64_t)train->spacing;
    if (elapsed >= spacing * (train->left - 1)) { /* all have arrived, or all but the last */
        bool all = elapsed > spacing * (train->left - 1) || tie;
        return all ? train->left : train->left - 1;
    }
    return elapsed / spacing + (elapsed % spacing != 0 || tie ? 1 : 0);
}

static int64_t out_spacing(const struct wf_packet_train *train,
                           const struct wf_packet_outlet *outlet)
{
    return train->queued ? outlet->full_ps : train->spacing;
}

static void advance(struct wf_packet_train *train, uint64_t n)
{
    train->at += (int64_t)n * train->spacing;
    train->first += n;
    train->left -= n;
}

/* Settles the next `n` packets of the train, which were all sent on earlier. */
static void pass(const struct wf_packet_view *view, const struct wf_packet_outlet *outlet,
                 struct wf_packet_train *train, uint64_t n)
{
    int64_t spacing = out_spacing(train, outlet);
    int64_t last = train->out + (int64_t)(n - 1) * spacing;

    if (view->stats != NULL) {
        wf_packet_stats_count(
            view, outlet->number,
            &(struct wf_packet_served){.n = n,
                                       .bytes = n * view->model->links.full_bytes,
                                       .duration = (int64_t)n * outlet->full_ps,
                                       .wait = train->out - train->at - outlet->delay,
                                       .step = spacing - train->spacing,
                                       .at = train->out,
                                       .spacing = spacing,
                                       .node = train->head.src});
    }

    outlet->port->free = last + outlet->full_ps;
    train->out = last + spacing;
    train->ahead -= n;
    advance(train, n);
}

/* Sends on the next packet of the train alone. */
static void send_one(const struct wf_packet_view *view, const struct wf_packet_outlet *outlet,
                     struct wf_packet_train *train)
{
    const struct wf_packet_run run = {.head = train->head, .first = train->first, .count = 1};

    wf_packet_emit(view, outlet, &run,
                   wf_packet_serve(view, outlet, &run, wf_time_add(train->at, outlet->delay), 0,
                                   WF_PACKET_ALL));
    train->calm = (uint8_t)(train->calm + (train->calm < UINT8_MAX ? 1 : 0));
    advance(train, 1);
}

/* Sends on the next packet of the train, which has the port to itself, with as many others as
 * follow at one spacing. */
static void send_all(const struct wf_packet_view *view, const struct wf_packet_outlet *outlet,
                     struct wf_packet_train *train)
{
    int64_t ready = train->at + outlet->delay, full = outlet->full_ps;
    int64_t start = ready > outlet->port->free ? ready : outlet->port->free;
    int64_t backlog = start - ready, gap = train->spacing - full;

    train->queued = gap <= 0 || backlog > 0;
    train->out = start;
    train->ahead = train->left;
    if (gap > 0 && backlog > 0 && (uint64_t)(backlog / gap) < train->left - 1) {
        train->ahead = (uint64_t)(backlog / gap) + 1;
    }

    const struct wf_packet_run run = {.head = train->head,
                                      .first = train->first,
                                      .count = train->ahead,
                                      .spacing = out_spacing(train, outlet)};
    wf_packet_emit(view, outlet, &run, start);
    pass(view, outlet, train, 1);
}

void wf_packet_train_drop(const struct wf_packet_view *view, struct wf_packet_port *port,
                          uint32_t before)
{
    uint32_t *link = before == 0 ? &port->trains : &edit(view, before)->next;
    uint32_t cell = *link;
    const struct wf_packet_train *train = wf_cell_read(view->ctx, cell);

    *link = train->next;
    if (before == 0 && train->next != 0) {
        edit(view, train->next)->service = train->service;
    }
    wf_cell_free(view->ctx, cell);
}

uint32_t wf_packet_train_next(const struct wf_packet_view *view,
                              const struct wf_packet_port *port, uint32_t *before)
{
    uint32_t best = 0, prev = 0;
    const struct wf_packet_train *least = NULL;

    for (uint32_t cell = port->trains; cell != 0;) {
        const struct wf_packet_train *train = wf_cell_read(view->ctx, cell);
        if (least == NULL || train->at < least->at ||
            (train->at == least->at && train->src < least->src)) {
            least = train;
            best = cell;
            *before = prev;
        }
        prev = cell;
        cell = train->next;
    }
    return best;
}

/* Serves all packets that come before the current event. */
static void settle_port(const struct wf_packet_view *view,
                        const struct wf_packet_outlet *outlet)
{
    struct wf_packet_port *port = outlet->port;

    while (port->trains != 0) {
        uint32_t before = 0, cell = wf_packet_train_next(view, port, &before);
        const struct wf_packet_train *train = wf_cell_read(view->ctx, cell);
        uint64_t due = wf_packet_train_before(train, &view->key);

        if (due == 0) {
            return;
        }

        struct wf_packet_train *own = edit(view, cell);
        if (own->ahead > 0) { /* it is the only train */
            pass(view, outlet, own, due < own->ahead ? due : own->ahead);
        } else {
            send_one(view, outlet, own);
        }
        if (own->left == 0) {
            wf_packet_train_drop(view, port, before);
        }
    }
}

/* The arrival of the first packet that was not sent on; WF_TIME_MAX if there is none. */
static int64_t next_unsent(const struct wf_packet_view *view, const struct wf_packet_port *port)
{
    int64_t least = WF_TIME_MAX;

    for (uint32_t cell = port->trains; cell != 0;) {
        const struct wf_packet_train *train = wf_cell_read(view->ctx, cell);
        int64_t at = train->at + (int64_t)train->ahead * train->spacing;

        if (train->ahead < train->left && at < least) {
            least = at;
        }
        cell = train->next;
    }
    return least;
}

static void plan_service(const struct wf_packet_view *view,
                         const struct wf_packet_outlet *outlet)
{
    struct wf_packet_port *port = outlet->port;
    int64_t at = next_unsent(view, port);
    uint64_t number = outlet->number;

    if (at == WF_TIME_MAX) {
        return;
    }
    int64_t planned =
        ((const struct wf_packet_train *)wf_cell_read(view->ctx, port->trains))->service;
    if (planned != 0 && planned <= at + 1) {
        return;
    }
    edit(view, port->trains)->service = at + 1;
    wf_packet_schedule_own(view, at + 1 - wf_now(view->ctx), WF_PACKET_SERVICE, &number,
                           sizeof(number));
}

/* Takes back the packets that were sent on and have not arrived here yet. */
static void take_back(const struct wf_packet_view *view, const struct wf_packet_outlet *outlet,
                      struct wf_packet_train *train)
{
    const struct wf_packet_run end = {.head = train->head,
                                      .first = train->first,
                                      .count = train->ahead,
                                      .is_cut = true,
                                      .spacing = out_spacing(train, outlet)};

    wf_packet_emit(view, outlet, &end, train->out);
    train->ahead = 0;
    train->cuts = (uint8_t)(train->cuts + (train->cuts < CALM_SHIFT_MAX ? 1 : 0));
}

/* Whether all packets have arrived by now. */
static bool is_whole(const struct wf_packet_run *run)
{
    return run->count == 1 || run->spacing == 0;
}

static int64_t duration_of(const struct wf_packet_view *view,
                           const struct wf_packet_outlet *outlet,
                           const struct wf_packet_run *run)
{
    return run->count == 1 ? wf_packet_run_ps(view->model, run, outlet->kind)
                           : (int64_t)run->count * outlet->full_ps;
}

/* Whether the packets that come between those of a train leave the train undisturbed: they
 * leave before its next packet has to. */
static bool fits(const struct wf_packet_view *view, const struct wf_packet_outlet *outlet,
                 const struct wf_packet_run *run)
{
    const struct wf_packet_train *train = wf_cell_read(view->ctx, outlet->port->trains);
    int64_t ready = wf_time_add(view->key.time, outlet->delay);
    int64_t start = ready > outlet->port->free ? ready : outlet->port->free;

    return is_whole(run) && train->ahead > 0 &&
           wf_time_add(start, duration_of(view, outlet, run)) <= train->out;
}

/* Sends on packets that have all arrived, as fast as the port can. */
static void send_whole(const struct wf_packet_view *view, const struct wf_packet_outlet *outlet,
                       const struct wf_packet_run *run)
{
    struct wf_packet_run out = *run;
    int64_t ready = wf_time_add(view->key.time, outlet->delay);

    out.spacing = outlet->full_ps;
    wf_packet_emit(view, outlet, &out,
                   wf_packet_serve(view, outlet, run, ready, 0, WF_PACKET_ALL));
}

static void disturb(const struct wf_packet_view *view, const struct wf_packet_outlet *outlet)
{
    for (uint32_t cell = outlet->port->trains; cell != 0;) {
        struct wf_packet_train *train = edit(view, cell);

        train->calm = 0;
        if (train->ahead > 0) {
            take_back(view, outlet, train);
        }
        cell = train->next;
    }
}

struct wf_packet_train *wf_packet_train_add(const struct wf_packet_view *view,
                                            struct wf_packet_port *port,
                                            const struct wf_packet_run *run)
{
    uint32_t cell = wf_cell_new_for(view->ctx, sizeof(struct wf_packet_train));
    struct wf_packet_train *train = edit(view, cell);
    const struct wf_packet_train *head =
        port->trains == 0
            ? NULL
            : (const struct wf_packet_train *)wf_cell_read(view->ctx, port->trains);

    /* Member by member: as one assignment, all would be set to zero first, which takes longer. */
    train->next = port->trains;
    train->queued = false;
    train->cuts = train->calm = train->spare = 0;
    train->src = run->from;
    train->service = head != NULL ? head->service : 0;
    train->at = view->key.time;
    train->spacing = run->spacing;
    train->first = run->first;
    train->left = run->count;
    train->ahead = 0;
    train->out = 0;
    train->head = run->head;
    port->trains = cell;
    return train;
}

static void join_trains(const struct wf_packet_view *view,
                        const struct wf_packet_outlet *outlet, const struct wf_packet_run *run)
{
    struct wf_packet_port *port = outlet->port;
    bool alone = port->trains == 0;

    if (!alone && !fits(view, outlet, run)) {
        disturb(view, outlet);
    }
    if (!is_whole(run)) {
        struct wf_packet_train *train = wf_packet_train_add(view, port, run);
        if (alone) {
            send_all(view, outlet, train);
        } else {
            train->cuts = 1;
            send_one(view, outlet, train);
        }
    } else {
        send_whole(view, outlet, run);
    }
    plan_service(view, outlet);
}

bool wf_packet_train_takes(const struct wf_packet_view *view,
                           const struct wf_packet_outlet *outlet,
                           const struct wf_packet_run *run)
{
    settle_port(view, outlet);
    if (outlet->port->trains == 0 && run->count == 1) {
        return false;
    }
    join_trains(view, outlet, run);
    return true;
}

static void end_train(const struct wf_packet_view *view, const struct wf_packet_outlet *outlet)
{
    uint32_t before = 0;

    for (uint32_t cell = outlet->port->trains; cell != 0;) {
        const struct wf_packet_train *train = wf_cell_read(view->ctx, cell);
        if (train->src == wf_packet_source_of(&view->key)) {
            if (train->ahead > 0) {
                take_back(view, outlet, edit(view, cell));
            }
            wf_packet_train_drop(view, outlet->port, before);
            return;
        }
        before = cell;
        cell = train->next;
    }
}

int64_t wf_packet_train_free(const struct wf_packet_view *view, uint32_t number)
{
    struct wf_packet_port *port = &view->ports[number];
    const struct wf_packet_outlet outlet = wf_packet_outlet_at(view, number);
    const struct wf_packet_train *train = wf_cell_read(view->ctx, port->trains);

    if (train->ahead > 0) { /* nearly always; nothing has to change then */
        uint64_t due = wf_packet_train_before(train, &view->key);
        if (due <= train->ahead) {
            return due == 0 ? port->free
                            : train->out + (int64_t)(due - 1) * out_spacing(train, &outlet) +
                                  outlet.full_ps;
        }
    }
    wf_touch(view->ctx, port, sizeof(*port));
    settle_port(view, &outlet);
    return port->free;
}

void wf_packet_cut(const struct wf_packet_view *view, struct wf_packet_run *run)
{
    if (run->head.dst == view->vertex) {
        wf_packet_deliver_cut(view);
        return;
    }

    struct wf_packet_outlet outlet = wf_packet_route(view, run, WF_PACKET_ALL);
    wf_touch(view->ctx, outlet.port, sizeof(*outlet.port));
    settle_port(view, &outlet);
    end_train(view, &outlet);
}

/* Whether a train has been undisturbed for long enough. The required time grows with the
 * number of disturbances. */
static bool is_calm(const struct wf_packet_train *train)
{
    return train->calm >= (train->cuts == 0 ? 0 : 1U << train->cuts);
}

void wf_packet_train_service(const struct wf_packet_view *view, uint32_t number)
{
    struct wf_packet_port *port = &view->ports[number];

    if (port->trains == 0 ||
        ((const struct wf_packet_train *)wf_cell_read(view->ctx, port->trains))->service !=
            view->key.time) {
        return; /* void: the trains are gone, or an earlier event has served them */
    }

    const struct wf_packet_outlet outlet = wf_packet_outlet_at(view, number);
    struct wf_packet_view just_before = *view;

    struct wf_packet_train *train = edit(view, port->trains);

    wf_touch(view->ctx, port, sizeof(*port));
    just_before.key.delta = 0; /* packets of this instant do not count yet */
    just_before.key.src = 0;
    just_before.key.seq = 0;
    train->service = 0;
    uint64_t due = wf_packet_train_before(train, &just_before.key);
    if (train->next == 0 && due > 0 && train->ahead == due - 1 && is_calm(train)) {
        if (train->ahead > 0) {
            pass(view, &outlet, train, train->ahead);
        }
        send_all(&just_before, &outlet, train);
        if (train->left == 0) {
            wf_packet_train_drop(view, port, 0);
        }
    } else {
        settle_port(&just_before, &outlet);
    }
    plan_service(view, &outlet);
}
