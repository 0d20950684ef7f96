/* SPDX-License-Identifier: Apache-2.0 */
#include "program/extrapolate/verify.h"

#include "base/mem.h"

#include <stdlib.h>

enum wf_status wf_ext_read_path(const struct wf_ext_opener *opener, const char *path,
                                struct wf_ext_input *input, struct wf_err *err)
{
    struct wf_trace trace = {.source = NULL};
    enum wf_status status = opener->open(opener, path, &trace, err);

    if (status == WF_OK && trace.graph != NULL) {
        status = wf_err_set(err, WF_EINVAL,
                            "'%.200s' has tasks instead of operations, and cannot be "
                            "extrapolated",
                            path);
    }
    WF_THEN(status, wf_ext_read(input, path, trace.source, err));
    wf_trace_close(&trace);
    return status;
}

static void print_difference(const struct wf_ext_difference *found, uint32_t n, FILE *out)
{
    double bytes =
        found->bytes > 0 ? ((double)found->other_bytes / (double)found->bytes - 1) * 100 : 0;
    double compute = found->compute > 0 ? (found->other_compute / found->compute - 1) * 100 : 0;

    (void)fprintf(
        out,
        "%u ranks, predicted from other traces: %llu ops%s, %.1f %% of the sizes "
        "the same, bytes %+.2f %%, compute time %+.2f %% (a rank at most %.1f %%)\n",
        n, (unsigned long long)found->n_other, found->same ? ", all right" : "",
        found->n_sizes > 0 ? 100 * (double)found->n_same_sizes / (double)found->n_sizes : 100.0,
        bytes, compute, 100 * found->worst_compute);
}

enum wf_status wf_ext_check_guess(const struct wf_ext_opener *opener, const char *path,
                                  const struct wf_source *guess, FILE *out, struct wf_err *err)
{
    struct wf_trace trace = {.source = NULL};
    struct wf_ext_difference found;
    enum wf_status status = opener->open(opener, path, &trace, err);

    if (status == WF_OK && (trace.source == NULL || trace.source->n_ranks != guess->n_ranks)) {
        status = wf_err_set(err, WF_EINVAL, "'%.200s' is no trace of operations of %u ranks",
                            path, guess->n_ranks);
    }
    WF_THEN(status, wf_ext_compare(trace.source, guess, &found, err));
    if (status == WF_OK && out != NULL) {
        print_difference(&found, guess->n_ranks, out);
    }
    if (status == WF_OK && !found.same) {
        status = wf_err_set(err, WF_EINVAL,
                            "'%.200s' is predicted wrongly from the other traces: op %llu of "
                            "rank %u differs, computing not counted",
                            path, (unsigned long long)found.op, found.rank);
    }
    wf_trace_close(&trace);
    return status;
}

enum wf_status wf_ext_verify(const struct wf_ext_opener *opener, const struct wf_ext_model *all,
                             FILE *out, struct wf_err *err)
{
    const struct wf_ext_count *last = &all->input.counts[all->input.n_counts - 1];
    const struct wf_ext_options options = {.target = last->n};
    struct wf_ext_model *model = wf_xcalloc(1, sizeof(*model));
    struct wf_source *guess = NULL;
    enum wf_status status = WF_OK;

    for (uint32_t i = 0; i + 1 < all->input.n_counts && status == WF_OK; i++) {
        status = wf_ext_read_path(opener, all->input.counts[i].path, &model->input, err);
    }
    WF_THEN(status, wf_ext_understand(model, &options, err));
    WF_THEN(status, wf_ext_source(model, &options, &guess, err));
    if (status == WF_OK) {
        status = wf_ext_check_guess(opener, last->path, guess, out, err);
    } else {
        wf_err_prefix(err, "--verify, without the largest trace: ");
    }
    wf_source_free(guess);
    wf_ext_model_fini(model);
    free(model);
    return status;
}
