/* SPDX-License-Identifier: Apache-2.0 */
/* Native traces that were truncated or damaged. The ops that are read must be the ops that were
 * written, up to some op, and an error must report that some are missing. */
#include "harness/trace_ops.h"
#include "program/gen/gen.h"
#include "program/trace/reader.h"
#include "program/trace/weft/frame.h"
#include "program/trace/weft/native.h"

#include <unistd.h>

enum { N_RANKS = 3, N_OPS = TRACE_MADE + 90, FILE_MAX = 1 << 20, N_DAMAGES = 500 };

static char path[] = "/tmp/weft-damage-XXXXXX";
static unsigned char whole[FILE_MAX], bytes[FILE_MAX];
static size_t size;

static void op_at(uint32_t rank, uint64_t i, struct trace_op *to)
{
    if (i < TRACE_MADE) {
        *to = (struct trace_op){
            .op = {.kind = WF_OP_ISEND, .request = trace_request((uint32_t)i)}};
        return;
    }
    i -= TRACE_MADE;
    struct trace_dice dice = {1, rank, (i < 60 ? i % 5 : i) * 1000};
    struct wf_group world = {0, N_RANKS, rank, 0, 1, N_RANKS, 0, NULL};
    struct wf_group pair = {4, 2, rank % 2, rank / 2 * 2, 1, 2, 0, NULL};
    uint32_t comm = rank < 2 && trace_roll(&dice, 3) == 0 ? 1 : 0;

    trace_roll_op(&dice, (enum wf_op_kind)trace_roll(&dice, WF_OP_KINDS), comm,
                  comm == 0 ? &world : &pair, to);
}

static void write_whole(void)
{
    const struct wf_trace_writer_options options = {
        .n_ranks = N_RANKS, .force = true, .creator = "damage"};
    struct wf_trace_writer *writer = NULL;
    static struct trace_op to;
    struct wf_err err;

    CHECK(wf_native_writer_ops.create(path, &options, &writer, &err) == WF_OK);
    for (uint32_t rank = 0; rank < N_RANKS; rank++) {
        struct wf_group pair = {4, 2, rank % 2, rank / 2 * 2, 1, 2, 0, NULL};
        if (rank < 2) {
            CHECK(writer->ops->group(writer, rank, 1, &pair, &err) == WF_OK);
        }
        for (uint64_t i = 0; i < N_OPS; i++) {
            op_at(rank, i, &to);
            CHECK(writer->ops->add(writer, rank, &to.op, &err) == WF_OK);
        }
        writer->ops->name_of(writer, WF_NAME_REGION, rank, "region");
    }
    CHECK(writer->ops->finish(writer, &err) == WF_OK);

    FILE *in = fopen(path, "rb");
    size = fread(whole, 1, sizeof(whole), in);
    (void)fclose(in);
    CHECK(size > 200 && size < sizeof(whole));
}

static void put(size_t n)
{
    FILE *out = fopen(path, "wb");

    (void)fwrite(bytes, 1, n, out);
    (void)fclose(out);
}

/* Reads all there is: how many ops, or -1 if one is not what was written. */
static int64_t read_all(const struct wf_source *source)
{
    static struct trace_op to;
    int64_t n = 0;

    for (uint32_t rank = 0; rank < N_RANKS; rank++) {
        struct wf_cursor cursor;
        struct wf_op op;

        memset(&cursor, 0, sizeof(cursor));
        for (uint64_t i = 0; wf_source_next(source, rank, &cursor, &op); i++) {
            op_at(rank, i, &to);
            if (i >= N_OPS || !trace_same_op(&to.op, &op, to.op.comm == 0 ? N_RANKS : 2)) {
                return -1;
            }
            n++;
        }
    }
    return n;
}

/* Opens what is in the file. True if it is refused, or read in part and complained about, or
 * nothing is missing. */
static bool is_handled(int64_t *n)
{
    struct wf_source *source = NULL;
    struct wf_err err = {.status = WF_OK};
    enum wf_status status = wf_trace_open_source(path, &source, &err);

    *n = 0;
    if (status != WF_OK) {
        return status == WF_EINVAL && strstr(err.text, path) != NULL;
    }
    if (source->n_ranks != N_RANKS) {
        wf_source_free(source);
        return false;
    }
    *n = read_all(source);
    status = wf_source_check(source, &err);
    wf_source_free(source);
    if (status == WF_OK) {
        return *n == (int64_t)N_RANKS * N_OPS;
    }
    return *n >= 0 && status == WF_EINVAL && strstr(err.text, path) != NULL;
}

static void every_truncation_is_noticed(void)
{
    int64_t best = 0, n = 0;

    memcpy(bytes, whole, size);
    for (size_t length = 0; length < size; length++) {
        put(length);
        bool handled = is_handled(&n);
        if (!handled) {
            printf("# cut at %zu of %zu: %lld ops\n", length, size, (long long)n);
        }
        CHECK(handled);
        CHECK(n >= best); /* what is there is read */
        best = n;
    }
    CHECK_U64((uint64_t)best, (uint64_t)N_RANKS * N_OPS);
}

static void every_damage_is_noticed(void)
{
    uint32_t n_partial = 0, n_silent = 0;
    struct wf_source *source = NULL;
    int64_t n = 0;

    for (uint64_t i = 0; i < N_DAMAGES; i++) {
        uint64_t n_hits = wf_test_rand(7, 0, i) % 3 + 1;
        memcpy(bytes, whole, size);
        for (uint64_t hit = 0; hit < n_hits; hit++) {
            size_t at = wf_test_rand(7, 1 + hit, i) % size;
            bytes[at] ^= (unsigned char)(1U << wf_test_rand(7, 5 + hit, i) % 8);
        }
        if (memcmp(bytes, whole, size) == 0) {
            continue;
        }
        put(size);
        bool handled = is_handled(&n);
        if (!handled) {
            printf("# damage %llu: %lld ops\n", (unsigned long long)i, (long long)n);
        }
        CHECK(handled);
        n_partial += n > 0 && n < (int64_t)N_RANKS * N_OPS ? 1 : 0;
        if (wf_trace_open_source(path, &source, NULL) == WF_OK) {
            (void)read_all(source);
            n_silent += wf_source_check(source, NULL) == WF_OK ? 1 : 0;
            wf_source_free(source);
        }
    }
    printf("# %u read in part, %u as if nothing had happened\n", n_partial, n_silent);
    CHECK(n_partial > N_DAMAGES / 20);
    CHECK(n_silent < N_DAMAGES / 100);
}

static void what_was_read_names_its_place(void)
{
    struct wf_source *source = NULL;
    struct wf_err err;

    /* The first block is behind the header and a table. */
    memcpy(bytes, whole, size);
    size_t at = 40;
    while (bytes[at + 2] != 'B') {
        at += 44 + (bytes[at + 28] | (size_t)bytes[at + 29] << 8);
    }
    bytes[at + 60] ^= 1;
    put(size);
    CHECK(wf_trace_open_source(path, &source, &err) == WF_OK);
    CHECK(read_all(source) > 0);
    CHECK(wf_source_check(source, &err) == WF_EINVAL);
    char place[64];
    (void)snprintf(place, sizeof(place), "block at byte %zu, rank 0:", at);
    CHECK(strstr(err.text, place) != NULL);
    wf_source_free(source);
}

/* Changes the last byte of the first block, and makes its checksums right. */
static void forge(unsigned char last)
{
    struct wf_native_packer *packer = wf_native_packer_new();
    const void *stored = NULL;
    size_t at = WF_NATIVE_HEADER_BYTES;
    struct wf_native_frame frame;

    FILE *in = fopen(path, "rb");
    size_t n = fread(bytes, 1, sizeof(bytes), in);
    (void)fclose(in);
    while (wf_native_frame_read(bytes + at, &frame) && frame.type != WF_FRAME_BLOCK) {
        at += WF_NATIVE_FRAME_BYTES + frame.stored_size;
    }
    unsigned char *content = bytes + at + WF_NATIVE_FRAME_BYTES;
    content[frame.stored_size - 1] = last;
    wf_native_frame_pack(packer, &frame, content, frame.raw_size, &stored);
    wf_native_frame_write(&frame, bytes + at);
    wf_native_packer_free(packer);
    put(n);
}

static void a_request_that_was_never_made_is_found(void)
{
    const struct wf_trace_writer_options options = {.n_ranks = 1, .force = true};
    const struct wf_op ops[] = {{.kind = WF_OP_ISEND, .request = 3},
                                {.kind = WF_OP_WAIT, .request = 3}};
    struct wf_trace_writer *writer = NULL;
    struct wf_err err = {.status = WF_OK};

    for (unsigned char request = 2; request < 5; request++) {
        struct wf_source *source = NULL;
        struct wf_cursor cursor;
        struct wf_op op;

        CHECK(wf_native_writer_ops.create(path, &options, &writer, &err) == WF_OK);
        CHECK(writer->ops->add(writer, 0, &ops[0], &err) == WF_OK);
        CHECK(writer->ops->add(writer, 0, &ops[1], &err) == WF_OK);
        CHECK(writer->ops->finish(writer, &err) == WF_OK);
        forge((unsigned char)(2 * request));
        CHECK(wf_trace_open_source(path, &source, &err) == WF_OK);
        memset(&cursor, 0, sizeof(cursor));
        CHECK(wf_source_next(source, 0, &cursor, &op) && op.kind == WF_OP_ISEND);
        CHECK(wf_source_next(source, 0, &cursor, &op) == (request == 3));
        CHECK(wf_source_check(source, &err) == (request == 3 ? WF_OK : WF_EINVAL));
        CHECK(request == 3 ||
              (strstr(err.text, path) != NULL &&
               strstr(err.text, "rank 0: op 1 of the rank: it names a request") != NULL));
        wf_source_free(source);
        /* Who goes there at once cannot know. */
        CHECK(wf_trace_open_source(path, &source, &err) == WF_OK);
        cursor.word[0] = 1;
        CHECK(wf_source_next(source, 0, &cursor, &op) && op.request == request);
        wf_source_free(source);
    }
}

static void other_files_are_refused(void)
{
    struct wf_source *source = NULL;
    struct wf_err err;
    static const char text[] = "rank,kind\n0,compute\n";

    memcpy(bytes, text, sizeof(text));
    put(sizeof(text) - 1);
    CHECK(wf_trace_open_source(path, &source, &err) == WF_EINVAL);
    put(0);
    CHECK(wf_trace_open_source(path, &source, &err) == WF_EINVAL);
    CHECK(strstr(err.text, "empty") != NULL);
    CHECK(wf_trace_open_source("/nowhere/x.weft", &source, &err) == WF_EIO);
    memcpy(bytes, whole, size);
    bytes[8] = 2;
    put(size);
    CHECK(wf_trace_open_source(path, &source, &err) == WF_EINVAL);
}

int main(void)
{
    int fd = mkstemp(path);

    if (fd < 0) {
        return EXIT_FAILURE;
    }
    (void)close(fd);
    RUN(write_whole);
    RUN(every_truncation_is_noticed);
    RUN(every_damage_is_noticed);
    RUN(what_was_read_names_its_place);
    RUN(a_request_that_was_never_made_is_found);
    RUN(other_files_are_refused);
    (void)unlink(path);
    return wf_test_done();
}
