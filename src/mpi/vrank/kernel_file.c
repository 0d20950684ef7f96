/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/kernel_file.h"

#include "base/array.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "base/units.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *path;
    struct wf_vrank_kernels *out;
    uint32_t line;
    struct wf_err *err;
};

/* Adds the place to what is wrong. */
static enum wf_status fail(const struct reader *r, const char *what)
{
    char text[400];

    (void)snprintf(text, sizeof(text), "%.380s", what); /* it may be the text of the error */
    return wf_err_set(r->err, WF_EINVAL, "'%.200s', line %u: %s", r->path, r->line,
                      wf_text_safe(text));
}

/* ---- sections ---- */

static struct wf_vrank_kernel_section *add_section(struct wf_vrank_kernels *kernels)
{
    WF_GROW(kernels->sections, kernels->n_sections, kernels->max_sections);
    struct wf_vrank_kernel_section *section = &kernels->sections[kernels->n_sections++];
    *section = (struct wf_vrank_kernel_section){.ranges = NULL};
    section->times = wf_xcalloc(WF_VRANK_KERNELS_MAX, sizeof(*section->times));
    return section;
}

static bool take_number(const char **at, uint32_t *out)
{
    uint64_t value = 0;
    const char *begin = *at;

    for (; isdigit((unsigned char)**at); ++*at) {
        value = value <= UINT32_MAX ? 10 * value + (uint64_t)(**at - '0') : value;
    }
    *out = (uint32_t)value;
    return *at > begin && value < UINT32_MAX;
}

/* "[nodes 0-3 8]" or "[ranks 0-15]" */
static enum wf_status read_section(const struct reader *r, const char *at)
{
    static const char wanted[] =
        "expected [nodes <numbers>] or [ranks <numbers>], as in [nodes 0-3 8]";
    bool of_nodes = strncmp(at, "[nodes ", 7) == 0;

    if (!of_nodes && strncmp(at, "[ranks ", 7) != 0) {
        return fail(r, wanted);
    }
    struct wf_vrank_kernel_section *section = add_section(r->out);
    section->of_nodes = of_nodes;
    for (at += 7; at += strspn(at, " \t,"), *at != ']';) {
        struct wf_vrank_range range;
        if (!take_number(&at, &range.first)) {
            return fail(r, wanted);
        }
        range.last = range.first;
        if (*at == '-') {
            at++;
            if (!take_number(&at, &range.last) || range.last < range.first) {
                return fail(r, wanted);
            }
        }
        WF_PUSH(section->ranges, section->n_ranges, section->max_ranges, range);
    }
    return at[1 + strspn(at + 1, " \t")] == '\0' ? WF_OK : fail(r, wanted);
}

/* ---- functions ---- */

static enum wf_status add_function(const struct reader *r, uint32_t kernel, const char *name,
                                   const struct wf_vrank_arguments *arguments, bool is_real,
                                   uint32_t base)
{
    struct wf_vrank_kernels *out = r->out;

    if (wf_vrank_kernels_find(out, name) != WF_VRANK_KERNEL_NONE) {
        return fail(r, "this function is in the file twice, by its own name and that of BLAS");
    }
    if (out->n_functions == WF_VRANK_KERNELS_MAX) {
        char what[80];
        (void)snprintf(what, sizeof(what), "a file may have at most %d functions",
                       WF_VRANK_KERNELS_MAX);
        return fail(r, what);
    }
    struct wf_vrank_kernel_function *function = &out->functions[out->n_functions++];
    (void)snprintf(function->name, sizeof(function->name), "%s", name);
    function->kernel = kernel;
    function->base = base;
    function->arguments = *arguments;
    function->is_real = is_real;
    return WF_OK;
}

/* The symbols of a kernel without declared arguments: those of a routine of BLAS that it names, or
 * itself. */
static enum wf_status add_by_name(const struct reader *r, uint32_t number)
{
    static const char c_prefix[] = "cblas_";
    struct wf_vrank_kernel *kernel = &r->out->kernels[number];
    struct wf_vrank_arguments arguments;
    char plain[64], symbol[72];
    bool is_c = strncmp(kernel->name, c_prefix, sizeof(c_prefix) - 1) == 0;
    size_t length = strlen(kernel->name);
    bool is_fortran = !is_c && kernel->name[length - 1] == '_';

    (void)snprintf(plain, sizeof(plain), "%.*s", (int)(is_fortran ? length - 1 : length),
                   kernel->name + (is_c ? sizeof(c_prefix) - 1 : 0));
    uint32_t first = wf_vrank_is_index(plain);
    if (!is_c && wf_vrank_arguments_of_blas(plain, true, &arguments, &kernel->is_real)) {
        (void)snprintf(symbol, sizeof(symbol), "%s_", plain);
        kernel->arguments = arguments;
        WF_TRY(add_function(r, number, symbol, &arguments, kernel->is_real, first));
    }
    if (!is_fortran && wf_vrank_arguments_of_blas(plain, false, &arguments, &kernel->is_real)) {
        (void)snprintf(symbol, sizeof(symbol), "%s%s", c_prefix, plain);
        kernel->arguments = arguments;
        WF_TRY(add_function(r, number, symbol, &arguments, kernel->is_real, 0));
    }
    uint32_t n = r->out->n_functions;
    return n > 0 && r->out->functions[n - 1].kernel == number
               ? WF_OK
               : add_function(r, number, kernel->name, &arguments, false, 0);
}

static uint32_t find_kernel(const struct wf_vrank_kernels *kernels, const char *name)
{
    uint32_t i = 0;

    while (i < kernels->n_kernels && strcmp(kernels->kernels[i].name, name) != 0) {
        i++;
    }
    return i;
}

static size_t length_of_name(const char *at)
{
    size_t n = 0;

    while (isalnum((unsigned char)at[n]) || at[n] == '_') {
        n++;
    }
    return n;
}

/* The name, with what it returns before and its arguments after it; *at moves after them. */
static enum wf_status read_head(const struct reader *r, const char **at, uint32_t *number)
{
    static const char *const returned[] = {"double", "float", "int", "long", "void", NULL};
    enum { REALS = 2 };
    struct wf_vrank_kernels *out = r->out;
    char name[64];
    size_t length = length_of_name(*at), gap = strspn(*at + length, " \t");
    uint32_t type = 0;

    while (returned[type] != NULL &&
           (strlen(returned[type]) != length || strncmp(returned[type], *at, length) != 0)) {
        type++;
    }
    bool is_typed = returned[type] != NULL && gap > 0;
    *at += is_typed ? length + gap : 0;
    length = length_of_name(*at);
    if (length == 0 || length >= sizeof(name) || isdigit((unsigned char)**at)) {
        return fail(r, "expected the name of a function, as in dgemm: 2us + 80ps*m*n*k");
    }
    (void)snprintf(name, sizeof(name), "%.*s", (int)length, *at);
    *at += length;
    if (strncmp(name, "MPI_", 4) == 0 || strncmp(name, "PMPI_", 5) == 0 ||
        strcmp(name, "main") == 0) {
        return fail(r, "functions of MPI and main are always executed");
    }
    *number = find_kernel(out, name);
    bool is_new = *number == out->n_kernels;
    *at += strspn(*at, " \t");
    if (is_new) {
        if (out->n_kernels == WF_VRANK_KERNELS_MAX) {
            return fail(r, "there are too many functions");
        }
        out->kernels[out->n_kernels++].name = wf_xstrdup(name);
    }
    struct wf_vrank_kernel *kernel = &out->kernels[*number];
    if (**at == '(') {
        struct wf_err inner;
        if (!is_new) {
            return fail(r, "the arguments of this function were declared before; write its "
                           "name only");
        }
        ++*at;
        kernel->is_real = is_typed && type < REALS;
        if (wf_vrank_arguments_parse(at, &kernel->arguments, &inner) != WF_OK) {
            return fail(r, inner.text);
        }
        return add_function(r, *number, name, &kernel->arguments, kernel->is_real, 0);
    }
    return is_new ? add_by_name(r, *number) : WF_OK;
}

/* ---- formulas ---- */

static enum wf_status compile(const struct reader *r, const struct wf_vrank_kernel *kernel,
                              const char *text, bool is_time, struct wf_expr_program **out)
{
    struct wf_expr_variable variables[WF_VRANK_NAMED_MAX];
    struct wf_err inner;
    char what[300];
    uint64_t zero[WF_VRANK_NAMED_MAX] = {0}, value = 1;

    for (uint32_t i = 0; i < kernel->arguments.n; i++) {
        variables[i] = (struct wf_expr_variable){kernel->arguments.names[i], false};
    }
    if (wf_expr_compile(text, variables, kernel->arguments.n, out, &inner) != WF_OK) {
        (void)snprintf(what, sizeof(what), "in the formula '%.60s': %.120s%s", text, inner.text,
                       kernel->arguments.n == 0
                           ? "; arguments that a formula uses are declared, "
                             "as in f(int n): 1us + 2ns*n"
                           : "");
        return fail(r, what);
    }
    if (is_time && !wf_expr_is_time(*out) &&
        (!wf_expr_is_constant(*out) || wf_expr_number(*out, zero, &value) != WF_EXPR_FINE ||
         value != 0)) {
        return fail(r, "the formula is a number and not a time; add a unit, as in 80ps*m*n*k");
    }
    return !is_time && wf_expr_is_time(*out) ? fail(r, "what a function returns is no time")
                                             : WF_OK;
}

static const char *after(const char *text, const char *word)
{
    size_t length = strlen(word);

    return strncmp(text, word, length) == 0 && (text[length] == ' ' || text[length] == '\t')
               ? text + length + strspn(text + length, " \t")
               : NULL;
}

static enum wf_status read_clause(const struct reader *r, const struct wf_vrank_kernel *kernel,
                                  const char *text, struct wf_vrank_kernel_time *out)
{
    static const struct {
        const char *word;
        enum wf_vrank_kernel_spread kind;
    } spreads[] = {{"normal", WF_VRANK_SPREAD_NORMAL},
                   {"halfnormal", WF_VRANK_SPREAD_HALFNORMAL},
                   {"exponential", WF_VRANK_SPREAD_EXPONENTIAL},
                   {"uniform", WF_VRANK_SPREAD_UNIFORM}};
    const char *rest;

    for (size_t i = 0; i < sizeof(spreads) / sizeof(spreads[0]); i++) {
        if ((rest = after(text, spreads[i].word)) != NULL && out->spread == NULL) {
            out->kind = spreads[i].kind;
            return compile(r, kernel, rest, true, &out->spread);
        }
    }
    if ((rest = after(text, "returns")) != NULL && out->result == NULL) {
        const char *below = after(rest, "below");
        out->below = below != NULL;
        return compile(r, kernel, below != NULL ? below : rest, false, &out->result);
    }
    if ((rest = after(text, "execute every")) != NULL && out->every == 0 &&
        take_number(&rest, &out->every) && out->every > 0 && *rest == '\0') {
        return WF_OK;
    }
    return fail(r, "expected one of each: 'normal <time>', 'halfnormal <time>', 'exponential "
                   "<time>' or 'uniform <time>'; 'returns [below] <number>'; 'execute every "
                   "<number>'");
}

/* Cuts the text at ';'; returns the part without blanks around it. */
static char *take_part(char **rest)
{
    char *part = *rest + strspn(*rest, " \t"), *end = strchr(part, ';');

    *rest = end != NULL ? end + 1 : NULL;
    end = end != NULL ? end : part + strlen(part);
    while (end > part && (end[-1] == ' ' || end[-1] == '\t')) {
        end--;
    }
    *end = '\0';
    return part;
}

static enum wf_status read_kernel(const struct reader *r, char *text)
{
    const char *at = text;
    uint32_t number = 0;

    WF_TRY(read_head(r, &at, &number));
    at += strspn(at, " \t");
    if (*at != ':') {
        return fail(r,
                    "expected ':' and a formula after the function, as in dgemm: 80ps*m*n*k");
    }
    const struct wf_vrank_kernel *kernel = &r->out->kernels[number];
    struct wf_vrank_kernel_time *time = &r->out->sections[r->out->n_sections - 1].times[number];
    if (time->line != 0) {
        return fail(r, "the section has this function already");
    }
    time->line = r->line;
    char *rest = text + (at + 1 - text);
    WF_TRY(compile(r, kernel, take_part(&rest), true, &time->time));
    while (rest != NULL) {
        WF_TRY(read_clause(r, kernel, take_part(&rest), time));
    }
    if (time->result == NULL && kernel->arguments.n > 0 && wf_vrank_is_index(kernel->name)) {
        time->below = true;
        return compile(r, kernel, "n", false, &time->result);
    }
    return WF_OK;
}

/* "share 1MiB in matrix_new except writes" */
static enum wf_status read_share(const struct reader *r, const char *at)
{
    char size[32];
    struct wf_err inner;
    struct wf_vrank_share *share = &r->out->shares[r->out->n_shares];
    size_t length = strcspn(at, " \t");

    if (r->out->n_shares == WF_VRANK_SHARES_MAX) {
        return fail(r, "there are too many lines with 'share'");
    }
    (void)snprintf(size, sizeof(size), "%.*s", (int)(length < 31 ? length : 31), at);
    if (wf_parse_size(size, &share->least, &inner) != WF_OK) {
        return fail(r, inner.text);
    }
    at += length + strspn(at + length, " \t");
    const char *name = after(at, "in");
    if (name != NULL) {
        length = length_of_name(name);
        at = name + length + strspn(name + length, " \t");
        (void)snprintf(share->function, sizeof(share->function), "%.*s", (int)length, name);
    }
    const char *what = after(at, "except");
    share->keeps = what != NULL && strncmp(what, "writes", 6) == 0;
    at = share->keeps ? what + 6 + strspn(what + 6, " \t") : at;
    if (*at != '\0' || (name != NULL && (length == 0 || length >= sizeof(share->function)))) {
        return fail(r, "expected 'share <size>' or 'share <size> in <function>', each with "
                       "'except writes' or without");
    }
    r->out->n_shares++;
    return share->least >= 4096 ? WF_OK : fail(r, "only blocks of 4KiB and more can be shared");
}

static enum wf_status read_line(const struct reader *r, char *text)
{
    text[strcspn(text, "#\r")] = '\0';
    text += strspn(text, " \t");
    if (*text == '\0') {
        return WF_OK;
    }
    const char *share = after(text, "share");
    return share != NULL && strchr(text, ':') == NULL ? read_share(r, share)
           : *text == '['                             ? read_section(r, text)
                                                      : read_kernel(r, text);
}

enum wf_status wf_vrank_kernels_read(const char *path, struct wf_vrank_kernels **out,
                                     struct wf_err *err)
{
    enum { BYTES_MAX = 4 << 20 };
    struct wf_buf file = {.size = 0};
    struct reader r = {.path = path, .err = err};
    enum wf_status status = wf_file_read(path, BYTES_MAX, &file, err);

    r.out = wf_xcalloc(1, sizeof(*r.out));
    (void)add_section(r.out);
    char *rest = (char *)file.data;
    while (status == WF_OK && rest != NULL) {
        char *end = strchr(rest, '\n');
        if (end != NULL) {
            *end = '\0';
        }
        r.line++;
        status = read_line(&r, rest);
        rest = end != NULL ? end + 1 : NULL;
    }
    if (status == WF_OK &&
        (r.out->n_kernels + r.out->n_shares == 0 || strlen((char *)file.data) > file.size)) {
        status = wf_err_set(err, WF_EINVAL,
                            "'%.200s' has no kernels; a line of it is, for example, dgemm: "
                            "2us + 80ps*m*n*k",
                            path);
    }
    wf_buf_fini(&file);
    if (status != WF_OK) {
        wf_vrank_kernels_free(r.out);
        return status;
    }
    *out = r.out;
    return WF_OK;
}

void wf_vrank_kernels_free(struct wf_vrank_kernels *kernels)
{
    if (kernels == NULL) {
        return;
    }
    for (uint32_t i = 0; i < kernels->n_sections; i++) {
        struct wf_vrank_kernel_section *section = &kernels->sections[i];
        for (uint32_t k = 0; k < WF_VRANK_KERNELS_MAX; k++) {
            wf_expr_free(section->times[k].time);
            wf_expr_free(section->times[k].spread);
            wf_expr_free(section->times[k].result);
        }
        free(section->times);
        free(section->ranges);
    }
    for (uint32_t i = 0; i < kernels->n_kernels; i++) {
        free(kernels->kernels[i].name);
    }
    free(kernels->sections);
    free(kernels);
}

/* ---- looking up ---- */

uint32_t wf_vrank_kernels_find(const struct wf_vrank_kernels *kernels, const char *name)
{
    for (uint32_t i = 0; i < kernels->n_functions; i++) {
        if (strcmp(kernels->functions[i].name, name) == 0) {
            return i;
        }
    }
    return WF_VRANK_KERNEL_NONE;
}

uint32_t wf_vrank_kernels_section(const struct wf_vrank_kernels *kernels, uint32_t rank,
                                  uint32_t node)
{
    for (uint32_t i = kernels->n_sections - 1; i > 0; i--) {
        const struct wf_vrank_kernel_section *section = &kernels->sections[i];
        uint32_t number = section->of_nodes ? node : rank;
        for (uint32_t k = 0; k < section->n_ranges; k++) {
            if (number >= section->ranges[k].first && number <= section->ranges[k].last) {
                return i;
            }
        }
    }
    return 0;
}

const struct wf_vrank_kernel_time *wf_vrank_kernels_time(const struct wf_vrank_kernels *kernels,
                                                         uint32_t section, uint32_t kernel)
{
    const struct wf_vrank_kernel_time *time = &kernels->sections[section].times[kernel];

    return time->line != 0 ? time : &kernels->sections[0].times[kernel];
}

/* ---- values ---- */

static int64_t time_of(const struct wf_expr_program *program, const uint64_t *values)
{
    int64_t time = 0;

    return program != NULL && wf_expr_time(program, values, &time) == WF_EXPR_FINE ? time : 0;
}

/* The deviation in standard deviations, or in means of the exponential distribution. */
static double deviation(enum wf_vrank_kernel_spread kind, uint64_t random)
{
    double z;

    switch (kind) {
    case WF_VRANK_SPREAD_NORMAL:
        return wf_rng_normal(random);
    case WF_VRANK_SPREAD_HALFNORMAL:
        z = wf_rng_normal(random);
        return z < 0 ? -z : z;
    case WF_VRANK_SPREAD_EXPONENTIAL:
        return wf_rng_exponential(random);
    case WF_VRANK_SPREAD_UNIFORM:
        return (double)(random >> 12) / (double)(UINT64_C(1) << 51) - 1;
    case WF_VRANK_SPREAD_NONE:
        break;
    }
    return 0;
}

int64_t wf_vrank_kernel_duration(const struct wf_vrank_kernel_time *time,
                                 const uint64_t *values, uint64_t random)
{
    const double largest = 4e18;
    int64_t mean = time_of(time->time, values), spread = time_of(time->spread, values);

    if (spread == 0) {
        return mean;
    }
    double sum = (double)mean + deviation(time->kind, random) * (double)spread;
    return sum < 0 ? 0 : (int64_t)(sum < largest ? sum : largest);
}

uint64_t wf_vrank_kernel_result(const struct wf_vrank_kernel_time *time, const uint64_t *values,
                                uint64_t base, uint64_t random)
{
    uint64_t value = 0;

    if (time->result == NULL || wf_expr_number(time->result, values, &value) != WF_EXPR_FINE) {
        return 0;
    }
    value >>= WF_EXPR_NUMBER_BITS;
    return !time->below ? value : value > 0 ? base + wf_rng_below(random, value) : 0;
}
