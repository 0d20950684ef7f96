/* SPDX-License-Identifier: Apache-2.0 */
/* Compares formulas with values computed by hand. */
#include "base/expr.h"
#include "base/units.h"

#include "harness/wf_test.h"

static const struct wf_expr_variable variables[] = {
    {"t", true}, {"n", false}, {"rank", false}, {"size", false}, {"PAPI_TOT.INS:x", false}};
enum { N_VARIABLES = sizeof(variables) / sizeof(variables[0]) };

static const uint64_t values[N_VARIABLES] = {1500, 7, 3, 16, UINT64_MAX};

static struct wf_expr_program *compile(const char *text)
{
    struct wf_expr_program *program = NULL;
    struct wf_err err = {.status = WF_OK};

    if (wf_expr_compile(text, variables, N_VARIABLES, &program, &err) != WF_OK) {
        printf("# %s: %s\n", text, err.text);
        abort();
    }
    return program;
}

/* The time of a formula, or minus the fault. */
static int64_t time_of(const char *text)
{
    struct wf_expr_program *program = compile(text);
    int64_t out = -77;
    enum wf_expr_outcome outcome = wf_expr_time(program, values, &out);

    if (!wf_expr_is_time(program) || (outcome != WF_EXPR_FINE) != (out == -77)) {
        abort();
    }
    wf_expr_free(program);
    return outcome == WF_EXPR_FINE ? out : -(int64_t)outcome;
}

/* A number with 32 binary places. */
static uint64_t number_of(const char *text)
{
    struct wf_expr_program *program = compile(text);
    uint64_t out = 0;

    if (wf_expr_is_time(program) || wf_expr_number(program, values, &out) != WF_EXPR_FINE) {
        abort();
    }
    wf_expr_free(program);
    return out;
}

static void times_are_exact(void)
{
    CHECK(time_of("2.1us*n") == 14700000);
    CHECK(time_of("n*2.1us") == 14700000);
    CHECK(time_of("t") == 1500);
    CHECK(time_of("t*2 + 5ns") == 8000);
    CHECK(time_of("t*(2 + 5)") == 10500);
    CHECK(time_of(" ( t ) ") == 1500);
    CHECK(time_of("1us - 1ns*(size - 1)") == 1000000 - 15000);
    CHECK(time_of("1ms - 1us - 1ns") == 1000000000 - 1000000 - 1000);
    CHECK(time_of("8ns/2/2") == 2000);
    CHECK(time_of("1h/60 - 1min") == 0);
    CHECK(time_of("2s") == INT64_C(2000000000000));
    CHECK(time_of("max(t, 1ns*n)") == 7000);
    CHECK(time_of("min(t, 1ns*n)") == 1500);
    CHECK(time_of("max(t - 1us, 0)") == 0);
    CHECK(time_of("max(0, max(-t, --t))") == 1500);
    CHECK(time_of("-t + 2ns") == 500);
    CHECK(time_of("2ns+-t") == 500);
    CHECK(time_of("1ns*(1us/10ns)") == 100000); /* a ratio of times is a number */
    CHECK(time_of("000001ns") == 1000);
    CHECK(time_of("7.9e-11s*n") == 553);
    CHECK(time_of("7.905500751063348e-11s*1000000") == 79055008); /* 26 places */
    CHECK(time_of("1.5e+3ns") == 1500000);
    CHECK(time_of("1e-99s") == 0);
    CHECK(time_of("1e99s") == WF_TIME_MAX);
}

/* 0.5 ps is 1 ps, 0.4 ps nothing; 0.3 ps is within 2^-41 ps of its value. */
static void times_are_rounded_to_the_nearest(void)
{
    CHECK(time_of("0.5ps") == 1);
    CHECK(time_of("0.4ps") == 0);
    CHECK(time_of("1.5ps") == 2);
    CHECK(time_of("0.0005ns*n") == 4); /* 3.5 */
    CHECK(time_of("1ps/3") == 0);      /* 0.33 */
    CHECK(time_of("1ps/3*2") == 1);    /* 0.67 */
    CHECK(time_of("10ps/3*3") == 10);  /* off by 3 * 2^-41 */
    CHECK(time_of("0.3ps*1000000000") == 300000000);
    CHECK(time_of("0.4ps - 0.8ps") == 0); /* -0.4 is no negative time */
    CHECK(time_of("0.2ps - 0.8ps") == -WF_EXPR_NEGATIVE);
}

static void what_is_too_large_is_the_largest(void)
{
    CHECK(time_of("1h*1000000") == WF_TIME_MAX);
    CHECK(time_of("1ps*PAPI_TOT.INS:x") == WF_TIME_MAX);
    CHECK(time_of("1ps*PAPI_TOT.INS:x*PAPI_TOT.INS:x") == WF_TIME_MAX);
    CHECK(time_of("1h*PAPI_TOT.INS:x*PAPI_TOT.INS:x/PAPI_TOT.INS:x") == 8388608);
    CHECK(time_of("0.25ps*PAPI_TOT.INS:x") == INT64_C(1) << 62);
    CHECK(number_of("999999999999999999*n") == UINT64_MAX);
    CHECK(time_of("1h*999999999999999999*999999999999999999 - 1h") == WF_TIME_MAX);
    CHECK(time_of("1h - 1h*999999999999999999*999999999999999999") == -WF_EXPR_NEGATIVE);
}

static void numbers_have_binary_places(void)
{
    CHECK_U64(number_of("1"), UINT64_C(1) << 32);
    CHECK_U64(number_of("0"), 0);
    CHECK_U64(number_of("0.5"), UINT64_C(1) << 31);
    CHECK_U64(number_of("n/size"), UINT64_C(7) << 28);
    CHECK_U64(number_of("1/3"), 1431655765); /* 2^32 / 3 = 1431655765.33 */
    CHECK_U64(number_of("2/3"), 2863311531); /* 2863311530.67 */
    CHECK_U64(number_of("t/1ns"), UINT64_C(3) << 31);
}

static void a_division_by_zero_is_told(void)
{
    CHECK(time_of("t/(n - 7)") == -WF_EXPR_BY_ZERO);
    CHECK(time_of("0ns/(rank - 3)") == -WF_EXPR_BY_ZERO);
    CHECK(time_of("t/max(n - 7, 1)") == 1500);
    CHECK(time_of("t - 2ns") == -WF_EXPR_NEGATIVE);
    CHECK(time_of("max(0, t - 2ns)") == 0);
}

static void constants_are_known(void)
{
    static const struct {
        const char *text;
        bool is_constant, is_time;
    } cases[] = {{"1", true, false},    {"1us", true, true},      {"n", false, false},
                 {"0*n", false, false}, {"2us/1us", true, false}, {"min(1,2)*3ns", true, true}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_expr_program *program = compile(cases[i].text);
        CHECK(wf_expr_is_constant(program) == cases[i].is_constant);
        CHECK(wf_expr_is_time(program) == cases[i].is_time);
        wf_expr_free(program);
    }
}

static void faults_tell_their_column(void)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "column 1: expected a number, a name or '(', but the formula ends"},
        {"2.1us*m", "column 7: unknown name 'm'"},
        {"sise*1us", "column 1: unknown name 'sise'; did you mean 'size'?"},
        {"1us*1us", "column 4: a time is multiplied by a time"},
        {"n/t", "column 2: a number is divided by a time"},
        {"t + 5",
         "column 3: a time and a number do not go together; a unit is missing, as in 5us"},
        {"max(t, n)",
         "column 6: a time and a number do not go together; a unit is missing, as in 5us"},
        {"t/0", "column 2: division by zero"},
        {"(t", "column 3: expected ')', but the formula ends"},
        {"t)", "column 2: expected an operator or the end, not ')'"},
        {"min(t)", "column 6: expected ','"},
        {"3usec", "column 2: unknown unit of time 'usec'; did you mean 'us'?"},
        {"t t", "column 3: expected an operator or the end, not 't'"},
        {"1.", "column 2: expected an operator or the end, not '.'"},
        {"t**2", "column 3: expected a number, a name or '('"},
        {"1e100us", "column 2: the exponent is beyond 99"},
        {"1e-us", "column 2: unknown unit of time 'e'"},
        {"0.1234567890123456789us", "column 1: the number has more than 18 digits"},
        {"min", "column 1: unknown name 'min'"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_expr_program *program = NULL;
        struct wf_err err = {.status = WF_OK};
        CHECK(wf_expr_compile(cases[i].text, variables, N_VARIABLES, &program, &err) ==
              WF_EINVAL);
        CHECK(program == NULL);
        CHECK_STR(err.text, cases[i].words);
    }
}

/* A formula can be long and deep, but not without end. */
static void limits_are_kept(void)
{
    char text[WF_EXPR_TEXT_MAX + 2];
    struct wf_expr_program *program = NULL;
    struct wf_err err = {.status = WF_OK};

    memset(text, '1', sizeof(text));
    for (size_t i = 1; i < sizeof(text); i += 2) {
        text[i] = '+';
    }
    text[WF_EXPR_TEXT_MAX - 1] = '\0';
    CHECK_U64(number_of(text), UINT64_C(500) << 32);

    memset(text, '(', sizeof(text));
    text[WF_EXPR_TEXT_MAX] = '\0';
    CHECK(wf_expr_compile(text, NULL, 0, &program, &err) == WF_EINVAL);
    CHECK_STR(err.text, "column 41: parentheses or signs are nested too deeply");
    text[WF_EXPR_TEXT_MAX] = '(';
    text[WF_EXPR_TEXT_MAX + 1] = '\0';
    CHECK(wf_expr_compile(text, NULL, 0, &program, &err) == WF_EINVAL);
    CHECK_STR(err.text, "the formula is longer than 1000 characters");

    /* The deepest stack: at each level an operand of a sum, one of a product and a first
     * argument wait. */
    size_t at = 0;
    for (int i = 0; i < 39; i++) {
        at += (size_t)snprintf(text + at, sizeof(text) - at, "1+1*max(0,");
    }
    at += (size_t)snprintf(text + at, sizeof(text) - at, "1+1*1");
    memset(text + at, ')', 39);
    text[at + 39] = '\0';
    CHECK_U64(number_of(text), UINT64_C(41) << 32);
}

int main(void)
{
    RUN(times_are_exact);
    RUN(times_are_rounded_to_the_nearest);
    RUN(what_is_too_large_is_the_largest);
    RUN(numbers_have_binary_places);
    RUN(a_division_by_zero_is_told);
    RUN(constants_are_known);
    RUN(faults_tell_their_column);
    RUN(limits_are_kept);
    return wf_test_done();
}
