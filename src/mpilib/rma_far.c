/* SPDX-License-Identifier: Apache-2.0 */
/* One-sided requests between processes. */
#include "mpilib/interprocess.h"
#include "mpilib/memory.h"
#include "mpilib/one_sided.h"

#include <stdlib.h>
#include <string.h>

/* Behind the request: its type and operation, the blocks of the type, then the data. */
struct luggage {
    struct wl_type type;
    struct wl_op op;
};

struct wl_message *wl_rma_pack(const struct wl_rma *rma, struct wl_message *message)
{
    struct luggage with;
    size_t data = message->size - sizeof(*rma);
    size_t blocks = rma->type != NULL ? rma->type->n_blocks * sizeof(struct wl_block) : 0;
    struct wl_message *whole = wl_message_new(sizeof(*rma) + sizeof(with) + blocks + data);
    unsigned char *to = whole->bytes + sizeof(*rma) + sizeof(with);

    memset(&with, 0, sizeof(with));
    if (rma->type != NULL) {
        with.type = *rma->type;
    }
    if (rma->op != NULL) {
        with.op = *rma->op;
    }
    memcpy(whole->bytes, rma, sizeof(*rma));
    ((struct wl_rma *)(void *)whole->bytes)->far = true;
    memcpy(whole->bytes + sizeof(*rma), &with, sizeof(with));
    if (blocks > 0) {
        memcpy(to, rma->type->blocks, blocks);
    }
    memcpy(to + blocks, message->bytes + sizeof(*rma), data);
    free(message);
    return whole;
}

unsigned char *wl_rma_unpack(struct wl_arrived_rma *arrived, struct wl_message *message)
{
    struct wl_rma *rma = &arrived->rma;
    struct luggage with;
    unsigned char *at = message->bytes + sizeof(*rma) + sizeof(with);

    memcpy(rma, message->bytes, sizeof(*rma));
    memcpy(&with, message->bytes + sizeof(*rma), sizeof(with));
    arrived->type = with.type;
    arrived->type.blocks = (const void *)at;
    arrived->type.name = NULL;
    arrived->op = with.op;
    rma->type = &arrived->type;
    rma->op = &arrived->op;
    arrived->asker = rma->old;
    if (rma->old != NULL) {
        rma->old = wl_calloc(rma->old_bytes + 1, 1);
    }
    return at + with.type.n_blocks * sizeof(struct wl_block);
}

void wl_rma_answer(const struct wl_arrived_rma *arrived, uint32_t origin)
{
    if (arrived->asker != NULL) {
        wl_reply_ship(wl_home(origin), arrived->asker, arrived->rma.old,
                      arrived->rma.old_bytes);
        free(arrived->rma.old);
    }
}
