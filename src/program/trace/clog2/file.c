/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/clog2/file.h"

#include "program/trace/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    PREAMBLE_BYTES = 1024,
    HEAD_BYTES = 24,
    BLOCK_MIN = 512,
    BLOCK_MAX = 1 << 30,
    TIME_MAX = 4000000, /* seconds; the difference of two times fits into wf times */
};

#define VERSION "CLOG-02.44"

/* For each kind of record, its size in bytes without the head, and how many of the 4-byte
 * numbers at its beginning are used. */
static const struct {
    uint8_t bytes, n_values;
} shapes[WF_CLOG2_TYPES] = {
    [WF_CLOG2_ENDLOG] = {0, 0},     [WF_CLOG2_ENDBLOCK] = {0, 0},
    [WF_CLOG2_STATEDEF] = {112, 3}, [WF_CLOG2_EVENTDEF] = {104, 1},
    [WF_CLOG2_CONSTDEF] = {40, 2},  [WF_CLOG2_BAREEVT] = {8, 1},
    [WF_CLOG2_CARGOEVT] = {40, 1},  [WF_CLOG2_MSGEVT] = {24, 5},
    [WF_CLOG2_COLLEVT] = {16, 3},   [WF_CLOG2_COMMEVT] = {48, 4},
    [WF_CLOG2_SRCLOC] = {48, 0},    [WF_CLOG2_TIMESHIFT] = {8, 0},
};

/* ---- the preamble ---- */

/* Returns the value of a name, or null. The preamble consists of null-terminated texts: a
 * version, then names and values in turn. */
static const char *find_value(const char *text, const char *name)
{
    const char *end = text + PREAMBLE_BYTES;

    for (const char *at = text; at < end; at += strlen(at) + 1) {
        if (strcmp(at, name) == 0) {
            at += strlen(at) + 1;
            return at < end ? at : NULL;
        }
    }
    return NULL;
}

static uint64_t read_count(const struct wf_clog2_file *file, const char *text, const char *name,
                           uint64_t min, uint64_t max)
{
    const char *value = find_value(text, name);
    char *end = NULL;

    errno = 0;
    unsigned long long number = value != NULL ? strtoull(value, &end, 10) : 0;
    if (value == NULL || end == value || errno != 0 || number < min || number > max) {
        wf_trace_bad(&file->in.place,
                     "the preamble must have '%s' and a number from %" PRIu64 " to %" PRIu64
                     ", but has '%.40s'",
                     name, min, max, value != NULL ? value : "");
    }
    return number;
}

static bool is_true(const char *value)
{
    return value != NULL && strncmp(value, "TRUE", 4) == 0;
}

static void read_preamble(struct wf_clog2_file *file)
{
    const struct wf_trace_place *place = &file->in.place;
    char text[PREAMBLE_BYTES + 1];

    memcpy(text, wf_infile_bytes(&file->in, PREAMBLE_BYTES), PREAMBLE_BYTES);
    text[PREAMBLE_BYTES] = '\0';
    if (file->in.failed) {
        wf_trace_bad(place, "the file ends within its preamble, at byte %" PRIu64,
                     file->in.size);
    }
    if (strcmp(text, VERSION) != 0) {
        wf_trace_bad(place, "version '%.20s' of the format; known is " VERSION, text);
    }
    const char *big = find_value(text, "is_big_endian=");
    if (!is_true(big) && (big == NULL || strncmp(big, "FALSE", 5) != 0)) {
        wf_trace_bad(place, "the preamble does not say the order of bytes (is_big_endian)");
    }
    file->in.swapped = !is_true(big);
    if (!is_true(find_value(text, "is_finalzed="))) {
        wf_trace_bad(place, "the log was not finished: the program did not reach MPI_Finalize");
    }
    file->block_bytes = read_count(file, text, "block_size=", BLOCK_MIN, BLOCK_MAX);
    file->n_ranks = (uint32_t)read_count(file, text, "max_comm_world_size=", 1, WF_RANKS_MAX);
}

void wf_clog2_open(struct wf_clog2_file *file, const char *path, struct wf_err *err)
{
    *file = (struct wf_clog2_file){.n_ranks = 0};
    if (wf_infile_open(&file->in, path, err) == WF_OK) {
        file->in.place.unit = "rank";
        read_preamble(file);
        wf_clog2_rewind(file);
    }
}

void wf_clog2_close(struct wf_clog2_file *file)
{
    wf_infile_close(&file->in);
}

/* ---- records ---- */

void wf_clog2_rewind(struct wf_clog2_file *file)
{
    wf_infile_seek(&file->in, PREAMBLE_BYTES);
    file->block_end = PREAMBLE_BYTES + file->block_bytes;
}

static double read_double(struct wf_infile *in)
{
    uint64_t bits = wf_infile_unsigned(in, 8);
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static void read_body(struct wf_clog2_file *file, struct wf_clog2_record *record)
{
    enum { STATE_NAME = 40, VALUE_BYTES = 4 };
    uint64_t begin = wf_infile_at(&file->in);
    uint32_t bytes = shapes[record->type].bytes;

    for (uint32_t i = 0; i < shapes[record->type].n_values; i++) {
        record->values[i] = (int32_t)wf_infile_signed(&file->in, VALUE_BYTES);
    }
    if (record->type == WF_CLOG2_STATEDEF) {
        wf_infile_skip(&file->in, STATE_NAME - (wf_infile_at(&file->in) - begin));
        memcpy(record->name, wf_infile_bytes(&file->in, WF_CLOG2_NAME_BYTES),
               WF_CLOG2_NAME_BYTES);
        record->name[WF_CLOG2_NAME_BYTES] = '\0';
    }
    if (!file->in.failed) {
        wf_infile_skip(&file->in, bytes - (wf_infile_at(&file->in) - begin));
    }
}

static void read_record(struct wf_clog2_file *file, struct wf_clog2_record *record)
{
    struct wf_infile *in = &file->in;

    *record = (struct wf_clog2_record){.type = WF_CLOG2_ENDLOG};
    if (wf_trace_failed(in->place.err)) {
        return;
    }
    in->place.byte = wf_infile_at(in);
    record->time = read_double(in);
    record->comm = (int32_t)wf_infile_signed(in, 4);
    record->rank = (int32_t)wf_infile_signed(in, 4);
    (void)wf_infile_signed(in, 4);
    record->type = (uint32_t)wf_infile_unsigned(in, 4);
    if (in->failed) {
        wf_trace_bad(&in->place, "the log ends without its last record");
        return;
    }
    in->place.rank = record->rank;
    /* A small number that is read in the wrong byte order has zeros in its low three bytes. */
    if (record->type >= WF_CLOG2_TYPES && record->type << 8 == 0) {
        wf_trace_bad(&in->place, "the bytes of its numbers are in the other order than "
                                 "is_big_endian at its beginning says");
    }
    if (record->type >= WF_CLOG2_TYPES) {
        wf_trace_bad(&in->place, "unknown type %" PRIu32 " of a record", record->type);
        return;
    }
    read_body(file, record);
    /* The times of other records are not used, and may have any value. */
    bool timed = record->type >= WF_CLOG2_BAREEVT && record->type <= WF_CLOG2_MSGEVT;
    if (in->failed) {
        wf_trace_bad(&in->place, "the log ends within this record");
    } else if (wf_infile_at(in) > file->block_end) {
        wf_trace_bad(&in->place, "a record does not fit into its block");
    } else if (timed && !(record->time > -TIME_MAX && record->time < TIME_MAX)) {
        wf_trace_bad(&in->place, "a time of %g seconds; known are times below %d", record->time,
                     TIME_MAX);
    }
}

bool wf_clog2_next(struct wf_clog2_file *file, struct wf_clog2_record *record)
{
    read_record(file, record);
    while (record->type == WF_CLOG2_ENDBLOCK && !wf_trace_failed(file->in.place.err)) {
        wf_infile_seek(&file->in, file->block_end);
        file->block_end += file->block_bytes;
        read_record(file, record);
    }
    return record->type != WF_CLOG2_ENDLOG && !wf_trace_failed(file->in.place.err);
}
