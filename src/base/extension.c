/* SPDX-License-Identifier: Apache-2.0 */
#include "base/extension.h"

#include <stdio.h>
#include <string.h>

bool wf_extension_is(const char *path, const char *extension)
{
    size_t length = strlen(path), end = strlen(extension);

    return length > end && strcmp(path + length - end, extension) == 0;
}

const char *wf_extension_list(wf_extension_at *at, char *buf)
{
    size_t used = 0;

    buf[0] = '\0';
    for (size_t i = 0; at(i) != NULL; i++) {
        const char *between = i == 0 ? "" : at(i + 1) == NULL ? " or " : ", ";
        int n = snprintf(buf + used, WF_EXTENSION_LIST_MAX - used, "%s%s", between, at(i));
        used += (size_t)n < WF_EXTENSION_LIST_MAX - used ? (size_t)n : 0;
    }
    return buf;
}

enum wf_status wf_extension_find(wf_extension_at *at, const char *what, const char *path,
                                 size_t *out, struct wf_err *err)
{
    char list[WF_EXTENSION_LIST_MAX];

    for (*out = 0; at(*out) != NULL; ++*out) {
        if (wf_extension_is(path, at(*out))) {
            return WF_OK;
        }
    }
    return wf_err_set(err, WF_EUSAGE, "%s '%.200s': the name must end in %s", what, path,
                      wf_extension_list(at, list));
}
