/* SPDX-License-Identifier: Apache-2.0 */
/* Plug-ins stand in the registries before a conformance test begins, for `weft check-plugin`. */
#include "ui/plugin/plugin.h"

#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void load_plugins(void)
{
    struct wf_err err;

    if (wf_plugin_load_list(getenv("WEFT_PLUGINS"), &err) != WF_OK) {
        (void)fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
}
