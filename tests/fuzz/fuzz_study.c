/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: whatever is in a study, the outcome is points with scenarios and a table, or an
 * error that names the file. */
#include "fuzz/foreign.h"
#include "run/scenario/scenario.h"
#include "ui/study/study.h"

enum { POINTS_SHOWN = 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wf_err err = {.status = WF_OK};
    struct wf_study *study = NULL;
    char path[128];

    foreign_write("study.yaml", data, size);
    if (wf_study_read(foreign_path("study.yaml", path, sizeof(path)), &study, &err) != WF_OK) {
        require(err.status != WF_OK && strstr(err.text, foreign_directory) != NULL);
        return 0;
    }
    require(study->n_points > 0);
    for (size_t i = 0; i < study->n_points && i < POINTS_SHOWN; i++) {
        wf_scenario_free(wf_study_scenario(study, i, &err));
    }
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    wf_study_csv(study, out);
    (void)fclose(out);
    free(text);
    wf_study_free(study);
    return 0;
}
