/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The model of a program: statements with guards, peers, sizes and times as functions of the rank
 * and the number of ranks. It plays the program at any number of ranks that fits its grid.
 */

#include "base/map.h"
#include "program/extrapolate/comms.h"
#include "program/extrapolate/guard.h"
#include "program/extrapolate/law.h"
#include "program/extrapolate/merge.h"
#include "program/extrapolate/series.h"

/* How the parameter of a peer changes from round to round. */
struct wf_ext_progress {
    bool varies;
    uint8_t which; /* parameter of the symbol */
    uint8_t how;   /* 0: plus step, 1: doubled, 2: halved */
    int32_t step;
};

/* An integer that is a function of the number of ranks, plus multiples of one or two things that
 * differ between ranks or rounds, or plus a series over the turns. */
enum wf_ext_factor {
    WF_EXT_FACTOR_NONE,
    WF_EXT_FACTOR_COORD, /* and the dimension */
    WF_EXT_FACTOR_PEER = WF_EXT_FACTOR_COORD + WF_EXT_DIMS + 1,
    WF_EXT_FACTOR_ROUND,
    WF_EXT_FACTOR_TURN, /* how often the rank has executed the statement before */
    WF_EXT_FACTORS,
};

enum { WF_EXT_INTEGER_FACTORS = 2 };

struct wf_ext_integer {
    struct wf_ext_law law;
    uint8_t factor[WF_EXT_INTEGER_FACTORS]; /* enum wf_ext_factor, and the dimension */
    int64_t times[WF_EXT_INTEGER_FACTORS];
    struct wf_ext_series series; /* of turns */
    /* If ranks at different places have different rules: the numbers of their parts. */
    struct wf_map places;
    bool has_class; /* a place is of a class of ranks; else only coordinates */
    struct wf_ext_integer *parts;
    uint32_t n_parts, capacity; /* 0: the rule holds for all ranks */
};

enum wf_ext_quantity_kind {
    WF_EXT_QUANTITY_NONE,
    WF_EXT_QUANTITY_LAW,     /* the same for all */
    WF_EXT_QUANTITY_GROUPS,  /* a law for each class of ranks, or each turn, or both */
    WF_EXT_QUANTITY_SAMPLED, /* as at the largest count, times what the mean grows by */
};

struct wf_ext_quantity {
    uint8_t kind;
    bool by_class, by_turn;
    bool needs_peer;       /* bytes: 0 without a peer, whatever the laws say */
    struct wf_ext_law law; /* of the mean, if sampled */
    double ratio;          /* from one round of a loop to the next; 1: none */
    double last;           /* value of the law at the largest count */
    bool turns_alike;      /* sampled: turns of a loop differ by chance only */
    int64_t unit;          /* values are multiples of it: at most 8 */
    int64_t
        capacity_bytes;   /* of a receive with sampled sizes: what holds every message; or 0 */
    double most;          /* sampled: the largest value at the largest count */
    struct wf_map groups; /* group: 1 + number of its law */
    struct wf_ext_law *laws;
    uint32_t n_laws, capacity;
};

enum wf_ext_value {
    WF_EXT_BYTES,
    WF_EXT_RECV_BYTES,
    WF_EXT_COMPUTE,
    WF_EXT_ELEMENTS,
    WF_EXT_RECV_ELEMENTS,
    WF_EXT_VALUES,
};

enum wf_ext_step_type { WF_EXT_STEP_OP, WF_EXT_STEP_LOOP, WF_EXT_STEP_ROUNDS };

struct wf_ext_step {
    uint8_t type;
    uint32_t parent;
    uint32_t *children;
    uint32_t n_children, capacity;
    uint32_t *statements; /* one; in a loop whose rounds differ, one for each round */
    uint32_t n_statements;
    uint32_t shape;
    bool has_symbol[WF_EXT_SLOTS];
    struct wf_ext_symbol symbol[WF_EXT_SLOTS]; /* of the first round */
    struct wf_ext_progress progress[WF_EXT_SLOTS];
    bool backwards; /* rounds: the last one is number 0 */
    struct wf_ext_guard guard, null_guard[WF_EXT_SLOTS];
    uint32_t same_as; /* number of the step whose guard decides; usually its own */
    struct wf_ext_integer rounds;
    struct wf_ext_integer tag[WF_EXT_SLOTS];
    struct wf_ext_quantity value[WF_EXT_VALUES];
    uint32_t site;
};

/* An op in a trace. */
struct wf_ext_ref {
    uint32_t count, rank, op, turn;
};

struct wf_ext_model {
    struct wf_ext_input input;
    struct wf_ext_rule rule;
    struct wf_ext_grid target;
    uint32_t n_doubtful; /* laws that other laws contradict at the target */
    struct wf_ext_sets sets;
    struct wf_ext_kinds kinds;
    struct wf_ext_merged merged;
    struct wf_ext_group *groups; /* by number of the communicator */
    uint32_t n_groups;
    struct wf_ext_step *steps; /* number 0 is the program */
    uint32_t n_steps, capacity;
    /* Occurrences of each statement, by count, rank and op. */
    struct wf_ext_ref *refs;
    uint32_t *first_ref; /* by statement, and one more */
    /* How often the ranks of a count execute a statement, or the rounds of a loop. */
    uint32_t *times[WF_EXT_COUNTS_MAX];   /* by rank, then by statement */
    uint64_t *classes[WF_EXT_COUNTS_MAX]; /* of ranks */
    struct wf_map samples;                /* class: 1 + the first rank at the largest count */
    uint32_t *next_sample;                /* the next rank of the same class, or WF_PROC_NULL */
    uint32_t *class_size;                 /* by the first rank of a class */
};

/* Understands the traces in model->input, which wf_ext_read_end() has prepared, as far as `target`
 * ranks need it. An op that follows no rule is WF_EINVAL; the error names the op and the ranks. */
enum wf_status wf_ext_model_build(struct wf_ext_model *model, uint32_t target,
                                  struct wf_err *err);
void wf_ext_model_fini(struct wf_ext_model *model);
/* Forgets all but the input. */
void wf_ext_model_forget(struct wf_ext_model *model);

static inline uint32_t wf_ext_times(const struct wf_ext_model *model, uint32_t count,
                                    uint32_t rank, uint32_t statement)
{
    return model->times[count][(size_t)rank * model->merged.n + statement];
}

/* The situation of a rank at a step, in a round of the loop around it. */
struct wf_ext_where wf_ext_where(const struct wf_ext_step *step, const struct wf_ext_grid *grid,
                                 uint32_t rank, uint32_t round);
/* The symbol of a slot in a round. */
struct wf_ext_symbol wf_ext_step_symbol(const struct wf_ext_step *step, uint32_t slot,
                                        uint32_t round);
/* Whether a rank executes a step in a round of the loop around it. */
bool wf_ext_executes(const struct wf_ext_model *model, const struct wf_ext_step *step,
                     const struct wf_ext_grid *grid, uint32_t rank, uint32_t round);
/* Equal for ranks that execute the same statements. */
uint64_t wf_ext_class(const struct wf_ext_model *model, const struct wf_ext_grid *grid,
                      uint32_t rank);

/* ---- parts of building: rollup.c, values.c ---- */

/* A run of statements in a list that is a loop whose rounds differ. */
struct wf_ext_run {
    uint32_t period, rounds;
    bool backwards;
    bool whole; /* each count executes all of a round or nothing of it */
};
/* Finds the run at place `at` of the children of a statement, if there is one, and the symbols of
 * its rounds: sets the first `period` elements of `steps`. */
bool wf_ext_find_run(const struct wf_ext_model *model, uint32_t statement, uint32_t at,
                     struct wf_ext_run *run, struct wf_ext_step *steps);

enum { WF_EXT_PERIOD_MAX = 24 };

enum wf_status wf_ext_learn_rounds(struct wf_ext_model *model, struct wf_ext_step *step,
                                   struct wf_err *err);
/* Lets receives whose sizes are sampled hold every message: which of them meets which message is
 * not known. To be called after the values of all steps are learnt. */
void wf_ext_learn_capacities(struct wf_ext_model *model);
enum wf_status wf_ext_learn_values(struct wf_ext_model *model, struct wf_ext_step *step,
                                   struct wf_err *err);
/* ---- refuse.c: WF_EINVAL, with the op and the ranks ---- */

/* The error for a statement that follows no rule. */
enum wf_status wf_ext_refuse(const struct wf_ext_model *model, uint32_t statement,
                             const char *what, struct wf_err *err);
/* No rule says which ranks execute it; adds how many do in each count. */
enum wf_status wf_ext_refuse_guard(const struct wf_ext_model *model, uint32_t statement,
                                   struct wf_err *err);

/* ---- integers.c ---- */

struct wf_ext_at {
    const struct wf_ext_grid *grid;
    uint32_t rank, peer, round, turn;
    uint64_t class; /* of the rank */
    uint64_t place; /* for integers.c itself */
};

/* What an integer was in a count. */
struct wf_ext_sample {
    struct wf_ext_at at;
    uint32_t count;
    int64_t value;
};

struct wf_ext_samples {
    struct wf_ext_sample *all; /* the caller frees it */
    uint32_t n, capacity;
};

void wf_ext_samples_add(struct wf_ext_samples *samples, const struct wf_ext_sample *sample);
/* Finds what the samples are; may sort them. False if no function fits; an inexact one has a law
 * that is not `exact`. The caller releases `out`. */
bool wf_ext_integer_fit(struct wf_ext_model *model, struct wf_ext_samples *samples,
                        struct wf_ext_integer *out);
/* The value for a rank; false if the rule depends on its place and no traced rank has it, or on
 * its turn and no traced rank had so many. */
bool wf_ext_integer_at(const struct wf_ext_model *model, const struct wf_ext_integer *integer,
                       const struct wf_ext_at *at, int64_t *out);
void wf_ext_integer_fini(struct wf_ext_integer *integer);
/* Refuses a statement whose integers (`what`) follow no rule; adds what they are in each count. */
enum wf_status wf_ext_refuse_integer(const struct wf_ext_model *model, uint32_t statement,
                                     const char *what, const struct wf_ext_samples *samples,
                                     struct wf_err *err);
/* Too many ranks of a count do different things. */
enum wf_status wf_ext_refuse_kinds(const struct wf_ext_model *model, uint32_t c,
                                   uint32_t n_kinds, struct wf_err *err);
