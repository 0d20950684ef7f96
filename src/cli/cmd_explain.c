/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"
#include "cli/opt.h"
#include "report/explain.h"
#include "result/result_file.h"
#include "sim/catalog.h"

struct explain_opts {
    bool help;
};

static const struct wf_opt rows[] = {
    WF_OPT_HELP(struct explain_opts),
    WF_OPT_END,
};

static void explain_help(FILE *out)
{
    const struct wf_opt_help help = {
        .synopsis = "weft explain <result.json>",
        .summary = "Say in ten lines what bounds a run and what would help, with the numbers "
                   "behind it",
        .examples =
            {
                {"weft replay gen:stencil3d -n 64 --efficiency -o run.json",
                 "A result; --efficiency tells the network's share"},
                {"weft explain run.json", "What it means"},
            },
        .table = rows,
    };

    wf_opt_print_help(&help, out);
}

static enum wf_status explain(struct wf_cli *cli, const struct wf_opt_list *args,
                              struct wf_err *err)
{
    struct wf_value *doc = NULL;

    if (args->n != 1) {
        return wf_err_set(err, WF_EUSAGE,
                          "explain: one result expected, and there are %zu; for example: weft "
                          "explain run.json",
                          args->n);
    }
    enum wf_status status = wf_result_read(args->items[0], &doc, err);
    if (status == WF_OK) {
        const char *network = wf_doc_get_text(doc, "scenario.network", "");
        struct wf_catalog_entry model = {.limits = NULL};
        bool known = wf_catalog_find("net", network, &model);

        wf_explain(doc, known ? model.limits : NULL, cli->out);
        wf_doc_free(doc);
    }
    return status;
}

static enum wf_status explain_run(struct wf_cli *cli, int argc, char **argv, struct wf_err *err)
{
    struct explain_opts opts;
    struct wf_operands operands;

    enum wf_status status = wf_opt_parse(rows, argc, argv, &opts, &operands, err);
    if (status != WF_OK) {
        return status;
    }
    if (opts.help) {
        explain_help(cli->out);
    } else {
        status = explain(cli, &operands.args, err);
    }
    wf_opt_release(rows, &opts, &operands);
    return status;
}

const struct wf_verb wf_verb_explain = {
    .name = "explain",
    .summary = "Say what bounds a run and what would help",
    .run = explain_run,
    .help = explain_help,
};
