/* SPDX-License-Identifier: Apache-2.0 */
#include "lockstep/device.h"

#include "base/mem.h"
#include "base/units.h"
#include "lockstep/launch.h"
#include "lockstep/place.h"
#include "lockstep/program.h"
#include "lockstep/tables.h"
#include "net/deadlock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    TOGETHER_NODES = 4096,   /* networks of at most so many routers share a launch */
    CYCLES_FIRST = 64,       /* of the first launch, from which the pace is learned; fewer... */
    ROUTERS_FIRST = 1 << 15, /* ...if this many cycles of routers are */
    LAUNCH_MS = 150,         /* how long a launch should take: Ctrl-C waits for it */
    TILE_MAX = 1024,
    BLOCK_BYTES = 1024,  /* of shared memory: what a block costs besides */
    BLOCK_THREADS = 512, /* of kernels that are not important */
    ROUTERS_LEAST = 32,  /* of a block, if there is only one network */
    REGISTERS = 64, /* of a thread, with small records: 1,024 threads of a processor can run */
    /* Many networks: threads of a block, for each of its routers and at most. */
    MANY_OF_ROUTER = 2,
    MANY_MOST = 512,
    /* One network that stays in shared memory: likewise, and blocks of a processor. */
    STAY_OF_ROUTER = 4,
    STAY_MOST = 1024,
    STAY_PARTS = 2,
    /* One that does not. */
    TILES_THREADS = 128,
    TILES_PARTS = 8,
    /* Kernels for all networks. */
    WHOLE_THREADS = 256,
    LISTS_FIRST = 16, /* elements of the lists of a node, if messages need some... */
    LISTS_MORE = 4,   /* ...and how many times as many if that is too few */
    TABLES = 19,
};

/* Networks that are alike, on a device. */
struct group {
    const struct wf_lockstep_device_run *run;
    const struct wf_gpu_ops *ops;
    struct wf_gpu *gpu;
    struct wf_gpu_facts facts;
    struct wf_lockstep_task **tasks;
    size_t n;
    struct wf_lockstep_launch launch;
    wf_gpu_address tables[TABLES], state, out, varied, count, open, scratch;
    struct wf_gpu_program program;
    uint64_t state_bytes;
    size_t n_outs; /* counts: those of a network, or of a block */
    struct wf_gpu_launch how;
    bool full; /* lists of messages were too short: all is to be done again */
};

/* ---- groups ---- */

/* Whether two networks may share tables and a launch. */
static bool are_alike(const struct wf_lockstep_net *a, const struct wf_lockstep_net *b)
{
    struct wf_lockstep_net x, y;
    const void *first = &x, *second = &y;

    memcpy(&x, a, sizeof(x)); /* with what is between the members */
    memcpy(&y, b, sizeof(y));
    x.seed = y.seed = 0;
    x.scale = y.scale = 0;
    x.silent = y.silent = 0;
    x.neighbor = y.neighbor = NULL;
    x.in_port = y.in_port = NULL;
    x.coords = y.coords = NULL;
    x.size = y.size = NULL;
    x.kinds = y.kinds = NULL;
    x.before = y.before = NULL;
    x.chance = y.chance = NULL;
    x.mail.sizes = y.mail.sizes = NULL;
    x.mail.up_to = y.mail.up_to = NULL;
    x.host = y.host = NULL;
    /* Those that depend on more than the topology. */
    bool same = a->kind_of == NULL && b->kind_of == NULL && a->partners == NULL &&
                b->partners == NULL && a->scales == NULL && b->scales == NULL &&
                a->mail.n_sizes == 0 && b->mail.n_sizes == 0 && a->pattern != WF_LOCKSTEP_LOCAL;
    return same && wf_lockstep_same_routes(a, b) && memcmp(first, second, sizeof(x)) == 0 &&
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
static enum wf_status put_tables(struct group *group, struct wf_err *err)
{
    struct wf_lockstep_net *net = &group->launch.net;
    const uint64_t rows = net->n - net->routes.first;
    const uint64_t n_pairs = net->first_pair != NULL ? net->first_pair[net->n_nodes] : 0;
#define AT(member) offsetof(struct wf_lockstep_net, member)
    const struct table tables[TABLES] = {
        {AT(neighbor), net->n, net->n_ports, sizeof(*net->neighbor)},
        {AT(in_port), net->n, net->n_ports, sizeof(*net->in_port)},
        {AT(kind_of), net->n, net->n_ports, sizeof(*net->kind_of)},
        {AT(coords), net->n, net->n_dims, sizeof(*net->coords)},
        {AT(size), net->n_dims, 1, sizeof(*net->size)},
        {AT(partners), net->n_nodes, 1, sizeof(*net->partners)},
        {AT(scales), net->n_nodes, 1, sizeof(*net->scales)},
        {AT(kinds), net->n_kinds, 1, sizeof(*net->kinds)},
        {AT(before), net->n, net->n_ports, sizeof(*net->before)},
        {AT(routes.next), rows, net->n_nodes, sizeof(*net->routes.next)},
        {AT(routes.climb), rows, net->n_nodes, sizeof(*net->routes.climb)},
        {AT(routes.distance), rows, net->n_nodes, sizeof(*net->routes.distance)},
        {AT(routes.hops), net->n, net->n_ports, sizeof(*net->routes.hops)},
        {AT(routes.group), net->n, 1, sizeof(*net->routes.group)},
        {AT(chance), net->diameter + UINT64_C(1), 1, sizeof(*net->chance)},
        {AT(pairs), n_pairs, 1, sizeof(*net->pairs)},
        {AT(first_pair), net->n_nodes + UINT64_C(1), 1, sizeof(*net->first_pair)},
        {AT(mail.sizes), net->mail.n_sizes, 1, sizeof(*net->mail.sizes)},
        {AT(mail.up_to), net->mail.n_sizes, 1, sizeof(*net->mail.up_to)},
    };
#undef AT
    enum wf_status status = WF_OK;

    for (int i = 0; i < TABLES && status == WF_OK; i++) {
        const struct table *table = &tables[i];
        uint64_t bytes = table->n * table->each * table->size;
        void *from = NULL;
        memcpy(&from, (char *)net + table->offset, sizeof(from));
        if (from == NULL) {
            continue;
        }
        status = group->ops->allocate(group->gpu, bytes, &group->tables[i], err);
        if (status == WF_OK) {
            status = group->ops->copy_in(group->gpu, group->tables[i], from, bytes, err);
        }
        void *there = wf_gpu_pointer(group->tables[i]);
        memcpy((char *)net + table->offset, &there, sizeof(there));
    }
    return status;
}

/* Bytes of one network on the device, without tables. */
static uint64_t bytes_of(const struct group *group)
{
    return group->state_bytes + sizeof(struct wf_lockstep_out) +
           sizeof(struct wf_lockstep_varied);
}

static uint64_t table_bytes(const struct wf_lockstep_net *net)
{
    return (uint64_t)net->n * (net->n_ports * (sizeof(*net->neighbor) + 2 * sizeof(uint16_t)) +
                               net->n_dims * sizeof(*net->coords)) +
           (uint64_t)net->n_nodes * (sizeof(*net->partners) + sizeof(*net->scales)) +
           (net->n_dims > 0 ? 0
                            : (uint64_t)(net->n - net->routes.first) * net->n_nodes *
                                  (2 * sizeof(uint16_t) + sizeof(uint8_t)));
}

/* How many networks fit into the memory of the device; WF_ELIMIT if none does. */
static enum wf_status how_many_fit(const struct group *group, size_t *n, struct wf_err *err)
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

/* Allocates and clears the networks. */
static enum wf_status put_networks(struct group *group, struct wf_err *err)
{
    struct wf_lockstep_launch *launch = &group->launch;
    struct wf_lockstep_varied *varied = wf_xcalloc(group->n, sizeof(*varied));
    const struct wf_gpu_ops *ops = group->ops;
    uint64_t out_bytes = group->n_outs * sizeof(struct wf_lockstep_out);

    for (size_t i = 0; i < group->n; i++) {
        const struct wf_lockstep_net *net = wf_lockstep_net(group->tasks[i]->lockstep);
        varied[i] = (struct wf_lockstep_varied){
            .seed = net->seed, .scale = net->scale, .silent = net->silent};
    }
    enum wf_status status =
        ops->allocate(group->gpu, group->n * group->state_bytes, &group->state, err);
    if (status == WF_OK) {
        status = ops->allocate(group->gpu, out_bytes, &group->out, err);
    }
    if (status == WF_OK) {
        status = ops->allocate(group->gpu, group->n * sizeof(*varied), &group->varied, err);
    }
    if (status == WF_OK) {
        status = ops->allocate(group->gpu, 2 * sizeof(uint32_t), &group->count, err);
    }
    if (status == WF_OK) {
        status = ops->allocate(group->gpu, group->n * sizeof(uint64_t), &group->open, err);
    }
    if (status == WF_OK) {
        status = ops->zero(group->gpu, group->count, 2 * sizeof(uint32_t), err);
    }
    if (status == WF_OK) {
        status = ops->zero(group->gpu, group->state, group->n * group->state_bytes, err);
    }
    if (status == WF_OK) {
        status = ops->zero(group->gpu, group->out, out_bytes, err);
    }
    if (status == WF_OK) {
        status =
            ops->copy_in(group->gpu, group->varied, varied, group->n * sizeof(*varied), err);
    }
    free(varied);
    (void)wf_lockstep_place_device(&launch->net, wf_gpu_pointer(group->state));
    launch->state_stride = group->state_bytes;
    launch->net.out = wf_gpu_pointer(group->out);
    launch->varied = wf_gpu_pointer(group->varied);
    launch->count = wf_gpu_pointer(group->count);
    launch->open = wf_gpu_pointer(group->open);
    launch->net.mail.full = launch->count + 1;
    launch->n_nets = (uint32_t)group->n;
    return status;
}

static void release(struct group *group)
{
    for (int i = 0; i < TABLES; i++) {
        group->ops->release(group->gpu, group->tables[i]);
    }
    group->ops->release(group->gpu, group->state);
    group->ops->release(group->gpu, group->out);
    group->ops->release(group->gpu, group->varied);
    group->ops->release(group->gpu, group->count);
    group->ops->release(group->gpu, group->open);
    group->ops->release(group->gpu, group->scratch);
}

/* ---- running ---- */

/* Threads of a block, and blocks, of kernels that are not important. */
static uint32_t threads_of_plain(const struct group *group)
{
    return group->facts.threads_max < BLOCK_THREADS ? group->facts.threads_max : BLOCK_THREADS;
}

static uint32_t blocks_of_plain(const struct group *group)
{
    return 4 * group->facts.processors;
}

static double seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Bytes of shared memory of a block, as tile_at() in lockstep/kernels.c divides them. */
static uint32_t shared_bytes(const struct wf_lockstep_net *net, uint32_t tile)
{
    uint32_t channels = net->n_ports * net->vcs, asking = channels + 1;
    uint32_t listed = net->n_inputs + channels + net->n_ports + 2;
    uint32_t words = 12 + tile * (wf_lockstep_device_words(net) + asking);

    return (words * 4 + tile * listed * 2 + 7) / 8 * 8;
}

/* The largest tile for which `parts` blocks fit into the shared memory of a processor; 0 if there is
 * none. Tiles are multiples of four: the words of four routers are a multiple of 16 bytes. */
static uint32_t tile_for(const struct group *group, uint32_t parts, uint32_t wanted)
{
    uint32_t bytes = group->facts.shared_max / parts, tile = (wanted + 3) / 4 * 4;

    bytes = parts > 1 && bytes > BLOCK_BYTES ? bytes - BLOCK_BYTES : bytes;
    while (tile > 0 && shared_bytes(&group->launch.net, tile) > bytes) {
        tile -= 4;
    }
    return tile;
}

/* Prepares the launch of a kernel with blocks of at most so many threads, as its registers allow.
 * *fit becomes the number of blocks that run at the same time. */
static enum wf_status find_block(struct group *group, struct wf_gpu_launch how, uint32_t tile,
                                 uint32_t *fit, struct wf_err *err)
{
    *fit = 0;
    how.threads =
        how.threads < group->facts.threads_max ? how.threads : group->facts.threads_max;
    how.shared = shared_bytes(&group->launch.net, tile);
    for (; tile > 0 && *fit == 0 && how.threads > 0; how.threads /= 2) {
        WF_TRY(group->ops->resident(group->gpu, &how, fit, err));
        group->how = how;
    }
    if (*fit == 0) {
        return wf_err_set(err, WF_EIO, "the GPU cannot run the kernel %s", how.kernel);
    }
    group->launch.tile = tile;
    return WF_OK;
}

/* A power of two, at least 32: threads of a block of so many routers. */
static uint32_t threads_for(uint32_t routers, uint32_t of_router, uint32_t most)
{
    uint32_t threads = most;

    while (threads > 32 && threads / 2 >= routers * of_router) {
        threads /= 2;
    }
    return threads;
}

/* Many networks: a block for each, with threads for its routers. */
static enum wf_status spread_many(struct group *group, struct wf_err *err)
{
    uint32_t n = group->launch.net.n, fit = 0;
    uint32_t threads = threads_for(n, MANY_OF_ROUTER, MANY_MOST);

    const struct wf_gpu_launch how = {
        .kernel = "wf_gpu_lockstep_many", .blocks = (uint32_t)group->n, .threads = threads};
    group->n_outs = group->n;
    return find_block(group, how, tile_for(group, 1, n < TILE_MAX ? n : TILE_MAX), &fit, err);
}

/* Divides the routers of one network by blocks, multiples of four for each. */
static void divide(struct group *group, uint32_t blocks)
{
    struct wf_lockstep_launch *launch = &group->launch;
    uint32_t n = launch->net.n, most = (n + ROUTERS_LEAST - 1) / ROUTERS_LEAST;

    blocks = blocks < most ? blocks : most;
    blocks = blocks > 0 ? blocks : 1;
    launch->chunk = ((n + blocks - 1) / blocks + 3) / 4 * 4;
    group->how.blocks = (n + launch->chunk - 1) / launch->chunk;
    group->n_outs = group->how.blocks;
}

/* One network whose routers' own words stay in the shared memory of the device. *fits: it is small
 * enough. */
static enum wf_status spread_resident(struct group *group, bool *fits, struct wf_err *err)
{
    struct wf_gpu_launch how = {.kernel = "wf_gpu_lockstep_one", .together = true};

    *fits = false;
    for (uint32_t parts = STAY_PARTS; parts > 0 && !*fits; parts--) {
        uint32_t blocks = parts * group->facts.processors, fit = 0;
        divide(group, blocks);
        uint32_t tile = tile_for(group, parts, group->launch.chunk);
        if (tile == group->launch.chunk) {
            how.threads = threads_for(tile, STAY_OF_ROUTER, STAY_MOST);
            WF_TRY(find_block(group, how, tile, &fit, err));
            divide(group, blocks);
            *fits = fit >= group->how.blocks;
        }
    }
    return WF_OK;
}

/* One network whose blocks take turns with tiles of their routers. */
static enum wf_status spread_tiles(struct group *group, struct wf_err *err)
{
    const struct wf_gpu_launch how = {
        .kernel = "wf_gpu_lockstep_one", .threads = TILES_THREADS, .together = true};
    uint32_t n = group->launch.net.n, fit = 0, tile = 0;

    for (uint32_t parts = TILES_PARTS; parts > 0 && tile == 0; parts--) {
        tile = tile_for(group, parts, n < TILE_MAX ? n : TILE_MAX);
    }
    WF_TRY(find_block(group, how, tile, &fit, err));
    divide(group, fit);
    return WF_OK;
}

/* One network, over all blocks that run at the same time. */
static enum wf_status spread_one(struct group *group, struct wf_err *err)
{
    bool fits = false;

    WF_TRY(spread_resident(group, &fits, err));
    return fits ? WF_OK : spread_tiles(group, err);
}

/* Kernels for all networks: threads for all inputs of one network over all blocks, or a block for each
 * network. */
static enum wf_status spread_whole(struct group *group, struct wf_err *err)
{
    const struct wf_lockstep_net *net = &group->launch.net;
    uint64_t inputs = (uint64_t)net->n_nodes * (net->node_ports * net->vcs + net->n_injection) +
                      (uint64_t)(net->n - net->n_nodes) * net->other_ports * net->vcs;
    uint32_t most = group->facts.threads_max, fit = 0;
    bool many = group->n > 1;
    uint32_t wanted = inputs < MANY_MOST ? (uint32_t)inputs : MANY_MOST;
    struct wf_gpu_launch how = {.kernel = many ? "wf_gpu_lockstep_many" : "wf_gpu_lockstep_one",
                                .threads = many ? threads_for(wanted, 1, MANY_MOST)
                                                : (uint32_t)WHOLE_THREADS,
                                .shared = sizeof(uint64_t),
                                .together = !many};

    how.threads = how.threads < most ? how.threads : most;
    for (; fit == 0 && how.threads > 0; how.threads /= 2) {
        WF_TRY(group->ops->resident(group->gpu, &how, &fit, err));
        group->how = how;
    }
    if (fit == 0) {
        return wf_err_set(err, WF_EIO, "the GPU cannot run the kernel %s", how.kernel);
    }
    uint64_t needed = many ? group->n : (inputs - 1) / group->how.threads + 1;
    needed = !many && needed > net->n ? net->n : needed;
    group->how.blocks = needed < fit ? (uint32_t)needed : fit;
    group->n_outs = many ? group->n : group->how.blocks;
    return WF_OK;
}

/* The memory of threads, see lockstep/whole.c: as many as any launch has. */
static enum wf_status put_scratch(struct group *group, struct wf_err *err)
{
    struct wf_lockstep_net *net = &group->launch.net;
    uint64_t threads = (uint64_t)group->how.blocks * group->how.threads;
    uint64_t plain = (uint64_t)blocks_of_plain(group) * threads_of_plain(group);

    if (net->whole == 0) {
        return WF_OK;
    }
    threads = threads > plain ? threads : plain;
    net->scratch_words = (net->n_ports + 1) / 2;
    WF_TRY(group->ops->allocate(group->gpu, threads * net->scratch_words * sizeof(uint32_t),
                                &group->scratch, err));
    net->scratch = wf_gpu_pointer(group->scratch);
    return WF_OK;
}

/* Loads the kernels and chooses how they are spread over the device. */
static enum wf_status spread(struct group *group, struct wf_err *err)
{
    group->program.registers = group->launch.net.tight != 0 ? REGISTERS : 0;
    WF_TRY(group->ops->load(group->gpu, &group->program, err));
    if (group->launch.net.whole != 0) {
        WF_TRY(spread_whole(group, err));
    } else if (group->n > 1) {
        WF_TRY(spread_many(group, err));
    } else {
        WF_TRY(spread_one(group, err));
    }
    group->how.args = &group->launch;
    group->how.args_size = sizeof(group->launch);
    return WF_OK;
}

static enum wf_status advance(struct group *group, uint32_t end, struct wf_err *err)
{
    const struct wf_gpu_ops *ops = group->ops;

    group->launch.end = end;
    WF_TRY(ops->zero(group->gpu, group->count, sizeof(uint32_t), err));
    WF_TRY(ops->zero(group->gpu, group->open, group->n * sizeof(uint64_t), err));
    WF_TRY(ops->launch(group->gpu, &group->how, err));
    WF_TRY(ops->wait(group->gpu, err));
    group->launch.begin = end;
    group->launch.turn ^= 1;
    return WF_OK;
}

/* After a launch: whether lists were full, and whether all rounds of closed loops have ended. */
static enum wf_status look_after(struct group *group, bool *ended, struct wf_err *err)
{
    const struct wf_gpu_ops *ops = group->ops;
    uint32_t full = 0;

    *ended = false;
    if (group->launch.net.mail.needed == 0) {
        return WF_OK;
    }
    WF_TRY(ops->copy_out(group->gpu, &full, group->count + sizeof(full), sizeof(full), err));
    group->full = full != 0;
    if (group->launch.net.mail.rounds > 0) {
        uint64_t *open = wf_xcalloc(group->n, sizeof(*open));
        enum wf_status status =
            ops->copy_out(group->gpu, open, group->open, group->n * sizeof(*open), err);
        *ended = status == WF_OK;
        for (size_t i = 0; i < group->n; i++) {
            *ended = *ended && open[i] == 0;
        }
        free(open);
        WF_TRY(status);
    }
    return WF_OK;
}

static uint32_t first_cycles(const struct group *group)
{
    uint64_t cycles = ROUTERS_FIRST / ((uint64_t)group->launch.net.n * group->n);

    return cycles == 0 ? 1 : cycles > CYCLES_FIRST ? CYCLES_FIRST : (uint32_t)cycles;
}

/* All cycles, in launches that are short enough for Ctrl-C. `done` tasks of `all` are complete. */
static enum wf_status run_cycles(struct group *group, size_t done, size_t all,
                                 struct wf_err *err)
{
    const struct wf_lockstep_device_run *run = group->run;
    uint32_t end = group->launch.net.end, step = first_cycles(group);

    while (group->launch.begin < end) {
        uint32_t at = group->launch.begin, left = end - at;
        double began = seconds();
        WF_TRY(advance(group, at + (step < left ? step : left), err));
        bool ended = false;
        WF_TRY(look_after(group, &ended, err));
        if (group->full || ended) {
            return WF_OK;
        }
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

/* ---- results ---- */

/* A launch of a kernel over all threads of the device, whatever their number. */
static enum wf_status launch_plain(struct group *group, const char *kernel, void *args,
                                   size_t size, struct wf_err *err)
{
    const struct wf_gpu_launch how = {.kernel = kernel,
                                      .threads = threads_of_plain(group),
                                      .blocks = blocks_of_plain(group),
                                      .args = args,
                                      .args_size = size};

    return group->ops->launch(group->gpu, &how, err);
}

/* Adds up the counts of the blocks of one network. */
static enum wf_status sum_up(struct group *group, struct wf_err *err)
{
    struct wf_lockstep_sum sum = {.out = group->launch.net.out, .n = (uint32_t)group->n_outs};

    return group->n > 1 ? WF_OK
                        : launch_plain(group, "wf_gpu_lockstep_sum", &sum, sizeof(sum), err);
}

/* What comes back from the device. */
struct final {
    uint32_t *packets, *blocked;    /* as in struct wf_lockstep_pack */
    struct wf_lockstep_wait *waits; /* of all networks */
    size_t *n_waits;                /* of each */
};

static enum wf_status get_state(struct group *group, struct final *final, struct wf_err *err)
{
    const struct wf_lockstep_net *net = &group->launch.net;
    const struct wf_gpu_ops *ops = group->ops;
    uint64_t routers = (uint64_t)group->n * net->n,
             channels = routers * net->n_ports * net->vcs;
    uint64_t bytes = (channels + routers * net->n_words) * sizeof(uint32_t);
    wf_gpu_address at = 0;
    enum wf_status status = ops->allocate(group->gpu, bytes, &at, err);
    struct wf_lockstep_pack pack = {.net = *net,
                                    .state_stride = group->state_bytes,
                                    .packets = wf_gpu_pointer(at),
                                    .n_nets = group->launch.n_nets};

    pack.blocked = pack.packets + channels;
    final->packets = wf_xmalloc(bytes);
    final->blocked = final->packets + channels;
    if (status == WF_OK) {
        status = launch_plain(group, "wf_gpu_lockstep_pack", &pack, sizeof(pack), err);
    }
    if (status == WF_OK) {
        status = sum_up(group, err);
    }
    if (status == WF_OK) {
        status = ops->copy_out(group->gpu, final->packets, at, bytes, err);
    }
    ops->release(group->gpu, at);
    return status;
}

/* Lists the blocked queues of the first routers of each network. Returns their number. */
static size_t list_waits(const struct group *group, struct final *final)
{
    uint32_t n_words = group->launch.net.n_words, n = group->launch.net.n * n_words;
    size_t all = 0, room = 0;

    for (size_t i = 0; i < group->n; i++) {
        for (uint32_t w = 0; w < n && final->n_waits[i] < WF_NET_WAITS_MAX; w++) {
            uint32_t bits = final->blocked[i * n + w];
            for (; bits != 0 && final->n_waits[i] < WF_NET_WAITS_MAX; bits &= bits - 1) {
                if (all == room) {
                    room = room == 0 ? 64 : 2 * room;
                    final->waits = wf_xrealloc(final->waits, room, sizeof(*final->waits));
                }
                final->waits[all++] = (struct wf_lockstep_wait){
                    .router = w / n_words,
                    .input = w % n_words * 32 + (uint32_t)__builtin_ctz(bits),
                    .n = (uint32_t)i};
                final->n_waits[i]++;
            }
        }
    }
    return all;
}

/* Learns what the blocked queues wait for. */
static enum wf_status get_waits(struct group *group, struct final *final, struct wf_err *err)
{
    const struct wf_gpu_ops *ops = group->ops;
    wf_gpu_address at = 0;

    final->n_waits = wf_xcalloc(group->n, sizeof(*final->n_waits));
    size_t n = list_waits(group, final), bytes = n * sizeof(*final->waits);
    if (n == 0) {
        return WF_OK;
    }
    enum wf_status status = ops->allocate(group->gpu, bytes, &at, err);
    struct wf_lockstep_waits waits = {.net = group->launch.net,
                                      .state_stride = group->state_bytes,
                                      .waits = wf_gpu_pointer(at),
                                      .n = (uint32_t)n};
    if (status == WF_OK) {
        status = ops->copy_in(group->gpu, at, final->waits, bytes, err);
    }
    if (status == WF_OK) {
        status = launch_plain(group, "wf_gpu_lockstep_waits", &waits, sizeof(waits), err);
    }
    if (status == WF_OK) {
        status = ops->copy_out(group->gpu, final->waits, at, bytes, err);
    }
    ops->release(group->gpu, at);
    return status;
}

/* Closed loops: rounds of a network that did not end. */
static enum wf_status get_open(struct group *group, size_t i, uint64_t *open,
                               struct wf_err *err)
{
    return group->ops->copy_out(group->gpu, open, group->open + i * sizeof(*open),
                                sizeof(*open), err);
}

/* With net.stats=links: the loads of a network. */
static enum wf_status get_loads(struct group *group, size_t i, struct wf_net_link_load *loads,
                                struct wf_err *err)
{
    const struct wf_lockstep_net *net = &group->launch.net;
    wf_gpu_address at = (uintptr_t)net->loads + i * group->state_bytes;

    return loads == NULL
               ? WF_OK
               : group->ops->copy_out(group->gpu, loads, at,
                                      (uint64_t)net->n * net->n_ports * sizeof(*loads), err);
}

/* Sets the outcome of each network. */
static enum wf_status collect(struct group *group, enum wf_status outcome, struct wf_err *err)
{
    const struct wf_lockstep_net *net = &group->launch.net;
    size_t channels = (size_t)net->n * net->n_ports * net->vcs, first = 0;
    struct final final = {.packets = NULL};
    struct wf_net_link_load *loads =
        net->has_loads != 0 ? wf_xcalloc((size_t)net->n * net->n_ports, sizeof(*loads)) : NULL;
    bool ended_late = group->launch.begin == net->end; /* too long for the numbers of cycles */
    struct wf_lockstep_out *out = wf_xcalloc(1, sizeof(*out));
    enum wf_status status = get_state(group, &final, err);

    if (status == WF_OK) {
        status = get_waits(group, &final, err);
    }
    for (size_t i = 0; i < group->n && status == WF_OK; i++) {
        struct wf_lockstep_task *task = group->tasks[i];
        const struct wf_lockstep_final one = {.out = out,
                                              .loads = loads,
                                              .packets = final.packets + i * channels,
                                              .waits = final.waits + first,
                                              .n_waits = final.n_waits[i]};
        first += final.n_waits[i];
        status = get_loads(group, i, loads, err);
        if (status != WF_OK) {
            break;
        }
        status = group->ops->copy_out(group->gpu, out, group->out + i * sizeof(*out),
                                      sizeof(*out), err);
        if (status != WF_OK) {
            break;
        }
        status = get_open(group, i, &out->rounds_left, err);
        if (status != WF_OK) {
            break;
        }
        task->result->blocked = out->blocked > 0 || (net->mail.rounds > 0 && ended_late);
        if (task->result->blocked) {
            task->status = wf_err_set(&task->err, WF_ELIMIT,
                                      "packets do not move any more; only events can tell "
                                      "whether this is a deadlock");
            continue;
        }
        wf_lockstep_collect(task->lockstep, &one, task->result->tally);
        task->result->cycle = group->launch.begin;
        task->result->hops = out->sends;
        task->status = outcome;
    }
    free(final.waits);
    free(final.n_waits);
    free(final.packets);
    free(loads);
    free(out);
    return status;
}

/* Runs the networks of a group, which fit into the memory of the device. */
static enum wf_status run_some(struct group *group, size_t done, size_t all, struct wf_err *err)
{
    enum wf_status status = spread(group, err);

    if (status == WF_OK) {
        status = put_tables(group, err);
    }
    if (status == WF_OK) {
        status = put_networks(group, err);
    }
    if (status == WF_OK) {
        status = put_scratch(group, err);
    }
    if (status == WF_OK) {
        status = run_cycles(group, done, all, err);
    }
    if ((status == WF_OK || status == WF_EINTR) && !group->full) {
        status = collect(group, status, err);
    }
    release(group);
    return status;
}

/* The same with lists of messages that are long enough. */
static enum wf_status run_with_lists(const struct group *like, size_t done, size_t all,
                                     struct group *group, struct wf_err *err)
{
    uint32_t capacity = like->launch.net.mail.needed != 0 ? LISTS_FIRST : 0;
    enum wf_status status = WF_OK;

    do {
        *group = *like;
        group->launch.net.mail.capacity = capacity;
        group->state_bytes = wf_lockstep_place_device(&group->launch.net, group);
        status = group->ops->facts(group->gpu, &group->facts, err);
        if (status == WF_OK) {
            status = how_many_fit(group, &group->n, err);
        }
        if (status == WF_OK) {
            status = run_some(group, done, all, err);
        }
        capacity *= LISTS_MORE;
    } while (status == WF_OK && group->full);
    return status;
}

/* Runs networks that are alike, as many at once as there is memory for. */
static void run_group(const struct wf_lockstep_device_run *run, struct wf_lockstep_task **tasks,
                      size_t n, size_t done, size_t all)
{
    for (size_t first = 0; first < n;) {
        const struct wf_lockstep *lock = tasks[first]->lockstep;
        struct wf_lockstep_net tables = *wf_lockstep_net(lock);
        struct wf_err err = {.status = WF_OK};
        wf_lockstep_routes_fill(&tables, lock->model);
        struct group group, like = {.run = run,
                                    .ops = run->gpu->ops,
                                    .gpu = run->gpu,
                                    .tasks = tasks + first,
                                    .n = n - first,
                                    .launch = {.net = tables}};
        like.launch.net.head_last = tables.head_delay;
        like.launch.net.credit_last = tables.credit_delay_max;
        like.program = wf_lockstep_program(&like.launch.net);
        enum wf_status status = run_with_lists(&like, done + first, all, &group, &err);
        for (size_t i = 0; i < group.n && status != WF_OK; i++) {
            tasks[first + i]->status = status;
            tasks[first + i]->err = err;
        }
        first += group.n;
        wf_lockstep_routes_free(&tables);
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
