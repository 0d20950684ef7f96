/* SPDX-License-Identifier: Apache-2.0 */
/* How fast native traces are written and read: a halo exchange whose computing times differ, so
 * that nothing repeats itself, and one that is the same in every iteration.
 *
 * usage: bench_native [ITERATIONS [RANKS]] */
#include "base/clock.h"
#include "base/rng.h"
#include "program/trace/reader.h"
#include "program/trace/weft/native.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N_NEIGHBORS = 6, N_STEPS = 2 * N_NEIGHBORS + 2 };

static struct wf_op op_at(uint32_t rank, uint32_t n_ranks, uint64_t i, bool varied)
{
    uint32_t step = (uint32_t)(i % N_STEPS);
    struct wf_op op = {.kind = WF_OP_COMPUTE};

    if (step < 2 * N_NEIGHBORS) {
        op.kind = step < N_NEIGHBORS ? WF_OP_IRECV : WF_OP_ISEND;
        op.peer = (rank + n_ranks + step * step) % n_ranks;
        op.tag = (int32_t)step;
        op.request = step;
        op.bytes = varied ? 1024 + wf_rng_draw(2, rank, i) % 65536 : 4096;
    } else if (step == 2 * N_NEIGHBORS) {
        op.kind = WF_OP_WAITALL;
        op.count = 2 * N_NEIGHBORS;
    } else {
        op.duration = varied ? (int64_t)(wf_rng_draw(1, rank, i) % 1000000000) : 1000000;
    }
    return op;
}

static void fail(const struct wf_err *err)
{
    (void)fprintf(stderr, "bench_native: %s\n", err->text);
    exit(EXIT_FAILURE);
}

static void write_trace(const char *path, uint32_t n_ranks, uint64_t iterations, bool varied)
{
    const struct wf_trace_writer_options options = {.n_ranks = n_ranks, .force = true};
    struct wf_trace_writer *writer = NULL;
    struct wf_err err;
    double begin = wf_clock_cpu();

    if (wf_native_writer_ops.create(path, &options, &writer, &err) != WF_OK) {
        fail(&err);
    }
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        for (uint64_t i = 0; i < iterations * N_STEPS; i++) {
            struct wf_op op = op_at(rank, n_ranks, i, varied);
            if (writer->ops->add(writer, rank, &op, &err) != WF_OK) {
                fail(&err);
            }
        }
    }
    if (writer->ops->finish(writer, &err) != WF_OK) {
        fail(&err);
    }
    double seconds = wf_clock_cpu() - begin;
    printf("  written  %8.2f M ops/s\n",
           (double)n_ranks * (double)(iterations * N_STEPS) / seconds / 1e6);
}

static void read_trace(const char *path)
{
    struct wf_source *source = NULL;
    struct wf_native_facts facts;
    struct wf_err err;
    uint64_t n_ops = 0, sum = 0;

    if (wf_trace_open_source(path, &source, &err) != WF_OK) {
        fail(&err);
    }
    (void)wf_native_facts(source, &facts);
    double begin = wf_clock_cpu();
    for (uint32_t rank = 0; rank < source->n_ranks; rank++) {
        struct wf_cursor cursor;
        struct wf_op op;

        memset(&cursor, 0, sizeof(cursor));
        while (wf_source_next(source, rank, &cursor, &op)) {
            n_ops++;
            sum += op.bytes;
        }
    }
    double seconds = wf_clock_cpu() - begin;
    if (wf_source_check(source, &err) != WF_OK) {
        fail(&err);
    }
    printf("  read     %8.2f M ops/s, %.1f ns per op\n", (double)n_ops / seconds / 1e6,
           seconds * 1e9 / (double)n_ops);
    printf("  raw      %8.1f MB/s of %llu bytes (%.2f per op), file %llu bytes [%llu]\n",
           (double)facts.totals.raw_bytes / seconds / 1e6,
           (unsigned long long)facts.totals.raw_bytes,
           (double)facts.totals.raw_bytes / (double)n_ops, (unsigned long long)facts.n_bytes,
           (unsigned long long)sum);
    /* As if loops had been written out: what the ops would take one by one. */
    double each = (double)facts.totals.raw_bytes / (double)facts.totals.n_stored;
    printf("  unrolled %8.1f MB/s\n", (double)n_ops * each / seconds / 1e6);
    wf_source_free(source);
}

int main(int argc, char **argv)
{
    uint64_t iterations = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000;
    uint32_t n_ranks = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 16;
    char path[] = "/tmp/weft-bench-XXXXXX";
    int fd = mkstemp(path);

    if (fd < 0 || n_ranks == 0) {
        return EXIT_FAILURE;
    }
    (void)close(fd);
    for (int varied = 1; varied >= 0; varied--) {
        printf("%s, %u ranks, %llu iterations\n", varied != 0 ? "varied" : "regular", n_ranks,
               (unsigned long long)iterations);
        write_trace(path, n_ranks, iterations, varied != 0);
        read_trace(path);
        read_trace(path);
    }
    (void)unlink(path);
    return EXIT_SUCCESS;
}
