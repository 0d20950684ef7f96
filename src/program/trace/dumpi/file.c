/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/dumpi/file.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const unsigned char wf_dumpi_magic[WF_DUMPI_MAGIC_BYTES] = {0xff, 0xaa, 0xdd, 'D',
                                                            'U',  'M',  'P',  'I'};
const unsigned char wf_dumpi_magic_swapped[WF_DUMPI_MAGIC_BYTES] = {'I', 'P',  'M',  'U',
                                                                    'D', 0xdd, 0xaa, 0xff};

enum {
    INDEX_WORDS = 8, /* largest index, at the end of the file */
    VERSION_LAST = 13,
    MASK_STATUS = 3,
    MASK_CPU = 4,
    MASK_WALL = 8,
    MASK_THREAD = 0x40,
    MASK_COUNTERS = 0x80,
    END_OF_STREAM = 293,
    SIZES_MAX = 1 << 16,
    SECONDS_WRAP = 65536,
    NUMBERS_BYTES = 4 * WF_DUMPI_VALUES_MAX + 8, /* of the numbers that a record begins with */
    TIME_BYTES = 6,
    HEAD_BYTES = 5 + 4 * TIME_BYTES, /* of a record, without counters */
    ITEMS_AT_ONCE = 1 << 12,
};

#define NS_PER_S INT64_C(1000000000)

/* ---- tables ---- */

static inline int32_t number_at(const unsigned char *b)
{
    return (int32_t)((uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]);
}

static inline uint64_t word_at(const unsigned char *b)
{
    return (uint64_t)(uint32_t)number_at(b) << 32 | (uint32_t)number_at(b + 4);
}

static inline uint32_t short_at(const unsigned char *b)
{
    return (uint32_t)b[0] << 8 | b[1];
}

/* The index, without its magic number: the offsets of the sections. */
struct places {
    uint64_t sizes, header, body, footer;
    uint64_t first; /* of the sections that are not read: the one that comes first, or 0 */
};

static void check_magic(struct wf_infile *in)
{
    const unsigned char *bytes = wf_infile_bytes(in, WF_DUMPI_MAGIC_BYTES);

    if (in->failed) {
        wf_trace_bad(&in->place, "the file ends within its first 8 bytes");
    } else if (memcmp(bytes, wf_dumpi_magic_swapped, WF_DUMPI_MAGIC_BYTES) == 0) {
        wf_trace_bad(&in->place, "the bytes of its numbers are in the wrong order; DUMPI files "
                                 "have the most significant first");
    } else if (memcmp(bytes, wf_dumpi_magic, WF_DUMPI_MAGIC_BYTES) != 0) {
        wf_trace_bad(&in->place, "no file of a DUMPI trace: it does not begin as one");
    }
}

/* Reads the index, whose length depends on the version that wrote the file. */
static void read_places(struct wf_infile *in, struct places *places)
{
    uint64_t words[INDEX_WORDS], magic = 0;
    uint64_t bytes = sizeof(words);

    for (int i = 0; i < WF_DUMPI_MAGIC_BYTES; i++) {
        magic = magic << 8 | wf_dumpi_magic[i];
    }
    wf_infile_seek(in, in->size > bytes ? in->size - bytes : in->size);
    for (int i = 0; i < INDEX_WORDS; i++) {
        words[i] = wf_infile_unsigned(in, 8);
    }
    int first = 0;
    while (first < 4 && words[first] != magic) {
        first++;
    }
    in->place.byte = in->size;
    if (in->failed || first == 4) {
        wf_trace_bad(&in->place, "the index that ends each file is not there: the file is "
                                 "truncated, or the program did not reach MPI_Finalize");
        return;
    }
    *places = (struct places){.sizes = first == 0 ? words[1] : 0,
                              .header = words[4],
                              .body = words[5],
                              .footer = words[6]};
    for (int i = 2; i < 4; i++) { /* addresses and counters */
        bool is_there = i > first && words[i] != 0;
        if (is_there && (places->first == 0 || words[i] < places->first)) {
            places->first = words[i];
        }
    }
    in->place.byte = in->size - 8 * (uint64_t)(INDEX_WORDS - first);
    const uint64_t all[] = {places->sizes, places->header, places->body};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (all[i] > in->place.byte || (i > 0 && all[i] < WF_DUMPI_MAGIC_BYTES)) {
            wf_trace_bad(&in->place,
                         "the index points to byte %" PRIu64 ", which is not inside the file",
                         all[i]);
        }
    }
}

static void read_version(struct wf_dumpi_file *file, uint64_t offset)
{
    struct wf_infile *in = &file->in;

    in->place.byte = offset;
    wf_infile_seek(in, offset);
    file->version = (uint32_t)wf_infile_unsigned(in, 3);
    if (in->failed) {
        wf_trace_bad(&in->place, "the file ends within its header");
    } else if (file->version >> 16 > VERSION_LAST) {
        wf_trace_bad(&in->place, "version %u.%u.%u of the format; known are those up to %d",
                     file->version >> 16, file->version >> 8 & 0xff, file->version & 0xff,
                     VERSION_LAST);
    }
}

static void read_sizes(struct wf_dumpi_file *file, uint64_t offset)
{
    struct wf_infile *in = &file->in;

    if (offset == 0 || wf_trace_failed(in->place.err)) {
        return;
    }
    in->place.byte = offset;
    wf_infile_seek(in, offset);
    uint64_t n = wf_infile_unsigned(in, 4);
    if (in->failed || n > SIZES_MAX || n * 4 > wf_infile_left(in)) {
        wf_trace_bad(&in->place, "the table of datatypes does not fit into the file");
        return;
    }
    file->sizes = wf_xcalloc(n + 1, sizeof(*file->sizes));
    for (file->n_sizes = 0; file->n_sizes < n; file->n_sizes++) {
        int64_t size = wf_infile_signed(in, 4);
        if (size < 0) {
            in->place.byte = wf_infile_at(in) - 4;
            wf_trace_bad(&in->place, "datatype %" PRIu32 " has a negative size", file->n_sizes);
            return;
        }
        file->sizes[file->n_sizes] = (int32_t)size;
    }
}

/* Reads the number of calls that were made but not recorded: the last entry of the second table
 * of counts. */
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
    for (uint32_t clock = WF_DUMPI_CLOCKS; clock-- > 0;) { /* the CPU's clock comes first */
        file->wrapped[clock] = (int64_t)wf_infile_unsigned(&file->in, 4) * NS_PER_S;
    }
}

void wf_dumpi_file_open(struct wf_dumpi_file *file, const char *path, uint32_t rank,
                        const struct wf_dumpi_plans *plans, struct wf_err *err)
{
    struct places places = {.body = 0};

    *file = (struct wf_dumpi_file){.plans = plans};
    if (wf_trace_failed(err) || wf_infile_open(&file->in, path, err) != WF_OK) {
        file->in.place.err = err;
        return;
    }
    file->in.place.unit = "rank";
    file->in.place.rank = rank;
    check_magic(&file->in);
    read_places(&file->in, &places);
    read_version(file, places.header);
    read_sizes(file, places.sizes);
    file->offset_of_body = places.body;
    memcpy(file->sections,
           (const uint64_t[]){places.sizes, places.header, places.footer, places.first},
           sizeof(file->sections));
    read_footer(file, places.footer);
    wf_dumpi_file_rewind(file);
}

void wf_dumpi_file_close(struct wf_dumpi_file *file)
{
    wf_infile_close(&file->in);
    free(file->sizes);
    wf_buf_fini(&file->numbers);
    wf_buf_fini(&file->statuses);
    *file = (struct wf_dumpi_file){.version = 0};
}

/* ---- arguments ---- */

/* The state of reading the arguments of a record. */
struct reading {
    struct wf_dumpi_file *file;
    struct wf_dumpi_record *record;
    uint64_t mask;
    int64_t rank, root;
    bool skims; /* over arrays and statuses */
};

/* Reads the length of an array whose elements take at least `width` bytes each. Fails if so
 * many elements do not fit into the file. */
static uint32_t read_length(struct wf_infile *in, unsigned width)
{
    uint64_t n = wf_infile_unsigned(in, 4);

    if (n > wf_infile_left(in) / width || n > INT32_MAX) {
        in->failed = true;
        return 0;
    }
    return (uint32_t)n;
}

/* Reads elements that are in the buffer, as most are, or that are not. */
static void read_items(struct wf_infile *in, int32_t *items, uint32_t n, unsigned width)
{
    const unsigned char *at =
        width == 4 && n <= ITEMS_AT_ONCE ? wf_infile_ready(in, (size_t)4 * n) : NULL;

    for (uint32_t i = 0; i < n; i++) {
        items[i] =
            at != NULL ? number_at(at + (size_t)4 * i) : (int32_t)wf_infile_signed(in, width);
    }
    if (at != NULL) {
        wf_infile_pass(in, (size_t)4 * n);
    }
}

static void read_array(struct reading *r, unsigned width)
{
    struct wf_dumpi_file *file = r->file;
    struct wf_dumpi_record *record = r->record;
    uint32_t n = read_length(&file->in, width);

    /* place_arrays() sets the pointer when the buffer has its final size. */
    if (record->n_arrays < WF_DUMPI_ARRAYS_MAX && !r->skims) {
        record->arrays[record->n_arrays++] = (struct wf_dumpi_array){NULL, n};
        int32_t *items = wf_buf_extend(&file->numbers, (size_t)n * sizeof(*items));
        read_items(&file->in, items, n, width);
    } else {
        wf_infile_skip(&file->in, (uint64_t)n * width);
    }
}

/* Skips a text; with depth 1 a list of texts, with depth 2 a list of such lists. */
static void skip_texts(struct wf_infile *in, int depth)
{
    if (depth == 0) {
        wf_infile_skip(in, read_length(in, 1));
        return;
    }
    for (uint32_t n = read_length(in, 4); n > 0 && !in->failed; n--) {
        skip_texts(in, depth - 1);
    }
}

/* Skips a list of arrays of 4-byte numbers. */
static void skip_arrays(struct wf_infile *in)
{
    for (uint32_t n = read_length(in, 4); n > 0 && !in->failed; n--) {
        wf_infile_skip(in, (uint64_t)read_length(in, 4) * 4);
    }
}

static void read_statuses(struct reading *r)
{
    struct wf_dumpi_file *file = r->file;
    struct wf_dumpi_record *record = r->record;
    bool has_tag = file->version >= 0x000603;
    uint32_t n = read_length(&file->in, has_tag ? 14 : 10);

    if (r->skims) {
        wf_infile_skip(&file->in, (uint64_t)n * (has_tag ? 14 : 10));
        return;
    }
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

static void read_value(struct reading *r, unsigned width, bool is_signed)
{
    struct wf_infile *in = &r->file->in;
    int64_t value =
        is_signed ? wf_infile_signed(in, width) : (int64_t)wf_infile_unsigned(in, width);

    if (r->record->n_values < WF_DUMPI_VALUES_MAX) {
        r->record->values[r->record->n_values++] = value;
    }
}

/* Reads an array that was a single number before version `since` of the format. */
static void read_new_array(struct reading *r, uint32_t since)
{
    if (r->file->version < since) {
        read_value(r, 4, true);
    } else {
        read_array(r, 4);
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
        read_array(r, 1);
        break;
    case 'H':
        read_array(r, 2);
        break;
    case 'I':
        read_array(r, 4);
        break;
    case 'x':
        read_new_array(r, 0x000609);
        break;
    case 'y':
        read_new_array(r, 0x000608);
        break;
    case 's':
        if ((r->mask & MASK_STATUS) != 0) {
            read_statuses(r);
        }
        break;
    case 'v':
        wf_infile_skip(in, r->file->version < 0x000602 ? 4 : 0);
        skip_texts(in, 1);
        break;
    case 'M':
        skip_arrays(in);
        break;
    default: /* c, C and W */
        skip_texts(in, letter == 'c' ? 0 : letter == 'C' ? 1 : 2);
        break;
    }
}

/* Reads numbers that are in the buffer, with as many bytes as a number may take after them. */
static inline void read_numbers(struct reading *r, const struct wf_dumpi_plan *plan,
                                const unsigned char *at)
{
    int64_t *values = r->record->values;

    r->record->n_values = plan->n;
    if (plan->is_message) {
        values[0] = number_at(at);
        values[1] = (int16_t)short_at(at + 4);
        values[2] = number_at(at + 6);
        values[3] = number_at(at + 10);
        values[4] = (int16_t)short_at(at + 14);
        values[5] = plan->n > 5 ? number_at(at + 16) : 0;
        return;
    }
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct wf_dumpi_number *number = &plan->numbers[i];
        int64_t value = (int64_t)word_at(at + number->at) >> number->shift;
        values[i] = number->keep != 0 ? value & number->keep : value;
    }
    r->rank = plan->rank < plan->n ? values[plan->rank] : r->rank;
    r->root = plan->root < plan->n ? values[plan->root] : r->root;
}

/* Reads the fields of a record from this one on. */
static void read_rest(struct reading *r, const char *letter)
{
    for (; *letter != '\0' && !r->file->in.failed; letter++) {
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
}

static void read_fields(struct reading *r, const struct wf_dumpi_plan *plan)
{
    const unsigned char *ready = wf_infile_ready(&r->file->in, NUMBERS_BYTES);
    const char *letter = plan->call->fields;

    if (ready != NULL) {
        read_numbers(r, plan, ready);
        wf_infile_pass(&r->file->in, plan->n_bytes);
        letter = plan->rest;
    }
    read_rest(r, letter);
    r->record->at_root = r->rank == r->root;
}

/* ---- records ---- */

static inline int64_t time_at(struct wf_dumpi_file *file, uint32_t clock,
                              const unsigned char *b)
{
    int64_t ns = (int64_t)short_at(b) * NS_PER_S + (int64_t)(uint32_t)number_at(b + 2);

    /* Seconds have 16 bits and wrap around. A small step back is a call of another thread. */
    if (ns + file->wrapped[clock] < file->latest[clock] - SECONDS_WRAP / 2 * NS_PER_S) {
        file->wrapped[clock] += SECONDS_WRAP * NS_PER_S;
    }
    ns += file->wrapped[clock];
    file->latest[clock] = ns > file->latest[clock] ? ns : file->latest[clock];
    return ns;
}

static inline const unsigned char *read_clock(struct reading *r, enum wf_dumpi_clock clock,
                                              const unsigned char *at)
{
    r->record->has_time[clock] = true;
    r->record->begin[clock] = time_at(r->file, clock, at);
    r->record->end[clock] = time_at(r->file, clock, at + TIME_BYTES);
    return at + (size_t)2 * TIME_BYTES;
}

/* The bytes of the head of a record, without counters. */
static inline size_t head_bytes(uint64_t mask)
{
    size_t n_clocks = ((mask & MASK_CPU) != 0 ? 1U : 0U) + ((mask & MASK_WALL) != 0 ? 1U : 0U);

    return 3 + ((mask & MASK_THREAD) != 0 ? 2U : 0U) + n_clocks * 2 * TIME_BYTES;
}

/* Reads the head of a record, of which HEAD_BYTES can be read even if the file ends before. */
static inline void read_head(struct reading *r, const unsigned char *at)
{
    struct wf_infile *in = &r->file->in;

    at += 3;
    if ((r->mask & MASK_THREAD) != 0) {
        r->record->thread = (int16_t)short_at(at);
        at += 2;
    }
    if ((r->mask & MASK_CPU) != 0) {
        at = read_clock(r, WF_DUMPI_CPU, at);
    }
    if ((r->mask & MASK_WALL) != 0) {
        (void)read_clock(r, WF_DUMPI_WALL, at);
    }
    (void)wf_infile_bytes(in, head_bytes(r->mask));
    if ((r->mask & MASK_COUNTERS) != 0) {
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

/* After the last record: no other section may begin within the records. */
static void check_sections(struct wf_dumpi_file *file)
{
    struct wf_infile *in = &file->in;
    uint64_t end = wf_infile_at(in);

    for (size_t i = 0; i < sizeof(file->sections) / sizeof(file->sections[0]); i++) {
        if (file->sections[i] >= file->offset_of_body && file->sections[i] < end) {
            in->place.byte = file->sections[i];
            wf_trace_bad(&in->place,
                         "the index of the file points here, into the records of calls, which "
                         "end at byte %" PRIu64,
                         end);
        }
    }
}

static const struct wf_dumpi_plan *plan_of(const struct wf_dumpi_file *file, uint32_t function)
{
    static const struct wf_dumpi_plan unknown;

    return function < WF_DUMPI_FUNCTIONS ? &file->plans->of[function] : &unknown;
}

static bool next_record(struct wf_dumpi_file *file, struct wf_dumpi_record *record, bool skims)
{
    struct reading r = {.file = file, .record = record, .rank = -1, .root = -2};
    struct wf_infile *in = &file->in;

    if (wf_trace_failed(in->place.err)) {
        return false;
    }
    in->place.byte = wf_infile_at(in);
    memset(record, 0, sizeof(*record));
    const unsigned char *at = wf_infile_look(in, HEAD_BYTES);
    record->function = wf_infile_left(in) >= 2 ? short_at(at) : 0;
    const struct wf_dumpi_plan *plan = plan_of(file, record->function);
    const struct wf_dumpi_call *call = plan->call;
    if (call == NULL && wf_infile_left(in) >= 2) {
        wf_infile_skip(in, 2);
        if (record->function != END_OF_STREAM) {
            wf_trace_bad(&in->place, "unknown call number %" PRIu32, record->function);
        } else {
            check_sections(file);
        }
        return false;
    }
    r.mask = at[2];
    r.skims = skims && plan->skims;
    read_head(&r, at);
    if (call != NULL) {
        file->numbers.size = 0;
        wf_buf_reserve(&file->numbers, 1);
        read_fields(&r, plan);
    }
    if (in->failed) {
        wf_trace_bad(&in->place, "the file ends within this record%s%s",
                     call != NULL ? " of " : "", call != NULL ? call->name : "");
        return false;
    }
    place_arrays(file, record);
    return true;
}

bool wf_dumpi_file_next(struct wf_dumpi_file *file, struct wf_dumpi_record *record)
{
    return next_record(file, record, false);
}

/* Reads a record whose head and numbers are in the buffer, as most are. Otherwise reads nothing and
 * returns false. */
static inline bool skim_quickly(struct wf_dumpi_file *file, struct wf_dumpi_record *record)
{
    struct reading r = {.file = file, .record = record, .skims = true};
    struct wf_infile *in = &file->in;
    const unsigned char *at = wf_infile_ready(in, HEAD_BYTES + NUMBERS_BYTES);

    if (at == NULL || wf_trace_failed(in->place.err)) {
        return false;
    }
    const struct wf_dumpi_plan *plan = plan_of(file, short_at(at));
    if (!plan->skims || (at[2] & MASK_COUNTERS) != 0) {
        return false;
    }
    size_t head = head_bytes(at[2]);
    uint64_t begin = wf_infile_at(in);
    record->function = short_at(at);
    record->has_time[WF_DUMPI_CPU] = (at[2] & MASK_CPU) != 0;
    record->has_time[WF_DUMPI_WALL] = (at[2] & MASK_WALL) != 0;
    r.mask = at[2];
    read_numbers(&r, plan, at + head);
    wf_infile_pass(in, head + plan->n_bytes);
    if (*plan->rest != '\0') {
        read_rest(&r, plan->rest);
        if (in->failed) {
            in->place.byte = begin;
            wf_trace_bad(&in->place, "the file ends within this record of %s",
                         plan->call->name);
            return false;
        }
    }
    return true;
}

bool wf_dumpi_file_skim(struct wf_dumpi_file *file, struct wf_dumpi_record *record)
{
    return skim_quickly(file, record) || next_record(file, record, true);
}

/* ---- plans ---- */

static void plan_numbers(struct wf_dumpi_plan *plan)
{
    static const char message[] = "ihiihi"; /* the last may be missing */
    const char *fields = plan->call->fields;

    for (; *fields != '\0' && strchr("bhiko", *fields) != NULL; fields++) {
        uint8_t width = *fields == 'b' ? 1 : *fields == 'h' ? 2 : 4;
        if (plan->n == WF_DUMPI_VALUES_MAX) {
            break;
        }
        plan->rank = *fields == 'k' ? plan->n : plan->rank;
        plan->root = *fields == 'o' ? plan->n : plan->root;
        plan->numbers[plan->n++] = (struct wf_dumpi_number){
            plan->n_bytes, (uint8_t)(64 - 8 * width), *fields == 'b' ? UINT8_MAX : 0};
        plan->n_bytes = (uint8_t)(plan->n_bytes + width);
    }
    plan->rest = fields;
    plan->is_message = strncmp(plan->call->fields, message, sizeof(message) - 2) == 0 &&
                       (plan->n == 5 || (plan->n == 6 && plan->call->fields[5] == 'i'));
}

void wf_dumpi_plans_init(struct wf_dumpi_plans *plans, bool (*skims)(uint32_t function))
{
    for (uint32_t i = 0; i < WF_DUMPI_FUNCTIONS; i++) {
        plans->of[i] = (struct wf_dumpi_plan){
            .call = wf_dumpi_call(i), .rank = WF_DUMPI_VALUES_MAX, .root = WF_DUMPI_VALUES_MAX};
        if (plans->of[i].call != NULL) {
            enum wf_op_family family = wf_op_info(plans->of[i].call->kind)->family;
            plans->of[i].skims = skims(i);
            plans->of[i].is_sized = family == WF_FAMILY_SEND || family == WF_FAMILY_RECV ||
                                    family == WF_FAMILY_SENDRECV ||
                                    family == WF_FAMILY_PERSISTENT;
            plan_numbers(&plans->of[i]);
        }
    }
}
