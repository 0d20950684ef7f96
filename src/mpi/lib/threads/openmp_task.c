/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks. A task waits in the queue of its team until its predecessors have ended and a thread
 * that waits takes it, in the order of simulated time. In a team of one thread tasks are
 * executed at once.
 */
#include "mpi/lib/memory.h"
#include "mpi/lib/threads/openmp.h"

#include <stdlib.h>
#include <string.h>

/* Counts what a taskwait or a taskgroup waits for. */
struct pending {
    uint64_t n;
    int64_t done_at; /* when the last one ended */
};

struct group {
    struct group *outer;
    struct pending pending;
};

/* Tasks that a later one may depend on, by address. */
struct dependence {
    struct dependence *next;
    const void *address;
    struct wl_omp_task *writer;   /* the last one; or null */
    struct wl_omp_task **readers; /* since then */
    uint32_t n_readers, capacity;
};

struct wl_omp_task {
    struct wl_omp_task *next; /* in the queue */
    struct wl_omp_task *parent;
    struct wl_omp_team *team;
    struct group *group;
    void (*function)(void *);
    void *data;
    int64_t ready; /* picoseconds of the region */
    uint64_t blocked_by;
    struct wl_omp_task **successors;
    uint32_t n_successors, capacity;
    struct pending children;
    struct dependence **dependences; /* of its children; hashed */
    uint32_t references;
    bool is_final, has_ended;
};

enum { BUCKETS = 64, QUEUED_MAX = 64 };

/* ---- memory ---- */

struct wl_omp_task *wl_omp_task_implicit(void)
{
    struct wl_omp_task *task = wl_calloc(1, sizeof(*task));

    task->references = 1;
    return task;
}

static void free_dependences(struct wl_omp_task *task)
{
    for (int i = 0; task->dependences != NULL && i < BUCKETS; i++) {
        while (task->dependences[i] != NULL) {
            struct dependence *dependence = task->dependences[i];
            task->dependences[i] = dependence->next;
            if (dependence->writer != NULL) {
                wl_omp_task_release(dependence->writer);
            }
            for (uint32_t k = 0; k < dependence->n_readers; k++) {
                wl_omp_task_release(dependence->readers[k]);
            }
            free(dependence->readers);
            free(dependence);
        }
    }
    free(task->dependences);
    task->dependences = NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as tasks are nested */
void wl_omp_task_release(struct wl_omp_task *task)
{
    if (--task->references > 0) {
        return;
    }
    free_dependences(task);
    if (task->parent != NULL) {
        wl_omp_task_release(task->parent);
    }
    free(task->successors);
    free(task);
}

/* The child comes with room for its data, which is aligned. */
static struct wl_omp_task *child_of(const struct wl_omp_thread *thread, size_t bytes,
                                    size_t align)
{
    size_t most = align > 16 ? align : 16;
    struct wl_omp_task *task = wl_calloc(1, sizeof(*task) + bytes + most);

    task->references = 1;
    task->parent = thread->task;
    task->parent->references++;
    task->team = thread->team;
    task->group = thread->task->group;
    task->data = (void *)(((uintptr_t)(task + 1) + most - 1) / most * most);
    return task;
}

/* ---- the queue ---- */

static void push(struct wl_omp_task *task)
{
    struct wl_omp_team *team = task->team;

    task->next = NULL;
    if (team->last != NULL) {
        team->last->next = task;
    } else {
        team->first = task;
    }
    team->last = task;
    team->n_queued++;
}

static void unqueue(struct wl_omp_task *task)
{
    struct wl_omp_team *team = task->team;
    struct wl_omp_task *before = NULL;

    for (struct wl_omp_task *at = team->first; at != task; at = at->next) {
        before = at;
    }
    if (before != NULL) {
        before->next = task->next;
    } else {
        team->first = task->next;
    }
    if (team->last == task) {
        team->last = before;
    }
    team->n_queued--;
}

struct wl_omp_task *wl_omp_task_any(const struct wl_omp_thread *thread)
{
    return thread->team->first;
}

int64_t wl_omp_task_ready(const struct wl_omp_thread *thread, const struct wl_omp_task *task)
{
    return task->ready > thread->clock ? task->ready : thread->clock;
}

/* ---- execution ---- */

static void end_one(struct pending *pending, int64_t clock)
{
    pending->n--;
    pending->done_at = clock > pending->done_at ? clock : pending->done_at;
}

static void end_task(struct wl_omp_task *task, int64_t clock)
{
    task->has_ended = true;
    end_one(&task->parent->children, clock);
    for (struct group *group = task->group; group != NULL; group = group->outer) {
        end_one(&group->pending, clock);
    }
    for (uint32_t i = 0; i < task->n_successors; i++) {
        struct wl_omp_task *next = task->successors[i];
        next->ready = clock > next->ready ? clock : next->ready;
        if (--next->blocked_by == 0 && next->function != NULL) {
            push(next);
        }
        wl_omp_task_release(next);
    }
    task->n_successors = 0;
}

static void execute(struct wl_omp_thread *thread, struct wl_omp_task *task)
{
    struct wl_omp_task *outer = thread->task;
    void (*function)(void *) = task->function;

    thread->task = task;
    wl_omp_end(thread);
    function(task->data);
    (void)wl_omp_begin(NULL);
    thread->task = outer;
    end_task(task, thread->clock);
}

void wl_omp_task_run(struct wl_omp_thread *thread, struct wl_omp_task *task)
{
    unqueue(task);
    thread->clock = wl_omp_task_ready(thread, task);
    execute(thread, task);
    task->team->unfinished--;
    wl_omp_task_release(task);
}

static struct wl_omp_task *queued_child(const struct wl_omp_thread *thread)
{
    struct wl_omp_task *task = thread->team->first;

    while (task != NULL && task->parent != thread->task) {
        task = task->next;
    }
    return task;
}

static struct wl_omp_task *queued_in_group(const struct wl_omp_thread *thread)
{
    for (struct wl_omp_task *task = thread->team->first; task != NULL; task = task->next) {
        for (const struct group *group = task->group; group != NULL; group = group->outer) {
            if (group == thread->task->group) {
                return task;
            }
        }
    }
    return NULL;
}

static int64_t pending_ready(const struct wl_omp_thread *thread, const struct pending *pending,
                             const struct wl_omp_task *task)
{
    if (pending->n == 0) {
        return pending->done_at > thread->clock ? pending->done_at : thread->clock;
    }
    return task != NULL ? wl_omp_task_ready(thread, task) : WL_OMP_NEVER;
}

static int64_t children_ready(const struct wl_omp_thread *thread)
{
    return pending_ready(thread, &thread->task->children, queued_child(thread));
}

static int64_t group_ready(const struct wl_omp_thread *thread)
{
    return pending_ready(thread, &thread->task->group->pending, queued_in_group(thread));
}

static void wait_for(struct wl_omp_thread *thread, const struct pending *pending,
                     int64_t (*ready)(const struct wl_omp_thread *),
                     struct wl_omp_task *(*queued)(const struct wl_omp_thread *))
{
    bool was_pending = pending->n > 0;

    while (pending->n > 0) {
        wl_omp_wait(thread, ready);
        struct wl_omp_task *task = pending->n > 0 ? queued(thread) : NULL;
        if (task != NULL) {
            wl_omp_task_run(thread, task);
        }
    }
    if (was_pending && thread->omp->active && pending->done_at > thread->clock) {
        thread->clock = pending->done_at;
    }
}

/* ---- dependences ---- */

static struct dependence *dependence_of(struct wl_omp_task *parent, const void *address)
{
    if (parent->dependences == NULL) {
        parent->dependences = wl_calloc(BUCKETS, sizeof(struct dependence *));
    }
    struct dependence **bucket = &parent->dependences[((uintptr_t)address >> 3) % BUCKETS];
    struct dependence *found = *bucket;
    while (found != NULL && found->address != address) {
        found = found->next;
    }
    if (found == NULL) {
        found = wl_calloc(1, sizeof(*found));
        found->address = address;
        found->next = *bucket;
        *bucket = found;
    }
    return found;
}

/* The task begins after `before`, unless that has ended. */
static void follow(struct wl_omp_task *task, struct wl_omp_task *before)
{
    if (before == NULL || before == task || before->has_ended) {
        return;
    }
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    WL_GROW(before->successors, before->n_successors, before->capacity);
    before->successors[before->n_successors++] = task;
    task->references++;
    task->blocked_by++;
}

static void depend(struct wl_omp_task *task, const void *address, bool writes)
{
    struct dependence *dependence = dependence_of(task->parent, address);

    follow(task, dependence->writer);
    if (!writes) {
        /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
        WL_GROW(dependence->readers, dependence->n_readers, dependence->capacity);
        dependence->readers[dependence->n_readers++] = task;
        task->references++;
        return;
    }
    for (uint32_t i = 0; i < dependence->n_readers; i++) {
        follow(task, dependence->readers[i]);
        wl_omp_task_release(dependence->readers[i]);
    }
    dependence->n_readers = 0;
    if (dependence->writer != NULL) {
        wl_omp_task_release(dependence->writer);
    }
    dependence->writer = task;
    task->references++;
}

/* The list is as the compiler makes it: all, those that are written; or, if the first word is
 * 0, all, written, exclusive, read, and the rest are objects of type omp_depend_t. */
static void depend_on_all(struct wl_omp_task *task, void **list)
{
    enum { READ = 1 };
    bool is_old = list[0] != NULL;
    size_t n = (size_t)(uintptr_t)(is_old ? list[0] : list[1]);
    size_t writers = is_old ? (size_t)(uintptr_t)list[1]
                            : (size_t)(uintptr_t)list[2] + (size_t)(uintptr_t)list[3];
    size_t plain = is_old ? n : writers + (size_t)(uintptr_t)list[4];
    void **addresses = list + (is_old ? 2 : 5);

    for (size_t i = 0; i < n; i++) {
        if (i < plain) {
            depend(task, addresses[i], i < writers);
        } else {
            void *const *object = addresses[i];
            depend(task, object[0], (uintptr_t)object[1] != READ);
        }
    }
}

/* ---- the functions of libgomp ---- */

enum {
    UNTIED = 1,
    FINAL = 2,
    DEPEND = 8,
    UP = 1 << 8,
    GRAIN = 1 << 9,
    IF = 1 << 10,
    NO_GROUP = 1 << 11,
    REDUCTION = 1 << 12,
    DETACH = 1 << 13
};

static int64_t unblocked(const struct wl_omp_thread *thread)
{
    const struct wl_omp_task *task = thread->wanted, *queued = queued_child(thread);

    if (task->blocked_by == 0) {
        return task->ready > thread->clock ? task->ready : thread->clock;
    }
    return queued != NULL ? wl_omp_task_ready(thread, queued) : WL_OMP_NEVER;
}

/* Executes other children until the predecessors of the task have ended. */
static void wait_for_predecessors(struct wl_omp_thread *thread, struct wl_omp_task *task)
{
    while (task->blocked_by > 0) {
        thread->wanted = task;
        wl_omp_wait(thread, unblocked);
        struct wl_omp_task *queued = task->blocked_by > 0 ? queued_child(thread) : NULL;
        if (queued != NULL) {
            wl_omp_task_run(thread, queued);
        }
    }
}

static void submit(struct wl_omp_thread *thread, struct wl_omp_task *task,
                   void (*function)(void *), bool at_once)
{
    task->parent->children.n++;
    for (struct group *group = task->group; group != NULL; group = group->outer) {
        group->pending.n++;
    }
    task->ready = thread->clock;
    if (at_once) {
        wait_for_predecessors(thread, task);
        task->function = function;
        execute(thread, task);
        wl_omp_task_release(task);
        return;
    }
    task->function = function;
    task->team->unfinished++;
    if (task->blocked_by == 0) {
        push(task);
    }
    wl_omp_let_go(thread, false);
}

/* Copies the data of a new task. */
static void copy(struct wl_omp_task *task, void *data, void (*copier)(void *, void *),
                 size_t bytes)
{
    if (copier != NULL) {
        copier(task->data, data);
    } else {
        memcpy(task->data, data, bytes);
    }
}

static bool is_undeferred(const struct wl_omp_thread *thread)
{
    return thread->team->n == 1 || thread->task->is_final ||
           thread->team->n_queued > QUEUED_MAX * thread->team->n;
}

static void task(void (*function)(void *), void *data, void (*copier)(void *, void *),
                 long bytes, long align, bool condition, unsigned flags, void **depends,
                 int priority, void *detach)
{
    struct wl_omp_thread *thread = wl_omp_begin(__builtin_return_address(0));
    struct wl_omp_task *child = child_of(thread, (size_t)bytes, (size_t)align);

    if (flags & DETACH) {
        wl_fatal(thread->omp->rank, "weft does not have detached tasks (OpenMP)");
    }
    copy(child, data, copier, (size_t)bytes);
    child->is_final = (flags & FINAL) != 0 || thread->task->is_final;
    if (flags & DEPEND) {
        depend_on_all(child, depends);
    }
    submit(thread, child, function, !condition || is_undeferred(thread));
    wl_omp_end(thread);
}

WL_OMP_ENTRY(taskwait, wait_for(thread, &thread->task->children, children_ready, queued_child),
             void)

static void do_nothing(void *data)
{
}

static void taskwait_depend(void **depends)
{
    struct wl_omp_thread *thread = wl_omp_begin(__builtin_return_address(0));
    struct wl_omp_task *child = child_of(thread, 0, 1);

    depend_on_all(child, depends);
    submit(thread, child, do_nothing, true);
    wl_omp_end(thread);
}

WL_OMP_ENTRY(taskyield, wl_omp_let_go(thread, true), void)

static void group_begin(struct wl_omp_thread *thread)
{
    struct group *group = wl_calloc(1, sizeof(*group));

    group->outer = thread->task->group;
    thread->task->group = group;
}

static void group_end(struct wl_omp_thread *thread)
{
    struct group *group = thread->task->group;

    wait_for(thread, &group->pending, group_ready, queued_in_group);
    thread->task->group = group->outer;
    free(group);
}

WL_OMP_ENTRY(taskgroup_start, group_begin(thread), void)
WL_OMP_ENTRY(taskgroup_end, group_end(thread), void)

/* ---- loops of tasks ---- */

/* The data of each task begins with the first value and the one after the last. */
struct taskloop {
    void (*function)(void *);
    void *data;
    void (*copier)(void *, void *);
    size_t bytes, align;
    unsigned flags;
    uint64_t tasks; /* or iterations of a task, with GRAIN */
    uint64_t n, start, step;
};

static void run_taskloop(struct wl_omp_thread *thread, const struct taskloop *loop)
{
    uint64_t tasks = loop->tasks != 0 ? loop->tasks : thread->team->n, at = 0;

    if (loop->flags & REDUCTION) {
        wl_fatal(thread->omp->rank, "weft does not have reductions over tasks (OpenMP)");
    }
    if (loop->flags & GRAIN && loop->tasks != 0) {
        tasks = loop->n / loop->tasks > 0 ? loop->n / loop->tasks : 1;
    }
    tasks = tasks < loop->n ? tasks : loop->n;
    if (!(loop->flags & NO_GROUP)) {
        group_begin(thread);
    }
    for (uint64_t i = 0; i < tasks; i++) {
        struct wl_omp_task *child = child_of(thread, loop->bytes, loop->align);
        uint64_t to = at + loop->n / tasks + (i < loop->n % tasks ? 1 : 0);
        copy(child, loop->data, loop->copier, loop->bytes);
        ((uint64_t *)child->data)[0] = loop->start + at * loop->step;
        ((uint64_t *)child->data)[1] = loop->start + to * loop->step;
        child->is_final = (loop->flags & FINAL) != 0 || thread->task->is_final;
        submit(thread, child, loop->function, !(loop->flags & IF) || is_undeferred(thread));
        at = to;
    }
    if (!(loop->flags & NO_GROUP)) {
        group_end(thread);
    }
}

/* GOMP_taskloop() and GOMP_taskloop_ull(): loops over signed and unsigned variables. */
#define TASKLOOP(name, type)                                                               \
    static void name(void (*function)(void *), void *data, void (*copier)(void *, void *), \
                     long bytes, long align, unsigned flags, unsigned long tasks,          \
                     int priority, type start, type end, type step)                        \
    {                                                                                      \
        struct wl_omp_thread *thread = wl_omp_begin(__builtin_return_address(0));          \
        bool up = (flags & UP) != 0, any = up ? start < end : start > end;                 \
        uint64_t first = (uint64_t)start, last = (uint64_t)end, by = (uint64_t)step;       \
        uint64_t span = up ? last - first : first - last;                                  \
        const struct taskloop loop = {.function = function,                                \
                                      .data = data,                                        \
                                      .copier = copier,                                    \
                                      .bytes = (size_t)bytes,                              \
                                      .align = (size_t)align,                              \
                                      .flags = flags,                                      \
                                      .tasks = tasks,                                      \
                                      .n = any ? (span - 1) / (up ? by : 0 - by) + 1 : 0,  \
                                      .start = first,                                      \
                                      .step = by};                                         \
                                                                                           \
        run_taskloop(thread, &loop);                                                       \
        wl_omp_end(thread);                                                                \
    }

TASKLOOP(taskloop, long)
TASKLOOP(taskloop_ull, uint64_t)

static int in_final(void)
{
    return wl_omp_self()->task->is_final;
}

const struct wl_replacement wl_omp_tasks[] = {
    WL_REPLACE(GOMP_task, task),
    WL_REPLACE(GOMP_taskwait, taskwait),
    WL_REPLACE(GOMP_taskwait_depend, taskwait_depend),
    WL_REPLACE(GOMP_taskyield, taskyield),
    WL_REPLACE(GOMP_taskgroup_start, taskgroup_start),
    WL_REPLACE(GOMP_taskgroup_end, taskgroup_end),
    WL_REPLACE(GOMP_taskloop, taskloop),
    WL_REPLACE(GOMP_taskloop_ull, taskloop_ull),
    WL_REPLACE(omp_in_final, in_final),
    WL_REPLACE(omp_in_final_, in_final),
    WL_REPLACE_END,
};
