/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/router/lockstep/device.h"

#include "base/mem.h"
#include "base/units.h"
#include "model/net/router/lockstep/group.h"
#include "model/net/router/lockstep/place.h"
#include "model/net/router/lockstep/program.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    TOGETHER_NODES = 4096,   /* networks of at most so many routers share a launch */
    CYCLES_FIRST = 64,       /* of the first launch, from which the pace is learned; fewer... */
    ROUTERS_FIRST = 1 << 15, /* ...if this many cycles of routers are */
    LAUNCH_MS = 150,         /* how long a launch should take: Ctrl-C waits for it */
};

/* ---- groups ---- */

/* Whether two networks may share tables and a launch. */
static bool are_alike(const struct wf_lockstep_net *a, const struct wf_lockstep_net *b)
{
    struct wf_lockstep_net x, y;
    const void *first = &x, *second = &y;

    memcpy(&x, a, sizeof(x)); /* with what is between the members */
    memcpy(&y, b, sizeof(y));
    x.rules.seed = y.rules.seed = 0;
    x.scale = y.scale = 0;
    x.silent = y.silent = 0;
    x.neighbor = y.neighbor = NULL;
    x.in_port = y.in_port = NULL;
    x.coords = y.coords = NULL;
    x.size = y.size = NULL;
    x.kinds = y.kinds = NULL;
    x.host = y.host = NULL;
    /* Those that depend on more than the topology. */
    bool same = a->kind_of == NULL && b->kind_of == NULL && a->partners == NULL &&
                b->partners == NULL && a->scales == NULL && b->scales == NULL;
    return same && memcmp(first, second, sizeof(x)) == 0 &&
           memcmp(a->neighbor, b->neighbor, (size_t)a->n * a->n_ports * sizeof(*a->neighbor)) ==
               0 &&
           memcmp(a->kinds, b->kinds, a->n_kinds * sizeof(*a->kinds)) == 0;
}

/* ---- memory ---- */

/* A table of the network: where its pointer is in struct wf_lockstep_net, and its shape. */
struct table {
    size_t offset;
    uint64_t n, each, size; /* elements, and their bytes */
};

/* Copies the tables to the device; the pointers of the launch become those there. */
static enum wf_status put_tables(struct wf_lockstep_group *group, struct wf_err *err)
{
    struct wf_lockstep_net *net = &group->launch.net;
#define AT(member) offsetof(struct wf_lockstep_net, member)
    const struct table tables[WF_LOCKSTEP_TABLES] = {
        {AT(neighbor), net->n, net->n_ports, sizeof(*net->neighbor)},
        {AT(in_port), net->n, net->n_ports, sizeof(*net->in_port)},
        {AT(kind_of), net->n, net->n_ports, sizeof(*net->kind_of)},
        {AT(coords), net->n, net->rules.n_dims, sizeof(*net->coords)},
        {AT(size), net->rules.n_dims, 1, sizeof(*net->size)},
        {AT(partners), net->n_nodes, 1, sizeof(*net->partners)},
        {AT(scales), net->n_nodes, 1, sizeof(*net->scales)},
        {AT(kinds), net->n_kinds, 1, sizeof(*net->kinds)},
    };
#undef AT

    for (int i = 0; i < WF_LOCKSTEP_TABLES; i++) {
        const struct table *table = &tables[i];
        uint64_t bytes = table->n * table->each * table->size;
        void *from = NULL;
        memcpy(&from, (char *)net + table->offset, sizeof(from));
        if (from == NULL) {
            continue;
        }
        WF_TRY(group->ops->allocate(group->gpu, bytes, &group->tables[i], err));
        WF_TRY(group->ops->copy_in(group->gpu, group->tables[i], from, bytes, err));
        void *there = wf_gpu_pointer(group->tables[i]);
        memcpy((char *)net + table->offset, &there, sizeof(there));
    }
    return WF_OK;
}

/* Bytes of one network on the device, without tables. */
static uint64_t bytes_of(const struct wf_lockstep_group *group)
{
    return group->state_bytes + sizeof(struct wf_lockstep_out) +
           sizeof(struct wf_lockstep_varied);
}

static uint64_t table_bytes(const struct wf_lockstep_net *net)
{
    return (uint64_t)net->n * (net->n_ports * (sizeof(*net->neighbor) + 2 * sizeof(uint16_t)) +
                               net->rules.n_dims * sizeof(*net->coords)) +
           (uint64_t)net->n_nodes * (sizeof(*net->partners) + sizeof(*net->scales));
}

/* How many networks fit into the memory of the device; WF_ELIMIT if none does. */
static enum wf_status how_many_fit(const struct wf_lockstep_group *group, size_t *n,
                                   struct wf_err *err)
{
    const struct wf_lockstep_net *net = &group->launch.net;
    char needed[WF_UNITS_TEXT_MAX], there[WF_UNITS_TEXT_MAX];
    uint64_t tables = table_bytes(net), each = bytes_of(group);
    uint64_t left = group->facts.memory_free / 16 * 15; /* the driver needs some */

    if (tables + each > left) {
        return wf_err_set(err, WF_ELIMIT,
                          "a network of %" PRIu32
                          " routers needs %s on the GPU, of which %s are "
                          "free; use --exec lockstep, or a smaller network",
                          net->n, wf_human_size(tables + each, needed),
                          wf_human_size(group->facts.memory_free, there));
    }
    uint64_t fit = (left - tables) / each;
    *n = fit < group->n ? (size_t)fit : group->n;
    return WF_OK;
}

/* What differs between the networks. */
static enum wf_status put_varied(struct wf_lockstep_group *group, struct wf_err *err)
{
    struct wf_lockstep_varied *varied = wf_xcalloc(group->n, sizeof(*varied));

    for (size_t i = 0; i < group->n; i++) {
        const struct wf_lockstep_net *net = wf_lockstep_net(group->tasks[i]->lockstep);
        varied[i] = (struct wf_lockstep_varied){
            .seed = net->rules.seed, .scale = net->scale, .silent = net->silent};
    }
    enum wf_status status =
        group->ops->copy_in(group->gpu, group->varied, varied, group->n * sizeof(*varied), err);
    free(varied);
    return status;
}

/* Memory that is all zero. The caller releases it, after a failure, too. */
static enum wf_status allocate_clear(struct wf_lockstep_group *group, uint64_t bytes,
                                     wf_gpu_address *at, struct wf_err *err)
{
    WF_TRY(group->ops->allocate(group->gpu, bytes, at, err));
    return group->ops->zero(group->gpu, *at, bytes, err);
}

/* Allocates and clears the networks. */
static enum wf_status put_networks(struct wf_lockstep_group *group, struct wf_err *err)
{
    struct wf_lockstep_launch *launch = &group->launch;
    uint64_t n = group->n;

    WF_TRY(allocate_clear(group, n * group->state_bytes, &group->state, err));
    WF_TRY(allocate_clear(group, group->n_outs * sizeof(struct wf_lockstep_out), &group->out,
                          err));
    WF_TRY(allocate_clear(group, sizeof(uint32_t), &group->count, err));
    WF_TRY(allocate_clear(group, n * sizeof(*launch->varied), &group->varied, err));
    WF_TRY(put_varied(group, err));
    (void)wf_lockstep_place_device(&launch->net, wf_gpu_pointer(group->state));
    launch->state_stride = group->state_bytes;
    launch->net.out = wf_gpu_pointer(group->out);
    launch->varied = wf_gpu_pointer(group->varied);
    launch->count = wf_gpu_pointer(group->count);
    launch->n_nets = (uint32_t)group->n;
    return WF_OK;
}

static void release(struct wf_lockstep_group *group)
{
    for (int i = 0; i < WF_LOCKSTEP_TABLES; i++) {
        group->ops->release(group->gpu, group->tables[i]);
    }
    group->ops->release(group->gpu, group->state);
    group->ops->release(group->gpu, group->out);
    group->ops->release(group->gpu, group->varied);
    group->ops->release(group->gpu, group->count);
}

/* ---- running ---- */

static double seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static enum wf_status advance(struct wf_lockstep_group *group, uint32_t end, struct wf_err *err)
{
    const struct wf_gpu_ops *ops = group->ops;

    group->launch.end = end;
    WF_TRY(ops->zero(group->gpu, group->count, sizeof(uint32_t), err));
    WF_TRY(ops->launch(group->gpu, &group->how, err));
    WF_TRY(ops->wait(group->gpu, err));
    group->launch.begin = end;
    return WF_OK;
}

static uint32_t first_cycles(const struct wf_lockstep_group *group)
{
    uint64_t cycles = ROUTERS_FIRST / ((uint64_t)group->launch.net.n * group->n);

    return cycles == 0 ? 1 : cycles > CYCLES_FIRST ? CYCLES_FIRST : (uint32_t)cycles;
}

/* All cycles, in launches that are short enough for Ctrl-C. `done` tasks of `all` are complete. */
static enum wf_status run_cycles(struct wf_lockstep_group *group, size_t done, size_t all,
                                 struct wf_err *err)
{
    const struct wf_lockstep_device_run *run = group->run;
    uint32_t end = group->launch.net.end, step = first_cycles(group);

    while (group->launch.begin < end) {
        uint32_t at = group->launch.begin, left = end - at;
        double began = seconds();
        WF_TRY(advance(group, at + (step < left ? step : left), err));
        double took = (seconds() - began) * 1e3;
        uint64_t next = took > 0 ? (uint64_t)((double)step * LAUNCH_MS / took) : step * 2ULL;
        next = next > step * 8ULL ? step * 8ULL : next;
        step = next < 1 ? 1 : next > UINT32_MAX / 16 ? UINT32_MAX / 16 : (uint32_t)next;
        if (run->progress != NULL) {
            double part = (double)group->launch.begin / end * (double)group->n;
            run->progress(run->progress_arg, ((double)done + part) / (double)all);
        }
        if (run->stop != NULL && *run->stop != 0 && group->launch.begin < end) {
            return wf_err_set(err, WF_EINTR, "interrupted");
        }
    }
    return WF_OK;
}

/* ---- groups of networks ---- */

/* Runs the networks of a group, which fit into the memory of the device. */
static enum wf_status run_some(struct wf_lockstep_group *group, size_t done, size_t all,
                               struct wf_err *err)
{
    enum wf_status status = wf_lockstep_group_spread(group, err);

    status = status == WF_OK ? put_tables(group, err) : status;
    status = status == WF_OK ? put_networks(group, err) : status;
    status = status == WF_OK ? run_cycles(group, done, all, err) : status;
    if (status == WF_OK || status == WF_EINTR) {
        status = wf_lockstep_group_collect(group, status, err);
    }
    release(group);
    return status;
}

/* As many of the networks of a group as there is memory for at once. */
static enum wf_status run_first(struct wf_lockstep_group *group, size_t done, size_t all,
                                struct wf_err *err)
{
    group->state_bytes = wf_lockstep_place_device(&group->launch.net, group);
    WF_TRY(group->ops->facts(group->gpu, &group->facts, err));
    WF_TRY(how_many_fit(group, &group->n, err));
    return run_some(group, done, all, err);
}

/* Runs networks that are alike. */
static void run_group(const struct wf_lockstep_device_run *run, struct wf_lockstep_task **tasks,
                      size_t n, size_t done, size_t all)
{
    for (size_t first = 0; first < n;) {
        struct wf_err err = {.status = WF_OK};
        struct wf_lockstep_group group = {
            .run = run,
            .ops = run->gpu->ops,
            .gpu = run->gpu,
            .tasks = tasks + first,
            .n = n - first,
            .launch = {.net = *wf_lockstep_net(tasks[first]->lockstep)}};
        group.launch.net.head_last = group.launch.net.head_delay;
        group.launch.net.credit_last = group.launch.net.credit_delay_max;
        group.program = wf_lockstep_program(&group.launch.net);
        enum wf_status status = run_first(&group, done + first, all, &err);
        for (size_t i = 0; i < group.n && status != WF_OK; i++) {
            tasks[first + i]->status = status;
            tasks[first + i]->err = err;
        }
        first += group.n;
    }
}

void wf_lockstep_device_run(const struct wf_lockstep_device_run *run,
                            struct wf_lockstep_task *tasks, size_t n)
{
    struct wf_lockstep_task **group = wf_xcalloc(n, sizeof(struct wf_lockstep_task *));
    bool *taken = wf_xcalloc(n, sizeof(*taken));
    size_t done = 0;

    for (size_t i = 0; i < n; i++) {
        const struct wf_lockstep_net *first = wf_lockstep_net(tasks[i].lockstep);
        size_t n_group = 0;
        if (taken[i]) {
            continue;
        }
        for (size_t k = i; k < n; k++) {
            if (k == i || (!taken[k] && first->n <= TOGETHER_NODES &&
                           are_alike(first, wf_lockstep_net(tasks[k].lockstep)))) {
                group[n_group++] = &tasks[k];
                taken[k] = true;
            }
        }
        run_group(run, group, n_group, done, n);
        done += n_group;
    }
    free(taken);
    free(group);
}
