/* SPDX-License-Identifier: Apache-2.0 */
#include "base/install.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *wf_install_find(const char *name)
{
    static const char *const places[] = {"", "/" WEFT_LIBRARY_DIRECTORY, NULL};
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
