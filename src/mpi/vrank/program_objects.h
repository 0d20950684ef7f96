/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The parts of a loaded program: files that the loader has put into memory, and their variables.
 * What program_image.c, which runs ranks, shares with program_modules.c, which loads what ranks
 * ask for.
 */

#include "mpi/vrank/program_image.h"
#include "mpi/vrank/program_libraries.h"

#include <pthread.h>

typedef int wf_vrank_main(int argc, char **argv, char **envp);
typedef void wf_vrank_constructor(int argc, char **argv, char **envp);
typedef void wf_vrank_destructor(void);

/* The program, or a private library of it, in a copy. */
struct wf_vrank_object {
    /* Its file, in memory. It stays open: the loader tells files apart by their names, which
     * contain this number. */
    int fd;
    wf_vrank_constructor *const *constructors; /* called by each rank before main()... */
    wf_vrank_destructor *const *destructors;   /* ...and at its end, the last one first */
    size_t n_constructors, n_destructors;
    unsigned char *data; /* its variables begin at or in this page... */
    size_t data_bytes;   /* ...and end so far from its beginning */
    size_t n_pages;
    unsigned char *fresh;           /* contents of the pages before any rank ran */
    uintptr_t base, code, code_end; /* where it is loaded, and its instructions */
    /* Thread-local variables of a library: each thread has them at another place. */
    size_t tls_module, tls_bytes;
    unsigned char *tls_fresh;
};

/* A page that ranks have written to, as far as it has variables; or the thread-local variables of
 * a library. */
struct wf_vrank_page {
    unsigned char *at;
    const unsigned char *fresh; /* its contents before any rank ran */
    size_t bytes;
};

/* A library that ranks have loaded with dlopen(), or that such a library needs. */
struct wf_vrank_module {
    char *path;      /* its file */
    void *handle;    /* of the loader; null if no rank has asked for it itself */
    uint32_t object; /* index into the objects of the copy */
    uint32_t *needs; /* modules: their constructors are called first */
    uint32_t n_needs, max_needs;
};

/* The name of a library, and the file that the loader takes instead; null: it finds the file. */
struct wf_vrank_alias {
    char *name, *instead;
    uint32_t module; /* index, or WF_VRANK_NO_MODULE */
};

enum { WF_VRANK_MODULES_MAX = 1024 }; /* of a copy */
#define WF_VRANK_NO_MODULE UINT32_MAX

/* One loaded copy of the program. Each thread that runs ranks has its own copy. */
struct wf_vrank_copy {
    void *handle;
    wf_vrank_main *main;
    /* Libraries, each after those that it needs; the program; modules. They never move, because
     * a signal handler of another thread may be looking at them. */
    struct wf_vrank_object *objects;
    uint32_t n_objects;
    uint32_t program; /* index of the program */
    double seconds;   /* that it took to put others into place */
    uint32_t current; /* the rank whose variables are in place; n_ranks if none */
    /* The pages that ranks have written to, in the order of the first writes. The other pages
     * are the same for all ranks. */
    struct wf_vrank_page *written;
    uint32_t n_written;
    size_t max_written;      /* pages of all objects */
    bool has_thread;         /* the thread-local variables of its thread are among them */
    unsigned char *is_fresh; /* [n_written] the rank that ran last has not changed the page */
    struct wf_vrank_kernel_places *kernels; /* null: there are none */
    struct wf_vrank_alias *aliases; /* of all libraries that parts of this copy may ask for */
    uint32_t n_aliases, max_aliases;
    struct wf_vrank_module *modules;
    uint32_t n_modules, max_modules;
    struct wf_err failure; /* of the last library that a rank wanted to load */
};

/* The contents of written pages of a rank that is not running, in the same order. */
struct wf_vrank_own_pages {
    uint32_t n;
    unsigned char *pages[]; /* an entry is null if the page is as before any rank ran */
};

/* The thread-local variables of a rank. */
struct wf_vrank_own_tls {
    struct wf_vrank_tls_block *all;     /* of its threads */
    struct wf_vrank_tls_block *current; /* of the one that runs */
};

struct wf_vrank_image {
    struct wf_vrank_image_config config;
    struct wf_vrank_libraries libraries;
    struct wf_vrank_copy *copies;
    uint32_t n_copies;
    struct wf_vrank_own_pages **saved; /* [rank] null: it has none */
    struct wf_vrank_tls tls;
    struct wf_vrank_own_tls *tls_of; /* [rank], if the program has thread-local variables */
    uint32_t *copy_of;      /* [rank] the copy it runs in plus 1; 0 if it has not run */
    bool **begun;           /* [rank][module] it has called the constructors; null: of none */
    pthread_mutex_t loader; /* held while a module is loaded */
};

/* The copy that a rank runs in. It has run. */
static inline struct wf_vrank_copy *wf_vrank_copy_of(const struct wf_vrank_image *image,
                                                     uint32_t rank)
{
    return &image->copies[image->copy_of[rank] - 1];
}

size_t wf_vrank_page_size(void);

/* Where the loader has put the file of an object, its functions and its variables. Without
 * effect if the loader has not loaded it. `file` is the one it was made of. */
void wf_vrank_object_find(const struct wf_vrank_copy *copy, struct wf_vrank_object *object,
                          const struct wf_vrank_program_file *file);

/* Functions of these objects that are kernels are not executed from now on. files[n] are what the
 * objects were made of. */
enum wf_status wf_vrank_objects_replace(const struct wf_vrank_image *image,
                                        struct wf_vrank_copy *copy, uint32_t first, uint32_t n,
                                        const struct wf_vrank_program_file *const *files,
                                        struct wf_err *err);

/* From now on each rank has its own variables of these objects. All of them have been found. */
void wf_vrank_objects_divide(struct wf_vrank_copy *copy, uint32_t first, uint32_t n);

/* Likewise the thread-local variables of one, in the thread that runs the ranks of the copy. */
void wf_vrank_object_divide_tls(struct wf_vrank_copy *copy, struct wf_vrank_object *object);

/* As wf_vrank_image_repair(). */
bool wf_vrank_object_repair(struct wf_vrank_copy *copy, const struct wf_vrank_object *object,
                            const void *address);

/* Adds the name of a library. The copy owns `instead`, which may be null. */
void wf_vrank_copy_name(struct wf_vrank_copy *copy, const char *name, char *instead,
                        uint32_t module);

/* The names as wf_vrank_relink() wants them. The caller frees both arrays. */
void wf_vrank_copy_names(const struct wf_vrank_copy *copy, char ***names, char ***instead);

/* At the end of a rank, in its thread: calls the destructors of its modules. */
void wf_vrank_modules_end(const struct wf_vrank_image *image, uint32_t rank);
void wf_vrank_modules_free(struct wf_vrank_copy *copy);
