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

enum { AT_ONCE = 64, ADDRESS_MAX = 32, PATH_MAX_TEXT = 4096 };

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

static void find_some(const char *program, const uint64_t *instructions, size_t n,
                      struct wf_sim_place *out)
{
    char name[] = "addr2line", functions[] = "-fse", path[PATH_MAX_TEXT];
    char addresses[AT_ONCE][ADDRESS_MAX], *command[AT_ONCE + 4] = {name, functions, path};
    size_t size = n * 3 * WF_SIM_PLACE_MAX;
    char *text = wf_xmalloc(size);
    const char *at = text;

    (void)snprintf(path, sizeof(path), "%s", program);
    for (size_t i = 0; i < n; i++) {
        (void)snprintf(addresses[i], ADDRESS_MAX, "0x%zx", (size_t)instructions[i]);
        command[3 + i] = addresses[i];
    }
    output_of(command, text, size);
    for (size_t i = 0; i < n; i++) {
        at = take_line(at, out[i].function);
        at = take_line(at, out[i].source);
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
