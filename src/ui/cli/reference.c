/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/cli/reference.h"

#include "run/scenario/catalog.h"
#include "ui/cli/cli.h"

#include <string.h>

void wf_reference_limits(const struct wf_param *row, char *buf, size_t size)
{
    const char *def = row->def != NULL && row->def[0] != '\0' ? row->def : NULL;
    int n = 0;

    buf[0] = '\0';
    if (row->min != NULL && row->max != NULL) {
        n = snprintf(buf, size, "%s to %s", row->min, row->max);
    } else if (row->min != NULL) {
        n = snprintf(buf, size, "at least %s", row->min);
    } else if (row->max != NULL) {
        n = snprintf(buf, size, "at most %s", row->max);
    }
    if (def != NULL && n >= 0 && (size_t)n < size) {
        (void)snprintf(buf + n, size - (size_t)n, "%sdefault: %s", n > 0 ? "; " : "", def);
    }
}

/* In a Markdown table a bar would end the cell, so it is escaped. */
static void put_cell(FILE *out, const char *text)
{
    for (const char *p = text; *p != '\0'; p++) {
        (void)fprintf(out, "%s%c", *p == '|' ? "\\" : "", *p);
    }
}

static void print_params(FILE *out, const char *scope, const struct wf_param *table)
{
    (void)fputs("\n| parameter | value | default | range | meaning |\n|---|---|---|---|---|\n",
                out);
    for (const struct wf_param *row = table; row->name != NULL; row++) {
        char syntax[WF_PARAM_TEXT_MAX], range[2 * WF_PARAM_TEXT_MAX];
        struct wf_param bounds = *row;

        bounds.def = NULL;
        wf_reference_limits(&bounds, range, sizeof(range));
        (void)fprintf(out, "| `%s.%s` | `", scope, row->name);
        put_cell(out, wf_param_syntax(row, syntax));
        (void)fprintf(out, "` | %s | %s | ", row->def != NULL ? row->def : "", range);
        put_cell(out, row->doc);
        (void)fputs(" |\n", out);
    }
}

static void print_entry(FILE *out, const struct wf_catalog_entry *entry)
{
    if (entry->name != NULL) {
        (void)fprintf(out, "\n### %s.%s\n", entry->kind, entry->name);
    }
    (void)fprintf(out, "\n%s\n", entry->summary);
    if (entry->args != NULL) {
        (void)fprintf(out, "\nWritten as `%s:%s`\n", entry->name, entry->args);
    }
    if (entry->params != NULL && entry->params[0].name != NULL) {
        print_params(out, entry->scope, entry->params);
    }
}

void wf_reference_print(FILE *out)
{
    struct wf_catalog_entry entry;
    const char *kind = "";
    size_t at = 0;

    (void)fputs("<!-- Written by `weft help --markdown`; do not edit. -->\n"
                "# Commands and parameters\n",
                out);
    for (const struct wf_verb *const *v = wf_cli_verbs(); *v != NULL; v++) {
        (void)fprintf(out, "\n## weft %s\n\n```text\n", (*v)->name);
        wf_verb_print_help(*v, out);
        (void)fputs("```\n", out);
    }
    while (wf_catalog_next(&at, &entry)) {
        if (strcmp(entry.kind, kind) != 0) {
            kind = entry.kind;
            (void)fprintf(out, "\n## %s\n", wf_catalog_title(kind));
        }
        print_entry(out, &entry);
    }
}
