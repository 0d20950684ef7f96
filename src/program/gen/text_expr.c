/* SPDX-License-Identifier: Apache-2.0 */
#include "program/gen/text_expr.h"

#include "base/array.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

static const char overflow[] = "the result is beyond 64 bits";
static const char by_zero[] = "division by zero";

static const char *add(int64_t a, int64_t b, int64_t *out)
{
    return __builtin_add_overflow(a, b, out) ? overflow : NULL;
}

static const char *subtract(int64_t a, int64_t b, int64_t *out)
{
    return __builtin_sub_overflow(a, b, out) ? overflow : NULL;
}

static const char *multiply(int64_t a, int64_t b, int64_t *out)
{
    return __builtin_mul_overflow(a, b, out) ? overflow : NULL;
}

/* Rounds down, so that (rank - 1) % size is a rank. */
static const char *divide(int64_t a, int64_t b, int64_t *out)
{
    if (b == 0) {
        return by_zero;
    }
    if (b == -1) {
        return subtract(0, a, out);
    }
    *out = a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
    return NULL;
}

static const char *modulo(int64_t a, int64_t b, int64_t *out)
{
    if (b == 0) {
        return by_zero;
    }
    if (b == -1) {
        *out = 0;
        return NULL;
    }
    *out = a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
    return NULL;
}

static const char *shift_left(int64_t a, int64_t b, int64_t *out)
{
    if (b < 0 || b > 62) {
        return "a shift must be by 0 to 62 bits";
    }
    return multiply(a, INT64_C(1) << b, out);
}

static const char *shift_right(int64_t a, int64_t b, int64_t *out)
{
    if (b < 0 || b > 62) {
        return "a shift must be by 0 to 62 bits";
    }
    return divide(a, INT64_C(1) << b, out);
}

#define PLAIN(name, expression)                                 \
    static const char *name(int64_t a, int64_t b, int64_t *out) \
    {                                                           \
        *out = (expression);                                    \
        return NULL;                                            \
    }

PLAIN(equal, a == b)
PLAIN(not_equal, a != b)
PLAIN(less, a < b)
PLAIN(less_equal, a <= b)
PLAIN(greater, a > b)
PLAIN(greater_equal, a >= b)
PLAIN(bits_and, (int64_t)((uint64_t)a &(uint64_t)b))
PLAIN(bits_or, (int64_t)((uint64_t)a | (uint64_t)b))
PLAIN(bits_xor, (int64_t)((uint64_t)a ^ (uint64_t)b))
PLAIN(least, a < b ? a : b)
PLAIN(greatest, a > b ? a : b)
#undef PLAIN

static const char *is_zero(int64_t a, int64_t b, int64_t *out)
{
    *out = a == 0;
    return NULL;
}

static const char *negate(int64_t a, int64_t b, int64_t *out)
{
    return subtract(0, a, out);
}

/* The largest x with x^exponent <= a, exponent being 2 or 3. */
static int64_t root(int64_t a, uint32_t exponent)
{
    int64_t low = 0, high = exponent == 2 ? INT64_C(3037000499) : INT64_C(2097151);

    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        int64_t power = middle * middle * (exponent == 3 ? middle : 1);
        if (power <= a) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

static const char *square_root(int64_t a, int64_t b, int64_t *out)
{
    *out = root(a, 2);
    return a < 0 ? "there is no root of a negative number" : NULL;
}

static const char *cube_root(int64_t a, int64_t b, int64_t *out)
{
    *out = root(a, 3);
    return a < 0 ? "there is no root of a negative number" : NULL;
}

static const char *logarithm(int64_t a, int64_t b, int64_t *out)
{
    if (a < 1) {
        return "there is a logarithm of positive numbers only";
    }
    *out = 63 - __builtin_clzll((unsigned long long)a);
    return NULL;
}

static const char *draw(int64_t a, int64_t b, int64_t *out)
{
    if (a < 1) {
        return "the first operand of random must be at least 1";
    }
    *out = (int64_t)wf_rng_below(wf_rng_draw(0, 0, (uint64_t)b), (uint64_t)a);
    return NULL;
}

const struct wf_gen_operation wf_gen_operations[] = {
    {"|", 4, 2, bits_or},      {"^", 5, 2, bits_xor},     {"&", 6, 2, bits_and},
    {"==", 3, 2, equal},       {"!=", 3, 2, not_equal},   {"<", 3, 2, less},
    {"<=", 3, 2, less_equal},  {">", 3, 2, greater},      {">=", 3, 2, greater_equal},
    {"<<", 7, 2, shift_left},  {">>", 7, 2, shift_right}, {"+", 8, 2, add},
    {"-", 8, 2, subtract},     {"*", 9, 2, multiply},     {"/", 9, 2, divide},
    {"%", 9, 2, modulo},       {"min", 0, 2, least},      {"max", 0, 2, greatest},
    {"random", 0, 2, draw},    {"log2", 0, 1, logarithm}, {"sqrt", 0, 1, square_root},
    {"cbrt", 0, 1, cube_root}, {"unary -", 0, 1, negate}, {"!", 0, 1, is_zero},
    {NULL, 0, 0, NULL},
};

int64_t wf_gen_operation_number(const char *name)
{
    int64_t i = 0;

    while (wf_gen_operations[i].name != NULL && strcmp(wf_gen_operations[i].name, name) != 0) {
        i++;
    }
    return i;
}

static uint32_t n_operands(const struct wf_gen_calc *expr)
{
    switch ((enum wf_gen_calc_kind)expr->kind) {
    case WF_GEN_CALC_LOOP:
        return 1;
    case WF_GEN_CALC_OPERATION:
        return wf_gen_operations[expr->value].n_operands;
    case WF_GEN_CALC_AND:
    case WF_GEN_CALC_OR:
        return 2;
    case WF_GEN_CALC_CHOICE:
        return 3;
    case WF_GEN_CALC_NUMBER:
    case WF_GEN_CALC_RANK:
    case WF_GEN_CALC_SEEN_SOURCE:
    case WF_GEN_CALC_SEEN_TAG:
        break;
    }
    return 0;
}

uint32_t wf_gen_calc_add(struct wf_gen_calc_table *table, struct wf_gen_lexer *lexer,
                         struct wf_gen_calc expr)
{
    const struct wf_gen_calc_state no_state = {0};
    struct wf_gen_calc_fault fault;
    int64_t value;

    expr.seen = expr.kind == WF_GEN_CALC_SEEN_SOURCE || expr.kind == WF_GEN_CALC_SEEN_TAG;
    expr.varies = expr.seen || expr.kind == WF_GEN_CALC_RANK || expr.kind == WF_GEN_CALC_LOOP;
    expr.depth = 1;
    expr.weight = 1;
    for (uint32_t i = 0; i < n_operands(&expr); i++) {
        const struct wf_gen_calc *operand = &table->nodes[expr.operand[i]];
        expr.seen |= operand->seen;
        expr.varies |= operand->varies;
        expr.weight += operand->weight;
        if (operand->depth >= expr.depth) {
            expr.depth = (uint16_t)(operand->depth + 1);
        }
    }
    if (expr.depth > WF_GEN_CALC_DEPTH_MAX || expr.weight > WF_GEN_CALC_WEIGHT_MAX) {
        (void)wf_gen_lex_fault(lexer, expr.place,
                               "the expression is too large: at most %d operations, those of "
                               "names it uses included, and %d one in the other",
                               WF_GEN_CALC_WEIGHT_MAX, WF_GEN_CALC_DEPTH_MAX);
        return 0;
    }
    WF_GROW(table->nodes, table->n, table->capacity);
    table->nodes[table->n] = expr;
    /* An expression without a value may be in a branch that is not taken, so the fault is
     * left for run time. */
    if (!expr.varies && wf_gen_calc_value(table->nodes, table->n, &no_state, &value, &fault)) {
        table->nodes[table->n] = (struct wf_gen_calc){.kind = WF_GEN_CALC_NUMBER,
                                                      .depth = 1,
                                                      .weight = 1,
                                                      .place = expr.place,
                                                      .value = value};
    }
    return table->n++;
}

static bool failed(struct wf_gen_calc_fault *fault, struct wf_gen_text_place place,
                   const char *what)
{
    *fault = (struct wf_gen_calc_fault){place, what};
    return false;
}

static bool value_of_operation(const struct wf_gen_calc *nodes, const struct wf_gen_calc *expr,
                               const struct wf_gen_calc_state *state, int64_t *out,
                               struct wf_gen_calc_fault *fault)
{
    const struct wf_gen_operation *operation = &wf_gen_operations[expr->value];
    int64_t a, b = 0;

    if (!wf_gen_calc_value(nodes, expr->operand[0], state, &a, fault) ||
        (operation->n_operands == 2 &&
         !wf_gen_calc_value(nodes, expr->operand[1], state, &b, fault))) {
        return false;
    }
    const char *what = operation->apply(a, b, out);
    return what == NULL || failed(fault, expr->place, what);
}

/* AND, OR and CHOICE evaluate the second operand only if it matters. */
static bool value_of_decision(const struct wf_gen_calc *nodes, const struct wf_gen_calc *expr,
                              const struct wf_gen_calc_state *state, int64_t *out,
                              struct wf_gen_calc_fault *fault)
{
    int64_t a;

    if (!wf_gen_calc_value(nodes, expr->operand[0], state, &a, fault)) {
        return false;
    }
    if (expr->kind == WF_GEN_CALC_CHOICE) {
        return wf_gen_calc_value(nodes, expr->operand[a != 0 ? 1 : 2], state, out, fault);
    }
    if ((a != 0) == (expr->kind == WF_GEN_CALC_OR)) {
        *out = a != 0;
        return true;
    }
    if (!wf_gen_calc_value(nodes, expr->operand[1], state, &a, fault)) {
        return false;
    }
    *out = a != 0;
    return true;
}

bool wf_gen_calc_value(const struct wf_gen_calc *nodes, uint32_t number,
                       const struct wf_gen_calc_state *state, int64_t *out,
                       struct wf_gen_calc_fault *fault)
{
    const struct wf_gen_calc *expr = &nodes[number];

    switch ((enum wf_gen_calc_kind)expr->kind) {
    case WF_GEN_CALC_NUMBER:
        *out = expr->value;
        return true;
    case WF_GEN_CALC_RANK:
        *out = state->rank;
        return true;
    case WF_GEN_CALC_SEEN_SOURCE:
        *out = state->seen_source;
        return true;
    case WF_GEN_CALC_SEEN_TAG:
        *out = state->seen_tag;
        return true;
    case WF_GEN_CALC_LOOP:
        if (!wf_gen_calc_value(nodes, expr->operand[0], state, out, fault)) {
            return false;
        }
        return !__builtin_add_overflow(*out, state->counters[expr->value], out) ||
               failed(fault, expr->place, overflow);
    case WF_GEN_CALC_OPERATION:
        return value_of_operation(nodes, expr, state, out, fault);
    case WF_GEN_CALC_AND:
    case WF_GEN_CALC_OR:
    case WF_GEN_CALC_CHOICE:
        return value_of_decision(nodes, expr, state, out, fault);
    }
    return failed(fault, expr->place, "no such expression");
}
