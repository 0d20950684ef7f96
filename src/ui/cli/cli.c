/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/cli/cli.h"

#include "base/install.h"
#include "base/lookup.h"
#include "base/mem.h"
#include "base/result/json.h"
#include "base/result/result.h"
#include "base/text.h"
#include "run/execute/world.h"
#include "ui/cli/interrupt.h"
#include "ui/cli/progress.h"
#include "ui/cli/written.h"
#include "ui/plugin/plugin.h"
#include "weft_commit.h"

#include <weft/weft.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct wf_verb *const verb_table[] = {
#define WF_VERB(name) &wf_verb_##name,
#include "ui/cli/verbs.def"
    NULL,
};

const struct wf_verb *const *wf_cli_verbs(void)
{
    return verb_table;
}

const struct wf_verb *wf_verb_find(const char *name)
{
    return wf_lookup("command", name, verb_table, NULL);
}

static enum wf_status print_summary(struct wf_cli *cli)
{
    (void)fputs("weft predicts how MPI applications run on machines you do not have.\n"
                "\n"
                "  weft replay gen:stencil3d -n 4096          predict a 3D stencil\n"
                "  weft replay gen:stencil3d -n 64 -o a.html  make a page to look at\n"
                "  weft capture -o run -- mpirun -n 8 ./app   record a program, to replay it\n"
                "  weft run -n 1024 -- ./app                  run one built with weftcc\n"
                "  weft compare a.json b.json                 show what differs, and why\n"
                "  weft sweep study.yaml --plot study.svg     make many predictions\n"
                "\n"
                "  weft help; weft help net.loggp; weft replay --help   explain more\n",
                cli->out);
    return WF_OK;
}

static enum wf_status print_version(struct wf_cli *cli)
{
    const char *library = wf_world_library();
    bool has_mpi = strcmp(library, "none") != 0;

    (void)fprintf(cli->out, "weft %s (commit %s, MPI: %s%s)\n", weft_version(), WEFT_COMMIT,
                  has_mpi ? "yes, " : "no", has_mpi ? library : "");
    return WF_OK;
}

/* What a compiler needs to find <weft/mark.h> and the other headers, or those for plug-ins, too. */
static enum wf_status print_cflags(struct wf_cli *cli, bool for_plugins, struct wf_err *err)
{
    char *path = wf_install_include();
    char *inner = for_plugins ? wf_install_plugin_include() : NULL;

    bool found = path != NULL && (inner != NULL || !for_plugins);
    if (found) {
        (void)fprintf(cli->out, "-I%s%s%s\n", path, for_plugins ? " -I" : "",
                      for_plugins ? inner : "");
    }
    free(path);
    free(inner);
    return found ? WF_OK
                 : wf_err_set(err, WF_EIO,
                              "the headers of weft are not installed beside this program");
}

static enum wf_status unknown_verb(const char *name, struct wf_err *err)
{
    char hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    wf_nearest_begin(&nearest, name);
    for (const struct wf_verb *const *v = wf_cli_verbs(); *v != NULL; v++) {
        wf_nearest_add(&nearest, (*v)->name);
    }
    wf_nearest_add(&nearest, "--help");
    wf_nearest_add(&nearest, "--version");
    wf_nearest_add(&nearest, "--cflags");
    wf_nearest_add(&nearest, "--plugin");
    (void)wf_nearest_hint(&nearest, hint);
    return wf_err_set(err, WF_EUSAGE, "unknown %s '%.64s'%s",
                      name[0] == '-' ? "option" : "command", name,
                      hint[0] != '\0' ? hint : "; 'weft help' lists all commands");
}

static bool is_one_of(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

/* The first example in the verb's help that calls the verb itself. */
static const char *example_of(const struct wf_verb *verb)
{
    const struct wf_opt_example *examples = verb->help.examples;
    size_t length = strlen("weft ");

    return strncmp(examples[0].command + length, verb->name, strlen(verb->name)) == 0
               ? examples[0].command
               : examples[1].command;
}

static enum wf_status check_operands(const struct wf_verb *verb,
                                     const struct wf_operands *operands, struct wf_err *err)
{
    if (operands->args.n < verb->min_operands) {
        return wf_err_set(err, WF_EUSAGE, "%s: %s is missing; for example: %s", verb->name,
                          verb->operand, example_of(verb));
    }
    if (operands->args.n > verb->max_operands) {
        return wf_err_set(err, WF_EUSAGE, "%s: unexpected argument '%.64s'; for example: %s",
                          verb->name, operands->args.items[verb->max_operands],
                          example_of(verb));
    }
    return WF_OK;
}

static void print_help(const struct wf_verb *verb, const struct wf_opt_table *table, FILE *out)
{
    struct wf_opt_help help = verb->help;

    help.table = table->rows;
    wf_opt_print_help(&help, out);
    if (verb->more_help != NULL) {
        verb->more_help(out);
    }
}

/* The options of a verb and --help, whose flag follows the others in memory. */
static void add_options(struct wf_opt_table *table, const struct wf_verb *verb)
{
    const struct wf_opt help[] = {WF_OPT_HELP(verb->opts_size), WF_OPT_END};

    wf_opt_table_add(table, verb->help.table);
    wf_opt_table_add(table, help);
}

void wf_verb_print_help(const struct wf_verb *verb, FILE *out)
{
    struct wf_opt_table table = {.n = 0};

    add_options(&table, verb);
    print_help(verb, &table, out);
    wf_opt_table_fini(&table);
}

/* The options of a program are taken for those of the verb unless "--" stands before it. */
static void mention_separator(const struct wf_verb *verb, int argc, char *const *argv,
                              struct wf_err *err)
{
    char text[WF_ERR_TEXT_MAX];

    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0) {
            return;
        }
    }
    if (strstr(verb->help.synopsis, " -- ") != NULL) {
        (void)snprintf(text, sizeof(text), "%s", err->text);
        (void)wf_err_set(err, err->status, "%s; the program comes after '--': %s", text,
                         verb->help.synopsis);
    }
}

static enum wf_status run_verb(struct wf_cli *cli, const struct wf_verb *verb, int argc,
                               char *const *argv, struct wf_err *err)
{
    struct wf_opt_table table = {.n = 0};
    struct wf_operands operands;
    void *opts = wf_xcalloc(1, verb->opts_size + sizeof(bool));
    time_t began = time(NULL);

    enum wf_status status =
        verb->extend != NULL ? verb->extend(&table, argc, argv, err) : WF_OK;
    add_options(&table, verb);
    if (status == WF_OK) {
        status = wf_opt_parse(table.rows, argc, argv, opts, &operands, err);
        if (status == WF_EUSAGE) {
            mention_separator(verb, argc, argv, err);
        }
    }
    if (status == WF_OK) {
        if (wf_opt_help_given(&operands, opts)) {
            print_help(verb, &table, cli->out);
        } else {
            status = check_operands(verb, &operands, err);
            status = status == WF_OK ? verb->run(cli, opts, &operands, err) : status;
            wf_cli_tell_written(cli->err, table.rows, opts, began);
        }
        wf_opt_release(table.rows, opts, &operands);
    }
    wf_opt_table_fini(&table);
    free(opts);
    return status;
}

/* Loads what WEFT_PLUGINS and the options before the command name, and counts these words. */
static enum wf_status load_plugins(int argc, char **argv, int *n, struct wf_err *err)
{
    static const char option[] = "--plugin";
    size_t length = sizeof(option) - 1;

    WF_TRY(wf_plugin_load_list(getenv("WEFT_PLUGINS"), err));
    while (*n < argc && strncmp(argv[*n], option, length) == 0 &&
           (argv[*n][length] == '=' || argv[*n][length] == '\0')) {
        const char *path = argv[*n][length] == '=' ? argv[*n] + length + 1 : argv[++*n];
        if (*n >= argc) {
            return wf_err_set(err, WF_EUSAGE, "--plugin: the file is missing");
        }
        WF_TRY(wf_plugin_load(path, err));
        (*n)++;
    }
    return WF_OK;
}

static enum wf_status dispatch(struct wf_cli *cli, int argc, char **argv, struct wf_err *err)
{
    int n = 0;

    WF_TRY(load_plugins(argc, argv, &n, err));
    argc -= n;
    argv += n;
    if (argc == 0) {
        return print_summary(cli);
    }
    if (is_one_of(argv[0], "--version", "-V")) {
        return print_version(cli);
    }
    if (strcmp(argv[0], "--cflags") == 0 || strcmp(argv[0], "--plugin-cflags") == 0) {
        return print_cflags(cli, argv[0][2] == 'p', err);
    }

    const char *name = is_one_of(argv[0], "--help", "-h") ? "help" : argv[0];
    const struct wf_verb *verb = wf_verb_find(name);
    return verb != NULL ? run_verb(cli, verb, argc - 1, argv + 1, err)
                        : unknown_verb(name, err);
}

/* Checked before the options are parsed, because errors in options are reported in JSON as
 * well. */
bool wf_cli_wants_json(int argc, char **argv)
{
    static const char *const yes[] = {"--json",    "--json=true", "--json=yes",
                                      "--json=on", "--json=1",    NULL};

    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        for (const char *const *form = yes; *form != NULL; form++) {
            if (strcmp(argv[i], *form) == 0) {
                return true;
            }
        }
    }
    return false;
}

void wf_cli_answer(struct wf_cli *cli, struct wf_value *doc)
{
    char *text = wf_doc_to_json(doc);

    wf_interrupt_answer();
    (void)fprintf(cli->out, "%s\n", text);
    free(text);
    wf_doc_free(doc);
    cli->answered = true;
}

enum wf_status wf_cli_read_result(struct wf_cli *cli, const char *path, struct wf_value **out,
                                  struct wf_err *err)
{
    struct wf_progress_line line;

    wf_progress_init(&line, WF_PROGRESS_AUTO, cli->err);
    wf_progress_read_begin(&line, path);
    enum wf_status status = wf_result_read(path, out, err);
    wf_progress_read_end(&line);
    return status;
}

static int exit_code_of(enum wf_status status)
{
    return status == WF_EINTR ? wf_interrupt_exit_code() : wf_status_exit_code(status);
}

static void report_failure(struct wf_cli *cli, const struct wf_err *err, bool json)
{
    wf_interrupt_answer(); /* one message, whoever ends the process */
    (void)fprintf(cli->err, "weft: %s\n", err->text);
    if (json && !cli->answered) {
        wf_cli_answer(cli, wf_result_new_error(weft_version(), err, exit_code_of(err->status)));
    }
}

int wf_cli_main(struct wf_cli *cli, int argc, char **argv)
{
    struct wf_err err = {.status = WF_OK};
    enum wf_status status = dispatch(cli, argc, argv, &err);

    if (status != WF_OK) {
        wf_err_tame(&err);
        report_failure(cli, &err, wf_cli_wants_json(argc, argv));
    }
    if (fflush(cli->out) != 0 || ferror(cli->out) != 0) {
        if (errno != EPIPE) { /* a reader such as head has enough: nothing is wrong */
            (void)fprintf(cli->err, "weft: cannot write the result: %s\n", strerror(errno));
        }
        status = status == WF_OK ? WF_EIO : status;
    }
    return status == WF_OK && cli->differs ? 1 : exit_code_of(status);
}
