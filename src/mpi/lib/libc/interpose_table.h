/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A function that programs import, and what they get in its place (interpose.h). */
struct wl_replacement {
    const char *name;
    void (*function)(void);
};

#define WL_REPLACE(name, by)        \
    {                               \
#name, (void (*)(void))(by) \
    }
/* In C and, with the name of Fortran, there too. */
#define WL_REPLACE_BOTH(name, by) WL_REPLACE(name, by), WL_REPLACE(name##_, by)
#define WL_REPLACE_END \
    {                  \
        0, 0           \
    }
