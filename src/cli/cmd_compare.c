/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"
#include "cli/opt.h"
#include "report/compare.h"
#include "result/result_file.h"

#include <stdint.h>

enum { LINES_MAX = 12 };

struct compare_opts {
    bool help, verbose;
};

static const struct wf_opt rows[] = {
    {.param = {.name = "verbose",
               .type = WF_PARAM_BOOL,
               .offset = offsetof(struct compare_opts, verbose),
               .doc = "List every difference"},
     .letter = 'v'},
    WF_OPT_HELP(struct compare_opts),
    WF_OPT_END,
};

static void compare_help(FILE *out)
{
    const struct wf_opt_help help = {
        .synopsis = "weft compare <result.json> <result.json> ...",
        .summary = "Say what differs between results, in what was asked and in what came out; "
                   "the exit code is 1 if anything does",
        .examples =
            {
                {"weft compare slow.json fast.json", "How much faster, and why"},
                {"weft compare base.json a.json b.json -v", "Each with the first, everything"},
            },
        .table = rows,
    };

    wf_opt_print_help(&help, out);
}

static enum wf_status compare(struct wf_cli *cli, const struct compare_opts *opts,
                              const struct wf_opt_list *args, struct wf_err *err)
{
    struct wf_value *base = NULL;

    if (args->n < 2) {
        return wf_err_set(err, WF_EUSAGE,
                          "compare: two results or more expected; for example: weft compare "
                          "a.json b.json");
    }
    enum wf_status status = wf_result_read(args->items[0], &base, err);
    for (size_t i = 1; i < args->n && status == WF_OK; i++) {
        struct wf_value *doc = NULL;
        status = wf_result_read(args->items[i], &doc, err);
        if (status == WF_OK) {
            const struct wf_compared a = {base, args->items[0]}, b = {doc, args->items[i]};
            cli->differs |= wf_compare(&a, &b, opts->verbose ? SIZE_MAX : LINES_MAX, cli->out);
            wf_doc_free(doc);
        }
    }
    wf_doc_free(base);
    return status;
}

static enum wf_status compare_run(struct wf_cli *cli, int argc, char **argv, struct wf_err *err)
{
    struct compare_opts opts;
    struct wf_operands operands;

    enum wf_status status = wf_opt_parse(rows, argc, argv, &opts, &operands, err);
    if (status != WF_OK) {
        return status;
    }
    if (opts.help) {
        compare_help(cli->out);
    } else {
        status = compare(cli, &opts, &operands.args, err);
    }
    wf_opt_release(rows, &opts, &operands);
    return status;
}

const struct wf_verb wf_verb_compare = {
    .name = "compare",
    .summary = "Say what differs between results",
    .run = compare_run,
    .help = compare_help,
};
