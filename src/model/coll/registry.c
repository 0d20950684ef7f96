/* SPDX-License-Identifier: Apache-2.0 */
#include "model/coll/coll.h"

#include <string.h>

static const struct wf_coll_ops *const coll_table[] = {
#define WF_COLL_ALGORITHM(name) &wf_coll_##name,
#include "model/coll/algorithms.def"
    NULL,
};

struct kind {
    const char *name;
    bool has_root;
};

static const struct kind kinds[] = {
#define X(name, text, rooted) [WF_COLL_##name] = {text, rooted},
    WF_COLL_MAP(X)
#undef X
};

static bool same_kind(const void *one, const void *other)
{
    const struct wf_coll_ops *a = one, *b = other;

    return a->kind == b->kind;
}

struct wf_registry wf_coll_registry =
    WF_REGISTRY("collective algorithm", coll_table, .collide = same_kind);

const struct wf_coll_ops *const *wf_coll_table(void)
{
    return (const struct wf_coll_ops *const *)wf_registry_entries(&wf_coll_registry);
}

const char *wf_coll_name(enum wf_coll_kind kind)
{
    return kinds[kind].name;
}

bool wf_coll_has_root(enum wf_coll_kind kind)
{
    return kinds[kind].has_root;
}

const struct wf_coll_ops *wf_coll_find(enum wf_coll_kind kind, const char *name)
{
    for (const struct wf_coll_ops *const *ops = wf_coll_table(); *ops != NULL; ops++) {
        if ((*ops)->kind == kind && strcmp((*ops)->name, name) == 0) {
            return *ops;
        }
    }
    return NULL;
}
