/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/cli/progress.h"

#include "harness/wf_test.h"

#include <string.h>

static void the_line_says_how_far_and_how_long(void)
{
    static const struct {
        struct wf_sim_progress progress;
        double elapsed;
        const char *text;
    } cases[] = {
        {{.fraction = 0.25, .time_ps = 1500000000, .events = 24000000},
         2,
         " 25 %  1.500 ms simulated  12.0 M events/s  0:06 left"},
        {{.fraction = 0.001, .time_ps = 0, .events = 100},
         10,
         "  0 %  0 ps simulated  10 events/s  2:46:30 left"},
        {{.fraction = 0, .time_ps = 1000, .events = 10},
         1,
         "  0 %  1.000 ns simulated  10 events/s"},
        {{.fraction = -1, .time_ps = 1000, .events = 10}, 1, "1.000 ns simulated  10 events/s"},
        /* An estimate may turn out too low. */
        {{.fraction = 1.5, .time_ps = 1000, .events = 10},
         1,
         "100 %  1.000 ns simulated  10 events/s  0:00 left"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char buf[WF_PROGRESS_TEXT_MAX];
        (void)wf_progress_text(&cases[i].progress, cases[i].elapsed, buf);
        if (strcmp(buf, cases[i].text) != 0) {
            printf("# '%s'\n# '%s'\n", buf, cases[i].text);
        }
        CHECK(strcmp(buf, cases[i].text) == 0);
    }
}

/* Draws twice, with a clock that says the run began long ago; returns what was written. */
static char *drawn(enum wf_progress_mode mode)
{
    const struct wf_sim_progress progress = {.fraction = 0.5, .events = 1};
    struct wf_progress_line line;
    static char text[512];
    FILE *out = tmpfile();

    wf_progress_init(&line, mode, out);
    wf_progress_draw(&line, &progress);
    line.began -= 5;
    wf_progress_draw(&line, &progress);
    wf_progress_draw(&line, &progress);
    wf_progress_erase(&line);
    rewind(out);
    text[fread(text, 1, sizeof(text) - 1, out)] = '\0';
    (void)fclose(out);
    return text;
}

static void a_file_gets_lines_only_if_asked(void)
{
    const char *always = drawn(WF_PROGRESS_ALWAYS);

    CHECK(strstr(always, " 50 %") == always);
    CHECK(strchr(always, '\n') == always + strlen(always) - 1);
    CHECK(strchr(always, '\033') == NULL);
    CHECK(strcmp(drawn(WF_PROGRESS_AUTO), "") == 0);
    CHECK(strcmp(drawn(WF_PROGRESS_NEVER), "") == 0);
}

static void reading_says_how_fast_and_how_long(void)
{
    static const struct {
        struct wf_progress_read read;
        double elapsed;
        const char *text;
    } cases[] = {
        {{"a.weft", 100 << 20, 25 << 20},
         5,
         " 25 %  reading a.weft  25.0 MiB  5.00 MiB/s  0:15 left"},
        {{"a.weft", 100 << 20, 150 << 20}, 10, "reading a.weft  150 MiB  15.0 MiB/s"},
        {{"b", 10, 0}, 2, "reading b  0 B  0 B/s"},
        {{"finding rules", 0, 5}, 65, "finding rules  1:05"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char buf[WF_PROGRESS_TEXT_MAX];
        CHECK_STR(wf_progress_reading_text(&cases[i].read, cases[i].elapsed, buf),
                  cases[i].text);
    }
}

static void a_pass_says_how_fast_and_how_long(void)
{
    static const struct {
        struct wf_pass_progress pass;
        double elapsed;
        const char *text;
    } cases[] = {
        {{.ranks = 256, .n_ranks = 1024, .ops = 12000000},
         4,
         " 25 %  writing a.csv  12.0 M ops  3.00 M ops/s  0:12 left"},
        {{.ranks = 0, .n_ranks = 4, .ops = 65536},
         1,
         "  0 %  writing a.csv  65.5 k ops  65.5 k ops/s"},
        {{.ranks = 4, .n_ranks = 4, .ops = 10},
         2,
         "100 %  writing a.csv  10 ops  5 ops/s  0:00 left"},
        {{.ranks = 0, .n_ranks = 0, .ops = 0}, 0, "  0 %  writing a.csv  0 ops  0 ops/s"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char buf[WF_PROGRESS_TEXT_MAX];
        CHECK_STR(wf_progress_pass_text(&cases[i].pass, "writing a.csv", cases[i].elapsed, buf),
                  cases[i].text);
    }
}

/* A pass is shown after a second, and not by a silent line. */
static void a_pass_draws(void)
{
    struct wf_pass_progress progress = {.n_ranks = 4};
    struct wf_progress_line line;
    FILE *out = tmpfile();

    CHECK(out != NULL);
    wf_progress_init(&line, WF_PROGRESS_NEVER, out);
    CHECK(wf_progress_pass(&line, "writing").progress == NULL);
    wf_progress_init(&line, WF_PROGRESS_ALWAYS, out);
    const struct wf_pass pass = wf_progress_pass(&line, "writing");
    wf_pass_rank(&pass, &progress);
    CHECK(ftell(out) == 0);
    line.began -= 5;
    for (uint32_t i = 0; i < WF_PASS_OPS; i++) {
        wf_pass_op(&pass, &progress);
    }
    CHECK(ftell(out) > 0);
    (void)fclose(out);
}

/* What begins ends, whether there is such a file or not; nothing is shown so soon. */
static void reading_ends(void)
{
    struct wf_progress_line line;
    FILE *out = tmpfile();

    CHECK(out != NULL);
    wf_progress_init(&line, WF_PROGRESS_ALWAYS, out);
    for (int i = 0; i < 3; i++) {
        wf_progress_read_begin(&line, i == 0 ? "nowhere" : "/etc/passwd");
        CHECK((line.reading != NULL) == (i > 0));
        wf_progress_read_end(&line);
        CHECK(line.reading == NULL);
    }
    wf_progress_read_end(&line);
    CHECK(ftell(out) == 0);
    (void)fclose(out);
}

int main(void)
{
    RUN(reading_says_how_fast_and_how_long);
    RUN(a_pass_says_how_fast_and_how_long);
    RUN(a_pass_draws);
    RUN(reading_ends);
    RUN(the_line_says_how_far_and_how_long);
    RUN(a_file_gets_lines_only_if_asked);
    return wf_test_done();
}
