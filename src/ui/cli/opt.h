/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Command-line options as data.
 *
 * A subcommand describes its options in one table of struct wf_opt over a plain struct. The
 * table alone drives parsing, checks, messages and help. Each row contains a parameter row
 * (base/param.h) with type, units, range, choices and default.
 *
 * Accepted are "--name value", "--name=value", "-n value" and "-nvalue". Flags take no value
 * ("--quiet", "-q", bundled "-qv") unless one is attached ("--quiet=no"). Options and operands
 * may be mixed; "--" ends the options, and "-" alone is an operand. Names cannot be
 * abbreviated, so that a new option cannot break an old script. If an option is repeated, the
 * last value counts, except for lists.
 */

#include "base/extension.h"
#include "base/param.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum wf_opt_kind {
    WF_OPT_VALUE, /* one value of the row's type; WF_PARAM_BOOL is a flag */
    WF_OPT_LIST,  /* struct wf_opt_list: every use adds a text */
    WF_OPT_PAIRS, /* likewise, and each text must be name=value */
};

/* Borrowed texts in an allocated array. */
struct wf_opt_list {
    const char **items;
    size_t n;
};

/* `param.name` is the long name without dashes. Unlike in parameters, a null `param.def` leaves
 * the member zero, and a WF_PARAM_TEXT member is a const char * that points into argv or to the
 * default. Lists take no type and no default. */
struct wf_opt {
    struct wf_param param;
    enum wf_opt_kind kind;
    char letter;     /* letter of the short form; 0 for none */
    const char *arg; /* placeholder in help ("<file>"); null: the syntax of the type */
    const char *key; /* the scenario setting that it sets (run/scenario/scenario.h); or null */
    /* With a key: a value that sets another key to true; or null. */
    const char *word, *word_key;
    wf_extension_at *formats; /* null, or formats that follow the text of the option in help */
};

/* A row for a member of struct `opts`. The further arguments initialise members of its
 * parameter: .doc, .def, .min, .max, .choices. */
#define WF_OPT_ROW(opts, member, kind_, name_, letter_, arg_, ...) \
    {                                                              \
        .param = {.name = (name_),                                 \
                  .type = WF_PARAM_##kind_,                        \
                  .offset = offsetof(opts, member),                \
                  __VA_ARGS__},                                    \
        .letter = (letter_), .arg = (arg_)                         \
    }

/* A row for the name of a file whose format its end chooses; `formats_` lists them. */
#define WF_OPT_FILE_ROW(opts, member, name_, letter_, arg_, formats_, doc_) \
    {                                                                       \
        .param = {.name = (name_),                                          \
                  .type = WF_PARAM_TEXT,                                    \
                  .offset = offsetof(opts, member),                         \
                  .doc = (doc_)},                                           \
        .letter = (letter_), .arg = (arg_), .formats = (formats_)           \
    }

/*
 * A row that only sets a key of the scenario. Type, range, default and help come from the
 * parameter that the key names, so that --threads and -p engine.threads cannot differ. It needs
 * no member of the options: struct wf_operands holds its value.
 */
#define WF_OPT_SETTING(name_, letter_, key_, arg_)                                    \
    {                                                                                 \
        .param = {.name = (name_)}, .letter = (letter_), .arg = (arg_), .key = (key_) \
    }

/* The last row of a table, which has at most WF_OPT_ROWS_MAX rows. */
#define WF_OPT_END               \
    {                            \
        .param = {.name = NULL } \
    }

/* The row for -h and --help, a bool at this offset of the options. Every verb has it: cli.c adds it. */
#define WF_OPT_HELP(offset_)                          \
    {                                                 \
        .param = {.name = "help",                     \
                  .type = WF_PARAM_BOOL,              \
                  .offset = (offset_),                \
                  .doc = "Print this help and exit"}, \
        .letter = 'h'                                 \
    }

/* The row for -f of a verb that writes the file that -o names; `opts` has a member `bool force`. */
#define WF_OPT_FORCE(opts) \
    WF_OPT_ROW(opts, force, BOOL, "force", 'f', NULL, .doc = "Overwrite that file if it exists")

enum { WF_OPT_ROWS_MAX = 64 };

/* The operands, and which options were given. */
struct wf_operands {
    struct wf_opt_list args; /* in order, null-terminated */
    const struct wf_opt *table;
    uint64_t given;                        /* bit i: row i was on the command line */
    const char *settings[WF_OPT_ROWS_MAX]; /* the values of rows with a key, as written */
};

/* A table that is composed of others; zeroed it is empty. */
struct wf_opt_table {
    struct wf_opt rows[WF_OPT_ROWS_MAX + 1]; /* ends with WF_OPT_END */
    size_t n;
    char *texts[2 * WF_OPT_ROWS_MAX]; /* owned texts that rows use */
    size_t n_texts;
};

/* Adds copies of all rows of a table. Rows with a key are completed from the parameter that the
 * key names, which must exist; their names and keys are copied. */
void wf_opt_table_add(struct wf_opt_table *table, const struct wf_opt *rows);
void wf_opt_table_fini(struct wf_opt_table *table);

/* Sets every member that `table` describes, from the `argc` arguments at `argv` (after the name
 * of the command) or to its default. All texts are borrowed from argv. On failure the status is
 * WF_EUSAGE and nothing is left to release. */
enum wf_status wf_opt_parse(const struct wf_opt *table, int argc, char *const *argv, void *opts,
                            struct wf_operands *operands, struct wf_err *err);

/* Whether the options have a row "help" and it is set. */
bool wf_opt_help_given(const struct wf_operands *operands, const void *opts);

/* Frees the lists, and sets them to empty. */
void wf_opt_release(const struct wf_opt *table, void *opts, struct wf_operands *operands);

struct wf_opt_example {
    const char *command;
    const char *doc;
};

/* The help of a subcommand. Texts are one line each; they are wrapped when printed. */
struct wf_opt_help {
    const char *synopsis; /* "weft run [options] <scenario>" */
    const char *summary;  /* one sentence that starts with a capital, no full stop */
    struct wf_opt_example examples[6];
    const struct wf_opt *table;
};

/* Writes the help in 80 columns. The caller checks `out` for errors. */
void wf_opt_print_help(const struct wf_opt_help *help, FILE *out);
