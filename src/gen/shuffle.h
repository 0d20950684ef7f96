/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Pseudo-random permutations of 0 .. n-1 that need no table: one for every key, each computed
 * in both directions for one number at a time.
 *
 * A number is a pair of digits of two nearly equal radices. As in a Feistel network each digit
 * in turn is moved by a function of the other and the key (Luby and Rackoff, "How to construct
 * pseudorandom permutations from pseudorandom functions", 1988), which is undone by moving it
 * back. There are a few more pairs than numbers; who lands on one of those walks on until it is
 * back among the numbers (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002).
 *
 * Made to be fast and to mix well. Over all keys a number is found on all places about equally
 * often, but two numbers are not on all pairs of places: measured on up to 20 numbers, some
 * pairs are twice as frequent as others.
 */

#include <stdint.h>

struct wf_gen_shuffle {
    uint32_t n;
    uint32_t high, low; /* radices: n <= high * low */
};

/* Sets up the permutations of n >= 1 numbers. */
void wf_gen_shuffle_init(struct wf_gen_shuffle *shuffle, uint32_t n);

/* The place to which number x < n goes, and the number that goes to place y < n. The two
 * functions are inverses of each other. */
uint32_t wf_gen_shuffle_place(const struct wf_gen_shuffle *shuffle, uint64_t key, uint32_t x);
uint32_t wf_gen_shuffle_number(const struct wf_gen_shuffle *shuffle, uint64_t key, uint32_t y);
