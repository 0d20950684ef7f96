/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A formula is compiled for a stack machine. The parser emits the instructions of the operands
 * before the instruction that uses them, and knows for each value whether it is a time.
 */
#include "base/expr.h"

#include "base/fixed.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

enum {
    DEPTH_MAX = 40, /* of parentheses and signs; also bounds the recursion of the parser */
    STACK_MAX = 3 * DEPTH_MAX + 3,
    DIGITS_MAX = 18, /* of a number: below 2^60 */
    NAME_MAX_LEN = 63,
};

/* The type of a value. A literal zero is a number or a time. */
enum sort { NUMBER, TIME, ZERO };

enum code { CONSTANT, VARIABLE, NEGATE, ADD, SUBTRACT, MULTIPLY, DIVIDE, MINIMUM, MAXIMUM };

struct instruction {
    enum code code;
    uint32_t variable;
    struct wf_fixed constant;
};

struct wf_expr_program {
    bool is_time, is_constant;
    uint32_t n;
    uint32_t height; /* of the stack, at most */
    struct instruction code[];
};

struct parser {
    const char *text, *at;
    const struct wf_expr_variable *variables;
    uint32_t n_variables;
    uint32_t depth;
    uint32_t on_stack; /* number of values at this point of the program */
    bool varies;
    struct wf_expr_program *program; /* long enough for any program of this text */
    enum wf_status status;           /* of the first error, which ends the parsing */
    struct wf_err *err;
};

/* ---- faults ---- */

static bool is_over(const struct parser *p)
{
    return p->status != WF_OK;
}

/* Reports an error at the place `at`, if it is the first. `quoted` and `hint` may be "". */
static void fault(struct parser *p, const char *at, const char *what, const char *quoted,
                  const char *hint)
{
    if (is_over(p)) {
        return;
    }
    p->status = wf_err_set(p->err, WF_EINVAL, "column %zu: %s%s%.64s%s%s",
                           (size_t)(at - p->text) + 1, what, quoted[0] != '\0' ? " '" : "",
                           quoted, quoted[0] != '\0' ? "'" : "", hint);
}

/* ---- instructions ---- */

static void emit(struct parser *p, struct instruction instruction)
{
    struct wf_expr_program *program = p->program;

    if (is_over(p)) {
        return;
    }
    program->code[program->n++] = instruction;
    if (instruction.code == CONSTANT || instruction.code == VARIABLE) {
        p->on_stack++;
    } else if (instruction.code != NEGATE) {
        p->on_stack--;
    }
    program->height = p->on_stack > program->height ? p->on_stack : program->height;
}

/* ---- words ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void skip_space(struct parser *p)
{
    while (*p->at == ' ' || *p->at == '\t') {
        p->at++;
    }
}

static bool take(struct parser *p, char c)
{
    skip_space(p);
    if (*p->at != c || is_over(p)) {
        return false;
    }
    p->at++;
    return true;
}

static void expect(struct parser *p, char c, const char *what)
{
    if (!take(p, c)) {
        fault(p, p->at, what, "", *p->at == '\0' ? ", but the formula ends" : "");
    }
}

/* Copies the name at the present place and moves past it; "" if there is none. */
static void take_name(struct parser *p, char *name)
{
    size_t length = 0;

    while (is_letter(*p->at) ||
           (length > 0 && (is_digit(*p->at) || *p->at == '.' || *p->at == ':'))) {
        if (length < NAME_MAX_LEN) {
            name[length++] = *p->at;
        }
        p->at++;
    }
    name[length] = '\0';
}

static const struct unit {
    const char *name;
    uint64_t ps;
} units[] = {
    {"ps", 1},
    {"ns", 1000},
    {"us", 1000000},
    {"ms", 1000000000},
    {"s", UINT64_C(1000000000000)},
    {"min", UINT64_C(60000000000000)},
    {"h", UINT64_C(3600000000000000)},
};

static uint64_t take_unit(struct parser *p, enum sort *sort)
{
    const char *at = p->at;
    char name[NAME_MAX_LEN + 1], hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    take_name(p, name);
    if (name[0] == '\0') {
        return 1;
    }
    *sort = TIME;
    wf_nearest_begin(&nearest, name);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(units[i].name, name) == 0) {
            return units[i].ps;
        }
        wf_nearest_add(&nearest, units[i].name);
    }
    fault(p, at, "unknown unit of time", name, wf_nearest_hint(&nearest, hint));
    return 1;
}

/* The power of ten after a number, as in 7.9e-11; 0 if there is none. */
static int32_t take_exponent(struct parser *p)
{
    enum { MOST = 99 };
    const char *at = p->at;
    bool is_signed = *at == 'e' && (at[1] == '-' || at[1] == '+');
    int32_t power = 0;

    if (*at != 'e' || !is_digit(at[1 + is_signed])) {
        return 0;
    }
    for (p->at += 1 + is_signed; is_digit(*p->at) && power <= MOST; p->at++) {
        power = 10 * power + (*p->at - '0');
    }
    if (power > MOST) {
        fault(p, at, "the exponent is beyond 99", "", "");
    }
    return at[1] == '-' ? -power : power;
}

/* num * 10^power, rounded to the last binary place; a value that is too large becomes the largest
 * one. */
static struct wf_fixed scale_by_ten(wf_u128 num, int32_t power)
{
    enum { DIVISOR_DIGITS = 19 };
    uint64_t divisor = 1;

    for (; power > 0 && num <= WF_FIXED_MAX / 10; power--) {
        num *= 10;
    }
    if (power > 0 && num > 0) {
        return (struct wf_fixed){WF_FIXED_MAX, false};
    }
    for (; power < -DIVISOR_DIGITS; power++) {
        num = (num + 5) / 10;
    }
    for (; power < 0; power++) {
        divisor *= 10;
    }
    return wf_fixed_ratio(num, divisor);
}

static enum sort parse_number(struct parser *p)
{
    const char *begin = p->at;
    uint64_t digits = 0;
    int32_t n_behind = 0;
    uint32_t n_digits = 0;
    bool behind = false;
    enum sort sort = NUMBER;

    for (; is_digit(*p->at) || (*p->at == '.' && !behind && is_digit(p->at[1])); p->at++) {
        if (*p->at == '.') {
            behind = true;
            continue;
        }
        n_digits += n_digits > 0 || *p->at != '0' || behind;
        if (n_digits > DIGITS_MAX) {
            fault(p, begin, "the number has more than 18 digits", "", "");
            return NUMBER;
        }
        digits = 10 * digits + (uint64_t)(*p->at - '0');
        n_behind += behind;
    }

    int32_t power = take_exponent(p) - n_behind;
    wf_u128 unit = take_unit(p, &sort);
    emit(p, (struct instruction){.code = CONSTANT,
                                 .constant = scale_by_ten(digits * unit, power)});
    return sort == NUMBER && digits == 0 ? ZERO : sort;
}

/* ---- the grammar ---- */

static enum sort parse_sum(struct parser *p);
static enum sort parse_factor(struct parser *p);

/* The type of two values that are added or compared. */
static enum sort unite(struct parser *p, const char *at, enum sort a, enum sort b)
{
    if (a == ZERO || b == ZERO) {
        return a == ZERO ? b : a;
    }
    if (a != b) {
        fault(p, at, "a time and a number do not go together; a unit is missing, as in 5us", "",
              "");
    }
    return a;
}

static enum sort parse_function(struct parser *p, enum code code)
{
    enum sort a = parse_sum(p);
    const char *at = p->at;

    expect(p, ',', "expected ','");
    enum sort b = parse_sum(p);
    expect(p, ')', "expected ')'");
    emit(p, (struct instruction){.code = code});
    return unite(p, at, a, b);
}

static enum sort parse_variable(struct parser *p, const char *at, const char *name)
{
    char hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    wf_nearest_begin(&nearest, name);
    for (uint32_t i = 0; i < p->n_variables; i++) {
        if (strcmp(p->variables[i].name, name) == 0) {
            emit(p, (struct instruction){.code = VARIABLE, .variable = i});
            p->varies = true;
            return p->variables[i].is_time ? TIME : NUMBER;
        }
        wf_nearest_add(&nearest, p->variables[i].name);
    }
    fault(p, at, "unknown name", name, wf_nearest_hint(&nearest, hint));
    return NUMBER;
}

static enum sort parse_word(struct parser *p)
{
    const char *at = p->at;
    char name[NAME_MAX_LEN + 1];

    take_name(p, name);
    bool is_min = strcmp(name, "min") == 0;
    if ((is_min || strcmp(name, "max") == 0) && take(p, '(')) {
        return parse_function(p, is_min ? MINIMUM : MAXIMUM);
    }
    return parse_variable(p, at, name);
}

static enum sort parse_simple(struct parser *p)
{
    enum sort sort = NUMBER;

    skip_space(p);
    if (is_digit(*p->at)) {
        return parse_number(p);
    }
    if (is_letter(*p->at)) {
        return parse_word(p);
    }
    if (take(p, '-')) {
        sort = parse_factor(p);
        emit(p, (struct instruction){.code = NEGATE});
    } else if (take(p, '(')) {
        sort = parse_sum(p);
        expect(p, ')', "expected ')'");
    } else {
        fault(p, p->at, "expected a number, a name or '('", "",
              *p->at == '\0' ? ", but the formula ends" : "");
    }
    return sort;
}

static enum sort parse_factor(struct parser *p)
{
    enum sort sort = NUMBER;

    if (p->depth == DEPTH_MAX) {
        fault(p, p->at, "parentheses or signs are nested too deeply", "", "");
        return NUMBER;
    }
    p->depth++;
    if (!is_over(p)) {
        sort = parse_simple(p);
    }
    p->depth--;
    return sort;
}

static enum sort multiply_sorts(struct parser *p, const char *at, enum sort a, enum sort b)
{
    if (a == TIME && b == TIME) {
        fault(p, at, "a time is multiplied by a time", "", "");
    }
    return a == TIME || b == TIME ? TIME : a == ZERO || b == ZERO ? ZERO : NUMBER;
}

static enum sort divide_sorts(struct parser *p, const char *at, enum sort a, enum sort b)
{
    if (b == ZERO) {
        fault(p, at, "division by zero", "", "");
    } else if (a == NUMBER && b == TIME) {
        fault(p, at, "a number is divided by a time", "", "");
    }
    return a == TIME && b == TIME ? NUMBER : a;
}

static enum sort parse_product(struct parser *p)
{
    enum sort sort = parse_factor(p);

    for (;;) {
        skip_space(p);
        const char *at = p->at;
        if (take(p, '*')) {
            sort = multiply_sorts(p, at, sort, parse_factor(p));
            emit(p, (struct instruction){.code = MULTIPLY});
        } else if (take(p, '/')) {
            sort = divide_sorts(p, at, sort, parse_factor(p));
            emit(p, (struct instruction){.code = DIVIDE});
        } else {
            return sort;
        }
    }
}

static enum sort parse_sum(struct parser *p)
{
    enum sort sort = parse_product(p);

    for (;;) {
        skip_space(p);
        const char *at = p->at;
        enum code code = *at == '+' ? ADD : SUBTRACT;
        if (!take(p, '+') && !take(p, '-')) {
            return sort;
        }
        sort = unite(p, at, sort, parse_product(p));
        emit(p, (struct instruction){.code = code});
    }
}

enum wf_status wf_expr_compile(const char *text, const struct wf_expr_variable *variables,
                               uint32_t n_variables, struct wf_expr_program **out,
                               struct wf_err *err)
{
    size_t length = strnlen(text, WF_EXPR_TEXT_MAX + 1);
    struct parser p = {.text = text,
                       .at = text,
                       .variables = variables,
                       .n_variables = n_variables,
                       .status = WF_OK,
                       .err = err};

    if (length > WF_EXPR_TEXT_MAX) {
        return wf_err_set(err, WF_EINVAL, "the formula is longer than %d characters",
                          WF_EXPR_TEXT_MAX);
    }
    /* No character makes more than one instruction. */
    p.program = wf_xcalloc(1, sizeof(*p.program) + length * sizeof(p.program->code[0]));
    enum sort sort = parse_sum(&p);
    skip_space(&p);
    if (*p.at != '\0') {
        char found[2] = {*p.at, '\0'};
        fault(&p, p.at, "expected an operator or the end, not", found, "");
    }
    if (is_over(&p)) {
        free(p.program);
        return p.status;
    }
    p.program->is_time = sort == TIME;
    p.program->is_constant = !p.varies;
    *out = p.program;
    return WF_OK;
}

void wf_expr_free(struct wf_expr_program *program)
{
    free(program);
}

bool wf_expr_is_time(const struct wf_expr_program *program)
{
    return program->is_time;
}

bool wf_expr_is_constant(const struct wf_expr_program *program)
{
    return program->is_constant;
}

/* ---- evaluation ---- */

/* Applies an operator to two operands; a divisor is not 0. */
static struct wf_fixed combine(enum code code, struct wf_fixed a, struct wf_fixed b)
{
    if (code == ADD) {
        return wf_fixed_add(a, b);
    }
    if (code == SUBTRACT) {
        return wf_fixed_add(a, wf_fixed_negate(b));
    }
    if (code == MULTIPLY) {
        return wf_fixed_multiply(a, b);
    }
    if (code == DIVIDE) {
        return wf_fixed_divide(a, b);
    }
    return wf_fixed_less(a, b) == (code == MINIMUM) ? a : b;
}

static enum wf_expr_outcome evaluate(const struct wf_expr_program *program,
                                     const uint64_t *values, struct wf_fixed *out)
{
    struct wf_fixed stack[STACK_MAX];
    uint32_t top = 0;

    memset(stack, 0, program->height * sizeof(stack[0]));
    for (uint32_t i = 0; i < program->n; i++) {
        const struct instruction *in = &program->code[i];

        if (in->code == CONSTANT) {
            stack[top++] = in->constant;
        } else if (in->code == VARIABLE) {
            stack[top++] = wf_fixed_whole(values[in->variable]);
        } else if (in->code == NEGATE) {
            stack[top - 1] = wf_fixed_negate(stack[top - 1]);
        } else {
            top--;
            if (in->code == DIVIDE && stack[top].size == 0) {
                return WF_EXPR_BY_ZERO;
            }
            stack[top - 1] = combine(in->code, stack[top - 1], stack[top]);
        }
    }
    *out = stack[0];
    return WF_EXPR_FINE;
}

/* The value, rounded to `bits` binary places. */
static enum wf_expr_outcome round_value(const struct wf_expr_program *program,
                                        const uint64_t *values, unsigned bits, uint64_t max,
                                        uint64_t *out)
{
    struct wf_fixed value;
    enum wf_expr_outcome outcome = evaluate(program, values, &value);

    if (outcome != WF_EXPR_FINE) {
        return outcome;
    }
    uint64_t rounded = wf_fixed_round(value, bits, max);
    if (value.negative && rounded != 0) {
        return WF_EXPR_NEGATIVE;
    }
    *out = rounded;
    return WF_EXPR_FINE;
}

enum wf_expr_outcome wf_expr_time(const struct wf_expr_program *program, const uint64_t *values,
                                  int64_t *out)
{
    uint64_t time = 0;
    enum wf_expr_outcome outcome =
        round_value(program, values, 0, (uint64_t)WF_TIME_MAX, &time);

    if (outcome == WF_EXPR_FINE) {
        *out = (int64_t)time;
    }
    return outcome;
}

enum wf_expr_outcome wf_expr_number(const struct wf_expr_program *program,
                                    const uint64_t *values, uint64_t *out)
{
    return round_value(program, values, WF_EXPR_NUMBER_BITS, UINT64_MAX, out);
}

const char *wf_expr_outcome_text(enum wf_expr_outcome outcome)
{
    static const char *const texts[] = {
        [WF_EXPR_FINE] = "is fine",
        [WF_EXPR_BY_ZERO] = "divides by zero",
        [WF_EXPR_NEGATIVE] = "is negative",
    };

    return texts[outcome];
}
