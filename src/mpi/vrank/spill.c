/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/spill.h"

#include "base/array.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CLASSES = 512, STEPS = 8, LEAST = 16 * 1024 };

/* Before each block that malloc() returns. */
struct header {
    unsigned char *begin; /* of its pages */
    size_t bytes;         /* of its pages */
};

struct free_list {
    unsigned char **blocks;
    uint32_t n, capacity;
};

struct wf_vrank_spill {
    int fd;
    unsigned char *base;
    size_t size, used; /* blocks are cut from the rest one after the other */
    size_t page;
    pthread_mutex_t lock;
    struct free_list freed[CLASSES]; /* blocks by size; they are holes in the file */
    struct wf_port_memory port;
};

/* The functions of the port have no argument that leads to it. */
static struct wf_vrank_spill *current;

/* ---- blocks ---- */

/* The class of a block of so many pages: eight for each power of two. Sets *pages to what blocks
 * of the class have. */
static uint32_t class_of(size_t *pages)
{
    unsigned power = 0;

    while ((size_t)STEPS << power < *pages) {
        power++;
    }
    size_t unit = power > 0 ? (size_t)1 << (power - 1) : 1;
    *pages = (*pages + unit - 1) / unit * unit;
    return 2 * STEPS * power + (uint32_t)(*pages / unit);
}

static unsigned char *take_block(struct wf_vrank_spill *spill, size_t *bytes)
{
    size_t pages = (*bytes + spill->page - 1) / spill->page;
    uint32_t class = class_of(&pages);
    unsigned char *block = NULL;

    *bytes = pages * spill->page;
    (void)pthread_mutex_lock(&spill->lock);
    struct free_list *freed = class < CLASSES ? &spill->freed[class] : NULL;
    if (freed != NULL && freed->n > 0) {
        block = freed->blocks[--freed->n];
    } else if (spill->size - spill->used >= *bytes) {
        block = spill->base + spill->used;
        spill->used += *bytes;
    }
    (void)pthread_mutex_unlock(&spill->lock);
    /* If the disk is full, the program learns it here and not by a signal. */
    if (block != NULL && fallocate(spill->fd, 0, block - spill->base, (off_t)*bytes) != 0 &&
        errno != EOPNOTSUPP) {
        return NULL;
    }
    return block;
}

static void give_block(struct wf_vrank_spill *spill, unsigned char *block, size_t bytes)
{
    size_t pages = bytes / spill->page;
    uint32_t class = class_of(&pages);

    (void)madvise(block, bytes, MADV_REMOVE);
    if (class < CLASSES) {
        struct free_list *freed = &spill->freed[class];
        (void)pthread_mutex_lock(&spill->lock);
        WF_PUSH(freed->blocks, freed->n, freed->capacity, block);
        (void)pthread_mutex_unlock(&spill->lock);
    }
}

void *wf_vrank_spill_room(struct wf_vrank_spill *spill, size_t bytes)
{
    size_t whole = (bytes + spill->page - 1) / spill->page * spill->page;
    unsigned char *room = NULL;

    (void)pthread_mutex_lock(&spill->lock);
    if (spill->size - spill->used >= whole) {
        room = spill->base + spill->used;
        spill->used += whole;
    }
    (void)pthread_mutex_unlock(&spill->lock);
    return room;
}

/* ---- for malloc() ---- */

static bool port_holds(const void *place)
{
    return (uintptr_t)place - (uintptr_t)current->base < current->size;
}

static bool port_wants(size_t bytes, const void *caller)
{
    return bytes >= LEAST;
}

static void *port_alloc(size_t bytes, size_t alignment, const void *caller)
{
    size_t room = alignment < 64 ? 64 : alignment, all = bytes + room + sizeof(struct header);

    if (all < bytes) {
        return NULL;
    }
    unsigned char *block = take_block(current, &all);
    if (block == NULL) {
        return NULL;
    }
    uintptr_t at = ((uintptr_t)block + sizeof(struct header) + room - 1) / room * room;
    const struct header header = {block, all};
    memcpy((unsigned char *)at - sizeof(header), &header, sizeof(header));
    return (void *)at;
}

static struct header header_of(const void *place)
{
    struct header header;

    memcpy(&header, (const unsigned char *)place - sizeof(header), sizeof(header));
    return header;
}

static void port_free(void *place)
{
    const struct header header = header_of(place);

    give_block(current, header.begin, header.bytes);
}

static size_t port_usable(const void *place)
{
    const struct header header = header_of(place);

    return header.bytes - (size_t)((const unsigned char *)place - header.begin);
}

const struct wf_port_memory *wf_vrank_spill_port(const struct wf_vrank_spill *spill)
{
    return &spill->port;
}

/* ---- the file ---- */

/* As much as the file system and the address space allow; MAP_FAILED if that is too little. */
static void *map(int fd, size_t *size)
{
    const size_t least = (size_t)1 << 30;
    void *base = MAP_FAILED;

    for (size_t tried = (size_t)1 << 44; base == MAP_FAILED && tried >= least; tried /= 2) {
        if (ftruncate(fd, (off_t)tried) == 0) {
            base = mmap(NULL, tried, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
        }
        *size = tried;
    }
    return base;
}

enum wf_status wf_vrank_spill_new(const char *directory, struct wf_vrank_spill **out,
                                  struct wf_err *err)
{
    int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    size_t size = 0;
    void *base = fd >= 0 ? map(fd, &size) : MAP_FAILED;

    if (base == MAP_FAILED) {
        enum wf_status status =
            wf_err_set(err, WF_EIO, "run.spill: cannot create a file in '%.300s': %s",
                       directory, strerror(errno));
        if (fd >= 0) {
            (void)close(fd);
        }
        return status;
    }
    struct wf_vrank_spill *spill = wf_xcalloc(1, sizeof(*spill));
    spill->fd = fd;
    spill->base = base;
    spill->size = size;
    spill->page = (size_t)sysconf(_SC_PAGESIZE);
    spill->port = (struct wf_port_memory){.least = LEAST,
                                          .wants = port_wants,
                                          .alloc = port_alloc,
                                          .free = port_free,
                                          .usable = port_usable,
                                          .holds = port_holds};
    (void)pthread_mutex_init(&spill->lock, NULL);
    current = spill;
    *out = spill;
    return WF_OK;
}

void wf_vrank_spill_free(struct wf_vrank_spill *spill)
{
    if (spill == NULL) {
        return;
    }
    for (int i = 0; i < CLASSES; i++) {
        free(spill->freed[i].blocks);
    }
    (void)munmap(spill->base, spill->size);
    (void)close(spill->fd);
    (void)pthread_mutex_destroy(&spill->lock);
    current = current == spill ? NULL : current;
    free(spill);
}
