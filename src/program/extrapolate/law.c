/* SPDX-License-Identifier: Apache-2.0 */
#include "program/extrapolate/law.h"

#include <math.h>
#include <stdio.h>

/* base^power * log2(base)^log * other^other_power. Bases are dimensions. */
struct term {
    uint8_t base, other;
    double power, other_power;
    uint8_t log; /* 0, 1; 2: rounded up, 3: rounded down */
};

#define THIRD (1.0 / 3)

static const struct {
    double power;
    uint8_t log;
} powers[] = {
    {1, 0},         {-1, 0},     {0, 1},     {0.5, 0},   {-0.5, 0},       {-2 * THIRD, 0},
    {2 * THIRD, 0}, {-THIRD, 0}, {THIRD, 0}, {1, 1},     {-1, 1},         {2, 0},
    {-2, 0},        {-1.5, 0},   {1.5, 0},   {-0.75, 0}, {-4 * THIRD, 0}, {0.75, 0},
};

static const double pairs[][2] = {{-1, -1}, {1, 1}, {1, -1}, {-1, 1}, {-2, -1}, {-1, -2}};

enum {
    POWERS = sizeof(powers) / sizeof(powers[0]),
    PAIRS = sizeof(pairs) / sizeof(pairs[0]),
    SINGLES = (WF_EXT_DIMS + 1) * POWERS,
    DIM_PAIRS = WF_EXT_DIMS * (WF_EXT_DIMS - 1) / 2,
    SMOOTH = SINGLES + DIM_PAIRS * PAIRS,
    TERMS = SMOOTH + 2, /* log2(n), rounded up and down: levels of a tree */
};

static void pair_of(uint32_t number, uint8_t *a, uint8_t *b)
{
    static const uint8_t of[DIM_PAIRS][2] = {{0, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 3}, {2, 3}};

    *a = of[number][0];
    *b = of[number][1];
}

/* Terms of n come first. */
static struct term term_at(uint32_t i)
{
    struct term term = {.other_power = 0};

    if (i < SINGLES) {
        uint32_t base = i / POWERS;
        term.base = (uint8_t)(base == 0 ? WF_EXT_WHOLE : base - 1);
        term.power = powers[i % POWERS].power;
        term.log = powers[i % POWERS].log;
    } else if (i >= SMOOTH) {
        term.base = WF_EXT_WHOLE;
        term.log = (uint8_t)(i - SMOOTH + 2);
    } else {
        pair_of((i - SINGLES) / PAIRS, &term.base, &term.other);
        term.power = pairs[(i - SINGLES) % PAIRS][0];
        term.other_power = pairs[(i - SINGLES) % PAIRS][1];
    }
    return term;
}

static bool usable(uint32_t i, const struct wf_ext_grid *grid)
{
    const struct term term = term_at(i);

    return (term.base == WF_EXT_WHOLE || (grid->n_dims > 1 && term.base < grid->n_dims)) &&
           (term.other_power == 0 || term.other < grid->n_dims);
}

/* Powers by thirds and halves of double constants are meant exactly. */
static double power_of(double base, double power)
{
    double thirds = round(3.0 * power);

    if (fabs(thirds - 3.0 * power) < 1e-4) {
        return power == (double)(int)power ? pow(base, (double)power) : pow(cbrt(base), thirds);
    }
    return pow(base, (double)power);
}

static double term_value(uint32_t i, const struct wf_ext_grid *grid)
{
    const struct term term = term_at(i);
    double base = grid->size[term.base];
    double value = power_of(base, term.power);

    if (term.log != 0) {
        double levels = log2(base);
        value *= term.log == 1 ? levels : term.log == 2 ? ceil(levels) : floor(levels);
    }
    return term.other_power != 0 ? value * power_of(grid->size[term.other], term.other_power)
                                 : value;
}

/* The dimensions of a product of sides: three, then pairs. */
static const uint8_t side_sets[] = {7, 3, 5, 6, 9, 10, 12};

enum { SIDE_SETS = sizeof(side_sets) };

/* (c0 / A + c1) * (c0 / B + c1): the sides of a block with a halo, or without its border. */
static double sides_value(const struct wf_ext_law *law, const struct wf_ext_grid *grid)
{
    double value = 1;

    for (uint32_t d = 0; d < WF_EXT_DIMS; d++) {
        value *= (side_sets[law->term] >> d & 1) != 0 ? law->c0 / grid->size[d] + law->c1 : 1;
    }
    return value;
}

/* c1 * (c0 / X)^power, with the quotient rounded up or down. */
static double blocks_value(const struct wf_ext_law *law, const struct wf_ext_grid *grid)
{
    double size = grid->size[law->term / 8 % (WF_EXT_DIMS + 1)];
    double quotient = law->term % 2 == 0 ? ceil(law->c0 / size) : floor(law->c0 / size);

    return law->c1 * pow(quotient, (double)(law->term / 2 % 4));
}

double wf_ext_law_at(const struct wf_ext_law *law, const struct wf_ext_grid *grid)
{
    switch ((enum wf_ext_form)law->form) {
    case WF_EXT_CONSTANT:
        return law->c0;
    case WF_EXT_TERM:
        return law->c1 * term_value(law->term, grid);
    case WF_EXT_SUM:
        return law->c0 + law->c1 * term_value(law->term, grid);
    case WF_EXT_SIDES:
        return sides_value(law, grid);
    case WF_EXT_BLOCKS:
        return blocks_value(law, grid);
    }
    return law->c0;
}

/* ---- solving ---- */

/* The least squares of relative errors. Leaves point `without` out. False: no solution. */
static bool solve(const struct wf_ext_point *points, uint32_t n, uint32_t without,
                  struct wf_ext_law *law)
{
    double s11 = 0, s12 = 0, s22 = 0, y1 = 0, y2 = 0;
    bool sum = law->form == WF_EXT_SUM;

    for (uint32_t i = 0; i < n; i++) {
        double v = points[i].value, weight = v > 0 ? 1 / (v * v) : 1;
        double t = law->form == WF_EXT_CONSTANT ? 1 : term_value(law->term, points[i].grid);
        if (i == without) {
            continue;
        }
        s11 += weight * t * t;
        y1 += weight * t * v;
        s12 += weight * t;
        s22 += weight;
        y2 += weight * v;
    }
    if (!sum) {
        double c = s11 > 0 ? y1 / s11 : 0;
        law->c0 = law->form == WF_EXT_CONSTANT ? c : 0;
        law->c1 = law->form == WF_EXT_CONSTANT ? 0 : c;
        return s11 > 0;
    }
    double determinant = s11 * s22 - s12 * s12;
    if (fabs(determinant) < 1e-12 * s11 * s22) {
        return false;
    }
    law->c1 = (y1 * s22 - y2 * s12) / determinant;
    law->c0 = (s11 * y2 - s12 * y1) / determinant;
    return true;
}

/* Solves a product of sides: the ratio of c0 and c1 that makes the values of the first and the
 * last point fit. */
static bool solve_sides(const struct wf_ext_point *points, uint32_t n, struct wf_ext_law *law)
{
    const struct wf_ext_point *p = &points[0], *q = &points[n - 1];
    uint32_t largest = 1;
    int n_sides = 0;

    for (uint32_t d = 0; d < WF_EXT_DIMS; d++) {
        bool used = (side_sets[law->term] >> d & 1) != 0;
        largest = used && q->grid->size[d] > largest ? q->grid->size[d] : largest;
        n_sides += used ? 1 : 0;
    }
    double low = -1.0 / largest, high = 1e3;
    struct wf_ext_law trial = {.form = WF_EXT_SIDES, .term = law->term, .c0 = 1};
    double wanted = q->value / p->value;
    if (!(p->value > 0) || !(wanted < 1)) {
        return false;
    }
    /* The ratio of the values increases with c1. */
    for (int step = 0; step < 200; step++) {
        trial.c1 = (low + high) / 2;
        if (sides_value(&trial, q->grid) / sides_value(&trial, p->grid) < wanted) {
            low = trial.c1;
        } else {
            high = trial.c1;
        }
    }
    double scale = pow(p->value / sides_value(&trial, p->grid), 1.0 / n_sides);
    law->c0 = scale;
    law->c1 = scale * trial.c1;
    return fabs(trial.c1) > 1e-9;
}

/* The number that is divided lies in an interval that every point makes smaller. */
static bool divide(const struct wf_ext_point *points, uint32_t n, double unit,
                   struct wf_ext_law *law)
{
    double low = 0, high = HUGE_VAL, power = (double)(law->term / 2 % 4);
    uint32_t dim = law->term / 8;
    bool up = law->term % 2 == 0;

    for (uint32_t i = 0; i < n; i++) {
        double size = points[i].grid->size[dim];
        double side = round(pow(points[i].value / unit, 1 / power));
        double from = up ? (side - 1) * size + 1 : side * size;
        double to = up ? side * size : (side + 1) * size - 1;
        low = from > low ? from : low;
        high = to < high ? to : high;
    }
    law->c0 = up ? high : low;
    law->c1 = unit;
    return low <= high;
}

/* Whether all points are blocks with sides of whole numbers of a unit, of one number that is
 * divided. */
static bool divide_by(const struct wf_ext_point *points, uint32_t n, double unit,
                      struct wf_ext_law *law)
{
    double power = (double)(law->term / 2 % 4);
    bool whole = unit == floor(unit) && unit >= 1;

    for (uint32_t p = 0; p < n && whole; p++) {
        double found = pow(points[p].value / unit, 1 / power);
        whole = fabs(found - round(found)) < 1e-9;
    }
    return whole && divide(points, n, unit, law);
}

/* The largest number of which all values are multiples. */
static double common_unit(const struct wf_ext_point *points, uint32_t n)
{
    double unit = points[0].value;

    for (uint32_t i = 1; i < n; i++) {
        for (double other = points[i].value; other >= 1;) {
            double rest = fmod(unit, other);
            unit = other;
            other = rest;
        }
    }
    return unit;
}

/* Lines: rows of so many numbers each, or single numbers. */
static bool solve_lines(const struct wf_ext_point *points, uint32_t n, double least,
                        struct wf_ext_law *law)
{
    enum { PARTS_MAX = 64, SHORTEST = 8 };
    double common = common_unit(points, n);

    for (uint32_t i = 1; i <= PARTS_MAX; i++) {
        /* Few long rows fit almost any division. */
        if (least / (common / i) >= SHORTEST && divide_by(points, n, common / i, law)) {
            return true;
        }
    }
    for (uint32_t unit = 8; unit >= 1; unit--) {
        if (divide_by(points, n, unit, law)) {
            return true;
        }
    }
    return false;
}

static bool solve_blocks(const struct wf_ext_point *points, uint32_t n, struct wf_ext_law *law)
{
    enum { SIDE_MAX = 4096 };
    double power = (double)(law->term / 2 % 4), least = points[0].value;

    for (uint32_t i = 1; i < n; i++) {
        least = points[i].value < least ? points[i].value : least;
    }
    if (power < 1 || !(least > 0)) {
        return false;
    }
    if (power < 2) {
        return solve_lines(points, n, least, law);
    }
    /* The smallest block has some side; the unit follows from it. */
    for (uint32_t i = 2; i <= SIDE_MAX; i++) {
        if (divide_by(points, n, least / pow(i, power), law)) {
            return true;
        }
    }
    return false;
}

static bool meets(const struct wf_ext_law *law, const struct wf_ext_point *points, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        double off = fabs(wf_ext_law_at(law, points[i].grid) - points[i].value);
        if (!(off < 0.01 || off < 1e-9 * points[i].value)) {
            return false;
        }
    }
    return true;
}

/* How far predictions of each point from the others are off. */
static double cross_error(const struct wf_ext_point *points, uint32_t n,
                          const struct wf_ext_law *law)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        struct wf_ext_law trial = *law;
        if (!solve(points, n, i, &trial)) {
            return HUGE_VAL;
        }
        double off = wf_ext_law_at(&trial, points[i].grid) - points[i].value;
        double relative = points[i].value > 0 ? off / points[i].value : off;
        sum += relative * relative;
    }
    return sqrt(sum / n);
}

static uint32_t terms_of(enum wf_ext_form form)
{
    static const uint32_t of[] = {[WF_EXT_CONSTANT] = 1,
                                  [WF_EXT_TERM] = TERMS,
                                  [WF_EXT_BLOCKS] = (WF_EXT_DIMS + 1) * 8,
                                  [WF_EXT_SUM] = TERMS,
                                  [WF_EXT_SIDES] = SIDE_SETS};

    return of[form];
}

/* Finds the parameters of a form and term that may meet all points. */
static bool solve_exact(const struct wf_ext_point *points, uint32_t n, struct wf_ext_law *law)
{
    const struct wf_ext_grid *grid = points[0].grid;
    uint8_t a = 0;

    switch ((enum wf_ext_form)law->form) {
    case WF_EXT_CONSTANT:
        return solve(points, n, n, law);
    case WF_EXT_TERM:
    case WF_EXT_SUM:
        return usable(law->term, grid) && solve(points, n, n, law);
    case WF_EXT_BLOCKS:
        a = (uint8_t)(law->term / 8);
        return (a == WF_EXT_WHOLE || (grid->n_dims > 1 && a < grid->n_dims)) &&
               solve_blocks(points, n, law);
    case WF_EXT_SIDES:
        break;
    }
    return side_sets[law->term] >> grid->n_dims == 0 && solve_sides(points, n, law);
}

/* The term of a face across a dimension; TERMS if there is none. */
static uint32_t face_term(const struct wf_ext_grid *grid, uint32_t across)
{
    for (uint32_t i = 0; i < TERMS && across < grid->n_dims; i++) {
        const struct term term = term_at(i);
        if (grid->n_dims == 2 && term.base == 1 - across && term.power == -1 && term.log == 0 &&
            term.other_power == 0) {
            return i;
        }
        if (grid->n_dims == 3 && term.power == -1 && term.other_power == -1 &&
            term.base != across && term.other != across && term.other < 3) {
            return i;
        }
    }
    return TERMS;
}

static bool differ(const struct wf_ext_law *a, const struct wf_ext_law *b,
                   const struct wf_ext_grid *target)
{
    double x = wf_ext_law_at(a, target), y = wf_ext_law_at(b, target);

    return fabs(x - y) > 0.5 && fabs(x - y) > 1e-6 * fabs(x);
}

/* How often 2 divides a number. */
static uint32_t roundness(double number)
{
    uint32_t n = 0;

    while (number >= 2 && fmod(number, 2) == 0) {
        number /= 2;
        n++;
    }
    return n;
}

/* Whether a sum is such as programmers write: n - 1, 2 * log2(n) + 1. Two points fit any sum, but
 * hardly ever a simple one by chance. */
static bool is_simple_law(const struct wf_ext_law *law)
{
    return fabs(law->c0 - round(law->c0)) < 1e-9 && fabs(law->c0) < 5 &&
           (fabs(law->c1 - 1) < 1e-9 || fabs(law->c1 - 2) < 1e-9 || fabs(law->c1 - 0.5) < 1e-9);
}

/* Finds the first law of a form, the hinted one before others. */
static bool exact_of_form(enum wf_ext_form form, const struct wf_ext_point *points, uint32_t n,
                          const struct wf_ext_hint *hint, struct wf_ext_law *out)
{
    uint32_t face = form == WF_EXT_TERM ? face_term(points[0].grid, hint->across) : TERMS;
    bool found = false;

    for (uint32_t i = 0; i <= terms_of(form); i++) {
        uint32_t term = i == 0 ? face : i - 1;
        struct wf_ext_law law = {.form = (uint8_t)form, .term = (uint16_t)term, .exact = true};
        if (term >= terms_of(form) || !solve_exact(points, n, &law) ||
            !meets(&law, points, n) || (n < 3 && form == WF_EXT_SUM && !is_simple_law(&law))) {
            continue;
        }
        if (!found) {
            *out = law;
            found = true;
            if (term == face) {
                break;
            }
        } else if (form == WF_EXT_BLOCKS) {
            /* Rounding up and down often fit both; people divide round numbers. */
            *out = roundness(law.c0) > roundness(out->c0) ? law : *out;
        } else if (differ(out, &law, hint->target)) {
            out->doubtful = true;
        }
    }
    return found;
}

bool wf_ext_law_exact(const struct wf_ext_point *points, uint32_t n,
                      const struct wf_ext_hint *hint, struct wf_ext_law *out)
{
    for (enum wf_ext_form form = WF_EXT_CONSTANT; form <= WF_EXT_BLOCKS; form++) {
        if ((form <= WF_EXT_SUM || n >= 3) && exact_of_form(form, points, n, hint, out)) {
            return true;
        }
    }
    return false;
}

/* How much better than a constant a law must predict to be taken. Infinite: it is not tried. */
struct handicaps {
    double term, sum;
    bool usual; /* terms that times usually follow are preferred, growth is limited */
};

static const struct handicaps of_counted = {.term = 1.5, .sum = 3};
static const struct handicaps of_measured = {.term = 1.5, .sum = 4, .usual = true};

/* The handicap of a term among those of measured times. Work is divided among the ranks, in a
 * volume or in the surface of a block; what grows does so slowly. With a factor of 1.3 a term is
 * taken only if it predicts clearly better than a usual one. */
static double oddness(uint32_t i)
{
    const struct term term = term_at(i);
    bool whole = term.base == WF_EXT_WHOLE;

    if (term.other_power != 0) {
        return term.power == -1 && term.other_power == -1 ? 1.15 : HUGE_VAL;
    }
    if (term.power > 1 || (term.power > 0 && term.log != 0)) {
        return HUGE_VAL;
    }
    if (whole && (term.power == -1 || term.power == 0) && term.log == (term.power == 0)) {
        return 1;
    }
    if (whole && (fabs(term.power + 2 * THIRD) < 1e-9 || term.power == -0.5)) {
        return 1.1;
    }
    return !whole && term.power == -1 && term.log == 0 ? 1.15 : 1.3;
}

static void try_form(const struct wf_ext_point *points, uint32_t n, enum wf_ext_form form,
                     const struct handicaps *handicaps, struct wf_ext_law *out, double *best)
{
    double handicap = form == WF_EXT_SUM ? handicaps->sum : handicaps->term;

    for (uint32_t i = 0; i < SMOOTH; i++) {
        struct wf_ext_law law = {.form = (uint8_t)form, .term = (uint16_t)i};
        if (!usable(i, points[0].grid)) {
            continue;
        }
        law.error = cross_error(points, n, &law);
        double judged = law.error * handicap * (handicaps->usual ? oddness(i) : 1);
        if (judged < *best * 0.999 && solve(points, n, n, &law) &&
            (form != WF_EXT_SUM || (law.c0 >= 0 && law.c1 >= 0))) {
            *best = judged;
            *out = law;
        }
    }
}

void wf_ext_law_fit(const struct wf_ext_point *points, uint32_t n, bool measured,
                    struct wf_ext_law *out)
{
    const struct handicaps *handicaps = measured ? &of_measured : &of_counted;
    /* Two parameters from three times say nothing about the noise. */
    uint32_t for_sum = measured ? 4 : 3;

    *out = (struct wf_ext_law){.form = WF_EXT_CONSTANT};
    (void)solve(points, n, n, out);
    out->error = n > 1 ? cross_error(points, n, out) : 0;
    double best = out->error;
    if (n > 1) {
        try_form(points, n, WF_EXT_TERM, handicaps, out, &best);
    }
    if (n >= for_sum) {
        try_form(points, n, WF_EXT_SUM, handicaps, out, &best);
    }
}

/* ---- text ---- */

static void term_text(uint32_t i, char *text, size_t size)
{
    static const char *const logs[] = {"", "log2(", "ceil(log2(", "floor(log2("};
    const struct term term = term_at(i);
    char power[32] = "", other[32] = "";

    if (term.power != 0 && term.power != 1) {
        double thirds = 3.0 * term.power;
        if (fabs(thirds - round(thirds)) < 1e-4 && term.power != (double)(int)term.power) {
            (void)snprintf(power, sizeof(power), "^(%.0f/3)", thirds);
        } else {
            (void)snprintf(power, sizeof(power), "^%g", (double)term.power);
        }
    }
    if (term.other_power != 0) {
        char exponent[16] = "";
        if (term.other_power != 1) {
            (void)snprintf(exponent, sizeof(exponent), "^%g", term.other_power);
        }
        (void)snprintf(other, sizeof(other), "*%s%s", wf_ext_size_names[term.other], exponent);
    }
    (void)snprintf(text, size, "%s%s%s%s%s%s%s",
                   term.power != 0 ? wf_ext_size_names[term.base] : "", power,
                   term.power != 0 && term.log != 0 ? "*" : "", logs[term.log],
                   term.log != 0 ? wf_ext_size_names[term.base] : "",
                   term.log > 1    ? "))"
                   : term.log != 0 ? ")"
                                   : "",
                   other);
}

const char *wf_ext_law_text(const struct wf_ext_law *law, char *text, size_t size)
{
    char term[96];
    size_t at = 0;

    switch ((enum wf_ext_form)law->form) {
    case WF_EXT_CONSTANT:
        (void)snprintf(text, size, "%.6g", law->c0);
        break;
    case WF_EXT_TERM:
        term_text(law->term, term, sizeof(term));
        if (law->c1 == 1) {
            (void)snprintf(text, size, "%s", term);
        } else {
            (void)snprintf(text, size, "%.6g*%s", law->c1, term);
        }
        break;
    case WF_EXT_SUM:
        term_text(law->term, term, sizeof(term));
        (void)snprintf(text, size, "%.6g%+.6g*%s", law->c0, law->c1, term);
        break;
    case WF_EXT_BLOCKS:
        (void)snprintf(text, size, "%.6g*%s(%.6g/%s)^%d", law->c1,
                       law->term % 2 == 0 ? "ceil" : "floor", law->c0,
                       wf_ext_size_names[law->term / 8], law->term / 2 % 4);
        break;
    case WF_EXT_SIDES:
        text[0] = '\0';
        for (uint32_t d = 0; d < WF_EXT_DIMS; d++) {
            if ((side_sets[law->term] >> d & 1) != 0 && at < size) {
                at += (size_t)snprintf(text + at, size - at, "(%.6g/%s%+.6g)", law->c0,
                                       wf_ext_size_names[d], law->c1);
            }
        }
        break;
    }
    return text;
}
