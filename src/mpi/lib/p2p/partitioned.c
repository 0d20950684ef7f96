/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partitioned communication (MPI-4.0, 4). Every partition of the sender is a message, which
 * MPI_Pready() sends. The sender may have other partitions than the receiver, so when it first
 * starts its request it tells the receiver how many there are and under which tags they come.
 * The receiver learns that when it first asks for its request after MPI_Start(), and then posts
 * its receives; from then on, MPI_Start() posts them.
 */
#include "mpi/lib/checker/checker.h"
#include "mpi/lib/interprocess.h"
#include "mpi/lib/memory.h"
#include "mpi/lib/p2p/internal_messages.h"
#include "mpi/lib/p2p/payload.h"
#include "mpi/lib/p2p/request_compound.h"
#include "mpi/lib/threads/openmp.h"

#include <stdlib.h>
#include <string.h>

/* Tags of internal messages; those of the program are below WL_TAG_LIMIT. */
#define SETUP_TAG(tag) (WL_TAG_LIMIT + (tag))
#define DATA_TAG       (2 * WL_TAG_LIMIT)

/* What the sender tells the receiver when it first starts its request. */
struct setup {
    uint32_t n;         /* partitions */
    uint32_t first_tag; /* of partition 0; the others follow */
    uint64_t bytes;     /* of a partition */
};

/* request->own. */
struct wl_partitioned {
    struct wl_partitioned *next; /* of the sends that have told nothing yet; in order */
    bool told;
    MPI_Comm comm;
    uint32_t peer; /* a member of the communicator */
    int source, tag;
    unsigned char *buffer;
    const struct wl_type *type; /* held */
    uint32_t n;                 /* own partitions */
    size_t count;               /* elements of each */
    struct setup setup;
    /* Of a receive: */
    bool knows;                 /* the setup has come */
    struct wl_subrequest first; /* receives it */
    struct wl_subrequest *data; /* receives the partitions of the sender; or null */
    unsigned char *packed;      /* the data, if the type has gaps; else null */
};

static size_t own_bytes(const struct wl_partitioned *part)
{
    return part->count * part->type->size;
}

static struct wl_view view_of(struct wl_rank *rank, const struct wl_partitioned *part)
{
    return wl_comm_of(rank, part->comm);
}

static struct wf_op op_of(struct wl_rank *rank, const struct wl_partitioned *part,
                          enum wf_op_kind kind, int tag, uint64_t bytes)
{
    struct wl_view view = view_of(rank, part);

    return (struct wf_op){.kind = kind,
                          .peer = part->peer,
                          .tag = tag,
                          .comm = wl_internal_number(rank, &view),
                          .bytes = bytes};
}

/* A message to the peer; the caller fills it in and sends it. */
static struct wl_message *message_new(struct wl_rank *rank, const struct wl_partitioned *part,
                                      int tag, size_t bytes, bool wanted)
{
    struct wl_view view = view_of(rank, part);
    struct wl_message *message = wl_message_new(wanted ? bytes : 0);

    message->whole = bytes;
    message->context = WL_INTERNAL_CONTEXT(view.comm);
    message->source = rank->self->rank;
    message->sender = wl_own_rank(&view);
    message->tag = tag;
    return message;
}

static void message_send(struct wl_rank *rank, const struct wl_partitioned *part,
                         struct wl_message *message)
{
    wl_message_send(wl_member(view_of(rank, part).comm, part->peer), message);
}

/* A receive of `bytes` from the peer into `to`. */
static struct wl_recv recv_of(struct wl_rank *rank, const struct wl_partitioned *part, int tag,
                              void *to, size_t bytes)
{
    struct wl_view view = view_of(rank, part);

    return (struct wl_recv){
        .stream = {WL_INTERNAL_CONTEXT(view.comm), wl_member(view.comm, part->peer), tag},
        .buffer = to,
        .count = bytes,
        .type = wl_type_of(rank, MPI_BYTE)};
}

/* ---- creating requests ---- */

struct arguments {
    const void *buffer;
    int partitions;
    MPI_Count count;
    MPI_Datatype type;
    int peer, tag;
    MPI_Comm comm;
};

static void start_recv(struct wl_rank *rank, struct wl_request *request);

static void release(struct wl_rank *rank, struct wl_request *request)
{
    struct wl_partitioned *part = request->own;

    for (struct wl_partitioned **at = &rank->untold; *at != NULL; at = &(*at)->next) {
        if (*at == part) {
            *at = part->next;
            break;
        }
    }
    wl_type_release(part->type);
    free(part->packed);
    if (request->compound->start != start_recv || request->proc_null) {
        return;
    }
    if (part->first.open) {
        const struct wf_op op = {.kind = WF_OP_CANCEL, .request = part->first.number};
        if (wl_call(rank, &op)->found) {
            wl_recv_cancel(rank, &part->first.recv);
        } else {
            (void)wl_recv_complete(rank, &part->first.recv, MPI_STATUS_IGNORE);
        }
    }
    wl_number_free(rank, part->first.number);
    if (request->compound->subs == &part->first) { /* its memory is part->first */
        request->compound->subs = NULL;
        request->compound->n = 0;
    }
}

static struct wl_request *create(struct wl_rank *rank, const struct arguments *args,
                                 MPI_Request *handle)
{
    struct wl_view view = wl_comm_of(rank, args->comm);

    if (args->partitions <= 0 || args->count < 0) {
        wl_fatal(rank, "%d partitions of %td elements", args->partitions, args->count);
    }
    if (args->peer != MPI_PROC_NULL &&
        (args->peer < 0 || (uint32_t)args->peer >= view.n_peers)) {
        wl_fatal(rank, "there is no rank %d in a communicator of %u ranks", args->peer,
                 view.n_peers);
    }
    if (args->tag < 0 || args->tag >= WL_TAG_LIMIT) {
        wl_fatal(rank, "the tag is %d; it must be at least 0 and less than %d", args->tag,
                 WL_TAG_LIMIT);
    }
    struct wl_request *request = wl_persistent_new(rank, WL_REQUEST_COMPOUND, handle);
    struct wl_partitioned *part = wl_calloc(1, sizeof(*part));
    *part = (struct wl_partitioned){.comm = args->comm,
                                    .peer = view.peers + (uint32_t)args->peer,
                                    .source = args->peer,
                                    .tag = args->tag,
                                    .buffer = (unsigned char *)(uintptr_t)args->buffer,
                                    .type = wl_type_of(rank, args->type),
                                    .n = (uint32_t)args->partitions,
                                    .count = (size_t)args->count};
    wl_type_hold(part->type);
    request->own = part;
    request->proc_null = args->peer == MPI_PROC_NULL;
    request->compound = wl_calloc(1, sizeof(*request->compound));
    request->compound->release = release;
    return request;
}

/* ---- sending ---- */

static void send_setup(struct wl_rank *rank, struct wl_partitioned *part);

/* Sends and receives match in the order in which they were created. So the sends before this
 * one that match the same receives tell first. */
static void tell(struct wl_rank *rank, const struct wl_partitioned *last)
{
    struct wl_partitioned **at = &rank->untold;

    while (*at != NULL && !last->told) {
        struct wl_partitioned *part = *at;
        if (part->comm == last->comm && part->peer == last->peer && part->tag == last->tag) {
            *at = part->next;
            part->told = true;
            send_setup(rank, part);
        } else {
            at = &part->next;
        }
    }
}

static void start_send(struct wl_rank *rank, struct wl_request *request)
{
    struct wl_compound *compound = request->compound;

    tell(rank, request->own);

    compound->n_missing = compound->n;
    for (uint32_t i = 0; i < compound->n; i++) {
        compound->subs[i].posted = false;
    }
}

static void finish_send(struct wl_rank *rank, struct wl_request *request)
{
    wl_status_set_empty(&request->status);
}

/* Nobody waits for the message that tells the receiver what comes. */
static void send_setup(struct wl_rank *rank, struct wl_partitioned *part)
{
    part->setup =
        (struct setup){.n = part->n, .first_tag = rank->n_partitions, .bytes = own_bytes(part)};
    rank->n_partitions += part->n;

    uint32_t number = wl_number_new(rank);
    struct wf_op op =
        op_of(rank, part, WF_OP_ISEND, SETUP_TAG(part->tag), sizeof(struct setup));
    struct wl_message *message = message_new(rank, part, op.tag, sizeof(struct setup), true);
    memcpy(message->bytes, &part->setup, sizeof(struct setup));
    message_send(rank, part, message);
    op.request = number;
    wl_post(rank, &op);
    wl_post(rank, &(struct wf_op){.kind = WF_OP_REQUEST_FREE, .request = number});
    wl_number_free(rank, number);
}

int wl_MPI_Psend_init(struct wl_rank *rank, const void *buf, int partitions, MPI_Count count,
                      MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Info info,
                      MPI_Request *handle)
{
    const struct arguments args = {buf, partitions, count, datatype, dest, tag, comm};
    struct wl_request *request = create(rank, &args, handle);
    struct wl_compound *compound = request->compound;

    if (!request->proc_null) {
        struct wl_partitioned **end = &rank->untold;
        while (*end != NULL) {
            end = &(*end)->next;
        }
        *end = request->own;
        compound->n = (uint32_t)partitions;
        compound->subs = wl_calloc(compound->n, sizeof(struct wl_subrequest));
        for (uint32_t i = 0; i < compound->n; i++) {
            compound->subs[i].number = wl_number_new(rank);
        }
    }
    compound->start = start_send;
    compound->finish = finish_send;
    return MPI_SUCCESS;
}

/* The request, which must be active, and a partition of it. */
static struct wl_request *partition_of(struct wl_rank *rank, MPI_Request handle, int partition)
{
    struct wl_request *request = wl_request_of(rank, handle);
    const struct wl_partitioned *part = request->own;

    if (request->kind != WL_REQUEST_COMPOUND || request->compound->start == NULL) {
        wl_fatal(rank, "the request is not one of partitioned communication");
    }
    if (partition < 0 || (uint32_t)partition >= part->n) {
        wl_fatal(rank, "there is no partition %d of %u", partition, part->n);
    }
    return request;
}

int wl_MPI_Pready(struct wl_rank *rank, int partition, MPI_Request handle)
{
    struct wl_request *request = partition_of(rank, handle, partition);
    const struct wl_partitioned *part = request->own;
    size_t bytes = own_bytes(part);
    bool wanted = wl_payload_wanted(bytes);

    if (!request->active || request->compound->start != start_send) {
        wl_fatal(rank, "the request is not a send that has been started");
    }
    if (request->proc_null) {
        return MPI_SUCCESS;
    }
    struct wl_subrequest *sub = &request->compound->subs[partition];
    if (sub->posted) {
        wl_fatal(rank, "partition %d was ready before", partition);
    }
    int tag = DATA_TAG + (int)(part->setup.first_tag % WL_TAG_LIMIT) + partition;
    struct wf_op op = op_of(rank, part, WF_OP_ISEND, tag, bytes);
    struct wl_message *message = message_new(rank, part, tag, bytes, wanted);
    const struct wl_buffer_use what = {
        part->buffer + (MPI_Aint)((size_t)partition * part->count) * part->type->extent,
        part->count, part->type, .writes = false};
    if (wl_checks()) {
        wl_check_hold(rank, &what, &request->uses);
    }
    if (wanted) {
        wl_pack(part->type, what.buffer, part->count, message->bytes);
    }
    message_send(rank, part, message);
    request->compound->n_missing--;
    wl_sub_post(rank, request, sub, &op);
    wl_omp_completes(rank);
    return MPI_SUCCESS;
}

int wl_MPI_Pready_range(struct wl_rank *rank, int partition_low, int partition_high,
                        MPI_Request request)
{
    for (int i = partition_low; i <= partition_high; i++) {
        (void)wl_MPI_Pready(rank, i, request);
    }
    return MPI_SUCCESS;
}

int wl_MPI_Pready_list(struct wl_rank *rank, int length, const int *partitions,
                       MPI_Request request)
{
    for (int i = 0; i < length; i++) {
        (void)wl_MPI_Pready(rank, partitions[i], request);
    }
    return MPI_SUCCESS;
}

/* ---- receiving ---- */

/* Where byte `at` of the data goes. */
static unsigned char *place_of(const struct wl_partitioned *part, size_t at)
{
    return (part->packed != NULL ? part->packed : part->buffer) + at;
}

static void post_data(struct wl_rank *rank, struct wl_request *request)
{
    struct wl_partitioned *part = request->own;
    struct wl_compound *compound = request->compound;

    compound->subs = part->data;
    compound->n = part->setup.n;
    compound->advance = NULL;
    for (uint32_t i = 0; i < compound->n; i++) {
        int tag = DATA_TAG + (int)(part->setup.first_tag % WL_TAG_LIMIT) + (int)i;
        struct wf_op op = op_of(rank, part, WF_OP_IRECV, tag, part->setup.bytes);
        part->data[i].recv =
            recv_of(rank, part, tag, place_of(part, i * part->setup.bytes), part->setup.bytes);
        wl_sub_post(rank, request, &part->data[i], &op);
    }
}

/* The setup has come. */
static bool learn(struct wl_rank *rank, struct wl_request *request)
{
    struct wl_partitioned *part = request->own;
    size_t theirs = part->setup.n * part->setup.bytes, own = part->n * own_bytes(part);

    if (theirs != own) {
        wl_fatal(rank, "the sender has %u partitions of %zu bytes, the receiver %u of %zu",
                 part->setup.n, (size_t)part->setup.bytes, part->n, own_bytes(part));
    }
    part->knows = true;
    part->data = wl_calloc(part->setup.n, sizeof(struct wl_subrequest));
    for (uint32_t i = 0; i < part->setup.n; i++) {
        part->data[i].number = wl_number_new(rank);
        part->data[i].receives = true;
    }
    if (!part->type->contiguous) {
        part->packed = wl_malloc(own);
    }
    request->compound->advance = NULL;
    post_data(rank, request);
    return true;
}

static void start_recv(struct wl_rank *rank, struct wl_request *request)
{
    const struct wl_partitioned *part = request->own;

    if (part->knows) {
        post_data(rank, request);
    }
}

/* Brings a partition of the receiver to its place, if the type has gaps. */
static void unpack(const struct wl_partitioned *part, size_t partition)
{
    if (part->packed != NULL) {
        wl_unpack(part->type, part->packed + partition * own_bytes(part), part->count,
                  part->buffer + (MPI_Aint)(partition * part->count) * part->type->extent);
    }
}

static void finish_recv(struct wl_rank *rank, struct wl_request *request)
{
    const struct wl_partitioned *part = request->own;

    for (uint32_t i = 0; i < part->n; i++) {
        unpack(part, i);
    }
    wl_status_set(&request->status, part->source, part->tag, part->n * own_bytes(part));
}

int wl_MPI_Precv_init(struct wl_rank *rank, void *buf, int partitions, MPI_Count count,
                      MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Info info,
                      MPI_Request *handle)
{
    const struct arguments args = {buf, partitions, count, datatype, source, tag, comm};
    struct wl_request *request = create(rank, &args, handle);
    struct wl_compound *compound = request->compound;
    struct wl_partitioned *part = request->own;

    compound->start = start_recv;
    compound->finish = finish_recv;
    if (!request->proc_null) {
        struct wf_op op = op_of(rank, part, WF_OP_IRECV, SETUP_TAG(tag), sizeof(struct setup));
        part->first = (struct wl_subrequest){
            .number = wl_number_new(rank),
            .receives = true,
            .recv = recv_of(rank, part, op.tag, &part->setup, sizeof(struct setup))};
        compound->subs = &part->first;
        compound->n = 1;
        compound->advance = learn;
        wl_sub_post(rank, request, &part->first, &op);
    }
    return MPI_SUCCESS;
}

int wl_MPI_Parrived(struct wl_rank *rank, MPI_Request handle, int partition, int *flag)
{
    struct wl_request *request = partition_of(rank, handle, partition);
    const struct wl_partitioned *part = request->own;
    uint64_t own = own_bytes(part), each;

    *flag = 1;
    if (!request->active || request->proc_null) {
        return MPI_SUCCESS;
    }
    if (!wl_compound_reach_last(rank, request, false)) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    each = part->setup.bytes > 0 ? part->setup.bytes : 1;
    uint64_t first = (uint64_t)partition * own / each;
    uint64_t end = (((uint64_t)partition + 1) * own + each - 1) / each;
    for (uint64_t i = first; i < end && *flag; i++) {
        struct wl_subrequest *sub = &part->data[i];
        const struct wf_op op = {.kind = WF_OP_TEST, .request = sub->number, .count = 1};
        if (sub->open && wl_call(rank, &op)->found) {
            (void)wl_compound_settle(rank, request, sub->number);
        }
        *flag = !sub->open;
    }
    if (*flag) {
        unpack(part, (size_t)partition);
    }
    return MPI_SUCCESS;
}
