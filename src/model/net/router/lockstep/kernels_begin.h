/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The beginning of every file of kernels: how model/net/router/lockstep/state.h works on devices. The end is
 * model/net/router/lockstep/kernels_end.inc. */

#ifdef __NVPTX__
/* The network is in registers only if all functions that use it are part of one. */
#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
#endif

#include "model/net/router/gpu/kernel.h"

#define WF_LOCKSTEP_DEVICE
#define WF_LOCKSTEP_LOAD(x)             wf_gpu_load32(&(x))
#define WF_LOCKSTEP_STORE(x, v)         ((x) = (v))
#define WF_LOCKSTEP_SET(p, v)           ((void)wf_gpu_or32((p), (v)))
#define WF_LOCKSTEP_CLEAR(p, v)         wf_gpu_and32((p), ~(v))
#define WF_LOCKSTEP_MAX32(p, v)         wf_gpu_max32((p), (v))
#define WF_LOCKSTEP_OR(p, v)            ((void)wf_gpu_or32((p), (v)))
#define WF_LOCKSTEP_SUM32(p, v)         ((void)wf_gpu_add32((p), (v)))
#define WF_LOCKSTEP_ADD32(p, v)         ((void)wf_gpu_add32((p), (v)))
#define WF_LOCKSTEP_ADD64(p, v)         wf_gpu_add64((p), (v))
#define WF_LOCKSTEP_MAX64(p, v)         wf_gpu_max64((p), (v))
#define WF_LOCKSTEP_LOAD_MORE(from, to) wf_lockstep_load_more((from), (to))
#ifdef WF_LOCKSTEP_TIGHT
#define WF_LOCKSTEP_LOAD_PACKET(from, to) wf_gpu_load64((from), (to))
#define WF_LOCKSTEP_WANT(c)               wf_gpu_set8(&(c)->tail, WF_LOCKSTEP_WANTED)
#else
#define WF_LOCKSTEP_LOAD_PACKET(from, to) wf_gpu_load128((from), (to))
#define WF_LOCKSTEP_WANT(c)               wf_gpu_set16(&(c)->tail, WF_LOCKSTEP_WANTED)
#endif

#include "model/net/router/lockstep/records.h"

static inline void wf_lockstep_load_more(const struct wf_lockstep_more *from,
                                         struct wf_lockstep_more *to)
{
    uint64_t words[sizeof(*to) / sizeof(uint64_t)];

    _Static_assert(sizeof(words) == sizeof(*to), "whole words");
    for (uint32_t i = 0; i < sizeof(*to) / sizeof(uint64_t); i++) {
        words[i] = wf_gpu_word64((const uint64_t *)from + i);
    }
    __builtin_memcpy(to, words, sizeof(words));
}
