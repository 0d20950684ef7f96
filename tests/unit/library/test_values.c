/* SPDX-License-Identifier: Apache-2.0 */
/* What users of the library ask of a result, and of weft. */
#include <weft/weft.h>

#include "harness/wf_test.h"

#include <stdlib.h>
#include <string.h>

static void set(struct weft_scenario *scenario, const char *key, const char *value)
{
    if (weft_scenario_set(scenario, key, value, NULL) != WEFT_OK) {
        abort();
    }
}

static struct weft_scenario *ring(void)
{
    struct weft_scenario *scenario = weft_scenario_new();

    set(scenario, "source", "gen:ring");
    set(scenario, "ranks", "4");
    return scenario;
}

static void values_have_types_and_units(void)
{
    struct weft_scenario *scenario = ring();
    struct weft_result *result = NULL;
    struct weft_value value, child;

    CHECK(weft_run(scenario, &result, NULL) == WEFT_OK);
    CHECK(weft_result_get(result, "result.predicted_time_ps", &value));
    CHECK(value.type == WEFT_COUNT && strcmp(value.unit, "ps") == 0);
    CHECK((int64_t)value.count == weft_result_predicted_time_ps(result));
    static const char *const with_units[][2] = {{"result.bytes", "B"},
                                                {"result.message_latency_ps.mean", "ps"},
                                                {"result.ranks.finish_ps.max", "ps"},
                                                {"run.events_per_cpu_second", "1/s"},
                                                {"run.cpu_seconds", "s"},
                                                {"run.efficiency_percent", "%"}};
    for (size_t i = 0; i < sizeof(with_units) / sizeof(with_units[0]); i++) {
        CHECK(weft_result_get(result, with_units[i][0], &value) && value.unit != NULL &&
              strcmp(value.unit, with_units[i][1]) == 0);
    }
    CHECK(weft_result_child(result, "result.message_latency_ps", 0, &child) &&
          strcmp(child.unit, "ps") == 0);
    CHECK(weft_result_get(result, "result.messages", &value) && value.unit == NULL);
    CHECK(weft_result_get(result, "scenario.source", &value) && value.type == WEFT_TEXT);
    CHECK(strcmp(value.text, "gen:ring") == 0 && value.unit == NULL);
    CHECK(weft_result_get(result, "result", &value) && value.type == WEFT_SECTION);
    CHECK(weft_result_child(result, "result", value.count - 1, &child) && child.name != NULL);
    CHECK(!weft_result_child(result, "result", value.count, &child) &&
          child.type == WEFT_MISSING);
    CHECK(weft_result_child(result, "", 0, &child));

    static const char *const nowhere[] = {"nothing",       "result.nothing",
                                          "result.",       ".result",
                                          "result.0",      "result.predicted_time_ps.1",
                                          "result..status"};
    for (size_t i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++) {
        CHECK(!weft_result_get(result, nowhere[i], &value) && value.type == WEFT_MISSING);
    }
    weft_result_free(result);
    weft_scenario_free(scenario);
}

static bool count_item(void *arg, const struct weft_item *item)
{
    int *n = arg;

    *n += item->kind != NULL && item->name != NULL ? 1 : 0;
    return true;
}

static bool find_latency(void *arg, const struct weft_item *item)
{
    bool *found = arg;

    *found = strcmp(item->name, "net.L") == 0 && item->initial != NULL && item->summary != NULL;
    return !*found;
}

static void everything_is_listed(void)
{
    static const char *const kinds[] = {"parameter", "machine", "net",     "topo",
                                        "gen",       "trace",   "routing", "algorithm"};
    int all = 0, sum = 0;
    bool found = false;

    weft_list(NULL, count_item, &all);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        int n = 0;
        weft_list(kinds[i], count_item, &n);
        CHECK(n > 2);
        sum += n;
    }
    CHECK(sum <= all);
    weft_list("parameter", find_latency, &found);
    CHECK(found);
}

static void options_tell_their_size(void)
{
    struct weft_scenario *scenario = ring();
    struct weft_result *result = NULL;
    struct weft_error error;
    struct weft_run_options plain = {.record = false};

    CHECK(weft_run_with(scenario, &plain, &result, &error) == WEFT_USAGE && result == NULL);
    CHECK(strstr(error.text, "size") != NULL);
    /* One of an older header ends earlier, one of a newer header later. */
    plain = (struct weft_run_options){.size = sizeof(size_t) + 1};
    CHECK(weft_run_with(scenario, &plain, &result, &error) == WEFT_OK);
    weft_result_free(result);
    struct {
        struct weft_run_options known;
        uint64_t unknown;
    } newer = {.known = {.size = sizeof(newer)}};
    CHECK(weft_run_with(scenario, &newer.known, &result, &error) == WEFT_OK);
    weft_result_free(result);
    newer.unknown = 1;
    CHECK(weft_run_with(scenario, &newer.known, &result, &error) == WEFT_USAGE);
    CHECK(strstr(error.text, "does not know") != NULL);
    weft_scenario_free(scenario);
}

static bool stop_at_once(void *arg, double fraction, int64_t time_ps)
{
    int *calls = arg;

    (*calls)++;
    return false;
}

static void a_run_can_be_cancelled(void)
{
    struct weft_scenario *scenario = weft_scenario_new();
    struct weft_result *result = NULL;
    struct weft_error error;
    int calls = 0;
    const struct weft_run_options options = {
        .size = sizeof(options), .progress = stop_at_once, .progress_arg = &calls};

    /* Would take hours. */
    set(scenario, "source", "gen:stencil3d");
    set(scenario, "ranks", "512");
    set(scenario, "gen.iterations", "1000000");
    CHECK(weft_run_with(scenario, &options, &result, &error) == WEFT_INTERRUPTED);
    CHECK(result != NULL && weft_result_predicted_time_ps(result) == -1 && calls > 0);
    weft_result_free(result);
    weft_scenario_free(scenario);
}

int main(void)
{
    RUN(values_have_types_and_units);
    RUN(everything_is_listed);
    RUN(options_tell_their_size);
    RUN(a_run_can_be_cancelled);
    return wf_test_done();
}
