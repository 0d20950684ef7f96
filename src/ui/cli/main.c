/* SPDX-License-Identifier: Apache-2.0 */
#include "run/execute/world.h"
#include "ui/cli/cli.h"
#include "ui/cli/interrupt.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* Under an MPI launcher all processes do the same work; only the first one prints. */
static void silence(struct wf_cli *cli)
{
    FILE *nowhere = fopen("/dev/null", "w");

    if (nowhere == NULL) {
        abort();
    }
    cli->out = nowhere;
    cli->err = nowhere;
}

/* From every process: the first one may be the one that is waited for. */
static void tell(void *arg, const char *text)
{
    (void)fprintf(stderr, "weft: %s\n", text);
}

/* A stream of weft's own, so that nothing that a program does to its stdout or stderr takes weft's
 * words with it; the stream itself if there is none. */
static FILE *own_stream(FILE *stream)
{
    int fd = fcntl(fileno(stream), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    FILE *own = fd >= 0 ? fdopen(fd, "w") : NULL;

    if (own == NULL && fd >= 0) {
        (void)close(fd);
    }
    return own != NULL ? own : stream;
}

int main(int argc, char **argv)
{
    struct wf_cli cli = {.out = own_stream(stdout), .err = own_stream(stderr)};
    struct wf_world_listener listener = {.tell = tell};
    struct wf_err err;

    (void)setvbuf(cli.err, NULL, _IONBF, 0);

    wf_interrupt_prepare();
    enum wf_status status = wf_world_open(&cli.world, &err);
    if (status != WF_OK) {
        (void)fprintf(stderr, "weft: %s\n", err.text);
        return wf_status_exit_code(status);
    }
    wf_world_listen(cli.world, &listener);
    if (!wf_world_is_first(cli.world)) {
        silence(&cli);
    }

    int n_args = argc > 0 ? argc - 1 : 0;
    wf_interrupt_begin(&cli, wf_cli_wants_json(n_args, argv + 1));
    int code = wf_cli_main(&cli, n_args, argv + 1);
    wf_interrupt_finish();
    if (cli.out != stdout) {
        (void)fclose(cli.out);
    }
    wf_world_close(cli.world);
    return code;
}
