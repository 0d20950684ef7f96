/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files (MPI-3.1, 13). They are files of the host. Reading and writing takes no simulated time;
 * a collective access synchronizes the ranks like a barrier.
 */
#include "mpilib/communicator.h"
#include "mpilib/datatype.h"
#include "mpilib/memory.h"
#include "mpilib/request.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
    int fd;
    int amode;
    bool atomic;
    MPI_Comm comm; /* its own */
    char *name;
    /* The view: which part of the file the rank sees. */
    MPI_Offset displacement;
    const struct wl_type *etype, *filetype; /* held */
    MPI_Offset position;                    /* in etypes */
    MPI_Errhandler errhandler;              /* 0: errors return */
    MPI_Status split;                       /* of a split collective that has begun */
};

static struct file *file_of(const struct wl_rank *rank, MPI_File handle)
{
    struct file *file = wl_table_get(&rank->files, WL_FILE, handle);

    if (file == NULL) {
        wl_fatal(rank, "there is no file 0x%x", (unsigned)handle);
    }
    return file;
}

static int code_of(int error)
{
    static const struct {
        int error, code;
    } codes[] = {{ENOENT, MPI_ERR_NO_SUCH_FILE}, {EEXIST, MPI_ERR_FILE_EXISTS},
                 {EACCES, MPI_ERR_ACCESS},       {EPERM, MPI_ERR_ACCESS},
                 {EROFS, MPI_ERR_READ_ONLY},     {ENOSPC, MPI_ERR_NO_SPACE},
                 {EBADF, MPI_ERR_ACCESS},        {EISDIR, MPI_ERR_BAD_FILE}};

    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (codes[i].error == error) {
            return codes[i].code;
        }
    }
    return MPI_ERR_IO;
}

/* The error code for errno; ends the program if errors are fatal. */
static int fail(const struct wl_rank *rank, const struct file *file)
{
    if (file != NULL && file->errhandler == MPI_ERRORS_ARE_FATAL) {
        wl_fatal(rank, "'%s': %s", file->name, strerror(errno));
    }
    return code_of(errno);
}

/* Waits for all ranks that have opened the file. MPI_Barrier() may return before it is complete
 * in simulated time. */
static void synchronize(struct wl_rank *rank, const struct file *file)
{
    struct wl_view view = wl_comm_of(rank, file->comm);

    (void)wl_call(rank, &(struct wf_op){.kind = WF_OP_BARRIER, .comm = view.number});
}

/* ---- opening and closing ---- */

static int flags_of(int amode)
{
    int flags = amode & MPI_MODE_RDWR ? O_RDWR : amode & MPI_MODE_WRONLY ? O_WRONLY : O_RDONLY;

    return flags | O_CLOEXEC | (amode & MPI_MODE_CREATE ? O_CREAT : 0);
}

/* The first rank opens the file before the others: with MPI_MODE_EXCL it must not exist yet. */
static int open_together(struct wl_rank *rank, MPI_Comm comm, const char *name, int amode,
                         int *fd)
{
    const int mode = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;
    int own, error = 0;

    wl_MPI_Comm_rank(rank, comm, &own);
    if (own == 0) {
        *fd = open(name, flags_of(amode) | (amode & MPI_MODE_EXCL ? O_EXCL : 0), mode);
        error = *fd < 0 ? errno : 0;
    }
    MPI_Bcast(&error, 1, MPI_INT, 0, comm);
    if (error == 0 && own != 0) {
        *fd = open(name, flags_of(amode), mode);
        error = *fd < 0 ? errno : 0;
    }
    MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_INT, MPI_MAX, comm);
    return error;
}

int wl_MPI_File_open(struct wl_rank *rank, MPI_Comm comm, const char *filename, int amode,
                     MPI_Info info, MPI_File *file)
{
    const struct wl_type *bytes = wl_type_of(rank, MPI_BYTE);
    int fd = -1;
    MPI_Comm own;

    *file = MPI_FILE_NULL;
    wl_catch_up(rank);
    wl_MPI_Comm_dup(rank, comm, &own);
    errno = open_together(rank, own, filename, amode, &fd);
    if (errno != 0) {
        int code = code_of(errno);
        if (fd >= 0) {
            (void)close(fd);
        }
        wl_MPI_Comm_free(rank, &own);
        return code;
    }
    struct file *opened = wl_calloc(1, sizeof(*opened));
    *opened =
        (struct file){.fd = fd, .amode = amode, .comm = own, .etype = bytes, .filetype = bytes};
    opened->name = wl_malloc(strlen(filename) + 1);
    memcpy(opened->name, filename, strlen(filename) + 1);
    if (amode & MPI_MODE_APPEND) {
        opened->position = (MPI_Offset)lseek(fd, 0, SEEK_END);
    }
    *file = wl_table_add(&rank->files, WL_FILE, opened);
    return MPI_SUCCESS;
}

int wl_MPI_File_close(struct wl_rank *rank, MPI_File *file)
{
    struct file *own = file_of(rank, *file);
    int code = close(own->fd) == 0 ? MPI_SUCCESS : fail(rank, own);
    int place;

    synchronize(rank, own);
    wl_MPI_Comm_rank(rank, own->comm, &place);
    if (place == 0 && (own->amode & MPI_MODE_DELETE_ON_CLOSE)) {
        (void)unlink(own->name);
    }
    synchronize(rank, own);
    wl_MPI_Comm_free(rank, &own->comm);
    wl_type_release(own->etype);
    wl_type_release(own->filetype);
    (void)wl_table_take(&rank->files, WL_FILE, *file);
    free(own->name);
    free(own);
    *file = MPI_FILE_NULL;
    return code;
}

int wl_MPI_File_delete(struct wl_rank *rank, const char *filename, MPI_Info info)
{
    wl_catch_up(rank);
    int code = unlink(filename) == 0 ? MPI_SUCCESS : code_of(errno);
    return code;
}

/* ---- sizes ---- */

int wl_MPI_File_get_size(struct wl_rank *rank, MPI_File file, MPI_Offset *size)
{
    const struct file *own = file_of(rank, file);
    struct stat st;

    wl_catch_up(rank);
    int code = fstat(own->fd, &st) == 0 ? MPI_SUCCESS : fail(rank, own);

    *size = code == MPI_SUCCESS ? (MPI_Offset)st.st_size : 0;
    return code;
}

int wl_MPI_File_set_size(struct wl_rank *rank, MPI_File file, MPI_Offset size)
{
    const struct file *own = file_of(rank, file);

    synchronize(rank, own);
    int code = ftruncate(own->fd, (off_t)size) == 0 ? MPI_SUCCESS : fail(rank, own);
    synchronize(rank, own);
    return code;
}

int wl_MPI_File_preallocate(struct wl_rank *rank, MPI_File file, MPI_Offset size)
{
    MPI_Offset now;
    int code = wl_MPI_File_get_size(rank, file, &now);

    return code == MPI_SUCCESS && now < size ? wl_MPI_File_set_size(rank, file, size) : code;
}

int wl_MPI_File_sync(struct wl_rank *rank, MPI_File file)
{
    const struct file *own = file_of(rank, file);

    synchronize(rank, own);
    return MPI_SUCCESS; /* all ranks see at once what is written on this host */
}

/* ---- views ---- */

int wl_MPI_File_set_view(struct wl_rank *rank, MPI_File file, MPI_Offset displacement,
                         MPI_Datatype etype, MPI_Datatype filetype, const char *datarep,
                         MPI_Info info)
{
    struct file *own = file_of(rank, file);
    const struct wl_type *element = wl_type_of(rank, etype);
    const struct wl_type *pattern = wl_type_of(rank, filetype);

    if (strcmp(datarep, "native") != 0 && strcmp(datarep, "internal") != 0) {
        wl_fatal(rank,
                 "the data representation is '%.64s'; only native and internal are supported",
                 datarep);
    }
    if (element->size == 0 || pattern->size % element->size != 0) {
        wl_fatal(rank,
                 "the file type has %zu bytes, which is not a multiple of the %zu of its "
                 "elementary type",
                 pattern->size, element->size);
    }
    wl_type_hold(element);
    wl_type_hold(pattern);
    wl_type_release(own->etype);
    wl_type_release(own->filetype);
    own->etype = element;
    own->filetype = pattern;
    own->displacement = displacement;
    own->position = 0;
    synchronize(rank, own);
    return MPI_SUCCESS;
}

int wl_MPI_File_get_view(struct wl_rank *rank, MPI_File file, MPI_Offset *displacement,
                         MPI_Datatype *etype, MPI_Datatype *filetype, char *datarep)
{
    const struct file *own = file_of(rank, file);

    *displacement = own->displacement;
    *etype = wl_type_handle(rank, own->etype);
    *filetype = wl_type_handle(rank, own->filetype);
    memcpy(datarep, "native", sizeof("native"));
    return MPI_SUCCESS;
}

/* The offset in the file of byte `at` of the view. Sets *run to how many bytes follow it
 * there. */
static MPI_Offset place_of(const struct file *file, MPI_Offset at, size_t *run)
{
    const struct wl_type *type = file->filetype;
    MPI_Offset tile = at / (MPI_Offset)type->size;
    size_t rest = (size_t)(at % (MPI_Offset)type->size);
    MPI_Offset base = file->displacement + tile * type->extent;
    uint32_t i = 0;

    if (type->contiguous) {
        *run = SIZE_MAX;
        return file->displacement + at;
    }
    while (rest >= type->blocks[i].bytes) {
        rest -= type->blocks[i++].bytes;
    }
    *run = type->blocks[i].bytes - rest;
    return base + type->blocks[i].at + (MPI_Offset)rest;
}

int wl_MPI_File_get_byte_offset(struct wl_rank *rank, MPI_File file, MPI_Offset offset,
                                MPI_Offset *displacement)
{
    const struct file *own = file_of(rank, file);
    size_t run;

    *displacement = place_of(own, offset * (MPI_Offset)own->etype->size, &run);
    return MPI_SUCCESS;
}

/* ---- reading and writing ---- */

/* The arguments of a read or a write. */
struct access {
    MPI_File file;
    void *to;         /* of a read; or null */
    const void *from; /* of a write; or null */
    MPI_Count count;
    MPI_Datatype type;
    MPI_Offset offset; /* in etypes; POSITION: at the individual file pointer */
    bool collective;
};

#define POSITION INT64_MIN

/* Moves bytes between the file and memory, from byte `at` of the view. Returns how many, or a
 * negative number. */
static ssize_t move(const struct file *file, MPI_Offset at, unsigned char *bytes, size_t n,
                    bool writes)
{
    size_t done = 0;

    while (done < n) {
        size_t run, left = n - done;
        off_t place = (off_t)place_of(file, at + (MPI_Offset)done, &run);
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
    struct file *file = file_of(rank, what->file);
    const struct wl_type *type = wl_type_of(rank, what->type);
    size_t n = what->count > 0 ? (size_t)what->count * type->size : 0;
    MPI_Offset size = (MPI_Offset)file->etype->size;
    MPI_Offset from = what->offset == POSITION ? file->position : what->offset;
    unsigned char *bytes = wl_malloc(n);

    wl_catch_up(rank);
    if (what->from != NULL) {
        wl_pack(type, what->from, (size_t)what->count, bytes);
    }
    ssize_t moved = move(file, from * size, bytes, n, what->from != NULL);
    int code = moved < 0 ? fail(rank, file) : MPI_SUCCESS;
    if (moved > 0 && what->from == NULL) {
        wl_unpack_bytes(type, bytes, (size_t)moved, what->to);
    }
    if (moved > 0 && what->offset == POSITION) {
        file->position += (MPI_Offset)moved / size;
    }
    free(bytes);
    if (what->collective) {
        synchronize(rank, file);
    }
    wl_status_set(status, 0, 0, moved > 0 ? (size_t)moved : 0);
    return code;
}

static int blocking(struct wl_rank *rank, const struct access *what, MPI_Status *status)
{
    return carry_out(rank, what, status);
}

/* The request is complete from the start. */
static int nonblocking(struct wl_rank *rank, const struct access *what, MPI_Request *handle)
{
    struct wl_request *request = wl_request_new(rank, WL_REQUEST_DONE, handle);

    return carry_out(rank, what, &request->status);
}

static int begin(struct wl_rank *rank, const struct access *what)
{
    return carry_out(rank, what, &file_of(rank, what->file)->split);
}

static int end(struct wl_rank *rank, MPI_File file, MPI_Status *status)
{
    if (status != MPI_STATUS_IGNORE) {
        *status = file_of(rank, file)->split;
    }
    return MPI_SUCCESS;
}

/* A function that reads and the one that writes. `place` is the parameter for the offset, if
 * there is one, `where` the offset; `last` is the last parameter, which how() gets. */
/* NOLINTBEGIN(bugprone-macro-parentheses): they are parts of parameter lists */
#define ACCESSES(suffix, prefix, place, where, all, last, how)                           \
    int wl_MPI_File_##prefix##read##suffix(struct wl_rank *rank, MPI_File file,          \
                                           place void *buf, MPI_Count count,             \
                                           MPI_Datatype datatype, last)                  \
    {                                                                                    \
        return how(rank, &(struct access){file, buf, NULL, count, datatype, where, all}, \
                   result);                                                              \
    }                                                                                    \
    int wl_MPI_File_##prefix##write##suffix(struct wl_rank *rank, MPI_File file,         \
                                            place const void *buf, MPI_Count count,      \
                                            MPI_Datatype datatype, last)                 \
    {                                                                                    \
        return how(rank, &(struct access){file, NULL, buf, count, datatype, where, all}, \
                   result);                                                              \
    }

#define NO_OFFSET
#define OFFSET  MPI_Offset offset,
#define STATUS  MPI_Status *result
#define REQUEST MPI_Request *result

ACCESSES(, , NO_OFFSET, POSITION, false, STATUS, blocking)
ACCESSES(_all, , NO_OFFSET, POSITION, true, STATUS, blocking)
ACCESSES(_at, , OFFSET, offset, false, STATUS, blocking)
ACCESSES(_at_all, , OFFSET, offset, true, STATUS, blocking)
ACCESSES(, i, NO_OFFSET, POSITION, false, REQUEST, nonblocking)
ACCESSES(_all, i, NO_OFFSET, POSITION, true, REQUEST, nonblocking)
ACCESSES(_at, i, OFFSET, offset, false, REQUEST, nonblocking)
ACCESSES(_at_all, i, OFFSET, offset, true, REQUEST, nonblocking)

#define SPLIT(name, place, where)                                                            \
    int wl_MPI_File_read##name##_begin(struct wl_rank *rank, MPI_File file, place void *buf, \
                                       MPI_Count count, MPI_Datatype datatype)               \
    {                                                                                        \
        return begin(rank, &(struct access){file, buf, NULL, count, datatype, where, true}); \
    }                                                                                        \
    int wl_MPI_File_write##name##_begin(struct wl_rank *rank, MPI_File file,                 \
                                        place const void *buf, MPI_Count count,              \
                                        MPI_Datatype datatype)                               \
    {                                                                                        \
        return begin(rank, &(struct access){file, NULL, buf, count, datatype, where, true}); \
    }                                                                                        \
    int wl_MPI_File_read##name##_end(struct wl_rank *rank, MPI_File file, void *buf,         \
                                     MPI_Status *status)                                     \
    {                                                                                        \
        return end(rank, file, status);                                                      \
    }                                                                                        \
    int wl_MPI_File_write##name##_end(struct wl_rank *rank, MPI_File file, const void *buf,  \
                                      MPI_Status *status)                                    \
    {                                                                                        \
        return end(rank, file, status);                                                      \
    }

SPLIT(_all, NO_OFFSET, POSITION)
SPLIT(_at_all, OFFSET, offset)
/* NOLINTEND(bugprone-macro-parentheses) */

/* ---- the individual file pointer ---- */

/* How many elements of the view begin before this place of the file. */
static MPI_Offset elements_before(const struct file *file, MPI_Offset place)
{
    const struct wl_type *type = file->filetype;
    MPI_Offset element = (MPI_Offset)file->etype->size, at = 0;
    size_t run;

    if (place > file->displacement && type->extent > 0) {
        /* The last repetition of the file type may be incomplete. */
        MPI_Offset tiles = (place - file->displacement) / type->extent;
        at = (tiles > 0 ? tiles - 1 : 0) * (MPI_Offset)type->size;
    }
    while (place_of(file, at, &run) < place) {
        at += element;
    }
    return at / element;
}

int wl_MPI_File_seek(struct wl_rank *rank, MPI_File handle, MPI_Offset offset, int whence)
{
    struct file *file = file_of(rank, handle);
    MPI_Offset from = 0;

    if (whence == MPI_SEEK_CUR) {
        from = file->position;
    } else if (whence == MPI_SEEK_END) {
        int failed = wl_MPI_File_get_size(rank, handle, &from);
        if (failed != MPI_SUCCESS) {
            return failed;
        }
        from = elements_before(file, from);
    }
    int code = from + offset < 0 ? MPI_ERR_ARG : MPI_SUCCESS;
    file->position = code == MPI_SUCCESS ? from + offset : file->position;
    return code;
}

int wl_MPI_File_get_position(struct wl_rank *rank, MPI_File file, MPI_Offset *offset)
{
    *offset = file_of(rank, file)->position;
    return MPI_SUCCESS;
}

/* ---- properties ---- */

int wl_MPI_File_get_amode(struct wl_rank *rank, MPI_File file, int *amode)
{
    *amode = file_of(rank, file)->amode;
    return MPI_SUCCESS;
}

int wl_MPI_File_get_group(struct wl_rank *rank, MPI_File file, MPI_Group *group)
{
    int code = wl_MPI_Comm_group(rank, file_of(rank, file)->comm, group);

    return code;
}

int wl_MPI_File_set_atomicity(struct wl_rank *rank, MPI_File file, int flag)
{
    file_of(rank, file)->atomic = flag != 0;
    return MPI_SUCCESS;
}

int wl_MPI_File_get_atomicity(struct wl_rank *rank, MPI_File file, int *flag)
{
    *flag = file_of(rank, file)->atomic;
    return MPI_SUCCESS;
}

int wl_MPI_File_get_type_extent(struct wl_rank *rank, MPI_File file, MPI_Datatype datatype,
                                MPI_Aint *extent)
{
    MPI_Aint lb;

    return wl_MPI_Type_get_extent(rank, datatype, &lb, extent);
}

int wl_MPI_File_set_errhandler(struct wl_rank *rank, MPI_File file, MPI_Errhandler errhandler)
{
    if (file != MPI_FILE_NULL) {
        file_of(rank, file)->errhandler = errhandler;
    }
    return MPI_SUCCESS;
}

int wl_MPI_File_get_errhandler(struct wl_rank *rank, MPI_File file, MPI_Errhandler *errhandler)
{
    *errhandler = MPI_ERRORS_RETURN;
    if (file != MPI_FILE_NULL) {
        MPI_Errhandler own = file_of(rank, file)->errhandler;
        *errhandler = own != 0 ? own : MPI_ERRORS_RETURN;
    }
    return MPI_SUCCESS;
}
