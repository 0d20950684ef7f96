/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/library/library.h"
#include "ui/study/trace_io.h"

#include <string.h>

enum wf_status wf_library_trace_options(const struct weft_convert *how,
                                        struct wf_study_trace_options *options,
                                        struct wf_err *err)
{
    *options = (struct wf_study_trace_options){.params = how->params,
                                               .ranks = how->ranks,
                                               .partial = how->partial,
                                               .expand = how->expand_collectives,
                                               .force = how->force};
    while (options->params != NULL && options->params[options->n_params] != NULL) {
        if (strchr(options->params[options->n_params++], '=') == NULL) {
            return wf_err_set(err, WF_EUSAGE, "a parameter is not of the form name=value");
        }
    }
    return WF_OK;
}

static enum wf_status convert(const char *from, const char *to,
                              const struct weft_convert *given, struct wf_err *err)
{
    struct weft_convert how;
    struct wf_study_trace_options options;
    struct wf_study_trace_written written;
    struct wf_trace trace = {.source = NULL};

    WF_TRY(wf_library_options(&how, sizeof(how), given, "weft_convert", err));
    WF_TRY(wf_library_trace_options(&how, &options, err));
    WF_TRY(wf_study_trace_check(to, &options, err));
    WF_TRY(wf_study_trace_open(from, &options, &trace, err));
    const struct wf_study_trace_part part = {
        .trace = &trace, .n_ranks = wf_study_trace_n_ranks(&trace), .creator = from};
    enum wf_status status = wf_study_trace_write(to, &part, &options, &written, err);
    wf_trace_close(&trace);
    return status;
}

enum weft_code weft_trace_convert(const char *from, const char *to,
                                  const struct weft_convert *how, struct weft_error *error)
{
    WF_LIBRARY_CALL(WF_GUARD_RELEASE, convert(from, to, how, &err), error);
}
