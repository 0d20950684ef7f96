/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/overlay.h"

#include "base/array.h"
#include "base/mem.h"
#include "base/rng.h"
#include "mpi/vrank/kernel_file.h"
#include "mpi/vrank/overlay_slots.h"
#include "mpi/vrank/program_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The pages, which are mapped again and again. Few mappings are needed for large blocks then: a
 * process may have 65,530. */
enum { WINDOW = 32 << 20 };

struct wf_vrank_overlay {
    int fd;
    unsigned char *base;
    size_t size, mapped;         /* address space; what of it has pages */
    struct wf_vrank_slots slots; /* of blocks of which writes are kept */
    pthread_mutex_t lock;
    const struct wf_vrank_kernels *kernels;
    const struct wf_port_memory *others; /* may be null */
    struct wf_port_memory port;
};

/* The functions of the port have no argument that leads to it. */
static struct wf_vrank_overlay *current;

/* The line for a block, or null. */
static const struct wf_vrank_share *share_of(size_t bytes, const void *caller)
{
    const struct wf_vrank_kernels *kernels = current->kernels;
    const struct wf_vrank_rank *rank = wf_vrank_running();

    for (uint32_t i = 0; rank != NULL && i < kernels->n_shares; i++) {
        if (bytes >= kernels->shares[i].least &&
            (kernels->shares[i].function[0] == '\0' ||
             wf_vrank_image_allocates(rank->program->image, rank->self.rank, i, caller))) {
            return &kernels->shares[i];
        }
    }
    return NULL;
}

static bool port_wants(size_t bytes, const void *caller)
{
    return share_of(bytes, caller) != NULL ||
           (current->others != NULL && current->others->wants(bytes, caller));
}

static bool is_block(const void *place)
{
    return (uintptr_t)place - (uintptr_t)current->base < current->size;
}

/* Gives the beginning of the address space pages, up to there. */
static bool map_up_to(size_t end)
{
    bool done = true;

    (void)pthread_mutex_lock(&current->lock);
    while (done && current->mapped < end) {
        done = mmap(current->base + current->mapped, WINDOW, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_FIXED | MAP_NORESERVE, current->fd, 0) != MAP_FAILED;
        current->mapped += done ? WINDOW : 0;
    }
    (void)pthread_mutex_unlock(&current->lock);
    return done;
}

static void *take_slot(size_t bytes)
{
    (void)pthread_mutex_lock(&current->lock);
    void *place = wf_vrank_slot_take(&current->slots, bytes);
    (void)pthread_mutex_unlock(&current->lock);
    return place;
}

static void free_slot(void *place)
{
    (void)pthread_mutex_lock(&current->lock);
    wf_vrank_slot_free(&current->slots, place);
    (void)pthread_mutex_unlock(&current->lock);
}

static size_t slot_size(const void *place)
{
    (void)pthread_mutex_lock(&current->lock);
    size_t size = wf_vrank_slot_size(&current->slots, place);
    (void)pthread_mutex_unlock(&current->lock);
    return size;
}

/* The first gap between the blocks of the rank. */
static void *port_alloc(size_t bytes, size_t alignment, const void *caller)
{
    enum { USUAL = 64 };
    struct wf_vrank_rank *rank = wf_vrank_running();
    size_t unit = alignment > USUAL ? alignment : USUAL, at = 0;
    uint32_t i = 0;

    const struct wf_vrank_share *share = share_of(bytes, caller);
    if (share == NULL) {
        return current->others->alloc(bytes, alignment, caller);
    }
    if (share->keeps) {
        return take_slot(bytes > alignment ? bytes : alignment);
    }
    struct wf_vrank_blocks *blocks = &rank->blocks;
    for (; i < blocks->n; i++) {
        at = (at + unit - 1) / unit * unit;
        if (blocks->list[i].at >= at && blocks->list[i].at - at >= bytes) {
            break;
        }
        at = blocks->list[i].at + blocks->list[i].bytes;
    }
    at = (at + unit - 1) / unit * unit;
    if (bytes > current->size || at > current->size - bytes || !map_up_to(at + bytes)) {
        return NULL;
    }
    WF_GROW(blocks->list, blocks->n, blocks->capacity);
    memmove(&blocks->list[i + 1], &blocks->list[i], (blocks->n - i) * sizeof(*blocks->list));
    blocks->list[i] = (struct wf_vrank_block){at, bytes};
    blocks->n++;
    return current->base + at;
}

/* The number of the block of the running rank. */
static uint32_t find_block(const struct wf_vrank_blocks *blocks, const void *place)
{
    size_t at = (size_t)((const unsigned char *)place - current->base);
    uint32_t i = 0;

    while (i < blocks->n && blocks->list[i].at != at) {
        i++;
    }
    return i;
}

static void port_free(void *place)
{
    struct wf_vrank_rank *rank = wf_vrank_running();

    if (wf_vrank_slot_holds(&current->slots, place)) {
        free_slot(place);
        return;
    }
    if (!is_block(place)) {
        (current->others->free)(place); /* not ours */
        return;
    }
    struct wf_vrank_blocks *blocks = rank != NULL ? &rank->blocks : NULL;
    uint32_t i = blocks != NULL ? find_block(blocks, place) : 0;
    if (blocks != NULL && i < blocks->n) {
        blocks->n--;
        memmove(&blocks->list[i], &blocks->list[i + 1],
                (blocks->n - i) * sizeof(*blocks->list));
    }
}

static size_t port_usable(const void *place)
{
    const struct wf_vrank_rank *rank = wf_vrank_running();

    if (wf_vrank_slot_holds(&current->slots, place)) {
        return slot_size(place);
    }
    if (!is_block(place)) {
        return current->others->usable(place);
    }
    uint32_t i = rank != NULL ? find_block(&rank->blocks, place) : 0;
    return rank != NULL && i < rank->blocks.n ? rank->blocks.list[i].bytes : 0;
}

static bool port_holds(const void *place)
{
    return is_block(place) || wf_vrank_slot_holds(&current->slots, place) ||
           (current->others != NULL && current->others->holds(place));
}

/* Numbers from -0.5 to 0.5, as in a random matrix: a program that searches its data for the largest
 * finds it anywhere. */
static void fill(double *window)
{
    for (size_t i = 0; i < WINDOW / sizeof(*window); i++) {
        window[i] = (double)(wf_rng_draw(0, 0, i) >> 11) / (double)(UINT64_C(1) << 53) - 0.5;
    }
}

static enum wf_status reserve(struct wf_vrank_overlay *overlay, struct wf_err *err)
{
    void *base = MAP_FAILED;

    overlay->fd = memfd_create("weft-shared", MFD_CLOEXEC);
    bool made = overlay->fd >= 0 && ftruncate(overlay->fd, WINDOW) == 0;
    overlay->size = (size_t)1 << 46;
    while (made && base == MAP_FAILED && overlay->size > WINDOW) {
        overlay->size /= 2;
        base = mmap(NULL, overlay->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1, 0);
    }
    if (base == MAP_FAILED) {
        overlay->size = 0;
        return wf_err_set(err, WF_EIO, "no memory for shared blocks (run.kernels): %s",
                          strerror(errno));
    }
    overlay->base = base;
    return WF_OK;
}

enum wf_status wf_vrank_overlay_new(const struct wf_vrank_kernels *kernels,
                                    const struct wf_port_memory *others,
                                    struct wf_vrank_overlay **out, struct wf_err *err)
{
    struct wf_vrank_overlay *overlay = wf_xcalloc(1, sizeof(*overlay));

    overlay->kernels = kernels;
    overlay->others = others;
    overlay->port = (struct wf_port_memory){.least = others != NULL ? others->least : SIZE_MAX,
                                            .wants = port_wants,
                                            .alloc = port_alloc,
                                            .free = port_free,
                                            .usable = port_usable,
                                            .holds = port_holds};
    for (uint32_t i = 0; i < kernels->n_shares; i++) {
        uint64_t least = kernels->shares[i].least;
        overlay->port.least = least < overlay->port.least ? least : overlay->port.least;
    }
    (void)pthread_mutex_init(&overlay->lock, NULL);
    current = overlay;
    enum wf_status status = reserve(overlay, err);
    overlay->slots = (struct wf_vrank_slots){.fd = overlay->fd, .window = WINDOW};
    if (status == WF_OK && !map_up_to(WINDOW)) {
        status = wf_err_set(err, WF_EIO, "no memory for shared blocks (run.kernels): %s",
                            strerror(errno));
    }
    if (status != WF_OK) {
        wf_vrank_overlay_free(overlay);
        return status;
    }
    fill((double *)(void *)overlay->base);
    *out = overlay;
    return WF_OK;
}

void wf_vrank_overlay_free(struct wf_vrank_overlay *overlay)
{
    if (overlay == NULL) {
        return;
    }
    wf_vrank_slots_free(&overlay->slots);
    if (overlay->size > 0) {
        (void)munmap(overlay->base, overlay->size);
    }
    if (overlay->fd >= 0) {
        (void)close(overlay->fd);
    }
    (void)pthread_mutex_destroy(&overlay->lock);
    current = current == overlay ? NULL : current;
    free(overlay);
}

const struct wf_port_memory *wf_vrank_overlay_port(const struct wf_vrank_overlay *overlay)
{
    return &overlay->port;
}
