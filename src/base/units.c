/* SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"

#include "base/int128.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PS_PER_SECOND UINT64_C(1000000000000)

/* How messages quote the text of a user. */
#define QUOTED "'%.64s'"

/* A unit or prefix. Tables go from large to small and end with a null name. */
struct unit {
    const char *name;
    uint64_t factor;
};

/* A kind of number. It is written as a decimal number, a name of `scales` and a name of
 * `endings`; the product of the factors converts it to the base unit. */
struct quantity {
    const char *is;       /* "a time" */
    const char *expected; /* what the user should have written */
    const char *base;     /* plural of the base unit; null for a plain number */
    const struct unit *scales;
    const struct unit *endings;   /* the first is the one that is printed */
    const struct unit *multiples; /* read without an ending and never printed; null: none */
    uint64_t min, max;
    bool bare;      /* a number without a unit counts base units */
    bool bare_zero; /* 0 needs no unit */
};

static const struct unit no_units[] = {{"", 1}, {NULL, 0}};
static const struct unit byte_units[] = {{"B", 1}, {NULL, 0}};
static const struct unit rate_units[] = {
    {"B/s", WF_RATE_BYTE},     {"Bps", WF_RATE_BYTE},     {"bit/s", WF_RATE_BYTE / 8},
    {"bps", WF_RATE_BYTE / 8}, {"b/s", WF_RATE_BYTE / 8}, {NULL, 0},
};

static const struct unit prefixes[] = {
    {"Ei", UINT64_C(1) << 60},
    {"E", UINT64_C(1000000000000000000)},
    {"Pi", UINT64_C(1) << 50},
    {"P", UINT64_C(1000000000000000)},
    {"Ti", UINT64_C(1) << 40},
    {"T", UINT64_C(1000000000000)},
    {"Gi", UINT64_C(1) << 30},
    {"G", UINT64_C(1000000000)},
    {"Mi", UINT64_C(1) << 20},
    {"M", UINT64_C(1000000)},
    {"Ki", UINT64_C(1) << 10},
    {"k", UINT64_C(1000)},
    {"K", UINT64_C(1000)},
    {"", 1},
    {NULL, 0},
};

/* "4k" and "4Ki" of anything that is counted. Not "4K", which some use for 1000 and some for
 * 1024. */
static const struct unit multiples[] = {
    {"Ti", UINT64_C(1) << 40},   {"T", UINT64_C(1000000000000)}, {"Gi", UINT64_C(1) << 30},
    {"G", UINT64_C(1000000000)}, {"Mi", UINT64_C(1) << 20},      {"M", UINT64_C(1000000)},
    {"Ki", UINT64_C(1) << 10},   {"k", UINT64_C(1000)},          {NULL, 0},
};

/* Names with a Greek mu or micro sign are longer in bytes than "us", so they are never printed.
 */
static const struct unit time_units[] = {
    {"h", 3600 * PS_PER_SECOND},
    {"min", 60 * PS_PER_SECOND},
    {"s", PS_PER_SECOND},
    {"ms", PS_PER_SECOND / 1000},
    {"us", PS_PER_SECOND / 1000000},
    {"\xc2\xb5s", PS_PER_SECOND / 1000000},
    {"\xce\xbcs", PS_PER_SECOND / 1000000},
    {"ns", 1000},
    {"ps", 1},
    {NULL, 0},
};

#define US_PER_DAY UINT64_C(86400000000)

/* Long times, in microseconds. */
static const struct unit span_units[] = {
    {"y", 365 * US_PER_DAY},
    {"d", US_PER_DAY},
    {"h", US_PER_DAY / 24},
    {"min", US_PER_DAY / 1440},
    {"s", 1000000},
    {"ms", 1000},
    {"us", 1},
    {NULL, 0},
};

static const struct unit human_times[] = {
    {"h", 3600 * PS_PER_SECOND},
    {"s", PS_PER_SECOND},
    {"ms", PS_PER_SECOND / 1000},
    {"us", PS_PER_SECOND / 1000000},
    {"ns", 1000},
    {"ps", 1},
    {NULL, 0},
};

static const struct unit human_sizes[] = {
    {"EiB", UINT64_C(1) << 60},
    {"PiB", UINT64_C(1) << 50},
    {"TiB", UINT64_C(1) << 40},
    {"GiB", UINT64_C(1) << 30},
    {"MiB", UINT64_C(1) << 20},
    {"KiB", UINT64_C(1) << 10},
    {"B", 1},
    {NULL, 0},
};

static const struct unit human_counts[] = {
    {"E", UINT64_C(1000000000000000000)},
    {"P", UINT64_C(1000000000000000)},
    {"T", UINT64_C(1000000000000)},
    {"G", UINT64_C(1000000000)},
    {"M", UINT64_C(1000000)},
    {"k", UINT64_C(1000)},
    {NULL, 0},
};

static const struct quantity counts = {
    .is = "a count",
    .expected = "a whole number such as 42",
    .scales = no_units,
    .endings = no_units,
    .multiples = multiples,
    .max = UINT64_MAX,
    .bare = true,
};

static const struct quantity sizes = {
    .is = "a size",
    .expected = "a number of bytes such as 4096, 64KiB or 1.5MB",
    .base = "bytes",
    .scales = prefixes,
    .endings = byte_units,
    .multiples = multiples,
    .max = UINT64_MAX,
    .bare = true,
};

static const struct quantity times = {
    .is = "a time",
    .expected = "a number and ps, ns, us, ms, s, min or h",
    .base = "picoseconds",
    .scales = time_units,
    .endings = no_units,
    .max = WF_TIME_MAX,
    .bare_zero = true,
};

static const struct quantity spans = {
    .is = "a time",
    .expected = "a number and us, ms, s, min, h, d or y",
    .base = "microseconds",
    .scales = span_units,
    .endings = no_units,
    .max = WF_SPAN_MAX,
    .bare_zero = true,
};

static const struct quantity rates = {
    .is = "a rate",
    .expected = "a number and a unit such as 25GB/s, 1GiB/s or 200Gbit/s",
    .base = "millibits per second",
    .scales = prefixes,
    .endings = rate_units,
    .min = 1,
    .max = UINT64_MAX,
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static wf_u128 digit_value(char c)
{
    return (unsigned char)(c - '0');
}

static const char *skip_digits(const char *p)
{
    while (is_digit(*p)) {
        p++;
    }
    return p;
}

/* value / factor in decimal, or "" if that takes more than `room` characters. */
static void write_decimal(uint64_t value, uint64_t factor, char *buf, size_t room)
{
    uint64_t rest = value % factor;
    size_t n = (size_t)snprintf(buf, room + 1, "%llu", (unsigned long long)(value / factor));

    if (rest != 0 && n < room) {
        buf[n++] = '.';
    }
    while (rest != 0 && n < room) {
        wf_u128 shifted = (wf_u128)rest * 10;
        buf[n++] = (char)('0' + (int)(shifted / factor));
        rest = (uint64_t)(shifted % factor);
    }
    buf[rest == 0 && n <= room ? n : 0] = '\0';
}

/* A 64-bit number has at most 20 digits, and a rate fewer before its six decimals, so that the
 * smallest unit always fits. */
static char *format(const struct quantity *quantity, uint64_t value, char *buf)
{
    enum { ROOM = 24 };
    char digits[ROOM + 1];
    size_t best = SIZE_MAX;

    for (const struct unit *scale = quantity->scales; scale->name != NULL; scale++) {
        bool is_base = scale->factor == 1;
        wf_u128 factor = (wf_u128)scale->factor * quantity->endings[0].factor;
        if (value < factor && !is_base) {
            continue;
        }
        write_decimal(value, (uint64_t)factor, digits, ROOM);

        bool bare = is_base && (quantity->bare || (quantity->bare_zero && value == 0));
        const char *name = bare ? "" : scale->name;
        const char *ending = bare ? "" : quantity->endings[0].name;
        size_t length = strlen(digits) + strlen(name) + strlen(ending);
        if (digits[0] != '\0' && length < best) {
            best = length;
            (void)snprintf(buf, WF_UNITS_TEXT_MAX, "%s%s%s", digits, name, ending);
        }
    }
    return buf;
}

static enum wf_status not_a(const struct quantity *quantity, const char *text,
                            struct wf_err *err)
{
    return wf_err_set(err, WF_EINVAL, QUOTED " is not %s; expected %s", text, quantity->is,
                      quantity->expected);
}

static enum wf_status not_whole(const struct quantity *quantity, const char *text,
                                struct wf_err *err)
{
    if (quantity->base == NULL) {
        return not_a(quantity, text, err);
    }
    return wf_err_set(err, WF_EINVAL, QUOTED " is not a whole number of %s", text,
                      quantity->base);
}

static enum wf_status too_large(const struct quantity *quantity, const char *text,
                                struct wf_err *err)
{
    char max[WF_UNITS_TEXT_MAX];

    return wf_err_set(err, WF_EINVAL, QUOTED " is too large; expected at most %s", text,
                      format(quantity, quantity->max, max));
}

/* The factor of the unit called `name`, or 0 if there is none. */
static wf_u128 find_factor(const struct quantity *quantity, const char *name)
{
    for (const struct unit *scale = quantity->scales; scale->name != NULL; scale++) {
        size_t length = strlen(scale->name);
        if (strncmp(name, scale->name, length) != 0) {
            continue;
        }
        for (const struct unit *end = quantity->endings; end->name != NULL; end++) {
            if (strcmp(name + length, end->name) == 0) {
                return (wf_u128)scale->factor * end->factor;
            }
        }
    }
    for (const struct unit *unit = quantity->multiples; unit != NULL && unit->name != NULL;
         unit++) {
        if (strcmp(name, unit->name) == 0) {
            return unit->factor;
        }
    }
    return 0;
}

/* The number from `p` to the first non-digit, or `limit` + 1 if it is greater than `limit`. */
static wf_u128 read_whole(const char *p, wf_u128 limit)
{
    wf_u128 value = 0;

    for (; is_digit(*p); p++) {
        value = value * 10 + digit_value(*p);
        if (value > limit) {
            return limit + 1;
        }
    }
    return value;
}

/* 0.<digits> times `factor`, for any number of digits, by long multiplication from the last
 * digit on. Returns false if the product is not a whole number. */
static bool multiply_fraction(const char *digits, const char *end, wf_u128 factor,
                              wf_u128 *product)
{
    wf_u128 carry = 0;

    while (end > digits) {
        wf_u128 sum = digit_value(*--end) * factor + carry;
        if (sum % 10 != 0) {
            return false;
        }
        carry = sum / 10;
    }
    *product = carry;
    return true;
}

static bool all_zero(const char *p, const char *end)
{
    while (p < end && (*p == '0' || *p == '.')) {
        p++;
    }
    return p == end;
}

/* The factor of the unit after the number from `text` to `end`, or 0 if it is not known. */
static wf_u128 unit_factor(const struct quantity *quantity, const char *text, const char *end)
{
    if (*end == '\0') {
        bool bare = quantity->bare || (quantity->bare_zero && all_zero(text, end));
        return bare ? 1 : 0;
    }
    if (*end == ' ') {
        end++;
    }
    return find_factor(quantity, end);
}

/* Finds the end of "12" or "12.5", and where its fraction begins (the end, if it has none).
 * Returns null if there is no such number. */
static const char *scan_number(const char *text, const char **fraction)
{
    const char *end = skip_digits(text);

    if (end == text) {
        return NULL;
    }
    *fraction = end;
    if (*end == '.') {
        *fraction = end + 1;
        end = skip_digits(*fraction);
        if (end == *fraction) {
            return NULL;
        }
    }
    return end;
}

static enum wf_status parse(const struct quantity *quantity, const char *text, uint64_t *out,
                            struct wf_err *err)
{
    char min[WF_UNITS_TEXT_MAX];
    const char *fraction = NULL;
    const char *end = scan_number(text, &fraction);
    wf_u128 factor = end == NULL ? 0 : unit_factor(quantity, text, end);
    if (factor == 0) {
        return not_a(quantity, text, err);
    }

    wf_u128 limit = (wf_u128)quantity->max / factor;
    wf_u128 whole = read_whole(text, limit);
    wf_u128 part = 0;
    if (whole > limit) {
        return too_large(quantity, text, err);
    }
    if (!multiply_fraction(fraction, end, factor, &part)) {
        return not_whole(quantity, text, err);
    }

    wf_u128 value = whole * factor + part;
    if (value > quantity->max) {
        return too_large(quantity, text, err);
    }
    if (value < quantity->min) {
        return wf_err_set(err, WF_EINVAL, QUOTED " is too small; expected at least %s", text,
                          format(quantity, quantity->min, min));
    }
    *out = (uint64_t)value;
    return WF_OK;
}

enum wf_status wf_parse_count(const char *text, uint64_t *out, struct wf_err *err)
{
    return parse(&counts, text, out, err);
}

enum wf_status wf_parse_size(const char *text, uint64_t *out, struct wf_err *err)
{
    return parse(&sizes, text, out, err);
}

enum wf_status wf_parse_rate(const char *text, uint64_t *out, struct wf_err *err)
{
    return parse(&rates, text, out, err);
}

enum wf_status wf_parse_time(const char *text, int64_t *out, struct wf_err *err)
{
    uint64_t ps = 0;
    WF_TRY(parse(&times, text, &ps, err));
    *out = (int64_t)ps;
    return WF_OK;
}

enum wf_status wf_parse_span(const char *text, int64_t *out, struct wf_err *err)
{
    uint64_t us = 0;
    WF_TRY(parse(&spans, text, &us, err));
    *out = (int64_t)us;
    return WF_OK;
}

/* strtod() also reads hexadecimal numbers, infinities and leading spaces, which are errors
 * here. */
static bool is_decimal(const char *text)
{
    const char *fraction = NULL;
    const char *p = scan_number(*text == '-' ? text + 1 : text, &fraction);

    if (p != NULL && (*p == 'e' || *p == 'E')) {
        p += p[1] == '+' || p[1] == '-' ? 2 : 1;
        const char *end = skip_digits(p);
        p = end == p ? NULL : end;
    }
    return p != NULL && *p == '\0';
}

enum wf_status wf_parse_real(const char *text, double *out, struct wf_err *err)
{
    char *end = NULL;
    double value = is_decimal(text) ? strtod(text, &end) : 0.0;

    /* strtod() stops early only in a locale with another decimal point. */
    if (end == NULL || *end != '\0') {
        return wf_err_set(err, WF_EINVAL, QUOTED " is not a number; expected one such as 0.25",
                          text);
    }
    if (!isfinite(value)) {
        return wf_err_set(err, WF_EINVAL, QUOTED " is too large for a number", text);
    }
    *out = value;
    return WF_OK;
}

/* Writes the sign of a time, moves *buf behind it, and returns the magnitude. */
static uint64_t put_sign(int64_t value, char **buf)
{
    if (value >= 0) {
        return (uint64_t)value;
    }
    *(*buf)++ = '-';
    return UINT64_C(0) - (uint64_t)value;
}

char *wf_format_count(uint64_t value, char *buf)
{
    return format(&counts, value, buf);
}

char *wf_format_size(uint64_t bytes, char *buf)
{
    return format(&sizes, bytes, buf);
}

char *wf_format_span(int64_t us, char *buf)
{
    return format(&spans, (uint64_t)us, buf);
}

char *wf_format_rate(uint64_t rate, char *buf)
{
    return format(&rates, rate, buf);
}

char *wf_format_time(int64_t ps, char *buf)
{
    char text[WF_UNITS_TEXT_MAX];
    char *behind = buf;
    uint64_t magnitude = put_sign(ps, &behind);

    (void)snprintf(behind, WF_UNITS_TEXT_MAX - 1, "%s", format(&times, magnitude, text));
    return buf;
}

char *wf_format_real(double value, char *buf)
{
    enum { ENOUGH = 17 };

    for (int digits = 1; digits <= ENOUGH; digits++) {
        (void)snprintf(buf, WF_UNITS_TEXT_MAX, "%.*g", digits, value);
        if (strtod(buf, NULL) == value) {
            break;
        }
    }
    return buf;
}

/* value * multiplier / factor, rounded to nearest. */
static uint64_t scaled(uint64_t value, uint64_t multiplier, uint64_t factor)
{
    return (uint64_t)(((wf_u128)value * multiplier + factor / 2) / factor);
}

/* Rounds to a whole number of six significant digits. */
static double six_digits(double value)
{
    double unit = value >= 1e6 ? pow(10, floor(log10(value)) - 5) : 1;

    return round(value / unit) * unit;
}

char *wf_format_measured_time(double ps, char *buf)
{
    return wf_format_time((int64_t)six_digits(ps), buf);
}

char *wf_format_measured_rate(double bytes_per_second, char *buf)
{
    return wf_format_rate((uint64_t)six_digits(bytes_per_second) * WF_RATE_BYTE, buf);
}

/* Writes `value` with `digits` significant digits in the largest fitting of `units`. */
static void human(uint64_t value, const struct unit *units, int digits, char *buf)
{
    static const uint64_t power[] = {1, 10, 100, 1000, 10000};
    const struct unit *unit = units;

    /* A value that rounds to 1 of the larger unit is written in it: "1.000 ms", not "1000 us".
     */
    while (unit[1].name != NULL && scaled(value, power[digits], unit->factor) < power[digits]) {
        unit++;
    }

    int decimals = unit->factor == 1 ? 0 : digits - 1;
    while (decimals > 0 && scaled(value, power[decimals], unit->factor) >= power[digits]) {
        decimals--;
    }

    uint64_t shown = scaled(value, power[decimals], unit->factor);
    unsigned long long whole = shown / power[decimals];
    unsigned part = (unsigned)(shown % power[decimals]);
    if (decimals == 0) {
        (void)snprintf(buf, WF_UNITS_TEXT_MAX - 1, "%llu %s", whole, unit->name);
    } else {
        (void)snprintf(buf, WF_UNITS_TEXT_MAX - 1, "%llu.%0*u %s", whole, decimals, part,
                       unit->name);
    }
}

char *wf_human_time(int64_t ps, char *buf)
{
    char *behind = buf;
    uint64_t magnitude = put_sign(ps, &behind);

    human(magnitude, human_times, 4, behind);
    return buf;
}

char *wf_human_span(int64_t us, char *buf)
{
    human((uint64_t)us, span_units + 1, 3, buf);
    return buf;
}

char *wf_human_size(uint64_t bytes, char *buf)
{
    human(bytes, human_sizes, 3, buf);
    return buf;
}

char *wf_human_count(double value, char *buf)
{
    double magnitude = value < 0 ? -value : value;
    char *behind = buf;

    /* Without a prefix if the value is outside of their range or not a number. */
    if (!(magnitude >= 999.5 && magnitude < 1e19)) {
        (void)snprintf(buf, WF_UNITS_TEXT_MAX, "%.3g", value);
        return buf;
    }
    if (value < 0) {
        *behind++ = '-';
    }
    human((uint64_t)magnitude, human_counts, 3, behind);
    return buf;
}

int64_t wf_transfer_ps(uint64_t bytes, uint64_t rate)
{
    uint64_t bytes_per_second = rate / WF_RATE_BYTE;

    assert(rate > 0);

    /* Most rates are whole bytes per second, and most messages small enough for a division in
     * one instruction. */
    if (bytes <= (UINT64_MAX >> 1) / PS_PER_SECOND && bytes_per_second * WF_RATE_BYTE == rate) {
        uint64_t product = bytes * PS_PER_SECOND;
        return (int64_t)(product / bytes_per_second + (product % bytes_per_second != 0));
    }

    wf_u128 product = (wf_u128)bytes * (PS_PER_SECOND * WF_RATE_BYTE);
    wf_u128 ps = product / rate + (product % rate != 0);
    return ps > WF_TIME_MAX ? WF_TIME_MAX : (int64_t)ps;
}
