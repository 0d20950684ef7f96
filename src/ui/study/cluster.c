/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/cluster.h"

#include "base/columns.h"
#include "base/lookup.h"
#include "base/mem.h"
#include "base/quantile.h"
#include "base/text.h"
#include "base/units.h"
#include "model/queue/nodes.h"
#include "model/queue/policy.h"
#include "model/topo/topo.h"
#include "run/machine/machine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the machine ---- */

static enum wf_status setting(const struct wf_machine *machine, const char *key, uint32_t *out,
                              struct wf_err *err)
{
    const struct wf_setting *found = wf_scenario_find(machine->scenario, key);
    uint64_t value = 1;

    if (found != NULL) {
        WF_TRY(wf_setting_blame(found, wf_parse_count(found->value, &value, err), err));
    }
    *out = value > 0 && value < UINT32_MAX ? (uint32_t)value : 1;
    return WF_OK;
}

static enum wf_status take_settings(struct wf_cluster *cluster,
                                    const struct wf_machine *machine, struct wf_err *err)
{
    const struct wf_setting *topology = wf_scenario_find(machine->scenario, "topology");

    if (topology != NULL && cluster->options->topo == NULL) {
        cluster->topo_spec = wf_xstrdup(topology->value);
        WF_TRY(setting(machine, "node.nics", &cluster->config.nics, err));
        return setting(machine, "node.nic_group", &cluster->config.nic_group, err);
    }
    return WF_OK;
}

/* Finds topology and number of nodes; 0 nodes if neither machine nor options say. */
static enum wf_status find_machine(struct wf_cluster *cluster, struct wf_err *err)
{
    const struct wf_cluster_options *options = cluster->options;
    struct wf_queue_config *config = &cluster->config;
    struct wf_machine *machine = NULL;
    uint64_t nodes = options->nodes;

    config->nics = config->nic_group = 1;
    if (options->topo != NULL) {
        cluster->topo_spec = wf_xstrdup(options->topo);
    }
    if (options->machine != NULL) {
        WF_TRY(wf_machine_load(options->machine, &machine, err));
        enum wf_status status = take_settings(cluster, machine, err);
        wf_machine_free(machine);
        WF_TRY(status);
    }
    if (cluster->topo_spec != NULL) {
        WF_TRY(wf_topo_create(cluster->topo_spec, &cluster->topo, err));
        uint64_t groups = cluster->topo->n_nodes / config->nics / config->nic_group;
        uint64_t all = groups * config->nic_group;

        if (nodes > all) {
            return wf_err_set(err, WF_EINVAL,
                              "--nodes: %" PRIu64
                              " nodes do not fit on %.64s, which has %" PRIu64,
                              nodes, cluster->topo_spec, all);
        }
        nodes = nodes > 0 ? nodes : all;
        config->topo = cluster->topo;
    }
    if (nodes > WF_QUEUE_NODES_MAX) {
        return wf_err_set(err, WF_ELIMIT, "more than %d nodes", WF_QUEUE_NODES_MAX);
    }
    config->n_nodes = (uint32_t)nodes;
    return WF_OK;
}

/* ---- policies ---- */

static enum wf_status find_policies(struct wf_cluster *cluster, struct wf_err *err)
{
    char *copy = wf_xstrdup(cluster->options->policies), *rest = copy, *name;
    enum wf_status status = WF_OK;

    while (status == WF_OK && (name = strsep(&rest, ",")) != NULL) {
        const struct wf_queue_policy *policy =
            wf_lookup("policy", name, wf_queue_policies(), err);

        if (policy == NULL) {
            status = WF_EUSAGE;
        } else if (cluster->n_runs == WF_CLUSTER_RUNS_MAX) {
            status = wf_err_set(err, WF_EUSAGE, "--policy: more than %d policies",
                                WF_CLUSTER_RUNS_MAX);
        } else {
            cluster->runs[cluster->n_runs++].policy = policy;
        }
    }
    free(copy);
    return status;
}

static enum wf_status find_placement(struct wf_cluster *cluster, struct wf_err *err)
{
    const struct wf_queue_place *place =
        wf_lookup("placement", cluster->options->placement, wf_queue_places(), err);

    if (place == NULL) {
        return WF_EUSAGE;
    }
    if (place->needs_topo && cluster->config.topo == NULL) {
        return wf_err_set(err, WF_EUSAGE,
                          "--placement %s needs a topology: --machine or --topo", place->name);
    }
    cluster->config.place = place;
    return WF_OK;
}

/* ---- figures ---- */

/* How a figure is printed. */
enum unit { PERCENT, SPAN, RATIO };

/* What must be given for a figure to say anything. */
enum need { NOTHING, TOPOLOGY, FAILURES };

static const struct {
    const char *name; /* of a row in text */
    enum unit unit;
    enum need need;
} figures[WF_CLUSTER_FIGURES] = {
    {"utilisation", PERCENT, NOTHING},       {"makespan", SPAN, NOTHING},
    {"wait, mean", SPAN, NOTHING},           {"wait, median", SPAN, NOTHING},
    {"wait, 95 %", SPAN, NOTHING},           {"wait, longest", SPAN, NOTHING},
    {"slowdown, mean", RATIO, NOTHING},      {"slowdown, median", RATIO, NOTHING},
    {"slowdown, 95 %", RATIO, NOTHING},      {"groups of a job, mean", RATIO, TOPOLOGY},
    {"hops between nodes", RATIO, TOPOLOGY}, {"lost by failures", PERCENT, FAILURES},
    {"failures of jobs", RATIO, FAILURES},   {"jobs given up", RATIO, FAILURES},
};

bool wf_cluster_has_figure(const struct wf_cluster *cluster, size_t i)
{
    return figures[i].need == NOTHING ||
           (figures[i].need == TOPOLOGY ? cluster->config.topo != NULL
                                        : cluster->config.failures != NULL);
}

const char *wf_cluster_figure_name(size_t i)
{
    return figures[i].name;
}

const char *wf_cluster_figure(const struct wf_cluster_run *run, size_t i, char *buf)
{
    char text[WF_UNITS_TEXT_MAX];
    double value = run->figures[i];

    if (figures[i].unit == SPAN) {
        (void)snprintf(buf, WF_CLUSTER_FIGURE_MAX, "%s",
                       value < 1 ? "0 s" : wf_human_span((int64_t)value, text));
    } else {
        (void)snprintf(buf, WF_CLUSTER_FIGURE_MAX, "%.2f%s", value,
                       figures[i].unit == PERCENT ? " %" : "");
    }
    return buf;
}

/* Sets mean, median and 95 % quantile, and returns the largest; sorts the values. */
static double describe(int64_t *values, size_t n, double scale, double *out)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        sum += (double)values[i];
    }
    wf_quantile_sort(values, n);
    out[0] = sum / (double)n / scale;
    out[1] = (double)wf_quantile(values, n, 50) / scale;
    out[2] = (double)wf_quantile(values, n, 95) / scale;
    return (double)values[n - 1] / scale;
}

/* Feitelson's bounded slowdown with a bound of ten seconds, in millionths. */
static int64_t slowdown_of(int64_t wait, int64_t run)
{
    const double bound = 10e6, million = 1e6;
    double time = (double)run > bound ? (double)run : bound;
    double slowdown = (double)(wait + run) / time;

    return (int64_t)((slowdown > 1 ? slowdown : 1) * million);
}

static void measure(const struct wf_cluster *cluster, struct wf_cluster_run *run)
{
    const struct wf_queue_jobs *jobs = &cluster->workload.jobs;
    int64_t *waits = wf_xcalloc(jobs->n, sizeof(*waits));
    int64_t *slowdowns = wf_xcalloc(jobs->n, sizeof(*slowdowns));
    double busy = 0, lost = 0, failures = 0, given_up = 0, groups = 0, hops = 0,
           n = (double)jobs->n;
    int64_t last = 1;

    for (size_t i = 0; i < jobs->n; i++) {
        const struct wf_queue_outcome *o = &run->result.outcomes[i];

        waits[i] = o->end - jobs->items[i].submit - o->ran;
        slowdowns[i] = slowdown_of(waits[i] + o->lost, o->ran - o->lost);
        busy += (double)o->ran * jobs->items[i].nodes;
        lost += (double)o->lost * jobs->items[i].nodes;
        failures += o->failures;
        given_up += o->given_up ? 1 : 0;
        last = o->end > last ? o->end : last;
        groups += o->groups;
        hops += o->hops;
    }
    run->figures[0] = 100 * busy / ((double)last * cluster->config.n_nodes);
    run->figures[1] = (double)last;
    run->figures[5] = describe(waits, jobs->n, 1, &run->figures[2]);
    (void)describe(slowdowns, jobs->n, 1e6, &run->figures[6]);
    run->figures[9] = groups / n;
    run->figures[10] = hops / n;
    run->figures[11] = 100 * lost / ((double)last * cluster->config.n_nodes);
    run->figures[12] = failures;
    run->figures[13] = given_up;
    free(waits);
    free(slowdowns);
}

const char *wf_cluster_note(const struct wf_cluster *cluster, size_t i, char *buf)
{
    const struct wf_workload *w = &cluster->workload;
    const struct {
        uint64_t n;
        const char *words;
    } notes[] = {
        {w->n_not_run, "that never ran left out"},
        {w->n_skipped, "left out by --skip"},
        {w->n_unlimited, "without a requested time: their real time was used"},
        {w->n_cut, "longer than requested: ended at that time"},
    };
    size_t seen = 0;

    for (size_t k = 0; k < sizeof(notes) / sizeof(notes[0]); k++) {
        if (notes[k].n > 0 && seen++ == i) {
            (void)snprintf(buf, WF_CLUSTER_NOTE_MAX, "%" PRIu64 " job%s %s", notes[k].n,
                           notes[k].n == 1 ? "" : "s", notes[k].words);
            return buf;
        }
    }
    for (size_t k = 0; k < cluster->n_runs; k++) {
        if (cluster->runs[k].policy == &wf_queue_policy_priority && !w->has_priorities &&
            seen++ == i) {
            return "all jobs have the same priority: the policy priority is easy";
        }
    }
    return NULL;
}

/* ---- failures ---- */

static enum wf_status read_span(const char *option, const char *text, int64_t *out,
                                struct wf_err *err)
{
    const int64_t year = INT64_C(365) * 86400000000;

    if (text != NULL && wf_parse_span(text, out, err) != WF_OK) {
        wf_err_prefix(err, "--%s: ", option);
        return WF_EUSAGE;
    }
    return *out <= year ? WF_OK : wf_err_set(err, WF_EUSAGE, "--%s: more than a year", option);
}

/* Listed failures name their nodes; random ones must be few enough to be kept. */
static enum wf_status check_failures(const struct wf_cluster *cluster, struct wf_err *err)
{
    const struct wf_failure_class *class = &cluster->failures;
    const struct wf_queue_jobs *jobs = &cluster->workload.jobs;
    const int64_t month = INT64_C(30) * 86400000000;
    int64_t span = jobs->items[jobs->n - 1].submit + month;

    for (size_t i = 0; i < class->n_times; i++) {
        if (class->times[i].part >= cluster->config.n_nodes) {
            return wf_err_set(err, WF_EINVAL,
                              "--fail: failure %zu of the list needs a node from 0 to %" PRIu32
                              " after its time",
                              i + 1, cluster->config.n_nodes - 1);
        }
    }
    return wf_failure_rate(class, 1, span) * (double)span < 1e7
               ? WF_OK
               : wf_err_set(err, WF_ELIMIT, "--fail: more than ten million failures");
}

static enum wf_status find_failures(struct wf_cluster *cluster, struct wf_err *err)
{
    const struct wf_cluster_options *options = cluster->options;
    struct wf_queue_config *config = &cluster->config;

    if (options->fail == NULL) {
        return options->checkpoint == NULL && options->restart == NULL
                   ? WF_OK
                   : wf_err_set(err, WF_EUSAGE, "--%s has no effect without --fail",
                                options->checkpoint != NULL ? "checkpoint" : "restart");
    }
    WF_TRY(wf_failure_parse(options->fail, &cluster->failures, err));
    if (cluster->failures.count != 0) {
        return wf_err_set(err, WF_EUSAGE, "--fail: the count is the number of nodes");
    }
    cluster->failures.count = config->n_nodes;
    config->failures = &cluster->failures;
    config->retries = options->retries;
    WF_TRY(read_span("checkpoint", options->checkpoint, &config->checkpoint, err));
    WF_TRY(read_span("restart", options->restart, &config->restart, err));
    return check_failures(cluster, err);
}

/* ---- the run ---- */

static enum wf_status prepare(struct wf_cluster *cluster, struct wf_err *err)
{
    const struct wf_cluster_options *options = cluster->options;
    struct wf_workload_options reading = {.skip = options->skip, .seed = options->seed};

    WF_TRY(find_policies(cluster, err));
    WF_TRY(find_machine(cluster, err));
    WF_TRY(find_placement(cluster, err));
    reading.n_nodes = cluster->config.n_nodes;
    reading.per_node = (uint32_t)options->per_node;
    WF_TRY(wf_workload_read(options->path, &reading, &cluster->workload, err));
    cluster->config.jobs = &cluster->workload.jobs;
    cluster->config.n_nodes = cluster->workload.n_nodes;
    cluster->config.seed = options->seed;
    cluster->config.keep_nodes = true;
    return find_failures(cluster, err);
}

enum wf_status wf_cluster_run(const struct wf_cluster_options *options, struct wf_cluster *out,
                              struct wf_err *err)
{
    *out = (struct wf_cluster){.options = options};

    enum wf_status status = prepare(out, err);
    for (size_t i = 0; status == WF_OK && i < out->n_runs; i++) {
        out->config.policy = out->runs[i].policy;
        wf_queue_run(&out->config, &out->runs[i].result);
        measure(out, &out->runs[i]);
    }
    if (status != WF_OK) {
        wf_cluster_fini(out);
    }
    return status;
}

void wf_cluster_fini(struct wf_cluster *cluster)
{
    for (size_t i = 0; i < cluster->n_runs; i++) {
        wf_queue_result_fini(&cluster->runs[i].result);
    }
    wf_failure_fini(&cluster->failures);
    wf_workload_fini(&cluster->workload);
    wf_topo_free(cluster->topo);
    free(cluster->topo_spec);
}

void wf_cluster_list(FILE *out)
{
    (void)fputs("\nPolicies:\n", out);
    for (const struct wf_queue_policy *const *p = wf_queue_policies(); *p != NULL; p++) {
        wf_columns_row(out, (*p)->name, (*p)->summary);
    }
    (void)fputs("\nPlacements:\n", out);
    for (const struct wf_queue_place *const *p = wf_queue_places(); *p != NULL; p++) {
        wf_columns_row(out, (*p)->name, (*p)->summary);
    }
    wf_failure_list(out);
    (void)fputs("\nWorkloads:\n", out);
    wf_workload_list(out);
}
