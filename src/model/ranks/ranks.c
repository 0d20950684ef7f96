/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of ranks, and how they are added to an engine. */
#include "model/ranks/ranks.h"

#include "base/mem.h"
#include "base/text.h"
#include "model/ranks/files.h"
#include "model/ranks/node.h"
#include "model/ranks/node_totals.h"
#include "model/ranks/protocol.h"
#include "model/ranks/tasks/pe.h"

#include <stdlib.h>
#include <string.h>

static const char *const rendezvous_names[] = {"write", "read", NULL};
static const char *const progress_names[] = {"independent", "calls", "waits", NULL};
static const char *const coll_order_names[] = {"auto", "free", "serial", NULL};
static const char *const copies_names[] = {"auto", "all", "one", NULL};
static const char *const policy_names[] = {"timed", "causal", "asap", NULL};
static const char *const wildcard_names[] = {"recorded", "arrival", NULL};

#define ROW(owner, row_name, row_type, member) \
    .name = (row_name), .type = (row_type), .offset = offsetof(struct owner, member)

/* One row per collective; the parameter has the name of the collective. */
#define ALGORITHM(kind, text, rooted)                                                        \
    {.name = (text),                                                                         \
     .type = WF_PARAM_TEXT,                                                                  \
     .offset = offsetof(struct wf_mpi_params, algorithms) + WF_COLL_##kind * sizeof(char *), \
     .def = "auto",                                                                          \
     .doc = "Algorithm of " text                                                             \
            "; auto: the rules choose; ideal, hardware and nccl are formulas"},

const struct wf_param wf_mpi_params[] = {
    {ROW(wf_mpi_params, "eager_max", WF_PARAM_SIZE, eager_max), .word = "unlimited",
     .def = "unlimited", .writes_number = true,
     .doc = "Messages up to this size are sent eagerly, longer ones by rendezvous"},
    {ROW(wf_mpi_params, "rendezvous", WF_PARAM_ENUM, rendezvous), .def = "write",
     .choices = rendezvous_names,
     .doc = "How the data of long messages moves: the sender writes it once the receiver has "
            "asked, or the receiver reads it without the sender's CPU and then confirms"},
    {ROW(wf_mpi_params, "progress", WF_PARAM_ENUM, progress), .def = "independent",
     .choices = progress_names,
     .doc = "Whether long messages and nonblocking collectives make progress while a rank "
            "computes, only in its calls, or only in calls that wait or test"},
    {ROW(wf_mpi_params, "control_bytes", WF_PARAM_SIZE, control_bytes), .def = "0",
     .doc = "Size of the control messages of the rendezvous protocol"},
    {ROW(wf_mpi_params, "unexpected_limit", WF_PARAM_SIZE, unexpected_limit),
     .word = "unlimited", .def = "unlimited", .writes_number = true,
     .doc = "Bytes of unexpected messages that a rank can hold; with more, the program fails"},
    {ROW(wf_mpi_params, "local", WF_PARAM_BOOL, local), .def = "true",
     .doc = "Whether ranks on one node exchange messages without the network"},
    {ROW(wf_mpi_params, "local_latency", WF_PARAM_TIME, local_latency), .def = "300ns",
     .min = "0", .max = "1h", .what_if = WF_WHAT_IF_LATENCY,
     .doc = "Latency of a message within a node"},
    {ROW(wf_mpi_params, "local_bandwidth", WF_PARAM_RATE, local_bandwidth), .def = "10GB/s",
     .what_if = WF_WHAT_IF_BANDWIDTH, .doc = "Bandwidth of a message within a node"},
    {ROW(wf_mpi_params, "rules", WF_PARAM_ENUM, rules), .def = "mpich",
     .choices = wf_coll_rules_names,
     .doc = "The library whose rules choose the algorithms of collectives. nccl: the time of a "
            "formula, or of the traffic between nodes if it takes longer; nccl_formula: the "
            "formula only"},
    {ROW(wf_mpi_params, "coll_order", WF_PARAM_ENUM, coll_order), .def = "auto",
     .choices = coll_order_names,
     .doc = "Whether collectives of one communicator that a rank has begun run at once (free) "
            "or one after another (serial). auto: serial with the rules of NCCL, else free"},
    {ROW(wf_mpi_params, "hw_latency", WF_PARAM_TIME, hw_latency), .def = "500ns", .min = "0",
     .max = "1h", .what_if = WF_WHAT_IF_LATENCY,
     .doc = "Formula 'hardware' of collectives: latency of each of the log2(ranks) levels"},
    {ROW(wf_mpi_params, "hw_bandwidth", WF_PARAM_RATE, hw_bandwidth), .def = "10GB/s",
     .what_if = WF_WHAT_IF_BANDWIDTH,
     .doc = "Formula 'hardware' of collectives: bandwidth of the data"},
    {ROW(wf_mpi_params, "reduce_bandwidth", WF_PARAM_RATE, reduce_bandwidth),
     .word = "unlimited", .def = "unlimited", .what_if = WF_WHAT_IF_BANDWIDTH,
     .doc = "Bandwidth at which a rank combines the data that it receives in a collective"},
    {ROW(wf_mpi_params, "nccl_gpu", WF_PARAM_ENUM, nccl.gpu), .def = "hopper",
     .choices = wf_coll_nccl_gpu_names,
     .doc = "NCCL: the generation of the GPUs; mi300: the tables of RCCL"},
    {ROW(wf_mpi_params, "nccl_nvlink", WF_PARAM_RATE, nccl.nvlink), .def = "370.8GB/s",
     .what_if = WF_WHAT_IF_BANDWIDTH,
     .doc = "NCCL: bandwidth of a GPU to the others of its node, in each direction"},
    {ROW(wf_mpi_params, "nccl_nic", WF_PARAM_RATE, nccl.nic), .def = "48GB/s",
     .what_if = WF_WHAT_IF_BANDWIDTH, .doc = "NCCL: bandwidth of a network interface"},
    {ROW(wf_mpi_params, "nccl_nic_latency", WF_PARAM_TIME, nccl.nic_latency), .def = "0",
     .max = "1h", .what_if = WF_WHAT_IF_LATENCY,
     .doc = "NCCL: latency of the network interface, besides that in its tables"},
    {ROW(wf_mpi_params, "nccl_nvls", WF_PARAM_BOOL, nccl.nvls), .def = "true",
     .doc = "NCCL: whether the switches of NVLink reduce (from Hopper on)"},
    {ROW(wf_mpi_params, "nccl_sharp", WF_PARAM_BOOL, nccl.sharp), .def = "false",
     .doc = "NCCL: whether the switches of the network reduce"},
    WF_COLL_MAP(ALGORITHM) WF_PARAM_END,
};

const struct wf_param wf_replay_params[] = {
    {ROW(wf_replay_params, "policy", WF_PARAM_ENUM, policy), .def = "timed",
     .choices = policy_names,
     .doc =
         "timed: compute times too; causal: only the order of messages; asap: only sends, as "
         "fast as the network takes them"},
    {ROW(wf_replay_params, "wildcards", WF_PARAM_ENUM, wildcards), .def = "recorded",
     .choices = wildcard_names,
     .doc = "Wildcard receives match what they matched in the recording, or what arrives first "
            "in this run"},
    {ROW(wf_replay_params, "granularity", WF_PARAM_ENUM, granularity), .def = "multi",
     .choices = wf_pe_granularity_names,
     .doc = "Task graphs: one event for each task, or for all tasks that are ready"},
    {ROW(wf_replay_params, "captured", WF_PARAM_BOOL, captured), .def = "false",
     .doc = "Predict the captured run itself: add the cost of capturing it, which the trace "
            "has, to the compute times"},
    {ROW(wf_replay_params, "stall_limit", WF_PARAM_COUNT, stall_limit), .def = "1000000",
     .doc = "Operations of a rank in a row that take no simulated time; with more, the program "
            "fails. A thousand times as many where messages take no time. 0: no limit"},
    {ROW(wf_replay_params, "copies", WF_PARAM_ENUM, copies), .def = "auto",
     .choices = copies_names,
     .doc =
         "Which of the replicas of gen:llm, which do the same, are simulated: as few as stand "
         "for all, or all; auto: few where the result is the same, since nodes share no "
         "links"},
    {ROW(wf_replay_params, "robust", WF_PARAM_BOOL, robust), .def = "false",
     .doc = "Correct compute times of a trace that the operating system disturbed while they "
            "were recorded, by those of the same place in other ranks and iterations"},
    WF_PARAM_END,
};

static enum wf_status unknown_algorithm(enum wf_coll_kind kind, const char *name,
                                        struct wf_err *err)
{
    char hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    wf_nearest_begin(&nearest, name);
    wf_nearest_add(&nearest, "auto");
    wf_nearest_add(&nearest, "ideal");
    wf_nearest_add(&nearest, "hardware");
    wf_nearest_add(&nearest, "nccl");
    for (const struct wf_coll_ops *const *ops = wf_coll_table(); *ops != NULL; ops++) {
        if ((*ops)->kind == kind) {
            wf_nearest_add(&nearest, (*ops)->name);
        }
    }
    (void)wf_nearest_hint(&nearest, hint);
    return wf_err_set(err, WF_EUSAGE, "mpi.%s: no algorithm '%.64s'%s", wf_coll_name(kind),
                      name, hint[0] != '\0' ? hint : "; 'weft coll list' shows all");
}

static bool has_nccl_rules(const struct wf_mpi_params *mpi)
{
    return mpi->rules == WF_COLL_RULES_NCCL || mpi->rules == WF_COLL_RULES_NCCL_FORMULA;
}

struct wf_coll_nccl wf_mpi_nccl(const struct wf_mpi_params *mpi,
                                const struct wf_node_params *node, const struct wf_net *net,
                                uint32_t slots)
{
    struct wf_coll_nccl nccl = mpi->nccl;

    nccl.nics = net->ends.nics;
    nccl.nics_per_gpu = node->nic_policy == WF_NODE_NIC_STRIPE ? net->ends.nics / slots : 1;
    return nccl;
}

uint32_t wf_mpi_by_table(const struct wf_mpi_params *mpi)
{
    uint32_t kinds = 0;

    for (uint32_t kind = 0; kind < WF_COLL_KINDS; kind++) {
        const char *name = mpi->algorithms[kind];
        bool by_rules = has_nccl_rules(mpi) && (name == NULL || strcmp(name, "auto") == 0);
        bool chosen = by_rules || (name != NULL && wf_formula_find(name) == WF_FORMULA_NCCL);
        kinds |= chosen && wf_coll_nccl_has((enum wf_coll_kind)kind) ? UINT32_C(1) << kind : 0;
    }
    return kinds;
}

static enum wf_status find_algorithms(struct wf_ranks *ranks, struct wf_err *err)
{
    struct wf_ranks_coll *coll = &ranks->coll;
    bool is_nccl = has_nccl_rules(ranks->mpi);
    bool by_node = is_nccl;

    coll->order = (enum wf_mpi_coll_order)ranks->mpi->coll_order;
    if (coll->order == WF_COLL_ORDER_AUTO) {
        coll->order = is_nccl ? WF_COLL_ORDER_SERIAL : WF_COLL_ORDER_FREE;
    }
    if (wf_ranks_only_send(ranks)) {
        coll->order = WF_COLL_ORDER_FREE;
    }
    for (int kind = 0; kind < WF_COLL_KINDS; kind++) {
        const char *name = ranks->mpi->algorithms[kind];

        coll->algorithm[kind] = NULL;
        coll->formula[kind] = (uint8_t)wf_formula_find(name);
        if (coll->formula[kind] == WF_FORMULA_NCCL &&
            !wf_coll_nccl_has((enum wf_coll_kind)kind)) {
            return wf_err_set(err, WF_EUSAGE, "mpi.%s: NCCL has no such collective",
                              wf_coll_name((enum wf_coll_kind)kind));
        }
        by_node |= coll->formula[kind] == WF_FORMULA_NCCL;
        if (strcmp(name, "auto") != 0 && coll->formula[kind] == WF_FORMULA_NONE) {
            coll->algorithm[kind] = wf_coll_find((enum wf_coll_kind)kind, name);
            if (coll->algorithm[kind] == NULL) {
                return unknown_algorithm((enum wf_coll_kind)kind, name, err);
            }
            by_node |= coll->algorithm[kind]->by_node;
        }
    }
    coll->place = by_node ? ranks->place : NULL;
    coll->nccl = wf_mpi_nccl(ranks->mpi, ranks->node, ranks->net, ranks->place->slots_max);
    return WF_OK;
}

/* Some settings need to know which messages a rank has not received yet, and whether it computes.
 * Ranks that share cores must claim them in the order of time. Otherwise ranks may run ahead of the
 * engine's time if network and interface take departures in any order. They also may if these take
 * them in order, each interface has only one rank, and only its calls send. */
static enum wf_ranks_pace pace_of(const struct wf_ranks *ranks, bool background)
{
    enum wf_net_ahead ahead = wf_node_nic_ahead(ranks->net, &ranks->costs);

    if (ranks->mpi->progress != WF_PROGRESS_INDEPENDENT ||
        ranks->mpi->unexpected_limit != UINT64_MAX || ranks->polling.period > 0 ||
        wf_cores_init(ranks->node, ranks->place->slots_max).shared) {
        return WF_PACE_CALLS;
    }
    return ahead == WF_NET_ANY ||
                   (ahead == WF_NET_IN_ORDER && ranks->rails.ranks_per_nic == 1 &&
                    !background && ranks->mpi->eager_max == UINT64_MAX)
               ? WF_PACE_AHEAD
               : WF_PACE_SENDS;
}

/* Matching with wildcards, and settings that need to know what a rank has received so far,
 * depend on the order in which messages from the network and from ranks of the node arrive. So
 * the delays of the network interface become events there. */
static enum wf_ranks_arrivals arrivals_of(const struct wf_ranks *ranks, bool depends_on_time)
{
    bool mixed = ranks->place->slots_max > 1 && ranks->mpi->local;

    if (ranks->polling.period > 0) {
        return WF_ARRIVALS_POLLED;
    }
    if (wf_node_nics_are_free(ranks->net, &ranks->costs)) {
        return WF_ARRIVALS_AT_ONCE;
    }
    return (ranks->costs.delay > 0 || ranks->costs.gap > 0) &&
                   (ranks->pace == WF_PACE_CALLS || (mixed && depends_on_time))
               ? WF_ARRIVALS_IN_EVENTS
               : WF_ARRIVALS_EARLY;
}

static void set_nics(struct wf_ranks *ranks)
{
    ranks->nics = (struct wf_node_nics){
        .net = ranks->net,
        .costs = &ranks->costs,
        .offset = wf_node_net_size(ranks->net),
        .depart = WF_NODE_DEPART,
        .inject = WF_NODE_INJECT,
        .runs_ahead = ranks->pace == WF_PACE_AHEAD,
        .is_free = ranks->arrivals == WF_ARRIVALS_AT_ONCE,
    };
    ranks->rails.turn_at = ranks->nics.offset + wf_node_nics_size(ranks->net, &ranks->costs);
    ranks->slots_at = ranks->rails.turn_at + wf_rails_state_size(&ranks->rails);
}

/* The interfaces of the nodes, and which messages may take several of them. */
static enum wf_status make_rails(struct wf_ranks *ranks, struct wf_err *err)
{
    const struct wf_node_params *node = ranks->node;

    if (node->nics > 1 && node->nic_policy != WF_NODE_NIC_RANK &&
        ranks->mpi->eager_max == UINT64_MAX) {
        return wf_err_set(err, WF_EUSAGE,
                          "node.nic_policy: %s applies to messages sent by rendezvous, but "
                          "mpi.eager_max is unlimited; set mpi.eager_max, such as 16KiB",
                          node->nic_policy == WF_NODE_NIC_STRIPE ? "stripe" : "round_robin");
    }
    return wf_rails_init(&ranks->rails, ranks->place, ranks->net, node, err);
}

/* The cost of capturing one computation, by rank; null if it is not added. */
static int64_t *find_capture_costs(const struct wf_ranks *ranks, uint32_t n_ranks)
{
    int64_t *costs = NULL;

    if (!ranks->params.captured) {
        return NULL;
    }
    costs = wf_xcalloc(n_ranks, sizeof(*costs));
    for (uint32_t job = 0; job < ranks->n_jobs; job++) {
        const struct wf_source *source = ranks->jobs[job].source;
        for (uint32_t rank = 0; rank < source->n_ranks; rank++) {
            (void)wf_source_cost(source, rank, &costs[ranks->first[job] + rank]);
        }
    }
    return costs;
}

/* Where messages take no time, programs without compute times are over at time 0: it takes more
 * to tell that they stand still. */
static uint64_t stall_limit(const struct wf_ranks_config *config)
{
    enum { MORE_WITHOUT_TIME = 1000 };
    bool timeless =
        config->net->ops->contention == WF_NET_FREE || config->params->policy == WF_POLICY_ASAP;
    uint64_t limit = config->params->stall_limit;

    return limit == 0 || limit > UINT64_MAX / MORE_WITHOUT_TIME ? UINT64_MAX
           : timeless                                           ? limit * MORE_WITHOUT_TIME
                                                                : limit;
}

static struct wf_ranks *make_ranks(const struct wf_ranks_config *config)
{
    struct wf_ranks *ranks = wf_xcalloc(1, sizeof(*ranks));
    uint32_t n_ranks = 0;

    ranks->net = config->net;
    ranks->place = config->place;
    ranks->mpi = config->mpi;
    ranks->node = config->node != NULL ? config->node : &wf_node_free;
    ranks->costs = wf_node_costs_of(ranks->node, config->net);
    ranks->params = *config->params;
    ranks->stall_limit = stall_limit(config);
    ranks->cpu = config->cpu;
    ranks->noise = wf_noise_init(ranks->node, config->seed);
    ranks->n_jobs = config->n_jobs;
    ranks->jobs = wf_xcalloc(config->n_jobs, sizeof(*ranks->jobs));
    ranks->first = wf_xcalloc(config->n_jobs + 1, sizeof(*ranks->first));
    for (uint32_t i = 0; i < config->n_jobs; i++) {
        ranks->jobs[i] = config->jobs[i];
        ranks->first[i] = n_ranks;
        n_ranks += config->jobs[i].source->n_ranks;
    }
    ranks->first[config->n_jobs] = n_ranks;
    ranks->live = wf_live_new(ranks);
    ranks->contention = wf_cpu_contention_init(ranks->node, config->cpu, n_ranks);
    ranks->polling = wf_node_polling_of(ranks->node, n_ranks, config->seed);
    return ranks;
}

static enum wf_status check_ranks(struct wf_ranks *ranks, struct wf_err *err)
{
    WF_TRY(wf_node_check(ranks->place, ranks->net, ranks->first[ranks->n_jobs], "ranks", err));
    WF_TRY(wf_node_params_check(ranks->node, err));
    WF_TRY(find_algorithms(ranks, err));
    return make_rails(ranks, err);
}

/* Decides how far ranks keep to the engine's time. */
static void set_pace(struct wf_ranks *ranks)
{
    bool background = wf_files_send_messages(&ranks->files), depends_on_time = false;

    for (uint32_t i = 0; i < ranks->n_jobs; i++) {
        background |= ranks->jobs[i].source->acts_in_background;
        depends_on_time |= ranks->jobs[i].source->depends_on_time;
    }
    ranks->pace = pace_of(ranks, background);
    ranks->arrivals = arrivals_of(ranks, depends_on_time);
    set_nics(ranks);
}

/* Asks for the tally; what is recorded decides which handlers nodes have. */
static void add_tally(struct wf_ranks *ranks, const struct wf_ranks_config *config,
                      struct wf_engine *engine)
{
    wf_engine_tally(engine,
                    wf_recorder_init(&ranks->recorder, config->recording, &ranks->rails,
                                     config->net, sizeof(struct wf_ranks_tally),
                                     (struct wf_tally_lists){ranks->n_jobs,
                                                             wf_files_servers(&ranks->files)}),
                    wf_tally_merge_all);
    ranks->recorder.ends = config->ends;
}

/* Adds the nodes; returns the process number of the first. */
static uint32_t add_nodes(struct wf_ranks *ranks, struct wf_engine *engine)
{
    uint32_t slots_max = ranks->place->slots_max;
    size_t size = ranks->slots_at + slots_max * sizeof(struct wf_rank_slot);

    size = wf_local_init(&ranks->local, ranks->node, ranks->mpi, slots_max, size);
    ranks->timeshare =
        wf_timeshare_new(ranks->node, ranks->net, &ranks->noise, slots_max, &size);
    size = wf_files_layout(&ranks->files, size);
    ranks->clock = wf_ranks_clock_ops(ranks);
    ranks->ops = wf_node_ops_of(ranks);
    wf_engine_cells(engine, WF_REQ_SIZE);
    wf_engine_cells(engine, sizeof(struct wf_rank_cold));
    wf_engine_cells(engine, WF_FILES_CELL);
    if (wf_ranks_have_short_receives(ranks)) {
        wf_engine_cells(engine, WF_REQ_SHORT_SIZE);
    }
    return wf_engine_add(engine, &ranks->ops, ranks->place->n_nodes, size, ranks);
}

enum wf_status wf_ranks_new(struct wf_engine *engine, const struct wf_ranks_config *config,
                            struct wf_ranks **out, struct wf_err *err)
{
    struct wf_ranks *ranks = make_ranks(config);

    enum wf_status status = check_ranks(ranks, err);
    if (status == WF_OK) {
        status = wf_files_init(&ranks->files, config->storage, config->place, err);
    }
    if (status != WF_OK) {
        wf_ranks_free(ranks);
        return status;
    }
    set_pace(ranks);
    ranks->capture_ps = find_capture_costs(ranks, ranks->first[ranks->n_jobs]);
    add_tally(ranks, config, engine);
    uint32_t first = add_nodes(ranks, engine);
    const struct wf_net_user user = wf_node_net_user(ranks);
    wf_net_attach(config->net, engine, first, &user);
    wf_files_promise(&ranks->files, engine);
    if (ranks->live != NULL) {
        wf_live_spread(ranks->live, ranks, engine);
    }
    *out = ranks;
    return WF_OK;
}

void wf_ranks_free(struct wf_ranks *ranks)
{
    if (ranks != NULL) {
        free(ranks->capture_ps);
        free(ranks->jobs);
        free(ranks->first);
        free(ranks->timeshare);
        wf_live_free(ranks->live);
        wf_rails_fini(&ranks->rails);
    }
    free(ranks);
}
