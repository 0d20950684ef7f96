/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/machine_check.h"

#include "base/mem.h"
#include "base/result/doc.h"
#include "base/units.h"
#include "model/topo/topo.h"
#include "program/gen/gen.h"
#include "run/execute/run.h"
#include "run/machine/machine.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 4 };

static const double ps_per_second = 1e12;

/* A measurement that is being set up and run. */
struct probe {
    const struct wf_machine *machine;
    const struct wf_machine_published *what;
    struct wf_scenario *scenario;
    uint64_t nodes;          /* that take part, for collective measurements */
    uint64_t window, rounds; /* of a ping-pong or collective */
    uint64_t sent;           /* by all ranks of an exchange to other nodes, in messages */
    struct wf_err *err;
    enum wf_status status; /* of the settings so far */
};

/* ---- settings ---- */

static void set(struct probe *probe, const char *key, const char *value)
{
    if (probe->status == WF_OK) {
        probe->status = wf_scenario_set(probe->scenario, key, value, NULL, probe->err);
    }
}

static void set_count(struct probe *probe, const char *key, uint64_t value)
{
    char text[24];

    (void)snprintf(text, sizeof(text), "%" PRIu64, value);
    set(probe, key, text);
}

/* Sets what an entry gives as "key=value,key=value". */
static void set_all(struct probe *probe, const char *text)
{
    char *copy = wf_xstrdup(text), *rest = copy, *item;

    while ((item = strtok_r(rest, ",", &rest)) != NULL) {
        char *value = strchr(item, '=');

        if (value == NULL && probe->status == WF_OK) {
            probe->status = wf_err_set(probe->err, WF_EINVAL,
                                       "%s: set: '%.64s' is not a parameter and its value, as "
                                       "in net.routing=adaptive",
                                       probe->what->place, item);
        } else if (value != NULL) {
            *value = '\0';
            set(probe, item, value + 1);
        }
    }
    free(copy);
}

/* The value of a count that the machine sets; 1 if it sets none. */
static uint64_t count_of(const struct probe *probe, const char *key)
{
    const struct wf_setting *found = wf_scenario_find(probe->scenario, key);
    uint64_t count = 1;

    return found != NULL && wf_parse_count(found->value, &count, NULL) == WF_OK && count > 0
               ? count
               : 1;
}

static enum wf_status open_topology(const struct probe *probe, struct wf_topo **out)
{
    const struct wf_setting *topology = wf_scenario_find(probe->scenario, "topology");

    *out = NULL;
    if (topology == NULL) {
        return wf_err_set(probe->err, WF_EINVAL,
                          "%s: the machine has no topology on which to measure",
                          probe->what->place);
    }
    return wf_topo_create(topology->value, out, probe->err);
}

/* The node of the topology at which the first network interface of a node is. */
static uint32_t endpoint(const struct probe *probe, uint32_t node)
{
    uint64_t nics = count_of(probe, "node.nics"), group = count_of(probe, "node.nic_group");

    return (uint32_t)(node / group * group * nics + node % group);
}

/* The node that is nearest to node 0, or farthest from it; of several the first. 0 if there is
 * no other node. */
static uint32_t find_partner(const struct probe *probe, const struct wf_topo *topo)
{
    uint32_t n = topo->n_nodes / (uint32_t)count_of(probe, "node.nics"), best = 0;
    uint32_t best_hops = 0;

    for (uint32_t node = 1; node < n; node++) {
        uint32_t to = endpoint(probe, node);
        uint32_t hops =
            to < topo->n_nodes ? topo->ops->distance(topo, endpoint(probe, 0), to) : 0;
        bool better =
            probe->what->between == WF_MACHINE_FAR ? hops > best_hops : hops < best_hops;
        if (hops > 0 && (best == 0 || better)) {
            best = node;
            best_hops = hops;
        }
    }
    return best;
}

/* Puts the ranks of a pair of nodes on node 0 and its partner. */
static void place_on_two_nodes(struct probe *probe)
{
    struct wf_topo *topo = NULL;
    char text[64];

    if (probe->status != WF_OK || (probe->status = open_topology(probe, &topo)) != WF_OK) {
        return;
    }
    uint32_t partner = find_partner(probe, topo);
    wf_topo_free(topo);
    if (partner == 0) {
        probe->status =
            wf_err_set(probe->err, WF_EINVAL,
                       "%s: two nodes are needed, but the machine has one", probe->what->place);
        return;
    }
    (void)snprintf(text, sizeof(text), "nodes:0,%u", partner);
    set(probe, "placement", text);
    set_count(probe, "ranks_per_node", probe->what->ranks_per_node);
    set_count(probe, "ranks", 2 * probe->what->ranks_per_node);
}

/* Puts ranks on cores of one node such that rank 0 and the first rank of the second half are in
 * the same domain, in two domains of a socket, or in two sockets. */
static void place_on_one_node(struct probe *probe)
{
    /* A node has sockets, which have domains, which have cores. */
    const uint64_t counts[] = {count_of(probe, "node.cores"), count_of(probe, "node.domains"),
                               count_of(probe, "node.sockets"), 1};
    int level = probe->what->between - WF_MACHINE_DOMAIN;
    uint64_t ranks = 2 * (counts[0] / counts[level]);

    if (counts[level] < 2 * counts[level + 1] || counts[0] < counts[level]) {
        probe->status = wf_err_set(probe->err, WF_EINVAL,
                                   "%s: a node of the machine has no two such cores; "
                                   "node.cores, node.domains and node.sockets are needed",
                                   probe->what->place);
        return;
    }
    set(probe, "placement", "nodes:0");
    set(probe, "node.bind", "pack");
    set_count(probe, "ranks_per_node", ranks);
    set_count(probe, "ranks", ranks);
    set_count(probe, "gen.pairs", 1);
}

static bool is_within_node(const struct wf_machine_published *what)
{
    return what->between >= WF_MACHINE_DOMAIN;
}

/* Sets the window: what the entry says, or `preset`. */
static void set_window(struct probe *probe, uint64_t preset)
{
    probe->window = probe->what->window > 0 ? probe->what->window : preset;
    set_count(probe, "gen.window", probe->window);
}

/* ---- programs ---- */

static void set_pair(struct probe *probe, uint64_t window)
{
    set(probe, "source", "gen:pingpong");
    set_count(probe, "gen.bytes", probe->what->bytes);
    set(probe, "gen.both", probe->what->both ? "true" : "false");
    set_window(probe, window);
    /* A window has many messages, of which the first and last hardly matter. */
    probe->rounds = probe->window > 1 ? 1 : ROUNDS;
    set_count(probe, "gen.rounds", probe->rounds);
    if (is_within_node(probe->what)) {
        place_on_one_node(probe);
    } else {
        place_on_two_nodes(probe);
    }
}

static void set_latency(struct probe *probe)
{
    set_pair(probe, 1);
}

static void set_message_rate(struct probe *probe)
{
    set_pair(probe, 64);
}

/* Puts ranks on the first nodes, as many as the entry says. */
static void place_on_many_nodes(struct probe *probe)
{
    struct wf_topo *topo = NULL;

    if (probe->status != WF_OK || (probe->status = open_topology(probe, &topo)) != WF_OK) {
        return;
    }
    uint64_t there = topo->n_nodes / count_of(probe, "node.nics");
    uint64_t nodes = probe->what->nodes > 0 ? probe->what->nodes : there;
    wf_topo_free(topo);
    if (nodes > there || nodes * probe->what->ranks_per_node > UINT32_MAX) {
        probe->status = wf_err_set(probe->err, WF_EINVAL,
                                   "%s: %" PRIu64 " nodes are needed, but there are %" PRIu64,
                                   probe->what->place, nodes, there);
        return;
    }
    probe->nodes = nodes;
    set(probe, "placement", "linear");
    set_count(probe, "ranks_per_node", probe->what->ranks_per_node);
    set_count(probe, "ranks", nodes * probe->what->ranks_per_node);
}

/* Counts the messages of an exchange between ranks that are on different nodes. */
static uint64_t count_sent(const struct wf_source *source, uint64_t ranks_per_node)
{
    uint64_t n = 0;

    for (uint32_t rank = 0; rank < source->n_ranks; rank++) {
        struct wf_cursor cursor = {.word = {0}};
        struct wf_op op;

        while (wf_source_next(source, rank, &cursor, &op)) {
            n += op.kind == WF_OP_ISEND && op.peer / ranks_per_node != rank / ranks_per_node;
        }
    }
    return n;
}

/* The messages of the exchange that the settings describe. */
static void count_exchange(struct probe *probe, uint32_t ranks)
{
    const struct wf_source_ops *ops = &wf_gen_exchange_ops;
    void *params = wf_xcalloc(1, ops->params_size);
    struct wf_source *source = NULL;
    char peers[24];

    (void)snprintf(peers, sizeof(peers), "%" PRIu64, probe->what->peers);
    probe->status = wf_param_defaults(ops->params, params, probe->err);
    if (probe->status == WF_OK) {
        probe->status = wf_param_set(ops->params, params, "gen.", "peers", peers, probe->err);
    }
    if (probe->status == WF_OK) {
        probe->status = ops->create(params, ranks, &source, probe->err);
    }
    if (probe->status == WF_OK) {
        probe->sent = count_sent(source, probe->what->ranks_per_node);
    }
    wf_source_free(source);
    wf_param_release(ops->params, params);
    free(params);
}

static void set_alltoall(struct probe *probe)
{
    place_on_many_nodes(probe);
    set(probe, "source", "gen:exchange");
    set_count(probe, "gen.bytes", probe->what->bytes);
    set_count(probe, "gen.peers", probe->what->peers);
    set_window(probe, 16);
    if (probe->status == WF_OK) {
        count_exchange(probe, (uint32_t)(probe->nodes * probe->what->ranks_per_node));
    }
}

static void set_bisection(struct probe *probe)
{
    place_on_many_nodes(probe);
    set(probe, "source", "gen:pingpong");
    set_count(probe, "gen.bytes", probe->what->bytes);
    set_count(probe, "gen.rounds", 1);
    set(probe, "gen.both", "true");
    set_window(probe, 4);
}

static void set_collective(struct probe *probe)
{
    place_on_many_nodes(probe);
    set(probe, "source", "gen:coll");
    set(probe, "gen.kind", probe->what->what == WF_MACHINE_BARRIER ? "barrier" : "allreduce");
    set_count(probe, "gen.bytes", probe->what->bytes);
    set_count(probe, "gen.iterations", ROUNDS);
}

/* ---- results ---- */

/* `time` is that of the whole program in picoseconds; see enum wf_machine_what for results. */

static double eval_latency(const struct probe *probe, double time)
{
    return time / (2.0 * (double)probe->rounds * (double)probe->window);
}

/* Messages that go from one node to the other in one direction, or in both. */
static double messages(const struct probe *probe)
{
    double pairs = is_within_node(probe->what) ? 1 : (double)probe->what->ranks_per_node;

    return 2.0 * (double)probe->rounds * (double)probe->window * pairs;
}

static double eval_bandwidth(const struct probe *probe, double time)
{
    return messages(probe) * (double)probe->what->bytes / time * ps_per_second;
}

static double eval_message_rate(const struct probe *probe, double time)
{
    return messages(probe) / (probe->what->both ? 2 : 1) / time * ps_per_second;
}

static double eval_alltoall(const struct probe *probe, double time)
{
    return (double)probe->sent / (double)probe->nodes * (double)probe->what->bytes / time *
           ps_per_second;
}

static double eval_bisection(const struct probe *probe, double time)
{
    return (double)probe->window * (double)probe->what->ranks_per_node *
           (double)probe->what->bytes / time * ps_per_second;
}

static double eval_collective(const struct probe *probe, double time)
{
    (void)probe;
    return time / ROUNDS;
}

/* nccl-tests: the bandwidth that each link of a ring would need for the same time. */
static double eval_bus(const struct probe *probe, double time)
{
    double ranks = (double)(probe->nodes * probe->what->ranks_per_node);

    return 2 * (ranks - 1) / ranks * (double)probe->what->bytes * ROUNDS / time * ps_per_second;
}

static const struct {
    void (*set)(struct probe *probe);
    double (*eval)(const struct probe *probe, double time);
} programs[WF_MACHINE_N_WHAT] = {
    [WF_MACHINE_LATENCY] = {set_latency, eval_latency},
    [WF_MACHINE_BANDWIDTH] = {set_latency, eval_bandwidth},
    [WF_MACHINE_MESSAGE_RATE] = {set_message_rate, eval_message_rate},
    [WF_MACHINE_ALLTOALL] = {set_alltoall, eval_alltoall},
    [WF_MACHINE_BISECTION] = {set_bisection, eval_bisection},
    [WF_MACHINE_BARRIER] = {set_collective, eval_collective},
    [WF_MACHINE_ALLREDUCE] = {set_collective, eval_collective},
    [WF_MACHINE_BUS] = {set_collective, eval_bus},
};

/* ---- all measurements ---- */

struct work {
    const struct wf_machine *machine;
    const struct wf_points_host *host;
    struct wf_study_check *check;
};

static void simulate(struct probe *probe, const struct wf_sim_host *host,
                     struct wf_study_check_row *row)
{
    const struct wf_machine_published *what = row->published;
    struct wf_value *doc = NULL;

    if (what->topology[0] != '\0') {
        set(probe, "topology", what->topology);
    }
    set_all(probe, what->set);
    programs[what->what].set(probe);
    if (probe->status == WF_OK) {
        probe->status = wf_sim_run(probe->scenario, host, &doc, probe->err);
    }
    if (probe->status == WF_OK) {
        double time = (double)wf_doc_get_count(doc, "result.predicted_time_ps", 0);
        row->ran = true;
        row->predicted = programs[what->what].eval(probe, time > 0 ? time : 1);
        row->off_percent = 100 * (row->predicted - what->number) / what->number;
    }
    wf_doc_free(doc);
    if (probe->status != WF_OK && strstr(probe->err->text, what->place) == NULL) {
        wf_err_prefix(probe->err, "%s: ", what->place);
    }
    row->err.status = probe->status;
}

static bool run_row(void *arg, size_t i)
{
    const struct work *work = arg;
    struct wf_study_check_row *row = &work->check->rows[i];
    const struct wf_sim_host host = {.stop = work->host->stop,
                                     .running = work->host->running,
                                     .running_arg = work->host->running_arg};
    struct probe probe = {
        .machine = work->machine,
        .what = row->published,
        .scenario = wf_scenario_new(),
        .err = &row->err,
        .status = WF_OK,
    };

    wf_scenario_append(probe.scenario, work->machine->scenario);
    simulate(&probe, &host, row);
    wf_scenario_free(probe.scenario);
    return true;
}

enum wf_status wf_study_check_run(const struct wf_machine *machine,
                                  const struct wf_points_host *host, struct wf_study_check *out,
                                  struct wf_err *err)
{
    struct work work = {.machine = machine, .host = host, .check = out};

    out->n = machine->n_published;
    out->rows = wf_xcalloc(out->n + 1, sizeof(*out->rows));
    for (size_t i = 0; i < out->n; i++) {
        out->rows[i].published = &machine->published[i];
    }
    if (!wf_points_run(host, out->n, 0, run_row, &work)) {
        return wf_err_set(err, WF_EINTR, "interrupted");
    }
    for (size_t i = 0; i < out->n; i++) {
        if (!out->rows[i].ran) {
            *err = out->rows[i].err;
            return err->status;
        }
    }
    return WF_OK;
}

void wf_study_check_release(struct wf_study_check *check)
{
    free(check->rows);
    *check = (struct wf_study_check){.rows = NULL};
}

/* ---- output ---- */

/* A value in the unit of what was measured, for people. */
static void show_value(const struct wf_machine_published *p, double value, char *buf,
                       size_t size)
{
    char text[WF_UNITS_TEXT_MAX];

    switch (wf_machine_unit_of((enum wf_machine_what)p->what)) {
    case WF_MACHINE_TIME:
        (void)snprintf(buf, size, "%s", wf_human_time((int64_t)llround(value), text));
        break;
    case WF_MACHINE_RATE:
        (void)snprintf(buf, size, "%sB/s", wf_human_count(value, text));
        break;
    case WF_MACHINE_PER_SECOND:
        (void)snprintf(buf, size, "%s/s", wf_human_count(value, text));
        break;
    }
}

void wf_study_check_print(const struct wf_study_check *check, FILE *out)
{
    char what[128];
    int width = 0;

    for (size_t i = 0; i < check->n; i++) {
        wf_machine_published_describe(check->rows[i].published, what, sizeof(what));
        width = (int)strlen(what) > width ? (int)strlen(what) : width;
    }
    (void)fprintf(out, "%-*s %12s %12s %8s  %s\n", width, "what", "published", "predicted",
                  "off", "source");
    for (size_t i = 0; i < check->n; i++) {
        const struct wf_study_check_row *row = &check->rows[i];
        char published[64], predicted[64] = "failed", off[32] = "";

        wf_machine_published_describe(row->published, what, sizeof(what));
        show_value(row->published, row->published->number, published, sizeof(published));
        if (row->ran) {
            show_value(row->published, row->predicted, predicted, sizeof(predicted));
            (void)snprintf(off, sizeof(off), "%+.1f %%", row->off_percent);
        }
        (void)fprintf(out, "%-*s %12s %12s %8s  %s\n", width, what, published, predicted, off,
                      row->published->source);
    }
}

static void add_row(const struct wf_study_check_row *row, struct wf_value *item)
{
    static const char *const names[][2] = {
        [WF_MACHINE_TIME] = {"published_ps", "predicted_ps"},
        [WF_MACHINE_RATE] = {"published_bytes_per_second", "predicted_bytes_per_second"},
        [WF_MACHINE_PER_SECOND] = {"published_per_second", "predicted_per_second"},
    };
    const struct wf_machine_published *p = row->published;
    enum wf_machine_unit unit = wf_machine_unit_of((enum wf_machine_what)p->what);
    char text[128];

    wf_machine_published_describe(p, text, sizeof(text));
    wf_doc_text(item, "what", wf_machine_what_names[p->what]);
    wf_doc_text(item, "description", text);
    wf_doc_measured(item, names[unit][0], p->number, 0);
    if (row->ran) {
        wf_doc_measured(item, names[unit][1], row->predicted, 0);
        wf_doc_measured(item, "off_percent", row->off_percent, 2);
    } else {
        wf_doc_text(item, "error", row->err.text);
    }
    wf_doc_real(item, "tolerance_percent", p->tolerance_percent);
    wf_doc_bool(item, "within_tolerance",
                row->ran && fabs(row->off_percent) <= p->tolerance_percent);
    wf_doc_text(item, "source", p->source);
    wf_doc_text(item, "place", p->place);
}

void wf_study_check_add(const struct wf_study_check *check, struct wf_value *doc)
{
    struct wf_value *list = wf_doc_list(doc, "checks");

    for (size_t i = 0; i < check->n; i++) {
        add_row(&check->rows[i], wf_doc_section(list, NULL));
    }
}
