/* SPDX-License-Identifier: Apache-2.0 */
#include "run/execute/orders.h"

#include "base/array.h"
#include "base/mem.h"
#include "base/temp.h"
#include "run/execute/world.h"
#include "run/program/program.h"
#include "run/scenario/scenario.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each message has a clock of as many numbers. */
enum { RANKS_MAX = 64 };

/* A decision of the current run, and its outcomes that are known. */
struct node {
    struct wf_decision decision; /* its outcome is that of the current run */
    int32_t *outcomes;
    size_t n_outcomes, max_outcomes;
    size_t n_tried; /* the first ones */
};

/* How a run ended. */
struct outcome {
    int32_t status; /* enum wf_status */
    uint32_t deadlock;
    uint64_t n_decisions; /* which follow */
};

struct search {
    const struct wf_scenario *scenario;
    const struct wf_sim_host *host;
    wf_orders_run *run;
    struct wf_orders *orders;
    off_t input; /* where the standard input begins; -1: it cannot be read again */
    struct node *path;
    size_t n_path, max_path;
    struct outcome last;
    struct wf_decisions decisions; /* of the last run */
};

/* ---- a run in a child process ---- */

static bool transfer(int file, bool writes, void *bytes, size_t size)
{
    for (char *at = bytes; size > 0;) {
        ssize_t n = writes ? write(file, at, size) : read(file, at, size);
        if (n <= 0 && !(n < 0 && errno == EINTR)) {
            return false;
        }
        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

_Noreturn static void run_child(const struct search *search, const struct wf_scenario *scenario,
                                int file)
{
    const struct wf_sim_host host = {.world = search->host->world, .stop = search->host->stop};
    struct wf_decisions decisions = {.n = 0};
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC), empty[2];
    bool deadlock = false;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)dup2(nowhere, STDOUT_FILENO);
    (void)dup2(nowhere, STDERR_FILENO);
    if (search->input < 0 && pipe(empty) == 0) {
        (void)dup2(empty[0], STDIN_FILENO);
        (void)close(empty[0]);
        (void)close(empty[1]);
    } else if (search->input >= 0) {
        (void)lseek(STDIN_FILENO, search->input, SEEK_SET);
    }
    enum wf_status status = search->run(scenario, &host, &decisions, &deadlock);
    struct outcome outcome = {(int32_t)status, deadlock, decisions.n};
    bool told = transfer(file, true, &outcome, sizeof(outcome)) &&
                transfer(file, true, decisions.items, decisions.n * sizeof(*decisions.items));
    _exit(told ? 0 : 3);
}

/* Reads what a child has written. One that ended without a word has crashed: that is an
 * error of the program, which the run that is reported will describe. */
static void read_outcome(struct search *search, int file)
{
    struct wf_decisions *all = &search->decisions;

    all->n = 0;
    if (lseek(file, 0, SEEK_SET) != 0 ||
        !transfer(file, false, &search->last, sizeof(search->last))) {
        search->last = (struct outcome){.status = WF_ESIM};
        return;
    }
    for (uint64_t i = 0; i < search->last.n_decisions; i++) {
        WF_GROW(all->items, all->n, all->capacity);
        if (!transfer(file, false, &all->items[all->n], sizeof(*all->items))) {
            break;
        }
        all->n++;
    }
}

static char *schedule_of(const struct search *search)
{
    struct wf_schedule schedule = {.n = 0};

    for (size_t i = 0; i < search->n_path; i++) {
        wf_schedule_add(&schedule, &search->path[i].decision);
    }
    char *text = wf_schedule_text(&schedule);
    wf_schedule_fini(&schedule);
    return text;
}

static enum wf_status run_once(struct search *search, struct wf_err *err)
{
    struct wf_scenario *scenario = wf_scenario_new();
    char *schedule = schedule_of(search);

    wf_scenario_append(scenario, search->scenario);
    enum wf_status status = wf_scenario_set(scenario, "run.schedule", schedule, NULL, err);
    free(schedule);
    int file = status == WF_OK ? wf_temp_unnamed() : -1;
    pid_t child = file >= 0 ? fork() : -1;
    if (child == 0) {
        run_child(search, scenario, file);
    }
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
    if (child > 0) {
        read_outcome(search, file);
    } else if (status == WF_OK) {
        status = wf_err_set(err, WF_EIO, "cannot run the program again: %s", strerror(errno));
    }
    if (file >= 0) {
        (void)close(file);
    }
    wf_scenario_free(scenario);
    search->orders->runs++;
    if (search->host->stop != NULL && *search->host->stop != 0) {
        return wf_err_set(err, WF_EINTR, "interrupted after %" PRIu64 " orders of the program",
                          search->orders->runs);
    }
    return status;
}

/* ---- what a run shows ---- */

static void add_outcome(struct node *node, int32_t outcome)
{
    for (size_t i = 0; i < node->n_outcomes; i++) {
        if (node->outcomes[i] == outcome) {
            return;
        }
    }
    WF_PUSH(node->outcomes, node->n_outcomes, node->max_outcomes, outcome);
}

static void add_others(struct node *node, const struct wf_decision *decision)
{
    for (uint32_t i = 0; i < decision->n_others; i++) {
        add_outcome(node, decision->others[i]);
    }
}

static void push(struct search *search, const struct wf_decision *decision)
{
    struct node node = {.decision = *decision, .n_tried = 1};

    add_outcome(&node, decision->outcome);
    add_others(&node, decision);
    WF_PUSH(search->path, search->n_path, search->max_path, node);
}

/* Leaves the first `n` decisions of the path. */
static void cut(struct search *search, size_t n)
{
    while (search->n_path > n) {
        free(search->path[--search->n_path].outcomes);
    }
}

/* The decisions of the last run, by rank and number: those of a rank have the numbers 0, 1, ...
 * The caller frees the list. Sets first[rank] to where those of a rank begin in it. */
static const struct wf_decision **sort_decisions(const struct search *search,
                                                 size_t first[RANKS_MAX + 1])
{
    const struct wf_decisions *all = &search->decisions;
    const struct wf_decision **sorted =
        (void *)wf_xcalloc(all->n + 1, sizeof(const struct wf_decision *));
    size_t end[RANKS_MAX + 1] = {0};

    for (size_t i = 0; i < all->n; i++) {
        end[all->items[i].call.rank + 1]++;
    }
    for (size_t i = 0; i < RANKS_MAX; i++) {
        end[i + 1] += end[i];
    }
    memcpy(first, end, sizeof(end));
    for (size_t i = 0; i < all->n; i++) { /* in order of their numbers */
        sorted[end[all->items[i].call.rank]++] = &all->items[i];
    }
    return sorted;
}

static enum wf_status diverged(const struct wf_decision *decision, struct wf_err *err)
{
    return wf_err_set(err, WF_ESIM,
                      "rank %" PRIu32 " does not repeat its %.48s if the same messages come in "
                      "the same order; programs whose course depends on the time or on random "
                      "numbers cannot be run in all orders",
                      decision->call.rank, decision->call.call);
}

/* Compares the decisions that were fixed with those of the run, and learns of other outcomes. */
static enum wf_status compare(struct search *search, const struct wf_decision **sorted,
                              const size_t *first, struct wf_err *err)
{
    for (size_t i = 0; i < search->n_path; i++) {
        struct node *node = &search->path[i];
        const struct wf_decision *had = &node->decision;
        size_t at = first[had->call.rank] + had->number;
        const struct wf_decision *now = at < first[had->call.rank + 1] ? sorted[at] : NULL;
        if (now == NULL) {
            if (search->last.status == WF_OK) {
                return diverged(had, err);
            }
        } else if (now->kind != had->kind || now->call.site != had->call.site) {
            return diverged(had, err);
        } else {
            add_others(node, now);
        }
    }
    return WF_OK;
}

/* Makes the run the current path. */
static enum wf_status learn(struct search *search, bool is_possible, struct wf_err *err)
{
    size_t first[RANKS_MAX + 1], n_fixed = search->n_path;
    const struct wf_decision **sorted = sort_decisions(search, first);
    enum wf_status status = compare(search, sorted, first, err);
    bool *known = wf_xcalloc(search->decisions.n + 1, sizeof(*known));

    for (size_t i = 0; i < n_fixed; i++) {
        const struct wf_decision *had = &search->path[i].decision;
        size_t at = first[had->call.rank] + had->number;
        if (at < first[had->call.rank + 1]) {
            known[sorted[at] - search->decisions.items] = true;
        }
    }
    for (size_t i = 0; i < search->decisions.n && is_possible && status == WF_OK; i++) {
        if (!known[i]) {
            push(search, &search->decisions.items[i]);
        }
    }
    free(known);
    free((void *)sorted);
    return status;
}

/* Goes on to the next order: the last decision that has an outcome that was not tried. */
static bool advance(struct search *search)
{
    while (search->n_path > 0) {
        struct node *last = &search->path[search->n_path - 1];
        if (last->n_tried < last->n_outcomes) {
            last->decision.outcome = last->outcomes[last->n_tried++];
            return true;
        }
        cut(search, search->n_path - 1);
    }
    return false;
}

static bool is_left(const struct search *search)
{
    for (size_t i = 0; i < search->n_path; i++) {
        if (search->path[i].n_tried < search->path[i].n_outcomes) {
            return true;
        }
    }
    return false;
}

/* Whether the schedule asked for something that MPI does not allow. */
static bool is_impossible(const struct search *search)
{
    for (size_t i = 0; i < search->decisions.n; i++) {
        const struct wf_decision *at = &search->decisions.items[i];
        if (at->is_impossible || (at->is_stuck && search->last.deadlock)) {
            return true;
        }
    }
    return false;
}

static void report_progress(const struct search *search)
{
    if (search->host->progress != NULL) {
        search->host->progress(search->host->progress_arg,
                               &(struct wf_sim_progress){.fraction = -1,
                                                         .runs_done = search->orders->runs,
                                                         .runs = search->orders->most});
    }
}

static enum wf_status explore(struct search *search, struct wf_err *err)
{
    struct wf_orders *orders = search->orders;

    for (;;) {
        WF_TRY(run_once(search, err));
        bool impossible = is_impossible(search);
        orders->impossible += impossible;
        orders->found = search->last.status != WF_OK && !impossible;
        if (orders->found) {
            break;
        }
        WF_TRY(learn(search, !impossible, err));
        if (orders->runs == orders->most) {
            orders->is_complete = !is_left(search);
            break;
        }
        if (!advance(search)) {
            orders->is_complete = true;
            break;
        }
        report_progress(search);
    }
    if (!orders->found) {
        cut(search, 0);
    }
    orders->schedule = schedule_of(search);
    return WF_OK;
}

/* ---- the scenario ---- */

static bool has_value(const struct wf_scenario *scenario, const char *key, const char *value)
{
    const struct wf_setting *setting = wf_scenario_find(scenario, key);

    return setting != NULL && strcmp(setting->value, value) == 0;
}

/* Refuses what would make runs differ, or too large. */
static enum wf_status check(const struct wf_scenario *scenario, const struct wf_sim_host *host,
                            const char *what, struct wf_err *err)
{
    const struct wf_setting *ranks = wf_scenario_find(scenario, "ranks");

    if (wf_world_size(host->world) > 1) {
        return wf_err_set(err, WF_EUSAGE, "%s runs in one process, and this is one of %zu",
                          what, (size_t)wf_world_size(host->world));
    }
    if (ranks != NULL && strtoull(ranks->value, NULL, 10) > RANKS_MAX) {
        return wf_err_set(err, WF_EUSAGE,
                          "%s is for small programs: it takes up to %d ranks, and this run has "
                          "%.20s",
                          what, RANKS_MAX, ranks->value);
    }
    if (has_value(scenario, "run.compute", "measured") ||
        has_value(scenario, "run.compute", "counted")) {
        return wf_err_set(err, WF_EUSAGE,
                          "%s needs runs that can be repeated, but measured compute times "
                          "change: use --compute none or model",
                          what);
    }
    if (has_value(scenario, "run.clock", "host")) {
        return wf_err_set(err, WF_EUSAGE,
                          "%s needs runs that can be repeated: use -p run.clock=simulated",
                          what);
    }
    return WF_OK;
}

/* The settings of such runs, without the schedule. */
static enum wf_status apply_settings(const struct wf_scenario *scenario,
                                     struct wf_scenario *out, struct wf_err *err)
{
    wf_scenario_append(out, scenario);
    WF_TRY(wf_scenario_set(out, "engine.threads", "1", NULL, err));
    WF_TRY(wf_scenario_set(out, "run.all_orders", "false", NULL, err));
    return wf_scenario_find(scenario, "run.compute") == NULL
               ? wf_scenario_set(out, "run.compute", "none", NULL, err)
               : WF_OK;
}

static enum wf_status read_settings(const struct wf_scenario *scenario,
                                    struct wf_program_params *params, struct wf_err *err)
{
    static const char *const names[] = {"all_orders", "orders_max", "schedule"};
    char key[32];

    params->orders_max = 1000;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(key, sizeof(key), "run.%s", names[i]);
        const struct wf_setting *setting = wf_scenario_find(scenario, key);
        if (setting != NULL) {
            WF_TRY(wf_setting_apply(setting, wf_program_params, params, names[i], err));
        }
    }
    return WF_OK;
}

/* Runs the search, if one is wanted, and sets the schedule in `out`, which becomes the scenario of the run. */
static enum wf_status prepare(const struct wf_scenario *scenario, struct search *search,
                              const struct wf_program_params *params, struct wf_scenario *out,
                              struct wf_err *err)
{
    struct wf_orders *orders = search->orders;
    bool searches = params->all_orders;

    if (searches && params->schedule != NULL && params->schedule[0] != '\0') {
        return wf_err_set(err, WF_EUSAGE,
                          "--check=all-orders looks for a schedule: it cannot be given one");
    }
    WF_TRY(check(scenario, search->host, searches ? "--check=all-orders" : "--schedule", err));
    WF_TRY(apply_settings(scenario, out, err));
    if (!searches) {
        return WF_OK;
    }
    search->scenario = out;
    search->input = isatty(STDIN_FILENO) == 0 ? lseek(STDIN_FILENO, 0, SEEK_CUR) : -1;
    *orders = (struct wf_orders){.is_search = true, .most = params->orders_max};
    enum wf_status status = explore(search, err);
    cut(search, 0);
    free(search->path);
    free(search->decisions.items);
    if (search->input >= 0) {
        (void)lseek(STDIN_FILENO, search->input, SEEK_SET);
    }
    return status == WF_OK ? wf_scenario_set(out, "run.schedule", orders->schedule, NULL, err)
                           : status;
}

enum wf_status wf_orders_prepare(const struct wf_scenario *scenario,
                                 const struct wf_sim_host *host, wf_orders_run *run,
                                 struct wf_orders *orders, struct wf_scenario **out,
                                 struct wf_err *err)
{
    const struct wf_setting *source = wf_scenario_find(scenario, "source");
    struct wf_program_params params = {.schedule = NULL};

    *out = NULL;
    if (source == NULL || !wf_setting_runs_program(source)) {
        return WF_OK;
    }
    enum wf_status status = read_settings(scenario, &params, err);
    bool wanted = params.all_orders || (params.schedule != NULL && params.schedule[0] != '\0');
    if (status == WF_OK && wanted) {
        *out = wf_scenario_new();
        struct search search = {.host = host, .run = run, .orders = orders};
        status = prepare(scenario, &search, &params, *out, err);
    }
    free(params.schedule);
    return status;
}
