/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/plugin/plugin.h"

#include "base/mem.h"
#include "model/coll/coll.h"
#include "model/net/route/route.h"
#include "model/topo/topo.h"
#include "program/gen/gen.h"
#include "program/trace/reader.h"
#include "ui/report/writer.h"

#include <weft/plugin.h>
#include <weft/weft.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* A kind of table: where it goes, how large it is, and what must be in it. */
struct kind {
    struct wf_registry *registry;
    size_t size;
    const char *(*missing)(const void *table); /* the first required member that is null */
};

#define REQUIRE(ops, member)     \
    if ((ops)->member == NULL) { \
        return #member;          \
    }

static const char *missing_of_topology(const void *table)
{
    const struct wf_topo_ops *ops = table;

    REQUIRE(ops, args)
    REQUIRE(ops, summary)
    REQUIRE(ops, examples)
    REQUIRE(ops, params)
    REQUIRE(ops, create)
    REQUIRE(ops, neighbor)
    REQUIRE(ops, distance)
    REQUIRE(ops, next_port)
    REQUIRE(ops, diameter)
    REQUIRE(ops, histogram)
    REQUIRE(ops, coords)
    return NULL;
}

static const char *missing_of_routing(const void *table)
{
    const struct wf_route_ops *ops = table;

    REQUIRE(ops, summary)
    REQUIRE(ops, next)
    return NULL;
}

static const char *missing_of_collective(const void *table)
{
    const struct wf_coll_ops *ops = table;

    REQUIRE(ops, summary)
    REQUIRE(ops, n_slots)
    REQUIRE(ops, step)
    return (unsigned)ops->kind < WF_COLL_KINDS ? NULL : "kind";
}

static const char *missing_of_generator(const void *table)
{
    const struct wf_source_ops *ops = table;

    REQUIRE(ops, summary)
    REQUIRE(ops, params)
    REQUIRE(ops, create)
    REQUIRE(ops, next)
    return NULL;
}

static const char *missing_of_reader(const void *table)
{
    const struct wf_reader_ops *ops = table;

    REQUIRE(ops, summary)
    REQUIRE(ops, detect)
    REQUIRE(ops, open)
    return NULL;
}

static const char *missing_of_writer(const void *table)
{
    const struct wf_writer_ops *ops = table;

    REQUIRE(ops, extension)
    REQUIRE(ops, summary)
    return ops->write != NULL || (ops->save != NULL && ops->check != NULL) ? NULL : "write";
}

static const struct kind kinds[] = {
    {&wf_topo_registry, sizeof(struct wf_topo_ops), missing_of_topology},
    {&wf_route_registry, sizeof(struct wf_route_ops), missing_of_routing},
    {&wf_coll_registry, sizeof(struct wf_coll_ops), missing_of_collective},
    {&wf_gen_registry, sizeof(struct wf_source_ops), missing_of_generator},
    {&wf_reader_registry, sizeof(struct wf_reader_ops), missing_of_reader},
    {&wf_writer_registry, sizeof(struct wf_writer_ops), missing_of_writer},
};

enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]), ADDED_MAX = 256, PATHS_MAX = 64 };

/* Belongs to the process, as the registries do. */
static struct {
    const struct weft_plugin_entry *added[ADDED_MAX];
    char *paths[PATHS_MAX];
    size_t n_added, n_paths;
} loaded;

static const char *name_of(const struct weft_plugin_entry *entry)
{
    const char *name;

    memcpy(&name, entry->table, sizeof(name));
    return name;
}

static const struct kind *kind_of(const char *name)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        if (strcmp(kinds[i].registry->kind, name) == 0) {
            return &kinds[i];
        }
    }
    return NULL;
}

static enum wf_status add_entry(const struct weft_plugin_entry *entry, struct wf_err *err)
{
    const struct kind *kind = kind_of(entry->kind);

    if (kind == NULL) {
        return wf_err_set(err, WF_EINVAL, "weft %s has no plug-ins of the kind '%.64s'",
                          weft_version(), entry->kind);
    }
    if (entry->size != kind->size) {
        return wf_err_set(
            err, WF_EINVAL,
            "its %s has a table of another version than weft %s; compile it again", entry->kind,
            weft_version());
    }
    if (entry->table == NULL || name_of(entry) == NULL || name_of(entry)[0] == '\0') {
        return wf_err_set(err, WF_EINVAL, "a %s of it has no name", entry->kind);
    }
    const char *missing = kind->missing(entry->table);
    if (missing != NULL) {
        return wf_err_set(err, WF_EINVAL, "the %s '%.64s' lacks the member %s", entry->kind,
                          name_of(entry), missing);
    }
    if (loaded.n_added == ADDED_MAX) {
        return wf_err_set(err, WF_ELIMIT, "plug-ins add more than %d tables", (int)ADDED_MAX);
    }
    WF_TRY(wf_registry_add(kind->registry, entry->table, err));
    loaded.added[loaded.n_added++] = entry;
    return WF_OK;
}

static enum wf_status add_all(const struct weft_plugin *plugin, struct wf_err *err)
{
    if (plugin->size != sizeof(*plugin) || plugin->version != WEFT_PLUGIN_VERSION) {
        return wf_err_set(
            err, WF_EINVAL,
            "it was compiled for another version of weft than %s; compile it again",
            weft_version());
    }
    for (const struct weft_plugin_entry *entry = plugin->entries; entry->kind != NULL;
         entry++) {
        WF_TRY(add_entry(entry, err));
    }
    return WF_OK;
}

enum wf_status wf_plugin_load(const char *path, struct wf_err *err)
{
    for (size_t i = 0; i < loaded.n_paths; i++) {
        if (strcmp(loaded.paths[i], path) == 0) {
            return WF_OK;
        }
    }
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct weft_plugin *plugin = object != NULL ? dlsym(object, "weft_plugin") : NULL;

    if (object == NULL) {
        return wf_err_set(err, WF_EINVAL, "cannot load the plug-in '%.200s': %.200s", path,
                          dlerror());
    }
    if (plugin == NULL) {
        return wf_err_set(err, WF_EINVAL,
                          "'%.200s' is no plug-in: it has no WEFT_PLUGIN(...) of weft/plugin.h",
                          path);
    }
    if (loaded.n_paths == PATHS_MAX) {
        return wf_err_set(err, WF_ELIMIT, "there are more than %d plug-ins", (int)PATHS_MAX);
    }
    enum wf_status status = add_all(plugin, err);
    if (status != WF_OK) {
        wf_err_prefix(err, "plug-in '%.200s': ", path);
        return status; /* it stays loaded: what it has added stands in registries */
    }
    loaded.paths[loaded.n_paths++] = wf_xstrdup(path);
    return WF_OK;
}

enum wf_status wf_plugin_load_list(const char *paths, struct wf_err *err)
{
    enum wf_status status = WF_OK;

    while (paths != NULL && *paths != '\0' && status == WF_OK) {
        size_t length = strcspn(paths, ":");
        char *path = strndup(paths, length);
        status = length > 0 && path != NULL ? wf_plugin_load(path, err) : WF_OK;
        free(path);
        paths += length + (paths[length] == ':' ? 1 : 0);
    }
    return status;
}

const char *wf_plugin_added(size_t i, const char **kind)
{
    if (i >= loaded.n_added) {
        return NULL;
    }
    *kind = loaded.added[i]->kind;
    return name_of(loaded.added[i]);
}
