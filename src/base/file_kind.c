/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file_kind.h"

#include <stdbool.h>
#include <string.h>

/* A file is of this kind if it begins so and has that text, at the beginning of a line unless it is
 * JSON, which may have no lines. Null fits everything. */
struct kind {
    const char *begin, *text;
    const char *what, *remedy;
};

/* The first that fits is meant. */
static const struct kind kinds[] = {
    {"{", "\"weft-result-", "a result of weft", "'weft explain' and 'weft report' read it"},
    {"{", "\"schema\": \"weft-", "a document of weft",
     "'weft report' and 'weft compare' read it"},
    {"<!doctype html", NULL, "a page", "open it in a browser"},
    {"<html", NULL, "a page", "open it in a browser"},
    {"\177ELF", NULL, "a program or library", "'weft run -n <ranks> -- <program>' executes it"},
    {"\x1f\x8b", NULL, "a file compressed by gzip", "unpack it first"},
    {"\x28\xb5\x2f\xfd", NULL, "a file compressed by zstd", "unpack it first"},
    {"\xfd\x37zXZ", NULL, "a file compressed by xz", "unpack it first"},
    {"BZh", NULL, "a file compressed by bzip2", "unpack it first"},
    {"PK\x03\x04", NULL, "a zip archive", "unpack it first"},
    {"#!", NULL, "a script", "'weft run -n <ranks> -- <program>' executes it"},
    {NULL, "grid:", "a study", "'weft sweep' runs it"},
    {NULL, "settings:", "a study", "'weft sweep' runs it"},
    {NULL, "topology:", "a machine file", "--machine takes it"},
    {NULL, "network:", "a machine file", "--machine takes it"},
};

static bool has_text(const struct kind *kind, const char *text)
{
    for (const char *at = strstr(text, kind->text); at != NULL;
         at = strstr(at + 1, kind->text)) {
        if (kind->begin != NULL || at == text || at[-1] == '\n') {
            return true;
        }
    }
    return false;
}

static bool is_kind(const struct kind *kind, const char *text)
{
    return (kind->begin == NULL || strncmp(text, kind->begin, strlen(kind->begin)) == 0) &&
           (kind->text == NULL || has_text(kind, text));
}

enum wf_status wf_file_refuse(const char *path, const char *text, const char *wanted,
                              struct wf_err *err)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (is_kind(&kinds[i], text)) {
            return strcmp(kinds[i].what, wanted) == 0
                       ? WF_OK
                       : wf_err_set(err, WF_EINVAL, "'%.300s' is %s, not %s; %s", path,
                                    kinds[i].what, wanted, kinds[i].remedy);
        }
    }
    return WF_OK;
}
