/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/plugin/plugin.h"

#include "base/mem.h"
#include "model/coll/coll.h"
#include "model/net/route/route.h"
#include "model/queue/policy.h"
#include "model/topo/topo.h"
#include "program/gen/gen.h"
#include "program/trace/reader.h"
#include "ui/report/writer.h"

#include <weft/plugin.h>
#include <weft/weft.h>

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A required member of a table: a pointer that must not be null. */
struct member {
    const char *name;
    size_t offset;
};

enum { MEMBERS_MAX = 12 };

/* A kind of table: where it goes, how large it is, and what must be in it. */
struct kind {
    struct wf_registry *registry;
    size_t size;
    struct member required[MEMBERS_MAX];      /* ends with a null name */
    const char *(*faulty)(const void *table); /* a member that is wrong; may be null */
};

static const char *faulty_collective(const void *table)
{
    const struct wf_coll_ops *ops = table;

    return (unsigned)ops->kind < WF_COLL_KINDS ? NULL : "kind";
}

static const char *faulty_writer(const void *table)
{
    const struct wf_writer_ops *ops = table;

    return ops->write != NULL || (ops->save != NULL && ops->check != NULL) ? NULL : "write";
}

#define KIND(table, type) .registry = &(table), .size = sizeof(struct type)
#define M(type, member)                        \
    {                                          \
#member, offsetof(struct type, member) \
    }

static const struct kind kinds[] = {
    {KIND(wf_topo_registry, wf_topo_ops),
     {M(wf_topo_ops, args), M(wf_topo_ops, summary), M(wf_topo_ops, examples),
      M(wf_topo_ops, params), M(wf_topo_ops, create), M(wf_topo_ops, neighbor),
      M(wf_topo_ops, distance), M(wf_topo_ops, next_port), M(wf_topo_ops, diameter),
      M(wf_topo_ops, histogram), M(wf_topo_ops, coords)}},
    {KIND(wf_route_registry, wf_route_ops), {M(wf_route_ops, summary), M(wf_route_ops, next)}},
    {KIND(wf_coll_registry, wf_coll_ops),
     {M(wf_coll_ops, summary), M(wf_coll_ops, n_slots), M(wf_coll_ops, step)},
     faulty_collective},
    {KIND(wf_gen_registry, wf_source_ops),
     {M(wf_source_ops, summary), M(wf_source_ops, params), M(wf_source_ops, create),
      M(wf_source_ops, next)}},
    {KIND(wf_reader_registry, wf_reader_ops),
     {M(wf_reader_ops, summary), M(wf_reader_ops, detect), M(wf_reader_ops, open)}},
    {KIND(wf_queue_policy_registry, wf_queue_policy),
     {M(wf_queue_policy, summary), M(wf_queue_policy, schedule)}},
    {KIND(wf_writer_registry, wf_writer_ops),
     {M(wf_writer_ops, extension), M(wf_writer_ops, summary)},
     faulty_writer},
};

/* The first required member that a table lacks; null if it has all. */
static const char *missing(const struct kind *kind, const void *table)
{
    for (const struct member *member = kind->required; member->name != NULL; member++) {
        static const void *const null = NULL;
        if (memcmp((const char *)table + member->offset, &null, sizeof(null)) == 0) {
            return member->name;
        }
    }
    return kind->faulty != NULL ? kind->faulty(table) : NULL;
}

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

static enum wf_status check_entry(const struct weft_plugin_entry *entry, struct wf_err *err)
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
    const char *lacks = missing(kind, entry->table);
    if (lacks != NULL) {
        return wf_err_set(err, WF_EINVAL, "the %s '%.64s' lacks the member %s", entry->kind,
                          name_of(entry), lacks);
    }
    return WF_OK;
}

/* Adds all entries, or none. */
static enum wf_status add_all(const struct weft_plugin *plugin, struct wf_err *err)
{
    const size_t before = loaded.n_added;
    enum wf_status status = WF_OK;

    if (plugin->size != sizeof(*plugin) || plugin->version != WEFT_PLUGIN_VERSION) {
        return wf_err_set(
            err, WF_EINVAL,
            "it was compiled for another version of weft than %s; compile it again",
            weft_version());
    }
    for (const struct weft_plugin_entry *entry = plugin->entries;
         entry->kind != NULL && status == WF_OK; entry++) {
        status =
            loaded.n_added == ADDED_MAX
                ? wf_err_set(err, WF_ELIMIT, "plug-ins add more than %d tables", (int)ADDED_MAX)
                : check_entry(entry, err);
        WF_THEN(status, wf_registry_add(kind_of(entry->kind)->registry, entry->table, err));
        if (status == WF_OK) {
            loaded.added[loaded.n_added++] = entry;
        }
    }
    while (status != WF_OK && loaded.n_added > before) {
        wf_registry_drop(kind_of(loaded.added[--loaded.n_added]->kind)->registry);
    }
    return status;
}

/* How a child ends that could try, and the time that it has. */
enum { TRIED = 101, TRIAL_SECONDS = 60 };

/* Loads the object in a child first, which may crash, hang or end. */
static enum wf_status try_to_load(const char *path, struct wf_err *err)
{
    static const int crashes[] = {SIGABRT, SIGALRM, SIGBUS, SIGFPE, SIGILL, SIGSEGV};
    int how = 0;
    pid_t child = fork();

    if (child == 0) {
        for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++) {
            (void)signal(crashes[i], SIG_DFL); /* no report of a bug of weft */
        }
        (void)alarm(TRIAL_SECONDS);
        (void)dlopen(path, RTLD_NOW | RTLD_LOCAL);
        _exit(TRIED);
    }
    while (child > 0 && waitpid(child, &how, 0) != child) {
        if (errno != EINTR) {
            return WF_OK; /* somebody else waits for children: nobody knows how it ended */
        }
    }
    if (child > 0 && WIFSIGNALED(how)) {
        bool late = WTERMSIG(how) == SIGALRM;
        return wf_err_set(err, WF_EINVAL, "plug-in '%.200s' %s while it is loaded: %s", path,
                          late ? "hangs" : "crashes", strsignal(WTERMSIG(how)));
    }
    return child < 0 || WEXITSTATUS(how) == TRIED
               ? WF_OK
               : wf_err_set(err, WF_EINVAL,
                            "plug-in '%.200s' ends the process while it is loaded", path);
}

/* In a program that loads libweft when it runs, nobody else sees what plug-ins may call. */
static void show_own_functions(void)
{
    Dl_info here;

    if (dladdr(&loaded, &here) != 0 && here.dli_fname != NULL) {
        (void)dlopen(here.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
    }
}

static enum wf_status open_object(const char *path, void **object,
                                  const struct weft_plugin **plugin, struct wf_err *err)
{
    show_own_functions();
    WF_TRY(try_to_load(path, err));
    bool shown = dlsym(RTLD_DEFAULT, "wf_err_set") != NULL;
    *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*object == NULL) {
        return wf_err_set(err, WF_EINVAL, "cannot load the plug-in '%.200s': %.200s%s", path,
                          dlerror(), shown ? "" : "; link this program with -rdynamic");
    }
    *plugin = dlsym(*object, "weft_plugin");
    if (*plugin == NULL) {
        (void)dlclose(*object);
        return wf_err_set(err, WF_EINVAL,
                          "'%.200s' is no plug-in: it has no WEFT_PLUGIN(...) of weft/plugin.h",
                          path);
    }
    return WF_OK;
}

enum wf_status wf_plugin_load(const char *path, struct wf_err *err)
{
    const struct weft_plugin *plugin = NULL;
    void *object = NULL;

    for (size_t i = 0; i < loaded.n_paths; i++) {
        if (strcmp(loaded.paths[i], path) == 0) {
            return WF_OK;
        }
    }
    if (loaded.n_paths == PATHS_MAX) {
        return wf_err_set(err, WF_ELIMIT, "there are more than %d plug-ins", (int)PATHS_MAX);
    }
    WF_TRY(open_object(path, &object, &plugin, err));
    enum wf_status status = add_all(plugin, err);
    if (status != WF_OK) {
        (void)dlclose(object);
        wf_err_prefix(err, "plug-in '%.200s': ", path);
        return status;
    }
    loaded.paths[loaded.n_paths++] = wf_xstrdup(path);
    return WF_OK;
}

const char *wf_plugin_path(size_t i)
{
    return i < loaded.n_paths ? loaded.paths[i] : NULL;
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
