/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/page.h"

#include "base/mem.h"
#include "run/scenario/catalog.h"
#include "ui/study/picture.h"

#include <stdlib.h>
#include <string.h>

/* The member of a kind that the scenario uses: the network model, the generator, the benchmark.
 * Null if the kind has a single entry. */
static const char *used_member(const struct wf_value *doc, const char *scope)
{
    const char *source = wf_doc_get_text(doc, "scenario.source", "");
    const char *colon = strchr(source, ':');

    if (strcmp(scope, "net") == 0) {
        return wf_doc_get_text(doc, "scenario.network", "");
    }
    if (strcmp(scope, "gen") == 0) {
        return colon != NULL && strncmp(source, "gen:", 4) == 0 ? colon + 1 : "";
    }
    return NULL;
}

static bool is_used(const struct wf_value *doc, const struct wf_catalog_entry *entry,
                    const char *scope)
{
    if (entry->scope == NULL || entry->params == NULL || strcmp(entry->scope, scope) != 0) {
        return false;
    }
    const char *member = used_member(doc, scope);

    return member == NULL || (entry->name != NULL && strcmp(entry->name, member) == 0);
}

/* Bytes of the struct that a table of parameters describes, or a few more. */
static size_t params_size(const struct wf_param *table)
{
    size_t size = 0;

    for (const struct wf_param *row = table; row->name != NULL; row++) {
        size_t end = row->offset + sizeof(struct wf_list);
        size = end > size ? end : size;
    }
    return size;
}

/* Adds the defaults of those parameters that the document has, as the document writes them. */
static void add_defaults(struct wf_value *section, const struct wf_param *table,
                         const struct wf_value *values)
{
    void *params = wf_xcalloc(1, params_size(table) + 1);
    struct wf_err ignored; /* a test checks that the defaults of all tables can be read */

    if (wf_param_defaults(table, params, &ignored) == WF_OK) {
        for (const struct wf_param *row = table; row->name != NULL; row++) {
            char text[WF_PARAM_TEXT_MAX];
            if (row->def != NULL && wf_doc_find(values, row->name) != NULL) {
                wf_doc_text(section, row->name, wf_param_format(row, params, text));
            }
        }
    }
    wf_param_release(table, params);
    free(params);
}

static void add_all_defaults(struct wf_value *extra, const struct wf_value *doc)
{
    const struct wf_value *scopes = wf_doc_find(doc, "scenario.parameters");
    struct wf_value *section = NULL;

    if (scopes == NULL || scopes->type != WF_VALUE_SECTION) {
        return;
    }
    for (const struct wf_value *scope = scopes->first; scope != NULL; scope = scope->next) {
        struct wf_catalog_entry entry;
        for (size_t at = 0; scope->type == WF_VALUE_SECTION && wf_catalog_next(&at, &entry);) {
            if (is_used(doc, &entry, scope->name)) {
                section = section != NULL ? section : wf_doc_section(extra, "defaults");
                add_defaults(wf_doc_section(section, scope->name), entry.params, scope);
                break;
            }
        }
    }
}

struct wf_value *wf_study_page(const struct wf_value *doc)
{
    struct wf_value *extra = wf_doc_new();

    wf_study_picture(doc, extra);
    add_all_defaults(extra, doc);
    return extra;
}
