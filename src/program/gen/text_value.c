/* SPDX-License-Identifier: Apache-2.0 */
/* Translates expressions of the workload language into nodes, by precedence of operations. */
#include "base/text.h"
#include "program/gen/text_parse.h"

#include <stdio.h>
#include <string.h>

enum { NAME_TEXT_MAX = 64 };

bool wf_gen_text_enter(struct wf_gen_text_parser *parser)
{
    if (++parser->nesting > WF_GEN_TEXT_NESTING_MAX) {
        return wf_gen_lex_fault(&parser->lexer, parser->lexer.token.place,
                                "more than %d blocks or parentheses one in the other",
                                WF_GEN_TEXT_NESTING_MAX);
    }
    return parser->lexer.status == WF_OK;
}

void wf_gen_text_leave(struct wf_gen_text_parser *parser)
{
    parser->nesting--;
}

uint32_t wf_gen_text_node(struct wf_gen_text_parser *parser, enum wf_gen_calc_kind kind,
                          int64_t value, const uint32_t *operands,
                          struct wf_gen_text_place place)
{
    struct wf_gen_calc expr = {.kind = (uint8_t)kind, .value = value, .place = place};

    if (parser->lexer.status != WF_OK) {
        return 0;
    }
    if (operands != NULL) {
        memcpy(expr.operand, operands, sizeof(expr.operand));
    }
    return wf_gen_calc_add(&parser->program->calc, &parser->lexer, expr);
}

static const struct wf_gen_operation *find_function(const struct wf_gen_token *token)
{
    for (const struct wf_gen_operation *operation = wf_gen_operations; operation->name != NULL;
         operation++) {
        if (operation->precedence == 0 &&
            wf_gen_token_is(token, operation->name, strlen(operation->name))) {
            return operation;
        }
    }
    return NULL;
}

/* Reads the operands in parentheses. */
static uint32_t parse_call(struct wf_gen_text_parser *parser,
                           const struct wf_gen_operation *function,
                           struct wf_gen_text_place place)
{
    struct wf_gen_lexer *lexer = &parser->lexer;
    uint32_t operands[3] = {0};

    wf_gen_lex_next(lexer);
    (void)wf_gen_lex_expect(lexer, "(");
    for (uint32_t i = 0; i < function->n_operands; i++) {
        if (i > 0) {
            (void)wf_gen_lex_expect(lexer, ",");
        }
        operands[i] = wf_gen_text_expression(parser);
    }
    (void)wf_gen_lex_expect(lexer, ")");
    return wf_gen_text_node(parser, WF_GEN_CALC_OPERATION, function - wf_gen_operations,
                            operands, place);
}

static uint32_t unknown_name(struct wf_gen_text_parser *parser,
                             const struct wf_gen_token *token)
{
    const struct wf_gen_text_symbol *symbols = parser->symbols;
    static const char *const values[] = {"rank", "size", "any", "none", NULL};
    char wanted[NAME_TEXT_MAX], known[NAME_TEXT_MAX], best[NAME_TEXT_MAX] = "";
    char hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    (void)snprintf(wanted, sizeof(wanted), "%.*s",
                   (int)(token->length < 48 ? token->length : 48), token->text);
    wf_nearest_begin(&nearest, wanted);
    for (const char *const *value = values; *value != NULL; value++) {
        wf_nearest_add(&nearest, *value);
    }
    for (uint32_t i = 0; i < parser->n_symbols; i++) {
        (void)snprintf(known, sizeof(known), "%.*s", (int)symbols[i].length, symbols[i].name);
        wf_nearest_add(&nearest, known);
        if (nearest.best == known) {
            memcpy(best, known, sizeof(best));
            nearest.best = best;
        }
    }
    (void)wf_gen_lex_fault(&parser->lexer, token->place, "unknown name '%s'%s", wanted,
                           wf_nearest_hint(&nearest, hint));
    return 0;
}

static uint32_t parse_name(struct wf_gen_text_parser *parser)
{
    static const struct {
        const char *name;
        enum wf_gen_calc_kind kind;
        int64_t value;
        bool wild;
    } values[] = {
        {"rank", WF_GEN_CALC_RANK, 0, false},
        {"any", WF_GEN_CALC_NUMBER, WF_GEN_CALC_ANY, true},
        {"none", WF_GEN_CALC_NUMBER, WF_GEN_CALC_NONE, false},
        {"seen_source", WF_GEN_CALC_SEEN_SOURCE, 0, true},
        {"seen_tag", WF_GEN_CALC_SEEN_TAG, 0, true},
    };
    struct wf_gen_token token = parser->lexer.token;

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        if (wf_gen_lex_take(&parser->lexer, values[i].name)) {
            parser->program->depends_on_time |= values[i].wild;
            parser->program->follows_matches |= values[i].kind == WF_GEN_CALC_SEEN_SOURCE ||
                                                values[i].kind == WF_GEN_CALC_SEEN_TAG;
            return wf_gen_text_node(parser, values[i].kind, values[i].value, NULL, token.place);
        }
    }
    if (wf_gen_lex_take(&parser->lexer, "size")) {
        return wf_gen_text_node(parser, WF_GEN_CALC_NUMBER, parser->n_ranks, NULL, token.place);
    }
    const struct wf_gen_operation *function = find_function(&token);
    if (function != NULL) {
        return parse_call(parser, function, token.place);
    }
    if (wf_gen_text_reserved(&token)) {
        (void)wf_gen_lex_unexpected(&parser->lexer, "a value");
        return 0;
    }
    const struct wf_gen_text_symbol *symbol = wf_gen_text_find(parser, &token);
    if (symbol == NULL) {
        return unknown_name(parser, &token);
    }
    wf_gen_lex_next(&parser->lexer);
    return symbol->node;
}

/* A number, a name, a call, something in parentheses, or one of these after a sign. */
static uint32_t parse_operand(struct wf_gen_text_parser *parser)
{
    struct wf_gen_lexer *lexer = &parser->lexer;
    struct wf_gen_token token = lexer->token;
    uint32_t operands[3] = {0}, node = 0;

    if (!wf_gen_text_enter(parser)) {
        return 0;
    }
    if (wf_gen_lex_is(lexer, "-") || wf_gen_lex_is(lexer, "!")) {
        int64_t number = wf_gen_operation_number(wf_gen_lex_is(lexer, "-") ? "unary -" : "!");
        wf_gen_lex_next(lexer);
        operands[0] = parse_operand(parser);
        node = wf_gen_text_node(parser, WF_GEN_CALC_OPERATION, number, operands, token.place);
    } else if (wf_gen_lex_take(lexer, "(")) {
        node = wf_gen_text_expression(parser);
        (void)wf_gen_lex_expect(lexer, ")");
    } else if (token.kind == WF_GEN_TOKEN_NUMBER) {
        wf_gen_lex_next(lexer);
        node = wf_gen_text_node(parser, WF_GEN_CALC_NUMBER, token.value, NULL, token.place);
    } else if (token.kind == WF_GEN_TOKEN_NAME) {
        node = parse_name(parser);
    } else {
        (void)wf_gen_lex_unexpected(lexer, "a value");
    }
    wf_gen_text_leave(parser);
    return lexer->status == WF_OK ? node : 0;
}

/* The precedence of the next sign, and the node that it makes; 0 if it is not a sign between
 * operands. */
static uint32_t next_sign(const struct wf_gen_lexer *lexer, enum wf_gen_calc_kind *kind,
                          int64_t *value)
{
    *value = 0;
    if (wf_gen_lex_is(lexer, "||") || wf_gen_lex_is(lexer, "&&")) {
        bool or = wf_gen_lex_is(lexer, "||");
        *kind = or ? WF_GEN_CALC_OR : WF_GEN_CALC_AND;
        return or ? WF_GEN_PRECEDENCE_OR : WF_GEN_PRECEDENCE_AND;
    }
    *kind = WF_GEN_CALC_OPERATION;
    for (int64_t i = 0; wf_gen_operations[i].name != NULL; i++) {
        if (wf_gen_operations[i].precedence > 0 &&
            wf_gen_lex_is(lexer, wf_gen_operations[i].name)) {
            *value = i;
            return wf_gen_operations[i].precedence;
        }
    }
    return 0;
}

/* Reads operations of at least this precedence. Those of equal precedence associate to the
 * left. */
static uint32_t parse_operations(struct wf_gen_text_parser *parser, uint32_t least)
{
    uint32_t operands[3] = {parse_operand(parser)};
    enum wf_gen_calc_kind kind;
    int64_t value;

    for (;;) {
        uint32_t precedence = next_sign(&parser->lexer, &kind, &value);
        if (precedence < least || precedence == 0) {
            return operands[0];
        }
        struct wf_gen_text_place place = parser->lexer.token.place;
        wf_gen_lex_next(&parser->lexer);
        operands[1] = parse_operations(parser, precedence + 1);
        operands[0] = wf_gen_text_node(parser, kind, value, operands, place);
    }
}

uint32_t wf_gen_text_expression(struct wf_gen_text_parser *parser)
{
    uint32_t operands[3] = {0};

    if (!wf_gen_text_enter(parser)) {
        return 0;
    }
    operands[0] = parse_operations(parser, 1);
    struct wf_gen_text_place place = parser->lexer.token.place;
    if (wf_gen_lex_take(&parser->lexer, "?")) {
        operands[1] = wf_gen_text_expression(parser);
        (void)wf_gen_lex_expect(&parser->lexer, ":");
        operands[2] = wf_gen_text_expression(parser);
        operands[0] = wf_gen_text_node(parser, WF_GEN_CALC_CHOICE, 0, operands, place);
    }
    wf_gen_text_leave(parser);
    return operands[0];
}

int64_t wf_gen_text_constant(struct wf_gen_text_parser *parser)
{
    struct wf_gen_text_place place = parser->lexer.token.place;
    uint32_t node = wf_gen_text_expression(parser);
    const struct wf_gen_calc_state no_state = {0};
    struct wf_gen_calc_fault fault;
    int64_t value = 0;

    if (parser->lexer.status != WF_OK) {
        return 0;
    }
    const struct wf_gen_calc *nodes = parser->program->calc.nodes;
    if (nodes[node].varies) {
        (void)wf_gen_lex_fault(
            &parser->lexer, place,
            "the value of a parameter must be the same on all ranks; use let");
    } else if (!wf_gen_calc_value(nodes, node, &no_state, &value, &fault)) {
        (void)wf_gen_lex_fault(&parser->lexer, fault.place, "%s", fault.what);
    }
    return value;
}
