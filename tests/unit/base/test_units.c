/* SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"

#include "base/int128.h"
#include "harness/wf_test.h"

#include <math.h>

enum { CASES = 20000, SEED = 3 };

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Every unit as a fraction of the base unit, written out: the oracle's own table. */
struct unit {
    const char *name;
    uint64_t times, over;
};

static const struct unit time_units[] = {
    {"ps", 1, 1},
    {"ns", 1000, 1},
    {"us", 1000000, 1},
    {"\xc2\xb5s", 1000000, 1},
    {"\xce\xbcs", 1000000, 1},
    {" us", 1000000, 1},
    {"ms", 1000000000, 1},
    {"s", 1000000000000, 1},
    {"min", 60000000000000, 1},
    {"h", 3600000000000000, 1},
};

static const struct unit size_units[] = {
    {"", 1, 1},
    {"B", 1, 1},
    {" B", 1, 1},
    {"kB", 1000, 1},
    {"KB", 1000, 1},
    {"MB", 1000000, 1},
    {"GB", 1000000000, 1},
    {"TB", 1000000000000, 1},
    {"PB", 1000000000000000, 1},
    {"EB", 1000000000000000000, 1},
    {"KiB", 1024, 1},
    {"MiB", 1048576, 1},
    {"GiB", 1073741824, 1},
    {"TiB", 1099511627776, 1},
    {"PiB", 1125899906842624, 1},
    {"EiB", 1152921504606846976, 1},
};

static const struct unit rate_units[] = {
    {"B/s", 8000, 1},
    {"Bps", 8000, 1},
    {"kB/s", 8000000, 1},
    {"MB/s", 8000000000, 1},
    {"GB/s", 8000000000000, 1},
    {"TB/s", 8000000000000000, 1},
    {"KiB/s", 8192000, 1},
    {"MiB/s", 8388608000, 1},
    {"GiB/s", 8589934592000, 1},
    {"TiB/s", 8796093022208000, 1},
    {"PB/s", 8000000000000000000, 1},
    {"bit/s", 8000, 8},
    {"bps", 8000, 8},
    {"kbit/s", 8000000, 8},
    {"Kbit/s", 8000000, 8},
    {"Mbit/s", 8000000000, 8},
    {"Gbit/s", 8000000000000, 8},
    {"Gbps", 8000000000000, 8},
    {"Tbit/s", 8000000000000000, 8},
    {"Kibit/s", 8192000, 8},
    {"Gibit/s", 8589934592000, 8},
};

static const struct unit count_units[] = {{"", 1, 1}};

/* The four exact kinds behind one signature. */
struct kind {
    enum wf_status (*parse)(const char *text, uint64_t *out, struct wf_err *err);
    char *(*format)(uint64_t value, char *buf);
    const struct unit *units;
    size_t n_units;
    uint64_t min, max;
};

static enum wf_status parse_time(const char *text, uint64_t *out, struct wf_err *err)
{
    int64_t ps = (int64_t)*out;
    enum wf_status status = wf_parse_time(text, &ps, err);

    *out = (uint64_t)ps;
    return status;
}

static char *format_time(uint64_t value, char *buf)
{
    return wf_format_time((int64_t)value, buf);
}

static const struct kind kinds[] = {
    {parse_time, format_time, time_units, LENGTH(time_units), 0, INT64_MAX},
    {wf_parse_size, wf_format_size, size_units, LENGTH(size_units), 0, UINT64_MAX},
    {wf_parse_rate, wf_format_rate, rate_units, LENGTH(rate_units), 1, UINT64_MAX},
    {wf_parse_count, wf_format_count, count_units, LENGTH(count_units), 0, UINT64_MAX},
};

static uint64_t power_of_ten(uint64_t exponent)
{
    uint64_t power = 1;

    for (; exponent > 0; exponent--) {
        power *= 10;
    }
    return power;
}

/* A value of any magnitude, often a round multiple of a unit. */
static uint64_t random_value(const struct kind *kind, uint64_t i)
{
    uint64_t value = wf_test_rand(SEED, i, 0) >> (wf_test_rand(SEED, i, 1) % 64);
    const struct unit *unit = &kind->units[wf_test_rand(SEED, i, 2) % kind->n_units];

    if (i % 2 == 0) {
        value = value % 100000 * unit->times / power_of_ten(wf_test_rand(SEED, i, 3) % 4);
    }
    if (value > kind->max) {
        value = kind->max;
    }
    return value < kind->min ? kind->min : value;
}

static void what_is_formatted_reads_back(void)
{
    for (uint64_t i = 0; i < CASES; i++) {
        for (size_t k = 0; k < LENGTH(kinds); k++) {
            char buf[WF_UNITS_TEXT_MAX];
            uint64_t value = random_value(&kinds[k], i), back = ~value;
            CHECK(kinds[k].format(value, buf) == buf);
            CHECK(kinds[k].parse(buf, &back, NULL) == WF_OK);
            CHECK_U64(back, value);
        }
    }
}

/* Whether a decimal number of fewer than `length` characters in all is exactly the value.
 * Rates are written in bytes only. */
static int has_shorter(uint64_t value, const struct unit *unit, size_t length)
{
    if (value < unit->times || unit->over != 1) {
        return 0;
    }

    size_t used = strlen(unit->name);
    for (uint64_t whole = value / unit->times; whole > 0; whole /= 10) {
        used++;
    }
    wf_u128 rest = value % unit->times;
    used += rest != 0;
    while (rest != 0 && used < length) {
        rest = rest * 10 % unit->times;
        used++;
    }
    return rest == 0 && used < length;
}

static void no_shorter_text_exists(void)
{
    for (uint64_t i = 0; i < CASES; i++) {
        for (size_t k = 0; k < LENGTH(kinds); k++) {
            char buf[WF_UNITS_TEXT_MAX];
            uint64_t value = random_value(&kinds[k], i);
            size_t length = strlen(kinds[k].format(value, buf));
            for (size_t u = 0; u < kinds[k].n_units; u++) {
                CHECK(!has_shorter(value, &kinds[k].units[u], length));
            }
        }
    }
}

/* Writes a random decimal number of up to 6 + 12 digits with a random unit, and sets *value to
 * its value; false if that is not valid for the kind. */
static int random_text(const struct kind *kind, uint64_t i, char *text, uint64_t *value)
{
    const struct unit *unit = &kind->units[wf_test_rand(SEED, i, 10) % kind->n_units];
    uint64_t whole = wf_test_rand(SEED, i, 11) % power_of_ten(wf_test_rand(SEED, i, 12) % 7);
    int n_digits = (int)(wf_test_rand(SEED, i, 13) % 13);
    uint64_t power = power_of_ten((uint64_t)n_digits);
    uint64_t part = wf_test_rand(SEED, i, 14) % power;

    if (i % 3 == 0) {
        part -= part % (power / power_of_ten((uint64_t)n_digits / 3)); /* trailing zeros */
    }
    if (n_digits == 0) {
        (void)sprintf(text, "%llu%s", (unsigned long long)whole, unit->name);
    } else {
        (void)sprintf(text, "%llu.%0*llu%s", (unsigned long long)whole, n_digits,
                      (unsigned long long)part, unit->name);
    }

    wf_u128 product = ((wf_u128)whole * power + part) * unit->times;
    wf_u128 divisor = (wf_u128)power * unit->over;
    *value = (uint64_t)(product / divisor);
    return product % divisor == 0 && product / divisor >= kind->min &&
           product / divisor <= kind->max;
}

static void texts_are_worth_what_the_oracle_says(void)
{
    int valid = 0;

    for (uint64_t i = 0; i < CASES; i++) {
        for (size_t k = 0; k < LENGTH(kinds); k++) {
            char text[64];
            uint64_t expected = 0, value = 77;
            struct wf_err err = {.status = WF_OK};
            if (random_text(&kinds[k], i, text, &expected)) {
                CHECK(kinds[k].parse(text, &value, &err) == WF_OK);
                CHECK_U64(value, expected);
                valid++;
            } else {
                CHECK(kinds[k].parse(text, &value, &err) == WF_EINVAL);
                CHECK(err.status == WF_EINVAL && err.text[0] != '\0');
                CHECK_U64(value, 77);
            }
        }
    }
    CHECK(valid > CASES && valid < 3 * CASES);
}

static void known_texts_have_known_values(void)
{
    static const struct {
        size_t kind;
        const char *text;
        uint64_t value;
    } cases[] = {
        {0, "1.1us", 1100000},
        {0, "0", 0},
        {0, "0.00", 0},
        {0, "000001ps", 1},
        {0, "0.001ns", 1},
        {0, "9223372036854775807ps", INT64_MAX},
        {0, "1.00000000000000000000000000000000000000000000000000000s", 1000000000000},
        {0, "0.5h", 1800000000000000},
        {1, "4096", 4096},
        {1, "4096.0", 4096},
        {1, "18446744073709551615", UINT64_MAX},
        {1, "15.5EiB", 17870283321406128128u},
        /* 2^-60: more digits than 128 bits hold. */
        {1, "0.000000000000000000867361737988403547205962240695953369140625EiB", 1},
        {2, "200Gbit/s", 25000000000 * WF_RATE_BYTE},
        {2, "200Gb/s", 25000000000 * WF_RATE_BYTE},
        {2, "200Gbps", 25000000000 * WF_RATE_BYTE},
        {1, "4k", 4000},
        {1, "4Ki", 4096},
        {3, "4k", 4000},
        {3, "1.5Mi", 1572864},
        {2, "8bit/s", WF_RATE_BYTE},
        {2, "0.1bit/s", 100},
        {2, "0.001bit/s", 1},
        {2, "18446744073709551.615bit/s", UINT64_MAX},
        {2, "1GiB/s", 1073741824 * WF_RATE_BYTE},
        {3, "18446744073709551615", UINT64_MAX},
        {3, "7", 7},
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        uint64_t value = ~cases[i].value;
        CHECK(kinds[cases[i].kind].parse(cases[i].text, &value, NULL) == WF_OK);
        CHECK_U64(value, cases[i].value);
    }
}

static void known_values_have_known_texts(void)
{
    static const struct {
        size_t kind;
        uint64_t value;
        const char *text;
    } cases[] = {
        {0, 0, "0"},
        {0, 1, "1ps"},
        {0, 100000, "100ns"},
        {0, 1500000, "1.5us"},
        {0, 1000000, "1us"},
        {0, 60000000000000, "60s"},
        {0, 1200000000000000, "20min"},
        {0, 3600000000000000, "1h"},
        {0, 12345678, "12345678ps"},
        {0, INT64_MAX, "9223372.036854775807s"},
        {1, 0, "0"},
        {1, 512, "512"},
        {1, 1000, "1kB"},
        {1, 4096, "4KiB"},
        {1, 65536, "64KiB"},
        {1, 1500000, "1.5MB"},
        {1, UINT64_MAX, "18446744073709551615"},
        {2, 25000000000 * WF_RATE_BYTE, "25GB/s"},
        {2, 12500000000 * WF_RATE_BYTE, "12.5GB/s"},
        {2, 1073741824 * WF_RATE_BYTE, "1GiB/s"},
        {2, WF_RATE_BYTE, "1B/s"},
        {2, 100, "0.0125B/s"},
        {2, 0, "0B/s"},
        {2, UINT64_MAX, "2305843009213693.951875B/s"},
        {3, 1000000, "1000000"},
        {3, 0, "0"},
    };
    char buf[WF_UNITS_TEXT_MAX];

    for (size_t i = 0; i < LENGTH(cases); i++) {
        CHECK_STR(kinds[cases[i].kind].format(cases[i].value, buf), cases[i].text);
    }
    CHECK_STR(wf_format_time(-1500000, buf), "-1.5us");
    CHECK_STR(wf_format_time(INT64_MIN, buf), "-9223372.036854775808s");
}

static void bad_texts_are_refused_in_words(void)
{
    static const struct {
        size_t kind;
        const char *text;
        const char *words;
    } cases[] = {
        {0, "1.5x", "'1.5x' is not a time; expected a number and ps, ns, us, ms, s, min or h"},
        {0, "5", "is not a time"},
        {0, "", "'' is not a time"},
        {0, "us", "is not a time"},
        {0, "1.us", "is not a time"},
        {0, ".5us", "is not a time"},
        {0, "-1us", "is not a time"},
        {0, "+1us", "is not a time"},
        {0, " 1us", "is not a time"},
        {0, "1us ", "is not a time"},
        {0, "1  us", "is not a time"},
        {0, "1 ", "is not a time"},
        {0, "0 ", "is not a time"},
        {0, "1US", "is not a time"},
        {0, "1e3us", "is not a time"},
        {0, "1.2.3us", "is not a time"},
        {0, "1,5us", "is not a time"},
        {0, "0x1us", "is not a time"},
        {0, "0.1ps", "'0.1ps' is not a whole number of picoseconds"},
        {0, "0.0000000000000000000000000000000000000000000000001s", "not a whole number"},
        {0, "9223372036854775808ps",
         "'9223372036854775808ps' is too large; expected at most 9223372.036854775807s"},
        {0, "2562.1h", "too large"},
        {0, "99999999999999999999999999999999999999999999999999h", "too large"},
        {1, "64K", "'64K' is not a size; expected a number of bytes such as 4096, 64KiB or"},
        {1, "64kiB", "is not a size"},
        {1, "1.5", "'1.5' is not a whole number of bytes"},
        {1, "16EiB", "too large; expected at most 18446744073709551615"},
        {1, "18446744073709551616", "too large"},
        {1, "295147905179352825856EiB", "too large"}, /* 2^128 */
        {1, "15.99999999999999999999EiB", "not a whole number of bytes"},
        {1, "1B/s", "is not a size"},
        {2, "25", "'25' is not a rate; expected a number and a unit such as 25GB/s"},
        {2, "25GB", "is not a rate"},
        {2, "0", "is not a rate"},
        {2, "0B/s", "'0B/s' is too small; expected at least 0.000125B/s"},
        {2, "0.0005bit/s", "not a whole number of millibits per second"},
        {2, "1.00001B/s", "not a whole number of millibits per second"},
        {2, "18446744073709551.616bit/s", "too large"},
        {3, "1.5", "'1.5' is not a count; expected a whole number such as 42"},
        {3, "12K", "is not a count"},
        {3, "-1", "is not a count"},
        {3, "18446744073709551616", "too large"},
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct wf_err err = {.status = WF_OK};
        uint64_t value = 77;
        CHECK(kinds[cases[i].kind].parse(cases[i].text, &value, &err) == WF_EINVAL);
        CHECK(err.status == WF_EINVAL);
        if (strstr(err.text, cases[i].words) == NULL) {
            CHECK_STR(err.text, cases[i].words);
        }
        CHECK_U64(value, 77);
    }
}

static void reals_read_back_bit_for_bit(void)
{
    for (uint64_t i = 0; i < CASES; i++) {
        uint64_t bits = wf_test_rand(SEED, i, 20);
        double value = 0.0, back = 0.5;
        char buf[WF_UNITS_TEXT_MAX];

        memcpy(&value, &bits, sizeof(value));
        if (isfinite(value)) {
            CHECK(wf_parse_real(wf_format_real(value, buf), &back, NULL) == WF_OK);
            CHECK(memcmp(&back, &value, sizeof(back)) == 0);
        }
    }
}

static void reals_are_decimal_and_finite(void)
{
    static const char *const bad[] = {"",      "-",   "nan", "inf",  "0x10",  "1.",
                                      ".5",    " 1",  "1 ",  "1e",   "1e+",   "+1",
                                      "1e999", "1,5", "--1", "1e5x", "-1e999"};
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0.25", 0.25},  {"-2.5e-3", -0.0025}, {"1E3", 1000.0},
                {"1e+2", 100.0}, {"007", 7.0},         {"0", 0.0}};
    char buf[WF_UNITS_TEXT_MAX];

    for (size_t i = 0; i < LENGTH(bad); i++) {
        struct wf_err err = {.status = WF_OK};
        double value = 77.0;
        CHECK(wf_parse_real(bad[i], &value, &err) == WF_EINVAL);
        CHECK(err.text[0] != '\0' && value == 77.0);
    }
    for (size_t i = 0; i < LENGTH(good); i++) {
        double value = 77.0;
        CHECK(wf_parse_real(good[i].text, &value, NULL) == WF_OK);
        CHECK(value == good[i].value);
    }
    CHECK_STR(wf_format_real(0.1, buf), "0.1");
    CHECK_STR(wf_format_real(5e-324, buf), "5e-324");
    CHECK_STR(wf_format_real(-1234567.5, buf), "-1234567.5");
}

static void tables_for_people(void)
{
    static const struct {
        int64_t ps;
        const char *text;
    } times[] = {
        {0, "0 ps"},
        {999, "999 ps"},
        {1000, "1.000 ns"},
        {3146000000, "3.146 ms"},
        {3146499999, "3.146 ms"},
        {3146500000, "3.147 ms"},
        {31464000, "31.46 us"},
        {314640, "314.6 ns"},
        {999949, "999.9 ns"},
        {999950, "1.000 us"},
        {99995, "100.0 ns"},
        {9999500, "10.00 us"},
        {90000000000000, "90.00 s"},
        {3599000000000000, "3599 s"},
        {3598600000000000, "3599 s"},
        {3600000000000000, "1.000 h"},
        {INT64_MAX, "2562 h"},
        {-1500, "-1.500 ns"},
        {INT64_MIN, "-2562 h"},
    };
    static const struct {
        uint64_t bytes;
        const char *text;
    } sizes[] = {
        {0, "0 B"},
        {1023, "1023 B"},
        {1024, "1.00 KiB"},
        {1610612736, "1.50 GiB"},
        {1048575, "1.00 MiB"},
        {1047552, "1023 KiB"},
        {10480, "10.2 KiB"},
        {UINT64_C(3) << 40, "3.00 TiB"},
        {UINT64_C(3) << 50, "3.00 PiB"},
        {UINT64_MAX, "16.0 EiB"},
    };
    static const struct {
        double value;
        const char *text;
    } counts[] = {
        {0, "0"},           {42, "42"},           {1.2345, "1.23"},     {999, "999"},
        {999.6, "1.00 k"},  {999.5, "1.00 k"},    {1004.6, "1.00 k"},   {1005, "1.01 k"},
        {1234, "1.23 k"},   {12345678, "12.3 M"}, {999999, "1.00 M"},   {-5000, "-5.00 k"},
        {2.5e18, "2.50 E"}, {1e19, "1e+19"},      {0.00125, "0.00125"},
    };
    char buf[WF_UNITS_TEXT_MAX];

    for (size_t i = 0; i < LENGTH(times); i++) {
        CHECK_STR(wf_human_time(times[i].ps, buf), times[i].text);
    }
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        CHECK_STR(wf_human_size(sizes[i].bytes, buf), sizes[i].text);
    }
    for (size_t i = 0; i < LENGTH(counts); i++) {
        CHECK_STR(wf_human_count(counts[i].value, buf), counts[i].text);
    }
}

static void what_was_measured_is_rounded_and_reads_back(void)
{
    char text[WF_UNITS_TEXT_MAX];

    CHECK_STR(wf_format_measured_time(445550, text), "445.55ns");
    CHECK_STR(wf_format_measured_time(2240746.4, text), "2.24075us");
    CHECK_STR(wf_format_measured_time(0.2, text), "0");
    CHECK_STR(wf_format_measured_rate(8361229657.0, text), "8.36123GB/s");
    CHECK_STR(wf_format_measured_rate(1e15, text), "1PB/s");
}

static void a_transfer_takes_the_least_sufficient_time(void)
{
    for (uint64_t i = 0; i < CASES; i++) {
        uint64_t bytes = wf_test_rand(SEED, i, 30) >> (wf_test_rand(SEED, i, 31) % 64);
        uint64_t rate = (wf_test_rand(SEED, i, 32) >> (wf_test_rand(SEED, i, 33) % 64)) + 1;
        if (i % 2 == 0 && rate <= UINT64_MAX / WF_RATE_BYTE) {
            rate *= WF_RATE_BYTE;
        }
        if (rate == 0) {
            continue;
        }
        wf_u128 work = (wf_u128)bytes * 1000000000000u * WF_RATE_BYTE;
        int64_t ps = wf_transfer_ps(bytes, rate);
        CHECK(ps >= 0);
        CHECK(ps == 0 || (wf_u128)(ps - 1) * rate < work);
        CHECK(ps == WF_TIME_MAX || (wf_u128)ps * rate >= work);
    }
}

static void transfers_at_the_edges(void)
{
    const uint64_t byte = WF_RATE_BYTE;

    CHECK_U64((uint64_t)wf_transfer_ps(0, 1), 0);
    CHECK_U64((uint64_t)wf_transfer_ps(1, UINT64_MAX), 1);
    CHECK_U64((uint64_t)wf_transfer_ps(1, 1000000000000 * byte), 1);
    CHECK_U64((uint64_t)wf_transfer_ps(1, 1000000000000 * byte - 1), 2);
    CHECK_U64((uint64_t)wf_transfer_ps(9223372, byte), 9223372000000000000u);
    CHECK_U64((uint64_t)wf_transfer_ps(9223373, byte), INT64_MAX);
    CHECK_U64((uint64_t)wf_transfer_ps(18446744, 2 * byte), 9223372000000000000u);
    CHECK_U64((uint64_t)wf_transfer_ps(UINT64_MAX, 1), INT64_MAX);
    CHECK_U64((uint64_t)wf_transfer_ps(4, 100), 320000000000000u); /* 32 bit at 0.1 bit/s */
}

int main(void)
{
    RUN(what_is_formatted_reads_back);
    RUN(no_shorter_text_exists);
    RUN(texts_are_worth_what_the_oracle_says);
    RUN(known_texts_have_known_values);
    RUN(known_values_have_known_texts);
    RUN(bad_texts_are_refused_in_words);
    RUN(reals_read_back_bit_for_bit);
    RUN(reals_are_decimal_and_finite);
    RUN(tables_for_people);
    RUN(what_was_measured_is_rounded_and_reads_back);
    RUN(a_transfer_takes_the_least_sufficient_time);
    RUN(transfers_at_the_edges);
    return wf_test_done();
}
