/* SPDX-License-Identifier: Apache-2.0 */
#include "base/install.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The real path of a file in one of the places, relative to the directory of the program. */
static char *find_in(const char *const *places, const char *name)
{
    char self[PATH_MAX];
    char path[2 * PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (n <= 0) {
        return NULL;
    }
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    for (const char *const *place = places; *place != NULL; place++) {
        int length = snprintf(path, sizeof(path), "%s%s/%s", self, *place, name);
        char *real = length < (int)sizeof(path) ? realpath(path, NULL) : NULL;

        if (real != NULL) {
            return real;
        }
    }
    return NULL;
}

char *wf_install_find(const char *name)
{
    static const char *const places[] = {"", "/" WEFT_LIBRARY_DIRECTORY, NULL};

    return find_in(places, name);
}

/* The directory in one of the places that has `header`. */
static char *find_headers(const char *const *places, const char *header)
{
    char *path = find_in(places, header);

    if (path != NULL) {
        path[strlen(path) - strlen(header) - 1] = '\0'; /* with the slash before it */
    }
    return path;
}

char *wf_install_include(void)
{
    static const char *const places[] = {"/../include", "/../../include", NULL};

    return find_headers(places, "weft/mark.h");
}

char *wf_install_plugin_include(void)
{
    static const char *const places[] = {"/../include/weft/plugin", "/../../src", NULL};

    return find_headers(places, "model/topo/topo.h");
}
