/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Libraries that a program loads itself, with dlopen(): plug-ins, and the extension modules of
 * interpreters. They are loaded once into each copy of the program, and each rank has its own
 * variables of them, as it has of the program. They stay loaded until the end of the run.
 *
 * The loader must not load such a library as it is: its imports would be bound to the libraries
 * of the system, and those of a library for another MPI to that MPI. So, as for libraries that a
 * program is linked with, it loads a changed copy of the file. This copy asks for the program,
 * too, so that an extension module finds the symbols of its interpreter.
 */
#include "base/array.h"
#include "base/lookup.h"
#include "base/mem.h"
#include "mpi/vrank/program_objects.h"
#include "mpi/vrank/program_relink.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- which library is meant ---- */

static const char *name_in(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static const struct wf_vrank_alias *find_alias(const struct wf_vrank_copy *copy,
                                               const char *name)
{
    return WF_LOOKUP_AMONG(copy->aliases, copy->n_aliases, name);
}

static uint32_t find_module(const struct wf_vrank_copy *copy, const char *path)
{
    uint32_t i = 0;

    while (i < copy->n_modules && strcmp(copy->modules[i].path, path) != 0) {
        i++;
    }
    return i < copy->n_modules ? i : WF_VRANK_NO_MODULE;
}

/* The file of a library in a directory where the loader looks; null if it is not there. For the
 * loader, the program is in the directory of its open files. */
static char *file_in(const char *directory, const char *program, const char *name)
{
    static const char open_files[] = "/proc/self/fd";
    char *own = realpath(program, NULL), *file = NULL, *found = NULL;
    bool is_own = own != NULL && strncmp(directory, open_files, strlen(open_files)) == 0;

    if (is_own) {
        *strrchr(own, '/') = '\0';
    }
    if (asprintf(&file, "%s%s/%s", is_own ? own : "",
                 directory + (is_own ? strlen(open_files) : 0), name) >= 0 &&
        access(file, R_OK) == 0) {
        found = realpath(file, NULL);
    }
    free(file);
    free(own);
    return found;
}

/* The file of a library in the directories where the loader looks for libraries of the program;
 * null if it is not there. The caller frees it. */
static char *search_file(void *handle, const char *program, const char *name)
{
    Dl_serinfo size, *paths;
    char *found = NULL;

    if (dlinfo(handle, RTLD_DI_SERINFOSIZE, &size) != 0) {
        return NULL;
    }
    paths = wf_xcalloc(1, size.dls_size);
    *paths = size;
    if (dlinfo(handle, RTLD_DI_SERINFO, paths) == 0) {
        for (unsigned i = 0; i < paths->dls_cnt && found == NULL; i++) {
            found = file_in(paths->dls_serpath[i].dls_name, program, name);
        }
    }
    free(paths);
    return found;
}

/* ---- loading one ---- */

/* What a library becomes while it is loaded. */
struct load {
    struct wf_vrank_image *image;
    struct wf_vrank_copy *copy;
    struct wf_vrank_program_file program;
    uint32_t first_module, first_object;
};

/* Whether a module needs another one: its constructors come later. */
static void find_needs(const struct wf_vrank_copy *copy,
                       const struct wf_vrank_program_file *file, struct wf_vrank_module *module)
{
    struct wf_vrank_dynamic dynamic;

    if (!wf_vrank_dynamic_find(file, &dynamic)) {
        return;
    }
    for (size_t i = 0; i < dynamic.n; i++) {
        const char *name = wf_vrank_dynamic_needed(&dynamic, i);
        const struct wf_vrank_alias *alias = name != NULL ? find_alias(copy, name) : NULL;
        if (alias != NULL && alias->module != WF_VRANK_NO_MODULE) {
            WF_PUSH(module->needs, module->n_needs, module->max_needs, alias->module);
        }
    }
}

/* Writes the changed file, and adds it to the modules and the objects; false if it cannot be
 * changed. */
static bool add_module(const struct load *load, const char *path,
                       const struct wf_vrank_program_file *file, bool asks_for_program)
{
    struct wf_vrank_copy *copy = load->copy;
    char program[WF_VRANK_FD_NAME_MAX], **names, **instead;

    wf_vrank_fd_name(copy->objects[copy->program].fd, program);
    wf_vrank_copy_names(copy, &names, &instead);
    int fd = wf_vrank_relink(
        file, &(struct wf_vrank_relinking){.libraries = names,
                                           .instead = instead,
                                           .n = copy->n_aliases,
                                           .more = asks_for_program ? program : NULL,
                                           .rename = wf_vrank_interface_rename,
                                           .arg = &load->image->libraries.mpi});
    free(names);
    free(instead);
    if (fd < 0) {
        return false;
    }
    uint32_t object = load->first_object + (copy->n_modules - load->first_module);
    copy->objects[object] = (struct wf_vrank_object){.fd = fd};
    struct wf_vrank_module module = {.path = wf_xstrdup(path), .object = object};
    find_needs(copy, file, &module);
    WF_PUSH(copy->modules, copy->n_modules, copy->max_modules, module);
    return true;
}

/* Takes modules back that could not be loaded. */
static void drop_modules(struct wf_vrank_copy *copy, uint32_t n_modules, uint32_t n_aliases)
{
    while (copy->n_modules > n_modules) {
        struct wf_vrank_module *module = &copy->modules[--copy->n_modules];
        (void)close(copy->objects[module->object].fd);
        free(module->path);
        free(module->needs);
    }
    while (copy->n_aliases > n_aliases) {
        struct wf_vrank_alias *alias = &copy->aliases[--copy->n_aliases];
        free(alias->name);
        free(alias->instead);
    }
}

/* The private libraries that the new one needs. */
static enum wf_status add_libraries(const struct load *load,
                                    const struct wf_vrank_libraries *libraries,
                                    struct wf_err *err)
{
    struct wf_vrank_copy *copy = load->copy;

    for (uint32_t i = 0; i < libraries->n; i++) {
        const struct wf_vrank_library *library = &libraries->list[i];
        const char *instead = library->instead;
        char name[WF_VRANK_FD_NAME_MAX];
        uint32_t module = WF_VRANK_NO_MODULE;
        if (library->why_shared == NULL) {
            if (!add_module(load, library->path, &library->file, false)) {
                return wf_err_set(err, WF_EINVAL, "'%.300s' cannot be loaded for each rank",
                                  library->path);
            }
            module = copy->n_modules - 1;
            instead = wf_vrank_fd_name(copy->objects[copy->modules[module].object].fd, name);
        }
        wf_vrank_copy_name(copy, library->name, instead != NULL ? wf_xstrdup(instead) : NULL,
                           module);
    }
    return WF_OK;
}

/* Loads the files that were written, and gives each rank its own variables of them. */
static enum wf_status load_files(const struct load *load,
                                 const struct wf_vrank_libraries *libraries,
                                 const struct wf_vrank_program_file *file, int flags,
                                 struct wf_err *err)
{
    struct wf_vrank_copy *copy = load->copy;
    struct wf_vrank_module *last = &copy->modules[copy->n_modules - 1];
    char name[WF_VRANK_FD_NAME_MAX];
    uint32_t at = load->first_object, n = copy->n_modules - load->first_module;

    last->handle = dlopen(wf_vrank_fd_name(copy->objects[last->object].fd, name),
                          (flags & (RTLD_LAZY | RTLD_NOW)) | RTLD_LOCAL);
    if (last->handle == NULL) {
        return wf_err_set(err, WF_EINVAL, "%s: %s", last->path, dlerror());
    }
    const struct wf_vrank_program_file **files =
        wf_xcalloc(n, sizeof(const struct wf_vrank_program_file *)); /* the stack is a rank's */
    for (uint32_t i = 0; i < libraries->n; i++) {
        if (libraries->list[i].why_shared == NULL) {
            files[at - load->first_object] = &libraries->list[i].file;
            wf_vrank_object_find(copy, &copy->objects[at++], &libraries->list[i].file);
        }
    }
    files[at - load->first_object] = file;
    wf_vrank_object_find(copy, &copy->objects[at], file);
    enum wf_status status =
        wf_vrank_objects_replace(load->image, copy, load->first_object, n, files, err);
    free((void *)files);
    WF_TRY(status);
    const struct wf_port_library *library = dlsym(copy->handle, WF_PORT_LIBRARY_SYMBOL);
    library->interpose(((const struct link_map *)last->handle)->l_ld);
    wf_vrank_objects_divide(copy, load->first_object, n);
    __atomic_store_n(&copy->n_objects, load->first_object + n, __ATOMIC_RELEASE);
    for (uint32_t i = 0; i < n; i++) {
        wf_vrank_object_divide_tls(copy, &copy->objects[load->first_object + i]);
    }
    return WF_OK;
}

static enum wf_status load_library(struct load *load, const char *path,
                                   const struct wf_vrank_program_file *file, int flags,
                                   struct wf_err *err)
{
    struct wf_vrank_copy *copy = load->copy;
    struct wf_vrank_libraries libraries;
    char **names, **instead;
    Dl_info weftmpi;

    if (dladdr(dlsym(copy->handle, WF_PORT_LIBRARY_SYMBOL), &weftmpi) == 0) {
        return wf_err_set(err, WF_EINVAL, "%s: the program has no MPI of weft", path);
    }
    wf_vrank_copy_names(copy, &names, &instead);
    const struct wf_vrank_loading loading = {&load->program, weftmpi.dli_fname, names,
                                             copy->n_aliases, &load->image->libraries.mpi};
    enum wf_status status = wf_vrank_libraries_find_more(path, file, &loading, &libraries, err);
    free(names);
    free(instead);
    WF_TRY(status);
    if (copy->n_modules + libraries.n + 1 > WF_VRANK_MODULES_MAX) {
        status = wf_err_set(err, WF_EINVAL, "%s: a program may load at most %d libraries", path,
                            WF_VRANK_MODULES_MAX);
    }
    WF_THEN(status, add_libraries(load, &libraries, err));
    if (status == WF_OK && !add_module(load, path, file, true)) {
        status = wf_err_set(err, WF_EINVAL, "'%.300s' cannot be loaded for each rank", path);
    }
    WF_THEN(status, load_files(load, &libraries, file, flags, err));
    wf_vrank_libraries_free(&libraries);
    return status;
}

/* Loads the library into the copy of the program that the calling thread runs. */
static enum wf_status load_path(struct wf_vrank_image *image, struct wf_vrank_copy *copy,
                                const char *path, int flags, struct wf_err *err)
{
    struct load load = {.image = image,
                        .copy = copy,
                        .first_module = copy->n_modules,
                        .first_object = copy->n_objects};
    struct wf_vrank_program_file file;
    uint32_t n_aliases = copy->n_aliases;

    WF_TRY(wf_vrank_library_file_open(path, &file, err));
    enum wf_status status =
        wf_vrank_program_file_open(image->config.program, &load.program, err);
    if (status == WF_OK) {
        status = load_library(&load, path, &file, flags, err);
        wf_vrank_program_file_close(&load.program);
    }
    if (status != WF_OK) {
        drop_modules(copy, load.first_module, n_aliases);
    }
    wf_vrank_program_file_close(&file);
    return status;
}

/* ---- constructors and destructors ---- */

static bool *is_begun(struct wf_vrank_image *image, uint32_t rank, uint32_t module)
{
    if (image->begun[rank] == NULL) {
        image->begun[rank] = wf_xcalloc(WF_VRANK_MODULES_MAX, sizeof(bool));
    }
    return &image->begun[rank][module];
}

/* Calls the constructors of a module and of those that it needs, unless the rank has done it. */
static void begin_module(struct wf_vrank_image *image, uint32_t rank, uint32_t number)
{
    static char *no_arguments[] = {NULL};
    const struct wf_vrank_copy *copy = wf_vrank_copy_of(image, rank);
    const struct wf_vrank_module module = copy->modules[number];
    bool *begun = is_begun(image, rank, number);

    if (*begun) {
        return;
    }
    *begun = true;
    for (uint32_t i = 0; i < module.n_needs; i++) {
        begin_module(image, rank, module.needs[i]);
    }
    const struct wf_vrank_object *object = &copy->objects[module.object];
    for (size_t i = 0; i < object->n_constructors; i++) {
        object->constructors[i](0, no_arguments, environ);
    }
}

void wf_vrank_modules_end(const struct wf_vrank_image *image, uint32_t rank)
{
    const struct wf_vrank_copy *copy = wf_vrank_copy_of(image, rank);
    const bool *begun = image->begun[rank];

    for (uint32_t k = begun != NULL ? copy->n_modules : 0; k > 0; k--) {
        const struct wf_vrank_object *object = &copy->objects[copy->modules[k - 1].object];
        for (size_t i = begun[k - 1] ? object->n_destructors : 0; i > 0; i--) {
            object->destructors[i - 1]();
        }
    }
}

void wf_vrank_modules_free(struct wf_vrank_copy *copy)
{
    for (uint32_t i = copy->n_modules; i-- > 0;) {
        if (copy->modules[i].handle != NULL) {
            (void)dlclose(copy->modules[i].handle);
        }
        free(copy->modules[i].path);
        free(copy->modules[i].needs);
    }
    for (uint32_t i = 0; i < copy->n_aliases; i++) {
        free(copy->aliases[i].name);
        free(copy->aliases[i].instead);
    }
    free(copy->modules);
    free(copy->aliases);
}

/* ---- dlopen() ---- */

/* The file of a library that is not known yet; null if there is none. The caller frees it. */
static char *find_path(const struct wf_vrank_image *image, const struct wf_vrank_copy *copy,
                       const char *name)
{
    return strchr(name, '/') != NULL ? realpath(name, NULL)
                                     : search_file(copy->handle, image->config.program, name);
}

/* With the lock held. */
static uint32_t module_of(struct wf_vrank_image *image, struct wf_vrank_copy *copy,
                          const char *path, int flags)
{
    uint32_t module = find_module(copy, path);
    char name[WF_VRANK_FD_NAME_MAX];

    if (module == WF_VRANK_NO_MODULE && (flags & RTLD_NOLOAD)) {
        (void)wf_err_set(&copy->failure, WF_EINVAL, "%.300s is not loaded", path);
    } else if (module == WF_VRANK_NO_MODULE &&
               load_path(image, copy, path, flags, &copy->failure) == WF_OK) {
        module = copy->n_modules - 1;
    }
    if (module != WF_VRANK_NO_MODULE && copy->modules[module].handle == NULL) {
        int fd = copy->objects[copy->modules[module].object].fd;
        copy->modules[module].handle = dlopen(wf_vrank_fd_name(fd, name), RTLD_LAZY);
    }
    return module;
}

/* A library that parts of the program need anyway. */
static bool open_alias(struct wf_vrank_image *image, uint32_t rank,
                       const struct wf_vrank_alias *alias, void **handle)
{
    if (alias->instead == NULL) {
        return false;
    }
    if (alias->module != WF_VRANK_NO_MODULE) {
        begin_module(image, rank, alias->module);
    }
    *handle = dlopen(alias->instead, RTLD_LAZY | RTLD_LOCAL);
    return true;
}

bool wf_vrank_image_dlopen(struct wf_vrank_image *image, uint32_t rank, const char *name,
                           int flags, void **handle, char **why)
{
    struct wf_vrank_copy *copy = wf_vrank_copy_of(image, rank);

    *handle = copy->handle;
    *why = copy->failure.text;
    if (name == NULL || name[0] == '\0') {
        return true;
    }
    const char *short_name = name_in(name);
    const struct wf_vrank_alias *alias = find_alias(copy, short_name);
    if (alias != NULL) {
        return open_alias(image, rank, alias, handle);
    }
    *handle = NULL;
    if (wf_vrank_library_is_mpi(short_name)) {
        (void)wf_err_set(&copy->failure, WF_EINVAL,
                         "%.300s: weft has its own MPI, which nothing in this program uses yet",
                         name);
        return true;
    }
    char *path =
        wf_vrank_library_shared(short_name) == NULL ? find_path(image, copy, name) : NULL;
    if (path == NULL) {
        return false;
    }
    (void)pthread_mutex_lock(&image->loader);
    uint32_t module = module_of(image, copy, path, flags);
    (void)pthread_mutex_unlock(&image->loader);
    free(path);
    if (module != WF_VRANK_NO_MODULE) {
        *handle = copy->modules[module].handle;
        begin_module(image, rank, module);
    }
    return true;
}
