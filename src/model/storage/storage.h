/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Where the files of a machine are, and how long its parts take: arithmetic on times and bytes. Who
 * sends requests to a server, and how, is the caller's (model/ranks/files.h). The equations are in
 * docs/models/storage.md.
 *
 * A storage model is one file with a const struct wf_storage_model and one line in models.def.
 */

#include "base/param.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum wf_storage_attach {
    WF_STORAGE_OWN,     /* servers have a network of their own */
    WF_STORAGE_NETWORK, /* servers are nodes: files compete with messages */
};

/* A device that stores: a disk or several that are used as one. */
struct wf_storage_device {
    uint64_t read_bandwidth, write_bandwidth;
    int64_t read_latency, write_latency; /* of an operation; others go on meanwhile */
    uint64_t rate;                       /* operations a second, or WF_PARAM_WORD */
    uint64_t cache;                      /* bytes that are written later */
    uint64_t cache_bandwidth;
};

/* Settings, scope "storage". */
struct wf_storage_params {
    char *model;
    uint64_t servers, disks; /* disks of each server */
    struct wf_storage_device disk;
    uint64_t stripe, stripes; /* size of a stripe, disks of a file; 0: all */
    uint64_t request;         /* largest message with data */
    uint64_t meta_servers, meta_rate;
    int64_t meta_latency;
    int attach; /* enum wf_storage_attach */
    int64_t latency;
    uint64_t node_bandwidth, server_bandwidth, bandwidth; /* the last one: of all servers */
    struct wf_storage_device local;                       /* of each node */
    char *local_prefix; /* files with such names are on the node's own device */
};

extern const struct wf_param wf_storage_params[];

/* Which disks a file is on: `count` from `first` on, in a circle of all. */
struct wf_storage_layout {
    uint32_t first, count;
    uint64_t stripe; /* > 0 */
    bool local;      /* on the device of the node instead */
};

struct wf_storage;

struct wf_storage_model {
    const char *name, *summary;
    bool has_servers, has_local;
    /* The layout of the file with this number. Null: files take no time. */
    void (*place)(const struct wf_storage *storage, uint32_t file,
                  struct wf_storage_layout *out);
};

#define WF_STORAGE_MODEL(name) extern const struct wf_storage_model wf_storage_model_##name;
#include "model/storage/models.def"

/* A checked set of parameters; does not change during a run. */
struct wf_storage {
    const struct wf_storage_model *model;
    const struct wf_storage_params *params; /* kept */
    uint64_t server_bandwidth;              /* of the interface of a server */
    bool has_local;                         /* nodes have a device for files */
};

/* WF_EUSAGE for an unknown model, or parameters that contradict each other. */
WF_NODISCARD
enum wf_status wf_storage_init(struct wf_storage *out, const struct wf_storage_params *params,
                               struct wf_err *err);

/* Whether the machine has a storage model. */
bool wf_storage_is_known(const struct wf_storage_params *params);

/* Servers of data and then of names; 0 without servers. */
uint32_t wf_storage_units(const struct wf_storage *storage);

/* Where a file is. `name` may be null. */
void wf_storage_place(const struct wf_storage *storage, uint32_t file, const char *name,
                      struct wf_storage_layout *out);

/* The bytes among those from `offset` on that are on disk number i of the layout. */
uint64_t wf_storage_share(const struct wf_storage_layout *layout, uint32_t i, uint64_t offset,
                          uint64_t bytes);

/* ---- times ---- */

/* What a device is busy with. Its operations begin in the order in which they come. */
struct wf_storage_queue {
    int64_t busy;    /* until then with what was asked for */
    int64_t drained; /* until then with what its cache has */
    int64_t worked;  /* for how long */
};

/* An operation that comes at the time `at`; returns when it is done. */
int64_t wf_storage_read(const struct wf_storage_device *device, struct wf_storage_queue *queue,
                        int64_t at, uint64_t bytes);
int64_t wf_storage_write(const struct wf_storage_device *device, struct wf_storage_queue *queue,
                         int64_t at, uint64_t bytes);
/* All that was written is on the disk. */
int64_t wf_storage_sync(const struct wf_storage_device *device,
                        const struct wf_storage_queue *queue, int64_t at);
/* An operation on names. */
int64_t wf_storage_name(const struct wf_storage *storage, struct wf_storage_queue *queue,
                        int64_t at);

/* `bytes` pass a link of this bandwidth that is busy until `*busy`: their first one comes at the
 * time `first`, their last one not before `last`. Returns when the last one has passed. */
int64_t wf_storage_pass(int64_t *busy, uint64_t bandwidth, uint64_t bytes, int64_t first,
                        int64_t last);
