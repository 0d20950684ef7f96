/* SPDX-License-Identifier: Apache-2.0 */
#include "base/result/result.h"
#include "run/scenario/catalog.h"
#include "ui/cli/cli.h"
#include "ui/cli/opt.h"
#include "ui/report/explain.h"

static const struct wf_opt rows[] = {
    WF_OPT_END,
};

static enum wf_status explain_run(struct wf_cli *cli, const void *opts,
                                  const struct wf_operands *operands, struct wf_err *err)
{
    struct wf_value *doc = NULL;
    enum wf_status status = wf_cli_read_result(cli, operands->args.items[0], &doc, err);

    if (status == WF_OK) {
        const char *network = wf_doc_get_text(doc, "scenario.network", "");
        struct wf_catalog_entry model = {.limits = NULL};
        bool known = wf_catalog_find("net", network, &model);

        wf_explain(doc, known ? model.limits : NULL, cli->out);
        wf_doc_free(doc);
    }
    return status;
}

const struct wf_verb wf_verb_explain = {
    .name = "explain",
    .summary = "Explain what limits a run and what would make it faster",
    .help = {.synopsis = "weft explain <result.json>",
             .summary = "Explain in ten lines what limits a run and what would make it faster, "
                        "with numbers",
             .examples =
                 {
                     {"weft replay gen:stencil3d -n 64 --efficiency -o run.json",
                      "Make a result; --efficiency measures the share of the network"},
                     {"weft explain run.json", "What it means"},
                 },
             .table = rows},
    .operand = "a result document",
    .min_operands = 1,
    .max_operands = 1,
    .run = explain_run,
};
