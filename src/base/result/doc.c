/* SPDX-License-Identifier: Apache-2.0 */
#include "base/result/doc.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool has_children(const struct wf_value *value)
{
    return value->type == WF_VALUE_SECTION || value->type == WF_VALUE_LIST;
}

static struct wf_value *add(struct wf_value *parent, const char *name, enum wf_value_type type)
{
    assert(has_children(parent));
    assert((parent->type == WF_VALUE_SECTION) == (name != NULL));

    struct wf_value *value = wf_xcalloc(1, sizeof(*value));

    value->type = type;
    value->name = name != NULL ? wf_xstrdup(name) : NULL;
    if (parent->last != NULL) {
        parent->last->next = value;
    } else {
        parent->first = value;
    }
    parent->last = value;
    return value;
}

struct wf_value *wf_doc_new(void)
{
    struct wf_value *root = wf_xcalloc(1, sizeof(*root));

    root->type = WF_VALUE_SECTION;
    return root;
}

void wf_doc_free(struct wf_value *root)
{
    if (root == NULL) {
        return;
    }
    if (has_children(root)) {
        struct wf_value *next = NULL;
        for (struct wf_value *v = root->first; v != NULL; v = next) {
            next = v->next;
            wf_doc_free(v);
        }
    } else if (root->type == WF_VALUE_TEXT) {
        free(root->text);
    }
    free(root->name);
    free(root);
}

struct wf_value *wf_doc_section(struct wf_value *parent, const char *name)
{
    return add(parent, name, WF_VALUE_SECTION);
}

struct wf_value *wf_doc_list(struct wf_value *parent, const char *name)
{
    return add(parent, name, WF_VALUE_LIST);
}

void wf_doc_null(struct wf_value *parent, const char *name)
{
    (void)add(parent, name, WF_VALUE_NULL);
}

void wf_doc_bool(struct wf_value *parent, const char *name, bool truth)
{
    add(parent, name, WF_VALUE_BOOL)->truth = truth;
}

void wf_doc_count(struct wf_value *parent, const char *name, uint64_t count)
{
    add(parent, name, WF_VALUE_COUNT)->count = count;
}

void wf_doc_real(struct wf_value *parent, const char *name, double real)
{
    if (isfinite(real)) {
        add(parent, name, WF_VALUE_REAL)->real = real;
    } else {
        wf_doc_null(parent, name);
    }
}

void wf_doc_text(struct wf_value *parent, const char *name, const char *text)
{
    add(parent, name, WF_VALUE_TEXT)->text = wf_xstrdup(text);
}

void wf_doc_measured(struct wf_value *parent, const char *name, double value, int decimals)
{
    static const double scales[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

    assert(decimals >= 0 && decimals <= 9);
    wf_doc_real(parent, name, round(value * scales[decimals]) / scales[decimals]);
}

static const struct wf_value *child(const struct wf_value *parent, const char *name, size_t len)
{
    for (const struct wf_value *v = parent->first; v != NULL; v = v->next) {
        if (strlen(v->name) == len && memcmp(v->name, name, len) == 0) {
            return v;
        }
    }
    return NULL;
}

const struct wf_value *wf_doc_member(const struct wf_value *section, const char *name)
{
    return section != NULL && section->type == WF_VALUE_SECTION
               ? child(section, name, strlen(name))
               : NULL;
}

const struct wf_value *wf_doc_find(const struct wf_value *root, const char *path)
{
    while (root != NULL && root->type == WF_VALUE_SECTION) {
        size_t len = strcspn(path, ".");

        root = child(root, path, len);
        if (path[len] == '\0') {
            return root;
        }
        path += len + 1;
    }
    return NULL;
}

const char *wf_doc_get_text(const struct wf_value *root, const char *path, const char *fallback)
{
    const struct wf_value *value = wf_doc_find(root, path);

    return value != NULL && value->type == WF_VALUE_TEXT ? value->text : fallback;
}

uint64_t wf_doc_get_count(const struct wf_value *root, const char *path, uint64_t fallback)
{
    const struct wf_value *value = wf_doc_find(root, path);

    return value != NULL && value->type == WF_VALUE_COUNT ? value->count : fallback;
}

double wf_doc_get_real(const struct wf_value *root, const char *path, double fallback)
{
    const struct wf_value *value = wf_doc_find(root, path);

    if (value == NULL) {
        return fallback;
    }
    return value->type == WF_VALUE_REAL    ? value->real
           : value->type == WF_VALUE_COUNT ? (double)value->count
                                           : fallback;
}

bool wf_doc_is_true(const struct wf_value *root, const char *path)
{
    const struct wf_value *value = wf_doc_find(root, path);

    return value != NULL && value->type == WF_VALUE_BOOL && value->truth;
}
