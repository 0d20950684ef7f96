/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/capture_setup.h"

#include "base/buf.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the directory ---- */

static bool is_trace_file(const char *name)
{
    size_t length = strlen(name);

    return length > 5 && strcmp(name + length - 5, ".weft") == 0;
}

/* Removes the trace files in the directory if that is allowed. */
static enum wf_status clear(const char *path, DIR *directory, bool force, struct wf_err *err)
{
    for (const struct dirent *entry = readdir(directory); entry != NULL;
         entry = readdir(directory)) {
        if (!is_trace_file(entry->d_name)) {
            continue;
        }
        if (!force) {
            return wf_err_set(err, WF_EUSAGE,
                              "there is a trace in '%.200s' already; --force replaces it",
                              path);
        }
        if (unlinkat(dirfd(directory), entry->d_name, 0) != 0) {
            return wf_err_set(err, WF_EIO, "cannot remove '%.100s' in '%.200s': %s",
                              entry->d_name, path, strerror(errno));
        }
    }
    return WF_OK;
}

enum wf_status wf_study_capture_directory(const char *path, bool force, struct wf_err *err)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        return wf_err_set(err, WF_EIO, "cannot create the directory '%.300s': %s", path,
                          strerror(errno));
    }
    DIR *directory = opendir(path);
    if (directory == NULL) {
        return wf_err_set(err, WF_EIO, "cannot use '%.300s' as a directory: %s", path,
                          strerror(errno));
    }
    enum wf_status status = clear(path, directory, force, err);
    (void)closedir(directory);
    return status;
}

unsigned wf_study_capture_count(const char *path)
{
    DIR *directory = opendir(path);
    unsigned n = 0;

    if (directory == NULL) {
        return 0;
    }
    for (const struct dirent *entry = readdir(directory); entry != NULL;
         entry = readdir(directory)) {
        n += is_trace_file(entry->d_name) ? 1 : 0;
    }
    (void)closedir(directory);
    return n;
}

/* ---- the environment of the program ---- */

static void set(const char *name, const char *value)
{
    if (value == NULL || value[0] == '\0') {
        (void)unsetenv(name);
    } else if (setenv(name, value, 1) != 0) {
        abort();
    }
}

static void preload(const char *library)
{
    const char *before = getenv("LD_PRELOAD");
    struct wf_buf list = {.data = NULL};

    wf_buf_append(&list, library, strlen(library));
    if (before != NULL && before[0] != '\0') {
        wf_buf_append(&list, ":", 1);
        wf_buf_append(&list, before, strlen(before));
    }
    wf_buf_append(&list, "", 1);
    set("LD_PRELOAD", (const char *)list.data);
    wf_buf_fini(&list);
}

/* Open MPI passes only the listed environment variables to other hosts. */
static void tell_openmpi(const char *const *names)
{
    struct wf_buf list = {.data = NULL};

    if (getenv("OMPI_MCA_mca_base_env_list") != NULL) {
        return;
    }
    for (; *names != NULL; names++) {
        if (getenv(*names) != NULL) {
            wf_buf_append(&list, ";", list.size > 0 ? 1 : 0);
            wf_buf_append(&list, *names, strlen(*names));
        }
    }
    wf_buf_append(&list, "", 1);
    set("OMPI_MCA_mca_base_env_list", (const char *)list.data);
    wf_buf_fini(&list);
}

void wf_study_capture_environment(const struct wf_study_capture *how, const char *directory,
                                  const char *library)
{
    static const char *const names[] = {"LD_PRELOAD",
                                        "WEFT_CAPTURE_DIR",
                                        "WEFT_CAPTURE_CLOCK",
                                        "WEFT_CAPTURE_RANKS",
                                        "WEFT_CAPTURE_REGION",
                                        "WEFT_CAPTURE_PCONTROL",
                                        "WEFT_CAPTURE_COUNTERS",
                                        "WEFT_CAPTURE_COMPARE_CLOCKS",
                                        "WEFT_CAPTURE_ALL_POLLS",
                                        "WEFT_CAPTURE_STACKS",
                                        NULL};

    set("WEFT_CAPTURE_DIR", directory);
    set("WEFT_CAPTURE_CLOCK", how->clock);
    set("WEFT_CAPTURE_RANKS", how->ranks);
    set("WEFT_CAPTURE_REGION", how->region);
    set("WEFT_CAPTURE_PCONTROL", how->pcontrol ? "1" : NULL);
    set("WEFT_CAPTURE_COUNTERS", how->counters);
    set("WEFT_CAPTURE_COMPARE_CLOCKS", how->compare_clocks ? "1" : NULL);
    set("WEFT_CAPTURE_ALL_POLLS", how->all_polls ? "1" : NULL);
    set("WEFT_CAPTURE_STACKS", how->stacks ? "1" : NULL);
    preload(library);
    tell_openmpi(names);
}
