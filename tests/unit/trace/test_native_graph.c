/* SPDX-License-Identifier: Apache-2.0 */
/* Task graphs in native traces. Graphs are read back unchanged, in any order and with little
 * memory; truncated or damaged graphs are refused or reported. */
#include "base/mem.h"
#include "harness/gen_make.h"
#include "harness/pe_random.h"
#include "harness/wf_test.h"
#include "program/trace/reader.h"
#include "program/trace/weft/graph.h"
#include "program/trace/writer.h"

#include <string.h>
#include <unistd.h>

enum { N_RANDOM = 200, N_DAMAGES = 300, FILE_MAX = 1 << 20 };

static char path[] = "/tmp/weft-graph-XXXXXX";
static unsigned char whole[FILE_MAX], bytes[FILE_MAX];
static size_t size;

static enum wf_status write_graph(const struct wf_graph *graph, struct wf_err *err)
{
    const struct wf_trace_writer_options options = {.n_ranks = graph->n_pes,
                                                    .tasks = true,
                                                    .streams = wf_graph_has_streams(graph),
                                                    .force = true,
                                                    .creator = "test"};
    struct wf_trace_writer *writer = NULL;
    uint64_t n_tasks = 0;

    must(wf_native_writer_ops.create(path, &options, &writer, err), err);
    enum wf_status status = writer->ops->add_graph(writer, graph, &n_tasks, err);
    if (status != WF_OK) {
        writer->ops->discard(writer);
        return status;
    }
    return writer->ops->finish(writer, err);
}

static struct wf_trace reopen(void)
{
    struct wf_trace trace;
    struct wf_err err;

    must(wf_trace_open(path, &trace, &err), &err);
    if (trace.source != NULL || trace.graph == NULL) {
        abort();
    }
    return trace;
}

static bool same_send(const struct wf_graph *a, const struct wf_graph *b,
                      const struct wf_task *in_a, const struct wf_task *in_b, uint32_t i)
{
    struct wf_task_send x, y;

    a->ops->send(a, in_a, i, &x);
    b->ops->send(b, in_b, i, &y);
    return x.offset == y.offset && x.bytes == y.bytes && x.pe == y.pe && x.nic == y.nic &&
           x.peer_nic == y.peer_nic &&
           wf_graph_target(a, x.pe, in_a->pe, x.id) == wf_graph_target(b, y.pe, in_b->pe, y.id);
}

static bool same_task(const struct wf_graph *a, const struct wf_graph *b, uint32_t pe,
                      uint32_t number)
{
    struct wf_task_needs x = a->ops->needs(a, pe, number), y = b->ops->needs(b, pe, number);
    struct wf_task in_a, in_b;
    bool same = x.tasks == y.tasks && x.messages == y.messages;

    a->ops->task(a, pe, number, &in_a);
    b->ops->task(b, pe, number, &in_b);
    same = same && in_a.duration == in_b.duration && in_a.n_sends == in_b.n_sends &&
           in_a.n_next == in_b.n_next && in_a.stream == in_b.stream;
    for (uint32_t i = 0; same && i < in_a.n_sends; i++) {
        same = same_send(a, b, &in_a, &in_b, i);
    }
    for (uint32_t i = 0; same && i < in_a.n_next; i++) {
        same = a->ops->next(a, &in_a, i) == b->ops->next(b, &in_b, i);
    }
    return same && a->ops->root(a, pe, number) == b->ops->root(b, pe, number);
}

/* Compares all tasks, in steps that jump about. */
static bool same_graph(const struct wf_graph *a, const struct wf_graph *b)
{
    if (a->n_pes != b->n_pes || wf_graph_n_streams(a) != wf_graph_n_streams(b) ||
        wf_graph_n_nics(a) != wf_graph_n_nics(b)) {
        return false;
    }
    for (uint32_t i = 0; i < wf_graph_n_streams(a); i++) {
        if (wf_graph_stream(a, i) != wf_graph_stream(b, i)) {
            return false;
        }
    }
    for (uint32_t pe = 0; pe < a->n_pes; pe++) {
        uint32_t n = a->ops->n_tasks(a, pe);
        if (n != b->ops->n_tasks(b, pe)) {
            return false;
        }
        for (uint32_t i = 0; i < n; i++) {
            if (!same_task(a, b, pe, (uint32_t)((uint64_t)i * 7919 % n))) {
                return false;
            }
        }
    }
    return true;
}

static void random_graphs_are_read_as_they_were_written(void)
{
    static struct drawing drawing;

    for (uint64_t seed = 0; seed < N_RANDOM; seed++) {
        struct wf_err err = {.status = WF_OK};

        draw_random(&drawing, seed, 1000);
        if (seed % 3 == 0) {
            draw_streams(&drawing, seed, 1000, 1 + (uint32_t)seed % 5);
            draw_nics(&drawing, 2);
        }
        must(write_graph(&drawing.graph, &err), &err);
        struct wf_trace trace = reopen();
        if (!same_graph(&drawing.graph, trace.graph)) {
            printf("# seed %llu\n", (unsigned long long)seed);
            CHECK(false);
        }
        CHECK(wf_graph_check(trace.graph, &err) == WF_OK);
        wf_trace_close(&trace);
    }
}

static void memory_is_bounded(void)
{
    enum { LIMIT = 1 << 20, BLOCK = 8 << 15 };
    struct wf_graph *graph = gen_make_graph(&wf_gen_leanmd_ops, 3, "steps=6");
    struct wf_err err = {.status = WF_OK};
    uint64_t most = 0;

    must(write_graph(graph, &err), &err);
    struct wf_trace trace = reopen();
    wf_native_graph_limit(trace.graph, LIMIT);
    for (uint32_t i = 0; i < 30000; i++) {
        uint32_t pe = i % 3, n = graph->ops->n_tasks(graph, pe);
        CHECK(same_task(graph, trace.graph, pe, (uint32_t)((uint64_t)i / 3 * 131 % n)));
        uint64_t memory = wf_native_graph_memory(trace.graph);
        most = memory > most ? memory : most;
    }
    CHECK(most <= LIMIT + BLOCK && most > LIMIT / 2);
    wf_trace_close(&trace);

    /* All of it is more. */
    trace = reopen();
    CHECK(same_graph(graph, trace.graph));
    CHECK(wf_native_graph_memory(trace.graph) > 2 * LIMIT);
    wf_trace_close(&trace);
    wf_graph_free(graph);
}

/* ---- what is wrong ---- */

static void refused(struct drawing *drawing, const char *words)
{
    struct wf_err err = {.status = WF_OK};

    CHECK(write_graph(&drawing->graph, &err) == WF_EINVAL);
    if (strstr(err.text, words) == NULL) {
        printf("# %s\n", err.text);
        CHECK(false);
    }
}

static void two_tasks(struct drawing *drawing)
{
    *drawing = (struct drawing){.graph = {.ops = &drawing_ops, .n_pes = 2}};
    draw_task(drawing, 0, 10);
    draw_task(drawing, 1, 10);
    draw_send(drawing, 0, 0, (struct wf_task_send){.offset = 5, .bytes = 3, .pe = 1});
}

static void graphs_that_make_no_sense_are_not_written(void)
{
    static struct drawing drawing;
    struct wf_err err = {.status = WF_OK};

    two_tasks(&drawing);
    CHECK(write_graph(&drawing.graph, &err) == WF_OK);
    drawing.tasks[0][0].sends[0].offset = 11;
    refused(&drawing, "task 0 of PE 0: its messages are not in the order of time");
    two_tasks(&drawing);
    drawing.tasks[0][0].sends[0].pe = 2;
    refused(&drawing, "a PE that is not there");
    two_tasks(&drawing);
    drawing.tasks[0][0].sends[0].id = 1;
    refused(&drawing, "a task that is not there");
    two_tasks(&drawing);
    drawing.tasks[1][0].duration = -1;
    refused(&drawing, "task 0 of PE 1: its duration is negative");
    two_tasks(&drawing);
    drawing.tasks[0][0].sends[0].bytes = UINT64_MAX;
    refused(&drawing, "negative length");
    two_tasks(&drawing);
    drawing.tasks[1][0].needs.tasks = 1;
    refused(&drawing, "task 0 of PE 1: it waits for another number of tasks");
    two_tasks(&drawing);
    drawing.tasks[1][0].n_next = 1;
    drawing.tasks[1][0].next[0] = 1;
    refused(&drawing, "a task that waits for it is not there");
}

/* A task that waits for itself and says so: nobody can start it, and if it needs a message too
 * and gets two, it must not run for ever. */
static void a_graph_cannot_run_for_ever(void)
{
    static struct drawing drawing;
    struct wf_pe_tally tally;

    two_tasks(&drawing);
    drawing.tasks[1][0].n_next = 1;
    drawing.tasks[1][0].next[0] = 0;
    const struct pe_setup setup = {
        .graph = &drawing.graph, .net_ops = wf_net_table()[0], .mpi = {.local = false}};
    (void)run_in_order(&setup, &tally);
    CHECK(tally.tasks == 2 && tally.surplus == 0);

    /* It is named once more than it waits for. */
    drawing.tasks[1][0].needs.messages = 0;
    drawing.tasks[1][0].needs.tasks = 1;
    draw_task(&drawing, 1, 1);
    draw_next(&drawing, 1, 1, 0);
    drawing.tasks[1][0].needs.tasks = 1;
    (void)run_in_order(&setup, &tally);
    CHECK(tally.surplus > 0);
}

static void put(size_t n)
{
    FILE *out = fopen(path, "wb");

    (void)fwrite(bytes, 1, n, out);
    (void)fclose(out);
}

static bool is_handled(const struct wf_graph *graph)
{
    struct wf_err err = {.status = WF_OK};
    struct wf_trace trace;
    enum wf_status status = wf_trace_open(path, &trace, &err);

    if (status != WF_OK) {
        return status == WF_EINVAL && strstr(err.text, path) != NULL;
    }
    bool same = trace.graph != NULL && same_graph(graph, trace.graph);
    if (trace.graph != NULL) {
        struct wf_task task;
        for (uint32_t pe = 0; pe < trace.graph->n_pes; pe++) {
            for (uint32_t i = 0; i < trace.graph->ops->n_tasks(trace.graph, pe); i++) {
                trace.graph->ops->task(trace.graph, pe, i, &task);
            }
        }
        status = wf_graph_check(trace.graph, &err);
    }
    wf_trace_close(&trace);
    return same ? true : status == WF_EINVAL && strstr(err.text, path) != NULL;
}

static void damage_is_found(void)
{
    struct wf_graph *graph = gen_make_graph(&wf_gen_leanmd_ops, 60, "steps=1");
    struct wf_err err = {.status = WF_OK};

    must(write_graph(graph, &err), &err);
    FILE *in = fopen(path, "rb");
    size = fread(whole, 1, sizeof(whole), in);
    (void)fclose(in);
    CHECK(size > 4096 && size < sizeof(whole));
    for (uint64_t i = 0; i < N_DAMAGES; i++) {
        size_t at = (size_t)(wf_test_rand(7, 0, i) % size);
        memcpy(bytes, whole, size);
        bytes[at] ^= (unsigned char)(1U << (wf_test_rand(7, 1, i) % 8));
        put(i % 4 == 0 ? at : size);
        if (!is_handled(graph)) {
            printf("# byte %zu\n", at);
            CHECK(false);
        }
    }
    for (size_t n = 1; n < 400; n++) {
        memcpy(bytes, whole, size);
        put(n);
        CHECK(is_handled(graph));
    }
    wf_graph_free(graph);
}

int main(void)
{
    int fd = mkstemp(path);

    if (fd < 0) {
        return EXIT_FAILURE;
    }
    (void)close(fd);
    RUN(random_graphs_are_read_as_they_were_written);
    RUN(memory_is_bounded);
    RUN(graphs_that_make_no_sense_are_not_written);
    RUN(a_graph_cannot_run_for_ever);
    RUN(damage_is_found);
    (void)unlink(path);
    return wf_test_done();
}
