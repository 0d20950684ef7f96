/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/files.h"

#include "base/mem.h"
#include "model/ranks/msg_header.h"

#include <string.h>

/* What a rank has done with files, in a cell that it gets with its first one. */
struct rank_files {
    uint32_t pending;  /* requests that were not answered yet */
    uint32_t what;     /* enum wf_file_what, of the operation that waits */
    int64_t since, at; /* when it began, and the latest answer */
    struct wf_job_files done;
};

_Static_assert(sizeof(struct rank_files) <= WF_FILES_CELL, "it fits into its cell");

/* The interface of a node to the servers' own network: when it is free. */
struct port {
    int64_t out, in;
};

/* A server on a node, or the device of the node; followed by its queues. */
struct unit {
    struct port port;
    struct wf_server_tally did;
    struct wf_storage_queue queues[];
};

/* What a header says besides an enum wf_file_what. */
enum { WHAT_BITS = 4, WHAT_MASK = (1 << WHAT_BITS) - 1 };

enum wf_status wf_files_init(struct wf_files *files, const struct wf_storage_params *params,
                             const struct wf_place *place, struct wf_err *err)
{
    *files = (struct wf_files){.storage = {.model = &wf_storage_model_none}};
    if (params == NULL) {
        return WF_OK;
    }
    WF_TRY(wf_storage_init(&files->storage, params, err));
    files->n_units = wf_storage_units(&files->storage);
    if (files->n_units > place->n_nodes && params->attach == WF_STORAGE_NETWORK) {
        return wf_err_set(err, WF_EUSAGE,
                          "storage.attach=network: %u servers of data and names need as many "
                          "nodes, and the network has %u; take a larger topology, fewer "
                          "servers, or storage.attach=own",
                          files->n_units, place->n_nodes);
    }
    files->units_per_node = (files->n_units + place->n_nodes - 1) / place->n_nodes;
    return WF_OK;
}

uint32_t wf_files_servers(const struct wf_files *files)
{
    return files->n_units + (files->storage.has_local ? 1 : 0);
}

bool wf_files_send_messages(const struct wf_files *files)
{
    return files->n_units > 0 && files->storage.params->attach == WF_STORAGE_NETWORK;
}

void wf_files_promise(const struct wf_files *files, struct wf_engine *engine)
{
    if (files->n_units > 0 && !wf_files_send_messages(files)) {
        wf_engine_promise(engine, files->storage.params->latency);
    }
}

static size_t unit_size(uint64_t n_queues)
{
    return sizeof(struct unit) + n_queues * sizeof(struct wf_storage_queue);
}

size_t wf_files_layout(struct wf_files *files, size_t size)
{
    if (files->storage.params == NULL || files->storage.model->place == NULL) {
        return size;
    }
    files->offset = size;
    files->local_at = sizeof(struct port);
    files->units_at = files->local_at + (files->storage.has_local ? unit_size(1) : 0);
    files->unit_size = unit_size(files->storage.params->disks);
    return size + files->units_at + files->units_per_node * files->unit_size;
}

static struct port *port_of(const struct wf_ranks *ranks, void *node)
{
    return (struct port *)(void *)((unsigned char *)node + ranks->files.offset);
}

/* The i-th server on the node. */
static struct unit *unit_of(const struct wf_files *files, void *node, uint32_t i)
{
    return (struct unit *)(void *)((unsigned char *)node + files->offset + files->units_at +
                                   i * files->unit_size);
}

static bool is_own(const struct wf_ranks *ranks)
{
    return ranks->files.storage.params->attach == WF_STORAGE_OWN;
}

/* The node of a server, and its number among those of the node. */
static uint32_t node_of(const struct wf_ranks *ranks, uint32_t unit, uint32_t *number)
{
    uint32_t n_nodes = ranks->place->n_nodes;

    *number = is_own(ranks) ? unit / n_nodes : 0;
    return is_own(ranks) ? unit % n_nodes : n_nodes - 1 - unit;
}

/* The inverse: that server of the node. Those that keep names come last. */
static uint64_t number_of_unit(const struct wf_ranks *ranks, uint32_t node, uint32_t number)
{
    uint64_t n_nodes = ranks->place->n_nodes;

    return is_own(ranks) ? number * n_nodes + node : n_nodes - 1 - node;
}

/* ---- devices ---- */

static int64_t operate(const struct wf_storage_device *device, struct wf_storage_queue *queue,
                       struct wf_server_tally *did, uint32_t what, int64_t at, uint64_t bytes)
{
    int64_t worked = queue->worked, done = at;

    did->requests++;
    if (what == WF_FILE_READ) {
        did->read = wf_count_add(did->read, bytes);
        done = wf_storage_read(device, queue, at, bytes);
    } else if (what == WF_FILE_WRITE) {
        did->written = wf_count_add(did->written, bytes);
        done = wf_storage_write(device, queue, at, bytes);
    } else {
        done = wf_storage_sync(device, queue, at);
    }
    did->busy_ps = wf_time_add(did->busy_ps, queue->worked - worked);
    return done;
}

/* The device of the rank's node; ranks of a node use it in the order in which they ask. */
static int64_t use_local(const struct wf_caller *who, uint32_t what, int64_t at, uint64_t bytes)
{
    const struct wf_files *files = &who->ranks->files;
    struct unit *unit =
        (struct unit *)(void *)((unsigned char *)who->node + files->offset + files->local_at);

    wf_touch(who->ctx, unit, unit_size(1));
    return operate(&files->storage.params->local, &unit->queues[0], &unit->did, what, at,
                   bytes);
}

/* ---- requests and answers ---- */

/* The time that a link alone needs for these bytes. */
static int64_t alone(uint64_t bytes, uint64_t bandwidth)
{
    return bandwidth == WF_PARAM_WORD ? 0 : wf_transfer_ps(bytes, bandwidth);
}

/* An interface to the servers' own network: until when it is busy, and how fast it is. */
struct link {
    int64_t *busy;
    uint64_t bandwidth;
};

/* Sends to a slot of a node, which the header names, by the servers' own network: an event receives the
 * last byte, which passes the interface from `at` on. */
static void send_apart(const struct wf_caller *who, uint32_t node, struct wf_msg_header *header,
                       uint64_t bytes, int64_t at, const struct link *link)
{
    const struct wf_net *net = who->ranks->net;
    uint32_t own = wf_self(who->ctx) - net->first_node;
    struct wf_net_message msg = {.bytes = bytes, .src_node = wf_net_end(&net->ends, own, 0)};

    header->src_slot = (uint16_t)who->slot;
    memcpy(msg.header, header, sizeof(*header));
    wf_touch(who->ctx, link->busy, sizeof(*link->busy));
    int64_t left = wf_storage_pass(link->busy, link->bandwidth, bytes, at, at);
    int64_t then = wf_time_add(left, who->ranks->files.storage.params->latency);
    wf_schedule(who->ctx, net->first_node + node,
                then == WF_TIME_MAX ? then : then - wf_now(who->ctx), WF_NODE_FILE, &msg,
                sizeof(msg));
}

/* A request to a server: of data to one of its disks. */
struct request {
    uint32_t unit, disk, what;
    uint64_t bytes;
};

static void send_request(const struct wf_caller *who, const struct request *request)
{
    const struct wf_ranks *ranks = who->ranks;
    uint64_t sent = request->what == WF_FILE_WRITE ? request->bytes : 0;
    uint32_t number, node = node_of(ranks, request->unit, &number);
    struct wf_msg_header header = {
        .file = {.disk = request->disk,
                 .what = (request->what | number << WHAT_BITS) & WF_MSG_LOW_MASK,
                 .kind = WF_MSG_FILE,
                 .bytes = request->bytes}};

    if (is_own(ranks)) {
        const struct link link = {&port_of(ranks, who->node)->out,
                                  ranks->files.storage.params->node_bandwidth};
        send_apart(who, node, &header, sent, who->rank->clock, &link);
    } else {
        wf_msg_transmit_to(who, node, 0, &header, sent, who->rank->clock);
    }
}

/* The server's part of a request: returns when the answer leaves. */
static int64_t serve(const struct wf_caller *server, struct unit *unit,
                     const struct wf_msg_header *header, bool names, uint64_t received,
                     int64_t at)
{
    const struct wf_storage *storage = &server->ranks->files.storage;
    uint32_t what = header->file.what & WHAT_MASK;
    struct wf_storage_queue *queue = &unit->queues[names ? 0 : header->file.disk];

    wf_touch(server->ctx, unit, sizeof(*unit));
    wf_touch(server->ctx, queue, sizeof(*queue));
    if (is_own(server->ranks)) {
        int64_t first = at - alone(received, storage->params->node_bandwidth);
        at = wf_storage_pass(&unit->port.in, storage->server_bandwidth, received, first, at);
    }
    if (names) {
        int64_t worked = queue->worked;
        unit->did.requests++;
        at = wf_storage_name(storage, queue, at);
        unit->did.busy_ps = wf_time_add(unit->did.busy_ps, queue->worked - worked);
        return at;
    }
    return operate(&storage->params->disk, queue, &unit->did, what, at, header->file.bytes);
}

void wf_files_serve(const struct wf_ranks *ranks, struct wf_ctx *ctx, void *node,
                    const struct wf_net_message *msg, int64_t at)
{
    struct wf_msg_header header;

    memcpy(&header, msg->header, sizeof(header));
    const struct wf_caller server = {.ranks = ranks, .ctx = ctx, .node = node};
    uint32_t number = header.file.what >> WHAT_BITS, what = header.file.what & WHAT_MASK;
    struct unit *unit = unit_of(&ranks->files, node, number);
    bool names = number_of_unit(ranks, wf_self(ctx) - ranks->net->first_node, number) >=
                 ranks->files.storage.params->servers;
    int64_t done = serve(&server, unit, &header, names, msg->bytes, at);
    uint64_t sent = what == WF_FILE_READ ? header.file.bytes : 0;
    uint32_t client = wf_net_interface_of(&ranks->net->ends, msg->src_node).node;
    struct wf_msg_header answer = {
        .file = {.what = what & WF_MSG_LOW_MASK, .kind = WF_MSG_FILE_DONE}};

    if (is_own(ranks)) {
        const struct link link = {&unit->port.out, ranks->files.storage.server_bandwidth};
        answer.dst_slot = header.src_slot;
        send_apart(&server, client, &answer, sent, done, &link);
    } else {
        wf_msg_transmit_to(&server, client, header.src_slot, &answer, sent, done);
    }
}

int64_t wf_files_received(const struct wf_ranks *ranks, struct wf_ctx *ctx, void *node,
                          uint64_t bytes, int64_t at)
{
    const struct wf_storage *storage = &ranks->files.storage;
    struct port *port = port_of(ranks, node);

    wf_touch(ctx, port, sizeof(*port));
    return wf_storage_pass(&port->in, storage->params->node_bandwidth, bytes,
                           at - alone(bytes, storage->server_bandwidth), at);
}

/* ---- operations ---- */

static struct rank_files *edit(const struct wf_caller *who)
{
    struct wf_rank_cold *cold = wf_rank_cold_edit(who);

    if (cold->files == 0) {
        uint32_t cell = wf_cell_new_for(who->ctx, WF_FILES_CELL);

        cold = wf_rank_cold_edit(who);
        cold->files = cell;
    }
    return wf_cell_edit(who->ctx, cold->files);
}

/* Syncs take time of writes. */
static struct wf_file_times *times_of(struct rank_files *files, uint32_t what)
{
    return what == WF_FILE_READ                            ? &files->done.read
           : what == WF_FILE_WRITE || what == WF_FILE_SYNC ? &files->done.written
                                                           : NULL;
}

/* The operation is over at the time files->at. */
static void finish(const struct wf_caller *who, struct rank_files *files)
{
    struct wf_file_times *times = times_of(files, files->what);
    int64_t at = files->at;

    if (times != NULL && at > times->last) {
        times->last = at;
    }
    if (at > who->rank->clock) {
        wf_cause_note(who, (struct wf_cause){.until = at,
                                             .since = files->since,
                                             .bytes = 1,
                                             .from = who->number,
                                             .why = WF_WHY_ONE_SIDED});
    }
    wf_rank_advance(who, at, WF_IN_FILE);
}

void wf_files_answered(const struct wf_arrival *arrival)
{
    const struct wf_caller *who = &arrival->who;
    struct rank_files *files = edit(who);

    if (files->pending == 0) {
        return; /* only in a run that is rolled back */
    }
    files->at = wf_max_i64(files->at, arrival->at);
    if (--files->pending == 0 && who->rank->state == WF_RANK_WAITING &&
        who->rank->waits_for == WF_WAITS_FOR_FILE) {
        who->rank->waits_for = WF_WAITS_FOR_ALL;
        finish(who, files);
        wf_rank_wake(who);
    }
}

/* The most requests that one operation sends to a disk, so that a huge one costs no more. */
enum { REQUESTS_MAX = 4096 };

/* Sends the requests of an operation; returns their number. */
static uint32_t ask_disks(const struct wf_caller *who, const struct wf_op *op, uint32_t what,
                          const struct wf_storage_layout *layout)
{
    const struct wf_storage_params *params = who->ranks->files.storage.params;
    uint64_t n_disks = params->servers * params->disks, sent = 0;
    uint64_t most = params->request;
    uint32_t n = 0;

    if (most <= op->bytes / REQUESTS_MAX) {
        most = op->bytes / REQUESTS_MAX + 1;
    }
    for (bool more = true; more; sent = wf_count_add(sent, most)) {
        more = false;
        for (uint32_t i = 0; i < layout->count; i++) {
            uint64_t share =
                what == WF_FILE_SYNC ? 0 : wf_storage_share(layout, i, op->offset, op->bytes);
            uint64_t disk = (layout->first + (uint64_t)i) % n_disks;

            if (share <= sent && what != WF_FILE_SYNC) {
                continue;
            }
            send_request(who, &(struct request){.unit = (uint32_t)(disk % params->servers),
                                                .disk = (uint32_t)(disk / params->servers),
                                                .what = what,
                                                .bytes = wf_min_u64(share - sent, most)});
            more |= share - sent > most;
            n++;
        }
    }
    return n;
}

/* Notes the operation, which begins now. */
static void note(const struct wf_caller *who, const struct wf_op *op, uint32_t what)
{
    struct rank_files *files = edit(who);
    struct wf_file_times *times = times_of(files, what);

    files->what = what;
    files->since = files->at = who->rank->clock;
    files->done.n++;
    if (times != NULL && what != WF_FILE_SYNC) {
        times->bytes = wf_count_add(times->bytes, op->bytes);
        if (!times->any) {
            times->any = 1;
            times->first = who->rank->clock;
        }
    }
}

enum wf_called wf_rank_file(const struct wf_rank_program *program, const struct wf_op *op)
{
    const struct wf_caller *who = program->who;
    const struct wf_storage *storage = &who->ranks->files.storage;
    uint32_t what = wf_op_info(op->kind)->detail, file = (uint32_t)op->tag + program->job;
    bool moves = what == WF_FILE_READ || what == WF_FILE_WRITE;
    struct wf_storage_layout layout;

    if (storage->model->place == NULL) {
        note(who, op, what);
        return WF_CALLED_DONE;
    }
    if (wf_rank_sync(who) == WF_CALLED_AGAIN) {
        return WF_CALLED_AGAIN;
    }
    note(who, op, what);
    if (moves && op->bytes == 0) {
        return WF_CALLED_DONE;
    }
    const char *name =
        storage->params->local_prefix[0] == '\0'
            ? NULL
            : wf_source_name_of(program->source, WF_NAME_FILE, (uint32_t)op->tag);
    wf_storage_place(storage, file, name, &layout);
    if (layout.local) {
        struct rank_files *files = edit(who);

        if (moves || what == WF_FILE_SYNC) {
            files->at = use_local(who, what, who->rank->clock, op->bytes);
        }
        finish(who, files);
        return WF_CALLED_DONE;
    }
    uint32_t pending = 1;

    if (moves || what == WF_FILE_SYNC) {
        pending = ask_disks(who, op, what, &layout);
    } else {
        send_request(who,
                     &(struct request){.unit = (uint32_t)(storage->params->servers +
                                                          file % storage->params->meta_servers),
                                       .what = what});
    }
    edit(who)->pending = pending;
    who->rank->waits_for = WF_WAITS_FOR_FILE;
    who->rank->state = WF_RANK_WAITING;
    return WF_CALLED_BLOCKED;
}

/* ---- the end ---- */

void wf_files_count_rank(const struct wf_caller *who, struct wf_job_files *out)
{
    uint32_t cell = wf_rank_cold(who)->files;

    *out = (struct wf_job_files){.n = 0};
    if (cell != 0) {
        *out = ((const struct rank_files *)wf_cell_read(who->ctx, cell))->done;
    }
}

void wf_files_count_node(const struct wf_ranks *ranks, const void *node, uint32_t number,
                         struct wf_ranks_tally *tally)
{
    const struct wf_files *files = &ranks->files;
    struct wf_server_tally *servers = wf_tally_servers(tally);

    if (servers == NULL) {
        return;
    }
    for (uint32_t i = 0; i < files->units_per_node; i++) {
        uint64_t unit = number_of_unit(ranks, number, i);
        if (unit < files->n_units) {
            servers[unit] = unit_of(files, wf_unconst(node), i)->did;
        }
    }
    if (files->storage.has_local) {
        const struct unit *own =
            (const struct unit *)(const void *)((const unsigned char *)node + files->offset +
                                                files->local_at);
        wf_tally_server_merge(&servers[files->n_units], &own->did);
    }
}
