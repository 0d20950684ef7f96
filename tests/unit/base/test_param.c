/* SPDX-License-Identifier: Apache-2.0 */
#include "base/param.h"

#include "base/units.h"

#include "harness/wf_test.h"

#include <stdbool.h>

enum { CASES = 5000, SEED = 6 };

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

struct settings {
    bool eager;
    uint64_t ranks;
    uint64_t packet_bytes;
    int64_t latency_ps;
    uint64_t bandwidth;
    double noise;
    int mapping;
    char *label;
    struct wf_list delays, speeds;
    char guard; /* nothing may write here */
};

#define ROW(row_name, row_type, row_member) \
    .name = (row_name), .type = (row_type), .offset = offsetof(struct settings, row_member)

static const char *const mappings[] = {"block", "cyclic", "random", NULL};

static const struct wf_param table[] = {
    {ROW("eager", WF_PARAM_BOOL, eager), .def = "true", .doc = "Send without asking"},
    {ROW("ranks", WF_PARAM_COUNT, ranks), .min = "1", .max = "1000", .doc = "Ranks"},
    {ROW("packet", WF_PARAM_SIZE, packet_bytes), .def = "4KiB", .min = "64", .doc = "Packet"},
    {ROW("latency", WF_PARAM_TIME, latency_ps), .def = "1us", .max = "1s", .doc = "Latency"},
    {ROW("bandwidth", WF_PARAM_RATE, bandwidth), .def = "25GB/s", .doc = "Bandwidth"},
    {ROW("noise", WF_PARAM_REAL, noise), .def = "0", .min = "-0.5", .max = "0.5",
     .doc = "Noise"},
    {ROW("mapping", WF_PARAM_ENUM, mapping), .def = "cyclic", .choices = mappings,
     .doc = "Map"},
    {ROW("label", WF_PARAM_TEXT, label), .def = "none", .doc = "Label"},
    {ROW("delays", WF_PARAM_TIMES, delays), .def = "1us", .max = "1s", .doc = "Delays"},
    {ROW("speeds", WF_PARAM_RATES, speeds), .def = "1GB/s,2GB/s", .doc = "Speeds"},
    WF_PARAM_END,
};

static void defaults_are_applied_and_required_members_left(void)
{
    struct settings s = {.guard = 9};
    CHECK(wf_param_defaults(table, &s, NULL) == WF_OK);
    CHECK(s.eager);
    CHECK_U64(s.ranks, 0);
    CHECK_U64(s.packet_bytes, 4096);
    CHECK_U64((uint64_t)s.latency_ps, 1000000);
    CHECK_U64(s.bandwidth, 25000000000 * WF_RATE_BYTE);
    CHECK(s.noise == 0.0);
    CHECK(s.mapping == 1);
    CHECK_STR(s.label, "none");
    CHECK(s.guard == 9);
    wf_param_release(table, &s);
    CHECK(s.label == NULL);
    wf_param_release(table, &s);
}

static void a_bad_default_is_reported(void)
{
    static const struct wf_param bad[] = {
        {ROW("latency", WF_PARAM_TIME, latency_ps), .def = "1"}, WF_PARAM_END};
    struct settings s = {0};
    struct wf_err err = {.status = WF_OK};
    CHECK(wf_param_defaults(bad, &s, &err) == WF_EUSAGE);
    CHECK(strstr(err.text, "default of latency: '1' is not a time") != NULL);
}

static void values_are_set_by_name_and_read_back(void)
{
    static const struct {
        const char *name, *value, *text;
    } cases[] = {
        {"eager", "false", "false"},
        {"eager", "yes", "true"},
        {"eager", "no", "false"},
        {"eager", "on", "true"},
        {"eager", "off", "false"},
        {"eager", "1", "true"},
        {"eager", "0", "false"},
        {"eager", "true", "true"},
        {"ranks", "1", "1"},
        {"ranks", "1000", "1000"},
        {"packet", "64", "64"},
        {"packet", "1.5 KiB", "1536"},
        {"latency", "0", "0"},
        {"latency", "1s", "1s"},
        {"latency", "1500ns", "1.5us"},
        {"bandwidth", "200Gbit/s", "25GB/s"},
        {"noise", "-0.5", "-0.5"},
        {"noise", "0.10", "0.1"},
        {"mapping", "block", "block"},
        {"mapping", "random", "random"},
        {"label", "", ""},
        {"label", "a b=c", "a b=c"},
        {"delays", "1us,0.1us,0", "1us,100ns,0"},
        {"delays", "1s", "1s"},
        {"speeds", "1Gbit/s,10Gbit/s,0.1bit/s", "125MB/s,1.25GB/s,0.0125B/s"},
    };
    struct settings s = {.guard = 9};
    char buf[WF_PARAM_TEXT_MAX];

    for (size_t i = 0; i < LENGTH(cases); i++) {
        const struct wf_param *row = wf_param_find(table, cases[i].name);
        CHECK(row != NULL);
        CHECK(wf_param_set(table, &s, "net.", cases[i].name, cases[i].value, NULL) == WF_OK);
        CHECK_STR(wf_param_format(row, &s, buf), cases[i].text);
    }
    CHECK(s.guard == 9);
    wf_param_release(table, &s);
    CHECK_STR(wf_param_format(wf_param_find(table, "label"), &s, buf), "");
    CHECK(wf_param_find(table, "nothing") == NULL);
}

static void bad_values_are_refused_and_change_nothing(void)
{
    static const struct {
        const char *name, *value, *words;
    } cases[] = {
        {"eager", "maybe", "net.eager: 'maybe' is neither true nor false"},
        {"eager", "", "'' is neither"},
        {"ranks", "0", "net.ranks: '0' is out of range; expected 1 to 1000"},
        {"ranks", "1001", "'1001' is out of range; expected 1 to 1000"},
        {"ranks", "many", "net.ranks: 'many' is not a count; expected a whole number"},
        {"packet", "63", "net.packet: '63' is too small; expected at least 64"},
        {"packet", "64K", "'64K' is not a size"},
        {"latency", "1001ms", "net.latency: '1001ms' is too large; expected at most 1s"},
        {"latency", "5", "net.latency: '5' is not a time; expected a number and ps, ns, us,"},
        {"bandwidth", "25", "'25' is not a rate"},
        {"noise", "-0.51", "'-0.51' is out of range; expected -0.5 to 0.5"},
        {"noise", "0.51", "'0.51' is out of range; expected -0.5 to 0.5"},
        {"noise", "nan", "'nan' is not a number"},
        {"mapping", "cylic",
         "net.mapping: 'cylic' is not one of block|cyclic|random; did you "
         "mean 'cyclic'?"},
        {"mapping", "1", "'1' is not one of block|cyclic|random"},
        {"delays", "1us,2s", "net.delays: '2s' is too large; expected at most 1s"},
        {"delays", "1us,,2us", "net.delays: '' is not a time"},
        {"delays", "1us,", "net.delays: '' is not a time"},
        {"speeds", "1GB/s,7", "net.speeds: '7' is not a rate"},
        {"latencyy", "1us", "unknown parameter 'net.latencyy'; did you mean 'net.latency'?"},
        {"zzz", "1us", "unknown parameter 'net.zzz'"},
    };
    struct settings s = {0};
    CHECK(wf_param_defaults(table, &s, NULL) == WF_OK);

    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct settings before = s;
        struct wf_err err = {.status = WF_OK};
        CHECK(wf_param_set(table, &s, "net.", cases[i].name, cases[i].value, &err) ==
              WF_EUSAGE);
        CHECK(err.status == WF_EUSAGE);
        if (strncmp(err.text, cases[i].words, strlen(cases[i].words)) != 0 &&
            strstr(err.text, cases[i].words) == NULL) {
            CHECK_STR(err.text, cases[i].words);
        }
        CHECK(memcmp(&before, &s, sizeof(s)) == 0);
        CHECK(wf_param_set(table, &s, "", cases[i].name, cases[i].value, NULL) == WF_EUSAGE);
    }
    wf_param_release(table, &s);
}

/* A word stands for a number that no value of the range is. */
static void words_stand_for_numbers(void)
{
    static const struct wf_param words[] = {
        {ROW("ranks", WF_PARAM_COUNT, ranks), .word = "unlimited", .def = "unlimited",
         .min = "1", .max = "1000"},
        {ROW("packet", WF_PARAM_SIZE, packet_bytes), .word = "whole", .def = "64"},
        {ROW("latency", WF_PARAM_TIME, latency_ps), .word = "auto", .def = "auto", .min = "0",
         .max = "1s"},
        {ROW("bandwidth", WF_PARAM_RATE, bandwidth), .word = "unlimited", .def = "1GB/s"},
        {ROW("delays", WF_PARAM_TIMES, delays), .word = "auto", .def = "auto", .max = "1s"},
        {ROW("speeds", WF_PARAM_RATES, speeds), .word = "auto", .def = "1GB/s,auto"},
        WF_PARAM_END,
    };
    static const struct {
        const char *name, *value, *says;
    } wrong[] = {
        {"ranks", "Unlimited", "ranks: 'Unlimited' is not a count; expected "},
        {"ranks", "0", "ranks: '0' is out of range; expected 1 to 1000, or unlimited"},
        {"latency", "aut", "expected a number and ps, ns, us, ms, s, min or h, or auto"},
        {"latency", "-1ps", "'-1ps' is not a time"},
        {"bandwidth", "", "'' is not a rate"},
        {"delays", "auto,2s", "'2s' is too large; expected at most 1s, or auto"},
    };
    struct settings s = {.guard = 9};
    char text[WF_PARAM_TEXT_MAX];

    CHECK(wf_param_defaults(words, &s, NULL) == WF_OK);
    CHECK(s.ranks == WF_PARAM_WORD && s.packet_bytes == 64 && s.latency_ps == -1);
    CHECK(s.delays.n == 1 && s.delays.items[0] == WF_PARAM_WORD);
    CHECK(s.speeds.n == 2 && s.speeds.items[1] == WF_PARAM_WORD);
    CHECK_STR(wf_param_format(&words[0], &s, text), "unlimited");
    CHECK_STR(wf_param_format(&words[2], &s, text), "auto");
    CHECK_STR(wf_param_format(&words[4], &s, text), "auto");
    CHECK_STR(wf_param_format(&words[5], &s, text), "1GB/s,auto");
    CHECK_STR(wf_param_syntax(&words[2], text), "auto|<time>");

    /* A number takes its place, and the word that of a number. */
    CHECK(wf_param_set(words, &s, "", "ranks", "7", NULL) == WF_OK && s.ranks == 7);
    CHECK(wf_param_set(words, &s, "", "ranks", "unlimited", NULL) == WF_OK);
    CHECK(s.ranks == WF_PARAM_WORD);
    CHECK(wf_param_set(words, &s, "", "packet", "whole", NULL) == WF_OK);
    CHECK(wf_param_set(words, &s, "", "bandwidth", "unlimited", NULL) == WF_OK);
    CHECK(s.packet_bytes == WF_PARAM_WORD && s.bandwidth == WF_PARAM_WORD);
    CHECK(wf_param_set(words, &s, "", "latency", "3ns", NULL) == WF_OK && s.latency_ps == 3000);
    CHECK(wf_param_set(words, &s, "", "delays", "1us,auto,2us", NULL) == WF_OK);
    CHECK(s.delays.n == 3 && s.delays.items[1] == WF_PARAM_WORD);

    for (size_t i = 0; i < LENGTH(wrong); i++) {
        struct wf_err err = {.status = WF_OK};
        CHECK(wf_param_set(words, &s, "", wrong[i].name, wrong[i].value, &err) == WF_EUSAGE);
        CHECK(strstr(err.text, wrong[i].says) != NULL);
    }
    CHECK(s.ranks == WF_PARAM_WORD && s.latency_ps == 3000 && s.delays.n == 3);
    CHECK(s.guard == 9);
    wf_param_release(words, &s);
}

static void text_values_are_owned_and_of_any_length(void)
{
    enum { LENGTH = 1 << 20 };
    struct settings s = {0};
    struct wf_err err = {.status = WF_OK};
    static char text[LENGTH + 1];
    char buf[WF_PARAM_TEXT_MAX];

    memset(text, 'x', LENGTH);
    CHECK(wf_param_set(table, &s, "", "label", text, &err) == WF_OK);
    text[0] = 'y';
    CHECK(s.label[0] == 'x');
    CHECK_U64(strlen(wf_param_format(wf_param_find(table, "label"), &s, buf)), LENGTH);
    CHECK(wf_param_set(table, &s, "", "label", s.label + LENGTH - 23, &err) == WF_OK);
    CHECK_U64(strlen(s.label), 23);
    wf_param_release(table, &s);
}

static void conditions_compare_another_value(void)
{
    static const struct wf_param rows[] = {
        {ROW("ranks", WF_PARAM_COUNT, ranks), .def = "1"},
        {ROW("mapping", WF_PARAM_ENUM, mapping), .def = "cyclic", .choices = mappings},
        {ROW("label", WF_PARAM_TEXT, label), .def = "", .only_with = "mapping=cyclic"},
        {ROW("latency", WF_PARAM_TIME, latency_ps), .def = "0", .only_with = "ranks!=1"},
        {ROW("latency2", WF_PARAM_TIME, latency_ps), .def = "0", .only_with = "label!="},
        {ROW("latency3", WF_PARAM_TIME, latency_ps), .def = "0", .only_with = "ranks=12|1|3"},
        WF_PARAM_END,
    };
    struct settings s = {0};

    CHECK(wf_param_defaults(rows, &s, NULL) == WF_OK);
    CHECK(wf_param_has_effect(rows, &rows[0], &s) && wf_param_has_effect(rows, &rows[2], &s));
    CHECK(!wf_param_has_effect(rows, &rows[3], &s) && !wf_param_has_effect(rows, &rows[4], &s));
    CHECK(wf_param_has_effect(rows, &rows[5], &s));
    CHECK(wf_param_set(rows, &s, "", "ranks", "2", NULL) == WF_OK);
    CHECK(wf_param_set(rows, &s, "", "mapping", "block", NULL) == WF_OK);
    CHECK(wf_param_set(rows, &s, "", "label", "x", NULL) == WF_OK);
    CHECK(!wf_param_has_effect(rows, &rows[2], &s) && wf_param_has_effect(rows, &rows[3], &s));
    CHECK(wf_param_has_effect(rows, &rows[4], &s));
    CHECK(!wf_param_has_effect(rows, &rows[5], &s));
    wf_param_release(rows, &s);
}

static void missing_names_the_first_required_member(void)
{
    static const struct wf_param two[] = {
        {ROW("ranks", WF_PARAM_COUNT, ranks), .def = "1"},
        {ROW("latency", WF_PARAM_TIME, latency_ps)},
        {ROW("mapping", WF_PARAM_ENUM, mapping), .choices = mappings},
        WF_PARAM_END,
    };
    struct wf_err err = {.status = WF_OK};

    CHECK(wf_param_missing(two, 6, "net.", &err) == WF_OK);
    CHECK(wf_param_missing(two, 7, "net.", NULL) == WF_OK);
    CHECK(wf_param_missing(two, 0, "net.", &err) == WF_EUSAGE);
    CHECK_STR(err.text, "parameter 'net.latency' is required: latency=<time>");
    CHECK(wf_param_missing(two, 3, "", &err) == WF_EUSAGE);
    CHECK_STR(err.text, "parameter 'mapping' is required: mapping=block|cyclic|random");
    CHECK(wf_param_missing(two + 1, 2, "", &err) == WF_EUSAGE);
    CHECK(wf_param_missing(two, 5, "", &err) == WF_EUSAGE);
    CHECK(strstr(err.text, "'latency'") != NULL);
}

static void every_type_has_a_syntax(void)
{
    static const char *const expected[] = {
        "true|false",          "<count>", "<size>", "<time>", "<rate>", "<number>",
        "block|cyclic|random", "<text>"};
    char buf[WF_PARAM_TEXT_MAX];

    for (size_t i = 0; i < LENGTH(expected); i++) {
        CHECK_STR(wf_param_syntax(&table[i], buf), expected[i]);
    }
}

static void too_many_choices_are_cut_not_overrun(void)
{
    static const char word[] = "a-rather-long-choice-to-make-and-to-write";
    const char *choices[2001];
    char buf[WF_PARAM_TEXT_MAX];
    struct settings s = {0};
    struct wf_err err = {.status = WF_OK};

    for (size_t i = 0; i < 2000; i++) {
        choices[i] = word;
    }
    choices[2000] = NULL;
    const struct wf_param many[] = {{ROW("many", WF_PARAM_ENUM, mapping), .choices = choices},
                                    WF_PARAM_END};
    CHECK_U64(strlen(wf_param_syntax(&many[0], buf)), WF_PARAM_TEXT_MAX - 1);
    CHECK(wf_param_set(many, &s, "", "many", "few", &err) == WF_EUSAGE);
}

static void whatever_is_in_force_reads_back(void)
{
    for (uint64_t i = 0; i < CASES; i++) {
        char buf[WF_PARAM_TEXT_MAX];
        struct settings back = {0};
        struct settings s = {
            .eager = i % 2 == 0,
            .ranks = wf_test_rand(SEED, i, 0) % 1000 + 1,
            .packet_bytes = (wf_test_rand(SEED, i, 1) >> i % 50) | 64,
            .latency_ps = (int64_t)(wf_test_rand(SEED, i, 2) % 1000000000001),
            .bandwidth = (wf_test_rand(SEED, i, 3) >> i % 63) | 1,
            .noise = (double)(wf_test_rand(SEED, i, 4) >> 11) / 9007199254740992.0 - 0.5,
            .mapping = (int)(i % 3),
        };
        for (const struct wf_param *row = table; row->type != WF_PARAM_TEXT; row++) {
            const char *given = wf_param_format(row, &s, buf);
            CHECK(wf_param_set(table, &back, "", row->name, given, NULL) == WF_OK);
        }
        CHECK(back.eager == s.eager && back.mapping == s.mapping && back.noise == s.noise);
        CHECK_U64(back.ranks, s.ranks);
        CHECK_U64(back.packet_bytes, s.packet_bytes);
        CHECK_U64((uint64_t)back.latency_ps, (uint64_t)s.latency_ps);
        CHECK_U64(back.bandwidth, s.bandwidth);
    }
}

int main(void)
{
    RUN(defaults_are_applied_and_required_members_left);
    RUN(a_bad_default_is_reported);
    RUN(values_are_set_by_name_and_read_back);
    RUN(bad_values_are_refused_and_change_nothing);
    RUN(words_stand_for_numbers);
    RUN(text_values_are_owned_and_of_any_length);
    RUN(conditions_compare_another_value);
    RUN(missing_names_the_first_required_member);
    RUN(every_type_has_a_syntax);
    RUN(too_many_choices_are_cut_not_overrun);
    RUN(whatever_is_in_force_reads_back);
    return wf_test_done();
}
