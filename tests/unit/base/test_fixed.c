/* SPDX-License-Identifier: Apache-2.0 */
/* Compares fixed-point arithmetic with arithmetic on single bits. */
#include "base/fixed.h"

#include "harness/wf_test.h"

enum { BITS = 256 };

/* A natural number, the lowest bit first. */
struct bits {
    uint8_t bit[BITS];
};

static struct bits bits_of(wf_u128 value, int shift)
{
    struct bits out = {{0}};

    for (int i = 0; i < 128 && i + shift < BITS; i++) {
        out.bit[i + shift] = (value >> i) & 1;
    }
    return out;
}

static void add_bits(struct bits *a, const struct bits *b)
{
    unsigned carry = 0;

    for (int i = 0; i < BITS; i++) {
        unsigned sum = (unsigned)a->bit[i] + b->bit[i] + carry;
        a->bit[i] = sum & 1;
        carry = sum >> 1;
    }
}

static int compare_bits(const struct bits *a, const struct bits *b)
{
    for (int i = BITS - 1; i >= 0; i--) {
        if (a->bit[i] != b->bit[i]) {
            return a->bit[i] > b->bit[i] ? 1 : -1;
        }
    }
    return 0;
}

static struct bits product(wf_u128 a, wf_u128 b)
{
    struct bits sum = {{0}};

    for (int i = 0; i < 128; i++) {
        if ((b >> i) & 1) {
            struct bits row = bits_of(a, i);
            add_bits(&sum, &row);
        }
    }
    return sum;
}

/* Whether 2^shift * x lies between q - 1/2 and q + 1/2: |2x - 2q| <= 1 in units of 2^-shift;
 * written with sums alone. A half belongs to the greater q. */
static int is_nearest(const struct bits *exact_twice, const struct bits *q_twice,
                      const struct bits *one)
{
    struct bits above = *q_twice, x = *exact_twice;

    add_bits(&above, one); /* 2q + 1 > 2x */
    add_bits(&x, one);     /* 2x + 1 >= 2q */
    return compare_bits(&above, exact_twice) > 0 && compare_bits(&x, q_twice) >= 0;
}

static wf_u128 random_size(uint64_t stream, uint64_t i)
{
    wf_u128 all = (wf_u128)wf_test_rand(5, stream, i) << 64 | wf_test_rand(6, stream, i);

    return all >> (1 + wf_test_rand(7, stream, i) % 127);
}

static struct wf_fixed fixed(wf_u128 size, bool negative)
{
    return (struct wf_fixed){size, negative && size != 0};
}

static void products_are_the_nearest(void)
{
    uint32_t n_exact = 0;

    for (uint64_t i = 0; i < 20000; i++) {
        wf_u128 a = random_size(1, i), b = random_size(2, i);
        struct wf_fixed out = wf_fixed_multiply(fixed(a, (i & 1) != 0), fixed(b, (i & 2) != 0));
        struct bits exact = product(a, b), limit = bits_of(1, 127 + WF_FIXED_BITS);

        CHECK(out.negative == (out.size != 0 && !(i & 1) != !(i & 2)));
        if (compare_bits(&exact, &limit) >= 0) {
            CHECK(out.size == WF_FIXED_MAX);
            continue;
        }
        struct bits twice = exact, q = bits_of(out.size, WF_FIXED_BITS + 1);
        struct bits one = bits_of(1, WF_FIXED_BITS);
        add_bits(&twice, &exact);
        CHECK(out.size == WF_FIXED_MAX || is_nearest(&twice, &q, &one));
        n_exact++;
    }
    CHECK(n_exact > 5000 && n_exact < 19000);
}

/* q is the nearest of a 2^40 / b, if 2 a 2^40 is within b of 2 q b. */
static void quotients_are_the_nearest(void)
{
    uint32_t n_exact = 0;

    for (uint64_t i = 0; i < 20000; i++) {
        wf_u128 a = random_size(3, i), b = random_size(4, i) | 1;
        struct wf_fixed out = wf_fixed_divide(fixed(a, (i & 1) != 0), fixed(b, (i & 2) != 0));

        CHECK(out.negative == (out.size != 0 && !(i & 1) != !(i & 2)));
        if (out.size == WF_FIXED_MAX) {
            struct bits least = product(WF_FIXED_MAX, b), most = bits_of(a, WF_FIXED_BITS + 1);
            add_bits(&least, &least);
            CHECK(compare_bits(&most, &least) >= 0 || a / b >= WF_FIXED_MAX >> WF_FIXED_BITS);
            continue;
        }
        struct bits twice = bits_of(a, WF_FIXED_BITS + 1), q = product(out.size, b);
        struct bits one = bits_of(b, 0), q_twice = q;
        add_bits(&q_twice, &q);
        CHECK(is_nearest(&twice, &q_twice, &one));
        n_exact++;
    }
    CHECK(n_exact > 5000);
}

static void sums_and_comparisons_know_signs(void)
{
    const struct wf_fixed two = fixed(2, false), three = fixed(3, false),
                          minus = fixed(3, true);

    CHECK(wf_fixed_add(two, minus).size == 1 && wf_fixed_add(two, minus).negative);
    CHECK(wf_fixed_add(minus, three).size == 0 && !wf_fixed_add(minus, three).negative);
    CHECK(wf_fixed_add(minus, minus).size == 6 && wf_fixed_add(minus, minus).negative);
    CHECK(wf_fixed_add(fixed(WF_FIXED_MAX, false), two).size == WF_FIXED_MAX);
    CHECK(!wf_fixed_negate(fixed(0, false)).negative && wf_fixed_negate(two).negative);
    CHECK(wf_fixed_less(minus, two) && !wf_fixed_less(two, minus) && wf_fixed_less(two, three));
    CHECK(wf_fixed_less(minus, fixed(2, true)) && !wf_fixed_less(two, two));
}

static void values_are_rounded(void)
{
    CHECK_U64(wf_fixed_round(wf_fixed_ratio(5, 2), 0, UINT64_MAX), 3);
    CHECK_U64(wf_fixed_round(wf_fixed_ratio(7, 3), 0, UINT64_MAX), 2);
    CHECK_U64(wf_fixed_round(wf_fixed_ratio(7, 3), 0, 1), 1);
    CHECK_U64(wf_fixed_round(wf_fixed_ratio(5, 4), 1, UINT64_MAX), 3); /* 1.5 in halves */
    CHECK_U64(wf_fixed_round(wf_fixed_whole(9), WF_FIXED_BITS, UINT64_MAX), UINT64_C(9) << 40);
    CHECK_U64(wf_fixed_round(fixed(WF_FIXED_MAX, false), 0, UINT64_MAX), UINT64_MAX);
}

int main(void)
{
    RUN(products_are_the_nearest);
    RUN(quotients_are_the_nearest);
    RUN(sums_and_comparisons_know_signs);
    RUN(values_are_rounded);
    return wf_test_done();
}
