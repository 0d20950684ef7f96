/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The standard output and error output of ranks. Ranks share those of the process, and each may
 * redirect or close its own: freopen(), fclose(), dup2() and close() of a rank change nothing for
 * others or for weft. While no rank does, nothing stands between programs and the C library; from the
 * first one on, stdout and stderr are streams that ask which rank writes.
 */

#include "mpi/lib/library.h"

#include <stdio.h>

/* The rank ends: closes them. */
void wl_streams_free(struct wl_rank *rank);
/* In a child of fork(): the streams of the rank become those of the process. */
void wl_streams_in_child(const struct wl_rank *rank);
/* At the end of the run: stdout and stderr are as they were. */
void wl_streams_restore(void);

/* The descriptor to which the running rank has redirected 1 or 2; -1 if it has closed it; `fd` for
 * any other. */
int wl_stream_fd(int fd);

FILE *wl_libc_freopen(const char *path, const char *mode, FILE *stream);
FILE *wl_libc_freopen64(const char *path, const char *mode, FILE *stream);
int wl_libc_fclose(FILE *stream);
int wl_libc_fileno(FILE *stream);
int wl_libc_close(int fd);
int wl_libc_dup(int fd);
int wl_libc_dup2(int from, int to);
int wl_libc_dup3(int from, int to, int flags);
/* Ranks share buffers: that of a rank is not used. */
int wl_libc_setvbuf(FILE *stream, char *buffer, int mode, size_t size);
void wl_libc_setbuf(FILE *stream, char *buffer);
