/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/source.h"

void wf_source_free(struct wf_source *source)
{
    if (source != NULL) {
        source->ops->destroy(source);
    }
}
