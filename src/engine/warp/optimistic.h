/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Time Warp (Jefferson, "Virtual time", 1985). A worker executes the earliest event it knows
 * and logs what is needed to undo it. When an earlier event (a straggler) arrives for a
 * rollback group (KP), the processes of the group are rolled back to before it, and
 * anti-messages cancel the events they had sent. GVT is the least key to which anything can
 * still be rolled back; events before it are committed. GVT is a key and not a time: otherwise
 * a million events at one time would all have to be kept.
 *
 * Three invariants make this correct:
 *  - All pending events of a KP come after all its executed ones, because a straggler rolls the
 *    KP back before it becomes pending. So an event that is to be cancelled has been executed
 *    if and only if its key is not after the key of the KP's last event.
 *  - Messages from one worker to another arrive in the order they were sent. So an anti-message
 *    never arrives before its event.
 *  - An event and its anti-message are equal in every byte.
 *
 * Events within the lookahead after GVT, before the bound, cannot be undone. A GVT round has
 * delivered all messages, and events scheduled later for another process lie beyond the lookahead.
 * Nothing can cancel these events either: those that other processes scheduled come from events
 * before GVT, and those of the process itself from events before the bound. So they are executed
 * without a log, and what was logged before GVT reached them is committed. Events of careful
 * processes are executed only then. A worker that is alone has no bound, because nobody else can
 * send it anything.
 */

#include "engine/queue/pending.h"
#include "engine/sched/windows.h"
#include "engine/warp/antis.h"
#include "engine/warp/history.h"

#include <stdatomic.h>

/* A rollback group ("kernel process"): consecutive processes that are rolled back together. */
struct wf_kp {
    uint64_t last;     /* place of its last record in the history + 1, 0 if none */
    struct wf_key key; /* of that record's event */
};

/* Marks an anti-message in the size field, whose values are smaller. */
enum { WF_ANTI = 0x8000 };

/* A stack of chunks, the latest first, for a worker or for another process. */
struct wf_mailbox {
    alignas(64) _Atomic(struct wf_chunk *) head;
};

#define WF_NO_LEASH INT64_MAX

/* Windows of a worker, see frontier.c. */
struct wf_frontier {
    bool windowed;              /* there is a lookahead, and windows have many events */
    struct wf_windows *windows; /* events at or after the frontier are in its wheel */
    uint64_t window;            /* the frontier: a window... */
    uint32_t block;             /* ...and a block of the worker */
    bool begun;                 /* the window of the frontier may have events */
    uint64_t n_windows;         /* that were executed */
    struct wf_bag **bags;       /* ctx.bags while events are executed for good... */
    struct wf_bag **no_bags;    /* ...and while they are logged */
};

/* What the workers of one process share; belongs to thread 0. */
struct wf_warp_shared {
    struct wf_kp *kps; /* by process number >> kp_shift */
    unsigned kp_shift;
    struct wf_mailbox *net_out; /* by process */
    alignas(64) _Atomic bool gvt_wanted;
    _Atomic uint32_t
        n_safe_done; /* threads that have executed what was safe after the last round */
    alignas(64) struct wf_key gvt; /* thread 0 writes this and the rest between barriers */
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
    struct wf_undo_log undo_log;
    struct wf_buf places;  /* of the events of a record, while they are cancelled */
    struct wf_buf cancels; /* own events to be cancelled, a stride each; the last comes first */
    struct wf_bag *outbox; /* by thread of this process, then by process */
    struct wf_mailbox inbox;
    struct wf_chunk *held;    /* received but not yet delivered, in order */
    uint32_t unshipped;       /* batches since messages were last moved between processes */
    struct wf_buf message;    /* to or from another process */
    struct wf_event *arrived; /* one stride */
    struct wf_frontier frontier;
    struct wf_key gvt;
    struct wf_key bound;   /* events before it cannot be undone; not before GVT */
    int64_t horizon;       /* events at or after it wait */
    int64_t safe;          /* no event before it can still arrive for a careful process */
    struct wf_key least;   /* the first pending event, for GVT */
    uint64_t tolerated;    /* a history up to this many bytes is not examined, see gvt.c */
    uint64_t end_at_round; /* of the history, after the last GVT round */
    bool full;             /* the history is full: wait until GVT has moved */
    int64_t latest;        /* time of the event executed last */
    /* Counts when the leash was last adapted. */
    uint64_t leash_executed, leash_rolled_back;
    bool loopback;  /* perturbing: events between own processes go through the mailbox too */
    uint64_t chaos; /* perturbing: random numbers drawn so far */
    bool calm;      /* perturbing: suspended until the next GVT round */
};

static inline struct wf_kp *wf_warp_kp(const struct wf_warp *warp, uint32_t id)
{
    return &warp->shared->kps[id >> warp->shared->kp_shift];
}

/* Whether no other worker can send anything to this one. */
static inline bool wf_warp_is_alone(const struct wf_warp *warp)
{
    return warp->worker->engine->n_threads * warp->worker->engine->n_processes == 1 &&
           !warp->loopback;
}

/* forward.c */

/* Executes an event and sends what it schedules; logs it unless it is final. */
void wf_warp_execute(struct wf_warp *warp, const struct wf_event *ev, bool is_final);
/* Executes the first event of the queue; false if it has none or it must wait. */
bool wf_warp_step(struct wf_warp *warp);

/* frontier.c */

void wf_frontier_init(struct wf_warp *warp);
void wf_frontier_fini(struct wf_warp *warp);
/* From now on events are logged when they are sent. */
void wf_frontier_start(struct wf_warp *warp);
/* Keeps an event for a process of this worker until it is executed. */
void wf_frontier_queue(struct wf_warp *warp, const struct wf_event *ev);
/* A time before which the wheel has no events; INT64_MAX if it is empty. */
int64_t wf_frontier_time(const struct wf_warp *warp);
/* Executes windows and queued events before the bound; returns how many events. */
uint64_t wf_frontier_execute_safe(struct wf_warp *warp);
/* Executes all events before the bound, at the end of a run that was interrupted. */
void wf_frontier_finish(struct wf_warp *warp);
/* Executes the events of one block at the frontier, with a log, if nothing else is to do. Returns 0
 * if nothing can be done. */
uint64_t wf_frontier_run_ahead(struct wf_warp *warp);

/* rollback.c */

/* Queues an event that has arrived for a process of this worker; rolls back if it is late. */
void wf_warp_insert(struct wf_warp *warp, const struct wf_event *ev);
/* Cancels an event, by the anti-message that has arrived. */
void wf_warp_annihilate(struct wf_warp *warp, const struct wf_event *ev);
/* Sends an event to the worker that owns its process, which may be this one. */
void wf_warp_dispatch(struct wf_warp *warp, const struct wf_event *ev);
/* Undoes the event of the first record in the log, which must be live, and the later ones of its
 * KP. */
void wf_warp_undo_first(struct wf_warp *warp);
/* Undoes the latest executed events that can be undone, about so many bytes of history. */
void wf_warp_retreat(struct wf_warp *warp, uint64_t bytes);

/* post.c */

/* Adds a message to the outbox for the worker that owns its process. */
void wf_warp_post(struct wf_warp *warp, const struct wf_event *ev, bool anti);
/* Makes posted messages visible to the other workers. True if there were any. */
bool wf_warp_publish(struct wf_warp *warp);
/* Delivers the messages that have arrived. With `all` false, a perturbed run may delay some.
 * True if any was delivered. */
bool wf_warp_receive(struct wf_warp *warp, bool all);
bool wf_warp_has_incoming(struct wf_warp *warp);
/* Thread 0 calls it: moves messages between operating-system processes. */
void wf_warp_ship(struct wf_warp *warp);

/* adapt.c: thread 0 of each process calls these in a GVT round, while the others wait. */
void wf_warp_adapt_leash(struct wf_warp *warp);
void wf_warp_adapt_interval(struct wf_warp *warp);

/* gvt.c */

/* A GVT round; all workers call it at the same time. True when the run is over. */
bool wf_warp_gvt(struct wf_warp *warp);
/* Commits events before the bound in the order of execution, as long as they are at the beginning
 * of the log, and removes them from the log. */
void wf_warp_collect(struct wf_warp *warp);
/* Commits all events before the bound, wherever they stand in the log. */
void wf_warp_commit_all(struct wf_warp *warp);
