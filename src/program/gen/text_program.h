/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A translated program of the workload language: a list of instructions. Every rank executes
 * it from the beginning to the end.
 */

#include "base/strings.h"
#include "program/gen/text.h"
#include "program/gen/text_expr.h"
#include "program/ops/op.h"

enum wf_gen_instr_kind {
    WF_GEN_INSTR_OP,     /* an op of the rank */
    WF_GEN_INSTR_JUMP,   /* go on at `target` */
    WF_GEN_INSTR_AGAIN,  /* count a round of while and go on at `target` */
    WF_GEN_INSTR_UNLESS, /* go on at `target` if `a` is 0 */
    WF_GEN_INSTR_LOOP,   /* if the rounds from `a` to below `b` are done, clear their counter
                           and go on at `target` */
    WF_GEN_INSTR_ROUND,  /* count a round and go on at `target`, the loop instruction */
    WF_GEN_INSTR_END,
};

/* Expressions are numbers of nodes. */
struct wf_gen_instr {
    enum wf_gen_instr_kind kind;
    enum wf_op_kind op;
    struct wf_gen_text_place place;
    uint32_t target;
    uint32_t level; /* loop: level of nesting */
    uint32_t outer; /* loop: the loop around it, if it is no outermost one */
    uint32_t a, b;
    /* Members of an op. Node 0 is the number 0. */
    uint32_t peer, from, bytes, tag, root;
    uint32_t comm; /* markers: the number of the name */
};

/* The communicator number i + 1: `size` ranks from `first` on that are `stride` apart. */
struct wf_gen_text_group {
    const char *name; /* points into the text, not terminated */
    size_t length;
    struct wf_gen_text_place place;
    uint32_t first, stride, size;
};

struct wf_gen_text_program {
    char *name; /* name of the file */
    char *text; /* text of the file; names point into it */
    struct wf_gen_calc_table calc;
    struct wf_gen_instr *code;
    uint32_t n_code, code_capacity;
    struct wf_gen_text_group *groups;
    uint32_t n_groups, groups_capacity;
    struct wf_strings regions; /* names of regions */
    bool in_background;        /* there are synchronous sends or nonblocking collectives */
    bool depends_on_time;      /* there are wildcard receives */
    bool follows_matches;      /* the program uses what it received */
    bool has_neighbors;        /* there are collectives of neighbours */
    bool has_while;
};

/* Whether ops of this kind have neighbours: one that the rank sends to and one it receives
 * from. */
static inline bool wf_gen_text_has_neighbors(enum wf_op_kind kind)
{
    return kind == WF_OP_NEIGHBOR_ALLTOALL || kind == WF_OP_INEIGHBOR_ALLTOALL;
}

/* Translates a text for this many ranks; input->set replaces the values of parameters. On
 * failure *program is empty, and the message begins with name:line:column or `set:`. */
enum wf_status wf_gen_text_parse(struct wf_gen_text_program *program,
                                 const struct wf_gen_text_input *input, uint32_t n_ranks,
                                 struct wf_err *err);
void wf_gen_text_program_fini(struct wf_gen_text_program *program);
