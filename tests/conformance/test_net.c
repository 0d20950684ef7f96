/* SPDX-License-Identifier: Apache-2.0 */
/* What every registered network model promises, whoever wrote it: nothing is lost, nothing is
 * early, messages between two nodes keep their order, and what happens can be undone. */
#include "model/net/net.h"

#include "harness/replay_harness.h"
#include "harness/wf_test.h"

enum {
    N_ENDS = 12,
    TURNS = WF_TEST_ONE_IN > 1 ? 50 / WF_TEST_ONE_IN : 40,
    KIND_TURN = WF_NET_KINDS,
    SEED = 5
};

/* Nodes of the torus with 12 nodes, and how often each interface sends. */
struct machine {
    uint32_t n_nodes, nics, nic_group, turns;
};

static const struct machine plain = {N_ENDS, 1, 1, TURNS};

/* Interfaces next to each other, in pods, in planes; and with an incomplete last group. */
static const struct machine machines[] = {
    {6, 2, 1, 5}, {3, 4, 1, 5}, {6, 2, 3, 5}, {6, 2, 6, 5},
    {4, 3, 4, 5}, {5, 2, 2, 5}, {4, 2, 3, 5},
};

struct model {
    const struct wf_net *net;
    size_t log_offset;
    uint32_t turns;
};

/* The test's part of a node's state: one for each interface. */
struct log {
    int64_t last_start[N_ENDS]; /* for each destination */
    uint64_t turns;
    uint64_t sent, received, sent_bytes, received_bytes;
    uint64_t early, disordered;        /* broken promises */
    uint64_t astray;                   /* messages at another interface than their own */
    uint32_t to[N_ENDS], from[N_ENDS]; /* messages of each pair so far */
};

struct totals {
    uint64_t sent, received, sent_bytes, received_bytes, early, disordered, astray;
    struct wf_net_totals facts; /* of models that have them */
};

static struct log *log_of(const struct model *model, void *state, uint32_t nic)
{
    return (struct log *)(void *)((unsigned char *)state + model->log_offset) + nic;
}

static void split(uint64_t value, uint32_t *words)
{
    words[0] = (uint32_t)value;
    words[1] = (uint32_t)(value >> 32);
}

/* When the model may be asked to send next: not before what was sent to the same node, so that
 * the order of the calls is that of departure. */
static int64_t choose_start(const struct wf_net *net, const struct log *log, int64_t now,
                            uint32_t dst, uint64_t random)
{
    int64_t start = now + (int64_t)(random % 3000000);

    if (net->ahead == WF_NET_NOW) {
        return now;
    }
    for (uint32_t i = 0; i < N_ENDS; i++) {
        if ((i == dst || net->ahead == WF_NET_IN_ORDER) && log->last_start[i] > start) {
            start = log->last_start[i];
        }
    }
    return start;
}

static void send_one(const struct model *model, struct wf_ctx *ctx, void *state, uint32_t nic)
{
    const struct wf_net *net = model->net;
    struct log *log = log_of(model, state, nic);
    uint64_t r = wf_random(ctx);
    uint32_t to = (uint32_t)(r % net->ends.after);
    uint32_t dst = wf_net_end(&net->ends, to / net->ends.nics, to % net->ends.nics);
    int64_t start = choose_start(net, log, wf_now(ctx), dst, r >> 20);
    struct wf_net_message msg = {.bytes = r >> 8 & 3 ? (r >> 40) % 20000 : (r >> 10) % 2,
                                 .src_node = wf_net_here(net, ctx, nic)};

    msg.header[0] = msg.src_node;
    msg.header[1] = log->to[dst]++;
    split((uint64_t)start, &msg.header[2]);
    msg.header[4] = dst;
    log->last_start[dst] = start;
    log->sent++;
    log->sent_bytes += msg.bytes;

    int64_t left = net->ops->send(net, ctx, wf_net_part(net, state, nic), dst, &msg, start);
    log->early += left != WF_NET_LATER && left < start;
}

static void arrived(void *arg, struct wf_ctx *ctx, void *node, const struct wf_net_message *msg,
                    int64_t at)
{
    const struct model *model = arg;
    const struct wf_net *net = model->net;
    const struct wf_net_interface to = wf_net_interface_of(&net->ends, msg->header[4]);
    struct log *log = log_of(model, wf_state(ctx), to.nic);
    int64_t start = (int64_t)((uint64_t)msg->header[3] << 32 | msg->header[2]);
    uint32_t src = msg->header[0];
    bool own = wf_net_interface_of(&net->ends, src).node + net->first_node == wf_self(ctx);
    int64_t least = own ? 0 : net->promise_ps;

    wf_touch(ctx, log, sizeof(*log));
    log->received++;
    log->received_bytes += msg->bytes;
    log->early += at < wf_now(ctx) || wf_now(ctx) - start < least || msg->src_node != src;
    log->disordered += log->from[src]++ != msg->header[1];
    log->astray += node != wf_net_part(net, wf_state(ctx), to.nic) ||
                   to.node + net->first_node != wf_self(ctx);
}

static void sent(void *arg, struct wf_ctx *ctx, void *node, const struct wf_net_message *msg)
{
}

static void init(void *state, struct wf_ctx *ctx)
{
    const struct model *model = wf_model(ctx);

    for (uint64_t nic = 0; nic < model->net->ends.nics; nic++) {
        wf_schedule(ctx, wf_self(ctx), 0, KIND_TURN, &nic, sizeof(nic));
    }
}

static void event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    const struct model *model = wf_model(ctx);

    if (ev->kind != KIND_TURN) {
        wf_net_event(model->net, ctx, state, ev);
        return;
    }

    uint64_t nic = ev->payload[0];
    struct log *log = log_of(model, state, (uint32_t)nic);
    wf_touch(ctx, log, sizeof(*log));
    send_one(model, ctx, state, (uint32_t)nic);
    send_one(model, ctx, state, (uint32_t)nic);
    if (++log->turns < model->turns) {
        wf_schedule(ctx, wf_self(ctx), (int64_t)(wf_random(ctx) % 2000000), KIND_TURN, &nic,
                    sizeof(nic));
    }
}

static void finish(const void *state, struct wf_ctx *ctx)
{
    const struct model *model = wf_model(ctx);
    const struct wf_net *net = model->net;
    struct totals *totals = wf_tally(ctx);

    for (uint32_t nic = 0; nic < net->ends.nics; nic++) {
        const struct log *log = log_of(model, wf_unconst(state), nic);

        if (net->ops->finish != NULL) {
            net->ops->finish(net, ctx, wf_net_part(net, wf_unconst(state), nic), nic,
                             &totals->facts);
        }
        totals->sent += log->sent;
        totals->received += log->received;
        totals->sent_bytes += log->sent_bytes;
        totals->received_bytes += log->received_bytes;
        totals->early += log->early;
        totals->disordered += log->disordered;
        totals->astray += log->astray;
    }
}

static void merge(void *into, const void *from)
{
    uint64_t *a = into;
    const uint64_t *b = from;

    for (size_t i = 0; i < sizeof(struct totals) / sizeof(uint64_t); i++) {
        a[i] += b[i];
    }
}

/* Random traffic on one model; returns the digest. */
static uint64_t traffic(const struct wf_net_ops *ops, const struct machine *machine,
                        const struct setup *setup, struct totals *totals)
{
    const struct wf_engine_config config = engine_config(setup);
    struct wf_err err = {.status = WF_OK};
    struct wf_topo *topo = NULL;
    struct wf_run run;

    must(wf_topo_create("torus:3x2x2", &topo, &err), &err);
    const struct wf_net_env env = {.topo = topo,
                                   .n_nodes = machine->n_nodes,
                                   .nics = machine->nics,
                                   .nic_group = machine->nic_group};
    struct wf_net *net = make_net(ops, NULL, &env);
    struct model model = {
        .net = net, .log_offset = machine->nics * net->node_size, .turns = machine->turns};
    const struct wf_process_ops process = {
        .name = "node",
        .payload_max = net->payload_max,
        .announces_changes = true,
        .init = init,
        .event = event,
        .finish = finish,
    };
    const struct wf_net_user user = {.arg = &model, .arrived = arrived, .sent = sent};
    struct wf_engine *engine = wf_engine_new(&config, NULL);

    uint32_t first =
        wf_engine_add(engine, &process, machine->n_nodes,
                      machine->nics * (net->node_size + sizeof(struct log)), &model);
    wf_engine_tally(engine, sizeof(*totals), merge);
    wf_net_attach(net, engine, first, &user);
    must(wf_engine_run(engine, &run, &err), &err);
    memcpy(totals, wf_engine_tally_get(engine), sizeof(*totals));
    wf_engine_free(engine);
    wf_net_free(net);
    wf_topo_free(topo);
    return run.digest;
}

static void check_traffic(const struct wf_net_ops *ops, const struct machine *machine)
{
    uint64_t n_ends = (uint64_t)machine->n_nodes * machine->nics;
    struct totals totals;

    (void)traffic(ops, machine, &(struct setup){.scheduler = WF_SEQUENTIAL}, &totals);
    CHECK_U64(totals.sent, 2 * n_ends * machine->turns);
    CHECK_U64(totals.received, totals.sent);
    CHECK_U64(totals.received_bytes, totals.sent_bytes);
    CHECK_U64(totals.early, 0);
    CHECK_U64(totals.disordered, 0);
    CHECK_U64(totals.astray, 0);
    if (ops->finish != NULL && ops->usage == NULL) { /* packet by packet, too */
        CHECK_U64(totals.facts.nodes, n_ends);
        CHECK(totals.facts.packets_sent >= totals.sent && totals.facts.fingerprint != 0);
        CHECK_U64(totals.facts.packets_received, totals.facts.packets_sent);
        CHECK_U64(totals.facts.bytes_sent, totals.sent_bytes);
        CHECK_U64(totals.facts.bytes_received, totals.sent_bytes);
    }
}

static void messages_arrive_all_in_order_and_not_early(void)
{
    for (const struct wf_net_ops *const *ops = wf_net_table(); *ops != NULL; ops++) {
        if (wf_test_wants((*ops)->name)) {
            check_traffic(*ops, &plain);
        }
    }
}

static void so_they_do_with_several_interfaces_a_node(void)
{
    for (const struct wf_net_ops *const *ops = wf_net_table(); *ops != NULL; ops++) {
        for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
            if (wf_test_wants((*ops)->name)) {
                check_traffic(*ops, &machines[i]);
            }
        }
    }
}

/* Every scheduler gives the same. */
static void check_schedulers(const struct wf_net_ops *ops, const struct machine *machine)
{
    static const struct setup setups[] = {
        {.scheduler = WF_CHECK_UNDO},
        {.scheduler = WF_CONSERVATIVE, .threads = 2},
        {.scheduler = WF_OPTIMISTIC, .threads = 2, .batch = 4},
        {.scheduler = WF_PERTURB, .threads = 2, .perturb_seed = 3},
    };

    struct totals one, other;
    uint64_t digest = traffic(ops, machine, &(struct setup){.scheduler = WF_SEQUENTIAL}, &one);

    for (size_t i = 0; i < sizeof(setups) / sizeof(setups[0]); i++) {
        CHECK_U64(traffic(ops, machine, &setups[i], &other), digest);
        CHECK(memcmp(&one, &other, sizeof(one)) == 0);
    }
}

/* Under sanitizers, on nodes with one interface only: they find nothing new on the others. */
static void every_scheduler_gives_the_same(void)
{
    const struct machine *all[] = {&plain, &machines[1], &machines[5]};

    for (const struct wf_net_ops *const *ops = wf_net_table(); *ops != NULL; ops++) {
        for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i += WF_TEST_ONE_IN) {
            if (wf_test_wants((*ops)->name)) {
                check_schedulers(*ops, all[i]);
            }
        }
    }
}

/* Every endpoint is one interface, and every other vertex has a number of its own. */
static void endpoints_and_interfaces_are_one_to_one(void)
{
    enum { N_VERTICES = 20 };

    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
        const struct wf_net_env env = {.n_nodes = machines[i].n_nodes,
                                       .nics = machines[i].nics,
                                       .nic_group = machines[i].nic_group};
        const struct wf_net_ends ends = wf_net_ends_of(&env);
        uint32_t n_others = 0, n_here = 0;

        for (uint32_t v = 0; v < N_VERTICES; v++) {
            const struct wf_net_interface here = wf_net_interface_of(&ends, v);
            if (v < ends.after + ends.gaps && here.node < env.n_nodes) {
                CHECK(here.nic < env.nics && wf_net_end(&ends, here.node, here.nic) == v);
                n_here++;
            } else {
                CHECK_U64(wf_net_other(&ends, v), n_others);
                CHECK_U64(wf_net_other_vertex(&ends, n_others), v);
                n_others++;
            }
        }
        CHECK_U64(n_here, ends.after);
    }
}

static void wrong_numbers_of_interfaces_are_refused(void)
{
    const struct wf_net_ops *ops = NULL;
    struct wf_topo *topo = NULL;
    struct wf_net *net = NULL;
    struct wf_err err = {.status = WF_OK};

    CHECK(wf_net_find("packet", &ops, &err) == WF_OK);
    CHECK(wf_topo_create("torus:12", &topo, &err) == WF_OK);
    void *params = make_params(ops->params, ops->params_size);
    struct wf_net_env env = {.topo = topo, .n_nodes = 7, .nics = 2};
    CHECK(wf_net_create(ops, params, &env, &net, &err) == WF_EINVAL);
    CHECK_STR(err.text, "7 nodes with 2 interfaces each, in groups of 1, need 14 nodes of the "
                        "topology, but the torus has 12; take a larger topology or fewer "
                        "interfaces (node.nics)");
    env.n_nodes = 4;
    env.nic_group = 4;
    CHECK(wf_net_create(ops, params, &env, &net, &err) == WF_EINVAL);
    CHECK_STR(err.text,
              "node.nic_group: groups of 4 nodes with 2 interfaces each do not divide "
              "the 12 nodes of the torus");
    env = (struct wf_net_env){.n_nodes = UINT32_MAX / 2, .nics = 3};
    CHECK(wf_net_create(ops, params, &env, &net, &err) == WF_ELIMIT);
    CHECK(net == NULL);
    free_params(ops->params, params);
    wf_topo_free(topo);
}

/* Every preset can be chosen, and its values are valid. */
static bool presets_are_right(const struct wf_net_ops *ops)
{
    void *params = wf_xcalloc(1, ops->params_size);
    const struct wf_net_preset *preset = ops->presets;
    bool right = true;

    for (; preset != NULL && preset->name != NULL; preset++) {
        right = right &&
                wf_param_set(ops->params, params, "", "preset", preset->name, NULL) == WF_OK;
        for (size_t i = 0; preset->settings[i] != NULL; i += 2) {
            right = right && wf_param_set(ops->params, params, "", preset->settings[i],
                                          preset->settings[i + 1], NULL) == WF_OK;
        }
    }
    wf_param_release(ops->params, params);
    free(params);
    return right;
}

static void every_model_is_described(void)
{
    for (const struct wf_net_ops *const *ops = wf_net_table(); *ops != NULL; ops++) {
        if (!wf_test_wants((*ops)->name)) {
            continue;
        }
        const struct wf_net_ops *found = NULL;
        CHECK(wf_net_find((*ops)->name, &found, NULL) == WF_OK && found == *ops);
        CHECK((*ops)->summary != NULL);
        void *params = wf_xcalloc(1, (*ops)->params_size + 1);
        CHECK(wf_param_defaults((*ops)->params, params, NULL) == WF_OK);
        for (const struct wf_param *row = (*ops)->params; row->name != NULL; row++) {
            CHECK(row->doc != NULL && row->offset < (*ops)->params_size);
            (void)wf_param_has_effect((*ops)->params, row, params); /* it names another row */
        }
        wf_param_release((*ops)->params, params);
        free(params);
        CHECK(presets_are_right(*ops));
    }
}

static void an_unknown_model_gets_a_proposal(void)
{
    const struct wf_net_ops *ops = NULL;
    struct wf_err err = {.status = WF_OK};

    CHECK(wf_net_find("logp", &ops, &err) == WF_EUSAGE);
    CHECK_STR(err.text, "unknown network model 'logp'; did you mean 'loggp'?");
}

static void the_latency_model_says_what_it_lacks(void)
{
    const struct wf_net_ops *ops = NULL;
    struct wf_topo *topo = NULL;
    struct wf_net *net = NULL;
    struct wf_err err = {.status = WF_OK};
    uint64_t params[8] = {1, 1};

    CHECK(wf_net_find("latency", &ops, &err) == WF_OK && ops->params_size <= sizeof(params));
    CHECK(ops->create(params, &(struct wf_net_env){.n_nodes = 4}, &net, &err) == WF_EUSAGE);
    CHECK_STR(err.text, "network model 'latency' needs a topology, as in --topo torus:8x8x8");
    CHECK(wf_topo_create("torus:3", &topo, &err) == WF_OK);
    CHECK(ops->create(params, &(struct wf_net_env){.topo = topo, .n_nodes = 4}, &net, &err) ==
          WF_EINVAL);
    CHECK_STR(err.text, "4 nodes do not fit on a torus of 3");
    CHECK(net == NULL);
    wf_topo_free(topo);
}

int main(void)
{
    RUN_ONE_THREAD(every_model_is_described);
    RUN_ONE_THREAD(an_unknown_model_gets_a_proposal);
    RUN_ONE_THREAD(the_latency_model_says_what_it_lacks);
    RUN_ONE_THREAD(endpoints_and_interfaces_are_one_to_one);
    RUN_ONE_THREAD(wrong_numbers_of_interfaces_are_refused);
    RUN_ONE_THREAD(messages_arrive_all_in_order_and_not_early);
    RUN_ONE_THREAD(so_they_do_with_several_interfaces_a_node);
    RUN(every_scheduler_gives_the_same);
    return wf_test_done();
}
