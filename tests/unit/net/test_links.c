/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of links with their own properties, on each model that has links: times against
 * formulas, and mistakes. */
#include "harness/packet_traffic.h"
#include "harness/topo_walk.h"
#include "harness/wf_test.h"
#include "model/net/latency.h"
#include "model/net/links.h"
#include "model/topo/classes.h"
#include "model/topo/nested.h"

/* Parameters of a model, and the model. */
struct made {
    const struct wf_net_ops *ops;
    struct wf_topo *topo;
    void *params;
    struct wf_net *net;
};

static enum wf_status make(struct made *made, const struct wf_net_ops *ops, const char *spec,
                           const char *const *settings, struct wf_err *err)
{
    *made = (struct made){ops, topo_make(spec), wf_xcalloc(1, ops->params_size), NULL};
    must(wf_param_defaults(ops->params, made->params, err), err);
    for (; *settings != NULL; settings += 2) {
        must(wf_param_set(ops->params, made->params, "net.", settings[0], settings[1], err),
             err);
    }
    const struct wf_net_env env = {.topo = made->topo, .n_nodes = made->topo->n_nodes};
    return ops->create(made->params, &env, &made->net, err);
}

static void release(struct made *made)
{
    wf_net_free(made->net);
    wf_param_release(made->ops->params, made->params);
    free(made->params);
    wf_topo_free(made->topo);
}

/* ---- latency ---- */

/* The time of a message on the latency model. */
static int64_t latency_of(const char *spec, const char *const *settings, uint32_t src,
                          uint32_t dst, uint64_t bytes, int64_t *promise)
{
    struct wf_err err = {.text = ""};
    struct made made;

    must(make(&made, &wf_net_latency_ops, spec, settings, &err), &err);
    struct wf_net_uncontended idle = made.ops->uncontended(made.net, src, dst, bytes);
    if (promise != NULL) {
        *promise = made.net->promise_ps;
    }
    release(&made);
    return idle.latency + idle.transfer;
}

static void latency_adds_the_links_of_each_class(void)
{
    static const char links[] = "links";
    static const char *const fly[] = {
        links, "global:latency=500ns,bandwidth=1GB/s,local:latency=20ns,terminal:latency=3ns",
        NULL};
    static const char *const grid[] = {
        "link_latency", "7ns", links,
        "x:latency=100ns,bandwidth=1GB/s,y:latency=10ns,delay=1ns,z:bandwidth=2GB/s", NULL};
    static const char *const tree[] = {links, "terminal:delay=5ns,latency=1ns,level1:delay=2ns",
                                       "link_latency", "10ns", NULL};
    int64_t promise = 0;

    /* Nodes 0 and 71 of dragonfly:2: terminal, local or not, global, local or not, terminal. */
    struct wf_topo *topo = topo_make("dragonfly:2");
    uint32_t n[WF_TOPO_CLASS_GROUPS] = {0};
    for (uint32_t at = 0; at != 70;) {
        uint32_t port = topo->ops->next_port(topo, at, 70);
        n[wf_topo_link_class(topo, at, port)]++;
        at = topo->ops->neighbor(topo, at, port);
    }
    wf_topo_free(topo);
    CHECK(n[WF_TOPO_CLASS_TERMINAL] == 2 && n[WF_TOPO_CLASS_GLOBAL] == 1);
    CHECK_U64((uint64_t)latency_of("dragonfly:2", fly, 0, 70, 1000, &promise),
              2 * 3000 + n[WF_TOPO_CLASS_LOCAL] * UINT64_C(20000) + 500000 + 1000000);
    CHECK_U64((uint64_t)promise, 3000);
    /* The same router: terminal links only, at the bandwidth of the model. */
    CHECK_U64((uint64_t)latency_of("dragonfly:2", fly, 0, 1, 1000, NULL), 2 * 3000 + 100000);

    /* A torus by dimension: 2 x, 1 y, 2 z of 8x4x4. */
    CHECK_U64((uint64_t)latency_of("torus:8x4x4", grid, 0, 2 + 8 + 64, 1000, &promise),
              2 * 100000 + 11000 + 2 * 7000 + 1000000);
    CHECK_U64((uint64_t)promise, 7000);
    CHECK_U64((uint64_t)latency_of("torus:8x4x4", grid, 0, 64, 1000, NULL), 2 * 7000 + 500000);
    /* In a twisted torus, which is followed link by link. */
    CHECK_U64((uint64_t)latency_of("ttorus:8x4x4,jump=0/0/0", grid, 0, 2 + 8 + 64, 1000, NULL),
              2 * 100000 + 11000 + 2 * 7000 + 1000000);

    /* A fat tree of two levels: end nodes have no delay. Up: 1, 2 + 10; down: 2 + 10, 5 + 1. */
    CHECK_U64((uint64_t)latency_of("fattree:4x4", tree, 0, 15, 0, NULL),
              1000 + 12000 + 12000 + 6000);
    CHECK_U64((uint64_t)latency_of("fattree:4x4", tree, 0, 1, 0, NULL), 1000 + 6000);
    CHECK_U64((uint64_t)latency_of(
                  "star:4", (const char *const[]){links, "terminal:bandwidth=2GB/s", NULL}, 0,
                  1, 1000, NULL),
              200000 + 500000);
}

/* Time = message + hops + corners + bytes (BigSim). */
static void bigsim_formula(void)
{
    static const char *const settings[] = {
        "link_latency", "5ns",       "corner_latency", "75ns", "message_latency",
        "1us",          "bandwidth", "1GB/s",          NULL};
    static const struct {
        const char *spec;
        uint32_t dst, hops, corners;
    } rows[] = {
        {"torus:8x4x4", 3, 3, 0},
        {"torus:8x4x4", 3 + 8, 4, 1},
        {"torus:8x4x4", 3 + 8 + 64, 6, 2},
        {"torus:8x4x4", 64, 2, 0},
        {"mesh:8x4x4", 7 + 32, 8, 1},
        {"hyperx:4x4,p=2", 2, 3, 0},
        {"hyperx:4x4,p=2", 10, 4, 1},
        {"hyperx:4x4,p=2", 1, 2, 0},
        {"ttorus:8x4x4,jump=0/0/0", 3 + 8 + 64, 6, 2},
        /* In a hierarchy the corners of each level with dimensions count. */
        {"torus:4x4/star:2", 2 * 5, 4, 1},
    };
    int64_t promise = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK_U64((uint64_t)latency_of(rows[i].spec, settings, 0, rows[i].dst, 100, &promise),
                  1000000 + rows[i].hops * UINT64_C(5000) + rows[i].corners * UINT64_C(75000) +
                      100000);
        CHECK_U64((uint64_t)promise, 1005000);
    }
    CHECK_U64((uint64_t)latency_of("torus:8x4x4", settings, 3, 3, 100, NULL), 100000);
}

/* ---- packet ---- */

static int64_t packet_time(const char *spec, const char *const *settings, uint32_t src,
                           uint32_t dst, uint64_t bytes)
{
    struct wf_packet_params params = packet_defaults();
    const struct message message = {.src = src, .dst = dst, .bytes = bytes};
    const struct traffic traffic = {
        .topo = spec, .messages = &message, .n_messages = 1, .params = &params};

    for (; *settings != NULL; settings += 2) {
        packet_set(&params, settings[0], settings[1]);
    }
    struct traffic_result result = run_traffic(&traffic);
    int64_t at = result.arrivals[0];
    release_traffic(&result);
    packet_release(&params);
    return at;
}

static void packets_cross_classes(void)
{
    static const char links[] = "global:latency=500ns,bandwidth=1GB/s,local:latency=20ns,"
                                "delay=2ns,terminal:latency=3ns,bandwidth=20GB/s";
    static const char *const plain[] = {"links", links, NULL};
    static const char *const stored[] = {"links", links, "timing", "store_and_forward", NULL};
    /* Three packets over terminal, global, local, terminal or the like; routers delay 50 ns
     * before links other than local ones. The slow link decides. */
    struct wf_topo *topo = topo_make("dragonfly:2");
    int64_t idle = 0, store = 0;
    for (uint32_t at = 0; at != 70;) {
        uint32_t port = topo->ops->next_port(topo, at, 70);
        uint32_t number = wf_topo_link_class(topo, at, port);
        static const int64_t latency[] = {3000, 20000, 500000}, delay[] = {50000, 2000, 50000};
        static const int64_t full[] = {25600, 51200, 512000};
        idle += latency[number] + (at < topo->n_nodes ? 0 : delay[number]);
        store += full[number];
        at = topo->ops->neighbor(topo, at, port);
    }
    wf_topo_free(topo);
    CHECK_U64((uint64_t)packet_time("dragonfly:2", plain, 0, 70, 3 * 512),
              (uint64_t)(idle + 3 * 512000));
    CHECK_U64((uint64_t)packet_time("dragonfly:2", stored, 0, 70, 512),
              (uint64_t)(idle + store));
}

/* With two slots after global links and many elsewhere, a message proceeds at two packets per
 * round trip of a credit over the global link. */
static void buffers_of_a_class_limit_its_links(void)
{
    static const char *const settings[] = {"links",
                                           "up:buffer=1KiB,latency=1us",
                                           "link_latency",
                                           "1ns",
                                           "buffers",
                                           "credits",
                                           "vc_bytes",
                                           "64KiB",
                                           NULL};
    static const char *const plenty[] = {"links",
                                         "up:buffer=64KiB,latency=1us",
                                         "link_latency",
                                         "1ns",
                                         "buffers",
                                         "credits",
                                         "vc_bytes",
                                         "1KiB",
                                         NULL};
    char path[] = "/tmp/weft-links-XXXXXX", spec[64];
    int fd = mkstemp(path);
    static const char text[] = "switch s t\na s\ns t class=up\nt b\n";

    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    (void)close(fd);
    (void)snprintf(spec, sizeof(spec), "graph:%s", path);
    int64_t slow = packet_time(spec, settings, 0, 1, UINT64_C(100) * 512);
    int64_t fast = packet_time(spec, plenty, 0, 1, UINT64_C(100) * 512);
    (void)unlink(path);
    /* A slot is free again when the packet has left t: 1 us + 50 ns + 51.2 ns after it began to
     * leave s; s knows that after 1 us + 50 ns and sends the next packet after 50 ns. */
    int64_t trip = 1000000 + 50000 + 51200 + 1000000 + 50000 + 50000;
    printf("# 100 packets: %lld ps with two slots, %lld with 128\n", (long long)slow,
           (long long)fast);
    CHECK(slow > 49 * trip && slow < 50 * trip + 2000000);
    CHECK(fast < 100 * 51200 + 2 * trip);
}

/* ---- both ---- */

/* Random properties for every class of the topology. */
static void draw_links(const struct wf_topo *topo, uint64_t seed, char *buf, size_t size)
{
    size_t used = 0;

    buf[0] = '\0';
    for (uint32_t i = 0; i < wf_topo_n_classes(topo) && used < size; i++) {
        uint64_t draw = wf_test_rand(seed, i, 0);
        used += (size_t)snprintf(
            buf + used, size - used, "%s%s:latency=%uns,delay=%uns,bandwidth=%uGB/s",
            i > 0 ? "," : "", wf_topo_class_name(topo, i), (unsigned)(draw % 500 + 1),
            (unsigned)(draw / 1000 % 100), (unsigned)(draw / 1000000 % 20 + 1));
    }
}

static void check_agreement(const char *spec, uint64_t seed)
{
    struct wf_topo *topo = topo_make(spec);
    char links[2048];
    uint64_t draw = wf_test_rand(seed, 17, 0);
    uint32_t src = (uint32_t)(draw % topo->n_nodes),
             dst = (uint32_t)(draw / 100000 % topo->n_nodes);

    draw_links(topo, seed, links, sizeof(links));
    const char *const settings[] = {"links", links, NULL};
    if (src != dst && strlen(links) < WF_PARAM_TEXT_MAX) {
        int64_t a = latency_of(spec, settings, src, dst, 300, NULL);
        int64_t b = packet_time(spec, settings, src, dst, 300);
        if (a != b) {
            printf("# %s, %s: %u to %u takes %lld on latency, %lld on packet\n", spec, links,
                   src, dst, (long long)a, (long long)b);
        }
        CHECK(a == b);
    }
    wf_topo_free(topo);
}

/* One packet on an idle network takes the same time on both models, on every topology. */
static void latency_and_packet_agree(void)
{
    static const char *const hierarchies[] = {"torus:3x2/mesh:2x2",    "star:3/torus:2x3",
                                              "dragonfly:1/star:3",    "ring:4/tree:5,degree=3",
                                              "torus:3x3/dragonfly:1", "star:2/star:3/star:2"};
    uint64_t seed = 0;

    for (const struct wf_topo_ops *const *ops = wf_topo_table(); *ops != NULL; ops++) {
        for (const char *const *spec = (*ops)->examples; *spec != NULL; spec++) {
            for (int i = 0; i < 6; i++) {
                check_agreement(*spec, seed++);
            }
        }
    }
    for (size_t i = 0; i < sizeof(hierarchies) / sizeof(hierarchies[0]); i++) {
        for (int k = 0; k < 10; k++) {
            check_agreement(hierarchies[i], seed++);
        }
    }
}

static void mistakes_are_named(void)
{
    static const struct {
        const struct wf_net_ops *ops;
        const char *spec, *links, *text;
    } wrong[] = {
        {&wf_net_latency_ops, "dragonfly:1", "globel:latency=1us",
         "net.links.globel.latency: the topology has no links of class 'globel'; did you mean "
         "'global'? It has terminal, local and global"},
        {&wf_net_latency_ops, "ring:4", "x:latency=1us",
         "net.links.x.latency: the topology has no links of class 'x'; it has link"},
        {&wf_net_packet_ops, "torus:2x2/star:2/star:2", "terminal:latency=1us",
         "net.links.terminal.latency: 2 levels of the topology have links of class 'terminal'; "
         "name one of 0.x, 0.y, 1.terminal and 2.terminal"},
        {&wf_net_packet_ops, "torus:2x2", "x:speed=1us",
         "net.links.x.speed: links have no property 'speed'; expected latency, bandwidth, "
         "delay "
         "or buffer"},
        {&wf_net_packet_ops, "torus:2x2", "x:latency=1",
         "net.links.x.latency: '1' is not a time; expected a number and ps, ns, us, ms, s, min "
         "or h"},
        {&wf_net_packet_ops, "torus:2x2", "x:latency=2h",
         "net.links.x.latency: '2h' is out of range; expected 0 to 1h"},
        {&wf_net_packet_ops, "torus:2x2", "x:bandwidth=0",
         "net.links.x.bandwidth: '0' is not a rate"},
        {&wf_net_packet_ops, "torus:2x2", "x:buffer=1KiB",
         "net.links.x.buffer: buffers are unbounded; set net.buffers=credits"},
        {&wf_net_latency_ops, "torus:2x2", "x:buffer=1KiB",
         "net.links.x.buffer: the network model 'latency' has no buffers; packet (with "
         "net.buffers=credits) and router have"},
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const char *const settings[] = {"links", wrong[i].links, NULL};
        struct wf_err err = {.text = ""};
        struct made made;
        CHECK(make(&made, wrong[i].ops, wrong[i].spec, settings, &err) != WF_OK);
        CHECK(made.net == NULL);
        if (strncmp(err.text, wrong[i].text, strlen(wrong[i].text)) != 0) {
            printf("# '%s', expected '%s'\n", err.text, wrong[i].text);
            CHECK(false);
        }
        release(&made);
    }

    static const char *const small[] = {"links", "x:buffer=100B", "buffers", "credits", NULL};
    static const char *const corner[] = {"corner_latency", "1ns", NULL};
    struct wf_err err = {.text = ""};
    struct made made;
    CHECK(make(&made, &wf_net_packet_ops, "torus:2x2", small, &err) != WF_OK);
    CHECK_STR(err.text, "net.links: a packet of 512 bytes does not fit");
    release(&made);
    CHECK(make(&made, &wf_net_latency_ops, "fattree:4x4", corner, &err) != WF_OK);
    CHECK_STR(
        err.text,
        "net.corner_latency: a fattree has no dimensions and so no corners; expected 0, or "
        "a mesh, torus, ttorus or hyperx");
    release(&made);
}

int main(void)
{
    RUN(latency_adds_the_links_of_each_class);
    RUN(bigsim_formula);
    RUN(packets_cross_classes);
    RUN(buffers_of_a_class_limit_its_links);
    RUN(latency_and_packet_agree);
    RUN(mistakes_are_named);
    return wf_test_done();
}
