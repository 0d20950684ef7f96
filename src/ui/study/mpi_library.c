/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/mpi_library.h"

#include "base/file.h"
#include "base/install.h"
#include "base/mem.h"

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Names of libraries and launchers that identify an MPI library. */
static const struct {
    const char *mpi;
    const char *libraries[3];
    const char *launchers[4];
} known[] = {
    {"mpich", {"libmpich.so", "libmpi.so.12", NULL}, {"hydra", "mpich", NULL}},
    {"openmpi",
     {"libmpi.so.40", "libmpi.so.20", NULL},
     {"openmpi", "orterun", "prterun", NULL}},
};
enum { N_KNOWN = sizeof(known) / sizeof(known[0]) };

static bool is_executable(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Finds a program like the shell: by path, or in PATH. False if there is none. */
static bool find_program(const char *name, char *path)
{
    const char *at = getenv("PATH");

    if (strchr(name, '/') != NULL) {
        return strlen(name) < PATH_MAX && is_executable(strcpy(path, name));
    }
    while (at != NULL && *at != '\0') {
        size_t length = strcspn(at, ":");
        int n = snprintf(path, PATH_MAX, "%.*s/%s", (int)length, at, name);
        if (n > 0 && n < PATH_MAX && is_executable(path)) {
            return true;
        }
        at += length + (at[length] == ':' ? 1 : 0);
    }
    return false;
}

/* Whether the program uses the dynamic loader. Scripts and statically linked programs would run
 * instead of being inspected. */
static bool is_dynamic(const char *path)
{
    unsigned char bytes[4096];
    size_t n = wf_file_head(path, bytes, sizeof(bytes));

    if (n < 64 || memcmp(bytes, "\177ELF", 4) != 0) {
        return false;
    }
    /* The name of the loader is among the first bytes. */
    return memmem(bytes, n, "/ld-", 4) != NULL || memmem(bytes, n, "/ld.so", 6) != NULL;
}

/* The list of libraries that the loader would load; truncated if it is very long. */
static void list_libraries(const char *path, char *text, size_t size)
{
    char *const arguments[] = {(char *)wf_unconst(path), NULL};
    char *const environment[] = {(char *)wf_unconst("LD_TRACE_LOADED_OBJECTS=1"), NULL, NULL};
    const char *search = getenv("LD_LIBRARY_PATH");
    char *variables[3] = {environment[0], NULL, NULL};
    char searched[PATH_MAX + 32];
    posix_spawn_file_actions_t actions;
    size_t length = 0;
    pid_t child = 0;
    int ends[2];

    text[0] = '\0';
    if (pipe(ends) != 0) {
        return;
    }
    if (search != NULL) {
        (void)snprintf(searched, sizeof(searched), "LD_LIBRARY_PATH=%s", search);
        variables[1] = searched;
    }
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    (void)posix_spawn_file_actions_addclose(&actions, ends[0]);
    (void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawn(&child, path, &actions, NULL, arguments, variables);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(ends[1]);
    for (ssize_t n = 1; failed == 0 && n > 0 && length + 1 < size; length += (size_t)n) {
        n = read(ends[0], text + length, size - 1 - length);
        if (n <= 0) {
            break;
        }
    }
    text[length] = '\0';
    (void)close(ends[0]);
    if (failed == 0) {
        (void)waitpid(child, NULL, 0);
    }
}

static bool has_any(const char *text, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (strstr(text, *words) != NULL) {
            return true;
        }
    }
    return false;
}

static const char *by_program(char *const *command)
{
    enum { TEXT = 1 << 16 };
    char path[PATH_MAX];
    char *text = wf_xmalloc(TEXT);
    const char *found = NULL;

    for (; *command != NULL && found == NULL; command++) {
        if (!find_program(*command, path) || !is_dynamic(path)) {
            continue;
        }
        list_libraries(path, text, TEXT);
        for (int i = 0; i < N_KNOWN && found == NULL; i++) {
            found = has_any(text, known[i].libraries) ? known[i].mpi : NULL;
        }
    }
    free(text);
    return found;
}

static const char *by_launcher(const char *name)
{
    char path[PATH_MAX], real[PATH_MAX];

    if (!find_program(name, path) || realpath(path, real) == NULL) {
        return NULL;
    }
    for (int i = 0; i < N_KNOWN; i++) {
        if (has_any(real, known[i].launchers)) {
            return known[i].mpi;
        }
    }
    return NULL;
}

static char *find_file(const char *prefix, const char *mpi, const char *suffix)
{
    char name[64];

    (void)snprintf(name, sizeof(name), "%s%s%s", prefix, mpi, suffix);
    return wf_install_find(name);
}

static enum wf_status find_mpi(const char **mpi, char *const *command, struct wf_err *err)
{
    if (strcmp(*mpi, "auto") != 0) {
        return WF_OK;
    }
    *mpi = wf_study_mpi_of(command);
    return *mpi != NULL ? WF_OK
                        : wf_err_set(err, WF_EUSAGE,
                                     "cannot tell which MPI library '%.100s' uses; choose it "
                                     "with --mpi mpich or --mpi openmpi",
                                     command[0]);
}

enum wf_status wf_study_mpi_not_built(const char *mpi, struct wf_err *err)
{
    return wf_err_set(err, WF_EUSAGE,
                      "this build has no support for %s; rebuild weft on a machine where it is "
                      "installed (Debian: lib%s-dev)",
                      mpi, mpi);
}

enum wf_status wf_study_capture_library(const char *mpi, char *const *command, char **path,
                                        struct wf_err *err)
{
    WF_TRY(find_mpi(&mpi, command, err));
    *path = find_file("libweft-capture-", mpi, ".so");
    return *path != NULL ? WF_OK : wf_study_mpi_not_built(mpi, err);
}

const char *wf_study_mpi_of(char *const *command)
{
    const char *mpi = by_program(command);

    return mpi != NULL ? mpi : by_launcher(command[0]);
}

const char *wf_study_mpi_name(size_t i)
{
    return i < N_KNOWN ? known[i].mpi : NULL;
}

char *wf_study_mpi_patterns(const char *mpi)
{
    return find_file("weft-patterns-", mpi, "");
}
