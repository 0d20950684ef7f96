/* SPDX-License-Identifier: Apache-2.0 */
/* Switches from the scheduler to a rank and back, with few and with many ranks: the time of one
 * switch, in CPU time. */
#include "base/clock.h"
#include "mpi/vrank/context.h"
#include "mpi/vrank/stacks.h"

#include <stdio.h>
#include <stdlib.h>

enum { SWITCHES = 20000000 };

struct fiber {
    struct wf_vrank_context context, *scheduler;
};

static void spin(void *arg)
{
    struct fiber *fiber = arg;

    for (;;) {
        wf_vrank_context_switch(&fiber->context, fiber->scheduler);
    }
}

static void measure(uint32_t n)
{
    struct wf_vrank_stacks stacks;
    struct wf_vrank_context scheduler = {.stack = NULL};
    struct fiber *fibers = calloc(n, sizeof(*fibers));
    struct wf_err err;

    if (fibers == NULL || wf_vrank_stacks_init(&stacks, n, 64 << 10, NULL, &err) != WF_OK) {
        (void)fprintf(stderr, "no memory for %u ranks\n", (unsigned)n);
        exit(EXIT_FAILURE);
    }
    for (uint32_t i = 0; i < n; i++) {
        fibers[i].scheduler = &scheduler;
        wf_vrank_context_make(&fibers[i].context, wf_vrank_stacks_top(&stacks, i),
                              wf_vrank_stacks_size(&stacks, i), spin, &fibers[i]);
        wf_vrank_context_switch(&scheduler, &fibers[i].context); /* touches its stack */
    }
    uint32_t rounds = SWITCHES / n / 2;
    double began = wf_clock_cpu();
    for (uint32_t round = 0; round < rounds; round++) {
        for (uint32_t i = 0; i < n; i++) {
            wf_vrank_context_switch(&scheduler, &fibers[i].context);
        }
    }
    double seconds = wf_clock_cpu() - began;
    printf("%10u ranks %10.1f ns for a switch\n", (unsigned)n,
           seconds / (2.0 * (double)rounds * (double)n) * 1e9);
    for (uint32_t i = 0; i < n; i++) {
        wf_vrank_context_free(&fibers[i].context);
    }
    wf_vrank_stacks_fini(&stacks);
    free(fibers);
}

int main(void)
{
    static const uint32_t sizes[] = {2, 1000, 30000, 1000000};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        measure(sizes[i]);
    }
    return 0;
}
