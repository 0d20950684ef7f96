/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/goal/divide.h"

#include "program/trace/kit/infile.h"
#include "program/trace/kit/workers.h"

#include <string.h>

/* A part has at least so many bytes. */
enum { PART_BYTES = 1 << 20 };

#define BLANKS " \t"

/* Whether the line begins a rank. */
static bool begins_rank(const char *line)
{
    static const char word[] = "rank";
    const char *at = line + strspn(line, BLANKS);

    if (strncmp(at, word, strlen(word)) != 0) {
        return false;
    }
    at += strlen(word);
    size_t blanks = strspn(at, BLANKS);
    at += blanks;
    size_t digits = strspn(at, "0123456789");
    at += digits;
    at += strspn(at, BLANKS);
    return blanks > 0 && digits > 0 && *at == '{';
}

/* The first place from `at` on at which a rank begins; the end of the file if there is none. */
static uint64_t find_rank(struct wf_intext *file, uint64_t at, uint64_t end)
{
    size_t length = 0;

    wf_intext_part(file, at, end, 0);
    (void)wf_intext_line(file, &length); /* the rest of a line */
    for (const char *line; (line = wf_intext_line(file, &length)) != NULL;) {
        if (begins_rank(line)) {
            return file->place.byte;
        }
    }
    return end;
}

uint32_t wf_goal_divide(const char *path, uint64_t begin, struct wf_goal_part *parts)
{
    struct wf_err err = {.status = WF_OK};
    struct wf_intext file;
    uint32_t n = 1;

    parts[0] = (struct wf_goal_part){begin, UINT64_MAX};
    if (wf_intext_open(&file, path, &err) != WF_OK) {
        return n;
    }
    uint64_t end = file.size, size = end > begin ? end - begin : 0;
    uint64_t most = size / PART_BYTES < UINT32_MAX ? size / PART_BYTES : UINT32_MAX;
    uint32_t wanted = wf_trace_workers((uint32_t)most);
    parts[0].end = end;
    for (uint32_t i = 1; i < wanted; i++) {
        uint64_t from = begin + size / wanted * i;
        uint64_t at = from > parts[n - 1].begin ? find_rank(&file, from, end) : end;
        if (at < end) {
            parts[n - 1].end = at;
            parts[n++] = (struct wf_goal_part){at, end};
        }
    }
    wf_intext_close(&file);
    if (err.status != WF_OK) {
        parts[0].end = end;
        n = 1;
    }
    return n;
}
