/* SPDX-License-Identifier: Apache-2.0 */
/* What single calls take, when sends wait, and whether the host is busy. */
#include "patterns.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    STREAM = 64,
    COPIES = 8,
    COPY_BYTES = 8192,
    COMBINED_BYTES = 32768, /* of each type; they stay in a cache, as received data does */
    EAGER_TRIES = 3
};

#define WAIT         1e-3  /* least delay of a late receiver, in seconds */
#define SPIN         10e-3 /* computation that is watched for lost time */
#define INTERRUPTION 2e-5  /* a gap of the clock that counts as lost */

static void put(struct wf_cap_job *job, int bytes, int tag)
{
    MPI_Send(job->data, bytes, MPI_CHAR, 1 - job->rank, tag, MPI_COMM_WORLD);
}

static void get(struct wf_cap_job *job, int bytes, int tag)
{
    MPI_Recv(job->room, bytes, MPI_CHAR, 1 - job->rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void exchange_bytes(struct wf_cap_job *job, int bytes)
{
    MPI_Sendrecv(job->data, bytes, MPI_CHAR, 1 - job->rank, 1, job->room, bytes, MPI_CHAR,
                 1 - job->rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void measure_stream(struct wf_cap_job *job)
{
    exchange_bytes(job, 1);
    double begin = MPI_Wtime();
    for (int i = 0; i < STREAM && job->rank == 0; i++) {
        put(job, 1, 3);
    }
    wf_cap_note(&job->one_send, (MPI_Wtime() - begin) / STREAM);
    for (int i = 0; i < STREAM && job->rank == 1; i++) {
        get(job, 1, 3);
    }
    exchange_bytes(job, 1);
    wf_cap_note(&job->one_of_stream, (MPI_Wtime() - begin) / STREAM);
}

/* Time of calls that send and receive `n` messages that have arrived: all have when the last
 * one, with tag 5, has. The receiver computes meanwhile, so the sender may have to wait for
 * space; the median of the calls is not affected. */
static void measure_calls(struct wf_cap_job *job, int bytes, int n, struct wf_cap_series *sent,
                          struct wf_cap_series *taken)
{
    double seconds = 0, begin;

    exchange_bytes(job, 1);
    if (job->rank == 0) {
        for (int i = 0; i < n; i++) {
            begin = MPI_Wtime();
            put(job, bytes, 4);
            wf_cap_note(sent, MPI_Wtime() - begin);
        }
        put(job, 1, 5);
        MPI_Recv(&seconds, 1, MPI_DOUBLE, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        wf_cap_note(taken, seconds);
        return;
    }
    get(job, 1, 5);
    begin = MPI_Wtime();
    for (int i = 0; i < n; i++) {
        get(job, bytes, 4);
    }
    seconds = (MPI_Wtime() - begin) / n;
    MPI_Send(&seconds, 1, MPI_DOUBLE, 0, 6, MPI_COMM_WORLD);
}

/* The mean of whole and of floating-point numbers. */
static void measure_combining(struct wf_cap_job *job)
{
    static double ours[COMBINED_BYTES / sizeof(double)],
        others[COMBINED_BYTES / sizeof(double)];
    double begin = MPI_Wtime();

    MPI_Reduce_local(others, ours, COMBINED_BYTES / (int)sizeof(int), MPI_INT, MPI_SUM);
    MPI_Reduce_local(others, ours, COMBINED_BYTES / (int)sizeof(double), MPI_DOUBLE, MPI_SUM);
    wf_cap_note(&job->combined, (MPI_Wtime() - begin) / (2.0 * COMBINED_BYTES / 1024));
}

void wf_cap_time_calls(struct wf_cap_job *job)
{
    static struct wf_cap_series ignored;

    if (job->rank == 0) {
        measure_combining(job);
    }
    if (job->rank < 2) {
        measure_stream(job);
        measure_calls(job, 1, STREAM, &ignored, &job->one_take);
        measure_calls(job, job->copy_bytes, COPIES, &job->copy_send, &job->copy_take);
    }
    wf_cap_meet();
}

/* Whether a send of this size returns although the receiver is late. The receiver calls
 * MPI_Iprobe meanwhile, because some libraries copy the data early, but return from the send
 * only after the receiver has made progress. */
static int is_eager(struct wf_cap_job *job, int bytes)
{
    double delay = WAIT + 8 * (job->latency + bytes * job->byte_time);
    struct wf_cap_series sent = {0};
    int found, eager = 0;

    for (int i = 0; i < EAGER_TRIES && job->rank < 2; i++) {
        exchange_bytes(job, 1);
        double begin = MPI_Wtime();
        if (job->rank == 0) {
            put(job, bytes, 2);
            wf_cap_note(&sent, MPI_Wtime() - begin);
        } else {
            while (MPI_Wtime() - begin < delay) {
                MPI_Iprobe(0, 7, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
            }
            get(job, bytes, 2);
        }
    }
    if (job->rank == 0) {
        eager = wf_cap_quantile(&sent, 0.5) < delay / 2;
        free(sent.values);
    }
    if (job->rank < 2) {
        MPI_Bcast(&eager, 1, MPI_INT, 0, job->pairs[0].comm);
    }
    return eager;
}

/* How much of a long message moves while both ranks compute: nearly all with a progress thread
 * or hardware that does it, nearly nothing if the library works only in its calls. */
static void find_overlap(struct wf_cap_job *job, int bytes)
{
    double one = job->latency + bytes * job->byte_time, busy = WAIT + 4 * one,
           parts[EAGER_TRIES] = {0};
    struct wf_cap_series moved = {0};
    MPI_Request request;

    for (int i = 0; i < EAGER_TRIES && job->rank < 2 && bytes <= job->largest; i++) {
        exchange_bytes(job, 1);
        double begin = MPI_Wtime();
        if (job->rank == 0) {
            MPI_Isend(job->data, bytes, MPI_CHAR, 1, 8, MPI_COMM_WORLD, &request);
        } else {
            MPI_Irecv(job->room, bytes, MPI_CHAR, 0, 8, MPI_COMM_WORLD, &request);
        }
        wf_cap_spin(busy);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        parts[i] = 1 - (MPI_Wtime() - begin - busy) / one;
    }
    if (job->rank == 1) {
        MPI_Send(parts, EAGER_TRIES, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD);
    } else if (job->rank == 0) {
        MPI_Recv(parts, EAGER_TRIES, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < EAGER_TRIES; i++) {
            wf_cap_note(&moved, parts[i] > 0.01 ? parts[i] : 0.01);
        }
        if (bytes <= job->largest) {
            printf("overlap %.2f\n", wf_cap_quantile(&moved, 0.5));
        }
        free(moved.values);
    }
}

void wf_cap_find_eager(struct wf_cap_job *job, int most)
{
    int yes = 0, no = 0;

    for (int bytes = 1024; job->rank < 2 && bytes <= most && no == 0; bytes *= 2) {
        if (is_eager(job, bytes)) {
            yes = bytes;
        } else {
            no = bytes;
        }
        wf_cap_show_progress(job, (MPI_Wtime() - job->began) / job->budget);
    }
    while (no - yes > 16) {
        int middle = yes + (no - yes) / 2;
        if (is_eager(job, middle)) {
            yes = middle;
        } else {
            no = middle;
        }
        wf_cap_show_progress(job, (MPI_Wtime() - job->began) / job->budget);
    }
    job->copy_bytes = yes < 1 ? 1 : yes < COPY_BYTES ? yes : COPY_BYTES;
    if (job->rank == 0 && no > 0) {
        printf("eager %d\nrendezvous %d\n", yes, no);
    }
    if (job->rank < 2 && no > 0) {
        find_overlap(job, 2 * no);
    }
    wf_cap_meet();
}

void wf_cap_watch_host(struct wf_cap_job *job)
{
    for (int i = 0; i < job->n_ranks; i++) {
        if (i == job->rank) {
            double begin = MPI_Wtime(), before = begin, now = begin, gone = 0;
            while (now - begin < SPIN) {
                now = MPI_Wtime();
                gone += now - before > INTERRUPTION ? now - before : 0;
                before = now;
            }
            double part = gone / (now - begin);
            job->lost += part / 2; /* it is called twice */
        }
        wf_cap_meet();
    }
}
