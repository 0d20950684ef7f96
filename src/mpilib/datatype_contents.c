/* SPDX-License-Identifier: Apache-2.0 */
#include "mpilib/datatype_contents.h"

#include "mpilib/memory.h"

#include <stdlib.h>
#include <string.h>

struct wl_recipe {
    int combiner;
    int n_ints, n_addresses, n_types;
    int *ints;
    MPI_Aint *addresses;
    const struct wl_type **types;
};

void wl_recipe_keep(MPI_Datatype made, const struct wl_parts *parts)
{
    struct wl_rank *rank = wl_enter();
    struct wl_type *type = wl_table_get(&rank->types, WL_TYPE, made);
    struct wl_recipe *recipe = wl_malloc(sizeof(*recipe));
    size_t n = 0;

    for (int i = 0; i < WL_INT_LISTS; i++) {
        n += (size_t)parts->ints[i].n;
    }
    *recipe = (struct wl_recipe){
        .combiner = parts->combiner,
        .n_ints = (int)n,
        .n_addresses = parts->n_addresses,
        .n_types = parts->n_types,
        .ints = wl_malloc(n * sizeof(int)),
        .addresses = wl_malloc((size_t)parts->n_addresses * sizeof(MPI_Aint)),
        .types = wl_malloc((size_t)parts->n_types * sizeof(struct wl_type *)),
    };
    n = 0;
    for (int i = 0; i < WL_INT_LISTS && parts->ints[i].n > 0; i++) {
        memcpy(recipe->ints + n, parts->ints[i].list, (size_t)parts->ints[i].n * sizeof(int));
        n += (size_t)parts->ints[i].n;
    }
    if (parts->n_addresses > 0) {
        memcpy(recipe->addresses, parts->addresses,
               (size_t)parts->n_addresses * sizeof(MPI_Aint));
    }
    for (int i = 0; i < parts->n_types; i++) {
        recipe->types[i] = wl_type_of(rank, parts->types[i], "datatype");
        wl_type_hold(recipe->types[i]);
    }
    type->recipe = recipe;
    wl_leave(rank);
}

void wl_recipe_free(struct wl_recipe *recipe)
{
    if (recipe != NULL) {
        for (int i = 0; i < recipe->n_types; i++) {
            wl_type_release(recipe->types[i]);
        }
        free(recipe->types);
        free(recipe->addresses);
        free(recipe->ints);
        free(recipe);
    }
}

int MPI_Type_get_envelope(MPI_Datatype datatype, int *num_integers, int *num_addresses,
                          int *num_datatypes, int *combiner)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_recipe *recipe =
        wl_type_of(rank, datatype, "MPI_Type_get_envelope")->recipe;

    *num_integers = recipe != NULL ? recipe->n_ints : 0;
    *num_addresses = recipe != NULL ? recipe->n_addresses : 0;
    *num_datatypes = recipe != NULL ? recipe->n_types : 0;
    *combiner = recipe != NULL ? recipe->combiner : MPI_COMBINER_NAMED;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses,
                          int max_datatypes, int *integers, MPI_Aint *addresses,
                          MPI_Datatype *datatypes)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_recipe *recipe =
        wl_type_of(rank, datatype, "MPI_Type_get_contents")->recipe;

    if (recipe == NULL || max_integers < recipe->n_ints ||
        max_addresses < recipe->n_addresses || max_datatypes < recipe->n_types) {
        wl_fatal(rank, "MPI_Type_get_contents", "%s",
                 recipe == NULL ? "it is a predefined type" : "there is no room for it");
    }
    for (int i = 0; i < recipe->n_ints; i++) {
        integers[i] = recipe->ints[i];
    }
    for (int i = 0; i < recipe->n_addresses; i++) {
        addresses[i] = recipe->addresses[i];
    }
    for (int i = 0; i < recipe->n_types; i++) {
        datatypes[i] = wl_type_handle(rank, recipe->types[i]);
    }
    wl_leave(rank);
    return MPI_SUCCESS;
}

/* ---- counting what is in a type ---- */

/* How many elements of old type i follow each other before those of the next. */
static uint64_t part_length(const struct wl_type *type, int i)
{
    const struct wl_recipe *recipe = type->recipe;

    if (recipe->combiner == MPI_COMBINER_STRUCT) {
        return (uint64_t)recipe->ints[1 + i];
    }
    return recipe->types[0]->size > 0 ? type->size / recipe->types[0]->size : 0;
}

/* Predefined values in the first bytes of one element; `bytes` becomes what is left over. */
static uint64_t count_values(const struct wl_type *type, uint64_t *bytes)
{
    uint64_t n = 0;

    if (type->recipe == NULL) {
        uint64_t each = type->basic == WL_BASIC_PAIR ? 2 : 1;
        bool whole = *bytes >= type->size && type->size > 0;
        *bytes -= whole ? type->size : 0;
        return whole ? each : 0;
    }
    for (int i = 0; i < type->recipe->n_types; i++) {
        const struct wl_type *old = type->recipe->types[i];
        for (uint64_t k = part_length(type, i); k > 0 && old->size > 0 && *bytes > 0; k--) {
            uint64_t before = *bytes;
            n += count_values(old, bytes);
            if (*bytes > before - old->size) {
                return n; /* the data ends within it */
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
    if (type->recipe == NULL) {
        if (type->size > 0) {
            visit->visit(visit->arg, type);
        }
        return;
    }
    for (int i = 0; i < type->recipe->n_types; i++) {
        const struct wl_type *old = type->recipe->types[i];
        for (uint64_t k = part_length(type, i); k > 0 && old->size > 0; k--) {
            wl_type_visit(old, visit);
        }
    }
}
