/* SPDX-License-Identifier: Apache-2.0 */
/* Messages and receives meet as in two plain lists that are searched from the beginning. */
#include "program/ops/matching.h"

#include "base/rng.h"
#include "harness/wf_test.h"

enum { HOSTS = 3, WAITING_MAX = 4096 };

static const uint32_t ANY = WF_MATCHING_ANY;

/* ---- one case after the other ---- */

static uint64_t message(struct wf_matching *m, uint32_t peer, uint32_t tag, uint64_t value)
{
    return wf_matching_message(m, &(struct wf_matching_header){0, peer, tag}, value);
}

static uint64_t receive(struct wf_matching *m, uint32_t peer, uint32_t tag, uint64_t value)
{
    return wf_matching_receive(m, &(struct wf_matching_header){0, peer, tag}, value);
}

static void in_the_order_of_arrival(void)
{
    struct wf_matching *m = wf_matching_new(1);

    CHECK(message(m, 1, 7, 10) == WF_MATCHING_NONE);
    CHECK(message(m, 1, 7, 11) == WF_MATCHING_NONE);
    CHECK(message(m, 2, 7, 12) == WF_MATCHING_NONE);
    CHECK_U64(wf_matching_messages(m, 0), 3);
    CHECK_U64(receive(m, 2, 7, 20), 12);
    CHECK_U64(receive(m, ANY, ANY, 21), 10);
    CHECK_U64(receive(m, 1, ANY, 22), 11);
    CHECK_U64(wf_matching_messages(m, 0), 0);
    wf_matching_free(m);
}

static void in_the_order_of_posting(void)
{
    struct wf_matching *m = wf_matching_new(1);

    CHECK(receive(m, 1, 7, 20) == WF_MATCHING_NONE);
    CHECK(receive(m, ANY, 7, 21) == WF_MATCHING_NONE);
    CHECK(receive(m, 1, 7, 22) == WF_MATCHING_NONE);
    CHECK(receive(m, 1, ANY, 23) == WF_MATCHING_NONE);
    CHECK_U64(message(m, 1, 7, 10), 20);
    CHECK_U64(message(m, 1, 7, 11), 21);
    CHECK_U64(message(m, 1, 8, 12), 23);
    CHECK_U64(message(m, 1, 7, 13), 22);
    CHECK(message(m, 1, 7, 14) == WF_MATCHING_NONE);
    wf_matching_free(m);
}

/* ---- against lists ---- */

struct waiting {
    struct wf_matching_header header;
    uint64_t value;
};

struct lists {
    struct waiting messages[WAITING_MAX], receives[WAITING_MAX];
    size_t n_messages, n_receives;
};

static bool fits(uint32_t wanted, uint32_t given)
{
    return wanted == ANY || wanted == given;
}

static uint64_t take(struct waiting *list, size_t *n, size_t i)
{
    uint64_t value = list[i].value;

    memmove(&list[i], &list[i + 1], (--*n - i) * sizeof(*list));
    return value;
}

static uint64_t in_lists(struct lists *lists, const struct wf_matching_header *header,
                         bool is_message, uint64_t value)
{
    struct waiting *others = is_message ? lists->receives : lists->messages;
    size_t *n_others = is_message ? &lists->n_receives : &lists->n_messages;

    for (size_t i = 0; i < *n_others; i++) {
        const struct wf_matching_header *other = &others[i].header;
        const struct wf_matching_header *recv = is_message ? other : header;
        const struct wf_matching_header *sent = is_message ? header : other;
        if (recv->host == sent->host && fits(recv->peer, sent->peer) &&
            fits(recv->tag, sent->tag)) {
            return take(others, n_others, i);
        }
    }
    struct waiting *own = is_message ? &lists->messages[lists->n_messages++]
                                     : &lists->receives[lists->n_receives++];
    *own = (struct waiting){*header, value};
    return WF_MATCHING_NONE;
}

/* Sometimes more is sent than received, sometimes the other way round. */
static void as_in_lists(void)
{
    struct lists *lists = calloc(1, sizeof(*lists));
    struct wf_matching *m = wf_matching_new(HOSTS);
    uint64_t n_equal = 0, draw = 0;
    enum { CALLS = 6000, PHASE = 500 };

    for (uint64_t i = 0; i < CALLS; i++) {
        uint64_t r = wf_rng_draw(1, 0, draw++);
        bool is_message = r % 100 < (i / PHASE % 2 == 0 ? 60 : 40);
        struct wf_matching_header header = {(uint32_t)(r >> 8) % HOSTS, (uint32_t)(r >> 16) % 5,
                                            (uint32_t)(r >> 24) % 9};
        header.peer = !is_message && (r >> 32) % 10 == 0 ? ANY : header.peer;
        header.tag = !is_message && (r >> 40) % 10 == 0 ? ANY : header.tag;
        uint64_t found = is_message ? wf_matching_message(m, &header, i)
                                    : wf_matching_receive(m, &header, i);
        n_equal += found == in_lists(lists, &header, is_message, i) ? 1 : 0;
    }
    CHECK_U64(n_equal, CALLS);
    uint64_t n_waiting = 0;
    for (uint32_t host = 0; host < HOSTS; host++) {
        n_waiting += wf_matching_messages(m, host);
    }
    CHECK_U64(n_waiting, lists->n_messages);
    wf_matching_free(m);
    free(lists);
}

/* So many different headers that the table grows, and shrinks again. */
static void many_headers(void)
{
    struct wf_matching *m = wf_matching_new(1);
    enum { N = 3000 };

    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < N; i++) {
            CHECK(receive(m, i % 17, i, i) == WF_MATCHING_NONE);
        }
        for (uint32_t i = 0; i < N; i++) {
            CHECK_U64(message(m, (N - 1 - i) % 17, N - 1 - i, 0), N - 1 - i);
        }
    }
    wf_matching_free(m);
}

int main(void)
{
    RUN(in_the_order_of_arrival);
    RUN(in_the_order_of_posting);
    RUN(as_in_lists);
    RUN(many_headers);
    return wf_test_done();
}
