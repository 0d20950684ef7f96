/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Temporary files and directories, all made and named here. Those that have a name are listed
 * until they are moved or removed; what is still listed when the process exits is removed
 * then. A child process removes nothing
 * that its parent made.
 *
 * Calls that fail return null, false or -1 and set errno. All calls may come from any thread.
 */

#include <stdbool.h>

/* The directory for temporary files: $TMPDIR, else /tmp. */
const char *wf_temp_parent(void);

/* A file of that directory, without a name: it vanishes when the descriptor is closed. */
int wf_temp_unnamed(void);

/* A new empty directory of that directory; the caller frees the path. */
char *wf_temp_directory(void);

/* A new empty file or directory beside `path`, in the same file system, to be written and then
 * moved to `path`; the caller frees its path. It is locked: what a killed process has left for the same `path`
 * is removed. */
char *wf_temp_beside(const char *path, bool directory);

/* Moves a file or directory to `path`, and replaces what has that name if `replace` is true;
 * otherwise fails with EEXIST. After an error `temporary` still exists. */
bool wf_temp_move(const char *temporary, const char *path, bool replace);

/* Removes a file, or a directory with all that is in it. Null is allowed. */
void wf_temp_remove(const char *temporary);

/* Removes all that is listed, for whoever ends the process at once: a signal handler, or a call
 * that cannot go on. */
void wf_temp_clean(void);

/* The same, for a thread that ends the process while others work: from now on calls that would
 * make, move or remove a temporary wait for ever. */
void wf_temp_seal(void);
