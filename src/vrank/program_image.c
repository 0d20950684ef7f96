/* SPDX-License-Identifier: Apache-2.0 */
#include "vrank/program_image.h"

#include "base/mem.h"
#include "vrank/program_libraries.h"
#include "vrank/program_relink.h"
#include "vrank/spill.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef int main_function(int argc, char **argv, char **envp);
typedef void constructor(int argc, char **argv, char **envp);
typedef void destructor(void);

/* The program, or a private library of it, in a copy. */
struct object {
    /* Its file, in memory. It stays open: the loader tells files apart by their names, which
     * contain this number. */
    int fd;
    constructor *const *constructors; /* called by each rank before main()... */
    destructor *const *destructors;   /* ...and at its end, the last one first */
    size_t n_constructors, n_destructors;
    unsigned char *data; /* its variables: whole pages */
    size_t n_pages;
    unsigned char *fresh;           /* contents of the pages before any rank ran */
    uintptr_t base, code, code_end; /* where it is loaded, and its instructions */
    /* Thread-local variables of a library: each thread has them at another place. */
    size_t tls_module, tls_bytes;
    unsigned char *tls_fresh;
};

/* A page that ranks have written to, or the thread-local variables of a library. */
struct page {
    unsigned char *at;
    const unsigned char *fresh; /* its contents before any rank ran */
    size_t bytes;
};

/* One loaded copy of the program. Each thread that runs ranks has its own copy. */
struct copy {
    void *handle;
    main_function *main;
    struct object *objects; /* libraries, after those that they need; the program last */
    uint32_t n_objects;
    uint32_t current; /* the rank whose variables are in place; n_ranks if none */
    /* The pages that ranks have written to, in the order of the first writes. The other pages
     * are the same for all ranks. */
    struct page *written;
    uint32_t n_written;
    bool has_thread;         /* the thread-local variables of its thread are among them */
    unsigned char *is_fresh; /* [n_written] the rank that ran last has not changed the page */
};

/* The contents of written pages of a rank that is not running, in the same order. */
struct own_pages {
    uint32_t n;
    unsigned char *pages[]; /* an entry is null if the page is as before any rank ran */
};

/* The thread-local variables of a rank. */
struct own_tls {
    struct wf_vrank_tls_block *all;     /* of its threads */
    struct wf_vrank_tls_block *current; /* of the one that runs */
};

struct wf_vrank_image {
    struct wf_vrank_image_config config;
    struct wf_vrank_libraries libraries;
    struct copy *copies;
    uint32_t n_copies;
    struct own_pages **saved; /* [rank] null: it has none */
    struct wf_vrank_tls tls;
    struct own_tls *tls_of; /* [rank], if the program has thread-local variables */
    uint32_t *copy_of;      /* [rank] the copy it runs in plus 1; 0 if it has not run */
};

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* ---- noticing writes ---- */

/* Notes the first write to a page: from now on each rank has its own copy of the page. */
static void note_written(struct copy *copy, const struct object *object, size_t number)
{
    size_t at = number * page_size();

    copy->written[copy->n_written++] =
        (struct page){object->data + at, object->fresh + at, page_size()};
}

/* If there are only a few pages, each rank has its own copy of all of them. Otherwise pages
 * are protected: the first write to a page causes a signal, and pages that no rank writes to
 * cost nothing. */
static void protect_pages(struct copy *copy, struct object *object)
{
    enum { FEW = 4 };
    size_t bytes = object->n_pages * page_size();

    if (bytes == 0) {
        return;
    }
    object->fresh = wf_xmalloc(bytes);
    memcpy(object->fresh, object->data, bytes);
    if (object->n_pages <= FEW || mprotect(object->data, bytes, PROT_READ) != 0) {
        for (size_t i = 0; i < object->n_pages; i++) {
            note_written(copy, object, i);
        }
    }
}

static bool is_written(const struct copy *copy, const unsigned char *page)
{
    uint32_t i = 0;

    while (i < copy->n_written && copy->written[i].at != page) {
        i++;
    }
    return i < copy->n_written;
}

static bool repair_in(struct copy *copy, const struct object *object, const void *address)
{
    size_t page = page_size();
    size_t number = ((uintptr_t)address - (uintptr_t)object->data) / page;

    if (object->fresh == NULL || (uintptr_t)address < (uintptr_t)object->data ||
        number >= object->n_pages || is_written(copy, object->data + number * page)) {
        return false;
    }
    note_written(copy, object, number);
    return mprotect(object->data + number * page, page, PROT_READ | PROT_WRITE) == 0;
}

bool wf_vrank_image_repair(struct wf_vrank_image *image, const void *address)
{
    for (uint32_t i = 0; i < image->n_copies; i++) {
        struct copy *copy = &image->copies[i];

        for (uint32_t k = 0; k < copy->n_objects; k++) {
            if (repair_in(copy, &copy->objects[k], address)) {
                return true;
            }
        }
    }
    return false;
}

static struct object *program_in(const struct copy *copy)
{
    return &copy->objects[copy->n_objects - 1];
}

uintptr_t wf_vrank_image_place(const struct wf_vrank_image *image, const void *instruction)
{
    uintptr_t at = (uintptr_t)instruction;

    for (uint32_t i = 0; i < image->n_copies; i++) {
        const struct copy *copy = &image->copies[i];
        const struct object *program = copy->n_objects > 0 ? program_in(copy) : NULL;

        if (program != NULL && at >= program->code && at < program->code_end) {
            return at - program->base;
        }
    }
    return 0;
}

void wf_vrank_image_touch(struct wf_vrank_image *image, const void *place, size_t bytes)
{
    size_t page = page_size();
    uintptr_t at = (uintptr_t)place / page * page, end = (uintptr_t)place + bytes;

    for (uint32_t i = 0; i < image->n_copies; i++) {
        struct copy *copy = &image->copies[i];
        for (uint32_t k = 0; k < copy->n_objects; k++) {
            uintptr_t data = (uintptr_t)copy->objects[k].data;
            uintptr_t data_end = data + copy->objects[k].n_pages * page;
            for (uintptr_t p = at > data ? at : data; p < end && p < data_end; p += page) {
                (void)repair_in(copy, &copy->objects[k],
                                (const unsigned char *)place + (p - (uintptr_t)place));
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
        const struct copy *copy = &image->copies[i];
        for (uint32_t k = 0; k < copy->n_objects && !found; k++) {
            found = overlaps(place, bytes, copy->objects[k].data,
                             copy->objects[k].n_pages * page_size());
        }
    }
    return found;
}

/* ---- loading ---- */

static enum wf_status fail(struct wf_err *err, const char *program, const char *what)
{
    return wf_err_set(err, WF_EINVAL, "cannot run '%.300s': %s", program, what);
}

/* Finds the variables of a loaded object: its writable segments without the part that is
 * read-only after relocation. */
struct wanted {
    uintptr_t base;
    struct object *object;
};

static int find_data(struct dl_phdr_info *info, size_t size, void *arg)
{
    const struct wanted *wanted = arg;
    struct object *object = wanted->object;
    uintptr_t first = UINTPTR_MAX, last = 0, relro_end = 0;

    if (info->dlpi_addr != wanted->base) {
        return 0;
    }
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + segment->p_vaddr, to = from + segment->p_memsz;
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X)) {
            object->code = object->code_end == 0 || from < object->code ? from : object->code;
            object->code_end = to > object->code_end ? to : object->code_end;
        }
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W)) {
            first = from < first ? from : first;
            last = to > last ? to : last;
        } else if (segment->p_type == PT_GNU_RELRO) {
            relro_end = to;
        } else if (segment->p_type == PT_TLS && info->dlpi_tls_modid != 0) {
            object->tls_module = info->dlpi_tls_modid;
            object->tls_bytes = segment->p_memsz;
        }
    }
    if (first < last) {
        size_t page = page_size();
        first = relro_end > first && relro_end <= last ? relro_end : first;
        object->data = (unsigned char *)(first / page * page);
        object->n_pages = (last - first / page * page + page - 1) / page;
    }
    return 1;
}

/* The run-time support of the compiler adds one destructor to every program. It has nothing to
 * do here, and it would cost every rank a page of variables. */
static void find_functions(const struct wf_vrank_program_file *file, struct object *object)
{
    const unsigned char *base = (const unsigned char *)object->base;

    object->constructors = (const void *)(base + file->constructors.at);
    object->n_constructors = file->constructors.n;
    object->destructors = (const void *)(base + file->destructors.at);
    object->n_destructors = file->destructors.n > 1 ? file->destructors.n : 0;
}

/* Where the loader has put a file, which comes with the program; 0 if it is not loaded. */
static uintptr_t base_of(const struct copy *copy, int fd)
{
    char name[WF_VRANK_FD_NAME_MAX];
    const struct link_map *map = copy->handle;

    wf_vrank_fd_name(fd, name);
    while (map != NULL && strcmp(map->l_name, name) != 0) {
        map = map->l_next;
    }
    return map != NULL ? map->l_addr : 0;
}

static void find_objects(const struct wf_vrank_image *image,
                         const struct wf_vrank_program_file *file, struct copy *copy)
{
    size_t n_pages = 0;

    for (uint32_t i = 0; i < copy->n_objects; i++) {
        struct object *object = &copy->objects[i];
        object->base = object->fd >= 0 ? base_of(copy, object->fd) : 0;
        if (object->base != 0) {
            struct wanted wanted = {object->base, object};
            find_functions(i < image->libraries.n ? &image->libraries.list[i].file : file,
                           object);
            (void)dl_iterate_phdr(find_data, &wanted);
            n_pages += object->n_pages + 1;
        }
    }
    copy->written = wf_xcalloc(n_pages, sizeof(struct page));
    copy->is_fresh = wf_xcalloc(n_pages, 1);
}

static enum wf_status load_copy(const struct wf_vrank_image *image,
                                const struct wf_vrank_program_file *file, struct copy *copy,
                                struct wf_err *err)
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
        library->spill(config->spill != NULL ? wf_vrank_spill_port(config->spill) : NULL);
        library->interpose(symbol);
    }
    find_objects(image, file, copy);
    copy->current = config->n_ranks;
    for (uint32_t i = 0; i < copy->n_objects; i++) {
        protect_pages(copy, &copy->objects[i]);
    }
    return WF_OK;
}

/* The files of a copy: of the private libraries and of the program, which ask for each other. */
static bool write_files(const struct wf_vrank_image *image,
                        const struct wf_vrank_program_file *file, struct copy *copy)
{
    const struct wf_vrank_libraries *libraries = &image->libraries;
    uint32_t n = libraries->n, n_private = 0;
    char **names = wf_xcalloc(n, sizeof(char *)), **instead = wf_xcalloc(n, sizeof(char *));
    char(*paths)[WF_VRANK_FD_NAME_MAX] = wf_xcalloc(n, sizeof(*paths));
    struct wf_vrank_relinking relinking = {names, instead, 0, wf_vrank_interface_rename,
                                           &libraries->mpi};
    bool written = true;

    copy->objects = wf_xcalloc(n + 1, sizeof(struct object));
    copy->n_objects = n + 1;
    for (uint32_t i = 0; i < n; i++) {
        const struct wf_vrank_library *library = &libraries->list[i];
        struct object *object = &copy->objects[i];
        names[i] = library->name;
        instead[i] = library->instead;
        object->fd = -1;
        if (library->why_shared == NULL) {
            relinking.n = i;
            object->fd = wf_vrank_relink(&library->file, &relinking);
            written &= object->fd >= 0;
            (void)wf_vrank_fd_name(object->fd, paths[i]);
            instead[i] = paths[i];
        }
        n_private += instead[i] != NULL;
    }
    relinking.n = n;
    program_in(copy)->fd = n_private > 0 ? wf_vrank_relink(file, &relinking)
                                         : wf_vrank_memory_file(file->bytes, file->size);
    free(names);
    free(instead);
    free(paths);
    return written && program_in(copy)->fd >= 0;
}

static enum wf_status load_copies(struct wf_vrank_image *image,
                                  const struct wf_vrank_program_file *file, struct wf_err *err)
{
    for (uint32_t i = 0; i < image->config.copies; i++) {
        struct copy *copy = &image->copies[i];
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
    image->copies = wf_xcalloc(config->copies, sizeof(struct copy));
    image->saved = wf_xcalloc(config->n_ranks, sizeof(struct own_pages *));
    image->copy_of = wf_xcalloc(config->n_ranks, sizeof(uint32_t));
    image->tls = file.tls;
    if (file.tls.bytes > 0) {
        image->tls_of = wf_xcalloc(config->n_ranks, sizeof(struct own_tls));
    }
    enum wf_status status =
        wf_vrank_libraries_find(config->program, &file, &image->libraries, err);
    if (status == WF_OK) {
        status = load_copies(image, &file, err);
    }
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

static void forget(struct own_pages **saved)
{
    for (uint32_t i = 0; *saved != NULL && i < (*saved)->n; i++) {
        free((*saved)->pages[i]);
    }
    free(*saved);
    *saved = NULL;
}

static void free_copy(struct copy *copy)
{
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
    }
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
static struct copy *copy_for(struct wf_vrank_image *image, uint32_t rank)
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

/* The loader allocates thread-local variables when a thread first uses them. */
extern void *__tls_get_addr(size_t place[2]);

/* The thread that runs the ranks of this copy begins: from now on the thread-local variables of
 * libraries are those of the running rank. */
static void join_thread(struct copy *copy)
{
    copy->has_thread = true;
    for (uint32_t i = 0; i < copy->n_objects; i++) {
        struct object *object = &copy->objects[i];
        if (object->tls_module == 0 || object->tls_bytes == 0) {
            continue;
        }
        unsigned char *at = __tls_get_addr((size_t[2]){object->tls_module, 0});
        object->tls_fresh = wf_xmalloc(object->tls_bytes);
        memcpy(object->tls_fresh, at, object->tls_bytes);
        copy->written[copy->n_written++] =
            (struct page){at, object->tls_fresh, object->tls_bytes};
    }
}

/* Saves the pages that the last running rank has changed. These are often only a few of the
 * pages that some rank has written to. */
static void save(const struct copy *copy, struct own_pages **own)
{
    uint32_t before = *own != NULL ? (*own)->n : 0;

    if (before < copy->n_written) {
        *own = wf_xrealloc(
            *own, 1, sizeof(struct own_pages) + copy->n_written * sizeof(unsigned char *));
        memset((void *)((*own)->pages + before), 0,
               (copy->n_written - before) * sizeof(unsigned char *));
        (*own)->n = copy->n_written;
    }
    struct own_pages *saved = *own;
    for (uint32_t i = 0; i < copy->n_written; i++) {
        const struct page *written = &copy->written[i];
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

static void restore(const struct copy *copy, const struct own_pages *saved)
{
    for (uint32_t i = 0; i < copy->n_written; i++) {
        const struct page *written = &copy->written[i];
        bool own = saved != NULL && i < saved->n && saved->pages[i] != NULL;
        if (own || !copy->is_fresh[i]) {
            memcpy(written->at, own ? saved->pages[i] : written->fresh, written->bytes);
        }
    }
}

static void enter_tls(struct wf_vrank_image *image, uint32_t rank)
{
    struct own_tls *own = &image->tls_of[rank];

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
    struct own_tls *own = &image->tls_of[rank];
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
    struct copy *copy = copy_for(image, rank);

    if (image->tls_of != NULL) {
        enter_tls(image, rank);
    }
    if (copy->current == rank) {
        return;
    }
    if (!copy->has_thread) {
        join_thread(copy);
    }
    if (copy->current < image->config.n_ranks) {
        save(copy, &image->saved[copy->current]);
    }
    restore(copy, image->saved[rank]);
    copy->current = rank;
}

void wf_vrank_image_ended(struct wf_vrank_image *image, uint32_t rank)
{
    struct copy *copy = copy_for(image, rank);

    if (copy->current == rank) {
        copy->current = image->config.n_ranks;
        if (copy->n_written > 0) { /* this rank's pages were not compared */
            memset(copy->is_fresh, 0, copy->n_written);
        }
    }
    forget(&image->saved[rank]);
    if (image->tls_of != NULL) {
        wf_vrank_tls_free(image->tls_of[rank].all);
        image->tls_of[rank] = (struct own_tls){.all = NULL};
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

static const struct copy *copy_of(const struct wf_vrank_image *image, uint32_t rank)
{
    return &image->copies[image->copy_of[rank] - 1];
}

char **wf_vrank_image_begin(const struct wf_vrank_image *image, uint32_t rank, char **argv)
{
    const struct copy *copy = copy_of(image, rank);
    int argc = 0;
    char **own = copy_arguments(argv, &argc);

    for (uint32_t k = 0; k < copy->n_objects; k++) {
        const struct object *object = &copy->objects[k];
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
    return copy_of(image, rank)->main(argc, argv, environ);
}

void wf_vrank_image_end(const struct wf_vrank_image *image, uint32_t rank)
{
    const struct copy *copy = copy_of(image, rank);

    for (uint32_t k = copy->n_objects; k > 0; k--) {
        const struct object *object = &copy->objects[k - 1];
        for (size_t i = object->n_destructors; i > 0; i--) {
            object->destructors[i - 1]();
        }
    }
}
