/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "base/units.h"
#include "ops/live.h"
#include "result/doc.h"
#include "result/result.h"
#include "sim/program.h"
#include "vrank/crash.h"

#include <weft/weft.h>

#include <execinfo.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PLACE_MAX = 256 };

/* Where a crash was, as far as it is known; empty strings otherwise. */
struct place {
    char function[PLACE_MAX];
    char source[PLACE_MAX]; /* file:line */
};

/* Runs a program and keeps the beginning of its output. Not by fork(), which takes locks that
 * the crashed thread may hold. */
static void output_of(char *const *command, char *text, size_t size)
{
    posix_spawn_file_actions_t actions;
    size_t length = 0;
    pid_t child = 0;
    int ends[2];

    text[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return;
    }
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    (void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawnp(&child, command[0], &actions, NULL, command, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(ends[1]);
    while (failed == 0 && length + 1 < size) {
        ssize_t n = read(ends[0], text + length, size - 1 - length);
        if (n <= 0) {
            break;
        }
        length += (size_t)n;
    }
    text[length] = '\0';
    (void)close(ends[0]);
    if (failed == 0) {
        (void)waitpid(child, NULL, 0);
    }
}

/* Copies a line of addr2line, unless it says that it does not know. */
static void take_line(const char *from, char *to)
{
    (void)snprintf(to, PLACE_MAX, "%.*s", (int)strcspn(from, "\n ("), from);
    if (to[0] == '?' || strstr(to, ":?") != NULL || strstr(to, ":0") == to + strlen(to) - 2) {
        to[0] = '\0';
    }
    (void)wf_text_safe(to);
}

static void find_place(const struct wf_live_crash *crash, struct place *place)
{
    char address[32], program[4096], text[3 * PLACE_MAX];
    char name[] = "addr2line", functions[] = "-fse";
    char *const command[] = {name, functions, program, address, NULL};

    *place = (struct place){.function = ""};
    if (crash->place == 0) {
        return;
    }
    (void)snprintf(program, sizeof(program), "%s", crash->program);
    (void)snprintf(address, sizeof(address), "0x%zx", (size_t)crash->place);
    output_of(command, text, sizeof(text));
    take_line(text, place->function);
    const char *second = strchr(text, '\n');
    if (second != NULL) {
        take_line(second + 1, place->source);
    }
}

/* One sentence. */
static void describe(const struct wf_live_crash *crash, const struct place *place,
                     struct wf_err *err)
{
    if (crash->has_no_rank) {
        (void)wf_err_set(err, WF_ESIM, "%s", crash->what);
        return;
    }
    char time[WF_UNITS_TEXT_MAX], where[2 * PLACE_MAX + 16] = "", call[64] = "";

    if (place->function[0] != '\0') {
        (void)snprintf(where, sizeof(where), ", in %.100s%s%.100s", place->function,
                       place->source[0] != '\0' ? " at " : "", place->source);
    }
    if (crash->call != NULL) {
        (void)snprintf(call, sizeof(call), ", %s %.40s", crash->in_call ? "during" : "after",
                       crash->call);
    }
    (void)wf_err_set(err, WF_ESIM, "rank %u crashed at simulated time %s: %s%s%s", crash->rank,
                     wf_human_time(crash->clock, time), crash->what, where, call);
}

struct wf_value *wf_program_crash_document(const struct wf_live_crash *crash,
                                           struct wf_err *err)
{
    struct place place;

    find_place(crash, &place);
    describe(crash, &place, err);

    struct wf_value *doc =
        wf_result_new_error(weft_version(), err, wf_status_exit_code(err->status));
    struct wf_value *error = doc->last;

    if (!crash->has_no_rank) {
        wf_doc_count(error, "rank", crash->rank);
        wf_doc_count(error, "time_ps", (uint64_t)crash->clock);
    }
    if (crash->call != NULL) {
        wf_doc_text(error, "call", crash->call);
    }
    if (place.function[0] != '\0') {
        wf_doc_text(error, "function", place.function);
    }
    if (place.source[0] != '\0') {
        wf_doc_text(error, "source", place.source);
    }
    return doc;
}

/* The program is loaded from a file in memory, whose name tells nobody anything. */
void wf_program_crash_backtrace(const struct wf_live_crash *crash, int fd)
{
    static const char memory_file[] = "/proc/self/fd/";
    char **lines = backtrace_symbols(crash->frames, (int)crash->n_frames);

    for (uint32_t i = 0; lines != NULL && i < crash->n_frames; i++) {
        const char *place = strchr(lines[i], '(');
        bool own = strncmp(lines[i], memory_file, sizeof(memory_file) - 1) == 0;
        (void)dprintf(fd, "%s%s\n", own ? crash->program : "",
                      own && place != NULL ? place : lines[i]);
    }
    free(lines);
}

void wf_program_leave(void)
{
    wf_vrank_crash_leave();
}

void wf_program_report_crashes(void (*report)(const struct wf_live_crash *crash))
{
    wf_vrank_crash_report_by(report);
}
