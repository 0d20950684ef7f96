/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_CAUSE_H
#define WF_RANKS_CAUSE_H

/*
 * Why something of a rank went on when it did: what the critical path of a run is made of
 * (ranks/record/path.h). A cause leads from a place and time to another one, which was before:
 * (rank, track, until) to (from, from_track, since).
 *
 * A track is something of a rank that has a time of its own: its program, which is track 0; a
 * collective under way; the data of a long message; its announcement.
 */

#include "ranks/match.h"

enum wf_why {
    WF_WHY_MESSAGE,    /* it arrived */
    WF_WHY_DATA,       /* likewise, that of a long one which was asked for */
    WF_WHY_LEFT,       /* the last byte of an own long one was gone; `from` is its receiver */
    WF_WHY_ASKED,      /* data departs: the receiver asked for it */
    WF_WHY_ANNOUNCED,  /* a long message is announced */
    WF_WHY_PROBED,     /* an announcement arrived; it is before `since` that it was sent */
    WF_WHY_ONE_SIDED,  /* an own put or get is over */
    WF_WHY_BEGUN,      /* a collective begins */
    WF_WHY_CALLED,     /* what was waiting for the rank's next call goes on */
    WF_WHY_COLLECTIVE, /* a collective is over */
    WF_WHY_FORMULA,    /* all that a collective by a formula waits for are there */
    WF_WHY_RELEASED,   /* the hub of such a one says so */
    WF_WHY_KINDS,
};

struct wf_cause {
    int64_t until;
    int64_t since;
    uint64_t bytes; /* of the message, if it is one */
    uint32_t rank, track;
    uint32_t from, from_track;
    uint16_t why;    /* enum wf_why; WF_WHY_KINDS if nobody was waited for */
    uint16_t waited; /* whether the call waited for a request, and was not that itself */
    uint32_t taken;  /* messages that the CPU takes in from `until` on */
};

/* Lanes; those of collectives have the kind of the collective in their lowest bits. */
enum { WF_TRACK_PROGRAM = 0, WF_TRACK_KIND_BITS = 5 };
#define WF_TRACK_COLLECTIVE UINT32_C(0x80000000)
#define WF_TRACK_ASKED      UINT32_C(0x40000000)
#define WF_TRACK_ANNOUNCED  UINT32_C(0x20000000)

/* Of the collective that messages with this key belong to, or of the program. Two collectives
 * that a rank has under way at once hardly ever share one. */
static inline uint32_t wf_track_of(uint32_t context, int32_t tag)
{
    enum { BEHIND_KIND_AND_ROOT = 15 };

    return context % 2 == 0
               ? WF_TRACK_PROGRAM
               : WF_TRACK_COLLECTIVE |
                     (((uint32_t)tag ^ context << BEHIND_KIND_AND_ROOT) & ~WF_TRACK_COLLECTIVE);
}

/* Of the data of a long message with this handle of its sender... */
static inline uint32_t wf_track_asked(uint32_t handle)
{
    return WF_TRACK_ASKED | (handle & (WF_TRACK_ANNOUNCED - 1));
}

/* ...and of its announcement. */
static inline uint32_t wf_track_announced(uint32_t handle)
{
    return WF_TRACK_ANNOUNCED | (handle & (WF_TRACK_ANNOUNCED - 1));
}

#endif
