/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/simulate.h"

#include "base/mem.h"
#include "cli/progress.h"
#include "sim/catalog.h"
#include "sim/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBER(name) offsetof(struct wf_simulate_opts, name)

static const struct wf_opt common_rows[] = {
    {.param = {.name = "param",
               .offset = MEMBER(params),
               .doc = "Set a parameter; 'weft help' lists all"},
     .kind = WF_OPT_PAIRS,
     .letter = 'p'},
    {.param = {.name = "json",
               .type = WF_PARAM_BOOL,
               .offset = MEMBER(json),
               .doc = "Print the result as one JSON document"}},
    {.param = {.name = "output",
               .type = WF_PARAM_TEXT,
               .offset = MEMBER(output),
               .doc = "Write the result to a file instead, as its name says: .json, .txt, .csv "
                      "(links), .html "
                      "(a report to look at), .pftrace, .prv, .otf2 or .timeline.csv"},
     .letter = 'o',
     .arg = "<file>"},
    {.param = {.name = "force",
               .type = WF_PARAM_BOOL,
               .offset = MEMBER(force),
               .doc = "Overwrite that file if it exists"},
     .letter = 'f'},
    {.param = {.name = "dry-run",
               .type = WF_PARAM_BOOL,
               .offset = MEMBER(dry_run),
               .doc = "Check everything, print the scenario as understood, do not run"}},
    {.param = {.name = "progress",
               .type = WF_PARAM_ENUM,
               .offset = MEMBER(progress),
               .def = "auto",
               .choices = wf_progress_modes,
               .doc = "Show a progress line; auto is on a terminal only"}},
    {.param = {.name = "quiet",
               .type = WF_PARAM_BOOL,
               .offset = MEMBER(quiet),
               .doc = "No progress line"},
     .letter = 'q'},
    {.param = {.name = "verbose",
               .type = WF_PARAM_BOOL,
               .offset = MEMBER(verbose),
               .doc = "Report everything, with all parameters in force"},
     .letter = 'v'},
    WF_OPT_HELP(struct wf_simulate_opts),
};

void wf_simulate_table_init(struct wf_simulate_table *table)
{
    memset(table, 0, sizeof(*table));
}

static const char *keep(struct wf_simulate_table *table, const char *text)
{
    char *copy = wf_xstrdup(text);

    table->texts[table->n_texts++] = copy;
    return copy;
}

/* The parameter behind a key such as "engine.threads", "phold.lps" or "ranks". */
static const struct wf_param *find_param(const char *key)
{
    const char *dot = strchr(key, '.');
    struct wf_catalog_entry entry;
    size_t at = 0;

    if (dot == NULL) {
        return wf_param_find(wf_scenario_params, key);
    }
    while (wf_catalog_next(&at, &entry)) {
        if (entry.scope != NULL && entry.params != NULL &&
            strlen(entry.scope) == (size_t)(dot - key) &&
            strncmp(entry.scope, key, strlen(entry.scope)) == 0) {
            return wf_param_find(entry.params, dot + 1);
        }
    }
    return NULL;
}

void wf_simulate_table_add(struct wf_simulate_table *table, const struct wf_shortcut *shortcut)
{
    const struct wf_param *param = find_param(shortcut->key);
    char syntax[WF_PARAM_TEXT_MAX];
    size_t i = table->n;

    if (param == NULL || i >= WF_SIMULATE_ROWS_MAX) {
        wf_panic("option --%s stands for '%s'", shortcut->option, shortcut->key);
    }

    struct wf_opt *row = &table->rows[i];
    row->param = *param;
    row->param.name = keep(table, shortcut->option);
    row->letter = shortcut->letter;
    if (param->def != NULL && param->def[0] == '\0') {
        row->param.def = NULL;
    }
    if (param->type == WF_PARAM_BOOL) {
        row->param.offset = MEMBER(flags) + i * sizeof(bool);
    } else {
        /* The value is parsed where all other values of the parameter are. */
        row->param.type = WF_PARAM_TEXT;
        row->param.offset = MEMBER(settings) + i * sizeof(const char *);
        row->arg =
            shortcut->arg != NULL ? shortcut->arg : keep(table, wf_param_syntax(param, syntax));
    }
    table->keys[i] = wf_xstrdup(shortcut->key);
    table->n++;
}

void wf_simulate_table_add_row(struct wf_simulate_table *table, const struct wf_opt *row)
{
    if (table->n >= WF_SIMULATE_ROWS_MAX) {
        wf_panic("a command has more than %d options", WF_SIMULATE_ROWS_MAX);
    }
    table->rows[table->n++] = *row;
}

static const struct wf_opt recording_rows[] = {
    {
        .param =
            {.name = "record",
             .type = WF_PARAM_BOOL,
             .offset = offsetof(struct wf_simulate_opts, record),
             .doc =
                 "Add what the ranks did when, and who sent how much to whom, to the result; "
                 "files for looking at have that anyway"},
    },
    {
        .param = {.name = "record-limit",
                  .type = WF_PARAM_COUNT,
                  .offset = offsetof(struct wf_simulate_opts, record_limit),
                  .def = "100000",
                  .max = "50000000",
                  .doc =
                      "Of a recording: keep every single span of time and message if there are "
                      "not more"},
    },
    {
        .param = {.name = "record-ranks",
                  .type = WF_PARAM_TEXT,
                  .offset = offsetof(struct wf_simulate_opts, record_ranks),
                  .doc =
                      "Of a recording: keep single spans of these ranks and messages between "
                      "them, so that large runs have them too"},
        .arg = "<first:last,...>",
    },
    {
        .param = {.name = "record-time",
                  .type = WF_PARAM_TEXT,
                  .offset = offsetof(struct wf_simulate_opts, record_time),
                  .doc = "Likewise of this time, as in 1ms:2ms"},
        .arg = "<from:until>",
    },
    {
        .param =
            {.name = "path-memory",
             .type = WF_PARAM_SIZE,
             .offset = offsetof(struct wf_simulate_opts, path_memory),
             .def = "64MiB",
             .max = "64GiB",
             .doc = "Of a recording: memory of each thread to find the critical path by; 0 is "
                    "no critical path"},
    },
};

void wf_simulate_table_add_recording(struct wf_simulate_table *table)
{
    for (size_t i = 0; i < sizeof(recording_rows) / sizeof(recording_rows[0]); i++) {
        wf_simulate_table_add_row(table, &recording_rows[i]);
    }
}

void wf_simulate_table_end(struct wf_simulate_table *table)
{
    for (size_t i = 0; i < sizeof(common_rows) / sizeof(common_rows[0]); i++) {
        wf_simulate_table_add_row(table, &common_rows[i]);
    }
    table->rows[table->n] = (struct wf_opt)WF_OPT_END;
}

void wf_simulate_table_fini(struct wf_simulate_table *table)
{
    for (size_t i = 0; i < table->n; i++) {
        free(table->keys[i]);
    }
    for (size_t i = 0; i < table->n_texts; i++) {
        free(table->texts[i]);
    }
    wf_simulate_table_init(table);
}

static enum wf_status apply_pair(const char *pair, struct wf_scenario *scenario,
                                 struct wf_err *err)
{
    char *key = wf_xstrdup(pair);
    char *equals = strchr(key, '=');

    *equals = '\0';
    enum wf_status status = wf_scenario_set(scenario, key, equals + 1, NULL, err);
    free(key);
    return status;
}

/* Hands the option of row i to the scenario, under its own name. */
static enum wf_status apply_option(const struct wf_simulate_table *table, size_t i,
                                   const struct wf_simulate_opts *opts,
                                   struct wf_scenario *scenario, struct wf_err *err)
{
    const struct wf_param *param = &table->rows[i].param;
    const char *flag = opts->flags[i] ? "true" : "false";
    char origin[64];

    (void)snprintf(origin, sizeof(origin), "--%s", param->name);
    return wf_scenario_set(scenario, table->keys[i],
                           param->type == WF_PARAM_BOOL ? flag : opts->settings[i], origin,
                           err);
}

static enum wf_status apply_machine(const char *which, struct wf_scenario *scenario,
                                    struct wf_err *err)
{
    struct wf_machine *machine = NULL;

    enum wf_status status = wf_machine_load(which, &machine, err);
    if (status == WF_OK) {
        wf_scenario_append(scenario, machine->scenario);
        wf_machine_free(machine);
    }
    return status;
}

/* Whether a setting begins here: a name and '='. A generator's text may contain such things
 * too, so that behind one of its parameters only names count that a job has. */
static bool begins_setting(const char *text, bool in_generator)
{
    size_t len = strcspn(text, "=,:");
    char name[64];

    (void)snprintf(name, sizeof(name), "%.*s", (int)(len < 63 ? len : 63), text);
    return text[len] == '=' && (!in_generator || strncmp(name, "gen.", 4) == 0 ||
                                wf_param_find(wf_scenario_job_params(), name) != NULL);
}

/* The length of a part of "gen:ring,ranks=8,gen.bytes=1KiB": up to a comma that is not part of
 * a value. */
static size_t part_length(const char *text)
{
    bool in_generator = strncmp(text, "gen.", 4) == 0;
    size_t len = strcspn(text, ",");

    while (text[len] == ',' && !begins_setting(text + len + 1, in_generator)) {
        len += 1 + strcspn(text + len + 1, ",");
    }
    return len;
}

/* --job: a source, then settings of that job. */
static enum wf_status apply_job(const char *text, size_t number, struct wf_scenario *scenario,
                                struct wf_err *err)
{
    const char *name = "source", *at = text;
    enum wf_status status = WF_OK;

    for (;;) {
        size_t len = part_length(at);
        size_t name_len = at == text ? strlen(name) : strcspn(at, "=");
        char *value = wf_xstrdup(at == text ? at : at + name_len + 1);
        char key[128];

        value[at == text ? len : len - name_len - 1] = '\0';
        (void)snprintf(key, sizeof(key), "job.%zu.%.*s", number,
                       (int)(name_len < 96 ? name_len : 96), at == text ? name : at);
        status = wf_scenario_set(scenario, key, value, NULL, err);
        free(value);
        if (status != WF_OK || at[len] == '\0') {
            return status;
        }
        at += len + 1;
    }
}

enum wf_status wf_simulate_apply(const struct wf_simulate_table *table,
                                 const struct wf_simulate_opts *opts, uint64_t given,
                                 struct wf_scenario *scenario, struct wf_err *err)
{
    enum wf_status status = WF_OK;

    if (opts->machine != NULL) {
        status = apply_machine(opts->machine, scenario, err);
    }
    for (size_t i = 0; i < table->n && status == WF_OK; i++) {
        if (table->keys[i] != NULL && (given >> i & 1) != 0) {
            status = apply_option(table, i, opts, scenario, err);
        }
    }
    for (size_t i = 0; i < opts->jobs.n && status == WF_OK; i++) {
        status = apply_job(opts->jobs.items[i], i + 1, scenario, err);
    }
    for (size_t i = 0; i < opts->params.n && status == WF_OK; i++) {
        status = apply_pair(opts->params.items[i], scenario, err);
    }
    return status;
}

enum wf_status wf_simulate_verb_run(const struct wf_simulate_verb *verb, struct wf_cli *cli,
                                    int argc, char **argv, struct wf_err *err)
{
    struct wf_simulate_table table;
    struct wf_simulate_opts opts = {.help = false};
    struct wf_operands operands;

    verb->make_table(&table);
    enum wf_status status = wf_opt_parse(table.rows, argc, argv, &opts, &operands, err);
    if (status == WF_OK) {
        if (opts.help) {
            verb->print_help(&table, cli->out);
        } else {
            status = verb->run(cli, &table, &opts, &operands, err);
        }
        wf_opt_release(table.rows, &opts, &operands);
    }
    wf_simulate_table_fini(&table);
    return status;
}

void wf_simulate_verb_help(const struct wf_simulate_verb *verb, FILE *out)
{
    struct wf_simulate_table table;

    verb->make_table(&table);
    verb->print_help(&table, out);
    wf_simulate_table_fini(&table);
}
