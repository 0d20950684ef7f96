/* SPDX-License-Identifier: Apache-2.0 */
/* LeanMD on one PE, where tasks are numbered like cells and computes, and its distribution over
 * many PEs. */
#include "base/mem.h"
#include "harness/gen_make.h"
#include "harness/wf_test.h"

enum { CELLS_MAX = 512, COMPUTES_MAX = 512 * 172 };

struct pair {
    uint32_t n, cell[2];
};

/* The cells whose atoms each compute gets, from what the cells send in the first step. */
static uint32_t collect(const struct wf_graph *graph, uint32_t n_cells, struct pair *pairs)
{
    uint32_t n_computes = 0;

    memset(pairs, 0, COMPUTES_MAX * sizeof(*pairs));
    for (uint32_t cell = 0; cell < n_cells; cell++) {
        struct wf_task task;
        graph->ops->task(graph, 0, cell, &task);
        for (uint32_t i = 0; i < task.n_sends; i++) {
            struct wf_task_send send;
            graph->ops->send(graph, &task, i, &send);
            uint32_t compute = send.id - n_cells;
            if (compute >= COMPUTES_MAX || pairs[compute].n == 2) {
                return 0;
            }
            pairs[compute].cell[pairs[compute].n++] = cell;
            n_computes = compute + 1 > n_computes ? compute + 1 : n_computes;
        }
    }
    return n_computes;
}

/* How far apart two cells are, in the dimension in which it is most. */
static uint32_t distance(const uint32_t *size, bool periodic, uint32_t a, uint32_t b)
{
    uint32_t most = 0;

    for (int d = 0; d < 3; d++) {
        uint32_t x = a % size[d], y = b % size[d], apart = x > y ? x - y : y - x;

        apart = !periodic || apart < size[d] - apart ? apart : size[d] - apart;
        most = apart > most ? apart : most;
        a /= size[d];
        b /= size[d];
    }
    return most;
}

static void check_pairs(const uint32_t *size, uint32_t kaway, bool periodic)
{
    struct pair *pairs = wf_xmalloc(COMPUTES_MAX * sizeof(*pairs));
    uint8_t *met = wf_xcalloc((size_t)CELLS_MAX * CELLS_MAX, 1);
    uint32_t n_cells = size[0] * size[1] * size[2];
    struct wf_graph *graph =
        gen_make_graph(&wf_gen_leanmd_ops, 1, "cells=%ux%ux%u kaway=%u periodic=%s", size[0],
                       size[1], size[2], kaway, periodic ? "true" : "false");
    uint32_t n_computes = collect(graph, n_cells, pairs);

    CHECK(n_computes > 0);
    for (uint32_t i = 0; i < n_computes; i++) {
        uint32_t a = pairs[i].cell[0], b = pairs[i].n == 1 ? a : pairs[i].cell[1];
        CHECK(pairs[i].n > 0 && (pairs[i].n == 1 || a != b));
        CHECK(met[a * CELLS_MAX + b] == 0);
        met[a * CELLS_MAX + b] = met[b * CELLS_MAX + a] = 1;
    }
    for (uint32_t a = 0; a < n_cells; a++) {
        for (uint32_t b = 0; b < n_cells; b++) {
            CHECK(met[a * CELLS_MAX + b] == (distance(size, periodic, a, b) <= kaway));
        }
    }
    wf_graph_free(graph);
    free(met);
    free(pairs);
}

/* Each pair of near cells has one compute, and no other pair has. */
static void pairs_of_near_cells(void)
{
    static const uint32_t sizes[][3] = {{3, 3, 3}, {5, 4, 3}, {8, 8, 8}, {5, 6, 7}};

    for (int open = 0; open < 2; open++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            check_pairs(sizes[i], 1, !open);
        }
        check_pairs(sizes[3], 2, !open);
        check_pairs((const uint32_t[]){5, 5, 5}, 2, !open);
        check_pairs((const uint32_t[]){7, 7, 7}, 3, !open);
    }
    check_pairs((const uint32_t[]){9, 7, 8}, 3, false);
}

/* The system of BigSim's section 6.3: 23 cells along a side, open, three cells away. The paper
 * has "more than 1.6 million" pairs, and about 20 million messages in three steps. */
static void the_cells_of_bigsim(void)
{
    struct wf_graph *graph = gen_make_graph(&wf_gen_leanmd_ops, 8192,
                                            "cells=23x23x23 kaway=3 periodic=false steps=3");
    uint64_t along = 7 * 23 - 2 * (3 + 2 + 1), cells = 23 * 23 * 23; /* near cells in a row */
    uint64_t pairs = (along * along * along + cells) / 2, tasks = 0;

    for (uint32_t pe = 0; pe < 8192; pe++) {
        tasks += graph->ops->n_tasks(graph, pe);
    }
    CHECK_U64(tasks, cells + 3 * (cells + pairs));
    CHECK_U64(tasks, graph->tasks_expected);
    CHECK_U64(graph->messages_expected, 3 * 2 * (2 * pairs - cells));
    CHECK(pairs > 1600000 && graph->messages_expected < 20040000);
    wf_graph_free(graph);
}

/* With n atoms in each cell an atom interacts with those in a sphere around it: n times its
 * volume in cells, of which each pair is computed once. */
static void interactions_fill_a_sphere(void)
{
    static const double cutoffs[] = {1, 0.8, 0.5};

    for (uint32_t kaway = 1; kaway <= 3; kaway++) {
        for (int i = 0; i < 3; i++) {
            double radius = cutoffs[i] * kaway, sum = 0;

            struct wf_graph *graph = gen_make_graph(
                &wf_gen_leanmd_ops, 1,
                "cells=7x7x7 imbalance=0 atoms=1000 pair_time=1ps kaway=%u cutoff=%g", kaway,
                cutoffs[i]);
            uint32_t n_cells = 343, n_tasks = graph->ops->n_tasks(graph, 0);
            uint32_t n_computes = (n_tasks - n_cells) / 3 - n_cells;
            for (uint32_t c = 0; c < n_computes; c++) {
                struct wf_task task;
                graph->ops->task(graph, 0, n_cells + c, &task);
                sum += (double)task.duration;
            }
            double each = 2 * sum / n_cells / 1e6, volume = 4.18879 * radius * radius * radius;
            CHECK(each > 0.93 * volume && each < 1.07 * volume);
            wf_graph_free(graph);
        }
    }
}

/* Whatever the number of PEs and the map, the work is the same and spread evenly. */
static void spreading(void)
{
    static const uint32_t sizes[] = {1, 3, 60, 64, 1000, 20000};

    for (int map = 0; map < 2; map++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            uint64_t sum = 0, least = UINT64_MAX, most = 0;

            struct wf_graph *graph =
                gen_make_graph(&wf_gen_leanmd_ops, sizes[i], "cells=4x4x4 steps=10 map=%s",
                               map == 0 ? "block" : "round_robin");
            for (uint32_t pe = 0; pe < sizes[i]; pe++) {
                uint64_t n = graph->ops->n_tasks(graph, pe);
                sum += n;
                least = n < least ? n : least;
                most = n > most ? n : most;
            }
            CHECK_U64(sum, 64 + 10 * (64 + 64 * 14));
            CHECK_U64(sum, graph->tasks_expected);
            CHECK_U64(graph->messages_expected, 10 * 64 * 27 * 2);
            /* A cell more with its start and steps, and a compute more. */
            CHECK(most - least <= 11 + 10);
            wf_graph_free(graph);
        }
    }
}

/* Atoms vary, a cell's messages all have its size, and forces come back with the same. */
static void cells_differ(void)
{
    uint64_t least = UINT64_MAX, most = 0, sum = 0;

    struct wf_graph *graph = gen_make_graph(&wf_gen_leanmd_ops, 1, "%s", "");
    for (uint32_t cell = 0; cell < 512; cell++) {
        struct wf_task task;
        struct wf_task_send first, send;

        graph->ops->task(graph, 0, cell, &task);
        CHECK_U64(task.n_sends, 27);
        graph->ops->send(graph, &task, 0, &first);
        CHECK(first.bytes % 24 == 0);
        for (uint32_t i = 1; i < task.n_sends; i++) {
            graph->ops->send(graph, &task, i, &send);
            CHECK_U64(send.bytes, first.bytes);
        }
        graph->ops->task(graph, 0, first.id, &task);
        graph->ops->send(graph, &task, 0, &send);
        CHECK_U64(send.bytes, first.bytes);
        /* Moving them is in proportion: 50 ns each. */
        graph->ops->task(graph, 0, send.id, &task);
        CHECK_U64((uint64_t)task.duration, first.bytes / 24 * 50000);
        least = first.bytes / 24 < least ? first.bytes / 24 : least;
        most = first.bytes / 24 > most ? first.bytes / 24 : most;
        sum += first.bytes / 24;
    }
    CHECK(least >= 80 && least < 83 && most <= 120 && most > 117);
    CHECK(sum > 98 * 512 && sum < 102 * 512);
    wf_graph_free(graph);
}

static void refused(void)
{
    static const struct {
        const char *settings, *words;
        enum wf_status status;
    } cases[] = {
        {"cells=4x4 kaway=1 steps=1", "gen:leanmd: cells: '4x4' is no grid; write AxBxC",
         WF_EUSAGE},
        {"cells=4x-4x4 kaway=1 steps=1", "gen:leanmd: cells: '4x-4x4' is no grid; write AxBxC",
         WF_EUSAGE},
        {"cells=4x4x4x kaway=1 steps=1", "gen:leanmd: cells: '4x4x4x' is no grid; write AxBxC",
         WF_EUSAGE},
        {"cells=5x4x5 kaway=2 steps=1",
         "gen:leanmd: cells: '5x4x5' has a dimension of 4; with kaway=2 at least 5 are needed",
         WF_EUSAGE},
        {"cells=99999x99999x9 kaway=1 steps=1",
         "gen:leanmd: cells: '99999x99999x9' are too many; at most 24970740", WF_ELIMIT},
        {"cells=8x8x8 kaway=1 steps=4000000000",
         "gen:leanmd: a PE would have 2^32 tasks or more; ask for fewer steps or cells, or "
         "more "
         "PEs",
         WF_ELIMIT},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_graph *graph = NULL;
        struct wf_err err = {.status = WF_OK};

        CHECK(gen_try_graph(&wf_gen_leanmd_ops, cases[i].settings, 2, &graph, &err) ==
              cases[i].status);
        CHECK_STR(err.text, cases[i].words);
        CHECK(graph == NULL);
    }
}

int main(void)
{
    RUN(pairs_of_near_cells);
    RUN(the_cells_of_bigsim);
    RUN(interactions_fill_a_sphere);
    RUN(spreading);
    RUN(cells_differ);
    RUN(refused);
    return wf_test_done();
}
