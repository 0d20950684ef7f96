/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/cli/cli.h"
#include "ui/cli/opt.h"
#include "ui/report/writer.h"
#include "ui/study/page.h"

struct try_opts {
    bool force;
    const char *output;
};

static const struct wf_opt rows[] = {
    WF_OPT_ROW(struct try_opts, output, TEXT, "output", 'o', "<file>", .def = "weft-try.html",
               .doc = "The page to write"),
    WF_OPT_FORCE(struct try_opts),
    WF_OPT_END,
};

static enum wf_status try_run(struct wf_cli *cli, const void *opts_arg,
                              const struct wf_operands *operands, struct wf_err *err)
{
    const struct try_opts *opts = opts_arg;
    struct wf_value *doc = NULL, *extra = NULL;
    const struct wf_writer_ops *writer = NULL;

    WF_TRY(wf_writer_for_path(opts->output, &writer, err));
    if (writer != &wf_writer_html) {
        return wf_err_set(err, WF_EUSAGE, "--output: the page is HTML; its name ends in .html");
    }
    WF_TRY(wf_writer_check(writer, opts->output, opts->force, err));
    WF_TRY(wf_study_page_try(&doc, &extra, err));
    const struct wf_write_options options = {.extra = extra};
    enum wf_status status =
        wf_writer_save(writer, doc, &options, opts->output, opts->force, err);

    wf_doc_free(extra);
    wf_doc_free(doc);
    return status;
}

const struct wf_verb wf_verb_try = {
    .name = "try",
    .summary = "Write a page that simulates in a browser, to try weft without installing it",
    .help = {.synopsis = "weft try [-o <file>]",
             .summary = "Write a page with the whole simulator in it, one file: its reader "
                        "chooses a program or a trace and a machine, in any browser",
             .examples =
                 {
                     {"weft try", "Write weft-try.html"},
                     {"weft try -o try.html", "A page to open, or to send to somebody"},
                     {"weft try --help", "What it takes"},
                     {"weft try -o small.html -f", "Overwrite it"},
                     {"weft try -f", "Again, after an update of weft"},
                 },
             .table = rows},
    .opts_size = sizeof(struct try_opts),
    .run = try_run,
};
