/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Datatypes (MPI-3.1, 4): where the bytes of an element are. A datatype is stored as the runs
 * of bytes of one element, in the order of its type map, adjacent runs joined. What repeats is
 * stored once: the memory of a vector or a subarray does not depend on its counts. Packing needs
 * nothing else. type/create.c has the constructors, type/contents.h how a type was
 * constructed.
 */

#include "mpi/lib/library.h"

struct wl_contents;

/* The types that reductions can compute with. Rows: enumerator, C type. */
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
    WL_BASIC_NONE, /* several types, or nothing */
#define X(name, type) WL_BASIC_##name,
    WL_BASIC_MAP(X)
#undef X
        WL_BASIC_PAIR, /* for MINLOC and MAXLOC */
    WL_BASIC_BYTES,
    WL_BASICS,
};

/* A run of bytes, or a loop over the `n_inner` blocks after it, whose places are relative to that
 * of the loop. Both are repeated `count` times. */
struct wl_block {
    MPI_Aint at;
    size_t bytes; /* of one repetition */
    size_t count;
    MPI_Aint stride;  /* bytes from one repetition to the next */
    uint32_t n_inner; /* 0: a run */
};

struct wl_type {
    uint32_t refs;       /* 0 if predefined */
    enum wl_basic basic; /* of all its values */
    MPI_Aint lb, extent, true_lb, true_extent;
    size_t size;
    size_t align;      /* of its values in memory */
    uint32_t n_blocks; /* with those within loops */
    bool contiguous;   /* one run of `extent` bytes at 0 */
    bool committed, predefined;
    const struct wl_block *blocks;
    const char *name;             /* of a predefined type; else null */
    struct wl_contents *contents; /* how the program constructed it; null if predefined */
    struct wl_properties *properties;
    uint64_t n_values, values_hash; /* of --check: computed when first needed; 0 before */
    uint64_t n_apart;               /* of --check: so many elements in a row do not overlap */
};

/* The datatype of a handle; the program ends if there is none. */
const struct wl_type *wl_type_of(const struct wl_rank *rank, MPI_Datatype handle);

/* A handle for the type. The program frees it if the type is not predefined. */
MPI_Datatype wl_type_handle(struct wl_rank *rank, const struct wl_type *type);

/* How many values of predefined types the first `bytes` of packed elements are; MPI_UNDEFINED
 * if the last value is not complete. */
MPI_Count wl_type_elements(const struct wl_type *type, uint64_t bytes);

/* Calls visit() for each value of a predefined type in an element, in packing order. */
struct wl_visit {
    void (*visit)(void *arg, const struct wl_type *predefined);
    void *arg;
};
void wl_type_visit(const struct wl_type *type, const struct wl_visit *visit);

/* References: a type that is in use outlives MPI_Type_free(). By any thread. */
void wl_type_hold(const struct wl_type *type);
void wl_type_release(const struct wl_type *type); /* null is allowed */

/* Copies `count` elements to or from contiguous memory of count * size bytes. */
void wl_pack(const struct wl_type *type, const void *from, size_t count, void *to);
void wl_unpack(const struct wl_type *type, const void *from, size_t count, void *to);
/* Unpacks `bytes`, which need not be whole elements. */
void wl_unpack_bytes(const struct wl_type *type, const void *from, size_t bytes, void *to);

/* How the runs of bytes of an element follow each other in memory, in the order of its type map. */
enum wl_order {
    WL_ORDER_APART,    /* each begins where the one before has ended, or later */
    WL_ORDER_OVERLAPS, /* each begins where the one before begins, or later */
    WL_ORDER_NONE,
};
/* Takes time proportional to the number of blocks. */
enum wl_order wl_type_order(const struct wl_type *type);

/* Where byte number `packed`, less than `size`, of a packed element is. Sets *run to how many
 * bytes follow it there. Takes time proportional to the number of blocks. */
MPI_Aint wl_type_locate(const struct wl_type *type, size_t packed, size_t *run);

/* The arguments of constructors that list blocks: their places are in elements or in bytes,
 * with one type or one for each block. */
struct wl_type_list {
    int combiner;
    MPI_Count count;
    const MPI_Count *lengths; /* null: all are `length` */
    MPI_Count length;
    const MPI_Count *displs;  /* in elements... */
    const MPI_Aint *in_bytes; /* ...or in bytes */
    MPI_Datatype type;
    const MPI_Datatype *types;
};
int wl_type_from_list(struct wl_rank *rank, const struct wl_type_list *list,
                      MPI_Datatype *newtype);
