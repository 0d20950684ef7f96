/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/program_libraries.h"
#include "base/text.h"
#include "run/program/program.h"

enum wf_status wf_program_print_libraries(const char *path, FILE *out, struct wf_err *err)
{
    struct wf_vrank_program_file file;
    struct wf_vrank_libraries libraries;

    WF_TRY(wf_vrank_program_file_open(path, &file, err));
    enum wf_status status = wf_vrank_libraries_find(path, &file, &libraries, err);
    for (uint32_t i = 0; status == WF_OK && i < libraries.n; i++) {
        const struct wf_vrank_library *library = &libraries.list[i];
        wf_text_print(out, "%-24s %-8s %s\n", library->name,
                      library->why_shared == NULL ? "private" : "shared",
                      library->why_shared == NULL ? library->path : library->why_shared);
    }
    if (status == WF_OK) {
        wf_vrank_libraries_free(&libraries);
    }
    wf_vrank_program_file_close(&file);
    return status;
}
