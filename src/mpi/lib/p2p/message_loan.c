/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/lib/p2p/message_loan.h"

#include "mpi/lib/memory.h"
#include "mpi/lib/p2p/payload.h"

#include <sched.h>
#include <string.h>

bool wl_loan_is_possible(const struct wl_rank *rank, const struct wl_type *type,
                         const void *buffer, size_t count)
{
    return type->contiguous && count * type->size >= WL_LOAN_MIN &&
           wl_payload_wanted(count * type->size) &&
           !wl.port->is_swapped(rank->self, buffer, count * type->size);
}

struct wl_message *wl_loan_new(const void *buffer, size_t bytes, uint32_t to)
{
    struct wl_message *message = wl_message_new(0);

    message->whole = message->size = bytes;
    message->data = buffer;
    message->to = to;
    message->state = WL_DATA_LENT;
    message->holders = 2;
    return message;
}

/* ---- who copies ---- */

static void set_state(struct wl_message *message, enum wl_data_state state)
{
    atomic_store_explicit(&message->state, (unsigned char)state, memory_order_release);
}

/* Waits until nobody copies the data. If it is lent then, the caller copies it: it becomes
 * WL_DATA_MOVING. Returns the state before that. */
static enum wl_data_state claim(struct wl_message *message)
{
    for (;;) {
        unsigned char state = atomic_load_explicit(&message->state, memory_order_acquire);

        if (state == WL_DATA_MOVING) {
            (void)sched_yield();
        } else if (state != WL_DATA_LENT ||
                   atomic_compare_exchange_strong(&message->state, &state, WL_DATA_MOVING)) {
            return (enum wl_data_state)state;
        }
    }
}

/* The buffer of the receive that gets this message, if that is known; or null. */
static void *find_landing(struct wl_message *message)
{
    const struct wl_stream stream = {message->context, message->source, message->tag};
    struct wl_recv *recv = NULL;
    void *buffer = NULL;

    wl_message_queue_lock(wl.queues, message->to);
    const struct wl_rank *receiver = wl_message_queue_shown(wl.queues, message->to);
    uint32_t place = receiver != NULL ? wl_message_queue_place(wl.queues, message) : UINT32_MAX;
    if (place != UINT32_MAX) {
        recv = wl_recv_at(receiver, &stream, place);
    }
    if (recv != NULL && recv->lands && message->whole <= recv->count * recv->type->size) {
        recv->landed = message;
        buffer = recv->buffer;
    }
    wl_message_queue_unlock(wl.queues, message->to);
    return buffer;
}

static void check(const struct wl_message *message, const unsigned char *data)
{
    wl_payload_check(data, message->size, message->checksum);
}

void wl_loan_end(struct wl_message **loan)
{
    struct wl_message *message = *loan;

    if (message == NULL) {
        return;
    }
    *loan = NULL;
    if (claim(message) == WL_DATA_LENT) {
        check(message, message->data);
        void *landing = find_landing(message);
        if (landing != NULL) {
            memcpy(landing, message->data, message->size);
            set_state(message, WL_DATA_DONE);
        } else {
            message->data = memcpy(wl_malloc(message->size), message->data, message->size);
            set_state(message, WL_DATA_HERE);
        }
    }
    wl_message_free(message);
}

void wl_loan_deliver(struct wl_message *message, const struct wl_recv *recv, size_t bytes)
{
    enum wl_data_state state = claim(message);

    if (state == WL_DATA_DONE) {
        check(message, recv->buffer);
        return;
    }
    check(message, message->data);
    wl_unpack_bytes(recv->type, message->data, bytes, recv->buffer);
    if (state == WL_DATA_LENT) {
        set_state(message, WL_DATA_DONE);
    }
}

void wl_landing_wait(const struct wl_recv *recv)
{
    while (recv->landed != NULL &&
           atomic_load_explicit(&recv->landed->state, memory_order_acquire) == WL_DATA_MOVING) {
        (void)sched_yield();
    }
}

void wl_landing_undo(struct wl_recv *recv)
{
    struct wl_message *message = recv->landed;

    if (message != NULL) {
        wl_landing_wait(recv);
        message->data = memcpy(wl_malloc(message->size), recv->buffer, message->size);
        set_state(message, WL_DATA_HERE);
        recv->landed = NULL;
    }
}
