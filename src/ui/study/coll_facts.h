/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Facts about collectives, as text and as the documents of docs/reference/coll.md: algorithms,
 * the messages of a call, and the algorithms that MPI libraries choose. The caller frees
 * documents.
 */

#include "base/result/doc.h"
#include "ui/study/coll_messages.h"

#include <stdio.h>

/* Finds a collective by name. WF_EUSAGE if there is none. */
enum wf_status wf_study_coll_kind(const char *name, enum wf_coll_kind *out, struct wf_err *err);

/* The algorithm `name` for a call; if `name` is null, the one that the rules choose. WF_EUSAGE
 * if there is no such algorithm or it does not apply. */
enum wf_status wf_study_coll_choose(enum wf_coll_rules rules, const char *name,
                                    const struct wf_coll_args *args,
                                    const struct wf_coll_ops **out, struct wf_err *err);

/* The algorithms of one kind, or of all kinds if that is WF_COLL_KINDS. */
struct wf_value *wf_study_coll_list(enum wf_coll_kind only);

/* The messages of a call. If there are many, the individual messages are printed only if `all`
 * is set. */
void wf_study_coll_print(const struct wf_study_messages *messages, bool all, FILE *out);
struct wf_value *wf_study_coll_document(const struct wf_coll_ops *ops,
                                        const struct wf_coll_args *args,
                                        const struct wf_study_messages *messages);

/* The algorithms that the rules of MPI libraries choose, by the size of the call. */
void wf_study_coll_rules_print(enum wf_coll_kind kind, uint32_t ranks, FILE *out);
struct wf_value *wf_study_coll_rules(enum wf_coll_kind kind, uint32_t ranks);
