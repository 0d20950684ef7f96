/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: whatever a benchmark seems to have printed, or a machine file seems to keep of measurements, the
 * outcome is rows of numbers that can be compared, or an error that names the file. */
#include "fuzz/foreign.h"
#include "ui/study/bench_log.h"
#include "ui/study/calibration_kept.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(const struct wf_err *err)
{
    require(err->status != WF_OK && strstr(err->text, foreign_directory) != NULL);
}

static void check_log(const char *path)
{
    struct wf_measured_log log = {.n = 0};
    struct wf_err err = {.status = WF_OK};

    if (wf_measured_log_read(&log, path, &err) == WF_OK) {
        require(log.n > 0);
        for (size_t i = 0; i < log.n; i++) {
            const struct wf_measured_curve *curve = &log.curves[i];
            require(curve->what < WF_MEASURED_WHATS && curve->line > 0);
            for (size_t row = 0; row < curve->n; row++) {
                require(isfinite(curve->rows[row].value) && curve->rows[row].value > 0);
            }
        }
    } else {
        check_error(&err);
    }
    wf_measured_log_fini(&log);
}

static void check_kept(const char *path)
{
    static const char *const mpis[] = {"mpich", "openmpi", NULL};
    struct wf_calibration measured;
    struct wf_buf lines = {.data = NULL};
    struct wf_err err = {.status = WF_OK};
    const char *mpi = NULL;

    memset(&measured, 0, sizeof(measured));
    if (wf_calibration_kept_read(path, mpis, &measured, &lines, &mpi, &err) == WF_OK) {
        require(mpi != NULL && isfinite(measured.send) && isfinite(measured.take) &&
                isfinite(measured.stream) && isfinite(measured.overlap) &&
                isfinite(measured.copy_send) && isfinite(measured.copy_take));
        for (size_t i = 0; i < lines.size; i++) {
            require(lines.data[i] < 0x7f && (lines.data[i] >= ' ' || lines.data[i] == '\n'));
        }
    } else {
        check_error(&err);
    }
    wf_buf_fini(&lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[128];

    foreign_write("log", data, size);
    (void)foreign_path("log", path, sizeof(path));
    check_log(path);
    check_kept(path);
    return 0;
}
