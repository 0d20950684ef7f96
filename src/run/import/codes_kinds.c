/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The networks of CODES and their counterparts in weft. Names, meanings and defaults of
 * parameters are those of the models in CODES (https://github.com/codes-org/codes,
 * src/networks/model-net) and of the configurations that come with TraceR
 * (https://github.com/hpcgroup/TraceR).
 */
#include "run/import/codes_importer.h"

#include "base/arith.h"
#include "base/lookup.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMS_MAX = 8 };

/* Writes "size: [4, 5, 8]" from dim_length, and sets *product. */
static enum wf_status write_dims(struct wf_codes_importer *codes, uint64_t *product)
{
    const struct wf_codes_entry *entry = wf_codes_param(codes, "dim_length");
    uint64_t n_dims = 0, n = 0;

    WF_TRY(wf_codes_count(codes, "n_dims", 4, &n_dims));
    if (entry == NULL) {
        return wf_codes_fail(codes, NULL, "dim_length in PARAMS");
    }
    *product = 1;
    wf_codes_say(&codes->out->machine, "  size: [");
    for (const char *at = entry->value; at != NULL && n < DIMS_MAX; n++) {
        char *end = NULL;
        unsigned long long length = strtoull(at, &end, 10);

        if (at[0] < '0' || at[0] > '9' || length == 0 || length > UINT32_MAX ||
            (*end != '\0' && *end != ',')) {
            return wf_codes_fail(codes, entry, "lengths of dimensions, as 4,5,8");
        }
        *product = wf_times_u64(*product, length);
        wf_codes_say(&codes->out->machine, "%s%llu", n > 0 ? ", " : "", length);
        at = *end == ',' ? end + 1 : NULL;
        at = at != NULL ? at + strspn(at, " ") : NULL;
    }
    wf_codes_say(&codes->out->machine, "]\n");
    return n == n_dims
               ? WF_OK
               : wf_codes_fail(codes, entry, "as many lengths as n_dims says, at most 8");
}

static enum wf_status write_torus(struct wf_codes_importer *codes, uint64_t *nodes)
{
    wf_codes_say(&codes->out->machine, "  kind: torus\n");
    return write_dims(codes, nodes);
}

/* An express mesh links nodes at a distance of 1, 2, ... up to the end of the dimension: a
 * HyperX. */
static enum wf_status write_express_mesh(struct wf_codes_importer *codes, uint64_t *nodes)
{
    uint64_t gap = 0, p = 0;

    WF_TRY(wf_codes_count(codes, "gap", 0, &gap));
    if (gap != 1) {
        return wf_codes_fail(codes, wf_codes_param(codes, "gap"),
                             "1, which is a HyperX; other meshes have no counterpart");
    }
    WF_TRY(wf_codes_count(codes, "num_cn", 0, &p));
    wf_codes_say(&codes->out->machine, "  kind: hyperx\n  p: %llu\n", (unsigned long long)p);
    WF_TRY(write_dims(codes, nodes));
    *nodes = wf_times_u64(*nodes, p);
    return WF_OK;
}

static void say_dragonfly(struct wf_codes_importer *codes, const uint64_t aphg[4],
                          uint64_t *nodes)
{
    wf_codes_say(&codes->out->machine,
                 "  kind: dragonfly\n  a: %llu\n  p: %llu\n  h: %llu\n  g: %llu\n"
                 "  global: absolute\n",
                 (unsigned long long)aphg[0], (unsigned long long)aphg[1],
                 (unsigned long long)aphg[2], (unsigned long long)aphg[3]);
    wf_codes_note(codes, NULL,
                  "routers are connected to other groups in another order than in CODES");
    *nodes = wf_times_u64(wf_times_u64(aphg[0], aphg[1]), aphg[3]);
}

static enum wf_status write_dragonfly(struct wf_codes_importer *codes, uint64_t *nodes)
{
    uint64_t a = 0;

    WF_TRY(wf_codes_count(codes, "num_routers", 4, &a));
    if (a % 2 != 0) {
        return wf_codes_fail(codes, wf_codes_param(codes, "num_routers"), "an even number");
    }
    say_dragonfly(codes, (uint64_t[4]){a, a / 2, a / 2, a * (a / 2) + 1}, nodes);
    return WF_OK;
}

static enum wf_status write_dally(struct wf_codes_importer *codes, uint64_t *nodes)
{
    static const char *const keys[] = {"num_routers", "num_cns_per_router",
                                       "num_global_channels", "num_groups"};
    uint64_t aphg[4] = {0};

    for (size_t i = 0; i < 4; i++) {
        WF_TRY(wf_codes_count(codes, keys[i], 0, &aphg[i]));
    }
    say_dragonfly(codes, aphg, nodes);
    return WF_OK;
}

static enum wf_status write_slimfly(struct wf_codes_importer *codes, uint64_t *nodes)
{
    uint64_t q = 0, p = 0;

    WF_TRY(wf_codes_count(codes, "num_routers", 4, &q));
    WF_TRY(wf_codes_count(codes, "num_terminals", 2, &p));
    wf_codes_say(&codes->out->machine, "  kind: slimfly\n  q: %llu\n  p: %llu\n",
                 (unsigned long long)q, (unsigned long long)p);
    *nodes = wf_times_u64(wf_times_u64(2 * q, q), p);
    return WF_OK;
}

/* The numbers that describe a fat tree. */
struct fat {
    uint64_t levels, leaves, radix, rails, taper;
    uint64_t down, up; /* links of a leaf switch */
};

/* Each rail is a tree of its own, and the links of a node lead to all of them. */
static enum wf_status check_rails(struct wf_codes_importer *codes, const struct fat *fat)
{
    const struct wf_codes_entry *type = wf_codes_param(codes, "ft_type");
    const struct wf_codes_entry *choice = wf_codes_param(codes, "rail_select");
    const struct wf_codes_entry *limit = wf_codes_param(codes, "rail_select_limit");

    if (type != NULL && strcmp(type->value, "2") == 0) {
        return wf_codes_fail(codes, type,
                             "0 or 1: fat trees whose nodes have several NICs have no "
                             "counterpart; a NIC with several rails has one");
    }
    if (fat->rails > 1 && choice != NULL) {
        wf_codes_note(codes, choice, "left out: the routing chooses the rail of each packet");
    }
    if (fat->rails > 1 && limit != NULL) {
        wf_codes_note(codes, limit, "left out: messages of all sizes take all rails");
    }
    return WF_OK;
}

static enum wf_status read_fat(struct wf_codes_importer *codes, struct fat *fat)
{
    const struct {
        const char *key;
        uint64_t def, *out;
    } rows[] = {
        {"num_levels", 0, &fat->levels},  {"switch_count", 0, &fat->leaves},
        {"switch_radix", 0, &fat->radix}, {"num_rails", 1, &fat->rails},
        {"tapering", 1, &fat->taper},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        WF_TRY(wf_codes_count(codes, rows[i].key, rows[i].def, rows[i].out));
    }
    if (fat->levels < 2 || fat->levels > 3) {
        return wf_codes_fail(codes, wf_codes_param(codes, "num_levels"), "2 or 3");
    }
    if (fat->radix % 2 != 0) {
        return wf_codes_fail(codes, wf_codes_param(codes, "switch_radix"), "an even number");
    }
    codes->rails = fat->rails;
    return check_rails(codes, fat);
}

/* In a tapered tree, LPGROUPS tells how many nodes a leaf has. */
static enum wf_status taper(struct wf_codes_importer *codes, struct fat *fat)
{
    fat->down = fat->taper > 1 ? codes->terminals : fat->radix / 2;
    if (fat->down == 0 || fat->down >= fat->radix) {
        return wf_codes_fail(codes, wf_codes_param(codes, "tapering"),
                             "modelnet_fattree in LPGROUPS to say how many nodes a leaf has, "
                             "less than switch_radix");
    }
    fat->up = fat->radix - fat->down;
    return WF_OK;
}

static enum wf_status write_fattree(struct wf_codes_importer *codes, uint64_t *nodes)
{
    struct fat fat = {0};

    WF_TRY(read_fat(codes, &fat));
    WF_TRY(taper(codes, &fat));
    uint64_t half = fat.radix / 2, pods = fat.leaves / half;
    unsigned long long down = fat.down, up = fat.up, each = half, rails = fat.rails;

    *nodes = wf_times_u64(fat.down, fat.leaves);
    wf_codes_say(&codes->out->machine, "  kind: fattree\n");
    if (fat.levels == 2) {
        wf_codes_say(&codes->out->machine, "  down: [%llu, %llu]\n  up: [%llu, %llu]\n", down,
                     (unsigned long long)fat.leaves, rails, up);
        return WF_OK;
    }
    if (fat.leaves % half != 0) {
        return wf_codes_fail(codes, wf_codes_param(codes, "switch_count"),
                             "a multiple of half of switch_radix: whole pods");
    }
    wf_codes_say(&codes->out->machine, "  down: [%llu, %llu, %llu]\n  up: [%llu, %llu, %llu]\n",
                 down, each, (unsigned long long)pods, rails, up, each);
    if (pods < fat.radix) {
        wf_codes_note(codes, NULL,
                      "there are more top-level switches than in CODES, with fewer ports each "
                      "and as many links in total");
    }
    return WF_OK;
}

static const char *const torus_routings[][2] = {
    {"static", "minimal"}, {"adaptive", "adaptive"}, {NULL, NULL}};
static const char *const tree_routings[][2] = {
    {"adaptive", "updown"}, {"static", "minimal"}, {NULL, NULL}};
static const char *const dragonfly_routings[][2] = {
    {"minimal", "minimal"}, {"nonminimal", "valiant"}, {"non-minimal", "valiant"},
    {"adaptive", "ugal_l"}, {"prog-adaptive", "par"},  {NULL, NULL}};
static const char *const slimfly_routings[][2] = {{"minimal", "minimal"},
                                                  {"nonminimal", "valiant"},
                                                  {"non-minimal", "valiant"},
                                                  {"adaptive", "ugal_l"},
                                                  {NULL, NULL}};

/* Networks with one kind of links between routers, with buffers `vc`; and those with local and
 * global links. `cn`, `lo` and `gl` are the keys of delays, or null. */
#define LINKS(rate, vc)                        \
    {                                          \
        NULL, "link_bandwidth", rate, vc, NULL \
    }
#define TERMINAL(rate, cn)                                 \
    {                                                      \
        "terminal", "cn_bandwidth", rate, "cn_vc_size", cn \
    }
#define LOCAL_AND_GLOBAL(cn, lo, gl)                                       \
    .links = {{NULL, "local_bandwidth", "5.25", "local_vc_size", lo},      \
              {"global", "global_bandwidth", "4.7", "global_vc_size", gl}, \
              TERMINAL("5.25", cn)},                                       \
    .chunk_def = "512"

/* An older name of express meshes is hyper_torus. */
#define EXPRESS_MESH                                                              \
    .unit = "GiB/s", .links = {LINKS("5.25", "vc_size"), TERMINAL("5.25", NULL)}, \
    .router_delay_def = "50", .chunk_def = "512", .routings = torus_routings,     \
    .write_topology = write_express_mesh

/* CODES counts bandwidths in GiB/s, except for the fat tree: bytes per nanosecond. */
static const struct wf_codes_kind kinds[] = {
    {.name = "torus",
     .terminal = "modelnet_torus",
     .unit = "GiB/s",
     .links = {LINKS("2.0", "buffer_size")},
     .router_delay_def = "50",
     .chunk_def = "128",
     .is_direct = true,
     .routings = torus_routings,
     .write_topology = write_torus},
    {.name = "dragonfly",
     .terminal = "modelnet_dragonfly",
     .unit = "GiB/s",
     LOCAL_AND_GLOBAL(NULL, NULL, NULL),
     .router_delay_def = "50",
     .routings = dragonfly_routings,
     .write_topology = write_dragonfly},
    {.name = "dragonfly_dally",
     .terminal = "modelnet_dragonfly_dally",
     .unit = "GiB/s",
     LOCAL_AND_GLOBAL("cn_delay", "local_delay", "global_delay"),
     .chunk_latency = true,
     .router_delay_def = "100",
     .routings = dragonfly_routings,
     .write_topology = write_dally},
    {.name = "fattree",
     .terminal = "modelnet_fattree",
     .unit = "GB/s",
     .has_rails = true,
     .links = {LINKS("5", "vc_size"), TERMINAL("5", NULL)},
     .router_delay_def = "50",
     .chunk_def = "512",
     .routings = tree_routings,
     .write_topology = write_fattree},
    {.name = "express_mesh", .terminal = "modelnet_express_mesh", EXPRESS_MESH},
    {.name = "hyper_torus", .terminal = "modelnet_hyper_torus", EXPRESS_MESH},
    {.name = "slimfly",
     .terminal = "modelnet_slimfly",
     .unit = "GiB/s",
     LOCAL_AND_GLOBAL("link_delay", "link_delay", "link_delay"),
     .router_delay_def = "0",
     .routings = slimfly_routings,
     .write_topology = write_slimfly},
    {.name = NULL},
};

const struct wf_codes_kind *wf_codes_kind_find(const char *name)
{
    return wf_lookup_row("network", name, kinds, sizeof(kinds[0]), NULL);
}

char *wf_codes_kind_names(char *buf, size_t size)
{
    size_t len = 0;

    buf[0] = '\0';
    for (size_t i = 0; kinds[i].name != NULL && len < size; i++) {
        len +=
            (size_t)snprintf(buf + len, size - len, "%s%s", i > 0 ? ", " : "", kinds[i].name);
    }
    return buf;
}
