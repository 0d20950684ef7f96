/* SPDX-License-Identifier: Apache-2.0 */
#include "run/document/energy.h"

#include "model/net/net.h"
#include "model/topo/topo.h"
#include "run/document/document.h"
#include "run/plan/job.h"
#include "run/scenario/power.h"

static const double PS_PER_SECOND = 1e12;

static double seconds(const struct wf_stat *stat)
{
    const double two_64 = 18446744073709551616.0;

    return ((double)stat->sum_high * two_64 + (double)stat->sum_low) / PS_PER_SECOND;
}

/* The time that all ranks together compute or handle messages, in seconds. */
static double busy_seconds(const struct wf_ranks_tally *tally)
{
    return seconds(&tally->all.compute) + seconds(&tally->all.overhead);
}

/* Bytes on all links. Unless links are counted, each message is on one. */
static double link_bytes(const struct wf_value *result)
{
    uint64_t bytes = wf_doc_get_count(result, "bytes", 0);

    return (double)wf_doc_get_count(result, "network.link_bytes", bytes);
}

/* The nodes that the run pays for. */
static double paid_nodes(const struct wf_job *job, double all)
{
    const struct wf_sim_energy_params *params = wf_plan_values(job->plan, "power");

    return params->charge == WF_SIM_ENERGY_USED ? wf_document_nodes_used(job) : all;
}

static double all_nodes(const struct wf_job *job)
{
    const struct wf_topo *topo = job->plan->topo;

    return topo != NULL ? topo->n_nodes : (double)job->place.n_nodes * wf_job_copies(job);
}

/* Returns the joules; 0 if they are not known. */
static double describe_energy(const struct wf_job *job, const struct wf_ranks_tally *tally,
                              double time, struct wf_value *result)
{
    enum { DECIMALS = 9 };
    const struct wf_sim_energy_params *params = wf_plan_values(job->plan, "power");
    const struct wf_topo *topo = job->plan->topo;

    if (!wf_sim_energy_is_known(params)) {
        return 0;
    }
    double all = all_nodes(job), nodes = paid_nodes(job, all);
    double idle = params->idle * nodes * time;
    double busy = params->busy * busy_seconds(tally);
    bool has_links = topo != NULL && job->plan->net->uses_topology;
    double share = nodes < all ? nodes / all : 1;
    double links = params->link * (has_links ? share * (double)topo->n_links : 0) * time;
    double bytes = params->byte * link_bytes(result) / PS_PER_SECOND;
    struct wf_value *section = wf_doc_section(result, "energy");

    wf_doc_measured(section, "joules", idle + busy + links + bytes, DECIMALS);
    wf_doc_measured(section, "nodes_joules", idle, DECIMALS);
    wf_doc_measured(section, "ranks_joules", busy, DECIMALS);
    wf_doc_measured(section, "links_joules", links, DECIMALS);
    wf_doc_measured(section, "bytes_joules", bytes, DECIMALS);
    if (time > 0) {
        wf_doc_measured(section, "mean_watts", (idle + busy + links + bytes) / time, 3);
    }
    return idle + busy + links + bytes;
}

static void describe_cost(const struct wf_job *job, double time, double joules,
                          struct wf_value *result)
{
    static const double SECONDS_PER_HOUR = 3600, JOULES_PER_KWH = 3.6e6;
    const struct wf_sim_price_params *price = wf_plan_values(job->plan, "price");

    if (!wf_sim_price_is_known(price)) {
        return;
    }
    double hours = paid_nodes(job, all_nodes(job)) * time / SECONDS_PER_HOUR;
    struct wf_value *section = wf_doc_section(result, "cost");

    wf_doc_real(section, "total",
                hours * price->node_hour + joules / JOULES_PER_KWH * price->kwh);
    wf_doc_real(section, "node_hours", hours);
    if (price->currency[0] != '\0') {
        wf_doc_text(section, "currency", price->currency);
    }
}

void wf_sim_energy_describe(const struct wf_job *job, const struct wf_ranks_tally *tally,
                            int64_t end, struct wf_value *result)
{
    double time = (double)end / PS_PER_SECOND;

    describe_cost(job, time, describe_energy(job, tally, time, result), result);
}
