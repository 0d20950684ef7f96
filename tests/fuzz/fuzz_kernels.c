/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: whatever is in a file of kernels, the outcome is times that can be computed for any
 * arguments, or an error that names the file. */
#include "fuzz/foreign.h"
#include "mpi/vrank/kernel_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_kernels(const struct wf_vrank_kernels *kernels)
{
    static const uint64_t limits[] = {0, 1, 1000003, INT64_MAX};
    uint64_t values[WF_VRANK_NAMED_MAX];

    for (uint32_t i = 0; i < kernels->n_functions; i++) {
        const struct wf_vrank_kernel_function *function = &kernels->functions[i];
        uint32_t section = wf_vrank_kernels_section(kernels, 3, 5);
        const struct wf_vrank_kernel_time *time =
            wf_vrank_kernels_time(kernels, section, function->kernel);

        require(section < kernels->n_sections);
        require(wf_vrank_kernels_find(kernels, function->name) != WF_VRANK_KERNEL_NONE);
        for (size_t n = 0; n < sizeof(limits) / sizeof(limits[0]) && time->line > 0; n++) {
            for (size_t v = 0; v < WF_VRANK_NAMED_MAX; v++) {
                values[v] = limits[(n + v) % (sizeof(limits) / sizeof(limits[0]))];
            }
            require(wf_vrank_kernel_duration(time, values, UINT64_MAX / (n + 1)) >= 0);
            (void)wf_vrank_kernel_result(time, values, function->base, UINT64_MAX / (n + 1));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wf_vrank_kernels *kernels = NULL;
    struct wf_err err = {.status = WF_OK};
    char path[128];

    foreign_write("kernels", data, size);
    if (wf_vrank_kernels_read(foreign_path("kernels", path, sizeof(path)), &kernels, &err) ==
        WF_OK) {
        check_kernels(kernels);
    } else {
        require(err.status != WF_OK && strstr(err.text, foreign_directory) != NULL);
    }
    wf_vrank_kernels_free(kernels);
    return 0;
}
