/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/dumpi/file.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const unsigned char wf_dumpi_magic[WF_DUMPI_MAGIC_BYTES] = {0xff, 0xaa, 0xdd, 'D',
                                                            'U',  'M',  'P',  'I'};

enum {
    INDEX_WORDS = 8, /* at the end of the file, at most */
    VERSION_LAST = 13,
    MASK_STATUS = 3,
    MASK_CPU = 4,
    MASK_WALL = 8,
    MASK_THREAD = 0x40,
    MASK_COUNTERS = 0x80,
    END_OF_STREAM = 293,
    SIZES_MAX = 1 << 16,
    SECONDS_WRAP = 65536,
};

#define NS_PER_S INT64_C(1000000000)

enum wf_status wf_dumpi_bad(const struct wf_dumpi_file *file, uint64_t offset,
                            struct wf_err *err, const char *fmt, ...)
{
    char words[256];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(words, sizeof(words), fmt, args);
    va_end(args);
    return wf_err_set(err, WF_EINVAL, "%.200s: byte %" PRIu64 ", rank %" PRIu32 ": %s",
                      file->in.place.path, offset, file->rank, words);
}

/* ---- tables ---- */

/* The index: where things are, behind the magic number. */
struct places {
    uint64_t sizes, header, body, footer;
};

static enum wf_status check_magic(struct wf_dumpi_file *file, struct wf_err *err)
{
    const unsigned char *bytes = wf_infile_bytes(&file->in, WF_DUMPI_MAGIC_BYTES);

    if (!file->in.failed && memcmp(bytes, wf_dumpi_magic, WF_DUMPI_MAGIC_BYTES) == 0) {
        return WF_OK;
    }
    bool swapped = true;
    for (int i = 0; i < WF_DUMPI_MAGIC_BYTES; i++) {
        swapped = swapped && bytes[i] == wf_dumpi_magic[WF_DUMPI_MAGIC_BYTES - 1 - i];
    }
    return wf_dumpi_bad(
        file, 0, err, "%s",
        swapped           ? "the bytes of its numbers are in the wrong order; DUMPI files have "
                            "the most significant first"
        : file->in.failed ? "the file ends within its first 8 bytes"
                          : "no file of a DUMPI trace: it does not begin as one");
}

/* The index is as long as the version of the writer had things to point to. */
static enum wf_status read_places(struct wf_dumpi_file *file, struct places *places,
                                  struct wf_err *err)
{
    uint64_t words[INDEX_WORDS], magic = 0;
    uint64_t bytes = sizeof(words), size = file->in.size;

    for (int i = 0; i < WF_DUMPI_MAGIC_BYTES; i++) {
        magic = magic << 8 | wf_dumpi_magic[i];
    }
    wf_infile_seek(&file->in, size > bytes ? size - bytes : size);
    for (int i = 0; i < INDEX_WORDS; i++) {
        words[i] = wf_infile_unsigned(&file->in, 8);
    }
    int first = 0;
    while (first < 4 && words[first] != magic) {
        first++;
    }
    if (file->in.failed || first == 4) {
        return wf_dumpi_bad(file, size, err,
                            "the index that ends each file is not there: the file is "
                            "truncated, or the program did not reach MPI_Finalize");
    }
    *places = (struct places){.sizes = first == 0 ? words[1] : 0,
                              .header = words[4],
                              .body = words[5],
                              .footer = words[6]};
    const uint64_t all[] = {places->sizes, places->header, places->body};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (all[i] > size - 8 * (uint64_t)(INDEX_WORDS - first) ||
            (i > 0 && all[i] < WF_DUMPI_MAGIC_BYTES)) {
            return wf_dumpi_bad(file, size - 8 * (uint64_t)(INDEX_WORDS - first), err,
                                "the index points to byte %" PRIu64 ", which is not inside",
                                all[i]);
        }
    }
    return WF_OK;
}

static enum wf_status read_version(struct wf_dumpi_file *file, uint64_t offset,
                                   struct wf_err *err)
{
    wf_infile_seek(&file->in, offset);
    file->version = (uint32_t)wf_infile_unsigned(&file->in, 3);
    if (file->in.failed) {
        return wf_dumpi_bad(file, offset, err, "the file ends within its header");
    }
    if (file->version >> 16 > VERSION_LAST) {
        return wf_dumpi_bad(
            file, offset, err, "version %u.%u.%u of the format; known are those up to %d",
            file->version >> 16, file->version >> 8 & 0xff, file->version & 0xff, VERSION_LAST);
    }
    return WF_OK;
}

static enum wf_status read_sizes(struct wf_dumpi_file *file, uint64_t offset,
                                 struct wf_err *err)
{
    if (offset == 0) {
        return WF_OK;
    }
    wf_infile_seek(&file->in, offset);
    uint64_t n = wf_infile_unsigned(&file->in, 4);
    if (file->in.failed || n > SIZES_MAX || n * 4 > wf_infile_left(&file->in)) {
        return wf_dumpi_bad(file, offset, err,
                            "the table of datatypes does not fit into the file");
    }
    file->sizes = wf_xcalloc(n + 1, sizeof(*file->sizes));
    for (file->n_sizes = 0; file->n_sizes < n; file->n_sizes++) {
        int64_t size = wf_infile_signed(&file->in, 4);
        if (size < 0) {
            return wf_dumpi_bad(file, wf_infile_at(&file->in) - 4, err,
                                "datatype %" PRIu32 " has a negative size", file->n_sizes);
        }
        file->sizes[file->n_sizes] = (int32_t)size;
    }
    return WF_OK;
}

/* How many calls were made and not recorded: the last of the second table of counts. */
static void read_footer(struct wf_dumpi_file *file, uint64_t offset)
{
    enum { COUNTS = 291 };

    if (offset == 0 || offset > file->in.size || file->in.size - offset < 8 + 8 * COUNTS) {
        return;
    }
    wf_infile_seek(&file->in, offset);
    if (wf_infile_unsigned(&file->in, 8) == UINT64_C(0xf007fee7)) {
        wf_infile_skip(&file->in, UINT64_C(4) * (2 * COUNTS - 1));
        file->n_ignored = wf_infile_unsigned(&file->in, 4);
    }
}

void wf_dumpi_file_rewind(struct wf_dumpi_file *file)
{
    memset(file->wrapped, 0, sizeof(file->wrapped));
    memset(file->latest, 0, sizeof(file->latest));
    wf_infile_seek(&file->in, file->offset_of_body);
    for (uint32_t clock = WF_DUMPI_CLOCKS; clock-- > 0;) { /* that of the CPU is the first */
        file->wrapped[clock] = (int64_t)wf_infile_unsigned(&file->in, 4) * NS_PER_S;
    }
}

enum wf_status wf_dumpi_file_open(struct wf_dumpi_file *file, const char *path, uint32_t rank,
                                  struct wf_err *err)
{
    struct places places = {.body = 0};

    *file = (struct wf_dumpi_file){.rank = rank};
    enum wf_status status = wf_infile_open(&file->in, path, err);
    if (status == WF_OK) {
        status = check_magic(file, err);
    }
    if (status == WF_OK) {
        status = read_places(file, &places, err);
    }
    if (status == WF_OK) {
        status = read_version(file, places.header, err);
    }
    if (status == WF_OK) {
        status = read_sizes(file, places.sizes, err);
    }
    if (status != WF_OK) {
        wf_dumpi_file_close(file);
        return status;
    }
    file->offset_of_body = places.body;
    read_footer(file, places.footer);
    wf_dumpi_file_rewind(file);
    return WF_OK;
}

void wf_dumpi_file_close(struct wf_dumpi_file *file)
{
    wf_infile_close(&file->in);
    free(file->sizes);
    wf_buf_fini(&file->numbers);
    wf_buf_fini(&file->statuses);
    *file = (struct wf_dumpi_file){.rank = 0};
}

/* ---- arguments ---- */

/* How many elements an array has; each takes at least `width` bytes, so that no number is
 * believed that does not fit into the file. */
static uint32_t read_length(struct wf_infile *in, unsigned width)
{
    uint64_t n = wf_infile_unsigned(in, 4);

    if (n > wf_infile_left(in) / width || n > INT32_MAX) {
        in->failed = true;
        return 0;
    }
    return (uint32_t)n;
}

static void read_array(struct wf_dumpi_file *file, struct wf_dumpi_record *record,
                       unsigned width)
{
    uint32_t n = read_length(&file->in, width);

    /* The place is known only when the buffer has its final size: see wf_dumpi_file_next(). */
    if (record->n_arrays < WF_DUMPI_ARRAYS_MAX) {
        record->arrays[record->n_arrays++] = (struct wf_dumpi_array){NULL, n};
        int32_t *items = wf_buf_extend(&file->numbers, (size_t)n * sizeof(*items));
        for (uint32_t i = 0; i < n; i++) {
            items[i] = (int32_t)wf_infile_signed(&file->in, width);
        }
    } else {
        wf_infile_skip(&file->in, (uint64_t)n * width);
    }
}

static void skip_text(struct wf_infile *in)
{
    wf_infile_skip(in, read_length(in, 1));
}

static void skip_texts(struct wf_infile *in)
{
    for (uint32_t n = read_length(in, 4); n > 0 && !in->failed; n--) {
        skip_text(in);
    }
}

static void skip_lists(struct wf_infile *in, bool of_texts)
{
    for (uint32_t n = read_length(in, 4); n > 0 && !in->failed; n--) {
        if (of_texts) {
            skip_texts(in);
        } else {
            wf_infile_skip(in, (uint64_t)read_length(in, 4) * 4);
        }
    }
}

static void read_statuses(struct wf_dumpi_file *file, struct wf_dumpi_record *record)
{
    bool has_tag = file->version >= 0x000603;
    uint32_t n = read_length(&file->in, has_tag ? 14 : 10);

    file->statuses.size = 0;
    struct wf_dumpi_status *status =
        wf_buf_extend(&file->statuses, ((size_t)n + 1) * sizeof(*status));
    record->statuses = status;
    record->n_statuses = n;
    for (uint32_t i = 0; i < n; i++, status++) {
        status->bytes = (int32_t)wf_infile_signed(&file->in, 4);
        status->source = (int32_t)wf_infile_signed(&file->in, 4);
        status->cancelled = wf_infile_unsigned(&file->in, 1) != 0;
        (void)wf_infile_unsigned(&file->in, 1);
        status->tag = has_tag ? (int32_t)wf_infile_signed(&file->in, 4) : -1;
    }
}

/* What the layout of a record remembers from one argument to the next. */
struct reading {
    struct wf_dumpi_file *file;
    struct wf_dumpi_record *record;
    uint64_t mask;
    int64_t rank, root;
};

static void read_value(struct reading *r, unsigned width, bool is_signed)
{
    struct wf_infile *in = &r->file->in;
    int64_t value =
        is_signed ? wf_infile_signed(in, width) : (int64_t)wf_infile_unsigned(in, width);

    if (r->record->n_values < WF_DUMPI_VALUES_MAX) {
        r->record->values[r->record->n_values++] = value;
    }
}

static void read_old_array(struct reading *r, uint32_t since)
{
    if (r->file->version < since) {
        read_value(r, 4, true);
    } else {
        read_array(r->file, r->record, 4);
    }
}

static void read_field(struct reading *r, char letter)
{
    struct wf_infile *in = &r->file->in;

    switch (letter) {
    case 'b':
        read_value(r, 1, false);
        break;
    case 'h':
        read_value(r, 2, true);
        break;
    case 'k':
    case 'o':
    case 'i':
        read_value(r, 4, true);
        break;
    case 'l':
        read_value(r, 8, true);
        break;
    case 'B':
        read_array(r->file, r->record, 1);
        break;
    case 'H':
        read_array(r->file, r->record, 2);
        break;
    case 'I':
        read_array(r->file, r->record, 4);
        break;
    case 'x':
        read_old_array(r, 0x000609);
        break;
    case 'y':
        read_old_array(r, 0x000608);
        break;
    case 's':
        if ((r->mask & MASK_STATUS) != 0) {
            read_statuses(r->file, r->record);
        }
        break;
    case 'c':
        skip_text(in);
        break;
    case 'v':
        if (r->file->version < 0x000602) {
            wf_infile_skip(in, 4);
        }
        skip_texts(in);
        break;
    case 'C':
        skip_texts(in);
        break;
    default: /* M and W */
        skip_lists(in, letter == 'W');
        break;
    }
}

static void read_fields(struct reading *r, const char *fields)
{
    for (const char *letter = fields; *letter != '\0' && !r->file->in.failed; letter++) {
        if (*letter == '?') {
            letter++;
            if (r->rank != r->root) {
                continue;
            }
        }
        read_field(r, *letter);
        if (*letter == 'k') {
            r->rank = r->record->values[r->record->n_values - 1];
        } else if (*letter == 'o') {
            r->root = r->record->values[r->record->n_values - 1];
        }
    }
    r->record->at_root = r->rank == r->root;
}

/* ---- records ---- */

static int64_t read_time(struct wf_dumpi_file *file, uint32_t clock)
{
    int64_t seconds = (int64_t)wf_infile_unsigned(&file->in, 2);
    int64_t ns = seconds * NS_PER_S + (int64_t)wf_infile_unsigned(&file->in, 4);

    /* Seconds begin again at 0; a little back is only another thread's call. */
    if (ns + file->wrapped[clock] < file->latest[clock] - SECONDS_WRAP / 2 * NS_PER_S) {
        file->wrapped[clock] += SECONDS_WRAP * NS_PER_S;
    }
    ns += file->wrapped[clock];
    file->latest[clock] = ns > file->latest[clock] ? ns : file->latest[clock];
    return ns;
}

static void read_head(struct wf_dumpi_file *file, struct wf_dumpi_record *record, uint64_t mask)
{
    struct wf_infile *in = &file->in;

    if ((mask & MASK_THREAD) != 0) {
        record->thread = (int16_t)wf_infile_signed(in, 2);
    }
    for (uint32_t clock = WF_DUMPI_CLOCKS; clock-- > 0;) { /* that of the CPU is the first */
        if ((mask & (clock == WF_DUMPI_CPU ? MASK_CPU : MASK_WALL)) != 0) {
            record->has_time[clock] = true;
            record->begin[clock] = read_time(file, clock);
            record->end[clock] = read_time(file, clock);
        }
    }
    if ((mask & MASK_COUNTERS) != 0) {
        wf_infile_skip(in, wf_infile_unsigned(in, 1) * 16);
    }
}

static void place_arrays(struct wf_dumpi_file *file, struct wf_dumpi_record *record)
{
    const int32_t *at = (const int32_t *)(const void *)file->numbers.data;

    for (uint32_t i = 0; i < record->n_arrays; i++) {
        record->arrays[i].items = at;
        at += record->arrays[i].n;
    }
}

enum wf_status wf_dumpi_file_next(struct wf_dumpi_file *file, struct wf_dumpi_record *record,
                                  bool *more, struct wf_err *err)
{
    *record = (struct wf_dumpi_record){.offset = wf_infile_at(&file->in)};
    record->function = (uint32_t)wf_infile_unsigned(&file->in, 2);
    *more = record->function != END_OF_STREAM || file->in.failed;
    if (!*more) {
        return WF_OK;
    }
    const struct wf_dumpi_layout *layout = wf_dumpi_layout(record->function);
    if (layout == NULL && !file->in.failed) {
        return wf_dumpi_bad(file, record->offset, err, "unknown call number %" PRIu32,
                            record->function);
    }
    struct reading r = {.file = file, .record = record, .rank = -1, .root = -2};
    r.mask = wf_infile_unsigned(&file->in, 1);
    read_head(file, record, r.mask);
    file->numbers.size = 0;
    wf_buf_reserve(&file->numbers, 1);
    if (layout != NULL) {
        read_fields(&r, layout->fields);
    }
    if (file->in.failed) {
        return wf_dumpi_bad(file, record->offset, err, "the file ends within this record%s%s",
                            layout != NULL ? " of " : "", layout != NULL ? layout->name : "");
    }
    place_arrays(file, record);
    return WF_OK;
}
