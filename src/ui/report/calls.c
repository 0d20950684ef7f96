/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/report/calls.h"

#include "base/array.h"
#include "base/mem.h"
#include "program/trace/otf2/coll.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

static size_t count_items(const struct wf_value *list)
{
    size_t n = 0;

    for (const struct wf_value *v = list != NULL ? list->first : NULL; v != NULL; v = v->next) {
        n++;
    }
    return n;
}

static const struct wf_value *list_at(const struct wf_value *doc, const char *path)
{
    const struct wf_value *list = wf_doc_find(doc, path);

    return list != NULL && list->type == WF_VALUE_LIST ? list : NULL;
}

static const char *text_of(const struct wf_value *value)
{
    return value->type == WF_VALUE_TEXT ? value->text : "";
}

static void describe(struct wf_track_name *name, const char *text)
{
    bool is_mpi = strncmp(text, "MPI_", 4) == 0;

    name->text = text;
    (void)snprintf(name->mpi, sizeof(name->mpi), "%s%s", is_mpi ? "" : "MPI_", text);
    if (!is_mpi) {
        name->mpi[4] = (char)toupper((unsigned char)name->mpi[4]);
    }
    const struct wf_op_info *info = wf_op_info(wf_op_of_call(name->mpi));
    name->sends = info->family == WF_FAMILY_SEND || info->family == WF_FAMILY_SENDRECV;
    name->exchanges = info->family == WF_FAMILY_SENDRECV;
    name->posts = info->family == WF_FAMILY_RECV || name->exchanges;
    name->blocks = name->posts && !info->returns_request;
    name->completes = info->family == WF_FAMILY_WAIT || info->family == WF_FAMILY_TEST;
    name->is_collective = info->family == WF_FAMILY_COLLECTIVE;
    name->is_point_to_point = info->family >= WF_FAMILY_SEND && info->family <= WF_FAMILY_TEST;
}

/* The texts of a list, which belong to the document; the caller frees the array. */
static const char **read_texts(const struct wf_value *doc, const char *path, size_t *n)
{
    const struct wf_value *list = list_at(doc, path);
    size_t i = 0;

    *n = count_items(list);
    const char **texts = wf_xcalloc(*n + 1, sizeof(*texts));
    for (const struct wf_value *v = list != NULL ? list->first : NULL; v != NULL; v = v->next) {
        texts[i++] = text_of(v);
    }
    return texts;
}

static void read_names(struct wf_track_calls *calls, const struct wf_value *doc)
{
    const struct wf_value *list = list_at(doc, "recording.call_names");
    size_t i = 0;

    calls->n_names = count_items(list);
    calls->names = wf_xcalloc(calls->n_names + 1, sizeof(*calls->names));
    for (const struct wf_value *v = list != NULL ? list->first : NULL; v != NULL; v = v->next) {
        describe(&calls->names[i++], text_of(v));
    }
    calls->region_names = read_texts(doc, "recording.region_names", &calls->n_region_names);
    calls->stack_names = read_texts(doc, "recording.stack_names", &calls->n_stack_names);
}

/* ---- calls ---- */

/* Reads a number or "-". False if the text has neither. */
static bool read_number(const char **at, uint64_t *out, bool *has)
{
    char *end;

    *at += strspn(*at, " ");
    *has = **at != '-';
    if (!*has) {
        ++*at;
        return true;
    }
    *out = strtoull(*at, &end, 10);
    if (end == *at) {
        return false;
    }
    *at = end;
    return true;
}

/* Reads the next call: name, begin, duration, and perhaps peer, tag, communicator, bytes; and
 * after "@" its stack. */
static bool read_call(const char **at, uint64_t *now, struct wf_track_call *out)
{
    uint64_t numbers[7] = {0}, stack = WF_TRACK_NO_CALL;
    bool has[7] = {false}, has_stack;
    size_t n = 0;

    while (**at != '\0' && **at != ';' && **at != '@' && n < 7) {
        if (!read_number(at, &numbers[n], &has[n])) {
            return false;
        }
        n++;
    }
    if ((n != 3 && n != 7) || numbers[0] >= WF_TRACK_NO_CALL) {
        return false;
    }
    if (**at == '@') {
        ++*at;
        if (!read_number(at, &stack, &has_stack) || stack > WF_TRACK_NO_CALL) {
            return false;
        }
    }
    *at += **at == ';' ? 1 : 0;
    *now += numbers[1];
    *out = (struct wf_track_call){
        .from = *now,
        .until = *now + numbers[2],
        .name = (uint32_t)numbers[0],
        .has_peer = has[3],
        .has_tag = has[4],
        .has_args = n == 7,
        .peer = (uint32_t)numbers[3],
        .tag = (uint32_t)numbers[4],
        .comm = (uint32_t)numbers[5],
        .sent_to = WF_TRACK_NO_CALL,
        .stack = (uint32_t)stack,
        .bytes = numbers[6],
    };
    return true;
}

static struct wf_track_list read_list(const char *text, size_t n_names,
                                      const struct wf_choice *view)
{
    struct wf_track_list list = {.n = 0};
    size_t capacity = 0;
    uint64_t now = 0;
    struct wf_track_call call;

    while (*text != '\0' && read_call(&text, &now, &call)) {
        if (call.name < n_names &&
            wf_choice_touches(view, (int64_t)call.from, (int64_t)call.until + 1)) {
            WF_PUSH(list.calls, list.n, capacity, call);
        }
    }
    return list;
}

/* Reads one text for each recorded rank; those of ranks without a track are skipped. */
static struct wf_track_list *read_lists(const struct wf_value *texts,
                                        const struct wf_tracks *tracks, size_t n_names)
{
    struct wf_track_list *lists = wf_xcalloc(tracks->n + 1, sizeof(*lists));
    uint64_t rank = 0;

    for (const struct wf_value *v = texts->first; v != NULL; v = v->next, rank++) {
        while (rank < tracks->n_numbers && !wf_choice_has_rank(&tracks->kept, rank)) {
            rank++;
        }
        if (rank >= tracks->n_numbers) {
            break;
        }
        if (tracks->number[rank] != 0) {
            lists[tracks->number[rank] - 1] = read_list(text_of(v), n_names, &tracks->view);
        }
    }
    return lists;
}

/* ---- messages ---- */

static void read_messages(struct wf_track_calls *calls, const struct wf_tracks *tracks)
{
    struct wf_message_walk walk = wf_tracks_messages(tracks);
    struct wf_track_message message;
    size_t capacity = 0;

    while (wf_track_message(&walk, &message)) {
        WF_PUSH(calls->messages, calls->n_messages, capacity,
                (struct wf_track_matched){message, tracks->number[message.from] - 1,
                                          tracks->number[message.to] - 1, WF_TRACK_NO_CALL,
                                          WF_TRACK_NO_CALL});
    }
}

/* Finds, for each call of a track that sends, the first message that left after it began and
 * goes where the call says. `first` and `last` are the messages of the track. */
static void match_track(struct wf_track_calls *calls, uint32_t track, size_t first, size_t last)
{
    const struct wf_track_list *list = &calls->calls[track];

    for (size_t i = 0; i < list->n; i++) {
        const struct wf_track_call *call = &list->calls[i];
        if (!calls->names[call->name].sends || !call->has_peer) {
            continue;
        }
        while (first < last && calls->messages[first].message.departure < call->from) {
            first++;
        }
        for (size_t m = first; m < last; m++) {
            struct wf_track_matched *each = &calls->messages[m];
            if (each->sent == WF_TRACK_NO_CALL && each->message.to == call->peer &&
                each->message.bytes == call->bytes) {
                each->sent = (uint32_t)i;
                break;
            }
        }
    }
}

static void match_messages(struct wf_track_calls *calls)
{
    for (size_t first = 0, last; first < calls->n_messages; first = last) {
        last = first;
        while (last < calls->n_messages &&
               calls->messages[last].from == calls->messages[first].from) {
            last++;
        }
        match_track(calls, calls->messages[first].from, first, last);
    }
}

/* By track, call and arrival; before calls are known, by track and arrival. */
static int compare_received(const void *a, const void *b)
{
    const struct wf_track_received *x = a, *y = b;

    if (x->to != y->to) {
        return x->to < y->to ? -1 : 1;
    }
    if (x->call != y->call) {
        return x->call < y->call ? -1 : 1;
    }
    if (x->arrival != y->arrival) {
        return x->arrival < y->arrival ? -1 : 1;
    }
    return x->message < y->message ? -1 : 1;
}

/* Whether a call asks for the message: from its sender and with its tag, unless it takes any. An
 * exchange has the tag of what it sends, usually that of what it receives. */
static bool asks_for(const struct wf_track_calls *calls, const struct wf_track_call *call,
                     const struct wf_track_matched *message)
{
    const struct wf_track_name *name = &calls->names[call->name];
    uint32_t tag = calls->calls[message->from].calls[message->sent].tag;
    bool from = name->exchanges || !call->has_peer || call->peer == message->message.from;

    return name->posts && !call->is_matched && from && (!call->has_tag || call->tag == tag);
}

/* The call in which a message is received: the first that asks for it or, if that does not wait,
 * the first call after it that completes requests and does not end before the message arrives.
 * `first` is the first call that may ask; moves past those that are served. */
static uint32_t receiving_call(const struct wf_track_calls *calls,
                               const struct wf_track_matched *message, size_t *first)
{
    const struct wf_track_list *list = &calls->calls[message->to];
    size_t i = *first;

    while (i < list->n && !asks_for(calls, &list->calls[i], message)) {
        i++;
    }
    if (i == list->n) {
        return WF_TRACK_NO_CALL;
    }
    list->calls[i].is_matched = true;
    while (*first < list->n &&
           (list->calls[*first].is_matched || !calls->names[list->calls[*first].name].posts)) {
        ++*first;
    }
    if (calls->names[list->calls[i].name].blocks) {
        return (uint32_t)i;
    }
    while (i < list->n && (!calls->names[list->calls[i].name].completes ||
                           list->calls[i].until < message->message.arrival)) {
        i++;
    }
    return i < list->n ? (uint32_t)i : WF_TRACK_NO_CALL;
}

/* Finds the receiving calls in the order of arrival, and sorts messages by them. */
static void find_receivers(struct wf_track_calls *calls)
{
    size_t n = 0, first = 0;

    calls->received = wf_xcalloc(calls->n_messages + 1, sizeof(*calls->received));
    for (size_t i = 0; i < calls->n_messages; i++) {
        const struct wf_track_matched *each = &calls->messages[i];
        if (each->sent != WF_TRACK_NO_CALL) {
            calls->received[n++] =
                (struct wf_track_received){each->to, 0, each->message.arrival, i};
        }
    }
    WF_SORT(calls->received, n, compare_received);
    for (size_t i = 0; i < n; i++) {
        struct wf_track_received *in = &calls->received[i];
        struct wf_track_matched *each = &calls->messages[in->message];
        first = i > 0 && calls->received[i - 1].to == in->to ? first : 0;
        each->received = receiving_call(calls, each, &first);
        if (each->received != WF_TRACK_NO_CALL) {
            calls->calls[each->from].calls[each->sent].sent_to = each->to;
        }
    }
    for (size_t i = 0; i < n; i++) {
        struct wf_track_received in = calls->received[i];
        in.call = calls->messages[in.message].received;
        if (in.call != WF_TRACK_NO_CALL) {
            calls->received[calls->n_received++] = in;
        }
    }
    WF_SORT(calls->received, calls->n_received, compare_received);
}

void wf_track_calls_init(struct wf_track_calls *calls, const struct wf_value *doc,
                         const struct wf_tracks *tracks)
{
    const struct wf_value *texts = list_at(doc, "recording.calls");
    const struct wf_value *regions = list_at(doc, "recording.regions");

    *calls =
        (struct wf_track_calls){.known = tracks->exact && texts != NULL, .n_tracks = tracks->n};
    if (tracks->exact) {
        read_messages(calls, tracks);
    }
    if (!calls->known) {
        return;
    }
    read_names(calls, doc);
    calls->calls = read_lists(texts, tracks, calls->n_names);
    if (regions != NULL) {
        calls->regions = read_lists(regions, tracks, calls->n_region_names);
    }
    match_messages(calls);
    find_receivers(calls);
}

void wf_track_calls_fini(struct wf_track_calls *calls)
{
    for (uint64_t i = 0; i < calls->n_tracks; i++) {
        if (calls->calls != NULL) {
            free(calls->calls[i].calls);
        }
        if (calls->regions != NULL) {
            free(calls->regions[i].calls);
        }
    }
    free(calls->calls);
    free(calls->regions);
    free(calls->names);
    free(calls->region_names);
    free(calls->stack_names);
    free(calls->messages);
    free(calls->received);
    *calls = (struct wf_track_calls){.known = false};
}

/* ---- walking ---- */

enum { DEPTH_MAX = 256 };

/* The regions that are open, each with its number and its end. */
struct open_regions {
    struct {
        uint64_t until;
        uint32_t region;
    } list[DEPTH_MAX];
    size_t n;
};

static void leave_until(const struct wf_track_visitor *visitor, struct open_regions *open,
                        uint64_t time)
{
    while (open->n > 0 && open->list[open->n - 1].until <= time) {
        open->n--;
        visitor->region(visitor->arg, false, open->list[open->n].until,
                        open->list[open->n].region);
    }
}

void wf_track_calls_visit(const struct wf_track_calls *calls, uint32_t track, uint64_t end,
                          const struct wf_track_visitor *visitor)
{
    const struct wf_track_list *list = &calls->calls[track];
    const struct wf_track_list *regions =
        calls->regions != NULL ? &calls->regions[track] : NULL;
    size_t n_regions = regions != NULL ? regions->n : 0, next = 0;
    struct open_regions open = {.n = 0};

    for (uint32_t i = 0; i < list->n; i++) {
        /* Regions that begin before the call, or with it. */
        for (; next < n_regions && regions->calls[next].from <= list->calls[i].from; next++) {
            const struct wf_track_call *region = &regions->calls[next];
            leave_until(visitor, &open, region->from);
            if (open.n < DEPTH_MAX) {
                visitor->region(visitor->arg, true, region->from, region->name);
                open.list[open.n].region = region->name;
                open.list[open.n++].until = region->until;
            }
        }
        leave_until(visitor, &open, list->calls[i].from);
        visitor->call(visitor->arg, track, i);
    }
    leave_until(visitor, &open, end);
}
