/* SPDX-License-Identifier: Apache-2.0 */
#include "base/extension.h"
#include "base/result/json.h"
#include "base/result/result.h"
#include "base/text.h"
#include "base/units.h"
#include "model/queue/nodes.h"
#include "model/queue/policy.h"
#include "ui/study/cluster.h"
#include "ui/study/plain_page.h"

#include <weft/weft.h>

#include <inttypes.h>
#include <stdlib.h>

#define SECOND 1e6

/* ---- text ---- */

void wf_cluster_text(const struct wf_cluster *cluster, FILE *out)
{
    const struct wf_workload *w = &cluster->workload;
    char text[WF_CLUSTER_NOTE_MAX];
    const char *note;

    wf_text_print(out, "%s (%s): %zu job%s, submitted within %s, on %" PRIu32 " nodes%s%s\n",
                  cluster->options->path, w->format, w->jobs.n, w->jobs.n == 1 ? "" : "s",
                  wf_human_span(w->jobs.items[w->jobs.n - 1].submit, text),
                  cluster->config.n_nodes, cluster->topo_spec != NULL ? " of " : "",
                  cluster->topo_spec != NULL ? cluster->topo_spec : "");
    (void)fprintf(out, "placement %s\n", cluster->config.place->name);
    for (size_t i = 0; (note = wf_cluster_note(cluster, i, text)) != NULL; i++) {
        (void)fprintf(out, "note: %s\n", note);
    }
    (void)fprintf(out, "\n%-22s", "");
    for (size_t r = 0; r < cluster->n_runs; r++) {
        (void)fprintf(out, " %13s", cluster->runs[r].policy->name);
    }
    for (size_t i = 0; i < WF_CLUSTER_FIGURES; i++) {
        if (!wf_cluster_has_figure(cluster, i)) {
            continue;
        }
        (void)fprintf(out, "\n%-22s", wf_cluster_figure_name(i));
        for (size_t r = 0; r < cluster->n_runs; r++) {
            (void)fprintf(out, " %13s", wf_cluster_figure(&cluster->runs[r], i, text));
        }
    }
    (void)fputc('\n', out);
}

/* ---- the document ---- */

static void add_scenario(const struct wf_cluster *cluster, struct wf_value *doc)
{
    const struct wf_cluster_options *options = cluster->options;
    const struct wf_workload *w = &cluster->workload;
    struct wf_value *s = wf_doc_section(doc, "scenario");

    wf_doc_text(s, "workload", options->path);
    wf_doc_text(s, "format", w->format);
    if (options->machine != NULL) {
        wf_doc_text(s, "machine", options->machine);
    }
    if (cluster->topo_spec != NULL) {
        wf_doc_text(s, "topology", cluster->topo_spec);
    }
    wf_doc_count(s, "nodes", cluster->config.n_nodes);
    wf_doc_count(s, "processors_per_node", w->per_node);
    wf_doc_text(s, "placement", cluster->config.place->name);
    wf_doc_count(s, "seed", options->seed);
    if (options->fail != NULL) {
        wf_doc_text(s, "fail", options->fail);
        wf_doc_measured(s, "checkpoint_seconds", (double)cluster->config.checkpoint / SECOND,
                        6);
        wf_doc_measured(s, "restart_seconds", (double)cluster->config.restart / SECOND, 6);
        wf_doc_count(s, "retries", options->retries);
    }
    wf_doc_count(s, "jobs", w->jobs.n);
    wf_doc_count(s, "jobs_not_run", w->n_not_run);
    wf_doc_count(s, "jobs_skipped", w->n_skipped);
    wf_doc_count(s, "jobs_without_request", w->n_unlimited);
    wf_doc_count(s, "jobs_cut", w->n_cut);
}

static void add_run(const struct wf_cluster *cluster, const struct wf_cluster_run *run,
                    struct wf_value *list)
{
    static const struct {
        const char *name;
        double scale;
    } members[WF_CLUSTER_FIGURES] = {
        {"utilisation_percent", 1},
        {"makespan_seconds", SECOND},
        {"wait_mean_seconds", SECOND},
        {"wait_p50_seconds", SECOND},
        {"wait_p95_seconds", SECOND},
        {"wait_max_seconds", SECOND},
        {"bounded_slowdown_mean", 1},
        {"bounded_slowdown_p50", 1},
        {"bounded_slowdown_p95", 1},
        {"groups_mean", 1},
        {"hops_mean", 1},
        {"lost_percent", 1},
        {"job_failures", 1},
        {"jobs_given_up", 1},
    };
    struct wf_value *section = wf_doc_section(list, NULL);

    wf_doc_text(section, "policy", run->policy->name);
    for (size_t i = 0; i < WF_CLUSTER_FIGURES; i++) {
        if (wf_cluster_has_figure(cluster, i)) {
            wf_doc_measured(section, members[i].name, run->figures[i] / members[i].scale, 6);
        }
    }
}

void wf_cluster_json(const struct wf_cluster *cluster, FILE *out)
{
    struct wf_value *doc = wf_result_new_as("weft-cluster-1", weft_version());

    add_scenario(cluster, doc);
    struct wf_value *list = wf_doc_list(wf_doc_section(doc, "result"), "policies");
    for (size_t r = 0; r < cluster->n_runs; r++) {
        add_run(cluster, &cluster->runs[r], list);
    }
    char *text = wf_doc_to_json(doc);
    (void)fprintf(out, "%s\n", text);
    free(text);
    wf_doc_free(doc);
}

/* ---- jobs ---- */

static void write_seconds(int64_t us, FILE *out)
{
    const int64_t million = 1000000;

    (void)fprintf(out, ",%" PRId64, us / million);
    if (us % million != 0) {
        (void)fprintf(out, ".%06" PRId64, us % million);
    }
}

void wf_cluster_csv(const struct wf_cluster *cluster, FILE *out)
{
    bool topo = cluster->config.topo != NULL, fails = cluster->config.failures != NULL;

    (void)fprintf(out, "policy,job,nodes,submit_s,requested_s,start_s,end_s,wait_s%s%s\n",
                  topo ? ",groups,hops" : "", fails ? ",failures,lost_s,given_up" : "");
    for (size_t r = 0; r < cluster->n_runs; r++) {
        for (size_t i = 0; i < cluster->workload.jobs.n; i++) {
            const struct wf_queue_job *job = &cluster->workload.jobs.items[i];
            const struct wf_queue_outcome *o = &cluster->runs[r].result.outcomes[i];

            (void)fprintf(out, "%s,", cluster->runs[r].policy->name);
            wf_text_csv(out, job->name);
            (void)fprintf(out, ",%" PRIu32, job->nodes);
            write_seconds(job->submit, out);
            write_seconds(job->requested, out);
            write_seconds(o->start, out);
            write_seconds(o->end, out);
            write_seconds(o->end - job->submit - o->ran, out);
            if (topo) {
                (void)fprintf(out, ",%" PRIu32 ",%.3f", o->groups, o->hops);
            }
            if (fails) {
                (void)fprintf(out, ",%" PRIu32, o->failures);
                write_seconds(o->lost, out);
                (void)fprintf(out, ",%d", o->given_up ? 1 : 0);
            }
            (void)fputc('\n', out);
        }
    }
}

/* ---- the page ---- */

static void write_table(const struct wf_cluster *cluster, FILE *out)
{
    char text[WF_CLUSTER_FIGURE_MAX];

    (void)fputs("<table><tr><th></th>", out);
    for (size_t r = 0; r < cluster->n_runs; r++) {
        (void)fprintf(out, "<th>%s</th>", cluster->runs[r].policy->name);
    }
    for (size_t i = 0; i < WF_CLUSTER_FIGURES; i++) {
        if (!wf_cluster_has_figure(cluster, i)) {
            continue;
        }
        (void)fprintf(out, "</tr>\n<tr><th>%s</th>", wf_cluster_figure_name(i));
        for (size_t r = 0; r < cluster->n_runs; r++) {
            (void)fprintf(out, "<td>%s</td>", wf_cluster_figure(&cluster->runs[r], i, text));
        }
    }
    (void)fputs("</tr></table>\n", out);
}

static void write_html(const struct wf_cluster *cluster, FILE *out)
{
    char text[WF_CLUSTER_NOTE_MAX];
    const char *note;

    wf_study_plain_begin("cluster", cluster->options->path, out);
    (void)fprintf(out, "<p>%zu jobs on %" PRIu32 " nodes, placement %s.</p>\n",
                  cluster->workload.jobs.n, cluster->config.n_nodes,
                  cluster->config.place->name);
    for (size_t i = 0; (note = wf_cluster_note(cluster, i, text)) != NULL; i++) {
        (void)fprintf(out, "<p>%s.</p>\n", note);
    }
    write_table(cluster, out);
    (void)fputs("<h2>Nodes over time</h2>\n", out);
    wf_cluster_gantt(cluster, out);
    wf_study_plain_end(out);
}

/* ---- files ---- */

static const struct wf_cluster_format formats[] = {
    {".txt", wf_cluster_text},  {".json", wf_cluster_json}, {".csv", wf_cluster_csv},
    {".svg", wf_cluster_gantt}, {".html", write_html},
};

enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

const char *wf_cluster_extension(size_t i)
{
    return i < FORMATS ? formats[i].extension : NULL;
}

enum wf_status wf_cluster_for_path(const char *path, const struct wf_cluster_format **out,
                                   struct wf_err *err)
{
    size_t i;

    WF_TRY(wf_extension_find(wf_cluster_extension, "output", path, &i, err));
    *out = &formats[i];
    return WF_OK;
}
