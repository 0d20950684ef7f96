/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/bench_log.h"

#include "base/array.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/lookup.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 256 << 20, WORDS_MAX = 24, WORD_MAX = 32, HOST_MAX = 64 };

struct reading {
    struct wf_measured_log *log;
    const char *path;
    size_t line;
    bool open;            /* rows belong to the last curve */
    int size_at, time_at; /* columns of the open table */
    int bus_at, alg_at;   /* nccl-tests; -1: none */
    double unit;          /* of its values */
    /* What came before the header. */
    enum wf_coll_kind kind; /* WF_COLL_KINDS: unknown */
    uint32_t ranks, nodes;
    char host[HOST_MAX];
    bool sums; /* nccl-tests: the operation reduces */
    double
        guessed; /* ...the algorithm bandwidth from which the ranks were guessed; 0: not yet */
    struct wf_err *err;
};

/* ---- words ---- */

struct words {
    char text[WORDS_MAX][WORD_MAX];
    int n;
};

static void split(const char *line, struct words *out)
{
    out->n = 0;
    while (*line != '\0' && out->n < WORDS_MAX) {
        size_t skip = strspn(line, " \t\r"), length = strcspn(line + skip, " \t\r");

        if (length == 0) {
            return;
        }
        (void)snprintf(out->text[out->n++], WORD_MAX, "%.*s",
                       (int)(length < WORD_MAX ? length : WORD_MAX - 1), line + skip);
        line += skip + length;
    }
}

static int find_word(const struct words *words, const char *word)
{
    for (int i = 0; i < words->n; i++) {
        if (strcmp(words->text[i], word) == 0) {
            return i;
        }
    }
    return -1;
}

/* No benchmark prints more, and larger times are none of ours. */
static const double number_max = 1e12;

static bool is_number(const char *text, double *out)
{
    char *end;

    *out = strtod(text, &end);
    return end != text && *end == '\0' && *out >= 0 && *out <= number_max;
}

/* The whole number at a place, or 0. */
static uint32_t count_at(const struct words *words, int i)
{
    double number;

    return i >= 0 && i < words->n && is_number(words->text[i], &number) && number < 1e9
               ? (uint32_t)number
               : 0;
}

/* The collective of a name in any spelling: "all_reduce_perf", "MPI_Allreduce", "Allreduce". */
static enum wf_coll_kind kind_of(const char *name)
{
    static const struct {
        const char *name;
        enum wf_coll_kind kind;
    } names[] = {
        {"allreduce", WF_COLL_ALLREDUCE},   {"allgather", WF_COLL_ALLGATHER},
        {"allgatherv", WF_COLL_ALLGATHERV}, {"alltoall", WF_COLL_ALLTOALL},
        {"alltoallv", WF_COLL_ALLTOALLV},   {"broadcast", WF_COLL_BCAST},
        {"bcast", WF_COLL_BCAST},           {"reduce", WF_COLL_REDUCE},
        {"gather", WF_COLL_GATHER},         {"scatter", WF_COLL_SCATTER},
        {"gatherv", WF_COLL_GATHERV},       {"scatterv", WF_COLL_SCATTERV},
        {"barrier", WF_COLL_BARRIER},       {"reducescatter", WF_COLL_REDUCE_SCATTER_BLOCK},
    };
    char plain[WORD_MAX];
    size_t n = 0;

    for (; *name != '\0' && n + 1 < sizeof(plain); name++) {
        if (isalpha((unsigned char)*name)) {
            plain[n++] = (char)tolower((unsigned char)*name);
        }
    }
    plain[n] = '\0';
    if (n > 4 && strcmp(plain + n - 4, "perf") == 0) {
        plain[n - 4] = '\0';
    }
    const size_t n_names = sizeof(names) / sizeof(names[0]);
    size_t i = WF_LOOKUP_INDEX(names, n_names, plain);
    return i < n_names ? names[i].kind : WF_COLL_KINDS;
}

/* ---- curves ---- */

static struct wf_measured_curve *last(struct reading *r)
{
    return &r->log->curves[r->log->n - 1];
}

static struct wf_measured_curve *begin(struct reading *r, enum wf_measured_what what,
                                       const char *tool, const char *name)
{
    struct wf_measured_curve curve = {.what = what,
                                      .kind = r->kind,
                                      .tool = tool,
                                      .ranks = r->ranks,
                                      .nodes = r->nodes,
                                      .line = r->line,
                                      .path = r->path};

    (void)snprintf(curve.name, sizeof(curve.name), "%.40s", name);
    WF_PUSH(r->log->curves, r->log->n, r->log->capacity, curve);
    return last(r);
}

/* Whether the sizes of a table count the blocks of all ranks. */
static bool counts_all(const struct wf_measured_curve *curve)
{
    bool of_gpus = strcmp(curve->tool, "nccl-tests") == 0;

    return curve->what == WF_MEASURED_COLLECTIVE && curve->ranks > 0 &&
           (curve->kind == WF_COLL_REDUCE_SCATTER_BLOCK ||
            (of_gpus && curve->kind != WF_COLL_ALLREDUCE && curve->kind != WF_COLL_BCAST &&
             curve->kind != WF_COLL_REDUCE));
}

static void add_row(struct wf_measured_curve *curve, double bytes, double value)
{
    struct wf_measured_row row = {.printed = (uint64_t)bytes, .value = value};

    row.bytes = counts_all(curve) ? row.printed / curve->ranks : row.printed;
    if (value > 0 && (row.bytes > 0 || curve->kind == WF_COLL_BARRIER)) {
        WF_PUSH(curve->rows, curve->n, curve->capacity, row);
    }
}

static enum wf_status bad(const struct reading *r, const char *words)
{
    return wf_err_set(r->err, WF_EINVAL, "%s: line %zu: %s", r->path, r->line, words);
}

/* ---- nccl-tests ---- */

/* "#  Rank  0 Group  0 Pid  1 on host device  0 [0x10] NVIDIA H100" */
static void take_rank(struct reading *r, const struct words *words)
{
    int on = find_word(words, "on");

    if (r->open) {
        r->open = false;
        r->ranks = r->nodes = 0;
    }
    if (count_at(words, 2) == 0) {
        r->ranks = r->nodes = 0;
        r->host[0] = '\0';
    }
    r->ranks++;
    if (on > 0 && on + 1 < words->n && strcmp(words->text[on + 1], r->host) != 0) {
        (void)snprintf(r->host, sizeof(r->host), "%s", words->text[on + 1]);
        r->nodes++;
    }
}

/* "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time ..." */
static enum wf_status begin_nccl(struct reading *r, const struct words *words, int shift)
{
    r->size_at = find_word(words, "size") - shift;
    r->time_at = find_word(words, "time") - shift;
    r->alg_at = find_word(words, "algbw") - shift;
    r->bus_at = find_word(words, "busbw") - shift;
    if (r->time_at < 0 || r->alg_at < 0 || r->bus_at < 0 || r->size_at != 0) {
        return bad(r, "a table of nccl-tests needs the columns size, time, algbw and busbw; "
                      "versions before 2.0 print others");
    }
    r->unit = 1e-6;
    r->open = true;
    r->sums = true;
    r->guessed = 0;
    (void)begin(r, WF_MEASURED_COLLECTIVE, "nccl-tests",
                r->kind < WF_COLL_KINDS ? wf_coll_name(r->kind) : "");
    return WF_OK;
}

/* Old versions do not print which collective it is: bus and algorithm bandwidth tell it, and the
 * number of ranks if that is not printed either. */
static enum wf_status guess_kind(struct reading *r, struct wf_measured_curve *curve,
                                 double ratio)
{
    double n = curve->ranks;

    if (curve->kind == WF_COLL_KINDS && r->sums && ratio > 1 && ratio < 2) {
        curve->kind = WF_COLL_ALLREDUCE;
    } else if (curve->kind == WF_COLL_KINDS && r->sums && ratio < 1 && ratio > 0.4) {
        curve->kind = WF_COLL_REDUCE_SCATTER_BLOCK;
    } else if (curve->kind == WF_COLL_KINDS && ratio > 1.01) {
        return bad(r, "cannot tell which collective this is");
    } else if (curve->kind == WF_COLL_KINDS) {
        curve->kind = curve->ranks == 2 && r->sums ? WF_COLL_ALLREDUCE : WF_COLL_ALLGATHER;
    }
    if (n == 0 && curve->kind == WF_COLL_ALLREDUCE && ratio < 2) {
        n = round(2 / (2 - ratio));
    } else if (n == 0 && ratio < 1) {
        n = round(1 / (1 - ratio));
    }
    curve->ranks = (uint32_t)n;
    (void)snprintf(curve->name, sizeof(curve->name), "%s", wf_coll_name(curve->kind));
    return WF_OK;
}

static enum wf_status take_nccl(struct reading *r, const struct words *words)
{
    struct wf_measured_curve *curve = last(r);
    double size, time, alg, bus;

    if (words->n <= r->bus_at) {
        return bad(r, "the line has fewer columns than its header");
    }
    if (!is_number(words->text[0], &size) || !is_number(words->text[r->time_at], &time) ||
        !is_number(words->text[r->alg_at], &alg) || !is_number(words->text[r->bus_at], &bus)) {
        return bad(r, "time, algbw and busbw must be numbers");
    }
    /* Both have two decimals at least. */
    if (time > 0 && fabs(size / (time * r->unit) / 1e9 - alg) > 0.02 * alg + 0.011) {
        return bad(r, "size, time and algbw do not fit together: is a column missing?");
    }
    r->sums = find_word(words, "none") < 0;
    bool unknown = curve->kind == WF_COLL_KINDS || curve->ranks == 0;
    /* Bandwidths have two decimals: the larger, the better. */
    if ((unknown && alg >= 1) || (r->guessed > 0 && alg > r->guessed)) {
        curve->ranks = r->guessed > 0 ? 0 : curve->ranks;
        r->guessed = curve->ranks == 0 ? alg : 0;
        WF_TRY(guess_kind(r, curve, bus / alg));
        for (size_t i = 0; i < curve->n; i++) {
            curve->rows[i].bytes = counts_all(curve) ? curve->rows[i].printed / curve->ranks
                                                     : curve->rows[i].printed;
        }
    }
    add_row(curve, size, time * r->unit);
    return WF_OK;
}

/* ---- OSU and IMB ---- */

/* "# OSU MPI Allreduce Latency Test v7.3", "# OSU MPI-CUDA Bandwidth Test v5.6" */
static void begin_osu(struct reading *r, const struct words *words)
{
    const char *what = words->n > 3 ? words->text[3] : "";
    const char *next = words->n > 4 ? words->text[4] : "";

    r->open = false;
    r->kind = kind_of(what);
    r->ranks = r->nodes = 0;
    r->size_at = 0;
    r->time_at = 1;
    r->unit = 1e-6;
    if (r->kind < WF_COLL_KINDS && strcmp(next, "Latency") == 0) {
        (void)begin(r, WF_MEASURED_COLLECTIVE, "OSU", wf_coll_name(r->kind));
        r->time_at = r->kind == WF_COLL_BARRIER ? 0 : 1;
    } else if (strcmp(what, "Latency") == 0) {
        (void)begin(r, WF_MEASURED_LATENCY, "OSU", "osu_latency");
    } else if (strcmp(what, "Bandwidth") == 0) {
        r->unit = 1e6;
        (void)begin(r, WF_MEASURED_BANDWIDTH, "OSU", "osu_bw");
    } else if (strcmp(what, "Bi-Directional") == 0) {
        r->unit = 1e6;
        (void)begin(r, WF_MEASURED_BOTH_WAYS, "OSU", "osu_bibw");
    } else {
        return;
    }
    r->open = true;
}

/* "# Benchmarking Allreduce"; the header of the table follows. */
static void name_imb(struct reading *r, const struct words *words)
{
    r->open = false;
    r->kind = kind_of(words->text[2]);
    (void)snprintf(r->host, sizeof(r->host), "%s", words->text[2]);
}

/* "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]", or t[usec] and Mbytes/sec */
static enum wf_status begin_imb(struct reading *r, const struct words *words)
{
    bool pingpong = strcmp(r->host, "PingPong") == 0;
    int average = find_word(words, "t_avg[usec]"), time = find_word(words, "t[usec]");

    r->open = false;
    if (r->kind == WF_COLL_KINDS && !pingpong) {
        return WF_OK; /* a benchmark that is not used */
    }
    r->size_at = 0;
    r->time_at = pingpong ? time : average;
    r->unit = 1e-6;
    if (r->time_at < 0) {
        return bad(r, "a table of IMB needs the column t[usec] or t_avg[usec]");
    }
    (void)begin(r, pingpong ? WF_MEASURED_LATENCY : WF_MEASURED_COLLECTIVE, "IMB", r->host);
    r->open = true;
    return WF_OK;
}

static enum wf_status take_plain(struct reading *r, const struct words *words)
{
    struct wf_measured_curve *curve = last(r);
    double size = 0, value;

    if (words->n <= r->time_at) {
        return bad(r, "the line has fewer columns than its header");
    }
    if ((r->time_at > 0 && !is_number(words->text[0], &size)) ||
        !is_number(words->text[r->time_at], &value)) {
        return bad(r, "size and value must be numbers");
    }
    add_row(curve, size, value * r->unit);
    return WF_OK;
}

/* ---- the others ---- */

/* "  3:   4 bytes  5000 times -->   19.0 Mbps in   1.61 usec", or "24 B ... in 329 nsecs" */
static void take_netpipe(struct reading *r, const struct words *words)
{
    int arrow = find_word(words, "-->"), in = find_word(words, "in");
    double size, time;

    if (arrow < 4 || in < 0 || in + 2 >= words->n || !is_number(words->text[1], &size) ||
        !is_number(words->text[in + 1], &time)) {
        return;
    }
    const char *size_unit = words->text[2], *time_unit = words->text[in + 2];
    size *= size_unit[0] == 'K' ? 1e3 : size_unit[0] == 'M' ? 1e6 : 1;
    time *= time_unit[0] == 'n'   ? 1e-9
            : time_unit[0] == 'u' ? 1e-6
            : time_unit[0] == 'm' ? 1e-3
                                  : 1;
    if (!r->open || strcmp(last(r)->tool, "NetPIPE") != 0) {
        r->kind = WF_COLL_KINDS;
        (void)begin(r, WF_MEASURED_LATENCY, "NetPIPE", "NetPIPE");
        r->open = true;
    }
    add_row(last(r), size, time);
}

/* One number: "Triad: 20123.4 ...", "WR11C2R4 29184 192 2 2 118.96 1.3930e+02". */
static bool take_single(struct reading *r, const struct words *words)
{
    const char *equals = strstr(words->text[0], "DGEMM_Gflops=");
    enum wf_measured_what what;
    double value = 0, size = 1, unit = 1e9;

    if (strcmp(words->text[0], "Triad:") == 0 && words->n > 1 &&
        is_number(words->text[1], &value)) {
        what = WF_MEASURED_STREAM;
        unit = 1e6;
    } else if (strncmp(words->text[0], "WR", 2) == 0 && words->n >= 7 &&
               is_number(words->text[1], &size) && is_number(words->text[6], &value)) {
        what = WF_MEASURED_HPL;
    } else if (equals != NULL && is_number(strchr(equals, '=') + 1, &value)) {
        what = WF_MEASURED_DGEMM;
    } else {
        return false;
    }
    static const char *const names[] = {[WF_MEASURED_STREAM] = "STREAM",
                                        [WF_MEASURED_HPL] = "HPL",
                                        [WF_MEASURED_DGEMM] = "HPCC"};
    r->open = false;
    r->kind = WF_COLL_KINDS;
    add_row(begin(r, what, names[what], names[what]), size, value * unit);
    return true;
}

/* ---- lines ---- */

/* Without what launchers put before it: "[1,0]<stdout>:", "0: ". */
static const char *without_prefix(const char *line)
{
    const char *at = line + strspn(line, " ");
    size_t digits = strspn(at, "0123456789");

    if (strncmp(at, "[1,", 3) == 0 && strstr(at, "<stdout>:") != NULL) {
        return strstr(at, "<stdout>:") + strlen("<stdout>:");
    }
    return digits > 0 && at[digits] == ':' && at[digits + 1] == ' ' ? at + digits + 1 : line;
}

static enum wf_status take_comment(struct reading *r, const struct words *words)
{
    bool apart = strcmp(words->text[0], "#") == 0; /* "# size", not "#bytes" */
    int shift = apart ? 1 : 0;
    const char *first = words->n > shift ? words->text[shift] : "";

    if (apart && strcmp(first, "Collective") == 0 && words->n > 4) {
        r->kind = kind_of(words->text[4]);
    } else if (apart && strcmp(first, "Rank") == 0 && words->n > 3) {
        take_rank(r, words);
    } else if (apart && strcmp(first, "OSU") == 0) {
        begin_osu(r, words);
        if (r->open && find_word(words, "weft:") > 0) {
            last(r)->ranks = count_at(words, words->n - 2);
        }
    } else if (apart && strcmp(first, "Benchmarking") == 0 && words->n > 2) {
        name_imb(r, words);
    } else if (find_word(words, "ranks") > 1 && find_word(words, "weft:") > 0) {
        r->ranks = count_at(words, find_word(words, "ranks") - 1); /* our own */
    } else if (find_word(words, "#processes") >= 0) {
        r->ranks = count_at(words, find_word(words, "#processes") + 2);
    } else if (strcmp(words->text[0], "#bytes") == 0) {
        return begin_imb(r, words);
    } else if (find_word(words, "algbw") >= 0 ||
               (apart && strcmp(first, "bytes") == 0 && find_word(words, "time") >= 0)) {
        return begin_nccl(r, words, shift);
    }
    return WF_OK;
}

static enum wf_status take_line(struct reading *r, const char *raw)
{
    const char *line = without_prefix(raw);
    struct words words;
    double number;

    if (strstr(raw, "times -->") != NULL) {
        split(raw, &words);
        take_netpipe(r, &words);
        return WF_OK;
    }
    split(line, &words);
    if (words.n == 0) {
        return WF_OK;
    }
    if (words.text[0][0] == '#') {
        return take_comment(r, &words);
    }
    if (find_word(&words, "algbw") > 0 && find_word(&words, "size") == 0) {
        return begin_nccl(r, &words, 0); /* some logs have lost the '#' */
    }
    if (take_single(r, &words) || !r->open || !is_number(words.text[0], &number)) {
        return WF_OK;
    }
    return strcmp(last(r)->tool, "nccl-tests") == 0 ? take_nccl(r, &words)
                                                    : take_plain(r, &words);
}

/* Drops tables without rows. */
static void drop_empty(struct wf_measured_log *log, size_t from)
{
    size_t kept = from;

    for (size_t i = from; i < log->n; i++) {
        if (log->curves[i].n > 0) {
            log->curves[kept++] = log->curves[i];
        } else {
            free(log->curves[i].rows);
        }
    }
    log->n = kept;
}

enum wf_status wf_measured_log_read(struct wf_measured_log *log, const char *path,
                                    struct wf_err *err)
{
    struct wf_buf text = {.data = NULL};
    struct reading r = {.log = log, .path = path, .kind = WF_COLL_KINDS, .err = err};
    size_t before = log->n;
    enum wf_status status = wf_file_read(path, FILE_MAX, &text, err);

    if (status == WF_OK) {
        char *rest = (char *)text.data, *line;
        while (status == WF_OK && (line = strsep(&rest, "\n")) != NULL) {
            r.line++;
            status = take_line(&r, line);
        }
    }
    wf_buf_fini(&text);
    drop_empty(log, before);
    if (status == WF_OK && log->n == before) {
        status = wf_err_set(err, WF_EINVAL,
                            "%s: no table of nccl-tests, OSU micro-benchmarks, IMB, NetPIPE, "
                            "STREAM or HPL is in this file",
                            path);
    }
    return status;
}

void wf_measured_log_fini(struct wf_measured_log *log)
{
    for (size_t i = 0; i < log->n; i++) {
        free(log->curves[i].rows);
    }
    free(log->curves);
    *log = (struct wf_measured_log){.n = 0};
}
