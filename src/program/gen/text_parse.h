/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The parser of the workload language: declarations that its source files share. */

#include "program/gen/text_program.h"

enum { WF_GEN_TEXT_NESTING_MAX = 100 }; /* depth of nested blocks and parentheses */

/* A name and the expression that it stands for. */
struct wf_gen_text_symbol {
    const char *name; /* in the text, not terminated */
    size_t length;
    uint32_t node;
    bool param;
};

/* The value of a parameter, given by the user. */
struct wf_gen_text_setting {
    const char *name;
    size_t length;
    struct wf_gen_text_place place;
    int64_t value;
    bool used;
};

struct wf_gen_text_parser {
    struct wf_gen_lexer lexer;
    struct wf_gen_text_program *program;
    struct wf_gen_text_symbol *symbols; /* innermost scope last */
    uint32_t n_symbols, symbols_capacity;
    struct wf_gen_text_setting *settings;
    uint32_t n_settings, settings_capacity;
    uint32_t n_ranks;
    uint32_t n_loops; /* open loops */
    uint32_t loop;    /* the instruction of the innermost one */
    bool deep;        /* loops use all counters */
    uint32_t nesting;
};

/* Enters one level of nesting; too deep a nesting is a fault. wf_gen_text_leave() goes back. */
bool wf_gen_text_enter(struct wf_gen_text_parser *parser);
void wf_gen_text_leave(struct wf_gen_text_parser *parser);

/* Reads an expression and returns its node; 0 after a fault. */
uint32_t wf_gen_text_expression(struct wf_gen_text_parser *parser);
/* Reads an expression that always has the same value on all ranks, and returns the value. */
int64_t wf_gen_text_constant(struct wf_gen_text_parser *parser);

/* Adds a node. Operands that its kind does not have are ignored. */
uint32_t wf_gen_text_node(struct wf_gen_text_parser *parser, enum wf_gen_calc_kind kind,
                          int64_t value, const uint32_t *operands,
                          struct wf_gen_text_place place);

/* The symbol that the token names, or null. */
const struct wf_gen_text_symbol *wf_gen_text_find(const struct wf_gen_text_parser *parser,
                                                  const struct wf_gen_token *token);

/* Whether the token is a reserved word. */
bool wf_gen_text_reserved(const struct wf_gen_token *token);

/* Reads statements up to the end of the text, and adds the final instruction. */
bool wf_gen_text_statements(struct wf_gen_text_parser *parser);
