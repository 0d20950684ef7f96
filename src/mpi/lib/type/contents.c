/* SPDX-License-Identifier: Apache-2.0 */
/* How datatypes were constructed. */
#include "mpi/lib/type/contents.h"

#include "mpi/lib/errors.h"
#include "mpi/lib/memory.h"

#include <stdlib.h>
#include <string.h>

struct wl_contents {
    int combiner;
    MPI_Count n_ints, n_addresses, n_counts, n_types;
    int *ints;
    MPI_Aint *addresses;
    MPI_Count *counts; /* large counts */
    const struct wl_type **types;
};

/* Copies a list to the integers or to the large counts. */
static void add_list(struct wl_contents *contents, const struct wl_constructor *constructor,
                     int which, bool large)
{
    const int *ints = constructor->lists[which].ints;
    const MPI_Count *counts = constructor->lists[which].counts;

    for (MPI_Count i = 0; i < constructor->lists[which].n; i++) {
        if (ints != NULL) {
            contents->ints[contents->n_ints++] = ints[i];
        } else if (large) {
            contents->counts[contents->n_counts++] = counts[i];
        } else {
            contents->ints[contents->n_ints++] = (int)counts[i];
        }
    }
}

static void add_addresses(struct wl_contents *contents,
                          const struct wl_constructor *constructor, bool large)
{
    MPI_Count *n = large ? &contents->n_counts : &contents->n_addresses;
    MPI_Count *to = large ? contents->counts : contents->addresses;

    for (MPI_Count i = 0; i < constructor->n_addresses; i++) {
        to[(*n)++] = constructor->addresses[i];
    }
}

void wl_contents_set(struct wl_rank *rank, MPI_Datatype handle,
                     const struct wl_constructor *constructor)
{
    struct wl_type *type = wl_table_get(&rank->types, WL_TYPE, handle);
    struct wl_contents *contents = wl_calloc(1, sizeof(*contents));
    size_t n = 0, n_types = (size_t)constructor->n_types;
    bool large = wl_is_large(rank);

    for (int i = 0; i < WL_INT_LISTS; i++) {
        n += (size_t)constructor->lists[i].n;
    }
    size_t n_addresses = (size_t)constructor->n_addresses;
    contents->combiner = constructor->combiner;
    contents->n_types = constructor->n_types;
    contents->ints = wl_malloc(n * sizeof(int));
    contents->addresses = wl_malloc(n_addresses * sizeof(MPI_Aint));
    contents->counts = large ? wl_malloc((n + n_addresses) * sizeof(MPI_Count)) : NULL;
    contents->types = wl_malloc(n_types * sizeof(struct wl_type *));
    for (int i = 0; i < WL_INT_LISTS; i++) {
        add_list(contents, constructor, i, large);
    }
    add_addresses(contents, constructor, large);
    for (size_t i = 0; i < n_types; i++) {
        contents->types[i] = wl_type_of(rank, constructor->types[i]);
        wl_type_hold(contents->types[i]);
    }
    type->contents = contents;
}

bool wl_contents_are(const struct wl_type *type, int combiner, const int *ints, int n)
{
    const struct wl_contents *contents = type->contents;

    return contents != NULL && contents->combiner == combiner && contents->n_ints == n &&
           memcmp(contents->ints, ints, (size_t)n * sizeof(int)) == 0;
}

void wl_contents_free(struct wl_contents *contents)
{
    if (contents != NULL) {
        for (MPI_Count i = 0; i < contents->n_types; i++) {
            wl_type_release(contents->types[i]);
        }
        free(contents->types);
        free(contents->addresses);
        free(contents->counts);
        free(contents->ints);
        free(contents);
    }
}

int wl_MPI_Type_get_envelope_c(struct wl_rank *rank, MPI_Datatype datatype,
                               MPI_Count *num_integers, MPI_Count *num_addresses,
                               MPI_Count *num_large_counts, MPI_Count *num_datatypes,
                               int *combiner)
{
    const struct wl_contents *contents = wl_type_of(rank, datatype)->contents;

    *num_integers = contents != NULL ? contents->n_ints : 0;
    *num_addresses = contents != NULL ? contents->n_addresses : 0;
    *num_large_counts = contents != NULL ? contents->n_counts : 0;
    *num_datatypes = contents != NULL ? contents->n_types : 0;
    *combiner = contents != NULL ? contents->combiner : MPI_COMBINER_NAMED;
    return MPI_SUCCESS;
}

int wl_MPI_Type_get_envelope(struct wl_rank *rank, MPI_Datatype datatype, int *num_integers,
                             int *num_addresses, int *num_datatypes, int *combiner)
{
    MPI_Count integers, addresses, counts, types;
    int code = wl_MPI_Type_get_envelope_c(rank, datatype, &integers, &addresses, &counts,
                                          &types, combiner);

    if (counts > 0) {
        return wl_error(rank, MPI_COMM_WORLD, MPI_ERR_TYPE,
                        "the datatype has large counts; use MPI_Type_get_envelope_c");
    }
    *num_integers = wl_narrow(integers);
    *num_addresses = wl_narrow(addresses);
    *num_datatypes = wl_narrow(types);
    return code;
}

/* As many numbers as each array of the program can hold. */
struct maximum {
    MPI_Count integers, addresses, counts, types;
};

static const struct wl_contents *contents_of(const struct wl_rank *rank, MPI_Datatype datatype,
                                             const struct maximum *max)
{
    const struct wl_contents *contents = wl_type_of(rank, datatype)->contents;

    if (contents == NULL || max->integers < contents->n_ints ||
        max->addresses < contents->n_addresses || max->counts < contents->n_counts ||
        max->types < contents->n_types) {
        wl_fatal(rank, "%s",
                 contents == NULL ? "the datatype is predefined" : "the arrays are too short");
    }
    return contents;
}

static void copy_contents(struct wl_rank *rank, const struct wl_contents *contents,
                          int *integers, MPI_Aint *addresses, MPI_Datatype *datatypes)
{
    for (MPI_Count i = 0; i < contents->n_ints; i++) {
        integers[i] = contents->ints[i];
    }
    for (MPI_Count i = 0; i < contents->n_addresses; i++) {
        addresses[i] = contents->addresses[i];
    }
    for (MPI_Count i = 0; i < contents->n_types; i++) {
        datatypes[i] = wl_type_handle(rank, contents->types[i]);
    }
}

int wl_MPI_Type_get_contents(struct wl_rank *rank, MPI_Datatype datatype, int max_integers,
                             int max_addresses, int max_datatypes, int *integers,
                             MPI_Aint *addresses, MPI_Datatype *datatypes)
{
    const struct maximum max = {max_integers, max_addresses, 0, max_datatypes};

    copy_contents(rank, contents_of(rank, datatype, &max), integers, addresses, datatypes);
    return MPI_SUCCESS;
}

int wl_MPI_Type_get_contents_c(struct wl_rank *rank, MPI_Datatype datatype,
                               MPI_Count max_integers, MPI_Count max_addresses,
                               MPI_Count max_large_counts, MPI_Count max_datatypes,
                               int *integers, MPI_Aint *addresses, MPI_Count *large_counts,
                               MPI_Datatype *datatypes)
{
    const struct maximum max = {max_integers, max_addresses, max_large_counts, max_datatypes};
    const struct wl_contents *contents = contents_of(rank, datatype, &max);

    copy_contents(rank, contents, integers, addresses, datatypes);
    for (MPI_Count i = 0; i < contents->n_counts; i++) {
        large_counts[i] = contents->counts[i];
    }
    return MPI_SUCCESS;
}

/* ---- the values of predefined types in a type ---- */

/* Whether it is one value of a predefined type: also one that was asked for by its digits. */
static bool is_plain(const struct wl_type *type)
{
    return type->contents == NULL ||
           (type->contents->n_types == 0 && type->contents->n_ints > 0 &&
            type->contents->combiner != MPI_COMBINER_STRUCT);
}

/* How many elements of old type i come before those of the next one. */
static uint64_t part_length(const struct wl_type *type, MPI_Count i)
{
    const struct wl_contents *contents = type->contents;

    if (contents->combiner == MPI_COMBINER_STRUCT) {
        return contents->n_counts > 0 ? (uint64_t)contents->counts[1 + i]
                                      : (uint64_t)contents->ints[1 + i];
    }
    return contents->types[0]->size > 0 ? type->size / contents->types[0]->size : 0;
}

/* How many values the first bytes of an element are. *bytes becomes what is left over. Takes time
 * proportional to the number of old types, not to their counts. */
static uint64_t count_values(const struct wl_type *type, uint64_t *bytes)
{
    uint64_t n = 0;

    if (is_plain(type)) {
        uint64_t each = type->basic == WL_BASIC_PAIR ? 2 : 1;
        bool whole = *bytes >= type->size && type->size > 0;
        *bytes -= whole ? type->size : 0;
        return whole ? each : 0;
    }
    for (MPI_Count i = 0; i<type->contents->n_types && * bytes> 0; i++) {
        const struct wl_type *old = type->contents->types[i];
        uint64_t one = old->size, length = part_length(type, i);
        uint64_t whole = one > 0 ? *bytes / one : 0;
        whole = whole < length ? whole : length;
        *bytes -= whole * old->size;
        n += whole > 0 ? whole * count_values(old, &one) : 0;
        if (old->size > 0 && whole < length) {
            return *bytes > 0 ? n + count_values(old, bytes) : n; /* the data ends here */
        }
    }
    return n;
}

MPI_Count wl_type_elements(const struct wl_type *type, uint64_t bytes)
{
    uint64_t whole = type->size > 0 ? bytes / type->size : 0;
    uint64_t one = type->size, rest = bytes - whole * type->size;

    if (type->size == 0) {
        return bytes == 0 ? 0 : MPI_UNDEFINED;
    }
    uint64_t n = whole > 0 ? whole * count_values(type, &one) : 0;
    if (rest > 0) {
        n += count_values(type, &rest);
    }
    return rest > 0 ? MPI_UNDEFINED : (MPI_Count)n;
}

void wl_type_visit(const struct wl_type *type, const struct wl_visit *visit)
{
    if (is_plain(type)) {
        if (type->size > 0) {
            visit->visit(visit->arg, type);
        }
        return;
    }
    for (MPI_Count i = 0; i < type->contents->n_types; i++) {
        const struct wl_type *old = type->contents->types[i];
        for (uint64_t k = part_length(type, i); k > 0 && old->size > 0; k--) {
            wl_type_visit(old, visit);
        }
    }
}
