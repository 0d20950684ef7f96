/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Creates programs of generators, with parameters as a user writes them: "iterations=2
 * compute=7ps". */

#include "program/gen/gen.h"
#include "program/gen/graphs.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The parameters of `table`: its defaults, then the settings. The caller releases them. */
static inline enum wf_status gen_params(const struct wf_param *table, size_t size,
                                        const char *settings, void **out, struct wf_err *err)
{
    char text[512], *rest = text, *setting;

    *out = calloc(1, size);
    (void)snprintf(text, sizeof(text), "%s", settings);
    enum wf_status status = wf_param_defaults(table, *out, err);
    while (status == WF_OK && (setting = strtok_r(rest, " ", &rest)) != NULL) {
        char *value = strchr(setting, '=');
        if (value == NULL) {
            abort();
        }
        *value++ = '\0';
        status = wf_param_set(table, *out, "", setting, value, err);
    }
    return status;
}

/* Creates a source; returns the status of ops->create(). */
static inline enum wf_status gen_try(const struct wf_source_ops *ops, const char *settings,
                                     uint32_t n_ranks, struct wf_source **out,
                                     struct wf_err *err)
{
    void *params = NULL;

    enum wf_status status = gen_params(ops->params, ops->params_size, settings, &params, err);
    if (status == WF_OK) {
        status = ops->create(params, n_ranks, out, err);
    }
    wf_param_release(ops->params, params);
    free(params);
    return status;
}

/* Creates a source that the caller frees; settings are formatted as by printf(). An error ends
 * the test. */
WF_PRINTF(3, 4)
static inline struct wf_source *gen_make(const struct wf_source_ops *ops, uint32_t n_ranks,
                                         const char *fmt, ...)
{
    struct wf_source *source = NULL;
    struct wf_err err = {.text = ""};
    char settings[512];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(settings, sizeof(settings), fmt, args);
    va_end(args);
    if (gen_try(ops, settings, n_ranks, &source, &err) != WF_OK) {
        printf("# %s\n", err.text);
        abort();
    }
    return source;
}

/* The same two for task graphs. */
static inline enum wf_status gen_try_graph(const struct wf_graph_ops *ops, const char *settings,
                                           uint32_t n_pes, struct wf_graph **out,
                                           struct wf_err *err)
{
    void *params = NULL;

    enum wf_status status = gen_params(ops->params, ops->params_size, settings, &params, err);
    if (status == WF_OK) {
        status = ops->create(params, n_pes, out, err);
    }
    wf_param_release(ops->params, params);
    free(params);
    return status;
}

WF_PRINTF(3, 4)
static inline struct wf_graph *gen_make_graph(const struct wf_graph_ops *ops, uint32_t n_pes,
                                              const char *fmt, ...)
{
    struct wf_graph *graph = NULL;
    struct wf_err err = {.text = ""};
    char settings[512];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(settings, sizeof(settings), fmt, args);
    va_end(args);
    if (gen_try_graph(ops, settings, n_pes, &graph, &err) != WF_OK) {
        printf("# %s\n", err.text);
        abort();
    }
    return graph;
}
