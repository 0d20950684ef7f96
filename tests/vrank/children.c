/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that ranks start: fork() with exit(), _exit(), exec and crashes, posix_spawn(),
 * popen() and system(). Each rank waits for its own children only. */
#include "report.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, calls, status_of_all; /* status_of_all: the system writes to a variable */

static void meet(void)
{
    int sum;

    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void at_the_end(void)
{
    if (rank == 0) {
        printf("the end, after %d calls\n", calls);
        fflush(stdout);
    }
}

/* Returns what became of a child. */
static const char *outcome(pid_t child)
{
    static char text[64];
    int status = -1;
    pid_t found = waitpid(child, &status, 0);

    snprintf(text, sizeof(text), "own %d, exit %d, signal %d", found == child,
             WIFEXITED(status) ? WEXITSTATUS(status) : -1,
             WIFSIGNALED(status) ? WTERMSIG(status) : -1);
    return text;
}

static void forks(void)
{
    char word[] = "sh", option[] = "-c", command[32];
    char *const words[] = {word, option, command, NULL};

    snprintf(command, sizeof(command), "exit %d", 40 + rank);
    calls++;
    pid_t child = fork();
    if (child == 0) {
        calls = 100;
        _exit(10 + rank);
    }
    say("_exit: %s, calls %d", outcome(child), calls);
    child = fork();
    if (child == 0) {
        exit(20 + rank);
    }
    say("exit: %s", outcome(child));
    child = fork();
    if (child == 0) {
        execvp("sh", words);
        _exit(127);
    }
    say("exec: %s", outcome(child));
    child = fork();
    if (child == 0) {
        abort();
    }
    say("abort: %s", outcome(child));
    child = fork();
    if (child == 0) {
        pause();
    }
    kill(child, SIGTERM);
    say("killed: %s", outcome(child));
    meet();
}

/* More than one child: wait() does not find those of other ranks. */
static void waits(void)
{
    int total = 0, found = 0, status;

    for (int i = 0; i <= rank % 3; i++) {
        if (fork() == 0) {
            _exit(10 * rank + i);
        }
    }
    meet();
    while (wait(&status_of_all) > 0) {
        total += WEXITSTATUS(status_of_all);
        found++;
    }
    say("waited for %d: %d, then %d %d", found, total, errno == ECHILD,
        (int)waitpid(-1, &status, WNOHANG));
    meet();
}

static void commands(void)
{
    char command[64], line[64] = "";
    char word[] = "sh", option[] = "-c", text[] = "exit 5";
    char *const words[] = {word, option, text, NULL};
    extern char **environ;
    pid_t child;

    snprintf(command, sizeof(command), "echo rank %d; exit %d", rank, rank + 1);
    FILE *pipe = popen(command, "r");
    if (pipe == NULL || fgets(line, sizeof(line), pipe) == NULL) {
        say("popen failed");
        return;
    }
    meet();
    say("popen: %.*s, exit %d", (int)strcspn(line, "\n"), line, WEXITSTATUS(pclose(pipe)));
    say("system: %d", WEXITSTATUS(system("exit 3")));
    say("spawn: %d", posix_spawnp(&child, "sh", NULL, NULL, words, environ));
    say("spawn: %s", outcome(child));
}

/* Runs on as the rank would, which no MPI supports. */
static void go_on(void)
{
    pid_t child = fork();

    MPI_Barrier(MPI_COMM_WORLD);
    say("%s", outcome(child));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1) {
        go_on();
    } else {
        forks();
        waits();
        commands();
    }
    say_all();
    atexit(at_the_end);
    return 0;
}
