/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Expressions of the workload language: 64-bit integers, every operation checked. An
 * expression is a node of a table, and its operands are earlier nodes. An expression that is
 * named once and used twice is stored once. An expression that does not depend on the rank
 * or a loop is computed when it is added.
 */

#include "program/gen/text_lex.h"

enum {
    WF_GEN_TEXT_LOOPS_MAX = 4,     /* nested loops; their counters must fit into a cursor */
    WF_GEN_TEXT_WHILES = 3,        /* the counter of all rounds of while, if there are any */
    WF_GEN_CALC_DEPTH_MAX = 200,   /* depth of nested operands */
    WF_GEN_CALC_WEIGHT_MAX = 4096, /* operations; a named expression counts at each use */
};

/* Special values for peers and tags. */
#define WF_GEN_CALC_NONE (INT64_MIN + 1)
#define WF_GEN_CALC_ANY  (INT64_MIN + 2)

/* The values on which expressions may depend. */
struct wf_gen_calc_state {
    uint32_t rank;
    uint32_t seen_source;
    int32_t seen_tag;
    uint32_t counters[WF_GEN_TEXT_LOOPS_MAX]; /* completed rounds of each open loop */
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
    bool varies; /* depends on rank, loops or the last received message */
    bool seen;   /* depends on the last received message */
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
    uint8_t precedence; /* precedence of a sign, from 1; 0 is a function */
    uint8_t n_operands;
    /* Sets *out, or returns what is wrong. A missing operand is 0. */
    const char *(*apply)(int64_t a, int64_t b, int64_t *out);
};

/* The table of operations; the last row has no name. */
extern const struct wf_gen_operation wf_gen_operations[];
enum { WF_GEN_PRECEDENCE_OR = 1, WF_GEN_PRECEDENCE_AND = 2 };

/* The number of the operation of that name, which must exist. */
int64_t wf_gen_operation_number(const char *name);

/* Adds a node whose kind, value, operands and place are given, and returns its number.
 * Exceeding a limit is a fault of the lexer. */
uint32_t wf_gen_calc_add(struct wf_gen_calc_table *table, struct wf_gen_lexer *lexer,
                         struct wf_gen_calc expr);

/* Sets *out to the value, or returns false with the reason if there is none. */
bool wf_gen_calc_value(const struct wf_gen_calc *nodes, uint32_t number,
                       const struct wf_gen_calc_state *state, int64_t *out,
                       struct wf_gen_calc_fault *fault);
