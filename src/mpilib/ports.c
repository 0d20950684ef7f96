/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ports and names (MPI-4.0, 11.9): ranks of one run meet without a common communicator. A port
 * belongs to the rank that has opened it. Names are kept by rank 0: to publish or look up one
 * is a message there and back. weft runs a fixed number of ranks: MPI_Comm_spawn() is refused.
 */
#include "mpilib/errors.h"
#include "mpilib/internal_messages.h"
#include "mpilib/memory.h"
#include "mpilib/one_sided.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tags of internal messages: after those of partitioned communication. */
#define PORT_TAG 0x70000000

/* ---- ports ---- */

int wl_MPI_Open_port(struct wl_rank *rank, MPI_Info info, char *port_name)
{
    (void)snprintf(port_name, MPI_MAX_PORT_NAME, "weft:%u:%d", rank->self->rank,
                   rank->n_ports++);
    return MPI_SUCCESS;
}

int wl_MPI_Close_port(struct wl_rank *rank, const char *port_name)
{
    return MPI_SUCCESS;
}

/* The number after `at`; -1 if there is none. */
static long number_at(const char **at)
{
    char *end;
    long number = strtol(*at, &end, 10);
    bool found = end != *at;

    *at = end;
    return found ? number : -1;
}

struct port {
    uint32_t owner;
    int tag;
};

static int parse_port(struct wl_rank *rank, MPI_Comm comm, const char *name, struct port *port)
{
    const char *at = name + strlen("weft:");
    long owner = -1, number = -1;

    if (strncmp(name, "weft:", strlen("weft:")) == 0) {
        owner = number_at(&at);
        if (*at++ == ':') {
            number = number_at(&at);
        }
    }
    if (owner < 0 || owner >= (long)wl.n_ranks || number < 0 || number > 0xffffff) {
        return wl_error(rank, comm, MPI_ERR_PORT,
                        "'%.64s' is not the name of a port of this run", name);
    }
    *port = (struct port){(uint32_t)owner, PORT_TAG + (int)number};
    return MPI_SUCCESS;
}

static bool is_root(struct wl_rank *rank, MPI_Comm comm, int root)
{
    struct wl_view view = wl_comm_of(rank, comm);

    return root >= 0 && wl_own_rank(&view) == (uint32_t)root;
}

/* The root learns who connects; then both roots lead the creation of an intercommunicator. */
int wl_MPI_Comm_accept(struct wl_rank *rank, const char *port_name, MPI_Info info, int root,
                       MPI_Comm comm, MPI_Comm *newcomm)
{
    uint32_t other = 0;
    struct port port = {.tag = PORT_TAG};

    if (is_root(rank, comm, root)) {
        struct wl_view world = wl_comm_of(rank, MPI_COMM_WORLD);
        int code = parse_port(rank, comm, port_name, &port);
        if (code != MPI_SUCCESS) {
            return code;
        }
        if (port.owner != rank->self->rank) {
            wl_fatal(rank,
                     "rank %u has opened the port; the root of this call must be that rank",
                     port.owner);
        }
        other = wl_internal_recv_any(rank, &world, port.tag);
    }
    return wl_MPI_Intercomm_create(rank, comm, root, MPI_COMM_WORLD, (int)other, PORT_TAG,
                                   newcomm);
}

int wl_MPI_Comm_connect(struct wl_rank *rank, const char *port_name, MPI_Info info, int root,
                        MPI_Comm comm, MPI_Comm *newcomm)
{
    struct port port = {.tag = PORT_TAG};

    if (is_root(rank, comm, root)) {
        struct wl_view world = wl_comm_of(rank, MPI_COMM_WORLD);
        int code = parse_port(rank, comm, port_name, &port);
        if (code != MPI_SUCCESS) {
            return code;
        }
        wl_internal_send(rank, &world, port.owner, port.tag, (struct wl_bytes){NULL, 0});
    }
    return wl_MPI_Intercomm_create(rank, comm, root, MPI_COMM_WORLD, (int)port.owner, PORT_TAG,
                                   newcomm);
}

/* ---- names ---- */

/* A name and its port, at rank 0. */
struct wl_name {
    struct wl_name *next;
    char *service, *port;
};

static struct wl_name **find_name(struct wl_rank *rank, const char *service)
{
    struct wl_name **at = &rank->names;

    while (*at != NULL && strcmp((*at)->service, service) != 0) {
        at = &(*at)->next;
    }
    return at;
}

static char *copy_text(const char *text)
{
    return memcpy(wl_malloc(strlen(text) + 1), text, strlen(text) + 1);
}

static void name_free(struct wl_name *name)
{
    free(name->service);
    free(name->port);
    free(name);
}

void wl_names_free(struct wl_rank *rank)
{
    while (rank->names != NULL) {
        struct wl_name *next = rank->names->next;
        name_free(rank->names);
        rank->names = next;
    }
}

/* What rank 0 is asked to do. */
enum { NAME_PUBLISH, NAME_LOOKUP, NAME_UNPUBLISH };

struct question {
    int what;
    char service[MPI_MAX_INFO_VAL], port[MPI_MAX_PORT_NAME];
};

struct reply {
    int code;
    char port[MPI_MAX_PORT_NAME];
};

void wl_names_apply(struct wl_rank *rank, const unsigned char *data, unsigned char *old)
{
    struct question question;
    struct reply reply = {.code = MPI_SUCCESS};

    memcpy(&question, data, sizeof(question));
    struct wl_name **found = find_name(rank, question.service), *name = *found;
    if (question.what == NAME_PUBLISH) {
        if (name != NULL) {
            reply.code = MPI_ERR_SERVICE;
        } else {
            *found = wl_malloc(sizeof(**found));
            **found = (struct wl_name){.service = copy_text(question.service),
                                       .port = copy_text(question.port)};
        }
    } else if (name == NULL) {
        reply.code = question.what == NAME_LOOKUP ? MPI_ERR_NAME : MPI_ERR_SERVICE;
    } else if (question.what == NAME_LOOKUP) {
        (void)snprintf(reply.port, sizeof(reply.port), "%s", name->port);
    } else {
        *found = name->next;
        name_free(name);
    }
    memcpy(old, &reply, sizeof(reply));
}

static int ask(struct wl_rank *rank, int what, const char *service, const char *port,
               struct reply *reply)
{
    static const char *const texts[] = {"is published already", "is not published",
                                        "is not published"};
    struct wl_view world = wl_comm_of(rank, MPI_COMM_WORLD);
    struct question question = {.what = what};

    if (strlen(service) >= sizeof(question.service) || strlen(port) >= sizeof(question.port)) {
        return wl_error(rank, MPI_COMM_WORLD, MPI_ERR_ARG, "the name is too long");
    }
    memcpy(question.service, service, strlen(service) + 1);
    memcpy(question.port, port, strlen(port) + 1);
    wl_remote_names(rank, &world, (struct wl_bytes){&question, sizeof(question)},
                    (struct wl_buffer){reply, sizeof(*reply)});
    return reply->code == MPI_SUCCESS ? MPI_SUCCESS
                                      : wl_error(rank, MPI_COMM_WORLD, reply->code,
                                                 "the name '%.64s' %s", service, texts[what]);
}

int wl_MPI_Publish_name(struct wl_rank *rank, const char *service_name, MPI_Info info,
                        const char *port_name)
{
    struct reply reply = {.code = MPI_SUCCESS};

    return ask(rank, NAME_PUBLISH, service_name, port_name, &reply);
}

int wl_MPI_Unpublish_name(struct wl_rank *rank, const char *service_name, MPI_Info info,
                          const char *port_name)
{
    struct reply reply = {.code = MPI_SUCCESS};

    return ask(rank, NAME_UNPUBLISH, service_name, port_name, &reply);
}

int wl_MPI_Lookup_name(struct wl_rank *rank, const char *service_name, MPI_Info info,
                       char *port_name)
{
    struct reply reply = {.code = MPI_SUCCESS};
    int code = ask(rank, NAME_LOOKUP, service_name, "", &reply);

    if (code == MPI_SUCCESS) {
        (void)snprintf(port_name, MPI_MAX_PORT_NAME, "%s", reply.port);
    }
    return code;
}

/* ---- other programs: refused ---- */

static int refuse_spawn(struct wl_rank *rank, MPI_Comm comm, int n, MPI_Comm *intercomm,
                        int *errcodes)
{
    int code =
        wl_error(rank, comm, MPI_ERR_SPAWN,
                 "weft runs a fixed number of ranks, and the program cannot start others; "
                 "start all of them with -n");

    for (int i = 0; i < n && errcodes != MPI_ERRCODES_IGNORE; i++) {
        errcodes[i] = MPI_ERR_SPAWN;
    }
    *intercomm = MPI_COMM_NULL;
    return code;
}

int wl_MPI_Comm_spawn(struct wl_rank *rank, const char *command, char **argv, int maxprocs,
                      MPI_Info info, int root, MPI_Comm comm, MPI_Comm *intercomm,
                      int *errcodes)
{
    return refuse_spawn(rank, comm, is_root(rank, comm, root) ? maxprocs : 0, intercomm,
                        errcodes);
}

int wl_MPI_Comm_spawn_multiple(struct wl_rank *rank, int count, char **commands, char ***argvs,
                               const int *maxprocs, const MPI_Info *infos, int root,
                               MPI_Comm comm, MPI_Comm *intercomm, int *errcodes)
{
    int n = 0;

    for (int i = 0; is_root(rank, comm, root) && i < count; i++) {
        n += maxprocs[i];
    }
    return refuse_spawn(rank, comm, n, intercomm, errcodes);
}

int wl_MPI_Comm_join(struct wl_rank *rank, int fd, MPI_Comm *intercomm)
{
    *intercomm = MPI_COMM_NULL;
    return wl_error(rank, MPI_COMM_WORLD, MPI_ERR_UNSUPPORTED_OPERATION,
                    "simulated ranks are not connected by sockets; use MPI_Comm_accept and "
                    "MPI_Comm_connect");
}
