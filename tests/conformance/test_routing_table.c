/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries every routing on every topology in the models that have routing, and writes the table
 * of docs/reference/routings.md. Each topology is tried with its examples. A combination is
 * refused with a reason that this file knows, or it delivers what is sent. With
 * WEFT_TEST_WRITE=1 in the environment the test writes the page instead of comparing it.
 */
#include "model/net/packet/model.h"
#include "model/net/router/events/model.h"
#include "model/topo/graph.h"

#include "harness/router_traffic.h"
#include "harness/topo_walk.h"
#include "harness/wf_test.h"

#include "base/buf.h"
#include "base/file.h"

enum { TOPOS_MAX = 32, ROWS_MAX = 32, NODES_MAX = 40, CELL_MAX = 24, PAGE_MAX = 1 << 16 };

/* ---- Reasons ---- */

/* A part of the message, and what the page says. */
static const struct {
    const char *message, *words;
} reasons[] = {
    {"needs a tree, fattree or star", "needs a tree, fat tree or star"},
    {"needs a dragonfly", "needs a dragonfly"},
    {"routing works on grids", "needs a mesh or torus that is whole"},
    {"credits need links in both directions",
     "credits return over the link that leads back, which a one-way link does not have"},
    {"wormhole switching works with dateline",
     "needs bubble flow control, which moves whole packets"},
    {"wormhole switching needs nodes",
     "needs nodes that are all routers, or have one link each"},
    {"virtual channels on this topology", "needs more than 16 virtual channels"},
    {"virtual channels do not work with",
     "has three virtual channels, but needs four with wormhole switching on rings"},
    {"has fixed routes", "has fixed routes, which cannot avoid a failure in time"},
    {"failures in time need cut-through",
     "failures in time need cut-through switching and a routing policy"},
};

enum { N_REASONS = sizeof(reasons) / sizeof(reasons[0]) };

static uint32_t find_reason(const char *message)
{
    uint32_t i = 0;

    while (i < N_REASONS && strstr(message, reasons[i].message) == NULL) {
        i++;
    }
    return i;
}

/* ---- Topologies ---- */

/* One row of the tables. */
struct row {
    char label[48];
    struct wf_topo *topos[TOPOS_MAX];
    uint32_t n;
    const char *fail;
};

static struct row rows[ROWS_MAX];
static uint32_t n_rows;

static struct row *row_of(const char *label)
{
    for (uint32_t i = 0; i < n_rows; i++) {
        if (strcmp(rows[i].label, label) == 0) {
            return &rows[i];
        }
    }
    (void)snprintf(rows[n_rows].label, sizeof(rows[n_rows].label), "%s", label);
    rows[n_rows].fail = "";
    return &rows[n_rows++];
}

static void add_spec(const char *label, const char *spec)
{
    struct row *row = row_of(label);

    row->topos[row->n++] = topo_make(spec);
}

static void add_graph(const char *label, const char *text)
{
    struct row *row = row_of(label);
    struct wf_err err;

    must(wf_topo_graph_create_text("test", text, strlen(text), &row->topos[row->n++], &err),
         &err);
}

static void make_rows(void)
{
    static const char *const trees[] = {"star:2/star:3/star:2", "fattree:2x3/star:3",
                                        "tree:4/tree:3"};
    static const char *const others[] = {"torus:4x3/star:3", "mesh:2x2/torus:3/star:2",
                                         "dragonfly:1/star:2", "hyperx:3x2/torus:5"};
    static const char *const gates[] = {"star:3/torus:4x3", "fattree:2x3/ring:4"};
    char label[48];

    for (const struct wf_topo_ops *const *ops = wf_topo_table(); *ops != NULL; ops++) {
        for (const char *const *spec = (*ops)->examples; *spec != NULL; spec++) {
            bool oneway = strstr(*spec, "oneway") != NULL;
            (void)snprintf(label, sizeof(label), "%s%s", (*ops)->name,
                           oneway ? ", one-way" : "");
            add_spec(label, *spec);
        }
    }
    add_graph("graph file",
              "graph { a -- b; b -- c; c -- d; d -- a; a -- e; e -- f; f -- c; }");
    add_graph("graph file, one-way",
              "digraph { a -> b; b -> c; c -> d; d -> a; c -> e; e -> a; b -> d; }");
    for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
        add_spec("hierarchy of trees", trees[i]);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        add_spec("hierarchy entered through switches", others[i]);
    }
    for (size_t i = 0; i < sizeof(gates) / sizeof(gates[0]); i++) {
        add_spec("hierarchy of switches and direct networks", gates[i]);
    }
    add_spec("torus with a failed link", "torus:4x4");
    row_of("torus with a failed link")->fail = "link:0-1";
    add_spec("fattree with a failed switch", "fattree:4x4x2");
    row_of("fattree with a failed switch")->fail = "routers:1";
    add_spec("dragonfly with a failed link", "dragonfly:2");
    row_of("dragonfly with a failed link")->fail = "links:1";
    add_spec("torus, a link fails in time", "torus:4x4");
    row_of("torus, a link fails in time")->fail = "link:0-1@20ns-1us";
    add_spec("fattree, a switch fails in time", "fattree:4x4x2");
    row_of("fattree, a switch fails in time")->fail = "routers:1@20ns-1us";
    add_spec("dragonfly, a link fails in time", "dragonfly:2");
    row_of("dragonfly, a link fails in time")->fail = "links:1@20ns-1us";
}

/* ---- Models ---- */

static char routes_path[] = "/tmp/weft-routes-XXXXXX";

static uint32_t packet_vcs(const struct wf_net *net)
{
    return wf_packet_of(net)->n_channels;
}

static uint32_t router_vcs(const struct wf_net *net)
{
    return wf_router_of(net)->rules.vcs;
}

#define POLICIES \
    "minimal", "adaptive", "ecmp", "updown", "valiant", "ugal_l", "ugal_g", "par", "table"

static const char *const policies[] = {POLICIES, NULL};
static const char *const routings[] = {
    POLICIES,        "dor",           "dateline",     "dateline-free",
    "oblivious-1vc", "oblivious-3vc", "adaptive-3vc", NULL};

static const struct model {
    const char *title;
    const struct wf_net_ops *ops;
    const char *name, *value; /* the parameter that selects it */
    const char *const *routings;
    uint32_t (*vcs)(const struct wf_net *net);
} models[] = {
    {"packet", &wf_net_packet_ops, "buffers", "unbounded", policies, NULL},
    {"packet, `net.buffers=credits`", &wf_net_packet_ops, "buffers", "credits", policies,
     packet_vcs},
    {"router", &wf_net_router_ops, "switching", "cut-through", routings, router_vcs},
    {"router, `net.switching=wormhole`", &wf_net_router_ops, "switching", "wormhole", routings,
     router_vcs},
};

static void set(const struct wf_net_ops *ops, void *params, const char *name, const char *value)
{
    struct wf_err err = {.status = WF_OK};

    must(wf_param_set(ops->params, params, "net.", name, value, &err), &err);
}

static void *params_of(const struct model *model, const struct row *row, const char *routing)
{
    void *params = make_params(model->ops->params, model->ops->params_size);

    set(model->ops, params, model->name, model->value);
    set(model->ops, params, "routing", routing);
    set(model->ops, params, "routing_file", routes_path);
    set(model->ops, params, "fail", row->fail);
    return params;
}

/* ---- Cells ---- */

struct verdict {
    uint32_t least, most; /* virtual channels where it works; 0: it works nowhere */
    uint32_t works;       /* number of topologies */
    uint32_t refusals;    /* a bit for each reason */
};

/* Every node sends to the next one and to the last. */
static bool delivers(const struct model *model, const struct wf_topo *topo, const void *params)
{
    struct router_send sends[2 * NODES_MAX];
    int64_t arrival[2 * NODES_MAX];
    uint32_t n = 0, there = 0;

    for (uint32_t node = 0; node < topo->n_nodes; node++) {
        sends[n++] = (struct router_send){0, node, (node + 1) % topo->n_nodes, 200};
        sends[n++] = (struct router_send){1, node, topo->n_nodes - 1, 100};
    }
    (void)router_run_model(model->ops, topo, params,
                           &(struct setup){.scheduler = WF_SEQUENTIAL},
                           &(struct router_traffic){sends, n, arrival, NULL});
    for (uint32_t i = 0; i < n; i++) {
        there += arrival[i] >= 0;
    }
    return there == n;
}

static bool try_one(const struct model *model, const struct wf_topo *topo, const void *params,
                    struct verdict *verdict)
{
    const struct wf_net_env env = {.topo = topo, .n_nodes = topo->n_nodes};
    struct wf_err err = {.status = WF_OK};
    struct wf_net *net = NULL;

    if (model->ops->create(params, &env, &net, &err) != WF_OK) {
        uint32_t reason = find_reason(err.text);
        verdict->refusals |= UINT32_C(1) << reason;
        if (reason == N_REASONS) {
            printf("# a reason that this test does not know: %s\n", err.text);
        }
        return reason < N_REASONS;
    }
    uint32_t vcs = model->vcs != NULL ? model->vcs(net) : 1;
    verdict->least = verdict->works == 0 || vcs < verdict->least ? vcs : verdict->least;
    verdict->most = vcs > verdict->most ? vcs : verdict->most;
    verdict->works++;
    wf_net_free(net);
    /* One network of each kind is enough, and large ones would take long. */
    return verdict->works > 1 || topo->n_nodes > NODES_MAX || delivers(model, topo, params);
}

static bool try_all(const struct model *model, const struct row *row, const char *routing,
                    struct verdict *verdict)
{
    void *params = params_of(model, row, routing);
    bool right = true;

    *verdict = (struct verdict){.works = 0};
    for (uint32_t i = 0; i < row->n && right; i++) {
        right = try_one(model, row->topos[i], params, verdict);
    }
    free_params(model->ops->params, params);
    if (!right) {
        printf("# %s, %s on %s\n", model->title, routing, row->label);
    }
    return right;
}

static void word_cell(const struct model *model, const struct verdict *verdict, char *cell)
{
    size_t n = 0;

    cell[0] = '\0';
    if (verdict->works > 0 && model->vcs == NULL) {
        n = (size_t)snprintf(cell, CELL_MAX, "yes");
    } else if (verdict->works > 0 && verdict->least == verdict->most) {
        n = (size_t)snprintf(cell, CELL_MAX, "%u", (unsigned)verdict->least);
    } else if (verdict->works > 0) {
        n = (size_t)snprintf(cell, CELL_MAX, "%u-%u", (unsigned)verdict->least,
                             (unsigned)verdict->most);
    }
    for (uint32_t i = 0; i < N_REASONS && n + 6 < CELL_MAX; i++) {
        if ((verdict->refusals >> i & 1) != 0) {
            n += (size_t)snprintf(cell + n, CELL_MAX - n, "%s(%c)", n > 0 ? " " : "",
                                  (char)('a' + (int)i));
        }
    }
}

/* ---- The page ---- */

static char page[PAGE_MAX];
static uint32_t reasons_used; /* a bit for each */
static size_t page_size;

#define PRINT(...) \
    (page_size += (size_t)snprintf(page + page_size, PAGE_MAX - page_size, __VA_ARGS__))

static const char intro[] =
    "# Which routing works where\n"
    "\n"
    "`tests/conformance/test_routing_table.c` writes this page: it builds every network below "
    "with every routing and sends\nmessages over it. Do not edit the page; run "
    "`WEFT_TEST_WRITE=1 ctest --preset release -R conformance/routing_table`.\n"
    "\n"
    "A cell has the number of virtual channels of a link: the fewest and the most over the "
    "examples of the topology. A letter is\nthe reason why weft refuses the combination, or "
    "refuses it for some of the examples. Without finite buffers virtual channels\ndo not "
    "matter, and the cell is `yes`. [Routing](../models/routing.md) describes the policies, "
    "[router](../models/router.md) the\nroutings of that model alone. The models `loggp`, "
    "`alphabeta`, `latency` and `none` have no routing.\n";

static void print_model(const struct model *model, bool *right)
{
    PRINT("\n## %s\n\n| topology |", model->title);
    for (const char *const *name = model->routings; *name != NULL; name++) {
        PRINT(" `%s` |", *name);
    }
    PRINT("\n|---|");
    for (const char *const *name = model->routings; *name != NULL; name++) {
        PRINT("---|");
    }
    PRINT("\n");
    for (uint32_t i = 0; i < n_rows; i++) {
        PRINT("| %s |", rows[i].label);
        for (const char *const *name = model->routings; *name != NULL; name++) {
            struct verdict verdict;
            char cell[CELL_MAX];

            *right = try_all(model, &rows[i], *name, &verdict) && *right;
            reasons_used |= verdict.refusals;
            word_cell(model, &verdict, cell);
            PRINT(" %s |", cell);
        }
        PRINT("\n");
    }
}

/* What machines with each topology do. */
static void print_usual(void)
{
    PRINT("\n## Usual routing\n\n"
          "`net.routing=usual` is the policy that machines with the topology use, as far as "
          "weft has it. In a hierarchy it is the\nmost adaptive one of the levels. In the "
          "router model `minimal` and `adaptive` are then what `auto` chooses on grids\nand "
          "trees.\n\n| topology | usual routing |\n|---|---|\n");
    for (const struct wf_topo_ops *const *ops = wf_topo_table(); *ops != NULL; ops++) {
        PRINT("| %s | `%s` |\n", (*ops)->name,
              (*ops)->usual_routing != NULL ? (*ops)->usual_routing : "minimal");
    }
}

static void print_page(bool *right)
{
    PRINT("%s", intro);
    print_usual();
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
        print_model(&models[i], right);
    }
    PRINT("\n## Reasons\n\n");
    for (uint32_t i = 0; i < N_REASONS; i++) {
        if ((reasons_used >> i & 1) != 0) {
            PRINT("- (%c) %s\n", (char)('a' + (int)i), reasons[i].words);
        }
    }
}

static void compare_page(void)
{
    struct wf_buf buf = {.data = NULL};
    struct wf_err err = {.status = WF_OK};

    if (getenv("WEFT_TEST_WRITE") != NULL) {
        FILE *file = fopen(WF_TEST_PAGE, "w");
        CHECK(file != NULL);
        (void)fwrite(page, 1, page_size, file);
        CHECK(fclose(file) == 0);
        return;
    }
    must(wf_file_read(WF_TEST_PAGE, PAGE_MAX, &buf, &err), &err);
    bool equal = buf.size >= page_size && memcmp(buf.data, page, page_size) == 0 &&
                 (buf.size == page_size || buf.data[page_size] == '\0');
    wf_buf_fini(&buf);
    if (!equal) {
        printf("# docs/reference/routings.md is out of date: run\n"
               "# WEFT_TEST_WRITE=1 ctest --preset release -R conformance/routing_table\n");
    }
    CHECK(equal);
}

static void every_policy_is_in_the_table(void)
{
    const struct wf_route_ops *const *ops = wf_route_table();
    uint32_t n = 0;

    for (; *ops != NULL; ops++, n++) {
        uint32_t i = 0;
        while (policies[i] != NULL && strcmp(policies[i], (*ops)->name) != 0) {
            i++;
        }
        CHECK(policies[i] != NULL);
    }
    CHECK_U64(n + 1, sizeof(policies) / sizeof(policies[0]));
    /* All of the router's but the other name of ugal_l, usual and auto. */
    for (uint32_t i = 0; wf_router_routings[i] != NULL; i++) {
        uint32_t k = 0;
        while (routings[k] != NULL && strcmp(routings[k], wf_router_routings[i]) != 0) {
            k++;
        }
        CHECK(routings[k] != NULL || strcmp(wf_router_routings[i], "ugal") == 0 ||
              strcmp(wf_router_routings[i], "usual") == 0 ||
              strcmp(wf_router_routings[i], "auto") == 0);
    }
}

/* Each topology names a policy that exists and works on all of its examples. */
static void usual_routings_work(void)
{
    for (const struct wf_topo_ops *const *ops = wf_topo_table(); *ops != NULL; ops++) {
        for (const char *const *spec = (*ops)->examples; *spec != NULL; spec++) {
            const char *own = (*ops)->usual_routing != NULL ? (*ops)->usual_routing : "minimal";
            const struct wf_route_ops *policy = NULL;
            struct wf_topo *topo = topo_make(*spec);
            struct wf_route *route = NULL;
            struct wf_err err;

            CHECK_STR(wf_route_usual(topo), own);
            CHECK_U64(wf_route_find_on(topo, "usual", &policy, &err), WF_OK);
            CHECK_STR(policy->name, own);
            CHECK_U64(wf_route_create(policy, topo, "", &route, &err), WF_OK);
            wf_route_free(route);
            wf_topo_free(topo);
        }
    }
    struct wf_topo *topo = topo_make("dragonfly:1/fattree:2x2");
    CHECK_STR(wf_route_usual(topo), "ugal_l");
    wf_topo_free(topo);
}

static void the_page_is_up_to_date(void)
{
    bool right = true;
    int fd = mkstemp(routes_path);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;

    CHECK(file != NULL);
    (void)fputs("* * minimal\n", file);
    (void)fclose(file);
    make_rows();
    print_page(&right);
    (void)remove(routes_path);
    for (uint32_t i = 0; i < n_rows; i++) {
        for (uint32_t k = 0; k < rows[i].n; k++) {
            wf_topo_free(rows[i].topos[k]);
        }
    }
    CHECK(right && page_size < PAGE_MAX);
    compare_page();
}

int main(void)
{
    RUN(every_policy_is_in_the_table);
    RUN(usual_routings_work);
    RUN(the_page_is_up_to_date);
    return wf_test_done();
}
