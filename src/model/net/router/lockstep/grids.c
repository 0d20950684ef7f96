/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lock step on cores for the kinds of grids of lockstep/variants.def. Three things make it faster than
 * lockstep/any.c. The compiler knows the kind: cycle_some() exists once for each. The state of a router is
 * contiguous, in small records, as on GPUs. And a cycle visits only the routers that have something to
 * do, and prefetches their state if the network is too large for the cache.
 */
#pragma GCC diagnostic ignored \
    "-Wconversion" /* small records, see model/net/router/lockstep/kernels_tight.c */
#define WF_LOCKSTEP_TILES
#define WF_LOCKSTEP_TIGHT
#include "model/net/router/lockstep/form.h"
#include "model/net/router/lockstep/place.h"
#include "model/net/router/lockstep/tile.h"

enum {
    BLOCK = 32,     /* routers that are looked at, and whose words are fetched, at once */
    IN_CACHE = 1024 /* a network of so many routers needs no fetching: about 1 KB each */
};

/* ---- a router ---- */

/* Every queue that holds no channel asks, every port that packets wait for gives. */
static inline void decide(const struct wf_lockstep_net *net, uint32_t r, uint32_t cycle,
                          struct wf_lockstep_work *work)
{
    struct wf_lockstep_own *own = wf_lockstep_own(net, r);
    uint32_t inputs = own->busy & ~own->held, ports = own->sending, eaten = 0;

    net->wake[r] = 0;
    for (uint32_t left = inputs; left != 0; left &= left - 1) {
        uint32_t input = (uint32_t)__builtin_ctz(left);
        uint32_t channel = wf_lockstep_ask(net, r, input, cycle, NULL);
        if (channel == WF_ROUTER_CONSUME) {
            eaten |= UINT32_C(1) << input;
        } else if (channel != WF_ROUTER_NONE) {
            work->asking[channel] |= UINT32_C(1) << input;
            ports |= UINT32_C(1) << channel / net->rules.vcs;
        }
    }
    if (eaten != 0) {
        wf_lockstep_eat_all(net, r, &eaten, cycle, &work->count);
    }
    own->sending = ports;
    for (; ports != 0; ports &= ports - 1) {
        uint32_t port = (uint32_t)__builtin_ctz(ports);
        wf_lockstep_tile_give(net, r, port, work->asking + (size_t)port * net->rules.vcs, cycle,
                              &work->count);
    }
    for (; inputs != 0; inputs &= inputs - 1) {
        wf_lockstep_tile_rest(net, r, (uint32_t)__builtin_ctz(inputs), cycle);
    }
}

static inline void cycle_of(const struct wf_lockstep_net *net, uint32_t r, uint32_t cycle,
                            struct wf_lockstep_work *work)
{
    wf_lockstep_take_word(net, r, 0, cycle);
    if (net->next[r] == cycle) {
        wf_lockstep_send_burst(net, r, cycle);
    }
    if (wf_lockstep_decides(net, r, cycle)) {
        decide(net, r, cycle, work);
    }
}

/* ---- routers with something to do ---- */

/* Those of a block, counted from its first. */
struct active {
    uint32_t n;
    uint8_t routers[BLOCK];
};

/* The words that tell whether there is something to do, by router. */
struct signs {
    const uint32_t *heads, *credits; /* spokes of the cycle */
    const uint32_t *wake, *next;
};

static inline void find_active(const struct signs *signs, uint32_t first, uint32_t end,
                               uint32_t cycle, struct active *active)
{
    const uint32_t *heads = signs->heads + first, *credits = signs->credits + first;
    const uint32_t *wake = signs->wake + first, *next = signs->next + first;
    uint32_t n = end - first < BLOCK ? end - first : BLOCK;
    uint8_t is_active[BLOCK];

    /* Without branches, so that compilers make vector instructions of it. */
    for (uint32_t i = 0; i < n; i++) {
        is_active[i] =
            ((heads[i] | credits[i]) != 0) | (wake[i] == cycle + 1) | (next[i] == cycle);
    }
    active->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        active->routers[active->n] = (uint8_t)i;
        active->n += is_active[i];
    }
}

/* Fetches what the routers will need: their words, and the queues that heads reach. */
static inline void fetch(const struct wf_lockstep_net *net, const struct signs *signs,
                         uint32_t first, const struct active *active)
{
    enum { LINE = 64 };

    for (uint32_t i = 0; i < active->n; i++) {
        uint32_t r = first + active->routers[i];
        const char *own = (const char *)wf_lockstep_own(net, r);
        for (uint32_t at = 0; at < wf_lockstep_own_words(net) * sizeof(uint32_t); at += LINE) {
            __builtin_prefetch(own + at);
        }
        for (uint32_t left = signs->heads[r]; left != 0; left &= left - 1) {
            __builtin_prefetch(wf_lockstep_packet(net, r, (uint32_t)__builtin_ctz(left), 0));
        }
    }
}

/* A cycle of some routers. No router reads in a cycle what another one writes in it, so that the next
 * block may be looked at before this one has taken the cycle. */
static inline void cycle_some(const struct wf_lockstep_net *net, struct wf_lockstep_share share,
                              uint32_t cycle, struct wf_lockstep_work *all)
{
    const struct signs signs = {
        .heads = wf_lockstep_spoke(net, net->heads, net->head_last, cycle, 0, 0),
        .credits = wf_lockstep_spoke(net, net->credits, net->credit_last, cycle, 0, 0),
        .wake = net->wake,
        .next = net->next,
    };
    struct wf_lockstep_work work =
        *all; /* nothing else points to it: counts are in registers */
    struct active active, next;
    bool fetches = net->n > IN_CACHE;

    find_active(&signs, share.first, share.end, cycle, &next);
    for (uint32_t first = share.first; first < share.end; first += BLOCK) {
        active = next;
        if (share.end - first > BLOCK) {
            find_active(&signs, first + BLOCK, share.end, cycle, &next);
            if (fetches) {
                fetch(net, &signs, first + BLOCK, &next);
            }
        }
        for (uint32_t i = 0; i < active.n; i++) {
            cycle_of(net, first + active.routers[i], cycle, &work);
        }
    }
    all->count = work.count;
}

/* ---- the form ---- */

static uint64_t place(struct wf_lockstep_net *net, void *base)
{
    const uint64_t n = net->n, words = n * wf_lockstep_own_words(net);
    uint64_t at = 0;

    net->own = wf_lockstep_carve(base, &at, words * sizeof(*net->own));
    net->wake = wf_lockstep_carve(base, &at, n * sizeof(*net->wake));
    net->next = wf_lockstep_carve(base, &at, n * sizeof(*net->next));
    wf_lockstep_place_packets(net, base, &at, sizeof(struct wf_lockstep_stored));
    return at;
}

static void begin(const struct wf_lockstep_net *net, struct wf_lockstep_share share)
{
    for (uint32_t r = share.first; r < share.end; r++) {
        wf_lockstep_begin_traffic(net, r);
    }
}

static void look(const struct wf_lockstep_net *net, struct wf_lockstep_share share,
                 uint32_t cycle, uint32_t *ports)
{
    for (uint32_t r = share.first; r < share.end; r++) {
        (void)wf_lockstep_look_at(net, r, cycle, ports);
    }
}

/* ---- kinds of grids ---- */

/* The network is a local variable, and all functions that use it become part of one: so the compiler
 * knows what wf_lockstep_specialise() fixes. */
#define WF_LOCKSTEP_GRIDS_ONLY
#define WF_LOCKSTEP_VARIANT(name, dims, vcs, scheme)                                         \
    __attribute__((flatten)) static void cycle_##name(                                       \
        const struct wf_lockstep_net *given, struct wf_lockstep_share share, uint32_t cycle, \
        struct wf_lockstep_work *work)                                                       \
    {                                                                                        \
        struct wf_lockstep_net net = *given;                                                 \
        wf_lockstep_specialise(&net, dims, vcs, scheme);                                     \
        cycle_some(&net, share, cycle, work);                                                \
    }
#include "model/net/router/lockstep/variants.def"
#undef WF_LOCKSTEP_VARIANT

static const struct kind {
    uint32_t dims, vcs, scheme;
    struct wf_lockstep_form form;
} kinds[] = {
#define WF_LOCKSTEP_VARIANT(name, dims, vcs, scheme)              \
    {dims,                                                        \
     vcs,                                                         \
     scheme,                                                      \
     {place, begin, cycle_##name, look, wf_lockstep_form_packets, \
      wf_lockstep_form_is_blocked}},
#include "model/net/router/lockstep/variants.def"
#undef WF_LOCKSTEP_VARIANT
};

const struct wf_lockstep_form *wf_lockstep_grid(const struct wf_lockstep_net *net)
{
    if (!wf_lockstep_fits_tiles(net) || !wf_lockstep_is_usual(net)) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const struct kind *kind = &kinds[i];
        if (kind->dims == net->rules.n_dims && kind->vcs == net->rules.vcs &&
            kind->scheme == net->rules.scheme) {
            return &kind->form;
        }
    }
    return NULL;
}
