/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions (MPI-4.0, 11.3) before, beside and after MPI_Init(), and communicators from
 * groups; split types; infos and error handlers that MPICH 4.0 does not have. */
#include "report.h"

static int rank, size;

static void check(const char *what, int right)
{
    say("%s: %d wrong", what, !right);
}

static void sets(MPI_Session session)
{
    char name[64] = "";
    int n, length = 0, world = 0;
    MPI_Info info;
    char value[16] = "";
    int flag, room = 16;

    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n);
    for (int i = 0; i < n; i++) {
        length = 0;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL);
        check("length", length > 1 && length < 64);
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
        world |= strcmp(name, "mpi://WORLD") == 0;
    }
    check("world", world);
    MPI_Session_get_pset_info(session, "mpi://SELF", &info);
    MPI_Info_get_string(info, "mpi_size", &room, value, &flag);
    check("size of self", flag && strcmp(value, "1") == 0);
    MPI_Info_free(&info);
    MPI_Session_get_info(session, &info);
    MPI_Info_get_string(info, "thread_level", &room, value, &flag);
    check("level", flag);
    MPI_Info_free(&info);
}

/* A communicator of all, one of the even and one of the odd ranks, and one between these. */
static void communicators(MPI_Session session)
{
    MPI_Group world, part, other;
    MPI_Comm all, own, inter;
    int sum = 0, first = 0, n, they = -1, expected = 0;

    MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
    MPI_Comm_create_from_group(world, "weft:all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &all);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
    check("sum", sum == size * (size - 1) / 2);
    int *even = malloc((size_t)size * sizeof(int));
    for (n = 0; 2 * n < size; n++) {
        even[n] = 2 * n;
    }
    MPI_Group_incl(world, n, even, &part);
    MPI_Group_excl(world, n, even, &other);
    MPI_Comm_create_from_group(rank % 2 == 0 ? part : other, "weft:part", MPI_INFO_NULL,
                               MPI_ERRORS_RETURN, &own);
    MPI_Allreduce(&rank, &first, 1, MPI_INT, MPI_MIN, own);
    check("part", first == rank % 2);
    MPI_Comm_free(&own);
    if (size > 1) {
        MPI_Intercomm_create_from_groups(rank % 2 == 0 ? part : other, 0,
                                         rank % 2 == 0 ? other : part, 0, "weft:inter",
                                         MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter);
        MPI_Allreduce(&rank, &they, 1, MPI_INT, MPI_SUM, inter);
        for (int i = 1 - rank % 2; i < size; i += 2) {
            expected += i;
        }
        check("between", they == expected);
        MPI_Comm_free(&inter);
    }
    MPI_Group_free(&part);
    if (other != MPI_GROUP_EMPTY) {
        MPI_Group_free(&other);
    }
    MPI_Group_free(&world);
    MPI_Comm_free(&all);
    free(even);
}

static int called;

static void handler(MPI_Session *session, int *code, ...)
{
    (void)session;
    called = *code;
}

static void errors(MPI_Session session)
{
    MPI_Errhandler own, got;

    MPI_Session_create_errhandler(handler, &own);
    MPI_Session_set_errhandler(session, own);
    MPI_Session_get_errhandler(session, &got);
    check("handler", got == own);
    MPI_Session_call_errhandler(session, MPI_ERR_SESSION);
    check("called", called == MPI_ERR_SESSION);
    MPI_Errhandler_free(&own);
}

static void with_world(void)
{
    MPI_Errhandler got;
    MPI_Info info;
    MPI_Comm node, core, none;
    char name[MPI_MAX_PROCESSOR_NAME], *all = malloc((size_t)size * sizeof(name));
    int n, length, same = 0;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ABORT);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
    check("abort", got == MPI_ERRORS_ABORT);
    MPI_Info_create_env(0, NULL, &info);
    check("environment", info != MPI_INFO_NULL);
    MPI_Info_free(&info);
    /* Ranks share a node exactly if it has the same name. */
    memset(name, 0, sizeof(name));
    MPI_Get_processor_name(name, &length);
    MPI_Allgather(name, sizeof(name), MPI_CHAR, all, sizeof(name), MPI_CHAR, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        same += strcmp(all + (size_t)i * sizeof(name), name) == 0;
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &n);
    check("node", n == same);
    say("node of %d", n);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &core);
    MPI_Comm_size(core, &n);
    check("guided", n == same);
    MPI_Comm_free(&core);
    MPI_Info_set(info, "mpi_hw_resource_type", "unknown");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &none);
    check("unknown", none == MPI_COMM_NULL);
    MPI_Comm_split_type(MPI_COMM_SELF, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &none);
    check("nothing smaller", none == MPI_COMM_NULL);
    for (MPI_Comm at = MPI_COMM_WORLD; at != MPI_COMM_NULL; at = none) {
        int before, after = 0;
        MPI_Comm_size(at, &before);
        MPI_Comm_split_type(at, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &none);
        if (none != MPI_COMM_NULL) {
            MPI_Comm_size(none, &after);
        }
        check("smaller", after < before);
    }
    MPI_Info_free(&info);
    /* Memory that the node shares is contiguous. */
    MPI_Win win;
    int *mine, *theirs, unit, place;
    MPI_Aint bytes;
    MPI_Comm_rank(node, &place);
    MPI_Win_allocate_shared(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, node, (void *)&mine,
                            &win);
    mine[0] = 10 * rank;
    mine[1] = 10 * rank + 1;
    MPI_Win_fence(0, win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, (void *)&theirs);
    check("contiguous", mine == theirs + 2 * place && bytes == 2 * sizeof(int));
    MPI_Comm_size(node, &n);
    for (int i = 0; i < n; i++) {
        check("shared", theirs[2 * i + 1] == theirs[2 * i] + 1);
    }
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
    free(all);
}

int main(int argc, char **argv)
{
    MPI_Session one, two;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &one);
    communicators(one);
    MPI_Session_finalize(&one);
    check("finalized", one == MPI_SESSION_NULL);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &two);
    MPI_Init(&argc, &argv);
    sets(two);
    communicators(two);
    errors(two);
    MPI_Session_finalize(&two);
    with_world();
    say_all();
    return 0;
}
