/* SPDX-License-Identifier: Apache-2.0 */
#include "run/program/program.h"

#include "base/mem.h"
#include "base/text.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AT_ONCE = 64, LINES_MAX = 16, ADDRESS_MAX = 32, PATH_MAX_TEXT = 4096 };

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

/* Copies a line of addr2line, unless it says that it does not know. Returns the next line. */
static const char *take_line(const char *from, char *to)
{
    const char *end = strchr(from, '\n');

    (void)snprintf(to, WF_SIM_PLACE_MAX, "%.*s", (int)strcspn(from, "\n ("), from);
    if (to[0] == '?' || strstr(to, ":?") != NULL || strstr(to, ":0") == to + strlen(to) - 2) {
        to[0] = '\0';
    }
    (void)wf_text_safe(to);
    return end != NULL ? end + 1 : from + strlen(from);
}

/* Whether a function is of a run-time library or template, which does its work for the function that has
 * called it. */
static bool is_of_runtime(const char *function)
{
    static const char *const prefixes[] = {"__wrap_",       "__cxa_",      "_ZSt",
                                           "_ZNSt",         "_ZNKSt",      "_Unwind_",
                                           "_gfortran",     "__stack_chk", "_ZN10__cxxabiv1",
                                           "_ZN9__gnu_cxx", "_Znwm",       "_Znam"};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        if (strncmp(function, prefixes[i], strlen(prefixes[i])) == 0) {
            return true;
        }
    }
    return function[0] == '\0';
}

/* Reads what addr2line says of one instruction: its address, then a function and a source line for the
 * function and each that it is inlined in. The first that is the user's counts, or else the first. */
static const char *take_record(const char *at, struct wf_sim_place *out)
{
    bool found = false;

    *out = (struct wf_sim_place){.is_of_runtime = true};
    at = strchr(at, '\n') != NULL ? strchr(at, '\n') + 1 : at + strlen(at);
    for (bool first = true; *at != '\0' && strncmp(at, "0x", 2) != 0; first = false) {
        struct wf_sim_place place;
        at = take_line(at, place.function);
        at = take_line(at, place.source);
        place.is_of_runtime = is_of_runtime(place.function);
        if (first || (!found && !place.is_of_runtime)) {
            *out = place;
        }
        found |= !place.is_of_runtime;
    }
    return at;
}

static void find_some(const char *program, const uint64_t *instructions, size_t n,
                      struct wf_sim_place *out)
{
    char name[] = "addr2line", functions[] = "-afise", path[PATH_MAX_TEXT];
    char addresses[AT_ONCE][ADDRESS_MAX], *command[AT_ONCE + 4] = {name, functions, path};
    size_t size = n * LINES_MAX * WF_SIM_PLACE_MAX;
    char *text = wf_xmalloc(size);
    const char *at = text;

    (void)snprintf(path, sizeof(path), "%s", program);
    for (size_t i = 0; i < n; i++) {
        (void)snprintf(addresses[i], ADDRESS_MAX, "0x%zx", (size_t)instructions[i]);
        command[3 + i] = addresses[i];
    }
    output_of(command, text, size);
    for (size_t i = 0; i < n; i++) {
        at = take_record(at, &out[i]);
        if (instructions[i] == 0) {
            out[i] = (struct wf_sim_place){.function = ""};
        }
    }
    free(text);
}

void wf_sim_places(const char *program, const uint64_t *instructions, size_t n,
                   struct wf_sim_place *out)
{
    for (size_t i = 0; i < n; i += AT_ONCE) {
        find_some(program, instructions + i, n - i < AT_ONCE ? n - i : AT_ONCE, out + i);
    }
}
