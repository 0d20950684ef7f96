/* SPDX-License-Identifier: Apache-2.0 */
/* Smaller things that are new in MPI-4.0: nonblocking exchanges, infos, duplicates with an
 * info. */
#include "report.h"

static int rank, size, left, right;

static void exchanges(void)
{
    int out[2] = {rank, 10 + rank}, in[2] = {-1, -1}, index, flag, n, indices[2];
    MPI_Request request, two[2];
    MPI_Status status, statuses[2];

    MPI_Isendrecv(out, 2, MPI_INT, right, 1, in, 2, MPI_INT, left, 1, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &n);
    say("isendrecv: %d elements from %d tag %d", n, status.MPI_SOURCE, status.MPI_TAG);
    say("received: %d wrong", (in[0] != left) + (in[1] != 10 + left) + (n != 2));
    MPI_Isendrecv_replace(in, 2, MPI_INT, right, 2, left, MPI_ANY_TAG, MPI_COMM_WORLD,
                          &request);
    for (flag = 0; !flag;) {
        MPI_Test(&request, &flag, &status);
    }
    say("replaced: %d wrong", in[0] != (left + size - 1) % size);
    MPI_Isendrecv(out, 1, MPI_INT, right, 3, in, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD,
                  &two[0]);
    MPI_Isendrecv(out + 1, 1, MPI_INT, left, 4, in + 1, 1, MPI_INT, right, 4, MPI_COMM_WORLD,
                  &two[1]);
    MPI_Waitany(2, two, &index, &status);
    MPI_Waitany(2, two, &index, &status);
    say("both %d", two[0] == MPI_REQUEST_NULL && two[1] == MPI_REQUEST_NULL);
    say("two: %d wrong", (in[0] != left) + (in[1] != 10 + right));
    MPI_Isendrecv(out, 1, MPI_INT, MPI_PROC_NULL, 3, in, 1, MPI_INT, MPI_PROC_NULL, 3,
                  MPI_COMM_WORLD, &two[0]);
    MPI_Isendrecv(out, 1, MPI_INT, right, 5, in, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &two[1]);
    MPI_Waitall(2, two, statuses);
    say("from nobody %d, from %d", statuses[0].MPI_SOURCE == MPI_PROC_NULL,
        statuses[1].MPI_SOURCE);
    MPI_Isendrecv(out, 1, MPI_INT, right, 6, in, 1, MPI_INT, left, 6, MPI_COMM_WORLD, &two[0]);
    two[1] = MPI_REQUEST_NULL;
    MPI_Waitsome(2, two, &n, indices, statuses);
    say("some %d at %d from %d", n, indices[0], statuses[0].MPI_SOURCE);
    /* Large enough for a rendezvous. */
    enum { LARGE = 100000 };
    int *big = malloc(LARGE * sizeof(int)), *got = malloc(LARGE * sizeof(int));
    for (int i = 0; i < LARGE; i++) {
        big[i] = rank + i;
    }
    MPI_Isendrecv(big, LARGE, MPI_INT, right, 7, got, LARGE, MPI_INT, left, 7, MPI_COMM_WORLD,
                  &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("large: %d wrong", (got[0] != left) + (got[LARGE - 1] != left + LARGE - 1));
    free(big);
    free(got);
}

static void infos(void)
{
    MPI_Info info;
    char value[16] = "?";
    int length = 16, flag;

    MPI_Info_create(&info);
    MPI_Info_set(info, "first", "a long value");
    MPI_Info_get_string(info, "first", &length, value, &flag);
    say("first: %d wrong", !flag || strcmp(value, "a long value") != 0 || length != 13);
    length = 5;
    MPI_Info_get_string(info, "first", &length, value, &flag);
    say("short: %d wrong", !flag || strcmp(value, "a lo") != 0 || length != 13);
    length = 0;
    MPI_Info_get_string(info, "first", &length, value, &flag);
    say("length only: %d wrong", !flag || length != 13);
    length = 16;
    MPI_Info_get_string(info, "second", &length, value, &flag);
    say("second: %d wrong", flag != 0);
    MPI_Info_free(&info);
}

static void duplicates(void)
{
    MPI_Comm copy;
    MPI_Info info;
    MPI_Request request;
    int all = 0;

    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, copy);
    say("duplicate: %d wrong", all != size * (size - 1) / 2);
    MPI_Comm_free(&copy);
    MPI_Info_free(&info);
}

static int calls;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    calls++;
}

static void errors(void)
{
    MPI_Errhandler own;
    int code, class = 0, x = 0;

    MPI_Comm_create_errhandler(handler, &own);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
    code = MPI_Send(&x, 1, MPI_INT, size + 7, 0, MPI_COMM_WORLD);
    MPI_Error_class(code, &class);
    say("rank: %d wrong", class != MPI_ERR_RANK || calls != 1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&own);
}

int main(int argc, char **argv)
{
    int version, sub;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    MPI_Get_version(&version, &sub);
    say("version at least 3: %d", version >= 3 && sub >= 0);
    exchanges();
    infos();
    duplicates();
    errors();
    say_all();
    return 0;
}
