/* SPDX-License-Identifier: Apache-2.0 */
#include "extrapolate/extrapolate.h"

#include "extrapolate/play.h"
#include "extrapolate/write.h"
#include "trace/kit/spool.h"

enum wf_status wf_ext_understand(struct wf_ext_model *model,
                                 const struct wf_ext_options *options, struct wf_err *err)
{
    WF_TRY(wf_ext_read_end(&model->input, err));
    WF_TRY(wf_ext_model_build(model, options->target, err));
    return wf_ext_check(model, err);
}

static const struct wf_trace_writer_ops spool_ops = {
    .name = "spool",
    .name_of = wf_spooled_name,
    .group = wf_spooled_group,
    .add = wf_spooled_add,
};

enum wf_status wf_ext_source(const struct wf_ext_model *model,
                             const struct wf_ext_options *options, struct wf_source **out,
                             struct wf_err *err)
{
    struct wf_spooled_writer writer = {.writer = {.ops = &spool_ops}};
    struct wf_ext_grid grid;
    uint64_t n_ops = 0;

    if (!wf_ext_grid_make(&model->rule, options->target, &grid)) {
        return wf_err_set(err, WF_EUSAGE,
                          "%u ranks do not fit the grid of the program, which has a dimension "
                          "of %u",
                          options->target, model->rule.fixed);
    }
    WF_TRY(wf_spool_new(options->target, &writer.spool, err));
    enum wf_status status = wf_ext_write(model, &grid, &writer.writer, &n_ops, err);
    if (status != WF_OK) {
        wf_spool_discard(writer.spool);
        return status;
    }
    return wf_spool_source(writer.spool, "extrapolated", out, err);
}
