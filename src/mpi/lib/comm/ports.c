/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ports and names (MPI-4.0, 11.9): ranks of one run meet without a common communicator. Rank 0
 * keeps ports and names (directory.h): to open a port or to look up a name is a message there and
 * back.
 */
#include "mpi/lib/comm/directory.h"
#include "mpi/lib/comm/intercommunicator.h"
#include "mpi/lib/errors.h"
#include "mpi/lib/libc/clocks.h"
#include "mpi/lib/p2p/internal_messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tags of internal messages: after those of partitioned communication. */
#define PORT_TAG 0x70000000

/* ---- ports ---- */

static const char scheme[] = "weft:";

/* The port of a name; UINT32_MAX if it is none. */
static uint32_t parse_port(const char *name)
{
    char *end;

    if (strncmp(name, scheme, strlen(scheme)) != 0) {
        return UINT32_MAX;
    }
    unsigned long number = strtoul(name + strlen(scheme), &end, 10);
    return *end == '\0' && number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

int wl_MPI_Open_port(struct wl_rank *rank, MPI_Info info, char *port_name)
{
    struct wl_question question = {.what = WL_ASK_OPEN};
    struct wl_answer answer = {.port = 0};

    wl_directory_ask(rank, &question, &answer);
    (void)snprintf(port_name, MPI_MAX_PORT_NAME, "%s%u", scheme, answer.port);
    return MPI_SUCCESS;
}

static int no_port(struct wl_rank *rank, MPI_Comm comm, const char *name)
{
    return wl_error(rank, comm, MPI_ERR_PORT, "'%.64s' is not the name of a port that is open",
                    name);
}

int wl_MPI_Close_port(struct wl_rank *rank, const char *port_name)
{
    struct wl_question question = {.what = WL_ASK_CLOSE, .port = parse_port(port_name)};
    struct wl_answer answer = {.port = 0};

    wl_directory_ask(rank, &question, &answer);
    return answer.code == MPI_SUCCESS ? MPI_SUCCESS : no_port(rank, MPI_COMM_WORLD, port_name);
}

static bool is_root(struct wl_rank *rank, MPI_Comm comm, int root)
{
    struct wl_view view = wl_comm_of(rank, comm);

    return root >= 0 && wl_own_rank(&view) == (uint32_t)root;
}

/* The message of a client to a server that waits for it. */
static int tag_of(uint32_t port)
{
    return PORT_TAG + 1 + (int)(port & 0xffffff);
}

/* How long a client waits for a server. */
static int64_t time_limit(struct wl_rank *rank, MPI_Info info)
{
    enum { DEFAULT_S = 180 }; /* as MPICH does */
    static const int64_t second = INT64_C(1000000000000), most_s = 1000000;
    char value[MPI_MAX_INFO_VAL] = "";
    int flag = 0;

    if (info != MPI_INFO_NULL) {
        (void)wl_MPI_Info_get(rank, info, "timeout", MPI_MAX_INFO_VAL - 1, value, &flag);
    }
    long seconds = flag ? strtol(value, NULL, 10) : 0;
    return (seconds > 0 ? (seconds < most_s ? seconds : most_s) : DEFAULT_S) * second;
}

/* Waits at a port for a server: asks again after pauses that grow with the time waited. */
static struct wl_answer find_server(struct wl_rank *rank, uint32_t port, int64_t limit)
{
    enum { FIRST_PS = 2000000, PART = 64 };
    struct wl_question question = {
        .what = WL_ASK_CONNECT, .ticket = rank->n_connects++, .port = port};
    struct wl_answer answer = {.met = 0};
    int64_t waited = 0;

    wl_directory_ask(rank, &question, &answer);
    while (answer.waits) {
        int64_t pause = waited / PART > FIRST_PS ? waited / PART : FIRST_PS;
        pause = pause < limit - waited ? pause : limit - waited;
        wl_clock_wait(rank, pause);
        waited += pause;
        question.what = waited < limit ? WL_ASK_CONNECT : WL_ASK_WITHDRAW;
        answer = (struct wl_answer){.met = 0};
        wl_directory_ask(rank, &question, &answer);
    }
    return answer;
}

static struct wl_answer find_client(struct wl_rank *rank, uint32_t port)
{
    struct wl_question question = {.what = WL_ASK_ACCEPT, .port = port};
    struct wl_answer answer = {.met = 0};

    wl_directory_ask(rank, &question, &answer);
    if (answer.code == MPI_SUCCESS && answer.waits) {
        struct wl_view world = wl_comm_of(rank, WL_COMM_ALL);
        answer.met = wl_internal_recv_any(rank, &world, tag_of(port));
    }
    return answer;
}

/* The roots have met, or not: the others of their groups learn of it. */
static int connect_groups(struct wl_rank *rank, MPI_Comm comm, int root,
                          const struct wl_answer *met, const char *name, MPI_Comm *newcomm)
{
    if (met != NULL && met->code != MPI_SUCCESS) {
        int code = no_port(rank, comm, name);
        wl_intercomm_refuse(rank, comm, PORT_TAG, code);
        *newcomm = MPI_COMM_NULL;
        return code;
    }
    int code = wl_MPI_Intercomm_create(rank, comm, root, WL_COMM_ALL,
                                       met != NULL ? (int)met->met : 0, PORT_TAG, newcomm);
    return code == MPI_SUCCESS
               ? MPI_SUCCESS
               : wl_error(rank, comm, code, "the root of the call has met nobody at its port");
}

int wl_MPI_Comm_accept(struct wl_rank *rank, const char *port_name, MPI_Info info, int root,
                       MPI_Comm comm, MPI_Comm *newcomm)
{
    struct wl_answer met = {.met = 0};
    bool leads = is_root(rank, comm, root);

    if (leads) {
        met = find_client(rank, parse_port(port_name));
    }
    return connect_groups(rank, comm, root, leads ? &met : NULL, port_name, newcomm);
}

int wl_MPI_Comm_connect(struct wl_rank *rank, const char *port_name, MPI_Info info, int root,
                        MPI_Comm comm, MPI_Comm *newcomm)
{
    struct wl_answer met = {.met = 0};
    bool leads = is_root(rank, comm, root);

    if (leads) {
        uint32_t port = parse_port(port_name);
        met = find_server(rank, port, time_limit(rank, info));
        if (met.code == MPI_SUCCESS && met.expects) {
            struct wl_view world = wl_comm_of(rank, WL_COMM_ALL);
            wl_internal_send(rank, &world, met.met, tag_of(port), (struct wl_bytes){NULL, 0});
        }
    }
    return connect_groups(rank, comm, root, leads ? &met : NULL, port_name, newcomm);
}

/* ---- names ---- */

static int ask_name(struct wl_rank *rank, enum wl_ask what, const char *service,
                    const char *port, struct wl_answer *answer)
{
    struct wl_question question = {.what = what};

    if (strlen(service) >= sizeof(question.service) || strlen(port) >= sizeof(question.name)) {
        return wl_error(rank, MPI_COMM_WORLD, MPI_ERR_ARG, "the name is too long");
    }
    memcpy(question.service, service, strlen(service) + 1);
    memcpy(question.name, port, strlen(port) + 1);
    wl_directory_ask(rank, &question, answer);
    return answer->code == MPI_SUCCESS
               ? MPI_SUCCESS
               : wl_error(rank, MPI_COMM_WORLD, answer->code, "the name '%.64s' is %s", service,
                          what == WL_ASK_PUBLISH ? "published already" : "not published");
}

int wl_MPI_Publish_name(struct wl_rank *rank, const char *service_name, MPI_Info info,
                        const char *port_name)
{
    struct wl_answer answer = {.code = MPI_SUCCESS};

    return ask_name(rank, WL_ASK_PUBLISH, service_name, port_name, &answer);
}

int wl_MPI_Unpublish_name(struct wl_rank *rank, const char *service_name, MPI_Info info,
                          const char *port_name)
{
    struct wl_answer answer = {.code = MPI_SUCCESS};

    return ask_name(rank, WL_ASK_UNPUBLISH, service_name, port_name, &answer);
}

int wl_MPI_Lookup_name(struct wl_rank *rank, const char *service_name, MPI_Info info,
                       char *port_name)
{
    struct wl_answer answer = {.code = MPI_SUCCESS};
    int code = ask_name(rank, WL_ASK_LOOKUP, service_name, "", &answer);

    if (code == MPI_SUCCESS) {
        (void)snprintf(port_name, MPI_MAX_PORT_NAME, "%s", answer.name);
    }
    return code;
}

/* ---- sockets: refused ---- */

int wl_MPI_Comm_join(struct wl_rank *rank, int fd, MPI_Comm *intercomm)
{
    *intercomm = MPI_COMM_NULL;
    return wl_error(rank, MPI_COMM_WORLD, MPI_ERR_UNSUPPORTED_OPERATION,
                    "simulated ranks are not connected by sockets; use MPI_Comm_accept and "
                    "MPI_Comm_connect");
}
