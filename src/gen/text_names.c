/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "gen/text_parse.h"

#include <stdio.h>
#include <string.h>

static const char *const words[] = {
    "param", "let",    "loop", "repeat",    "while",       "if",       "else",
    "group", "region", "rank", "size",      "any",         "none",     "tag",
    "root",  "in",     "from", "iteration", "seen_source", "seen_tag", NULL,
};

static bool same(const char *word, const struct wf_gen_token *token)
{
    return wf_gen_token_is(token, word, strlen(word));
}

bool wf_gen_text_reserved(const struct wf_gen_token *token)
{
    for (const char *const *word = words; *word != NULL; word++) {
        if (same(*word, token)) {
            return true;
        }
    }
    for (int kind = 0; kind < WF_OP_KINDS; kind++) {
        if (same(wf_op_name((enum wf_op_kind)kind), token)) {
            return true;
        }
    }
    for (const struct wf_gen_operation *operation = wf_gen_operations; operation->name != NULL;
         operation++) {
        if (operation->precedence == 0 && same(operation->name, token)) {
            return true;
        }
    }
    return false;
}

const struct wf_gen_text_symbol *wf_gen_text_find(const struct wf_gen_text_parser *parser,
                                                  const struct wf_gen_token *token)
{
    for (uint32_t i = parser->n_symbols; i-- > 0;) {
        if (wf_gen_token_is(token, parser->symbols[i].name, parser->symbols[i].length)) {
            return &parser->symbols[i];
        }
    }
    return NULL;
}

bool wf_gen_text_new_name(struct wf_gen_text_parser *parser, struct wf_gen_token *name)
{
    struct wf_gen_lexer *lexer = &parser->lexer;

    *name = lexer->token;
    if (name->kind != WF_GEN_TOKEN_NAME) {
        return wf_gen_lex_unexpected(lexer, "a name");
    }
    if (name->length > 48) {
        return wf_gen_lex_fault(lexer, name->place, "a name has at most 48 characters");
    }
    if (wf_gen_text_reserved(name)) {
        return wf_gen_lex_fault(lexer, name->place, "'%.*s' has a meaning of its own",
                                (int)name->length, name->text);
    }
    if (wf_gen_text_find(parser, name) != NULL) {
        return wf_gen_lex_fault(lexer, name->place, "'%.*s' is a name already",
                                (int)name->length, name->text);
    }
    wf_gen_lex_next(lexer);
    return lexer->status == WF_OK;
}

void wf_gen_text_define(struct wf_gen_text_parser *parser, const struct wf_gen_token *name,
                        uint32_t node, bool param)
{
    WF_GROW(parser->symbols, parser->n_symbols, parser->symbols_capacity);
    parser->symbols[parser->n_symbols++] =
        (struct wf_gen_text_symbol){name->text, name->length, node, param};
}
