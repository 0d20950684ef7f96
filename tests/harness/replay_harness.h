/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Replays a program in one call and returns the result. */

#include "harness/replay_setup.h"

static inline struct outcome replay(const struct setup *setup)
{
    struct outcome out = {.status = WF_OK};
    const struct wf_engine_config config = engine_config(setup);
    struct wf_topo *topo = NULL;
    uint32_t ranks_per_node = setup->ranks_per_node > 0 ? setup->ranks_per_node : 1;
    const struct wf_ranks_job alone = {.source = setup->source, .repeat = 1};
    const struct wf_ranks_job *jobs = setup->jobs != NULL ? setup->jobs : &alone;
    uint32_t n_jobs = setup->jobs != NULL ? setup->n_jobs : 1, n_ranks = 0;
    for (uint32_t i = 0; i < n_jobs; i++) {
        n_ranks += jobs[i].source->n_ranks;
    }
    const struct wf_place place = wf_place_linear(n_ranks, ranks_per_node);
    struct wf_mpi_params *mpi = make_params(wf_mpi_params, sizeof(*mpi));
    struct wf_node_params *node = make_params(wf_node_params, sizeof(*node));
    struct wf_storage_params *storage = make_params(wf_storage_params, sizeof(*storage));
    const struct wf_replay_params params = {.policy = setup->policy,
                                            .wildcards = setup->wildcards};

    if (setup->topo != NULL) {
        must(wf_topo_create(setup->topo, &topo, &out.err), &out.err);
    }
    set_params(wf_mpi_params, mpi, setup->mpi);
    set_params(wf_node_params, node, setup->node);
    set_params(wf_node_params, node, setup->costs);

    set_params(wf_storage_params, storage, setup->storage);

    const struct wf_net_env env = {.topo = topo,
                                   .n_nodes = place.n_nodes,
                                   .nics = (uint32_t)node->nics,
                                   .nic_group = (uint32_t)node->nic_group};
    struct wf_net *net = make_net(setup->net, setup->net_params, &env);
    struct wf_engine *engine = wf_engine_new(&config, NULL);
    if (setup->in_step) {
        net->ahead = WF_NET_NOW;
    }
    struct wf_ranks *model = NULL;
    const struct wf_ranks_config replay_config = {.jobs = jobs,
                                                  .n_jobs = n_jobs,
                                                  .place = &place,
                                                  .net = net,
                                                  .mpi = mpi,
                                                  .node = node,
                                                  .seed = setup->seed,
                                                  .params = &params,
                                                  .cpu = setup->cpu,
                                                  .storage = storage,
                                                  .recording = setup->recording};

    must(wf_ranks_new(engine, &replay_config, &model, &out.err), &out.err);
    static const struct wf_process_ops probe = {
        .name = "probe", .init = cell_probe_init, .event = cell_probe_event};
    if (setup->count_cells) {
        (void)wf_engine_add(engine, &probe, 1, 8, &out.cells);
    }
    out.status = wf_engine_run(engine, &out.run, &out.err);
    memcpy(&out.tally, wf_engine_tally_get(engine), sizeof(out.tally));
    for (uint32_t i = 0; i < n_jobs && i < sizeof(out.jobs) / sizeof(out.jobs[0]); i++) {
        out.jobs[i] = *wf_tally_job(wf_engine_tally_get(engine), i);
    }
    if (setup->look != NULL) {
        const struct wf_node_costs costs = wf_node_costs_of(node, net);

        setup->look(setup->look_arg, wf_unconst(wf_engine_tally_get(engine)), &costs);
    }
    wf_engine_free(engine);
    wf_ranks_free(model);
    wf_net_free(net);
    wf_topo_free(topo);
    free_params(wf_mpi_params, mpi);
    free_params(wf_node_params, node);
    free_params(wf_storage_params, storage);
    return out;
}

/* The error of ranks on such nodes, on a network with this many of them. */
static inline enum wf_status try_ranks(const struct wf_place *place, uint32_t n_nodes,
                                       const struct wf_node_params *node, struct wf_err *err)
{
    const struct wf_source source = {.ops = &script_ops, .n_ranks = place->n_ranks};
    const struct wf_ranks_job job = {.source = &source, .repeat = 1};
    const struct wf_net_env env = {.n_nodes = n_nodes, .nics = (uint32_t)node->nics};
    const struct wf_replay_params params = {.policy = WF_POLICY_TIMED};
    struct wf_mpi_params *mpi = make_params(wf_mpi_params, sizeof(*mpi));
    struct wf_net *net = make_net(wf_net_table()[0], NULL, &env);
    struct wf_ranks *model = NULL;
    const struct wf_ranks_config config = {.jobs = &job,
                                           .n_jobs = 1,
                                           .place = place,
                                           .net = net,
                                           .mpi = mpi,
                                           .node = node,
                                           .params = &params};
    enum wf_status status = wf_ranks_new(NULL, &config, &model, err);

    wf_net_free(net);
    free_params(wf_mpi_params, mpi);
    return status;
}

/* The error of placing ranks on a network with this many nodes. */
static inline enum wf_status try_place(const struct wf_place *place, uint32_t n_nodes,
                                       struct wf_err *err)
{
    return try_ranks(place, n_nodes, &wf_node_free, err);
}

/* Does the same for a program that is defined op by op: `ranks` is an array of arrays. */
static inline struct outcome replay_script(struct setup setup, const struct wf_op *const *ranks,
                                           uint32_t n_ranks)
{
    struct script script = make_script(ranks, n_ranks);

    setup.source = &script.source;
    return replay(&setup);
}
