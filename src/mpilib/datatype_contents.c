/* SPDX-License-Identifier: Apache-2.0 */
/* How datatypes were constructed. */
#include "mpilib/datatype_contents.h"

#include "mpilib/memory.h"

#include <stdlib.h>
#include <string.h>

struct wl_contents {
    int combiner;
    int n_ints, n_addresses, n_types;
    int *ints;
    MPI_Aint *addresses;
    const struct wl_type **types;
};

void wl_contents_set(struct wl_rank *rank, MPI_Datatype handle,
                     const struct wl_constructor *constructor)
{
    struct wl_type *type = wl_table_get(&rank->types, WL_TYPE, handle);
    struct wl_contents *contents = wl_malloc(sizeof(*contents));
    size_t n = 0;

    for (int i = 0; i < WL_INT_LISTS; i++) {
        n += (size_t)constructor->ints[i].n;
    }
    *contents = (struct wl_contents){
        .combiner = constructor->combiner,
        .n_ints = (int)n,
        .n_addresses = constructor->n_addresses,
        .n_types = constructor->n_types,
        .ints = wl_malloc(n * sizeof(int)),
        .addresses = wl_malloc((size_t)constructor->n_addresses * sizeof(MPI_Aint)),
        .types = wl_malloc((size_t)constructor->n_types * sizeof(struct wl_type *)),
    };
    n = 0;
    for (int i = 0; i < WL_INT_LISTS && constructor->ints[i].n > 0; i++) {
        memcpy(contents->ints + n, constructor->ints[i].list,
               (size_t)constructor->ints[i].n * sizeof(int));
        n += (size_t)constructor->ints[i].n;
    }
    if (constructor->n_addresses > 0) {
        memcpy(contents->addresses, constructor->addresses,
               (size_t)constructor->n_addresses * sizeof(MPI_Aint));
    }
    for (int i = 0; i < constructor->n_types; i++) {
        contents->types[i] = wl_type_of(rank, constructor->types[i]);
        wl_type_hold(contents->types[i]);
    }
    type->contents = contents;
}

void wl_contents_free(struct wl_contents *contents)
{
    if (contents != NULL) {
        for (int i = 0; i < contents->n_types; i++) {
            wl_type_release(contents->types[i]);
        }
        free(contents->types);
        free(contents->addresses);
        free(contents->ints);
        free(contents);
    }
}

int wl_MPI_Type_get_envelope(struct wl_rank *rank, MPI_Datatype datatype, int *num_integers,
                             int *num_addresses, int *num_datatypes, int *combiner)
{
    const struct wl_contents *contents = wl_type_of(rank, datatype)->contents;

    *num_integers = contents != NULL ? contents->n_ints : 0;
    *num_addresses = contents != NULL ? contents->n_addresses : 0;
    *num_datatypes = contents != NULL ? contents->n_types : 0;
    *combiner = contents != NULL ? contents->combiner : MPI_COMBINER_NAMED;
    return MPI_SUCCESS;
}

int wl_MPI_Type_get_contents(struct wl_rank *rank, MPI_Datatype datatype, int max_integers,
                             int max_addresses, int max_datatypes, int *integers,
                             MPI_Aint *addresses, MPI_Datatype *datatypes)
{
    const struct wl_contents *contents = wl_type_of(rank, datatype)->contents;

    if (contents == NULL || max_integers < contents->n_ints ||
        max_addresses < contents->n_addresses || max_datatypes < contents->n_types) {
        wl_fatal(rank, "%s",
                 contents == NULL ? "the datatype is predefined" : "the arrays are too short");
    }
    for (int i = 0; i < contents->n_ints; i++) {
        integers[i] = contents->ints[i];
    }
    for (int i = 0; i < contents->n_addresses; i++) {
        addresses[i] = contents->addresses[i];
    }
    for (int i = 0; i < contents->n_types; i++) {
        datatypes[i] = wl_type_handle(rank, contents->types[i]);
    }
    return MPI_SUCCESS;
}

/* ---- the values of predefined types in a type ---- */

/* How many elements of old type i come before those of the next one. */
static uint64_t part_length(const struct wl_type *type, int i)
{
    const struct wl_contents *contents = type->contents;

    if (contents->combiner == MPI_COMBINER_STRUCT) {
        return (uint64_t)contents->ints[1 + i];
    }
    return contents->types[0]->size > 0 ? type->size / contents->types[0]->size : 0;
}

/* How many values the first bytes of an element are. *bytes becomes what is left over. */
static uint64_t count_values(const struct wl_type *type, uint64_t *bytes)
{
    uint64_t n = 0;

    if (type->contents == NULL) {
        uint64_t each = type->basic == WL_BASIC_PAIR ? 2 : 1;
        bool whole = *bytes >= type->size && type->size > 0;
        *bytes -= whole ? type->size : 0;
        return whole ? each : 0;
    }
    for (int i = 0; i < type->contents->n_types; i++) {
        const struct wl_type *old = type->contents->types[i];
        for (uint64_t k = part_length(type, i); k > 0 && old->size > 0 && *bytes > 0; k--) {
            uint64_t before = *bytes;
            n += count_values(old, bytes);
            if (*bytes > before - old->size) {
                return n; /* the data ends within the value */
            }
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
    if (type->contents == NULL) {
        if (type->size > 0) {
            visit->visit(visit->arg, type);
        }
        return;
    }
    for (int i = 0; i < type->contents->n_types; i++) {
        const struct wl_type *old = type->contents->types[i];
        for (uint64_t k = part_length(type, i); k > 0 && old->size > 0; k--) {
            wl_type_visit(old, visit);
        }
    }
}
