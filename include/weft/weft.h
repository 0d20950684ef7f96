/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

/*
 * The weft library: predicts how an MPI application runs on a machine you do not have.
 *
 *     struct weft_error error;
 *     struct weft_result *result = NULL;
 *     struct weft_scenario *scenario = weft_scenario_new();
 *
 *     if (weft_scenario_set(scenario, "source", "gen:stencil3d", &error) == WEFT_OK &&
 *         weft_scenario_set(scenario, "ranks", "4096", &error) == WEFT_OK &&
 *         weft_scenario_set(scenario, "net.L", "2us", &error) == WEFT_OK &&
 *         weft_run(scenario, &result, &error) == WEFT_OK) {
 *         printf("%lld ps\n", (long long)weft_result_predicted_time_ps(result));
 *     } else {
 *         fprintf(stderr, "%s\n", error.text);
 *     }
 *     weft_result_free(result);
 *     weft_scenario_free(scenario);
 *
 * The library prints nothing, handles no signals and keeps no state between calls: any number
 * of scenarios may be set up and run at once in different threads. One object is used by one
 * thread at a time.
 */

#include <weft/export.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a call came to: the same numbers as the exit codes of the program. */
enum weft_code {
    WEFT_OK = 0,
    WEFT_USAGE = 2,          /* an unknown key, a bad value */
    WEFT_INPUT = 3,          /* bad input, or it could not be read */
    WEFT_PROGRAM_FAILED = 4, /* the simulated program did: a deadlock; there is a result */
    WEFT_LIMIT = 5,          /* too large for this machine or for weft */
    WEFT_BUG = 70,
    WEFT_INTERRUPTED = 130, /* there is a partial result */
};

enum { WEFT_ERROR_TEXT_MAX = 512 };

/* Set by calls that fail, otherwise left alone. Plain data: needs no release. */
struct weft_error {
    enum weft_code code;
    char text[WEFT_ERROR_TEXT_MAX]; /* one sentence for a person */
};

struct weft_scenario;
struct weft_result;

/* The version of the library that is linked, as in "0.1.0". Never null; do not free. */
WEFT_API const char *weft_version(void);

WEFT_API struct weft_scenario *weft_scenario_new(void);
WEFT_API void weft_scenario_free(struct weft_scenario *scenario); /* null is allowed */

/*
 * Sets something of a scenario; the last value of a key counts. Keys are "source"
 * ("gen:stencil3d", or the path of a trace), "ranks", "ranks_per_node", "placement" ("random"),
 * "start", "repeat", "region", "iterations", "repeat_iteration", "network", "topology"
 * ("torus:8x8x8"), "seed", "efficiency", and every parameter that the program knows with -p:
 * "net.L", "gen.bytes", "engine.threads". Programs that run at the same time as the first have
 * keys that begin with "job." and their number from 1 on: "job.1.source", "job.1.ranks",
 * "job.1.gen.bytes"; docs/reference/jobs.md describes them. Both texts are copied. A key that
 * no scenario has is refused here; a value, and a key that this scenario does not have, by
 * weft_run(). `error` may be null.
 */
WEFT_API enum weft_code weft_scenario_set(struct weft_scenario *scenario, const char *key,
                                          const char *value, struct weft_error *error);

/* Simulates. On WEFT_OK and WEFT_PROGRAM_FAILED the caller owns *result and frees it with
 * weft_result_free(); otherwise *result is set to null. `error` may be null. */
WEFT_API enum weft_code weft_run(const struct weft_scenario *scenario,
                                 struct weft_result **result, struct weft_error *error);

/* The time the program takes, in picoseconds; -1 if it did not come to its end. */
WEFT_API int64_t weft_result_predicted_time_ps(const struct weft_result *result);

/* The result document as JSON, as docs/reference/result-document.md describes it. Lives as
 * long as the result. */
WEFT_API const char *weft_result_json(const struct weft_result *result);

WEFT_API void weft_result_free(struct weft_result *result); /* null is allowed */

#ifdef __cplusplus
}
#endif

#endif
