/* SPDX-License-Identifier: Apache-2.0 */
/* Files: pointers, places, views, nonblocking and split collectives, sizes and errors. */
#include "report.h"

enum { N = 8 };

static int rank, size;
static char name[64];

static void say_count(const char *what, MPI_Status *status)
{
    int count;

    MPI_Get_count(status, MPI_INT, &count);
    say("%s: %d", what, count);
}

static void fill(int *list, int first)
{
    for (int i = 0; i < N; i++) {
        list[i] = first + i;
    }
}

static void explicit_places(void)
{
    int out[N], in[2 * N];
    MPI_Offset bytes, at;
    MPI_Status status;
    MPI_File file;

    fill(out, 100 * rank);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_size(file, 0);
    MPI_File_write_at_all(file, (MPI_Offset)(rank * N * sizeof(int)), out, N, MPI_INT, &status);
    say_count("written", &status);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_size(file, &bytes);
    say("size: %lld", (long long)bytes);
    int next = (rank + 1) % size;
    memset(in, 0xff, sizeof(in));
    MPI_File_read_at(file, (MPI_Offset)(next * N * sizeof(int)), in, N, MPI_INT, &status);
    say_ints("of the next one", in, N);
    memset(in, 0xff, sizeof(in));
    MPI_File_read_at(file, (MPI_Offset)((size * N - 3) * sizeof(int)), in, N, MPI_INT, &status);
    say_count("behind the end", &status);
    say_ints("the last", in, 4);
    MPI_File_seek(file, -(MPI_Offset)sizeof(int), MPI_SEEK_END);
    MPI_File_get_position(file, &at);
    MPI_File_read(file, in, 1, MPI_INT, &status);
    say("the last one: %d at %lld", in[0], (long long)at);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_preallocate(file, bytes + 10);
    MPI_File_get_size(file, &bytes);
    say("more: %lld", (long long)bytes);
    MPI_File_close(&file);
    say("closed: %d", file == MPI_FILE_NULL);
}

static void say_view(const char *what, MPI_File file, MPI_Datatype type)
{
    int class = -1;

    MPI_Type_commit(&type);
    MPI_Error_class(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL), &class);
    say("view, %s: %s", what,
        class == MPI_SUCCESS  ? "right"
        : class == MPI_ERR_IO ? "wrong"
                              : "another error");
    MPI_Type_free(&type);
}

/* Views must not go back, and must not overlap in files that are open for writing. */
static void wrong_views(int amode)
{
    const int lengths[] = {3, 1}, negative[] = {-2, 2}, decreasing[] = {4, 0},
              overlapping[] = {0, 1}, apart[] = {1, 5};
    MPI_Datatype type, rows;
    MPI_File file;

    MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &file);
    MPI_Type_indexed(2, lengths, negative, MPI_INT, &type);
    say_view("negative", file, type);
    MPI_Type_indexed(2, lengths, decreasing, MPI_INT, &type);
    say_view("decreasing", file, type);
    MPI_Type_indexed(2, lengths, overlapping, MPI_INT, &type);
    say_view("overlapping", file, type);
    MPI_Type_indexed(2, lengths, apart, MPI_INT, &type);
    say_view("apart", file, type);
    MPI_Type_vector(5, 2, 4, MPI_INT, &rows);
    MPI_Type_create_hvector(3, 1, 20 * (MPI_Aint)sizeof(int), rows, &type);
    say_view("planes", file, type);
    MPI_Type_create_hvector(3, 1, 2 * (MPI_Aint)sizeof(int), rows, &type);
    say_view("planes within each other", file, type);
    MPI_Type_free(&rows);
    MPI_File_close(&file);
}

/* Every rank sees each size-th element, two at a time. */
static void views(void)
{
    int out[N], in[N + 2], extent = 2 * (int)sizeof(int);
    MPI_Offset at, place;
    MPI_Datatype pair, mine;
    MPI_Status status;
    MPI_Request request;
    MPI_File file;

    fill(out, 100 * rank);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, (MPI_Aint)size * extent, &mine);
    MPI_Type_commit(&mine);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_size(file, 0);
    MPI_File_set_view(file, 4 + (MPI_Offset)rank * extent, MPI_INT, mine, "native",
                      MPI_INFO_NULL);
    MPI_Type_free(&mine);
    MPI_Type_free(&pair);
    MPI_File_write_all(file, out, N / 2, MPI_INT, &status);
    MPI_File_iwrite(file, out + N / 2, N / 2, MPI_INT, &request);
    MPI_Wait(&request, &status);
    say_count("by request", &status);
    MPI_File_get_position(file, &at);
    MPI_File_get_byte_offset(file, 3, &place);
    say("position %lld, element 3 at %lld", (long long)at, (long long)place);
    MPI_Barrier(MPI_COMM_WORLD);
    memset(in, 0xff, sizeof(in));
    MPI_File_seek(file, 1, MPI_SEEK_SET);
    MPI_File_read_all_begin(file, in, 4, MPI_INT);
    MPI_File_read_all_end(file, in, &status);
    say_ints("in the view", in, 5);
    MPI_File_iread_at(file, 0, in, N, MPI_INT, &request);
    MPI_Wait(&request, &status);
    say_ints("all of it", in, N);
    MPI_File_set_view(file, 4, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    memset(in, 0xff, sizeof(in));
    MPI_File_read_at_all(file, 0, in, N, MPI_INT, &status);
    say_ints("as bytes", in, N);
    MPI_File_close(&file);
}

static void errors(void)
{
    int code, class, in = 0, amode;
    MPI_File file;

    code = MPI_File_open(MPI_COMM_WORLD, "not/there", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    MPI_Error_class(code, &class);
    say("not there: %d", class == MPI_ERR_NO_SUCH_FILE);
    code = MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR,
                         MPI_INFO_NULL, &file);
    MPI_Error_class(code, &class);
    say("there already: %d", class == MPI_ERR_FILE_EXISTS);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_File_get_amode(file, &amode);
    say("mode: %d", amode == (MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE));
    say("written: %d", MPI_File_write_at(file, 0, &in, 1, MPI_INT, MPI_STATUS_IGNORE) == 0);
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    code = MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    say("deleted: %d", code != MPI_SUCCESS);
}

static int handled;

static void on_error(MPI_File *file, int *code, ...)
{
    (void)file;
    (void)code;
    handled++;
}

/* That of MPI_FILE_NULL is for files that are opened from then on. */
static void handlers(void)
{
    MPI_Errhandler own, found;
    MPI_File file;

    MPI_File_create_errhandler(on_error, &own);
    MPI_File_get_errhandler(MPI_FILE_NULL, &found);
    say("errors return: %d", found == MPI_ERRORS_RETURN);
    MPI_File_set_errhandler(MPI_FILE_NULL, own);
    (void)MPI_File_open(MPI_COMM_SELF, "not/there", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    say("handled: %d", handled);
    MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    MPI_File_get_errhandler(file, &found);
    MPI_File_call_errhandler(file, MPI_ERR_IO);
    say("inherited: %d, handled: %d", found == own, handled);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(name, sizeof(name), "files.%d.tmp", size);
    explicit_places();
    views();
    wrong_views(MPI_MODE_RDWR);
    wrong_views(MPI_MODE_RDONLY);
    errors();
    handlers();
    say_all();
    return 0;
}
