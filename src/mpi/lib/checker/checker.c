/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of the checker, and what only the end of a rank or of the run shows. */
#include "mpi/lib/checker/checker.h"

#include "mpi/lib/checker/state.h"
#include "mpi/lib/memory.h"
#include "mpi/lib/p2p/request.h"
#include "mpi/lib/rma/window.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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

static struct wf_finding_call finding_call(const struct wl_mark *mark)
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
        .kind = kind, .count = 1, .own = finding_call(own), .other = finding_call(other)};
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
        free(checker->pending);
        free(checker->sequences);
        free(checker);
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
            wl_win_check_leaked(rank, wl_table_at(&rank->wins, i));
        }
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
}
