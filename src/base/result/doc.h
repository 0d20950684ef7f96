/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A document: a tree of named values, in the order in which they were added. Report writers see
 * only the document of a run and nothing of the simulator, so that a document can also be read
 * from a file.
 *
 * Names end with a unit where the type does not imply one: _ps, _bytes, _seconds, _percent. A
 * parent owns its values, and every value owns its name and text.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum wf_value_type {
    WF_VALUE_NULL,
    WF_VALUE_BOOL,
    WF_VALUE_COUNT,
    WF_VALUE_REAL, /* always finite */
    WF_VALUE_TEXT,
    WF_VALUE_SECTION,
    WF_VALUE_LIST, /* its values have no names */
};

struct wf_value {
    enum wf_value_type type;
    char *name; /* null in a list and at the root */
    union {
        bool truth;
        uint64_t count;
        double real;
        char *text;
        struct wf_value *first; /* children of a section or list; null if empty */
    };
    struct wf_value *last; /* likewise */
    struct wf_value *next; /* next child of the same parent */
};

/* An empty section, the root of a document. */
struct wf_value *wf_doc_new(void);
/* Frees a root and everything below it; null is allowed. */
void wf_doc_free(struct wf_value *root);

/* Each function adds a value at the end of `parent`: a section (`name` is copied) or a list
 * (`name` is null). Texts are copied. A number that is not finite becomes null. */
struct wf_value *wf_doc_section(struct wf_value *parent, const char *name);
struct wf_value *wf_doc_list(struct wf_value *parent, const char *name);
void wf_doc_null(struct wf_value *parent, const char *name);
void wf_doc_bool(struct wf_value *parent, const char *name, bool truth);
void wf_doc_count(struct wf_value *parent, const char *name, uint64_t count);
void wf_doc_real(struct wf_value *parent, const char *name, double real);
void wf_doc_text(struct wf_value *parent, const char *name, const char *text);

/* Adds a measured quantity, rounded to `decimals` decimal places (0 to 9). */
void wf_doc_measured(struct wf_value *parent, const char *name, double value, int decimals);

/* The member with this name; null if there is none, or if `section` is no section or null. */
const struct wf_value *wf_doc_member(const struct wf_value *section, const char *name);

/* The value at a path of names ("result.ranks.finish_ps"), or null. */
WF_PLUGIN_API const struct wf_value *wf_doc_find(const struct wf_value *root, const char *path);
/* The text or count at a path, or the fallback if it is missing or has another type. */
WF_PLUGIN_API const char *wf_doc_get_text(const struct wf_value *root, const char *path,
                                          const char *fallback);
WF_PLUGIN_API uint64_t wf_doc_get_count(const struct wf_value *root, const char *path,
                                        uint64_t fallback);
/* The same for a real number or count; and whether the path has a bool that is true. */
WF_PLUGIN_API double wf_doc_get_real(const struct wf_value *root, const char *path,
                                     double fallback);
bool wf_doc_is_true(const struct wf_value *root, const char *path);
