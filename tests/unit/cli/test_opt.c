/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/cli/opt.h"

#include "harness/wf_test.h"

#include <stdbool.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

struct run_opts {
    uint64_t threads;
    uint64_t memory_bytes;
    int64_t limit_ps;
    double scale;
    const char *output;
    int format;
    struct wf_opt_list params;
    struct wf_opt_list inputs;
    bool quiet, verbose, progress, help;
};

static const char *const formats[] = {"text", "json", "csv", NULL};

#define PARAM(opt_name, opt_type, opt_member, ...)             \
    .param = {.name = (opt_name),                              \
              .type = (opt_type),                              \
              .offset = offsetof(struct run_opts, opt_member), \
              __VA_ARGS__}

static const struct wf_opt table[] = {
    {PARAM("threads", WF_PARAM_COUNT, threads, .def = "4", .min = "1", .max = "64",
           .doc = "Threads that simulate"),
     .letter = 't', .arg = "<n>"},
    {PARAM("max-memory", WF_PARAM_SIZE, memory_bytes, .min = "1MiB",
           .doc = "Memory that the simulation may take before it is ended with a message that "
                  "says what took most of all")},
    {PARAM("time-limit", WF_PARAM_TIME, limit_ps, .def = "1h",
           .doc = "Wall time to stop after"),
     .letter = 'l'},
    {PARAM("scale", WF_PARAM_REAL, scale, .def = "1", .max = "10", .doc = "Factor on compute")},
    {PARAM("output", WF_PARAM_TEXT, output, .def = "-", .doc = "Where the result goes"),
     .letter = 'o', .arg = "<file-name>"},
    {PARAM("format", WF_PARAM_ENUM, format, .def = "json", .choices = formats,
           .doc = "Form of the result"),
     .letter = 'f'},
    {PARAM("param", WF_PARAM_TEXT, params, .doc = "Set a parameter"), .letter = 'p',
     .kind = WF_OPT_PAIRS},
    {PARAM("input", WF_PARAM_TEXT, inputs, .doc = "Read this too"), .kind = WF_OPT_LIST},
    {PARAM("quiet", WF_PARAM_BOOL, quiet, .doc = "Print no progress"), .letter = 'q'},
    {PARAM("verbose", WF_PARAM_BOOL, verbose, .doc = "Print more"), .letter = 'v'},
    {PARAM("progress", WF_PARAM_BOOL, progress, .def = "true", .doc = "Show progress")},
    WF_OPT_HELP(offsetof(struct run_opts, help)),
    WF_OPT_END,
};

enum { MAX_ARGS = 16 };

/* Splits `line` at spaces, in place, and parses it. */
static enum wf_status parse(char *line, struct run_opts *opts, struct wf_operands *operands,
                            struct wf_err *err)
{
    char *argv[MAX_ARGS];
    int argc = 0;

    for (char *word = strtok(line, " "); word != NULL; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    memset(opts, 0x5a, sizeof(*opts)); /* parsing must not rely on what was there */
    memset(operands, 0x5a, sizeof(*operands));
    return wf_opt_parse(table, argc, argv, opts, operands, err);
}

static void without_arguments_all_have_their_default(void)
{
    char line[] = "";
    struct run_opts o;
    struct wf_operands rest;
    CHECK(parse(line, &o, &rest, NULL) == WF_OK);
    CHECK_U64(o.threads, 4);
    CHECK_U64(o.memory_bytes, 0);
    CHECK_U64((uint64_t)o.limit_ps, 3600000000000000);
    CHECK(o.scale == 1.0);
    CHECK_STR(o.output, "-");
    CHECK(o.format == 1);
    CHECK(!o.quiet && !o.verbose && o.progress && !o.help);
    CHECK_U64(o.params.n, 0);
    CHECK_U64(o.inputs.n, 0);
    CHECK_U64(rest.args.n, 0);
    CHECK_U64(rest.given, 0);
    wf_opt_release(table, &o, &rest);
}

static void all_forms_mean_the_same(void)
{
    static const char *const lines[] = {
        "--threads 8 --output out --quiet --format csv in",
        "--threads=8 --output=out -q in --format=csv",
        "in -t 8 -o out -q -f csv",
        "-t8 -oout in -qfcsv",
        "-q -t8 -fcsv --output out -- in",
        "--threads 9 -t 8 -o other -oout --quiet=no --quiet=yes -f csv in",
    };

    for (size_t i = 0; i < LENGTH(lines); i++) {
        char line[128];
        struct run_opts o;
        struct wf_operands rest;
        (void)snprintf(line, sizeof(line), "%s", lines[i]);
        CHECK(parse(line, &o, &rest, NULL) == WF_OK);
        CHECK_U64(o.threads, 8);
        CHECK_STR(o.output, "out");
        CHECK(o.quiet && !o.verbose && o.format == 2);
        CHECK_U64(rest.args.n, 1);
        CHECK_STR(rest.args.items[0], "in");
        CHECK_U64(rest.given, 1 << 0 | 1 << 4 | 1 << 5 | 1 << 8);
        wf_opt_release(table, &o, &rest);
        CHECK(rest.args.items == NULL && rest.args.n == 0);
    }
}

static void values_with_units_and_odd_shapes(void)
{
    char line[] =
        "--max-memory 2GiB -l 90s --scale -2.5 -qv -o - --progress=off -h --output= -o=";
    struct run_opts o;
    struct wf_operands rest;
    CHECK(parse(line, &o, &rest, NULL) == WF_OK);
    CHECK_U64(o.memory_bytes, UINT64_C(2) << 30);
    CHECK_U64((uint64_t)o.limit_ps, 90000000000000);
    CHECK(o.scale == -2.5);
    CHECK(o.quiet && o.verbose && !o.progress && o.help);
    CHECK_STR(o.output, "=");
    wf_opt_release(table, &o, &rest);
}

static void operands_keep_their_order_and_dashes(void)
{
    char line[] = "a -q - b -- -t --param c --";
    static const char *const expected[] = {"a", "-", "b", "-t", "--param", "c", "--"};
    struct run_opts o;
    struct wf_operands rest;
    CHECK(parse(line, &o, &rest, NULL) == WF_OK);
    CHECK_U64(rest.args.n, LENGTH(expected));
    for (size_t i = 0; i < LENGTH(expected); i++) {
        CHECK_STR(rest.args.items[i], expected[i]);
    }
    CHECK(o.quiet);
    CHECK_U64(o.threads, 4);
    wf_opt_release(table, &o, &rest);
}

static void lists_collect_every_use(void)
{
    char line[] = "-p a=1 -pb=2 --param c= --param=d=e=f -p g=5 --input x --input=y=z";
    static const char *const expected[] = {"a=1", "b=2", "c=", "d=e=f", "g=5"};
    struct run_opts o;
    struct wf_operands rest;
    CHECK(parse(line, &o, &rest, NULL) == WF_OK);
    CHECK_U64(o.params.n, LENGTH(expected));
    for (size_t i = 0; i < LENGTH(expected); i++) {
        CHECK_STR(o.params.items[i], expected[i]);
    }
    CHECK_U64(o.inputs.n, 2);
    CHECK_STR(o.inputs.items[1], "y=z");
    CHECK_U64(rest.given, 1 << 6 | 1 << 7);
    wf_opt_release(table, &o, &rest);
    CHECK(o.params.items == NULL && o.params.n == 0 && o.inputs.n == 0);
}

static void misuse_is_refused_in_words(void)
{
    static const struct {
        const char *line, *words;
    } cases[] = {
        {"--thredas 4", "unknown option '--thredas'; did you mean '--threads'?"},
        {"--thredas=4", "unknown option '--thredas'; did you mean '--threads'?"},
        {"--thread 4", "unknown option '--thread'; did you mean '--threads'?"},
        {"--xyzzy", "unknown option '--xyzzy'"},
        {"--=4", "unknown option '--'"},
        {"-x", "unknown option '-x'"},
        {"-qx", "unknown option '-x'"},
        {"-scale 2", "unknown option '-s'; did you mean '--scale'?"},
        {"a b --threads", "option '--threads' needs an argument: <n>"},
        {"-t", "option '--threads' needs an argument: <n>"},
        {"-qf", "option '--format' needs an argument: text|json|csv"},
        {"-p", "option '--param' needs an argument: <name>=<value>"},
        {"--input", "option '--input' needs an argument: <text>"},
        {"-l", "option '--time-limit' needs an argument: <time>"},
        {"-t 65", "--threads: '65' is out of range; expected 1 to 64"},
        {"--threads=", "--threads: '' is not a count; expected a whole number such as 42"},
        {"--threads=two",
         "--threads: 'two' is not a count; expected a whole number such as 42"},
        {"-l 5",
         "--time-limit: '5' is not a time; expected a number and ps, ns, us, ms, s, min or h"},
        {"--max-memory 1", "--max-memory: '1' is too small; expected at least 1MiB"},
        {"--scale 11", "--scale: '11' is too large; expected at most 10"},
        {"-f jsn", "--format: 'jsn' is not one of text|json|csv; did you mean 'json'?"},
        {"--quiet=4", "--quiet: '4' is neither true nor false"},
        {"-p a=1 b -p latency", "--param: 'latency' is not of the form name=value"},
        {"--param =1us", "--param: '=1us' is not of the form name=value"},
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        char line[128];
        struct run_opts o;
        struct wf_operands rest;
        struct wf_err err = {.status = WF_OK};
        (void)snprintf(line, sizeof(line), "%s", cases[i].line);
        CHECK(parse(line, &o, &rest, &err) == WF_EUSAGE);
        CHECK(err.status == WF_EUSAGE);
        CHECK_STR(err.text, cases[i].words);
        CHECK(o.params.items == NULL && rest.args.items == NULL);
    }
}

static void help_is_the_table_in_80_columns(void)
{
    static const struct wf_opt_help help = {
        .synopsis = "weft run [-t <n>] [-p <name>=<value>]... [--time-limit <time>] "
                    "[--format <form>] <scenario>",
        .summary = "Predict how long a program takes on the machine that a scenario describes, "
                   "and where that time goes",
        .examples = {{"weft run stencil.yaml", "Predict with what the scenario says"},
                     {"weft run -p net.latency=2us stencil.yaml",
                      "The same, with more latency"}},
        .table = table,
    };
    static const char expected[] =
        "usage: weft run [-t <n>] [-p <name>=<value>]... [--time-limit <time>] [--format\n"
        "       <form>] <scenario>\n"
        "\n"
        "Predict how long a program takes on the machine that a scenario describes, and\n"
        "where that time goes\n"
        "\n"
        "Examples:\n"
        "  weft run stencil.yaml\n"
        "      Predict with what the scenario says\n"
        "  weft run -p net.latency=2us stencil.yaml\n"
        "      The same, with more latency\n"
        "\n"
        "Options:\n"
        "  -t, --threads <n>         Threads that simulate (1 to 64; default: 4)\n"
        "      --max-memory <size>   Memory that the simulation may take before it is\n"
        "                            ended with a message that says what took most of all\n"
        "                            (at least 1MiB)\n"
        "  -l, --time-limit <time>   Wall time to stop after (default: 1h)\n"
        "      --scale <number>      Factor on compute (at most 10; default: 1)\n"
        "  -o, --output <file-name>  Where the result goes (default: -)\n"
        "  -f, --format text|json|csv\n"
        "                            Form of the result (default: json)\n"
        "  -p, --param <name>=<value>\n"
        "                            Set a parameter (may be repeated)\n"
        "      --input <text>        Read this too (may be repeated)\n"
        "  -q, --quiet               Print no progress\n"
        "  -v, --verbose             Print more\n"
        "      --progress            Show progress (default: true)\n"
        "  -h, --help                Print this help and exit\n";
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    CHECK(out != NULL);
    wf_opt_print_help(&help, out);
    CHECK(fclose(out) == 0);
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
        CHECK(strcspn(line, "\n") <= 80);
    }
    CHECK_STR(text, expected);
    free(text);
}

int main(void)
{
    RUN(without_arguments_all_have_their_default);
    RUN(all_forms_mean_the_same);
    RUN(values_with_units_and_odd_shapes);
    RUN(operands_keep_their_order_and_dashes);
    RUN(lists_collect_every_use);
    RUN(misuse_is_refused_in_words);
    RUN(help_is_the_table_in_80_columns);
    return wf_test_done();
}
