/* SPDX-License-Identifier: Apache-2.0 */
/* Views of files: which part of a file a rank sees (MPI-4.0, 14.3), and data representations. */
#include "mpi/lib/io/file.h"
#include "mpi/lib/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Programs may register representations, but data is never converted: only one without
 * functions that convert can be used. */
struct wl_datarep {
    struct wl_datarep *next;
    bool converts;
    char name[MPI_MAX_DATAREP_STRING];
};

static const struct wl_datarep *find_datarep(const struct wl_rank *rank, const char *name)
{
    const struct wl_datarep *at = rank->datareps;

    while (at != NULL && strcmp(at->name, name) != 0) {
        at = at->next;
    }
    return at;
}

static bool is_predefined_datarep(const char *name)
{
    return strcmp(name, "native") == 0 || strcmp(name, "internal") == 0 ||
           strcmp(name, "external32") == 0;
}

static bool is_usable_datarep(const struct wl_rank *rank, const char *name)
{
    const struct wl_datarep *own = find_datarep(rank, name);

    return is_predefined_datarep(name) || (own != NULL && !own->converts);
}

static int register_datarep(struct wl_rank *rank, const char *name, bool converts)
{
    if (strlen(name) >= MPI_MAX_DATAREP_STRING) {
        return MPI_ERR_ARG;
    }
    if (is_predefined_datarep(name) || find_datarep(rank, name) != NULL) {
        return MPI_ERR_DUP_DATAREP;
    }
    struct wl_datarep *added = wl_calloc(1, sizeof(*added));
    *added = (struct wl_datarep){.next = rank->datareps, .converts = converts};
    memcpy(added->name, name, strlen(name) + 1);
    rank->datareps = added;
    return MPI_SUCCESS;
}

int wl_MPI_Register_datarep(struct wl_rank *rank, const char *datarep,
                            MPI_Datarep_conversion_function *read,
                            MPI_Datarep_conversion_function *write,
                            MPI_Datarep_extent_function *extent, void *extra_state)
{
    return register_datarep(rank, datarep, read != NULL || write != NULL);
}

int wl_MPI_Register_datarep_c(struct wl_rank *rank, const char *datarep,
                              MPI_Datarep_conversion_function_c *read,
                              MPI_Datarep_conversion_function_c *write,
                              MPI_Datarep_extent_function *extent, void *extra_state)
{
    return register_datarep(rank, datarep, read != NULL || write != NULL);
}

void wl_datareps_free(struct wl_rank *rank)
{
    while (rank->datareps != NULL) {
        struct wl_datarep *next = rank->datareps->next;
        free(rank->datareps);
        rank->datareps = next;
    }
}

MPI_Offset wl_file_place(const struct wl_file *file, MPI_Offset at, size_t *run)
{
    const struct wl_type *type = file->filetype;
    MPI_Offset tile = at / (MPI_Offset)type->size;
    size_t rest = (size_t)(at % (MPI_Offset)type->size);
    MPI_Offset base = file->displacement + tile * type->extent;

    if (type->contiguous) {
        *run = SIZE_MAX;
        return file->displacement + at;
    }
    return base + wl_type_locate(type, rest, run);
}

/* The error of an elementary type or a file type (MPI-4.0, 14.1.1); null if there is none. */
static const char *wrong_view(const struct wl_file *file, const struct wl_type *type)
{
    enum wl_order order = wl_type_order(type);

    if (type->true_lb < 0) {
        return "a type of the view has a negative displacement";
    }
    if (order == WL_ORDER_NONE) {
        return "a type of the view has displacements that decrease";
    }
    return order == WL_ORDER_OVERLAPS && !(file->amode & MPI_MODE_RDONLY)
               ? "a type of the view overlaps, and the file is open for writing"
               : NULL;
}

int wl_MPI_File_set_view(struct wl_rank *rank, MPI_File file, MPI_Offset displacement,
                         MPI_Datatype etype, MPI_Datatype filetype, const char *datarep,
                         MPI_Info info)
{
    struct wl_file *own = wl_file_of(rank, file);
    const struct wl_type *element = wl_type_of(rank, etype);
    const struct wl_type *pattern = wl_type_of(rank, filetype);

    if (!is_usable_datarep(rank, datarep)) {
        return wl_file_error(rank, own, MPI_ERR_UNSUPPORTED_DATAREP,
                             "unknown data representation");
    }
    if (element->size == 0 || pattern->size % element->size != 0) {
        wl_fatal(rank,
                 "the file type has %zu bytes, which is not a multiple of the %zu of its "
                 "elementary type",
                 pattern->size, element->size);
    }
    const char *wrong = wrong_view(own, element);
    wrong = wrong != NULL ? wrong : wrong_view(own, pattern);
    if (wrong != NULL) {
        wl_file_synchronize(rank, own);
        return wl_file_error(rank, own, MPI_ERR_IO, wrong);
    }
    if (displacement == MPI_DISPLACEMENT_CURRENT) { /* of files that are accessed in order */
        size_t run;
        displacement = wl_file_place(
            own, wl_file_advance_shared(rank, own, 0) * (MPI_Offset)own->etype->size, &run);
        wl_file_synchronize(rank, own);
    }
    wl_type_hold(element);
    wl_type_hold(pattern);
    wl_type_release(own->etype);
    wl_type_release(own->filetype);
    own->etype = element;
    own->filetype = pattern;
    own->displacement = displacement;
    own->external = strcmp(datarep, "external32") == 0;
    own->position = 0;
    own->shared_position = 0;
    wl_file_synchronize(rank, own);
    return MPI_SUCCESS;
}

int wl_MPI_File_get_view(struct wl_rank *rank, MPI_File file, MPI_Offset *displacement,
                         MPI_Datatype *etype, MPI_Datatype *filetype, char *datarep)
{
    const struct wl_file *own = wl_file_of(rank, file);

    *displacement = own->displacement;
    *etype = wl_type_handle(rank, own->etype);
    *filetype = wl_type_handle(rank, own->filetype);
    (void)snprintf(datarep, MPI_MAX_DATAREP_STRING, "%s",
                   own->external ? "external32" : "native");
    return MPI_SUCCESS;
}
