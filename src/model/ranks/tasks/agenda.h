/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What hosts are to do, by time and then by the order in which it was added. An item either
 * comes up alone, at its time. Or it waits in a queue, with all items of the same kind for the
 * same CPU and network interface (NIC) of a host: they come up one by one, in their order, and
 * if the first must wait longer, all must. So an attempt costs the same whether one item waits
 * or thousands.
 *
 * A call takes a time logarithmic in the number of items. The agenda owns the items, 80 bytes
 * each, until wf_agenda_drop().
 */

#include <stdbool.h>
#include <stdint.h>

struct wf_agenda_item {
    int64_t time;
    uint64_t order; /* set by wf_agenda_add() */
    uint32_t host;
    uint8_t kind, cpu, nic;
    bool is_last; /* the agenda does not use this and what follows, down to n_after_end */
    uint32_t peer, tag;
    uint64_t step, bytes;
    int64_t duration;
    uint32_t task, n_after_start, n_after_end;
    uint32_t left, right; /* of a queue, or next free item */
};

struct wf_agenda;

struct wf_agenda *wf_agenda_new(uint32_t n_hosts);
void wf_agenda_free(struct wf_agenda *agenda); /* null is allowed */

/* Adds a copy, which is on no list yet. Returns its number, which is never 0. */
uint32_t wf_agenda_add(struct wf_agenda *agenda, const struct wf_agenda_item *item);
/* Valid until the next wf_agenda_add(). */
struct wf_agenda_item *wf_agenda_item(const struct wf_agenda *agenda, uint32_t number);
void wf_agenda_drop(struct wf_agenda *agenda, uint32_t number);
/* Numbers of items are below this. Those that were dropped have the host UINT32_MAX. */
uint32_t wf_agenda_numbers(const struct wf_agenda *agenda);

/* The item comes up at its time, alone or in its queue. */
void wf_agenda_at(struct wf_agenda *agenda, uint32_t number);
void wf_agenda_wait(struct wf_agenda *agenda, uint32_t number);

/* When the first item comes up; false if there is none. */
bool wf_agenda_time(struct wf_agenda *agenda, int64_t *time);
/* The first item, with its time; one of the next two calls must follow. 0 if there is none. */
uint32_t wf_agenda_next(struct wf_agenda *agenda);
/* Takes that item off the agenda. The others of its queue come up at the same time. */
void wf_agenda_take(struct wf_agenda *agenda);
/* Puts it off until a later time, together with its queue; an item that came alone joins its
 * queue. */
void wf_agenda_delay(struct wf_agenda *agenda, int64_t until);
