/* SPDX-License-Identifier: Apache-2.0 */
#include "program/gen/text_lex.h"

#include "base/units.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER_MAX = 48, QUOTE_MAX = 32 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The byte `ahead` positions further; 0 beyond the end. */
static char peek(const struct wf_gen_lexer *lexer, size_t ahead)
{
    if (lexer->size - lexer->at <= ahead) {
        return '\0';
    }
    return lexer->text[lexer->at + ahead];
}

static void advance(struct wf_gen_lexer *lexer, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool newline = lexer->text[lexer->at++] == '\n';
        lexer->place.line += newline;
        lexer->place.column = newline ? 1 : lexer->place.column + 1;
    }
}

static void skip_blanks(struct wf_gen_lexer *lexer)
{
    bool comment = false;

    while (lexer->at < lexer->size) {
        char c = lexer->text[lexer->at];
        comment = (comment || c == '#') && c != '\n';
        if (!comment && c != ' ' && c != '\t' && c != '\r' && c != '\n') {
            return;
        }
        advance(lexer, 1);
    }
}

bool wf_gen_lex_fault(struct wf_gen_lexer *lexer, struct wf_gen_text_place place,
                      const char *fmt, ...)
{
    char what[WF_ERR_TEXT_MAX];
    va_list args;

    if (lexer->status != WF_OK) {
        return false;
    }
    va_start(args, fmt);
    (void)vsnprintf(what, sizeof(what), fmt, args);
    va_end(args);
    lexer->status = wf_err_set(lexer->err, WF_EINVAL, "%.128s:%u:%u: %s", lexer->name,
                               place.line, place.column, what);
    if (lexer->err != NULL) {
        wf_err_tame(lexer->err);
    }
    lexer->at = lexer->size;
    lexer->token = (struct wf_gen_token){.kind = WF_GEN_TOKEN_END, .place = place};
    return false;
}

bool wf_gen_lex_unexpected(struct wf_gen_lexer *lexer, const char *expected)
{
    const struct wf_gen_token *token = &lexer->token;
    int length = (int)(token->length < QUOTE_MAX ? token->length : QUOTE_MAX);

    if (token->kind == WF_GEN_TOKEN_END) {
        return wf_gen_lex_fault(lexer, token->place, "expected %s, but the text ends here",
                                expected);
    }
    return wf_gen_lex_fault(lexer, token->place, "expected %s instead of '%.*s'", expected,
                            length, token->text);
}

/* Reads digits, optionally a point and more digits, optionally a unit. */
static void lex_number(struct wf_gen_lexer *lexer, struct wf_gen_token *token)
{
    char text[NUMBER_MAX];
    size_t n = 0;
    uint64_t value = 0;
    int64_t time = 0;

    while (is_digit(peek(lexer, n))) {
        n++;
    }
    /* Two points separate the bounds of a loop. */
    if (peek(lexer, n) == '.' && is_digit(peek(lexer, n + 1))) {
        for (n++; is_digit(peek(lexer, n)); n++) {
        }
    }
    bool whole = true;
    for (; is_letter(peek(lexer, n)); n++) {
        whole = false;
    }
    token->kind = WF_GEN_TOKEN_NUMBER;
    token->length = n;
    (void)snprintf(text, sizeof(text), "%.*s", (int)(n < NUMBER_MAX ? n : NUMBER_MAX - 1),
                   token->text);
    if (n >= NUMBER_MAX) {
        (void)wf_gen_lex_fault(lexer, token->place, "'%s...' is too long for a number", text);
    } else if (whole && wf_parse_count(text, &value, NULL) == WF_OK) {
        token->value = (int64_t)value;
    } else if (!whole && wf_parse_size(text, &value, NULL) == WF_OK) {
        token->value = (int64_t)value;
    } else if (!whole && wf_parse_time(text, &time, NULL) == WF_OK) {
        token->value = time;
    } else {
        (void)wf_gen_lex_fault(
            lexer, token->place,
            "'%s' is no number; write a whole number below 2^63, a size as in "
            "64KiB or a time as in 1.5us",
            text);
        return;
    }
    if (value > INT64_MAX) {
        (void)wf_gen_lex_fault(lexer, token->place, "'%s' is above 2^63 - 1", text);
    }
}

static void lex_sign(struct wf_gen_lexer *lexer, struct wf_gen_token *token)
{
    static const char *const pairs[] = {
        "..", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", NULL};
    static const char singles[] = "+-*/%<>!&|^?:(){},;=";

    token->kind = WF_GEN_TOKEN_SIGN;
    for (const char *const *pair = pairs; *pair != NULL; pair++) {
        if (peek(lexer, 0) == (*pair)[0] && peek(lexer, 1) == (*pair)[1]) {
            token->length = 2;
            return;
        }
    }
    token->length = 1;
    if (peek(lexer, 0) == '\0' || strchr(singles, peek(lexer, 0)) == NULL) {
        (void)wf_gen_lex_fault(lexer, token->place, "a '%c' means nothing here",
                               peek(lexer, 0) == '\0' ? '?' : peek(lexer, 0));
    }
}

void wf_gen_lex_next(struct wf_gen_lexer *lexer)
{
    skip_blanks(lexer);

    struct wf_gen_token token = {.place = lexer->place, .text = lexer->text + lexer->at};
    char c = peek(lexer, 0);

    if (lexer->at == lexer->size) {
        token.kind = WF_GEN_TOKEN_END;
    } else if (is_digit(c)) {
        lex_number(lexer, &token);
    } else if (is_letter(c)) {
        token.kind = WF_GEN_TOKEN_NAME;
        while (is_letter(peek(lexer, token.length)) || is_digit(peek(lexer, token.length))) {
            token.length++;
        }
    } else {
        lex_sign(lexer, &token);
    }
    if (lexer->status == WF_OK) {
        lexer->token = token;
        advance(lexer, token.length);
    }
}

void wf_gen_lex_begin(struct wf_gen_lexer *lexer, const char *name, const char *text,
                      size_t size, struct wf_err *err)
{
    *lexer = (struct wf_gen_lexer){
        .name = name, .text = text, .size = size, .place = {1, 1}, .status = WF_OK, .err = err};
    wf_gen_lex_next(lexer);
}

bool wf_gen_lex_is(const struct wf_gen_lexer *lexer, const char *word)
{
    const struct wf_gen_token *token = &lexer->token;

    return (token->kind == WF_GEN_TOKEN_NAME || token->kind == WF_GEN_TOKEN_SIGN) &&
           strlen(word) == token->length && memcmp(word, token->text, token->length) == 0;
}

bool wf_gen_lex_take(struct wf_gen_lexer *lexer, const char *word)
{
    if (!wf_gen_lex_is(lexer, word)) {
        return false;
    }
    wf_gen_lex_next(lexer);
    return true;
}

bool wf_gen_lex_expect(struct wf_gen_lexer *lexer, const char *word)
{
    char quoted[QUOTE_MAX];

    if (wf_gen_lex_take(lexer, word)) {
        return true;
    }
    (void)snprintf(quoted, sizeof(quoted), "'%s'", word);
    return wf_gen_lex_unexpected(lexer, quoted);
}
