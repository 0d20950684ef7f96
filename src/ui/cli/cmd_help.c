/* SPDX-License-Identifier: Apache-2.0 */
#include "base/columns.h"
#include "base/text.h"
#include "run/scenario/catalog.h"
#include "ui/cli/cli.h"
#include "ui/cli/opt.h"
#include "ui/cli/reference.h"

#include <string.h>

struct help_opts {
    bool markdown;
};

static const struct wf_opt rows[] = {
    WF_OPT_ROW(struct help_opts, markdown, BOOL, "markdown", 0, NULL,
               .doc = "Print the whole reference page, docs/reference/weft.md"),
    WF_OPT_END,
};

/* "net.loggp", or "engine" for a kind without members. */
static void entry_topic(const struct wf_catalog_entry *entry, char *buf, size_t size)
{
    if (entry->name == NULL) {
        (void)snprintf(buf, size, "%s", entry->kind);
    } else {
        (void)snprintf(buf, size, "%s.%s", entry->kind, entry->name);
    }
}

static void print_overview(FILE *out)
{
    struct wf_catalog_entry entry;
    const char *kind = "";
    size_t at = 0;

    (void)fputs("usage: weft <command> [options]\n\nCommands:\n", out);
    for (const struct wf_verb *const *v = wf_cli_verbs(); *v != NULL; v++) {
        wf_columns_row(out, (*v)->name, (*v)->summary);
    }
    while (wf_catalog_next(&at, &entry)) {
        char topic[96];

        if (strcmp(entry.kind, kind) != 0) {
            kind = entry.kind;
            (void)fprintf(out, "\n%s:\n", wf_catalog_title(kind));
        }
        entry_topic(&entry, topic, sizeof(topic));
        wf_columns_row(out, topic, entry.summary);
    }
    (void)fputs(
        "\n'weft help <name>' explains any of these; 'weft <command> --help' its options.\n"
        "Parameters are set with -p: weft replay ... -p net.L=2us\n",
        out);
}

/* "; one of a, b, c" */
static void list_choices(const struct wf_param *row, char *buf, size_t size)
{
    size_t used = 0;

    for (size_t i = 0; row->choices[i] != NULL && used < size; i++) {
        used += (size_t)snprintf(buf + used, size - used, "%s%s", i == 0 ? "; one of " : ", ",
                                 row->choices[i]);
    }
}

static void print_param(FILE *out, const char *scope, const struct wf_param *row)
{
    enum { TERM_MAX = 72 };
    char syntax[WF_PARAM_TEXT_MAX], term[2 * WF_PARAM_TEXT_MAX];
    char text[1536], limits[512], choices[512] = "";

    (void)wf_param_syntax(row, syntax);
    (void)snprintf(term, sizeof(term), "-p %s.%s=%s", scope, row->name, syntax);
    if (row->type == WF_PARAM_ENUM && strlen(term) > TERM_MAX) { /* as words, which wrap */
        (void)snprintf(term, sizeof(term), "-p %s.%s=<name>", scope, row->name);
        list_choices(row, choices, sizeof(choices));
    }
    wf_reference_limits(row, limits, sizeof(limits));
    (void)snprintf(text, sizeof(text), "%.400s%.500s%s%.512s%s", row->doc, choices,
                   limits[0] != '\0' ? " (" : "", limits, limits[0] != '\0' ? ")" : "");
    wf_columns_row(out, term, text);
}

static void print_entry(FILE *out, const struct wf_catalog_entry *entry)
{
    char topic[96], heading[512];

    entry_topic(entry, topic, sizeof(topic));
    (void)snprintf(heading, sizeof(heading), "%s: %s", topic, entry->summary);
    wf_columns_text(out, 0, heading);
    if (entry->args != NULL) {
        (void)fprintf(out, "\nWritten as %s:%s\n", entry->name, entry->args);
    }
    if (entry->params == NULL || entry->params[0].name == NULL) {
        if (entry->args == NULL) {
            (void)fputs("\nIt has no parameters.\n", out);
        }
        return;
    }
    (void)fputs("\nParameters:\n", out);
    for (const struct wf_param *row = entry->params; row->name != NULL; row++) {
        print_param(out, entry->scope, row);
    }
}

/* Prints all entries that `topic` names: a single one ("net.loggp", also as "loggp") or all of
 * a kind ("net"). */
static bool print_topic(FILE *out, const char *topic)
{
    struct wf_catalog_entry entry;
    bool found = false;
    size_t at = 0;

    while (wf_catalog_next(&at, &entry)) {
        char name[96];
        entry_topic(&entry, name, sizeof(name));
        if (strcmp(name, topic) == 0 || strcmp(entry.kind, topic) == 0 ||
            (entry.name != NULL && strcmp(entry.name, topic) == 0)) {
            (void)fputs(found ? "\n" : "", out);
            print_entry(out, &entry);
            found = true;
        }
    }
    return found;
}

/* Prints a parameter by its full name, "net.bandwidth", for each model that has it. */
static bool print_named_param(FILE *out, const char *topic)
{
    struct wf_catalog_entry entry;
    bool found = false;
    size_t at = 0;

    while (wf_catalog_next(&at, &entry)) {
        size_t scope = entry.scope != NULL ? strlen(entry.scope) : 0;
        if (scope == 0 || strncmp(topic, entry.scope, scope) != 0 || topic[scope] != '.') {
            continue;
        }
        for (const struct wf_param *row = entry.params; row != NULL && row->name != NULL;
             row++) {
            if (strcmp(row->name, topic + scope + 1) == 0) {
                char name[96];
                entry_topic(&entry, name, sizeof(name));
                (void)fprintf(out, "%s%s:\n", found ? "\n" : "", name);
                print_param(out, entry.scope, row);
                found = true;
            }
        }
    }
    return found;
}

/* Prints the entry whose kind has no members and that name; nothing if there is none. */
static bool print_own_topic(FILE *out, const char *name)
{
    struct wf_catalog_entry entry;

    if (!wf_catalog_find(name, NULL, &entry)) {
        return false;
    }
    (void)fputc('\n', out);
    print_entry(out, &entry);
    return true;
}

static enum wf_status unknown_topic(const char *topic, struct wf_err *err)
{
    char hint[WF_HINT_MAX], names[160][96];
    struct wf_nearest nearest;
    struct wf_catalog_entry entry;
    size_t at = 0, n = 0;

    wf_nearest_begin(&nearest, topic);
    for (const struct wf_verb *const *v = wf_cli_verbs(); *v != NULL; v++) {
        wf_nearest_add(&nearest, (*v)->name);
    }
    while (wf_catalog_next(&at, &entry) && n < sizeof(names) / sizeof(names[0])) {
        entry_topic(&entry, names[n], sizeof(names[n]));
        wf_nearest_add(&nearest, names[n++]);
    }
    (void)wf_nearest_hint(&nearest, hint);
    return wf_err_set(err, WF_EUSAGE, "no help on '%.64s'%s", topic,
                      hint[0] != '\0' ? hint : "; 'weft help' lists all topics");
}

static enum wf_status explain(FILE *out, const struct wf_operands *operands, struct wf_err *err)
{
    if (operands->args.n == 0) {
        print_overview(out);
        return WF_OK;
    }
    for (size_t i = 0; i < operands->args.n; i++) {
        const char *topic = operands->args.items[i];
        const struct wf_verb *verb = wf_verb_find(topic);

        if (verb != NULL) {
            wf_verb_print_help(verb, out);
            /* Some commands have parameters of the same name: replay.*, run.*, traffic.* */
            (void)print_own_topic(out, topic);
        } else if (!print_topic(out, topic) && !print_named_param(out, topic)) {
            return unknown_topic(topic, err);
        }
    }
    return WF_OK;
}

static enum wf_status help_run(struct wf_cli *cli, const void *opts,
                               const struct wf_operands *operands, struct wf_err *err)
{
    if (((const struct help_opts *)opts)->markdown) {
        wf_reference_print(cli->out);
        return WF_OK;
    }
    return explain(cli->out, operands, err);
}

const struct wf_verb wf_verb_help = {
    .name = "help",
    .summary = "Explain a command or the parameters of a model",
    .help = {.synopsis = "weft help [<command> | <model>]",
             .summary = "Explain a command or the parameters of a model",
             .examples =
                 {
                     {"weft help", "All commands and models"},
                     {"weft help net.loggp", "The parameters of the network model loggp"},
                     {"weft help net.bandwidth", "One parameter, for each model that has it"},
                     {"weft help price", "What has this word in its name or text"},
                     {"weft help gen.stencil3d", "The parameters of a generator"},
                 },
             .table = rows},
    .opts_size = sizeof(struct help_opts),
    .max_operands = SIZE_MAX,
    .run = help_run,
};
