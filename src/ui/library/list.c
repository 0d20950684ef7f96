/* SPDX-License-Identifier: Apache-2.0 */
/* What scenarios can be made of, and plug-ins, which add to it. */
#include "model/coll/coll.h"
#include "run/machine/machine.h"
#include "run/scenario/catalog.h"
#include "run/scenario/scenario.h"
#include "ui/library/library.h"
#include "ui/plugin/plugin.h"

#include <stdio.h>
#include <string.h>

struct visit {
    const char *kind; /* null: all */
    bool (*each)(void *arg, const struct weft_item *item);
    void *arg;
    bool ended;
};

static void show(struct visit *visit, const struct weft_item *item)
{
    if (!visit->ended && (visit->kind == NULL || strcmp(visit->kind, item->kind) == 0)) {
        visit->ended = !visit->each(visit->arg, item);
    }
}

static void show_params(struct visit *visit, const char *scope, const char *of,
                        const struct wf_param *table)
{
    for (const struct wf_param *row = table; row != NULL && row->name != NULL; row++) {
        char name[96], syntax[WF_PARAM_TEXT_MAX];
        (void)snprintf(name, sizeof(name), "%s%s%s", scope, scope[0] != '\0' ? "." : "",
                       row->name);
        const struct weft_item item = {.kind = "parameter",
                                       .name = name,
                                       .summary = row->doc,
                                       .of = of,
                                       .syntax = wf_param_syntax(row, syntax),
                                       .initial = row->def};
        show(visit, &item);
    }
}

static void show_catalog(struct visit *visit)
{
    struct wf_catalog_entry entry;

    for (size_t at = 0; wf_catalog_next(&at, &entry) && !visit->ended;) {
        if (entry.name != NULL) {
            const struct weft_item item = {.kind = entry.kind,
                                           .name = entry.name,
                                           .summary = entry.summary,
                                           .syntax = entry.args};
            show(visit, &item);
        }
        if (entry.scope != NULL) {
            show_params(visit, entry.scope, entry.name, entry.params);
        }
    }
}

static enum wf_status show_all(struct visit *visit)
{
    show_params(visit, "", NULL, wf_scenario_params);
    show_catalog(visit);
    for (const struct wf_coll_ops *const *ops = wf_coll_table(); *ops != NULL; ops++) {
        show(visit, &(struct weft_item){.kind = "algorithm",
                                        .name = (*ops)->name,
                                        .summary = (*ops)->summary,
                                        .of = wf_coll_name((*ops)->kind)});
    }
    for (const struct wf_machine_text *machine = wf_machine_library(); machine->name != NULL;
         machine++) {
        show(visit, &(struct weft_item){.kind = "machine", .name = machine->name});
    }
    return WF_OK;
}

static enum weft_code try_list(struct visit *visit)
{
    WF_LIBRARY_CALL(WF_GUARD_KEEP, show_all(visit), NULL);
}

void weft_list(const char *kind, bool (*each)(void *arg, const struct weft_item *item),
               void *arg)
{
    (void)try_list(&(struct visit){.kind = kind, .each = each, .arg = arg});
}

enum weft_code weft_plugin_load(const char *path, struct weft_error *error)
{
    WF_LIBRARY_CALL(WF_GUARD_KEEP, wf_plugin_load(path, &err), error);
}
