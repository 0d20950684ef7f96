/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/cli/progress.h"

#include "base/units.h"
#include "ui/cli/interrupt.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { DEFAULT_COLUMNS = 80 };

static const double FIRST_SECONDS = 1.0, REDRAW_SECONDS = 0.2, LINE_SECONDS = 1.0;
static const double ONCE_AFTER_SECONDS = 10, LONG_SECONDS = 300;

const char *const wf_progress_modes[] = {
    [WF_PROGRESS_AUTO] = "auto",
    [WF_PROGRESS_ALWAYS] = "always",
    [WF_PROGRESS_NEVER] = "never",
    NULL,
};

static double now(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

bool wf_cli_is_terminal(FILE *out)
{
    return isatty(fileno(out)) == 1 && getenv("OMPI_COMM_WORLD_SIZE") == NULL;
}

static bool is_terminal(FILE *out)
{
    const char *term = getenv("TERM");

    return wf_cli_is_terminal(out) && (term == NULL || strcmp(term, "dumb") != 0);
}

void wf_progress_init(struct wf_progress_line *line, enum wf_progress_mode mode, FILE *out)
{
    bool terminal = is_terminal(out);
    bool on = mode == WF_PROGRESS_ALWAYS || (mode == WF_PROGRESS_AUTO && terminal);

    *line = (struct wf_progress_line){
        .out = on ? out : NULL,
        .once = !on && mode == WF_PROGRESS_AUTO ? out : NULL,
        .in_place = terminal,
        .began = now(),
    };
}

static int columns(FILE *out)
{
    struct winsize size;

    if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        return size.ws_col;
    }
    return DEFAULT_COLUMNS;
}

void wf_progress_clock(double seconds, char *buf, size_t size)
{
    uint64_t s = seconds < 1e9 ? (uint64_t)(seconds + 0.5) : UINT64_C(1000000000);

    if (s >= 3600) {
        (void)snprintf(buf, size, "%llu:%02u:%02u", (unsigned long long)(s / 3600),
                       (unsigned)(s / 60 % 60), (unsigned)(s % 60));
    } else {
        (void)snprintf(buf, size, "%u:%02u", (unsigned)(s / 60), (unsigned)(s % 60));
    }
}

char *wf_progress_text(const struct wf_sim_progress *progress, double elapsed, char *buf)
{
    char percent[16] = "", eta[48] = "";
    char time[WF_UNITS_TEXT_MAX], rate[WF_UNITS_TEXT_MAX];
    double fraction = progress->fraction < 1 ? progress->fraction : 1;

    if (fraction >= 0) {
        (void)snprintf(percent, sizeof(percent), "%3d %%  ", (int)(100 * fraction));
    }
    if (fraction > 0) {
        char clock[32];
        wf_progress_clock(elapsed * (1 - fraction) / fraction, clock, sizeof(clock));
        (void)snprintf(eta, sizeof(eta), "  %s left", clock);
    }
    if (progress->runs > 0) {
        (void)snprintf(buf, WF_PROGRESS_TEXT_MAX, "%s%zu of %zu repeated runs%s", percent,
                       progress->runs_done, progress->runs, eta);
        return buf;
    }
    (void)snprintf(buf, WF_PROGRESS_TEXT_MAX, "%s%s simulated  %s events/s%s", percent,
                   wf_human_time(progress->time_ps, time),
                   wf_human_count((double)progress->events / elapsed, rate), eta);
    return buf;
}

/* Returns to the beginning of the line and erases it, including the ^C that a terminal
 * echoes. */
#define ERASE_LINE "\r\033[K"

/* The last column stays empty, because a terminal may wrap after it. */
static void draw_in_place(struct wf_progress_line *line, const char *text)
{
    (void)fprintf(line->out, ERASE_LINE "%.*s", columns(line->out) - 1, text);
    line->shown = true;
}

/* Whether the line is to be drawn now; the time of the last drawing is then that of this one. */
static bool is_due(struct wf_progress_line *line, double first)
{
    double t = now();

    if (line->out == NULL || t - line->began < first ||
        t - line->drawn < (line->in_place ? REDRAW_SECONDS : LINE_SECONDS)) {
        return false;
    }
    line->drawn = t;
    return true;
}

static void show(struct wf_progress_line *line, const char *text)
{
    if (line->in_place) {
        draw_in_place(line, text);
    } else {
        (void)fprintf(line->out, "%s\n", text);
    }
    (void)fflush(line->out);
}

/* Where nobody watches a line: says once that a run will be long. */
static void tell_once(struct wf_progress_line *line, double fraction)
{
    double elapsed = now() - line->began, left = elapsed * (1 - fraction) / fraction;
    char clock[32];

    if (elapsed >= ONCE_AFTER_SECONDS && fraction > 0) {
        wf_progress_clock(left, clock, sizeof(clock));
        if (left > LONG_SECONDS) {
            (void)fprintf(line->once,
                          "weft: note: a long run: %.2g %% in %.0f s, about %s left\n",
                          100 * fraction, elapsed, clock);
        }
        line->once = NULL;
    }
}

void wf_progress_draw(void *line_arg, const struct wf_sim_progress *progress)
{
    struct wf_progress_line *line = line_arg;
    char text[WF_PROGRESS_TEXT_MAX];

    if (line->reading != NULL) {
        /* The time left is that of the simulation. */
        wf_progress_read_end(line);
        line->began = now();
    }
    if (is_due(line, FIRST_SECONDS)) {
        show(line, wf_progress_text(progress, line->drawn - line->began, text));
    } else if (line->once != NULL) {
        tell_once(line, progress->fraction);
    }
}

void wf_progress_reading_draw(struct wf_progress_line *line,
                              const struct wf_progress_read *read)
{
    char text[WF_PROGRESS_TEXT_MAX];

    if (is_due(line, FIRST_SECONDS)) {
        show(line, wf_progress_reading_text(read, line->drawn - line->began, text));
    }
}

/* Writes "  0:42 left", or nothing before anything is done. */
static void time_left(double elapsed, double fraction, char *buf, size_t size)
{
    char clock[32];

    buf[0] = '\0';
    if (fraction > 0 && fraction <= 1) {
        wf_progress_clock(elapsed * (1 - fraction) / fraction, clock, sizeof(clock));
        (void)snprintf(buf, size, "  %s left", clock);
    }
}

void wf_progress_share(struct wf_progress_line *line, const char *what, double fraction)
{
    char text[WF_PROGRESS_TEXT_MAX], left[48];

    if (is_due(line, 0)) {
        time_left(line->drawn - line->began, fraction, left, sizeof(left));
        (void)snprintf(text, sizeof(text), "%3d %%  %s%s", (int)(100 * fraction), what, left);
        show(line, text);
    }
}

char *wf_progress_pass_text(const struct wf_pass_progress *pass, const char *what,
                            double elapsed, char *buf)
{
    char ops[WF_UNITS_TEXT_MAX], rate[WF_UNITS_TEXT_MAX], left[48];
    double fraction = pass->n_ranks > 0 ? (double)pass->ranks / (double)pass->n_ranks : 0;

    time_left(elapsed, fraction, left, sizeof(left));
    (void)snprintf(buf, WF_PROGRESS_TEXT_MAX, "%3d %%  %.60s  %s ops  %s ops/s%s",
                   (int)(100 * fraction), what, wf_human_count((double)pass->ops, ops),
                   wf_human_count(elapsed > 0 ? (double)pass->ops / elapsed : 0, rate), left);
    return buf;
}

static void draw_pass(void *line_arg, const struct wf_pass_progress *pass)
{
    struct wf_progress_line *line = line_arg;
    char text[WF_PROGRESS_TEXT_MAX];

    if (is_due(line, FIRST_SECONDS)) {
        show(line, wf_progress_pass_text(pass, line->what, line->drawn - line->began, text));
    }
}

void wf_progress_restart(struct wf_progress_line *line)
{
    line->began = now();
}

struct wf_pass wf_progress_pass(struct wf_progress_line *line, const char *what)
{
    line->what = what;
    wf_progress_restart(line);
    return (struct wf_pass){.progress = line->out != NULL ? draw_pass : NULL, .arg = line};
}

static void draw_count(void *line_arg, size_t done, size_t of)
{
    struct wf_progress_line *line = line_arg;
    char text[WF_PROGRESS_TEXT_MAX], left[48] = "";

    if (line->out == NULL) {
        return;
    }
    if (line->before == SIZE_MAX) {
        line->before = done;
    }
    if (done > line->before && done < of) {
        time_left(now() - line->began,
                  (double)(done - line->before) / (double)(of - line->before), left,
                  sizeof(left));
    }
    (void)snprintf(text, sizeof(text), "%zu of %zu %s%s", done, of, line->what, left);
    show(line, text);
}

struct wf_points_host wf_progress_points(struct wf_progress_line *line, const char *what,
                                         uint64_t jobs)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    line->what = what;
    line->before = SIZE_MAX;
    return (struct wf_points_host){
        .jobs = jobs > 0 ? (size_t)jobs : (size_t)(cores > 0 ? cores : 1),
        .stop = wf_interrupt_watch(),
        .running = wf_interrupt_running,
        .progress = draw_count,
        .progress_arg = line,
    };
}

void wf_progress_erase(struct wf_progress_line *line)
{
    if (line->out != NULL && line->shown) {
        (void)fputs(ERASE_LINE, line->out);
        (void)fflush(line->out);
        line->shown = false;
    }
}
