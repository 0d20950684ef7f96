/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/clog2/out.h"

#include "base/lookup.h"

#include <inttypes.h>
#include <string.h>

enum {
    PREAMBLE_BYTES = 1024,
    BLOCK_BYTES = 65536,
    HEAD_BYTES = 24,
    COLOR_BYTES = 24,
    FORMAT_BYTES = 40,
    GID_BYTES = 32,
    HOST_BYTES = 20,
};

/* Kinds of communicators. */
enum { COMM_WORLD = 0, COMM_SELF = 1, COMM_INTRA = 1, COMM_UNKNOWN = -1 };

#define END_OF_TIME 1e8 /* seconds: the time of the last record */

/* ---- numbers and texts ---- */

static void put_bytes(struct wf_buf *buf, uint64_t value, int bytes)
{
    unsigned char *at = wf_buf_extend(buf, (size_t)bytes);

    for (int i = 0; i < bytes; i++) {
        at[i] = (unsigned char)(value >> 8 * (bytes - 1 - i));
    }
}

static void put_int(struct wf_buf *buf, int32_t value)
{
    put_bytes(buf, (uint32_t)value, 4);
}

static void put_double(struct wf_buf *buf, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    put_bytes(buf, bits, 8);
}

/* A text in a field of this many bytes, with a 0 at its end. */
static void put_text(struct wf_buf *buf, const char *text, size_t bytes)
{
    char *at = wf_buf_extend(buf, bytes);

    memset(at, 0, bytes);
    (void)snprintf(at, bytes, "%s", text);
}

static int32_t clamp(uint64_t value)
{
    return value < INT32_MAX ? (int32_t)value : INT32_MAX;
}

/* ---- records ---- */

static void put_head(struct wf_clog2_out *log, double seconds, uint32_t rank,
                     enum wf_clog2_type kind)
{
    put_double(&log->body, seconds);
    put_int(&log->body, 0); /* the world */
    put_int(&log->body, (int32_t)rank);
    put_int(&log->body, 0); /* the thread */
    put_int(&log->body, (int32_t)kind);
}

static void fill_block(struct wf_clog2_out *log)
{
    size_t used = log->body.size % BLOCK_BYTES;

    if (used > 0) {
        memset(wf_buf_extend(&log->body, BLOCK_BYTES - used), 0, BLOCK_BYTES - used);
    }
}

/* Begins a record whose rest has so many bytes; a record is not divided by the end of a block,
 * and a block ends with a record of its own. */
static void begin_record(struct wf_clog2_out *log, double seconds, uint32_t rank,
                         enum wf_clog2_type kind, size_t rest)
{
    if (log->body.size % BLOCK_BYTES + (size_t)2 * HEAD_BYTES + rest > BLOCK_BYTES) {
        put_head(log, seconds, 0, WF_CLOG2_ENDBLOCK);
        fill_block(log);
    }
    put_head(log, seconds, rank, kind);
}

static double seconds_of(uint64_t ps)
{
    return (double)ps * 1e-12;
}

/* The name of a communicator in all ranks: a number, a time and a host in MPE. */
static void put_gid(struct wf_buf *buf, uint32_t comm)
{
    put_int(buf, (int32_t)comm + 1);
    put_double(buf, 0);
    put_text(buf, "weft", HOST_BYTES);
}

static void put_comm(struct wf_clog2_out *log, int32_t kind, uint32_t comm, uint32_t rank,
                     uint32_t world)
{
    begin_record(log, 0, world, WF_CLOG2_COMMEVT, 4 * sizeof(int32_t) + GID_BYTES);
    put_int(&log->body, kind);
    put_int(&log->body, (int32_t)comm);
    put_int(&log->body, (int32_t)rank);
    put_int(&log->body, (int32_t)world);
    put_gid(&log->body, comm);
}

void wf_clog2_out_begin(struct wf_clog2_out *log, uint32_t n_ranks, uint32_t n_known,
                        uint32_t n_user)
{
    *log = (struct wf_clog2_out){.n_ranks = n_ranks, .n_known = n_known, .n_user = n_user};
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        begin_record(log, 0, rank, WF_CLOG2_TIMESHIFT, sizeof(double));
        put_double(&log->body, 0);
        put_comm(log, COMM_WORLD, 0, rank, rank);
        put_comm(log, COMM_SELF, rank + 1, 0, rank);
    }
}

void wf_clog2_out_state(struct wf_clog2_out *log, uint64_t ps, uint32_t rank, uint32_t state,
                        bool leaves)
{
    begin_record(log, seconds_of(ps), rank, WF_CLOG2_BAREEVT, 2 * sizeof(int32_t));
    put_int(&log->body, (int32_t)(2 * state) + (leaves ? 1 : 0));
    put_int(&log->body, 0);
}

void wf_clog2_out_message(struct wf_clog2_out *log, uint64_t ps, uint32_t rank,
                          const struct wf_clog2_end *end)
{
    begin_record(log, seconds_of(ps), rank, WF_CLOG2_MSGEVT, 6 * sizeof(int32_t));
    put_int(&log->body, end->kind);
    put_int(&log->body, 0);
    put_int(&log->body, (int32_t)end->peer);
    put_int(&log->body, clamp(end->tag));
    put_int(&log->body, clamp(end->bytes));
    put_int(&log->body, 0);
}

/* The colours that MPE gives the usual calls; others get one by their number. */
static const char *color_of(const char *name, uint32_t number)
{
    static const struct {
        const char *name, *color;
    } usual[] = {
        {"MPI_Barrier", "yellow"},
        {"MPI_Bcast", "cyan"},
        {"MPI_Reduce", "MediumPurple"},
        {"MPI_Allreduce", "purple"},
        {"MPI_Send", "blue"},
        {"MPI_Recv", "green"},
        {"MPI_Isend", "DodgerBlue"},
        {"MPI_Irecv", "PaleGreen"},
        {"MPI_Wait", "red"},
        {"MPI_Waitall", "OrangeRed"},
        {"MPI_Sendrecv", "IndianRed"},
        {"computing", "gray"},
    };
    static const char *const others[] = {"maroon", "orange",    "SteelBlue", "khaki",
                                         "plum",   "turquoise", "sienna",    "OliveDrab"};

    const size_t n = sizeof(usual) / sizeof(usual[0]);
    size_t i = WF_LOOKUP_INDEX(usual, n, name);

    return i < n ? usual[i].color : others[number % (sizeof(others) / sizeof(others[0]))];
}

void wf_clog2_out_define(struct wf_clog2_out *log, uint64_t ps, const char *name)
{
    uint32_t state = log->n_states_begun++;

    begin_record(log, seconds_of(ps), 0, WF_CLOG2_STATEDEF,
                 4 * sizeof(int32_t) + COLOR_BYTES + WF_CLOG2_NAME_BYTES + FORMAT_BYTES);
    put_int(&log->body, (int32_t)state);
    put_int(&log->body, (int32_t)(2 * state));
    put_int(&log->body, (int32_t)(2 * state + 1));
    put_int(&log->body, 0);
    put_text(&log->body, color_of(name, state), COLOR_BYTES);
    put_text(&log->body, name, WF_CLOG2_NAME_BYTES);
    put_text(&log->body, "", FORMAT_BYTES);
}

/* ---- the file ---- */

static void put_word(struct wf_buf *buf, const char *text)
{
    wf_buf_append(buf, text, strlen(text) + 1);
}

static void put_number(struct wf_buf *buf, uint64_t value)
{
    char text[24];

    (void)snprintf(text, sizeof(text), "%" PRIu64, value);
    put_word(buf, text);
}

static void put_count(struct wf_buf *buf, const char *name, uint64_t value)
{
    put_word(buf, name);
    put_number(buf, value);
}

/* Names and values, each with a 0 at its end. MPE's words are kept, one of them misspelt. */
static void write_preamble(const struct wf_clog2_out *log, FILE *out)
{
    static const char *const texts[] = {"CLOG-02.44", "is_big_endian=", "TRUE ",
                                        "is_finalzed=", "TRUE "};
    struct wf_buf buf = {.size = 0};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        put_word(&buf, texts[i]);
    }
    put_count(&buf, "block_size=", BLOCK_BYTES);
    put_count(&buf, "num_buffered_blocks=", 128);
    put_count(&buf, "max_comm_world_size=", log->n_ranks);
    put_count(&buf, "max_thread_count=", 1);
    put_count(&buf, "known_eventID_start=", 0);
    put_count(&buf, "user_eventID_start=", UINT64_C(2) * log->n_known);
    put_word(&buf, "known_solo_eventID_start=");
    put_word(&buf, "-10");
    put_count(&buf, "user_solo_eventID_start=", UINT64_C(2) * (log->n_known + log->n_user));
    put_count(&buf, "known_stateID_count=", log->n_known);
    put_count(&buf, "user_stateID_count=", log->n_user);
    put_count(&buf, "known_solo_eventID_count=", 0);
    put_count(&buf, "user_solo_eventID_count=", 0);
    /* Where the table of communicators is: a * b + c. */
    uint64_t table = PREAMBLE_BYTES + (uint64_t)log->body.size;
    put_count(&buf, "commtable_fptr=", table >> 30);
    put_number(&buf, UINT64_C(1) << 30);
    put_number(&buf, table & ((UINT64_C(1) << 30) - 1));
    (void)fwrite(buf.data, 1, buf.size, out);
    for (size_t i = buf.size; i < PREAMBLE_BYTES; i++) {
        (void)fputc(0, out);
    }
    wf_buf_fini(&buf);
}

static void write_table(const struct wf_clog2_out *log, FILE *out)
{
    struct wf_buf buf = {.size = 0};

    put_int(&buf, (int32_t)log->n_ranks + 1);
    for (uint32_t comm = 0; comm <= log->n_ranks; comm++) {
        put_gid(&buf, comm);
        put_int(&buf, (int32_t)comm);
        put_int(&buf, comm < 2 ? COMM_INTRA : COMM_UNKNOWN); /* as rank 0 knows them */
    }
    (void)fwrite(buf.data, 1, buf.size, out);
    wf_buf_fini(&buf);
}

void wf_clog2_out_finish(struct wf_clog2_out *log, FILE *out)
{
    begin_record(log, END_OF_TIME, 0, WF_CLOG2_ENDLOG, 0);
    fill_block(log);
    write_preamble(log, out);
    (void)fwrite(log->body.data, 1, log->body.size, out);
    write_table(log, out);
    wf_buf_fini(&log->body);
}
