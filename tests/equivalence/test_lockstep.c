/* SPDX-License-Identifier: Apache-2.0 */
/* Random networks, routings, traffic patterns and loads: lock step, on one thread and several,
 * counts exactly what the events count, digest included. WEFT_LOCKSTEP_RUNS=10000 runs more,
 * WEFT_LOCKSTEP_FIRST=77 begins with another one. */
#include "base/mem.h"
#include "engine/model.h"
#include "engine/run.h"
#include "harness/wf_test.h"
#include "model/net/net.h"
#include "model/net/router/lockstep/form.h"
#include "model/net/router/lockstep/lockstep.h"
#include "model/topo/topo.h"
#include "model/traffic/traffic.h"

#include <math.h>

enum { RUNS = 150, SETTINGS_MAX = 40, TEXT_MAX_BYTES = 64 };

struct setting {
    const char *name;
    char value[TEXT_MAX_BYTES];
};

/* A random scenario. */
struct scenario {
    const char *topo, *pattern;
    struct setting net[SETTINGS_MAX], traffic[SETTINGS_MAX];
    size_t n_net, n_traffic;
    uint64_t seed;
    uint32_t threads;
    uint64_t number, draws;
};

/* What is made of it. */
struct made {
    struct wf_topo *topo;
    struct wf_net *net;
    struct wf_traffic *traffic;
    void *net_params;
    struct wf_traffic_params traffic_params;
};

static uint64_t draw(struct scenario *s, uint64_t n)
{
    return wf_test_rand(23, s->number, s->draws++) % n;
}

static void set_net(struct scenario *s, const char *name, const char *value)
{
    s->net[s->n_net].name = name;
    (void)snprintf(s->net[s->n_net++].value, TEXT_MAX_BYTES, "%s", value);
}

static void set_traffic(struct scenario *s, const char *name, const char *value)
{
    s->traffic[s->n_traffic].name = name;
    (void)snprintf(s->traffic[s->n_traffic++].value, TEXT_MAX_BYTES, "%s", value);
}

#define PICK(s, ...)         \
    (((const char *const[]){ \
        __VA_ARGS__})[draw((s), sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))])

static void draw_network(struct scenario *s)
{
    switch (draw(s, 4)) {
    case 0:
        s->topo =
            PICK(s, "torus:4x4", "torus:3x5", "torus:2x2x3", "torus:6", "torus:4x4,wrap=1,0");
        set_net(s, "routing",
                PICK(s, "oblivious-1vc", "oblivious-3vc", "adaptive-3vc", "dor", "adaptive",
                     "dateline", "dateline-free"));
        break;
    case 1:
        s->topo = PICK(s, "mesh:4x4", "mesh:2x3x2", "torus:8x8", "torus:4x4x4", "ring:7");
        set_net(s, "routing",
                PICK(s, "adaptive-3vc", "oblivious-1vc", "minimal", "valiant", "ugal_l", "ecmp",
                     "auto"));
        break;
    case 2:
        s->topo = PICK(s, "tree:8", "fattree:4", "fattree:k=2,n=3", "star:6");
        set_net(s, "routing", PICK(s, "updown", "auto", "minimal", "adaptive", "ecmp"));
        break;
    default:
        s->topo = PICK(s, "dragonfly:2", "hyperx:3x3", "slimfly:5", "full:5",
                       "torus:3x3/star:2", "ring:6,oneway");
        set_net(s, "routing",
                PICK(s, "minimal", "valiant", "ugal_l", "adaptive", "ecmp", "par", "auto"));
        break;
    }
}

static const char *const arbitrations[] = {
#define WF_ROUTER_ARBITRATION(id, name, urgency) name,
#include "model/net/router/rules/arbitrations.def"
};

static void draw_rules(struct scenario *s)
{
    if (draw(s, 2) == 0) {
        set_net(s, "request", PICK(s, "first", "shortest", "random", "smart", "source"));
    }
    if (draw(s, 2) == 0) {
        set_net(s, "arbitration", arbitrations[draw(s, sizeof(arbitrations) / sizeof(char *))]);
    }
    if (draw(s, 3) == 0) {
        set_net(s, "transit_priority", PICK(s, "1", "0.5", "0.1"));
    }
    if (draw(s, 3) == 0) {
        set_net(s, "queue", PICK(s, "2", "3", "8"));
    }
    if (draw(s, 4) == 0) {
        set_net(s, "vcs", PICK(s, "2", "4", "8"));
    }
    if (draw(s, 4) == 0) {
        set_net(s, "consume_one", "yes");
    }
    if (draw(s, 4) == 0) {
        set_net(s, "injection_queues", PICK(s, "2", "3"));
        set_net(s, "injection", PICK(s, "shortest", "direction", "longest-path"));
    }
    if (draw(s, 4) == 0) {
        set_net(s, "injection_length", PICK(s, "1", "3"));
    }
    if (draw(s, 6) == 0) {
        set_net(s, "restriction", "2");
    }
    if (draw(s, 5) == 0) {
        set_net(s, "global_restriction", PICK(s, "0.01", "0.1"));
        set_net(s, "global_delay", PICK(s, "64", "200", "256"));
    }
    if (draw(s, 4) == 0) {
        set_net(s, "ecmp", PICK(s, "flow", "message", "packet"));
    }
}

static void draw_delays(struct scenario *s)
{
    if (draw(s, 4) == 0) {
        set_net(s, "packet", PICK(s, "4B", "8B", "128B"));
    }
    if (draw(s, 4) == 0) {
        set_net(s, "pipeline", PICK(s, "1", "3"));
    }
    if (draw(s, 4) == 0) {
        set_net(s, "link_delay", PICK(s, "2", "5", "40"));
    }
    if (draw(s, 5) == 0) {
        set_net(s, "credit_delay", PICK(s, "1", "7"));
    }
}

static void draw_links(struct scenario *s)
{
    if (draw(s, 5) == 0) {
        set_net(s, "turnaround", PICK(s, "1", "4"));
    }
    if (draw(s, 4) == 0) { /* some classes exist in some networks only */
        bool grid = strncmp(s->topo, "torus", 5) == 0 || strncmp(s->topo, "mesh", 4) == 0;
        set_net(s, "links",
                grid ? PICK(s, "x:bandwidth=2GB/s,latency=3ns",
                            "x:bandwidth=1GB/s,delay=2ns,y:bandwidth=2GB/s,buffer=512B")
                     : PICK(s, "terminal:bandwidth=2GB/s",
                            "terminal:bandwidth=1GB/s,latency=9ns", "level1:bandwidth=2GB/s",
                            "global:bandwidth=2GB/s,latency=20ns"));
    }
    if (draw(s, 5) == 0) {
        set_net(s, "watchdog", PICK(s, "0", "200", "2000"));
    }
    if (draw(s, 4) == 0) {
        set_net(s, "stats", PICK(s, "summary", "classes", "links"));
    }
}

static void draw_traffic(struct scenario *s)
{
    s->pattern =
        PICK(s, "uniform", "uniform", "complement", "tornado", "neighbor", "permutation",
             "hotspot", "hotregion", "local", "semidirected", "tornado-all", "neighbor-all");
    if (strcmp(s->pattern, "local") == 0 && strncmp(s->topo, "slimfly", 7) == 0) {
        s->pattern = "transpose"; /* few nodes are near: their search takes long */
    }
    set_traffic(s, "load", PICK(s, "0.02", "0.1", "0.3", "0.6", "1"));
    set_traffic(s, "cycles", PICK(s, "300", "700", "1200"));
    if (draw(s, 6) == 0) {
        set_traffic(s, "self", "yes");
    }
    if (draw(s, 6) == 0) {
        set_traffic(s, "burst", PICK(s, "2", "5"));
    }
}

static void draw_messages(struct scenario *s)
{
    if (draw(s, 4) == 0) {
        set_traffic(s, "size", PICK(s, "1B", "4B", "200B", "1000B"));
    }
    if (draw(s, 5) == 0) {
        set_traffic(s, "drop", "no");
    }
    if (draw(s, 6) == 0) {
        set_traffic(s, "rounds", PICK(s, "1", "7"));
        if (draw(s, 2) == 0) {
            set_traffic(s, "reply", PICK(s, "4B", "64B", "300B"));
        }
    }
    if (draw(s, 6) == 0) {
        set_traffic(s, "arrivals", "poisson");
    }
    if (draw(s, 6) == 0) {
        set_traffic(s, "long_size", PICK(s, "8B", "300B"));
        set_traffic(s, "long_share", "0.3");
    }
}

/* Flits: what lock step simulates of them, and some of what it refuses. */
static void draw_wormhole(struct scenario *s)
{
    s->topo = PICK(s, "torus:4x4", "torus:3x5", "torus:2x2x3", "torus:6", "torus:4x4x4",
                   "torus:4x4,wrap=1,0", "mesh:4x4", "mesh:2x3x2", "torus:8x8", "fattree:4");
    set_net(s, "switching", "wormhole");
    if (draw(s, 3) == 0) {
        set_net(s, "routing", PICK(s, "dateline", "dor", "adaptive", "auto"));
    }
    if (draw(s, 2) == 0) {
        set_net(s, "vcs", PICK(s, "2", "4", "6"));
    }
    if (draw(s, 2) == 0) {
        set_net(s, "queue", PICK(s, "1", "2", "3", "8"));
    }
    if (draw(s, 4) == 0) {
        set_net(s, "injection_length", PICK(s, "1", "3"));
    }
    if (draw(s, 4) == 0) {
        set_net(s, "routing_delay", PICK(s, "0", "3"));
    }
    if (draw(s, 10) == 0) {
        set_net(s, PICK(s, "hold_switch", "speculative"), "yes");
    }
}

/* Kinds of grids for which lock step has code of its own, with rules that it knows. */
static void draw_grid(struct scenario *s)
{
    s->topo = PICK(s, "torus:4x4", "torus:3x5", "torus:2x2x3", "torus:4x4,wrap=1,0", "mesh:4x4",
                   "mesh:2x3x2", "torus:8x8", "torus:4x4x4", "torus:7x6x3");
    set_net(s, "routing", PICK(s, "oblivious-1vc", "dor", "adaptive-3vc", "adaptive-3vc"));
    if (strcmp(s->net[0].value, "dor") == 0) {
        set_net(s, "vcs", "2");
    }
    if (draw(s, 2) == 0) {
        set_net(s, "queue", PICK(s, "2", "3", "8"));
    }
    if (draw(s, 4) == 0) {
        set_net(s, "consume_one", "yes");
    }
    if (draw(s, 4) == 0) {
        set_net(s, "injection_length", PICK(s, "1", "3"));
    }
    if (draw(s, 6) == 0) {
        set_net(s, "restriction", "2");
    }
    if (draw(s, 5) == 0) {
        set_net(s, "turnaround", PICK(s, "1", "4"));
    }
    if (draw(s, 5) == 0) {
        set_net(s, "watchdog", PICK(s, "0", "200", "2000"));
    }
}

static struct scenario draw_scenario(uint64_t number)
{
    struct scenario s = {.number = number};

    /* In turn, so that a few runs, as with sanitizers, have some of each kind. */
    bool wormhole = number % 4 == 0, grid = number % 4 == 1, share = number % 8 == 5;
    if (wormhole) {
        draw_wormhole(&s);
    } else if (grid) {
        draw_grid(&s);
    } else {
        draw_network(&s);
        draw_rules(&s);
    }
    draw_delays(&s);
    draw_traffic(&s);
    if (!wormhole && !grid) {
        draw_links(&s);
        draw_messages(&s);
    } else if (wormhole && draw(&s, 3) == 0) {
        set_net(&s, "stats", PICK(&s, "summary", "classes"));
    }
    s.seed = draw(&s, 1000);
    s.threads = share || draw(&s, 10) == 0 ? 2 + (uint32_t)draw(&s, 2) : 1;
    if (s.threads > 1) { /* barriers take long where cores are busy */
        set_traffic(&s, "cycles", "200");
    }
    return s;
}

static void print_scenario(const struct scenario *s, const char *what)
{
    printf("# %llu: %s: --topo %s %s seed %llu, %u threads", (unsigned long long)s->number,
           what, s->topo, s->pattern, (unsigned long long)s->seed, s->threads);
    for (size_t i = 0; i < s->n_net; i++) {
        printf(" -p net.%s=%s", s->net[i].name, s->net[i].value);
    }
    for (size_t i = 0; i < s->n_traffic; i++) {
        printf(" -p traffic.%s=%s", s->traffic[i].name, s->traffic[i].value);
    }
    printf("\n");
}

/* ---- making it ---- */

static enum wf_status read_params(const struct wf_param *table, void *params,
                                  const struct setting *settings, size_t n, struct wf_err *err)
{
    WF_TRY(wf_param_defaults(table, params, err));
    for (size_t i = 0; i < n; i++) {
        WF_TRY(wf_param_set(table, params, "", settings[i].name, settings[i].value, err));
    }
    return WF_OK;
}

static enum wf_status make(const struct scenario *s, struct made *made, struct wf_err *err)
{
    const struct wf_net_ops *ops = &wf_net_router_ops;
    struct wf_traffic_params *set = &made->traffic_params;

    made->net_params = wf_xcalloc(1, ops->params_size);
    WF_TRY(wf_topo_create(s->topo, &made->topo, err));
    WF_TRY(read_params(ops->params, made->net_params, s->net, s->n_net, err));
    WF_TRY(read_params(wf_traffic_params, set, s->traffic, s->n_traffic, err));
    const struct wf_net_clock clock = ops->clock(made->net_params);
    set->cycle = set->cycle == 0 ? clock.cycle_ps : set->cycle;
    set->phit = set->phit == 0 ? clock.phit_bytes : set->phit;
    set->size = set->size == 0 ? clock.packet_bytes : set->size;
    const struct wf_net_env env = {
        .topo = made->topo, .n_nodes = made->topo->n_nodes, .seed = s->seed};
    WF_TRY(ops->create(made->net_params, &env, &made->net, err));
    const struct wf_traffic_config config = {.params = set,
                                             .pattern = s->pattern,
                                             .topo = made->topo,
                                             .n_nodes = env.n_nodes,
                                             .seed = s->seed};
    return wf_traffic_new(&config, &made->traffic, err);
}

static void unmake(struct made *made)
{
    wf_traffic_free(made->traffic);
    wf_net_free(made->net);
    wf_topo_free(made->topo);
    wf_param_release(wf_net_router_ops.params, made->net_params);
    wf_param_release(wf_traffic_params, &made->traffic_params);
    free(made->net_params);
}

static size_t tally_size(const struct made *made)
{
    return sizeof(struct wf_traffic_tally) +
           (made->net->n_sums > 0 ? wf_net_counters_size(made->net) : 0);
}

static struct wf_traffic_tally *run_events(const struct scenario *s, struct made *made)
{
    struct wf_engine_config config;
    struct wf_err err = {.status = WF_OK};
    struct wf_run run;
    struct wf_traffic_tally *tally = wf_xcalloc(1, tally_size(made));

    memset(&config, 0, sizeof(config));
    if (wf_param_defaults(wf_engine_params, &config, &err) != WF_OK) {
        abort();
    }
    config.seed = s->seed;
    config.end = wf_traffic_end(made->traffic);
    config.threads = 1;
    config.pin = false;
    config.scheduler = WF_SEQUENTIAL;
    struct wf_engine *engine = wf_engine_new(&config, NULL);
    wf_traffic_build(made->traffic, engine, made->net);
    if (wf_engine_run(engine, &run, &err) != WF_OK) {
        abort();
    }
    memcpy(tally, wf_engine_tally_get(engine), tally_size(made));
    wf_engine_free(engine);
    return tally;
}

/* ---- comparison ---- */

static const char *difference(const struct wf_traffic_tally *a,
                              const struct wf_traffic_tally *b, size_t size)
{
    const struct wf_net_usage *x = &a->usage, *y = &b->usage;

    return x->digest != y->digest                                    ? "digest"
           : x->packets != y->packets || x->hops != y->hops          ? "consumed"
           : x->injected != y->injected || x->waited != y->waited    ? "injected"
           : memcmp(a->batches, b->batches, sizeof(a->batches)) != 0 ? "batches"
           : memcmp(&x->waits, &y->waits, sizeof(x->waits)) != 0     ? "waits"
           : memcmp(x, y, sizeof(*x)) != 0                           ? "usage"
           : memcmp(&a->totals, &b->totals, sizeof(a->totals)) != 0  ? "totals"
           : memcmp(a, b, size) != 0                                 ? "counters"
                                                                     : NULL;
}

enum kind { EQUAL, INVALID, REFUSED, BLOCKED, DIFFERENT, KINDS };

/* Counts of the comparisons. */
struct seen {
    uint64_t packets; /* packet-hops */
    uint64_t grids;   /* networks whose kind lock step has code for */
};

static enum kind compare(const struct scenario *s, struct seen *seen)
{
    struct made made = {.topo = NULL};
    struct wf_err err = {.status = WF_OK};
    struct wf_lockstep *lock = NULL;
    enum kind kind = INVALID;

    if (make(s, &made, &err) == WF_OK) {
        const struct wf_lockstep_config config = {.net = made.net, .traffic = made.traffic};
        const struct wf_lockstep_run run = {.threads = s->threads};
        struct wf_lockstep_result result = {.tally = wf_xcalloc(1, tally_size(&made))};
        kind = REFUSED;
        if (wf_lockstep_new(&config, &lock, &err) == WF_OK) {
            kind = wf_lockstep_run_host(lock, &run, &result, &err) == WF_OK ? EQUAL : BLOCKED;
            seen->grids += wf_lockstep_grid(wf_lockstep_net(lock)) != NULL;
        }
        struct wf_traffic_tally *events = kind == EQUAL ? run_events(s, &made) : NULL;
        const char *what =
            kind == EQUAL ? difference(events, result.tally, tally_size(&made)) : NULL;
        if (what != NULL) {
            print_scenario(s, what);
            kind = DIFFERENT;
        }
        seen->packets += kind == EQUAL ? events->usage.carried : 0;
        free(events);
        free(result.tally);
    }
    if (getenv("WEFT_LOCKSTEP_TELL") != NULL && kind != EQUAL) {
        print_scenario(s, err.text);
    }
    wf_lockstep_free(lock);
    unmake(&made);
    return kind;
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

static void lock_step_is_equal_to_events(void)
{
    uint64_t first = number_from("WEFT_LOCKSTEP_FIRST", 0);
    uint64_t runs = number_from("WEFT_LOCKSTEP_RUNS", RUNS / WF_TEST_ONE_IN);
    uint64_t counts[KINDS] = {0};
    struct seen seen = {.packets = 0};

    for (uint64_t i = first; i < first + runs; i++) {
        const struct scenario s = draw_scenario(i);
        counts[compare(&s, &seen)]++;
    }
    printf("# %llu equal with %llu packet-hops, %llu grids of known kinds, %llu invalid, %llu "
           "refused, %llu blocked, %llu different\n",
           (unsigned long long)counts[EQUAL], (unsigned long long)seen.packets,
           (unsigned long long)seen.grids, (unsigned long long)counts[INVALID],
           (unsigned long long)counts[REFUSED], (unsigned long long)counts[BLOCKED],
           (unsigned long long)counts[DIFFERENT]);
    CHECK_U64(counts[DIFFERENT], 0);
    CHECK(counts[EQUAL] >= runs / 3 && seen.packets > 10 * runs);
    CHECK(seen.grids >= runs / 10);
}

/* ---- interruption ---- */

struct interrupter {
    volatile sig_atomic_t stop;
    int calls;
};

/* The user interrupts the run when it is reported for the second time. */
static void interrupt_second(void *arg, uint64_t cycle)
{
    struct interrupter *user = arg;

    (void)cycle;
    user->stop = ++user->calls >= 2;
}

/* A cycle of a large network takes long: it looks more often whether it should stop. */
static void large_networks_end_soon(void)
{
    struct scenario s = {.topo = "torus:32x32", .pattern = "uniform"};
    struct made made = {.topo = NULL};
    struct wf_err err = {.status = WF_OK};
    struct wf_lockstep *lock = NULL;
    struct interrupter user = {.stop = 0};

    set_traffic(&s, "cycles", "600");
    CHECK(make(&s, &made, &err) == WF_OK);
    const struct wf_lockstep_config config = {.net = made.net, .traffic = made.traffic};
    const struct wf_lockstep_run run = {
        .threads = 1, .stop = &user.stop, .progress = interrupt_second, .progress_arg = &user};
    struct wf_lockstep_result result = {.tally = wf_xcalloc(1, tally_size(&made))};
    CHECK(wf_lockstep_new(&config, &lock, &err) == WF_OK);
    CHECK(wf_lockstep_run_host(lock, &run, &result, &err) == WF_EINTR);
    CHECK(result.cycle < 200);
    wf_lockstep_free(lock);
    free(result.tally);
    unmake(&made);
}

int main(void)
{
    RUN(lock_step_is_equal_to_events);
    RUN(large_networks_end_soon);
    return wf_test_done();
}
