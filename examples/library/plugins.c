/* SPDX-License-Identifier: Apache-2.0 */
/* Loads plug-ins, and predicts a program on a topology that they may have added.
 *
 *     cc -rdynamic plugins.c $(pkg-config --cflags --libs weft) -o plugins
 *     ./plugins gen:pulse chordal:16,chord=4 ./chordal.so
 */
#include <stdio.h>
#include <weft/weft.h>

static bool count(void *arg, const struct weft_item *item)
{
    ++*(int *)arg;
    return true; /* go on */
}

int main(int argc, char **argv)
{
    struct weft_error error = {.code = WEFT_OK};
    struct weft_result *result = NULL;
    struct weft_scenario *scenario = weft_scenario_new();
    int n_topologies = 0;

    for (int i = 3; i < argc && error.code == WEFT_OK; i++) {
        (void)weft_plugin_load(argv[i], &error);
    }
    weft_list("topo", count, &n_topologies);
    if (argc > 2 && error.code == WEFT_OK &&
        weft_scenario_set(scenario, "source", argv[1], &error) == WEFT_OK &&
        weft_scenario_set(scenario, "ranks", "16", &error) == WEFT_OK &&
        weft_scenario_set(scenario, "network", "packet", &error) == WEFT_OK &&
        weft_scenario_set(scenario, "topology", argv[2], &error) == WEFT_OK &&
        weft_run(scenario, &result, &error) == WEFT_OK) {
        printf("%d topologies, %.3f ms\n", n_topologies,
               (double)weft_result_predicted_time_ps(result) / 1e9);
    }
    if (error.code != WEFT_OK) {
        fprintf(stderr, "%s\n", error.text);
    }
    weft_result_free(result);
    weft_scenario_free(scenario);
    return (int)error.code;
}
