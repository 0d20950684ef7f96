/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A program of the workload language, translated: a list of instructions that all ranks go
 * through, each from the beginning until it comes to the end.
 */

#include "base/strings.h"
#include "gen/text.h"
#include "gen/text_expr.h"
#include "ops/op.h"

enum wf_gen_instr_kind {
    WF_GEN_INSTR_OP,     /* what the rank does */
    WF_GEN_INSTR_JUMP,   /* go on at `target` */
    WF_GEN_INSTR_UNLESS, /* go on at `target` if `a` is 0 */
    WF_GEN_INSTR_LOOP,  /* if the rounds from `a` to below `b` are done, clear their counter and
                          go on at `target` */
    WF_GEN_INSTR_ROUND, /* count a round and go on at `target`, where the loop is */
    WF_GEN_INSTR_END,
};

/* Expressions are numbers of nodes. */
struct wf_gen_instr {
    enum wf_gen_instr_kind kind;
    enum wf_op_kind op;
    struct wf_gen_text_place place;
    uint32_t target;
    uint32_t level; /* of a loop */
    uint32_t a, b;
    /* Of an op. Node 0 is the number 0. */
    uint32_t peer, from, bytes, tag, root;
    uint32_t comm; /* markers: the number of the name */
};

/* The communicator number i + 1: `size` ranks from `first` on that are `stride` apart. */
struct wf_gen_text_group {
    const char *name; /* these are in the text, not terminated */
    size_t length;
    struct wf_gen_text_place place;
    uint32_t first, stride, size;
};

struct wf_gen_text_program {
    char *name; /* of the file */
    char *text; /* of the file: names point there */
    struct wf_gen_calc_table calc;
    struct wf_gen_instr *code;
    uint32_t n_code, code_capacity;
    struct wf_gen_text_group *groups;
    uint32_t n_groups, groups_capacity;
    struct wf_strings regions; /* their names */
    bool in_background;        /* there are synchronous sends or nonblocking collectives */
    bool depends_on_time;      /* there are wildcard receives */
    bool follows_matches;      /* the program asks what they received */
};

/* Translates a text for this many ranks; input->set replaces the values of parameters. On
 * failure *program is empty, and the message begins with name:line:column or `set:`. */
WF_NODISCARD
enum wf_status wf_gen_text_parse(struct wf_gen_text_program *program,
                                 const struct wf_gen_text_input *input, uint32_t n_ranks,
                                 struct wf_err *err);
void wf_gen_text_program_fini(struct wf_gen_text_program *program);
