/* SPDX-License-Identifier: Apache-2.0 */
#include "model/topo/classes.h"

#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define DIMENSIONS "x", "y", "z", "w", "v", "u", "t", "s"
const char *const wf_topo_class_dimensions[] = {DIMENSIONS, NULL};
const char *const wf_topo_class_terminal_dimensions[] = {"terminal", DIMENSIONS, NULL};

#define LEVELS                                                                                \
    "level1", "level2", "level3", "level4", "level5", "level6", "level7", "level8", "level9", \
        "level10", "level11", "level12", "level13", "level14", "level15", "level16",          \
        "level17", "level18", "level19", "level20", "level21", "level22", "level23",          \
        "level24", "level25", "level26", "level27", "level28", "level29", "level30",          \
        "level31", "level32"
const char *const wf_topo_class_levels[] = {"terminal", LEVELS, NULL};
const char *const wf_topo_class_node_levels[] = {"level0", LEVELS, NULL};
_Static_assert(sizeof(wf_topo_class_levels) / sizeof(char *) == WF_TOPO_CLASS_LEVELS_MAX + 1,
               "a name for each level");

const char *const wf_topo_class_groups[] = {
    [WF_TOPO_CLASS_TERMINAL] = "terminal",
    [WF_TOPO_CLASS_LOCAL] = "local",
    [WF_TOPO_CLASS_GLOBAL] = "global",
    [WF_TOPO_CLASS_GROUPS] = NULL,
};

uint32_t wf_topo_n_classes(const struct wf_topo *topo)
{
    return topo->classes != NULL ? topo->n_classes : 1;
}

const char *wf_topo_class_name(const struct wf_topo *topo, uint32_t number)
{
    return topo->classes != NULL ? topo->classes[number] : "link";
}

static bool is_name(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

/* The name without its level. */
static const char *without_level(const char *name)
{
    const char *dot = strchr(name, '.');

    return dot != NULL && isdigit((unsigned char)name[0]) ? dot + 1 : name;
}

/* Lists all names, as far as they fit. */
static void list_names(const struct wf_topo *topo, char *buf, size_t size)
{
    uint32_t n = wf_topo_n_classes(topo);
    size_t used = 0;

    buf[0] = '\0';
    for (uint32_t i = 0; i < n && used < size; i++) {
        const char *between = i == 0 ? "" : i + 1 == n ? " and " : ", ";
        used += (size_t)snprintf(buf + used, size - used, "%s%s", between,
                                 wf_topo_class_name(topo, i));
    }
}

static enum wf_status not_found(const struct wf_topo *topo, const char *name, size_t length,
                                uint32_t n_matches, struct wf_err *err)
{
    char wanted[WF_HINT_MAX], hint[WF_HINT_MAX], names[200];
    struct wf_nearest nearest;

    (void)snprintf(wanted, sizeof(wanted), "%.*s", (int)(length < 64 ? length : 64), name);
    list_names(topo, names, sizeof(names));
    if (n_matches > 1) {
        return wf_err_set(err, WF_EINVAL,
                          "%u levels of the topology have links of class '%s'; name one of %s",
                          n_matches, wanted, names);
    }
    wf_nearest_begin(&nearest, wanted);
    for (uint32_t i = 0; i < wf_topo_n_classes(topo); i++) {
        wf_nearest_add(&nearest, wf_topo_class_name(topo, i));
    }
    (void)wf_nearest_hint(&nearest, hint);
    return wf_err_set(err, WF_EINVAL, "the topology has no links of class '%s'%s%s%s", wanted,
                      hint, hint[0] != '\0' ? " It has " : "; it has ", names);
}

enum wf_status wf_topo_class_find(const struct wf_topo *topo, const char *name, size_t length,
                                  uint32_t *out, struct wf_err *err)
{
    uint32_t n = wf_topo_n_classes(topo), n_matches = 0, match = 0;

    for (uint32_t i = 0; i < n; i++) {
        const char *known = wf_topo_class_name(topo, i);
        if (is_name(known, name, length)) {
            *out = i;
            return WF_OK;
        }
        if (is_name(without_level(known), name, length)) {
            n_matches++;
            match = i;
        }
    }
    if (n_matches != 1) {
        return not_found(topo, name, length, n_matches, err);
    }
    *out = match;
    return WF_OK;
}
