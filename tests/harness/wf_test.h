/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The whole test framework. A test file is a program: static test functions, and a main that
 * runs them. It prints TAP, which people and ctest can read.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The release build runs all cases of tests with very many cases. Builds with a second compiler
 * or with sanitizers, which make programs many times slower, run one case in this many. */
#if defined(__SANITIZE_THREAD__)
enum { WF_TEST_ONE_IN = 12 };
#elif defined(__SANITIZE_ADDRESS__)
enum { WF_TEST_ONE_IN = 5 };
#elif defined(__clang__)
#if __has_feature(thread_sanitizer)
enum { WF_TEST_ONE_IN = 12 };
#else
enum { WF_TEST_ONE_IN = 5 };
#endif
#else
enum { WF_TEST_ONE_IN = 1 };
#endif

static int wf_test_failed;
static int wf_test_count;
static int wf_test_wanted; /* number of plug-ins that wf_test_wants() accepted */

/* Whether a conformance test covers the plug-in with this name: the environment variable
 * WEFT_TEST_ONLY selects one, otherwise all are covered. */
static inline bool wf_test_wants(const char *name)
{
    const char *only = getenv("WEFT_TEST_ONLY");
    bool wants = only == NULL || strcmp(only, name) == 0;

    wf_test_wanted += wants ? 1 : 0;
    return wants;
}

#define CHECK(cond)                                                           \
    do {                                                                      \
        if (!(cond)) {                                                        \
            printf("# %s:%d: CHECK(%s) failed\n", __FILE__, __LINE__, #cond); \
            wf_test_failed = 1;                                               \
            return;                                                           \
        }                                                                     \
    } while (0)

#define CHECK_U64(a, b)                                                                       \
    do {                                                                                      \
        unsigned long long wf_a = (a), wf_b = (b);                                            \
        if (wf_a != wf_b) {                                                                   \
            printf("# %s:%d: %s is %llu, expected %s = %llu\n", __FILE__, __LINE__, #a, wf_a, \
                   #b, wf_b);                                                                 \
            wf_test_failed = 1;                                                               \
            return;                                                                           \
        }                                                                                     \
    } while (0)

#define CHECK_STR(a, b)                                                                      \
    do {                                                                                     \
        const char *wf_a = (a), *wf_b = (b);                                                 \
        if (strcmp(wf_a, wf_b) != 0) {                                                       \
            printf("# %s:%d: %s is \"%s\", expected \"%s\"\n", __FILE__, __LINE__, #a, wf_a, \
                   wf_b);                                                                    \
            wf_test_failed = 1;                                                              \
            return;                                                                          \
        }                                                                                    \
    } while (0)

#define RUN(test) wf_test_run(#test, test)

/* For tests with a single thread, in programs that ThreadSanitizer runs because of their other
 * tests: there is nothing that it could find in them. */
#if defined(__SANITIZE_THREAD__)
#define RUN_ONE_THREAD(test) ((void)(test))
#else
#define RUN_ONE_THREAD(test) RUN(test)
#endif

static void wf_test_run(const char *name, void (*test)(void))
{
    wf_test_failed = 0;
    test();
    wf_test_count++;
    printf("%s %d - %s\n", wf_test_failed ? "not ok" : "ok", wf_test_count, name);
    if (wf_test_failed) {
        exit(EXIT_FAILURE);
    }
}

static int wf_test_done(void)
{
    if (wf_test_wanted == 0 && getenv("WEFT_TEST_ONLY") != NULL) {
        printf("# nothing is called %s\n", getenv("WEFT_TEST_ONLY"));
        return EXIT_FAILURE;
    }
    printf("1..%d\n", wf_test_count);
    return EXIT_SUCCESS;
}

/* A counter-based generator (SplitMix64's finaliser): draw i of stream s is a pure function of
 * the seed, s and i, so that a failing case can be repeated by its numbers. */
static inline uint64_t wf_test_rand(uint64_t seed, uint64_t stream, uint64_t i)
{
    uint64_t z =
        seed + stream * UINT64_C(0xd1342543de82ef95) + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}
