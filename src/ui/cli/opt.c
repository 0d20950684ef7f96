/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/cli/opt.h"

#include "base/columns.h"
#include "base/mem.h"
#include "base/text.h"
#include "run/scenario/catalog.h"
#include "run/scenario/scenario.h"
#include "ui/cli/reference.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The arguments not yet parsed, and the results so far. */
struct parser {
    const struct wf_opt *table;
    void *opts;
    struct wf_operands *operands;
    char *const *next;
    char *const *end;
};

static void *member(const struct wf_opt *row, void *opts)
{
    return (char *)opts + row->param.offset;
}

static bool is_flag(const struct wf_opt *row)
{
    return row->kind == WF_OPT_VALUE && row->param.type == WF_PARAM_BOOL;
}

static void list_add(struct wf_opt_list *list, const char *text)
{
    list->items = wf_xrealloc(list->items, list->n + 2, sizeof(*list->items));
    list->items[list->n++] = text;
    list->items[list->n] = NULL;
}

static void list_release(struct wf_opt_list *list)
{
    free(list->items);
    *list = (struct wf_opt_list){0};
}

static const struct wf_opt *find_letter(const struct wf_opt *table, char letter)
{
    for (const struct wf_opt *row = table; row->param.name != NULL; row++) {
        if (row->letter != 0 && row->letter == letter) {
            return row;
        }
    }
    return NULL;
}

static const struct wf_opt *find_name(const struct wf_opt *table, const char *name,
                                      size_t length)
{
    for (const struct wf_opt *row = table; row->param.name != NULL; row++) {
        if (strlen(row->param.name) == length && memcmp(row->param.name, name, length) == 0) {
            return row;
        }
    }
    return NULL;
}

/* Reports an unknown option, written as `dashes` and the first `shown` characters of `name`.
 * All of `name` is compared with known names, for a suggestion. */
static enum wf_status unknown_option(const struct wf_opt *table, const char *dashes,
                                     const char *name, size_t shown, struct wf_err *err)
{
    char wanted[WF_HINT_MAX];
    struct wf_nearest nearest;

    (void)snprintf(wanted, sizeof(wanted), "%.*s", (int)strcspn(name, "="), name);
    wf_nearest_begin(&nearest, wanted);
    for (const struct wf_opt *row = table; row->param.name != NULL; row++) {
        wf_nearest_add(&nearest, row->param.name);
    }

    int width = shown < 64 ? (int)shown : 64;
    if (nearest.best == NULL) {
        return wf_err_set(err, WF_EUSAGE, "unknown option '%s%.*s'", dashes, width, name);
    }
    return wf_err_set(err, WF_EUSAGE, "unknown option '%s%.*s'; did you mean '--%s'?", dashes,
                      width, name, nearest.best);
}

static enum wf_status store(const struct parser *parser, const struct wf_opt *row,
                            const char *value, struct wf_err *err)
{
    const struct wf_param params[] = {row->param, WF_PARAM_END};
    const char *equals = strchr(value, '=');

    if (row->kind == WF_OPT_PAIRS && (equals == NULL || equals == value)) {
        return wf_err_set(err, WF_EUSAGE, "--%s: '%.64s' is not of the form name=value",
                          row->param.name, value);
    }
    parser->operands->given |= UINT64_C(1) << (row - parser->table);
    if (row->key != NULL) {
        parser->operands->settings[row - parser->table] = value;
        return WF_OK;
    }
    if (row->kind != WF_OPT_VALUE) {
        list_add(member(row, parser->opts), value);
        return WF_OK;
    }
    if (row->param.type == WF_PARAM_TEXT) {
        *(const char **)member(row, parser->opts) = value;
        return WF_OK;
    }
    return wf_param_set(params, parser->opts, "--", row->param.name, value, err);
}

/* The placeholder of an option's argument. */
static const char *placeholder(const struct wf_opt *row, char *buf)
{
    if (row->arg != NULL) {
        return row->arg;
    }
    if (row->kind == WF_OPT_PAIRS) {
        return "<name>=<value>";
    }
    return row->kind == WF_OPT_LIST ? "<text>" : wf_param_syntax(&row->param, buf);
}

/* Stores `attached` as the value, or the next argument if that is null. */
static enum wf_status store_argument(struct parser *parser, const struct wf_opt *row,
                                     const char *attached, struct wf_err *err)
{
    char buf[WF_PARAM_TEXT_MAX];

    if (attached == NULL && parser->next == parser->end) {
        return wf_err_set(err, WF_EUSAGE, "option '--%s' needs an argument: %.128s",
                          row->param.name, placeholder(row, buf));
    }
    return store(parser, row, attached != NULL ? attached : *parser->next++, err);
}

/* `text` is the argument after the two dashes. */
static enum wf_status parse_long(struct parser *parser, const char *text, struct wf_err *err)
{
    size_t length = strcspn(text, "=");
    const char *attached = text[length] == '=' ? text + length + 1 : NULL;
    const struct wf_opt *row = find_name(parser->table, text, length);

    if (row == NULL) {
        return unknown_option(parser->table, "--", text, length, err);
    }
    if (is_flag(row) && attached == NULL) {
        return store(parser, row, "true", err);
    }
    return store_argument(parser, row, attached, err);
}

/* `text` is the argument after the dash: flags, then perhaps an option with its value. */
static enum wf_status parse_short(struct parser *parser, const char *text, struct wf_err *err)
{
    for (const char *p = text; *p != '\0'; p++) {
        const struct wf_opt *row = find_letter(parser->table, *p);
        if (row == NULL) {
            return unknown_option(parser->table, "-", p, 1, err);
        }
        if (strcmp(p, "np") == 0) { /* as MPI launchers have it */
            return wf_err_set(err, WF_EUSAGE, "unknown option '-np'; did you mean '-n'?");
        }
        if (!is_flag(row)) {
            return store_argument(parser, row, p[1] == '\0' ? NULL : p + 1, err);
        }

        WF_TRY(store(parser, row, "true", err));
    }
    return WF_OK;
}

static enum wf_status parse_all(struct parser *parser, struct wf_err *err)
{
    bool options_ended = false;

    while (parser->next < parser->end) {
        const char *arg = *parser->next++;
        enum wf_status status = WF_OK;

        if (options_ended || arg[0] != '-' || arg[1] == '\0') {
            list_add(&parser->operands->args, arg);
        } else if (arg[1] != '-') {
            status = parse_short(parser, arg + 1, err);
        } else if (arg[2] != '\0') {
            status = parse_long(parser, arg + 2, err);
        } else {
            options_ended = true;
        }
        if (status != WF_OK) {
            return status;
        }
    }
    return WF_OK;
}

static void clear(const struct wf_opt *row, void *opts)
{
    static const size_t sizes[] = {
        [WF_PARAM_BOOL] = sizeof(bool),     [WF_PARAM_COUNT] = sizeof(uint64_t),
        [WF_PARAM_SIZE] = sizeof(uint64_t), [WF_PARAM_TIME] = sizeof(int64_t),
        [WF_PARAM_RATE] = sizeof(uint64_t), [WF_PARAM_REAL] = sizeof(double),
        [WF_PARAM_ENUM] = sizeof(int),      [WF_PARAM_TEXT] = sizeof(const char *),
    };
    size_t size =
        row->kind == WF_OPT_VALUE ? sizes[row->param.type] : sizeof(struct wf_opt_list);

    memset(member(row, opts), 0, size);
}

static enum wf_status set_defaults(const struct parser *parser, struct wf_err *err)
{
    for (const struct wf_opt *row = parser->table; row->param.name != NULL; row++) {
        assert(row - parser->table < WF_OPT_ROWS_MAX);
        if (row->key == NULL) {
            clear(row, parser->opts);
        }
    }
    for (const struct wf_opt *row = parser->table; row->param.name != NULL; row++) {
        enum wf_status status = WF_OK;
        if (row->param.def != NULL && row->key == NULL) {
            status = store(parser, row, row->param.def, err);
        }
        if (status != WF_OK) {
            return status;
        }
    }
    parser->operands->given = 0;
    return WF_OK;
}

enum wf_status wf_opt_parse(const struct wf_opt *table, int argc, char *const *argv, void *opts,
                            struct wf_operands *operands, struct wf_err *err)
{
    struct parser parser = {
        .table = table,
        .opts = opts,
        .operands = operands,
        .next = argv,
        .end = argv + argc,
    };

    *operands = (struct wf_operands){.table = table};
    enum wf_status status = set_defaults(&parser, err);
    WF_THEN(status, parse_all(&parser, err));
    if (status != WF_OK) {
        wf_opt_release(table, opts, operands);
    }
    return status;
}

void wf_opt_release(const struct wf_opt *table, void *opts, struct wf_operands *operands)
{
    for (const struct wf_opt *row = table; row->param.name != NULL; row++) {
        if (row->kind != WF_OPT_VALUE) {
            list_release(member(row, opts));
        }
    }
    list_release(&operands->args);
}

bool wf_opt_help_given(const struct wf_operands *operands, const void *opts)
{
    const struct wf_opt *row = find_name(operands->table, "help", strlen("help"));

    return row != NULL && *(const bool *)((const char *)opts + row->param.offset);
}

/* ---- tables ---- */

static const char *keep(struct wf_opt_table *table, const char *text)
{
    table->texts[table->n_texts] = wf_xstrdup(text);
    return table->texts[table->n_texts++];
}

/* The parameter that a key such as "engine.threads", "phold.lps" or "ranks" names. */
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

static void complete(struct wf_opt_table *table, struct wf_opt *row)
{
    const struct wf_param *param = find_param(row->key);
    const char *def = row->param.def;

    if (param == NULL) {
        wf_panic("option --%s stands for '%s'", row->param.name, row->key);
    }
    row->key = keep(table, row->key);
    const char *name = keep(table, row->param.name);
    row->param = *param;
    row->param.name = name;
    if (def != NULL) {
        row->param.def = def;
    } else if (param->def != NULL && param->def[0] == '\0') {
        row->param.def = NULL;
    }
}

void wf_opt_table_add(struct wf_opt_table *table, const struct wf_opt *rows)
{
    for (; rows->param.name != NULL; rows++) {
        if (table->n == WF_OPT_ROWS_MAX) {
            wf_panic("a command has more than %d options", WF_OPT_ROWS_MAX);
        }
        table->rows[table->n] = *rows;
        if (rows->key != NULL) {
            complete(table, &table->rows[table->n]);
        }
        table->n++;
    }
    table->rows[table->n] = (struct wf_opt)WF_OPT_END;
}

void wf_opt_table_fini(struct wf_opt_table *table)
{
    for (size_t i = 0; i < table->n_texts; i++) {
        free(table->texts[i]);
    }
    *table = (struct wf_opt_table){.n = 0};
}

/* ---- help ---- */

/* Prints "-n, --name <arg>" and "What it means (1 to 64; default: 4)". */
static void print_option(FILE *out, const struct wf_opt *row)
{
    char buf[WF_PARAM_TEXT_MAX], names[2 * WF_PARAM_TEXT_MAX];
    char limits[WF_PARAM_TEXT_MAX] = "may be repeated", text[2 * WF_PARAM_TEXT_MAX + 1024],
         list[WF_EXTENSION_LIST_MAX] = "";
    char letter[] = {'-', row->letter, ',', ' ', '\0'};

    (void)snprintf(names, sizeof(names), "%s--%s%s%s", row->letter != 0 ? letter : "    ",
                   row->param.name, is_flag(row) ? "" : " ",
                   is_flag(row) ? "" : placeholder(row, buf));
    if (row->kind == WF_OPT_VALUE) {
        wf_reference_limits(&row->param, limits, sizeof(limits));
    }
    if (row->formats != NULL) {
        (void)wf_extension_list(row->formats, list);
    }
    (void)snprintf(text, sizeof(text), "%s%s%s%s%s%s", row->param.doc,
                   list[0] != '\0' ? " " : "", list, limits[0] != '\0' ? " (" : "", limits,
                   limits[0] != '\0' ? ")" : "");
    wf_columns_row(out, names, text);
}

void wf_opt_print_help(const struct wf_opt_help *help, FILE *out)
{
    (void)fputs("usage: ", out);
    wf_columns_text(out, strlen("usage: "), help->synopsis);
    (void)fputc('\n', out);
    wf_columns_text(out, 0, help->summary);
    (void)fputs("\nExamples:\n", out);
    for (size_t i = 0; i < sizeof(help->examples) / sizeof(help->examples[0]) &&
                       help->examples[i].command != NULL;
         i++) {
        (void)fputs("  ", out);
        wf_columns_text(out, 2, help->examples[i].command);
        (void)fputs("      ", out);
        wf_columns_text(out, 6, help->examples[i].doc);
    }
    (void)fputs("\nOptions:\n", out);
    for (const struct wf_opt *row = help->table; row->param.name != NULL; row++) {
        print_option(out, row);
    }
}
