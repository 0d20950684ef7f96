/* SPDX-License-Identifier: Apache-2.0 */
/* A build without hwloc: threads run where the system puts them. */
#include "engine/hosts/pin.h"

void wf_pin_thread(uint32_t number, uint32_t n)
{
}
