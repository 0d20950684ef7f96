/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Why a rank continued when it did. The critical path of a run (model/ranks/record/path.h)
 * consists of causes. A cause leads back from one place and time to an earlier one: from
 * (rank, track, until) to (from, from_track, since).
 *
 * A track is an activity of a rank that has its own time: the program (track 0), a
 * collective in progress, the data of a long message, its announcement.
 */

#include "model/ranks/match.h"

enum wf_why {
    WF_WHY_MESSAGE, /* an eager message arrived */
    WF_WHY_DATA,    /* the data of a long message arrived */
    WF_WHY_LEFT,    /* the last byte of the rank's long message left; `from` is its receiver */
    WF_WHY_CONFIRMED, /* the receiver confirmed that it has read the rank's long message */
    WF_WHY_ASKED,     /* data departs because the receiver asked for it */
    WF_WHY_ANNOUNCED, /* a long message is announced */
    WF_WHY_PROBED,    /* an announcement arrived; it was sent before `since` */
    WF_WHY_ONE_SIDED, /* a put or get of the rank is complete; with bytes, an operation on a file */
    WF_WHY_BEGUN,     /* a collective begins */
    WF_WHY_CALLED,     /* a deferred operation continues in the rank's next call */
    WF_WHY_COLLECTIVE, /* a collective is complete */
    WF_WHY_FORMULA,    /* all ranks that a formula collective waits for have called */
    WF_WHY_RELEASED,   /* the hub of a formula collective releases the rank */
    WF_WHY_CORE,       /* the rank gets its core, which it shares with others */
    WF_WHY_KINDS,
};

struct wf_cause {
    int64_t until;
    int64_t since;
    uint64_t bytes; /* size of the message, if there is one */
    uint32_t rank, track;
    uint32_t from, from_track;
    uint64_t taken;  /* CPU time of receives from `until` on, in wf_node_costs.recv_unit */
    uint16_t why;    /* enum wf_why; WF_WHY_KINDS if the rank did not wait */
    uint16_t waited; /* the call waited for a request and was not the operation itself */
    uint32_t padding;
};

/* Tracks. The lowest bits of a collective's track are the kind of the collective. */
enum { WF_TRACK_PROGRAM = 0, WF_TRACK_KIND_BITS = 5 };
#define WF_TRACK_COLLECTIVE UINT32_C(0x80000000)
#define WF_TRACK_ASKED      UINT32_C(0x40000000)
#define WF_TRACK_ANNOUNCED  UINT32_C(0x20000000)

/* The track of messages with this context and tag: a collective, or the program. Two
 * collectives that a rank has in progress at once hardly ever share a track. */
static inline uint32_t wf_track_of(uint32_t context, int32_t tag)
{
    enum { KIND_AND_ROOT_BITS = 15 };

    return context % 2 == 0
               ? WF_TRACK_PROGRAM
               : WF_TRACK_COLLECTIVE |
                     (((uint32_t)tag ^ context << KIND_AND_ROOT_BITS) & ~WF_TRACK_COLLECTIVE);
}

/* The track of the data of a long message whose sender has this handle, or of its confirmation
 * at the receiver who has this handle... */
static inline uint32_t wf_track_asked(uint32_t handle)
{
    return WF_TRACK_ASKED | (handle & (WF_TRACK_ANNOUNCED - 1));
}

/* ...and of its announcement. */
static inline uint32_t wf_track_announced(uint32_t handle)
{
    return WF_TRACK_ANNOUNCED | (handle & (WF_TRACK_ANNOUNCED - 1));
}
