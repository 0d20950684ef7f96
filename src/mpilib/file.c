/* SPDX-License-Identifier: Apache-2.0 */
/* Files: opening, views and sizes. */
#include "mpilib/file.h"

#include "mpilib/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct wl_file *wl_file_of(const struct wl_rank *rank, MPI_File handle, const char *function)
{
    struct wl_file *file = wl_table_get(&rank->files, WL_FILE, handle);

    if (file == NULL) {
        wl_fatal(rank, function, "there is no file 0x%x", (unsigned)handle);
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

int wl_file_error(const struct wl_rank *rank, const struct wl_file *file, const char *function)
{
    if (file != NULL && file->errhandler == MPI_ERRORS_ARE_FATAL) {
        wl_fatal(rank, function, "'%s': %s", file->name, strerror(errno));
    }
    return code_of(errno);
}

/* A barrier that is over when it returns: MPI_Barrier may return as soon as it is known that it
 * will be. */
void wl_file_together(struct wl_rank *rank, const struct wl_file *file)
{
    struct wl_view view = wl_comm_of(rank, file->comm, "file");

    (void)wl_call(rank, &(struct wf_op){.kind = WF_OP_BARRIER, .comm = view.number});
}

/* ---- opening and closing ---- */

static int flags_of(int amode)
{
    int flags = amode & MPI_MODE_RDWR ? O_RDWR : amode & MPI_MODE_WRONLY ? O_WRONLY : O_RDONLY;

    return flags | O_CLOEXEC | (amode & MPI_MODE_CREATE ? O_CREAT : 0);
}

/* Whether it must not be there yet only one of them can find out, before the others come. */
static int open_together(MPI_Comm comm, const char *name, int amode, int *fd)
{
    const int mode = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;
    int own, error = 0;

    MPI_Comm_rank(comm, &own);
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

int MPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *file)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_type *bytes = wl_type_of(rank, MPI_BYTE, "MPI_File_open");
    int fd = -1;
    MPI_Comm own;

    (void)info;
    *file = MPI_FILE_NULL;
    wl_catch_up(rank);
    MPI_Comm_dup(comm, &own);
    errno = open_together(own, filename, amode, &fd);
    if (errno != 0) {
        int code = code_of(errno);
        if (fd >= 0) {
            (void)close(fd);
        }
        MPI_Comm_free(&own);
        wl_leave(rank);
        return code;
    }
    struct wl_file *made = wl_calloc(1, sizeof(*made));
    *made = (struct wl_file){
        .fd = fd, .amode = amode, .comm = own, .etype = bytes, .filetype = bytes};
    made->name = wl_malloc(strlen(filename) + 1);
    memcpy(made->name, filename, strlen(filename) + 1);
    if (amode & MPI_MODE_APPEND) {
        made->position = (MPI_Offset)lseek(fd, 0, SEEK_END);
    }
    *file = wl_table_add(&rank->files, WL_FILE, made);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_File_close(MPI_File *file)
{
    struct wl_rank *rank = wl_enter();
    struct wl_file *own = wl_file_of(rank, *file, "MPI_File_close");
    int code = close(own->fd) == 0 ? MPI_SUCCESS : wl_file_error(rank, own, "MPI_File_close");
    int place;

    wl_file_together(rank, own);
    MPI_Comm_rank(own->comm, &place);
    if (place == 0 && (own->amode & MPI_MODE_DELETE_ON_CLOSE)) {
        (void)unlink(own->name);
    }
    wl_file_together(rank, own);
    MPI_Comm_free(&own->comm);
    wl_type_release(own->etype);
    wl_type_release(own->filetype);
    (void)wl_table_take(&rank->files, WL_FILE, *file);
    free(own->name);
    free(own);
    *file = MPI_FILE_NULL;
    wl_leave(rank);
    return code;
}

int MPI_File_delete(const char *filename, MPI_Info info)
{
    struct wl_rank *rank = wl_enter();

    (void)info;
    wl_catch_up(rank);
    int code = unlink(filename) == 0 ? MPI_SUCCESS : code_of(errno);
    wl_leave(rank);
    return code;
}

/* ---- sizes ---- */

int MPI_File_get_size(MPI_File file, MPI_Offset *size)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_file *own = wl_file_of(rank, file, "MPI_File_get_size");
    struct stat st;

    wl_catch_up(rank);
    int code =
        fstat(own->fd, &st) == 0 ? MPI_SUCCESS : wl_file_error(rank, own, "MPI_File_get_size");

    *size = code == MPI_SUCCESS ? (MPI_Offset)st.st_size : 0;
    wl_leave(rank);
    return code;
}

int MPI_File_set_size(MPI_File file, MPI_Offset size)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_file *own = wl_file_of(rank, file, "MPI_File_set_size");

    wl_file_together(rank, own);
    int code = ftruncate(own->fd, (off_t)size) == 0
                   ? MPI_SUCCESS
                   : wl_file_error(rank, own, "MPI_File_set_size");
    wl_file_together(rank, own);
    wl_leave(rank);
    return code;
}

int MPI_File_preallocate(MPI_File file, MPI_Offset size)
{
    MPI_Offset now;
    int code = MPI_File_get_size(file, &now);

    return code == MPI_SUCCESS && now < size ? MPI_File_set_size(file, size) : code;
}

int MPI_File_sync(MPI_File file)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_file *own = wl_file_of(rank, file, "MPI_File_sync");

    wl_file_together(rank, own);
    wl_leave(rank);
    return MPI_SUCCESS; /* what is written is there for all who read on this host */
}

/* ---- views ---- */

int MPI_File_set_view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype,
                      MPI_Datatype filetype, const char *datarep, MPI_Info info)
{
    static const char name[] = "MPI_File_set_view";
    struct wl_rank *rank = wl_enter();
    struct wl_file *own = wl_file_of(rank, file, name);
    const struct wl_type *element = wl_type_of(rank, etype, name);
    const struct wl_type *pattern = wl_type_of(rank, filetype, name);

    (void)info;
    if (strcmp(datarep, "native") != 0 && strcmp(datarep, "internal") != 0) {
        wl_fatal(rank, name, "the data representation '%.64s' is not there; native is",
                 datarep);
    }
    if (element->size == 0 || pattern->size % element->size != 0) {
        wl_fatal(rank, name, "a file type of %zu bytes is not made of elements of %zu",
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
    wl_file_together(rank, own);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_File_get_view(MPI_File file, MPI_Offset *displacement, MPI_Datatype *etype,
                      MPI_Datatype *filetype, char *datarep)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_file *own = wl_file_of(rank, file, "MPI_File_get_view");

    *displacement = own->displacement;
    *etype = wl_type_handle(rank, own->etype);
    *filetype = wl_type_handle(rank, own->filetype);
    memcpy(datarep, "native", sizeof("native"));
    wl_leave(rank);
    return MPI_SUCCESS;
}

MPI_Offset wl_file_place(const struct wl_file *file, MPI_Offset at, size_t *run)
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

int MPI_File_get_byte_offset(MPI_File file, MPI_Offset offset, MPI_Offset *displacement)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_file *own = wl_file_of(rank, file, "MPI_File_get_byte_offset");
    size_t run;

    *displacement = wl_file_place(own, offset * (MPI_Offset)own->etype->size, &run);
    wl_leave(rank);
    return MPI_SUCCESS;
}

/* ---- what else there is to know ---- */

int MPI_File_get_amode(MPI_File file, int *amode)
{
    struct wl_rank *rank = wl_enter();

    *amode = wl_file_of(rank, file, "MPI_File_get_amode")->amode;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_File_get_group(MPI_File file, MPI_Group *group)
{
    struct wl_rank *rank = wl_enter();
    int code = MPI_Comm_group(wl_file_of(rank, file, "MPI_File_get_group")->comm, group);

    wl_leave(rank);
    return code;
}

int MPI_File_set_info(MPI_File file, MPI_Info info)
{
    (void)file;
    (void)info;
    return MPI_SUCCESS;
}

int MPI_File_get_info(MPI_File file, MPI_Info *info)
{
    (void)file;
    return MPI_Info_create(info);
}

int MPI_File_set_atomicity(MPI_File file, int flag)
{
    struct wl_rank *rank = wl_enter();

    wl_file_of(rank, file, "MPI_File_set_atomicity")->atomic = flag != 0;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_File_get_atomicity(MPI_File file, int *flag)
{
    struct wl_rank *rank = wl_enter();

    *flag = wl_file_of(rank, file, "MPI_File_get_atomicity")->atomic;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_File_get_type_extent(MPI_File file, MPI_Datatype datatype, MPI_Aint *extent)
{
    MPI_Aint lb;

    (void)file;
    return MPI_Type_get_extent(datatype, &lb, extent);
}

int MPI_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler)
{
    struct wl_rank *rank = wl_enter();

    if (file != MPI_FILE_NULL) {
        wl_file_of(rank, file, "MPI_File_set_errhandler")->errhandler = errhandler;
    }
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_File_get_errhandler(MPI_File file, MPI_Errhandler *errhandler)
{
    struct wl_rank *rank = wl_enter();

    *errhandler = MPI_ERRORS_RETURN;
    if (file != MPI_FILE_NULL) {
        MPI_Errhandler own = wl_file_of(rank, file, "MPI_File_get_errhandler")->errhandler;
        *errhandler = own != 0 ? own : MPI_ERRORS_RETURN;
    }
    wl_leave(rank);
    return MPI_SUCCESS;
}
