/* SPDX-License-Identifier: Apache-2.0 */
#include "vrank/program_image.h"

#include "base/mem.h"
#include "vrank/program_file.h"

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

/* One loaded copy of the program. Each thread that runs ranks has its own copy. */
struct copy {
    /* The file of the copy, in memory. It stays open: the loader tells files apart by their
     * names, which contain this number. */
    int fd;
    void *handle;
    main_function *main;
    constructor *const *constructors; /* called by each rank before main()... */
    destructor *const *destructors;   /* ...and at its end, the last one first */
    size_t n_constructors, n_destructors;
    unsigned char *data; /* variables of the program: whole pages */
    size_t n_pages;
    unsigned char *fresh;           /* contents of the pages before any rank ran */
    uintptr_t base, code, code_end; /* where it is loaded, and its instructions */
    uint32_t current;               /* the rank whose variables are in place; n_ranks if none */
    /* The pages that ranks have written to, in the order of the first writes. The other pages
     * are the same for all ranks. */
    uint32_t *written;
    uint32_t n_written;
    unsigned char *is_fresh; /* [n_written] the rank that ran last has not changed the page */
};

/* The contents of written pages of a rank that is not running, in the same order. */
struct own_pages {
    unsigned char **pages; /* an entry is null if the page is as before any rank ran */
    uint32_t n;
};

/* The thread-local variables of a rank. */
struct own_tls {
    struct wf_vrank_tls_block *all;     /* of its threads */
    struct wf_vrank_tls_block *current; /* of the one that runs */
};

struct wf_vrank_image {
    struct wf_vrank_image_config config;
    struct copy *copies;
    uint32_t n_copies;
    struct own_pages *saved; /* [rank] */
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
static void note_written(struct copy *copy, uint32_t number)
{
    copy->written[copy->n_written++] = number;
}

/* If there are only a few pages, each rank has its own copy of all of them. Otherwise pages
 * are protected: the first write to a page causes a signal, and pages that no rank writes to
 * cost nothing. */
static void protect_pages(struct copy *copy)
{
    enum { FEW = 4 };
    size_t bytes = copy->n_pages * page_size();

    if (bytes == 0) {
        return;
    }
    copy->fresh = wf_xmalloc(bytes);
    copy->written = wf_xcalloc(copy->n_pages, sizeof(uint32_t));
    copy->is_fresh = wf_xcalloc(copy->n_pages, 1);
    memcpy(copy->fresh, copy->data, bytes);
    if (copy->n_pages <= FEW || mprotect(copy->data, bytes, PROT_READ) != 0) {
        for (uint32_t i = 0; i < copy->n_pages; i++) {
            note_written(copy, i);
        }
    }
}

static bool is_written(const struct copy *copy, size_t number)
{
    uint32_t i = 0;

    while (i < copy->n_written && copy->written[i] != number) {
        i++;
    }
    return i < copy->n_written;
}

bool wf_vrank_image_repair(struct wf_vrank_image *image, const void *address)
{
    size_t page = page_size();

    for (uint32_t i = 0; i < image->n_copies; i++) {
        struct copy *copy = &image->copies[i];
        size_t number = ((uintptr_t)address - (uintptr_t)copy->data) / page;

        if (copy->written != NULL && (uintptr_t)address >= (uintptr_t)copy->data &&
            number < copy->n_pages && !is_written(copy, number)) {
            note_written(copy, (uint32_t)number);
            return mprotect(copy->data + number * page, page, PROT_READ | PROT_WRITE) == 0;
        }
    }
    return false;
}

uintptr_t wf_vrank_image_place(const struct wf_vrank_image *image, const void *instruction)
{
    uintptr_t at = (uintptr_t)instruction;

    for (uint32_t i = 0; i < image->n_copies; i++) {
        const struct copy *copy = &image->copies[i];

        if (at >= copy->code && at < copy->code_end) {
            return at - copy->base;
        }
    }
    return 0;
}

void wf_vrank_image_touch(struct wf_vrank_image *image, const void *place, size_t bytes)
{
    size_t page = page_size();
    uintptr_t at = (uintptr_t)place / page * page, end = (uintptr_t)place + bytes;

    for (uint32_t i = 0; i < image->n_copies; i++) {
        uintptr_t data = (uintptr_t)image->copies[i].data;
        uintptr_t data_end = data + image->copies[i].n_pages * page;
        for (uintptr_t p = at > data ? at : data; p < end && p < data_end; p += page) {
            (void)wf_vrank_image_repair(image,
                                        (const unsigned char *)place + (p - (uintptr_t)place));
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
        found = overlaps(place, bytes, copy->data, copy->n_pages * page_size());
    }
    return found;
}

/* ---- loading ---- */

static enum wf_status fail(struct wf_err *err, const char *program, const char *what)
{
    return wf_err_set(err, WF_EINVAL, "cannot run '%.300s': %s", program, what);
}

/* Creates a new file in memory, so that the loader loads the program again. */
static int memory_file(const unsigned char *bytes, size_t size)
{
    int fd = memfd_create("weft-program", MFD_CLOEXEC);

    while (fd >= 0 && size > 0) {
        ssize_t n = write(fd, bytes, size);
        if (n <= 0) {
            (void)close(fd);
            return -1;
        }
        bytes += n;
        size -= (size_t)n;
    }
    return fd;
}

/* Finds the variables of a loaded object: its writable segments without the part that is
 * read-only after relocation. */
static int find_data(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct copy *copy = arg;
    const struct link_map *map = copy->handle;
    uintptr_t first = UINTPTR_MAX, last = 0, relro_end = 0;

    if (info->dlpi_addr != map->l_addr) {
        return 0;
    }
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + segment->p_vaddr, to = from + segment->p_memsz;
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X)) {
            copy->base = info->dlpi_addr;
            copy->code = copy->code_end == 0 || from < copy->code ? from : copy->code;
            copy->code_end = to > copy->code_end ? to : copy->code_end;
        }
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W)) {
            first = from < first ? from : first;
            last = to > last ? to : last;
        } else if (segment->p_type == PT_GNU_RELRO) {
            relro_end = to;
        }
    }
    if (first < last) {
        size_t page = page_size();
        first = relro_end > first && relro_end <= last ? relro_end : first;
        copy->data = (unsigned char *)(first / page * page);
        copy->n_pages = (last - first / page * page + page - 1) / page;
    }
    return 1;
}

/* The run-time support of the compiler adds one destructor to every program. It has nothing to
 * do here, and it would cost every rank a page of variables. */
static void find_functions(const struct wf_vrank_program_file *file, struct copy *copy)
{
    const struct link_map *map = copy->handle;
    const unsigned char *base = (const unsigned char *)map->l_addr;

    copy->constructors = (const void *)(base + file->constructors.at);
    copy->n_constructors = file->constructors.n;
    copy->destructors = (const void *)(base + file->destructors.at);
    copy->n_destructors = file->destructors.n > 1 ? file->destructors.n : 0;
}

static enum wf_status load_copy(const struct wf_vrank_image_config *config,
                                const struct wf_vrank_program_file *file, struct copy *copy,
                                struct wf_err *err)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", copy->fd);
    copy->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
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
        library->interpose(symbol);
    }
    find_functions(file, copy);
    (void)dl_iterate_phdr(find_data, copy);
    copy->current = config->n_ranks;
    protect_pages(copy);
    return WF_OK;
}

static enum wf_status load_copies(struct wf_vrank_image *image,
                                  const struct wf_vrank_program_file *file, struct wf_err *err)
{
    for (uint32_t i = 0; i < image->config.copies; i++) {
        struct copy *copy = &image->copies[i];
        copy->fd = memory_file(file->bytes, file->size);
        image->n_copies = i + 1;
        WF_TRY(copy->fd >= 0 ? load_copy(&image->config, file, copy, err)
                             : fail(err, image->config.program, "no memory for its file"));
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
    image->saved = wf_xcalloc(config->n_ranks, sizeof(struct own_pages));
    image->copy_of = wf_xcalloc(config->n_ranks, sizeof(uint32_t));
    image->tls = file.tls;
    if (file.tls.bytes > 0) {
        image->tls_of = wf_xcalloc(config->n_ranks, sizeof(struct own_tls));
    }
    enum wf_status status = load_copies(image, &file, err);
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

static void forget(struct own_pages *saved)
{
    for (uint32_t i = 0; i < saved->n; i++) {
        free(saved->pages[i]);
    }
    free(saved->pages);
    *saved = (struct own_pages){.pages = NULL};
}

void wf_vrank_image_free(struct wf_vrank_image *image)
{
    if (image == NULL) {
        return;
    }
    for (uint32_t i = 0; i < image->n_copies; i++) {
        if (image->copies[i].handle != NULL) {
            (void)dlclose(image->copies[i].handle);
        }
        free(image->copies[i].fresh);
        free(image->copies[i].written);
        free(image->copies[i].is_fresh);
        (void)close(image->copies[i].fd);
    }
    for (uint32_t i = 0; i < image->config.n_ranks; i++) {
        if (image->saved[i].pages != NULL) {
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

/* Saves the pages that the last running rank has changed. These are often only a few of the
 * pages that some rank has written to. */
static void save(const struct copy *copy, struct own_pages *saved)
{
    size_t page = page_size();

    if (saved->n < copy->n_written) {
        saved->pages = wf_xrealloc(saved->pages, copy->n_written, sizeof(unsigned char *));
        memset(saved->pages + saved->n, 0,
               (copy->n_written - saved->n) * sizeof(unsigned char *));
        saved->n = copy->n_written;
    }
    for (uint32_t i = 0; i < copy->n_written; i++) {
        size_t at = copy->written[i] * page;
        copy->is_fresh[i] =
            saved->pages[i] == NULL && memcmp(copy->data + at, copy->fresh + at, page) == 0;
        if (copy->is_fresh[i]) {
            continue;
        }
        if (saved->pages[i] == NULL) {
            saved->pages[i] = wf_xmalloc(page);
        }
        memcpy(saved->pages[i], copy->data + at, page);
    }
}

static void restore(const struct copy *copy, const struct own_pages *saved)
{
    size_t page = page_size();

    for (uint32_t i = 0; i < copy->n_written; i++) {
        size_t at = copy->written[i] * page;
        bool own = i < saved->n && saved->pages[i] != NULL;
        if (own || !copy->is_fresh[i]) {
            memcpy(copy->data + at, own ? saved->pages[i] : copy->fresh + at, page);
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
    if (copy->current < image->config.n_ranks) {
        save(copy, &image->saved[copy->current]);
    }
    restore(copy, &image->saved[rank]);
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

    for (size_t i = 0; i < copy->n_constructors; i++) {
        copy->constructors[i](argc, own, environ);
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

    for (size_t i = copy->n_destructors; i > 0; i--) {
        copy->destructors[i - 1]();
    }
}
