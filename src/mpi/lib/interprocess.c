/* SPDX-License-Identifier: Apache-2.0 */
/* Data between processes. */
#include "mpi/lib/interprocess.h"

#include "mpi/lib/checker/checker.h"
#include "mpi/lib/comm/registry.h"
#include "mpi/lib/memory.h"
#include "mpi/lib/p2p/message_loan.h"

#include <string.h>

enum parcel_kind { PARCEL_MESSAGE, PARCEL_PART, PARCEL_REPLY, PARCEL_NOTES };

/* The header of a parcel; the data follows it. */
struct parcel {
    enum parcel_kind kind;
    union {
        struct {
            uint32_t to, context, source, sender;
            int32_t tag;
            uint64_t whole, checksum;
            bool is_checked; /* a struct wl_sent is at the end of the data */
        } message;
        struct wl_part_key part;
        uint64_t address;
    };
};

static void send_parcel(uint32_t process, const struct parcel *parcel, const void *bytes,
                        size_t size)
{
    const struct wf_port_bytes pieces[] = {{parcel, sizeof(*parcel)}, {bytes, size}};

    wl.processes->ship(wl.processes->arg, process, pieces, 2);
}

void wl_message_send(uint32_t to, struct wl_message *message)
{
    if (wl_is_local(to)) {
        wl_message_queue_put(wl.queues, to, message);
        return;
    }
    struct parcel parcel;
    memset(&parcel, 0, sizeof(parcel)); /* padding too: it is sent */
    parcel.kind = PARCEL_MESSAGE;
    parcel.message.to = to;
    parcel.message.context = message->context;
    parcel.message.source = message->source;
    parcel.message.sender = message->sender;
    parcel.message.tag = message->tag;
    parcel.message.whole = message->whole;
    parcel.message.checksum = message->checksum;
    parcel.message.is_checked = message->sent != NULL;
    const struct wf_port_bytes pieces[] = {{&parcel, sizeof(parcel)},
                                           {message->data, message->size},
                                           {message->sent, sizeof(*message->sent)}};
    wl.processes->ship(wl.processes->arg, wl_process_of(to), pieces,
                       message->sent != NULL ? 3 : 2);
    if (message->state == WL_DATA_LENT) { /* it has been copied */
        message->state = WL_DATA_DONE;
    }
    wl_message_free(message);
}

void wl_part_send(uint32_t process, const struct wl_part_key *key, struct wl_part part)
{
    struct parcel parcel;

    memset(&parcel, 0, sizeof(parcel));
    parcel.kind = PARCEL_PART;
    parcel.part = *key;
    send_parcel(process, &parcel, part.bytes, part.size);
}

void wl_reply_send(uint32_t process, const void *to, const void *bytes, size_t size)
{
    struct parcel parcel;

    memset(&parcel, 0, sizeof(parcel));
    parcel.kind = PARCEL_REPLY;
    parcel.address = (uintptr_t)to;
    send_parcel(process, &parcel, bytes, size);
}

static void receive_message(const struct parcel *parcel, const unsigned char *bytes,
                            size_t size)
{
    struct wl_sent *sent = NULL;

    if (parcel->message.is_checked) {
        size -= sizeof(*sent);
        sent = memcpy(wl_malloc(sizeof(*sent)), bytes + size, sizeof(*sent));
    }
    bool lent = size >= WL_LOAN_MIN; /* it may go straight to the buffer of a receive */
    struct wl_message *message =
        lent ? wl_loan_new(bytes, size, parcel->message.to) : wl_message_new(size);

    message->sent = sent;
    message->context = parcel->message.context;
    message->source = parcel->message.source;
    message->sender = parcel->message.sender;
    message->tag = parcel->message.tag;
    message->whole = parcel->message.whole;
    message->checksum = parcel->message.checksum;
    if (!lent) {
        memcpy(message->bytes, bytes, size);
    }
    wl_message_queue_put(wl.queues, parcel->message.to, message);
    if (lent) {
        wl_loan_end(&message);
    }
}

void wl_notes_send(uint32_t process, const void *bytes, size_t size)
{
    struct parcel parcel;

    memset(&parcel, 0, sizeof(parcel));
    parcel.kind = PARCEL_NOTES;
    send_parcel(process, &parcel, bytes, size);
}

static void receive_notes(const struct parcel *parcel, const unsigned char *bytes, size_t size)
{
    (void)parcel;
    wl_check_notes_arrived(bytes, size);
}

static void receive_part(const struct parcel *parcel, const unsigned char *bytes, size_t size)
{
    struct wl_part part = {.size = size};

    if (size > 0) {
        part.bytes = memcpy(wl_malloc(size), bytes, size);
    }
    wl_comm_registry_deliver(&parcel->part, part);
}

/* The origin has allocated memory at the address, and waits. */
static void receive_reply(const struct parcel *parcel, const unsigned char *bytes, size_t size)
{
    memcpy((void *)(uintptr_t)parcel->address, bytes, size); /* NOLINT */
}

void wl_interprocess_arrived(const unsigned char *bytes, size_t size)
{
    static void (*const receivers[])(const struct parcel *, const unsigned char *, size_t) = {
        [PARCEL_MESSAGE] = receive_message,
        [PARCEL_PART] = receive_part,
        [PARCEL_REPLY] = receive_reply,
        [PARCEL_NOTES] = receive_notes,
    };
    struct parcel parcel;

    memcpy(&parcel, bytes, sizeof(parcel));
    receivers[parcel.kind](&parcel, bytes + sizeof(parcel), size - sizeof(parcel));
}
