/* SPDX-License-Identifier: Apache-2.0 */
#include "mpilib/interprocess.h"

#include "mpilib/communicator_registry.h"
#include "mpilib/memory.h"

#include <stdlib.h>
#include <string.h>

enum parcel_kind { PARCEL_MESSAGE, PARCEL_PART, PARCEL_REPLY };

/* The beginning of a parcel. What comes then are the bytes. */
struct parcel {
    enum parcel_kind kind;
    union {
        struct {
            uint32_t to, context, source, sender;
            int32_t tag;
            uint64_t whole, sum;
        } message;
        struct wl_part_name part;
        uint64_t address;
    };
};

static void ship(uint32_t process, const struct parcel *parcel, const void *bytes, size_t size)
{
    const struct wf_port_bytes pieces[] = {{parcel, sizeof(*parcel)}, {bytes, size}};

    wl.spread->ship(wl.spread->arg, process, pieces, 2);
}

void wl_message_send(uint32_t to, struct wl_message *message)
{
    if (wl_is_here(to)) {
        wl_mailbox_put(wl.boxes, to, message);
        return;
    }
    struct parcel parcel;
    memset(&parcel, 0, sizeof(parcel));
    parcel.kind = PARCEL_MESSAGE;
    parcel.message.to = to;
    parcel.message.context = message->context;
    parcel.message.source = message->source;
    parcel.message.sender = message->sender;
    parcel.message.tag = message->tag;
    parcel.message.whole = message->whole;
    parcel.message.sum = message->sum;
    ship(wl_home(to), &parcel, message->bytes, message->size);
    free(message);
}

void wl_part_ship(uint32_t process, const struct wl_part_name *name, struct wl_part part)
{
    struct parcel parcel;

    memset(&parcel, 0, sizeof(parcel));
    parcel.kind = PARCEL_PART;
    parcel.part = *name;
    ship(process, &parcel, part.bytes, part.size);
}

void wl_reply_ship(uint32_t process, const void *to, const void *bytes, size_t size)
{
    struct parcel parcel;

    memset(&parcel, 0, sizeof(parcel));
    parcel.kind = PARCEL_REPLY;
    parcel.address = (uintptr_t)to;
    ship(process, &parcel, bytes, size);
}

static void take_message(const struct parcel *parcel, const unsigned char *bytes, size_t size)
{
    struct wl_message *message = wl_message_new(size);

    message->context = parcel->message.context;
    message->source = parcel->message.source;
    message->sender = parcel->message.sender;
    message->tag = parcel->message.tag;
    message->whole = parcel->message.whole;
    message->sum = parcel->message.sum;
    memcpy(message->bytes, bytes, size);
    wl_mailbox_put(wl.boxes, parcel->message.to, message);
}

static void take_part(const struct parcel *parcel, const unsigned char *bytes, size_t size)
{
    struct wl_part part = {.size = size};

    if (size > 0) {
        part.bytes = memcpy(wl_malloc(size), bytes, size);
    }
    wl_known_part(&parcel->part, part);
}

/* The address is that of what the origin has made for it and waits for. */
static void take_reply(const struct parcel *parcel, const unsigned char *bytes, size_t size)
{
    memcpy((void *)(uintptr_t)parcel->address, bytes, size); /* NOLINT */
}

void wl_arrived(const unsigned char *bytes, size_t size)
{
    static void (*const takers[])(const struct parcel *, const unsigned char *, size_t) = {
        [PARCEL_MESSAGE] = take_message,
        [PARCEL_PART] = take_part,
        [PARCEL_REPLY] = take_reply,
    };
    struct parcel parcel;

    memcpy(&parcel, bytes, sizeof(parcel));
    takers[parcel.kind](&parcel, bytes + sizeof(parcel), size - sizeof(parcel));
}
