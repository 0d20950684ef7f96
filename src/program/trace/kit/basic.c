/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/kit/basic.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

bool wf_basic_receives(enum wf_op_kind kind)
{
    return wf_op_info(kind)->family == WF_FAMILY_RECV || kind == WF_OP_RECV_INIT;
}

/* Replaces the wildcards of a receive by the source and tag that it matched. The match of a
 * persistent receive is not known. */
static void close_receive(const struct wf_op *op, struct wf_basic_message *message,
                          struct wf_losses *losses)
{
    if (message->peer != WF_ANY_SOURCE && message->tag != WF_ANY_TAG) {
        return;
    }
    if (!op->recorded || op->kind == WF_OP_RECV_INIT) {
        wf_losses_add(losses,
                      "wildcard receives whose match is not known, written as wildcards");
        return;
    }
    wf_losses_add(losses, "wildcard receives, written as what they matched");
    message->peer = op->matched_peer;
    message->tag = op->matched_tag;
}

struct wf_basic_message wf_basic_message(const struct wf_op *op, bool receives,
                                         const struct wf_group *group, struct wf_losses *losses)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    bool both = info->family == WF_FAMILY_SENDRECV;
    struct wf_basic_message message = {.peer = both && receives ? op->recv_peer : op->peer,
                                       .tag = both && receives ? op->recv_tag : op->tag,
                                       .bytes = both && receives ? op->recv_bytes : op->bytes,
                                       .receives = receives};

    if (receives) {
        close_receive(op, &message, losses);
    } else if (info->detail != WF_SEND_STANDARD) {
        wf_losses_add(losses, "sends of another mode, written as standard ones");
    }
    if (op->comm != WF_COMM_WORLD && !both) {
        wf_losses_add(losses,
                      "messages of other communicators, written as messages of the world");
    }
    if (message.peer < group->size) {
        message.peer = wf_group_rank(group, message.peer);
    }
    return message;
}

void wf_basic_left_out(enum wf_op_kind kind, struct wf_losses *losses)
{
    static const char *const texts[] = {
        [WF_FAMILY_COLLECTIVE] = "collectives, left out",
        [WF_FAMILY_PROBE] = "probes, left out",
        [WF_FAMILY_FREE] = "requests that are freed, left out",
        [WF_FAMILY_COMM] = "calls that make a communicator, left out",
        [WF_FAMILY_ONESIDED] = "one-sided operations and their synchronisation, left out",
        [WF_FAMILY_MARKER] = "marks of regions and iterations, left out",
        [WF_FAMILY_CALL] = "other calls, of which only the time is left",
        [WF_FAMILY_FILE] = "operations on files, left out",
    };
    enum wf_op_family family = wf_op_info(kind)->family;

    wf_losses_add(losses, texts[family == WF_FAMILY_EPOCH ? WF_FAMILY_ONESIDED : family]);
}

/* ---- requests ---- */

void wf_basic_requests_fini(struct wf_basic_requests *requests)
{
    wf_map_fini(&requests->places);
    free(requests->items);
    *requests = (struct wf_basic_requests){.size = requests->size};
}

void *wf_basic_requests_find(const struct wf_basic_requests *requests, uint32_t number)
{
    const uint64_t *place = wf_map_get(&requests->places, number);

    return place != NULL ? requests->items + *place * requests->size : NULL;
}

void *wf_basic_requests_make(struct wf_basic_requests *requests, uint32_t number)
{
    unsigned char *record = wf_basic_requests_find(requests, number);

    if (record == NULL) {
        if (requests->n == requests->capacity) {
            requests->capacity = requests->capacity * 2 + 8;
            requests->items = wf_xrealloc(requests->items, requests->capacity, requests->size);
        }
        *wf_map_put(&requests->places, number) = requests->n;
        record = requests->items + requests->n++ * requests->size;
    }
    memset(record, 0, requests->size);
    return record;
}
