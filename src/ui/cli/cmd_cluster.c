/* SPDX-License-Identifier: Apache-2.0 */
#include "run/execute/world.h"
#include "ui/cli/cli.h"
#include "ui/cli/opt.h"
#include "ui/report/output.h"
#include "ui/study/cluster.h"

struct cluster_opts {
    struct wf_cluster_options run;
    bool json, force;
    const char *output, *csv;
};

#define ROW(member, kind, ...) WF_OPT_ROW(struct cluster_opts, member, kind, __VA_ARGS__)

static const struct wf_opt rows[] = {
    ROW(run.machine, TEXT, "machine", 0, "<name|file>",
        .doc = "Nodes and topology of a machine: a name of 'weft machine list' or a file"),
    ROW(run.topo, TEXT, "topo", 0, "<spec>", .doc = "Topology; its nodes are the machine"),
    ROW(run.nodes, COUNT, "nodes", 'n', NULL, .def = "0", .max = "16777216",
        .doc = "Nodes of the machine, or the first ones of the topology; 0: all, or what the "
               "workload says"),
    ROW(run.policies, TEXT, "policy", 0, "<name,...>", .def = "easy",
        .doc = "Scheduling policies, which are compared"),
    ROW(run.placement, TEXT, "placement", 0, "<name>", .def = "contiguous",
        .doc = "Which free nodes a job gets"),
    ROW(run.per_node, COUNT, "per-node", 0, NULL, .def = "0", .max = "65536",
        .doc = "Processors of an SWF file that make a node; 0: what its header says, else 1"),
    ROW(run.skip, BOOL, "skip", 0, NULL,
        .doc = "Leave out jobs that lack a time or size, or do not fit, instead of failing"),
    ROW(run.fail, TEXT, "fail", 0, "<law>",
        .doc = "Nodes fail and end their jobs, which wait again, as in mtbf=5y,repair=4h; also "
               "law=weibull,shape=0.7 or times=<file>"),
    ROW(run.checkpoint, TEXT, "checkpoint", 0, "<time>",
        .doc =
            "Run time from one checkpoint of a job to the next; without it, jobs that failed "
            "begin again"),
    ROW(run.restart, TEXT, "restart", 0, "<time>",
        .doc = "Time that a job takes longer after a failure"),
    ROW(run.retries, COUNT, "retries", 0, NULL, .def = "100", .max = "1000000",
        .doc = "Failures after which a job may run again; after one more it is given up"),
    ROW(run.seed, COUNT, "seed", 0, NULL, .def = "1",
        .doc = "Seed of random placements, classes of jobs and failures"),
    ROW(csv, TEXT, "csv", 0, "<file>", .doc = "Write a table of all jobs"),
    WF_OPT_FILE_ROW(
        struct cluster_opts, output, "output", 'o', "<file>", wf_cluster_extension,
        "Write the result to a file instead; .csv has all jobs, .svg a Gantt chart:"),
    WF_OPT_FORCE(struct cluster_opts),
    ROW(json, BOOL, "json", 0, NULL, .doc = "Print the result as one JSON document"),
    WF_OPT_END,
};

static enum wf_status write_file(const struct wf_cluster *cluster, const char *path,
                                 const struct wf_cluster_format *format, bool force,
                                 struct wf_err *err)
{
    struct wf_output *output = NULL;

    WF_TRY(wf_output_open(path, force, &output, err));
    format->write(cluster, wf_output_stream(output));
    return wf_output_commit(output, err);
}

static enum wf_status deliver(struct wf_cli *cli, const struct cluster_opts *opts,
                              const struct wf_cluster_format *format,
                              const struct wf_cluster *cluster, struct wf_err *err)
{
    static const struct wf_cluster_format as_csv = {".csv", wf_cluster_csv};

    if (wf_world_is_first(cli->world)) {
        if (opts->csv != NULL) {
            WF_TRY(write_file(cluster, opts->csv, &as_csv, opts->force, err));
        }
        if (format != NULL) {
            WF_TRY(write_file(cluster, opts->output, format, opts->force, err));
        }
    }
    if (opts->json || format == NULL) {
        (opts->json ? wf_cluster_json : wf_cluster_text)(cluster, cli->out);
        cli->answered = true;
    }
    return WF_OK;
}

static enum wf_status cluster_run(struct wf_cli *cli, const void *opts_arg,
                                  const struct wf_operands *operands, struct wf_err *err)
{
    struct cluster_opts opts = *(const struct cluster_opts *)opts_arg;
    const struct wf_cluster_format *format = NULL;
    struct wf_cluster cluster;

    opts.run.path = operands->args.items[0];
    if (opts.output != NULL) {
        WF_TRY(wf_cluster_for_path(opts.output, &format, err));
        WF_TRY(wf_output_check(opts.output, opts.force, err));
    }
    if (opts.csv != NULL) {
        WF_TRY(wf_output_check(opts.csv, opts.force, err));
    }
    WF_TRY(wf_cluster_run(&opts.run, &cluster, err));
    enum wf_status status = deliver(cli, &opts, format, &cluster, err);
    status = wf_world_agree(cli->world, status, err);
    wf_cluster_fini(&cluster);
    return status;
}

const struct wf_verb wf_verb_cluster = {
    .name = "cluster",
    .summary = "Run a queue of jobs on a machine: waiting, utilisation, policies",
    .help = {.synopsis = "weft cluster <workload> [options]",
             .summary = "Run a queue of jobs on a machine, and compare scheduling policies: "
                        "utilisation, waiting times, slowdown, a Gantt chart",
             .examples =
                 {
                     {"weft cluster jobs.swf --policy fcfs,easy,conservative",
                      "Three policies side by side, on the machine that the file names"},
                     {"weft cluster jobs.txt --machine frontier --placement group -o jobs.html",
                      "The output of sacct -P on another machine, as a page"},
                     {"weft cluster jobs.swf --policy easy --fail exp:mtbf=5y --seed 7",
                      "With nodes that fail"},
                     {"weft cluster jobs.swf --nodes 8 --csv starts.csv",
                      "What more nodes would save, and when each job began"},
                     {"weft cluster jobs.swf --policy fcfs,easy -o queue.html",
                      "As a page with a chart of the nodes over time"},
                 },
             .table = rows},
    .opts_size = sizeof(struct cluster_opts),
    .operand = "a workload",
    .min_operands = 1,
    .max_operands = 1,
    .run = cluster_run,
    .more_help = wf_cluster_list,
};
