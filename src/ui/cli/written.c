/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/cli/written.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/units.h"
#include "ui/cli/progress.h"

/* The options that name a file to write. */
static const char *const names[] = {"output", "table", "plot", "csv"};

static bool is_output(const struct wf_opt *row)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (row->key == NULL && row->kind == WF_OPT_VALUE && row->param.type == WF_PARAM_TEXT &&
            strcmp(row->param.name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_quiet(const struct wf_opt *table, const void *opts)
{
    for (const struct wf_opt *row = table; row->param.name != NULL; row++) {
        if (strcmp(row->param.name, "quiet") == 0 && row->param.type == WF_PARAM_BOOL) {
            return *(const bool *)((const char *)opts + row->param.offset);
        }
    }
    return false;
}

void wf_cli_tell_written(FILE *out, const struct wf_opt *table, const void *opts, time_t began)
{
    char size[WF_UNITS_TEXT_MAX];
    struct stat st;

    if (!wf_cli_is_terminal(out) || is_quiet(table, opts)) {
        return;
    }
    for (const struct wf_opt *row = table; row->param.name != NULL; row++) {
        if (!is_output(row)) {
            continue;
        }
        const char *path = *(const char *const *)((const char *)opts + row->param.offset);
        if (path != NULL && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
            st.st_mtime >= began) {
            (void)fprintf(out, "wrote %s (%s)\n", path,
                          wf_human_size((uint64_t)st.st_size, size));
        }
    }
}
