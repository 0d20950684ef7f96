/* SPDX-License-Identifier: Apache-2.0 */
#include "base/guard.h"
#include "base/mem.h"
#include "ui/library/library.h"
#include "ui/study/fit_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *machine_text(const struct wf_fit_machine *calibration, const char *name,
                          const char *mpi)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = wf_library_stream(&text, &size);

    wf_fit_machine_write(calibration, name, mpi, out);
    (void)wf_fclose(out);
    return text;
}

static enum wf_status fit_samples(const struct weft_measurements *measured,
                                  struct wf_fit_machine *calibration, struct wf_err *err)
{
    calibration->input = (struct wf_fit_input){.samples = calibration->samples,
                                               .n = measured->n,
                                               .send = measured->send_ns,
                                               .take = measured->receive_ns,
                                               .stream = measured->stream_ns,
                                               .eager_max = measured->eager_max};
    if (measured->n > WF_FIT_SAMPLES_MAX) {
        return wf_err_set(err, WF_EUSAGE, "more than %d samples", (int)WF_FIT_SAMPLES_MAX);
    }
    for (size_t i = 0; i < measured->n; i++) {
        const struct weft_sample *sample = &measured->samples[i];
        calibration->samples[i] =
            (struct wf_fit_sample){sample->bytes, sample->ns, sample->both_ns};
    }
    return wf_fit_machine(calibration)
               ? WF_OK
               : wf_err_set(err, WF_EINVAL,
                            "there are too few samples, or their times contradict each other");
}

static enum wf_status fit(const struct weft_measurements *given, const char *name,
                          const char *mpi, struct weft_fit *fit, struct wf_err *err)
{
    struct weft_measurements measured;
    struct weft_fit whole;

    WF_TRY(wf_library_options(&whole, sizeof(whole), fit, "weft_fit", err));
    WF_TRY(wf_library_options(&measured, sizeof(measured), given, "weft_measurements", err));
    struct wf_fit_machine *calibration = wf_xcalloc(1, sizeof(*calibration));
    enum wf_status status = fit_samples(&measured, calibration, err);
    whole = (struct weft_fit){.size = fit->size};
    if (status == WF_OK) {
        const struct wf_fit *found = &calibration->fit;
        whole = (struct weft_fit){.size = fit->size,
                                  .latency_ns = found->L,
                                  .overhead_ns = found->o,
                                  .gap_ns = found->g,
                                  .ns_per_byte = found->G,
                                  .mean_error = found->mean_error,
                                  .max_error = found->max_error,
                                  .machine = machine_text(calibration, name, mpi)};
    }
    memcpy(fit, &whole, fit->size < sizeof(whole) ? fit->size : sizeof(whole));
    free(calibration);
    return status;
}

enum weft_code weft_fit(const struct weft_measurements *measured, const char *name,
                        const char *mpi, struct weft_fit *out, struct weft_error *error)
{
    WF_LIBRARY_CALL(WF_GUARD_RELEASE, fit(measured, name, mpi, out, &err), error);
}
