/* SPDX-License-Identifier: Apache-2.0 */
#include "run/plan/placement.h"

#include "base/array.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "base/units.h"
#include "model/net/net.h"
#include "model/topo/nested.h"
#include "run/import/tracer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {
    [WF_PLACEMENT_AUTO] = "auto",
    [WF_PLACEMENT_LINEAR] = "linear",
    [WF_PLACEMENT_ROUNDROBIN] = "roundrobin",
    [WF_PLACEMENT_RANDOM] = "random",
    [WF_PLACEMENT_BLOCK] = "block:",
    [WF_PLACEMENT_NODES] = "nodes:",
    [WF_PLACEMENT_FILE] = "file:",
    [WF_PLACEMENT_TRACER] = "tracer:",
};

enum { N_KINDS = sizeof(kind_names) / sizeof(kind_names[0]) };

/* ---- lists of nodes ---- */

/* Reads a number and moves *at to its end. False if there is none, or if it is too large. */
static bool parse_number(const char **at, uint32_t *out)
{
    uint64_t number = 0;
    const char *digits = *at;

    while (**at >= '0' && **at <= '9' && number <= UINT32_MAX) {
        number = 10 * number + (uint64_t)(*(*at)++ - '0');
    }
    *out = (uint32_t)number;
    return *at > digits && number <= UINT32_MAX;
}

/* Reads the next part of a list, "7" or "8-11", with the comma after it. */
static bool parse_range(const char **at, uint32_t *first, uint32_t *last)
{
    bool ok = parse_number(at, first);

    *last = *first;
    if (ok && **at == '-') {
        (*at)++;
        ok = parse_number(at, last) && *last >= *first;
    }
    if (ok && **at == ',') {
        (*at)++;
        return **at != '\0';
    }
    return ok && **at == '\0';
}

static enum wf_status check_list(const char *text, struct wf_err *err)
{
    uint32_t first = 0, last = 0;

    for (const char *at = text; *at != '\0';) {
        if (!parse_range(&at, &first, &last)) {
            return wf_err_set(err, WF_EUSAGE,
                              "'nodes:%.64s' is not a list of nodes; expected numbers and "
                              "ranges, as in nodes:0,8-11",
                              text);
        }
    }
    return WF_OK;
}

/* The nodes of a job, in the order of the list. */
static enum wf_status place_list(const struct wf_placement_job *job, uint32_t n_nodes,
                                 uint32_t *node_of, struct wf_err *err)
{
    uint32_t first = 0, last = 0, rank = 0, n_listed = 0;

    for (const char *at = job->placement.path; *at != '\0';) {
        if (!parse_range(&at, &first, &last)) {
            break; /* wf_placement_parse() has checked it */
        }
        if (last >= n_nodes) {
            return wf_err_set(err, WF_EINVAL,
                              "nodes:%.64s: there is no node %u; the last one is %u",
                              job->placement.path, last, n_nodes - 1);
        }
        for (uint32_t node = first; node <= last; node++, n_listed++) {
            for (uint32_t i = 0; i < job->ranks_per_node && rank < job->n_ranks; i++) {
                node_of[rank++] = node;
            }
        }
    }
    if (rank == job->n_ranks) {
        return WF_OK;
    }
    return wf_err_set(err, WF_EINVAL,
                      "nodes:%.64s: %u node%s for %u ranks, of which %u are on a node",
                      job->placement.path, n_listed, n_listed == 1 ? "" : "s", job->n_ranks,
                      job->ranks_per_node);
}

/* ---- reading ---- */

/* Reads "4x4x2". */
static enum wf_status parse_block(const char *text, struct wf_placement *out,
                                  struct wf_err *err)
{
    for (const char *at = text;; at++) {
        uint32_t size = 0;

        if (!parse_number(&at, &size) || size == 0 || out->n_dims == WF_TOPO_COORDS_MAX ||
            (*at != 'x' && *at != '\0')) {
            return wf_err_set(err, WF_EUSAGE,
                              "'block:%.64s' is not a block; expected 1 to %d sizes, as in "
                              "block:4x4x2",
                              text, WF_TOPO_COORDS_MAX);
        }
        out->block[out->n_dims++] = size;
        if (*at == '\0') {
            return WF_OK;
        }
    }
}

static enum wf_status unknown_placement(const char *text, struct wf_err *err)
{
    char hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    wf_nearest_begin(&nearest, text);
    for (int i = 0; i < N_KINDS; i++) {
        if (strcmp(kind_names[i], text) != 0) { /* "file:" lacks its path */
            wf_nearest_add(&nearest, kind_names[i]);
        }
    }
    return wf_err_set(err, WF_EUSAGE,
                      "'%.64s' is not a placement; expected auto, linear, roundrobin, random, "
                      "block:<size>x..., nodes:<list>, file:<path> or tracer:<path>%s",
                      text, wf_nearest_hint(&nearest, hint));
}

enum wf_status wf_placement_parse(const char *text, struct wf_placement *out,
                                  struct wf_err *err)
{
    for (int i = 0; i < N_KINDS; i++) {
        size_t len = strlen(kind_names[i]);
        bool has_more = kind_names[i][len - 1] == ':';

        if (strncmp(text, kind_names[i], len) != 0 || (text[len] != '\0') != has_more) {
            continue;
        }
        *out = (struct wf_placement){.kind = (enum wf_placement_kind)i, .path = text + len};
        return i == WF_PLACEMENT_BLOCK   ? parse_block(text + len, out, err)
               : i == WF_PLACEMENT_NODES ? check_list(text + len, err)
                                         : WF_OK;
    }
    return unknown_placement(text, err);
}

/* ---- files ---- */

/* The maximum size of a file: so much, and so much for each rank. */
enum { TEXT_MIN = 1 << 20, LINE_AVERAGE = 256 };

/* A text file with one node number per line, that of rank 0 first. Empty lines and comments,
 * which begin with '#', are ignored. */
struct file {
    const char *path;
    uint32_t n_ranks, n_nodes;
    uint32_t *node_of;
    uint32_t line, n; /* lines and nodes read so far */
};

/* Cuts off the comment and surrounding blanks; returns where the text begins. */
static char *trim(char *line)
{
    line[strcspn(line, "#\r\n")] = '\0';
    line += strspn(line, " \t");

    size_t len = strlen(line);
    while (len > 0 && strchr(" \t", line[len - 1]) != NULL) {
        line[--len] = '\0';
    }
    return line;
}

static enum wf_status read_line(struct file *file, char *line, struct wf_err *err)
{
    const char *text = trim(line);
    uint64_t node = 0;

    file->line++;
    if (*text == '\0') {
        return WF_OK;
    }
    if (wf_parse_count(text, &node, NULL) != WF_OK) {
        return wf_err_set(err, WF_EINVAL,
                          "%.200s:%u: '%.40s' is not the number of a node; expected one on "
                          "each line",
                          file->path, file->line, text);
    }
    if (node >= file->n_nodes) {
        return wf_err_set(err, WF_EINVAL,
                          "%.200s:%u: there is no node %" PRIu64 "; the last one is %u",
                          file->path, file->line, node, file->n_nodes - 1);
    }
    if (file->n == file->n_ranks) {
        return wf_err_set(err, WF_EINVAL,
                          "%.200s:%u: more nodes than ranks: the program has %u rank%s",
                          file->path, file->line, file->n_ranks, file->n_ranks == 1 ? "" : "s");
    }
    file->node_of[file->n++] = (uint32_t)node;
    return WF_OK;
}

static enum wf_status read_all(struct file *file, struct wf_buf *text, struct wf_err *err)
{
    enum wf_status status = WF_OK;
    char *rest = wf_unconst(wf_text_past_mark((const char *)text->data));

    if (memchr(text->data, '\0', text->size) != NULL) {
        return wf_err_set(err, WF_EINVAL, "%.200s: a NUL byte: this is no text file",
                          file->path);
    }
    while (status == WF_OK && rest != NULL && *rest != '\0') {
        status = read_line(file, strsep(&rest, "\n"), err);
    }
    if (status == WF_OK && file->n < file->n_ranks) {
        status =
            wf_err_set(err, WF_EINVAL, "%.200s:%u: nodes for %u ranks, but the program has %u",
                       file->path, file->line, file->n, file->n_ranks);
    }
    return status;
}

static enum wf_status read_file(const char *path, uint32_t n_ranks, uint32_t n_nodes,
                                uint32_t *node_of, struct wf_err *err)
{
    struct file file = {
        .path = path, .n_ranks = n_ranks, .n_nodes = n_nodes, .node_of = node_of};
    size_t most = TEXT_MIN + (size_t)n_ranks * LINE_AVERAGE;
    struct wf_buf text = {.data = NULL};
    enum wf_status status = wf_file_read(path, most, &text, err);

    WF_THEN(status, read_all(&file, &text, err));
    wf_buf_fini(&text);
    return status;
}

/* ---- how many nodes ---- */

static uint32_t nodes_needed(const struct wf_placement_job *job)
{
    return (job->n_ranks - 1) / job->ranks_per_node + 1;
}

static uint32_t count_ranks(const struct wf_placement_env *env)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < env->n_jobs; i++) {
        n += env->jobs[i].n_ranks;
    }
    return n;
}

/* Whether ranks fill nodes in order, the same number on each: no tables are needed. */
static bool is_linear(const struct wf_placement_env *env)
{
    for (uint32_t i = 0; i < env->n_jobs; i++) {
        const struct wf_placement_job *job = &env->jobs[i];

        if (job->placement.kind > WF_PLACEMENT_LINEAR ||
            job->ranks_per_node != env->jobs[0].ranks_per_node ||
            (i + 1 < env->n_jobs && job->n_ranks % job->ranks_per_node != 0)) {
            return false;
        }
    }
    return true;
}

bool wf_placement_has_files(const struct wf_placement_env *env)
{
    for (uint32_t i = 0; i < env->n_jobs; i++) {
        if (env->jobs[i].placement.kind >= WF_PLACEMENT_FILE) {
            return true;
        }
    }
    return false;
}

uint64_t wf_placement_memory(const struct wf_placement_env *env)
{
    return is_linear(env) ? 0 : 4 * sizeof(uint32_t);
}

/* A network with the interfaces of this many nodes. */
static struct wf_net_env net_env(const struct wf_placement_env *env, uint32_t n_nodes)
{
    return (struct wf_net_env){
        .topo = env->topo, .n_nodes = n_nodes, .nics = env->nics, .nic_group = env->nic_group};
}

/* The nodes of the machine, which may have several interfaces in the topology. */
static uint32_t capacity(const struct wf_placement_env *env)
{
    const struct wf_net_env of = net_env(env, 0);

    return wf_net_ends_capacity(&of);
}

static enum wf_status too_few_nodes(const struct wf_placement_env *env, uint32_t number,
                                    uint32_t there, struct wf_err *err)
{
    const struct wf_placement_job *job = &env->jobs[number];
    uint32_t nodes = nodes_needed(job);
    const char *unused = there < capacity(env) ? " that are free" : "";
    char needs[96];

    (void)snprintf(needs, sizeof(needs), "%u rank%s, %u on a node, need%s %u node%s",
                   job->n_ranks, job->n_ranks == 1 ? "" : "s", job->ranks_per_node,
                   job->n_ranks == 1 ? "s" : "", nodes, nodes == 1 ? "" : "s");
    enum wf_status status =
        env->nics > 1
            ? wf_err_set(err, WF_EINVAL,
                         "%s with %u network interfaces each, but the %u nodes of %.64s are "
                         "interfaces of only %u%s; take a larger topology or fewer interfaces "
                         "(node.nics)",
                         needs, env->nics, env->topo->n_nodes, env->topo_name, there, unused)
            : wf_err_set(err, WF_EINVAL, "%s, but %.64s has only %u%s", needs, env->topo_name,
                         there, unused);
    if (env->n_jobs > 1) {
        wf_err_prefix(err, "job %u: ", number);
    }
    return status;
}

/* The sizes of a hierarchy are multiplied. If the number of ranks differs from the product, it
 * is probably a mistake. */
static enum wf_status check_whole(const struct wf_placement_env *env, struct wf_err *err)
{
    uint64_t needed = 0;
    bool whole = env->topo != NULL && wf_topo_n_levels(env->topo) > 1;

    for (uint32_t i = 0; i < env->n_jobs; i++) {
        needed += nodes_needed(&env->jobs[i]);
        whole &= env->jobs[i].placement.kind == WF_PLACEMENT_AUTO;
    }
    if (!whole || needed >= capacity(env)) {
        return WF_OK;
    }
    return wf_err_set(err, WF_EINVAL,
                      "%u ranks, %u on a node, need %u nodes, but the hierarchy %.64s has %u; "
                      "--placement linear puts them on its first nodes",
                      count_ranks(env), env->jobs[0].ranks_per_node, (uint32_t)needed,
                      env->topo_name, capacity(env));
}

/* ---- which nodes ---- */

struct placer {
    const struct wf_placement_env *env;
    uint32_t n_nodes; /* nodes of the machine */
    struct wf_net_ends ends;
    uint8_t *taken;    /* [n_nodes] */
    uint32_t *node_of; /* [ranks of all jobs] */
};

/* The free nodes in increasing order; the caller frees the list. */
static uint32_t *list_free(const struct placer *placer, uint32_t *n)
{
    uint32_t *list = wf_xmalloc(((size_t)placer->n_nodes + 1) * sizeof(*list));

    *n = 0;
    for (uint32_t node = 0; node < placer->n_nodes; node++) {
        if (!placer->taken[node]) {
            list[(*n)++] = node;
        }
    }
    return list;
}

/* Moves `wanted` randomly chosen nodes to the front; all choices are equally likely
 * (Fisher-Yates). */
static void draw_nodes(uint32_t *list, uint32_t n, uint32_t wanted, uint64_t seed,
                       uint32_t number)
{
    /* The random streams of this seed belong to processes, so placement uses a seed of its
     * own. */
    uint64_t own = wf_rng_mix(seed ^ UINT64_C(0x706c6163656d656e));

    for (uint32_t i = 0; i < wanted; i++) {
        uint32_t with = i + (uint32_t)wf_rng_below(wf_rng_draw(own, number, i), n - i);
        uint32_t node = list[i];

        list[i] = list[with];
        list[with] = node;
    }
}

struct in_block {
    uint64_t key; /* position of the block, then position of the node within the block */
    uint32_t node;
};

static int by_key(const void *a, const void *b)
{
    const struct in_block *x = a, *y = b;

    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->node < y->node ? -1 : x->node > y->node;
}

/* The size of a topology in each dimension; returns the number of dimensions. */
static uint32_t measure(const struct wf_topo *topo, uint32_t size[WF_TOPO_COORDS_MAX])
{
    uint32_t n_dims = 0;

    memset(size, 0, WF_TOPO_COORDS_MAX * sizeof(*size));
    for (uint32_t node = 0; node < topo->n_nodes; node++) {
        uint32_t coord[WF_TOPO_COORDS_MAX];

        n_dims = topo->ops->coords(topo, node, coord);
        for (uint32_t d = 0; d < n_dims; d++) {
            size[d] = coord[d] >= size[d] ? coord[d] + 1 : size[d];
        }
    }
    return n_dims;
}

static uint64_t key_of(const struct wf_topo *topo, uint32_t node, const uint32_t *size,
                       const struct wf_placement *placement)
{
    uint32_t coord[WF_TOPO_COORDS_MAX];
    uint32_t n_dims = topo->ops->coords(topo, node, coord);
    uint64_t key = 0;

    for (uint32_t d = n_dims; d > 0; d--) {
        uint32_t block = placement->block[d - 1];
        key = key * ((size[d - 1] - 1) / block + 1) + coord[d - 1] / block;
    }
    for (uint32_t d = n_dims; d > 0; d--) {
        /* A block is at most as large as the dimension. */
        uint32_t block = placement->block[d - 1];
        key = key * (block < size[d - 1] ? block : size[d - 1]) + coord[d - 1] % block;
    }
    return key;
}

/* Sorts a list of nodes by block. */
static enum wf_status sort_blocks(const struct placer *placer,
                                  const struct wf_placement *placement, uint32_t *list,
                                  uint32_t n, struct wf_err *err)
{
    const struct wf_topo *topo = placer->env->topo;
    uint32_t size[WF_TOPO_COORDS_MAX];

    if (topo == NULL || wf_topo_n_levels(topo) > 1 || topo->ops->shape != WF_TOPO_SHAPE_GRID) {
        return wf_err_set(err, WF_EINVAL,
                          "placement in blocks needs a topology that is a grid, such as "
                          "torus:8x8x8%s%.64s%s",
                          topo != NULL ? "; '" : "", topo != NULL ? placer->env->topo_name : "",
                          topo != NULL ? "' is none" : "");
    }

    uint32_t n_dims = measure(topo, size);
    if (n_dims != placement->n_dims) {
        return wf_err_set(err, WF_EINVAL,
                          "a block of %u dimension%s does not fit %.64s, which has %u",
                          placement->n_dims, placement->n_dims == 1 ? "" : "s",
                          placer->env->topo_name, n_dims);
    }

    struct in_block *order = wf_xmalloc(((size_t)n + 1) * sizeof(*order));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t end = wf_net_end(&placer->ends, list[i], 0);
        order[i] = (struct in_block){key_of(topo, end, size, placement), list[i]};
    }
    WF_SORT(order, n, by_key);
    for (uint32_t i = 0; i < n; i++) {
        list[i] = order[i].node;
    }
    free(order);
    return WF_OK;
}

/* Places the ranks of a job, numbered from `first` on, on free nodes. */
static enum wf_status place_job(struct placer *placer, uint32_t number, uint32_t first,
                                struct wf_err *err)
{
    const struct wf_placement_job *job = &placer->env->jobs[number];
    uint32_t wanted = nodes_needed(job), n;
    uint32_t *list = list_free(placer, &n);
    enum wf_status status = WF_OK;

    if (n < wanted) {
        status = too_few_nodes(placer->env, number, n, err);
    } else if (job->placement.kind == WF_PLACEMENT_RANDOM) {
        draw_nodes(list, n, wanted, placer->env->seed, number);
    } else if (job->placement.kind == WF_PLACEMENT_BLOCK) {
        status = sort_blocks(placer, &job->placement, list, n, err);
    }
    for (uint32_t r = 0; r < job->n_ranks && status == WF_OK; r++) {
        bool dealt = job->placement.kind == WF_PLACEMENT_ROUNDROBIN;
        placer->node_of[first + r] = list[dealt ? r % wanted : r / job->ranks_per_node];
    }
    free(list);
    return status;
}

/* The nodes of a job that names them. */
static enum wf_status read_nodes(const struct placer *placer, uint32_t number,
                                 uint32_t *node_of, struct wf_err *err)
{
    const struct wf_placement_job *job = &placer->env->jobs[number];

    if (job->placement.kind == WF_PLACEMENT_FILE) {
        return read_file(job->placement.path, job->n_ranks, placer->n_nodes, node_of, err);
    }
    if (job->placement.kind == WF_PLACEMENT_NODES) {
        return place_list(job, placer->n_nodes, node_of, err);
    }
    const struct wf_tracer_placing placing = {
        .path = job->placement.path,
        .job = number,
        .n_ranks = job->n_ranks,
        .ranks_per_node = job->ranks_per_node,
        .n_nodes = placer->n_nodes,
        /* The nodes of the topology are interfaces if nodes have several. */
        .topo = placer->env->nics > 1 ? NULL : placer->env->topo,
    };
    return wf_tracer_place(&placing, node_of, err);
}

/* Places either the jobs that name their nodes, or the others. */
static enum wf_status place_jobs(struct placer *placer, bool named, struct wf_err *err)
{
    enum wf_status status = WF_OK;
    uint32_t first = 0;

    for (uint32_t i = 0; i < placer->env->n_jobs && status == WF_OK; i++) {
        const struct wf_placement_job *job = &placer->env->jobs[i];
        uint32_t *node_of = placer->node_of + first;

        if ((job->placement.kind >= WF_PLACEMENT_NODES) != named) {
            first += job->n_ranks;
            continue;
        }
        if (named) {
            status = read_nodes(placer, i, node_of, err);
        } else {
            status = place_job(placer, i, first, err);
        }
        for (uint32_t r = 0; r < job->n_ranks && status == WF_OK; r++) {
            placer->taken[node_of[r]] = 1;
        }
        first += job->n_ranks;
    }
    return status;
}

/* ---- tables ---- */

/* Numbers the rank slots of each node by increasing rank; takes ownership of the table. */
static void make_tables(uint32_t *node_of, uint32_t n_ranks, struct wf_place *out)
{
    uint32_t n_nodes = 0;

    for (uint32_t r = 0; r < n_ranks; r++) {
        n_nodes = node_of[r] >= n_nodes ? node_of[r] + 1 : n_nodes;
    }

    uint32_t *first = wf_xcalloc((size_t)n_nodes + 1, sizeof(*first));
    uint32_t *slot_of = wf_xmalloc(n_ranks * sizeof(*slot_of));
    uint32_t *rank_at = wf_xmalloc(n_ranks * sizeof(*rank_at));
    uint32_t slots_max = 1;

    for (uint32_t r = 0; r < n_ranks; r++) {
        slot_of[r] = first[node_of[r] + 1]++;
        slots_max = slot_of[r] >= slots_max ? slot_of[r] + 1 : slots_max;
    }
    for (uint32_t node = 0; node < n_nodes; node++) {
        first[node + 1] += first[node];
    }
    for (uint32_t r = 0; r < n_ranks; r++) {
        rank_at[first[node_of[r]] + slot_of[r]] = r;
    }
    *out = (struct wf_place){.n_ranks = n_ranks,
                             .n_nodes = n_nodes,
                             .slots_max = slots_max,
                             .node_of = node_of,
                             .slot_of = slot_of,
                             .first = first,
                             .rank_at = rank_at};
}

static enum wf_status place_linearly(const struct wf_placement_env *env, struct wf_place *out,
                                     struct wf_err *err)
{
    uint32_t there = env->topo != NULL ? capacity(env) : UINT32_MAX;

    for (uint32_t i = 0; i < env->n_jobs; i++) {
        uint32_t needed = nodes_needed(&env->jobs[i]);
        if (needed > there) {
            return too_few_nodes(env, i, there, err);
        }
        there -= needed;
    }
    *out = wf_place_linear(count_ranks(env), env->jobs[0].ranks_per_node);
    return WF_OK;
}

enum wf_status wf_placement_make(const struct wf_placement_env *env, struct wf_place *out,
                                 struct wf_err *err)
{
    const struct wf_net_env none = net_env(env, 0);

    WF_TRY(wf_net_ends_check(&none, err));
    WF_TRY(check_whole(env, err));
    if (is_linear(env)) {
        return place_linearly(env, out, err);
    }

    uint32_t n_ranks = count_ranks(env);
    struct placer placer = {.env = env};
    /* Without a topology, one node per rank is enough. */
    placer.n_nodes = env->topo != NULL ? capacity(env) : n_ranks;
    const struct wf_net_env all = net_env(env, placer.n_nodes);
    placer.ends = wf_net_ends_of(&all);
    placer.taken = wf_xcalloc(placer.n_nodes, sizeof(*placer.taken));
    placer.node_of = wf_xmalloc(n_ranks * sizeof(*placer.node_of));
    enum wf_status status = place_jobs(&placer, true, err);
    WF_THEN(status, place_jobs(&placer, false, err));
    free(placer.taken);
    if (status != WF_OK) {
        free(placer.node_of);
        return status;
    }
    make_tables(placer.node_of, n_ranks, out);
    return WF_OK;
}

void wf_placement_use_all(const struct wf_placement_env *env, struct wf_place *place)
{
    uint32_t all = capacity(env);

    if (place->first != NULL && all > place->n_nodes) {
        uint32_t *first =
            wf_xrealloc(wf_unconst(place->first), (size_t)all + 1, sizeof(*first));

        for (uint32_t node = place->n_nodes; node < all; node++) {
            first[node + 1] = place->n_ranks;
        }
        place->first = first;
    }
    place->n_nodes = all > place->n_nodes ? all : place->n_nodes;
}

static void release(const uint32_t *table)
{
    free(wf_unconst(table));
}

void wf_placement_release(struct wf_place *place)
{
    release(place->node_of);
    release(place->slot_of);
    release(place->first);
    release(place->rank_at);
    memset(place, 0, sizeof(*place));
}
