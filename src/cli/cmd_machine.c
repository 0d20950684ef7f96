/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/machine_show.h"
#include "cli/opt.h"
#include "cli/progress.h"
#include "result/result.h"
#include "sim/machine.h"
#include "study/machine_check.h"
#include "topo/topo.h"

#include <weft/weft.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MACHINE_SCHEMA "weft-machine-1"

struct machine_opts {
    bool help, json, yaml;
};

static const struct wf_opt rows[] = {
    WF_OPT_ROW(
        struct machine_opts, json, BOOL, "json", 0, NULL,
        .doc =
            "Print JSON: the list, the comparison, or all settings of a machine, with those of "
            "included files"),
    WF_OPT_ROW(struct machine_opts, yaml, BOOL, "yaml", 0, NULL,
               .doc = "With show: print the file itself, a start for one of your own"),
    WF_OPT_HELP(struct machine_opts),
    WF_OPT_END,
};

static const char *setting(const struct wf_machine *machine, const char *key)
{
    const struct wf_setting *found = wf_scenario_find(machine->scenario, key);

    return found != NULL ? found->value : NULL;
}

/* The number of nodes of the machine; 0 if it has no topology. */
static enum wf_status count_nodes(const struct wf_machine *machine, uint64_t *nodes,
                                  struct wf_err *err)
{
    const struct wf_setting *topology = wf_scenario_find(machine->scenario, "topology");
    struct wf_topo *topo = NULL;

    *nodes = 0;
    if (topology == NULL) {
        return WF_OK;
    }

    enum wf_status status = wf_topo_create(topology->value, &topo, err);
    if (status == WF_OK) {
        const char *text = setting(machine, "node.nics");
        uint64_t nics = 0;

        /* Each interface of a node is a node of the topology. */
        *nodes = topo->n_nodes;
        if (text != NULL && wf_parse_count(text, &nics, NULL) == WF_OK && nics > 0) {
            *nodes /= nics;
        }
        wf_topo_free(topo);
    }
    return wf_setting_blame(topology, status, err);
}

/* The kind of the outermost network: "torus" of "torus:8x8/star:2". */
static void network_kind(const struct wf_machine *machine, char *buf, size_t size)
{
    const char *topology = setting(machine, "topology");

    (void)snprintf(buf, size, "%.*s",
                   topology != NULL ? (int)strcspn(topology, ":/") : (int)sizeof("none") - 1,
                   topology != NULL ? topology : "none");
}

/* Adds the JSON members that `list` and `show` share. */
static enum wf_status describe(const struct wf_machine *machine, struct wf_value *section,
                               struct wf_err *err)
{
    uint64_t nodes = 0;
    const char *topology = setting(machine, "topology");
    const char *model = setting(machine, "network");
    char kind[32];

    network_kind(machine, kind, sizeof(kind));
    wf_doc_text(section, "name", machine->name);
    wf_doc_text(section, "summary", machine->summary);
    enum wf_status status = count_nodes(machine, &nodes, err);
    if (topology != NULL) {
        wf_doc_count(section, "nodes", nodes);
    } else {
        wf_doc_null(section, "nodes");
    }
    if (machine->year > 0) {
        wf_doc_count(section, "year", machine->year);
    } else {
        wf_doc_null(section, "year");
    }
    wf_doc_text(section, "topology", kind);
    wf_doc_text(section, "network", model != NULL ? model : "loggp");
    return status;
}

static void print_line(const struct wf_machine *machine, uint64_t nodes, FILE *out)
{
    char kind[32], year[24] = "";

    network_kind(machine, kind, sizeof(kind));
    if (machine->year > 0) {
        (void)snprintf(year, sizeof(year), "%llu", (unsigned long long)machine->year);
    }
    wf_text_print(out, "%-18s %7llu nodes  %-4s  %-10s %s\n", machine->name,
                  (unsigned long long)nodes, year, kind, machine->summary);
}

static enum wf_status list_one(struct wf_cli *cli, const char *name, struct wf_value *list,
                               struct wf_err *err)
{
    struct wf_machine *machine = NULL;
    uint64_t nodes = 0;

    enum wf_status status = wf_machine_load(name, &machine, err);
    if (status != WF_OK) {
        return status;
    }
    if (list != NULL) {
        status = describe(machine, wf_doc_section(list, NULL), err);
    } else {
        status = count_nodes(machine, &nodes, err);
        print_line(machine, nodes, cli->out);
    }
    wf_machine_free(machine);
    return status;
}

static enum wf_status list(struct wf_cli *cli, const struct machine_opts *opts,
                           struct wf_err *err)
{
    struct wf_value *doc = wf_result_new_as(MACHINE_SCHEMA, weft_version());
    struct wf_value *machines = opts->json ? wf_doc_list(doc, "machines") : NULL;
    enum wf_status status = WF_OK;

    for (const struct wf_machine_text *m = wf_machine_library();
         m->name != NULL && status == WF_OK; m++) {
        status = list_one(cli, m->name, machines, err);
    }
    if (opts->json && status == WF_OK) {
        wf_cli_answer(cli, doc);
    } else {
        wf_doc_free(doc);
    }
    return status;
}

/* Adds every setting in effect, under its key. */
static void describe_settings(const struct wf_machine *machine, struct wf_value *section)
{
    for (size_t i = 0; i < machine->scenario->n; i++) {
        const struct wf_setting *s = &machine->scenario->settings[i];
        if (wf_scenario_find(machine->scenario, s->key) == s) {
            wf_doc_text(section, s->key, s->value);
        }
    }
}

/* Adds where each figure of the file comes from. */
static void describe_figures(const struct wf_machine *machine, struct wf_value *list)
{
    for (size_t i = 0; i < machine->n_figures; i++) {
        const struct wf_machine_figure *figure = &machine->figures[i];
        struct wf_value *item = wf_doc_section(list, NULL);

        wf_doc_text(item, "figure", figure->path);
        wf_doc_text(item, "value", figure->value);
        wf_doc_text(item, "origin", wf_machine_origin_names[figure->origin]);
        wf_doc_text(item, "note", figure->note);
    }
}

static void describe_sources(const struct wf_machine *machine, struct wf_value *section)
{
    for (size_t i = 0; i < machine->n_sources; i++) {
        wf_doc_text(section, machine->sources[i].label, machine->sources[i].text);
    }
}

static void describe_residuals(const struct wf_machine *machine, struct wf_value *doc)
{
    struct wf_value *list = machine->n_residuals > 0 ? wf_doc_list(doc, "residuals") : NULL;

    for (size_t i = 0; i < machine->n_residuals; i++) {
        const struct wf_machine_residual *residual = &machine->residuals[i];
        struct wf_value *item = wf_doc_section(list, NULL);

        wf_doc_text(item, "model", residual->model);
        wf_doc_text(item, "pattern", residual->pattern);
        wf_doc_real(item, "mean_percent", residual->mean_percent);
        wf_doc_real(item, "worst_percent", residual->worst_percent);
    }
}

static enum wf_status show_json(struct wf_cli *cli, const char *which, struct wf_err *err)
{
    struct wf_machine *machine = NULL;

    WF_TRY(wf_machine_load(which, &machine, err));

    struct wf_value *doc = wf_result_new_as(MACHINE_SCHEMA, weft_version());
    enum wf_status status = describe(machine, doc, err);
    if (status == WF_OK) {
        describe_settings(machine, wf_doc_section(doc, "settings"));
        describe_figures(machine, wf_doc_list(doc, "figures"));
        describe_sources(machine, wf_doc_section(doc, "sources"));
        describe_residuals(machine, doc);
        wf_cli_answer(cli, doc);
    } else {
        wf_doc_free(doc);
    }
    wf_machine_free(machine);
    return status;
}

static enum wf_status show_text(struct wf_cli *cli, const char *which, struct wf_err *err)
{
    struct wf_machine *machine = NULL;
    uint64_t nodes = 0;

    WF_TRY(wf_machine_load(which, &machine, err));
    enum wf_status status = count_nodes(machine, &nodes, err);
    if (status == WF_OK) {
        wf_cli_machine_show(machine, nodes, cli->out);
    }
    for (size_t i = 0; i < machine->scenario->n_notes && status == WF_OK; i++) {
        wf_text_print(cli->err, "weft: note: %s\n", machine->scenario->notes[i]);
    }
    wf_machine_free(machine);
    return status;
}

static enum wf_status show_yaml(struct wf_cli *cli, const char *which, struct wf_err *err)
{
    char *text = NULL;
    size_t size = 0;

    WF_TRY(wf_machine_read(which, &text, &size, err));
    (void)fwrite(text, 1, size, cli->out);
    free(text);
    return WF_OK;
}

static enum wf_status show(struct wf_cli *cli, const char *which,
                           const struct machine_opts *opts, struct wf_err *err)
{
    if (opts->json && opts->yaml) {
        return wf_err_set(err, WF_EUSAGE, "machine show: --json and --yaml exclude each other");
    }
    return opts->json   ? show_json(cli, which, err)
           : opts->yaml ? show_yaml(cli, which, err)
                        : show_text(cli, which, err);
}

/* ---- check ---- */

static void print_check(struct wf_cli *cli, const struct wf_machine *machine,
                        const struct wf_study_check *check, bool json)
{
    if (json) {
        struct wf_value *doc = wf_result_new_as(MACHINE_SCHEMA, weft_version());

        wf_doc_text(doc, "machine", machine->name);
        wf_study_check_add(check, doc);
        wf_cli_answer(cli, doc);
    } else if (check->n == 0) {
        wf_text_print(cli->out, "The file of %s has no measurements (published) to compare.\n",
                      machine->name);
    } else {
        wf_study_check_print(check, cli->out);
        wf_cli_machine_sources(machine, cli->out);
    }
}

static enum wf_status check(struct wf_cli *cli, const char *which,
                            const struct machine_opts *opts, struct wf_err *err)
{
    struct wf_progress_line line;
    struct wf_study_check result = {.rows = NULL};
    struct wf_machine *machine = NULL;

    WF_TRY(wf_machine_load(which, &machine, err));
    wf_progress_init(&line, WF_PROGRESS_AUTO, cli->err);
    const struct wf_points_host host = wf_progress_points(&line, "measurements", 1);
    enum wf_status status = wf_study_check_run(machine, &host, &result, err);
    wf_progress_erase(&line);
    if (status != WF_EINTR) {
        print_check(cli, machine, &result, opts->json);
    }
    wf_study_check_release(&result);
    wf_machine_free(machine);
    return status;
}

/* ---- the verb ---- */

static const char *const words[] = {"list", "show", "check", NULL};

static enum wf_status usage(const char *word, struct wf_err *err)
{
    char hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    if (word == NULL) {
        return wf_err_set(
            err, WF_EUSAGE,
            "machine: 'list', 'show' or 'check' is missing; for example: weft machine list");
    }
    wf_nearest_begin(&nearest, word);
    for (size_t i = 0; words[i] != NULL; i++) {
        wf_nearest_add(&nearest, words[i]);
    }
    (void)wf_nearest_hint(&nearest, hint);
    return wf_err_set(err, WF_EUSAGE, "machine: unknown argument '%.64s'%s", word,
                      hint[0] != '\0' ? hint : "; expected list, show or check");
}

static enum wf_status machine_run(struct wf_cli *cli, const void *opts_arg,
                                  const struct wf_operands *operands, struct wf_err *err)
{
    const struct machine_opts *opts = opts_arg;
    const struct wf_opt_list *args = &operands->args;
    const char *word = args->n > 0 ? args->items[0] : NULL;
    size_t which = 0;

    while (words[which] != NULL && (word == NULL || strcmp(word, words[which]) != 0)) {
        which++;
    }
    if (words[which] == NULL) {
        return usage(word, err);
    }

    size_t wanted = which == 0 ? 1 : 2;
    if (args->n < wanted) {
        return wf_err_set(err, WF_EUSAGE,
                          "machine %s: a machine is missing; for example: weft machine %s bgp",
                          word, word);
    }
    if (args->n > wanted) {
        return wf_err_set(err, WF_EUSAGE, "machine %s: unexpected argument '%.64s'", word,
                          args->items[wanted]);
    }
    if (opts->yaml && strcmp(word, "show") != 0) {
        return wf_err_set(err, WF_EUSAGE, "machine %s: --yaml is for 'machine show'", word);
    }
    return which == 0   ? list(cli, opts, err)
           : which == 1 ? show(cli, args->items[1], opts, err)
                        : check(cli, args->items[1], opts, err);
}

const struct wf_verb wf_verb_machine = {
    .name = "machine",
    .summary = "List, show or check the machines of the library",
    .help = {.synopsis = "weft machine (list | show <name|file> | check <name|file>) [options]",
             .summary = "List the machines of the library, show a machine with the source of "
                        "each figure, or compare predictions with published measurements of it",
             .examples =
                 {
                     {"weft machine show bgp",
                      "A machine, with the source of each figure; --yaml prints its file, a "
                      "start for one of your own"},
                     {"weft machine check bgp",
                      "How far predictions are off from measurements of the real machine"},
                 },
             .table = rows},
    .opts_size = sizeof(struct machine_opts),
    .max_operands = SIZE_MAX,
    .run = machine_run,
};
