/* SPDX-License-Identifier: Apache-2.0 */
/* Darshan's extended traces (DXT) as darshan-dxt-parser prints them: a section for each rank and file,
 *
 *     # DXT, file_id: 9457796068806373448, file_name: /scratch/out
 *     # DXT, rank: 3, hostname: node7
 *     # Module    Rank  Wt/Rd  Segment          Offset       Length    Start(s)      End(s)
 *      X_POSIX       3  write        0               0      1048576      0.0112      0.0131
 *
 * The program does nothing but these accesses at the times at which they began: what it computed
 * and sent is the time between them. Where MPI-IO (X_MPIIO) called POSIX for a file, only POSIX
 * counts. */
#include "base/array.h"
#include "base/mem.h"
#include "base/strings.h"
#include "base/units.h"
#include "program/trace/kit/kit.h"
#include "program/trace/spool/spool.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct access {
    int64_t begin, end; /* picoseconds */
    uint64_t offset, bytes;
    uint32_t rank, file, order;
    bool writes, posix;
};

struct reading {
    struct wf_intext text;
    struct wf_strings files; /* their names */
    uint32_t file;           /* of the section */
    bool has_file;
    bool *posix; /* [files.n]: whether there are accesses of POSIX to it */
    size_t posix_capacity;
    struct access *list;
    size_t n, capacity;
    uint64_t n_ranks,
        n_left_out; /* said in the header, or seen; accesses that POSIX has, too */
    struct wf_err *err;
};

static const char file_mark[] = "# DXT, file_id:", name_mark[] = "file_name: ";

static void bad(struct reading *r, const char *what)
{
    wf_trace_bad(&r->text.place, "%s", what);
}

static void begin_section(struct reading *r, const char *line)
{
    const char *name = strstr(line, name_mark);

    if (name == NULL || name[strlen(name_mark)] == '\0') {
        bad(r, "a section of DXT has no file_name");
        return;
    }
    name += strlen(name_mark);
    r->file = wf_strings_put(&r->files, name, strlen(name));
    r->has_file = true;
    while (r->posix_capacity <= r->file) {
        size_t had = r->posix_capacity;
        r->posix_capacity = had > 0 ? 2 * had : 64;
        r->posix = wf_xrealloc(r->posix, r->posix_capacity, sizeof(*r->posix));
        memset(r->posix + had, 0, (r->posix_capacity - had) * sizeof(*r->posix));
    }
}

/* "# nprocs: 64" */
static void read_header(struct reading *r, const char *line)
{
    static const char ranks[] = "# nprocs:";
    char *end;

    if (strncmp(line, file_mark, strlen(file_mark)) == 0) {
        begin_section(r, line);
    } else if (strncmp(line, ranks, strlen(ranks)) == 0) {
        r->n_ranks = strtoull(line + strlen(ranks), &end, 10);
        if (r->n_ranks == 0 || r->n_ranks > WF_RANKS_MAX) {
            bad(r, "the number of processes makes no sense");
        }
    }
}

static int64_t time_of(struct reading *r, double seconds)
{
    static const double PS_PER_SECOND = 1e12, MOST = 9e6;

    if (!isfinite(seconds) || seconds < 0 || seconds > MOST) {
        bad(r, "a time is negative, or more than 9e6 seconds");
        return 0;
    }
    return (int64_t)(seconds * PS_PER_SECOND + 0.5);
}

/* Accesses of a rank in the order of their beginnings, else as in the file. */
static int compare(const void *a, const void *b)
{
    const struct access *x = a, *y = b;

    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    return x->begin != y->begin ? (x->begin < y->begin ? -1 : 1) : x->order < y->order ? -1 : 1;
}

static bool is_whole(const char *word, long long *out)
{
    char *end;

    errno = 0;
    *out = strtoll(word, &end, 10);
    return errno == 0 && end != word && *end == '\0';
}

static bool is_seconds(const char *word, double *out)
{
    char *end;

    *out = strtod(word, &end);
    return end != word && *end == '\0';
}

static void read_access(struct reading *r, const char *line)
{
    enum { FIELDS = 7, WORD = 32 };
    char module[WORD], way[WORD], word[FIELDS - 2][WORD];
    long long rank, offset, bytes;
    double begin, end;

    if (sscanf(line, " %31s %31s %31s %*s %31s %31s %31s %31s", module, word[0], way, word[1],
               word[2], word[3], word[4]) != FIELDS ||
        !is_whole(word[0], &rank) || !is_whole(word[1], &offset) ||
        !is_whole(word[2], &bytes) || !is_seconds(word[3], &begin) ||
        !is_seconds(word[4], &end)) {
        bad(r, "expected: module, rank, write or read, segment, offset, length, start, end");
        return;
    }
    bool writes = strcmp(way, "write") == 0, posix = strcmp(module, "X_POSIX") == 0;
    if ((!posix && strcmp(module, "X_MPIIO") != 0) || (!writes && strcmp(way, "read") != 0)) {
        bad(r, "expected X_POSIX or X_MPIIO, and write or read");
    } else if (!r->has_file) {
        bad(r, "an access before the section of its file");
    } else if (rank < 0 || rank >= WF_RANKS_MAX || offset < 0 || bytes < 0 ||
               offset > INT64_MAX - bytes || r->n >= UINT32_MAX) {
        bad(r, "a rank, offset or length makes no sense");
    } else {
        struct access access = {.begin = time_of(r, begin),
                                .end = time_of(r, end),
                                .offset = (uint64_t)offset,
                                .bytes = (uint64_t)bytes,
                                .rank = (uint32_t)rank,
                                .file = r->file,
                                .order = (uint32_t)r->n,
                                .writes = writes,
                                .posix = posix};
        access.end = access.end > access.begin ? access.end : access.begin;
        r->posix[r->file] |= posix;
        WF_PUSH(r->list, r->n, r->capacity, access);
    }
}

static void read_lines(struct reading *r)
{
    size_t length = 0;

    for (char *line; (line = wf_intext_line(&r->text, &length)) != NULL;) {
        if (line[0] == '#') {
            read_header(r, line);
        } else if (line[strspn(line, " \t\r")] != '\0') {
            read_access(r, line);
        }
    }
}

/* ---- ops ---- */

/* Files that a rank has open. */
struct opened {
    uint32_t *last; /* [files]: the rank that opened it last, and 1 */
    uint32_t *list;
    size_t n, capacity;
};

static void put(struct reading *r, struct wf_spool *spool, const struct access *access,
                enum wf_op_kind kind)
{
    bool moves = kind == WF_OP_FILE_READ || kind == WF_OP_FILE_WRITE;
    const struct wf_op op = {.kind = kind,
                             .tag = (int32_t)access->file,
                             .bytes = moves ? access->bytes : 0,
                             .offset = moves ? access->offset : 0};

    r->text.place.unit = "rank";
    r->text.place.rank = access->rank;
    wf_spool_put(spool, &op, &r->text.place);
}

static void end_rank(struct reading *r, struct wf_spool *spool, struct opened *open,
                     uint32_t rank, int64_t now)
{
    for (size_t i = 0; i < open->n; i++) {
        put(r, spool, &(struct access){.rank = rank, .file = open->list[i]}, WF_OP_FILE_CLOSE);
    }
    open->n = 0;
    wf_spool_wall(spool, rank, now);
    wf_spool_rank_ends(spool, rank);
}

/* Ranks without accesses. */
static void skip_ranks(struct wf_spool *spool, uint64_t from, uint64_t to)
{
    for (uint64_t rank = from; rank < to; rank++) {
        wf_spool_wall(spool, (uint32_t)rank, 0);
    }
}

/* An access of a rank that has come to the time `now`. Returns when it is done. */
static int64_t put_access(struct reading *r, struct wf_spool *spool, struct opened *open,
                          const struct access *access, int64_t now)
{
    if (!access->posix && r->posix[access->file]) {
        r->n_left_out++;
        return now;
    }
    if (access->begin > now) {
        wf_spool_compute(spool, access->rank, access->begin - now, r->err);
    }
    if (open->last[access->file] != access->rank + 1) {
        open->last[access->file] = access->rank + 1;
        put(r, spool, access, WF_OP_FILE_OPEN);
        WF_PUSH(open->list, open->n, open->capacity, access->file);
    }
    put(r, spool, access, access->writes ? WF_OP_FILE_WRITE : WF_OP_FILE_READ);
    return access->end > now ? access->end : now;
}

static void write_ops(struct reading *r, struct wf_spool *spool)
{
    struct opened open = {.last = wf_xcalloc(r->files.n + 1, sizeof(*open.last))};
    int64_t now = 0;

    for (size_t i = 0; i < r->n && !wf_trace_failed(r->err); i++) {
        const struct access *access = &r->list[i];

        now = put_access(r, spool, &open, access, now);
        if (i == 0 || r->list[i - 1].rank != access->rank) {
            skip_ranks(spool, i == 0 ? 0 : r->list[i - 1].rank + UINT64_C(1), access->rank);
        }
        if (i + 1 == r->n || r->list[i + 1].rank != access->rank) {
            end_rank(r, spool, &open, access->rank, now);
            now = 0;
        }
    }
    skip_ranks(spool, r->n > 0 ? r->list[r->n - 1].rank + UINT64_C(1) : 0, r->n_ranks);
    free(open.last);
    free(open.list);
}

/* ---- the format ---- */

static bool detect(const struct wf_reader_probe *probe)
{
    static const char banner[] = "# darshan log version:";
    size_t n = strlen(banner), m = strlen(file_mark);

    return (probe->n >= n && memcmp(probe->bytes, banner, n) == 0) ||
           (probe->n >= m && memcmp(probe->bytes, file_mark, m) == 0);
}

static enum wf_status make_source(struct reading *r, struct wf_trace *out)
{
    struct wf_spool *spool = NULL;
    char number[32];

    WF_SORT(r->list, r->n, compare);
    uint64_t seen = r->n > 0 ? r->list[r->n - 1].rank + UINT64_C(1) : 0;
    if (seen == 0) {
        return wf_err_set(
            r->err, WF_EINVAL,
            "%.300s: no accesses of DXT; was the program run with DXT_ENABLE_IO_TRACE, "
            "and is this the output of darshan-dxt-parser?",
            r->text.place.path);
    }
    r->n_ranks = r->n_ranks > seen ? r->n_ranks : seen;
    WF_TRY(wf_spool_new((uint32_t)r->n_ranks, &spool, r->err));
    for (uint32_t file = 0; file < r->files.n; file++) {
        wf_spool_name(spool, WF_NAME_FILE, file, wf_strings_at(&r->files, file));
    }
    write_ops(r, spool);
    WF_TRY(wf_spool_end(spool, "darshan", &out->source, r->err));
    (void)snprintf(number, sizeof(number), "%zu", r->n);
    wf_trace_note(
        out,
        "%s accesses to files: what the program computed and sent is the time between "
        "them",
        number);
    wf_trace_note_count(out, r->n_left_out,
                        "accesses by MPI-IO left out, which POSIX has as well");
    return WF_OK;
}

static enum wf_status darshan_open(const struct wf_reader_probe *probe, const void *params,
                                   struct wf_trace *out, struct wf_err *err)
{
    struct reading r = {.err = err};

    enum wf_status status = wf_intext_open(&r.text, probe->path, err);
    if (status == WF_OK) {
        read_lines(&r);
        status = wf_trace_failed(err) ? err->status : make_source(&r, out);
        wf_intext_close(&r.text);
    }
    wf_strings_fini(&r.files);
    free(r.posix);
    free(r.list);
    return status;
}

const struct wf_reader_ops wf_darshan_reader_ops = {
    .name = "darshan",
    .summary = "Darshan's extended traces of files, as text of darshan-dxt-parser",
    .detect = detect,
    .open = darshan_open,
};
