/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing of files (MPI-4.0, 14.4), and file pointers. */
#include "mpi/lib/checker/checker.h"
#include "mpi/lib/io/file.h"
#include "mpi/lib/memory.h"
#include "mpi/lib/p2p/request.h"
#include "mpi/lib/rma/one_sided.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

MPI_Offset wl_file_advance_shared(struct wl_rank *rank, const struct wl_file *file,
                                  MPI_Offset n)
{
    struct wl_view view = wl_comm_of(rank, file->comm);

    return wl_remote_add(rank, &view, 0, file->shared, n);
}

/* The offset of a rank's n elements, which follow those of the ranks before it. */
static MPI_Offset ordered_offset(struct wl_rank *rank, const struct wl_file *file, MPI_Offset n)
{
    struct wl_view view = wl_comm_of(rank, file->comm);
    int64_t end = 0, begin = 0;

    (void)MPI_Scan(&n, &end, 1, MPI_INT64_T, MPI_SUM, file->comm);
    if (view.rank == view.size - 1) {
        begin = wl_file_advance_shared(rank, file, end);
    }
    (void)MPI_Bcast(&begin, 1, MPI_INT64_T, (int)view.size - 1, file->comm);
    return begin + end - n;
}

/* Where an access begins, in etypes. */
static MPI_Offset begin_of(struct wl_rank *rank, const struct wl_file *file,
                           const struct wl_file_access *what, size_t bytes)
{
    MPI_Offset n = (MPI_Offset)(bytes / file->etype->size);

    return what->offset == WL_FILE_POSITION  ? file->position
           : what->offset == WL_FILE_SHARED  ? wl_file_advance_shared(rank, file, n)
           : what->offset == WL_FILE_ORDERED ? ordered_offset(rank, file, n)
                                             : what->offset;
}

/* Moves bytes between the file and memory, from byte `at` of the view. Returns how many, or a
 * negative number. */
static ssize_t move(const struct wl_file *file, MPI_Offset at, unsigned char *bytes, size_t n,
                    bool writes)
{
    size_t done = 0;

    while (done < n) {
        size_t run, left = n - done;
        off_t place = (off_t)wl_file_place(file, at + (MPI_Offset)done, &run);
        size_t piece = left < run ? left : run;
        ssize_t moved = writes ? pwrite(file->fd, bytes + done, piece, place)
                               : pread(file->fd, bytes + done, piece, place);

        if (moved < 0 && errno != EINTR) {
            return -1;
        }
        if (moved == 0) {
            break; /* the end of the file */
        }
        done += moved > 0 ? (size_t)moved : 0;
    }
    return (ssize_t)done;
}

/* The bytes of an access in the file, to and from memory. */
static void pack_for(struct wl_rank *rank, const struct wl_file *file,
                     const struct wl_file_access *what, unsigned char *bytes, size_t n)
{
    MPI_Aint at = 0;

    if (file->external) {
        (void)wl_MPI_Pack_external(rank, "external32", what->from, what->count, what->type,
                                   bytes, (MPI_Aint)n, &at);
    } else {
        wl_pack(wl_type_of(rank, what->type), what->from, (size_t)what->count, bytes);
    }
}

static void unpack_from(struct wl_rank *rank, const struct wl_file *file,
                        const struct wl_file_access *what, const unsigned char *bytes, size_t n)
{
    const struct wl_type *type = wl_type_of(rank, what->type);
    MPI_Aint at = 0;

    if (file->external) {
        (void)wl_MPI_Unpack_external(rank, "external32", bytes, (MPI_Aint)n, &at, what->to,
                                     (MPI_Count)(n / type->size), what->type);
    } else {
        wl_unpack_bytes(type, bytes, n, what->to);
    }
}

/* Types whose values have another size in external32 would need another view. */
static bool fits_view(struct wl_rank *rank, const struct wl_file *file, MPI_Datatype type)
{
    MPI_Aint size = 0;

    if (file->external) {
        (void)wl_MPI_Pack_external_size(rank, "external32", 1, type, &size);
    }
    return !file->external || (size_t)size == wl_type_of(rank, type)->size;
}

int wl_file_access(struct wl_rank *rank, const struct wl_file_access *what, MPI_Status *status)
{
    struct wl_file *file = wl_file_of(rank, what->file);
    const struct wl_type *type = wl_type_of(rank, what->type);
    size_t n = what->count > 0 ? (size_t)what->count * type->size : 0;
    MPI_Offset size = (MPI_Offset)file->etype->size;
    if (!fits_view(rank, file, what->type)) {
        return wl_file_error(rank, file, MPI_ERR_CONVERSION,
                             "the datatype has another size in external32");
    }
    unsigned char *bytes = wl_malloc(n);

    wl_catch_up(rank);
    MPI_Offset from = begin_of(rank, file, what, n);
    if (what->from != NULL) {
        pack_for(rank, file, what, bytes, n);
    }
    ssize_t moved = move(file, from * size, bytes, n, what->from != NULL);
    int code = moved < 0 ? wl_file_fail(rank, file) : MPI_SUCCESS;
    if (moved > 0 && what->from == NULL) {
        unpack_from(rank, file, what, bytes, (size_t)moved);
    }
    if (moved > 0 && what->offset == WL_FILE_POSITION) {
        file->position += (MPI_Offset)moved / size;
    }
    free(bytes);
    if (moved > 0) {
        size_t run;
        wl_file_take_time(rank, file->number,
                          what->from != NULL ? WF_OP_FILE_WRITE : WF_OP_FILE_READ,
                          wl_file_place(file, from * size, &run), (size_t)moved);
    }
    if (what->collective) {
        wl_file_synchronize(rank, file);
    }
    wl_status_set(status, 0, 0, moved > 0 ? (size_t)moved : 0);
    return code;
}

/* The data has been moved, but the program must leave its buffer alone. */
static void hold(struct wl_rank *rank, const struct wl_file_access *what, struct wl_use **uses)
{
    if (wl_checks() && what->count > 0) {
        const struct wl_buffer_use use = {what->from != NULL ? what->from : what->to,
                                          (size_t)what->count, wl_type_of(rank, what->type),
                                          .writes = what->from == NULL, .done = true};
        wl_check_hold(rank, &use, uses);
    }
}

/* The request is complete from the start. */
int wl_file_iaccess(struct wl_rank *rank, const struct wl_file_access *what,
                    MPI_Request *handle)
{
    struct wl_request *request = wl_request_new(rank, WL_REQUEST_DONE, handle);
    int code = wl_file_access(rank, what, &request->status);

    hold(rank, what, &request->uses);
    return code;
}

int wl_file_access_begin(struct wl_rank *rank, const struct wl_file_access *what)
{
    struct wl_file *file = wl_file_of(rank, what->file);
    int code = wl_file_access(rank, what, &file->split);

    hold(rank, what, &file->uses);
    return code;
}

int wl_file_access_end(struct wl_rank *rank, MPI_File handle, MPI_Status *status)
{
    struct wl_file *file = wl_file_of(rank, handle);

    wl_check_release(rank, &file->uses);
    if (status != MPI_STATUS_IGNORE) {
        *status = file->split;
    }
    return MPI_SUCCESS;
}

/* ---- file pointers ---- */

/* How many elements of the view begin before this place of the file. */
static MPI_Offset elements_before(const struct wl_file *file, MPI_Offset place)
{
    const struct wl_type *type = file->filetype;
    MPI_Offset element = (MPI_Offset)file->etype->size, at = 0;
    size_t run;

    if (place > file->displacement && type->extent > 0) {
        /* The last repetition of the file type may be incomplete. */
        MPI_Offset tiles = (place - file->displacement) / type->extent;
        at = (tiles > 0 ? tiles - 1 : 0) * (MPI_Offset)type->size;
    }
    while (wl_file_place(file, at, &run) < place) {
        at += element;
    }
    return at / element;
}

/* Moves a file pointer. */
static int seek(struct wl_rank *rank, MPI_File handle, MPI_Offset offset, int whence,
                int64_t *position)
{
    const struct wl_file *file = wl_file_of(rank, handle);
    MPI_Offset from = 0;

    if (whence == MPI_SEEK_CUR) {
        from = *position;
    } else if (whence == MPI_SEEK_END) {
        int failed = wl_MPI_File_get_size(rank, handle, &from);
        if (failed != MPI_SUCCESS) {
            return failed;
        }
        from = elements_before(file, from);
    }
    int code = from + offset < 0 ? MPI_ERR_ARG : MPI_SUCCESS;
    *position = code == MPI_SUCCESS ? from + offset : *position;
    return code;
}

int wl_MPI_File_seek(struct wl_rank *rank, MPI_File file, MPI_Offset offset, int whence)
{
    return seek(rank, file, offset, whence, &wl_file_of(rank, file)->position);
}

/* All ranks call it; the first one moves the pointer. */
int wl_MPI_File_seek_shared(struct wl_rank *rank, MPI_File handle, MPI_Offset offset,
                            int whence)
{
    struct wl_file *file = wl_file_of(rank, handle);
    int code = MPI_SUCCESS;

    wl_file_synchronize(rank, file);
    if (wl_comm_of(rank, file->comm).rank == 0) {
        code = seek(rank, handle, offset, whence, &file->shared_position);
    }
    (void)MPI_Bcast(&code, 1, MPI_INT, 0, file->comm);
    return code;
}
