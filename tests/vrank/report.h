/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Collects the output of a conformance program in the order of ranks: rank 0 prints it at the
 * end. The programs are plain MPI programs in C or C++ and print the same under every implementation.
 */

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *said;
static int said_bytes;

static void say(const char *fmt, ...)
{
    char line[512];
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(line, sizeof(line) - 1, fmt, ap);
    va_end(ap);
    line[n++] = '\n';
    char *longer = (char *)realloc(said, (size_t)(said_bytes + n));
    if (longer == NULL) {
        abort();
    }
    said = longer;
    memcpy(said + said_bytes, line, (size_t)n);
    said_bytes += n;
}

/* A list of integers under a name. */
static void say_ints(const char *what, const int *list, int n)
{
    char text[400] = "";
    int at = 0;

    for (int i = 0; i < n && at < (int)sizeof(text) - 16; i++) {
        at += snprintf(text + at, sizeof(text) - (size_t)at, " %d", list[i]);
    }
    say("%s:%s", what, text);
}

/* Prints what all ranks have said, and ends. */
static void say_all(void)
{
    int rank, size, all = 0;
    int *counts = NULL, *displs = NULL;
    char *text = NULL;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    counts = (int *)calloc((size_t)size, sizeof(int));
    displs = (int *)calloc((size_t)size, sizeof(int));
    MPI_Gather(&said_bytes, 1, MPI_INT, counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        displs[i] = all;
        all += counts[i];
    }
    text = (char *)malloc((size_t)all + 1);
    MPI_Gatherv(said, said_bytes, MPI_CHAR, text, counts, displs, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; i++) {
        printf("rank %d\n%.*s", i, counts[i], text + displs[i]);
    }
    fflush(stdout);
    free(counts);
    free(displs);
    free(text);
    free(said);
    MPI_Finalize();
}
