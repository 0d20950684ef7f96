/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include "base/lookup.h"

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
    return wf_lookup("command", name, verb_table, NULL);
}
