/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/program_image.h"

#include "base/clock.h"
#include "base/mem.h"
#include "mpi/vrank/kernel_calls.h"
#include "mpi/vrank/program_objects.h"
#include "mpi/vrank/program_relink.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- noticing writes ---- */

bool wf_vrank_image_repair(struct wf_vrank_image *image, const void *address)
{
    for (uint32_t i = 0; i < image->n_copies; i++) {
        struct wf_vrank_copy *copy = &image->copies[i];

        for (uint32_t k = 0; k < copy->n_objects; k++) {
            if (wf_vrank_object_repair(copy, &copy->objects[k], address)) {
                return true;
            }
        }
    }
    return false;
}

static struct wf_vrank_object *program_in(const struct wf_vrank_copy *copy)
{
    return &copy->objects[copy->program];
}

uintptr_t wf_vrank_image_place(const struct wf_vrank_image *image, const void *instruction)
{
    uintptr_t at = (uintptr_t)instruction;

    for (uint32_t i = 0; i < image->n_copies; i++) {
        const struct wf_vrank_copy *copy = &image->copies[i];
        const struct wf_vrank_object *program = copy->n_objects > 0 ? program_in(copy) : NULL;

        if (program != NULL && at >= program->code && at < program->code_end) {
            return at - program->base;
        }
    }
    return 0;
}

void wf_vrank_image_touch(struct wf_vrank_image *image, const void *place, size_t bytes)
{
    size_t page = wf_vrank_page_size();
    uintptr_t at = (uintptr_t)place / page * page, end = (uintptr_t)place + bytes;

    for (uint32_t i = 0; i < image->n_copies; i++) {
        struct wf_vrank_copy *copy = &image->copies[i];
        for (uint32_t k = 0; k < copy->n_objects; k++) {
            uintptr_t data = (uintptr_t)copy->objects[k].data;
            uintptr_t data_end = data + copy->objects[k].n_pages * page;
            for (uintptr_t p = at > data ? at : data; p < end && p < data_end; p += page) {
                (void)wf_vrank_object_repair(copy, &copy->objects[k],
                                             (const unsigned char *)place +
                                                 (p - (uintptr_t)place));
            }
        }
    }
}

static bool overlaps(const void *place, size_t bytes, const void *other, size_t other_bytes)
{
    uintptr_t a = (uintptr_t)place, b = (uintptr_t)other;

    return a < b + other_bytes && b < a + bytes;
}

bool wf_vrank_image_swaps(const struct wf_vrank_image *image, const void *place, size_t bytes)
{
    bool found = image->tls_of != NULL &&
                 overlaps(place, bytes, wf_vrank_tls_place(&image->tls), image->tls.bytes);

    for (uint32_t i = 0; i < image->n_copies && !found; i++) {
        const struct wf_vrank_copy *copy = &image->copies[i];
        for (uint32_t k = 0; k < copy->n_objects && !found; k++) {
            found = overlaps(place, bytes, copy->objects[k].data,
                             copy->objects[k].n_pages * wf_vrank_page_size());
        }
    }
    return found;
}

struct wf_vrank_kernel_site *wf_vrank_image_kernel(const struct wf_vrank_image *image,
                                                   uint32_t rank, uint32_t function)
{
    const struct wf_vrank_copy *copy = wf_vrank_copy_of(image, rank);

    return copy->kernels != NULL && copy->kernels->functions[function].code != NULL
               ? &copy->kernels->functions[function]
               : NULL;
}

bool wf_vrank_image_has_kernel(const struct wf_vrank_image *image, uint32_t function)
{
    bool found = false;

    for (uint32_t i = 0; i < image->n_copies && !found; i++) {
        const struct wf_vrank_kernel_places *places = image->copies[i].kernels;
        found = places != NULL && places->functions[function].code != NULL;
    }
    return found;
}

bool wf_vrank_image_allocates(const struct wf_vrank_image *image, uint32_t rank, uint32_t share,
                              const void *caller)
{
    const struct wf_vrank_kernel_places *places = wf_vrank_copy_of(image, rank)->kernels;

    return places != NULL && wf_address_in(places->allocating[share], (uintptr_t)caller);
}

/* ---- loading ---- */

static enum wf_status fail(struct wf_err *err, const char *program, const char *what)
{
    return wf_err_set(err, WF_EINVAL, "cannot run '%.300s': %s", program, what);
}

static enum wf_status find_objects(const struct wf_vrank_image *image,
                                   const struct wf_vrank_program_file *file,
                                   struct wf_vrank_copy *copy, struct wf_err *err)
{
    const struct wf_vrank_program_file **files =
        wf_xcalloc(copy->n_objects, sizeof(const struct wf_vrank_program_file *));

    for (uint32_t i = 0; i < copy->n_objects; i++) {
        files[i] = i < copy->program ? &image->libraries.list[i].file : file;
        wf_vrank_object_find(copy, &copy->objects[i], files[i]);
    }
    enum wf_status status =
        wf_vrank_objects_replace(image, copy, 0, copy->n_objects, files, err);
    free((void *)files);
    return status;
}

static enum wf_status load_copy(const struct wf_vrank_image *image,
                                const struct wf_vrank_program_file *file,
                                struct wf_vrank_copy *copy, struct wf_err *err)
{
    const struct wf_vrank_image_config *config = &image->config;
    char path[WF_VRANK_FD_NAME_MAX];

    copy->handle = dlopen(wf_vrank_fd_name(program_in(copy)->fd, path), RTLD_NOW | RTLD_LOCAL);
    if (copy->handle == NULL) {
        return wf_err_set(err, WF_EINVAL, "cannot run '%.300s': %s", config->program,
                          dlerror());
    }
    void *symbol = dlsym(copy->handle, "main");
    if (symbol == NULL) {
        return fail(err, config->program,
                    "it was not built with weftcc, weftc++ or weftf90 (main is not there)");
    }
    memcpy(&copy->main, &symbol, sizeof(symbol));
    const struct wf_port_library *library = dlsym(copy->handle, WF_PORT_LIBRARY_SYMBOL);
    if (library != NULL && library->version == WF_PORT_VERSION) { /* or it will be refused */
        library->memory(config->memory);
        library->interpose(symbol);
    }
    WF_TRY(find_objects(image, file, copy, err));
    copy->current = config->n_ranks;
    wf_vrank_objects_divide(copy, 0, copy->n_objects);
    return WF_OK;
}

/* The file of the next object of a copy, which asks for the private libraries of the copy. */
static int write_file(const struct wf_vrank_image *image,
                      const struct wf_vrank_program_file *file,
                      const struct wf_vrank_copy *copy)
{
    char **names, **instead;

    wf_vrank_copy_names(copy, &names, &instead);
    int fd =
        wf_vrank_relink(file, &(struct wf_vrank_relinking){.libraries = names,
                                                           .instead = instead,
                                                           .n = copy->n_aliases,
                                                           .rename = wf_vrank_interface_rename,
                                                           .arg = &image->libraries.mpi});
    free(names);
    free(instead);
    return fd;
}

/* The files of a copy: of the private libraries and of the program. */
static bool write_files(const struct wf_vrank_image *image,
                        const struct wf_vrank_program_file *file, struct wf_vrank_copy *copy)
{
    const struct wf_vrank_libraries *libraries = &image->libraries;
    uint32_t n_private = 0;
    bool written = true;

    copy->program = libraries->n;
    copy->n_objects = libraries->n + 1;
    copy->objects =
        wf_xcalloc(copy->n_objects + WF_VRANK_MODULES_MAX, sizeof(struct wf_vrank_object));
    for (uint32_t i = 0; i < libraries->n; i++) {
        const struct wf_vrank_library *library = &libraries->list[i];
        struct wf_vrank_object *object = &copy->objects[i];
        char path[WF_VRANK_FD_NAME_MAX], *instead = library->instead;
        object->fd = -1;
        if (library->why_shared == NULL) {
            object->fd = write_file(image, &library->file, copy);
            written &= object->fd >= 0;
            instead = path;
            (void)wf_vrank_fd_name(object->fd, path);
        }
        n_private += instead != NULL;
        wf_vrank_copy_name(copy, library->name, instead != NULL ? wf_xstrdup(instead) : NULL,
                           WF_VRANK_NO_MODULE);
    }
    program_in(copy)->fd = n_private > 0 ? write_file(image, file, copy)
                                         : wf_vrank_memory_file(file->bytes, file->size);
    return written && program_in(copy)->fd >= 0;
}

static enum wf_status load_copies(struct wf_vrank_image *image,
                                  const struct wf_vrank_program_file *file, struct wf_err *err)
{
    for (uint32_t i = 0; i < image->config.copies; i++) {
        struct wf_vrank_copy *copy = &image->copies[i];
        image->n_copies = i + 1;
        WF_TRY(write_files(image, file, copy)
                   ? load_copy(image, file, copy, err)
                   : fail(err, image->config.program,
                          "no memory for its file, or it cannot have libraries of its own"));
    }
    return WF_OK;
}

enum wf_status wf_vrank_image_load(const struct wf_vrank_image_config *config,
                                   struct wf_vrank_image **out,
                                   const struct wf_port_library **library, struct wf_err *err)
{
    struct wf_vrank_program_file file;
    WF_TRY(wf_vrank_program_file_open(config->program, &file, err));
    struct wf_vrank_image *image = wf_xcalloc(1, sizeof(*image));
    image->config = *config;
    image->copies = wf_xcalloc(config->copies, sizeof(struct wf_vrank_copy));
    image->saved = wf_xcalloc(config->n_ranks, sizeof(struct wf_vrank_own_pages *));
    image->copy_of = wf_xcalloc(config->n_ranks, sizeof(uint32_t));
    image->begun = wf_xcalloc(config->n_ranks, sizeof(bool *));
    (void)pthread_mutex_init(&image->loader, NULL);
    image->tls = file.tls;
    if (file.tls.bytes > 0) {
        image->tls_of = wf_xcalloc(config->n_ranks, sizeof(struct wf_vrank_own_tls));
    }
    enum wf_status status =
        wf_vrank_libraries_find(config->program, &file, &image->libraries, err);
    WF_THEN(status, load_copies(image, &file, err));
    wf_vrank_program_file_close(&file);
    if (status == WF_OK) {
        *library = dlsym(image->copies[0].handle, WF_PORT_LIBRARY_SYMBOL);
        if (*library == NULL) {
            status =
                fail(err, config->program, "it was not built with weftcc, weftc++ or weftf90");
        }
    }
    if (status != WF_OK) {
        wf_vrank_image_free(image);
        return status;
    }
    *out = image;
    return WF_OK;
}

static void forget(struct wf_vrank_own_pages **saved)
{
    for (uint32_t i = 0; *saved != NULL && i < (*saved)->n; i++) {
        free((*saved)->pages[i]);
    }
    free(*saved);
    *saved = NULL;
}

static void free_copy(struct wf_vrank_copy *copy)
{
    wf_vrank_modules_free(copy); /* they need the program */
    if (copy->handle != NULL) {
        (void)dlclose(copy->handle);
    }
    for (uint32_t i = 0; i < copy->n_objects; i++) {
        free(copy->objects[i].fresh);
        free(copy->objects[i].tls_fresh);
        if (copy->objects[i].fd >= 0) {
            (void)close(copy->objects[i].fd);
        }
    }
    free(copy->objects);
    free(copy->kernels);
    free(copy->written);
    free(copy->is_fresh);
}

void wf_vrank_image_free(struct wf_vrank_image *image)
{
    if (image == NULL) {
        return;
    }
    for (uint32_t i = 0; i < image->n_copies; i++) {
        free_copy(&image->copies[i]);
    }
    for (uint32_t i = 0; i < image->config.n_ranks; i++) {
        if (image->saved[i] != NULL) {
            forget(&image->saved[i]);
        }
        free(image->begun[i]);
    }
    free(image->begun);
    (void)pthread_mutex_destroy(&image->loader);
    for (uint32_t i = 0; image->tls_of != NULL && i < image->config.n_ranks; i++) {
        wf_vrank_tls_free(image->tls_of[i].all);
    }
    free(image->tls_of);
    free(image->saved);
    free(image->copy_of);
    free(image->copies);
    wf_vrank_libraries_free(&image->libraries);
    free(image);
}

/* ---- running ---- */

/* The ranks of a thread share a copy. A new thread takes the next copy. */
static struct wf_vrank_copy *copy_for(struct wf_vrank_image *image, uint32_t rank)
{
    static _Thread_local struct wf_vrank_image *mine_of;
    static _Thread_local uint32_t mine;
    static uint32_t next;

    if (mine_of == NULL || mine_of != image) {
        mine_of = image;
        mine = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % image->n_copies;
    }
    if (image->copy_of[rank] == 0) {
        image->copy_of[rank] = mine + 1;
    }
    return &image->copies[image->copy_of[rank] - 1];
}

/* The thread that runs the ranks of this copy begins: from now on the thread-local variables of
 * libraries are those of the running rank. */
static void join_thread(struct wf_vrank_copy *copy)
{
    copy->has_thread = true;
    for (uint32_t i = 0; i < copy->n_objects; i++) {
        wf_vrank_object_divide_tls(copy, &copy->objects[i]);
    }
}

/* Saves the pages that the last running rank has changed. These are often only a few of the
 * pages that some rank has written to. */
static void save(const struct wf_vrank_copy *copy, struct wf_vrank_own_pages **own)
{
    uint32_t before = *own != NULL ? (*own)->n : 0;

    if (before < copy->n_written) {
        *own = wf_xrealloc(*own, 1,
                           sizeof(struct wf_vrank_own_pages) +
                               copy->n_written * sizeof(unsigned char *));
        memset((void *)((*own)->pages + before), 0,
               (copy->n_written - before) * sizeof(unsigned char *));
        (*own)->n = copy->n_written;
    }
    struct wf_vrank_own_pages *saved = *own;
    for (uint32_t i = 0; i < copy->n_written; i++) {
        const struct wf_vrank_page *written = &copy->written[i];
        copy->is_fresh[i] =
            saved->pages[i] == NULL && memcmp(written->at, written->fresh, written->bytes) == 0;
        if (copy->is_fresh[i]) {
            continue;
        }
        if (saved->pages[i] == NULL) {
            saved->pages[i] = wf_xmalloc(written->bytes);
        }
        memcpy(saved->pages[i], written->at, written->bytes);
    }
}

static void restore(const struct wf_vrank_copy *copy, const struct wf_vrank_own_pages *saved)
{
    for (uint32_t i = 0; i < copy->n_written; i++) {
        const struct wf_vrank_page *written = &copy->written[i];
        bool own = saved != NULL && i < saved->n && saved->pages[i] != NULL;
        if (own || !copy->is_fresh[i]) {
            memcpy(written->at, own ? saved->pages[i] : written->fresh, written->bytes);
        }
    }
}

static void enter_tls(struct wf_vrank_image *image, uint32_t rank)
{
    struct wf_vrank_own_tls *own = &image->tls_of[rank];

    if (own->current == NULL) {
        own->current = wf_vrank_image_tls_new(image, rank);
    }
    wf_vrank_tls_use(&image->tls, own->current);
}

struct wf_vrank_tls_block *wf_vrank_image_tls_new(struct wf_vrank_image *image, uint32_t rank)
{
    if (image->tls_of == NULL) {
        return NULL;
    }
    const struct link_map *map = copy_for(image, rank)->handle;
    struct wf_vrank_own_tls *own = &image->tls_of[rank];
    own->all = wf_vrank_tls_new(&image->tls, (const unsigned char *)map->l_addr, own->all);
    return own->all;
}

struct wf_vrank_tls_block *wf_vrank_image_tls_use(struct wf_vrank_image *image, uint32_t rank,
                                                  struct wf_vrank_tls_block *block)
{
    struct wf_vrank_tls_block *before = NULL;

    if (image->tls_of != NULL) {
        before = image->tls_of[rank].current;
        image->tls_of[rank].current = block;
        enter_tls(image, rank);
    }
    return before;
}

unsigned char *wf_vrank_image_tls_place(const struct wf_vrank_image *image, size_t *bytes)
{
    *bytes = image->tls.bytes;
    return image->tls_of != NULL ? wf_vrank_tls_place(&image->tls) : NULL;
}

void wf_vrank_image_enter(struct wf_vrank_image *image, uint32_t rank)
{
    struct wf_vrank_copy *copy = copy_for(image, rank);

    if (image->tls_of != NULL) {
        enter_tls(image, rank);
    }
    if (copy->current == rank) {
        return;
    }
    double begun = wf_clock_wall();
    if (!copy->has_thread) {
        join_thread(copy);
    }
    if (copy->current < image->config.n_ranks) {
        save(copy, &image->saved[copy->current]);
    }
    restore(copy, image->saved[rank]);
    copy->current = rank;
    copy->seconds += wf_clock_wall() - begun;
}

double wf_vrank_image_seconds(const struct wf_vrank_image *image)
{
    double sum = 0;

    for (uint32_t i = 0; i < image->n_copies; i++) {
        sum += image->copies[i].seconds;
    }
    return sum;
}

void wf_vrank_image_ended(struct wf_vrank_image *image, uint32_t rank)
{
    struct wf_vrank_copy *copy = copy_for(image, rank);

    if (copy->current == rank) {
        copy->current = image->config.n_ranks;
        if (copy->n_written > 0) { /* this rank's pages were not compared */
            memset(copy->is_fresh, 0, copy->n_written);
        }
    }
    forget(&image->saved[rank]);
    free(image->begun[rank]);
    image->begun[rank] = NULL;
    if (image->tls_of != NULL) {
        wf_vrank_tls_free(image->tls_of[rank].all);
        image->tls_of[rank] = (struct wf_vrank_own_tls){.all = NULL};
    }
}

/* Programs may write to their arguments, so they get a copy. */
static char **copy_arguments(char **argv, int *argc)
{
    size_t n = 0, bytes = 0;

    while (argv[n] != NULL) {
        bytes += strlen(argv[n++]) + 1;
    }
    char **out = wf_xmalloc((n + 1) * sizeof(char *) + bytes);
    char *to = (char *)(out + n + 1);
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(argv[i]) + 1;
        out[i] = memcpy(to, argv[i], length);
        to += length;
    }
    out[n] = NULL;
    *argc = (int)n;
    return out;
}

char **wf_vrank_image_begin(const struct wf_vrank_image *image, uint32_t rank, char **argv)
{
    const struct wf_vrank_copy *copy = wf_vrank_copy_of(image, rank);
    int argc = 0;
    char **own = copy_arguments(argv, &argc);

    for (uint32_t k = 0; k <= copy->program; k++) {
        const struct wf_vrank_object *object = &copy->objects[k];
        for (size_t i = 0; i < object->n_constructors; i++) {
            object->constructors[i](argc, own, environ);
        }
    }
    return own;
}

int wf_vrank_image_main(const struct wf_vrank_image *image, uint32_t rank, char **argv)
{
    int argc = 0;

    while (argv[argc] != NULL) {
        argc++;
    }
    return wf_vrank_copy_of(image, rank)->main(argc, argv, environ);
}

void wf_vrank_image_end(const struct wf_vrank_image *image, uint32_t rank)
{
    const struct wf_vrank_copy *copy = wf_vrank_copy_of(image, rank);

    wf_vrank_modules_end(image, rank);
    for (uint32_t k = copy->program + 1; k > 0; k--) {
        const struct wf_vrank_object *object = &copy->objects[k - 1];
        for (size_t i = object->n_destructors; i > 0; i--) {
            object->destructors[i - 1]();
        }
    }
}
