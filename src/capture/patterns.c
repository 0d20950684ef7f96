/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program that `weft calibrate` runs under a real MPI, on two or more ranks:
 *
 *     weft-patterns probe                                 print ranks and hosts only
 *     weft-patterns SECONDS BYTES REPEAT PAIR[,PAIR...]   measure; a pair is FIRST-SECOND
 *
 * It measures the patterns of gen/pattern.c at sizes up to BYTES, at most REPEAT times each,
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
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SIZES_MAX = 64,
    MEASURES_MAX = 512,
    PAIRS_MAX = 8,
    STREAM = 64,
    COPIES = 8,
    COPY_BYTES = 8192,
    COMBINED_BYTES = 32768, /* of each type; they stay in a cache, as received data does */
    EAGER_TRIES = 3,
    ROUNDS_MIN = 3,
    ALLPAIRS_MAX = 64, /* ranks: its messages grow by the square */
    OUTLIER = 4,       /* a round is at most so many times as long as the median one */
    CHEAP_TIMES = 5,
    PROBE_BYTES = 65536,
    LATE_BYTES = 16384 /* from here on the second rank of an exchange starts late */
};

#define LATE         50e-6 /* how late, in seconds */
#define WAIT         1e-3  /* least delay of a late receiver, in seconds */
#define NAP_US       2000  /* sleep of ranks that wait for the next measurement */
#define CHEAP        4e-3  /* a measurement of less than this is repeated */
#define SPIN         10e-3 /* computation that is watched for lost time */
#define INTERRUPTION 2e-5  /* a gap of the clock that counts as lost */

enum kind {
    PINGPONG,
    ONEWAY,
    EXCHANGE,
    INCAST,
    OUTCAST,
    BISECTION,
    ALLPAIRS,
    BUTTERFLY,
    KINDS
};

static const char *const kind_names[KINDS] = {"pingpong", "oneway",    "exchange", "incast",
                                              "outcast",  "bisection", "allpairs", "butterfly"};

/* The measured times of all repetitions, in seconds. */
struct series {
    double *values;
    int n;
};

struct measure {
    int kind, pair, rounds, bytes;
    int members; /* ranks of a butterfly: a power of two */
    double late; /* seconds */
    struct series times;
};

static int rank, n_ranks, n_measures, n_pairs, largest;
static int copy_bytes; /* size at which copies are measured: sent eagerly */
static struct {
    int first, second;
    MPI_Comm comm; /* MPI_COMM_NULL on ranks that are not in it */
} pairs[PAIRS_MAX];
static MPI_Comm groups[32]; /* of the first 2^i ranks */
static struct measure measures[MEASURES_MAX];
static struct series one_send, one_take, one_of_stream, copy_send, copy_take, combined;
static char *data, *room;
static double began, budget, told, lost, latency, byte_time;

static void *must(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "weft calibrate: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

static void note(struct series *series, double seconds)
{
    series->values =
        must(realloc(series->values, ((size_t)series->n + 1) * sizeof(*series->values)));
    series->values[series->n++] = seconds;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y ? 1 : 0;
}

/* The value below which `part` of the series is, interpolated. */
static double quantile(struct series *series, double part)
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

/* Waits for all ranks, asleep. */
static void meet(void)
{
    MPI_Request request;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    finish(&request);
}

static void tell(void *what, int bytes)
{
    MPI_Request request;

    MPI_Ibcast(what, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    finish(&request);
}

static void spin(double seconds)
{
    double begin = MPI_Wtime();

    while (MPI_Wtime() - begin < seconds) {
    }
}

static void show_progress(double fraction)
{
    if (rank == 0 && MPI_Wtime() - told > 0.2) {
        told = MPI_Wtime();
        printf("progress %.4f\n", fraction < 0.999 ? fraction : 0.999);
        fflush(stdout);
    }
}

/* ---- patterns ---- */

static int is_pair(int kind)
{
    return kind <= EXCHANGE;
}

static int is_member(const struct measure *m)
{
    return m->kind == BUTTERFLY ? rank < m->members
                                : !is_pair(m->kind) || rank == pairs[m->pair].first ||
                                      rank == pairs[m->pair].second;
}

/* Steps of a round: each posts messages and waits for them. */
static int steps_of(const struct measure *m)
{
    return m->kind == PINGPONG    ? 2
           : m->kind == BUTTERFLY ? __builtin_ctz((unsigned)m->members)
                                  : 1;
}

static int receives_of(const struct measure *m, int answers)
{
    int first = is_pair(m->kind) ? pairs[m->pair].first : 0;

    switch (m->kind) {
    case PINGPONG:
    case ONEWAY:
        return (rank == first) == answers;
    case EXCHANGE:
        return 1;
    case INCAST:
        return rank == 0 ? n_ranks - 1 : 0;
    case OUTCAST:
        return rank != 0;
    case BISECTION:
        return rank < n_ranks / 2 * 2;
    case BUTTERFLY:
        return 1;
    default:
        return n_ranks - 1;
    }
}

static int sends_of(const struct measure *m, int answers)
{
    switch (m->kind) {
    case PINGPONG:
    case ONEWAY:
        return !receives_of(m, answers);
    case INCAST:
        return rank != 0;
    case OUTCAST:
        return rank == 0 ? n_ranks - 1 : 0;
    default:
        return receives_of(m, answers);
    }
}

static int peer_of(const struct measure *m, int step, int i, int send)
{
    int half = n_ranks / 2, first = pairs[m->pair].first, second = pairs[m->pair].second;

    switch (m->kind) {
    case PINGPONG:
    case ONEWAY:
    case EXCHANGE:
        return rank == first ? second : first;
    case INCAST:
    case OUTCAST:
        return rank != 0 ? 0 : i + 1;
    case BISECTION:
        return rank < half ? rank + half : rank - half;
    case BUTTERFLY:
        return rank ^ 1 << step;
    default:
        return (rank + (send ? i + 1 : n_ranks - i - 1)) % n_ranks;
    }
}

static void do_step(const struct measure *m, int step, MPI_Request *requests)
{
    int receives = receives_of(m, step), sends = sends_of(m, step), n = 0;

    for (int i = 0; i < receives; i++) {
        MPI_Irecv(room + (size_t)i * (size_t)largest, m->bytes, MPI_CHAR,
                  peer_of(m, step, i, 0), 1, MPI_COMM_WORLD, &requests[n++]);
    }
    for (int i = 0; i < sends; i++) {
        MPI_Isend(data, m->bytes, MPI_CHAR, peer_of(m, step, i, 1), 1, MPI_COMM_WORLD,
                  &requests[n++]);
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

static double late_of(const struct measure *m)
{
    switch (m->kind) {
    case EXCHANGE:
        return rank == pairs[m->pair].second ? m->late : 0;
    case BISECTION:
        return rank >= n_ranks / 2 ? m->late : 0;
    case ALLPAIRS:
        return m->late * rank;
    case BUTTERFLY:
        return rank == m->members - 1 ? m->late : 0;
    default:
        return 0;
    }
}

/* Returns the time of all rounds. Where all rounds are alike, because ranks wait for each other,
 * one that took several times as long as the others was interrupted: a single time slice of
 * another program is longer than many messages. */
static double rounds_of(const struct measure *m, int rounds)
{
    MPI_Request *requests = must(malloc((size_t)n_ranks * 2 * sizeof(*requests)));
    struct series times = {0};
    double sum = 0, before = MPI_Wtime();

    for (int i = 0; i < rounds; i++) {
        for (int step = 0; step < steps_of(m); step++) {
            do_step(m, step, requests);
        }
        double now = MPI_Wtime();
        note(&times, now - before);
        before = now;
    }
    int alike = m->kind == PINGPONG || m->kind == EXCHANGE || m->kind == BISECTION ||
                m->kind == ALLPAIRS || m->kind == BUTTERFLY;
    double most = alike && rounds > 2 ? OUTLIER * quantile(&times, 0.5) : 1e9;
    for (int i = 0; i < rounds; i++) {
        sum += times.values[i] < most ? times.values[i] : most;
    }
    free(times.values);
    free(requests);
    return sum;
}

/* All ranks call it; returns the time. */
static double run(const struct measure *m)
{
    int part = is_member(m);
    double mine = 0, longest = 0;
    MPI_Request request;

    if (part) {
        MPI_Comm comm = is_pair(m->kind)       ? pairs[m->pair].comm
                        : m->kind == BUTTERFLY ? groups[steps_of(m)]
                                               : MPI_COMM_WORLD;
        /* Short messages are measured as in a program that sends many: the library reuses its
         * buffers in turn, and each is then in the cache of the rank that used it last. */
        rounds_of(m, latency < 5e-6 && m->bytes <= 32768 ? 64 : m->bytes <= 1024 ? 4 : 0);
        MPI_Barrier(comm);
        double begin = MPI_Wtime();
        spin(late_of(m));
        mine = MPI_Wtime() - begin;
        mine += rounds_of(m, m->rounds);
    }
    /* No rank need sleep while all have a part. */
    if ((!is_pair(m->kind) && m->members == 0) || n_ranks == 2) {
        MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    } else {
        MPI_Iallreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &request);
        finish(&request);
    }
    return longest;
}

/* ---- which measurements ---- */

static int rounds_for(int kind, int bytes)
{
    return bytes < 16384 ? 10 : bytes < 131072 ? 2 : 1;
}

static double cost_of(const struct measure *m)
{
    double one = latency + m->bytes * byte_time;
    double times = m->kind == ONEWAY                            ? 1
                   : m->kind == PINGPONG || m->kind == EXCHANGE ? 2
                   : m->kind == BISECTION                       ? n_ranks
                   : m->kind == ALLPAIRS                        ? 2 * n_ranks
                   : m->kind == BUTTERFLY                       ? 2 * steps_of(m)
                                                                : n_ranks - 1;

    return 2e-3 + times * one * m->rounds + m->late * n_ranks;
}

/* `who` is a pair, or the number of members of a butterfly. */
static void add(int kind, int who, int rounds, int bytes)
{
    int two_ways = kind == EXCHANGE || kind == BISECTION || kind == ALLPAIRS;

    if (n_measures < MEASURES_MAX) {
        measures[n_measures++] = (struct measure){
            .kind = kind,
            .pair = is_pair(kind) ? who : 0,
            .members = kind == BUTTERFLY ? who : 0,
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

static double plan(int most, int dense)
{
    double seconds = 0;

    n_measures = 0;
    for (int bytes = 1; bytes <= most; bytes *= 2) {
        int rounds = rounds_for(PINGPONG, bytes);
        for (int pair = 0; pair < n_pairs; pair++) {
            if (pair > 0 && !is_coarse(bytes)) {
                continue;
            }
            add(PINGPONG, pair, rounds, bytes);
            add(EXCHANGE, pair, rounds, bytes);
            if (is_coarse(bytes)) {
                add(ONEWAY, pair, rounds == 1 ? 4 : 16, bytes);
            }
            if (is_coarse(bytes) && bytes >= LATE_BYTES) {
                add(EXCHANGE, pair, 8, bytes);
            }
        }
        if (dense && bytes >= 2 && bytes * 3 / 2 <= most) {
            add(PINGPONG, 0, rounds, bytes / 2 * 3);
            add(EXCHANGE, 0, rounds, bytes / 2 * 3);
        }
        for (int members = 4; members <= n_ranks && is_coarse(bytes); members *= 2) {
            add(BUTTERFLY, members, rounds > 2 ? rounds : 4, bytes);
        }
        for (int kind = INCAST; n_ranks > 2 && kind <= ALLPAIRS && is_coarse(bytes); kind++) {
            if (kind == ALLPAIRS && n_ranks > ALLPAIRS_MAX) {
                break;
            }
            add(kind, 0, kind <= OUTCAST ? rounds : rounds > 2 ? 4 : rounds, bytes);
        }
        if (bytes > most / 2) {
            break;
        }
    }
    for (int i = 0; i < n_measures; i++) {
        seconds += cost_of(&measures[i]);
    }
    return seconds;
}

/* The largest sizes for which there is time for a few rounds, and sizes in between if there is
 * time for more. */
static void choose(void)
{
    int most = largest;

    while (most > PROBE_BYTES && plan(most, 0) * 5 > budget) {
        most /= 2;
    }
    if (plan(most, 1) * 8 > budget) {
        plan(most, 0);
    }
}

/* Estimates latency and rate, so that the time of a plan is known. */
static void estimate(void)
{
    struct measure small = {.kind = PINGPONG, .rounds = 10, .bytes = 1};
    struct measure large = {.kind = PINGPONG, .rounds = 1, .bytes = PROBE_BYTES};
    double times[2];

    large.bytes = largest < PROBE_BYTES ? largest : PROBE_BYTES;
    run(&small);
    run(&large);
    times[0] = run(&small) / 20;
    times[1] = run(&large) / 2;
    tell(times, sizeof(times));
    latency = times[0];
    byte_time = times[1] > latency ? (times[1] - latency) / large.bytes : 0;
}

/* ---- calls ---- */

static void put(int bytes, int tag)
{
    MPI_Send(data, bytes, MPI_CHAR, 1 - rank, tag, MPI_COMM_WORLD);
}

static void get(int bytes, int tag)
{
    MPI_Recv(room, bytes, MPI_CHAR, 1 - rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void exchange(int bytes)
{
    MPI_Sendrecv(data, bytes, MPI_CHAR, 1 - rank, 1, room, bytes, MPI_CHAR, 1 - rank, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void measure_stream(void)
{
    exchange(1);
    double begin = MPI_Wtime();
    for (int i = 0; i < STREAM && rank == 0; i++) {
        put(1, 3);
    }
    note(&one_send, (MPI_Wtime() - begin) / STREAM);
    for (int i = 0; i < STREAM && rank == 1; i++) {
        get(1, 3);
    }
    exchange(1);
    note(&one_of_stream, (MPI_Wtime() - begin) / STREAM);
}

/* Time of calls that send and receive `n` messages that have arrived: all have when the last
 * one, with tag 5, has. The receiver computes meanwhile, so the sender may have to wait for
 * space; the median of the calls is not affected. */
static void measure_calls(int bytes, int n, struct series *sent, struct series *taken)
{
    double seconds = 0, begin;

    exchange(1);
    if (rank == 0) {
        for (int i = 0; i < n; i++) {
            begin = MPI_Wtime();
            put(bytes, 4);
            note(sent, MPI_Wtime() - begin);
        }
        put(1, 5);
        MPI_Recv(&seconds, 1, MPI_DOUBLE, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        note(taken, seconds);
        return;
    }
    get(1, 5);
    begin = MPI_Wtime();
    for (int i = 0; i < n; i++) {
        get(bytes, 4);
    }
    seconds = (MPI_Wtime() - begin) / n;
    MPI_Send(&seconds, 1, MPI_DOUBLE, 0, 6, MPI_COMM_WORLD);
}

/* The mean of whole and of floating-point numbers. */
static void measure_combining(void)
{
    static double ours[COMBINED_BYTES / sizeof(double)],
        others[COMBINED_BYTES / sizeof(double)];
    double begin = MPI_Wtime();

    MPI_Reduce_local(others, ours, COMBINED_BYTES / (int)sizeof(int), MPI_INT, MPI_SUM);
    MPI_Reduce_local(others, ours, COMBINED_BYTES / (int)sizeof(double), MPI_DOUBLE, MPI_SUM);
    note(&combined, (MPI_Wtime() - begin) / (2.0 * COMBINED_BYTES / 1024));
}

static void calls(void)
{
    static struct series ignored;

    if (rank == 0) {
        measure_combining();
    }
    if (rank < 2) {
        measure_stream();
        measure_calls(1, STREAM, &ignored, &one_take);
        measure_calls(copy_bytes, COPIES, &copy_send, &copy_take);
    }
    meet();
}

/* Whether a send of this size returns although the receiver is late. The receiver calls
 * MPI_Iprobe meanwhile, because some libraries copy the data early, but return from the send
 * only after the receiver has made progress. */
static int is_eager(int bytes)
{
    double delay = WAIT + 8 * (latency + bytes * byte_time);
    struct series sent = {0};
    int found, eager = 0;

    for (int i = 0; i < EAGER_TRIES && rank < 2; i++) {
        exchange(1);
        double begin = MPI_Wtime();
        if (rank == 0) {
            put(bytes, 2);
            note(&sent, MPI_Wtime() - begin);
        } else {
            while (MPI_Wtime() - begin < delay) {
                MPI_Iprobe(0, 7, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
            }
            get(bytes, 2);
        }
    }
    if (rank == 0) {
        eager = quantile(&sent, 0.5) < delay / 2;
        free(sent.values);
    }
    if (rank < 2) {
        MPI_Bcast(&eager, 1, MPI_INT, 0, pairs[0].comm);
    }
    return eager;
}

/* How much of a long message moves while both ranks compute: nearly all with a progress thread
 * or hardware that does it, nearly nothing if the library works only in its calls. */
static void find_overlap(int bytes)
{
    double one = latency + bytes * byte_time, busy = WAIT + 4 * one, parts[EAGER_TRIES] = {0};
    struct series moved = {0};
    MPI_Request request;

    for (int i = 0; i < EAGER_TRIES && rank < 2 && bytes <= largest; i++) {
        exchange(1);
        double begin = MPI_Wtime();
        if (rank == 0) {
            MPI_Isend(data, bytes, MPI_CHAR, 1, 8, MPI_COMM_WORLD, &request);
        } else {
            MPI_Irecv(room, bytes, MPI_CHAR, 0, 8, MPI_COMM_WORLD, &request);
        }
        spin(busy);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        parts[i] = 1 - (MPI_Wtime() - begin - busy) / one;
    }
    if (rank == 1) {
        MPI_Send(parts, EAGER_TRIES, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD);
    } else if (rank == 0) {
        MPI_Recv(parts, EAGER_TRIES, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < EAGER_TRIES; i++) {
            note(&moved, parts[i] > 0.01 ? parts[i] : 0.01);
        }
        if (bytes <= largest) {
            printf("overlap %.2f\n", quantile(&moved, 0.5));
        }
        free(moved.values);
    }
}

/* Finds the limit between two powers of two, then to within 16 bytes. */
static void find_eager(int most)
{
    int yes = 0, no = 0;

    for (int bytes = 1024; rank < 2 && bytes <= most && no == 0; bytes *= 2) {
        if (is_eager(bytes)) {
            yes = bytes;
        } else {
            no = bytes;
        }
        show_progress((MPI_Wtime() - began) / budget);
    }
    while (no - yes > 16) {
        int middle = yes + (no - yes) / 2;
        if (is_eager(middle)) {
            yes = middle;
        } else {
            no = middle;
        }
        show_progress((MPI_Wtime() - began) / budget);
    }
    copy_bytes = yes < 1 ? 1 : yes < COPY_BYTES ? yes : COPY_BYTES;
    if (rank == 0 && no > 0) {
        printf("eager %d\nrendezvous %d\n", yes, no);
    }
    if (rank < 2 && no > 0) {
        find_overlap(2 * no);
    }
    meet();
}

/* How much of a computation the operating system gave to others, rank by rank. */
static void watch_host(void)
{
    for (int i = 0; i < n_ranks; i++) {
        if (i == rank) {
            double begin = MPI_Wtime(), before = begin, now = begin, gone = 0;
            while (now - begin < SPIN) {
                now = MPI_Wtime();
                gone += now - before > INTERRUPTION ? now - before : 0;
                before = now;
            }
            double part = gone / (now - begin);
            lost += part / 2; /* it is called twice */
        }
        meet();
    }
}

/* ---- all ---- */

static void measure_all(int repeat, double until)
{
    double round_time = 0;

    for (int i = 0; i < repeat; i++) {
        double begin = MPI_Wtime();
        int more = i < ROUNDS_MIN || begin + round_time < until;
        tell(&more, sizeof(more));
        if (!more) {
            return;
        }
        calls();
        for (int j = 0; j < n_measures; j++) {
            /* Short measurements cost little, and disturbances hit them hardest. */
            for (int k = 0; k < (cost_of(&measures[j]) < CHEAP ? CHEAP_TIMES : 1); k++) {
                note(&measures[j].times, run(&measures[j]));
            }
            double by_time = (MPI_Wtime() - began) / budget;
            double by_count = (i + (double)j / n_measures) / repeat;
            show_progress(by_time > by_count ? by_time : by_count);
        }
        round_time = MPI_Wtime() - begin;
    }
}

static void print_measures(void)
{
    for (int i = 0; i < n_measures; i++) {
        struct measure *m = &measures[i];
        int pair = is_pair(m->kind), second = pair                   ? pairs[m->pair].second
                                              : m->kind == BUTTERFLY ? m->members - 1
                                                                     : 0;
        printf("measure %s %d %d %d %.0f %d %d %.1f %.1f %.1f %.1f\n", kind_names[m->kind],
               pair ? pairs[m->pair].first : 0, second, m->rounds, m->late * 1e9, m->bytes,
               m->times.n, quantile(&m->times, 0.5) * 1e9, quantile(&m->times, 0.25) * 1e9,
               quantile(&m->times, 0.75) * 1e9, quantile(&m->times, 0) * 1e9);
    }
    /* Of calls, the quarter that was disturbed least. */
    double sent = quantile(&one_send, 0.25), taken = quantile(&one_take, 0.25);
    printf("send %.1f\ntake %.1f\nstream %.1f\n", sent * 1e9, taken * 1e9,
           quantile(&one_of_stream, 0.25) * 1e9);
    printf("combine %.2f\n", quantile(&combined, 0.25) * 1e9);
    printf("copy_send %.2f\ncopy_take %.2f\n",
           (quantile(&copy_send, 0.25) - sent) * 1e9 / copy_bytes * 1024,
           (quantile(&copy_take, 0.25) - taken) * 1e9 / copy_bytes * 1024);
}

/* Hosts may be virtual ones on a single computer: then they share its cores. The identity of
 * the running kernel tells. */
static void print_cores(void)
{
    enum { ID = 64 };
    char id[ID] = "", *ids = must(calloc((size_t)n_ranks, ID));
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    int same = file != NULL && fgets(id, ID, file) != NULL;

    if (file != NULL) {
        fclose(file);
    }
    MPI_Gather(id, ID, MPI_CHAR, ids, ID, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 1; i < n_ranks && rank == 0; i++) {
        same = same && memcmp(ids, ids + (size_t)i * ID, ID) == 0;
    }
    if (rank == 0 && same) {
        printf("cores %ld\n", sysconf(_SC_NPROCESSORS_ONLN));
    }
    if (rank == 0) {
        fflush(stdout);
    }
    free(ids);
}

static void print_ranks(void)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    char *names = must(calloc((size_t)n_ranks, sizeof(name)));
    int length;

    MPI_Get_processor_name(name, &length);
    MPI_Gather(name, sizeof(name), MPI_CHAR, names, sizeof(name), MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < n_ranks && rank == 0; i++) {
        printf("host %d %s\n", i, names + (size_t)i * sizeof(name));
    }
    if (rank == 0) {
        printf("ranks %d\n", n_ranks);
    }
    free(names);
    print_cores();
}

static void print_lost(void)
{
    double *all = must(calloc((size_t)n_ranks, sizeof(*all)));

    MPI_Gather(&lost, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < n_ranks && rank == 0; i++) {
        printf("lost %d %.1f\n", i, all[i] * 100);
    }
    free(all);
}

static int is_known(int first, int second)
{
    for (int i = 0; i < n_pairs; i++) {
        if (pairs[i].first == first && pairs[i].second == second) {
            return 1;
        }
    }
    return 0;
}

/* Reads "0-1,0-7"; pairs with ranks that do not exist are left out. */
static void set_pairs(char *text)
{
    for (char *at = text; *at != '\0' && n_pairs < PAIRS_MAX;) {
        long first = strtol(at, &at, 10), second = *at == '-' ? strtol(at + 1, &at, 10) : 0;
        at += strcspn(at, ",");
        at += *at == ',';
        if (first >= 0 && second >= 0 && first < n_ranks && second < n_ranks &&
            first != second && !is_known((int)first, (int)second)) {
            pairs[n_pairs].first = (int)first;
            pairs[n_pairs].second = (int)second;
            int in = rank == first || rank == second;
            MPI_Comm_split(MPI_COMM_WORLD, in ? 0 : MPI_UNDEFINED, rank, &pairs[n_pairs].comm);
            n_pairs++;
        }
    }
}

static void measure(char **arguments)
{
    budget = atof(arguments[0]);
    largest = atoi(arguments[1]);
    int repeat = atoi(arguments[2]);
    char standard[] = "0-1";

    for (int i = 2; 1 << i <= n_ranks; i++) {
        MPI_Comm_split(MPI_COMM_WORLD, rank < 1 << i ? 0 : MPI_UNDEFINED, rank, &groups[i]);
    }
    set_pairs(standard);
    set_pairs(arguments[3]);
    data = must(calloc((size_t)largest, 1));
    room = must(calloc((size_t)largest, (size_t)n_ranks));
    began = MPI_Wtime();
    watch_host();
    estimate();
    choose();
    find_eager(measures[n_measures - 1].bytes);
    measure_all(repeat, began + budget);
    watch_host();
    print_lost();
    if (rank == 0) {
        print_measures();
    }
    free(data);
    free(room);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    print_ranks();
    if (argc == 5 && n_ranks >= 2) {
        measure(argv + 1);
    }
    MPI_Finalize();
    return 0;
}
