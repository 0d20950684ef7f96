/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing of files, their sizes, properties and errors. */
#include "mpi/lib/io/file.h"
#include "mpi/lib/checker/checker.h"

#include "mpi/lib/coll/exchange.h"
#include "mpi/lib/errors.h"
#include "mpi/lib/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct wl_file *wl_file_of(const struct wl_rank *rank, MPI_File handle)
{
    struct wl_file *file = wl_table_get(&rank->files, WL_FILE, handle);

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

int wl_file_error(const struct wl_rank *rank, const struct wl_file *file, int code,
                  const char *text)
{
    if (file->errhandler == MPI_ERRORS_ARE_FATAL || file->errhandler == MPI_ERRORS_ABORT) {
        wl_fatal(rank, "'%s': %s", file->name, text);
    }
    return wl_errhandler_call(rank, file->errhandler, file->handle, code);
}

int wl_file_fail(const struct wl_rank *rank, const struct wl_file *file)
{
    return wl_file_error(rank, file, code_of(errno), strerror(errno));
}

/* The error of errno, of a file that is not open: MPI_FILE_NULL has an error handler for it. */
static int fail_without_file(const struct wl_rank *rank, const char *name)
{
    const struct wl_file none = {.name = (char *)(uintptr_t)name,
                                 .errhandler = rank->file_errhandler,
                                 .handle = MPI_FILE_NULL};

    return wl_file_fail(rank, &none);
}

/* FNV-1a of the last part of the name: layouts on disks are those of one run in any folder. */
static uint32_t number_of(const char *name)
{
    const char *last = strrchr(name, '/');
    uint32_t hash = UINT32_C(2166136261);

    for (const char *at = last != NULL ? last + 1 : name; *at != '\0'; at++) {
        hash = (hash ^ (unsigned char)*at) * UINT32_C(16777619);
    }
    return hash & INT32_MAX;
}

void wl_file_take_time(struct wl_rank *rank, uint32_t number, enum wf_op_kind kind,
                       MPI_Offset offset, size_t bytes)
{
    const struct wf_op op = {.kind = kind,
                             .tag = (int32_t)number,
                             .bytes = bytes,
                             .offset = offset > 0 ? (uint64_t)offset : 0};

    (void)wl_call(rank, &op);
}

void wl_file_take_posix_time(struct wl_rank *rank, int fd, enum wf_op_kind kind, MPI_Offset at,
                             size_t bytes)
{
    enum { NAME = 4096 };
    char link[40], name[NAME];
    struct stat st;

    if (!rank->initialized || rank->finalized || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        return;
    }
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, name, sizeof(name) - 1);
    if (length <= 0) {
        return;
    }
    name[length] = '\0';
    if (at < 0) {
        at = (MPI_Offset)lseek(fd, 0, SEEK_CUR) - (MPI_Offset)bytes;
    }
    wl_file_take_time(rank, number_of(name), kind, at, bytes);
}

/* MPI_Barrier() may return before it is complete in simulated time. */
void wl_file_synchronize(struct wl_rank *rank, const struct wl_file *file)
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

/* Duplicates the communicator for the file. With that, the first rank tells the others where
 * the shared file pointer is. */
static MPI_Comm share(struct wl_rank *rank, MPI_Comm comm, struct wl_file *file)
{
    struct wl_view view = wl_comm_of(rank, comm);
    struct wl_exchange *exchange = wl_exchange_join(view.comm, (*view.sequence)++);
    MPI_Comm own;

    if (view.rank == 0) {
        int64_t **place = wl_malloc(sizeof(*place));
        *place = &file->shared_position;
        wl_exchange_put(
            view.comm, exchange, WL_FOR_ALL,
            (struct wl_part){.bytes = (unsigned char *)place, .size = sizeof(*place)});
    }
    wl_MPI_Comm_dup(rank, comm, &own);
    memcpy(&file->shared, wl_exchange_result(view.comm, exchange).bytes, sizeof(file->shared));
    wl_exchange_leave(view.comm, exchange);
    return own;
}

int wl_MPI_File_open(struct wl_rank *rank, MPI_Comm comm, const char *filename, int amode,
                     MPI_Info info, MPI_File *file)
{
    const void *site = rank->site;
    const struct wl_type *bytes = wl_type_of(rank, MPI_BYTE);
    struct wl_file *opened = wl_calloc(1, sizeof(*opened));
    int fd = -1;

    *file = MPI_FILE_NULL;
    wl_catch_up(rank);
    MPI_Comm own = share(rank, comm, opened);
    errno = open_together(rank, own, filename, amode, &fd);
    if (errno != 0) {
        int error = errno;
        if (fd >= 0) {
            (void)close(fd);
        }
        wl_MPI_Comm_free(rank, &own);
        free(opened);
        errno = error;
        return fail_without_file(rank, filename);
    }
    *opened = (struct wl_file){.fd = fd,
                               .amode = amode,
                               .comm = own,
                               .errhandler = rank->file_errhandler,
                               .etype = bytes,
                               .filetype = bytes,
                               .shared = opened->shared};
    opened->name = wl_malloc(strlen(filename) + 1);
    memcpy(opened->name, filename, strlen(filename) + 1);
    if (amode & MPI_MODE_APPEND) {
        opened->position = (MPI_Offset)lseek(fd, 0, SEEK_END);
        opened->shared_position = opened->position;
    }
    *file = opened->handle = wl_table_add(&rank->files, WL_FILE, opened);
    opened->number = number_of(filename);
    wl_file_take_time(rank, opened->number, WF_OP_FILE_OPEN, 0, 0);
    rank->site = site; /* not that of a call within this one */
    wl_check_created(rank, *file);
    return MPI_SUCCESS;
}

int wl_MPI_File_close(struct wl_rank *rank, MPI_File *file)
{
    struct wl_file *own = wl_file_of(rank, *file);
    int code = close(own->fd) == 0 ? MPI_SUCCESS : wl_file_fail(rank, own);
    int place;

    wl_file_take_time(rank, own->number, WF_OP_FILE_CLOSE, 0, 0);
    wl_file_synchronize(rank, own);
    wl_MPI_Comm_rank(rank, own->comm, &place);
    if (place == 0 && (own->amode & MPI_MODE_DELETE_ON_CLOSE)) {
        (void)unlink(own->name);
    }
    wl_file_synchronize(rank, own);
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
    return unlink(filename) == 0 ? MPI_SUCCESS : fail_without_file(rank, filename);
}

/* ---- sizes ---- */

int wl_MPI_File_get_size(struct wl_rank *rank, MPI_File file, MPI_Offset *size)
{
    const struct wl_file *own = wl_file_of(rank, file);
    struct stat st;

    wl_catch_up(rank);
    int code = fstat(own->fd, &st) == 0 ? MPI_SUCCESS : wl_file_fail(rank, own);

    *size = code == MPI_SUCCESS ? (MPI_Offset)st.st_size : 0;
    return code;
}

int wl_MPI_File_set_size(struct wl_rank *rank, MPI_File file, MPI_Offset size)
{
    const struct wl_file *own = wl_file_of(rank, file);

    wl_file_synchronize(rank, own);
    int code = ftruncate(own->fd, (off_t)size) == 0 ? MPI_SUCCESS : wl_file_fail(rank, own);
    wl_file_synchronize(rank, own);
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
    const struct wl_file *own = wl_file_of(rank, file);

    wl_file_take_time(rank, own->number, WF_OP_FILE_SYNC, 0, 0);
    wl_file_synchronize(rank, own);
    return MPI_SUCCESS; /* all ranks see at once what is written on this host */
}

/* ---- properties ---- */

MPI_Errhandler wl_file_errhandler(const struct wl_rank *rank, MPI_File handle)
{
    const struct wl_file *file = wl_table_get(&rank->files, WL_FILE, handle);

    return file != NULL ? file->errhandler : rank->file_errhandler;
}

int wl_MPI_File_set_errhandler(struct wl_rank *rank, MPI_File file, MPI_Errhandler errhandler)
{
    if (file == MPI_FILE_NULL) {
        rank->file_errhandler = errhandler;
    } else {
        wl_file_of(rank, file)->errhandler = errhandler;
    }
    return MPI_SUCCESS;
}

int wl_MPI_File_call_errhandler(struct wl_rank *rank, MPI_File file, int errorcode)
{
    const struct wl_file none = {.errhandler = rank->file_errhandler, .handle = MPI_FILE_NULL};

    (void)wl_file_error(rank, file == MPI_FILE_NULL ? &none : wl_file_of(rank, file), errorcode,
                        "an error of the program");
    return MPI_SUCCESS;
}
