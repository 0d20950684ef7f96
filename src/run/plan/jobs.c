/* SPDX-License-Identifier: Apache-2.0 */
#include "run/plan/jobs.h"

#include "base/mem.h"
#include "base/result/doc.h"
#include "model/ranks/cpu/cpu.h"
#include "model/ranks/node_params.h"
#include "program/extrapolate/extrapolate.h"
#include "program/gen/gen.h"
#include "program/gen/graphs.h"
#include "program/ops/changed.h"
#include "program/ops/graph_repeat.h"
#include "program/ops/looped.h"
#include "program/ops/roi.h"
#include "program/trace/reader.h"
#include "run/program/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define GEN_PREFIX "gen:"

/* ---- keys ---- */

/* The key of a setting of a job: "ranks" for the first job, "job.2.ranks" for another. */
static const char *job_key(uint32_t number, const char *name, char *buf, size_t size)
{
    if (number == 0) {
        (void)snprintf(buf, size, "%s", name);
    } else {
        (void)snprintf(buf, size, "job.%u.%s", number, name);
    }
    return buf;
}

/* Puts the name of a setting, as the user wrote it, in front of an error message. */
static enum wf_status blame(const struct wf_plan *plan, uint32_t number, const char *name,
                            enum wf_status status, struct wf_err *err)
{
    char key[64];

    if (status == WF_OK) {
        return WF_OK;
    }
    const struct wf_setting *setting =
        wf_scenario_find(plan->scenario, job_key(number, name, key, sizeof(key)));
    wf_err_prefix(err, "%.64s: ", setting != NULL ? setting->origin : key);
    return wf_setting_blame(setting, status, err);
}

bool wf_plan_job_setting(const struct wf_setting *setting)
{
    uint32_t number;
    const char *name;

    return wf_scenario_job_key(setting->key, &number, &name) && !wf_scenario_source_key(name);
}

const struct wf_plan_block *wf_plan_job_block(const struct wf_plan *plan,
                                              const struct wf_setting *setting,
                                              const char **name)
{
    uint32_t number = 0;
    const char *rest = setting->key;

    (void)wf_scenario_job_key(setting->key, &number, &rest);
    if (number >= plan->n_jobs || plan->jobs[number].block.table == NULL) {
        return NULL;
    }

    const struct wf_plan_block *block = &plan->jobs[number].block;
    size_t length = strlen(block->scope);
    if (strncmp(rest, block->scope, length) != 0 || rest[length] != '.') {
        return NULL;
    }
    *name = rest + length + 1;
    return block;
}

/* ---- finding the programs ---- */

static enum wf_status add_jobs(struct wf_plan *plan, struct wf_err *err)
{
    plan->n_jobs = 1;
    for (size_t i = 0; i < plan->scenario->n; i++) {
        uint32_t number;
        const char *name;

        if (wf_scenario_job_key(plan->scenario->settings[i].key, &number, &name) &&
            number >= plan->n_jobs) {
            plan->n_jobs = number + 1;
        }
    }

    plan->jobs = wf_xcalloc(plan->n_jobs, sizeof(*plan->jobs));
    plan->jobs[0].settings = &plan->core.job;
    for (uint32_t i = 1; i < plan->n_jobs; i++) {
        plan->jobs[i].settings = wf_xcalloc(1, sizeof(struct wf_scenario_job));
        WF_TRY(wf_param_defaults(wf_scenario_job_params(), plan->jobs[i].settings, err));
    }
    return WF_OK;
}

static enum wf_status apply_settings(struct wf_plan *plan, struct wf_err *err)
{
    for (size_t i = 0; i < plan->scenario->n; i++) {
        const struct wf_setting *s = &plan->scenario->settings[i];
        uint32_t number;
        const char *name;

        if (wf_plan_job_setting(s) && wf_scenario_job_key(s->key, &number, &name)) {
            WF_TRY(wf_setting_apply(s, wf_scenario_job_params(), plan->jobs[number].settings,
                                    name, err));
        }
    }
    return WF_OK;
}

static enum wf_status find_generator(struct wf_plan_job *job, const char *name,
                                     struct wf_err *err)
{
    const struct wf_param *table;
    size_t size;

    job->graph_gen = wf_gen_graph_find(name);
    if (job->graph_gen != NULL) {
        table = job->graph_gen->params;
        size = job->graph_gen->params_size;
    } else {
        WF_TRY(wf_gen_find(name, &job->gen, err));
        table = job->gen->params;
        size = job->gen->params_size;
    }
    job->block = (struct wf_plan_block){"gen", table, wf_xcalloc(1, size)};
    return wf_param_defaults(table, job->block.values, err);
}

/* A source that is neither a generator nor a file probably lacks its "gen:". */
static enum wf_status check_trace(uint32_t number, const char *source, struct wf_err *err)
{
    struct stat st;
    char key[64];

    if (source[0] == '\0' && number > 0) {
        return wf_err_set(err, WF_EUSAGE, "%s is missing",
                          job_key(number, "source", key, sizeof(key)));
    }
    if (source[0] != '\0' && (strpbrk(source, "/.") != NULL || stat(source, &st) == 0)) {
        return WF_OK;
    }
    return wf_err_set(
        err, WF_EUSAGE,
        "source '%.64s' not found: expected gen:<generator>, as in gen:stencil3d, "
        "or the path of a trace",
        source);
}

static enum wf_status find_format(struct wf_plan_job *job, struct wf_err *err)
{
    struct wf_reader_probe *probe = wf_xcalloc(1, sizeof(*probe));
    enum wf_status status = wf_reader_find(job->settings->source, probe, &job->reader, err);

    if (status != WF_OK) {
        free(probe);
        return status;
    }
    job->probe = probe;
    if (job->reader->params == NULL) {
        return WF_OK;
    }
    job->block = (struct wf_plan_block){"trace", job->reader->params,
                                        wf_xcalloc(1, job->reader->params_size)};
    return wf_param_defaults(job->block.table, job->block.values, err);
}

static enum wf_status find_job(struct wf_plan *plan, uint32_t number, struct wf_err *err)
{
    struct wf_plan_job *job = &plan->jobs[number];
    const char *source = job->settings->source;
    char key[64];

    WF_TRY(blame(plan, number, "placement",
                 wf_placement_parse(job->settings->placement, &job->placement, err), err));
    job->program = strncmp(source, WF_PROGRAM_PREFIX, strlen(WF_PROGRAM_PREFIX)) == 0;
    job->extrapolated = strncmp(source, WF_EXT_PREFIX, strlen(WF_EXT_PREFIX)) == 0;
    if (!job->program && !job->extrapolated &&
        strncmp(source, GEN_PREFIX, strlen(GEN_PREFIX)) != 0) {
        WF_TRY(check_trace(number, source, err));
        return find_format(job, err);
    }
    if (job->settings->ranks == 0) {
        return wf_err_set(err, WF_EUSAGE, "the number of ranks is missing: %s",
                          number == 0 ? "-n <count>"
                                      : job_key(number, "ranks", key, sizeof(key)));
    }
    if (job->extrapolated) {
        return WF_OK;
    }
    if (job->program) {
        job->block = (struct wf_plan_block){"run", wf_program_params,
                                            wf_xcalloc(1, sizeof(struct wf_program_params))};
        return wf_param_defaults(wf_program_params, job->block.values, err);
    }
    return find_generator(job, source + strlen(GEN_PREFIX), err);
}

enum wf_status wf_plan_jobs_find(struct wf_plan *plan, struct wf_err *err)
{
    WF_TRY(add_jobs(plan, err));
    WF_TRY(apply_settings(plan, err));
    for (uint32_t i = 0; i < plan->n_jobs; i++) {
        WF_TRY(find_job(plan, i, err));
    }
    return WF_OK;
}

/* ---- sources of the programs ---- */

/* A parameter without a default is required. */
static enum wf_status check_given(const struct wf_plan *plan, uint32_t number,
                                  struct wf_err *err)
{
    const struct wf_plan_block *block = &plan->jobs[number].block;
    uint64_t given = 0;

    if (block->table == NULL) {
        return WF_OK;
    }
    for (uint32_t i = 0; block->table[i].name != NULL; i++) {
        char name[96], key[128];

        (void)snprintf(name, sizeof(name), "%s.%.64s", block->scope, block->table[i].name);
        if (wf_scenario_find(plan->scenario, job_key(number, name, key, sizeof(key))) != NULL) {
            given |= UINT64_C(1) << i;
        }
    }
    char scope[64], words[32];
    (void)snprintf(words, sizeof(words), "%.16s.", block->scope);
    return wf_param_missing(block->table, given, job_key(number, words, scope, sizeof(scope)),
                            err);
}

static enum wf_status open_trace(const struct wf_plan *plan, uint32_t number,
                                 struct wf_plan_job *job, struct wf_err *err)
{
    const char *path = job->settings->source;
    char key[64];
    struct wf_trace trace;
    job->probe->ranks = (uint32_t)job->settings->ranks;
    enum wf_status status =
        wf_reader_open(job->reader, job->probe, job->block.values, &trace, err);

    if (status != WF_OK) {
        return status;
    }
    uint32_t n_ranks = trace.source != NULL ? trace.source->n_ranks : trace.graph->n_pes;
    if (job->settings->ranks != 0 && job->settings->ranks != n_ranks) {
        status = wf_err_set(
            err, WF_EINVAL,
            "'%.200s' is a trace of %u rank%s, which cannot be played on %llu; "
            "leave the number out, or, for more ranks, make a larger trace from "
            "several with 'weft extrapolate', or run the program itself: build it "
            "with weftcc and start it with 'weft run -n'",
            path, n_ranks, n_ranks == 1 ? "" : "s", (unsigned long long)job->settings->ranks);
        status = wf_setting_blame(
            wf_scenario_find(plan->scenario, job_key(number, "ranks", key, sizeof(key))),
            status, err);
    } else {
        job->source = trace.source;
        job->graph = trace.graph;
        trace.source = NULL;
        trace.graph = NULL;
    }
    wf_trace_close(&trace);
    return status;
}

/* Restricts a source to the region or iterations of interest. */
static enum wf_status select_parts(struct wf_plan *plan, uint32_t number, struct wf_err *err)
{
    struct wf_plan_job *job = &plan->jobs[number];
    const struct wf_scenario_job *settings = job->settings;
    struct wf_roi roi = {.region = settings->region,
                         .repeat = (uint32_t)settings->repeat_iteration};
    enum wf_status status = WF_OK;

    if (settings->iterations[0] != '\0') {
        status = blame(plan, number, "iterations",
                       wf_roi_parse_iterations(settings->iterations, &roi, err), err);
    } else if (settings->repeat_iteration > 1) {
        status = blame(plan, number, "repeat_iteration",
                       wf_err_set(err, WF_EUSAGE, "--iterations <number> is missing"), err);
    }
    if (status == WF_OK && (roi.has_iterations || settings->region[0] != '\0')) {
        status = wf_roi_new(job->source, &roi, &job->source, err);
    }
    return status;
}

/* Repeats the loops of a source, and changes its times and sizes. */
static enum wf_status change_source(struct wf_plan *plan, uint32_t number, struct wf_err *err)
{
    struct wf_plan_job *job = &plan->jobs[number];
    const struct wf_scenario_job *settings = job->settings;
    bool loops = settings->loops > 1, changes = settings->changes[0] != '\0';
    struct wf_changes rules;

    if ((loops || changes) && job->source->live != NULL) {
        return blame(plan, number, loops ? "loops" : "changes",
                     wf_err_set(err, WF_EUSAGE, "a program that runs cannot be changed"), err);
    }
    if (loops && (settings->region[0] != '\0' || settings->iterations[0] != '\0')) {
        return blame(plan, number, "loops",
                     wf_err_set(err, WF_EUSAGE, "does not go with a region or iterations"),
                     err);
    }
    if (loops) {
        job->source = wf_looped_new(job->source, (uint32_t)settings->loops);
    }
    if (changes) {
        WF_TRY(blame(plan, number, "changes", wf_changes_parse(settings->changes, &rules, err),
                     err));
        job->source = wf_changed_new(job->source, &rules);
    }
    return WF_OK;
}

static enum wf_status check_graph(struct wf_plan_job *job, struct wf_err *err)
{
    const struct wf_scenario_job *settings = job->settings;

    if (settings->region[0] != '\0' || settings->iterations[0] != '\0' ||
        settings->repeat_iteration > 1) {
        return wf_err_set(err, WF_EUSAGE,
                          "source '%.64s' has tasks instead of operations: it has no regions "
                          "and iterations",
                          settings->source);
    }
    if (settings->loops > 1 || settings->changes[0] != '\0') {
        return wf_err_set(
            err, WF_EUSAGE,
            "source '%.64s' has tasks instead of operations: loops and changes do "
            "not apply to it",
            settings->source);
    }
    if (settings->repeat > 1) {
        WF_TRY(wf_graph_repeat(job->graph, settings->repeat, &job->graph, err));
    }
    /* Reports missing tasks before a long run instead of after it. */
    return wf_graph_check(job->graph, err);
}

/* The cores of a node divided among its ranks; 0 if their number is not limited. */
static uint32_t cores_of_rank(const struct wf_plan *plan, const struct wf_plan_job *job)
{
    const struct wf_node_params *node = wf_plan_values(plan, "node");
    uint64_t ranks = job->settings->ranks_per_node > 0 ? job->settings->ranks_per_node : 1;

    if (node == NULL || node->cores == WF_PARAM_WORD) {
        return 0;
    }
    return node->cores > ranks ? (uint32_t)(node->cores / ranks) : 1;
}

static enum wf_status open_source(struct wf_plan *plan, uint32_t number, struct wf_err *err)
{
    struct wf_plan_job *job = &plan->jobs[number];
    uint32_t n = (uint32_t)job->settings->ranks;

    if (job->program) {
        const struct wf_cpu_params *cpu = wf_plan_values(plan, "cpu");
        const struct wf_program_run run = {.n_ranks = n,
                                           .threads = (uint32_t)plan->engine.threads,
                                           .cores = cores_of_rank(plan, job),
                                           .scale = cpu != NULL ? cpu->scale : 1,
                                           .seed = plan->core.seed};
        return wf_program_open(job->settings->source + strlen(WF_PROGRAM_PREFIX),
                               job->block.values, &run, &job->source, err);
    }
    if (job->extrapolated) {
        const struct wf_ext_options options = {.target = n};
        return wf_ext_open(job->settings->source + strlen(WF_EXT_PREFIX), &options,
                           &job->source, err);
    }
    if (job->graph_gen != NULL) {
        return job->graph_gen->create(job->block.values, n, &job->graph, err);
    }
    if (job->gen != NULL && job->gen->adapt != NULL) {
        const struct wf_cpu_params *cpu = wf_plan_values(plan, "cpu");
        const struct wf_source_machine machine = {
            .memory = cpu != NULL ? cpu->memory : 0,
            .counts = cpu != NULL && cpu->tflops16 > 0,
            .framework = cpu != NULL ? wf_cpu_framework_names[cpu->framework] : ""};
        job->gen->adapt(job->block.values, &machine);
    }
    return job->gen != NULL ? job->gen->create(job->block.values, n, &job->source, err)
                            : open_trace(plan, number, job, err);
}

/* A source that counts operations would be as fast on every machine that does not say how fast its devices are. */
static enum wf_status check_rate(const struct wf_plan *plan, uint32_t number,
                                 struct wf_err *err)
{
    const struct wf_plan_job *job = &plan->jobs[number];
    const struct wf_cpu_params *cpu = wf_plan_values(plan, "cpu");
    struct wf_source_work work;
    char key[64];

    if (plan->scenario->machine == NULL || cpu == NULL || cpu->tflops16 > 0 ||
        job->gen == NULL || job->source == NULL || !wf_source_work(job->source, &work) ||
        wf_scenario_find(plan->scenario, job_key(number, "gen.tflops", key, sizeof(key))) !=
            NULL) {
        return WF_OK;
    }
    return wf_err_set(
        err, WF_EUSAGE,
        "gen:%.40s: the machine %.100s does not say how fast its devices compute: set "
        "cpu.tflops16, the peak of one in 10^12 operations of 16 bits per second, or "
        "%s, what a rank reaches",
        job->gen->name, plan->scenario->machine, key);
}

static enum wf_status open_job(struct wf_plan *plan, uint32_t number, struct wf_err *err)
{
    struct wf_plan_job *job = &plan->jobs[number];

    WF_TRY(check_given(plan, number, err));
    WF_TRY(open_source(plan, number, err));
    WF_TRY(check_rate(plan, number, err));
    WF_TRY(job->graph != NULL ? check_graph(job, err) : select_parts(plan, number, err));
    WF_TRY(job->graph != NULL ? WF_OK : change_source(plan, number, err));
    job->fold = (struct wf_fold){.copies = 1};
    job->n_ranks = job->graph != NULL ? job->graph->n_pes : job->source->n_ranks;
    return WF_OK;
}

static enum wf_status check_together(const struct wf_plan *plan, struct wf_err *err)
{
    uint64_t ranks = 0;

    for (uint32_t i = 0; i < plan->n_jobs; i++) {
        ranks += plan->jobs[i].n_ranks;
        if ((plan->jobs[i].graph != NULL) != (plan->jobs[0].graph != NULL)) {
            return wf_err_set(err, WF_EINVAL,
                              "programs of tasks and of operations cannot run together: "
                              "'%.64s' and '%.64s'",
                              plan->jobs[0].settings->source, plan->jobs[i].settings->source);
        }
    }
    if (ranks > UINT64_C(4000000000)) {
        return wf_err_set(err, WF_ELIMIT, "all jobs together have more than 4000000000 ranks");
    }
    return WF_OK;
}

enum wf_status wf_plan_jobs_open(struct wf_plan *plan, struct wf_err *err)
{
    enum wf_status status = WF_OK;

    for (uint32_t i = 0; i < plan->n_jobs && status == WF_OK; i++) {
        status = open_job(plan, i, err);
        if (status != WF_OK && plan->n_jobs > 1 && err != NULL &&
            strncmp(err->text, "job.", 4) != 0) {
            wf_err_prefix(err, "job %u: ", i);
        }
    }
    return status == WF_OK ? check_together(plan, err) : status;
}

enum wf_status wf_plan_jobs_again(struct wf_plan *plan, struct wf_err *err)
{
    for (uint32_t i = 0; i < plan->n_jobs; i++) {
        struct wf_plan_job *job = &plan->jobs[i];
        if (job->program) {
            wf_source_free(job->source);
            job->source = NULL;
            WF_TRY(open_source(plan, i, err));
        }
    }
    return WF_OK;
}

void wf_plan_jobs_fini(struct wf_plan *plan)
{
    for (uint32_t i = 0; i < plan->n_jobs; i++) {
        struct wf_plan_job *job = &plan->jobs[i];

        wf_source_free(job->source);
        wf_graph_free(job->graph);
        if (job->probe != NULL) {
            wf_reader_probe_fini(job->probe);
            free(job->probe);
        }
        if (job->block.table != NULL) {
            wf_param_release(job->block.table, job->block.values);
            free(job->block.values);
        }
        if (i > 0 && job->settings != NULL) {
            wf_param_release(wf_scenario_job_params(), job->settings);
            free(job->settings);
        }
    }
    free(plan->jobs);
}

/* ---- descriptions for the document ---- */

static void describe_text(struct wf_value *section, const char *name, const char *text)
{
    if (text[0] != '\0') {
        wf_doc_text(section, name, text);
    } else {
        wf_doc_null(section, name);
    }
}

void wf_plan_job_describe(const struct wf_plan_job *job, struct wf_value *section)
{
    const struct wf_scenario_job *settings = job->settings;

    wf_doc_text(section, "source", settings->source);
    wf_doc_count(section, "ranks", (uint64_t)job->n_ranks * job->fold.copies);
    if (job->fold.copies > 1) {
        wf_doc_count(section, "simulated_ranks", job->n_ranks);
    }
    wf_doc_count(section, "ranks_per_node", settings->ranks_per_node);
    wf_doc_text(section, "placement", settings->placement);
    wf_doc_count(section, "start_ps", (uint64_t)settings->start);
    wf_doc_count(section, "repeat", settings->repeat);
    describe_text(section, "region", settings->region);
    describe_text(section, "iterations", settings->iterations);
    wf_doc_count(section, "repeat_iteration", settings->repeat_iteration);
    if (settings->loops > 1) {
        wf_doc_count(section, "loops", settings->loops);
    }
    if (settings->changes[0] != '\0') {
        wf_doc_text(section, "changes", settings->changes);
    }
}

void wf_plan_jobs_describe(const struct wf_plan *plan, struct wf_value *section)
{
    struct wf_value *list = wf_doc_list(section, "jobs");

    for (uint32_t i = 0; i < plan->n_jobs; i++) {
        struct wf_value *item = wf_doc_section(list, NULL);

        wf_plan_job_describe(&plan->jobs[i], item);
        if (plan->jobs[i].block.table != NULL) {
            (void)wf_plan_describe_values(&plan->jobs[i].block, item, "parameters");
        }
    }
}
