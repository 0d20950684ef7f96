/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The records of which the state of a network is made (model/net/router/lockstep/state.h). With WF_LOCKSTEP_TIGHT they
 * are small: half the memory, for networks of which model/net/router/lockstep/place.h says that they fit.
 */

#include <stddef.h>
#include <stdint.h>

/* A packet. */
struct wf_lockstep_packet {
    uint32_t dst;  /* node */
    uint32_t born; /* cycle in which it entered its injection queue */
    uint32_t way;  /* hops so far << 16 | on grids: bit d is set if it travels dimension d
                      downwards */
    uint32_t at;   /* cycle in which its head arrived; unknown if records are small */
};

/* The same in a queue. */
#ifdef WF_LOCKSTEP_TIGHT
struct wf_lockstep_stored {
    uint32_t to;    /* 4 bits of the hops << 28 | way << 24 | dst */
    uint32_t since; /* 8 more bits of the hops << 24 | born */
} __attribute__((aligned(8)));
#else
struct wf_lockstep_stored {
    struct wf_lockstep_packet packet;
} __attribute__((aligned(16)));
#endif

/* What only some runs need to know of a packet; an array beside that of the packets. */
struct wf_lockstep_more {
    uint32_t src;    /* node */
    uint32_t number; /* of the message at its source */
    uint64_t route;  /* struct wf_route_state */
    uint64_t bytes;  /* of the message, if messages are not all alike... */
    uint64_t sent;   /* ...and when it was sent, in picoseconds */
    uint32_t reply;  /* closed loops: it is the answer to a message */
    uint32_t spare;
};

/* A packet before it is injected. */
struct wf_lockstep_new_packet {
    uint32_t dst, index;          /* node; tells the packets of a message apart */
    struct wf_lockstep_more more; /* kept only if has_more */
};

/* A message of which some packets have arrived. */
struct wf_lockstep_partial {
    uint32_t src, number;
    uint64_t packets;
};

/* What a node of a closed loop does at the beginning of a cycle. */
enum { WF_LOCKSTEP_ROUND_DONE, WF_LOCKSTEP_ANSWER };
struct wf_lockstep_reaction {
    uint32_t cycle, what;
    uint32_t src; /* who gets the answer */
    uint32_t spare;
};

/* A queue: at the end of a channel of a link, or for injection. Its packets are in a ring. */
#ifdef WF_LOCKSTEP_TIGHT
struct wf_lockstep_input { /* the members of the other form below */
    uint32_t head : 24, n : 8;
    uint32_t leave : 25, taken : 6;
    uint32_t seen : 1; /* the watchdog saw this packet as the first */
    uint32_t chosen : 16, first : 8, left : 4, bet : 4;
};
#else
struct wf_lockstep_input {
    uint32_t head;   /* cycle in which the last packet arrived */
    uint32_t leave;  /* cycle in which the last packet began to leave, + 1; 0: none did */
    uint32_t asked;  /* cycle of the first packet's first request, + 1; 0: no request yet */
    uint16_t n;      /* packets that have arrived and have not begun to leave */
    uint16_t first;  /* place of the first in the ring */
    uint16_t taken;  /* channel that the first packet holds, + 1; 0: none */
    uint16_t pace;   /* cycles per phit with which the last packet began to leave */
    uint16_t chosen; /* what is known of the first packet; 0: nothing yet. With a policy: the
                        channel that it chose, + 1; on grids: WF_LOCKSTEP_KNOWN... */
    uint8_t bet;     /* next request of the first packet, in smart requests */
    uint8_t left;    /* ...and bit d is set if the packet has still to travel dimension d */
};
#endif

/* Bits of `chosen`; the lowest 8 are the dimensions that the packet travels downwards. */
#define WF_LOCKSTEP_KNOWN 0x8000u
#define WF_LOCKSTEP_BEFORE \
    0x100u /* it has still to cross the dateline of its first dimension */

/* A virtual channel of an outgoing link. */
#ifdef WF_LOCKSTEP_TIGHT
typedef uint8_t wf_lockstep_short;
#define WF_LOCKSTEP_WANTED 0x80u /* a packet waits for a place */
#else
typedef uint16_t wf_lockstep_short;
#define WF_LOCKSTEP_WANTED 0x8000u
#endif
struct wf_lockstep_channel {
#ifndef WF_LOCKSTEP_TIGHT
    uint32_t free; /* when it is free again, if its holder has begun to leave */
#endif
    uint32_t packets;         /* packets carried so far */
    wf_lockstep_short holder; /* input that holds it and waits for the link, + 1; 0: no input */
    wf_lockstep_short winner; /* input that got it last, + 1 */
    wf_lockstep_short used;   /* used places of the queue at its end */
    wf_lockstep_short
        tail; /* WF_LOCKSTEP_WANTED | the place for the next packet in that queue */
};

/* An outgoing link. */
#ifdef WF_LOCKSTEP_TIGHT
struct wf_lockstep_link {
    uint32_t free : 25, waiting : 3, turn : 4;
};
#else
struct wf_lockstep_link {
    uint32_t free;
    uint16_t waiting; /* channels that are held and wait for the link */
    uint16_t turn;    /* channel to look at first: that after the last one that sent */
};
#endif

/* What a router has besides. */
struct wf_lockstep_router {
    uint32_t consume_free;   /* when only one packet is consumed at a time */
    uint32_t consume_winner; /* input that was consumed last, + 1 */
#ifndef WF_LOCKSTEP_TILES
    uint32_t watch; /* cycle in which to look for packets that do not move; 0: none */
    uint32_t shut;  /* nothing may be injected */
#endif
};

/* What a node has besides. */
struct wf_lockstep_node {
    uint32_t bursts, messages; /* whose random numbers have been drawn */
    uint32_t numbers;          /* messages sent */
};

/* In tiles, all words of a router that no other router reads or writes are beside each other:
 * these, its inputs, its channels and its links. */
struct wf_lockstep_own {
    uint32_t wake; /* devices: the complement of the cycle of its next decision; 0: none... */
    uint32_t next; /* ...and the cycle of its node's next burst */
    uint32_t busy; /* bits of the inputs that have packets... */
    uint32_t held; /* ...of those whose first packet holds a channel... */
    uint32_t sending; /* ...and of the ports that packets wait for */
    struct wf_lockstep_router router;
    struct wf_lockstep_node node;
};
enum { WF_LOCKSTEP_TILE_INPUTS = 32 }; /* of a router: bits of a word */

enum { /* words of each */
       WF_LOCKSTEP_OWN_WORDS = 10,
       WF_LOCKSTEP_INPUT_WORDS = 6,
       WF_LOCKSTEP_CHANNEL_WORDS = 4,
       WF_LOCKSTEP_LINK_WORDS = 2,
       WF_LOCKSTEP_PACKET_WORDS = 4,
       WF_LOCKSTEP_INPUT_WORDS_TIGHT = 3,
       WF_LOCKSTEP_CHANNEL_WORDS_TIGHT = 2,
       WF_LOCKSTEP_LINK_WORDS_TIGHT = 1,
       WF_LOCKSTEP_PACKET_WORDS_TIGHT = 2,
};
#ifdef WF_LOCKSTEP_TIGHT
#define WF_LOCKSTEP_WORDS(what) WF_LOCKSTEP_##what##_WORDS_TIGHT
#else
#define WF_LOCKSTEP_WORDS(what) WF_LOCKSTEP_##what##_WORDS
#endif
_Static_assert(
    sizeof(struct wf_lockstep_input) == sizeof(uint32_t) * WF_LOCKSTEP_WORDS(INPUT) &&
        sizeof(struct wf_lockstep_channel) == sizeof(uint32_t) * WF_LOCKSTEP_WORDS(CHANNEL) &&
        sizeof(struct wf_lockstep_link) == sizeof(uint32_t) * WF_LOCKSTEP_WORDS(LINK) &&
        sizeof(struct wf_lockstep_stored) == sizeof(uint32_t) * WF_LOCKSTEP_WORDS(PACKET),
    "sizes of records");
#ifdef WF_LOCKSTEP_TILES
_Static_assert(sizeof(struct wf_lockstep_own) == sizeof(uint32_t) * WF_LOCKSTEP_OWN_WORDS,
               "own words");
#endif
