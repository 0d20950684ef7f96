/* SPDX-License-Identifier: Apache-2.0 */
#include "base/result/result.h"
#include "base/text.h"
#include "run/machine/machine.h"
#include "ui/cli/cli.h"
#include "ui/cli/opt.h"
#include "ui/cli/progress.h"
#include "ui/study/machine_check.h"
#include "ui/study/machine_facts.h"

#include <weft/weft.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MACHINE_SCHEMA "weft-machine-1"

struct machine_opts {
    bool json, yaml;
};

static const struct wf_opt rows[] = {
    WF_OPT_ROW(
        struct machine_opts, json, BOOL, "json", 0, NULL,
        .doc =
            "Print JSON: the list, the comparison, or all settings of a machine, with those of "
            "included files"),
    WF_OPT_ROW(struct machine_opts, yaml, BOOL, "yaml", 0, NULL,
               .doc = "With show: print the file itself, a start for one of your own"),
    WF_OPT_END,
};

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
        status = wf_study_machine_describe(machine, wf_doc_section(list, NULL), err);
    } else {
        status = wf_study_machine_nodes(machine, &nodes, err);
        wf_study_machine_line(machine, nodes, cli->out);
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

static enum wf_status show_json(struct wf_cli *cli, const char *which, struct wf_err *err)
{
    struct wf_machine *machine = NULL;

    WF_TRY(wf_machine_load(which, &machine, err));

    struct wf_value *doc = wf_result_new_as(MACHINE_SCHEMA, weft_version());
    enum wf_status status = wf_study_machine_document(machine, doc, err);
    if (status == WF_OK) {
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
    enum wf_status status = wf_study_machine_nodes(machine, &nodes, err);
    if (status == WF_OK) {
        wf_study_machine_print(machine, nodes, cli->out);
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
    /* Comments may have anything in them; a terminal must not take it as commands. */
    for (char *part = text, *end = NULL; part < text + size; part = end + 1) {
        end = part + strcspn(part, "\n\t\r");
        char after = *end;
        *end = '\0';
        wf_text_print(cli->out, "%s", part);
        if (after == '\n' || after == '\t') {
            (void)fputc(after, cli->out);
        }
    }
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
        wf_study_machine_sources(machine, cli->out);
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
                     {"weft machine list", "All machines, with nodes, year and topology"},
                     {"weft machine show frontier --yaml >mine.yaml",
                      "A machine file to change, such as half the uplinks"},
                     {"weft machine check mine.yaml",
                      "Whether the changed one is still consistent"},
                 },
             .table = rows},
    .opts_size = sizeof(struct machine_opts),
    .max_operands = SIZE_MAX,
    .run = machine_run,
};
