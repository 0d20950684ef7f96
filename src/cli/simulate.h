/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_CLI_SIMULATE_H
#define WF_CLI_SIMULATE_H

/*
 * What the verbs that simulate have in common: options, the run, the result.
 *
 * An option that sets something of the scenario is a shortcut for a key; type, range, default
 * and sentence come from the parameter behind the key, so that --threads and
 * -p engine.threads cannot differ.
 */

#include "cli/cli.h"
#include "cli/opt.h"

struct wf_scenario;

struct wf_shortcut {
    const char *option; /* long name without dashes */
    char letter;        /* or 0 */
    const char *key;    /* of sim/scenario.h */
    const char *arg;    /* placeholder in help; null is the syntax of the type */
};

enum { WF_SIMULATE_ROWS_MAX = 48 };

struct wf_simulate_opts {
    bool help, json, quiet, verbose, force, dry_run;
    int progress;
    const char *output;
    const char *compute;     /* of the verbs that run programs, as the next ones */
    const char *trace;       /* the trace to write */
    uint64_t parts;          /* of it; 0: one file */
    bool silent;             /* no result is printed unless it is asked for */
    const char *machine;     /* of verbs that have a row for it, as the next ones */
    struct wf_opt_list jobs; /* of a replay: other programs */
    bool record;             /* likewise: for looking at, ... */
    uint64_t record_limit;   /* ...with so many single spans and messages... */
    const char *record_ranks, *record_time; /* ...of these ranks and this time... */
    uint64_t path_memory;          /* ...and so many bytes to find the critical path by */
    bool what_if;                  /* likewise: runs it again with changes */
    const char *load, *csv, *plot; /* of traffic, as the next one */
    uint64_t side_by_side;
    struct wf_opt_list params;
    const char *settings[WF_SIMULATE_ROWS_MAX]; /* the values of shortcuts, as written... */
    bool flags[WF_SIMULATE_ROWS_MAX];           /* ...or, of those that are flags, set */
};

/* An option table that was put together; release with wf_simulate_table_fini(). */
struct wf_simulate_table {
    struct wf_opt rows[WF_SIMULATE_ROWS_MAX + 1];
    char *keys[WF_SIMULATE_ROWS_MAX]; /* of each row; null if it is no shortcut */
    char *texts[2 * WF_SIMULATE_ROWS_MAX];
    size_t n, n_texts;
};

void wf_simulate_table_init(struct wf_simulate_table *table);
/* Adds a row; the key must exist. */
void wf_simulate_table_add(struct wf_simulate_table *table, const struct wf_shortcut *shortcut);
/* Adds a row that is no shortcut, over struct wf_simulate_opts. */
void wf_simulate_table_add_row(struct wf_simulate_table *table, const struct wf_opt *row);
/* Adds --record, and how. */
void wf_simulate_table_add_recording(struct wf_simulate_table *table);
/* Adds the rows that all such verbs have; call it last. */
void wf_simulate_table_end(struct wf_simulate_table *table);
void wf_simulate_table_fini(struct wf_simulate_table *table);

/* Hands the settings of the machine, if there is one, to the scenario, then the options that
 * were given, then the further jobs, then what -p says. */
WF_NODISCARD
enum wf_status wf_simulate_apply(const struct wf_simulate_table *table,
                                 const struct wf_simulate_opts *opts, uint64_t given,
                                 struct wf_scenario *scenario, struct wf_err *err);

/* A verb that simulates: its options, its help and what it does with what was given. */
struct wf_simulate_verb {
    void (*make_table)(struct wf_simulate_table *table);
    void (*print_help)(const struct wf_simulate_table *table, FILE *out);
    enum wf_status (*run)(struct wf_cli *cli, const struct wf_simulate_table *table,
                          const struct wf_simulate_opts *opts,
                          const struct wf_operands *operands, struct wf_err *err);
};

/* As struct wf_verb has them. */
WF_NODISCARD
enum wf_status wf_simulate_verb_run(const struct wf_simulate_verb *verb, struct wf_cli *cli,
                                    int argc, char **argv, struct wf_err *err);
void wf_simulate_verb_help(const struct wf_simulate_verb *verb, FILE *out);

/* Runs the scenario and gives the result to whom it may concern. */
WF_NODISCARD
enum wf_status wf_simulate(struct wf_cli *cli, const struct wf_simulate_opts *opts,
                           const struct wf_scenario *scenario, struct wf_err *err);

#endif
