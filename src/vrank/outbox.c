/* SPDX-License-Identifier: Apache-2.0 */
#include "vrank/outbox.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 8, KIND_BITS = 8, KEPT_BYTES = 1 << 20 };

struct shelf {
    pthread_mutex_t lock;
    struct wf_buf parcels;
};

struct wf_vrank_outbox {
    uint32_t n_processes, own;
    struct shelf *shelves; /* by process */
};

struct wf_vrank_outbox *wf_vrank_outbox_new(const struct wf_homes *homes)
{
    struct wf_vrank_outbox *remote = wf_xcalloc(1, sizeof(*remote));

    remote->n_processes = homes->n_processes;
    remote->own = homes->own;
    remote->shelves = wf_xcalloc(homes->n_processes, sizeof(struct shelf));
    for (uint32_t p = 0; p < homes->n_processes; p++) {
        (void)pthread_mutex_init(&remote->shelves[p].lock, NULL);
    }
    return remote;
}

void wf_vrank_outbox_free(struct wf_vrank_outbox *remote)
{
    if (remote == NULL) {
        return;
    }
    for (uint32_t p = 0; p < remote->n_processes; p++) {
        wf_buf_fini(&remote->shelves[p].parcels);
        (void)pthread_mutex_destroy(&remote->shelves[p].lock);
    }
    free(remote->shelves);
    free(remote);
}

static size_t padding(size_t size)
{
    return (ALIGN - size % ALIGN) % ALIGN;
}

void wf_vrank_outbox_put(struct wf_vrank_outbox *remote, uint32_t process,
                         enum wf_vrank_parcel kind, const struct wf_port_bytes *pieces,
                         uint32_t n)
{
    static const unsigned char zeros[ALIGN];
    size_t size = 0;

    for (uint32_t i = 0; i < n; i++) {
        size += pieces[i].size;
    }
    const uint64_t head = (uint64_t)size << KIND_BITS | (uint64_t)kind;
    struct shelf *shelf = &remote->shelves[process];
    (void)pthread_mutex_lock(&shelf->lock);
    wf_buf_append(&shelf->parcels, &head, sizeof(head));
    for (uint32_t i = 0; i < n; i++) {
        wf_buf_append(&shelf->parcels, pieces[i].bytes, pieces[i].size);
    }
    wf_buf_append(&shelf->parcels, zeros, padding(size));
    (void)pthread_mutex_unlock(&shelf->lock);
}

void wf_vrank_outbox_put_all(struct wf_vrank_outbox *remote, enum wf_vrank_parcel kind,
                             const struct wf_port_bytes *pieces, uint32_t n)
{
    for (uint32_t p = 0; remote != NULL && p < remote->n_processes; p++) {
        if (p != remote->own) {
            wf_vrank_outbox_put(remote, p, kind, pieces, n);
        }
    }
}

void wf_vrank_outbox_take(struct wf_vrank_outbox *remote, uint32_t process, struct wf_buf *out)
{
    if (remote == NULL) {
        return;
    }
    struct shelf *shelf = &remote->shelves[process];
    (void)pthread_mutex_lock(&shelf->lock);
    wf_buf_append(out, shelf->parcels.data, shelf->parcels.size);
    shelf->parcels.size = 0;
    if (shelf->parcels.capacity > KEPT_BYTES) {
        wf_buf_fini(&shelf->parcels);
    }
    (void)pthread_mutex_unlock(&shelf->lock);
}

void wf_vrank_parcels_read(const unsigned char *bytes, size_t size, wf_vrank_parcel_fn *open,
                           void *arg)
{
    uint64_t head;

    for (size_t at = 0; at < size;) {
        memcpy(&head, bytes + at, sizeof(head));
        size_t length = (size_t)(head >> KIND_BITS);
        at += sizeof(head);
        open(arg, (enum wf_vrank_parcel)(head & ((1U << KIND_BITS) - 1)), bytes + at, length);
        at += length + padding(length);
    }
}
