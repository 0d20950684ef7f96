/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/pin.h"

#include <hwloc.h>

void wf_pin_thread(uint32_t number)
{
    hwloc_topology_t topology;

    if (hwloc_topology_init(&topology) != 0) {
        return;
    }
    if (hwloc_topology_load(topology) == 0) {
        int n = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
        hwloc_obj_t core =
            n > 0 ? hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, number % (unsigned)n) : NULL;
        if (core != NULL) {
            (void)hwloc_set_cpubind(topology, core->cpuset, HWLOC_CPUBIND_THREAD);
        }
    }
    hwloc_topology_destroy(topology);
}
