/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Programs that users write in a small language of loops, conditions and messages
 * (docs/reference/workload-language.md). The text is translated when the source is created.
 * The cursor of a rank holds its position, the number of its open requests and the counters of
 * its loops.
 *
 * An error in the text is WF_EINVAL at creation. An error at run time (a division by zero, a
 * peer that does not exist) ends the program of the rank; wf_source_check() reports the error
 * of the lowest rank.
 */

#include "program/gen/gen.h"

struct wf_gen_text_params {
    char *file;
    char *set;           /* "name=value,..." or empty or null */
    uint64_t max_rounds; /* of loops and while, on each rank */
};

struct wf_gen_text_input {
    const char *name; /* name of the text in messages */
    const char *text;
    size_t size;
    const char *set;     /* as above */
    uint64_t max_rounds; /* likewise; 0: the default */
};

#define WF_GEN_TEXT_SIZE_MAX (UINT32_C(1) << 20) /* largest size of a program in bytes */

/* As wf_source_ops.create, but from a text in memory, which is borrowed. */
enum wf_status wf_gen_text_create(const struct wf_gen_text_input *input, uint32_t n_ranks,
                                  struct wf_source **out, struct wf_err *err);
