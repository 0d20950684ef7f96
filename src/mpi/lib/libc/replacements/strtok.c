/* SPDX-License-Identifier: Apache-2.0 */
/* strtok(), linked into the program so that each rank has its own state. */
#include <string.h>

static char *rest;

char *strtok(char *restrict text, const char *restrict separators)
{
    return strtok_r(text, separators, &rest);
}
