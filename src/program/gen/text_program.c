/* SPDX-License-Identifier: Apache-2.0 */
#include "program/gen/text_program.h"

#include "base/array.h"
#include "base/mem.h"
#include "base/text.h"
#include "program/gen/text_parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char set_name[] = "set";

void wf_gen_text_program_fini(struct wf_gen_text_program *program)
{
    wf_strings_fini(&program->regions);
    free(program->calc.nodes);
    free(program->code);
    free(program->groups);
    free(program->name);
    free(program->text);
    memset(program, 0, sizeof(*program));
}

/* Reads "name=value,name=value". The values are expressions and may use the number of ranks. */
static enum wf_status parse_settings(struct wf_gen_text_parser *parser, const char *set,
                                     struct wf_err *err)
{
    struct wf_gen_lexer *lexer = &parser->lexer;

    wf_gen_lex_begin(lexer, set_name, set, strlen(set), err);
    while (lexer->status == WF_OK && lexer->token.kind != WF_GEN_TOKEN_END) {
        struct wf_gen_text_setting setting = {.name = lexer->token.text,
                                              .length = lexer->token.length,
                                              .place = lexer->token.place};
        if (lexer->token.kind != WF_GEN_TOKEN_NAME) {
            (void)wf_gen_lex_unexpected(lexer, "the name of a parameter");
        }
        wf_gen_lex_next(lexer);
        (void)wf_gen_lex_expect(lexer, "=");
        setting.value = wf_gen_text_constant(parser);
        WF_PUSH(parser->settings, parser->n_settings, parser->settings_capacity, setting);
        if (lexer->token.kind != WF_GEN_TOKEN_END) {
            (void)wf_gen_lex_expect(lexer, ",");
        }
    }
    return lexer->status;
}

/* Every setting must belong to a parameter. The error has the position of the setting. */
static enum wf_status check_settings(const struct wf_gen_text_parser *parser, const char *name,
                                     struct wf_err *err)
{
    const struct wf_gen_text_setting *settings = parser->settings;
    const struct wf_gen_text_symbol *symbols = parser->symbols;
    char wanted[64], known[64], best[64], hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    for (uint32_t i = 0; i < parser->n_settings; i++) {
        if (settings[i].used) {
            continue;
        }
        (void)snprintf(wanted, sizeof(wanted), "%.*s",
                       (int)(settings[i].length < 48 ? settings[i].length : 48),
                       settings[i].name);
        wf_nearest_begin(&nearest, wanted);
        for (uint32_t s = 0; s < parser->n_symbols; s++) {
            (void)snprintf(known, sizeof(known), "%.*s", (int)symbols[s].length,
                           symbols[s].name);
            if (symbols[s].param) {
                wf_nearest_add(&nearest, known);
            }
            if (nearest.best == known) {
                memcpy(best, known, sizeof(best));
                nearest.best = best;
            }
        }
        return wf_err_set(err, WF_EINVAL, "%s:%u:%u: '%.128s' has no parameter '%s'%s",
                          set_name, settings[i].place.line, settings[i].place.column, name,
                          wanted, wf_nearest_hint(&nearest, hint));
    }
    return WF_OK;
}

enum wf_status wf_gen_text_parse(struct wf_gen_text_program *program,
                                 const struct wf_gen_text_input *input, uint32_t n_ranks,
                                 struct wf_err *err)
{
    struct wf_gen_text_parser parser = {.program = program, .n_ranks = n_ranks};
    enum wf_status status = WF_OK;

    memset(program, 0, sizeof(*program));
    program->name = wf_xstrdup(input->name);
    program->text = wf_xmalloc(input->size + 1);
    if (input->size > 0) {
        memcpy(program->text, input->text, input->size);
    }
    program->text[input->size] = '\0';
    (void)wf_gen_text_node(&parser, WF_GEN_CALC_NUMBER, 0, NULL,
                           (struct wf_gen_text_place){1, 1});
    if (input->set != NULL) {
        status = parse_settings(&parser, input->set, err);
    }
    if (status == WF_OK) {
        wf_gen_lex_begin(&parser.lexer, program->name, program->text, input->size, err);
        (void)wf_gen_text_statements(&parser);
        status = parser.lexer.status;
    }
    WF_THEN(status, check_settings(&parser, program->name, err));
    free(parser.symbols);
    free(parser.settings);
    if (status != WF_OK) {
        wf_gen_text_program_fini(program);
    }
    return status;
}
