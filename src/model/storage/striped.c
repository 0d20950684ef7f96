/* SPDX-License-Identifier: Apache-2.0 */
/* A parallel file system: a file is spread over disks of servers in stripes, as by Lustre. Files
 * with successive numbers begin on successive disks, so that files of the same size fill all disks
 * alike, as Lustre's round robin does. */
#include "model/storage/storage.h"

static void striped_place(const struct wf_storage *storage, uint32_t file,
                          struct wf_storage_layout *out)
{
    const struct wf_storage_params *params = storage->params;
    uint64_t all = params->servers * params->disks;

    out->count =
        (uint32_t)(params->stripes == 0 || params->stripes > all ? all : params->stripes);
    out->first = (uint32_t)((uint64_t)file * out->count % all);
    out->stripe = params->stripe;
}

const struct wf_storage_model wf_storage_model_striped = {
    .name = "striped",
    .summary = "a parallel file system: files are spread over disks of servers in stripes",
    .has_servers = true,
    .place = striped_place,
};
