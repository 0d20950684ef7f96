/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Outcomes of fallible calls.
 *
 * A function that can fail returns an enum wf_status and takes a struct wf_err as its last
 * parameter. The function that detects a problem words the message with wf_err_set(); its
 * callers pass the status on unchanged. Only cli/ prints.
 */

#define WF_NODISCARD     __attribute__((warn_unused_result))
#define WF_PRINTF(f, va) __attribute__((format(printf, f, va)))
#define WF_NORETURN      __attribute__((noreturn))
/* Of a type: no function that returns it may be called for nothing. Clang alone can say that of a
 * type; its builds in the test suite fail where a result is lost. */
#ifdef __clang__
#define WF_NODISCARD_TYPE WF_NODISCARD
#else
#define WF_NODISCARD_TYPE
#endif
/* Marks what plug-ins may call (weft/plugin.h). */
#define WF_PLUGIN_API __attribute__((visibility("default")))

/* One row per status: the enumerator, its text, and the exit code the CLI maps it to. */
#define WF_STATUS_MAP(X)                   \
    X(OK, "success", 0)                    \
    X(EUSAGE, "wrong usage", 2)            \
    X(EINVAL, "invalid input", 3)          \
    X(EIO, "input/output error", 3)        \
    X(ESIM, "simulated program failed", 4) \
    X(ELIMIT, "limit exceeded", 5)         \
    X(EINTERNAL, "internal error", 70)     \
    X(EINTR, "interrupted", 130)

enum WF_NODISCARD_TYPE wf_status {
#define X(name, text, exit_code) WF_##name,
    WF_STATUS_MAP(X)
#undef X
};

enum { WF_ERR_TEXT_MAX = 512 };

/* Details of a failure. Plain data: needs no release, may live on the stack. */
struct wf_err {
    enum wf_status status;
    char text[WF_ERR_TEXT_MAX]; /* one sentence, no trailing newline */
};

/* Records a failure and returns `status`, so that a caller can write `return wf_err_set(...)`.
 * `err` may be null if the caller does not need the text. */
WF_PRINTF(3, 4)
WF_PLUGIN_API enum wf_status wf_err_set(struct wf_err *err, enum wf_status status,
                                        const char *fmt, ...);

/* Returns from the function with the status of `call` unless it is WF_OK. For functions that have
 * nothing to release. */
#define WF_TRY(call)                       \
    do {                                   \
        enum wf_status wf_tried_ = (call); \
        if (wf_tried_ != WF_OK) {          \
            return wf_tried_;              \
        }                                  \
    } while (0)

/* The next step where something has to be released at the end: `status` becomes that of `call`, which
 * is not made if a step before it has failed. */
#define WF_THEN(status, call)                             \
    do {                                                  \
        (status) = (status) == WF_OK ? (call) : (status); \
    } while (0)

/* Puts `fmt` before the text already in `err`, for a caller that knows more about the place. */
WF_PRINTF(2, 3)
void wf_err_prefix(struct wf_err *err, const char *fmt, ...);

/* Makes the text fit for a terminal, whatever foreign bytes it quotes; see wf_text_safe(). */
void wf_err_tame(struct wf_err *err);

/* The constant text of a status; never null. */
const char *wf_status_text(enum wf_status status);

/* The exit code of a command that ends with this status. */
int wf_status_exit_code(enum wf_status status);

/* For states that no input can lead to: reports a bug of weft and exits with code 70. */
WF_PRINTF(1, 2)
WF_NORETURN void wf_panic(const char *fmt, ...);
