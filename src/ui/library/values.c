/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a result, one by one. */
#include "base/result/doc.h"
#include "ui/library/library.h"
#include "ui/library/objects.h"

#include <stdlib.h>
#include <string.h>

/* The ends of names that say what is counted. */
static const struct {
    const char *end, *unit;
} units[] = {
    {"bytes_per_second", "B/s"},
    {"_second", "1/s"},
    {"_ps", "ps"},
    {"_ns", "ns"},
    {"seconds", "s"},
    {"bytes", "B"},
    {"_percent", "%"},
    {"_joules", "J"},
    {"_watts", "W"},
    {"_cycles", "cycles"},
    {"_ghz", "GHz"},
    {"gflops", "Gflop/s"},
};

/* Of a value without such a name, the unit of what it is in: finish_ps has min, mean and max. */
static const char *unit_of(const char *name, const char *around)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        size_t n = strlen(units[i].end);
        if (length >= n && strcmp(name + length - n, units[i].end) == 0) {
            return units[i].unit;
        }
    }
    return around;
}

static size_t count_of(const struct wf_value *parent)
{
    size_t n = 0;

    for (const struct wf_value *child = parent->first; child != NULL; child = child->next) {
        n++;
    }
    return n;
}

/* The value that the caller sees. */
static struct weft_value value_of(const struct wf_value *from, const char *unit)
{
    struct weft_value value = {.name = from->name, .unit = unit};

    switch (from->type) {
    case WF_VALUE_NULL:
        value.type = WEFT_NULL;
        break;
    case WF_VALUE_BOOL:
        value.type = WEFT_BOOL;
        value.count = from->truth ? 1 : 0;
        break;
    case WF_VALUE_COUNT:
        value.type = WEFT_COUNT;
        value.count = from->count;
        value.real = (double)from->count;
        break;
    case WF_VALUE_REAL:
        value.type = WEFT_REAL;
        value.real = from->real;
        break;
    case WF_VALUE_TEXT:
        value.type = WEFT_TEXT;
        value.text = from->text;
        break;
    case WF_VALUE_SECTION:
    case WF_VALUE_LIST:
        value.type = from->type == WF_VALUE_LIST ? WEFT_LIST : WEFT_SECTION;
        value.count = count_of(from);
        break;
    }
    return value;
}

static bool has_children(const struct wf_value *value)
{
    return value->type == WF_VALUE_SECTION || value->type == WF_VALUE_LIST;
}

static const struct wf_value *child_at(const struct wf_value *parent, size_t i)
{
    const struct wf_value *child = parent->first;

    while (child != NULL && i-- > 0) {
        child = child->next;
    }
    return child;
}

static const struct wf_value *child_called(const struct wf_value *parent, const char *name,
                                           size_t length)
{
    const struct wf_value *child = parent->first;

    while (child != NULL &&
           (strncmp(child->name, name, length) != 0 || child->name[length] != '\0')) {
        child = child->next;
    }
    return child;
}

/* Follows one part of a path, "finish_ps" or "3", from *path on. */
static const struct wf_value *step(const struct wf_value *at, const char **path)
{
    size_t length = strcspn(*path, ".");
    const char *part = *path;

    *path += length + (part[length] == '.' ? 1 : 0);
    bool ends_in_dot = part[length] == '.' && **path == '\0';
    if (!has_children(at) || length == 0 || ends_in_dot) {
        return NULL;
    }
    if (at->type == WF_VALUE_SECTION) {
        return child_called(at, part, length);
    }
    return strspn(part, "0123456789") == length ? child_at(at, strtoul(part, NULL, 10)) : NULL;
}

static const struct wf_value *value_at(const struct weft_result *result, const char *path,
                                       const char **unit)
{
    const struct wf_value *at = result->doc;

    while (at != NULL && *path != '\0') {
        at = step(at, &path);
        if (at != NULL && at->name != NULL) {
            *unit = unit_of(at->name, *unit);
        }
    }
    return at;
}

bool weft_result_get(const struct weft_result *result, const char *path,
                     struct weft_value *value)
{
    const char *unit = NULL;
    const struct wf_value *found = value_at(result, path, &unit);

    *value = found != NULL ? value_of(found, unit) : (struct weft_value){.type = WEFT_MISSING};
    return found != NULL;
}

bool weft_result_child(const struct weft_result *result, const char *path, size_t i,
                       struct weft_value *value)
{
    const char *unit = NULL;
    const struct wf_value *parent = value_at(result, path, &unit);
    const struct wf_value *child =
        parent != NULL && has_children(parent) ? child_at(parent, i) : NULL;

    *value = child != NULL
                 ? value_of(child, child->name != NULL ? unit_of(child->name, unit) : unit)
                 : (struct weft_value){.type = WEFT_MISSING};
    return child != NULL;
}
