/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPILIB_DATATYPE_H
#define WF_MPILIB_DATATYPE_H

/*
 * Datatypes: where the bytes of an element are. A type is kept as the runs of bytes of one
 * element in the order of its map, neighbours joined; that is all that packing needs.
 */

#include "mpilib/library.h"

struct wl_recipe;

/* What reductions can compute with. Rows: enumerator, C type. */
#define WL_BASIC_MAP(X)            \
    X(I8, int8_t)                  \
    X(U8, uint8_t)                 \
    X(I16, int16_t)                \
    X(U16, uint16_t)               \
    X(I32, int32_t)                \
    X(U32, uint32_t)               \
    X(I64, int64_t)                \
    X(U64, uint64_t)               \
    X(F32, float)                  \
    X(F64, double)                 \
    X(FLONG, long double)          \
    X(C32, float _Complex)         \
    X(C64, double _Complex)        \
    X(CLONG, long double _Complex) \
    X(BOOL, _Bool)

enum wl_basic {
    WL_BASIC_NONE, /* several, or none */
#define X(name, type) WL_BASIC_##name,
    WL_BASIC_MAP(X)
#undef X
        WL_BASIC_PAIR, /* for MINLOC and MAXLOC: struct wl_pair_layout says which */
    WL_BASIC_BYTES,
    WL_BASICS,
};

struct wl_block {
    MPI_Aint at;
    size_t bytes;
};

struct wl_type {
    uint32_t refs; /* predefined ones do not count */
    enum wl_basic basic;
    MPI_Aint lb, extent, true_lb, true_extent;
    size_t size;
    size_t align; /* what its parts need */
    uint32_t n_blocks;
    bool contiguous; /* one run at 0 of `extent` bytes */
    bool committed, predefined;
    const struct wl_block *blocks;
    const char *name;
    struct wl_recipe *recipe; /* how the program made it; null if it is predefined */
    struct wl_extra *extra;
};

/* The type of a handle; the program ends if there is none. */
const struct wl_type *wl_type_of(const struct wl_rank *rank, MPI_Datatype handle,
                                 const char *function);

/* A handle for it, which the program frees if the type is not predefined. */
MPI_Datatype wl_type_handle(struct wl_rank *rank, const struct wl_type *type);

/* How many values of predefined types the first bytes of packed elements are; MPI_UNDEFINED if
 * that is not a whole number. */
MPI_Count wl_type_elements(const struct wl_type *type, uint64_t bytes);

/* Calls visit() for each value of a predefined type in an element, in the order in which they
 * are packed. */
struct wl_visit {
    void (*visit)(void *arg, const struct wl_type *predefined);
    void *arg;
};
void wl_type_visit(const struct wl_type *type, const struct wl_visit *visit);

/* A type that is in use lives on when the program frees it. */
void wl_type_hold(const struct wl_type *type);
void wl_type_release(const struct wl_type *type); /* null is allowed */

/* Copies `count` elements to or from a run of count * size bytes. */
void wl_pack(const struct wl_type *type, const void *from, size_t count, void *to);
void wl_unpack(const struct wl_type *type, const void *from, size_t count, void *to);
/* Copies from the run no more than `bytes`, which need not be whole elements. */
void wl_unpack_bytes(const struct wl_type *type, const void *from, size_t bytes, void *to);

#endif
