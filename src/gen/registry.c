/* SPDX-License-Identifier: Apache-2.0 */
#include "gen/gen.h"

#include "base/lookup.h"

#include <string.h>

static const struct wf_source_ops *const gen_table[] = {
#define WF_GENERATOR(name) &wf_gen_##name##_ops,
#include "gen/generators.def"
    NULL,
};

const struct wf_source_ops *const *wf_gen_table(void)
{
    return gen_table;
}

enum wf_status wf_gen_find(const char *name, const struct wf_source_ops **out,
                           struct wf_err *err)
{
    *out = wf_lookup("generator", name, gen_table, err);
    return *out != NULL ? WF_OK : WF_EUSAGE;
}
