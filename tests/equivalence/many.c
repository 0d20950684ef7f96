/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs many commands of weft in one launch of MPI processes, which takes longer than most of them.
 *
 * usage: mpiexec -n N equivalence_many FILE
 *
 * Each line of the file is a command, with tabs between its words. The standard output of command
 * i, from 0 on, goes to i.out in the working directory, its messages to i.err, and its exit code to
 * i.code when it has ended.
 */
#include "run/execute/world.h"
#include "ui/cli/cli.h"
#include "ui/cli/interrupt.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 8192, WORDS_MAX = 256 };

static FILE *file_of(const struct wf_cli *cli, size_t number, const char *ending)
{
    char name[64];

    (void)snprintf(name, sizeof(name), "%zu.%s", number, ending);
    FILE *file = fopen(wf_world_is_first(cli->world) ? name : "/dev/null", "w");
    if (file == NULL) {
        abort();
    }
    return file;
}

static void run(struct wf_cli cli, size_t number, char *line)
{
    char *words[WORDS_MAX], *rest = NULL;
    int n = 0;

    for (char *word = strtok_r(line, "\t\n", &rest); word != NULL && n < WORDS_MAX;
         word = strtok_r(NULL, "\t\n", &rest)) {
        words[n++] = word;
    }
    cli.out = file_of(&cli, number, "out");
    cli.err = file_of(&cli, number, "err");
    int code = wf_cli_main(&cli, n, words);
    (void)fclose(cli.out);
    (void)fclose(cli.err);
    FILE *file = file_of(&cli, number, "code");
    (void)fprintf(file, "%d\n", code);
    (void)fclose(file);
}

int main(int argc, char **argv)
{
    struct wf_cli cli = {.out = stdout, .err = stderr};
    struct wf_err err;
    static char line[LINE_MAX_BYTES];
    FILE *commands = argc == 2 ? fopen(argv[1], "r") : NULL;

    wf_interrupt_prepare();
    if (commands == NULL || wf_world_open(&cli.world, &err) != WF_OK) {
        (void)fprintf(stderr, "equivalence_many: no file, or no processes\n");
        return 2;
    }
    wf_interrupt_begin(&cli, true);
    for (size_t number = 0; fgets(line, sizeof(line), commands) != NULL; number++) {
        run(cli, number, line);
    }
    wf_interrupt_finish();
    (void)fclose(commands);
    wf_world_close(cli.world);
    return 0;
}
