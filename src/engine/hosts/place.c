/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/hosts/pin.h"

#include <pthread.h>
#include <sched.h>

/* The `number`th processor of the set. */
static size_t nth(const cpu_set_t *set, uint32_t number)
{
    size_t cpu = 0;

    for (; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, set) && number-- == 0) {
            break;
        }
    }
    return cpu;
}

void wf_place_thread(uint32_t number, uint32_t n)
{
    cpu_set_t allowed, one;

    if (pthread_getaffinity_np(pthread_self(), sizeof(allowed), &allowed) != 0) {
        return;
    }
    uint32_t cpus = (uint32_t)CPU_COUNT(&allowed);
    if (n > cpus) {
        return;
    }
    CPU_ZERO(&one);
    CPU_SET(nth(&allowed, (uint32_t)((uint64_t)number * cpus / n)), &one);
    if (pthread_setaffinity_np(pthread_self(), sizeof(one), &one) == 0) {
        (void)pthread_setaffinity_np(pthread_self(), sizeof(allowed), &allowed);
    }
}
