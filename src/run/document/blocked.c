/* SPDX-License-Identifier: Apache-2.0 */
/* Texts about ranks that did not finish. */
#include "run/document/document.h"

#include "model/ranks/ranks.h"
#include "program/ops/source.h"

#include <inttypes.h>
#include <stdio.h>

enum { NAME_MAX = WF_DOCUMENT_NAME_MAX, WORDS_MAX = WF_DOCUMENT_TEXT_MAX };

uint32_t wf_document_job_of(const struct wf_document_jobs *jobs, uint32_t rank)
{
    uint32_t low = 0, high = jobs->n;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        *(rank < jobs->of[middle].first ? &high : &low) = middle;
    }
    return low;
}

const char *wf_document_rank_name(const struct wf_document_jobs *jobs, uint32_t rank, char *buf)
{
    uint32_t job = wf_document_job_of(jobs, rank);

    if (jobs->n == 1) {
        (void)snprintf(buf, NAME_MAX, "rank %" PRIu32, rank);
    } else {
        (void)snprintf(buf, NAME_MAX, "rank %" PRIu32 " of job %" PRIu32,
                       rank - jobs->of[job].first, job);
    }
    return buf;
}

/* Reports the formula of a region; only regions with names have one. */
static void formula_text(const struct wf_document_jobs *jobs, const struct wf_blocked *blocked,
                         char *buf)
{
    const struct wf_source *source = jobs->of[wf_document_job_of(jobs, blocked->rank)].source;
    const char *region =
        source != NULL ? wf_source_name_of(source, WF_NAME_REGION, blocked->fail_peer) : NULL;

    (void)snprintf(buf, WORDS_MAX,
                   "computes in region '%.64s', whose formula divides by zero or is negative",
                   region != NULL ? region : "");
}

static void failure_text(const struct wf_document_jobs *jobs, const struct wf_blocked *blocked,
                         char *buf)
{
    char name[NAME_MAX];

    switch ((enum wf_failure)blocked->failure) {
    case WF_FAILURE_TRUNCATED:
        (void)snprintf(buf, WORDS_MAX,
                       "got a message from %s that is longer than its receive: %" PRIu64
                       " B with tag %" PRId32 ", and room for %" PRIu64 " B",
                       wf_document_rank_name(jobs, blocked->fail_peer, name),
                       blocked->on.other_bytes, blocked->on.tag, blocked->on.bytes);
        return;
    case WF_FAILURE_SIZES:
        (void)snprintf(buf, WORDS_MAX,
                       "expects %" PRIu64 " B of %s on communicator %" PRIu32 " from %s, which "
                       "calls it with other sizes and sends %" PRIu64 " B",
                       blocked->on.bytes,
                       wf_coll_name((enum wf_coll_kind)(blocked->on.coll - 1)),
                       blocked->on.group, wf_document_rank_name(jobs, blocked->fail_peer, name),
                       blocked->on.other_bytes);
        return;
    case WF_FAILURE_UNEXPECTED:
        (void)snprintf(buf, WORDS_MAX,
                       "holds more bytes of messages without a receive than "
                       "mpi.unexpected_limit, the last from %s",
                       wf_document_rank_name(jobs, blocked->fail_peer, name));
        return;
    case WF_FAILURE_REQUEST:
        (void)snprintf(buf, WORDS_MAX,
                       "uses request %" PRIu32 " while it is in use, or starts "
                       "one that cannot be started",
                       blocked->fail_peer);
        return;
    case WF_FAILURE_OP:
        (void)snprintf(buf, WORDS_MAX,
                       "calls %s with a rank, tag or communicator that there is "
                       "not",
                       wf_op_name((enum wf_op_kind)blocked->fail_peer));
        return;
    case WF_FAILURE_FORMULA:
        formula_text(jobs, blocked, buf);
        return;
    case WF_FAILURE_STALL:
        (void)snprintf(buf, WORDS_MAX,
                       "executes more and more operations while its time stands still; if they "
                       "come to an end, set -p replay.stall_limit=0");
        return;
    case WF_FAILURE_NONE:
        break;
    }
    (void)snprintf(buf, WORDS_MAX, "has not come to its end");
}

/* The name of the rank that another one waits for. */
static const char *name_peer(const struct wf_document_jobs *jobs, uint32_t peer, char *buf)
{
    if (peer == WF_MATCH_ANY_SOURCE) {
        (void)snprintf(buf, NAME_MAX, "any rank");
        return buf;
    }
    return wf_document_rank_name(jobs, peer, buf);
}

enum { ROOT_MAX = 32 };

static const char *root_text(const char *before, uint32_t root, char *buf)
{
    if (root == WF_BLOCKED_NO_ROOT) {
        (void)snprintf(buf, ROOT_MAX, "%sanother root", before);
    } else {
        (void)snprintf(buf, ROOT_MAX, "%sroot %" PRIu32, before, root);
    }
    return buf;
}

static void collective_text(const struct wf_document_jobs *jobs, const struct wf_blocked_on *on,
                            char *buf)
{
    char name[NAME_MAX];
    const char *kind = wf_coll_name((enum wf_coll_kind)(on->coll - 1));

    (void)name_peer(jobs, on->peer, name);
    if (on->other != 0 && on->other == on->coll) {
        char own[ROOT_MAX], other[ROOT_MAX];

        (void)snprintf(buf, WORDS_MAX, "waits in %s%s for %s, which called it with %s", kind,
                       on->root != WF_BLOCKED_NO_ROOT ? root_text(" with ", on->root, own) : "",
                       name, root_text("", on->other_root, other));
    } else if (on->other != 0) {
        (void)snprintf(buf, WORDS_MAX, "waits in %s for %s, which called %s", kind, name,
                       wf_coll_name((enum wf_coll_kind)(on->other - 1)));
    } else if (on->other_bytes != 0) {
        (void)snprintf(buf, WORDS_MAX,
                       "waits in %s of %" PRIu64 " B on communicator %" PRIu32
                       ", and got %" PRIu64 " B of it from %s, which calls it with other sizes",
                       kind, on->bytes, on->group, on->other_bytes, name);
    } else {
        (void)snprintf(buf, WORDS_MAX, "waits in %s for %s", kind, name);
    }
}

static void blocked_text(const struct wf_document_jobs *jobs, const struct wf_blocked_on *on,
                         char *buf)
{
    char name[NAME_MAX], tag[32] = "";

    if (on->coll != 0) {
        collective_text(jobs, on, buf);
        return;
    }
    if (on->tag != WF_MATCH_ANY_TAG) {
        (void)snprintf(tag, sizeof(tag), " with tag %" PRId32, on->tag);
    }
    (void)name_peer(jobs, on->peer, name);
    if (on->in == WF_BLOCKED_SEND) {
        (void)snprintf(buf, WORDS_MAX, "waits for %s to receive its message%s", name, tag);
    } else if (on->in == WF_BLOCKED_PROBE) {
        (void)snprintf(buf, WORDS_MAX, "probes for a message from %s%s", name, tag);
    } else if (on->in == WF_BLOCKED_ONE_SIDED) {
        (void)snprintf(buf, WORDS_MAX, "waits for its puts and gets");
    } else {
        (void)snprintf(buf, WORDS_MAX, "waits for a message from %s%s", name, tag);
    }
}

const char *wf_document_blocked_text(const struct wf_document_jobs *jobs,
                                     const struct wf_blocked *blocked, char *buf)
{
    if (blocked->failure != WF_FAILURE_NONE || blocked->on.in == WF_BLOCKED_NOWHERE) {
        failure_text(jobs, blocked, buf);
    } else {
        blocked_text(jobs, &blocked->on, buf);
    }
    return buf;
}

const char *wf_document_leftover_text(const struct wf_document_jobs *jobs,
                                      const struct wf_rank_leftover *leftover, char *buf)
{
    const struct wf_leftover *left = &leftover->what;
    char name[NAME_MAX], from[NAME_MAX];
    const char *coll =
        left->coll != 0 ? wf_coll_name((enum wf_coll_kind)(left->coll - 1)) : NULL;

    (void)wf_document_rank_name(jobs, leftover->rank, name);
    (void)name_peer(jobs, left->peer, from);
    if (left->messages + left->calls == 0) {
        char tag[ROOT_MAX] = "any tag";

        if (left->tag != WF_MATCH_ANY_TAG) {
            (void)snprintf(tag, sizeof(tag), "tag %" PRId32, left->tag);
        }
        (void)snprintf(buf, WORDS_MAX, "%s ended while it had a receive from %s %s %s", name,
                       from, coll != NULL ? "in" : "with", coll != NULL ? coll : tag);
    } else if (left->messages == 0) {
        (void)snprintf(buf, WORDS_MAX, "%s did not call %s", name, coll);
    } else if (coll != NULL) {
        char root[ROOT_MAX] = "";

        if (left->root != WF_BLOCKED_NO_ROOT &&
            wf_coll_has_root((enum wf_coll_kind)(left->coll - 1))) {
            (void)root_text(" with ", left->root, root);
        }
        (void)snprintf(buf, WORDS_MAX, "%s did not receive one of %s%s from %s", name, coll,
                       root, from);
    } else {
        (void)snprintf(buf, WORDS_MAX, "%s did not receive one from %s with tag %" PRId32, name,
                       from, left->tag);
    }
    return buf;
}
