/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_ENGINE_OPTIMISTIC_H
#define WF_ENGINE_OPTIMISTIC_H

/*
 * Time Warp (Jefferson, "Virtual time", 1985). A worker executes the earliest event it knows
 * of, keeps what it needs to take it back, and takes back whatever turns out to have been too
 * early: the processes of the straggler's KP go back to before it, and everything they had
 * sent is cancelled by anti-messages. The least key that anything can still go back to is GVT;
 * what lies before it is committed. (A key and not a time: a million events at one instant must
 * not all have to be kept.)
 *
 * Three invariants carry the whole:
 *  - all pending events of a KP come after all its executed ones: a straggler rolls the KP
 *    back before it becomes pending. So an event that is to be cancelled has been executed if
 *    and only if its key is not after the KP's last one.
 *  - messages from one worker to another arrive in the order they were sent, so an
 *    anti-message never arrives before its event.
 *  - an event and its anti-message are equal in every byte.
 *
 * Careful processes stand apart. Their events are executed for good and leave no record, when
 * they lie within the lookahead behind GVT: a GVT round has delivered all that was under way,
 * and what is scheduled later for another process lies beyond. For the same reason nothing can
 * cancel them: whoever scheduled them did it before GVT.
 */

#include "engine/antis.h"
#include "engine/history.h"
#include "engine/pending.h"

#include <stdatomic.h>

/* A rollback group: consecutive processes that go back together. */
struct wf_kp {
    uint64_t last;     /* place of its last record in the history + 1, 0 if none */
    struct wf_key key; /* of that record's event */
};

/* Batches between two GVT rounds, unless told otherwise or found too few. */
enum { WF_GVT_INTERVAL = 64 };

/* Marks an anti-message in the size field, which never gets that large. */
enum { WF_ANTI = 0x8000 };

/* Where chunks for a worker, or for another process, arrive: a stack, latest first. */
struct wf_mailbox {
    alignas(64) _Atomic(struct wf_chunk *) head;
};

#define WF_NO_LEASH INT64_MAX

/* What the workers of one process share; belongs to thread 0. */
struct wf_warp_shared {
    struct wf_kp *kps; /* by process number >> kp_shift */
    unsigned kp_shift;
    struct wf_mailbox *net_out; /* by process */
    alignas(64) _Atomic bool gvt_wanted;
    alignas(64) struct wf_key gvt; /* written between barriers, like all that follows */
    bool quiet, stop;
    int64_t leash; /* in force, WF_NO_LEASH if none */
    uint32_t rounds_to_look;
    uint64_t interval; /* batches between two GVT rounds */
    uint32_t rounds_to_time;
    double timed_since, gvt_seconds; /* when the interval was last looked at */
};

struct wf_warp {
    struct wf_worker *worker;
    struct wf_warp_shared *shared;
    struct wf_pending pending;
    struct wf_history history;
    struct wf_antis antis;
    struct wf_recording recording;
    struct wf_bag todo;    /* own events to be cancelled */
    struct wf_bag *outbox; /* by thread of this process, then by process */
    struct wf_mailbox inbox;
    struct wf_chunk *held;    /* received but not yet delivered, in order */
    uint32_t unshipped;       /* batches since messages were last moved between processes */
    struct wf_buf letter;     /* for messages between processes */
    struct wf_event *arrived; /* a stride of room */
    struct wf_key gvt;
    int64_t horizon;     /* events at or after it wait */
    int64_t safe;        /* careful processes see all that happens to them before it */
    struct wf_key least; /* for GVT: what this worker still has to do */
    bool full;           /* its history is: wait for others to move GVT */
    int64_t latest;      /* time of the event executed last */
    /* At the last look at the leash. */
    uint64_t leash_executed, leash_rolled_back;
    bool loopback;  /* even events for a process of one's own take the mailbox */
    uint64_t chaos; /* perturbing: random numbers drawn so far */
    bool calm;      /* perturbing: not in this stretch between two GVT rounds */
};

static inline struct wf_kp *wf_warp_kp(const struct wf_warp *warp, uint32_t id)
{
    return &warp->shared->kps[id >> warp->shared->kp_shift];
}

/* rollback.c */

/* Takes an event that has arrived for a process of this worker. */
void wf_warp_insert(struct wf_warp *warp, const struct wf_event *ev);
/* Takes an anti-message that has arrived, in the form of its event. */
void wf_warp_annihilate(struct wf_warp *warp, const struct wf_event *ev);
/* Sends an event on its way, whoever owns its process. */
void wf_warp_dispatch(struct wf_warp *warp, const struct wf_event *ev);
/* Undoes the latest executed events that can be undone, about so many bytes of history. */
void wf_warp_retreat(struct wf_warp *warp, uint64_t bytes);

/* post.c */

/* Adds a message to the outbox for the worker that owns its process. */
void wf_warp_post(struct wf_warp *warp, const struct wf_event *ev, bool anti);
/* Makes visible to the others what was posted. True if there was anything. */
bool wf_warp_publish(struct wf_warp *warp);
/* Delivers what has arrived. With `all` false, a perturbed run may hold some of it back. True
 * if anything was delivered. */
bool wf_warp_receive(struct wf_warp *warp, bool all);
bool wf_warp_has_mail(struct wf_warp *warp);
/* By thread 0: moves messages between processes. */
void wf_warp_ship(struct wf_warp *warp);

/* leash.c, interval.c: by thread 0 of each process in a GVT round, while the others wait. */
void wf_warp_adapt_leash(struct wf_warp *warp);
void wf_warp_adapt_interval(struct wf_warp *warp);

/* gvt.c */

/* A GVT round, by all workers at once. True when the run is over. */
bool wf_warp_gvt(struct wf_warp *warp);
/* Commits whatever lies before GVT, wherever it stands in the log. */
void wf_warp_commit_all(struct wf_warp *warp);

#endif
