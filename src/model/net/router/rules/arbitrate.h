/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Which of several packets gets the channel that they request, or is consumed. */

#include "model/net/router/rules/rules.h"

enum wf_router_arbitration {
#define WF_ROUTER_ARBITRATION(id, name, urgency) WF_ROUTER_##id,
#include "model/net/router/rules/arbitrations.def"
};

/* A contest for something (model/net/router/rules/draw.h). Add the inputs in ascending order; the last `best` has
 * won. */
struct wf_router_contest {
    const struct wf_router_here *here;
    uint32_t what;
    uint32_t winner;            /* the input that won last, + 1; 0: none has */
    uint32_t n_inputs, n_links; /* of the router; those from n_links on are for injection */
    bool transit;               /* packets in transit go first this time */
    uint32_t n, best;
};

/* What counts before the turn: the packet with the least number goes first. */
WF_ROUTER_RULE uint64_t wf_router_urgency(const struct wf_router_here *here, uint32_t input)
{
    switch (here->rules->arbitration) {
#define FIRST(fact) here->reads->first(here->router, input, fact)
#define WF_ROUTER_ARBITRATION(id, name, urgency) \
    case WF_ROUTER_##id:                         \
        return urgency;
#include "model/net/router/rules/arbitrations.def"
#undef FIRST
    default:
        return 0;
    }
}

WF_ROUTER_RULE struct wf_router_contest wf_router_contest(const struct wf_router_here *here,
                                                          uint32_t what, uint32_t winner,
                                                          uint32_t n_inputs, uint32_t n_links)
{
    const uint64_t transit = here->rules->transit, always = UINT64_C(1) << 53;
    bool first =
        transit >= always ||
        (transit > 0 &&
         wf_router_draw(here->rules->seed, here->vertex, what, here->cycle, 0) >> 11 < transit);

    return (struct wf_router_contest){here, what, winner, n_inputs, n_links, first, 0, 0};
}

/* Whether an input goes before the best so far. */
WF_ROUTER_RULE bool wf_router_goes_first(const struct wf_router_contest *contest,
                                         uint32_t input)
{
    const struct wf_router_here *here = contest->here;
    uint32_t best = contest->best, n = contest->n_inputs;
    uint32_t turn = contest->winner == n ? 0 : contest->winner;
    bool injected = input >= contest->n_links;

    if (contest->transit && injected != (best >= contest->n_links)) {
        return !injected;
    }
    if (here->rules->arbitration == WF_ROUTER_DICE) {
        return wf_router_below(here, contest->what, contest->n, contest->n) == 0;
    }
    uint64_t own = wf_router_urgency(here, input), other = wf_router_urgency(here, best);
    return own != other ? own < other
                        : wf_router_behind(input, turn, n) < wf_router_behind(best, turn, n);
}

WF_ROUTER_RULE void wf_router_contend(struct wf_router_contest *contest, uint32_t input)
{
    if (contest->n++ == 0 || wf_router_goes_first(contest, input)) {
        contest->best = input;
    }
}
