/* SPDX-License-Identifier: Apache-2.0 */
/* What every registered generator of task graphs promises, whoever wrote it: each task gets
 * exactly what it needs, nothing waits for itself, and all tasks run in the end. */
#include "program/gen/graphs.h"

#include "base/mem.h"
#include "harness/wf_test.h"

struct books {
    const struct wf_graph *graph;
    uint32_t *first;             /* [n_pes + 1] tasks of each PE in the following lists */
    struct wf_task_needs *given; /* to each task, by all the others */
    struct wf_task_needs *left;  /* that is missing before it can run */
    uint32_t *ready;             /* tasks that can run, as places in these lists */
    uint32_t n_ready;
};

static struct wf_graph *make(const struct wf_graph_ops *ops, uint32_t n_pes)
{
    void *params = wf_xcalloc(1, ops->params_size);
    struct wf_graph *graph = NULL;

    if (wf_param_defaults(ops->params, params, NULL) != WF_OK ||
        ops->create(params, n_pes, &graph, NULL) != WF_OK) {
        abort();
    }
    wf_param_release(ops->params, params);
    free(params);
    return graph;
}

static void open_books(struct books *books, const struct wf_graph *graph)
{
    uint32_t n = 0;

    *books = (struct books){.graph = graph};
    books->first = wf_xcalloc((size_t)graph->n_pes + 1, sizeof(*books->first));
    for (uint32_t pe = 0; pe < graph->n_pes; pe++) {
        n += graph->ops->n_tasks(graph, pe);
        books->first[pe + 1] = n;
    }
    books->given = wf_xcalloc((size_t)n + 1, sizeof(*books->given));
    books->left = wf_xcalloc((size_t)n + 1, sizeof(*books->left));
    books->ready = wf_xcalloc((size_t)n + 1, sizeof(*books->ready));
}

static void close_books(struct books *books)
{
    free(books->first);
    free(books->given);
    free(books->left);
    free(books->ready);
}

/* Enters what a task gives to others; if it runs, they miss it no more. */
static void pass_on(struct books *books, const struct wf_task *task, bool run)
{
    const struct wf_graph *graph = books->graph;
    int64_t offset = 0;

    for (uint32_t i = 0; i < task->n_next; i++) {
        uint32_t next = graph->ops->next(graph, task, i);
        CHECK(next < graph->ops->n_tasks(graph, task->pe));
        uint32_t at = books->first[task->pe] + next;
        books->given[at].tasks++;
        if (run && --books->left[at].tasks == 0 && books->left[at].messages == 0) {
            books->ready[books->n_ready++] = at;
        }
    }
    for (uint32_t i = 0; i < task->n_sends; i++) {
        struct wf_task_send send;
        graph->ops->send(graph, task, i, &send);
        CHECK(send.offset >= offset && send.offset <= task->duration);
        CHECK(send.pe < graph->n_pes);
        offset = send.offset;
        uint32_t to = wf_graph_target(graph, send.pe, task->pe, send.id);
        CHECK(to < graph->ops->n_tasks(graph, send.pe));
        uint32_t at = books->first[send.pe] + to;
        books->given[at].messages++;
        if (run && --books->left[at].messages == 0 && books->left[at].tasks == 0) {
            books->ready[books->n_ready++] = at;
        }
    }
}

/* Asks for everything, once. */
static void enter_all(struct books *books)
{
    const struct wf_graph *graph = books->graph;

    for (uint32_t pe = 0; pe < graph->n_pes; pe++) {
        uint32_t n_tasks = graph->ops->n_tasks(graph, pe);
        uint32_t root = graph->ops->root(graph, pe, 0);

        for (uint32_t i = 0; i < n_tasks && wf_test_failed == 0; i++) {
            uint32_t at = books->first[pe] + i;
            struct wf_task task;

            graph->ops->task(graph, pe, i, &task);
            CHECK(task.pe == pe && task.number == i && task.duration >= 0);
            pass_on(books, &task, false);
            books->left[at] = graph->ops->needs(graph, pe, i);
            /* The roots are the tasks that need nothing, in order. */
            bool is_root = books->left[at].tasks == 0 && books->left[at].messages == 0;
            CHECK(is_root == (i == root));
            if (is_root) {
                books->ready[books->n_ready++] = at;
                root = graph->ops->root(graph, pe, i + 1);
            }
        }
        CHECK_U64(root, WF_NO_TASK);
        CHECK_U64(graph->ops->root(graph, pe, n_tasks), WF_NO_TASK);
    }
    for (uint32_t at = 0; at < books->first[graph->n_pes]; at++) {
        CHECK_U64(books->given[at].tasks, books->left[at].tasks);
        CHECK_U64(books->given[at].messages, books->left[at].messages);
    }
}

/* Runs what can run until nothing can: in the end that must be all. A second look at each task
 * must find what the first one did. */
static void run_all(struct books *books)
{
    const struct wf_graph *graph = books->graph;
    uint32_t n = books->first[graph->n_pes];

    memset(books->given, 0, n * sizeof(*books->given));
    for (uint32_t done = 0; done < books->n_ready && wf_test_failed == 0; done++) {
        uint32_t pe = 0;
        struct wf_task task;

        while (books->ready[done] >= books->first[pe + 1]) {
            pe++;
        }
        graph->ops->task(graph, pe, books->ready[done] - books->first[pe], &task);
        pass_on(books, &task, true);
    }
    CHECK_U64(books->n_ready, n);
    for (uint32_t at = 0; at < n; at++) {
        CHECK(books->left[at].tasks == 0 && books->left[at].messages == 0);
    }
}

static void every_task_gets_what_it_needs(void)
{
    static const uint32_t sizes[] = {1, 2, 7, 64, 600};

    for (const struct wf_graph_ops *const *ops = wf_gen_graph_table(); *ops != NULL; ops++) {
        if (!wf_test_wants((*ops)->name)) {
            continue;
        }
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            struct wf_graph *graph = make(*ops, sizes[i]);
            struct books books;

            CHECK_U64(graph->n_pes, sizes[i]);
            open_books(&books, graph);
            enter_all(&books);
            CHECK(wf_test_failed == 0);
            run_all(&books);
            CHECK(wf_test_failed == 0);
            close_books(&books);
            wf_graph_free(graph);
        }
    }
}

static void every_generator_is_described(void)
{
    for (const struct wf_graph_ops *const *ops = wf_gen_graph_table(); *ops != NULL; ops++) {
        if (!wf_test_wants((*ops)->name)) {
            continue;
        }
        CHECK(wf_gen_graph_find((*ops)->name) == *ops);
        CHECK((*ops)->summary != NULL);
        for (const struct wf_param *row = (*ops)->params; row->name != NULL; row++) {
            CHECK(row->doc != NULL && row->offset < (*ops)->params_size);
        }
    }
    CHECK(wf_gen_graph_find("nothing") == NULL);
}

int main(void)
{
    RUN(every_generator_is_described);
    RUN(every_task_gets_what_it_needs);
    return wf_test_done();
}
