/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include <string.h>

static const struct wf_verb *const verb_table[] = {
#define WF_VERB(name) &wf_verb_##name,
#include "cli/verbs.def"
    NULL,
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
