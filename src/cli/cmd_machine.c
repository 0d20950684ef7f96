/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "cli/cli.h"
#include "cli/opt.h"
#include "result/doc.h"
#include "sim/machine.h"
#include "topo/topo.h"

#include <stdlib.h>
#include <string.h>

struct machine_opts {
    bool help, json;
};

static const struct wf_opt rows[] = {
    WF_OPT_ROW(
        struct machine_opts, json, BOOL, "json", 0, NULL,
        .doc =
            "Print JSON: the list, or all settings of a machine, with those of included files"),
    WF_OPT_HELP(struct machine_opts),
    WF_OPT_END,
};

static const char *setting(const struct wf_machine *machine, const char *key)
{
    const struct wf_setting *found = wf_scenario_find(machine->scenario, key);

    return found != NULL ? found->value : NULL;
}

/* The number of nodes in the machine's topology; 0 if it has none. */
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
        *nodes = topo->n_nodes;
        wf_topo_free(topo);
    }
    return wf_setting_blame(topology, status, err);
}

/* Adds the JSON members that `list` and `show` share. */
static enum wf_status describe(const struct wf_machine *machine, struct wf_value *section,
                               struct wf_err *err)
{
    uint64_t nodes = 0;
    const char *topology = setting(machine, "topology");

    wf_doc_text(section, "name", machine->name);
    wf_doc_text(section, "summary", machine->summary);
    enum wf_status status = count_nodes(machine, &nodes, err);
    if (topology != NULL) {
        wf_doc_count(section, "nodes", nodes);
    } else {
        wf_doc_null(section, "nodes");
    }
    return status;
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
        (void)fprintf(cli->out, "%-18s %7llu nodes  %s\n", machine->name,
                      (unsigned long long)nodes, machine->summary);
    }
    wf_machine_free(machine);
    return status;
}

static enum wf_status list(struct wf_cli *cli, const struct machine_opts *opts,
                           struct wf_err *err)
{
    struct wf_value *doc = wf_doc_new();
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

static enum wf_status show_json(struct wf_cli *cli, const char *which, struct wf_err *err)
{
    struct wf_machine *machine = NULL;

    WF_TRY(wf_machine_load(which, &machine, err));

    struct wf_value *doc = wf_doc_new();
    enum wf_status status = describe(machine, doc, err);
    if (status == WF_OK) {
        describe_settings(machine, wf_doc_section(doc, "settings"));
        wf_cli_answer(cli, doc);
    } else {
        wf_doc_free(doc);
    }
    wf_machine_free(machine);
    return status;
}

static enum wf_status show_text(struct wf_cli *cli, const char *which, struct wf_err *err)
{
    char *text = NULL;
    size_t size = 0;

    WF_TRY(wf_machine_read(which, &text, &size, err));
    (void)fwrite(text, 1, size, cli->out);
    free(text);
    return WF_OK;
}

static enum wf_status usage(const char *word, struct wf_err *err)
{
    char hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    if (word == NULL) {
        return wf_err_set(
            err, WF_EUSAGE,
            "machine: 'list' or 'show' is missing; for example: weft machine list");
    }
    wf_nearest_begin(&nearest, word);
    wf_nearest_add(&nearest, "list");
    wf_nearest_add(&nearest, "show");
    (void)wf_nearest_hint(&nearest, hint);
    return wf_err_set(err, WF_EUSAGE, "machine: unknown argument '%.64s'%s", word,
                      hint[0] != '\0' ? hint : "; expected list or show");
}

static enum wf_status machine_run(struct wf_cli *cli, const void *opts_arg,
                                  const struct wf_operands *operands, struct wf_err *err)
{
    const struct machine_opts *opts = opts_arg;
    const struct wf_opt_list *args = &operands->args;
    const char *word = args->n > 0 ? args->items[0] : NULL;
    bool shows = word != NULL && strcmp(word, "show") == 0;
    size_t wanted = shows ? 2 : 1;

    if (!shows && (word == NULL || strcmp(word, "list") != 0)) {
        return usage(word, err);
    }
    if (args->n < wanted) {
        return wf_err_set(
            err, WF_EUSAGE,
            "machine show: a machine is missing; for example: weft machine show bgp");
    }
    if (args->n > wanted) {
        return wf_err_set(err, WF_EUSAGE, "machine %s: unexpected argument '%.64s'", word,
                          args->items[wanted]);
    }
    if (!shows) {
        return list(cli, opts, err);
    }
    return opts->json ? show_json(cli, args->items[1], err)
                      : show_text(cli, args->items[1], err);
}

const struct wf_verb wf_verb_machine = {
    .name = "machine",
    .summary = "List or show the machines of the library",
    .help = {.synopsis = "weft machine (list | show <name|file>) [options]",
             .summary = "List the machines of the library, or show the file of a machine",
             .examples =
                 {
                     {"weft machine list", "All machines of the library"},
                     {"weft machine show bgp", "The file of a machine, with the source of each "
                                               "figure; a start for one of your own"},
                 },
             .table = rows},
    .opts_size = sizeof(struct machine_opts),
    .max_operands = SIZE_MAX,
    .run = machine_run,
};
