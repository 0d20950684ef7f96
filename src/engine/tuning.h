/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The tuned numbers of the engine, with the reason where one is known. They change speed and memory,
 * never results. */

enum wf_tuning {
    /* ---- events in memory ---- */

    /* Slabs have the size of huge pages, which save most of the address translation for the wide,
     * random accesses of a large run. Small runs start with small slabs. */
    WF_TUNE_SLAB_FIRST = 64 * 1024,
    WF_TUNE_SLAB = 2 * 1024 * 1024,
    WF_TUNE_POOL_BATCH = 512, /* chunks that a pool gets or gives back under one lock */
    WF_TUNE_NEAR_SLAB = 16,   /* events of a small heap that are allocated together */

    /* Large runs pack events: those in which the weighted bytes of states plus the bytes of events
     * exceed PACK_RUNS, and the bytes of events exceed PACK_EVENTS. States have the larger weight
     * because memory is short in runs with millions of processes. Runs with few processes and much
     * traffic have enough memory, and should be fast (docs/dev/decisions/0024-packed-events.md). */
    WF_TUNE_PACK_RUNS = 384 * 1024 * 1024,
    WF_TUNE_PACK_EVENTS = 16 * 1024 * 1024,
    WF_TUNE_PACK_WEIGHT = 2,

    /* ---- the queue ---- */

    /* A larger bucket is spread over finer ones before it is sorted: with 2,048 the prefetch could
     * not see ahead. */
    WF_TUNE_QUEUE_SORT = 16384,
    /* Bits of the time by which sorting begins: the counters fit into the cache. */
    WF_TUNE_QUEUE_BITS = 12,
    /* The stretch that is sorted is too wide if the heap has more than this share of its events, within
     * limits. To divide it then costs a constant time for each event in the heap. */
    WF_TUNE_QUEUE_NEAR_SHARE = 4,
    WF_TUNE_QUEUE_NEAR_MIN = 64,
    WF_TUNE_QUEUE_NEAR_MAX = 4096,
    WF_TUNE_QUEUE_AHEAD = 8, /* events ahead that are prefetched; half as far their processes */

    /* ---- windows ---- */

    WF_TUNE_AHEAD_EVENT = 12, /* events ahead that are prefetched, ... */
    WF_TUNE_AHEAD_LP = 6,     /* ...their processes, ... */
    WF_TUNE_AHEAD_CELLS = 3,  /* ...and their cells, whose numbers are in the processes */

    /* Windows are nearly empty if they have fewer events than this, measured over TRIAL windows or
     * more. Then the queue is faster. */
    WF_TUNE_WINDOWS_TRIAL = 256,
    WF_TUNE_WINDOWS_QUEUE = 16,
    /* One thread does all windows from when they have fewer than ALONE events, all workers together,
     * until they have twice as many. On idle cores two threads are as fast as one from about 30 events
     * on and eight from about 70 on; on shared cores it takes more. After a trial the number is
     * computed from what it measured. */
    WF_TUNE_WINDOWS_ALONE = 96,

    /* ---- blocks and threads ---- */

    WF_TUNE_BLOCKS = 8, /* of a worker at least, if there are several workers */
    /* Groups with so many processes for each worker are cut into as many blocks, too, unless others would
     * be cut into more than SMALL_BLOCKS: one worker might get twice as many as another. */
    WF_TUNE_SHARED_EVENLY = 32,
    /* So many bytes of states fit into the cache of a core, beside their events. */
    WF_TUNE_BLOCK_BYTES = 256 * 1024,
    /* A worker with more blocks than this has large ones in any case: chunks that are not full take
     * much memory. */
    WF_TUNE_SMALL_BLOCKS = 128,
    /* Where the first events cannot show it: with fewer processes a thread is not worth it. */
    WF_TUNE_LPS_PER_THREAD = 256,
    /* Events of a trial: some milliseconds. After a trial states are moved and events filed a second time.
     * With larger states or more processes threads get theirs at the start. */
    WF_TUNE_TRIAL_EVENTS = 65536,
    WF_TUNE_TRIAL_STATES = 64 * 1024 * 1024,
    WF_TUNE_TRIAL_PROCESSES = 512 * 1024,
    /* With so many first events for each process, and more than a trial has, there is none. */
    WF_TUNE_TRIAL_DENSE = 4,
    /* What a window costs each of several threads, beside meeting the others. */
    WF_TUNE_TRIAL_WINDOW_NS = 1000,
    /* The share of a window's work, in per cent, that the busiest of two threads may have and still
     * be worth it, as a usual value. */
    WF_TUNE_TRIAL_BUSIEST = 60,
    /* Several threads must save so many per cent by the forecast to be used. */
    WF_TUNE_TRIAL_GAIN = 10,
    /* Where two threads cannot be measured, what it takes them to meet. */
    WF_TUNE_MEETING_NS = 200,
    /* An event for another thread is written, handed over and filed; another core has its lines. That
     * takes about a third of what it takes to execute an event. */
    WF_TUNE_MESSAGE_SHARE = 3,
    WF_TUNE_STOP_CHECK = 256,  /* events between two checks whether to stop */
    WF_TUNE_PROGRESS_MS = 100, /* between two calls of the progress function */

    /* ---- cells ---- */

    /* Freed cells on a stack; the numbers of others are kept in freed cells. */
    WF_TUNE_CELLS_SPARE = 1024,
    /* Bytes of most cells, and of those of which large runs have many: cleared without a call. */
    WF_TUNE_CELL_USUAL = 64,
    WF_TUNE_CELL_SMALL = 48,

    /* ---- Time Warp ---- */

    WF_TUNE_GVT_INTERVAL = 64,          /* batches between two GVT rounds, at first... */
    WF_TUNE_GVT_INTERVAL_MAX = 16 * 64, /* ...and at most */
    WF_TUNE_GVT_LOOK = 8,               /* rounds between two looks at leash and interval */
    WF_TUNE_GVT_SHARE_LARGE = 8,  /* more than an eighth of the time in rounds: rarer rounds */
    WF_TUNE_GVT_SHARE_SMALL = 32, /* less than 1/32: more of them */
    WF_TUNE_GVT_IDLE = 64,        /* looks into an empty mailbox before asking for a round */
    WF_TUNE_GVT_WINDOW_BATCHES = 8, /* worth a round after each window */
    WF_TUNE_LEASH_MUCH = 8,         /* one event in eight rolled back: shorter leash */
    WF_TUNE_LEASH_LITTLE = 32,      /* one in 32: longer */
    WF_TUNE_LEASH_EVENTS = 256,     /* a round with fewer says nothing about speculation */
    WF_TUNE_MESSAGE_BATCHES = 4, /* a message between processes costs more than a few events */
    WF_TUNE_HISTORY_FIRST = 64 * 1024, /* bytes; also: a shorter history is not searched */
    /* Bytes of history that the cache still has when they are committed; and while other workers
     * execute what is safe. */
    WF_TUNE_HISTORY_ROUND = 512 * 1024,
    WF_TUNE_HISTORY_AHEAD = 128 * 1024,

    /* ---- waiting ---- */

    /* A thread spins for some microseconds, then yields, then sleeps: with more threads than cores, the
     * thread that the others wait for must get a core. */
    WF_TUNE_SPINS_YIELD = 512,
    WF_TUNE_SPINS_SLEEP = 1024,
    WF_TUNE_SLEEP_NS = 20000,
    /* To sleep and be woken takes some 50 us on a virtual machine. Who spins as long as that and then
     * sleeps waits at most twice as long as who knew. */
    WF_TUNE_SPINS_BARRIER = 2560,
    /* Where other programs use the cores, a thread of the barrier spins less. That is so if the threads had
     * less than so many per cent of the time; it is looked at after so many meetings, if so much time went by:
     * the system counts the time of a thread that runs at its clock ticks, 4 ms apart. */
    WF_TUNE_SPINS_SHARED = 64,
    WF_TUNE_SHARED_BELOW = 80,
    WF_TUNE_SHARED_MEETINGS = 64,
    WF_TUNE_SHARED_MEASURE_MS = 40,
    WF_TUNE_SHARED_MS = 10,
    WF_TUNE_SHARED_MAX_MS = 640,
    /* A window must have so many times as many events to be worth two threads then. */
    WF_TUNE_SHARED_WINDOW = 16,
};
