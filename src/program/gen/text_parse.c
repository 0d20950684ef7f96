/* SPDX-License-Identifier: Apache-2.0 */
/* Translates statements of the workload language into instructions. */
#include "program/gen/text_parse.h"

#include "base/array.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { GROUPS_MAX = 64, REGIONS_MAX = 1024, NAME_MAX_SHOWN = 48 };

static bool parse_block(struct wf_gen_text_parser *parser);
static bool parse_statement(struct wf_gen_text_parser *parser);

static bool fine(const struct wf_gen_text_parser *parser)
{
    return parser->lexer.status == WF_OK;
}

/* Adds an instruction and returns its number. */
static uint32_t add(struct wf_gen_text_parser *parser, struct wf_gen_instr instr)
{
    struct wf_gen_text_program *program = parser->program;

    WF_GROW(program->code, program->n_code, program->code_capacity);
    program->code[program->n_code] = instr;
    return program->n_code++;
}

/* Sets the target of an instruction to the next instruction that will be added. */
static void lead_here(struct wf_gen_text_parser *parser, uint32_t number)
{
    parser->program->code[number].target = parser->program->n_code;
}

/* ---- names ---- */

/* Reserved words, besides the names of ops and functions. */
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

/* Reads a new name. Sets *name to its token. A name that is already defined is a fault. */
static bool new_name(struct wf_gen_text_parser *parser, struct wf_gen_token *name)
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

static void define(struct wf_gen_text_parser *parser, const struct wf_gen_token *name,
                   uint32_t node, bool param)
{
    WF_PUSH(parser->symbols, parser->n_symbols, parser->symbols_capacity,
            (struct wf_gen_text_symbol){name->text, name->length, node, param});
}

/* ---- statements ---- */

static bool parse_param(struct wf_gen_text_parser *parser)
{
    struct wf_gen_token name;

    if (parser->nesting > 0) {
        return wf_gen_lex_fault(&parser->lexer, parser->lexer.token.place,
                                "a parameter cannot be inside a block");
    }
    if (!new_name(parser, &name) || !wf_gen_lex_expect(&parser->lexer, "=")) {
        return false;
    }
    int64_t value = wf_gen_text_constant(parser);
    for (uint32_t i = 0; i < parser->n_settings; i++) {
        struct wf_gen_text_setting *setting = &parser->settings[i];
        if (wf_gen_token_is(&name, setting->name, setting->length)) {
            setting->used = true;
            value = setting->value;
        }
    }
    uint32_t node = wf_gen_text_node(parser, WF_GEN_CALC_NUMBER, value, NULL, name.place);
    define(parser, &name, node, true);
    return fine(parser);
}

/* A let names the expression, not a value: nothing that it may depend on changes in its scope,
 * except what was received last. */
static bool parse_let(struct wf_gen_text_parser *parser)
{
    struct wf_gen_token name;

    if (!new_name(parser, &name) || !wf_gen_lex_expect(&parser->lexer, "=")) {
        return false;
    }
    uint32_t node = wf_gen_text_expression(parser);
    define(parser, &name, node, false);
    return fine(parser);
}

/* A bound must have the same value in all rounds. */
static uint32_t parse_bound(struct wf_gen_text_parser *parser)
{
    struct wf_gen_text_place place = parser->lexer.token.place;
    uint32_t node = wf_gen_text_expression(parser);

    if (fine(parser) && parser->program->calc.nodes[node].seen) {
        (void)wf_gen_lex_fault(&parser->lexer, place,
                               "the bounds of a loop cannot depend on what was received; use "
                               "while");
    }
    return node;
}

static bool parse_rounds(struct wf_gen_text_parser *parser, const struct wf_gen_token *name,
                         struct wf_gen_text_place place)
{
    struct wf_gen_instr loop = {
        .kind = WF_GEN_INSTR_LOOP, .place = place, .level = parser->n_loops};

    if (parser->n_loops == WF_GEN_TEXT_LOOPS_MAX) {
        return wf_gen_lex_fault(
            &parser->lexer, place,
            "at most %d loops can be one in the other; while is none of them",
            WF_GEN_TEXT_LOOPS_MAX);
    }
    if (parser->n_loops == WF_GEN_TEXT_WHILES) {
        parser->deep = true;
    }
    if (name != NULL) {
        loop.a = parse_bound(parser);
        (void)wf_gen_lex_expect(&parser->lexer, "..");
    }
    loop.b = parse_bound(parser);

    uint32_t n_symbols = parser->n_symbols, outer = parser->loop;
    loop.outer = outer;
    uint32_t number = add(parser, loop);
    if (name != NULL) {
        const uint32_t operands[3] = {loop.a};
        uint32_t node =
            wf_gen_text_node(parser, WF_GEN_CALC_LOOP, parser->n_loops, operands, name->place);
        define(parser, name, node, false);
    }
    parser->n_loops++;
    parser->loop = number;
    (void)parse_block(parser);
    parser->loop = outer;
    parser->n_loops--;
    parser->n_symbols = n_symbols;
    (void)add(parser, (struct wf_gen_instr){.kind = WF_GEN_INSTR_ROUND,
                                            .place = place,
                                            .level = loop.level,
                                            .target = number});
    lead_here(parser, number);
    return fine(parser);
}

static bool parse_loop(struct wf_gen_text_parser *parser)
{
    struct wf_gen_text_place place = parser->lexer.token.place;
    struct wf_gen_token name;

    return new_name(parser, &name) && parse_rounds(parser, &name, place);
}

static bool parse_repeat(struct wf_gen_text_parser *parser)
{
    return parse_rounds(parser, NULL, parser->lexer.token.place);
}

static bool parse_while(struct wf_gen_text_parser *parser)
{
    struct wf_gen_instr test = {.kind = WF_GEN_INSTR_UNLESS,
                                .place = parser->lexer.token.place};

    test.a = wf_gen_text_expression(parser);
    parser->program->has_while = true;
    uint32_t number = add(parser, test);
    (void)parse_block(parser);
    (void)add(parser, (struct wf_gen_instr){
                          .kind = WF_GEN_INSTR_AGAIN, .place = test.place, .target = number});
    lead_here(parser, number);
    return fine(parser);
}

static bool parse_if(struct wf_gen_text_parser *parser)
{
    struct wf_gen_instr test = {.kind = WF_GEN_INSTR_UNLESS,
                                .place = parser->lexer.token.place};

    test.a = wf_gen_text_expression(parser);
    uint32_t number = add(parser, test);
    if (!parse_block(parser)) {
        return false;
    }
    if (!wf_gen_lex_take(&parser->lexer, "else")) {
        lead_here(parser, number);
        return fine(parser);
    }
    uint32_t skip =
        add(parser, (struct wf_gen_instr){.kind = WF_GEN_INSTR_JUMP, .place = test.place});
    lead_here(parser, number);
    if (!wf_gen_text_enter(parser)) {
        return false;
    }
    (void)(wf_gen_lex_take(&parser->lexer, "if") ? parse_if(parser) : parse_block(parser));
    wf_gen_text_leave(parser);
    lead_here(parser, skip);
    return fine(parser);
}

static bool parse_group(struct wf_gen_text_parser *parser)
{
    struct wf_gen_text_program *program = parser->program;
    struct wf_gen_text_group group;
    struct wf_gen_token name;

    if (parser->nesting > 0 || program->n_groups == GROUPS_MAX) {
        return wf_gen_lex_fault(&parser->lexer, parser->lexer.token.place,
                                "there can be %d groups, and none inside a block", GROUPS_MAX);
    }
    if (!new_name(parser, &name) || !wf_gen_lex_expect(&parser->lexer, "=")) {
        return false;
    }
    group = (struct wf_gen_text_group){
        .name = name.text, .length = name.length, .place = name.place};
    group.first = parse_bound(parser);
    (void)wf_gen_lex_expect(&parser->lexer, ",");
    group.stride = parse_bound(parser);
    (void)wf_gen_lex_expect(&parser->lexer, ",");
    group.size = parse_bound(parser);
    WF_PUSH(program->groups, program->n_groups, program->groups_capacity, group);
    return fine(parser);
}

/* The number of a region's name; a new number if the name is new. */
static uint32_t region_number(struct wf_gen_text_parser *parser,
                              const struct wf_gen_token *name)
{
    uint32_t number = wf_strings_put(&parser->program->regions, name->text, name->length);

    if (number == REGIONS_MAX) {
        (void)wf_gen_lex_fault(&parser->lexer, name->place, "there can be %d names of regions",
                               REGIONS_MAX);
        return 0;
    }
    return number;
}

/* `value` is the node of the value that the region's formula calls n. */
static bool parse_marked(struct wf_gen_text_parser *parser, enum wf_op_kind begin,
                         enum wf_op_kind end, uint32_t number, uint32_t value)
{
    struct wf_gen_instr mark = {.kind = WF_GEN_INSTR_OP,
                                .op = begin,
                                .place = parser->lexer.token.place,
                                .comm = number,
                                .bytes = value};

    (void)add(parser, mark);
    (void)parse_block(parser);
    mark.op = end;
    mark.bytes = 0;
    (void)add(parser, mark);
    return fine(parser);
}

static bool parse_region(struct wf_gen_text_parser *parser)
{
    struct wf_gen_token name = parser->lexer.token;

    if (name.kind != WF_GEN_TOKEN_NAME || wf_gen_text_reserved(&name)) {
        return wf_gen_lex_unexpected(&parser->lexer, "the name of a region");
    }
    uint32_t number = region_number(parser, &name), value = 0;
    wf_gen_lex_next(&parser->lexer);
    if (fine(parser) && wf_gen_lex_take(&parser->lexer, "n")) {
        (void)wf_gen_lex_expect(&parser->lexer, "=");
        value = wf_gen_text_expression(parser);
    }
    return fine(parser) &&
           parse_marked(parser, WF_OP_REGION_BEGIN, WF_OP_REGION_END, number, value);
}

static bool parse_iteration(struct wf_gen_text_parser *parser)
{
    return parse_marked(parser, WF_OP_ITERATION_BEGIN, WF_OP_ITERATION_END, 0, 0);
}

/* "in NAME": sets the op's communicator. */
static bool parse_in(struct wf_gen_text_parser *parser, struct wf_gen_instr *instr)
{
    const struct wf_gen_text_group *groups = parser->program->groups;
    const struct wf_gen_token *token = &parser->lexer.token;

    for (uint32_t i = 0; i < parser->program->n_groups; i++) {
        if (token->kind == WF_GEN_TOKEN_NAME &&
            wf_gen_token_is(token, groups[i].name, groups[i].length)) {
            instr->comm = i + 1;
            wf_gen_lex_next(&parser->lexer);
            return fine(parser);
        }
    }
    return wf_gen_lex_unexpected(&parser->lexer, "the name of a group");
}

/* The ops that a program can use, and the arguments that follow the name. p: a peer, b: a
 * number of bytes, d: a time, f: "from" and a peer, t: optional "tag" and a tag, r: optional
 * "root" and a rank, g: optional "in" and a group, n: the number of a file, o: optional "at" and an
 * offset. */
static const struct {
    enum wf_op_kind kind;
    const char *form;
} written[] = {
    {WF_OP_COMPUTE, "d"},
    {WF_OP_SLEEP, "d"},
    {WF_OP_SEND, "pbt"},
    {WF_OP_SSEND, "pbt"},
    {WF_OP_BSEND, "pbt"},
    {WF_OP_RSEND, "pbt"},
    {WF_OP_ISEND, "pbt"},
    {WF_OP_ISSEND, "pbt"},
    {WF_OP_IBSEND, "pbt"},
    {WF_OP_IRSEND, "pbt"},
    {WF_OP_RECV, "pbt"},
    {WF_OP_IRECV, "pbt"},
    {WF_OP_SENDRECV, "pfbt"},
    {WF_OP_WAITALL, ""},
    {WF_OP_BARRIER, "g"},
    {WF_OP_BCAST, "brg"},
    {WF_OP_REDUCE, "brg"},
    {WF_OP_ALLREDUCE, "bg"},
    {WF_OP_GATHER, "brg"},
    {WF_OP_SCATTER, "brg"},
    {WF_OP_ALLGATHER, "bg"},
    {WF_OP_ALLTOALL, "bg"},
    {WF_OP_SCAN, "bg"},
    {WF_OP_EXSCAN, "bg"},
    {WF_OP_REDUCE_SCATTER_BLOCK, "bg"},
    {WF_OP_NEIGHBOR_ALLTOALL, "pfbg"},
    {WF_OP_IBARRIER, "g"},
    {WF_OP_IBCAST, "brg"},
    {WF_OP_IREDUCE, "brg"},
    {WF_OP_IGATHER, "brg"},
    {WF_OP_ISCATTER, "brg"},
    {WF_OP_IALLREDUCE, "bg"},
    {WF_OP_ISCAN, "bg"},
    {WF_OP_IEXSCAN, "bg"},
    {WF_OP_IALLGATHER, "bg"},
    {WF_OP_IALLTOALL, "bg"},
    {WF_OP_IREDUCE_SCATTER_BLOCK, "bg"},
    {WF_OP_INEIGHBOR_ALLTOALL, "pfbg"},
    {WF_OP_FILE_OPEN, "n"},
    {WF_OP_FILE_READ, "nbo"},
    {WF_OP_FILE_WRITE, "nbo"},
    {WF_OP_FILE_SYNC, "n"},
    {WF_OP_FILE_CLOSE, "n"},
};

static void parse_operand(struct wf_gen_text_parser *parser, char what,
                          struct wf_gen_instr *instr)
{
    struct wf_gen_lexer *lexer = &parser->lexer;

    switch (what) {
    case 'p':
        instr->peer = wf_gen_text_expression(parser);
        break;
    case 'b':
    case 'd':
        instr->bytes = wf_gen_text_expression(parser);
        break;
    case 'f':
        (void)wf_gen_lex_expect(lexer, "from");
        instr->from = wf_gen_text_expression(parser);
        break;
    case 't':
        instr->tag = wf_gen_lex_take(lexer, "tag") ? wf_gen_text_expression(parser) : 0;
        break;
    case 'n':
        instr->tag = wf_gen_text_expression(parser);
        break;
    case 'o':
        instr->root = wf_gen_lex_take(lexer, "at") ? wf_gen_text_expression(parser) : 0;
        break;
    case 'r':
        instr->root = wf_gen_lex_take(lexer, "root") ? wf_gen_text_expression(parser) : 0;
        break;
    default:
        if (wf_gen_lex_take(lexer, "in")) {
            (void)parse_in(parser, instr);
        }
    }
}

static bool parse_op(struct wf_gen_text_parser *parser, size_t row)
{
    struct wf_gen_instr instr = {
        .kind = WF_GEN_INSTR_OP, .op = written[row].kind, .place = parser->lexer.token.place};
    const struct wf_op_info *info = wf_op_info(instr.op);

    wf_gen_lex_next(&parser->lexer);
    for (const char *what = written[row].form; *what != '\0'; what++) {
        parse_operand(parser, *what, &instr);
    }
    parser->program->in_background |=
        (info->family == WF_FAMILY_SEND && info->detail == WF_SEND_SYNCHRONOUS) ||
        (info->family == WF_FAMILY_COLLECTIVE && info->returns_request);
    parser->program->has_neighbors |= wf_gen_text_has_neighbors(instr.op);
    (void)add(parser, instr);
    return fine(parser);
}

static const struct {
    const char *word;
    bool (*parse)(struct wf_gen_text_parser *parser);
} statements[] = {
    {"param", parse_param},   {"let", parse_let},       {"loop", parse_loop},
    {"repeat", parse_repeat}, {"while", parse_while},   {"if", parse_if},
    {"group", parse_group},   {"region", parse_region}, {"iteration", parse_iteration},
};

static bool no_statement(struct wf_gen_text_parser *parser)
{
    const struct wf_gen_token *token = &parser->lexer.token;
    char wanted[NAME_MAX_SHOWN], hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    if (token->kind != WF_GEN_TOKEN_NAME) {
        return wf_gen_lex_unexpected(&parser->lexer, "a statement");
    }
    (void)snprintf(wanted, sizeof(wanted), "%.*s",
                   (int)(token->length < NAME_MAX_SHOWN ? token->length : NAME_MAX_SHOWN - 1),
                   token->text);
    wf_nearest_begin(&nearest, wanted);
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
        wf_nearest_add(&nearest, statements[i].word);
    }
    for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++) {
        wf_nearest_add(&nearest, wf_op_name(written[i].kind));
    }
    return wf_gen_lex_fault(&parser->lexer, token->place, "'%s' is no statement%s", wanted,
                            wf_nearest_hint(&nearest, hint));
}

static bool parse_statement(struct wf_gen_text_parser *parser)
{
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
        if (wf_gen_lex_take(&parser->lexer, statements[i].word)) {
            return statements[i].parse(parser);
        }
    }
    for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++) {
        if (wf_gen_lex_is(&parser->lexer, wf_op_name(written[i].kind))) {
            return parse_op(parser, i);
        }
    }
    return no_statement(parser);
}

/* A name that is defined inside a block is valid up to the end of the block. */
static bool parse_block(struct wf_gen_text_parser *parser)
{
    struct wf_gen_lexer *lexer = &parser->lexer;
    uint32_t n_symbols = parser->n_symbols;

    if (!wf_gen_lex_expect(lexer, "{") || !wf_gen_text_enter(parser)) {
        return false;
    }
    while (fine(parser) && !wf_gen_lex_take(lexer, "}")) {
        if (lexer->token.kind == WF_GEN_TOKEN_END) {
            (void)wf_gen_lex_unexpected(lexer, "'}'");
        } else if (!wf_gen_lex_take(lexer, ";")) {
            (void)parse_statement(parser);
        }
    }
    parser->n_symbols = n_symbols;
    wf_gen_text_leave(parser);
    return fine(parser);
}

bool wf_gen_text_statements(struct wf_gen_text_parser *parser)
{
    struct wf_gen_lexer *lexer = &parser->lexer;

    while (fine(parser) && lexer->token.kind != WF_GEN_TOKEN_END) {
        if (!wf_gen_lex_take(lexer, ";")) {
            (void)parse_statement(parser);
        }
    }
    if (fine(parser) && parser->deep && parser->program->has_while) {
        return wf_gen_lex_fault(lexer, (struct wf_gen_text_place){1, 1},
                                "a program with while has at most %d loops one in the other",
                                WF_GEN_TEXT_WHILES);
    }
    (void)add(parser,
              (struct wf_gen_instr){.kind = WF_GEN_INSTR_END, .place = lexer->token.place});
    return fine(parser);
}
