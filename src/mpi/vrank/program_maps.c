/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables that are mapped instead of copied. Where ranks have written to many pages of an object,
 * such as a program with large static arrays, each rank has a private mapping of the pages as they
 * were before any rank ran; that of the rank that runs is moved to the place of the variables. This
 * takes 10 to 50 us, whatever the size: as much as to copy 300 KB to 1 MB there and back.
 */
#include "base/mem.h"
#include "mpi/vrank/crash.h"
#include "mpi/vrank/program_objects.h"
#include "mpi/vrank/program_relink.h"

#include <linux/mman.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Written pages from which on an object is mapped, and ranks up to which: a process may have some ten
 * thousand mappings. */
enum { PAGES_MIN = 256, RANKS_MAX = 4096 };

static size_t bytes_of(const struct wf_vrank_object *object)
{
    return object->n_pages * wf_vrank_page_size();
}

static void *map_fresh(int file, size_t bytes, void *place)
{
    return mmap(place, bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | (place != NULL ? MAP_FIXED : 0), file, 0);
}

/* Moves a mapping to another place, and leaves one without changes: nothing else can be put there in
 * between. */
static void *move_away(void *place, size_t bytes)
{
    return (void *)syscall(SYS_mremap, place, bytes, bytes, MREMAP_MAYMOVE | MREMAP_DONTUNMAP,
                           0L);
}

/* Linux before 5.13 cannot. */
static bool can_move(int file)
{
    size_t page = wf_vrank_page_size();
    void *place = map_fresh(file, page, NULL);
    void *moved = place != MAP_FAILED ? move_away(place, page) : MAP_FAILED;

    if (place != MAP_FAILED) {
        (void)munmap(place, page);
    }
    return moved != MAP_FAILED && munmap(moved, page) == 0;
}

static void unmap_all(const struct wf_vrank_object *object, unsigned char **maps, uint32_t n)
{
    for (uint32_t r = 0; maps != NULL && r < n; r++) {
        if (maps[r] != NULL) {
            (void)munmap(maps[r], bytes_of(object));
        }
    }
    free((void *)maps);
}

void wf_vrank_maps_free(const struct wf_vrank_object *object, uint32_t n_ranks)
{
    if (object->maps != NULL) {
        unmap_all(object, object->maps, n_ranks);
        (void)close(object->maps_file);
    }
}

/* A mapping for each rank of the copy that has pages of its own; null if there cannot be. */
static unsigned char **new_maps(const struct wf_vrank_image *image,
                                const struct wf_vrank_copy *copy,
                                const struct wf_vrank_object *object, int file)
{
    uint32_t own = (uint32_t)(copy - image->copies) + 1, n = image->config.n_ranks;
    unsigned char **maps = wf_xcalloc(n, sizeof(*maps));

    for (uint32_t r = 0; r < n; r++) {
        void *map = image->copy_of[r] == own && image->saved[r] != NULL
                        ? map_fresh(file, bytes_of(object), NULL)
                        : NULL;
        if (map == MAP_FAILED) {
            unmap_all(object, maps, n);
            return NULL;
        }
        maps[r] = map;
    }
    return maps;
}

static bool is_in(const struct wf_vrank_object *object, const unsigned char *place)
{
    return place >= object->data && place < object->data + bytes_of(object);
}

/* Moves what ranks have saved of the object into their mappings. */
static void fill_maps(const struct wf_vrank_image *image, const struct wf_vrank_copy *copy,
                      const struct wf_vrank_object *object)
{
    for (uint32_t r = 0; r < image->config.n_ranks; r++) {
        struct wf_vrank_own_pages *saved = object->maps[r] != NULL ? image->saved[r] : NULL;
        uint32_t n = 0;
        for (uint32_t i = 0; saved != NULL && i < saved->n; i++) {
            const struct wf_vrank_page *page = &copy->written[i];
            if (!is_in(object, page->at)) {
                saved->pages[n++] = saved->pages[i];
            } else if (saved->pages[i] != NULL) {
                memcpy(object->maps[r] + (page->at - object->data), saved->pages[i],
                       page->bytes);
                free(saved->pages[i]);
            }
        }
        if (saved != NULL) {
            saved->n = n;
        }
    }
}

/* Its pages are no longer copied. */
static void drop_written(struct wf_vrank_copy *copy, const struct wf_vrank_object *object)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < copy->n_written; i++) {
        if (!is_in(object, copy->written[i].at)) {
            copy->written[n++] = copy->written[i];
        }
    }
    copy->n_written = n;
    memset(copy->is_fresh, 0, copy->max_written);
}

static void map_object(const struct wf_vrank_image *image, struct wf_vrank_copy *copy,
                       struct wf_vrank_object *object)
{
    int file = wf_vrank_memory_file(object->fresh, bytes_of(object));
    unsigned char **maps =
        file >= 0 && can_move(file) ? new_maps(image, copy, object, file) : NULL;

    if (maps == NULL || map_fresh(file, bytes_of(object), object->data) == MAP_FAILED) {
        unmap_all(object, maps, image->config.n_ranks);
        if (file >= 0) {
            (void)close(file);
        }
        return;
    }
    object->maps = maps;
    object->maps_file = file;
    fill_maps(image, copy, object);
    drop_written(copy, object);
    free(object->fresh); /* from now on a write to a page is nothing to be noticed */
    object->fresh = NULL;
}

static uint32_t count_written(const struct wf_vrank_copy *copy,
                              const struct wf_vrank_object *object)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < copy->n_written; i++) {
        n += is_in(object, copy->written[i].at);
    }
    return n;
}

/* Each time that there are some more pages. */
static void look_at_objects(const struct wf_vrank_image *image, struct wf_vrank_copy *copy)
{
    copy->look_at = copy->n_written + PAGES_MIN;
    for (uint32_t i = 0; i < copy->n_objects; i++) {
        struct wf_vrank_object *object = &copy->objects[i];
        if (object->fresh != NULL && count_written(copy, object) >= PAGES_MIN) {
            map_object(image, copy, object);
        }
    }
}

static void swap(struct wf_vrank_object *object, uint32_t from, uint32_t to, uint32_t n_ranks)
{
    size_t bytes = bytes_of(object);
    void *done = object->data;

    if (from < n_ranks) {
        done = object->maps[from] = move_away(object->data, bytes);
    }
    if (done != MAP_FAILED && object->maps[to] != NULL) {
        done =
            mremap(object->maps[to], bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, object->data);
        object->maps[to] = NULL;
    } else if (done != MAP_FAILED && from >= n_ranks) {
        done = map_fresh(object->maps_file, bytes, object->data);
    }
    if (done == MAP_FAILED) {
        wf_vrank_crash_refuse("the system has no more mappings for the variables of ranks");
    }
}

void wf_vrank_maps_enter(const struct wf_vrank_image *image, struct wf_vrank_copy *copy,
                         uint32_t rank)
{
    uint32_t n = image->config.n_ranks;

    for (uint32_t i = 0; i < copy->n_objects; i++) {
        if (copy->objects[i].maps != NULL) {
            swap(&copy->objects[i], copy->current, rank, n);
        }
    }
    if (copy->n_written >= copy->look_at && copy->n_written >= PAGES_MIN && n <= RANKS_MAX) {
        uint32_t before = copy->n_objects;
        look_at_objects(image, copy);
        for (uint32_t i = 0; i < before; i++) {
            struct wf_vrank_object *object = &copy->objects[i];
            if (object->maps != NULL && object->maps[rank] != NULL) {
                swap(object, n, rank, n);
            }
        }
    }
}

void wf_vrank_maps_ended(const struct wf_vrank_copy *copy, uint32_t rank)
{
    for (uint32_t i = 0; i < copy->n_objects; i++) {
        const struct wf_vrank_object *object = &copy->objects[i];
        if (object->maps != NULL && object->maps[rank] != NULL) {
            (void)munmap(object->maps[rank], bytes_of(object));
            object->maps[rank] = NULL;
        }
    }
}
