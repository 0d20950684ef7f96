/* SPDX-License-Identifier: Apache-2.0 */
/* How kernels are spread over a device: blocks, threads, and the routers that a block has in its shared
 * memory. */
#include "model/net/router/lockstep/group.h"
#include "model/net/router/lockstep/place.h"

enum {
    TILE_MAX = 1024,
    BLOCK_BYTES = 1024, /* of shared memory: what a block costs besides */
    ROUTERS_LEAST = 32, /* of a block, if there is only one network */
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
};

/* Bytes of shared memory of a block, as tile_at() in model/net/router/lockstep/kernels.c divides them. */
static uint32_t shared_bytes(const struct wf_lockstep_net *net, uint32_t tile)
{
    uint32_t channels = net->n_ports * net->rules.vcs, asking = channels + 1;
    uint32_t listed = net->n_inputs + channels + net->n_ports + 2;
    uint32_t words = 12 + tile * (wf_lockstep_device_words(net) + asking);

    return (words * 4 + tile * listed * 2 + 7) / 8 * 8;
}

/* The largest tile for which `parts` blocks fit into the shared memory of a processor; 0 if there is
 * none. Tiles are multiples of four: the words of four routers are a multiple of 16 bytes. */
static uint32_t tile_for(const struct wf_lockstep_group *group, uint32_t parts, uint32_t wanted)
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
static enum wf_status find_block(struct wf_lockstep_group *group, struct wf_gpu_launch how,
                                 uint32_t tile, uint32_t *fit, struct wf_err *err)
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
static enum wf_status spread_many(struct wf_lockstep_group *group, struct wf_err *err)
{
    uint32_t n = group->launch.net.n, fit = 0;
    uint32_t threads = threads_for(n, MANY_OF_ROUTER, MANY_MOST);

    const struct wf_gpu_launch how = {
        .kernel = "wf_gpu_lockstep_many", .blocks = (uint32_t)group->n, .threads = threads};
    group->n_outs = group->n;
    return find_block(group, how, tile_for(group, 1, n < TILE_MAX ? n : TILE_MAX), &fit, err);
}

/* Divides the routers of one network by blocks, multiples of four for each. */
static void divide(struct wf_lockstep_group *group, uint32_t blocks)
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
static enum wf_status spread_resident(struct wf_lockstep_group *group, bool *fits,
                                      struct wf_err *err)
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
static enum wf_status spread_tiles(struct wf_lockstep_group *group, struct wf_err *err)
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
static enum wf_status spread_one(struct wf_lockstep_group *group, struct wf_err *err)
{
    bool fits = false;

    WF_TRY(spread_resident(group, &fits, err));
    return fits ? WF_OK : spread_tiles(group, err);
}

/* Loads the kernels and chooses how they are spread over the device. */
enum wf_status wf_lockstep_group_spread(struct wf_lockstep_group *group, struct wf_err *err)
{
    group->program.registers = group->launch.net.tight != 0 ? REGISTERS : 0;
    WF_TRY(group->ops->load(group->gpu, &group->program, err));
    if (group->n > 1) {
        WF_TRY(spread_many(group, err));
    } else {
        WF_TRY(spread_one(group, err));
    }
    group->how.args = &group->launch;
    group->how.args_size = sizeof(group->launch);
    return WF_OK;
}
