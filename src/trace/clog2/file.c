/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/clog2/file.h"

#include "trace/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PREAMBLE_BYTES = 1024,
    HEAD_BYTES = 24,
    BLOCK_MIN = 512,
    BLOCK_MAX = 1 << 30,
    TIME_MAX = 4000000, /* seconds; the difference of two fits into our times */
};

#define VERSION "CLOG-02.44"

/* The bytes of each kind of record behind its head, and how many numbers of 4 bytes it begins
 * with that matter. */
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

enum wf_status wf_clog2_bad(const struct wf_clog2_file *file, uint64_t offset,
                            struct wf_err *err, const char *fmt, ...)
{
    char words[256];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(words, sizeof(words), fmt, args);
    va_end(args);
    return wf_err_set(err, WF_EINVAL, "%.200s: byte %" PRIu64 ", rank %" PRId32 ": %s",
                      file->in.place.path, offset, file->rank, words);
}

/* ---- the preamble ---- */

/* Texts behind each other, each with its end: a version, then names and values. Null if there
 * is no such name. */
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

static enum wf_status read_count(const struct wf_clog2_file *file, const char *text,
                                 const char *name, uint64_t *out, struct wf_err *err)
{
    const char *value = find_value(text, name);
    char *end = NULL;

    errno = 0;
    unsigned long long number = value != NULL ? strtoull(value, &end, 10) : 0;
    if (value == NULL || end == value || errno != 0) {
        return wf_clog2_bad(file, 0, err, "the preamble has no number for '%s'", name);
    }
    *out = number;
    return WF_OK;
}

static bool is_true(const char *value)
{
    return value != NULL && strncmp(value, "TRUE", 4) == 0;
}

static enum wf_status read_preamble(struct wf_clog2_file *file, struct wf_err *err)
{
    char text[PREAMBLE_BYTES + 1];
    uint64_t n_ranks = 0;

    memcpy(text, wf_infile_bytes(&file->in, PREAMBLE_BYTES), PREAMBLE_BYTES);
    text[PREAMBLE_BYTES] = '\0';
    if (file->in.failed) {
        return wf_clog2_bad(file, file->in.size, err, "the file ends within its preamble");
    }
    if (strcmp(text, VERSION) != 0) {
        return wf_clog2_bad(file, 0, err, "version '%.20s' of the format; known is " VERSION,
                            text);
    }
    const char *big = find_value(text, "is_big_endian=");
    if (!is_true(big) && (big == NULL || strncmp(big, "FALSE", 5) != 0)) {
        return wf_clog2_bad(file, 0, err, "the preamble does not say the order of bytes");
    }
    file->in.swapped = !is_true(big);
    if (!is_true(find_value(text, "is_finalzed="))) {
        return wf_clog2_bad(file, 0, err,
                            "the log was not finished: the program did not reach MPI_Finalize");
    }
    enum wf_status status = read_count(file, text, "block_size=", &file->block_bytes, err);
    if (status == WF_OK) {
        status = read_count(file, text, "max_comm_world_size=", &n_ranks, err);
    }
    if (status == WF_OK && (file->block_bytes < BLOCK_MIN || file->block_bytes > BLOCK_MAX)) {
        status = wf_clog2_bad(file, 0, err, "blocks of %" PRIu64 " bytes", file->block_bytes);
    }
    if (status == WF_OK && (n_ranks == 0 || n_ranks > WF_RANKS_MAX)) {
        status = wf_clog2_bad(file, 0, err, "%" PRIu64 " ranks", n_ranks);
    }
    file->n_ranks = (uint32_t)n_ranks;
    return status;
}

enum wf_status wf_clog2_open(struct wf_clog2_file *file, const char *path, struct wf_err *err)
{
    *file = (struct wf_clog2_file){.n_ranks = 0};
    enum wf_status status = wf_infile_open(&file->in, path, err);
    if (status == WF_OK) {
        status = read_preamble(file, err);
    }
    if (status != WF_OK) {
        wf_clog2_close(file);
        return status;
    }
    wf_clog2_rewind(file);
    return WF_OK;
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
    file->rank = 0;
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

static enum wf_status read_record(struct wf_clog2_file *file, struct wf_clog2_record *record,
                                  struct wf_err *err)
{
    struct wf_infile *in = &file->in;

    *record = (struct wf_clog2_record){.offset = wf_infile_at(in)};
    record->time = read_double(in);
    record->comm = (int32_t)wf_infile_signed(in, 4);
    record->rank = (int32_t)wf_infile_signed(in, 4);
    (void)wf_infile_signed(in, 4);
    record->type = (uint32_t)wf_infile_unsigned(in, 4);
    if (in->failed) {
        return wf_clog2_bad(file, record->offset, err, "the log ends without its last record");
    }
    file->rank = record->rank;
    /* A small number of the other order has nothing but zeros in its last three bytes. */
    if (record->type >= WF_CLOG2_TYPES && record->type << 8 == 0) {
        return wf_clog2_bad(file, record->offset, err,
                            "the bytes of its numbers are in the other order than "
                            "is_big_endian at its beginning says");
    }
    if (record->type >= WF_CLOG2_TYPES) {
        return wf_clog2_bad(file, record->offset, err, "unknown type %" PRIu32 " of a record",
                            record->type);
    }
    read_body(file, record);
    if (in->failed) {
        return wf_clog2_bad(file, record->offset, err, "the log ends within this record");
    }
    if (wf_infile_at(in) > file->block_end) {
        return wf_clog2_bad(file, record->offset, err, "a record does not fit into its block");
    }
    /* Of others the time is anything. */
    bool timed = record->type >= WF_CLOG2_BAREEVT && record->type <= WF_CLOG2_MSGEVT;
    if (timed && !(record->time > -TIME_MAX && record->time < TIME_MAX)) {
        return wf_clog2_bad(file, record->offset, err, "a time that makes no sense");
    }
    return WF_OK;
}

enum wf_status wf_clog2_next(struct wf_clog2_file *file, struct wf_clog2_record *record,
                             bool *more, struct wf_err *err)
{
    enum wf_status status = read_record(file, record, err);

    while (status == WF_OK && record->type == WF_CLOG2_ENDBLOCK) {
        wf_infile_seek(&file->in, file->block_end);
        file->block_end += file->block_bytes;
        status = read_record(file, record, err);
    }
    *more = status == WF_OK && record->type != WF_CLOG2_ENDLOG;
    return status;
}
