/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "run/import/codes.h"
#include "run/import/codes_text.h"
#include "run/machine/machine.h"
#include "ui/cli/cli.h"
#include "ui/cli/opt.h"
#include "ui/report/output.h"

#include <stdlib.h>
#include <string.h>

/* Every message contains the label. A long path is cut at its beginning, because its end says
 * more. */
enum { LABEL_MAX = 160 };

struct import_opts {
    bool force;
    const char *output;
};

static const struct wf_opt rows[] = {
    WF_OPT_ROW(struct import_opts, output, TEXT, "output", 'o', "<file>",
               .doc = "Write the machine file there instead of printing it"),
    WF_OPT_FORCE(struct import_opts),
    WF_OPT_END,
};

static void print_notes(struct wf_cli *cli, const struct wf_buf *notes)
{
    const char *at = (const char *)notes->data;

    for (size_t left = notes->size; left > 0;) {
        const char *end = memchr(at, '\n', left);
        size_t len = end != NULL ? (size_t)(end - at) + 1 : left;
        (void)fprintf(cli->err, "weft: %.*s", (int)len, at);
        at += len;
        left -= len;
    }
}

static enum wf_status write_machine(struct wf_cli *cli, const struct import_opts *opts,
                                    const struct wf_buf *machine, struct wf_err *err)
{
    struct wf_output *output = NULL;

    if (opts->output == NULL) {
        (void)fwrite(machine->data, 1, machine->size, cli->out);
        cli->answered = true;
        return WF_OK;
    }
    WF_TRY(wf_output_check(opts->output, opts->force, err));
    WF_TRY(wf_output_open(opts->output, opts->force, &output, err));
    (void)fwrite(machine->data, 1, machine->size, wf_output_stream(output));
    return wf_output_commit(output, err);
}

static enum wf_status import_run(struct wf_cli *cli, const void *opts,
                                 const struct wf_operands *operands, struct wf_err *err)
{
    const char *path = operands->args.items[0];
    struct wf_buf text = {.data = NULL};
    struct wf_codes_result result = {.machine = {.data = NULL}};
    size_t len = strlen(path);
    char *name = wf_codes_name(path);

    enum wf_status status = wf_file_read(path, (size_t)WF_CODES_BYTES_MAX + 1, &text, err);
    if (status == WF_OK) {
        struct wf_codes_source source = {
            .label = len > LABEL_MAX ? path + len - LABEL_MAX : path,
            .name = name,
            .text = (const char *)text.data,
            .size = text.size,
            .check = wf_machine_check,
        };
        status = wf_codes_import(&source, &result, err);
    }
    WF_THEN(status, write_machine(cli, opts, &result.machine, err));
    if (status == WF_OK) {
        print_notes(cli, &result.notes);
    }
    wf_buf_fini(&result.machine);
    wf_buf_fini(&result.notes);
    wf_buf_fini(&text);
    free(name);
    return status;
}

const struct wf_verb wf_verb_import_codes = {
    .name = "import-codes",
    .summary = "Turn a configuration of CODES or TraceR into a machine file",
    .help = {.synopsis = "weft import-codes [options] <file>",
             .summary = "Turn a network configuration of CODES or TraceR into a machine file; "
                        "keys without a counterpart are listed",
             .examples =
                 {
                     {"weft import-codes torus.conf -o torus.yaml",
                      "For weft replay --machine"},
                     {"weft import-codes dragonfly.conf", "Look at it first"},
                     {"weft import-codes torus.conf | head", "Only its beginning"},
                     {"weft import-codes torus.conf -o torus.yaml -f",
                      "Again, over the file that is there"},
                     {"weft replay gen:ring -n 8 --machine torus.conf",
                      "Use the configuration as it is"},
                 },
             .table = rows},
    .opts_size = sizeof(struct import_opts),
    .operand = "a configuration file",
    .min_operands = 1,
    .max_operands = 1,
    .run = import_run,
};
