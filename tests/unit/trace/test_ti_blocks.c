/* SPDX-License-Identifier: Apache-2.0 */
/* A file with the actions of all ranks is divided where ranks begin, and what several workers
 * read of it is what one would read. */
#include "harness/wf_test.h"
#include "program/trace/reader.h"
#include "program/trace/ti/blocks.h"

#include <inttypes.h>
#include <unistd.h>

enum { MANY = 4000, LINES = 40 };

static char path[] = "/tmp/weft-ti-blocks-XXXXXX";

/* A file of `n` ranks in order, each with some lines. Those that `every` divides, but for rank 0,
 * have this second line. */
static void write_ranks(FILE *file, uint32_t n, uint32_t every, const char *line)
{
    for (uint32_t rank = 0; rank < n; rank++) {
        (void)fprintf(file, "%u init\n", rank);
        if (rank > 0 && rank % every == 0) {
            (void)fputs(line, file);
        }
        for (uint32_t i = 0; i < LINES + rank % 7; i++) {
            (void)fprintf(file, "%u compute %u\n", rank, 1000 + i * rank);
        }
        (void)fprintf(file, "%u finalize\n", rank);
    }
}

static FILE *begin_file(void)
{
    return fopen(path, "w");
}

/* The rank of the line at a place of the file, and how many lines are before it. */
static uint32_t rank_at(FILE *file, uint64_t at, uint64_t *lines)
{
    char line[64] = "";

    *lines = 0;
    rewind(file);
    for (uint64_t i = 0; i < at; i++) {
        *lines += getc(file) == '\n' ? 1 : 0;
    }
    return fgets(line, sizeof(line), file) != NULL ? (uint32_t)strtoul(line, NULL, 10)
                                                   : UINT32_MAX;
}

/* Blocks follow each other, and where one begins a rank does. */
static void check_blocks(const struct wf_ti_blocks *blocks)
{
    FILE *file = fopen(path, "r");
    uint64_t lines, before;

    CHECK(file != NULL);
    CHECK_U64(blocks->items[0].begin, 0);
    CHECK_U64(blocks->items[0].line, 0);
    for (uint32_t i = 1; i < blocks->n; i++) {
        const struct wf_ti_block *block = &blocks->items[i];
        uint32_t rank = rank_at(file, block->begin, &lines);
        CHECK_U64(block->begin, blocks->items[i - 1].end);
        CHECK_U64(block->line, lines);
        CHECK(rank > 0);
        (void)rank_at(file, block->begin - 1, &before);
        CHECK_U64(before, lines - 1);
        for (uint64_t at = block->begin - 2;; at--) {
            (void)fseek(file, (long)at, SEEK_SET);
            if (getc(file) == '\n') {
                CHECK_U64(rank_at(file, at + 1, &before), rank - 1);
                break;
            }
        }
    }
    (void)fseek(file, 0, SEEK_END);
    CHECK_U64(blocks->items[blocks->n - 1].end, (uint64_t)ftell(file));
    (void)fclose(file);
}

static void ranks_in_order(void)
{
    struct wf_ti_blocks blocks;
    FILE *file = begin_file();

    write_ranks(file, MANY, 1000, "\n");
    (void)fclose(file);
    CHECK(wf_ti_blocks_find(&blocks, path));
    CHECK_U64(blocks.n_ranks, MANY);
    CHECK(blocks.n > 8);
    check_blocks(&blocks);
    wf_ti_blocks_fini(&blocks);
}

static void small_files_are_one_block(void)
{
    struct wf_ti_blocks blocks;
    FILE *file = begin_file();

    (void)fputs("0 init\n1 init", file);
    (void)fclose(file);
    CHECK(wf_ti_blocks_find(&blocks, path));
    CHECK_U64(blocks.n, 1);
    CHECK_U64(blocks.n_ranks, 2);
    CHECK_U64(blocks.items[0].end, 13);
    wf_ti_blocks_fini(&blocks);
}

/* Ranks of a large file that go on with `more`, which makes them not be in order. */
static void not_divided(uint32_t n, const char *more)
{
    struct wf_ti_blocks blocks;
    FILE *file = begin_file();

    write_ranks(file, n, MANY, "");
    (void)fputs(more, file);
    (void)fclose(file);
    CHECK(!wf_ti_blocks_find(&blocks, path));
    CHECK_U64(blocks.n, 0);
    CHECK_U64(blocks.n_ranks, 0);
}

static void other_files_are_not_divided(void)
{
    struct wf_ti_blocks blocks;

    not_divided(0, "");
    not_divided(0, "1 init\n");
    not_divided(0, "0 init\n1 init\n0 finalize\n");
    not_divided(3000, "0 finalize\n");
    not_divided(3000, "3001 init\n");
    not_divided(3000, "no action\n");
    not_divided(0, "\n\n");
    CHECK(!wf_ti_blocks_find(&blocks, "/no such file"));
}

/* ---- the reader ---- */

static void all_ops_are_there(void)
{
    struct wf_trace trace;
    struct wf_err err;
    FILE *file = begin_file();

    write_ranks(file, MANY, 3, "\r\n");
    (void)fclose(file);
    CHECK(wf_trace_open(path, &trace, &err) == WF_OK);
    CHECK_U64(trace.source->n_ranks, MANY);
    for (uint32_t rank = 0; rank < MANY; rank++) {
        struct wf_cursor cursor;
        struct wf_op op;
        uint64_t n = 0;

        memset(&cursor, 0, sizeof(cursor));
        while (wf_source_next(trace.source, rank, &cursor, &op)) {
            CHECK(op.kind == WF_OP_COMPUTE || n == 0 || n == LINES + rank % 7 + 1);
            CHECK(op.kind != WF_OP_COMPUTE ||
                  op.duration == (int64_t)(1000 + (n - 1) * rank) * 1000);
            n++;
        }
        CHECK_U64(n, LINES + rank % 7 + 2);
    }
    wf_trace_close(&trace);
}

/* Of errors in ranks that different workers may read, the first of the file is reported, with its
 * line. */
static void errors_name_their_line(void)
{
    struct wf_trace trace;
    struct wf_err err;
    char wanted[64], line[32];
    uint64_t n_lines = 0;
    enum { FIRST = 1500 };
    FILE *file = begin_file();

    (void)snprintf(line, sizeof(line), "%d what\n", FIRST);
    write_ranks(file, FIRST + 1, FIRST, line);
    for (uint32_t rank = FIRST + 1; rank < MANY; rank++) {
        (void)fprintf(file, "%u init\n%u another %0600u\n", rank, rank, rank);
    }
    (void)fclose(file);
    for (uint32_t rank = 0; rank < FIRST; rank++) {
        n_lines += LINES + rank % 7 + 2;
    }
    CHECK(wf_trace_open(path, &trace, &err) == WF_EINVAL);
    (void)snprintf(wanted, sizeof(wanted), "line %" PRIu64 " (", n_lines + 2);
    CHECK(strstr(err.text, wanted) != NULL &&
          strstr(err.text, "unknown action 'what'") != NULL);
}

int main(void)
{
    int fd = mkstemp(path);

    if (fd < 0) {
        return EXIT_FAILURE;
    }
    (void)close(fd);
    RUN(ranks_in_order);
    RUN(small_files_are_one_block);
    RUN(other_files_are_not_divided);
    RUN(all_ops_are_there);
    RUN(errors_name_their_line);
    (void)unlink(path);
    return wf_test_done();
}
