/* SPDX-License-Identifier: Apache-2.0 */
/* Requests, and the list of posted receives. */
#include "mpi/lib/p2p/request.h"

#include "mpi/lib/checker/checker.h"
#include "mpi/lib/checker/orders.h"
#include "mpi/lib/errors.h"
#include "mpi/lib/memory.h"
#include "mpi/lib/p2p/message_loan.h"
#include "mpi/lib/p2p/payload.h"
#include "mpi/lib/p2p/request_compound.h"

#include <stdlib.h>

/* ---- numbers of requests in ops ---- */

uint32_t wl_number_new(struct wl_rank *rank)
{
    for (uint32_t word = 0;; word++) {
        if (word == rank->n_number_words) {
            rank->numbers_used = wl_realloc(rank->numbers_used, word + (size_t)1, 8);
            rank->numbers_used[word] = 0;
            rank->n_number_words++;
        }
        if (rank->numbers_used[word] != UINT64_MAX) {
            uint32_t bit = (uint32_t)__builtin_ctzll(~rank->numbers_used[word]);
            rank->numbers_used[word] |= UINT64_C(1) << bit;
            return 64 * word + bit;
        }
    }
}

void wl_number_free(struct wl_rank *rank, uint32_t number)
{
    rank->numbers_used[number / 64] &= ~(UINT64_C(1) << number % 64);
}

/* ---- receives ---- */

/* Other threads look at receives only once the rank shows them. */
static void lock(const struct wl_rank *rank)
{
    if (rank->shows_receives) {
        wl_message_queue_lock(wl.queues, rank->self->rank);
    }
}

static void unlock(const struct wl_rank *rank)
{
    if (rank->shows_receives) {
        wl_message_queue_unlock(wl.queues, rank->self->rank);
    }
}

static void link_recv(struct wl_rank *rank, struct wl_recv *recv)
{
    recv->matched = false;
    recv->taken = NULL;
    recv->next = NULL;
    recv->before = rank->last_recv;
    if (rank->last_recv != NULL) {
        rank->last_recv->next = recv;
    } else {
        rank->first_recv = recv;
    }
    rank->last_recv = recv;
}

void wl_recv_post(struct wl_rank *rank, struct wl_recv *recv)
{
    if (recv->lands && !rank->shows_receives) {
        rank->shows_receives = true;
        wl_message_queue_show(wl.queues, rank->self->rank, rank);
    }
    if (wl_orders()) {
        wl_order_posts(rank, recv);
    }
    lock(rank);
    link_recv(rank, recv);
    unlock(rank);
}

static void unlink_recv(struct wl_rank *rank, struct wl_recv *recv)
{
    if (rank->next_match == recv) {
        rank->next_match = recv->next;
    }
    if (recv->before != NULL) {
        recv->before->next = recv->next;
    } else {
        rank->first_recv = recv->next;
    }
    if (recv->next != NULL) {
        recv->next->before = recv->before;
    } else {
        rank->last_recv = recv->before;
    }
}

static bool takes_from(const struct wl_recv *recv, const struct wl_stream *stream)
{
    return ((!recv->any_source && !recv->any_tag) || recv->matched) && recv->taken == NULL &&
           recv->stream.context == stream->context && recv->stream.source == stream->source &&
           recv->stream.tag == stream->tag;
}

uint32_t wl_recv_count_before(const struct wl_rank *rank, const struct wl_stream *stream)
{
    uint32_t n = 0;

    for (const struct wl_recv *at = rank->first_recv; at != NULL; at = at->next) {
        n += takes_from(at, stream);
    }
    return n;
}

/* Takes the message of a complete receive from the queue, and the receive from the list: whoever counts both
 * meanwhile finds them in step. The receives of its stream before it take theirs, too, which have come, so
 * that a program that waits in reverse order looks at them once. If there is one message, it is its own. */
static struct wl_message *take_message(struct wl_rank *rank, struct wl_recv *recv)
{
    uint32_t own = rank->self->rank;
    const struct wl_stream *stream = &recv->stream;
    bool several = recv->taken == NULL && rank->first_recv != recv &&
                   wl_message_queue_peek(wl.queues, own, stream, 1) != NULL;

    wl_message_queue_lock(wl.queues, own);
    for (struct wl_recv *at = rank->first_recv; several && at != recv; at = at->next) {
        if (takes_from(at, stream)) {
            at->taken = wl_message_queue_take_held(wl.queues, own, stream, 0);
            rank->has_taken = true;
        }
    }
    if (recv->taken == NULL) {
        recv->taken = wl_message_queue_take_held(wl.queues, own, stream, 0);
    }
    unlink_recv(rank, recv);
    wl_message_queue_unlock(wl.queues, own);
    return recv->taken;
}

/* The receive of a request among those from `at` to before `end`; null if it is not there. */
static struct wl_recv *find_recv(struct wl_recv *at, const struct wl_recv *end, uint32_t number)
{
    while (at != end && at->number != number) {
        at = at->next;
    }
    return at != end ? at : NULL;
}

/* At most one receive has no request: the one posted last. The others are mostly matched in the
 * order in which they were posted. */
void wl_recv_set_match(struct wl_rank *rank, const struct wf_port_match *match)
{
    struct wl_recv *last = rank->last_recv;
    struct wl_recv *recv = last != NULL && last->number == match->request
                               ? last
                               : find_recv(rank->next_match, NULL, match->request);

    if (recv == NULL) {
        recv = find_recv(rank->first_recv, rank->next_match, match->request);
    }
    if (recv != NULL) {
        lock(rank);
        recv->matched = true;
        recv->stream.source = match->source;
        recv->stream.tag = match->tag;
        unlock(rank);
        rank->next_match = recv->next;
    }
}

struct wl_recv *wl_recv_at(const struct wl_rank *rank, const struct wl_stream *stream,
                           uint32_t place)
{
    for (struct wl_recv *at = rank->first_recv; at != NULL; at = at->next) {
        if ((at->any_source || at->any_tag) && !at->matched &&
            at->stream.context == stream->context) {
            return NULL;
        }
        if (takes_from(at, stream) && place-- == 0) {
            return at;
        }
    }
    return NULL;
}

void wl_recvs_forget(struct wl_rank *rank)
{
    if (rank->shows_receives) {
        wl_message_queue_show(wl.queues, rank->self->rank, NULL);
        for (struct wl_recv *at = rank->first_recv; at != NULL; at = at->next) {
            wl_landing_wait(at);
        }
        rank->shows_receives = false;
    }
    for (struct wl_recv *at = rank->first_recv; rank->has_taken && at != NULL; at = at->next) {
        if (at->taken != NULL) {
            wl_message_queue_return(wl.queues, rank->self->rank, at->taken);
        }
    }
    rank->first_recv = rank->last_recv = rank->next_match = NULL;
}

void wl_recv_cancel(struct wl_rank *rank, struct wl_recv *recv)
{
    lock(rank);
    unlink_recv(rank, recv);
    unlock(rank);
    wl_landing_undo(recv);
    wl_type_release(recv->type);
}

/* Whether the data ends within a value. Receives of contiguous types are not looked at: as with
 * MPICH, the rest of the value is not changed. */
static bool ends_within_value(const struct wl_type *type, size_t bytes)
{
    return !type->contiguous && type->size > 0 && bytes % type->size != 0 &&
           wl_type_elements(type, bytes) == MPI_UNDEFINED;
}

int wl_recv_complete(struct wl_rank *rank, struct wl_recv *recv, MPI_Status *status)
{
    int code = MPI_SUCCESS;
    struct wl_message *message = take_message(rank, recv);

    if (message == NULL) {
        wl_fatal(rank,
                 "the message from rank %u with tag %d has not arrived; please report this",
                 recv->stream.source, recv->stream.tag);
    }
    if (wl_orders()) {
        wl_order_received(rank, recv, message);
    }
    size_t capacity = recv->count * recv->type->size;
    if (message->whole > capacity) {
        code = wl_error(rank, recv->comm, MPI_ERR_TRUNCATE,
                        "a message of %zu bytes is longer than the receive buffer of %zu bytes",
                        message->whole, capacity);
    } else if (ends_within_value(recv->type, message->whole)) {
        code = wl_error(
            rank, recv->comm, MPI_ERR_TYPE,
            "a message of %zu bytes ends within a value of the datatype of the receive",
            message->whole);
    }
    if (message->sent != NULL && recv->comm != 0) {
        wl_check_received(rank, recv, message);
    }
    size_t bytes = message->whole < capacity ? message->whole : capacity;
    if (message->size == message->whole) {
        wl_loan_deliver(message, recv, bytes);
    } else if (message->size > 0 && bytes == message->whole) {
        wl_payload_put_ends(recv->type, recv->buffer, bytes, message->data);
    }
    wl_type_release(recv->type);
    wl_status_set(status, (int)message->sender, message->tag, bytes);
    wl_message_free(message);
    return code;
}

/* ---- requests ---- */

struct wl_request *wl_request_new(struct wl_rank *rank, enum wl_request_kind kind,
                                  MPI_Request *handle)
{
    struct wl_request *request = wl_calloc(1, sizeof(*request));

    request->kind = kind;
    request->active = true;
    request->posted = wl_caller_of(rank);
    request->number = wl_number_new(rank);
    *handle = wl_table_add(&rank->requests, WL_REQUEST, request);
    return request;
}

struct wl_request *wl_request_of(struct wl_rank *rank, MPI_Request handle)
{
    struct wl_request *request = wl_table_get(&rank->requests, WL_REQUEST, handle);

    if (request == NULL) {
        wl_fatal(rank, "there is no request 0x%x", (unsigned)handle);
    }
    return request;
}

void wl_request_free(struct wl_rank *rank, MPI_Request *handle)
{
    struct wl_request *request = wl_table_take(&rank->requests, WL_REQUEST, *handle);

    wl_loan_end(&request->loan);
    wl_check_forget(rank, &request->uses);
    wl_number_free(rank, request->number);
    wl_compound_free(rank, request);
    wl_persistent_free(rank, request);
    free(request->own);
    free(request);
    *handle = MPI_REQUEST_NULL;
}

void wl_status_set(MPI_Status *status, int source, int tag, size_t bytes)
{
    if (status != MPI_STATUS_IGNORE) {
        status->MPI_SOURCE = source;
        status->MPI_TAG = tag;
        status->weft_cancelled = 0;
        wl_status_set_bytes(status, bytes);
    }
}

void wl_status_set_empty(MPI_Status *status)
{
    wl_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    if (status != MPI_STATUS_IGNORE) {
        status->MPI_ERROR = MPI_SUCCESS;
    }
}

int wl_MPI_Get_count(struct wl_rank *rank, const MPI_Status *status, MPI_Datatype datatype,
                     MPI_Count *count)
{
    size_t size = wl_type_of(rank, datatype)->size;
    uint64_t bytes = wl_status_bytes(status);

    *count = size == 0           ? (bytes == 0 ? 0 : MPI_UNDEFINED)
             : bytes % size == 0 ? (MPI_Count)(bytes / size)
                                 : MPI_UNDEFINED;
    return MPI_SUCCESS;
}
