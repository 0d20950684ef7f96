/* SPDX-License-Identifier: Apache-2.0 */
#include "base/call_site.h"

#include <dlfcn.h>
#include <stddef.h>

static uint32_t offset_in_module(const void *address)
{
    Dl_info info;

    if (dladdr(address, &info) == 0) {
        return 0;
    }
    return (uint32_t)((uintptr_t)address - (uintptr_t)info.dli_fbase);
}

uint32_t wf_call_site(const void *address)
{
    enum { SLOTS = 256 };
    static _Thread_local struct {
        const void *address;
        uint32_t site;
    } known[SLOTS];
    size_t slot = (uintptr_t)address / 4 % SLOTS;

    if (address != NULL && known[slot].address != address) {
        known[slot].site = offset_in_module(address);
        known[slot].address = address;
    }
    return address != NULL ? known[slot].site : 0;
}
