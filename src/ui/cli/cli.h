/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The interface of the verbs. A verb is one file cmd_<name>.c with a const struct wf_verb,
 * listed in ui/cli/verbs.def. Options, operands and help are data; the program parses them, prints
 * the help and calls the verb with the values.
 */

#include "base/status.h"
#include "ui/cli/opt.h"

#include <stdbool.h>
#include <stdio.h>

struct wf_comm;
struct wf_value;

struct wf_cli {
    struct wf_comm *world; /* run/execute/world.h */
    FILE *out;             /* the result; discarded in processes other than the first */
    FILE *err;             /* everything else; likewise */
    bool answered;         /* the complete result was written to `out` */
    bool differs; /* a comparison found a difference: exit code 1 unless something fails */
};

struct wf_verb {
    const char *name;
    const char *summary; /* one line in 'weft help'; starts with a capital, no full stop */
    struct wf_opt_help help;
    size_t opts_size;    /* size of the struct that help.table describes; 0: it has no rows */
    const char *operand; /* "a result document", for the message if it is missing */
    size_t min_operands, max_operands; /* how many there may be */

    /* Runs the verb. `opts` points to the struct of the options. `err` describes a failure. */
    enum wf_status (*run)(struct wf_cli *cli, const void *opts,
                          const struct wf_operands *operands, struct wf_err *err);
    /* Adds options that depend on the arguments, before the others are parsed. May be null. */
    enum wf_status (*extend)(struct wf_opt_table *table, int argc, char *const *argv,
                             struct wf_err *err);
    /* Writes the part of the help after the options. May be null. */
    void (*more_help)(FILE *out);
};

#define WF_VERB(name) extern const struct wf_verb wf_verb_##name;
#include "ui/cli/verbs.def"

/* The verbs in the order of the help, null-terminated. */
const struct wf_verb *const *wf_cli_verbs(void);
const struct wf_verb *wf_verb_find(const char *name); /* null if unknown */

/* Writes what `weft <verb> --help` prints. */
void wf_verb_print_help(const struct wf_verb *verb, FILE *out);

/* Whether the arguments ask for a JSON document. */
bool wf_cli_wants_json(int argc, char **argv);

/* Prints the document as JSON, as the result of the verb, and frees it. */
void wf_cli_answer(struct wf_cli *cli, struct wf_value *doc);

/* Reads a result document; a terminal shows how far it is. The caller frees *out. */
enum wf_status wf_cli_read_result(struct wf_cli *cli, const char *path, struct wf_value **out,
                                  struct wf_err *err);

/* Parses `argv` (without the program's name), runs the verb, prints the error if it fails.
 * Returns the exit code. */
int wf_cli_main(struct wf_cli *cli, int argc, char **argv);
