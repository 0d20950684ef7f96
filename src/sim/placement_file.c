/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/placement_file.h"

#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *path;
    uint32_t n_ranks, n_nodes;
    uint32_t *node_of;
    uint32_t line, n; /* read so far: lines, and nodes */
};

/* Cuts comment and blanks off; returns where the text begins. */
static char *trim(char *line)
{
    line[strcspn(line, "#\r\n")] = '\0';
    line += strspn(line, " \t");

    size_t len = strlen(line);
    while (len > 0 && strchr(" \t", line[len - 1]) != NULL) {
        line[--len] = '\0';
    }
    return line;
}

static enum wf_status read_line(struct reader *reader, char *line, struct wf_err *err)
{
    const char *text = trim(line);
    uint64_t node = 0;

    reader->line++;
    if (*text == '\0') {
        return WF_OK;
    }
    if (wf_parse_count(text, &node, NULL) != WF_OK) {
        return wf_err_set(err, WF_EINVAL,
                          "%.200s:%u: '%.40s' is not the number of a node; expected one on "
                          "each line",
                          reader->path, reader->line, text);
    }
    if (node >= reader->n_nodes) {
        return wf_err_set(err, WF_EINVAL,
                          "%.200s:%u: there is no node %" PRIu64 "; the last one is %u",
                          reader->path, reader->line, node, reader->n_nodes - 1);
    }
    if (reader->n == reader->n_ranks) {
        return wf_err_set(err, WF_EINVAL,
                          "%.200s:%u: a node too many: the program has %u rank%s", reader->path,
                          reader->line, reader->n_ranks, reader->n_ranks == 1 ? "" : "s");
    }
    reader->node_of[reader->n++] = (uint32_t)node;
    return WF_OK;
}

static enum wf_status read_all(struct reader *reader, FILE *in, struct wf_err *err)
{
    enum wf_status status = WF_OK;
    char *line = NULL;
    size_t size = 0;

    while (status == WF_OK && getline(&line, &size, in) >= 0) {
        status = read_line(reader, line, err);
    }
    free(line);
    if (status == WF_OK && ferror(in)) {
        status =
            wf_err_set(err, WF_EIO, "cannot read '%.200s': %s", reader->path, strerror(errno));
    }
    if (status == WF_OK && reader->n < reader->n_ranks) {
        status =
            wf_err_set(err, WF_EINVAL, "%.200s:%u: nodes of %u ranks, but the program has %u",
                       reader->path, reader->line, reader->n, reader->n_ranks);
    }
    return status;
}

enum wf_status wf_placement_file_read(const char *path, uint32_t n_ranks, uint32_t n_nodes,
                                      uint32_t *node_of, struct wf_err *err)
{
    struct reader reader = {
        .path = path, .n_ranks = n_ranks, .n_nodes = n_nodes, .node_of = node_of};
    FILE *in = fopen(path, "re");

    if (in == NULL) {
        return wf_err_set(err, WF_EIO, "cannot read '%.200s': %s", path, strerror(errno));
    }
    enum wf_status status = read_all(&reader, in, err);
    (void)fclose(in);
    return status;
}
