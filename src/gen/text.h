/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_GEN_TEXT_H
#define WF_GEN_TEXT_H

/*
 * Programs in a small language of loops, conditions and messages, written by whoever needs them
 * (docs/reference/workload-language.md). The text is translated when the source is created; a
 * rank's cursor holds where it stands, its open requests and the counters of its loops.
 *
 * What is wrong in the text itself is WF_EINVAL at creation. What turns out to be wrong on the
 * way (a division by zero, a peer that does not exist) ends the rank's program, and
 * wf_source_check() tells the one of the lowest rank.
 */

#include "gen/gen.h"

struct wf_gen_text_params {
    char *file;
    char *set; /* "name=value,..." or empty or null */
};

struct wf_gen_text_input {
    const char *name; /* what messages call the text */
    const char *text;
    size_t size;
    const char *set; /* as above */
};

#define WF_GEN_TEXT_SIZE_MAX (UINT32_C(1) << 20) /* bytes of a program */

/* As of wf_source_ops.create, from a text in memory, which is borrowed. */
WF_NODISCARD
enum wf_status wf_gen_text_create(const struct wf_gen_text_input *input, uint32_t n_ranks,
                                  struct wf_source **out, struct wf_err *err);

#endif
