/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of the checker, and what only the end of a rank or of the run shows. */
#include "mpi/lib/checker/checker.h"

#include "mpi/lib/checker/orders.h"
#include "mpi/lib/checker/state.h"
#include "mpi/lib/memory.h"
#include "mpi/lib/p2p/request.h"
#include "mpi/lib/rma/window.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wl_mark wl_mark_of(const struct wl_rank *rank, struct wl_caller caller)
{
    static const char unknown[] = "program";
    const char *function = caller.function != NULL ? caller.function : unknown;

    return (struct wl_mark){
        .rank = rank->self->rank,
        .function = (int32_t)(function - (const char *)&weft_mpi_library),
        .site = caller.site != NULL ? wl.port->place(rank->self, caller.site) : 0,
    };
}

const char *wl_mark_function(const struct wl_mark *mark)
{
    return (const char *)&weft_mpi_library + mark->function;
}

struct wf_finding_call wl_finding_call(const struct wl_mark *mark)
{
    struct wf_finding_call call = {.rank = WF_FINDING_NO_RANK};

    if (mark != NULL) {
        call.rank = mark->rank;
        call.site = mark->site;
        (void)snprintf(call.call, sizeof(call.call), "%s", wl_mark_function(mark));
    }
    return call;
}

void wl_report(enum wf_finding_kind kind, const struct wl_mark *own,
               const struct wl_mark *other, const char *fmt, ...)
{
    struct wf_finding finding = {
        .kind = kind, .count = 1, .own = wl_finding_call(own), .other = wl_finding_call(other)};
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(finding.what, sizeof(finding.what), fmt, ap);
    va_end(ap);
    wl.port->finding(wl.port, &finding);
}

struct wl_checker *wl_checker_new(void)
{
    return wl_calloc(1, sizeof(struct wl_checker));
}

void wl_checker_free(struct wl_checker *checker)
{
    if (checker != NULL) {
        wl_check_accesses_free(checker);
        for (size_t i = 0; i < WL_CREATIONS; i++) {
            free(checker->creations[i].by);
        }
        free(checker->pending);
        free(checker->sequences);
        free(checker);
    }
}

/* ---- objects that are not freed ---- */

/* Kinds of objects, and the functions whose objects the program is to free: other functions
 * create them for the library. */
static const struct {
    enum wl_kind kind;
    size_t table;            /* in struct wl_rank */
    const char *words;       /* of a finding */
    const char *creators[4]; /* beginnings of names */
    const char *others[2];   /* of these, not to be freed */
} created_kinds[WL_CREATIONS] = {
    {WL_COMM,
     offsetof(struct wl_rank, comms),
     "created a communicator",
     {"MPI_Comm_", "MPI_Cart_", "MPI_Graph_", "MPI_Dist_graph_"},
     {"MPI_Comm_get_parent", "MPI_Comm_spawn"}},
    {WL_GROUP,
     offsetof(struct wl_rank, groups),
     "created a group",
     {"MPI_Group_", "MPI_Comm_", "MPI_Win_get_group", "MPI_File_get_group"},
     {NULL}},
    {WL_TYPE,
     offsetof(struct wl_rank, types),
     "created a datatype",
     {"MPI_Type_"},
     {"MPI_Type_create_f90_", "MPI_Type_match_size"}},
    {WL_OP, offsetof(struct wl_rank, ops), "created an operation", {"MPI_Op_"}, {NULL}},
    {WL_FILE, offsetof(struct wl_rank, files), "opened a file", {"MPI_File_open"}, {NULL}},
};

static bool begins_with(const char *name, const char *const *beginnings, size_t n)
{
    for (size_t i = 0; i < n && beginnings[i] != NULL; i++) {
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0) {
            return true;
        }
    }
    return false;
}

static const struct wl_table *table_of(const struct wl_rank *rank, size_t kind)
{
    return (const void *)((const char *)rank + created_kinds[kind].table);
}

void wl_check_created(struct wl_rank *rank, int handle)
{
    size_t kind = 0;
    uint32_t place = wl_handle_place(handle) - WL_OBJECT_FIRST;

    if (rank->checker == NULL || rank->function == NULL) {
        return;
    }
    while (wl_handle(created_kinds[kind].kind, wl_handle_place(handle)) != handle) {
        kind++;
    }
    struct wl_creations *all = &rank->checker->creations[kind];
    if (place >= all->n) {
        uint32_t n = 2 * place + 16;
        all->by = wl_realloc(all->by, n, sizeof(*all->by));
        memset(all->by + all->n, 0, (n - all->n) * sizeof(*all->by));
        all->n = n;
    }
    bool frees = begins_with(rank->function, created_kinds[kind].creators, 4) &&
                 !begins_with(rank->function, created_kinds[kind].others, 2);
    all->by[place] = frees ? wl_caller_of(rank) : (struct wl_caller){NULL, NULL};
}

static void report_created(const struct wl_rank *rank)
{
    for (size_t kind = 0; kind < WL_CREATIONS; kind++) {
        const struct wl_table *table = table_of(rank, kind);
        const struct wl_creations *all = &rank->checker->creations[kind];
        for (uint32_t i = 0; i < wl_table_n(table) && i < all->n; i++) {
            int handle = wl_handle(created_kinds[kind].kind, i + WL_OBJECT_FIRST);
            if (wl_table_at(table, i) != NULL && all->by[i].function != NULL &&
                handle != rank->comm_self) {
                const struct wl_mark call = wl_mark_of(rank, all->by[i]);
                wl_report(WF_FINDING_LEAKED_OBJECT, &call, NULL, "%s that it never %s",
                          created_kinds[kind].words,
                          created_kinds[kind].kind == WL_FILE ? "closed" : "freed");
            }
        }
    }
}

/* ---- MPI_Finalize() ---- */

/* A receive that is never completed: whether a message has come for it is known at the end. */
static void keep_receive(struct wl_rank *rank, const struct wl_request *request)
{
    struct wl_checker *checker = rank->checker;

    WL_GROW(checker->pending, checker->n_pending, checker->max_pending);
    checker->pending[checker->n_pending++] =
        (struct wl_pending){.call = wl_mark_of(rank, request->posted),
                            .stream = request->recv.stream,
                            .any_source = request->recv.any_source && !request->recv.matched,
                            .any_tag = request->recv.any_tag && !request->recv.matched};
}

static void check_request(struct wl_rank *rank, struct wl_request *request)
{
    const struct wl_mark call = wl_mark_of(rank, request->posted);
    bool receives = request->kind == WL_REQUEST_RECV && request->active &&
                    !request->proc_null && !request->concluded;

    if (receives && rank->checker != NULL) {
        keep_receive(rank, request);
    } else if (!request->active) {
        if (wl_checks()) {
            wl_report(WF_FINDING_LEAKED_REQUEST, &call, NULL,
                      "created a persistent request that it never freed");
        }
    } else if (!receives || wl_checks()) {
        wl_report(WF_FINDING_LEAKED_REQUEST, &call, NULL,
                  "created a request that it never completed with a wait or test");
    }
    wl_check_forget(rank, &request->uses);
}

void wl_check_finalize(struct wl_rank *rank)
{
    for (uint32_t i = 0; i < wl_table_n(&rank->requests); i++) {
        if (wl_table_at(&rank->requests, i) != NULL) {
            check_request(rank, wl_table_at(&rank->requests, i));
        }
    }
    for (uint32_t i = 0; i < wl_table_n(&rank->wins) && wl_checks(); i++) {
        if (wl_table_at(&rank->wins, i) != NULL) {
            struct wl_win *win = wl_table_at(&rank->wins, i);
            wl_win_check_leaked(rank, win);
            wl_check_forget(rank, &win->uses);
        }
    }
    if (rank->checker != NULL) {
        report_created(rank);
    }
}

/* ---- the end of the run ---- */

/* The messages that a rank has not received, and the receives that it has not completed. */
struct left_over {
    uint32_t rank;
    struct wl_checker *checker; /* may be null */
};

static bool fits(const struct wl_pending *pending, const struct wl_message *message)
{
    return !pending->matched && pending->stream.context == message->context &&
           (pending->any_source || pending->stream.source == message->source) &&
           (pending->any_tag || pending->stream.tag == message->tag);
}

static void look_at_message(void *arg, const struct wl_message *message)
{
    struct left_over *rank = arg;

    if (message->sent == NULL) {
        return; /* of the library itself */
    }
    for (uint32_t i = 0; rank->checker != NULL && i < rank->checker->n_pending; i++) {
        struct wl_pending *pending = &rank->checker->pending[i];
        if (fits(pending, message)) {
            pending->matched = true;
            return;
        }
    }
    wl_report(WF_FINDING_UNMATCHED_SEND, &message->sent->call, NULL,
              "sent a message of %zu bytes with tag %d to rank %u, which never received it",
              message->whole, message->tag, rank->rank);
}

static void report_pending(const struct wl_checker *checker)
{
    for (uint32_t i = 0; i < checker->n_pending; i++) {
        const struct wl_pending *pending = &checker->pending[i];
        if (pending->matched) {
            wl_report(WF_FINDING_LEAKED_REQUEST, &pending->call, NULL,
                      "posted a receive that it never completed with a wait or test");
        } else {
            wl_report(WF_FINDING_UNMATCHED_RECEIVE, &pending->call, NULL,
                      "posted a receive that no message matched");
        }
    }
}

void wl_check_left_over(struct wf_port_rank *const *ranks, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct wl_rank *rank = ranks[i]->lib;
        struct left_over left = {ranks[i]->rank, rank != NULL ? rank->checker : NULL};

        if (wl_checks()) {
            wl_message_queue_visit(wl.queues, left.rank, look_at_message, &left);
        }
        if (left.checker != NULL) {
            report_pending(left.checker);
        }
        if (rank != NULL && rank->function != NULL && !rank->finalized) {
            const struct wl_mark call = wl_mark_of(rank, wl_caller_of(rank));
            wl_report(WF_FINDING_DEADLOCK, &call, NULL, "waits for ever");
        }
    }
    wl_check_collectives_end();
    if (wl_orders()) {
        wl_orders_tell();
    }
}
