/* SPDX-License-Identifier: Apache-2.0 */
/* Lack of memory within the library: each call is made with an allocator that fails at one allocation,
 * or from one on, and must return WEFT_LIMIT, or what it returns with memory; nothing stays behind, and the
 * process goes on. The allocations are spread evenly over the call.
 *
 *     unit_library_memory EACH
 *
 * tries that many allocations of each call instead of a few; 0: all. */
#include <weft/trace.h>
#include <weft/weft.h>

#include "harness/wf_test.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

/* ---- an allocator that counts and fails ---- */

static atomic_long n_calls, n_live, at = -1;
static atomic_bool goes_on;

static bool fails(void)
{
    long number = atomic_fetch_add(&n_calls, 1), first = atomic_load(&at);

    if (first < 0 || number < first || (number > first && !atomic_load(&goes_on))) {
        return false;
    }
    errno = ENOMEM;
    return true;
}

static void *counted(void *block)
{
    (void)atomic_fetch_add(&n_live, block != NULL ? 1 : 0);
    return block;
}

void *malloc(size_t size)
{
    return fails() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : counted(__libc_calloc(n, size));
}

void *realloc(void *old, size_t size)
{
    void *block = fails() ? NULL : __libc_realloc(old, size);

    (void)atomic_fetch_add(&n_live, block != NULL && old == NULL ? 1 : 0);
    return block;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : counted(__libc_memalign(alignment, size));
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *block = fails() ? NULL : counted(__libc_memalign(alignment, size));

    if (block != NULL) {
        *out = block;
    }
    return block != NULL ? 0 : ENOMEM;
}

void free(void *block)
{
    (void)atomic_fetch_sub(&n_live, block != NULL ? 1 : 0);
    __libc_free(block);
}

static void fail_at(long number, bool all)
{
    atomic_store(&goes_on, all);
    atomic_store(&n_calls, 0);
    atomic_store(&at, number);
}

/* ---- calls ---- */

/* What a call works with. */
struct made {
    struct weft_scenario *scenario;
    struct weft_result *result; /* of another run */
    struct weft_study *study;
};

struct call {
    const char *name;
    const char *const *settings; /* pairs, and null */
    enum weft_code (*make)(struct made *made, struct weft_error *error);
    bool keeps; /* a failed call may leave a part of what it took to its object */
};

static enum weft_code run(struct made *made, struct weft_error *error)
{
    struct weft_result *result = NULL;
    enum weft_code code = weft_run(made->scenario, &result, error);

    weft_result_free(result);
    return code;
}

static enum weft_code record(struct made *made, struct weft_error *error)
{
    const struct weft_run_options options = {
        .size = sizeof(options), .record = true, .what_if = true};
    struct weft_result *result = NULL;
    enum weft_code code = weft_run_with(made->scenario, &options, &result, error);

    weft_result_free(result);
    return code;
}

static enum weft_code load_curve(struct made *made, struct weft_error *error)
{
    const struct weft_host host = {.size = sizeof(host), .jobs = 2};
    struct weft_curve_point points[] = {{.load = 0.1}, {.load = 0.2}};

    return weft_curve_run(made->scenario, points, 2, &host, error);
}

static enum weft_code write_page(struct made *made, struct weft_error *error)
{
    return weft_result_write(made->result, "page.html", true, error);
}

static enum weft_code write_archive(struct made *made, struct weft_error *error)
{
    return weft_result_write(made->result, "timeline.prv", true, error);
}

static enum weft_code convert(struct made *made, struct weft_error *error)
{
    const struct weft_convert how = {.size = sizeof(how), .ranks = 8, .force = true};
    (void)made;
    return weft_trace_convert("gen:stencil3d", "ops.weft", &how, error);
}

static enum weft_code convert_text(struct made *made, struct weft_error *error)
{
    const struct weft_convert how = {.size = sizeof(how), .force = true};
    (void)made;
    return weft_trace_convert("input.weft", "ops.goal", &how, error);
}

static enum weft_code read_ops(struct made *made, struct weft_error *error)
{
    struct weft_op op = {.size = sizeof(op)};
    struct weft_trace *trace = NULL;
    enum weft_code code = weft_trace_open("input.weft", NULL, &trace, error);

    (void)made;
    for (uint32_t rank = 0; code == WEFT_OK && rank < weft_trace_ranks(trace); rank++) {
        while (weft_trace_next(trace, rank, &op)) {
        }
    }
    code = code == WEFT_OK ? weft_trace_check(trace, error) : code;
    weft_trace_close(trace);
    return code;
}

static enum weft_code write_ops(struct made *made, struct weft_error *error)
{
    struct weft_trace_writer *writer = NULL;
    const struct weft_op op = {
        .size = sizeof(op), .kind = weft_op_kind("compute"), .duration_ps = 7};
    enum weft_code code = weft_trace_create("own.weft", 2, true, &writer, error);

    (void)made;
    for (uint32_t i = 0; code == WEFT_OK && i < 100; i++) {
        code = weft_trace_add(writer, i % 2, &op, error);
    }
    if (code == WEFT_OK) {
        return weft_trace_finish(writer, error);
    }
    weft_trace_discard(writer);
    return code;
}

static enum weft_code settings(struct made *made, struct weft_error *error)
{
    struct weft_scenario *scenario = weft_scenario_new();
    enum weft_code code =
        scenario == NULL ? WEFT_LIMIT : weft_scenario_machine(scenario, "frontier", error);

    (void)made;
    if (code == WEFT_OK) {
        code = weft_scenario_set(scenario, "ranks", "8", error);
    }
    weft_scenario_free(scenario);
    return code;
}

static enum weft_code study(struct made *made, struct weft_error *error)
{
    const struct weft_host host = {.size = sizeof(host), .jobs = 2};
    struct weft_study *read = NULL;
    enum weft_code code = weft_study_read("study.yaml", &read, error);

    (void)made;
    if (code == WEFT_OK) {
        code = weft_study_run(read, "points", &host, error);
    }
    if (code == WEFT_OK) {
        char *text = weft_study_csv(read);
        code = text != NULL ? WEFT_OK : WEFT_LIMIT;
        weft_free(text);
    }
    weft_study_free(read);
    return code;
}

#define PAIRS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct call calls[] = {
    {"loggp", PAIRS("source", "gen:stencil3d", "ranks", "8"), run, false},
    {"packet on two threads",
     PAIRS("source", "gen:is", "ranks", "8", "network", "packet", "topology", "torus:2x2x2",
           "engine.sched", "conservative", "engine.threads", "2"),
     run, false},
    {"Time Warp",
     PAIRS("source", "gen:ring", "ranks", "8", "network", "packet", "topology", "torus:2x4",
           "engine.sched", "optimistic", "engine.threads", "2", "engine.fit", "no"),
     run, false},
    {"routers in lock step",
     PAIRS("source", "traffic:uniform", "network", "router", "topology", "torus:4x4",
           "engine.threads", "2"),
     run, false},
    {"recorded", PAIRS("source", "gen:bt", "ranks", "9"), record, false},
    {"of a trace", PAIRS("source", "input.weft"), run, false},
    {"load curve",
     PAIRS("source", "traffic:uniform", "network", "router", "topology", "torus:4x4"),
     load_curve, false},
    {"page", NULL, write_page, false},
    {"timeline", NULL, write_archive, false},
    {"convert", NULL, convert, false},
    {"convert to text", NULL, convert_text, false},
    {"read ops", NULL, read_ops, true},
    {"write ops", NULL, write_ops, true},
    {"settings", NULL, settings, true},
    {"study", NULL, study, true},
};

/* ---- the test ---- */

static int n_open(void)
{
    DIR *list = opendir("/proc/self/fd");
    int n = 0;

    while (readdir(list) != NULL) {
        n++;
    }
    (void)closedir(list);
    return n;
}

/* No file that is not whole. */
static bool is_tidy(void)
{
    DIR *list = opendir(".");
    bool tidy = true;

    for (struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
        tidy = tidy && strstr(entry->d_name, ".tmp") == NULL;
    }
    (void)closedir(list);
    return tidy;
}

static long each = 12;
static long n_tried, n_refused;

static void try_once(const struct call *call, struct made *made, long number, bool all)
{
    struct weft_error error = {.code = WEFT_OK};
    long live = atomic_load(&n_live);
    int open = n_open();

    fail_at(number, all);
    enum weft_code code = call->make(made, &error);
    fail_at(-1, false);
    long left = atomic_load(&n_live) - live;
    bool good = (code == WEFT_OK || code == WEFT_LIMIT || code == WEFT_INPUT) &&
                (call->keeps || (left <= 0 && n_open() == open && is_tidy()));
    if (!good) {
        printf("%s, allocation %ld%s: code %d, %s, %ld blocks and %d files more\n", call->name,
               number, all ? " and all that follow" : "", (int)code, error.text, left,
               n_open() - open);
    }
    n_tried++;
    n_refused += code == WEFT_LIMIT ? 1 : 0;
    CHECK(good);
    CHECK(code == WEFT_OK || call->keeps || error.text[0] != '\0');
}

static void try_call(const struct call *call)
{
    struct weft_error error = {.code = WEFT_OK};
    struct made made = {.scenario = weft_scenario_new()};
    struct weft_scenario *other = weft_scenario_new();

    (void)weft_scenario_set(other, "source", "gen:ring", NULL);
    (void)weft_scenario_set(other, "ranks", "4", NULL);
    const struct weft_run_options options = {.size = sizeof(options), .record = true};
    CHECK(weft_run_with(other, &options, &made.result, NULL) == WEFT_OK);
    for (const char *const *pair = call->settings; pair != NULL && *pair != NULL; pair += 2) {
        CHECK(weft_scenario_set(made.scenario, pair[0], pair[1], NULL) == WEFT_OK);
    }
    /* What the C library allocates once is there before anything is counted. */
    enum weft_code code = call->make(&made, &error);
    if (code != WEFT_OK) {
        printf("%s: %s\n", call->name, error.text);
    }
    CHECK(code == WEFT_OK);
    fail_at(-1, false);
    CHECK(call->make(&made, &error) == WEFT_OK);
    long n = atomic_load(&n_calls), step = each == 0 || n < each ? 1 : n / each;
    for (long number = 0; number < n; number += step) {
        try_once(call, &made, number, false);
        try_once(call, &made, number, true);
    }
    CHECK(call->make(&made, &error) == WEFT_OK);
    weft_result_free(made.result);
    weft_scenario_free(other);
    weft_scenario_free(made.scenario);
}

static void lack_of_memory_is_an_error(void)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        try_call(&calls[i]);
    }
    printf("# %ld of %ld calls ran out of memory\n", n_refused, n_tried);
    CHECK(n_refused > n_tried / 2);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
    (void)st;
    (void)type;
    (void)walk;
    return remove(path);
}

static bool make_inputs(void)
{
    const struct weft_convert how = {.size = sizeof(how), .ranks = 4};
    struct weft_error error;
    FILE *file = fopen("study.yaml", "w");

    if (file == NULL) {
        return false;
    }
    (void)fputs("settings:\n  source: gen:ring\n  ranks: 4\ngrid:\n  net.L: [1us, 2us, 3us]\n",
                file);
    if (fclose(file) != 0 ||
        weft_trace_convert("gen:stencil2d", "input.weft", &how, &error) != WEFT_OK) {
        puts(error.text);
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    char directory[] = "/tmp/weft-test-XXXXXX";

    each = argc > 1 ? strtol(argv[1], NULL, 10) : each;
    if (mkdtemp(directory) == NULL || chdir(directory) != 0 || !make_inputs()) {
        return 1;
    }
    RUN(lack_of_memory_is_an_error);
    (void)nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return wf_test_done();
}
