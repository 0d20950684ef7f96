/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Tokens of the workload language (docs/reference/workload-language.md). A lexer is at one
 * token and looks no further ahead. It reports the first fault; after it, every token is the
 * end of the text, so that callers need not check every step.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct wf_gen_text_place {
    uint32_t line, column; /* from 1; columns are bytes */
};

enum wf_gen_token_kind {
    WF_GEN_TOKEN_END,
    WF_GEN_TOKEN_NAME,
    WF_GEN_TOKEN_NUMBER,
    WF_GEN_TOKEN_SIGN
};

struct wf_gen_token {
    enum wf_gen_token_kind kind;
    struct wf_gen_text_place place;
    const char *text; /* not terminated */
    size_t length;
    int64_t value; /* value of a number */
};

struct wf_gen_lexer {
    const char *name; /* name of the text in messages */
    const char *text;
    size_t size, at;
    struct wf_gen_text_place place;
    struct wf_gen_token token; /* the current token */
    enum wf_status status;
    struct wf_err *err;
};

/* Begins with the first token of `size` bytes. Everything is borrowed. */
void wf_gen_lex_begin(struct wf_gen_lexer *lexer, const char *name, const char *text,
                      size_t size, struct wf_err *err);
/* Goes on to the next token. */
void wf_gen_lex_next(struct wf_gen_lexer *lexer);

/* Whether a token has this text. */
static inline bool wf_gen_token_is(const struct wf_gen_token *token, const char *text,
                                   size_t length)
{
    return token->length == length && memcmp(token->text, text, length) == 0;
}

/* Whether the token is this name or sign. */
bool wf_gen_lex_is(const struct wf_gen_lexer *lexer, const char *word);
/* Moves past the token if it is this name or sign. Returns whether it was. */
bool wf_gen_lex_take(struct wf_gen_lexer *lexer, const char *word);
/* Moves past the token if it is this name or sign; any other token is a fault. */
bool wf_gen_lex_expect(struct wf_gen_lexer *lexer, const char *word);

/* Reports a fault at a place; only the first one counts. Always returns false. */
WF_PRINTF(3, 4)
bool wf_gen_lex_fault(struct wf_gen_lexer *lexer, struct wf_gen_text_place place,
                      const char *fmt, ...);
/* Reports that the token is not what was expected. Always returns false. */
bool wf_gen_lex_unexpected(struct wf_gen_lexer *lexer, const char *expected);
