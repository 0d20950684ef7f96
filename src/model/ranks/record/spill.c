/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/record/spill.h"

#include "base/guard.h"
#include "base/mem.h"
#include "base/temp.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STEP = 1 << 20 };   /* bytes by which a file grows; a multiple of a page */
enum { KEPT = 16 * STEP }; /* bytes of the file that stay in memory */

struct wf_spill_files {
    pthread_mutex_t lock;
    struct wf_spill_file *first;
};

struct wf_spill_files *wf_spill_files_new(void)
{
    int fd = wf_temp_unnamed();

    if (fd < 0) {
        return NULL;
    }
    (void)close(fd);
    struct wf_spill_files *spill = wf_xcalloc(1, sizeof(*spill));
    (void)pthread_mutex_init(&spill->lock, NULL);
    return spill;
}

static size_t bytes_of(const struct wf_spill_file *file)
{
    return (file->entry * file->capacity + STEP - 1) / STEP * STEP;
}

static void release_file(struct wf_spill_file *file)
{
    if (file->base != NULL) {
        (void)wf_munmap(file->base, bytes_of(file));
    }
    if (file->fd >= 0) {
        (void)wf_close(file->fd);
    }
    free(file);
}

void wf_spill_files_free(struct wf_spill_files *spill)
{
    if (spill == NULL) {
        return;
    }
    while (spill->first != NULL) {
        struct wf_spill_file *file = spill->first;
        spill->first = file->next;
        release_file(file);
    }
    (void)pthread_mutex_destroy(&spill->lock);
    free(spill);
}

struct wf_spill_file *wf_spill_files_add(struct wf_spill_files *spill, size_t entry,
                                         size_t capacity)
{
    struct wf_spill_file *file = wf_xcalloc(1, sizeof(*file));

    *file = (struct wf_spill_file){
        .entry = entry, .capacity = capacity, .fd = wf_guard_fd(wf_temp_unnamed())};
    void *base = file->fd < 0 || capacity == 0
                     ? MAP_FAILED
                     : wf_guard_map(mmap(NULL, bytes_of(file), PROT_READ | PROT_WRITE,
                                         MAP_SHARED | MAP_NORESERVE, file->fd, 0),
                                    bytes_of(file));
    if (base == MAP_FAILED) {
        release_file(file);
        return NULL;
    }
    file->base = base;
    (void)pthread_mutex_lock(&spill->lock);
    file->next = spill->first;
    spill->first = file;
    (void)pthread_mutex_unlock(&spill->lock);
    return file;
}

bool wf_spill_grow(struct wf_spill_file *file)
{
    /* Space is allocated before it is written: writing to a full disk would kill the
     * process. */
    if (file->backed >= bytes_of(file) ||
        posix_fallocate(file->fd, (off_t)file->backed, STEP) != 0) {
        return false;
    }
    /* Earlier entries are not needed for a while. */
    if (file->backed > 0 && file->backed % KEPT == 0) {
        (void)madvise(file->base, file->backed, MADV_DONTNEED);
    }
    file->backed += STEP;
    return true;
}
