/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/report_settings.h"

#include "base/mem.h"
#include "run/scenario/catalog.h"
#include "run/scenario/scenario.h"
#include "ui/study/picture.h"

#include <string.h>

/* Warns if the model does not use the topology, unless the topology comes from a machine file,
 * which may be meant for several models. */
static void note_topology(const struct wf_scenario *scenario, const struct wf_value *doc,
                          FILE *out)
{
    const struct wf_setting *topology = wf_scenario_find(scenario, "topology");

    if (topology != NULL && topology->place == NULL &&
        wf_doc_get_text(doc, "scenario.topology", NULL) == NULL) {
        (void)fprintf(out, "weft: note: the network model '%s' does not use the topology\n",
                      wf_doc_get_text(doc, "scenario.network", ""));
    }
}

/* Tasks have no receives and no protocols; those of some traces have collectives. */
static bool affects_tasks(const char *key, bool have_collectives)
{
    static const char *const of_protocols[] = {"node.copies",       "node.copy_unexpected",
                                               "node.registration", "node.registration_rate",
                                               "node.nic_policy",   "node.stripe_min"};

    for (size_t i = 0; i < sizeof(of_protocols) / sizeof(of_protocols[0]); i++) {
        if (strcmp(key, of_protocols[i]) == 0) {
            return false;
        }
    }
    if (have_collectives &&
        (strncmp(key, "mpi.nccl_", 9) == 0 || strcmp(key, "mpi.rules") == 0)) {
        return true;
    }
    return strncmp(key, "mpi.", 4) != 0 || strncmp(key, "mpi.local", 9) == 0;
}

/* Warns about MPI settings that have no effect on a program of tasks, unless they come from a
 * machine file. */
static void note_tasks(const struct wf_scenario *scenario, const struct wf_value *doc,
                       FILE *out)
{
    bool have_collectives = wf_doc_find(doc, "scenario.parameters.trace.coll_rules") != NULL;

    if (wf_doc_find(doc, "result.tasks") == NULL) {
        return;
    }
    for (size_t i = 0; i < scenario->n; i++) {
        const struct wf_setting *setting = &scenario->settings[i];

        if (setting->place == NULL && setting == wf_scenario_find(scenario, setting->key) &&
            !affects_tasks(setting->key, have_collectives)) {
            (void)fprintf(
                out, "weft: note: %s has no effect on a program of tasks%s\n", setting->key,
                strncmp(setting->key, "mpi.", 4) == 0
                    ? have_collectives ? "; of mpi.* only rules, nccl_* and local* have"
                                       : "; of mpi.* only local, local_latency and "
                                         "local_bandwidth have"
                    : "");
        }
    }
}

/* Whether the entry is a network model that can record the load of its links. */
static bool keeps_link_stats(const struct wf_catalog_entry *entry)
{
    return strcmp(entry->kind, "net") == 0 && wf_param_find(entry->params, "stats") != NULL;
}

/* Warns if a table of links would be empty. */
static void note_links(const struct wf_writer_ops *writer, const struct wf_value *doc,
                       FILE *out)
{
    struct wf_catalog_entry model;

    if (writer != &wf_writer_csv || wf_doc_find(doc, "result.network.links") != NULL) {
        return;
    }
    (void)fprintf(out, "weft: note: a .csv holds the links of the network, which these "
                       "models record with -p net.stats=links:");
    for (size_t at = 0; wf_catalog_next(&at, &model);) {
        if (keeps_link_stats(&model)) {
            (void)fprintf(out, " %s", model.name);
        }
    }
    (void)fprintf(out, "; .json holds all\n");
}

void wf_study_notes(const struct wf_scenario *scenario, const struct wf_writer_ops *writer,
                    const struct wf_value *doc, FILE *out)
{
    note_topology(scenario, doc, out);
    note_tasks(scenario, doc, out);
    note_links(writer, doc, out);
}

/* Enables the load of links in a model that has it, unless the user set the option. */
static enum wf_status ask_for_links(struct wf_scenario *scenario, struct wf_err *err)
{
    const struct wf_setting *topology = wf_scenario_find(scenario, "topology");
    const struct wf_setting *network = wf_scenario_find(scenario, "network");
    struct wf_catalog_entry model;

    if (topology == NULL || network == NULL ||
        wf_scenario_find(scenario, "net.stats") != NULL ||
        !wf_catalog_find("net", network->value, &model) || !keeps_link_stats(&model)) {
        return WF_OK;
    }
    return wf_scenario_add(
        scenario,
        (struct wf_setting){
            .key = wf_xstrdup("net.stats"),
            .value =
                wf_xstrdup(wf_study_picture_is_small(topology->value) ? "links" : "summary"),
            .origin = wf_xstrdup("net.stats"),
            .place = wf_xstrdup("report"),
            .model = wf_xstrdup(model.name),
            .implied = true,
        },
        err);
}

enum wf_status wf_study_report_settings(struct wf_scenario *scenario,
                                        const struct wf_writer_ops *writer, bool is_replay,
                                        struct wf_err *err)
{
    enum wf_status status = WF_OK;

    /* A run that stops early has no efficiency. */
    if (is_replay && !writer->timeline && wf_scenario_find(scenario, "efficiency") == NULL &&
        wf_scenario_find(scenario, "until") == NULL) {
        status = wf_scenario_set(scenario, "efficiency", "yes", NULL, err);
    }
    return status == WF_OK && writer->links ? ask_for_links(scenario, err) : status;
}
