/* SPDX-License-Identifier: Apache-2.0 */
#include "run/machine/machine.h"

#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "model/net/net.h"
#include "model/ranks/cpu/cpu.h"
#include "model/ranks/node_params.h"
#include "model/ranks/ranks.h"
#include "model/storage/storage.h"
#include "run/import/codes.h"
#include "run/import/codes_text.h"
#include "run/machine/reader.h"
#include "run/scenario/power.h"
#include "run/scenario/uncertainty.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INCLUDE_DEPTH_MAX = 16, FILES_MAX = 64 };

/* The files being read, each included by the one before. */
struct chain {
    const struct wf_machine_file *files[INCLUDE_DEPTH_MAX];
    size_t depth;
    size_t n_files; /* files read so far, including those that are finished */
};

/* ---- the keys of a file ---- */

/* Applies a setting to a scratch copy of its table's struct, of `size` bytes, so that a mistake
 * is reported even if the setting is never used. */
static enum wf_status try_setting(const struct wf_setting *setting, const char *name,
                                  const struct wf_param *table, size_t size, struct wf_err *err)
{
    void *scratch = wf_xcalloc(1, size);
    enum wf_status status = wf_setting_apply(setting, table, scratch, name, err);

    wf_param_release(table, scratch);
    free(scratch);
    return status;
}

static enum wf_status try_last(const struct wf_machine_reader *reader, const char *name,
                               const struct wf_param *table, size_t size, struct wf_err *err)
{
    const struct wf_scenario *scenario = reader->machine->scenario;

    return try_setting(&scenario->settings[scenario->n - 1], name, table, size, err);
}

static enum wf_status read_year(struct wf_machine_reader *reader, const struct wf_yaml *node,
                                struct wf_err *err)
{
    uint64_t year = 0;

    WF_TRY(wf_machine_expect(reader, node, WF_YAML_SCALAR, err));
    if (wf_parse_count(node->text, &year, NULL) != WF_OK || year < 1940 || year > 2100) {
        (void)wf_err_set(err, WF_EINVAL, "year: '%.64s' is not a year; expected 1940 to 2100",
                         node->text);
        return wf_machine_blame(reader, node->at, err);
    }
    if (!reader->included) {
        reader->machine->year = year;
    }
    return WF_OK;
}

static enum wf_status read_model(struct wf_machine_reader *reader, const struct wf_yaml *node,
                                 struct wf_err *err)
{
    const struct wf_net_ops *ops;

    WF_TRY(wf_machine_expect(reader, node, WF_YAML_SCALAR, err));
    if (wf_net_find(node->text, &ops, err) != WF_OK) {
        return wf_machine_blame(reader, node->at, err);
    }
    reader->model = ops->name;
    return wf_machine_emit(reader, "network", "network.model", wf_xstrdup(node->text), node->at,
                           err);
}

static enum wf_status read_net_param(struct wf_machine_reader *reader,
                                     const struct wf_yaml *node, struct wf_err *err)
{
    char key[128], origin[128];
    char *value = wf_machine_join(reader, node, ',', err);

    if (value == NULL) {
        return WF_EINVAL;
    }
    (void)snprintf(key, sizeof(key), "net.%.100s", node->key);
    (void)snprintf(origin, sizeof(origin), "network.%.100s", node->key);
    return wf_machine_emit(reader, key, origin, value, node->at, err);
}

/* Reads the name of a model, or a mapping with `model` and its parameters. */
static enum wf_status read_network(struct wf_machine_reader *reader, const struct wf_yaml *node,
                                   struct wf_err *err)
{
    if (node->kind == WF_YAML_SCALAR) {
        return read_model(reader, node, err);
    }

    enum wf_status status = wf_machine_expect(reader, node, WF_YAML_MAP, err);
    const struct wf_yaml *model = wf_yaml_get(node, "model");
    if (status == WF_OK && model != NULL) {
        status = read_model(reader, model, err);
    }
    reader->network = node;
    for (const struct wf_yaml *at = node->first; at != NULL && status == WF_OK; at = at->next) {
        if (at != model && strcmp(at->key, "links") != 0) {
            status = read_net_param(reader, at, err);
        }
    }
    return status;
}

/* Reads a setting of the program that a machine has a default for. */
static enum wf_status read_core(struct wf_machine_reader *reader, const struct wf_yaml *node,
                                struct wf_err *err)
{
    WF_TRY(wf_machine_expect(reader, node, WF_YAML_SCALAR, err));
    WF_TRY(
        wf_machine_emit(reader, node->key, node->key, wf_xstrdup(node->text), node->at, err));
    return try_last(reader, node->key, wf_scenario_params, sizeof(struct wf_scenario_core),
                    err);
}

/* A key of a machine file: read by a function; or a mapping of the parameters of the scope of that
 * name; or else a text of the machine, which does not count in a file that another includes. */
struct key {
    const char *key;
    enum wf_status (*read)(struct wf_machine_reader *reader, const struct wf_yaml *node,
                           struct wf_err *err);
    const struct wf_param *params;
    size_t size; /* of their struct */
    size_t text; /* offset in struct wf_machine */
};

/* Keys are read in this order, whatever their order in the file. `include` comes before all of
 * them. */
static const struct key keys[] = {
    {"name", .text = offsetof(struct wf_machine, name)},
    {"summary", .text = offsetof(struct wf_machine, summary)},
    {"year", .read = read_year},
    {"network", .read = read_network},
    {"topology", .read = wf_machine_read_topology},
    {"cpu", .params = wf_cpu_params, .size = sizeof(struct wf_cpu_params)},
    {"node", .params = wf_node_params, .size = sizeof(struct wf_node_params)},
    {"mpi", .params = wf_mpi_params, .size = sizeof(struct wf_mpi_params)},
    {"storage", .params = wf_storage_params, .size = sizeof(struct wf_storage_params)},
    {"power", .params = wf_sim_energy_params, .size = sizeof(struct wf_sim_energy_params)},
    {"price", .params = wf_sim_price_params, .size = sizeof(struct wf_sim_price_params)},
    {"ranks_per_node", .read = read_core},
    {"placement", .read = read_core},
    {"uncertainty", .read = wf_machine_read_uncertainty},
    {"residuals", .read = wf_machine_read_residuals},
    {"published", .read = wf_machine_read_published},
    {"sources", .read = wf_machine_read_sources},
};

enum { N_KEYS = sizeof(keys) / sizeof(keys[0]) };

static enum wf_status read_params(struct wf_machine_reader *reader, const struct wf_yaml *node,
                                  const struct key *key, struct wf_err *err)
{
    static const char *const none[] = {NULL};

    WF_TRY(wf_machine_expect(reader, node, WF_YAML_MAP, err));
    for (const struct wf_yaml *at = node->first; at != NULL; at = at->next) {
        char name[128];

        if (wf_param_find(key->params, at->key) == NULL) {
            return wf_machine_unknown_key(reader, at, none, key->params, err);
        }
        (void)snprintf(name, sizeof(name), "%s.%.100s", key->key, at->key);
        char *value = wf_machine_join(reader, at, ',', err);
        if (value == NULL) {
            return WF_EINVAL;
        }
        WF_TRY(wf_machine_emit(reader, name, name, value, at->at, err));
        WF_TRY(try_last(reader, at->key, key->params, key->size, err));
    }
    return WF_OK;
}

static enum wf_status read_key(struct wf_machine_reader *reader, const struct wf_yaml *node,
                               const struct key *key, struct wf_err *err)
{
    if (key->read != NULL) {
        return key->read(reader, node, err);
    }
    if (key->params != NULL) {
        return read_params(reader, node, key, err);
    }
    WF_TRY(wf_machine_expect(reader, node, WF_YAML_SCALAR, err));
    if (!reader->included) {
        char **text = (char **)(void *)((char *)reader->machine + key->text);
        free(*text);
        *text = wf_xstrdup(node->text);
    }
    return WF_OK;
}

static enum wf_status check_keys(const struct wf_machine_reader *reader,
                                 const struct wf_yaml *root, struct wf_err *err)
{
    const char *known[N_KEYS + 2] = {"include"};

    for (size_t i = 0; i < N_KEYS; i++) {
        known[i + 1] = keys[i].key;
    }
    for (const struct wf_yaml *node = root->first; node != NULL; node = node->next) {
        size_t i = 0;
        while (known[i] != NULL && strcmp(known[i], node->key) != 0) {
            i++;
        }
        if (known[i] == NULL) {
            return wf_machine_unknown_key(reader, node, known, NULL, err);
        }
    }
    return WF_OK;
}

/* ---- files and includes ---- */

static enum wf_status read_file(struct wf_machine *machine, struct chain *chain,
                                const struct wf_machine_file *file, struct wf_err *err);

/* Reports "a.yaml -> b.yaml -> a.yaml", as far as it fits. */
static enum wf_status include_cycle(const struct chain *chain, size_t first, struct wf_err *err)
{
    char text[400] = "";
    size_t used = 0;

    for (size_t i = first; i <= chain->depth && used < sizeof(text); i++) {
        size_t at = i < chain->depth ? i : first;
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
                                 i == first ? "" : " -> ", chain->files[at]->label);
    }
    return wf_err_set(err, WF_EINVAL, "include cycle: %s", text);
}

static enum wf_status check_chain(const struct chain *chain, const struct wf_machine_file *file,
                                  struct wf_err *err)
{
    for (size_t i = 0; i < chain->depth; i++) {
        if (wf_machine_file_same(chain->files[i], file)) {
            return include_cycle(chain, i, err);
        }
    }
    if (chain->depth == INCLUDE_DEPTH_MAX) {
        return wf_err_set(err, WF_EINVAL, "includes are nested more than %d deep",
                          INCLUDE_DEPTH_MAX);
    }
    if (chain->n_files == FILES_MAX) {
        return wf_err_set(err, WF_EINVAL, "more than %d files are included", FILES_MAX);
    }
    return WF_OK;
}

static enum wf_status include_one(const struct wf_machine_reader *reader, struct chain *chain,
                                  const struct wf_yaml *node, struct wf_err *err)
{
    struct wf_machine_file file = {.label = NULL};

    enum wf_status status = wf_machine_expect(reader, node, WF_YAML_SCALAR, err);
    if (status != WF_OK) {
        return status;
    }
    if (wf_machine_file_open(node->text, reader->file, &file, err) != WF_OK) {
        return wf_machine_blame(reader, node->at, err);
    }
    if (check_chain(chain, &file, err) != WF_OK) {
        status = wf_machine_blame(reader, node->at, err);
    } else {
        status = read_file(reader->machine, chain, &file, err);
    }
    wf_machine_file_fini(&file);
    return status;
}

static enum wf_status include_all(const struct wf_machine_reader *reader, struct chain *chain,
                                  const struct wf_yaml *node, struct wf_err *err)
{
    enum wf_status status = WF_OK;

    if (node == NULL || node->kind == WF_YAML_SCALAR) {
        return node == NULL ? WF_OK : include_one(reader, chain, node, err);
    }
    status = wf_machine_expect(reader, node, WF_YAML_LIST, err);
    for (const struct wf_yaml *at = node->first; at != NULL && status == WF_OK; at = at->next) {
        status = include_one(reader, chain, at, err);
    }
    return status;
}

static enum wf_status read_root(struct wf_machine_reader *reader, struct chain *chain,
                                const struct wf_yaml *root, struct wf_err *err)
{
    WF_TRY(wf_machine_expect(reader, root, WF_YAML_MAP, err));
    WF_TRY(check_keys(reader, root, err));
    WF_TRY(include_all(reader, chain, wf_yaml_get(root, "include"), err));
    for (size_t i = 0; i < N_KEYS; i++) {
        const struct wf_yaml *node = wf_yaml_get(root, keys[i].key);
        if (node != NULL) {
            WF_TRY(read_key(reader, node, &keys[i], err));
        }
    }
    wf_machine_read_figures(reader, root);
    return wf_machine_read_links(reader, err);
}

static void add_notes(struct wf_scenario *scenario, const struct wf_buf *notes)
{
    const char *at = (const char *)notes->data, *end = at + notes->size;

    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t len = newline != NULL ? (size_t)(newline - at) : (size_t)(end - at);

        wf_scenario_note(scenario, "%.*s", (int)len, at);
        at += len + 1;
    }
}

/* Reads a configuration of CODES: its machine file takes its place. */
static enum wf_status read_codes(struct wf_machine *machine, struct chain *chain,
                                 const struct wf_machine_file *file, struct wf_err *err)
{
    char *name = wf_machine_file_stem(file);
    struct wf_codes_source source = {.label = file->label,
                                     .name = name,
                                     .text = file->text,
                                     .size = file->size,
                                     .check = wf_machine_check};
    struct wf_codes_result result = {.machine = {.data = NULL}};
    enum wf_status status = wf_codes_import(&source, &result, err);

    if (status == WF_OK) {
        /* Lines in messages are those of the file that weft import-codes writes. */
        char label[256];
        (void)snprintf(label, sizeof(label), "%.200s (imported)", file->label);
        struct wf_machine_file made = *file;
        made.label = label;
        made.text = (char *)result.machine.data;
        made.size = result.machine.size;
        status = read_file(machine, chain, &made, err);
        add_notes(machine->scenario, &result.notes);
    }
    wf_buf_fini(&result.machine);
    wf_buf_fini(&result.notes);
    free(name);
    return status;
}

/* Included settings come first, so that the file's own settings override them. */
static enum wf_status read_file(struct wf_machine *machine, struct chain *chain,
                                const struct wf_machine_file *file, struct wf_err *err)
{
    struct wf_machine_reader reader = {
        .machine = machine, .file = file, .included = chain->depth > 0};
    struct wf_yaml *root = NULL;

    if (wf_codes_is(file->text, file->size)) {
        return read_codes(machine, chain, file, err);
    }
    if (wf_yaml_parse(file->text, file->size, &root, err) != WF_OK) {
        wf_err_prefix(err, "%s:", file->label);
        return WF_EINVAL;
    }
    chain->files[chain->depth++] = file;
    chain->n_files++;
    enum wf_status status = read_root(&reader, chain, root, err);
    chain->depth--;
    wf_yaml_free(root);
    return status;
}

/* ---- the machine as a whole ---- */

static enum wf_status no_such_param(const struct wf_setting *setting, const char *name,
                                    const struct wf_net_ops *net, struct wf_err *err)
{
    struct wf_nearest nearest;
    char hint[WF_HINT_MAX] = "";

    wf_nearest_begin(&nearest, name);
    for (const struct wf_param *row = net->params; row->name != NULL; row++) {
        wf_nearest_add(&nearest, row->name);
    }
    for (const struct wf_net_ops *const *ops = wf_net_table(); *ops != NULL; ops++) {
        if (wf_param_find((*ops)->params, name) != NULL) {
            (void)snprintf(hint, sizeof(hint), "; the model '%s' has", (*ops)->name);
        }
    }
    if (hint[0] == '\0') {
        (void)wf_nearest_hint(&nearest, hint);
    }
    return wf_setting_blame(setting,
                            wf_err_set(err, WF_EINVAL,
                                       "the network model '%s' has no parameter '%.64s'%s",
                                       net->name, name, hint),
                            err);
}

/* Network parameters must be valid for the model they were written for: the model named in
 * their own file, or else the final model of the machine. */
static enum wf_status check_network(const struct wf_machine *machine, struct wf_err *err)
{
    const struct wf_setting *chosen = wf_scenario_find(machine->scenario, "network");
    const char *model =
        chosen != NULL ? chosen->value : wf_param_find(wf_scenario_params, "network")->def;

    for (size_t i = 0; i < machine->scenario->n; i++) {
        struct wf_setting *s = &machine->scenario->settings[i];
        const struct wf_net_ops *net;

        if (strncmp(s->key, "net.", 4) != 0 && !wf_sim_uncertainty_is(s->key)) {
            continue;
        }
        s->model = s->model != NULL ? s->model : wf_xstrdup(model);
        WF_TRY(wf_net_find(s->model, &net, err));
        if (wf_sim_uncertainty_is(s->key)) {
            WF_TRY(wf_sim_uncertainty_check(s, net, err));
            continue;
        }
        if (wf_param_find(net->params, s->key + 4) == NULL) {
            return no_such_param(s, s->key + 4, net, err);
        }
        WF_TRY(try_setting(s, s->key + 4, net->params, net->params_size, err));
    }
    return WF_OK;
}

static enum wf_status load_file(const struct wf_machine_file *file, struct wf_machine **out,
                                struct wf_err *err)
{
    struct chain chain = {.depth = 0};
    struct wf_machine *machine = wf_xcalloc(1, sizeof(*machine));

    machine->scenario = wf_scenario_new();
    machine->name = wf_machine_file_stem(file);
    machine->summary = wf_xstrdup("");
    enum wf_status status = read_file(machine, &chain, file, err);
    WF_THEN(status, check_network(machine, err));
    if (status == WF_OK) {
        *out = machine;
    } else {
        wf_machine_free(machine);
    }
    return status;
}

enum wf_status wf_machine_load(const char *which, struct wf_machine **out, struct wf_err *err)
{
    struct wf_machine_file file = {.label = NULL};

    enum wf_status status = wf_machine_file_open(which, NULL, &file, err);
    if (status == WF_OK) {
        status = load_file(&file, out, err);
        wf_machine_file_fini(&file);
    }
    return status;
}

enum wf_status wf_machine_parse(const char *label, const char *text, size_t size,
                                struct wf_machine **out, struct wf_err *err)
{
    struct wf_machine_file file = {
        .label = wf_xstrdup(label),
        .text = wf_xcalloc(size + 1, 1),
        .size = size,
    };

    memcpy(file.text, text, size);
    enum wf_status status = load_file(&file, out, err);
    wf_machine_file_fini(&file);
    return status;
}

enum wf_status wf_machine_check(const char *text, size_t size, struct wf_err *err)
{
    struct wf_machine *machine;

    WF_TRY(wf_machine_parse("machine", text, size, &machine, err));
    wf_machine_free(machine);
    return WF_OK;
}

enum wf_status wf_machine_apply(const char *which, struct wf_scenario *scenario,
                                struct wf_err *err)
{
    struct wf_machine *machine = NULL;
    size_t before = scenario->n;

    WF_TRY(wf_machine_load(which, &machine, err));
    wf_scenario_append(scenario, machine->scenario);
    for (size_t i = before; i < scenario->n; i++) {
        scenario->settings[i].implied = true;
    }
    wf_scenario_name_machine(scenario, which);
    wf_machine_free(machine);
    return WF_OK;
}

void wf_machine_free(struct wf_machine *machine)
{
    if (machine == NULL) {
        return;
    }
    for (size_t i = 0; i < machine->n_figures; i++) {
        free(machine->figures[i].path);
        free(machine->figures[i].value);
        free(machine->figures[i].note);
    }
    for (size_t i = 0; i < machine->n_sources; i++) {
        free(machine->sources[i].label);
        free(machine->sources[i].text);
    }
    for (size_t i = 0; i < machine->n_published; i++) {
        wf_machine_published_fini(&machine->published[i]);
    }
    for (size_t i = 0; i < machine->n_residuals; i++) {
        wf_param_release(wf_machine_residual_params, &machine->residuals[i]);
    }
    free(machine->residuals);
    free(machine->figures);
    free(machine->sources);
    free(machine->published);
    wf_scenario_free(machine->scenario);
    free(machine->name);
    free(machine->summary);
    free(machine);
}
