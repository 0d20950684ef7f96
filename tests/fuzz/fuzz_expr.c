/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: no formula may crash the compiler or what it makes; a formula that is understood
 * has the same value twice, and in parentheses, and no time beyond the limits; one that is not
 * is explained with its column. The first bytes are the values of the variables. */
#include "base/expr.h"
#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct wf_expr_variable variables[] = {
    {"t", true}, {"n", false}, {"rank", false}, {"size", false}, {"cycles", false}};
enum { N_VARIABLES = sizeof(variables) / sizeof(variables[0]), TEXT_MAX = 1100 };

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

static struct wf_expr_program *compile(const char *text)
{
    struct wf_err err = {.status = WF_OK};
    struct wf_expr_program *program = NULL;
    enum wf_status status = wf_expr_compile(text, variables, N_VARIABLES, &program, &err);

    if (status != WF_OK) {
        require(status == WF_EINVAL && err.status == WF_EINVAL && program == NULL);
        require(strncmp(err.text, "column ", 7) == 0 || strlen(text) > WF_EXPR_TEXT_MAX);
        require(strtol(err.text + 7, NULL, 10) <= (long)strlen(text) + 1);
    }
    return program;
}

struct result {
    enum wf_expr_outcome outcome;
    int64_t time;
    uint64_t number;
};

static struct result evaluate(const struct wf_expr_program *program, const uint64_t *values)
{
    struct result out = {.time = -1, .number = 77};

    if (wf_expr_is_time(program)) {
        out.outcome = wf_expr_time(program, values, &out.time);
        require((out.outcome == WF_EXPR_FINE) == (out.time >= 0));
    } else {
        out.outcome = wf_expr_number(program, values, &out.number);
        require(out.outcome == WF_EXPR_FINE || out.number == 77);
    }
    require(wf_expr_outcome_text(out.outcome) != NULL);
    return out;
}

static void check_same(const char *text, const struct result *expected, const uint64_t *values)
{
    struct wf_expr_program *program = compile(text);

    if (program == NULL) {
        return; /* one more pair of parentheses may be one too many */
    }
    struct result out = evaluate(program, values);
    require(out.outcome == expected->outcome && out.time == expected->time &&
            out.number == expected->number);
    wf_expr_free(program);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t values[N_VARIABLES];
    char text[TEXT_MAX], in_parentheses[TEXT_MAX + 2];

    if (size < sizeof(values) || size - sizeof(values) >= sizeof(text)) {
        return 0;
    }
    memcpy(values, data, sizeof(values));
    memcpy(text, data + sizeof(values), size - sizeof(values));
    text[size - sizeof(values)] = '\0';

    struct wf_expr_program *program = compile(text);
    if (program != NULL) {
        struct result first = evaluate(program, values);
        struct result second = evaluate(program, values);

        require(first.outcome == second.outcome && first.time == second.time &&
                first.number == second.number);
        (void)snprintf(in_parentheses, sizeof(in_parentheses), "(%s)", text);
        check_same(in_parentheses, &first, values);
        wf_expr_free(program);
    }
    return 0;
}
