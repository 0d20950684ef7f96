/* SPDX-License-Identifier: Apache-2.0 */
#include "vrank/name_table.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct list {
    char **names;
    uint32_t n;
};

struct wf_vrank_names {
    uint32_t n_processes, own;
    struct list lists[]; /* by process and kind */
};

struct wf_vrank_names *wf_vrank_names_new(uint32_t n_processes, uint32_t own)
{
    size_t n = (size_t)n_processes * WF_VRANK_NAME_KINDS;
    struct wf_vrank_names *names = wf_xcalloc(1, sizeof(*names) + n * sizeof(struct list));

    names->n_processes = n_processes;
    names->own = own;
    return names;
}

void wf_vrank_names_free(struct wf_vrank_names *names)
{
    for (uint32_t i = 0; names != NULL && i < names->n_processes * WF_VRANK_NAME_KINDS; i++) {
        for (uint32_t k = 0; k < names->lists[i].n; k++) {
            free(names->lists[i].names[k]);
        }
        free(names->lists[i].names);
    }
    free(names);
}

static struct list *list_of(struct wf_vrank_names *names, uint32_t process,
                            enum wf_vrank_name_kind kind)
{
    return &names->lists[process * WF_VRANK_NAME_KINDS + (uint32_t)kind];
}

static const struct list *look_at(const struct wf_vrank_names *names, uint32_t process,
                                  enum wf_vrank_name_kind kind)
{
    return &names->lists[process * WF_VRANK_NAME_KINDS + (uint32_t)kind];
}

/* The place of a name; the length of the list if it is not there. */
static uint32_t find(const struct list *list, const char *name)
{
    uint32_t i = 0;

    while (i < list->n && strcmp(list->names[i], name) != 0) {
        i++;
    }
    return i;
}

static void add(struct list *list, const char *name)
{
    list->names = wf_xrealloc(list->names, list->n + (size_t)1, sizeof(char *));
    list->names[list->n++] = wf_xstrdup(name);
}

uint32_t wf_vrank_names_number(struct wf_vrank_names *names, enum wf_vrank_name_kind kind,
                               const char *name, bool *is_new)
{
    struct list *list = list_of(names, names->own, kind);
    uint32_t number = find(list, name);

    *is_new = number == list->n;
    if (*is_new) {
        add(list, name);
    }
    return number;
}

void wf_vrank_names_heard(struct wf_vrank_names *names, uint32_t process,
                          enum wf_vrank_name_kind kind, const char *name)
{
    add(list_of(names, process, kind), name);
}

/* Whether one of the processes before this one has the name too. */
static bool is_known(const struct wf_vrank_names *names, uint32_t process,
                     enum wf_vrank_name_kind kind, const char *name)
{
    for (uint32_t p = 0; p < process; p++) {
        const struct list *list = look_at(names, p, kind);
        if (find(list, name) < list->n) {
            return true;
        }
    }
    return false;
}

static const char *common_name(const struct wf_vrank_names *names, enum wf_vrank_name_kind kind,
                               uint32_t number)
{
    for (uint32_t p = 0; p < names->n_processes; p++) {
        const struct list *list = look_at(names, p, kind);
        for (uint32_t i = 0; i < list->n; i++) {
            if (!is_known(names, p, kind, list->names[i]) && number-- == 0) {
                return list->names[i];
            }
        }
    }
    return NULL;
}

const char *wf_vrank_names_at(const struct wf_vrank_names *names, enum wf_vrank_name_kind kind,
                              uint32_t number)
{
    const struct list *own = look_at(names, names->own, kind);

    return number < own->n ? own->names[number] : common_name(names, kind, number);
}

uint32_t wf_vrank_names_common(const struct wf_vrank_names *names, enum wf_vrank_name_kind kind,
                               uint32_t number)
{
    const struct list *own = look_at(names, names->own, kind);
    uint32_t common = 0;

    for (const char *at; number < own->n && (at = common_name(names, kind, common)) != NULL;
         common++) {
        if (strcmp(at, own->names[number]) == 0) {
            return common;
        }
    }
    return number;
}
