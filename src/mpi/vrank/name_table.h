/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Names of regions and calls, which ops refer to by number. Each process numbers the names that
 * its own ranks use. In the numbers of the whole run, the names of the first process come
 * first, then those that only the second one has, and so on.
 */

#include <stdbool.h>
#include <stdint.h>

struct wf_vrank_names;

enum wf_vrank_name_kind { WF_VRANK_NAME_CALL, WF_VRANK_NAME_REGION, WF_VRANK_NAME_KINDS };

struct wf_vrank_names *wf_vrank_names_new(uint32_t n_processes, uint32_t own);
void wf_vrank_names_free(struct wf_vrank_names *names); /* null is allowed */

/* The number of a name in this process. Sets *is_new if it had none before. */
uint32_t wf_vrank_names_number(struct wf_vrank_names *names, enum wf_vrank_name_kind kind,
                               const char *name, bool *is_new);
/* Another process has given its next number to this name. */
void wf_vrank_names_heard(struct wf_vrank_names *names, uint32_t process,
                          enum wf_vrank_name_kind kind, const char *name);

/* The number in the whole run of one of this process. All processes have told their names. */
uint32_t wf_vrank_names_common(const struct wf_vrank_names *names, enum wf_vrank_name_kind kind,
                               uint32_t number);
/* The name of a number of this process or, in the first process, of the whole run. Null if
 * there is none. */
const char *wf_vrank_names_at(const struct wf_vrank_names *names, enum wf_vrank_name_kind kind,
                              uint32_t number);
