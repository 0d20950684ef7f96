/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other programs in the place of this one. Ranks share a process with each other and with weft, so that
 * one of them cannot become another program: that ends the run with words. A child of fork() can.
 */
#include "mpi/lib/libc/interpose.h"
#include "mpi/lib/memory.h"

#include <stdarg.h>
#include <stdlib.h>

static void refuse(const char *function)
{
    const struct wf_port_rank *self = wl.port != NULL ? wl.port->self() : NULL;

    if (self != NULL && self->lib != NULL && !wl.in_child) {
        wl_fatal(self->lib,
                 "the program calls %s(), but a rank shares its process with others; use "
                 "posix_spawn() or system(), or call it in a child of fork()",
                 function);
    }
}

/* The words of a call, to be freed: two passes over its arguments. The environment follows if `env` is not
 * null. */
static char **words_of(const char *first, va_list arguments, char *const **env)
{
    va_list again;
    size_t n = 1;

    va_copy(again, arguments);
    for (const char *next = first; next != NULL; n++) {
        next = va_arg(again, const char *);
    }
    va_end(again);
    char **words = wl_calloc(n, sizeof(char *));
    for (size_t i = 0; i < n && first != NULL; i++) {
        words[i] = i == 0 ? (char *)(uintptr_t)first : va_arg(arguments, char *);
    }
    if (env != NULL) {
        *env = va_arg(arguments, char *const *);
    }
    return words;
}

/* NOLINTBEGIN(bugprone-macro-parentheses): they are parameters */
#define EXEC_LIST(name, env_at, call)                            \
    int wl_libc_##name(const char *path, const char *first, ...) \
    {                                                            \
        char *const *env = environ;                              \
        va_list ap;                                              \
        refuse(#name);                                           \
        va_start(ap, first);                                     \
        char **words = words_of(first, ap, env_at);              \
        va_end(ap);                                              \
        int code = call;                                         \
        free((void *)words);                                     \
        return code;                                             \
    }

EXEC_LIST(execl, NULL, execve(path, words, env))
EXEC_LIST(execle, &env, execve(path, words, env))
EXEC_LIST(execlp, NULL, execvpe(path, words, env))

#define EXEC(name, parameters, arguments) \
    int wl_libc_##name parameters         \
    {                                     \
        refuse(#name);                    \
        return name arguments;            \
    }

EXEC(execv, (const char *path, char *const words[]), (path, words))
EXEC(execve, (const char *path, char *const words[], char *const env[]), (path, words, env))
EXEC(execveat, (int at, const char *path, char *const words[], char *const env[], int how),
     (at, path, words, env, how))
EXEC(execvp, (const char *path, char *const words[]), (path, words))
EXEC(execvpe, (const char *path, char *const words[], char *const env[]), (path, words, env))
EXEC(fexecve, (int fd, char *const words[], char *const env[]), (fd, words, env))
/* NOLINTEND(bugprone-macro-parentheses) */
