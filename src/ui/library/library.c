/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/library/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)WEFT_ERROR_TEXT_MAX == (int)WF_ERR_TEXT_MAX, "a sentence fits in either");

enum weft_code wf_library_report(enum wf_status status, const struct wf_err *err,
                                 struct weft_error *error)
{
    enum weft_code code = (enum weft_code)wf_status_exit_code(status);

    if (status != WF_OK && error != NULL) {
        error->code = code;
        (void)snprintf(error->text, sizeof(error->text), "%s", err->text);
    }
    return code;
}

enum wf_status wf_library_options(void *own, size_t size, const void *given, const char *name,
                                  struct wf_err *err)
{
    size_t n = 0;

    memset(own, 0, size);
    if (given == NULL) {
        return WF_OK;
    }
    memcpy(&n, given, sizeof(n));
    if (n <= sizeof(n)) {
        return wf_err_set(err, WF_EUSAGE,
                          "the member size of struct %s is not set: it is sizeof(struct %s)",
                          name, name);
    }
    for (size_t i = size; i < n; i++) {
        if (((const unsigned char *)given)[i] != 0) {
            return wf_err_set(
                err, WF_EUSAGE,
                "struct %s has a member that weft %s does not know; install a newer one", name,
                weft_version());
        }
    }
    memcpy(own, given, n < size ? n : size);
    return WF_OK;
}

FILE *wf_library_stream(char **text, size_t *size)
{
    return wf_guard_stream(open_memstream(text, size), text);
}

void weft_free(void *text)
{
    free(text);
}
