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
 * The library keeps no state between calls, except for the plug-ins that it has loaded: any number of
 * scenarios may be set up and run at once in different threads. One object is used by one thread at a time. It prints nothing, handles no
 * signals and ends no process, but for these cases: a program that runs as virtual ranks ("run:PATH") prints
 * what it prints, and while it runs, or plug-ins are loaded and a call takes place, weft handles SIGSEGV and the
 * like; and a process ends in which memory runs out while such a program runs, or while one simulation runs on
 * several MPI processes.
 *
 * Signals belong to the process, so that such programs take turns: a run waits until that of another
 * thread has ended; within a callback of a run it is refused. Afterwards signal handlers and timers, and
 * the caller's signal mask and stack for handlers, are what they were before.
 *
 * Everywhere else lack of memory is an error: the call returns WEFT_LIMIT, or null, and releases what
 * it took. An object that it was to change may keep a part of the change; it can be released, and
 * used, but for a trace that was being read or written.
 *
 * Structs of options begin with their own size, so that they can grow: set it to sizeof(struct ...),
 * and everything that is not needed to zero.
 *
 *     struct weft_run_options options = {.size = sizeof(options), .record = true};
 *
 * weft/trace.h reads and writes traces op by op.
 */

#include <weft/export.h>
#include <weft/version.h>

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The outcome of a call: the same numbers as the exit codes of the program. */
enum weft_code {
    WEFT_OK = 0,
    WEFT_USAGE = 2,          /* an unknown key or a bad value */
    WEFT_INPUT = 3,          /* invalid input, or input that cannot be read */
    WEFT_PROGRAM_FAILED = 4, /* by a deadlock, for example; there is a result */
    WEFT_LIMIT = 5,          /* too large for this machine or for weft */
    WEFT_BUG = 70,
    WEFT_INTERRUPTED = 130, /* there is a partial result */
};

enum { WEFT_ERROR_TEXT_MAX = 512 };

/* Set by calls that fail; other calls leave it unchanged. Plain data: needs no release. */
struct weft_error {
    enum weft_code code;
    char text[WEFT_ERROR_TEXT_MAX]; /* one sentence for a person */
};

struct weft_scenario;
struct weft_result;

/* The version of the linked library, as in "1.0.0"; weft/version.h has that of the headers. Never
 * null; do not free. */
WEFT_API const char *weft_version(void);

/* Frees a text that the library returned for the caller to free. Null is allowed. */
WEFT_API void weft_free(void *text);

/* Null without memory. */
WEFT_API struct weft_scenario *weft_scenario_new(void);
WEFT_API void weft_scenario_free(struct weft_scenario *scenario); /* null is allowed */

/*
 * Sets a key of a scenario; the last value of a key counts. Keys are "source" ("gen:stencil3d",
 * or the path of a trace), "ranks", "ranks_per_node", "placement" ("random"), "start",
 * "until", "repeat", "region", "iterations", "repeat_iteration", "loops", "changes", "network",
 * "topology" ("torus:8x8x8"), "seed", "efficiency", and every parameter that the program accepts
 * with -p: "net.L", "gen.bytes", "engine.threads". Keys of further programs, which run at the same
 * time as the first, begin with "job." and their number from 1 on: "job.1.source",
 * "job.1.ranks", "job.1.gen.bytes"; docs/reference/jobs.md describes them.
 *
 * Both texts are copied. A key that no scenario has ("net.LL") is refused here, and the error names the
 * nearest one; weft_run() refuses bad values, and parameters that nothing in this scenario has. `error` may be
 * null.
 */
WEFT_API enum weft_code weft_scenario_set(struct weft_scenario *scenario, const char *key,
                                          const char *value, struct weft_error *error);

/* Appends the settings of a machine, as weft_scenario_set() would. `which` is a file if it
 * contains a '/' or ends in .yaml, .yml or .conf, else a name that `weft machine list` prints.
 * `error` may be null. */
WEFT_API enum weft_code weft_scenario_machine(struct weft_scenario *scenario, const char *which,
                                              struct weft_error *error);

/* Runs the simulation. On WEFT_OK and WEFT_PROGRAM_FAILED the caller owns *result and frees it
 * with weft_result_free(); otherwise *result is set to null. `error` may be null. */
WEFT_API enum weft_code weft_run(const struct weft_scenario *scenario,
                                 struct weft_result **result, struct weft_error *error);

/* What a run does beyond predicting a time. Zeroed but for its size: nothing. */
struct weft_run_options {
    size_t size;           /* sizeof(struct weft_run_options) */
    bool record;           /* the result document has `recording` and `critical_path` */
    bool what_if;          /* the run is repeated with changes: `what_if` */
    uint64_t record_limit; /* individual spans, messages and calls; 0: 100,000 of each */
    const volatile sig_atomic_t *stop; /* nonzero ends the run early; may be null */
    /* Called from time to time by one thread, with the fraction that is done, from 0 to 1 and negative
     * if that is not known, and the simulated time. To return false ends the run early. May be
     * null. */
    bool (*progress)(void *arg, double fraction, int64_t time_ps);
    void *progress_arg;
};

/* The same with options, which may be null. On WEFT_INTERRUPTED there is a partial result too, unless the
 * run still waited for its turn. */
WEFT_API enum weft_code weft_run_with(const struct weft_scenario *scenario,
                                      const struct weft_run_options *options,
                                      struct weft_result **result, struct weft_error *error);

/* The time that the program takes, in picoseconds; -1 if it did not complete. */
WEFT_API int64_t weft_result_predicted_time_ps(const struct weft_result *result);

/* The result document as JSON (docs/reference/result-document.md). Valid as long as the
 * result. */
WEFT_API const char *weft_result_json(const struct weft_result *result);

/* ---- the values of a result ---- */

enum weft_type {
    WEFT_MISSING,
    WEFT_NULL,
    WEFT_BOOL,
    WEFT_COUNT,
    WEFT_REAL,
    WEFT_TEXT,
    WEFT_SECTION,
    WEFT_LIST
};

/* A value of a result document. Texts are valid as long as the result. */
struct weft_value {
    enum weft_type type;
    const char *name; /* of the value; null in a list */
    const char *unit; /* "ps", "B", "B/s", "%"; null: the name tells what is counted */
    uint64_t count;   /* of a count; of a bool 0 or 1; of a section or list how many it has */
    double real;      /* of a real or a count */
    const char *text; /* of a text */
};

/* Finds a value by its path in the document: "result.predicted_time_ps", or with places from 0 on in
 * lists, "result.jobs.0.finish_ps". False, and WEFT_MISSING, if there is none. */
WEFT_API bool weft_result_get(const struct weft_result *result, const char *path,
                              struct weft_value *value);

/* Value number `i` of the section or list at a path; "" is the document itself. False at the end. */
WEFT_API bool weft_result_child(const struct weft_result *result, const char *path, size_t i,
                                struct weft_value *value);

/* Writes the result in the format of the extension of `path` (`weft help replay` lists them, -o): the
 * page for a browser as .html, the document as .json, timelines as .prv or .otf2. What is shown
 * of ranks over time needs `record`. Replaces an existing file only with `force`. On failure no
 * file is left. */
WEFT_API enum weft_code weft_result_write(const struct weft_result *result, const char *path,
                                          bool force, struct weft_error *error);

WEFT_API void weft_result_free(struct weft_result *result); /* null is allowed */

/* ---- what there is ---- */

/* Something that a scenario can name. Texts are valid during the call. */
struct weft_item {
    /* "parameter", "machine", "net", "topo", "routing", "algorithm" (of collectives), "gen", "trace",
     * "pattern" (of synthetic traffic), "bench" */
    const char *kind;
    const char *name;    /* "net.L", "torus" */
    const char *summary; /* may be null */
    const char *of;      /* whose parameter or algorithm it is: "loggp"; may be null */
    const char *syntax;  /* of a value, or of what follows the name: "<time>"; may be null */
    const char *initial; /* the value of a parameter that is not set; null: it has none */
};

/* Calls each(arg, item) for everything of a kind, or of all kinds if that is null, until it returns
 * false. */
WEFT_API void weft_list(const char *kind, bool (*each)(void *arg, const struct weft_item *item),
                        void *arg);

/* Loads a plug-in (weft/plugin.h): what it adds can be named by scenarios and is listed from then on, until
 * the process ends. To be called before other threads use the library. Nothing happens if it is loaded
 * already. A file that is no plug-in, that belongs to another version, that crashes while it is loaded or
 * whose names are taken is WEFT_INPUT, and adds nothing. If its functions crash in a call, that call
 * returns WEFT_INPUT: while plug-ins are loaded weft handles SIGSEGV and the like during calls. A program that is linked with the static library shows plug-ins weft's functions if it is
 * linked with -rdynamic. `error` may be null. */
WEFT_API enum weft_code weft_plugin_load(const char *path, struct weft_error *error);

/*
 * Options of calls that simulate many points. Zeroed but for its size: run all points in parallel on
 * all cores, without progress reports. Everything it points to is borrowed for the call.
 */
struct weft_host {
    size_t size;     /* sizeof(struct weft_host) */
    uint32_t jobs;   /* points that run in parallel; 0: one per core */
    uint64_t memory; /* budget in bytes for all of them; 0: three quarters of the memory */
    const volatile sig_atomic_t *stop; /* nonzero ends the call early; may be null */
    /* Called at the start and after each point, by one thread at a time; may be null. */
    void (*progress)(void *arg, size_t done, size_t total);
    void *progress_arg;
};

/* ---- studies: a scenario at many points ---- */

struct weft_study;

/* Reads a study (docs/reference/studies.md). On WEFT_OK the caller owns *study and frees it
 * with weft_study_free(); otherwise *study is set to null. `error` may be null here and below.
 */
WEFT_API enum weft_code weft_study_read(const char *path, struct weft_study **study,
                                        struct weft_error *error);

/* Simulates all points that have no result in the directory, which is created if it does not
 * exist, and keeps a result document of each in a file there. `host` may be null. Points that
 * fail do not stop the others; the call then reports the first of them. WEFT_INTERRUPTED keeps
 * the points that are done: the next call goes on from there. */
WEFT_API enum weft_code weft_study_run(struct weft_study *study, const char *directory,
                                       const struct weft_host *host, struct weft_error *error);

/* The table of a study, as CSV and as JSON: a row for each point, with its settings and main
 * results. Each call creates a new text, which the caller frees with weft_free(); null without
 * memory. */
WEFT_API char *weft_study_csv(const struct weft_study *study);
WEFT_API char *weft_study_json(const struct weft_study *study);

WEFT_API void weft_study_free(struct weft_study *study); /* null is allowed */

/* ---- load curves: latency and accepted load of synthetic traffic ---- */

struct weft_curve_point {
    double load;                     /* requested, in phits per node and cycle... */
    double offered, accepted;        /* ...and measured */
    double latency;                  /* mean, in cycles */
    double latency_half_width;       /* half width of its confidence interval */
    double p50, p95, p99, max, hops; /* percentiles and maximum in cycles; mean hops */
    bool converged, saturated;
    bool done; /* false: interrupted; all members above except `load` are 0 */
};

/* Simulates the scenario with each load of the `n` points. Its source is "traffic:uniform" or
 * another pattern. The caller owns the points and has set their loads, each from 0 to 1. `host`
 * may be null. */
WEFT_API enum weft_code weft_curve_run(const struct weft_scenario *scenario,
                                       struct weft_curve_point *points, size_t n,
                                       const struct weft_host *host, struct weft_error *error);

/* ---- calibration: a machine from measured messages ---- */

struct weft_sample {
    uint64_t bytes;
    double ns;      /* half of a round trip */
    double both_ns; /* the same with messages in both directions at once; 0: not measured */
};

struct weft_measurements {
    size_t size;                       /* sizeof(struct weft_measurements) */
    const struct weft_sample *samples; /* by increasing size; the first has one byte */
    size_t n;                          /* 4 to 128 */
    double send_ns, receive_ns;        /* a call that sends, or receives, one byte */
    double stream_ns;                  /* interval between messages of a stream */
    uint64_t eager_max;                /* the longest message sent eagerly; 0: unknown */
};

struct weft_fit {
    size_t size; /* sizeof(struct weft_fit), set by the caller */
    double latency_ns, overhead_ns, gap_ns, ns_per_byte;
    double mean_error, max_error; /* relative errors over the samples */
    char *machine;                /* a machine file; the caller frees it with weft_free() */
};

/* Fits the parameters of the network model loggp. `name` is the name of the machine. `mpi`,
 * "mpich" or "openmpi", is the MPI library whose rules choose the algorithms of collectives.
 * WEFT_INPUT if the times contradict each other. */
WEFT_API enum weft_code weft_fit(const struct weft_measurements *measured, const char *name,
                                 const char *mpi, struct weft_fit *fit,
                                 struct weft_error *error);

/* ---- traces ---- */

struct weft_convert {
    size_t size;               /* sizeof(struct weft_convert) */
    uint32_t ranks;            /* for a generator; 0 for a trace */
    const char *const *params; /* "gen.bytes=1KiB", "mpi.rules=openmpi", null; or null */
    bool expand_collectives; /* write collectives as messages, with algorithms as in a replay */
    bool partial;            /* read as much as possible of a damaged trace */
    bool force;              /* replace the file if it exists */
};

/* Writes a trace, or the program of a generator ("gen:ring"), as a trace in the format of the
 * extension of `to` (docs/reference/trace-formats.md). `how` may be null. On failure no file is
 * left. */
WEFT_API enum weft_code weft_trace_convert(const char *from, const char *to,
                                           const struct weft_convert *how,
                                           struct weft_error *error);

#ifdef __cplusplus
}
#endif

#endif
