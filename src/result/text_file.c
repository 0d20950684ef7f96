/* SPDX-License-Identifier: Apache-2.0 */
#include "result/text_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static enum wf_status cannot_read(const char *path, struct wf_err *err)
{
    return wf_err_set(err, WF_EIO, "cannot read '%.200s': %s", path, strerror(errno));
}

enum wf_status wf_text_file_read(const char *path, struct wf_buf *out, struct wf_err *err)
{
    enum { STEP = 1 << 16 };
    FILE *in = fopen(path, "r");
    size_t n = 1;

    if (in == NULL) {
        return cannot_read(path, err);
    }
    while (n > 0) {
        wf_buf_reserve(out, out->size + STEP);
        n = fread(out->data + out->size, 1, STEP, in);
        out->size += n;
    }
    enum wf_status status = ferror(in) ? cannot_read(path, err) : WF_OK;
    (void)fclose(in);
    return status;
}
