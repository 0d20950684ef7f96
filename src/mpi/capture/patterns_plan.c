/* SPDX-License-Identifier: Apache-2.0 */
/* Which measurements there is time for. */
#include "patterns.h"

enum {
    ALLPAIRS_MAX = 64, /* ranks: its messages grow by the square */
    PROBE_BYTES = 65536,
    LATE_BYTES = 16384 /* from here on the second rank of an exchange starts late */
};

#define LATE 50e-6 /* how late, in seconds */

static int rounds_for(int kind, int bytes)
{
    return bytes < 16384 ? 10 : bytes < 131072 ? 2 : 1;
}

double wf_cap_cost(struct wf_cap_job *job, const struct wf_cap_measure *m)
{
    double one = job->latency + m->bytes * job->byte_time;
    double times = m->kind == WF_CAP_ONEWAY                                   ? 1
                   : m->kind == WF_CAP_PINGPONG || m->kind == WF_CAP_EXCHANGE ? 2
                   : m->kind == WF_CAP_BISECTION                              ? job->n_ranks
                   : m->kind == WF_CAP_ALLPAIRS                               ? 2 * job->n_ranks
                   : m->kind == WF_CAP_BUTTERFLY ? 2 * wf_cap_steps(m)
                                                 : job->n_ranks - 1;

    return 2e-3 + times * one * m->rounds + m->late * job->n_ranks;
}

/* `who` is a pair, or the number of members of a butterfly. */
static void add(struct wf_cap_job *job, int kind, int who, int rounds, int bytes)
{
    int two_ways =
        kind == WF_CAP_EXCHANGE || kind == WF_CAP_BISECTION || kind == WF_CAP_ALLPAIRS;

    if (job->n_measures < WF_CAP_MEASURES_MAX) {
        job->measures[job->n_measures++] = (struct wf_cap_measure){
            .kind = kind,
            .pair = wf_cap_is_pair(kind) ? who : 0,
            .members = kind == WF_CAP_BUTTERFLY ? who : 0,
            .rounds = rounds,
            .bytes = bytes,
            .late = two_ways && bytes >= LATE_BYTES ? LATE : 0,
        };
    }
}

/* Whether a size is one that most patterns have: 1, 1 KiB, 4 KiB, 16 KiB, ... */
static int is_coarse(int bytes)
{
    return bytes == 1 || (bytes >= 1024 && (bytes & (bytes - 1)) == 0 &&
                          __builtin_ctz((unsigned)bytes) % 2 == 0);
}

static double plan(struct wf_cap_job *job, int most, int dense)
{
    double seconds = 0;

    job->n_measures = 0;
    for (int bytes = 1; bytes <= most; bytes *= 2) {
        int rounds = rounds_for(WF_CAP_PINGPONG, bytes);
        for (int pair = 0; pair < job->n_pairs; pair++) {
            if (pair > 0 && !is_coarse(bytes)) {
                continue;
            }
            add(job, WF_CAP_PINGPONG, pair, rounds, bytes);
            add(job, WF_CAP_EXCHANGE, pair, rounds, bytes);
            if (is_coarse(bytes)) {
                add(job, WF_CAP_ONEWAY, pair, rounds == 1 ? 4 : 16, bytes);
            }
            if (is_coarse(bytes) && bytes >= LATE_BYTES) {
                add(job, WF_CAP_EXCHANGE, pair, 8, bytes);
            }
        }
        if (dense && bytes >= 2 && bytes * 3 / 2 <= most) {
            add(job, WF_CAP_PINGPONG, 0, rounds, bytes / 2 * 3);
            add(job, WF_CAP_EXCHANGE, 0, rounds, bytes / 2 * 3);
        }
        for (int members = 4; members <= job->n_ranks && is_coarse(bytes); members *= 2) {
            add(job, WF_CAP_BUTTERFLY, members, rounds > 2 ? rounds : 4, bytes);
        }
        for (int kind = WF_CAP_INCAST;
             job->n_ranks > 2 && kind <= WF_CAP_ALLPAIRS && is_coarse(bytes); kind++) {
            if (kind == WF_CAP_ALLPAIRS && job->n_ranks > ALLPAIRS_MAX) {
                break;
            }
            add(job, kind, 0, kind <= WF_CAP_OUTCAST ? rounds : rounds > 2 ? 4 : rounds, bytes);
        }
        if (bytes > most / 2) {
            break;
        }
    }
    for (int i = 0; i < job->n_measures; i++) {
        seconds += wf_cap_cost(job, &job->measures[i]);
    }
    return seconds;
}

void wf_cap_choose(struct wf_cap_job *job)
{
    int most = job->largest;

    while (most > PROBE_BYTES && plan(job, most, 0) * 5 > job->budget) {
        most /= 2;
    }
    if (plan(job, most, 1) * 8 > job->budget) {
        plan(job, most, 0);
    }
}

void wf_cap_estimate(struct wf_cap_job *job)
{
    struct wf_cap_measure small = {.kind = WF_CAP_PINGPONG, .rounds = 10, .bytes = 1};
    struct wf_cap_measure large = {.kind = WF_CAP_PINGPONG, .rounds = 1, .bytes = PROBE_BYTES};
    double times[2];

    large.bytes = job->largest < PROBE_BYTES ? job->largest : PROBE_BYTES;
    wf_cap_run(job, &small);
    wf_cap_run(job, &large);
    times[0] = wf_cap_run(job, &small) / 20;
    times[1] = wf_cap_run(job, &large) / 2;
    wf_cap_tell(times, sizeof(times));
    job->latency = times[0];
    job->byte_time = times[1] > job->latency ? (times[1] - job->latency) / large.bytes : 0;
}
