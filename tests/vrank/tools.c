/* SPDX-License-Identifier: Apache-2.0 */
/* The tool interface, ports and names, shared file pointers, and what is refused. */
#include "report.h"

#include <stdbool.h>
#include <unistd.h>

static int rank, size;

static void check(const char *what, int right)
{
    say("%s: %d wrong", what, !right);
}

static void variables(void)
{
    int n, index, count, provided, x = 0;
    unsigned long long value = 99;
    char name[64];
    int length = 64;
    MPI_T_cvar_handle cvar;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle pvar, level;

    check("not yet", MPI_T_cvar_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_cvar_get_num(&n);
    check("some control variables", n > 0);
    MPI_T_cvar_get_info(0, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    check("length", length == (int)strlen(name) + 1);
    check("index", MPI_T_cvar_get_index("weft_ranks", &index) == MPI_SUCCESS);
    MPI_T_cvar_handle_alloc(index, NULL, &cvar, &count);
    MPI_T_cvar_read(cvar, &value);
    check("ranks", count == 1 && value == (unsigned long long)size);
    check("no write", MPI_T_cvar_write(cvar, &value) == MPI_T_ERR_CVAR_SET_NEVER);
    MPI_T_cvar_handle_free(&cvar);
    check("unknown",
          MPI_T_pvar_get_index("?", MPI_T_PVAR_CLASS_LEVEL, &index) == MPI_T_ERR_INVALID_NAME);
    MPI_T_pvar_get_index("weft_messages_sent", MPI_T_PVAR_CLASS_COUNTER, &index);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_handle_alloc(session, index, NULL, &pvar, &count);
    MPI_T_pvar_get_index("weft_requests", MPI_T_PVAR_CLASS_LEVEL, &index);
    MPI_T_pvar_handle_alloc(session, index, NULL, &level, &count);
    check("continuous", MPI_T_pvar_start(session, level) == MPI_T_ERR_PVAR_NO_STARTSTOP);
    MPI_T_pvar_start(session, pvar);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &x, 1, MPI_INT,
                 (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_T_pvar_read(session, pvar, &value);
    check("one message", value == 1);
    MPI_T_pvar_stop(session, pvar);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &x, 1, MPI_INT,
                 (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_T_pvar_readreset(session, pvar, &value);
    check("stopped", value == 1);
    MPI_T_pvar_read(session, pvar, &value);
    check("reset", value == 0);
    MPI_T_pvar_read(session, level, &value);
    check("no requests", value == 0);
    MPI_T_pvar_handle_free(session, &pvar);
    MPI_T_pvar_session_free(&session);
    MPI_T_category_get_num(&n);
    check("a category", n == 1);
    MPI_T_event_get_num(&n);
    check("no events", n == 0 && MPI_T_event_get_index("?", &n) == MPI_T_ERR_INVALID_NAME);
    MPI_Count before, after;
    MPI_T_source_get_timestamp(0, &before);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_T_source_get_timestamp(0, &after);
    check("time", size == 1 || after > before);
    MPI_T_finalize();
}

/* The even ranks serve, the odd ones are clients. */
static void ports(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm half, other;
    int sum = 0, expected = 0, n, class = 0;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name("service", MPI_INFO_NULL, port);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Lookup_name("nothing", MPI_INFO_NULL, port), &class);
    check("unknown name", class == MPI_ERR_NAME);
    if (rank == 1) {
        check("name", MPI_Lookup_name("service", MPI_INFO_NULL, port) == MPI_SUCCESS);
    }
    if (rank % 2 == 0 && size > 1) {
        if (rank == 0) {
            MPI_Lookup_name("service", MPI_INFO_NULL, port);
        }
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &other);
    } else if (size > 1) {
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &other);
    }
    if (size > 1) {
        MPI_Comm_remote_size(other, &n);
        check("remote size", n == (size + rank % 2) / 2);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, other);
        for (int i = 1 - rank % 2; i < size; i += 2) {
            expected += i;
        }
        check("connected", sum == expected);
        MPI_Comm_disconnect(&other);
    }
    if (rank == 0) {
        check("unpublished", MPI_Unpublish_name("service", MPI_INFO_NULL, port) == MPI_SUCCESS);
        MPI_Close_port(port);
    }
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Comm_connect("no port", MPI_INFO_NULL, 0, MPI_COMM_SELF, &other),
                    &class);
    check("no port", class == MPI_ERR_PORT);
    MPI_Comm_free(&half);
}

static int class_of(int code)
{
    int class = -1;

    MPI_Error_class(code, &class);
    return class;
}

/* All members of the groups learn that a port is not there, or that nobody accepts. */
static void vain(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm other = MPI_COMM_SELF;
    MPI_Info info;

    check("bad port", class_of(MPI_Comm_connect("myhost:27", MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                                                &other)) == MPI_ERR_PORT &&
                          other == MPI_COMM_NULL);
    check("port never opened",
          class_of(MPI_Comm_connect("weft:77", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other)) ==
              MPI_ERR_PORT);
    check("accept", class_of(MPI_Comm_accept("weft:77", MPI_INFO_NULL, size - 1, MPI_COMM_WORLD,
                                             &other)) == MPI_ERR_PORT);
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
    }
    MPI_Info_create(&info);
    MPI_Info_set(info, "timeout", "5");
    MPI_Barrier(MPI_COMM_WORLD);
    double before = MPI_Wtime();
    check("no accept",
          class_of(MPI_Comm_connect(port, info, 0, MPI_COMM_WORLD, &other)) == MPI_ERR_PORT);
    double waited = MPI_Wtime() - before;
    check("time limit", waited >= 5 && waited < 5.5);
    if (rank == 0) {
        check("closed", MPI_Close_port(port) == MPI_SUCCESS);
        check("closed twice", class_of(MPI_Close_port(port)) == MPI_ERR_PORT);
    }
    check("closed port",
          class_of(MPI_Comm_connect(port, info, 0, MPI_COMM_WORLD, &other)) == MPI_ERR_PORT);
    MPI_Info_free(&info);
}

/* Rank 0 opens the port, the last rank accepts: first before the others come, then long after. */
static void late(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm half, other;
    bool serves = rank == size - 1;

    if (size == 1) {
        return;
    }
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
    }
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, serves, rank, &half);
    for (int round = 0; round < 2; round++) {
        int sum = 0, n = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        if (serves == (round == 1)) {
            (void)sleep(1);
        }
        if (serves) {
            MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &other);
        } else {
            MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &other);
        }
        MPI_Comm_remote_size(other, &n);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, other);
        check("met", n == (serves ? size - 1 : 1) &&
                         sum == (serves ? (size - 1) * (size - 2) / 2 : size - 1));
        MPI_Comm_disconnect(&other);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Close_port(port);
    }
    MPI_Comm_free(&half);
}

static void refused(void)
{
    MPI_Comm other;
    int codes[2] = {0, 0}, class = 0;

    MPI_Error_class(MPI_Comm_spawn("none", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                                   &other, codes),
                    &class);
    check("spawn", class == MPI_ERR_SPAWN && other == MPI_COMM_NULL);
    check("codes", rank != 0 || codes[1] == MPI_ERR_SPAWN);
}

static int handled;

static void handler(MPI_File *file, int *code, ...)
{
    (void)file;
    handled = *code;
}

static void shared_pointers(void)
{
    MPI_File file;
    MPI_Offset at;
    MPI_Status status;
    int value = rank, n, all = 0, sum = 0;

    MPI_File_open(MPI_COMM_WORLD, "shared.bin", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                  &file);
    MPI_File_set_size(file, 0);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    /* Each rank writes once, in any order. */
    MPI_File_write_shared(file, &value, 1, MPI_INT, &status);
    MPI_Get_count(&status, MPI_INT, &n);
    check("written", n == 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_position_shared(file, &at);
    check("position", at == size);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_read_shared(file, &value, 1, MPI_INT, &status);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check("each once", sum == size * (size - 1) / 2);
    /* In the order of ranks, rank r writes r + 1 numbers. */
    int *own = malloc((size_t)(size + 1) * sizeof(int));
    for (int i = 0; i <= rank; i++) {
        own[i] = 100 * rank + i;
    }
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_write_ordered(file, own, rank + 1, MPI_INT, &status);
    MPI_File_get_position_shared(file, &at);
    check("end", at == size * (size + 1) / 2);
    MPI_File_read_at(file, rank * (rank + 1) / 2 + rank, &all, 1, MPI_INT, &status);
    check("ordered", all == 101 * rank);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    memset(own, 0, (size_t)size * sizeof(int));
    MPI_File_read_ordered_begin(file, own, rank + 1, MPI_INT);
    MPI_File_read_ordered_end(file, own, &status);
    check("read", own[rank] == 101 * rank);
    MPI_File_seek_shared(file, -1, MPI_SEEK_END);
    MPI_File_get_position_shared(file, &at);
    check("from the end", at == size * (size + 1) / 2 - 1);
    MPI_Errhandler own_handler;
    MPI_File_create_errhandler(handler, &own_handler);
    MPI_File_set_errhandler(file, own_handler);
    MPI_File_call_errhandler(file, MPI_ERR_IO);
    check("handler", handled == MPI_ERR_IO);
    MPI_Errhandler_free(&own_handler);
    check("representation", MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "unknown",
                                              MPI_INFO_NULL) != MPI_SUCCESS);
    MPI_File_close(&file);
    if (rank == 0) {
        MPI_File_delete("shared.bin", MPI_INFO_NULL);
    }
    free(own);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    variables();
    ports();
    vain();
    late();
    refused();
    shared_pointers();
    say_all();
    return 0;
}
