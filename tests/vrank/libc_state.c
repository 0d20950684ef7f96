/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the C library is private to each rank: random numbers, strtok(), getopt() and
 * errno. Ranks take turns between the calls. Under MPICH, glibc provides the functions, so that
 * the numbers and the order of arguments are compared with its own. */
#define _GNU_SOURCE
#include "report.h"

#include <errno.h>
#include <getopt.h>

static int rank;

/* Nobody goes on before all others have come here. */
static void meet(void)
{
    int sum;

    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void numbers(void)
{
    static const unsigned seeds[] = {0, 1, 2, 42, 2147483647u, 2147483648u, 4294967295u};
    unsigned short words[3] = {1, 2, (unsigned short)rank}, *before;
    unsigned short all[7] = {1, 2, 3, 0xe66d, 0xdeec, 0x5, 0xd};

    say("without a seed: %d %ld %.17g", rand(), random(), drand48());
    meet();
    for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
        srand(seeds[i] + (unsigned)rank);
        srand48((long)seeds[i] - rank);
        meet();
        for (int k = 0; k < 100; k++) {
            (void)rand();
        }
        say("seed %u: %d %ld %.17g %ld %ld", seeds[i], rand(), random(), drand48(), lrand48(),
            mrand48());
    }
    srandom((unsigned)rank + 7);
    before = seed48(words);
    say("before %d %d %d", before[0], before[1], before[2]);
    meet();
    say("%ld %.17g", random(), drand48());
    say("%.17g %ld %ld %d", erand48(words), nrand48(words), jrand48(words), words[1]);
    lcong48(all);
    meet();
    say("%.17g %.17g", drand48(), erand48(words));
}

static void words(void)
{
    char text[] = "one,two;,three four";

    text[0] = (char)('a' + rank);
    for (char *word = strtok(text, ",;"); word != NULL; word = strtok(NULL, ", ")) {
        say("word %s", word);
        meet();
    }
}

static void errors(void)
{
    errno = 100 + rank;
    meet();
    say("errno %d", errno);
}

/* ---- options ---- */

static const struct option longs[] = {
    {"verbose", no_argument, NULL, 'v'},
    {"value", required_argument, NULL, 'V'},
    {"vast", optional_argument, NULL, 300},
    {"file", required_argument, NULL, 'f'},
    {NULL, 0, NULL, 0},
};

enum { MOST = 6 };

/* Everything that getopt() says of some arguments, and what it leaves behind. */
static void read_options(char **argv, const char *shorts, int how)
{
    char text[400] = "";
    int argc = 0, found = -1, option, index = -1;

    while (argv[argc] != NULL) {
        argc++;
    }
    optind = 0;
    opterr = 0;
    do {
        option = how == 0   ? getopt(argc, argv, shorts)
                 : how == 1 ? getopt_long(argc, argv, shorts, longs, &index)
                            : getopt_long_only(argc, argv, shorts, longs, &index);
        size_t at = strlen(text);
        (void)snprintf(text + at, sizeof(text) - at, " %d:%s", option,
                       optarg != NULL && option != '?' ? optarg : "-");
    } while (option != -1 && ++found < 60);
    say("%s %d:%s, %d, last %d", shorts, how, text, optind, index);
    text[0] = '\0';
    for (int i = 0; i < argc; i++) {
        strcat(strcat(text, " "), argv[i]);
    }
    say("left:%s", text);
}

static void options(void)
{
    static const char *const vocabulary[] = {
        "-a", "-ab", "-b",      "-bvalue",   "-c",     "-cx",    "x",          "y",
        "-",  "--",  "--value", "--value=5", "--ver",  "--v",    "--va",       "-file",
        "-f", "-z",  "--no",    "--vast=q",  "--vast", "--file", "-verbose=2",
    };
    static const char *const shorts[] = {"ab:c::f:", "+ab:c::", ":ab:c::f:", "-ab:c::v"};
    unsigned state = 12345u + 77u * (unsigned)rank;

    for (int i = 0; i < 150; i++) {
        char copies[MOST][16], *argv[MOST + 1];
        int argc = 1;
        strcpy(copies[0], "own");
        argv[0] = copies[0];
        for (; argc < MOST && (state = state * 1103515245u + 12345u) >> 29 != 0; argc++) {
            strcpy(copies[argc],
                   vocabulary[(state >> 16) % (sizeof(vocabulary) / sizeof(vocabulary[0]))]);
            argv[argc] = copies[argc];
        }
        argv[argc] = NULL;
        read_options(argv, shorts[i % 4], i / 4 % 3);
    }
}

/* The real arguments, a step at a time with all others. */
static void arguments(void)
{
    char a[] = "own", b[] = "-n", c[] = "3", d[] = "operand", e[] = "-v";
    char *argv[] = {a, b, c, d, e, NULL};
    int option;

    optind = 0;
    while ((option = getopt(5, argv, "n:v")) != -1) {
        say("%c %s", option, optarg != NULL ? optarg : "-");
        meet();
    }
    say("operands from %d", optind);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    numbers();
    words();
    errors();
    arguments();
    options();
    say_all();
    return 0;
}
