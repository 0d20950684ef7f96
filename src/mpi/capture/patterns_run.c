/* SPDX-License-Identifier: Apache-2.0 */
/* The patterns of program/gen/pattern.c, executed and timed. */
#include "patterns.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { OUTLIER = 4 }; /* a round is at most so many times as long as the median one */

#define NAP_US 2000 /* sleep of ranks that wait for the next measurement */

void *wf_cap_must(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "weft calibrate: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

void wf_cap_note(struct wf_cap_series *series, double seconds)
{
    series->values =
        wf_cap_must(realloc(series->values, ((size_t)series->n + 1) * sizeof(*series->values)));
    series->values[series->n++] = seconds;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y ? 1 : 0;
}

double wf_cap_quantile(struct wf_cap_series *series, double part)
{
    double at = part * (series->n - 1);
    int i = (int)at;

    qsort(series->values, (size_t)series->n, sizeof(*series->values), compare);
    return i + 1 < series->n
               ? series->values[i] + (at - i) * (series->values[i + 1] - series->values[i])
               : series->values[i];
}

static void finish(MPI_Request *request)
{
    int done = 0;

    MPI_Test(request, &done, MPI_STATUS_IGNORE);
    while (!done) {
        usleep(NAP_US);
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
    }
}

void wf_cap_meet(void)
{
    MPI_Request request;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    finish(&request);
}

void wf_cap_tell(void *what, int bytes)
{
    MPI_Request request;

    MPI_Ibcast(what, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    finish(&request);
}

void wf_cap_spin(double seconds)
{
    double begin = MPI_Wtime();

    while (MPI_Wtime() - begin < seconds) {
    }
}

void wf_cap_show_progress(struct wf_cap_job *job, double fraction)
{
    if (job->rank == 0 && MPI_Wtime() - job->told > 0.2) {
        job->told = MPI_Wtime();
        printf("progress %.4f\n", fraction < 0.999 ? fraction : 0.999);
        fflush(stdout);
    }
}

/* ---- patterns ---- */

int wf_cap_is_pair(int kind)
{
    return kind <= WF_CAP_EXCHANGE;
}

static int is_member(struct wf_cap_job *job, const struct wf_cap_measure *m)
{
    return m->kind == WF_CAP_BUTTERFLY
               ? job->rank < m->members
               : !wf_cap_is_pair(m->kind) || job->rank == job->pairs[m->pair].first ||
                     job->rank == job->pairs[m->pair].second;
}

int wf_cap_steps(const struct wf_cap_measure *m)
{
    return m->kind == WF_CAP_PINGPONG    ? 2
           : m->kind == WF_CAP_BUTTERFLY ? __builtin_ctz((unsigned)m->members)
                                         : 1;
}

static int receives_of(struct wf_cap_job *job, const struct wf_cap_measure *m, int answers)
{
    int first = wf_cap_is_pair(m->kind) ? job->pairs[m->pair].first : 0;

    switch (m->kind) {
    case WF_CAP_PINGPONG:
    case WF_CAP_ONEWAY:
        return (job->rank == first) == answers;
    case WF_CAP_EXCHANGE:
        return 1;
    case WF_CAP_INCAST:
        return job->rank == 0 ? job->n_ranks - 1 : 0;
    case WF_CAP_OUTCAST:
        return job->rank != 0;
    case WF_CAP_BISECTION:
        return job->rank < job->n_ranks / 2 * 2;
    case WF_CAP_BUTTERFLY:
        return 1;
    default:
        return job->n_ranks - 1;
    }
}

static int sends_of(struct wf_cap_job *job, const struct wf_cap_measure *m, int answers)
{
    switch (m->kind) {
    case WF_CAP_PINGPONG:
    case WF_CAP_ONEWAY:
        return !receives_of(job, m, answers);
    case WF_CAP_INCAST:
        return job->rank != 0;
    case WF_CAP_OUTCAST:
        return job->rank == 0 ? job->n_ranks - 1 : 0;
    default:
        return receives_of(job, m, answers);
    }
}

static int peer_of(struct wf_cap_job *job, const struct wf_cap_measure *m, int step, int i,
                   int send)
{
    int half = job->n_ranks / 2, first = job->pairs[m->pair].first,
        second = job->pairs[m->pair].second;

    switch (m->kind) {
    case WF_CAP_PINGPONG:
    case WF_CAP_ONEWAY:
    case WF_CAP_EXCHANGE:
        return job->rank == first ? second : first;
    case WF_CAP_INCAST:
    case WF_CAP_OUTCAST:
        return job->rank != 0 ? 0 : i + 1;
    case WF_CAP_BISECTION:
        return job->rank < half ? job->rank + half : job->rank - half;
    case WF_CAP_BUTTERFLY:
        return job->rank ^ 1 << step;
    default:
        return (job->rank + (send ? i + 1 : job->n_ranks - i - 1)) % job->n_ranks;
    }
}

static void do_step(struct wf_cap_job *job, const struct wf_cap_measure *m, int step,
                    MPI_Request *requests)
{
    int receives = receives_of(job, m, step), sends = sends_of(job, m, step), n = 0;

    for (int i = 0; i < receives; i++) {
        MPI_Irecv(job->room + (size_t)i * (size_t)job->largest, m->bytes, MPI_CHAR,
                  peer_of(job, m, step, i, 0), 1, MPI_COMM_WORLD, &requests[n++]);
    }
    for (int i = 0; i < sends; i++) {
        MPI_Isend(job->data, m->bytes, MPI_CHAR, peer_of(job, m, step, i, 1), 1, MPI_COMM_WORLD,
                  &requests[n++]);
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

static double late_of(struct wf_cap_job *job, const struct wf_cap_measure *m)
{
    switch (m->kind) {
    case WF_CAP_EXCHANGE:
        return job->rank == job->pairs[m->pair].second ? m->late : 0;
    case WF_CAP_BISECTION:
        return job->rank >= job->n_ranks / 2 ? m->late : 0;
    case WF_CAP_ALLPAIRS:
        return m->late * job->rank;
    case WF_CAP_BUTTERFLY:
        return job->rank == m->members - 1 ? m->late : 0;
    default:
        return 0;
    }
}

/* Returns the time of all rounds. Where all rounds are alike, because ranks wait for each other,
 * one that took several times as long as the others was interrupted: a single time slice of
 * another program is longer than many messages. */
static double rounds_of(struct wf_cap_job *job, const struct wf_cap_measure *m, int rounds)
{
    MPI_Request *requests = wf_cap_must(malloc((size_t)job->n_ranks * 2 * sizeof(*requests)));
    struct wf_cap_series times = {0};
    double sum = 0, before = MPI_Wtime();

    for (int i = 0; i < rounds; i++) {
        for (int step = 0; step < wf_cap_steps(m); step++) {
            do_step(job, m, step, requests);
        }
        double now = MPI_Wtime();
        wf_cap_note(&times, now - before);
        before = now;
    }
    int alike = m->kind == WF_CAP_PINGPONG || m->kind == WF_CAP_EXCHANGE ||
                m->kind == WF_CAP_BISECTION || m->kind == WF_CAP_ALLPAIRS ||
                m->kind == WF_CAP_BUTTERFLY;
    double most = alike && rounds > 2 ? OUTLIER * wf_cap_quantile(&times, 0.5) : 1e9;
    for (int i = 0; i < rounds; i++) {
        sum += times.values[i] < most ? times.values[i] : most;
    }
    free(times.values);
    free(requests);
    return sum;
}

double wf_cap_run(struct wf_cap_job *job, const struct wf_cap_measure *m)
{
    int part = is_member(job, m);
    double mine = 0, longest = 0;
    MPI_Request request;

    if (part) {
        MPI_Comm comm = wf_cap_is_pair(m->kind)       ? job->pairs[m->pair].comm
                        : m->kind == WF_CAP_BUTTERFLY ? job->groups[wf_cap_steps(m)]
                                                      : MPI_COMM_WORLD;
        /* Short messages are measured as in a program that sends many: the library reuses its
         * buffers in turn, and each is then in the cache of the rank that used it last. */
        rounds_of(job, m,
                  job->latency < 5e-6 && m->bytes <= 32768 ? 64
                  : m->bytes <= 1024                       ? 4
                                                           : 0);
        MPI_Barrier(comm);
        double begin = MPI_Wtime();
        wf_cap_spin(late_of(job, m));
        mine = MPI_Wtime() - begin;
        mine += rounds_of(job, m, m->rounds);
    }
    /* No rank need sleep while all have a part. */
    if ((!wf_cap_is_pair(m->kind) && m->members == 0) || job->n_ranks == 2) {
        MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    } else {
        MPI_Iallreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &request);
        finish(&request);
    }
    return longest;
}
