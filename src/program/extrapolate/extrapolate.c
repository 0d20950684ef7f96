/* SPDX-License-Identifier: Apache-2.0 */
#include "program/extrapolate/extrapolate.h"

#include "base/mem.h"
#include "program/extrapolate/play.h"
#include "program/extrapolate/write.h"
#include "program/trace/reader.h"
#include "program/trace/spool/spool.h"

#include <stdlib.h>
#include <string.h>

static enum wf_status build(struct wf_ext_model *model, const struct wf_ext_options *options,
                            struct wf_err *err)
{
    WF_TRY(wf_ext_model_build(model, options->target, err));
    return wf_ext_check(model, err);
}

enum wf_status wf_ext_understand(struct wf_ext_model *model,
                                 const struct wf_ext_options *options, struct wf_err *err)
{
    WF_TRY(wf_ext_read_end(&model->input, err));
    if (model->input.n_counts == 1 && model->input.counts[0].n != options->target) {
        return wf_err_set(err, WF_EUSAGE,
                          "one trace of %u ranks says nothing about %u ranks; give three or "
                          "more traces with different numbers of ranks",
                          model->input.counts[0].n, options->target);
    }
    if (wf_ext_computes_everywhere(&model->input)) {
        wf_ext_attach(&model->input);
        return build(model, options, err);
    }
    enum wf_status status = build(model, options, err);
    if (status == WF_EINVAL) {
        /* Computing that is there in some rounds and not in others may be what was in the way. */
        struct wf_err again;
        wf_ext_model_forget(model);
        wf_ext_attach(&model->input);
        if (build(model, options, &again) == WF_OK) {
            return WF_OK;
        }
    }
    return status;
}

enum wf_status wf_ext_source(const struct wf_ext_model *model,
                             const struct wf_ext_options *options, struct wf_source **out,
                             struct wf_err *err)
{
    struct wf_spool *spool = NULL;
    struct wf_ext_grid grid;

    if (!wf_ext_grid_make(&model->rule, options->target, &grid)) {
        return wf_err_set(err, WF_EUSAGE,
                          "%u ranks do not fit the grid of the program, which has a dimension "
                          "of %u",
                          options->target, model->rule.fixed);
    }
    if (options->changes.repeat > 0 && wf_ext_main_loop(model) == 0) {
        return wf_err_set(err, WF_EINVAL, "the program has no loop that could be repeated");
    }
    WF_TRY(wf_spool_new(options->target, &spool, err));
    enum wf_status status = wf_ext_write(model, &grid, &options->changes, spool, err);
    if (status != WF_OK) {
        wf_spool_discard(spool);
        return status;
    }
    return wf_spool_source(spool, "extrapolated", out, err);
}

/* Reads the traces; `names` is the list, whose commas become ends of names. */
static enum wf_status read_list(char *names, struct wf_ext_model *model, struct wf_err *err)
{
    uint32_t n = 0;

    for (char *name = names, *next = NULL; name != NULL; name = next) {
        struct wf_source *source = NULL;
        next = strchr(name, ',');
        if (next != NULL) {
            *next++ = '\0';
        }
        if (n++ == WF_EXT_COUNTS_MAX) {
            return wf_err_set(err, WF_EUSAGE, "at most %d traces can be given",
                              WF_EXT_COUNTS_MAX);
        }
        WF_TRY(wf_trace_open_source(name, &source, err));
        enum wf_status status = wf_ext_read(&model->input, name, source, err);
        wf_source_free(source);
        WF_TRY(status);
    }
    return WF_OK;
}

enum wf_status wf_ext_open(const char *list, const struct wf_ext_options *options,
                           struct wf_source **out, struct wf_err *err)
{
    struct wf_ext_model *model = wf_xcalloc(1, sizeof(*model));
    char *names = wf_xstrdup(list);
    enum wf_status status = read_list(names, model, err);

    WF_THEN(status, wf_ext_understand(model, options, err));
    WF_THEN(status, wf_ext_source(model, options, out, err));
    wf_ext_model_fini(model);
    free(model);
    free(names);
    return status;
}
