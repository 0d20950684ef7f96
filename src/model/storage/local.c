/* SPDX-License-Identifier: Apache-2.0 */
#include "model/storage/storage.h"

static void local_place(const struct wf_storage *storage, uint32_t file,
                        struct wf_storage_layout *out)
{
    out->local = true;
}

const struct wf_storage_model wf_storage_model_local = {
    .name = "local",
    .summary = "each node has a device of its own, which its ranks share",
    .has_local = true,
    .place = local_place,
};
