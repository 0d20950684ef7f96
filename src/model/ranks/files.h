/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Operations of ranks on files. A rank asks the disks that hold its bytes, all at once, and goes on
 * when the last one has answered. Servers are parts of nodes: with a network of their own, server
 * u belongs to the process of node u modulo the nodes, which says nothing about that node; else they
 * are the last nodes, and requests are messages of the network. Devices of nodes need no events.
 * Private to ranks/.
 */

#include "model/ranks/clock.h"
#include "model/ranks/rank_program.h"
#include "model/ranks/tally.h"

struct wf_arrival;

/* Checks the parameters. `params` is kept; null: files take no time. */
WF_NODISCARD
enum wf_status wf_files_init(struct wf_files *files, const struct wf_storage_params *params,
                             const struct wf_place *place, struct wf_err *err);
/* Rows of the tally: servers, and one for the devices of nodes. */
uint32_t wf_files_servers(const struct wf_files *files);
/* Promises the engine how far ahead servers are asked. */
void wf_files_promise(const struct wf_files *files, struct wf_engine *engine);
/* Whether servers are nodes, which answer by messages of the network. */
bool wf_files_send_messages(const struct wf_files *files);
/* Adds to the state of a node of `size` bytes; returns the new size. */
size_t wf_files_layout(struct wf_files *files, size_t size);

enum { WF_FILES_CELL = 128 }; /* what ranks with files have of their own, in bytes */

WF_NODISCARD enum wf_called wf_rank_file(const struct wf_rank_program *program,
                                         const struct wf_op *op);

/* A request has come to this node: its last byte, at the time `at`, now or later. */
void wf_files_serve(const struct wf_ranks *ranks, struct wf_ctx *ctx, void *node,
                    const struct wf_net_message *msg, int64_t at);
/* An answer has come to its rank. */
void wf_files_answered(const struct wf_arrival *arrival);
/* By a network of their own: the arrival of the last byte at the interface of the node. */
int64_t wf_files_received(const struct wf_ranks *ranks, struct wf_ctx *ctx, void *node,
                          uint64_t bytes, int64_t at);

/* In finish: adds what a rank did with files, and what the servers of a node did. */
void wf_files_count_rank(const struct wf_caller *who, struct wf_job_files *out);
void wf_files_count_node(const struct wf_ranks *ranks, const void *node, uint32_t number,
                         struct wf_ranks_tally *tally);
