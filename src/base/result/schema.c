/* SPDX-License-Identifier: Apache-2.0 */
#include "base/result/schema.h"

#include "base/lookup.h"
#include "base/mem.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define REFERENCE "#/$defs/"

/* Large counts are texts in JSON and counts in a document, so that their definition, which
 * describes both forms, is replaced by the type. */
#define COUNT "count"

/* The values on the path from the root to the one that is checked, the innermost first. */
struct step {
    const struct step *outer;
    const char *name; /* null in a list */
    size_t index;
};

struct check {
    const struct wf_value *definitions;
    bool conditional; /* in an `if`: members are required, and nothing is changed */
    char path[256];   /* of the last fault */
    const char *found, *expected;
};

static bool accepts(struct check *check, const struct wf_value *schema, struct wf_value *value,
                    const struct step *at);

static const char *text_of(const struct wf_value *value)
{
    return value != NULL && value->type == WF_VALUE_TEXT ? value->text : NULL;
}

/* ---- messages ---- */

static const char *const type_words[] = {
    [WF_VALUE_NULL] = "null",      [WF_VALUE_BOOL] = "a truth value",
    [WF_VALUE_COUNT] = "a number", [WF_VALUE_REAL] = "a number",
    [WF_VALUE_TEXT] = "a text",    [WF_VALUE_SECTION] = "an object",
    [WF_VALUE_LIST] = "a list",
};

/* Appends the path to `text`, of which `used` bytes are in use; a path that is too long is cut. */
static size_t print_path(const struct step *at, char *text, size_t size)
{
    size_t used = at->outer != NULL ? print_path(at->outer, text, size) : 0;

    if (used + 1 >= size) {
        return used;
    }
    int more = 0;
    if (at->outer != NULL) {
        more = at->name == NULL ? snprintf(text + used, size - used, "[%zu]", at->index)
                                : snprintf(text + used, size - used, "%s%.80s",
                                           used > 0 ? "." : "", at->name);
    }
    used += more > 0 ? (size_t)more : 0;
    return used < size ? used : size - 1;
}

static bool fault(struct check *check, const struct step *at, const struct wf_value *value,
                  const char *expected)
{
    (void)print_path(at, check->path, sizeof(check->path));
    check->found = type_words[value->type];
    check->expected = expected;
    return false;
}

/* ---- types ---- */

struct type {
    const char *name;     /* in the schema */
    unsigned values;      /* set of enum wf_value_type */
    const char *expected; /* in messages */
};

#define SET(type) (1U << (unsigned)(type))

static const struct type types[] = {
    {"null", SET(WF_VALUE_NULL), "null"},
    {"boolean", SET(WF_VALUE_BOOL), "a truth value"},
    {"integer", SET(WF_VALUE_COUNT) | SET(WF_VALUE_REAL), "a whole number"},
    {"number", SET(WF_VALUE_COUNT) | SET(WF_VALUE_REAL), "a number"},
    {"string", SET(WF_VALUE_TEXT), "a text"},
    {"object", SET(WF_VALUE_SECTION), "an object"},
    {"array", SET(WF_VALUE_LIST), "a list"},
    {COUNT, SET(WF_VALUE_COUNT), "a whole number that is not negative"},
};

static const struct type *type_named(const char *name)
{
    return WF_LOOKUP_AMONG(types, sizeof(types) / sizeof(types[0]), name);
}

/* Texts of digits at least as long as this number were read as counts. */
#define COUNT_OF_TEXT_MIN UINT64_C(1000000000000000)

static void make_text(struct wf_value *value)
{
    char digits[24];

    (void)snprintf(digits, sizeof(digits), "%" PRIu64, value->count);
    value->type = WF_VALUE_TEXT;
    value->text = wf_xstrdup(digits);
}

static bool fits(const struct type *type, const struct wf_value *value)
{
    if (value->type == WF_VALUE_REAL && strcmp(type->name, "integer") == 0) {
        return value->real == floor(value->real);
    }
    return (type->values & SET(value->type)) != 0;
}

static bool has_type(struct check *check, const char *name, struct wf_value *value,
                     const struct step *at)
{
    const struct type *type = type_named(name);

    if (type == NULL || fits(type, value)) {
        return true;
    }
    if (strcmp(name, "string") == 0 && value->type == WF_VALUE_COUNT &&
        value->count >= COUNT_OF_TEXT_MIN) {
        if (!check->conditional) {
            make_text(value);
        }
        return true;
    }
    return fault(check, at, value, type->expected);
}

/* `names` is one name or a list of them. A count stays one where a number may be, too. */
static bool has_types(struct check *check, const struct wf_value *names, struct wf_value *value,
                      const struct step *at)
{
    if (names == NULL || names->type == WF_VALUE_TEXT) {
        return names == NULL || has_type(check, names->text, value, at);
    }
    for (const struct wf_value *one = names->first; one != NULL; one = one->next) {
        const struct type *type = type_named(one->text);
        if (type != NULL && fits(type, value)) {
            return true;
        }
    }
    for (const struct wf_value *one = names->first; one != NULL; one = one->next) {
        if (has_type(check, one->text, value, at)) {
            return true;
        }
    }
    return false;
}

static bool is_constant(struct check *check, const struct wf_value *constant,
                        const struct wf_value *value, const struct step *at)
{
    const char *wanted = text_of(constant), *found = text_of(value);

    return wanted == NULL || (found != NULL && strcmp(wanted, found) == 0) ||
           fault(check, at, value, wanted);
}

/* ---- members and items ---- */

static bool has_required(const struct wf_value *names, const struct wf_value *value)
{
    for (const struct wf_value *name = names != NULL ? names->first : NULL; name != NULL;
         name = name->next) {
        if (wf_doc_member(value, name->text) == NULL) {
            return false;
        }
    }
    return true;
}

static bool members_fit(struct check *check, const struct wf_value *schema,
                        struct wf_value *value, const struct step *at)
{
    const struct wf_value *properties = wf_doc_member(schema, "properties");
    const struct wf_value *others = wf_doc_member(schema, "additionalProperties");

    for (struct wf_value *v = value->first; v != NULL; v = v->next) {
        const struct step step = {.outer = at, .name = v->name};
        const struct wf_value *own = wf_doc_member(properties, v->name);

        if (own == NULL && (others == NULL || others->type != WF_VALUE_SECTION)) {
            continue;
        }
        if (!accepts(check, own != NULL ? own : others, v, &step)) {
            return false;
        }
    }
    return !check->conditional || has_required(wf_doc_member(schema, "required"), value);
}

static bool items_fit(struct check *check, const struct wf_value *schema,
                      struct wf_value *value, const struct step *at)
{
    const struct wf_value *items = wf_doc_member(schema, "items");
    size_t index = 0;

    for (struct wf_value *v = items != NULL ? value->first : NULL; v != NULL; v = v->next) {
        const struct step step = {.outer = at, .index = index++};

        if (!accepts(check, items, v, &step)) {
            return false;
        }
    }
    return true;
}

/* ---- combinations ---- */

static bool any_fits(struct check *check, const struct wf_value *schemas,
                     struct wf_value *value, const struct step *at)
{
    if (schemas == NULL) {
        return true;
    }
    for (const struct wf_value *one = schemas->first; one != NULL; one = one->next) {
        if (accepts(check, one, value, at)) {
            return true;
        }
    }
    return false;
}

static bool all_fit(struct check *check, const struct wf_value *schemas, struct wf_value *value,
                    const struct step *at)
{
    for (const struct wf_value *one = schemas != NULL ? schemas->first : NULL; one != NULL;
         one = one->next) {
        if (!accepts(check, one, value, at)) {
            return false;
        }
    }
    return true;
}

static bool branch_fits(struct check *check, const struct wf_value *schema,
                        struct wf_value *value, const struct step *at)
{
    const struct wf_value *condition = wf_doc_member(schema, "if");

    if (condition == NULL) {
        return true;
    }
    bool outer = check->conditional;
    check->conditional = true;
    bool holds = accepts(check, condition, value, at);
    check->conditional = outer;
    const struct wf_value *branch = wf_doc_member(schema, holds ? "then" : "else");
    return branch == NULL || accepts(check, branch, value, at);
}

static bool reference_fits(struct check *check, const struct wf_value *reference,
                           struct wf_value *value, const struct step *at)
{
    if (reference == NULL) {
        return true;
    }
    const char *name = reference->text + strlen(REFERENCE);
    if (strcmp(name, COUNT) == 0) {
        return has_type(check, COUNT, value, at);
    }
    return accepts(check, wf_doc_member(check->definitions, name), value, at);
}

static bool accepts(struct check *check, const struct wf_value *schema, struct wf_value *value,
                    const struct step *at)
{
    return reference_fits(check, wf_doc_member(schema, "$ref"), value, at) &&
           has_types(check, wf_doc_member(schema, "type"), value, at) &&
           is_constant(check, wf_doc_member(schema, "const"), value, at) &&
           (value->type != WF_VALUE_SECTION || members_fit(check, schema, value, at)) &&
           (value->type != WF_VALUE_LIST || items_fit(check, schema, value, at)) &&
           all_fit(check, wf_doc_member(schema, "allOf"), value, at) &&
           any_fits(check, wf_doc_member(schema, "anyOf"), value, at) &&
           any_fits(check, wf_doc_member(schema, "oneOf"), value, at) &&
           branch_fits(check, schema, value, at);
}

enum wf_status wf_doc_check_schema(const struct wf_value *schema, struct wf_value *doc,
                                   const char *name, struct wf_err *err)
{
    const struct step root = {.outer = NULL};
    struct check check = {.definitions = wf_doc_member(schema, "$defs")};

    if (accepts(&check, schema, doc, &root)) {
        return WF_OK;
    }
    return wf_err_set(err, WF_EINVAL, "%.200s: %s: %s, expected %s", name, check.path,
                      check.found, check.expected);
}
