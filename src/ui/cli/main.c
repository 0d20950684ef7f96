/* SPDX-License-Identifier: Apache-2.0 */
#include "base/result/json.h"
#include "base/temp.h"
#include "base/units.h"
#include "run/execute/world.h"
#include "ui/cli/cli.h"
#include "ui/cli/interrupt.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { WAIT_LIMIT_S = 300, CLOSE_S = 5, OTHERS_CLOSE_S = 60, SIGNAL_EXIT_BASE = 128 };

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

/* From every process: the first one may be the one that is waited for. The launcher ends the others when one
 * ends. */
static void tell(void *arg, const char *text, bool last)
{
    (void)fprintf(stderr, "weft: %s\n", text);
    if (last) {
        wf_temp_clean();
        _exit(wf_status_exit_code(WF_EIO));
    }
}

/* Seconds that a process waits for another: WEFT_WAIT, if that is a number. */
static unsigned wait_limit(void)
{
    const char *text = getenv("WEFT_WAIT");
    uint64_t seconds = 0;

    return text != NULL && wf_parse_count(text, &seconds, NULL) == WF_OK && seconds <= INT32_MAX
               ? (unsigned)seconds
               : WAIT_LIMIT_S;
}

/* How a process ends when the others, which it waits for at its end, are gone. */
struct end {
    unsigned seconds;
    int code;
};

static void *end_late(void *arg)
{
    const struct end *end = arg;

    (void)sleep(end->seconds);
    _exit(end->code);
}

/* MPI waits for all processes. After an interrupt they may be out of reach: the first one has written what
 * there is, and the others leave it time for that. */
static void close_world(struct wf_comm *world, int code)
{
    struct end end = {.seconds = wf_world_is_first(world) ? CLOSE_S : OTHERS_CLOSE_S,
                      .code = code};
    pthread_t thread;

    if (code > SIGNAL_EXIT_BASE && wf_world_size(world) > 1) {
        (void)pthread_create(&thread, NULL, end_late, &end);
    }
    wf_world_close(world);
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
    struct wf_world_listener listener = {.tell = tell, .limit_s = wait_limit()};
    struct wf_err err;

    (void)setvbuf(cli.err, NULL, _IONBF, 0);

    wf_doc_json_allocate();
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
    close_world(cli.world, code);
    return code;
}
