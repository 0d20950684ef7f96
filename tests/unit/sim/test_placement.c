/* SPDX-License-Identifier: Apache-2.0 */
#include "run/plan/placement.h"

#include "harness/wf_test.h"

#include <stdlib.h>
#include <string.h>

/* The jobs of a run, with the texts of their placements. */
struct request {
    struct wf_placement_job jobs[4];
    char texts[4][64];
    uint32_t n;
};

static void ask(struct request *request, const char *placement, uint32_t n_ranks,
                uint32_t per_node)
{
    struct wf_err err;
    uint32_t i = request->n++;

    (void)snprintf(request->texts[i], sizeof(request->texts[i]), "%s", placement);
    request->jobs[i] =
        (struct wf_placement_job){.n_ranks = n_ranks, .ranks_per_node = per_node};
    CHECK(wf_placement_parse(request->texts[i], &request->jobs[i].placement, &err) == WF_OK);
}

static enum wf_status make(const struct request *request, const char *topo, uint64_t seed,
                           struct wf_place *place, struct wf_err *err)
{
    struct wf_topo *network = NULL;
    struct wf_placement_env env = {
        .jobs = request->jobs, .n_jobs = request->n, .topo_name = topo, .seed = seed};

    *err = (struct wf_err){.status = WF_OK};
    *place = (struct wf_place){.n_ranks = 0};
    if (topo != NULL) {
        if (wf_topo_create(topo, &network, err) != WF_OK) {
            abort();
        }
        env.topo = network;
    }
    enum wf_status status = wf_placement_make(&env, place, err);
    wf_topo_free(network);
    return status;
}

/* Whether tables and functions agree: every rank has a seat of its own, seats are numbered
 * without gaps, and no seat is counted twice. */
static void check_place(const struct wf_place *place)
{
    uint32_t seats = 0, most = 0;

    for (uint32_t node = 0; node < place->n_nodes; node++) {
        uint32_t n = wf_place_n_slots(place, node);
        seats += n;
        most = n > most ? n : most;
        for (uint32_t seat = 0; seat < n; seat++) {
            uint32_t rank = wf_place_rank(place, node, seat);
            CHECK(rank < place->n_ranks);
            CHECK_U64(wf_place_node(place, rank), node);
            CHECK_U64(wf_place_slot(place, rank), seat);
        }
    }
    CHECK_U64(seats, place->n_ranks);
    CHECK(most <= place->slots_max);
}

/* One placement of one job of `n` ranks against the nodes that it should have. */
static void expect(const char *placement, uint32_t n, uint32_t per_node, const char *topo,
                   const uint32_t *nodes)
{
    struct request request = {.n = 0};
    struct wf_place place;
    struct wf_err err;

    ask(&request, placement, n, per_node);
    CHECK(make(&request, topo, 1, &place, &err) == WF_OK);
    check_place(&place);
    for (uint32_t r = 0; r < n; r++) {
        CHECK_U64(wf_place_node(&place, r), nodes[r]);
    }
    wf_placement_release(&place);
}

static void placements_are_what_they_are_called(void)
{
    static const uint32_t linear[] = {0, 0, 1, 1, 2, 2, 3};
    static const uint32_t dealt[] = {0, 1, 2, 3, 0, 1, 2};
    /* A mesh of 4 x 4 in blocks of 2 x 2: the nodes of the lower left quarter first. */
    static const uint32_t blocks[] = {0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15};
    /* Blocks that do not divide the grid are cut off at its end. */
    static const uint32_t odd[] = {0, 1, 3, 4, 2, 5};
    static const uint32_t pairs[] = {0, 0, 1, 1, 4, 4};

    expect("linear", 7, 2, "torus:8", linear);
    expect("auto", 7, 2, NULL, linear);
    expect("roundrobin", 7, 2, "torus:8", dealt);
    expect("block:2x2", 16, 1, "mesh:4x4", blocks);
    expect("block:2x2", 6, 1, "mesh:3x2", odd);
    expect("block:9x9", 6, 1, "mesh:3x2", (const uint32_t[]){0, 1, 2, 3, 4, 5});
    expect("block:2x2", 6, 2, "mesh:4x4", pairs);
    expect("nodes:0,1,4", 6, 2, "mesh:4x4", pairs);
    expect("nodes:7,2-4,0", 5, 1, "torus:8", (const uint32_t[]){7, 2, 3, 4, 0});
    expect("nodes:3-3,1,7", 3, 2, "torus:8", (const uint32_t[]){3, 3, 1});
}

static void random_nodes_are_drawn_without_replacement_and_from_all(void)
{
    struct request request = {.n = 0};
    uint32_t used[64] = {0}, in_order = 0;
    uint32_t first = UINT32_MAX;
    bool differs = false;

    ask(&request, "random", 16, 1);
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct wf_place place;
        struct wf_err err;
        uint8_t seen[64] = {0};

        CHECK(make(&request, "torus:4x4x4", seed, &place, &err) == WF_OK);
        check_place(&place);
        CHECK_U64(place.slots_max, 1);
        for (uint32_t r = 0; r < 16; r++) {
            uint32_t node = wf_place_node(&place, r);
            CHECK(node < 64 && !seen[node]);
            seen[node] = 1;
            used[node]++;
            in_order += r > 0 && node > wf_place_node(&place, r - 1);
        }
        differs |= first != UINT32_MAX && first != wf_place_node(&place, 0);
        first = wf_place_node(&place, 0);
        wf_placement_release(&place);
    }
    CHECK(differs);
    /* 50 times each is to be expected, with a standard deviation of 6; up and down alike. */
    for (uint32_t node = 0; node < 64; node++) {
        CHECK(used[node] > 20 && used[node] < 80);
    }
    CHECK(in_order > 1300 && in_order < 1700);
}

static void the_same_seed_gives_the_same_nodes(void)
{
    struct request request = {.n = 0};
    struct wf_place a, b;
    struct wf_err err;

    ask(&request, "random", 20, 2);
    ask(&request, "random", 20, 2);
    CHECK(make(&request, "torus:8x8", 5, &a, &err) == WF_OK);
    CHECK(make(&request, "torus:8x8", 5, &b, &err) == WF_OK);
    CHECK(memcmp(a.node_of, b.node_of, 40 * sizeof(uint32_t)) == 0);
    /* The jobs do not draw the same numbers. */
    CHECK(memcmp(a.node_of, a.node_of + 20, 20 * sizeof(uint32_t)) != 0);
    wf_placement_release(&a);
    wf_placement_release(&b);
}

static void jobs_do_not_share_nodes(void)
{
    static const char *const kinds[] = {"linear", "roundrobin", "random", "block:2x2x2"};

    for (uint32_t mix = 0; mix < 64; mix++) {
        struct request request = {.n = 0};
        struct wf_place place;
        struct wf_err err;
        uint32_t owner[64];

        ask(&request, kinds[mix % 4], 21, 2);
        ask(&request, kinds[mix / 4 % 4], 30, 1);
        ask(&request, kinds[mix / 16], 50, 3);
        memset(owner, 0xff, sizeof(owner));
        CHECK(make(&request, "torus:4x4x4", mix, &place, &err) == WF_OK);
        check_place(&place);
        for (uint32_t r = 0; r < 101; r++) {
            uint32_t job = r < 21 ? 0 : r < 51 ? 1 : 2;
            uint32_t node = wf_place_node(&place, r);
            CHECK(owner[node] == UINT32_MAX || owner[node] == job);
            owner[node] = job;
        }
        wf_placement_release(&place);
    }
}

static void what_does_not_fit_is_refused(void)
{
    static const struct {
        const char *placement, *topo, *text;
        uint32_t ranks, per_node;
    } cases[] = {
        {"linear", "torus:4", "8 ranks, 1 on a node, need 8 nodes, but torus:4 has only 4", 8,
         1},
        {"random", "torus:4", "has only 4", 5, 1},
        {"block:2x2", "torus:4", "block of 2 dimensions does not fit torus:4, which has 1", 4,
         1},
        {"block:2", "fattree:2,4,4", "needs a topology that is a grid", 4, 1},
        {"block:2", NULL, "needs a topology that is a grid", 4, 1},
        {"auto", "torus:2x2/mesh:3", "has 12; --placement linear", 8, 1},
        {"auto", "torus:2x2/mesh:3", "has only 12", 13, 1},
        {"nodes:0,4", "torus:4", "there is no node 4; the last one is 3", 2, 1},
        {"nodes:0-2", "torus:4", "3 nodes for 7 ranks, of which 2 are on a node", 7, 2},
        {"file:/nowhere/nodes", NULL, "cannot read '/nowhere/nodes'", 4, 1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct request request = {.n = 0};
        struct wf_place place;
        struct wf_err err;

        ask(&request, cases[i].placement, cases[i].ranks, cases[i].per_node);
        CHECK(make(&request, cases[i].topo, 1, &place, &err) != WF_OK);
        if (strstr(err.text, cases[i].text) == NULL) {
            printf("# %s\n", err.text);
        }
        CHECK(strstr(err.text, cases[i].text) != NULL);
    }

    struct request two = {.n = 0};
    struct wf_place place;
    struct wf_err err;
    ask(&two, "linear", 6, 1);
    ask(&two, "random", 3, 1);
    CHECK(make(&two, "torus:8", 1, &place, &err) == WF_EINVAL);
    CHECK(strstr(err.text, "job 1: 3 ranks, 1 on a node, need 3 nodes, but torus:8 has only 2 "
                           "that are free") != NULL);
}

static void words_that_are_no_placement_are_refused(void)
{
    static const char *const bad[] = {"",
                                      "linaer",
                                      "random:2",
                                      "block:",
                                      "block:2x",
                                      "nodes:",
                                      "nodes:,",
                                      "nodes:1,",
                                      "nodes:4294967296",
                                      "nodes:3-2",
                                      "nodes:1-",
                                      "nodes:1 2",
                                      "block:0",
                                      "file:",
                                      "block:4294967296",
                                      "block:2x-1",
                                      "block:1x1x1x1x1x1x1x1x1"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct wf_placement placement;
        struct wf_err err;
        CHECK(wf_placement_parse(bad[i], &placement, &err) == WF_EUSAGE);
    }
}

/* Places `n` ranks by a file of this text. */
static enum wf_status by_file(const char *text, uint32_t n, const char *topo,
                              struct wf_place *place, struct wf_err *err)
{
    char path[] = "/tmp/weft-placement-XXXXXX", spec[64];
    struct request request = {.n = 0};
    int fd = mkstemp(path);
    FILE *out = fdopen(fd, "w");

    (void)fputs(text, out);
    (void)fclose(out);
    (void)snprintf(spec, sizeof(spec), "file:%s", path);
    ask(&request, spec, n, 1);
    ask(&request, "linear", 2, 1);
    enum wf_status status = make(&request, topo, 1, place, err);
    (void)remove(path);
    return status;
}

static void a_file_says_the_node_of_each_rank(void)
{
    static const uint32_t nodes[] = {7, 1, 7, 0, 2, 3};
    struct wf_place place;
    struct wf_err err;

    CHECK(by_file("7\n# a comment\n 1 # another\n\n7\r\n0", 4, "torus:8", &place, &err) ==
          WF_OK);
    check_place(&place);
    CHECK_U64(place.n_nodes, 8);
    CHECK_U64(place.slots_max, 2);
    for (uint32_t r = 0; r < 6; r++) {
        CHECK_U64(wf_place_node(&place, r), nodes[r]);
    }
    wf_placement_release(&place);
}

static void files_that_make_no_sense_are_refused_with_the_line(void)
{
    static const struct {
        const char *text, *topo, *words;
    } cases[] = {
        {"0\n1\nx\n3\n", "torus:8", ":3: 'x' is not the number of a node"},
        {"0\n-1\n", "torus:8", ":2: '-1' is not the number of a node"},
        {"0\n1\n8\n3\n", "torus:8", ":3: there is no node 8; the last one is 7"},
        {"0\n1\n2\n", "torus:8", ":3: nodes for 3 ranks, but the program has 4"},
        {"", "torus:8", ":0: nodes for 0 ranks"},
        {"0\n1\n2\n3\n\n4\n", "torus:8", ":6: more nodes than ranks: the program has 4 ranks"},
        {"0\n1\n2\n6\n", NULL, ":4: there is no node 6; the last one is 5"},
        {"0 1\n", "torus:8", ":1: '0 1' is not the number"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_place place;
        struct wf_err err;

        CHECK(by_file(cases[i].text, 4, cases[i].topo, &place, &err) == WF_EINVAL);
        if (strstr(err.text, cases[i].words) == NULL) {
            printf("# %s\n", err.text);
        }
        CHECK(strstr(err.text, cases[i].words) != NULL);
    }
}

int main(void)
{
    RUN(placements_are_what_they_are_called);
    RUN(random_nodes_are_drawn_without_replacement_and_from_all);
    RUN(the_same_seed_gives_the_same_nodes);
    RUN(jobs_do_not_share_nodes);
    RUN(what_does_not_fit_is_refused);
    RUN(words_that_are_no_placement_are_refused);
    RUN(a_file_says_the_node_of_each_rank);
    RUN(files_that_make_no_sense_are_refused_with_the_line);
    return wf_test_done();
}
