/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "base/columns.h"
#include "base/units.h"
#include "ui/cli/measured.h"
#include "ui/draw/plot.h"
#include "ui/study/coll_facts.h"

#include <inttypes.h>
#include <string.h>

struct coll_opts {
    bool json, all, osu, force;
    uint64_t ranks, ranks_per_node, bytes, max_bytes, factor, root;
    const char *algorithm, *machine, *plot;
    struct wf_opt_list params, against;
    int rules;
};

static const struct wf_opt rows[] = {
    WF_OPT_ROW(struct coll_opts, ranks, COUNT, "ranks", 'n', NULL, .def = "8", .min = "1",
               .max = "1073741824", .doc = "Ranks of the communicator"),
    WF_OPT_ROW(struct coll_opts, ranks_per_node, COUNT, "ranks-per-node", 0, NULL, .def = "0",
               .max = "1073741824",
               .doc = "Ranks on each node, which the algorithms of GPUs go by; 0: 1, or what "
                      "the machine says"),
    WF_OPT_ROW(struct coll_opts, bytes, SIZE, "bytes", 'b', NULL, .def = "1KiB", .max = "1TiB",
               .doc = "Size of the data, or of one block if each rank has its own; for time, "
                      "the first size, counted as nccl-tests do"),
    WF_OPT_ROW(struct coll_opts, max_bytes, SIZE, "max-bytes", 'e', NULL, .def = "1GiB",
               .max = "1TiB", .doc = "time: the last size"),
    WF_OPT_ROW(struct coll_opts, factor, COUNT, "factor", 0, NULL, .def = "2", .min = "2",
               .max = "1024", .doc = "time: from one size to the next"),
    WF_OPT_ROW(struct coll_opts, machine, TEXT, "machine", 0, "<name|file>",
               .doc = "time: a name of 'weft machine list' or a machine file"),
    WF_OPT_SETTING("net", 0, "network", "<model>"),
    WF_OPT_ROW(struct coll_opts, osu, BOOL, "osu", 0, NULL,
               .doc = "time: print as the OSU micro-benchmarks do"),
    {.param = {.name = "against",
               .offset = offsetof(struct coll_opts, against),
               .doc =
                   "time: compare with what a benchmark printed, row by row: nccl-tests, OSU, "
                   "IMB or NetPIPE"},
     .kind = WF_OPT_LIST,
     .arg = "<log>"},
    WF_OPT_FILE_ROW(struct coll_opts, plot, "plot", 0, "<file>", wf_draw_plot_extension,
                    "--against: draw measured and predicted times"),
    WF_OPT_FORCE(struct coll_opts),
    {.param = {.name = "param",
               .offset = offsetof(struct coll_opts, params),
               .doc = "time: set a parameter; 'weft help' lists all"},
     .kind = WF_OPT_PAIRS,
     .letter = 'p'},
    WF_OPT_ROW(struct coll_opts, root, COUNT, "root", 0, NULL, .def = "0",
               .doc = "Root, for collectives that have one"),
    WF_OPT_ROW(struct coll_opts, algorithm, TEXT, "algorithm", 'a', "<name>",
               .doc = "Algorithm to show instead of the one that the rules choose"),
    WF_OPT_ROW(struct coll_opts, rules, ENUM, "rules", 0, NULL, .def = "mpich",
               .choices = wf_coll_rules_names, .doc = "Whose rules choose the algorithm"),
    WF_OPT_ROW(struct coll_opts, all, BOOL, "all", 0, NULL,
               .doc = "Print all messages, even if there are many"),
    WF_OPT_ROW(struct coll_opts, json, BOOL, "json", 0, NULL,
               .doc = "Print everything as one JSON document"),
    WF_OPT_END,
};

static enum wf_status list(struct wf_cli *cli, enum wf_coll_kind only,
                           const struct coll_opts *opts, struct wf_err *err)
{
    enum wf_coll_kind last = WF_COLL_KINDS;

    if (opts->json) {
        wf_cli_answer(cli, wf_study_coll_list(only));
        return WF_OK;
    }
    for (const struct wf_coll_ops *const *ops = wf_coll_table(); *ops != NULL; ops++) {
        enum wf_coll_kind kind = (*ops)->kind;

        if (only != WF_COLL_KINDS && kind != only) {
            continue;
        }
        if (kind != last) {
            (void)fprintf(cli->out, "%s%s\n", last != WF_COLL_KINDS ? "\n" : "",
                          wf_coll_name(kind));
            last = kind;
        }
        wf_columns_row(cli->out, (*ops)->name, (*ops)->summary);
    }
    (void)fputs(
        "\n-p mpi.<collective>=<algorithm> chooses one for a replay; with 'auto' the rules\n"
        "of -p mpi.rules=mpich|openmpi|nccl choose. Every collective also has 'ideal'\n"
        "and 'hardware', which are formulas without messages; those that NCCL has also\n"
        "have its formula, 'nccl'.\n",
        cli->out);
    return WF_OK;
}

static uint32_t per_node(const struct coll_opts *opts)
{
    return opts->ranks_per_node > 0 ? (uint32_t)opts->ranks_per_node : 1;
}

static enum wf_status show(struct wf_cli *cli, enum wf_coll_kind kind,
                           const struct coll_opts *opts, struct wf_err *err)
{
    const struct wf_coll_args args = {
        .kind = kind,
        .size = (uint32_t)opts->ranks,
        .root = wf_coll_has_root(kind) ? (uint32_t)opts->root : 0,
        .bytes = kind == WF_COLL_BARRIER ? 0 : opts->bytes,
        .node_size = per_node(opts),
    };
    const struct wf_coll_ops *ops = NULL;
    struct wf_study_messages messages;
    char size[WF_UNITS_TEXT_MAX];

    if (opts->ranks > WF_STUDY_MESSAGES_RANKS) {
        return wf_err_set(err, WF_EUSAGE, "--ranks: messages of at most %d ranks can be shown",
                          WF_STUDY_MESSAGES_RANKS);
    }
    if (opts->ranks % per_node(opts) != 0) {
        return wf_err_set(err, WF_EUSAGE,
                          "--ranks-per-node: %" PRIu64 " ranks do not fill nodes of %" PRIu32,
                          opts->ranks, per_node(opts));
    }
    if (opts->root >= opts->ranks) {
        return wf_err_set(err, WF_EUSAGE, "--root: there are only ranks 0 to %" PRIu64,
                          opts->ranks - 1);
    }
    WF_TRY(wf_study_coll_choose((enum wf_coll_rules)opts->rules, opts->algorithm, &args, &ops,
                                err));
    wf_study_messages_init(&messages, ops, &args);
    if (opts->json) {
        wf_cli_answer(cli, wf_study_coll_document(ops, &args, &messages));
    } else {
        (void)fprintf(cli->out, "%s by %s, %" PRIu32 " ranks, %s\n", wf_coll_name(kind),
                      ops->name, args.size, wf_human_size(args.bytes, size));
        wf_columns_text(cli->out, 0, ops->summary);
        wf_study_coll_print(&messages, opts->all, cli->out);
    }
    wf_study_messages_fini(&messages);
    return WF_OK;
}

static enum wf_status show_rules(struct wf_cli *cli, enum wf_coll_kind kind,
                                 const struct coll_opts *opts, struct wf_err *err)
{
    if (opts->json) {
        wf_cli_answer(cli, wf_study_coll_rules(kind, (uint32_t)opts->ranks));
    } else {
        wf_study_coll_rules_print(kind, (uint32_t)opts->ranks, cli->out);
    }
    return WF_OK;
}

/* ---- times ---- */

/* The sizes to simulate, as a curve without measurements. */
static void list_sizes(enum wf_coll_kind kind, const struct coll_opts *opts,
                       struct wf_measured_log *log)
{
    struct wf_measured_curve curve = {.what = WF_MEASURED_COLLECTIVE,
                                      .kind = kind,
                                      .tool = opts->osu ? "OSU" : "nccl-tests",
                                      .ranks = (uint32_t)opts->ranks};
    bool whole = kind == WF_COLL_ALLREDUCE || kind == WF_COLL_BCAST || kind == WF_COLL_REDUCE;

    (void)snprintf(curve.name, sizeof(curve.name), "%s", wf_coll_name(kind));
    for (uint64_t bytes = opts->bytes > 0 ? opts->bytes : 1; bytes <= opts->max_bytes;
         bytes *= opts->factor) {
        uint64_t of_rank = whole || opts->osu ? bytes : bytes / opts->ranks;

        if (of_rank > 0) {
            WF_PUSH(curve.rows, curve.n, curve.capacity,
                    (struct wf_measured_row){.bytes = of_rank, .printed = bytes});
        }
    }
    WF_PUSH(log->curves, log->n, log->capacity, curve);
}

static enum wf_status check_time(enum wf_coll_kind kind, const struct coll_opts *opts,
                                 struct wf_err *err)
{
    if (opts->machine == NULL && opts->params.n == 0) {
        return wf_err_set(err, WF_EUSAGE,
                          "coll time: a machine is missing; for example: weft coll time "
                          "allreduce -n 16 --machine h100-rail");
    }
    if (kind == WF_COLL_BARRIER || kind >= WF_COLL_NEIGHBOR_ALLGATHER) {
        return wf_err_set(err, WF_EUSAGE, "coll time: %s has no size to vary",
                          wf_coll_name(kind));
    }
    if (opts->plot != NULL && opts->against.n == 0) {
        return wf_err_set(err, WF_EUSAGE, "--plot: needs --against, a measured log");
    }
    return WF_OK;
}

static enum wf_status time_of(struct wf_cli *cli, enum wf_coll_kind named,
                              const struct coll_opts *opts, const struct wf_operands *operands,
                              struct wf_err *err)
{
    enum wf_coll_kind kind = named < WF_COLL_KINDS ? named : WF_COLL_ALLREDUCE;
    bool given = (operands->given & 1) != 0; /* the first row: --ranks */
    bool compares = opts->against.n > 0;
    struct wf_measured_log log = {.n = 0};
    const struct wf_cli_measured_opts measured = {
        .machine = opts->machine,
        .plot = opts->plot,
        .params = opts->params,
        .logs = opts->against,
        .ranks = given || !compares ? (uint32_t)opts->ranks : 0,
        .ranks_per_node = (uint32_t)opts->ranks_per_node,
        .json = opts->json,
        .force = opts->force,
        .print = compares    ? NULL
                 : opts->osu ? wf_measured_print_osu
                             : wf_measured_print_nccl,
    };

    WF_TRY(check_time(kind, opts, err));
    if (!compares) {
        list_sizes(kind, opts, &log);
    }
    return wf_cli_measured_run(cli, &measured, operands, &log, err);
}

static const struct {
    const char *name;
    bool needs_kind;
    enum wf_status (*run)(struct wf_cli *cli, enum wf_coll_kind kind,
                          const struct coll_opts *opts, struct wf_err *err);
} actions[] = {
    {"list", false, list},
    {"show", true, show},
    {"rules", true, show_rules},
};

static enum wf_status coll_run(struct wf_cli *cli, const void *opts_arg,
                               const struct wf_operands *operands, struct wf_err *err)
{
    const struct coll_opts *opts = opts_arg;
    const struct wf_opt_list *words = &operands->args;
    enum wf_coll_kind kind = WF_COLL_KINDS;
    enum wf_status status = WF_OK;

    if (words->n > 2) {
        return wf_err_set(err, WF_EUSAGE, "coll: unexpected argument '%.64s'", words->items[2]);
    }
    if (words->n == 2) {
        status = wf_study_coll_kind(words->items[1], &kind, err);
    }
    if (words->n == 0 ? opts->machine != NULL : strcmp(words->items[0], "time") == 0) {
        return status == WF_OK ? time_of(cli, kind, opts, operands, err) : status;
    }
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        if (words->n == 0 || strcmp(words->items[0], actions[i].name) != 0) {
            continue;
        }
        if (actions[i].needs_kind && words->n == 1) {
            return wf_err_set(
                err, WF_EUSAGE,
                "coll %s: a collective is missing; for example: weft coll %s allreduce",
                actions[i].name, actions[i].name);
        }
        return status == WF_OK ? actions[i].run(cli, kind, opts, err) : status;
    }
    return wf_err_set(
        err, WF_EUSAGE,
        "coll: expected list, show <kind>, rules <kind> or time [<kind>]%s%.64s%s",
        words->n > 0 ? ", not '" : "", words->n > 0 ? words->items[0] : "",
        words->n > 0 ? "'" : "");
}

const struct wf_verb wf_verb_coll = {
    .name = "coll",
    .summary = "List the algorithms of collectives, show their messages, simulate their times",
    .help =
        {.synopsis =
             "weft coll (list [<kind>] | show <kind> | rules <kind> | time [<kind>]) [options]",
         .summary = "List the algorithms of collectives, show their messages, show which "
                    "algorithm MPI libraries choose, or simulate their times by size",
         .examples =
             {
                 {"weft coll show allreduce -n 8 --bytes 64KiB -a ring",
                  "Every message of an allreduce, round by round"},
                 {"weft coll rules allreduce -n 64",
                  "The algorithms of MPICH, Open MPI and NCCL by size"},
                 {"weft coll time allreduce -n 16 --machine h100-rail",
                  "Times and bandwidths as nccl-tests print them"},
                 {"weft coll time --machine h100-rail --against nccl.log --plot coll.svg",
                  "Against what was measured, with the error of each row"},
                 {"weft coll time alltoall -n 16 --machine infiniband-hdr --osu",
                  "As the OSU micro-benchmarks print it"},
             },
         .table = rows},
    .opts_size = sizeof(struct coll_opts),
    .max_operands = SIZE_MAX,
    .run = coll_run,
};
