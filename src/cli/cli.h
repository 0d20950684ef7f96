/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_CLI_CLI_H
#define WF_CLI_CLI_H

/*
 * What the verbs share. A verb is one file cmd_<name>.c with a const struct wf_verb, listed
 * in cli/verbs.def.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stdio.h>

struct wf_comm;

struct wf_cli {
    struct wf_comm *world; /* sim/world.h */
    FILE *out;             /* the result; leads nowhere in processes other than the first */
    FILE *err;             /* everything else; likewise */
    bool answered;         /* the result, whole, is on `out` */
    bool differs; /* a comparison found a difference: exit code 1, if all else is well */
};

struct wf_verb {
    const char *name;
    const char *summary; /* starts with a capital, no full stop */

    /* `argv` are the `argc` arguments after the verb. Words of a failure go to `err`. */
    enum wf_status (*run)(struct wf_cli *cli, int argc, char **argv, struct wf_err *err);
    /* Writes what `weft <verb> --help` says. */
    void (*help)(FILE *out);
};

#define WF_VERB(name) extern const struct wf_verb wf_verb_##name;
#include "cli/verbs.def"

/* The verbs in the order of help, null-terminated. */
const struct wf_verb *const *wf_verb_table(void);
const struct wf_verb *wf_verb_find(const char *name); /* null if unknown */

/* The whole program but the world: parses `argv` (without the program's name), runs the verb,
 * words the failure. Returns the exit code. */
int wf_cli_main(struct wf_cli *cli, int argc, char **argv);

#endif
