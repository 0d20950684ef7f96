/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/bigsim/file.h"

#include "base/mem.h"
#include "trace/reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const unsigned char wf_bigsim_magic[WF_BIGSIM_MAGIC_BYTES] = {0x10, 0xEA, 0xBD, 0xF9};

enum {
    INT = 4,
    SHORT = 2,
    DOUBLE = 8,
    MACHINE_BYTES = 12, /* behind the magic */
    SUMMARY_MAX = 64,
    VERSION_MAX = 6,
    GROUPED_VERSION = 1, /* the first that has... */
    THREE_NUMBERS_VERSION = 2,
    FOUR_NUMBERS_VERSION = 3,
    ENTRY_VERSION = 4,
    CALLS_VERSION = 6,
};

#define SECONDS_MAX 9.0e6 /* a time in picoseconds has room for so many */

enum wf_status wf_bigsim_bad(const struct wf_bigsim_file *file, uint64_t offset,
                             struct wf_err *err, const char *fmt, ...)
{
    char words[256];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(words, sizeof(words), fmt, args);
    va_end(args);
    return wf_err_set(err, WF_EINVAL, "%.200s: byte %" PRIu64 ", PE %" PRIu32 ": %s",
                      file->in.path, offset, file->pe, words);
}

static int32_t take_int(struct wf_infile *in)
{
    return (int32_t)wf_infile_signed(in, INT);
}

static double take_double(struct wf_infile *in)
{
    uint64_t bits = wf_infile_unsigned(in, DOUBLE);
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* What a file says of the machine that wrote it. */
static enum wf_status take_machine(struct wf_infile *in, struct wf_err *err)
{
    unsigned char words[MACHINE_BYTES];
    const unsigned char *bytes = wf_infile_bytes(in, WF_BIGSIM_MAGIC_BYTES);

    if (in->failed || memcmp(bytes, wf_bigsim_magic, WF_BIGSIM_MAGIC_BYTES) != 0) {
        return wf_err_set(err, WF_EINVAL, "%.200s: byte 0: no file of a BigSim trace",
                          in->path);
    }
    memcpy(words, wf_infile_bytes(in, MACHINE_BYTES), MACHINE_BYTES);
    if (in->failed) {
        return wf_err_set(err, WF_EINVAL, "%.200s: truncated at byte %" PRIu64, in->path,
                          in->size);
    }
    if (words[0] > 1) {
        return wf_err_set(err, WF_EINVAL,
                          "%.200s: byte 4: version %u of the encoding; 0 and 1 are known",
                          in->path, words[0]);
    }
    /* Version 1 has the size of one type more before what follows. */
    const unsigned char *formats = words + 5 + words[0];
    if (words[2] != SHORT || words[3] != INT || formats[2] != DOUBLE || formats[0] > 1 ||
        formats[0] != formats[3]) {
        return wf_err_set(err, WF_EINVAL,
                          "%.200s: byte 5: written by a machine whose numbers are not known: "
                          "2, 4 and 8 bytes for short, int and double in one order are",
                          in->path);
    }
    in->swapped = formats[0] == 1;
    return WF_OK;
}

/* ---- the summary ---- */

static enum wf_status check_summary(const struct wf_bigsim_trace *trace, int32_t nodes,
                                    const struct wf_infile *in, struct wf_err *err)
{
    if (in->failed) {
        return wf_err_set(err, WF_EINVAL, "%.200s: truncated at byte %" PRIu64, in->path,
                          in->size);
    }
    if (trace->n_pes == 0 || trace->n_pes >= WF_RANKS_MAX || trace->n_threads == 0 ||
        trace->n_files == 0 || trace->n_files > trace->n_pes || nodes <= 0 ||
        (uint64_t)nodes * trace->n_threads != trace->n_pes) {
        return wf_err_set(err, WF_EINVAL,
                          "%.200s: byte 16: %" PRId32 " PEs on %" PRId32 " nodes of %" PRId32
                          " threads in %" PRId32 " files make no sense",
                          in->path, (int32_t)trace->n_pes, nodes, (int32_t)trace->n_threads,
                          (int32_t)trace->n_files);
    }
    if (trace->version < 0 || trace->version > VERSION_MAX) {
        return wf_err_set(err, WF_EINVAL,
                          "%.200s: byte 52: logs of version %" PRId32 "; 0 to %d are known",
                          in->path, trace->version, VERSION_MAX);
    }
    return WF_OK;
}

static enum wf_status read_summary(struct wf_bigsim_trace *trace, struct wf_infile *in,
                                   struct wf_err *err)
{
    enum wf_status status = take_machine(in, err);
    int64_t nodes = 1;

    if (status != WF_OK) {
        return status;
    }
    if (in->size > SUMMARY_MAX) {
        return wf_err_set(err, WF_EINVAL,
                          "%.200s: too long for the summary of a BigSim trace; the trace is "
                          "named by the file bgTrace or by its directory",
                          in->path);
    }
    trace->n_pes = (uint32_t)take_int(in);
    for (int i = 0; i < 3; i++) {
        int32_t width = take_int(in);
        nodes = width > 0 && nodes <= WF_RANKS_MAX ? nodes * width : -1;
    }
    (void)take_int(in); /* threads for communication */
    trace->n_threads = (uint32_t)take_int(in);
    (void)take_int(in);
    (void)take_int(in);
    trace->n_files = (uint32_t)take_int(in);
    trace->version = wf_infile_left(in) >= INT && !in->failed ? take_int(in) : 0;
    return check_summary(trace, nodes > WF_RANKS_MAX ? -1 : (int32_t)nodes, in, err);
}

uint32_t wf_bigsim_file_of(const struct wf_bigsim_trace *trace, uint32_t pe)
{
    return pe / trace->n_threads % trace->n_files;
}

static uint32_t n_pes_in(const struct wf_bigsim_trace *trace, uint32_t number)
{
    uint32_t nodes = trace->n_pes / trace->n_threads;
    uint32_t mine =
        nodes / trace->n_files + (number < nodes % trace->n_files ? UINT32_C(1) : UINT32_C(0));

    return mine * trace->n_threads;
}

enum wf_status wf_bigsim_open(struct wf_bigsim_trace *trace, const char *path,
                              struct wf_err *err)
{
    struct wf_infile in;

    *trace = (struct wf_bigsim_trace){.n_pes = 0};
    enum wf_status status = wf_infile_open(&in, path, err);
    if (status != WF_OK) {
        return status;
    }
    status = read_summary(trace, &in, err);
    wf_infile_close(&in);
    if (status != WF_OK) {
        return status;
    }
    trace->path = wf_xstrdup(path);
    /* No number is believed before there is a file with room for as many PEs. */
    for (uint32_t i = 0; i < trace->n_files && status == WF_OK; i++) {
        struct wf_bigsim_file file;
        status = wf_bigsim_file_open(&file, trace, i, err);
        wf_bigsim_file_close(&file);
    }
    if (status != WF_OK) {
        wf_bigsim_close(trace);
    }
    return status;
}

void wf_bigsim_close(struct wf_bigsim_trace *trace)
{
    free(trace->path);
    trace->path = NULL;
}

/* ---- files with logs ---- */

enum wf_status wf_bigsim_file_open(struct wf_bigsim_file *file,
                                   const struct wf_bigsim_trace *trace, uint32_t number,
                                   struct wf_err *err)
{
    size_t size = strlen(trace->path) + 16;
    char *path = wf_xmalloc(size);

    *file = (struct wf_bigsim_file){.trace = trace, .number = number};
    (void)snprintf(path, size, "%s%" PRIu32, trace->path, number);
    enum wf_status status = wf_infile_open(&file->in, path, err);
    free(path);
    if (status != WF_OK) {
        return status;
    }
    file->pe = number * trace->n_threads;
    status = take_machine(&file->in, err);
    if (status != WF_OK) {
        return status;
    }
    file->n_pes = n_pes_in(trace, number);
    int32_t found = take_int(&file->in);
    if (file->in.failed || (uint32_t)found != file->n_pes) {
        return wf_bigsim_bad(file, 16, err,
                             "the file has %" PRId32 " PEs, the summary says %" PRIu32, found,
                             file->n_pes);
    }
    if (wf_infile_left(&file->in) / INT < file->n_pes) {
        return wf_bigsim_bad(file, 20, err, "truncated at byte %" PRIu64 ", before its logs",
                             file->in.size);
    }
    return WF_OK;
}

void wf_bigsim_file_close(struct wf_bigsim_file *file)
{
    wf_infile_close(&file->in);
}

enum wf_status wf_bigsim_pe(struct wf_bigsim_file *file, uint32_t pe, struct wf_err *err)
{
    const struct wf_bigsim_trace *trace = file->trace;
    uint32_t place =
        pe / trace->n_threads / trace->n_files * trace->n_threads + pe % trace->n_threads;
    const uint64_t begin = WF_BIGSIM_MAGIC_BYTES + MACHINE_BYTES + INT;

    file->pe = pe;
    wf_infile_seek(&file->in, begin + (uint64_t)place * INT);
    uint32_t offset = (uint32_t)take_int(&file->in);
    if (offset < begin + (uint64_t)file->n_pes * INT || offset >= file->in.size) {
        return wf_bigsim_bad(file, begin + (uint64_t)place * INT, err,
                             "its logs begin at byte %" PRIu32 ", which is not there: the file "
                             "has %" PRIu64,
                             offset, file->in.size);
    }
    wf_infile_seek(&file->in, offset);
    int32_t n = take_int(&file->in);
    if (file->in.failed || n < 0) {
        return wf_bigsim_bad(file, offset, err,
                             file->in.failed ? "truncated here" : "a negative number of logs");
    }
    file->n = (uint32_t)n;
    file->next = 0;
    return WF_OK;
}

/* ---- logs ---- */

void wf_bigsim_log_fini(struct wf_bigsim_log *log)
{
    wf_buf_fini(&log->messages);
    wf_buf_fini(&log->before);
}

/* A number of things; fails the file if it is negative. */
static uint32_t take_count(struct wf_infile *in)
{
    int32_t n = take_int(in);

    in->failed = in->failed || n < 0;
    return in->failed ? 0 : (uint32_t)n;
}

static void take_messages(struct wf_bigsim_file *file, struct wf_bigsim_log *log)
{
    struct wf_infile *in = &file->in;
    uint32_t n = take_count(in);

    log->n_messages = 0;
    log->messages.size = 0;
    for (uint32_t i = 0; i < n && !in->failed; i++) {
        struct wf_bigsim_message message = {.number = take_int(in), .node = take_int(in)};

        message.time = take_double(in);
        (void)take_double(in);
        message.thread = (int32_t)wf_infile_signed(in, SHORT);
        int32_t bytes = take_int(in);
        message.bytes = bytes > 0 ? (uint64_t)bytes : 0;
        if (file->trace->version >= GROUPED_VERSION) {
            (void)take_int(in);
        }
        wf_buf_append(&log->messages, &message, sizeof(message));
        log->n_messages++;
    }
}

/* Events within the log: nothing that is simulated. */
static void skip_events(struct wf_infile *in)
{
    uint32_t n = take_count(in);

    for (uint32_t i = 0; i < n && !in->failed; i++) {
        int64_t type = wf_infile_signed(in, 1);
        (void)take_double(in);
        if (type == 1) {
            (void)take_int(in);
        } else if (type == 2 || type == 3) {
            wf_infile_skip(in, take_count(in));
        }
    }
}

static void take_before(struct wf_infile *in, struct wf_bigsim_log *log)
{
    uint32_t n = take_count(in);

    log->n_before = 0;
    log->before.size = 0;
    for (uint32_t i = 0; i < n && !in->failed; i++) {
        uint32_t number = (uint32_t)take_int(in);
        wf_buf_append(&log->before, &number, sizeof(number));
        log->n_before++;
    }
    n = take_count(in);
    wf_infile_skip(in, (uint64_t)n * INT); /* what follows says the same again */
}

static void take_head(struct wf_bigsim_file *file, struct wf_bigsim_log *log)
{
    struct wf_infile *in = &file->in;
    int32_t version = file->trace->version;

    (void)take_int(in);
    (void)take_int(in);
    log->source = take_int(in);
    log->message = take_int(in);
    if (version >= CALLS_VERSION) {
        wf_infile_skip(in, SHORT + INT);
    }
    if (version >= ENTRY_VERSION) {
        wf_infile_skip(in, SHORT);
    }
    wf_infile_skip(in, UINT64_C(2) * DOUBLE);
    log->start = take_double(in);
    log->duration = take_double(in);
    wf_infile_skip(in, DOUBLE);
    log->flags = (unsigned)wf_infile_unsigned(in, 1);
    memcpy(log->name, wf_infile_bytes(in, WF_BIGSIM_NAME_BYTES), WF_BIGSIM_NAME_BYTES);
    log->name[WF_BIGSIM_NAME_BYTES] = '\0';
    if (version >= THREE_NUMBERS_VERSION) {
        wf_infile_skip(in, (version >= FOUR_NUMBERS_VERSION ? UINT64_C(4) : UINT64_C(3)) * INT);
    }
}

static const char *fault_of(const struct wf_bigsim_file *file, const struct wf_bigsim_log *log)
{
    const uint32_t *before = (const uint32_t *)(const void *)log->before.data;

    if (!(log->duration >= 0) || log->duration > SECONDS_MAX || !isfinite(log->start)) {
        return "a log whose times make no sense";
    }
    if (log->source < -1 || (log->source >= 0 && (uint32_t)log->source >= file->trace->n_pes)) {
        return "a log that a PE starts which is not there";
    }
    for (uint32_t i = 0; i < log->n_before; i++) {
        if (before[i] >= file->n) {
            return "a log that waits for one which is not there";
        }
    }
    return NULL;
}

enum wf_status wf_bigsim_next(struct wf_bigsim_file *file, struct wf_bigsim_log *log,
                              bool *more, struct wf_err *err)
{
    *more = file->next < file->n;
    if (!*more) {
        return WF_OK;
    }
    log->offset = wf_infile_at(&file->in);
    take_head(file, log);
    take_messages(file, log);
    skip_events(&file->in);
    take_before(&file->in, log);
    if (file->in.failed) {
        return wf_bigsim_bad(file, log->offset, err,
                             "log %" PRIu32 " of %" PRIu32
                             " is truncated or damaged; the file has %" PRIu64 " bytes",
                             file->next, file->n, file->in.size);
    }
    file->used += wf_infile_at(&file->in) - log->offset;
    const char *fault =
        file->used > file->in.size ? "a log that another PE has too" : fault_of(file, log);
    if (fault != NULL) {
        return wf_bigsim_bad(file, log->offset, err, "%s (log %" PRIu32 ")", fault, file->next);
    }
    file->next++;
    return WF_OK;
}
