/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: whatever is in a workload of jobs, the outcome is jobs that fit on the machine and in
 * time, or an error that names the file. The first byte decides the format. */
#include "fuzz/foreign.h"
#include "run/workload/workload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *name = size > 0 && data[0] == 'j' ? "jobs.yaml" : "jobs.txt";
    const struct wf_workload_options options = {.n_nodes = 100, .seed = 1};
    struct wf_err err = {.status = WF_OK};
    struct wf_workload workload;
    char path[128];

    foreign_write(name, data, size);
    if (wf_workload_read(foreign_path(name, path, sizeof(path)), &options, &workload, &err) !=
        WF_OK) {
        require(err.status != WF_OK && strstr(err.text, foreign_directory) != NULL);
        return 0;
    }
    require(workload.jobs.n > 0);
    int64_t before = 0;
    for (size_t i = 0; i < workload.jobs.n; i++) {
        const struct wf_queue_job *job = &workload.jobs.items[i];
        require(job->submit >= before && job->submit < WF_QUEUE_TIME_MAX);
        require(job->run >= 0 && job->requested > 0);
        require(job->nodes > 0 && job->nodes <= options.n_nodes);
        before = job->submit;
    }
    wf_workload_fini(&workload);
    return 0;
}
