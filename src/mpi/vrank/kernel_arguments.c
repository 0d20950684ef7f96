/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/kernel_arguments.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* ---- places ---- */

/* Arguments are counted as they are declared. */
struct counter {
    uint32_t wholes, reals, stack;
};

/* The word of the next argument; at least WF_VRANK_WHOLES + WF_VRANK_STACK if it is too far. */
static uint32_t next_word(struct counter *counter, bool is_real)
{
    if (is_real && counter->reals < WF_VRANK_REALS) {
        counter->reals++;
        return UINT32_MAX;
    }
    if (!is_real && counter->wholes < WF_VRANK_WHOLES) {
        return counter->wholes++;
    }
    return WF_VRANK_WHOLES + counter->stack++;
}

/* ---- declarations ---- */

struct type {
    const char *name;
    uint8_t bytes; /* 0: a word that says nothing about the size */
    bool is_signed, is_real;
};

static const struct type types[] = {
    {"char", 1, false, false},   {"int", 4, true, false},    {"long", 8, true, false},
    {"size_t", 8, false, false}, {"float", 4, true, true},   {"double", 8, true, true},
    {"void", 8, false, false},   {"const", 0, false, false},
};

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}

static void skip_space(const char **at)
{
    *at += strspn(*at, " \t");
}

/* The next word in out[32]; cut off if it is longer. */
static void take_word(const char **at, char out[32])
{
    size_t n = 0;

    skip_space(at);
    for (; is_word(**at); (*at)++) {
        if (n < 31) {
            out[n++] = **at;
        }
    }
    out[n] = '\0';
}

static enum wf_status take_type(const char **at, struct type *out, struct wf_err *err)
{
    char word[32], hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    do {
        take_word(at, word);
        wf_nearest_begin(&nearest, word);
        size_t i = 0;
        while (i < sizeof(types) / sizeof(types[0]) && strcmp(types[i].name, word) != 0) {
            wf_nearest_add(&nearest, types[i++].name);
        }
        if (i == sizeof(types) / sizeof(types[0])) {
            return wf_err_set(err, WF_EINVAL,
                              "unknown type '%s' of an argument; use char, int, long, size_t, "
                              "float, double or void, and * for pointers%s",
                              word, wf_nearest_hint(&nearest, hint));
        }
        *out = types[i];
    } while (out->bytes == 0);
    return WF_OK;
}

static enum wf_status add_named(struct wf_vrank_arguments *out, const char *name, uint32_t word,
                                const struct type *type, bool is_pointer, struct wf_err *err)
{
    for (uint32_t i = 0; i < out->n; i++) {
        if (strcmp(out->names[i], name) == 0) {
            return wf_err_set(err, WF_EINVAL, "two arguments are called '%s'", name);
        }
    }
    if (type->is_real || strcmp(type->name, "void") == 0) {
        return WF_OK; /* formulas cannot use it */
    }
    if (out->n == WF_VRANK_NAMED_MAX || word >= WF_VRANK_WHOLES + WF_VRANK_STACK) {
        return wf_err_set(err, WF_EINVAL,
                          "argument '%s' is too many; give names only to what the formula uses",
                          name);
    }
    out->named[out->n] = (struct wf_vrank_argument){.word = (uint8_t)word,
                                                    .bytes = type->bytes,
                                                    .is_signed = type->is_signed,
                                                    .is_pointer = is_pointer};
    (void)snprintf(out->names[out->n++], sizeof(out->names[0]), "%s", name);
    return WF_OK;
}

enum wf_status wf_vrank_arguments_parse(const char **at, struct wf_vrank_arguments *out,
                                        struct wf_err *err)
{
    struct counter counter = {.wholes = 0};

    *out = (struct wf_vrank_arguments){.n = 0};
    skip_space(at);
    if (**at == ')') {
        ++*at;
        return WF_OK;
    }
    for (;; ++*at) {
        struct type type = {.bytes = 0};
        char name[32];
        uint32_t stars = 0;
        WF_TRY(take_type(at, &type, err));
        for (skip_space(at); **at == '*'; skip_space(at)) {
            stars++;
            ++*at;
        }
        uint32_t word = next_word(&counter, type.is_real && stars == 0);
        take_word(at, name);
        if (name[0] != '\0' && stars < 2) {
            WF_TRY(add_named(out, name, word, &type, stars == 1, err));
        }
        skip_space(at);
        if (**at == ')') {
            ++*at;
            return WF_OK;
        }
        if (**at != ',') {
            return wf_err_set(err, WF_EINVAL, "expected ',' or ')' after argument '%s'", name);
        }
    }
}

/* ---- BLAS and LAPACK ---- */

/* The arguments of routines up to the last that a formula may use: a letter is the name of a whole
 * number, 's' the side of a matrix, '.' any other. Fortran, CBLAS; null: they have none. */
static const struct routine {
    const char *names, *fortran, *cblas;
    bool is_real;
} routines[] = {
    {" gemm ", "..mnk", "...mnk", false},
    {" symm hemm ", "s.mn", ".s.mn", false},
    {" trmm trsm ", "s...mn", ".s...mn", false},
    {" syrk herk syr2k her2k ", "..nk", "...nk", false},
    {" gemv ", ".mn", "..mn", false},
    {" ger geru gerc ", "mn", ".mn", false},
    {" symv hemv ", ".n", "..n", false},
    {" trmv trsv ", "...n", "....n", false},
    {" axpy copy scal swap rot amax ", "n", "n", false},
    {" dot nrm2 asum ", "n", "n", true},
    {" getrf geqrf ", "mn", NULL, false},
    {" gesv ", "nk", NULL, false},
    {" getrs potrs ", ".nk", NULL, false},
    {" potrf ", ".n", NULL, false},
    {" trtri ", "..n", NULL, false},
    {" laswp ", "n..pq", NULL, false},
};

bool wf_vrank_is_index(const char *name)
{
    return name[0] == 'i' && name[1] != '\0' && strchr("sdcz", name[1]) != NULL &&
           strcmp(name + 2, "amax") == 0;
}

static const struct routine *find_routine(const char *name)
{
    const char *type = name + wf_vrank_is_index(name);
    char word[16];

    if (*type == '\0' || strchr("sdcz", *type) == NULL || strlen(type) > 8) {
        return NULL;
    }
    (void)snprintf(word, sizeof(word), " %s ", type + 1);
    for (size_t i = 0; i < sizeof(routines) / sizeof(routines[0]); i++) {
        if (strstr(routines[i].names, word) != NULL) {
            return &routines[i];
        }
    }
    return NULL;
}

bool wf_vrank_arguments_of_blas(const char *name, bool fortran, struct wf_vrank_arguments *out,
                                bool *is_real)
{
    const struct routine *routine = find_routine(name);
    const char *form = routine != NULL && fortran ? routine->fortran
                       : routine != NULL          ? routine->cblas
                                                  : NULL;
    struct wf_vrank_argument side = {.is_side = false};

    *out = (struct wf_vrank_arguments){.n = 0};
    if (form == NULL) {
        return false;
    }
    for (uint32_t i = 0; form[i] != '\0'; i++) {
        /* No routine has a floating-point number before these. */
        struct wf_vrank_argument argument = {
            .word = (uint8_t)i, .bytes = 4, .is_signed = true, .is_pointer = fortran};
        if (form[i] == 's') {
            side = argument;
            side.bytes = fortran ? 1 : 4;
            side.is_side = true;
        } else if (form[i] != '.') {
            out->names[out->n][0] = form[i];
            out->named[out->n++] = argument;
        }
    }
    if (side.is_side) { /* k: the order of the matrix that is symmetric or a triangle */
        out->names[out->n][0] = 'k';
        out->named[out->n++] = side;
    }
    out->is_of_blas = true;
    *is_real = routine->is_real;
    return true;
}

/* ---- values ---- */

/* The bytes of an argument as a number, the low ones first on both processors. */
static uint64_t read_argument(const struct wf_vrank_argument *argument, uint64_t word)
{
    uint64_t bits = word;

    if (argument->is_pointer) {
        const void *place;
        memcpy(&place, &word, sizeof(place));
        bits = 0;
        if (place != NULL) {
            memcpy(&bits, place, argument->bytes);
        }
    }
    unsigned unused = 64 - 8U * argument->bytes;
    bits = bits << unused >> unused;
    bool is_negative = argument->is_signed && bits >> (8U * argument->bytes - 1) != 0;
    return is_negative ? 0 : bits;
}

bool wf_vrank_arguments_values(const struct wf_vrank_arguments *arguments,
                               const struct wf_vrank_call *call,
                               uint64_t values[WF_VRANK_NAMED_MAX])
{
    enum { CBLAS_LEFT = 141 };
    bool some = true;

    for (uint32_t i = 0; i < arguments->n; i++) {
        const struct wf_vrank_argument *argument = &arguments->named[i];
        values[i] = read_argument(argument, call->words[argument->word]);
        if (argument->is_side) {
            bool left = values[i] == CBLAS_LEFT || values[i] == 'L' || values[i] == 'l';
            values[i] = values[left ? 0 : 1];
        }
        some &= values[i] > 0 || !arguments->is_of_blas;
    }
    return some;
}
