/* SPDX-License-Identifier: Apache-2.0 */
/* Slim Fly and its finite fields: checks beyond those of conformance/topo. */
#include "model/topo/field.h"

#include "harness/topo_walk.h"

static const uint32_t prime_powers[] = {2,  3,  4,  5,  7,  8,  9,  11, 13,
                                        16, 17, 19, 23, 25, 27, 29, 31, 32};

enum { N_POWERS = sizeof(prime_powers) / sizeof(prime_powers[0]) };

static void fields_exist_for_prime_powers_only(void)
{
    uint32_t next = 0;

    for (uint32_t q = 0; q <= 32; q++) {
        bool expected = prime_powers[next] == q;
        CHECK_U64(wf_topo_field_exists(q), expected);
        next += expected ? 1 : 0;
    }
    CHECK_U64(next, N_POWERS);
}

static void check_axioms(const struct wf_topo_field *f, uint32_t a, uint32_t b)
{
    CHECK_U64(wf_topo_field_add(f, a, b), wf_topo_field_add(f, b, a));
    CHECK_U64(wf_topo_field_mul(f, a, b), wf_topo_field_mul(f, b, a));
    CHECK_U64(wf_topo_field_add(f, wf_topo_field_sub(f, a, b), b), a);
    CHECK(b == 0 || wf_topo_field_mul(f, wf_topo_field_div(f, a, b), b) == a);
    for (uint32_t c = 0; c < f->q; c++) {
        CHECK_U64(wf_topo_field_add(f, wf_topo_field_add(f, a, b), c),
                  wf_topo_field_add(f, a, wf_topo_field_add(f, b, c)));
        CHECK_U64(wf_topo_field_mul(f, wf_topo_field_mul(f, a, b), c),
                  wf_topo_field_mul(f, a, wf_topo_field_mul(f, b, c)));
        CHECK_U64(wf_topo_field_mul(f, a, wf_topo_field_add(f, b, c)),
                  wf_topo_field_add(f, wf_topo_field_mul(f, a, b), wf_topo_field_mul(f, a, c)));
    }
}

static void fields_keep_the_axioms(void)
{
    for (uint32_t i = 0; i < N_POWERS; i++) {
        struct wf_topo_field f;
        wf_topo_field_init(&f, prime_powers[i]);
        for (uint32_t a = 0; a < f.q; a++) {
            CHECK_U64(wf_topo_field_add(&f, a, 0), a);
            CHECK_U64(wf_topo_field_mul(&f, a, 1), a);
            CHECK_U64(wf_topo_field_mul(&f, a, 0), 0);
            CHECK_U64(wf_topo_field_sub(&f, a, a), 0);
            for (uint32_t b = 0; b < f.q; b++) {
                check_axioms(&f, a, b);
            }
        }
        wf_topo_field_release(&f);
    }
}

static void fields_of_primes_count_modulo_the_prime(void)
{
    struct wf_topo_field f;

    wf_topo_field_init(&f, 1009);
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t a = (uint32_t)(wf_test_rand(2, 0, i) % 1009);
        uint32_t b = (uint32_t)(wf_test_rand(2, 1, i) % 1009);
        CHECK_U64(wf_topo_field_add(&f, a, b), (a + b) % 1009);
        CHECK_U64(wf_topo_field_mul(&f, a, b), a * b % 1009);
    }
    wf_topo_field_release(&f);
}

/* Table II of Besta and Hoefler and others of that family: Hoffman and Singleton's graph is q =
 * 5. */
static void sizes_are_the_published_ones(void)
{
    static const struct {
        const char *spec;
        uint32_t nodes, routers, degree, per_router;
    } cases[] = {
        {"slimfly:5", 200, 50, 7, 4},
        {"slimfly:q=5,p=4", 200, 50, 7, 4},
        {"slimfly:3", 54, 18, 5, 3},
        {"slimfly:4", 96, 32, 6, 3},
        {"slimfly:7", 588, 98, 11, 6},
        {"slimfly:8", 768, 128, 12, 6},
        {"slimfly:9", 1134, 162, 13, 7},
        {"slimfly:q=17,p=13", 7514, 578, 25, 13},
        {"slimfly:19", 10830, 722, 29, 15},
        {"slimfly:25", 23750, 1250, 37, 19},
        {"slimfly:64,p=48", 393216, 8192, 96, 48},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_topo *topo = topo_make(cases[i].spec);
        CHECK_U64(topo->n_nodes, cases[i].nodes);
        CHECK_U64(wf_topo_n_routers(topo), cases[i].routers);
        CHECK_U64(topo->n_ports, cases[i].degree + cases[i].per_router);
        CHECK_U64(topo->n_links,
                  cases[i].nodes + (uint64_t)cases[i].routers * cases[i].degree / 2);
        CHECK_U64(topo->ops->diameter(topo), 4);
        wf_topo_free(topo);
    }
}

/* Marks the routers at most two hops from `from`, walking cables; returns how many. */
static uint32_t count_within_two(const struct wf_topo *topo, uint32_t from, uint8_t *seen)
{
    uint32_t n = 0;

    memset(seen, 0, topo->n_vertices);
    for (uint32_t p = 0; p < wf_topo_ports(topo, from); p++) {
        uint32_t via = topo->ops->neighbor(topo, from, p);
        seen[via] = 1;
        for (uint32_t q = 0; via >= topo->n_nodes && q < wf_topo_ports(topo, via); q++) {
            seen[topo->ops->neighbor(topo, via, q)] = 1;
        }
    }
    for (uint32_t v = topo->n_nodes; v < topo->n_vertices; v++) {
        n += seen[v];
    }
    return n;
}

/* For all three kinds of q, primes and powers: no router has a double cable, and all others are
 * within two hops. */
static void routers_are_within_two_hops(void)
{
    for (uint32_t i = 1; i < N_POWERS; i++) {
        char spec[32];
        (void)snprintf(spec, sizeof(spec), "slimfly:%u,p=1", prime_powers[i]);
        struct wf_topo *topo = topo_make(spec);
        uint8_t *seen = malloc(topo->n_vertices);
        for (uint32_t v = topo->n_nodes; v < topo->n_vertices; v++) {
            CHECK_U64(count_within_two(topo, v, seen), wf_topo_n_routers(topo));
        }
        topo_check_walks(topo, 1000);
        free(seen);
        wf_topo_free(topo);
    }
}

static void large_ones_work(void)
{
    static const char *const specs[] = {"slimfly:89", "slimfly:128", "slimfly:q=243,p=10",
                                        "slimfly:1097,p=1"};

    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        struct wf_topo *topo = topo_make(specs[i]);
        topo_check_walks(topo, 200);
        wf_topo_free(topo);
    }
}

static void nonsense_is_refused(void)
{
    topo_check_refused("slimfly:", "q");
    topo_check_refused("slimfly:0", "q");
    topo_check_refused("slimfly:2", "q");
    topo_check_refused("slimfly:6", "try q=5 or q=7");
    topo_check_refused("slimfly:10", "try q=9 or q=11");
    topo_check_refused("slimfly:24", "try q=23 or q=25");
    topo_check_refused("slimfly:15", "try q=13 or q=16");
    topo_check_refused("slimfly:1096", "try q=1093 or q=1097");
    topo_check_refused("slimfly:5000", "q");
    topo_check_refused("slimfly:18446744073709551615", "q");
    topo_check_refused("slimfly:1021", "too large");
    topo_check_refused("slimfly:5,p=18446744073709551615", "too large");
    topo_check_refused("slimfly:5,p=2147483647", "too large");
}

int main(void)
{
    RUN(fields_exist_for_prime_powers_only);
    RUN(fields_keep_the_axioms);
    RUN(fields_of_primes_count_modulo_the_prime);
    RUN(sizes_are_the_published_ones);
    RUN(routers_are_within_two_hops);
    RUN(large_ones_work);
    RUN(nonsense_is_refused);
    return wf_test_done();
}
