/* SPDX-License-Identifier: Apache-2.0 */
/* The topology of a machine file. Every form becomes one spec (model/topo/spec.h). The properties of
 * the links of its levels become lists for the network model. */
#include "base/buf.h"
#include "base/lookup.h"
#include "base/mem.h"
#include "model/net/net.h"
#include "model/topo/nested.h"
#include "model/topo/spec.h"
#include "run/machine/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Properties of the links of a level. They are parameters of network models, with one value per
 * level. */
static const char *const link_keys[] = {"link_latency", "bandwidth"};
enum { N_LINK_KEYS = sizeof(link_keys) / sizeof(link_keys[0]) };

/* The levels read so far, outermost first. */
struct levels {
    struct wf_buf spec; /* not NUL-terminated */
    size_t n;
    const struct wf_yaml *links[WF_TOPO_NESTED_LEVELS_MAX][N_LINK_KEYS]; /* null: not given */
    const struct wf_yaml *classes[WF_TOPO_NESTED_LEVELS_MAX];            /* likewise */
};

static void put_text(struct wf_buf *buf, const char *text)
{
    wf_buf_append(buf, text, strlen(text));
}

/* Adds one level, in the syntax of a spec. */
static enum wf_status add_level(const struct wf_machine_reader *reader, struct levels *levels,
                                const char *text, size_t len, struct wf_yaml_place at,
                                struct wf_err *err)
{
    if (levels->n == WF_TOPO_NESTED_LEVELS_MAX) {
        (void)wf_err_set(err, WF_EINVAL, "more than %d levels of networks",
                         WF_TOPO_NESTED_LEVELS_MAX);
        return wf_machine_blame(reader, at, err);
    }
    if (levels->n++ > 0) {
        put_text(&levels->spec, "/");
    }
    wf_buf_append(&levels->spec, text, len);
    return WF_OK;
}

/* Reads a spec of one or several levels. */
static enum wf_status read_spec(const struct wf_machine_reader *reader, struct levels *levels,
                                const struct wf_yaml *node, struct wf_err *err)
{
    struct wf_topo *topo = NULL;
    struct wf_topo_spec_level level;
    size_t at = 0;

    if (wf_topo_create(node->text, &topo, err) != WF_OK) {
        return wf_machine_blame(reader, node->at, err);
    }
    wf_topo_free(topo);
    for (;;) {
        if (wf_topo_spec_next(node->text, &at, &level, err) != WF_OK) {
            return wf_machine_blame(reader, node->at, err);
        }
        if (level.ops == NULL) {
            return WF_OK;
        }
        WF_TRY(add_level(reader, levels, level.text, level.len, node->at, err));
    }
}

/* A mapping that is being turned into a level of a spec. */
struct mapping {
    const struct wf_yaml *node;
    const struct wf_topo_ops *ops;
    const struct wf_yaml *inside, *links[N_LINK_KEYS], *params; /* null: not given */
    const struct wf_yaml *classes;                              /* the key `links` */
    const struct wf_yaml *without; /* a parameter to leave out, or null */
    struct wf_buf text;
};

static enum wf_status find_kind(const struct wf_machine_reader *reader, struct mapping *map,
                                struct wf_err *err)
{
    const struct wf_yaml *kind = wf_yaml_get(map->node, "kind");

    if (kind == NULL) {
        (void)wf_err_set(err, WF_EINVAL, "a topology needs its kind, as in 'kind: torus'");
        return wf_machine_blame(reader, map->node->at, err);
    }
    if (wf_machine_expect(reader, kind, WF_YAML_SCALAR, err) != WF_OK) {
        return WF_EINVAL;
    }
    map->ops = wf_lookup("topology", kind->text, wf_topo_table(), err);
    return map->ops != NULL ? WF_OK : wf_machine_blame(reader, kind->at, err);
}

/* Adds a parameter to the text of the level. The first parameter of a topology kind is written
 * without its name. */
static enum wf_status put_param(const struct wf_machine_reader *reader, struct mapping *map,
                                const struct wf_yaml *node, struct wf_err *err)
{
    const struct wf_topo_ops *ops = map->ops;
    bool first = strcmp(node->key, ops->params[0].name) == 0;
    char *value = wf_machine_join(reader, node, first ? 'x' : ',', err);

    if (value == NULL) {
        return WF_EINVAL;
    }

    /* In a spec, a comma followed by a word with an equals sign begins another parameter. */
    const char *comma = strchr(value, ',');
    if (comma != NULL && strchr(comma, '=') != NULL) {
        (void)wf_err_set(err, WF_EINVAL, "%.64s: '%.64s' has a ',' and then a '='", node->key,
                         value);
        free(value);
        return wf_machine_blame(reader, node->at, err);
    }
    if (map->params != NULL) {
        put_text(&map->text, ",");
    }
    if (map->params != NULL || !first || strchr(value, '=') != NULL ||
        wf_param_find(ops->params, value) != NULL) {
        put_text(&map->text, node->key);
        put_text(&map->text, "=");
    }
    put_text(&map->text, value);
    map->params = map->params != NULL ? map->params : node;
    free(value);
    return WF_OK;
}

/* The number of this link key; N_LINK_KEYS if it is not one, or if the kind has a parameter of
 * that name. */
static size_t link_key(const struct wf_topo_ops *ops, const char *key)
{
    return wf_param_find(ops->params, key) == NULL
               ? WF_LOOKUP_INDEX(link_keys, N_LINK_KEYS, key)
               : N_LINK_KEYS;
}

static enum wf_status read_keys(const struct wf_machine_reader *reader, struct mapping *map,
                                struct wf_err *err)
{
    static const char *const known[] = {"kind",      "inside", "link_latency",
                                        "bandwidth", "links",  NULL};
    const struct wf_yaml *first = wf_yaml_get(map->node, map->ops->params[0].name);
    enum wf_status status = WF_OK;

    put_text(&map->text, map->ops->name);
    put_text(&map->text, ":");
    if (first != NULL) {
        status = put_param(reader, map, first, err);
    }
    for (const struct wf_yaml *at = map->node->first; at != NULL && status == WF_OK;
         at = at->next) {
        size_t link = link_key(map->ops, at->key);

        if (strcmp(at->key, "kind") == 0 || at == first || at == map->without) {
            continue;
        }
        if (strcmp(at->key, "inside") == 0) {
            map->inside = at;
        } else if (strcmp(at->key, "links") == 0) {
            map->classes = at;
        } else if (link < N_LINK_KEYS) {
            map->links[link] = at;
            status = wf_machine_expect(reader, at, WF_YAML_SCALAR, err);
        } else if (wf_param_find(map->ops->params, at->key) != NULL) {
            status = put_param(reader, map, at, err);
        } else {
            status = wf_machine_unknown_key(reader, at, known, map->ops->params, err);
        }
    }
    wf_buf_append(&map->text, "", 1);
    return status;
}

/* Builds the level by itself, only to find errors. */
static enum wf_status build_level(const struct mapping *map, struct wf_err *err)
{
    const char *text = (const char *)map->text.data;
    struct wf_topo_spec_level level;
    struct wf_topo *topo = NULL;
    size_t end = 0;

    enum wf_status status = wf_topo_spec_next(text, &end, &level, err);
    if (status == WF_OK && text[end] != '\0') {
        return wf_err_set(err, WF_EINVAL, "'%.64s' is more than one level", text);
    }
    WF_THEN(status, wf_topo_spec_create(&level, &topo, err));
    wf_topo_free(topo);
    return status;
}

/* The place to report for a level that cannot be built: the parameter without which it can be
 * built, or else its first parameter. */
static struct wf_yaml_place find_culprit(const struct wf_machine_reader *reader,
                                         const struct mapping *map)
{
    for (const struct wf_yaml *at = map->node->first; at != NULL; at = at->next) {
        struct mapping less = {.node = map->node, .ops = map->ops, .without = at};

        if (wf_param_find(map->ops->params, at->key) == NULL) {
            continue;
        }
        bool found =
            read_keys(reader, &less, NULL) == WF_OK && build_level(&less, NULL) == WF_OK;
        wf_buf_fini(&less.text);
        if (found) {
            return at->at;
        }
    }
    return map->params != NULL ? map->params->at : map->node->at;
}

/* Checks that the level can be built by itself, so that an error is reported at its place. */
static enum wf_status try_level(const struct wf_machine_reader *reader,
                                const struct mapping *map, struct wf_err *err)
{
    return build_level(map, err) == WF_OK
               ? WF_OK
               : wf_machine_blame(reader, find_culprit(reader, map), err);
}

static enum wf_status read_levels(const struct wf_machine_reader *reader, struct levels *levels,
                                  const struct wf_yaml *node, struct wf_err *err);

static enum wf_status read_mapping(const struct wf_machine_reader *reader,
                                   struct levels *levels, const struct wf_yaml *node,
                                   struct wf_err *err)
{
    struct mapping map = {.node = node};

    enum wf_status status = find_kind(reader, &map, err);
    if (map.ops == NULL) {
        return status;
    }
    status = read_keys(reader, &map, err);
    WF_THEN(status, try_level(reader, &map, err));
    WF_THEN(status, add_level(reader, levels, (const char *)map.text.data, map.text.size - 1,
                              node->at, err));
    wf_buf_fini(&map.text);
    if (status != WF_OK) {
        return status;
    }
    memcpy(levels->links[levels->n - 1], map.links, sizeof(map.links));
    levels->classes[levels->n - 1] = map.classes;
    return map.inside != NULL ? read_levels(reader, levels, map.inside, err) : WF_OK;
}

/* The recursion is as deep as the file is nested, which is limited (run/machine/yaml.h). */
static enum wf_status read_levels(const struct wf_machine_reader *reader, struct levels *levels,
                                  const struct wf_yaml *node, struct wf_err *err)
{
    enum wf_status status = WF_OK;

    if (node->kind == WF_YAML_SCALAR) {
        return read_spec(reader, levels, node, err);
    }
    if (node->kind == WF_YAML_MAP) {
        return read_mapping(reader, levels, node, err);
    }
    if (node->first == NULL) {
        (void)wf_err_set(err, WF_EINVAL, "a topology needs at least one level");
        return wf_machine_blame(reader, node->at, err);
    }
    for (const struct wf_yaml *at = node->first; at != NULL && status == WF_OK; at = at->next) {
        status = read_levels(reader, levels, at, err);
    }
    return status;
}

/* Checks one value of a list by itself, so that a mistake is reported at its place. The model
 * of an included file is not known yet; its list is checked as a whole later. */
static enum wf_status try_link(const struct wf_machine_reader *reader, const char *key,
                               const struct wf_yaml *node, struct wf_err *err)
{
    const struct wf_net_ops *net = NULL;

    if (reader->model == NULL || wf_net_find(reader->model, &net, NULL) != WF_OK ||
        wf_param_find(net->params, key) == NULL) {
        return WF_OK;
    }

    void *scratch = wf_xcalloc(1, net->params_size);
    enum wf_status status = wf_param_set(net->params, scratch, "", key, node->text, err);
    wf_param_release(net->params, scratch);
    free(scratch);
    return status == WF_OK ? WF_OK : wf_machine_blame(reader, node->at, err);
}

/* The value under `network` applies to levels that have none of their own. */
static const struct wf_yaml *default_link(const struct wf_machine_reader *reader,
                                          const char *key)
{
    const struct wf_yaml *node = wf_yaml_get(reader->network, key);

    return node != NULL && node->kind == WF_YAML_SCALAR && strchr(node->text, ',') == NULL
               ? node
               : NULL;
}

/* Adds the list of one link key, if any level has it. */
static enum wf_status emit_links(const struct wf_machine_reader *reader,
                                 const struct levels *levels, size_t k, struct wf_err *err)
{
    const char *key = link_keys[k];
    const struct wf_yaml *first = NULL;
    struct wf_buf list = {.data = NULL};
    char full[64];

    for (size_t i = 0; i < levels->n && first == NULL; i++) {
        first = levels->links[i][k];
    }
    for (size_t i = 0; i < levels->n && first != NULL; i++) {
        const struct wf_yaml *own = levels->links[i][k];
        const struct wf_yaml *node = own != NULL ? own : default_link(reader, key);
        enum wf_status status = WF_OK;

        if (node == NULL) {
            (void)wf_err_set(err, WF_EINVAL,
                             "%s is given for some levels of the topology, but not for level "
                             "%zu; give it for each, or one for all under 'network'",
                             key, i + 1);
            status = wf_machine_blame(reader, first->at, err);
        } else {
            status = try_link(reader, key, node, err);
        }
        if (status != WF_OK) {
            wf_buf_fini(&list);
            return status;
        }
        put_text(&list, i > 0 ? "," : "");
        put_text(&list, node->text);
    }
    if (first == NULL) {
        return WF_OK;
    }
    wf_buf_append(&list, "", 1);
    (void)snprintf(full, sizeof(full), "net.%s", key);
    enum wf_status status =
        wf_machine_emit(reader, full, key, (char *)list.data, first->at, err);
    if (status == WF_OK) {
        struct wf_scenario *scenario = reader->machine->scenario;
        scenario->settings[scenario->n - 1].with_topology = true;
    }
    return status;
}

enum wf_status wf_machine_read_topology(struct wf_machine_reader *reader,
                                        const struct wf_yaml *node, struct wf_err *err)
{
    struct levels levels = {.n = 0};

    enum wf_status status = read_levels(reader, &levels, node, err);
    if (status != WF_OK) {
        wf_buf_fini(&levels.spec);
        return status;
    }
    wf_buf_append(&levels.spec, "", 1);
    status = wf_machine_emit(reader, "topology", "topology", (char *)levels.spec.data, node->at,
                             err);
    for (size_t k = 0; k < N_LINK_KEYS && status == WF_OK; k++) {
        status = emit_links(reader, &levels, k, err);
    }
    reader->n_levels = levels.n;
    memcpy(reader->level_links, levels.classes, sizeof(reader->level_links));
    return status;
}
