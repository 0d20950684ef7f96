/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the parts of the installed library (weft/weft.h) share. */

#include "base/guard.h"
#include "base/status.h"
#include "ui/plugin/plugin.h"

#include <weft/weft.h>

#include <stdio.h>

struct wf_study_trace_options;

/*
 * The body of a function that returns an enum weft_code: does `call`, an expression of enum wf_status
 * that words its failures in `err`, within a guard (base/guard.h), which plug-ins that crash are in too, and reports its outcome to `error`.
 */
#define WF_LIBRARY_CALL(kind, call, error)              \
    struct wf_err err = {.status = WF_OK};              \
    struct wf_guard guard;                              \
    enum wf_status status;                              \
    const bool watched = wf_plugin_watch_begin();       \
    if (setjmp(*wf_guard_enter(&guard, (kind))) == 0) { \
        status = (call);                                \
        wf_guard_leave(&guard);                         \
    } else {                                            \
        status = wf_guard_error(&guard, &err);          \
    }                                                   \
    if (watched) {                                      \
        wf_plugin_watch_end();                          \
    }                                                   \
    return wf_library_report(status, &err, (error))

/* The code of a status; sets `error`, which may be null, unless the status is WF_OK. */
enum weft_code wf_library_report(enum wf_status status, const struct wf_err *err,
                                 struct weft_error *error);

/*
 * Copies the options that a caller gave, which may be null, to `own`, a struct of `size` bytes that
 * begins with its size. The caller's struct may be shorter, if he was compiled with an older
 * header: what it lacks becomes 0. It may be longer if that part is 0. Anything else is WF_EUSAGE;
 * `name` is the struct's.
 */
enum wf_status wf_library_options(void *own, size_t size, const void *given, const char *name,
                                  struct wf_err *err);

/* The same options of a trace as the modules below know them. Their texts are borrowed. */
enum wf_status wf_library_trace_options(const struct weft_convert *how,
                                        struct wf_study_trace_options *options,
                                        struct wf_err *err);

/* A stream that writes to memory; the caller frees *text after closing it. */
FILE *wf_library_stream(char **text, size_t *size);
