/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/program_libraries.h"

#include "base/array.h"
#include "base/mem.h"
#include "mpi/vrank/program_relink.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- which libraries are shared ---- */

struct reason {
    const char *prefix, *why;
};

static const char *find_reason(const struct reason *reasons, const char *name)
{
    while (reasons->prefix != NULL &&
           strncmp(name, reasons->prefix, strlen(reasons->prefix)) != 0) {
        reasons++;
    }
    return reasons->why;
}

static const char *always_shared(const char *name)
{
    static const char c_library[] = "part of the C library";
    static const struct reason reasons[] = {
        {"ld-linux", "the loader"},
        {"libc.so", c_library},
        {"libm.so", c_library},
        {"libmvec.so", c_library},
        {"libpthread.so", c_library},
        {"libdl.so", c_library},
        {"librt.so", c_library},
        {"libutil.so", c_library},
        {"libresolv.so", c_library},
        {"libgcc_s.so", "it unwinds the stacks of all ranks and of weft"},
        {"libgomp.so", "weft has its own OpenMP"},
        {"libweft", "a part of weft, which knows all ranks"},
        {NULL, NULL},
    };

    return find_reason(reasons, name);
}

/* Libraries of other MPIs. */
struct other_mpi {
    const char *prefix, *title;
    const char *interface;    /* its short name */
    const char *our_language; /* ours for this language takes its place: "" for C, "-fortran" */
};

static const struct other_mpi *other_mpi_of(const char *name)
{
    static const char mpich[] = "MPICH", open[] = "Open MPI";
    static const struct other_mpi others[] = {
        {"libmpich.so", mpich, "mpich", ""},
        {"libmpi.so.12", mpich, "mpich", ""},
        {"libmpichfort.so", mpich, "mpich", "-fortran"},
        {"libmpifort.so", mpich, "mpich", "-fortran"},
        {"libmpi.so", open, "openmpi", ""},
        {"libmpi_mpifh", open, "openmpi", "-fortran"},
        {"libopen-rte.so", open, "openmpi", ""},
        {"libopen-pal.so", open, "openmpi", ""},
    };

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (strncmp(name, others[i].prefix, strlen(others[i].prefix)) == 0) {
            return &others[i];
        }
    }
    return NULL;
}

static int compare_loaded(struct dl_phdr_info *info, size_t size, void *arg)
{
    const char *slash = strrchr(info->dlpi_name, '/');

    (void)size;
    return slash != NULL && strcmp(slash + 1, *(const char **)arg) == 0;
}

/* The loader prefers the library that weft has loaded. */
static bool is_loaded(const char *name)
{
    return dl_iterate_phdr(compare_loaded, (void *)&name) != 0;
}

const char *wf_vrank_library_shared(const char *name)
{
    const char *why = always_shared(name);

    return why == NULL && is_loaded(name) ? "weft uses it as well" : why;
}

bool wf_vrank_library_is_mpi(const char *name)
{
    return other_mpi_of(name) != NULL;
}

/* ---- where libraries are ---- */

/* What the loader of the program says: lines such as "libx.so.1 => /usr/lib/libx.so.1 (0x...)".
 * Null if it says nothing. The caller frees it. */
static char *ask_loader(const char *program, const struct wf_vrank_program_file *file)
{
    unsigned n;
    const ElfW(Phdr) *segments = wf_vrank_program_segments(file, &n);
    char *loader = NULL;

    for (unsigned i = 0; i < n; i++) {
        if (segments[i].p_type == PT_INTERP && segments[i].p_offset < file->size &&
            segments[i].p_filesz <= file->size - segments[i].p_offset) {
            loader = (char *)file->bytes + segments[i].p_offset;
            loader = memchr(loader, '\0', segments[i].p_filesz) != NULL ? loader : NULL;
        }
    }
    int ends[2];
    if (loader == NULL || pipe(ends) != 0) {
        return NULL;
    }
    char *path = realpath(program, NULL);
    char *argv[] = {loader, (char *)"--list", path, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    (void)posix_spawn_file_actions_addclose(&actions, ends[0]);
    int error = posix_spawn(&child, loader, &actions, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    char *text = NULL;
    size_t capacity = 0;
    if (in != NULL && getdelim(&text, &capacity, '\0', in) < 0) {
        free(text);
        text = NULL;
    }
    if (in != NULL) {
        (void)fclose(in);
    }
    if (error == 0) {
        (void)waitpid(child, NULL, 0);
    }
    free(path);
    return text;
}

/* The path of a library in what the loader says; null if it is not there. */
static char *path_of(const char *text, const char *name)
{
    size_t length = strlen(name);

    for (const char *line = text; line != NULL && *line != '\0';) {
        const char *at = line + strspn(line, " \t"), *end = strchr(line, '\n');
        if (strncmp(at, name, length) == 0 && strncmp(at + length, " => /", 5) == 0) {
            const char *path = at + length + 4;
            return strndup(path, strcspn(path, " \n"));
        }
        line = end != NULL ? end + 1 : NULL;
    }
    return NULL;
}

/* ---- the list ---- */

struct search {
    const char *program; /* or the library that is loaded while it runs */
    const struct wf_vrank_program_file *file;
    const struct wf_vrank_loading *loading; /* null: the program itself is loaded */
    struct wf_vrank_libraries found;
    uint32_t capacity;
    char *text; /* of the loader; null: it was not asked */
    bool asked;
};

static struct wf_vrank_library *find_library(const struct wf_vrank_libraries *libraries,
                                             const char *name)
{
    for (uint32_t i = 0; i < libraries->n; i++) {
        if (strcmp(libraries->list[i].name, name) == 0) {
            return &libraries->list[i];
        }
    }
    return NULL;
}

static char *find_file(struct search *search, const char *name)
{
    if (!search->asked) {
        search->asked = true;
        search->text = ask_loader(search->program, search->file);
    }
    return path_of(search->text, name);
}

/* A library that registers functions with printf() cannot be unloaded: the C library would go on to
 * call them, for weft as well. libquadmath is one, which most Fortran programs have. */
static bool stays_loaded(struct wf_vrank_library *library)
{
    if (!wf_vrank_dynamic_imports(&library->file, "register_printf_") ||
        dlopen(library->path, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE) == NULL) {
        return false;
    }
    library->instead = library->path; /* the same one, wherever it is */
    library->path = NULL;
    return true;
}

/* Opens the file of a library, or says why it must be shared. */
static const char *open_library(struct search *search, struct wf_vrank_library *library)
{
    struct wf_err err;
    const char *why = library->path == NULL ? wf_vrank_library_shared(library->name) : NULL;

    if (why == NULL && library->path == NULL) {
        library->path = find_file(search, library->name);
        why = library->path == NULL ? "its file was not found" : NULL;
    }
    if (why == NULL &&
        wf_vrank_library_file_open(library->path, &library->file, &err) != WF_OK) {
        why = "its file has an unknown form";
    }
    if (why == NULL && stays_loaded(library)) {
        why = "printf() of the C library calls it";
    }
    return why; /* NOLINT: the list owns the path */
}

/* The libraries whose needs are being looked at, the innermost first: they may need each other in
 * a circle. */
struct chain {
    const char *name;
    const struct wf_vrank_program_file *file;
    const struct chain *outer;
};

static bool is_in_chain(const struct chain *chain, const char *name)
{
    while (chain != NULL && strcmp(chain->name, name) != 0) {
        chain = chain->outer;
    }
    return chain != NULL;
}

/* The library that the program itself asks for; the program, if it is the only one. */
static const char *outermost(const struct chain *chain)
{
    while (chain->outer != NULL && chain->outer->outer != NULL) {
        chain = chain->outer;
    }
    return chain->name;
}

/* ---- the interface of another MPI ---- */

/* Our library for an interface and a language: it is where libweftmpi is. Null if weft was built
 * without it. */
static char *find_interface(struct search *search, const struct other_mpi *other)
{
    char *beside = search->loading != NULL ? wf_xstrdup(search->loading->weftmpi)
                                           : find_file(search, "libweftmpi.so");

    if (beside == NULL) {
        return NULL;
    }
    char *slash = strrchr(beside, '/'), *path = NULL;
    if (asprintf(&path, "%.*s/libweft-%s%s.so", (int)(slash - beside), beside, other->interface,
                 other->our_language) < 0 ||
        access(path, R_OK) != 0) {
        free(path);
        path = NULL;
    }
    free(beside);
    return path;
}

static enum wf_status refuse(const struct search *search, const struct other_mpi *other,
                             const char *name, const struct chain *by, struct wf_err *err)
{
    if (wf_vrank_dynamic_imports(search->file, "weft_MPI_")) {
        return wf_err_set(
            err, WF_EINVAL,
            "cannot run '%.200s': '%.200s' was built for %s (it needs %.100s), the "
            "program with weft's mpi.h; build the program with weftcc --mpi=%s, or "
            "the library with weftcc",
            search->program, outermost(by), other->title, name, other->interface);
    }
    if (search->found.mpi.name != NULL) {
        return wf_err_set(
            err, WF_EINVAL,
            "cannot run '%.200s': '%.200s' was built for %s (it needs %.100s), other "
            "parts of the program for another MPI; use libraries of one MPI",
            search->program, outermost(by), other->title, name);
    }
    return wf_err_set(err, WF_EINVAL,
                      "cannot run '%.200s': '%.200s' was built for %s (it needs %.100s), whose "
                      "interface this weft does not have; build it with weftcc, or use one "
                      "without MPI",
                      search->program, outermost(by), other->title, name);
}

/* Our library takes the place of one of another MPI. */
static enum wf_status take_place(struct search *search, const struct other_mpi *other,
                                 const struct chain *by, struct wf_vrank_library *library,
                                 struct wf_err *err)
{
    struct wf_vrank_interface *mpi = &search->found.mpi;
    bool other_one = mpi->name != NULL && strcmp(mpi->name, other->interface) != 0;
    bool own = wf_vrank_dynamic_imports(search->file, "weft_MPI_");
    char *path = other_one || own ? NULL : find_interface(search, other);
    int language = path != NULL && other->our_language[0] != '\0';
    void *loaded = path != NULL ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;

    if (loaded == NULL) {
        free(path);
        return refuse(search, other, library->name, by, err);
    }
    mpi->name = other->interface;
    if (mpi->loaded[language] != NULL) {
        (void)dlclose(mpi->loaded[language]); /* the same one */
    }
    mpi->loaded[language] = loaded;
    if (language) { /* it sees the common blocks of its copy of the program */
        library->path = path;
    } else {
        library->instead = path;
    }
    return WF_OK;
}

static bool begins_with(const char *name, const char *const *beginnings)
{
    while (*beginnings != NULL && strncmp(name, *beginnings, strlen(*beginnings)) != 0) {
        beginnings++;
    }
    return *beginnings != NULL;
}

const char *wf_vrank_interface_rename(const void *arg, const char *name, char *out, size_t size)
{
    static const char *const theirs[] = {"MPI_",  "PMPI_", "MPIX_", "ompi_", "OMPI_",
                                         "MPIR_", "opal_", "orte_", NULL};
    static const char *const profiled[] = {"PMPI_", "pmpi_", NULL};
    const struct wf_vrank_interface *mpi = arg;

    if (mpi->name == NULL) {
        return NULL;
    }
    (void)snprintf(out, size, "weft_%s_%s", mpi->name,
                   begins_with(name, profiled) ? name + 1 : name);
    for (int i = 0; i < 2; i++) {
        if (mpi->loaded[i] != NULL && dlsym(mpi->loaded[i], out) != NULL) {
            return out;
        }
    }
    if (!begins_with(name, theirs)) {
        return NULL;
    }
    (void)snprintf(out, size, "weft_%s_missing", mpi->name);
    return out;
}

/* ---- libraries that libraries need ---- */

static enum wf_status add_needed(struct search *search, const struct chain *by,
                                 struct wf_err *err);

static enum wf_status add(struct search *search, const char *name, const struct chain *by,
                          struct wf_err *err)
{
    struct wf_vrank_library library = {.name = wf_xstrdup(name)};
    const struct other_mpi *other = other_mpi_of(name);

    if (other != NULL) {
        enum wf_status status = take_place(search, other, by, &library, err);
        if (status != WF_OK) {
            free(library.name);
            return status;
        }
    }
    library.why_shared =
        library.instead != NULL ? "weft's MPI takes its place" : open_library(search, &library);
    enum wf_status status = WF_OK;
    if (library.why_shared == NULL) {
        const struct chain inner = {library.name, &library.file, by};
        status = add_needed(search, &inner, err);
    }
    WF_PUSH(search->found.list, search->found.n, search->capacity, library);
    return status;
}

static bool is_known(const struct search *search, const char *name)
{
    const struct wf_vrank_loading *loading = search->loading;
    uint32_t i = 0, n = loading != NULL ? loading->n_names : 0;

    while (i < n && strcmp(loading->names[i], name) != 0) {
        i++;
    }
    return i < n || find_library(&search->found, name) != NULL;
}

static enum wf_status add_needed(struct search *search, const struct chain *by,
                                 struct wf_err *err)
{
    struct wf_vrank_dynamic dynamic;
    enum wf_status status = WF_OK;

    if (!wf_vrank_dynamic_find(by->file, &dynamic)) {
        return WF_OK;
    }
    for (size_t i = 0; i < dynamic.n && status == WF_OK; i++) {
        const char *name = wf_vrank_dynamic_needed(&dynamic, i);
        if (name != NULL && !is_known(search, name) && !is_in_chain(by, name)) {
            status = add(search, name, by, err);
        }
    }
    return status;
}

enum wf_status wf_vrank_libraries_find(const char *program,
                                       const struct wf_vrank_program_file *file,
                                       struct wf_vrank_libraries *out, struct wf_err *err)
{
    struct search search = {.program = program, .file = file};
    const struct chain chain = {program, file, NULL};
    enum wf_status status = add_needed(&search, &chain, err);

    free(search.text);
    *out = search.found;
    if (status != WF_OK) {
        wf_vrank_libraries_free(out);
    }
    return status;
}

enum wf_status wf_vrank_libraries_find_more(const char *path,
                                            const struct wf_vrank_program_file *file,
                                            const struct wf_vrank_loading *loading,
                                            struct wf_vrank_libraries *out, struct wf_err *err)
{
    struct search search = {.program = path,
                            .file = loading->program,
                            .loading = loading,
                            .found = {.mpi = *loading->mpi}};
    const struct chain chain = {path, file, NULL};
    enum wf_status status = add_needed(&search, &chain, err);

    free(search.text);
    *loading->mpi = search.found.mpi;
    search.found.mpi = (struct wf_vrank_interface){.name = NULL};
    *out = search.found;
    if (status != WF_OK) {
        wf_vrank_libraries_free(out);
    }
    return status;
}

void wf_vrank_libraries_free(struct wf_vrank_libraries *libraries)
{
    for (uint32_t i = 0; i < libraries->n; i++) {
        free(libraries->list[i].name);
        free(libraries->list[i].path);
        free(libraries->list[i].instead);
        wf_vrank_program_file_close(&libraries->list[i].file);
    }
    for (int i = 0; i < 2; i++) {
        if (libraries->mpi.loaded[i] != NULL) {
            (void)dlclose(libraries->mpi.loaded[i]);
        }
    }
    free(libraries->list);
    *libraries = (struct wf_vrank_libraries){.list = NULL};
}
