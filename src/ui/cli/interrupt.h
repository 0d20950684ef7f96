/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What happens when a signal asks the process to end, wherever it is.
 *
 * The first SIGINT, SIGTERM or SIGHUP sets a flag that simulations poll, and wakes a thread
 * that watches what becomes of it:
 *
 *   no simulation has begun      the thread ends the process at once
 *   a simulation runs            it stops, and the verb writes a partial result; a virtual rank
 *                                that computes is left; a simulation that does not stop in
 *                                time is given up
 *   the result is being written  the verb has a second to complete it if the run was complete,
 *                                and any time if it is partial
 *
 * Whoever ends the process removes the temporary files. A second signal ends it at once. The
 * exit code is 128 plus the number of the signal. A crash of weft itself prints one message.
 */

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct wf_cli;

/* Notes which handlers there are. Called before MPI, which may set its own, is initialised. */
void wf_interrupt_prepare(void);

/* Sets the handlers and starts the thread. `json`: if the process ends without a result, it
 * prints an error document. Keeps `cli`. */
void wf_interrupt_begin(struct wf_cli *cli, bool json);

/* The verb has ended. If the thread is about to end the process, this does not return. */
void wf_interrupt_finish(void);

/* The flag: not 0 after a signal. */
const volatile sig_atomic_t *wf_interrupt_watch(void);

/* A simulation begins or ends to execute events; from any thread. `arg` is not used. */
void wf_interrupt_running(void *arg, bool running);

/* Called before the result is written to stdout, so that it is written once. */
void wf_interrupt_answer(void);

/* What to print if the process ends before the verb does, such as which file is not written.
 * Kept; null: nothing. */
void wf_interrupt_loses(const char *what);

/* The exit code of an interrupted verb. */
int wf_interrupt_exit_code(void);

/* All processes of the run were interrupted: they exit with the same code. All call it. */
void wf_interrupt_agree(const struct wf_cli *cli);

/* A process that this one waits for. It gets the signals that end this one, which then waits
 * until it has ended, for some seconds; with `wait_for_it` as long as it takes, and goes on. 0:
 * there is none any more. WF_CHILD_STARTING before it is started: a signal that comes before its number is
 * known waits for that. */
enum { WF_CHILD_STARTING = -1 };
void wf_interrupt_child(pid_t other, bool wait_for_it);
