/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Expressions of the workload language: 64-bit integers, every operation checked. An expression
 * is a node of a table whose operands are nodes before it, so that what is named once and used
 * twice is there once. What does not depend on the rank or a loop is computed when it is added.
 */

#include "gen/text_lex.h"

enum {
    WF_GEN_TEXT_LOOPS_MAX = 4,   /* one in the other; their counters must fit into a cursor */
    WF_GEN_CALC_DEPTH_MAX = 200, /* of operands of operands */
    WF_GEN_CALC_WEIGHT_MAX =
        4096, /* operations, those of named expressions counted at each use */
};

/* Values beside the numbers: for peers and tags. */
#define WF_GEN_CALC_NONE (INT64_MIN + 1)
#define WF_GEN_CALC_ANY  (INT64_MIN + 2)

/* What expressions may depend on. */
struct wf_gen_calc_state {
    uint32_t rank;
    uint32_t seen_source;
    int32_t seen_tag;
    uint32_t counters[WF_GEN_TEXT_LOOPS_MAX]; /* rounds done, of each loop that is open */
};

/* Why an expression has no value. */
struct wf_gen_calc_fault {
    struct wf_gen_text_place place;
    const char *what;
};

enum wf_gen_calc_kind {
    WF_GEN_CALC_NUMBER,
    WF_GEN_CALC_RANK,
    WF_GEN_CALC_SEEN_SOURCE,
    WF_GEN_CALC_SEEN_TAG,
    WF_GEN_CALC_LOOP,      /* a variable: operand 0 plus the counter number `value` */
    WF_GEN_CALC_OPERATION, /* number `value` of the table of operations, on operands 0 and 1 */
    WF_GEN_CALC_AND,
    WF_GEN_CALC_OR,
    WF_GEN_CALC_CHOICE, /* operand 0 decides between 1 and 2 */
};

struct wf_gen_calc {
    uint8_t kind;
    bool varies; /* with rank, loops or what was received */
    bool seen;   /* with the latter */
    uint16_t depth;
    uint32_t weight;
    uint32_t operand[3];
    struct wf_gen_text_place place;
    int64_t value;
};

/* Expressions, which the owner frees. */
struct wf_gen_calc_table {
    struct wf_gen_calc *nodes;
    uint32_t n, capacity;
};

/* Operations: signs between two operands, and functions of one or two. */
struct wf_gen_operation {
    const char *name;
    uint8_t precedence; /* of a sign, from 1; 0 is a function */
    uint8_t n_operands;
    /* Sets *out or returns what is wrong; a missing operand is 0. */
    const char *(*apply)(int64_t a, int64_t b, int64_t *out);
};

/* The operations, the last one without a name. */
extern const struct wf_gen_operation wf_gen_operations[];
enum { WF_GEN_PRECEDENCE_OR = 1, WF_GEN_PRECEDENCE_AND = 2 };

/* The number of the operation of that name, which must exist. */
int64_t wf_gen_operation_number(const char *name);

/* Adds a node whose kind, value, operands and place are given, and returns its number. What
 * grows beyond the limits is a fault of the lexer. */
uint32_t wf_gen_calc_add(struct wf_gen_calc_table *table, struct wf_gen_lexer *lexer,
                         struct wf_gen_calc expr);

/* Sets *out to the value; false with the reason if there is none. */
bool wf_gen_calc_value(const struct wf_gen_calc *nodes, uint32_t number,
                       const struct wf_gen_calc_state *state, int64_t *out,
                       struct wf_gen_calc_fault *fault);
