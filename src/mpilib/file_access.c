/* SPDX-License-Identifier: Apache-2.0 */
/* Files: reading and writing. */
#include "mpilib/file.h"
#include "mpilib/memory.h"
#include "mpilib/request.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* What one call moves. */
struct access {
    const char *function;
    MPI_File file;
    void *to;         /* either this... */
    const void *from; /* ...or this */
    int count;
    MPI_Datatype type;
    MPI_Offset offset; /* in etypes; HERE: where the rank's pointer is */
    bool together;
};

#define HERE INT64_MIN

/* Moves bytes between the file and memory, from byte `at` of what the view shows; how many, or
 * negative. */
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

static int carry_out(struct wl_rank *rank, const struct access *what, MPI_Status *status)
{
    struct wl_file *file = wl_file_of(rank, what->file, what->function);
    const struct wl_type *type = wl_type_of(rank, what->type, what->function);
    size_t n = what->count > 0 ? (size_t)what->count * type->size : 0;
    MPI_Offset size = (MPI_Offset)file->etype->size;
    MPI_Offset from = what->offset == HERE ? file->position : what->offset;
    unsigned char *bytes = wl_malloc(n);

    wl_catch_up(rank);
    if (what->from != NULL) {
        wl_pack(type, what->from, (size_t)what->count, bytes);
    }
    ssize_t moved = move(file, from * size, bytes, n, what->from != NULL);
    int code = moved < 0 ? wl_file_error(rank, file, what->function) : MPI_SUCCESS;
    if (moved > 0 && what->from == NULL) {
        wl_unpack_bytes(type, bytes, (size_t)moved, what->to);
    }
    if (moved > 0 && what->offset == HERE) {
        file->position += (MPI_Offset)moved / size;
    }
    free(bytes);
    if (what->together) {
        wl_file_together(rank, file);
    }
    wl_status_set(status, 0, 0, moved > 0 ? (size_t)moved : 0);
    return code;
}

static int blocking(const struct access *what, MPI_Status *status)
{
    struct wl_rank *rank = wl_enter();
    int code = carry_out(rank, what, status);

    wl_leave(rank);
    return code;
}

/* The request is complete from the start. */
static int nonblocking(const struct access *what, MPI_Request *handle)
{
    struct wl_rank *rank = wl_enter();
    struct wl_request *request = wl_request_new(rank, WL_REQUEST_DONE, handle);
    int code = carry_out(rank, what, &request->status);

    request->active = true;
    wl_leave(rank);
    return code;
}

static int begin(const struct access *what)
{
    struct wl_rank *rank = wl_enter();
    int code = carry_out(rank, what, &wl_file_of(rank, what->file, what->function)->split);

    wl_leave(rank);
    return code;
}

static int end(MPI_File file, MPI_Status *status, const char *function)
{
    struct wl_rank *rank = wl_enter();

    if (status != MPI_STATUS_IGNORE) {
        *status = wl_file_of(rank, file, function)->split;
    }
    wl_leave(rank);
    return MPI_SUCCESS;
}

/* Each way to read has a twin that writes. `last` is the last parameter, how() what is made of
 * it. */
/* NOLINTBEGIN(bugprone-macro-parentheses): they are parts of parameter lists */
#define WAYS(suffix, prefix, place, where, all, last, how)                                 \
    int MPI_File_##prefix##read##suffix(MPI_File file, place void *buf, int count,         \
                                        MPI_Datatype datatype, last)                       \
    {                                                                                      \
        return how(&((struct access){"MPI_File_" #prefix "read" #suffix, file, buf, NULL,  \
                                     count, datatype, where, all}),                        \
                   result);                                                                \
    }                                                                                      \
    int MPI_File_##prefix##write##suffix(MPI_File file, place const void *buf, int count,  \
                                         MPI_Datatype datatype, last)                      \
    {                                                                                      \
        return how(&((struct access){"MPI_File_" #prefix "write" #suffix, file, NULL, buf, \
                                     count, datatype, where, all}),                        \
                   result);                                                                \
    }

#define NOWHERE
#define OFFSET  MPI_Offset offset,
#define STATUS  MPI_Status *result
#define REQUEST MPI_Request *result

WAYS(, , NOWHERE, HERE, false, STATUS, blocking)
WAYS(_all, , NOWHERE, HERE, true, STATUS, blocking)
WAYS(_at, , OFFSET, offset, false, STATUS, blocking)
WAYS(_at_all, , OFFSET, offset, true, STATUS, blocking)
WAYS(, i, NOWHERE, HERE, false, REQUEST, nonblocking)
WAYS(_all, i, NOWHERE, HERE, true, REQUEST, nonblocking)
WAYS(_at, i, OFFSET, offset, false, REQUEST, nonblocking)
WAYS(_at_all, i, OFFSET, offset, true, REQUEST, nonblocking)

#define SPLIT(name, place, where)                                                              \
    int MPI_File_read##name##_begin(MPI_File file, place void *buf, int count,                 \
                                    MPI_Datatype datatype)                                     \
    {                                                                                          \
        return begin(&(struct access){"MPI_File_read" #name "_begin", file, buf, NULL, count,  \
                                      datatype, where, true});                                 \
    }                                                                                          \
    int MPI_File_write##name##_begin(MPI_File file, place const void *buf, int count,          \
                                     MPI_Datatype datatype)                                    \
    {                                                                                          \
        return begin(&(struct access){"MPI_File_write" #name "_begin", file, NULL, buf, count, \
                                      datatype, where, true});                                 \
    }                                                                                          \
    int MPI_File_read##name##_end(MPI_File file, void *buf, MPI_Status *status)                \
    {                                                                                          \
        (void)buf;                                                                             \
        return end(file, status, "MPI_File_read" #name "_end");                                \
    }                                                                                          \
    int MPI_File_write##name##_end(MPI_File file, const void *buf, MPI_Status *status)         \
    {                                                                                          \
        (void)buf;                                                                             \
        return end(file, status, "MPI_File_write" #name "_end");                               \
    }

SPLIT(_all, NOWHERE, HERE)
SPLIT(_at_all, OFFSET, offset)
/* NOLINTEND(bugprone-macro-parentheses) */

/* ---- the rank's pointer ---- */

/* Elements of the view that begin before this place of the file. */
static MPI_Offset elements_before(const struct wl_file *file, MPI_Offset place)
{
    const struct wl_type *type = file->filetype;
    MPI_Offset element = (MPI_Offset)file->etype->size, at = 0;
    size_t run;

    if (place > file->displacement && type->extent > 0) {
        /* Not all of the last repetition of the type need be there. */
        MPI_Offset tiles = (place - file->displacement) / type->extent;
        at = (tiles > 0 ? tiles - 1 : 0) * (MPI_Offset)type->size;
    }
    while (wl_file_place(file, at, &run) < place) {
        at += element;
    }
    return at / element;
}

int MPI_File_seek(MPI_File handle, MPI_Offset offset, int whence)
{
    struct wl_rank *rank = wl_enter();
    struct wl_file *file = wl_file_of(rank, handle, "MPI_File_seek");
    MPI_Offset from = 0;

    if (whence == MPI_SEEK_CUR) {
        from = file->position;
    } else if (whence == MPI_SEEK_END) {
        int failed = MPI_File_get_size(handle, &from);
        if (failed != MPI_SUCCESS) {
            wl_leave(rank);
            return failed;
        }
        from = elements_before(file, from);
    }
    int code = from + offset < 0 ? MPI_ERR_ARG : MPI_SUCCESS;
    file->position = code == MPI_SUCCESS ? from + offset : file->position;
    wl_leave(rank);
    return code;
}

int MPI_File_get_position(MPI_File file, MPI_Offset *offset)
{
    struct wl_rank *rank = wl_enter();

    *offset = wl_file_of(rank, file, "MPI_File_get_position")->position;
    wl_leave(rank);
    return MPI_SUCCESS;
}
