/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A master starts workers twice with MPI_Comm_spawn(), and then both this program and another one at
 * once. The workers of a call are a world of their own, and meet the others in an intercommunicator,
 * merged or not. The first argument is the other program; with a second one the master begins with
 * asking for more ranks than there are.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int started; /* each rank has its own */

static void say(const char *what, MPI_Comm all)
{
    int rank, size, all_rank, all_size, sum = 0;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(all, &all_rank);
    MPI_Comm_size(all, &all_size);
    MPI_Allreduce(&all_rank, &sum, 1, MPI_INT, MPI_SUM, all);
    printf("%s %d of %d, %d of %d, sum %d, started %d\n", what, rank, size, all_rank, all_size,
           sum, ++started);
}

static int worker(MPI_Comm parent, int argc, char **argv)
{
    MPI_Comm all;
    char name[MPI_MAX_OBJECT_NAME];
    int *number, found, length, value = 0;

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, (void *)&number, &found);
    MPI_Bcast(&value, 1, MPI_INT, 0, parent);
    MPI_Comm_get_name(parent, name, &length);
    if (strcmp(name, "MPI_COMM_PARENT") != 0) {
        printf("its parent is called '%s'\n", name);
    }
    printf("%s: %d arguments, program %d, value %d\n", argc > 1 ? argv[1] : "none", argc,
           *number, value);
    MPI_Intercomm_merge(parent, 1, &all);
    say("worker", all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&parent);
    MPI_Comm_get_parent(&parent);
    return parent != MPI_COMM_NULL;
}

static void work_with(MPI_Comm workers, int value)
{
    MPI_Comm all;
    int rank, root;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    root = rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Bcast(&value, 1, MPI_INT, root, workers);
    MPI_Intercomm_merge(workers, 0, &all);
    say("master", all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&workers);
}

static void ask_for_too_many(const char *program)
{
    MPI_Comm workers;
    int class, codes[100];

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Comm_spawn(program, MPI_ARGV_NULL, 100, MPI_INFO_NULL, 0,
                                   MPI_COMM_WORLD, &workers, codes),
                    &class);
    printf("too many: %d %d\n", class == MPI_ERR_SPAWN, workers == MPI_COMM_NULL);
}

static void master(char *program, char *other)
{
    MPI_Comm workers;
    char *programs[] = {program, other}, text[16], *few[] = {text, "last", NULL},
         *none[] = {NULL}, **arguments[] = {few, none};
    const int n[] = {1, 2};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    int codes[3] = {7, 7, 7};

    for (int round = 0; round < 2; round++) {
        (void)snprintf(text, sizeof(text), "round %d", round);
        MPI_Comm_spawn(program, few, 3 - round, MPI_INFO_NULL, 1, MPI_COMM_WORLD, &workers,
                       codes);
        work_with(workers, round);
    }
    MPI_Comm_spawn_multiple(2, programs, arguments, n, infos, 0, MPI_COMM_WORLD, &workers,
                            codes);
    printf("codes %d %d %d\n", codes[0], codes[1], codes[2]);
    work_with(workers, 9);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    int *universe, found, rank, failed = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        failed = worker(parent, argc, argv);
    } else {
        MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, (void *)&universe, &found);
        printf("universe %d\n", *universe);
        if (argc > 2) {
            ask_for_too_many(argv[0]);
        }
        master(argv[0], argv[1]);
    }
    MPI_Finalize();
    return failed;
}
