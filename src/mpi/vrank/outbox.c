/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/outbox.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 8, KIND_BITS = 8, KEPT_BYTES = 1 << 20 };

struct queue {
    pthread_mutex_t lock;
    struct wf_buf parcels;
};

struct wf_vrank_outbox {
    uint32_t n_processes, own;
    struct queue *queues; /* [process] */
};

struct wf_vrank_outbox *wf_vrank_outbox_new(const struct wf_homes *homes)
{
    struct wf_vrank_outbox *outbox = wf_xcalloc(1, sizeof(*outbox));

    outbox->n_processes = homes->n_processes;
    outbox->own = homes->own;
    outbox->queues = wf_xcalloc(homes->n_processes, sizeof(struct queue));
    for (uint32_t p = 0; p < homes->n_processes; p++) {
        (void)pthread_mutex_init(&outbox->queues[p].lock, NULL);
    }
    return outbox;
}

void wf_vrank_outbox_free(struct wf_vrank_outbox *outbox)
{
    if (outbox == NULL) {
        return;
    }
    for (uint32_t p = 0; p < outbox->n_processes; p++) {
        wf_buf_fini(&outbox->queues[p].parcels);
        (void)pthread_mutex_destroy(&outbox->queues[p].lock);
    }
    free(outbox->queues);
    free(outbox);
}

static size_t padding(size_t size)
{
    return (ALIGN - size % ALIGN) % ALIGN;
}

void wf_vrank_outbox_put(struct wf_vrank_outbox *outbox, uint32_t process,
                         enum wf_vrank_parcel kind, const struct wf_port_bytes *pieces,
                         uint32_t n)
{
    static const unsigned char zeros[ALIGN];
    size_t size = 0;

    for (uint32_t i = 0; i < n; i++) {
        size += pieces[i].size;
    }
    const uint64_t head = (uint64_t)size << KIND_BITS | (uint64_t)kind;
    struct queue *queue = &outbox->queues[process];
    (void)pthread_mutex_lock(&queue->lock);
    wf_buf_append(&queue->parcels, &head, sizeof(head));
    for (uint32_t i = 0; i < n; i++) {
        wf_buf_append(&queue->parcels, pieces[i].bytes, pieces[i].size);
    }
    wf_buf_append(&queue->parcels, zeros, padding(size));
    (void)pthread_mutex_unlock(&queue->lock);
}

void wf_vrank_outbox_put_all(struct wf_vrank_outbox *outbox, enum wf_vrank_parcel kind,
                             const struct wf_port_bytes *pieces, uint32_t n)
{
    for (uint32_t p = 0; outbox != NULL && p < outbox->n_processes; p++) {
        if (p != outbox->own) {
            wf_vrank_outbox_put(outbox, p, kind, pieces, n);
        }
    }
}

void wf_vrank_outbox_take(struct wf_vrank_outbox *outbox, uint32_t process, struct wf_buf *out)
{
    if (outbox == NULL) {
        return;
    }
    struct queue *queue = &outbox->queues[process];
    (void)pthread_mutex_lock(&queue->lock);
    wf_buf_append(out, queue->parcels.data, queue->parcels.size);
    queue->parcels.size = 0;
    if (queue->parcels.capacity > KEPT_BYTES) {
        wf_buf_fini(&queue->parcels);
    }
    (void)pthread_mutex_unlock(&queue->lock);
}

void wf_vrank_parcels_read(const unsigned char *bytes, size_t size, wf_vrank_parcel_fn *read,
                           void *arg)
{
    uint64_t head;

    for (size_t at = 0; at < size;) {
        memcpy(&head, bytes + at, sizeof(head));
        size_t length = (size_t)(head >> KIND_BITS);
        at += sizeof(head);
        read(arg, (enum wf_vrank_parcel)(head & ((1U << KIND_BITS) - 1)), bytes + at, length);
        at += length + padding(length);
    }
}
