/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Off by default: every run on the machine would take the same first cores, and two runs
 * pinned to the same cores are slower than under any scheduler.
 */
#include "engine/hosts/pin.h"

#include <hwloc.h>

static void bind_to(hwloc_topology_t topology, uint32_t number, uint32_t n)
{
    int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);

    if (cores > 0 && n <= (unsigned)cores) {
        hwloc_obj_t core = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, number);
        (void)hwloc_set_cpubind(topology, core->cpuset, HWLOC_CPUBIND_THREAD);
    }
}

void wf_pin_thread(uint32_t number, uint32_t n)
{
    hwloc_topology_t topology;

    if (hwloc_topology_init(&topology) != 0) {
        return;
    }
    if (hwloc_topology_load(topology) == 0) {
        bind_to(topology, number, n);
    }
    hwloc_topology_destroy(topology);
}
