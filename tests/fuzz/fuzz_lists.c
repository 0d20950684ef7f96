/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: whatever is in a placement file or a file of weights, the outcome is a placement
 * within the nodes, weights that can be drawn from, or an error that names the file. */
#include "fuzz/foreign.h"
#include "model/traffic/weights.h"
#include "run/plan/placement.h"

enum { RANKS = 6, NODES = 9 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(enum wf_status status, const struct wf_err *err)
{
    require(status == WF_EINVAL || status == WF_EIO);
    require(strstr(err->text, foreign_directory) != NULL);
}

static void place(const char *path, uint32_t per_node)
{
    char text[160];
    struct wf_placement_job job = {.n_ranks = RANKS, .ranks_per_node = per_node};
    const struct wf_placement_env env = {
        .jobs = &job, .n_jobs = 1, .topo_name = "none", .nics = 1, .nic_group = 1, .seed = 1};
    struct wf_err err = {.status = WF_OK};
    struct wf_place out;

    (void)snprintf(text, sizeof(text), "file:%s", path);
    require(wf_placement_parse(text, &job.placement, &err) == WF_OK);
    enum wf_status status = wf_placement_make(&env, &out, &err);
    if (status == WF_OK) {
        wf_placement_release(&out);
    } else {
        check_error(status, &err);
    }
}

static void weigh(const char *path)
{
    struct wf_err err = {.status = WF_OK};
    struct wf_traffic_matrix *matrix = NULL;
    struct wf_traffic_weights weights;
    enum wf_status status = wf_traffic_matrix_read(path, NODES, &matrix, &err);

    if (status == WF_OK) {
        for (uint32_t node = 0; node < NODES; node++) {
            int64_t to =
                wf_traffic_matrix_choose(matrix, node, UINT64_C(0x123456789abcdef) * node);
            require(to >= -1 && to < NODES);
        }
        wf_traffic_matrix_free(matrix);
    } else {
        check_error(status, &err);
    }
    status = wf_traffic_weights_read(path, &weights, &err);
    if (status == WF_OK) {
        require(weights.n > 0);
        wf_traffic_weights_free(&weights);
    } else {
        check_error(status, &err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[128];

    foreign_write("list", data, size);
    (void)foreign_path("list", path, sizeof(path));
    place(path, 1);
    place(path, 2);
    weigh(path);
    return 0;
}
