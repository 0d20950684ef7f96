/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files (MPI-4.0, 14). They are files of the host. Reading and writing takes no simulated time;
 * a collective access synchronizes the ranks like a barrier. The shared file pointer is a
 * number at the first rank that has opened the file: an access by another rank is a message
 * there and back, like MPI_Fetch_and_op().
 */
#include "mpilib/collective_exchange.h"
#include "mpilib/communicator.h"
#include "mpilib/datatype.h"
#include "mpilib/errors.h"
#include "mpilib/memory.h"
#include "mpilib/one_sided.h"
#include "mpilib/request.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
    int fd;
    int amode;
    bool atomic;
    bool external; /* the view's data is in external32 */
    MPI_Comm comm; /* its own */
    char *name;
    MPI_File handle;
    /* The view: which part of the file the rank sees. */
    MPI_Offset displacement;
    const struct wl_type *etype, *filetype; /* held */
    MPI_Offset position;                    /* in etypes */
    int64_t shared_position;                /* likewise, for all; at the first rank... */
    int64_t *shared;                        /* ...where it is there */
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

/* An error of a file. Ends the program if errors are fatal, else calls its error handler. */
static int raise_error(const struct wl_rank *rank, const struct file *file, int code,
                       const char *text)
{
    if (file->errhandler == MPI_ERRORS_ARE_FATAL || file->errhandler == MPI_ERRORS_ABORT) {
        wl_fatal(rank, "'%s': %s", file->name, text);
    }
    return wl_errhandler_call(rank, file->errhandler, file->handle, code);
}

/* The error of errno. */
static int fail(const struct wl_rank *rank, const struct file *file)
{
    return raise_error(rank, file, code_of(errno), strerror(errno));
}

/* Likewise, of a file that is not open: MPI_FILE_NULL has an error handler for it. */
static int fail_without_file(const struct wl_rank *rank, const char *name)
{
    const struct file none = {.name = (char *)(uintptr_t)name,
                              .errhandler = rank->file_errhandler,
                              .handle = MPI_FILE_NULL};

    return fail(rank, &none);
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

/* Duplicates the communicator for the file. With that, the first rank tells the others where
 * the shared file pointer is. */
static MPI_Comm share(struct wl_rank *rank, MPI_Comm comm, struct file *file)
{
    struct wl_view view = wl_comm_of(rank, comm);
    struct wl_exchange *exchange = wl_exchange_join(view.comm, (*view.sequence)++);
    MPI_Comm own;

    if (view.rank == 0) {
        int64_t **place = wl_malloc(sizeof(*place));
        *place = &file->shared_position;
        wl_exchange_put(view.comm, exchange, WL_FOR_ALL,
                        (struct wl_part){(unsigned char *)place, sizeof(*place)});
    }
    wl_MPI_Comm_dup(rank, comm, &own);
    memcpy(&file->shared, wl_exchange_result(view.comm, exchange).bytes, sizeof(file->shared));
    wl_exchange_leave(view.comm, exchange);
    return own;
}

int wl_MPI_File_open(struct wl_rank *rank, MPI_Comm comm, const char *filename, int amode,
                     MPI_Info info, MPI_File *file)
{
    const struct wl_type *bytes = wl_type_of(rank, MPI_BYTE);
    struct file *opened = wl_calloc(1, sizeof(*opened));
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
    *opened = (struct file){.fd = fd,
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
    return unlink(filename) == 0 ? MPI_SUCCESS : fail_without_file(rank, filename);
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

/* The offset in the file of byte `at` of the view. Sets *run to how many bytes follow it
 * there. */
static MPI_Offset place_of(const struct file *file, MPI_Offset at, size_t *run)
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

/* Advances the shared file pointer. Returns where it was. */
static MPI_Offset advance_shared(struct wl_rank *rank, const struct file *file, MPI_Offset n)
{
    struct wl_view view = wl_comm_of(rank, file->comm);

    return wl_remote_add(rank, &view, 0, file->shared, n);
}

/* What is wrong with an elementary type or a file type (MPI-4.0, 14.1.1); null if nothing is. */
static const char *wrong_view(const struct file *file, const struct wl_type *type)
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
    struct file *own = file_of(rank, file);
    const struct wl_type *element = wl_type_of(rank, etype);
    const struct wl_type *pattern = wl_type_of(rank, filetype);

    if (!is_usable_datarep(rank, datarep)) {
        return raise_error(rank, own, MPI_ERR_UNSUPPORTED_DATAREP,
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
        synchronize(rank, own);
        return raise_error(rank, own, MPI_ERR_IO, wrong);
    }
    if (displacement == MPI_DISPLACEMENT_CURRENT) { /* of files that are accessed in order */
        size_t run;
        displacement =
            place_of(own, advance_shared(rank, own, 0) * (MPI_Offset)own->etype->size, &run);
        synchronize(rank, own);
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
    (void)snprintf(datarep, MPI_MAX_DATAREP_STRING, "%s",
                   own->external ? "external32" : "native");
    return MPI_SUCCESS;
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
    MPI_Offset offset; /* in etypes, or one of those below */
    bool collective;
};

/* In place of an offset: the individual file pointer, the shared one, and the shared one for
 * all ranks in their order. */
#define POSITION INT64_MIN
#define SHARED   (INT64_MIN + 1)
#define ORDERED  (INT64_MIN + 2)

/* The offset of a rank's n elements, which follow those of the ranks before it. */
static MPI_Offset ordered_offset(struct wl_rank *rank, const struct file *file, MPI_Offset n)
{
    struct wl_view view = wl_comm_of(rank, file->comm);
    int64_t end = 0, begin = 0;

    (void)MPI_Scan(&n, &end, 1, MPI_INT64_T, MPI_SUM, file->comm);
    if (view.rank == view.size - 1) {
        begin = advance_shared(rank, file, end);
    }
    (void)MPI_Bcast(&begin, 1, MPI_INT64_T, (int)view.size - 1, file->comm);
    return begin + end - n;
}

/* Where an access begins, in etypes. */
static MPI_Offset begin_of(struct wl_rank *rank, const struct file *file,
                           const struct access *what, size_t bytes)
{
    MPI_Offset n = (MPI_Offset)(bytes / file->etype->size);

    return what->offset == POSITION  ? file->position
           : what->offset == SHARED  ? advance_shared(rank, file, n)
           : what->offset == ORDERED ? ordered_offset(rank, file, n)
                                     : what->offset;
}

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

/* The bytes of an access in the file, to and from memory. */
static void pack_for(struct wl_rank *rank, const struct file *file, const struct access *what,
                     unsigned char *bytes, size_t n)
{
    MPI_Aint at = 0;

    if (file->external) {
        (void)wl_MPI_Pack_external(rank, "external32", what->from, what->count, what->type,
                                   bytes, (MPI_Aint)n, &at);
    } else {
        wl_pack(wl_type_of(rank, what->type), what->from, (size_t)what->count, bytes);
    }
}

static void unpack_from(struct wl_rank *rank, const struct file *file,
                        const struct access *what, const unsigned char *bytes, size_t n)
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
static bool fits_view(struct wl_rank *rank, const struct file *file, MPI_Datatype type)
{
    MPI_Aint size = 0;

    if (file->external) {
        (void)wl_MPI_Pack_external_size(rank, "external32", 1, type, &size);
    }
    return !file->external || (size_t)size == wl_type_of(rank, type)->size;
}

static int carry_out(struct wl_rank *rank, const struct access *what, MPI_Status *status)
{
    struct file *file = file_of(rank, what->file);
    const struct wl_type *type = wl_type_of(rank, what->type);
    size_t n = what->count > 0 ? (size_t)what->count * type->size : 0;
    MPI_Offset size = (MPI_Offset)file->etype->size;
    if (!fits_view(rank, file, what->type)) {
        return raise_error(rank, file, MPI_ERR_CONVERSION,
                           "the datatype has another size in external32");
    }
    unsigned char *bytes = wl_malloc(n);

    wl_catch_up(rank);
    MPI_Offset from = begin_of(rank, file, what, n);
    if (what->from != NULL) {
        pack_for(rank, file, what, bytes, n);
    }
    ssize_t moved = move(file, from * size, bytes, n, what->from != NULL);
    int code = moved < 0 ? fail(rank, file) : MPI_SUCCESS;
    if (moved > 0 && what->from == NULL) {
        unpack_from(rank, file, what, bytes, (size_t)moved);
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
ACCESSES(_shared, , NO_OFFSET, SHARED, false, STATUS, blocking)
ACCESSES(_shared, i, NO_OFFSET, SHARED, false, REQUEST, nonblocking)
ACCESSES(_ordered, , NO_OFFSET, ORDERED, true, STATUS, blocking)
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
SPLIT(_ordered, NO_OFFSET, ORDERED)
/* NOLINTEND(bugprone-macro-parentheses) */

/* ---- file pointers ---- */

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

/* Moves a file pointer. */
static int seek(struct wl_rank *rank, MPI_File handle, MPI_Offset offset, int whence,
                int64_t *position)
{
    const struct file *file = file_of(rank, handle);
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
    return seek(rank, file, offset, whence, &file_of(rank, file)->position);
}

/* All ranks call it; the first one moves the pointer. */
int wl_MPI_File_seek_shared(struct wl_rank *rank, MPI_File handle, MPI_Offset offset,
                            int whence)
{
    struct file *file = file_of(rank, handle);
    int code = MPI_SUCCESS;

    synchronize(rank, file);
    if (wl_comm_of(rank, file->comm).rank == 0) {
        code = seek(rank, handle, offset, whence, &file->shared_position);
    }
    (void)MPI_Bcast(&code, 1, MPI_INT, 0, file->comm);
    return code;
}

int wl_MPI_File_get_position_shared(struct wl_rank *rank, MPI_File handle, MPI_Offset *offset)
{
    *offset = advance_shared(rank, file_of(rank, handle), 0);
    return MPI_SUCCESS;
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

MPI_Errhandler wl_file_errhandler(const struct wl_rank *rank, MPI_File handle)
{
    const struct file *file = wl_table_get(&rank->files, WL_FILE, handle);

    return file != NULL ? file->errhandler : rank->file_errhandler;
}

int wl_MPI_File_set_errhandler(struct wl_rank *rank, MPI_File file, MPI_Errhandler errhandler)
{
    if (file == MPI_FILE_NULL) {
        rank->file_errhandler = errhandler;
    } else {
        file_of(rank, file)->errhandler = errhandler;
    }
    return MPI_SUCCESS;
}

int wl_MPI_File_call_errhandler(struct wl_rank *rank, MPI_File file, int errorcode)
{
    const struct file none = {.errhandler = rank->file_errhandler, .handle = MPI_FILE_NULL};

    (void)raise_error(rank, file == MPI_FILE_NULL ? &none : file_of(rank, file), errorcode,
                      "an error of the program");
    return MPI_SUCCESS;
}

int wl_MPI_File_get_errhandler(struct wl_rank *rank, MPI_File file, MPI_Errhandler *errhandler)
{
    MPI_Errhandler own =
        file == MPI_FILE_NULL ? rank->file_errhandler : file_of(rank, file)->errhandler;

    *errhandler = own != 0 ? own : MPI_ERRORS_RETURN;
    return MPI_SUCCESS;
}
