/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/program_objects.h"

#include "base/array.h"
#include "base/mem.h"
#include "mpi/vrank/kernel_calls.h"
#include "mpi/vrank/program_relink.h"

#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

size_t wf_vrank_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* ---- what the loader has done ---- */

/* Finds the variables of a loaded object: its writable segments without the part that is
 * read-only after relocation. */
static int find_data(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct wf_vrank_object *object = arg;
    uintptr_t first = UINTPTR_MAX, last = 0, relro_end = 0;

    (void)size;
    if (info->dlpi_addr != object->base) {
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
        size_t page = wf_vrank_page_size();
        first = relro_end > first && relro_end <= last ? relro_end : first;
        object->data = (unsigned char *)(first / page * page);
        object->data_bytes = last - first / page * page;
        object->n_pages = (object->data_bytes + page - 1) / page;
    }
    return 1;
}

/* The run-time support of the compiler adds one destructor to every program. It has nothing to
 * do here, and it would cost every rank a page of variables. */
static void find_functions(const struct wf_vrank_program_file *file,
                           struct wf_vrank_object *object)
{
    const unsigned char *base = (const unsigned char *)object->base;

    object->constructors = (const void *)(base + file->constructors.at);
    object->n_constructors = file->constructors.n;
    object->destructors = (const void *)(base + file->destructors.at);
    object->n_destructors = file->destructors.n > 1 ? file->destructors.n : 0;
}

/* Where the loader has put a file, which was loaded with the program or later; 0 if it is not
 * loaded. */
static uintptr_t base_of(const struct wf_vrank_copy *copy, int fd)
{
    char name[WF_VRANK_FD_NAME_MAX];
    const struct link_map *map = copy->handle;

    wf_vrank_fd_name(fd, name);
    while (map != NULL && strcmp(map->l_name, name) != 0) {
        map = map->l_next;
    }
    return map != NULL ? map->l_addr : 0;
}

void wf_vrank_object_find(const struct wf_vrank_copy *copy, struct wf_vrank_object *object,
                          const struct wf_vrank_program_file *file)
{
    object->base = object->fd >= 0 ? base_of(copy, object->fd) : 0;
    if (object->base != 0) {
        find_functions(file, object);
        (void)dl_iterate_phdr(find_data, object);
    }
}

/* ---- kernels ---- */

enum wf_status wf_vrank_objects_replace(const struct wf_vrank_image *image,
                                        struct wf_vrank_copy *copy, uint32_t first, uint32_t n,
                                        const struct wf_vrank_program_file *const *files,
                                        struct wf_err *err)
{
    const struct wf_vrank_kernels *kernels = image->config.kernels;

    if (kernels == NULL) {
        return WF_OK;
    }
    if (copy->kernels == NULL) {
        copy->kernels = wf_xcalloc(1, sizeof(*copy->kernels));
    }
    for (uint32_t i = n; i-- > 0;) { /* the program's own function comes first */
        WF_TRY(wf_vrank_kernels_patch(kernels, files[i], copy->objects[first + i].base,
                                      copy->kernels, err));
    }
    for (uint32_t i = 0; i < n; i++) {
        wf_vrank_kernels_import(kernels, copy->objects[first + i].base, copy->kernels);
    }
    return WF_OK;
}

/* ---- variables of each rank ---- */

/* Notes the first write to a page: from now on each rank has its own copy of the page. Small
 * programs have a few variables in one page: only these are compared and copied when another rank
 * runs. */
static void note_written(struct wf_vrank_copy *copy, const struct wf_vrank_object *object,
                         size_t number)
{
    size_t page = wf_vrank_page_size(), at = number * page, left = object->data_bytes - at;

    copy->written[copy->n_written++] = (struct wf_vrank_page){
        object->data + at, object->fresh + at, left < page ? left : page};
}

/* If there are only a few pages, each rank has its own copy of all of them. Otherwise pages
 * are protected: the first write to a page causes a signal, and pages that no rank writes to
 * cost nothing. */
static void protect_pages(struct wf_vrank_copy *copy, struct wf_vrank_object *object)
{
    enum { FEW = 4 };
    size_t bytes = object->n_pages * wf_vrank_page_size();

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

void wf_vrank_objects_divide(struct wf_vrank_copy *copy, uint32_t first, uint32_t n)
{
    for (uint32_t i = first; i < first + n; i++) { /* a signal handler cannot allocate */
        copy->max_written += copy->objects[i].n_pages + 1;
    }
    copy->written = wf_xrealloc(copy->written, copy->max_written, sizeof(struct wf_vrank_page));
    copy->is_fresh = wf_xrealloc(copy->is_fresh, copy->max_written, 1);
    for (uint32_t i = first; i < first + n; i++) {
        protect_pages(copy, &copy->objects[i]);
    }
}

/* The loader allocates thread-local variables when a thread first uses them. */
extern void *__tls_get_addr(size_t place[2]);

void wf_vrank_object_divide_tls(struct wf_vrank_copy *copy, struct wf_vrank_object *object)
{
    if (object->tls_module == 0 || object->tls_bytes == 0) {
        return;
    }
    unsigned char *at = __tls_get_addr((size_t[2]){object->tls_module, 0});
    object->tls_fresh = wf_xmalloc(object->tls_bytes);
    memcpy(object->tls_fresh, at, object->tls_bytes);
    copy->written[copy->n_written++] =
        (struct wf_vrank_page){at, object->tls_fresh, object->tls_bytes};
}

static bool is_written(const struct wf_vrank_copy *copy, const unsigned char *page)
{
    uint32_t i = 0;

    while (i < copy->n_written && copy->written[i].at != page) {
        i++;
    }
    return i < copy->n_written;
}

bool wf_vrank_object_repair(struct wf_vrank_copy *copy, const struct wf_vrank_object *object,
                            const void *address)
{
    size_t page = wf_vrank_page_size();
    size_t number = ((uintptr_t)address - (uintptr_t)object->data) / page;

    if (object->fresh == NULL || (uintptr_t)address < (uintptr_t)object->data ||
        number >= object->n_pages || is_written(copy, object->data + number * page)) {
        return false;
    }
    note_written(copy, object, number);
    return mprotect(object->data + number * page, page, PROT_READ | PROT_WRITE) == 0;
}

/* ---- names ---- */

void wf_vrank_copy_name(struct wf_vrank_copy *copy, const char *name, char *instead,
                        uint32_t module)
{
    WF_PUSH(copy->aliases, copy->n_aliases, copy->max_aliases,
            (struct wf_vrank_alias){wf_xstrdup(name), instead, module});
}

void wf_vrank_copy_names(const struct wf_vrank_copy *copy, char ***names, char ***instead)
{
    *names = wf_xcalloc(copy->n_aliases, sizeof(char *));
    *instead = wf_xcalloc(copy->n_aliases, sizeof(char *));
    for (uint32_t i = 0; i < copy->n_aliases; i++) {
        (*names)[i] = copy->aliases[i].name;
        (*instead)[i] = copy->aliases[i].instead;
    }
}
