/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What MPI leaves open in a program and a run decides: which message a receive with a wildcard
 * gets, whether a test finds something, which of several requests completes first. A schedule
 * fixes some of these decisions, so that a run can be repeated with others
 * (run/execute/orders.c). Plain data, so that processes can exchange decisions as bytes.
 */

#include "base/status.h"
#include "program/ops/finding.h"

#include <stdbool.h>
#include <stddef.h>

/* In place of an outcome: nothing was complete; the run ended before; not fixed. */
enum { WF_DECISION_NOTHING = -1, WF_DECISION_OPEN = -2, WF_DECISION_FREE = -3 };

/* Rows: enumerator, name in documents. The outcome of the first three is the rank in its
 * communicator that sent the message; of the others, the place of the request in their
 * array. */
#define WF_DECISION_MAP(X) \
    X(RECEIVE, receive)    \
    X(PROBE, probe)        \
    X(LOOK, look)          \
    X(TEST, test)          \
    X(WAIT, wait)

enum wf_decision_kind {
#define X(name, text) WF_DECISION_##name,
    WF_DECISION_MAP(X)
#undef X
};

enum { WF_DECISION_OTHERS_MAX = 64 };
struct wf_decision {
    struct wf_finding_call call;
    uint32_t number; /* of the decisions of its rank */
    uint32_t kind;   /* enum wf_decision_kind */
    int32_t outcome;
    uint32_t is_fixed; /* by the schedule */
    /* The schedule asks for what cannot happen: the run says nothing about the program... */
    uint32_t is_impossible;
    uint32_t is_stuck; /* ...if it deadlocks */
    uint32_t n_others; /* outcomes that MPI allows as well, as far as the run shows */
    int32_t others[WF_DECISION_OTHERS_MAX];
};

const char *wf_decision_name(uint32_t kind);

/* A list of decisions; a zeroed one is empty. */
struct wf_decisions {
    struct wf_decision *items;
    size_t n, capacity;
};

/* A decision that is fixed. */
struct wf_fixed_decision {
    uint32_t rank, number;
    int32_t outcome;
};

/* Decisions that are fixed, by rank and number; a zeroed one fixes nothing. Its text is a word
 * "rank.number=outcome" for each; "none" is WF_DECISION_NOTHING. "default" fixes nothing. */
struct wf_schedule {
    struct wf_fixed_decision *items;
    size_t n, capacity;
};
enum wf_status wf_schedule_parse(const char *text, struct wf_schedule *out, struct wf_err *err);
/* The text, which the caller frees. */
char *wf_schedule_text(const struct wf_schedule *schedule);
void wf_schedule_add(struct wf_schedule *schedule, const struct wf_decision *decision);
void wf_schedule_fini(struct wf_schedule *schedule);
