/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: whatever is in a routing table, the outcome is a network whose messages arrive, or an
 * error that names the file. */
#include "base/result/doc.h"
#include "fuzz/foreign.h"
#include "run/execute/run.h"
#include "run/scenario/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void set(struct wf_scenario *scenario, const char *key, const char *value)
{
    struct wf_err err = {.status = WF_OK};

    require(wf_scenario_set(scenario, key, value, NULL, &err) == WF_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct wf_sim_host host = {.world = NULL};
    struct wf_err err = {.status = WF_OK};
    struct wf_scenario *scenario = wf_scenario_new();
    struct wf_value *doc = NULL;
    char path[128];

    foreign_write("table", data, size);
    set(scenario, "source", "gen:exchange");
    set(scenario, "ranks", "4");
    set(scenario, "gen.bytes", "1");
    set(scenario, "network", "packet");
    set(scenario, "topology", "torus:2x2");
    set(scenario, "net.routing", "table");
    set(scenario, "net.routing_file", foreign_path("table", path, sizeof(path)));
    enum wf_status status = wf_sim_run(scenario, &host, &doc, &err);
    require(status == WF_OK || strstr(err.text, foreign_directory) != NULL);
    wf_doc_free(doc);
    wf_scenario_free(scenario);
    return 0;
}
