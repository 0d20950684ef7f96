/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks/record/spill.h"

#include "base/mem.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STEP = 1 << 20 };   /* bytes by which a file grows; a multiple of a page */
enum { KEPT = 16 * STEP }; /* what is in memory of it */

struct wf_rooms {
    pthread_mutex_t lock;
    struct wf_room *first;
};

/* A file that has no name any more; -1 if there is no place for it. */
static int make_file(void)
{
    const char *parent = getenv("TMPDIR");
    char path[512];

    int n = snprintf(path, sizeof(path), "%s/weft-XXXXXX",
                     parent != NULL && parent[0] != '\0' ? parent : "/tmp");
    int fd = n > 0 && (size_t)n < sizeof(path) ? mkostemp(path, O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)unlink(path);
    }
    return fd;
}

struct wf_rooms *wf_rooms_new(void)
{
    int fd = make_file();

    if (fd < 0) {
        return NULL;
    }
    (void)close(fd);
    struct wf_rooms *rooms = wf_xcalloc(1, sizeof(*rooms));
    (void)pthread_mutex_init(&rooms->lock, NULL);
    return rooms;
}

static size_t bytes_of(const struct wf_room *room)
{
    return (room->entry * room->capacity + STEP - 1) / STEP * STEP;
}

static void release(struct wf_room *room)
{
    if (room->base != NULL) {
        (void)munmap(room->base, bytes_of(room));
    }
    if (room->fd >= 0) {
        (void)close(room->fd);
    }
    free(room);
}

void wf_rooms_free(struct wf_rooms *rooms)
{
    if (rooms == NULL) {
        return;
    }
    while (rooms->first != NULL) {
        struct wf_room *room = rooms->first;
        rooms->first = room->next;
        release(room);
    }
    (void)pthread_mutex_destroy(&rooms->lock);
    free(rooms);
}

struct wf_room *wf_rooms_add(struct wf_rooms *rooms, size_t entry, size_t capacity)
{
    struct wf_room *room = wf_xcalloc(1, sizeof(*room));

    *room = (struct wf_room){.entry = entry, .capacity = capacity, .fd = make_file()};
    void *base = room->fd < 0 || capacity == 0
                     ? MAP_FAILED
                     : mmap(NULL, bytes_of(room), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_NORESERVE, room->fd, 0);
    if (base == MAP_FAILED) {
        release(room);
        return NULL;
    }
    room->base = base;
    (void)pthread_mutex_lock(&rooms->lock);
    room->next = rooms->first;
    rooms->first = room;
    (void)pthread_mutex_unlock(&rooms->lock);
    return room;
}

bool wf_room_grow(struct wf_room *room)
{
    /* Asked for before it is touched: a full disk is no error then. */
    if (room->backed >= bytes_of(room) ||
        posix_fallocate(room->fd, (off_t)room->backed, STEP) != 0) {
        return false;
    }
    /* What is there is not needed for a while. */
    if (room->backed > 0 && room->backed % KEPT == 0) {
        (void)madvise(room->base, room->backed, MADV_DONTNEED);
    }
    room->backed += STEP;
    return true;
}
