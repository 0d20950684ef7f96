/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/bigsim/file.h"

#include "base/text.h"
#include "program/trace/reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const unsigned char wf_bigsim_magic[WF_BIGSIM_MAGIC_BYTES] = {0x10, 0xEA, 0xBD, 0xF9};

enum {
    INT = 4,
    SHORT = 2,
    DOUBLE = 8,
    MACHINE_BYTES = 12, /* after the magic number */
    TABLE_AT = 20,      /* offset of the table of PEs, after their number */
    SUMMARY_MAX = 64,
    VERSION_MAX = 6,
    GROUPED_VERSION = 1, /* the first version with message groups; likewise below */
    THREE_NUMBERS_VERSION = 2,
    FOUR_NUMBERS_VERSION = 3,
    ENTRY_VERSION = 4,
    CALLS_VERSION = 6,
};

#define SECONDS_MAX 9.0e6 /* longer times do not fit into picoseconds */

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

/* Reads and checks the description of the machine that wrote the file. */
static void take_machine(struct wf_infile *in)
{
    unsigned char words[MACHINE_BYTES];
    const unsigned char *bytes = wf_infile_bytes(in, WF_BIGSIM_MAGIC_BYTES);

    if (in->failed || memcmp(bytes, wf_bigsim_magic, WF_BIGSIM_MAGIC_BYTES) != 0) {
        wf_trace_bad(&in->place, "this is no file of a BigSim trace");
        return;
    }
    memcpy(words, wf_infile_bytes(in, MACHINE_BYTES), MACHINE_BYTES);
    /* Version 1 has the size of one more type before the formats. */
    const unsigned char *formats = words + 5 + (words[0] & 1);
    in->place.byte = 4;
    if (in->failed) {
        wf_trace_bad(&in->place, "the file is truncated at byte %" PRIu64, in->size);
    } else if (words[0] > 1) {
        wf_trace_bad(&in->place, "version %u of the encoding; 0 and 1 are known", words[0]);
    } else if (words[2] != SHORT || words[3] != INT || formats[2] != DOUBLE || formats[0] > 1 ||
               formats[0] != formats[3]) {
        wf_trace_bad(&in->place,
                     "the machine that wrote this file has unknown numbers: known are "
                     "short, int and double of 2, 4 and 8 bytes in one order");
    }
    in->swapped = formats[0] == 1;
}

/* ---- the summary ---- */

static void read_summary(struct wf_bigsim_trace *trace, struct wf_infile *in)
{
    int64_t nodes = 1;

    take_machine(in);
    if (in->size > SUMMARY_MAX) {
        wf_trace_bad(&in->place,
                     "too long for the summary of a BigSim trace; name the file bgTrace or "
                     "its directory");
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
    if (in->failed) {
        wf_trace_bad(&in->place, "the file is truncated at byte %" PRIu64, in->size);
    }
    in->place.byte = 16;
    if (trace->n_pes == 0 || trace->n_pes >= WF_RANKS_MAX || trace->n_threads == 0 ||
        trace->n_files == 0 || trace->n_files > trace->n_pes || nodes <= 0 ||
        nodes > WF_RANKS_MAX || (uint64_t)nodes * trace->n_threads != trace->n_pes) {
        wf_trace_bad(&in->place,
                     "%" PRId32 " PEs on %" PRId64 " nodes of %" PRId32 " threads in %" PRId32
                     " files make no sense",
                     (int32_t)trace->n_pes, nodes, (int32_t)trace->n_threads,
                     (int32_t)trace->n_files);
    }
    in->place.byte = 52;
    if (trace->version < 0 || trace->version > VERSION_MAX) {
        wf_trace_bad(&in->place, "logs of version %" PRId32 "; 0 to %d are known",
                     trace->version, VERSION_MAX);
    }
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

void wf_bigsim_open(struct wf_bigsim_trace *trace, const char *path, struct wf_err *err)
{
    struct wf_infile in;

    *trace = (struct wf_bigsim_trace){.path = path};
    if (wf_infile_open(&in, path, err) == WF_OK) {
        read_summary(trace, &in);
    }
    wf_infile_close(&in);
    /* Accepts the number of PEs only if the files are large enough for so many. */
    for (uint32_t i = 0; i < trace->n_files && !wf_trace_failed(err); i++) {
        struct wf_bigsim_file file;
        wf_bigsim_file_open(&file, trace, i, err);
        wf_bigsim_file_close(&file);
    }
}

/* ---- files with logs ---- */

void wf_bigsim_file_open(struct wf_bigsim_file *file, const struct wf_bigsim_trace *trace,
                         uint32_t number, struct wf_err *err)
{
    struct wf_infile *in = &file->in;
    char *path = wf_text_make("%s%" PRIu32, trace->path, number);

    *file = (struct wf_bigsim_file){.trace = trace, .number = number};
    enum wf_status status = wf_infile_open(in, path, err);
    free(path);
    if (status != WF_OK) {
        return;
    }
    in->place.unit = "PE";
    in->place.rank = (int64_t)number * trace->n_threads;
    take_machine(in);
    file->n_pes = n_pes_in(trace, number);
    int32_t found = take_int(in);
    in->place.byte = TABLE_AT - INT;
    if (in->failed || (uint32_t)found != file->n_pes) {
        wf_trace_bad(&in->place, "the file has %" PRId32 " PEs, the summary says %" PRIu32,
                     found, file->n_pes);
    }
    if (wf_infile_left(in) / INT < file->n_pes) {
        wf_trace_bad(&in->place, "truncated at byte %" PRIu64 ", before its logs", in->size);
    }
}

void wf_bigsim_file_close(struct wf_bigsim_file *file)
{
    wf_infile_close(&file->in);
}

void wf_bigsim_pe(struct wf_bigsim_file *file, uint32_t pe)
{
    const struct wf_bigsim_trace *trace = file->trace;
    struct wf_infile *in = &file->in;
    uint32_t slot =
        pe / trace->n_threads / trace->n_files * trace->n_threads + pe % trace->n_threads;

    file->n = 0;
    file->next = 0;
    if (wf_trace_failed(in->place.err)) {
        return;
    }
    in->place.rank = pe;
    in->place.byte = TABLE_AT + (uint64_t)slot * INT;
    wf_infile_seek(in, in->place.byte);
    uint32_t offset = (uint32_t)take_int(in);
    if (offset < TABLE_AT + (uint64_t)file->n_pes * INT || offset >= in->size) {
        wf_trace_bad(&in->place,
                     "its logs begin at byte %" PRIu32 ", which is not there: the file "
                     "has %" PRIu64,
                     offset, in->size);
        return;
    }
    in->place.byte = offset;
    wf_infile_seek(in, offset);
    int32_t n = take_int(in);
    if (in->failed || n < 0) {
        wf_trace_bad(&in->place, "%s",
                     in->failed ? "truncated here" : "a negative number of logs");
        return;
    }
    file->n = (uint32_t)n;
}

/* ---- logs ---- */

void wf_bigsim_log_fini(struct wf_bigsim_log *log)
{
    wf_buf_fini(&log->messages);
    wf_buf_fini(&log->before);
}

/* Reads a count. Fails the file if it is negative. */
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

/* Skips the events within a log, which are not simulated. */
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
    wf_infile_skip(in, (uint64_t)n * INT); /* the inverse list: the logs after this one */
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
        return "a log has a start or a duration that is negative, infinite or too long";
    }
    if (log->source < -1 || (log->source >= 0 && (uint32_t)log->source >= file->trace->n_pes)) {
        return "a log is started by a PE that does not exist";
    }
    for (uint32_t i = 0; i < log->n_before; i++) {
        if (before[i] >= file->n) {
            return "a log waits for a log that does not exist";
        }
    }
    return NULL;
}

bool wf_bigsim_next(struct wf_bigsim_file *file, struct wf_bigsim_log *log)
{
    struct wf_infile *in = &file->in;

    if (file->next == file->n || wf_trace_failed(in->place.err)) {
        return false;
    }
    in->place.byte = wf_infile_at(in);
    take_head(file, log);
    take_messages(file, log);
    skip_events(in);
    take_before(in, log);
    if (in->failed) {
        wf_trace_bad(&in->place,
                     "log %" PRIu32 " of %" PRIu32
                     " is truncated or damaged; the file has %" PRIu64 " bytes",
                     file->next, file->n, in->size);
        return false;
    }
    file->used += wf_infile_at(in) - in->place.byte;
    const char *fault = file->used > in->size
                            ? "a log shares its bytes with a log of another PE"
                            : fault_of(file, log);
    if (fault != NULL) {
        wf_trace_bad(&in->place, "%s (log %" PRIu32 ")", fault, file->next);
        return false;
    }
    file->next++;
    return true;
}
