/* SPDX-License-Identifier: Apache-2.0 */
/* Published names and open ports: see directory.h. */
#include "mpi/lib/comm/directory.h"

#include "mpi/lib/memory.h"
#include "mpi/lib/rma/one_sided.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct name {
    struct name *next;
    char *service, *port;
};

/* A call that waits at a port. */
struct guest {
    struct guest *next;
    uint32_t rank, ticket;
    bool has_met; /* of a client: ... */
    uint32_t met; /* ...this server, but has not asked again */
};

struct port {
    bool open;
    struct guest *servers, *clients; /* the first one has waited longest */
};

struct wl_directory {
    struct name *names;
    struct port *ports; /* by number; closed ones stay */
    uint32_t n_ports, max_ports;
    uint32_t n_used;    /* ranks that have been started: the next ones are spare... */
    uint32_t n_running; /* ...and how many of these have not said that they go */
};

/* ---- names ---- */

static struct name **find_name(struct wl_directory *own, const char *service)
{
    struct name **at = &own->names;

    while (*at != NULL && strcmp((*at)->service, service) != 0) {
        at = &(*at)->next;
    }
    return at;
}

static char *copy_text(const char *text)
{
    return memcpy(wl_malloc(strlen(text) + 1), text, strlen(text) + 1);
}

static void name_free(struct name *name)
{
    free(name->service);
    free(name->port);
    free(name);
}

static void publish(struct wl_directory *own, const struct wl_question *question,
                    struct wl_answer *answer)
{
    struct name **at = find_name(own, question->service);

    if (*at != NULL) {
        answer->code = MPI_ERR_SERVICE;
        return;
    }
    *at = wl_malloc(sizeof(**at));
    **at = (struct name){.service = copy_text(question->service),
                         .port = copy_text(question->name)};
}

static void lookup(struct wl_directory *own, const struct wl_question *question,
                   struct wl_answer *answer)
{
    const struct name *name = *find_name(own, question->service);

    if (name == NULL) {
        answer->code = MPI_ERR_NAME;
    } else {
        (void)snprintf(answer->name, sizeof(answer->name), "%s", name->port);
    }
}

static void unpublish(struct wl_directory *own, const struct wl_question *question,
                      struct wl_answer *answer)
{
    struct name **at = find_name(own, question->service), *name = *at;

    if (name == NULL) {
        answer->code = MPI_ERR_SERVICE;
    } else {
        *at = name->next;
        name_free(name);
    }
}

/* ---- ports ---- */

static void open_port(struct wl_directory *own, const struct wl_question *question,
                      struct wl_answer *answer)
{
    WL_GROW(own->ports, own->n_ports, own->max_ports);
    own->ports[own->n_ports] = (struct port){.open = true};
    answer->port = own->n_ports++;
}

/* Null if it was never opened. */
static struct port *find_port(const struct wl_directory *own, uint32_t number)
{
    return number < own->n_ports ? &own->ports[number] : NULL;
}

static bool is_open(const struct port *port)
{
    return port != NULL && port->open;
}

static void close_port(struct wl_directory *own, const struct wl_question *question,
                       struct wl_answer *answer)
{
    struct port *port = find_port(own, question->port);

    if (is_open(port)) {
        port->open = false;
    } else {
        answer->code = MPI_ERR_PORT;
    }
}

static void add_guest(struct guest **list, const struct wl_question *question)
{
    while (*list != NULL) {
        list = &(*list)->next;
    }
    *list = wl_malloc(sizeof(**list));
    **list = (struct guest){.rank = question->rank, .ticket = question->ticket};
}

static uint32_t take_guest(struct guest **at)
{
    struct guest *guest = *at;
    uint32_t rank = guest->rank;

    *at = guest->next;
    free(guest);
    return rank;
}

static void accept_one(struct wl_directory *own, const struct wl_question *question,
                       struct wl_answer *answer)
{
    struct port *port = find_port(own, question->port);

    if (!is_open(port)) {
        answer->code = MPI_ERR_PORT;
        return;
    }
    struct guest *client = port->clients;
    while (client != NULL && client->has_met) {
        client = client->next;
    }
    if (client == NULL) {
        add_guest(&port->servers, question);
        answer->waits = true;
    } else {
        client->has_met = true;
        client->met = question->rank;
        answer->met = client->rank;
    }
}

/* The place of a client that has asked before, or the end of the list. */
static struct guest **find_client(struct port *port, const struct wl_question *question)
{
    struct guest **at = &port->clients;

    while (*at != NULL &&
           ((*at)->rank != question->rank || (*at)->ticket != question->ticket)) {
        at = &(*at)->next;
    }
    return at;
}

static void connect_to(struct wl_directory *own, const struct wl_question *question,
                       struct wl_answer *answer)
{
    struct port *port = find_port(own, question->port);

    if (port == NULL) {
        answer->code = MPI_ERR_PORT;
        return;
    }
    struct guest **at = find_client(port, question);
    bool is_known = *at != NULL;
    if (is_known && (*at)->has_met) {
        answer->met = (*at)->met;
        (void)take_guest(at);
    } else if (!port->open || question->what == WL_ASK_WITHDRAW) {
        answer->code = MPI_ERR_PORT;
        if (is_known) {
            (void)take_guest(at);
        }
    } else if (!is_known && port->servers != NULL) {
        answer->met = take_guest(&port->servers);
        answer->expects = true;
    } else {
        answer->waits = true;
        if (!is_known) {
            add_guest(at, question);
        }
    }
}

/* ---- spare ranks ---- */

static void take_spare(struct wl_directory *own, const struct wl_question *question,
                       struct wl_answer *answer)
{
    answer->port = wl.n_ranks - own->n_used; /* how many are left */
    if (question->port > answer->port) {
        answer->code = MPI_ERR_SPAWN;
        return;
    }
    answer->met = own->n_used;
    own->n_used += question->port;
    own->n_running += question->port;
}

static void go(struct wl_directory *own, const struct wl_question *question,
               struct wl_answer *answer)
{
    answer->waits = --own->n_running > 0;
    answer->met = own->n_used;
}

/* ---- questions and answers ---- */

static bool is_about_names(enum wl_ask what)
{
    return what <= WL_ASK_UNPUBLISH;
}

void wl_directory_reply(struct wl_rank *rank, const unsigned char *question,
                        unsigned char *answer)
{
    static void (*const replies[])(struct wl_directory * own,
                                   const struct wl_question *question,
                                   struct wl_answer *answer) = {
        [WL_ASK_PUBLISH] = publish,     [WL_ASK_LOOKUP] = lookup,
        [WL_ASK_UNPUBLISH] = unpublish, [WL_ASK_OPEN] = open_port,
        [WL_ASK_CLOSE] = close_port,    [WL_ASK_ACCEPT] = accept_one,
        [WL_ASK_CONNECT] = connect_to,  [WL_ASK_WITHDRAW] = connect_to,
        [WL_ASK_SPARE] = take_spare,    [WL_ASK_GO] = go,
    };
    struct wl_question asked = {.rank = 0};
    struct wl_answer out = {.code = MPI_SUCCESS};

    memcpy(&asked, question, offsetof(struct wl_question, service));
    bool names = is_about_names(asked.what);
    if (names) {
        memcpy(&asked, question, sizeof(asked));
    }
    if (rank->directory == NULL) {
        rank->directory = wl_calloc(1, sizeof(*rank->directory));
        rank->directory->n_used = rank->directory->n_running = wl.port->n_started;
    }
    replies[asked.what](rank->directory, &asked, &out);
    memcpy(answer, &out, names ? sizeof(out) : offsetof(struct wl_answer, name));
}

void wl_directory_ask(struct wl_rank *rank, struct wl_question *question,
                      struct wl_answer *answer)
{
    struct wl_view world = wl_comm_of(rank, WL_COMM_ALL);
    bool names = is_about_names(question->what);

    question->rank = rank->self->rank;
    wl_remote_ask(
        rank, &world,
        (struct wl_bytes){question,
                          names ? sizeof(*question) : offsetof(struct wl_question, service)},
        (struct wl_buffer){answer, names ? sizeof(*answer) : offsetof(struct wl_answer, name)});
}

static void guests_free(struct guest *list)
{
    while (list != NULL) {
        (void)take_guest(&list);
    }
}

void wl_directory_free(struct wl_rank *rank)
{
    struct wl_directory *own = rank->directory;

    if (own == NULL) {
        return;
    }
    while (own->names != NULL) {
        struct name *next = own->names->next;
        name_free(own->names);
        own->names = next;
    }
    for (uint32_t i = 0; i < own->n_ports; i++) {
        guests_free(own->ports[i].servers);
        guests_free(own->ports[i].clients);
    }
    free(own->ports);
    free(own);
    rank->directory = NULL;
}
