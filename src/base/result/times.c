/* SPDX-License-Identifier: Apache-2.0 */
#include "base/result/times.h"

#include <stddef.h>

#define WF_PATH_TIME(key, words, brief)

const struct wf_result_rank_time wf_result_rank_times[] = {
#define WF_RANK_TIME(key, words, verb) \
    {"result.ranks." #key, "result.ranks." #key ".mean", words, verb},
#include "base/result/times.def"
    {NULL, NULL, NULL, NULL},
};

#undef WF_RANK_TIME
#undef WF_PATH_TIME
#define WF_RANK_TIME(key, words, verb)

const struct wf_result_path_time wf_result_path_times[] = {
#define WF_PATH_TIME(key, words, brief) {"critical_path.shares." #key, words, brief},
#include "base/result/times.def"
    {NULL, NULL, NULL},
};
