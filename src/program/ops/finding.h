/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Errors in the use of MPI that a running program made (weft run --check). Findings that differ
 * only in their ranks are one finding with a count. Plain data, so that processes can exchange
 * findings as bytes.
 */

#include <stdint.h>

/* Rows: enumerator, name in documents. */
#define WF_FINDING_MAP(X)                   \
    X(UNMATCHED_SEND, unmatched_send)       \
    X(UNMATCHED_RECEIVE, unmatched_receive) \
    X(LEAKED_REQUEST, leaked_request)       \
    X(LEAKED_OBJECT, leaked_object)         \
    X(COLLECTIVE, collective_mismatch)      \
    X(DATATYPE, datatype_mismatch)          \
    X(BUFFER, buffer_in_use)                \
    X(CHANGED_BUFFER, changed_buffer)       \
    X(WINDOW, window_misuse)                \
    X(FAILED_CALL, failed_call)             \
    X(DEADLOCK, deadlock)

enum wf_finding_kind {
#define X(name, text) WF_FINDING_##name,
    WF_FINDING_MAP(X)
#undef X
        WF_FINDINGS,
};

enum { WF_FINDING_CALL_MAX = 48, WF_FINDING_WHAT_MAX = 200 };

/* A call of a rank. */
struct wf_finding_call {
    uint32_t rank;                  /* WF_FINDING_NO_RANK: there is no such call */
    char call[WF_FINDING_CALL_MAX]; /* the MPI function */
    uint64_t site; /* the place after the call in the file of the program; 0 if unknown */
};
#define WF_FINDING_NO_RANK UINT32_MAX

struct wf_finding {
    uint32_t kind; /* enum wf_finding_kind */
    uint64_t count;
    struct wf_finding_call own, other;
    char what[WF_FINDING_WHAT_MAX]; /* one sentence, without its subject */
};

const char *wf_finding_name(enum wf_finding_kind kind);

/* A list of findings; a zeroed one is empty. */
struct wf_findings {
    struct wf_finding *items;
    uint32_t n, capacity;
};

/* Adds a finding to those with the same kind and calls, of which the list keeps the one with the
 * lowest ranks. The list does not depend on the order in which findings are added, unless there
 * are more than WF_FINDINGS_MAX different ones: the rest is dropped. */
enum { WF_FINDINGS_MAX = 4096 };
void wf_findings_add(struct wf_findings *list, const struct wf_finding *finding);
/* Sorts by rank, kind and place. */
void wf_findings_sort(struct wf_findings *list);
void wf_findings_fini(struct wf_findings *list);
