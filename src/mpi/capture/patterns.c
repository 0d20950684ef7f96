/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program that `weft calibrate` runs under a real MPI, on two or more ranks:
 *
 *     weft-patterns probe                                 print ranks and hosts only
 *     weft-patterns SECONDS BYTES REPEAT PAIR[,PAIR...]   measure; a pair is FIRST-SECOND
 *
 * It measures the patterns of program/gen/pattern.c at sizes up to BYTES, at most REPEAT times each,
 * for about SECONDS in all. Rank 0 estimates the rates first and leaves out sizes for which
 * there is no time. It prints these lines; times are in nanoseconds:
 *
 *     ranks N
 *     cores N                      of the computer that all ranks run on, if it is one
 *     host RANK NAME
 *     progress FRACTION
 *     measure KIND FIRST SECOND ROUNDS LAG BYTES N MEDIAN Q1 Q3 MIN
 *     send NS, take NS             calls that send one byte, and receive one that has arrived
 *     copy_send NS, copy_take NS   CPU time per KiB of such calls
 *     combine NS                   CPU time to add a KiB of numbers to others, as reductions do
 *     stream NS                    time per message in a stream of one-byte messages
 *     eager BYTES                  the longest message whose send does not wait for its receive
 *     rendezvous BYTES             the shortest one that was seen to wait
 *     overlap PART                 how much of a longer one moves while its ranks compute
 *     lost RANK PERCENT            CPU time that the rank did not get while it computed; these
 *                                  lines precede the measurements
 *
 * The time of a pattern is that of all its rounds, from the start of the first rank to the end
 * of the last one. The measurements go round through all patterns and sizes, so that a
 * disturbance does not hit all repetitions of one. Ranks without a part in a pattern sleep, and
 * rarely look whether it is over: several ranks may share a core.
 */
#include "patterns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS_MIN = 3, CHEAP_TIMES = 5 };

#define CHEAP 4e-3 /* a measurement of less than this is repeated */

static const char *const kind_names[WF_CAP_KINDS] = {"pingpong", "oneway",   "exchange",
                                                     "incast",   "outcast",  "bisection",
                                                     "allpairs", "butterfly"};

static void measure_all(struct wf_cap_job *job, int repeat, double until)
{
    double round_time = 0;

    for (int i = 0; i < repeat; i++) {
        double begin = MPI_Wtime();
        int goes_on = i < ROUNDS_MIN || begin + round_time < until;
        wf_cap_tell(&goes_on, sizeof(goes_on));
        if (!goes_on) {
            return;
        }
        wf_cap_time_calls(job);
        for (int j = 0; j < job->n_measures; j++) {
            /* Short measurements cost little, and disturbances hit them hardest. */
            for (int k = 0; k < (wf_cap_cost(job, &job->measures[j]) < CHEAP ? CHEAP_TIMES : 1);
                 k++) {
                wf_cap_note(&job->measures[j].times, wf_cap_run(job, &job->measures[j]));
            }
            double by_time = (MPI_Wtime() - job->began) / job->budget;
            double by_count = (i + (double)j / job->n_measures) / repeat;
            wf_cap_show_progress(job, by_time > by_count ? by_time : by_count);
        }
        round_time = MPI_Wtime() - begin;
    }
}

static void print_measures(struct wf_cap_job *job)
{
    for (int i = 0; i < job->n_measures; i++) {
        struct wf_cap_measure *m = &job->measures[i];
        int pair = wf_cap_is_pair(m->kind), second = pair ? job->pairs[m->pair].second
                                                     : m->kind == WF_CAP_BUTTERFLY
                                                         ? m->members - 1
                                                         : 0;
        printf("measure %s %d %d %d %.0f %d %d %.1f %.1f %.1f %.1f\n", kind_names[m->kind],
               pair ? job->pairs[m->pair].first : 0, second, m->rounds, m->late * 1e9, m->bytes,
               m->times.n, wf_cap_quantile(&m->times, 0.5) * 1e9,
               wf_cap_quantile(&m->times, 0.25) * 1e9, wf_cap_quantile(&m->times, 0.75) * 1e9,
               wf_cap_quantile(&m->times, 0) * 1e9);
    }
    /* Of calls, the quarter that was disturbed least. */
    double sent = wf_cap_quantile(&job->one_send, 0.25),
           taken = wf_cap_quantile(&job->one_take, 0.25);
    printf("send %.1f\ntake %.1f\nstream %.1f\n", sent * 1e9, taken * 1e9,
           wf_cap_quantile(&job->one_of_stream, 0.25) * 1e9);
    printf("combine %.2f\n", wf_cap_quantile(&job->combined, 0.25) * 1e9);
    printf("copy_send %.2f\ncopy_take %.2f\n",
           (wf_cap_quantile(&job->copy_send, 0.25) - sent) * 1e9 / job->copy_bytes * 1024,
           (wf_cap_quantile(&job->copy_take, 0.25) - taken) * 1e9 / job->copy_bytes * 1024);
}

/* Hosts may be virtual ones on a single computer: then they share its cores. The identity of
 * the running kernel tells. */
static void print_cores(struct wf_cap_job *job)
{
    enum { ID = 64 };
    char id[ID] = "", *ids = wf_cap_must(calloc((size_t)job->n_ranks, ID));
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    int same = file != NULL && fgets(id, ID, file) != NULL;

    if (file != NULL) {
        fclose(file);
    }
    MPI_Gather(id, ID, MPI_CHAR, ids, ID, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 1; i < job->n_ranks && job->rank == 0; i++) {
        same = same && memcmp(ids, ids + (size_t)i * ID, ID) == 0;
    }
    if (job->rank == 0 && same) {
        printf("cores %ld\n", sysconf(_SC_NPROCESSORS_ONLN));
    }
    if (job->rank == 0) {
        fflush(stdout);
    }
    free(ids);
}

static void print_ranks(struct wf_cap_job *job)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    char *names = wf_cap_must(calloc((size_t)job->n_ranks, sizeof(name)));
    int length;

    MPI_Get_processor_name(name, &length);
    MPI_Gather(name, sizeof(name), MPI_CHAR, names, sizeof(name), MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < job->n_ranks && job->rank == 0; i++) {
        printf("host %d %s\n", i, names + (size_t)i * sizeof(name));
    }
    if (job->rank == 0) {
        printf("ranks %d\n", job->n_ranks);
    }
    free(names);
    print_cores(job);
}

static void print_lost(struct wf_cap_job *job)
{
    double *all = wf_cap_must(calloc((size_t)job->n_ranks, sizeof(*all)));

    MPI_Gather(&job->lost, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < job->n_ranks && job->rank == 0; i++) {
        printf("lost %d %.1f\n", i, all[i] * 100);
    }
    free(all);
}

static int is_known(struct wf_cap_job *job, int first, int second)
{
    for (int i = 0; i < job->n_pairs; i++) {
        if (job->pairs[i].first == first && job->pairs[i].second == second) {
            return 1;
        }
    }
    return 0;
}

/* Reads "0-1,0-7"; pairs with ranks that do not exist are left out. */
static void set_pairs(struct wf_cap_job *job, char *text)
{
    for (char *at = text; *at != '\0' && job->n_pairs < WF_CAP_PAIRS_MAX;) {
        long first = strtol(at, &at, 10), second = *at == '-' ? strtol(at + 1, &at, 10) : 0;
        at += strcspn(at, ",");
        at += *at == ',';
        if (first >= 0 && second >= 0 && first < job->n_ranks && second < job->n_ranks &&
            first != second && !is_known(job, (int)first, (int)second)) {
            job->pairs[job->n_pairs].first = (int)first;
            job->pairs[job->n_pairs].second = (int)second;
            int in = job->rank == first || job->rank == second;
            MPI_Comm_split(MPI_COMM_WORLD, in ? 0 : MPI_UNDEFINED, job->rank,
                           &job->pairs[job->n_pairs].comm);
            job->n_pairs++;
        }
    }
}

static void measure(struct wf_cap_job *job, char **arguments)
{
    job->budget = atof(arguments[0]);
    job->largest = atoi(arguments[1]);
    int repeat = atoi(arguments[2]);
    char standard[] = "0-1";

    for (int i = 2; 1 << i <= job->n_ranks; i++) {
        MPI_Comm_split(MPI_COMM_WORLD, job->rank < 1 << i ? 0 : MPI_UNDEFINED, job->rank,
                       &job->groups[i]);
    }
    set_pairs(job, standard);
    set_pairs(job, arguments[3]);
    job->data = wf_cap_must(calloc((size_t)job->largest, 1));
    job->room = wf_cap_must(calloc((size_t)job->largest, (size_t)job->n_ranks));
    job->began = MPI_Wtime();
    wf_cap_watch_host(job);
    wf_cap_estimate(job);
    wf_cap_choose(job);
    wf_cap_find_eager(job, job->measures[job->n_measures - 1].bytes);
    measure_all(job, repeat, job->began + job->budget);
    wf_cap_watch_host(job);
    print_lost(job);
    if (job->rank == 0) {
        print_measures(job);
    }
    free(job->data);
    free(job->room);
}

int main(int argc, char **argv)
{
    struct wf_cap_job *job;

    MPI_Init(&argc, &argv);
    job = wf_cap_must(calloc(1, sizeof(*job)));
    MPI_Comm_rank(MPI_COMM_WORLD, &job->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job->n_ranks);
    print_ranks(job);
    if (argc == 5 && job->n_ranks >= 2) {
        measure(job, argv + 1);
    }
    MPI_Finalize();
    free(job);
    return 0;
}
