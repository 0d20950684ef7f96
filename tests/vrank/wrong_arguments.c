/* SPDX-License-Identifier: Apache-2.0 */
/* Wrong arguments: the class of the error that a program learns of if it handles errors itself, and
 * that its own handlers are called. */
#include "report.h"

static int calls;

static void on_error(MPI_Comm *comm, int *code, ...)
{
    calls++;
}

static void on_window_error(MPI_Win *win, int *code, ...)
{
    calls += 10;
}

static void class_of(const char *what, int code)
{
    int class = -1;

    MPI_Error_class(code, &class);
    say("%s: %s%d", what, class == MPI_SUCCESS ? "none " : "", class == MPI_SUCCESS ? 0 : 1);
}

/* Names, since libraries number the classes differently. */
static void expect_class(const char *what, int code, int wanted)
{
    int class = -1;

    MPI_Error_class(code, &class);
    if (class == wanted) {
        say("%s: as expected", what);
    } else {
        char text[MPI_MAX_ERROR_STRING];
        int length = 0;
        MPI_Error_string(code, text, &length);
        say("%s: another class: %s", what, text);
    }
}

static void messages(int rank)
{
    int value = 1, values[2] = {1, 2};
    MPI_Datatype open, copy;
    MPI_Request request = MPI_REQUEST_NULL;

    MPI_Type_contiguous(2, MPI_INT, &open);
    expect_class("send, null communicator", MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL),
                 MPI_ERR_COMM);
    expect_class("send, count", MPI_Send(&value, -1, MPI_INT, rank, 0, MPI_COMM_WORLD),
                 MPI_ERR_COUNT);
    expect_class("send, datatype",
                 MPI_Send(&value, 1, MPI_DATATYPE_NULL, rank, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    expect_class("send, not committed", MPI_Send(&value, 1, open, rank, 0, MPI_COMM_WORLD),
                 MPI_ERR_TYPE);
    expect_class("send, rank", MPI_Send(&value, 1, MPI_INT, 1000, 0, MPI_COMM_WORLD),
                 MPI_ERR_RANK);
    expect_class("send, tag", MPI_Send(&value, 1, MPI_INT, rank, -5, MPI_COMM_WORLD),
                 MPI_ERR_TAG);
    expect_class("send, buffer", MPI_Send(NULL, 1, MPI_INT, rank, 0, MPI_COMM_WORLD),
                 MPI_ERR_BUFFER);
    expect_class("irecv, no request",
                 MPI_Irecv(&value, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    expect_class("start, null request", MPI_Start(&request), MPI_ERR_REQUEST);
    expect_class("probe, rank", MPI_Probe(-77, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                 MPI_ERR_RANK);
    MPI_Type_commit(&open);
    MPI_Type_dup(open, &copy);
    expect_class("send, committed", MPI_Send(values, 1, open, MPI_PROC_NULL, 0, MPI_COMM_WORLD),
                 MPI_SUCCESS);
    expect_class("send, duplicated",
                 MPI_Send(values, 1, copy, MPI_PROC_NULL, 0, MPI_COMM_WORLD), MPI_SUCCESS);
    MPI_Type_free(&copy);
    MPI_Type_free(&open);
}

static void collectives(int size)
{
    int value = 1, other = 0;
    double real = 1;

    expect_class("bcast, root", MPI_Bcast(&value, 1, MPI_INT, size, MPI_COMM_WORLD),
                 MPI_ERR_ROOT);
    expect_class("bcast, count", MPI_Bcast(&value, -1, MPI_INT, 0, MPI_COMM_WORLD),
                 MPI_ERR_COUNT);
    expect_class("allreduce, null operation",
                 MPI_Allreduce(&value, &other, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD),
                 MPI_ERR_OP);
    expect_class("allreduce, operation",
                 MPI_Allreduce(&real, &real + 1, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD),
                 MPI_ERR_OP);
    expect_class("allreduce, one buffer",
                 MPI_Allreduce(&value, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
                 MPI_ERR_BUFFER);
    expect_class("alltoall, datatype",
                 MPI_Alltoall(&value, 1, MPI_DATATYPE_NULL, &other, 1, MPI_INT, MPI_COMM_WORLD),
                 MPI_ERR_TYPE);
}

/* The send buffer is the rank's own part of the receive buffer, or the other way round. */
static void own_parts(int rank, int size)
{
    enum { MOST = 16 };
    int all[2 * MOST] = {0}, counts[MOST], displs[MOST];
    MPI_Request request;

    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        displs[i] = 2 * i;
    }
    expect_class("allgather, own part",
                 MPI_Allgather(all + rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD),
                 MPI_ERR_BUFFER);
    expect_class(
        "iallgather, own part",
        MPI_Iallgather(all + rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request),
        MPI_ERR_BUFFER);
    expect_class("allgatherv, own part",
                 MPI_Allgatherv(all + 2 * rank, 1, MPI_INT, all, counts, displs, MPI_INT,
                                MPI_COMM_WORLD),
                 MPI_ERR_BUFFER);
    if (rank == 0) {
        expect_class("gather, own part",
                     MPI_Gather(all, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD),
                     MPI_ERR_BUFFER);
    }
    expect_class("allgather, another part",
                 MPI_Allgather(all + MOST + rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD),
                 MPI_SUCCESS);
    expect_class("allgather, in place",
                 MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD),
                 MPI_SUCCESS);
}

/* A message that ends within a value of the datatype. */
static void half_values(int rank, int size)
{
    const int lengths[] = {1, 2}, places[] = {1, 4};
    int values[8] = {0};
    char bytes[6] = "abcde";
    MPI_Datatype apart;

    if (rank > 1 || size == 1) {
        return;
    }
    MPI_Type_indexed(2, lengths, places, MPI_INT, &apart);
    MPI_Type_commit(&apart);
    if (rank == 0) {
        MPI_Send(bytes, 3, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        MPI_Send(bytes, 4, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
    } else {
        class_of("half a value",
                 MPI_Recv(values, 1, apart, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        class_of("a whole value",
                 MPI_Recv(values, 1, apart, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        say("received: %d", memcmp(&values[1], bytes, 4));
    }
    MPI_Type_free(&apart);
}

/* The root of a broadcast sends less than the others expect, or more. The root need not notice. */
static void lengths(int rank)
{
    int values[10] = {0}, own = rank == 0;
    MPI_Request request = MPI_REQUEST_NULL;
    int lesser = MPI_Bcast(values, own ? 1 : 10, MPI_INT, 0, MPI_COMM_WORLD);
    int more = MPI_Bcast(values, own ? 10 : 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Ibcast(values, own ? 10 : 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    int later = MPI_Wait(&request, MPI_STATUS_IGNORE);

    if (rank > 0) {
        class_of("bcast, root sends less", lesser);
        class_of("bcast, root sends more", more);
        class_of("ibcast, root sends more", later);
    }
    expect_class("bcast afterwards", MPI_Bcast(values, 10, MPI_INT, 0, MPI_COMM_WORLD),
                 MPI_SUCCESS);
}

static void objects(void)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Info info = MPI_INFO_NULL;
    int number = 0;

    expect_class("commit of a null datatype", MPI_Type_commit(&type), MPI_ERR_TYPE);
    expect_class("type, count", MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT);
    expect_class("type, old", MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
    expect_class("type, no result", MPI_Type_contiguous(1, MPI_INT, NULL), MPI_ERR_ARG);
    expect_class("null group", MPI_Group_size(group, &number), MPI_ERR_GROUP);
    expect_class("free of the world", MPI_Comm_free(&world), MPI_ERR_COMM);
    class_of("null info", MPI_Info_set(info, "a", "b")); /* MPICH: MPI_ERR_ARG */
    expect_class("size, no result", MPI_Comm_size(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    class_of("dup", MPI_Comm_dup(MPI_COMM_NULL, &world));
}

/* A keyval is one of communicators, datatypes or windows. */
static void keyvals(void)
{
    int of_comms = 0, of_types = 0, flag = -1, *upper = NULL;
    void *value = NULL;

    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &of_comms, NULL);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &of_types, NULL);
    expect_class("attribute, wrong keyval",
                 MPI_Comm_get_attr(MPI_COMM_WORLD, of_types, &value, &flag), MPI_ERR_KEYVAL);
    expect_class("attribute", MPI_Comm_get_attr(MPI_COMM_WORLD, of_comms, &value, &flag),
                 MPI_SUCCESS);
    expect_class("predefined attribute",
                 MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &upper, &flag), MPI_SUCCESS);
    expect_class("free, wrong keyval", MPI_Comm_free_keyval(&of_types), MPI_ERR_KEYVAL);
    expect_class("free, keyval", MPI_Type_free_keyval(&of_types), MPI_SUCCESS);
    MPI_Comm_free_keyval(&of_comms);
}

static void windows(int rank, int size)
{
    int memory[4] = {0, 0, 0, 0}, value = 1;
    MPI_Win win;

    MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    expect_class("put outside an epoch", MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win),
                 MPI_ERR_RMA_SYNC);
    expect_class("unlock without a lock", MPI_Win_unlock(rank, win), MPI_ERR_RMA_SYNC);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    expect_class("put, rank", MPI_Put(&value, 1, MPI_INT, size, 0, 1, MPI_INT, win),
                 MPI_ERR_RANK);
    expect_class("put, count", MPI_Put(&value, -1, MPI_INT, rank, 0, 1, MPI_INT, win),
                 MPI_ERR_COUNT);
    expect_class("put, target datatype",
                 MPI_Put(&value, 1, MPI_INT, rank, 0, 1, MPI_DATATYPE_NULL, win), MPI_ERR_TYPE);
    expect_class("locked twice", MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win), MPI_ERR_RMA_SYNC);
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
}

static void handlers(void)
{
    MPI_Errhandler own, of_windows;
    MPI_Comm dup;
    MPI_Win win;
    int memory = 0;

    MPI_Comm_create_errhandler(on_error, &own);
    MPI_Win_create_errhandler(on_window_error, &of_windows);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_set_errhandler(dup, own);
    class_of("own handler", MPI_Bcast(&memory, -1, MPI_INT, 0, dup));
    MPI_Win_create(&memory, sizeof(int), 1, MPI_INFO_NULL, dup, &win);
    MPI_Win_set_errhandler(win, of_windows);
    class_of("own handler of a window", MPI_Win_unlock_all(win));
    MPI_Win_free(&win);
    MPI_Errhandler_free(&own);
    MPI_Errhandler_free(&of_windows);
    MPI_Comm_free(&dup);
    say("handlers were called: %d", calls);
}

static void files(void)
{
    MPI_File file = MPI_FILE_NULL;
    int value = 0;

    class_of("null file", MPI_File_write(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    class_of("missing file", MPI_File_open(MPI_COMM_SELF, "no such file", MPI_MODE_RDONLY,
                                           MPI_INFO_NULL, &file));
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    messages(rank);
    collectives(size);
    own_parts(rank, size);
    half_values(rank, size);
    lengths(rank);
    objects();
    keyvals();
    windows(rank, size);
    handlers();
    files();
    say_all();
    return 0;
}
