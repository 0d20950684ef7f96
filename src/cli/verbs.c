/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include <string.h>

/* The one place that lists verbs. */
static const struct wf_verb *const verb_table[] = {
    &wf_verb_replay,    &wf_verb_run,     &wf_verb_emulate,
    &wf_verb_report,    &wf_verb_explain, &wf_verb_compare,
    &wf_verb_sweep,     &wf_verb_traffic, &wf_verb_machine,
    &wf_verb_topo,      &wf_verb_coll,    &wf_verb_capture,
    &wf_verb_calibrate, &wf_verb_gen,     &wf_verb_info,
    &wf_verb_convert,   &wf_verb_cut,     &wf_verb_import_codes,
    &wf_verb_bench,     &wf_verb_help,    NULL,
};

const struct wf_verb *const *wf_verb_table(void)
{
    return verb_table;
}

const struct wf_verb *wf_verb_find(const char *name)
{
    for (const struct wf_verb *const *v = verb_table; *v != NULL; v++) {
        if (strcmp((*v)->name, name) == 0) {
            return *v;
        }
    }
    return NULL;
}
