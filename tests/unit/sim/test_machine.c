/* SPDX-License-Identifier: Apache-2.0 */
#include "run/machine/machine.h"

#include "base/result/doc.h"
#include "run/execute/run.h"

#include "harness/wf_test.h"

static struct wf_machine *parse(const char *text)
{
    struct wf_machine *machine = NULL;
    struct wf_err err = {.status = WF_OK};

    if (wf_machine_parse("m.yaml", text, strlen(text), &machine, &err) != WF_OK) {
        printf("# %s: %s\n", text, err.text);
        abort();
    }
    return machine;
}

/* All settings in order, each as "key=value@line:column". */
static void write_settings(const struct wf_machine *machine, char *buf, size_t size)
{
    buf[0] = '\0';
    for (size_t i = 0; i < machine->scenario->n; i++) {
        const struct wf_setting *s = &machine->scenario->settings[i];
        size_t used = strlen(buf);
        (void)snprintf(buf + used, size - used, "%s%s=%s@%s", i > 0 ? " " : "", s->key,
                       s->value, strchr(s->place, ':') + 1);
    }
}

static void every_form_of_a_topology_is_one_spec(void)
{
    static const struct {
        const char *text, *settings;
    } cases[] = {
        {"topology: torus:4x4", "topology=torus:4x4@1:11"},
        {"topology: {kind: torus, size: 4x4}", "topology=torus:4x4@1:11"},
        {"topology: {kind: torus, size: [4, 4]}", "topology=torus:4x4@1:11"},
        {"topology: {wrap: [1, 0], size: [4, 4], kind: torus}",
         "topology=torus:4x4,wrap=1,0@1:11"},
        {"topology: [torus:2, mesh:3]", "topology=torus:2/mesh:3@1:11"},
        {"topology: [torus:2/mesh:3, {kind: mesh, size: 4, inside: mesh:5}]",
         "topology=torus:2/mesh:3/mesh:4/mesh:5@1:11"},
        {"topology:\n  kind: torus\n  size: 2\n  inside:\n    - mesh:3\n    - mesh:4\n",
         "topology=torus:2/mesh:3/mesh:4@2:3"},
        {"network: latency\ntopology: {kind: mesh, size: 4, link_latency: 1us}",
         "network=latency@1:10 topology=mesh:4@2:11 net.link_latency=1us@2:47"},
        /* A level that says nothing has what the network says. */
        {"topology:\n  - {kind: torus, size: 2}\n  - {kind: mesh, size: 3, bandwidth: 1GB/s}\n"
         "network: {model: latency, bandwidth: 2GB/s}\n",
         "network=latency@4:18 net.bandwidth=2GB/s@4:38 topology=torus:2/mesh:3@2:3 "
         "net.bandwidth=2GB/s,1GB/s@3:38"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char buf[512];
        struct wf_machine *machine = parse(cases[i].text);

        write_settings(machine, buf, sizeof(buf));
        CHECK_STR(buf, cases[i].settings);
        wf_machine_free(machine);
    }
}

static void names_come_from_the_file_itself(void)
{
    struct wf_machine *machine = parse("include: bgp\nranks_per_node: 2\n");

    CHECK_STR(machine->name, "m");
    CHECK_STR(machine->summary, "");
    CHECK_STR(wf_scenario_find(machine->scenario, "ranks_per_node")->value, "2");
    CHECK_STR(wf_scenario_find(machine->scenario, "ranks_per_node")->place, "m.yaml:2:17");
    CHECK(strncmp(wf_scenario_find(machine->scenario, "topology")->place, "bgp.yaml:", 9) == 0);
    wf_machine_free(machine);

    machine = parse("summary: x y\nname: other\n");
    CHECK_STR(machine->name, "other");
    CHECK_STR(machine->summary, "x y");
    CHECK_U64(machine->scenario->n, 0);
    wf_machine_free(machine);
}

/* Parameters belong to the model of their own file, else to that of the whole machine. */
static void parameters_know_their_model(void)
{
    struct wf_machine *machine = parse("include: gige\nnetwork: {model: loggp, L: 3us}\n");

    CHECK_STR(wf_scenario_find(machine->scenario, "net.link_latency")->model, "packet");
    CHECK_STR(wf_scenario_find(machine->scenario, "net.L")->model, "loggp");
    wf_machine_free(machine);

    machine = parse("include: gige\nnetwork: {link_latency: 3us}\n");
    CHECK_STR(wf_scenario_find(machine->scenario, "net.link_latency")->model, "packet");
    wf_machine_free(machine);

    machine = parse("network: {L: 3us}\n");
    CHECK_STR(wf_scenario_find(machine->scenario, "net.L")->model, "loggp");
    wf_machine_free(machine);
}

static struct wf_value *run(const char *text, struct wf_err *err)
{
    const struct wf_sim_host host = {.world = NULL};
    struct wf_machine *machine = parse(text);
    struct wf_scenario *scenario = wf_scenario_new();
    struct wf_value *doc = NULL;

    wf_scenario_append(scenario, machine->scenario);
    wf_machine_free(machine);
    if (wf_scenario_set(scenario, "source", "gen:stencil3d", NULL, err) != WF_OK ||
        wf_scenario_set(scenario, "ranks", "8", NULL, err) != WF_OK) {
        abort();
    }
    err->status = wf_sim_run(scenario, &host, &doc, err);
    wf_scenario_free(scenario);
    return doc;
}

static void errors_found_late_have_a_place(void)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"name: a\ntopology: torus:2x2\n", "m.yaml:2:11: 8 ranks, 1 on a node, need 8 nodes"},
        {"topology: torus:4/mesh:3\n",
         "m.yaml:1:11: 8 ranks, 1 on a node, need 8 nodes, but the hierarchy "
         "torus:4/mesh:3 has 12"},
        {"network: latency\n", "m.yaml:1:10: network model 'latency' needs a topology"},
        {"topology: torus:8\nnetwork:\n  model: latency\n  bandwidth: [1GB/s, 2GB/s]\n",
         "m.yaml:4:14: net.bandwidth: 2 values"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_err err = {.status = WF_OK};

        CHECK(run(cases[i].text, &err) == NULL);
        if (strncmp(err.text, cases[i].words, strlen(cases[i].words)) != 0) {
            printf("# %s: %s\n", cases[i].text, err.text);
        }
        CHECK(strncmp(err.text, cases[i].words, strlen(cases[i].words)) == 0);
        CHECK(err.status == WF_EINVAL);
    }
}

/* Model chosen in the end; what of the included file's link figures is left. */
static void another_model_takes_what_it_knows(void)
{
    struct wf_err err = {.status = WF_OK};
    struct wf_value *doc = run("include: gige\nnetwork: alphabeta\n", &err);

    CHECK(doc != NULL);
    CHECK_STR(wf_doc_get_text(doc, "scenario.network", ""), "alphabeta");
    CHECK_STR(wf_doc_get_text(doc, "scenario.parameters.net.alpha", ""), "2us");
    CHECK_STR(wf_doc_get_text(doc, "scenario.parameters.net.bandwidth", ""), "125MB/s");
    CHECK(wf_doc_find(doc, "scenario.parameters.net.link_latency") == NULL);
    wf_doc_free(doc);
}

static void included_files_are_limited(void)
{
    struct wf_machine *machine = NULL;
    struct wf_err err = {.status = WF_OK};
    char text[1024] = "include: [gige";

    for (int i = 0; i < 70; i++) {
        (void)strncat(text, ", gige", sizeof(text) - strlen(text) - 1);
    }
    (void)strncat(text, "]\n", sizeof(text) - strlen(text) - 1);
    CHECK(wf_machine_parse("m.yaml", text, strlen(text), &machine, &err) == WF_EINVAL);
    CHECK(strstr(err.text, "more than 64 files") != NULL);
    CHECK(strncmp(err.text, "m.yaml:1:", 9) == 0);
}

static void the_library_is_sorted_and_loads(void)
{
    const struct wf_machine_text *m = wf_machine_library();

    for (size_t i = 0; m[i].name != NULL; i++) {
        struct wf_machine *machine = NULL;
        struct wf_err err = {.status = WF_OK};

        CHECK(i == 0 || strcmp(m[i - 1].name, m[i].name) < 0);
        CHECK(wf_machine_load(m[i].name, &machine, &err) == WF_OK);
        CHECK_STR(machine->name, m[i].name);
        CHECK(machine->summary[0] != '\0');
        CHECK(wf_scenario_find(machine->scenario, "topology") != NULL);
        wf_machine_free(machine);
    }
}

int main(void)
{
    RUN(every_form_of_a_topology_is_one_spec);
    RUN(names_come_from_the_file_itself);
    RUN(parameters_know_their_model);
    RUN(errors_found_late_have_a_place);
    RUN(another_model_takes_what_it_knows);
    RUN(included_files_are_limited);
    RUN(the_library_is_sorted_and_loads);
    return wf_test_done();
}
