/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/calibration_kept.h"

#include "base/file.h"
#include "model/topo/topo.h"

#include <string.h>

enum {
    KEPT_MAX = 1 << 20,    /* bytes of a machine file... */
    LINES_MAX = 512 << 10, /* ...of which these at most keep measurements */
    PAIRS_MAX = 6
};

#define KEPT "#: " /* begins the lines of a machine file that keep what was measured */

static bool is_plain(const char *line)
{
    while (*line >= ' ' && *line <= '~') {
        line++;
    }
    return *line == '\0';
}

void wf_calibration_take(struct wf_calibration *measured, struct wf_buf *lines,
                         const char *line, double *progress)
{
    bool is_ours = wf_calibration_line(measured, line, progress);

    if (is_ours && is_plain(line) && lines->size + strlen(line) < LINES_MAX) {
        wf_buf_append(lines, line, strlen(line));
        wf_buf_append(lines, "\n", 1);
    }
}

enum wf_status wf_calibration_kept_read(const char *path, const char *const *mpis,
                                        struct wf_calibration *measured, struct wf_buf *lines,
                                        const char **mpi, struct wf_err *err)
{
    struct wf_buf text = {.data = NULL};
    double progress = 0;
    char *rest = NULL;
    enum wf_status status = wf_file_read(path, KEPT_MAX, &text, err);

    if (status == WF_OK) {
        char *line = strtok_r((char *)text.data, "\n", &rest);
        for (; line != NULL; line = strtok_r(NULL, "\n", &rest)) {
            if (strncmp(line, KEPT, strlen(KEPT)) == 0) {
                wf_calibration_take(measured, lines, line + strlen(KEPT), &progress);
            }
            for (size_t i = 0; mpis[i] != NULL; i++) {
                bool is_named = strncmp(line, KEPT "mpi ", strlen(KEPT "mpi ")) == 0 &&
                                strcmp(line + strlen(KEPT "mpi "), mpis[i]) == 0;
                *mpi = is_named ? mpis[i] : *mpi;
            }
        }
    }
    wf_buf_fini(&text);
    WF_TRY(status);
    return measured->n >= WF_CALIBRATION_MEASURES_MIN && *mpi != NULL
               ? WF_OK
               : wf_err_set(err, WF_EINVAL,
                            "'%.200s' keeps no measurements; weft calibrate writes such files",
                            path);
}

void wf_calibration_kept_write(const struct wf_buf *lines, const char *mpi, FILE *out)
{
    const char *at = (const char *)lines->data, *end = at + lines->size;

    (void)fprintf(out, "\n# For weft calibrate --from:\n" KEPT "mpi %s\n", mpi);
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        int length = (int)(newline - at);
        (void)fprintf(out, KEPT "%.*s\n", length, at);
        at = newline + 1;
    }
}

enum wf_status wf_calibration_pairs(const char *topology, char *text, struct wf_err *err)
{
    struct wf_topo *topo = NULL;
    uint32_t seen = 0;
    size_t length = 0;

    (void)snprintf(text, WF_CALIBRATION_PAIRS_TEXT, "0-1");
    if (topology == NULL) {
        return WF_OK;
    }
    WF_TRY(wf_topo_create(topology, &topo, err));
    for (int i = 0; i < PAIRS_MAX; i++) {
        uint32_t best = 0, least = UINT32_MAX;
        for (uint32_t node = 1; node < topo->n_nodes; node++) {
            uint32_t hops = topo->ops->distance(topo, 0, node);
            if (hops > seen && hops < least) {
                least = hops;
                best = node;
            }
        }
        if (best == 0) {
            break;
        }
        seen = least;
        length += (size_t)snprintf(text + length, WF_CALIBRATION_PAIRS_TEXT - length, "%s0-%u",
                                   length > 0 ? "," : "", best);
    }
    wf_topo_free(topo);
    return WF_OK;
}

void wf_calibration_warn(const struct wf_calibration *measured, FILE *out)
{
    if (measured->lost > WF_CALIBRATION_LOST_MAX) {
        (void)fprintf(out,
                      "weft: warning: the hosts are busy: ranks lost %.0f %% of their time to "
                      "other programs; the times of short messages are too long. Measure again "
                      "when nothing else runs\n",
                      measured->lost);
    }
}
