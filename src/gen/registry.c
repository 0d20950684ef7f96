/* SPDX-License-Identifier: Apache-2.0 */
#include "gen/gen.h"

#include "base/text.h"
#include "gen/bt.h"
#include "gen/cg.h"
#include "gen/coll.h"
#include "gen/fft.h"
#include "gen/is.h"
#include "gen/masterworker.h"
#include "gen/random.h"
#include "gen/ring.h"
#include "gen/stencil.h"
#include "gen/sweep3d.h"
#include "gen/text.h"
#include "gen/training.h"

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
    char hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    wf_nearest_begin(&nearest, name);
    for (const struct wf_source_ops *const *ops = gen_table; *ops != NULL; ops++) {
        if (strcmp((*ops)->name, name) == 0) {
            *out = *ops;
            return WF_OK;
        }
        wf_nearest_add(&nearest, (*ops)->name);
    }
    return wf_err_set(err, WF_EUSAGE, "unknown generator '%.64s'%s", name,
                      wf_nearest_hint(&nearest, hint));
}
