/* SPDX-License-Identifier: Apache-2.0 */
#include "model/traffic/traffic.h"

#include "base/mem.h"
#include "base/result/result.h"
#include "model/net/fault/fault.h"
#include "model/net/net.h"
#include "run/document/document.h"
#include "run/execute/job.h"

#include <inttypes.h>
#include <stdlib.h>

/* Measured: memory of a node with an 18-channel router, and of the packets in transit. */
enum { BYTES_PER_CHANNEL = 112, BYTES_PER_NODE = 1024, VCS_USUAL = 3 };
enum { CYCLE_DEFAULT_PS = 1000, PHIT_DEFAULT = 4, PACKET_DEFAULT = 64 };

static const double percents[] = {90, 95, 99};

/* The cycle time and sizes of the network model, or these defaults if it has none. */
static struct wf_net_clock clock_of(const struct wf_plan *plan)
{
    return plan->net->clock != NULL
               ? plan->net->clock(wf_plan_values(plan, "net"))
               : (struct wf_net_clock){CYCLE_DEFAULT_PS, PHIT_DEFAULT, PACKET_DEFAULT, 1};
}

/* Fills in cycle time and sizes from the network where the parameters of the traffic leave them
 * open. */
static void fill_in(const struct wf_plan *plan, struct wf_traffic_params *set)
{
    const struct wf_net_clock clock = clock_of(plan);

    set->cycle = set->cycle == 0 ? clock.cycle_ps : set->cycle;
    set->phit = set->phit == 0 ? clock.phit_bytes : set->phit;
    set->size = set->size == 0 ? clock.packet_bytes : set->size;
}

static enum wf_status traffic_prepare(struct wf_job *job, struct wf_err *err)
{
    const struct wf_plan *plan = job->plan;
    struct wf_traffic_params *set = wf_plan_values(plan, "traffic");

    if (plan->topo == NULL) {
        return wf_err_set(err, WF_EUSAGE,
                          "traffic needs a topology; for example: --topo torus:8x8");
    }
    fill_in(plan, set);
    const struct wf_net_env env = {
        .topo = plan->topo, .n_nodes = plan->topo->n_nodes, .seed = plan->core.seed};
    const struct wf_traffic_config config = {
        .params = set,
        .pattern = plan->pattern,
        .topo = plan->topo,
        .n_nodes = env.n_nodes,
        .seed = env.seed,
    };
    enum wf_status status =
        plan->net->create(wf_plan_values(plan, "net"), &env, &job->setup.net, err);
    if (status != WF_OK) {
        return wf_plan_blame(plan, "network", status, err);
    }
    WF_TRY(wf_job_check_rules(job, "synthetic traffic", err));
    return wf_traffic_new(&config, &job->traffic, err);
}

static uint64_t traffic_memory(const struct wf_job *job)
{
    const struct wf_plan *plan = job->plan;
    uint64_t n_vcs = clock_of(plan).n_vcs, vcs = n_vcs > 0 ? n_vcs : VCS_USUAL;

    if (plan->topo == NULL) { /* traffic_prepare() reports it */
        return 0;
    }
    return (uint64_t)plan->topo->n_vertices * BYTES_PER_NODE +
           2 * plan->topo->n_links * vcs * BYTES_PER_CHANNEL;
}

static enum wf_status traffic_build(const struct wf_job *job, struct wf_engine *engine,
                                    struct wf_setup *setup, struct wf_err *err)
{
    wf_traffic_build(job->traffic, engine, setup->net);
    return WF_OK;
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static void add_quantiles(struct wf_value *latency, const struct wf_traffic_summary *summary,
                          double cycle)
{
    wf_doc_real(latency, "p50", (double)summary->p50 / cycle);
    wf_doc_real(latency, "p95", (double)summary->p95 / cycle);
    wf_doc_real(latency, "p99", (double)summary->p99 / cycle);
    wf_doc_real(latency, "max", (double)summary->max / cycle);
}

/* Loads are phits per node and cycle; times are in cycles. */
static void add_open(struct wf_value *result, const struct wf_plan *plan,
                     const struct wf_traffic_summary *summary)
{
    const struct wf_traffic_params *set = wf_plan_values(plan, "traffic");
    double cycle = (double)set->cycle;
    double capacity = (double)plan->topo->n_nodes * (double)set->phit * (double)set->cycles *
                      (double)summary->batches / WF_TRAFFIC_BATCHES;

    wf_doc_real(result, "offered_load", ratio((double)summary->offered_bytes, capacity));
    wf_doc_real(result, "accepted_load", ratio((double)summary->arrived_bytes, capacity));
    wf_doc_bool(result, "converged", summary->converged);
    wf_doc_bool(result, "saturated", summary->saturated);
    wf_doc_count(result, "cycles", set->cycles);
    wf_doc_count(result, "warm_up_cycles", set->cycles * summary->warm_up / WF_TRAFFIC_BATCHES);
    wf_doc_count(result, "offered", summary->offered);
    wf_doc_count(result, "dropped", summary->dropped);
    wf_doc_count(result, "arrived", summary->arrived);

    struct wf_value *latency = wf_doc_section(result, "latency_cycles");
    wf_doc_real(latency, "mean", summary->mean / cycle);
    wf_doc_real(latency, "half_width", summary->half_width / cycle);
    wf_doc_real(latency, "confidence_percent", percents[set->confidence]);
    add_quantiles(latency, summary, cycle);
    wf_doc_count(latency, "sum_ps", summary->latency_sum);
}

static void add_closed(struct wf_value *result, const struct wf_plan *plan,
                       const struct wf_traffic_tally *tally,
                       const struct wf_traffic_summary *summary)
{
    const struct wf_traffic_params *set = wf_plan_values(plan, "traffic");
    double cycle = (double)set->cycle;

    wf_doc_count(result, "simulated_time_ps", (uint64_t)tally->last);
    wf_doc_count(result, "cycles", (uint64_t)(tally->last / set->cycle));
    wf_doc_count(result, "arrived", summary->arrived);

    struct wf_value *latency = wf_doc_section(result, "latency_cycles");
    wf_doc_real(latency, "mean", summary->mean / cycle);
    add_quantiles(latency, summary, cycle);
}

/* Usage over the whole run, including the warm-up. */
static void add_usage(struct wf_value *result, const struct wf_plan *plan,
                      const struct wf_net_usage *usage, uint64_t cycles)
{
    const struct wf_net_clock clock = clock_of(plan);
    struct wf_value *section = wf_doc_section(result, "network");
    uint64_t phits_each = clock.packet_bytes / clock.phit_bytes;
    double phits = (double)phits_each;

    wf_doc_count(section, "packets", usage->packets);
    wf_doc_count(section, "hops", usage->hops);
    wf_doc_count(section, "packet_hops", usage->carried);
    wf_doc_real(section, "mean_hops", ratio((double)usage->hops, (double)usage->packets));
    wf_doc_real(section, "mean_injection_wait_cycles",
                ratio((double)usage->waited, (double)usage->injected * (double)clock.cycle_ps));
    wf_doc_real(section, "mean_link_use",
                ratio((double)usage->busy * phits, (double)usage->links * (double)cycles));
    wf_doc_real(section, "busiest_link_use",
                ratio((double)usage->busiest[0].busy * phits, (double)cycles));
    struct wf_value *links = wf_doc_list(section, "busiest_links");
    for (uint32_t i = 0; i < WF_NET_USAGE_LINKS && usage->busiest[i].busy > 0; i++) {
        struct wf_value *link = wf_doc_section(links, NULL);
        wf_doc_count(link, "router", usage->busiest[i].vertex);
        wf_doc_count(link, "port", usage->busiest[i].port);
        wf_doc_real(link, "use", ratio((double)usage->busiest[i].busy * phits, (double)cycles));
    }

    struct wf_value *vcs = wf_doc_list(section, "packets_by_vc");
    uint32_t n = WF_NET_USAGE_VCS;
    while (n > 1 && usage->vcs[n - 1] == 0) {
        n--;
    }
    for (uint32_t i = 0; i < n; i++) {
        wf_doc_count(vcs, NULL, usage->vcs[i]);
    }
}

/* The deadlock that was detected during the run, or else the one found at its end. */
static struct wf_net_deadlock find_deadlock(const struct wf_traffic_tally *tally)
{
    if (tally->totals.deadlock.n > 0) {
        return tally->totals.deadlock;
    }
    struct wf_net_waits *waits = wf_xmalloc(sizeof(*waits));
    *waits = tally->usage.waits;
    waits->n = wf_net_waits_prune(waits->at, waits->n);
    const struct wf_net_deadlock found = wf_net_deadlock_find(waits->at, waits->n);
    free(waits);
    return found;
}

static enum wf_status report_deadlock(const struct wf_traffic_tally *tally,
                                      const struct wf_traffic_params *set,
                                      const struct wf_net_deadlock *deadlock,
                                      struct wf_value *result, struct wf_err *err)
{
    char words[WF_NET_DEADLOCK_TEXT_MAX];
    uint64_t at = tally->totals.deadlock.n > 0
                      ? (uint64_t)(tally->totals.deadlock_ps / set->cycle)
                      : set->cycles;

    wf_doc_text(result, "deadlock", wf_net_deadlock_text(deadlock, words, sizeof(words)));
    wf_doc_count(result, "deadlock_known_cycle", at);
    return wf_err_set(err, WF_ESIM,
                      "the network is in a deadlock, detected in cycle %" PRIu64 ": %.400s", at,
                      words);
}

static enum wf_status traffic_describe(const struct wf_job *job, const struct wf_engine *engine,
                                       const struct wf_run *run, struct wf_value *result,
                                       enum wf_status status, struct wf_err *err)
{
    const struct wf_traffic_tally *tally =
        job->tally != NULL ? job->tally : wf_engine_tally_get(engine);
    const struct wf_traffic_params *set = wf_plan_values(job->plan, "traffic");
    bool closed = set->rounds > 0, blocked = closed && tally->rounds_left > 0;
    struct wf_traffic_summary summary;
    uint64_t cycles = closed ? (uint64_t)(tally->last / set->cycle) : set->cycles;

    const struct wf_net_deadlock found = find_deadlock(tally);
    bool deadlock = found.n > 0;
    if (closed) {
        wf_traffic_sum_up(tally, &summary);
    } else {
        wf_traffic_summarize(tally, set->confidence, set->precision, &summary);
    }
    wf_doc_text(result, "status",
                status == WF_EINTR    ? WF_RESULT_INTERRUPTED
                : blocked || deadlock ? WF_RESULT_DEADLOCK
                                      : WF_RESULT_COMPLETED);
    if (closed) {
        add_closed(result, job->plan, tally, &summary);
    } else {
        add_open(result, job->plan, &summary);
    }
    if (job->plan->net->usage != NULL) {
        add_usage(result, job->plan, &tally->usage, cycles);
    }
    if (job->setup.net->n_sums > 0) {
        job->setup.net->ops->describe(job->setup.net, (const void *)(tally + 1),
                                      (int64_t)cycles * set->cycle, result);
    }
    if (job->setup.net->faults != NULL) {
        wf_fault_describe(job->setup.net->faults, &tally->totals.losses, result);
    }
    wf_document_digest(result, job->setup.net->has_digest ? tally->usage.digest : run->digest);
    if (deadlock) {
        status = report_deadlock(tally, set, &found, result, err);
    } else if (status == WF_OK && blocked) {
        char lost[WF_FAULT_TEXT_MAX] = "";
        status = wf_err_set(err, WF_ESIM, "%" PRIu64 " rounds did not complete%s",
                            tally->rounds_left,
                            job->setup.net->faults != NULL
                                ? wf_fault_text(job->setup.net->faults, &tally->totals.losses,
                                                lost, sizeof(lost))
                                : "");
    }
    return status;
}

bool wf_job_lengthen(const struct wf_plan *plan, const struct wf_value *doc)
{
    struct wf_traffic_params *set =
        plan->pattern != NULL ? wf_plan_values(plan, "traffic") : NULL;

    if (set == NULL || set->rounds > 0 || wf_doc_find(doc, "result.converged") == NULL ||
        wf_doc_is_true(doc, "result.converged") || wf_doc_is_true(doc, "result.saturated") ||
        set->cycles > set->cycles_max / 2) {
        return false;
    }
    set->cycles *= 2;
    return true;
}

const struct wf_job_ops wf_job_traffic = {
    .prepare = traffic_prepare,
    .memory = traffic_memory,
    .build = traffic_build,
    .describe = traffic_describe,
};
