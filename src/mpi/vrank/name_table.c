/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/name_table.h"

#include "base/mem.h"
#include "base/strings.h"

#include <stdlib.h>
#include <string.h>

struct wf_vrank_names {
    uint32_t n_processes, own;
    struct wf_strings lists[]; /* [process and kind] */
};

struct wf_vrank_names *wf_vrank_names_new(uint32_t n_processes, uint32_t own)
{
    size_t n = (size_t)n_processes * WF_VRANK_NAME_KINDS;
    struct wf_vrank_names *names = wf_xcalloc(1, sizeof(*names) + n * sizeof(names->lists[0]));

    names->n_processes = n_processes;
    names->own = own;
    return names;
}

void wf_vrank_names_free(struct wf_vrank_names *names)
{
    for (uint32_t i = 0; names != NULL && i < names->n_processes * WF_VRANK_NAME_KINDS; i++) {
        wf_strings_fini(&names->lists[i]);
    }
    free(names);
}

static size_t place_of(uint32_t process, enum wf_vrank_name_kind kind)
{
    return process * (size_t)WF_VRANK_NAME_KINDS + (size_t)kind;
}

static bool has(const struct wf_strings *list, const char *name)
{
    return wf_strings_find(list, name, strlen(name)) != WF_STRINGS_NONE;
}

uint32_t wf_vrank_names_number(struct wf_vrank_names *names, enum wf_vrank_name_kind kind,
                               const char *name, bool *is_new)
{
    struct wf_strings *list = &names->lists[place_of(names->own, kind)];

    uint32_t n = list->n, number = wf_strings_put(list, name, strlen(name));

    *is_new = number == n;
    return number;
}

void wf_vrank_names_heard(struct wf_vrank_names *names, uint32_t process,
                          enum wf_vrank_name_kind kind, const char *name)
{
    (void)wf_strings_put(&names->lists[place_of(process, kind)], name, strlen(name));
}

/* Whether an earlier process also has the name. */
static bool is_known(const struct wf_vrank_names *names, uint32_t process,
                     enum wf_vrank_name_kind kind, const char *name)
{
    uint32_t p = 0;

    while (p < process && !has(&names->lists[place_of(p, kind)], name)) {
        p++;
    }
    return p < process;
}

/* The name that has this number in the whole run; null if there is none. */
static const char *common_name(const struct wf_vrank_names *names, enum wf_vrank_name_kind kind,
                               uint32_t number)
{
    for (uint32_t p = 0; p < names->n_processes; p++) {
        const struct wf_strings *list = &names->lists[place_of(p, kind)];
        for (uint32_t i = 0; i < list->n; i++) {
            const char *name = wf_strings_at(list, i);
            if (!is_known(names, p, kind, name) && number-- == 0) {
                return name;
            }
        }
    }
    return NULL;
}

const char *wf_vrank_names_at(const struct wf_vrank_names *names, enum wf_vrank_name_kind kind,
                              uint32_t number)
{
    const struct wf_strings *own = &names->lists[place_of(names->own, kind)];

    return number < own->n ? wf_strings_at(own, number) : common_name(names, kind, number);
}

uint32_t wf_vrank_names_common(const struct wf_vrank_names *names, enum wf_vrank_name_kind kind,
                               uint32_t number)
{
    const struct wf_strings *own = &names->lists[place_of(names->own, kind)];
    uint32_t common = 0;

    for (const char *at; number < own->n && (at = common_name(names, kind, common)) != NULL;
         common++) {
        if (strcmp(at, wf_strings_at(own, number)) == 0) {
            return common;
        }
    }
    return number;
}
