/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include "harness/wf_test.h"

enum { CASES = 20000, SEED = 5 };

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const char *nearest_of(const char *wanted, const char *const *names, size_t n)
{
    struct wf_nearest nearest;

    wf_nearest_begin(&nearest, wanted);
    for (size_t i = 0; i < n; i++) {
        wf_nearest_add(&nearest, names[i]);
    }
    return nearest.best == NULL ? "(none)" : nearest.best;
}

static void typos_find_their_name(void)
{
    static const char *const names[] = {"threads", "latency", "bandwidth", "seed", "x"};
    static const struct {
        const char *wanted, *best;
    } cases[] = {
        {"thredas", "threads"},    {"thread", "threads"},
        {"threadss", "threads"},   {"Threads", "threads"},
        {"SEED", "seed"},          {"lat", "latency"},
        {"LAT", "latency"},        {"sede", "seed"},
        {"bandwith", "bandwidth"}, {"bnadwdith", "bandwidth"},
        {"topology", "(none)"},    {"", "(none)"},
        {"y", "(none)"},           {"sxxd", "seed"},
        {"abc", "(none)"},         {"sxx", "(none)"},
        {"l", "(none)"},
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        CHECK_STR(nearest_of(cases[i].wanted, names, LENGTH(names)), cases[i].best);
    }
}

static void of_equally_near_names_the_first_is_proposed(void)
{
    static const char *const names[] = {"node", "mode", "code"};

    CHECK_STR(nearest_of("bode", names, LENGTH(names)), "node");
    CHECK_STR(nearest_of("mdoe", names, LENGTH(names)), "mode");
}

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;

    return least < c ? least : c;
}

/* The definition of the distance, without any memory of what was computed. */
static size_t slow_distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
    if (n_a == 0 || n_b == 0) {
        return n_a + n_b;
    }
    size_t best =
        min3(slow_distance(a, n_a - 1, b, n_b) + 1, slow_distance(a, n_a, b, n_b - 1) + 1,
             slow_distance(a, n_a - 1, b, n_b - 1) + (a[n_a - 1] != b[n_b - 1]));
    if (n_a > 1 && n_b > 1 && a[n_a - 1] == b[n_b - 2] && a[n_a - 2] == b[n_b - 1]) {
        best = min3(best, best, slow_distance(a, n_a - 2, b, n_b - 2) + 1);
    }
    return best;
}

static void random_word(char *word, uint64_t i, uint64_t which)
{
    size_t length = wf_test_rand(SEED, i, which) % 6;

    for (size_t k = 0; k < length; k++) {
        word[k] = (char)('a' + (int)(wf_test_rand(SEED, i, which + 1 + k) % 3));
    }
    word[length] = '\0';
}

static void distances_are_those_of_the_definition(void)
{
    for (uint64_t i = 0; i < CASES; i++) {
        char wanted[8] = "", known[8] = "";
        struct wf_nearest nearest;

        random_word(wanted, i, 0);
        random_word(known, i, 10);
        size_t distance = slow_distance(wanted, strlen(wanted), known, strlen(known));
        size_t length = strlen(wanted);
        if (length >= 2 && distance > 1 && strncmp(wanted, known, length) == 0) {
            distance = 1;
        }

        wf_nearest_begin(&nearest, wanted);
        wf_nearest_add(&nearest, known);
        int is_near = distance <= (length + 2) / 3 && distance < length;
        CHECK((nearest.best == known) == is_near);
        CHECK(!is_near || nearest.distance == distance);
    }
}

static void hints_fit_whatever_the_name(void)
{
    char buf[WF_HINT_MAX], longest[200];
    struct wf_nearest nearest;

    memset(longest, 'n', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    wf_nearest_begin(&nearest, longest);
    CHECK_STR(wf_nearest_hint(&nearest, buf), "");
    wf_nearest_add(&nearest, longest);
    CHECK(wf_nearest_hint(&nearest, buf) == buf);
    CHECK_STR(buf + strlen(buf) - 3, "n'?");

    wf_nearest_begin(&nearest, "thredas");
    wf_nearest_add(&nearest, "threads");
    CHECK_STR(wf_nearest_hint(&nearest, buf), "; did you mean 'threads'?");
}

static void foreign_text_becomes_printable(void)
{
    static const struct {
        const char *text, *safe;
    } cases[] = {
        {"plain", "plain"},
        {"a\tb\n\x1b[31m\x7f", "a b??[31m?"},
        {"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
         "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"latin \xfc!", "latin ?!"},
        {"cut \xe2\x82", "cut ??"},
        {"control \xc2\x85", "control ??"},
        {"long zero \xc0\x80", "long zero ??"},
        {"surrogate \xed\xa0\x80", "surrogate ???"},
        {"beyond \xf4\x90\x80\x80", "beyond ????"},
        /* NOLINTNEXTLINE(misc-misleading-bidirectional): it is what is tested */
        {"reversed \xe2\x80\xae", "reversed ???"},
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        char text[64];

        (void)snprintf(text, sizeof(text), "%s", cases[i].text);
        CHECK_STR(wf_text_safe(text), cases[i].safe);
    }
}

static void cells_are_quoted_and_never_formulas(void)
{
    static const struct {
        const char *text, *cell;
    } cases[] = {
        {"", ""},          {"plain", "plain"}, {"a,b", "\"a,b\""},    {"a\"b", "\"a\"\"b\""},
        {"=1+1", "'=1+1"}, {"@x", "'@x"},      {"-x,y", "\"'-x,y\""}, {"-1.5e3", "-1.5e3"},
        {"+7", "+7"},      {"a\nb", "a?b"},
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        char cell[64] = "";
        FILE *out = fmemopen(cell, sizeof(cell), "w");

        wf_text_csv(out, cases[i].text);
        (void)fclose(out);
        CHECK_STR(cell, cases[i].cell);
    }
}

static void a_line_is_printed_without_its_control_characters(void)
{
    char line[64] = "";
    FILE *out = fmemopen(line, sizeof(line), "w");

    wf_text_print(out, "%s and %d\n", "\x1b[1mbold\nforged", 7);
    (void)fclose(out);
    CHECK_STR(line, "?[1mbold?forged and 7\n");
}

static void a_mark_at_the_beginning_is_skipped(void)
{
    CHECK_STR(wf_text_past_mark("\xef\xbb\xbftext"), "text");
    CHECK_STR(wf_text_past_mark("\xef\xbb"), "\xef\xbb");
    CHECK_STR(wf_text_past_mark(""), "");
}

static void markup_is_escaped(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    wf_text_markup(out, "a<b>&amp;\n\"\xc3\xa4");
    CHECK(fclose(out) == 0);
    CHECK_STR(text, "a&lt;b&gt;&amp;amp; \"\xc3\xa4");
    free(text);
}

int main(void)
{
    RUN(typos_find_their_name);
    RUN(of_equally_near_names_the_first_is_proposed);
    RUN(distances_are_those_of_the_definition);
    RUN(hints_fit_whatever_the_name);
    RUN(foreign_text_becomes_printable);
    RUN(cells_are_quoted_and_never_formulas);
    RUN(a_line_is_printed_without_its_control_characters);
    RUN(a_mark_at_the_beginning_is_skipped);
    RUN(markup_is_escaped);
    return wf_test_done();
}
