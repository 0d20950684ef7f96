/* SPDX-License-Identifier: Apache-2.0 */
/*
 * getopt() and getopt_long(), linked into the program so that each rank reads its own
 * arguments. The state of the C library is shared by all ranks of a process: the second rank
 * would find that all arguments have been read. These behave like glibc's, which move operands
 * after options.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *optarg;
int optind = 1, opterr = 1, optopt = '?';

enum order { OPERANDS_LAST, STOP_AT_OPERAND, RETURN_OPERANDS };

static char *letters; /* the rest of an argument with several short options; or null */
static int after;     /* where the argument after the option was before operands were moved */
static bool begun;

/* The arguments of a call. */
struct call {
    int argc;
    char **argv;
    const char *shorts;
    const struct option *longs;
    int *index;
    bool only;   /* getopt_long_only() */
    bool silent; /* a missing argument is ':' */
    enum order order;
};

/* Moves argument `from` to optind and increments optind; those between move up by one. */
static char *take(const struct call *call, int from)
{
    char *argument = call->argv[from];

    for (int i = from; i > optind; i--) {
        call->argv[i] = call->argv[i - 1];
    }
    call->argv[optind++] = argument;
    return argument;
}

static bool is_option(const char *argument)
{
    return argument[0] == '-' && argument[1] != '\0';
}

/* Prints an error message, unless they are switched off. */
static int complain(const struct call *call, const char *before, const char *name,
                    const char *tail)
{
    if (opterr && !call->silent) {
        (void)fprintf(stderr, "%s: %s%s%s\n", call->argv[0], before, name, tail);
    }
    return '?';
}

/* The next argument, as the argument of an option; null if there is none. */
static char *next_argument(const struct call *call)
{
    return after < call->argc ? take(call, after++) : NULL;
}

static int take_letter(const struct call *call)
{
    char letter[] = {*letters++, '\0'};
    const char *known =
        letter[0] != ':' && letter[0] != ';' ? strchr(call->shorts, letter[0]) : NULL;
    char *rest = *letters != '\0' ? letters : NULL;

    if (rest == NULL) {
        letters = NULL;
    }
    optarg = NULL;
    if (known == NULL) {
        optopt = (unsigned char)letter[0];
        return complain(call, "invalid option -- '", letter, "'");
    }
    if (known[1] != ':') {
        return (unsigned char)letter[0];
    }
    letters = NULL;
    optarg = rest;
    if (rest == NULL && known[2] != ':') {
        optarg = next_argument(call);
    }
    if (optarg == NULL && known[2] != ':') {
        optopt = (unsigned char)letter[0];
        (void)complain(call, "option requires an argument -- '", letter, "'");
        return call->silent ? ':' : '?';
    }
    return letter[0];
}

/* The long option with this name, or the only one that begins with it; -1: none, -2:
 * several. */
static int find_long(const struct call *call, const char *name, size_t length)
{
    int found = -1;

    for (int i = 0; call->longs[i].name != NULL; i++) {
        const struct option *one = &call->longs[i];
        if (strncmp(one->name, name, length) != 0) {
            continue;
        }
        if (strlen(one->name) == length) {
            return i;
        }
        const struct option *first = found >= 0 ? &call->longs[found] : one;
        bool same = first->has_arg == one->has_arg && first->flag == one->flag &&
                    first->val == one->val;
        found = found == -1 ? i : same ? found : -2;
    }
    return found;
}

static int take_found(const struct call *call, int found, char *value)
{
    const struct option *option = &call->longs[found];

    optarg = value;
    if (value != NULL && option->has_arg == no_argument) {
        optopt = option->val;
        return complain(call, "option '--", option->name, "' doesn't allow an argument");
    }
    if (value == NULL && option->has_arg == required_argument) {
        optarg = next_argument(call);
        if (optarg == NULL) {
            optopt = option->val;
            (void)complain(call, "option '--", option->name, "' requires an argument");
            return call->silent ? ':' : '?';
        }
    }
    if (call->index != NULL) {
        *call->index = found;
    }
    if (option->flag != NULL) {
        *option->flag = option->val;
        return 0;
    }
    return option->val;
}

/* `name` is the argument without its dashes, `found` the result of find_long(). */
static int take_long(const struct call *call, char *name, int found)
{
    char *equals = strchr(name, '=');

    letters = NULL;
    if (found < 0) {
        optopt = 0;
        return found == -2 ? complain(call, "option '--", name, "' is ambiguous")
                           : complain(call, "unrecognized option '--", name, "'");
    }
    return take_found(call, found, equals != NULL ? equals + 1 : NULL);
}

/* The first option of an argument. */
static int take_option(const struct call *call, char *argument)
{
    bool twice = argument[1] == '-', is_short = strchr(call->shorts, argument[1]) != NULL;
    bool several = argument[2] != '\0';

    if (call->longs != NULL && (twice || (call->only && (several || !is_short)))) {
        char *name = argument + 1 + twice;
        int found = find_long(call, name, strcspn(name, "="));
        if (twice || found >= 0 || !is_short) { /* else it is a list of short options */
            return take_long(call, name, found);
        }
    }
    letters = argument + 1;
    return take_letter(call);
}

static int next_option(const struct call *call)
{
    if (letters != NULL) {
        return take_letter(call);
    }
    int at = optind;
    while (call->order == OPERANDS_LAST && at < call->argc && !is_option(call->argv[at])) {
        at++;
    }
    optarg = NULL;
    if (at >= call->argc) {
        return -1;
    }
    if (!is_option(call->argv[at])) {
        if (call->order == STOP_AT_OPERAND) {
            return -1;
        }
        optarg = call->argv[optind++];
        return 1;
    }
    char *argument = take(call, at);
    after = at + 1;
    return strcmp(argument, "--") == 0 ? -1 : take_option(call, argument);
}

static int begin(struct call *call)
{
    const char sign = call->shorts[0];

    if (optind == 0 || !begun) {
        optind = optind == 0 ? 1 : optind;
        letters = NULL;
        begun = true;
    }
    call->order = sign == '-'                                        ? RETURN_OPERANDS
                  : sign == '+' || getenv("POSIXLY_CORRECT") != NULL ? STOP_AT_OPERAND
                                                                     : OPERANDS_LAST;
    call->shorts += sign == '-' || sign == '+';
    call->silent = call->shorts[0] == ':';
    return next_option(call);
}

/* The prototype says const, but arguments are moved. */
static char **writable(char *const *argv)
{
    char **out;

    memcpy(&out, &argv, sizeof(out));
    return out;
}

int getopt(int argc, char *const *argv, const char *shorts)
{
    return begin(&(struct call){.argc = argc, .argv = writable(argv), .shorts = shorts});
}

int getopt_long(int argc, char *const *argv, const char *shorts, const struct option *longs,
                int *index)
{
    return begin(&(struct call){.argc = argc,
                                .argv = writable(argv),
                                .shorts = shorts,
                                .longs = longs,
                                .index = index});
}

int getopt_long_only(int argc, char *const *argv, const char *shorts,
                     const struct option *longs, int *index)
{
    return begin(&(struct call){.argc = argc,
                                .argv = writable(argv),
                                .shorts = shorts,
                                .longs = longs,
                                .index = index,
                                .only = true});
}
