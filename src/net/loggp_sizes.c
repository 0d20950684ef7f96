/* SPDX-License-Identifier: Apache-2.0 */
#include "net/loggp_sizes.h"

#include "base/units.h"
#include "net/net.h"

#include <string.h>

enum { ITEM_MAX = 64 };

__extension__ typedef __int128 wide;

static enum wf_status wrong(const char *item, struct wf_err *err)
{
    return wf_err_set(err, WF_EINVAL,
                      "sizes has '%.60s'; it is a list like 4096:1.2us,65536:9us, by "
                      "increasing bytes from 1 on, of at most %d",
                      item, WF_LOGGP_SIZES_MAX);
}

static enum wf_status add(const char *item, struct wf_loggp_sizes *out, struct wf_err *err)
{
    char bytes[ITEM_MAX];
    const char *colon = strchr(item, ':');
    uint64_t least = out->n > 0 ? out->points[out->n - 1].bytes + 1 : 1;

    if (colon == NULL || out->n == WF_LOGGP_SIZES_MAX) {
        return wrong(item, err);
    }
    memcpy(bytes, item, (size_t)(colon - item));
    bytes[colon - item] = '\0';
    uint64_t length = 0;
    int64_t ps = 0;
    if (wf_parse_size(bytes, &length, err) != WF_OK ||
        wf_parse_time(colon + 1, &ps, err) != WF_OK || length < least || ps < 0) {
        return wrong(item, err);
    }
    out->points[out->n].bytes = length;
    out->points[out->n++].ps = ps;
    return WF_OK;
}

enum wf_status wf_loggp_sizes_parse(const char *text, struct wf_loggp_sizes *out,
                                    struct wf_err *err)
{
    enum wf_status status = WF_OK;

    out->n = 0;
    while (text != NULL && *text != '\0' && status == WF_OK) {
        char item[ITEM_MAX];
        size_t length = strcspn(text, ",");

        if (length >= sizeof(item)) {
            return wrong(text, err);
        }
        memcpy(item, text, length);
        item[length] = '\0';
        status = add(item, out, err);
        text += length;
        text += *text == ',' ? 1 : 0;
    }
    return status;
}

/* Between two points, rounded down. */
static int64_t between(uint64_t from, int64_t from_ps, uint64_t to, int64_t to_ps, uint64_t at)
{
    wide way = (wide)(to_ps - from_ps) * (wide)(at - from);

    return from_ps + (int64_t)(way / (wide)(to - from));
}

int64_t wf_loggp_sizes_ps(const struct wf_loggp_sizes *sizes, uint64_t bytes,
                          uint64_t bandwidth)
{
    uint64_t before = 1;
    int64_t before_ps = 0;

    if (bytes <= 1) {
        return sizes->n > 0 && sizes->points[0].bytes == 1 ? sizes->points[0].ps : 0;
    }
    for (size_t i = 0; i < sizes->n; i++) {
        uint64_t at = sizes->points[i].bytes;
        int64_t ps = sizes->points[i].ps;
        if (bytes <= at) {
            return between(before, before_ps, at, ps, bytes);
        }
        before = at;
        before_ps = ps;
    }
    return wf_time_add(before_ps, wf_transfer_ps(bytes - before, bandwidth));
}
