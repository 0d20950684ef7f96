/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs scenarios under several schedules and compares the whole result documents.
 *
 * Every line of stdin is a scenario: words "key=value" separated by tabs; after each word "|"
 * follow the settings of another schedule. The words "record" and "what-if" ask for these parts
 * of the document. The first schedule is sequential, and is what the others are compared with.
 * One line of stdout answers:
 *     same CODE MICROSECONDS N    all schedules agree; the exit code, the time of the first one,
 *                                 and how many were in lock step
 *     differ SCHEDULE WHERE...    schedule 1, 2, ... does not
 *     slow                        the first schedule takes too long; the program ends
 * Lock step may refuse a scenario (engine.exec); such a schedule does not count.
 * A schedule that takes too much processor time although the first one did not ends the program
 * by SIGPROF.
 */
#include "base/mem.h"
#include "base/result/doc.h"
#include "run/execute/run.h"
#include "run/scenario/scenario.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_SECONDS = 10, OTHER_SECONDS = 240, WORDS_MAX = 512, WHERE_MAX = 400 };

struct outcome {
    enum wf_status status;
    struct wf_err err;
    struct wf_value *doc;
};

struct line {
    char *words[WORDS_MAX];
    size_t n;
    bool record, what_if;
};

static void apply(struct wf_scenario *scenario, char *word, struct outcome *out)
{
    char *equals = strchr(word, '=');

    if (out->status == WF_OK && equals != NULL) {
        *equals = '\0';
        out->status = wf_scenario_set(scenario, word, equals + 1, NULL, &out->err);
        *equals = '=';
    }
}

/* Runs the scenario with the settings of one schedule, which begin at `from`. */
static struct outcome run(const struct line *line, size_t from, const char *first)
{
    struct outcome out = {.status = WF_OK, .err = {.status = WF_OK}};
    struct wf_scenario *scenario = wf_scenario_new();
    const struct wf_sim_recording recording = {
        .spans = 1000, .messages = 1000, .choice = {.from = 0}, .path_bytes = 1 << 20};
    const struct wf_sim_host host = {.recording = line->record ? &recording : NULL,
                                     .what_if_events = line->what_if ? 100000 : 0};

    for (size_t i = 0; i < line->n && strcmp(line->words[i], "|") != 0; i++) {
        apply(scenario, line->words[i], &out);
    }
    for (size_t i = from; i < line->n && strcmp(line->words[i], "|") != 0; i++) {
        apply(scenario, line->words[i], &out);
    }
    if (first != NULL && out.status == WF_OK) {
        out.status = wf_scenario_set(scenario, "engine.sched", first, NULL, &out.err);
    }
    if (out.status == WF_OK) {
        out.status = wf_sim_run(scenario, &host, &out.doc, &out.err);
    }
    wf_scenario_free(scenario);
    return out;
}

/* ---- comparing ---- */

static bool is_same_value(const struct wf_value *a, const struct wf_value *b)
{
    switch (a->type) {
    case WF_VALUE_BOOL:
        return a->truth == b->truth;
    case WF_VALUE_COUNT:
        return a->count == b->count;
    case WF_VALUE_REAL:
        return memcmp(&a->real, &b->real, sizeof(a->real)) == 0;
    case WF_VALUE_TEXT:
        return strcmp(a->text, b->text) == 0;
    case WF_VALUE_NULL:
    case WF_VALUE_SECTION:
    case WF_VALUE_LIST:
        break;
    }
    return true;
}

/* False if the trees differ; `where` then begins with the path of the first difference. */
static bool compare(const struct wf_value *a, const struct wf_value *b, char *where,
                    size_t used)
{
    const char *name = a->name != NULL ? a->name : "-";
    int n = snprintf(where + used, WHERE_MAX - used, "/%s", name);

    used = used + (size_t)n < WHERE_MAX ? used + (size_t)n : WHERE_MAX - 1;
    if (a->type != b->type || !is_same_value(a, b) ||
        strcmp(name, b->name != NULL ? b->name : "-") != 0) {
        return false;
    }
    if (a->type != WF_VALUE_SECTION && a->type != WF_VALUE_LIST) {
        return true;
    }
    const struct wf_value *x = a->first, *y = b->first;
    for (; x != NULL && y != NULL; x = x->next, y = y->next) {
        bool about_the_run = used <= 2 && x->name != NULL && strcmp(x->name, "run") == 0;
        if (!about_the_run && !compare(x, y, where, used)) {
            return false;
        }
    }
    where[used] = '\0';
    return x == NULL && y == NULL;
}

static bool same(const struct outcome *a, const struct outcome *b, char *where)
{
    if (a->status != b->status) {
        (void)snprintf(where, WHERE_MAX, "status %d and %d: %.100s and %.100s", (int)a->status,
                       (int)b->status, a->err.text, b->err.text);
        return false;
    }
    if (a->status != WF_OK && strcmp(a->err.text, b->err.text) != 0) {
        (void)snprintf(where, WHERE_MAX, "'%.150s' and '%.150s'", a->err.text, b->err.text);
        return false;
    }
    if (a->doc == NULL || b->doc == NULL) {
        (void)snprintf(where, WHERE_MAX, "only one has a document");
        return a->doc == b->doc;
    }
    return compare(a->doc, b->doc, where, 0);
}

/* ---- lines ---- */

static void too_slow(int number)
{
    static const char word[] = "slow\n";

    (void)number;
    (void)!write(STDOUT_FILENO, word, sizeof(word) - 1);
    _exit(0);
}

/* On a busy machine much more time may pass. */
static void limit_processor_time(time_t seconds)
{
    const struct itimerval timer = {.it_value = {.tv_sec = seconds}};

    (void)setitimer(ITIMER_PROF, &timer, NULL);
}

static int64_t now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void split(char *text, struct line *line)
{
    *line = (struct line){.n = 0};
    text[strcspn(text, "\n")] = '\0';
    for (char *word = strtok(text, "\t"); word != NULL && line->n < WORDS_MAX;
         word = strtok(NULL, "\t")) {
        line->record |= strcmp(word, "record") == 0;
        line->what_if |= strcmp(word, "what-if") == 0;
        line->words[line->n++] = word;
    }
}

static bool is_lockstep(const struct line *line, size_t from)
{
    static const char key[] = "engine.exec=";
    bool found = false;

    for (size_t i = from; i < line->n && strcmp(line->words[i], "|") != 0; i++) {
        found |= strncmp(line->words[i], key, sizeof(key) - 1) == 0;
    }
    return found;
}

static void answer(const struct line *line)
{
    int64_t begin = now_us();
    (void)signal(SIGALRM, too_slow);
    (void)alarm(FIRST_SECONDS);
    struct outcome first = run(line, line->n, "sequential");
    (void)alarm(0);
    (void)signal(SIGALRM, SIG_DFL);
    int64_t took = now_us() - begin;
    int schedule = 0, in_lockstep = 0;
    bool all = true;

    for (size_t i = 0; i < line->n && all; i++) {
        char where[WHERE_MAX] = "";
        if (strcmp(line->words[i], "|") != 0) {
            continue;
        }
        schedule++;
        limit_processor_time(OTHER_SECONDS);
        struct outcome other = run(line, i + 1, NULL);
        limit_processor_time(0);
        bool lockstep = is_lockstep(line, i + 1),
             refused = lockstep && other.status == WF_EUSAGE;
        all = refused || same(&first, &other, where);
        in_lockstep += lockstep && !refused;
        wf_doc_free(other.doc);
        if (!all) {
            (void)printf("differ %d %s\n", schedule, where);
        }
    }
    wf_doc_free(first.doc);
    if (all) {
        (void)printf("same %d %" PRId64 " %d\n", wf_status_exit_code(first.status), took,
                     in_lockstep);
    }
    (void)fflush(stdout);
}

int main(void)
{
    char *text = NULL;
    size_t size = 0;

    while (getline(&text, &size, stdin) > 0) {
        struct line *line = wf_xmalloc(sizeof(*line));

        split(text, line);
        answer(line);
        free(line);
    }
    free(text);
    return 0;
}
