/* SPDX-License-Identifier: Apache-2.0 */
/* The properties of link classes in a machine file. Every value becomes a setting of its own,
 * net.links.<class>.<property>, which a later file or option can override. */
#include "run/machine/reader.h"

#include "base/mem.h"

#include <stdio.h>

enum { NAME_MAX_LENGTH = 160 };

static enum wf_status emit_property(const struct wf_machine_reader *reader, const char *group,
                                    const struct wf_yaml *node, struct wf_err *err)
{
    char key[NAME_MAX_LENGTH], origin[NAME_MAX_LENGTH];

    WF_TRY(wf_machine_expect(reader, node, WF_YAML_SCALAR, err));
    (void)snprintf(key, sizeof(key), "net.links.%s.%.40s", group, node->key);
    (void)snprintf(origin, sizeof(origin), "network.links.%s.%.40s", group, node->key);
    return wf_machine_emit(reader, key, origin, wf_xstrdup(node->text), node->at, err);
}

/* Reads a mapping from classes to mappings of properties. `level` is put before the names of
 * classes. */
static enum wf_status read_classes(const struct wf_machine_reader *reader, const char *level,
                                   const struct wf_yaml *links, struct wf_err *err)
{
    WF_TRY(wf_machine_expect(reader, links, WF_YAML_MAP, err));
    for (const struct wf_yaml *one = links->first; one != NULL; one = one->next) {
        char group[NAME_MAX_LENGTH / 2];

        WF_TRY(wf_machine_expect(reader, one, WF_YAML_MAP, err));
        (void)snprintf(group, sizeof(group), "%s%.64s", level, one->key);
        for (const struct wf_yaml *at = one->first; at != NULL; at = at->next) {
            WF_TRY(emit_property(reader, group, at, err));
        }
    }
    return WF_OK;
}

enum wf_status wf_machine_read_links(const struct wf_machine_reader *reader, struct wf_err *err)
{
    const struct wf_yaml *links = wf_yaml_get(reader->network, "links");

    if (links != NULL && links->kind == WF_YAML_SCALAR) {
        WF_TRY(wf_machine_emit(reader, "net.links", "network.links", wf_xstrdup(links->text),
                               links->at, err));
    } else if (links != NULL) {
        WF_TRY(read_classes(reader, "", links, err));
    }
    for (size_t i = 0; i < reader->n_levels; i++) {
        char level[24] = "";

        if (reader->n_levels > 1) {
            (void)snprintf(level, sizeof(level), "%zu.", i);
        }
        if (reader->level_links[i] != NULL) {
            WF_TRY(read_classes(reader, level, reader->level_links[i], err));
        }
    }
    return WF_OK;
}
