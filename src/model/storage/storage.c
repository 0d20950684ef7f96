/* SPDX-License-Identifier: Apache-2.0 */
#include "model/storage/storage.h"

#include "base/lookup.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

static const char *const attach_names[] = {"own", "network", NULL};

static const struct wf_storage_model *const models[] = {
#define WF_STORAGE_MODEL(name) &wf_storage_model_##name,
#include "model/storage/models.def"
    NULL,
};

#define ROW(member, kind, ...) WF_PARAM_ROW(struct wf_storage_params, member, kind, __VA_ARGS__)
#define TIME(member, ...)      ROW(member, TIME, .min = "0", .max = "1h", __VA_ARGS__)
#define LIMIT(member, kind, ...) \
    ROW(member, kind, .min = "1", .word = "unlimited", .def = "unlimited", __VA_ARGS__)
#define RATE(member, ...) \
    ROW(member, RATE, .word = "unlimited", .def = "unlimited", __VA_ARGS__)

/* Rows of a member of a device, with the names of the device of a server or of a node. */
#define DEVICE(member, prefix, what, kind, row, ...)                          \
    {                                                                         \
        .name = prefix #row, .type = WF_PARAM_##kind,                         \
        .offset = offsetof(struct wf_storage_params, member.row), __VA_ARGS__ \
    }
#define DEVICES(member, prefix, what)                                                          \
    DEVICE(member, prefix, what, RATE, read_bandwidth, .word = "unlimited",                    \
           .def = "unlimited", .doc = "Bandwidth at which " what " reads"),                    \
        DEVICE(member, prefix, what, RATE, write_bandwidth, .word = "unlimited",               \
               .def = "unlimited", .doc = "Bandwidth at which " what " writes"),               \
        DEVICE(member, prefix, what, TIME, read_latency, .def = "0", .min = "0", .max = "1h",  \
               .doc = "Latency of a read of " what),                                           \
        DEVICE(member, prefix, what, TIME, write_latency, .def = "0", .min = "0", .max = "1h", \
               .doc = "Latency of a write of " what),                                          \
        DEVICE(member, prefix, what, COUNT, rate, .word = "unlimited", .def = "unlimited",     \
               .min = "1", .max = "1000000000000", .doc = "Operations a second of " what),     \
        DEVICE(member, prefix, what, SIZE, cache, .def = "0",                                  \
               .doc = "Written bytes that a cache in front of " what                           \
                      " holds; it writes them to the device later"),                           \
        DEVICE(member, prefix, what, RATE, cache_bandwidth, .word = "unlimited",               \
               .def = "unlimited", .doc = "Bandwidth at which that cache takes bytes")

const struct wf_param wf_storage_params[] = {
    ROW(model, TEXT, .def = "none",
        .doc = "Where files are: none (they take no time), striped (disks of servers), local "
               "(a device of each node)"),
    ROW(servers, COUNT, .def = "1", .min = "1", .max = "65536", .doc = "Servers of data"),
    ROW(disks, COUNT, .def = "1", .min = "1", .max = "4096",
        .doc = "Disks of each server: what a stripe is on, such as an OST of Lustre"),
    DEVICES(disk, "", "a disk"),
    ROW(stripe, SIZE, .def = "1MiB", .min = "1", .doc = "Bytes of a stripe"),
    ROW(stripes, COUNT, .def = "1", .doc = "Disks that a file is spread over; 0: all"),
    LIMIT(request, SIZE,
          .doc = "Bytes of data that one request to a disk has at most; an operation with more "
                 "sends several at once"),
    ROW(meta_servers, COUNT, .def = "1", .min = "1", .max = "65536",
        .doc = "Servers that open and close files"),
    TIME(meta_latency, .def = "0", .doc = "Latency of opening or closing a file"),
    LIMIT(meta_rate, COUNT, .max = "1000000000000",
          .doc = "Files that such a server opens or closes in a second"),
    ROW(attach, ENUM, .def = "own", .choices = attach_names,
        .doc = "How nodes reach servers: by a network of their own; or servers are the last "
               "nodes of the topology, where files compete with messages"),
    TIME(latency, .def = "5us", .only_with = "attach=own",
         .doc = "Latency of the servers' own network, in each direction"),
    RATE(node_bandwidth, .only_with = "attach=own",
         .doc = "Bandwidth between a node and that network, in each direction"),
    RATE(server_bandwidth, .only_with = "attach=own",
         .doc = "Bandwidth between a server and that network, in each direction"),
    RATE(bandwidth, .only_with = "attach=own",
         .doc = "Bandwidth of all servers together, in each direction; each has its share"),
    DEVICES(local, "local_", "the device of a node"),
    ROW(local_prefix, TEXT, .def = "",
        .doc = "Files whose names begin with this are on the device of the node, whatever the "
               "model"),
    WF_PARAM_END,
};

enum wf_status wf_storage_init(struct wf_storage *out, const struct wf_storage_params *params,
                               struct wf_err *err)
{
    const struct wf_storage_model *model =
        wf_lookup("storage model", params->model, models, err);
    uint64_t share = params->bandwidth;

    if (model == NULL) {
        wf_err_prefix(err, "storage.model:");
        return WF_EUSAGE;
    }
    if (params->servers * params->disks > UINT32_MAX / 2) {
        return wf_err_set(err, WF_EUSAGE,
                          "storage.servers x storage.disks: the limit is 2^31 disks in all");
    }
    if (share != WF_PARAM_WORD) {
        share = share / params->servers > 0 ? share / params->servers : 1;
    }
    *out = (struct wf_storage){
        .model = model,
        .params = params,
        .server_bandwidth = share < params->server_bandwidth ? share : params->server_bandwidth,
        .has_local = model->has_local || (model->place != NULL && params->local_prefix[0] != 0),
    };
    return WF_OK;
}

bool wf_storage_is_known(const struct wf_storage_params *params)
{
    return strcmp(params->model, wf_storage_model_none.name) != 0;
}

uint32_t wf_storage_units(const struct wf_storage *storage)
{
    return storage->model->has_servers
               ? (uint32_t)(storage->params->servers + storage->params->meta_servers)
               : 0;
}

void wf_storage_place(const struct wf_storage *storage, uint32_t file, const char *name,
                      struct wf_storage_layout *out)
{
    const char *prefix = storage->params->local_prefix;

    *out = (struct wf_storage_layout){.count = 1, .stripe = UINT64_MAX};
    if (prefix[0] != '\0' && name != NULL && strncmp(name, prefix, strlen(prefix)) == 0) {
        out->local = true;
    } else {
        storage->model->place(storage, file, out);
    }
}

/* The bytes before `end` that are on disk i. */
static uint64_t bytes_before(const struct wf_storage_layout *layout, uint32_t i, uint64_t end)
{
    uint64_t whole = end / layout->stripe, turn = whole % layout->count;
    uint64_t bytes = whole / layout->count * layout->stripe;

    return bytes + (i < turn ? layout->stripe : i == turn ? end % layout->stripe : 0);
}

uint64_t wf_storage_share(const struct wf_storage_layout *layout, uint32_t i, uint64_t offset,
                          uint64_t bytes)
{
    return bytes_before(layout, i, offset + bytes) - bytes_before(layout, i, offset);
}

/* ---- times ---- */

/* How long a disk is busy with an operation. */
static int64_t service(const struct wf_storage_device *device, struct wf_storage_queue *queue,
                       uint64_t bytes, uint64_t bandwidth)
{
    const int64_t SECOND = INT64_C(1000000000000);
    int64_t transfer = bandwidth == WF_PARAM_WORD ? 0 : wf_transfer_ps(bytes, bandwidth);
    int64_t turn = device->rate == WF_PARAM_WORD ? 0 : SECOND / (int64_t)device->rate;

    transfer = transfer > turn ? transfer : turn;
    queue->worked = wf_time_add(queue->worked, transfer);
    return transfer;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int64_t wf_storage_read(const struct wf_storage_device *device, struct wf_storage_queue *queue,
                        int64_t at, uint64_t bytes)
{
    int64_t takes = service(device, queue, bytes, device->read_bandwidth);
    int64_t begin = later(at, queue->busy);

    queue->busy = wf_time_add(begin, takes);
    queue->drained = wf_time_add(later(queue->drained, begin), takes);
    return wf_time_add(queue->busy, device->read_latency);
}

int64_t wf_storage_write(const struct wf_storage_device *device, struct wf_storage_queue *queue,
                         int64_t at, uint64_t bytes)
{
    int64_t takes = service(device, queue, bytes, device->write_bandwidth);
    int64_t begin = later(at, queue->busy);
    int64_t absorbed = begin;
    /* How long the disk needs for a full cache. */
    int64_t ahead = device->write_bandwidth == WF_PARAM_WORD
                        ? 0
                        : wf_transfer_ps(device->cache, device->write_bandwidth);

    if (device->cache_bandwidth != WF_PARAM_WORD && device->cache > 0) {
        absorbed = wf_time_add(begin, wf_transfer_ps(bytes, device->cache_bandwidth));
    }
    queue->drained = wf_time_add(later(queue->drained, begin), takes);
    queue->busy = later(absorbed, queue->drained - ahead);
    return wf_time_add(queue->busy, device->write_latency);
}

int64_t wf_storage_sync(const struct wf_storage_device *device,
                        const struct wf_storage_queue *queue, int64_t at)
{
    return wf_time_add(later(at, later(queue->busy, queue->drained)), device->write_latency);
}

int64_t wf_storage_name(const struct wf_storage *storage, struct wf_storage_queue *queue,
                        int64_t at)
{
    const struct wf_storage_device device = {.rate = storage->params->meta_rate,
                                             .read_bandwidth = WF_PARAM_WORD,
                                             .read_latency = storage->params->meta_latency};

    return wf_storage_read(&device, queue, at, 0);
}

int64_t wf_storage_pass(int64_t *busy, uint64_t bandwidth, uint64_t bytes, int64_t first,
                        int64_t last)
{
    int64_t takes = bandwidth == WF_PARAM_WORD ? 0 : wf_transfer_ps(bytes, bandwidth);

    *busy = later(last, wf_time_add(later(*busy, first), takes));
    return *busy;
}
