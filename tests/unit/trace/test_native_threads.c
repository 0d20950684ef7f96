/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that read different ranks of a native trace at once, with so little memory that they
 * evict each other's blocks. */
#include "harness/wf_test.h"
#include "program/trace/reader.h"
#include "program/trace/weft/native.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

enum { N_THREADS = 4, N_RANKS = 64, N_OPS = WF_TEST_ONE_IN > 1 ? 1000 : 4000, ROUND = 37 };

static char path[] = "/tmp/weft-threads-XXXXXX";
static uint32_t counts[3] = {1, 2, 3};

static struct wf_op op_at(uint32_t rank, uint64_t i)
{
    if (i < 3) {
        return (struct wf_op){.kind = WF_OP_ISEND, .request = (uint32_t)i + 1};
    }
    if (i % 5 == 0) {
        return (struct wf_op){.kind = WF_OP_WAITALL, .count = 3, .requests = counts};
    }
    return (struct wf_op){.kind = WF_OP_SEND,
                          .peer = (rank + 1) % N_RANKS,
                          .bytes = wf_test_rand(3, rank, i) >> 20};
}

struct reader {
    const struct wf_source *source;
    uint32_t number;
    bool good;
};

/* A thread has every fourth rank, and goes from one to the other. */
static void *read_ranks(void *arg)
{
    struct reader *reader = arg;
    static _Thread_local struct wf_cursor cursors[N_RANKS];

    memset(cursors, 0, sizeof(cursors));
    reader->good = true;
    for (uint32_t round = 0; round * ROUND < N_OPS; round++) {
        for (uint32_t rank = reader->number; rank < N_RANKS; rank += N_THREADS) {
            for (uint32_t k = 0; k < ROUND && cursors[rank].word[0] < N_OPS; k++) {
                struct wf_op wanted = op_at(rank, cursors[rank].word[0]), op;
                if (!wf_source_next(reader->source, rank, &cursors[rank], &op) ||
                    op.kind != wanted.kind ||
                    (op.kind == WF_OP_SEND && op.bytes != wanted.bytes) ||
                    (op.kind == WF_OP_WAITALL &&
                     memcmp(op.requests, counts, sizeof(counts)) != 0)) {
                    reader->good = false;
                    return NULL;
                }
            }
        }
    }
    return NULL;
}

static void threads_read_at_once(void)
{
    static const uint64_t limits[] = {WF_NATIVE_MEMORY, 1 << 18, 1};

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        struct wf_source *source = NULL;
        struct reader readers[N_THREADS];
        pthread_t threads[N_THREADS];

        CHECK(wf_trace_open_source(path, &source, NULL) == WF_OK);
        wf_native_limit(source, limits[i]);
        for (uint32_t t = 0; t < N_THREADS; t++) {
            readers[t] = (struct reader){source, t, false};
            CHECK(pthread_create(&threads[t], NULL, read_ranks, &readers[t]) == 0);
        }
        for (uint32_t t = 0; t < N_THREADS; t++) {
            (void)pthread_join(threads[t], NULL);
        }
        for (uint32_t t = 0; t < N_THREADS; t++) {
            CHECK(readers[t].good);
        }
        CHECK(wf_source_check(source, NULL) == WF_OK);
        wf_source_free(source);
    }
}

static void write_trace(void)
{
    const struct wf_trace_writer_options options = {.n_ranks = N_RANKS, .force = true};
    struct wf_trace_writer *writer = NULL;
    struct wf_err err;

    CHECK(wf_native_writer_ops.create(path, &options, &writer, &err) == WF_OK);
    for (uint32_t rank = 0; rank < N_RANKS; rank++) {
        for (uint64_t i = 0; i < N_OPS; i++) {
            struct wf_op op = op_at(rank, i);
            CHECK(writer->ops->add(writer, rank, &op, &err) == WF_OK);
        }
    }
    CHECK(writer->ops->finish(writer, &err) == WF_OK);
}

int main(void)
{
    int fd = mkstemp(path);

    if (fd < 0) {
        return EXIT_FAILURE;
    }
    (void)close(fd);
    RUN(write_trace);
    RUN(threads_read_at_once);
    (void)unlink(path);
    return wf_test_done();
}
