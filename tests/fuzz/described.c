/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/described.h"

#include "base/param.h"
#include "base/result/schema.h"
#include "base/units.h"
#include "program/trace/kit/infile.h"

#include <stdatomic.h>
#include <strings.h>

enum {
    WORDS_MAX = 8192,
    MEMBERS_MAX = 2048,
    OF_FILE_MAX = 2048,
    TEXT_MAX = 200,
    LOOK_BYTES = 24
};

struct word {
    char *text;
    uint32_t group;
};

static struct word words[WORDS_MAX];
static char *members[MEMBERS_MAX];
static size_t n_words, n_members;
static uint32_t group;
static char compared[TEXT_MAX]; /* the text of the group */

static struct described now;
static const uint8_t *bytes;
static size_t n_bytes, after; /* the latest part */
static bool noting;
static atomic_flag busy = ATOMIC_FLAG_INIT;

/* Readers use threads, and what is done here calls the functions that it stands before. */
static bool enter(void)
{
    return noting && !atomic_flag_test_and_set(&busy);
}

static void leave(void)
{
    atomic_flag_clear(&busy);
}

/* ---- taking down ---- */

/* A group is known by its first word, so that it is the same one for each text. */
static void begin_group(const char *first)
{
    group = 5381;
    for (size_t i = 0; i < TEXT_MAX && first[i] != '\0'; i++) {
        group = group * 33 + (uint8_t)first[i];
    }
}

static bool is_new_word(const char *text, size_t n)
{
    for (size_t i = 0; i < n_words; i++) {
        if (words[i].group == group && strlen(words[i].text) == n &&
            memcmp(words[i].text, text, n) == 0) {
            return false;
        }
    }
    return n > 0 && n < TEXT_MAX && n_words < WORDS_MAX;
}

static void add_word(const char *text, size_t n)
{
    if (is_new_word(text, n)) {
        words[n_words++] = (struct word){strndup(text, n), group};
    }
}

extern const char __executable_start, edata; /* of the linker */

static bool is_constant(const char *text)
{
    return (uintptr_t)text >= (uintptr_t)&__executable_start &&
           (uintptr_t)text < (uintptr_t)&edata;
}

/* Texts that were compared, of at most n bytes: one is of the file, the other a constant. */
static void add_comparison(const char *a, const char *b, size_t n)
{
    const char *constant = is_constant(b) ? b : a, *other = is_constant(b) ? a : b;

    if (is_constant(a) == is_constant(b) || !enter()) {
        return;
    }
    size_t length = strnlen(other, n < TEXT_MAX - 1 ? n : TEXT_MAX - 1);
    if (strlen(compared) != length || memcmp(compared, other, length) != 0) {
        memcpy(compared, other, length);
        compared[length] = '\0';
        begin_group(constant);
    }
    add_word(constant, strnlen(constant, n));
    leave();
}

static void add_value(const char *text, size_t n, const char *type, const struct wf_param *row)
{
    if (n == 0 || n >= TEXT_MAX || !enter()) {
        return;
    }
    if (now.n_values < OF_FILE_MAX) {
        now.values[now.n_values++] = (struct described_value){strndup(text, n), type, row};
    }
    leave();
}

/* A table of names, as wf_lookup_row() has it. */
static void add_names(const char *rows, size_t size)
{
    if (!enter()) {
        return;
    }
    const char *name;

    memcpy(&name, rows, sizeof(name));
    begin_group(name != NULL ? name : "");
    for (; memcpy(&name, rows, sizeof(name)), name != NULL; rows += size) {
        add_word(name, strlen(name));
    }
    leave();
}

static void add_members(const struct wf_value *schema, bool are_names)
{
    for (const struct wf_value *v =
             schema->type == WF_VALUE_SECTION || schema->type == WF_VALUE_LIST ? schema->first
                                                                               : NULL;
         v != NULL; v = v->next) {
        if (are_names && n_members < MEMBERS_MAX) {
            members[n_members++] = strdup(v->name);
        }
        add_members(v, !are_names && v->name != NULL && strcmp(v->name, "properties") == 0);
    }
}

/* Where no readers tell, it is not declared. */
/* NOLINTNEXTLINE(readability-redundant-declaration) */
void wf_infile_noted(const struct wf_infile *in, size_t n);
void wf_infile_noted(const struct wf_infile *in, size_t n)
{
    size_t look = in->n - in->next < LOOK_BYTES ? in->n - in->next : LOOK_BYTES;

    if (in->failed || look < n || n == 0 || !enter()) {
        return;
    }
    const uint8_t *at = memmem(bytes + after, n_bytes - after, in->buffer + in->next, look);
    at = at != NULL ? at : memmem(bytes, n_bytes, in->buffer + in->next, look);
    if (at != NULL && now.n_parts < OF_FILE_MAX) {
        after = (size_t)(at - bytes);
        now.parts[now.n_parts++] = (struct mutate_span){after, n};
    }
    leave();
}

void described_begin(const uint8_t *data, size_t size)
{
    now = (struct described){.values = calloc(OF_FILE_MAX, sizeof(*now.values)),
                             .parts = calloc(OF_FILE_MAX, sizeof(*now.parts))};
    bytes = data;
    n_bytes = size;
    after = 0;
    noting = now.values != NULL && now.parts != NULL;
}

struct described described_end(void)
{
    noting = false;
    return now;
}

struct described_counts described_count(void)
{
    return (struct described_counts){n_words, n_members};
}

/* ---- what stands before the functions of readers (the names are the linker's) ---- */

#define BEFORE(type, name, parameters) \
    type __real_##name parameters;     \
    type __wrap_##name parameters;     \
    type __wrap_##name parameters

BEFORE(int, strcmp, (const char *a, const char *b))
{
    add_comparison(a, b, TEXT_MAX);
    return __real_strcmp(a, b);
}

BEFORE(int, strcasecmp, (const char *a, const char *b))
{
    add_comparison(a, b, TEXT_MAX);
    return __real_strcasecmp(a, b);
}

BEFORE(int, strncmp, (const char *a, const char *b, size_t n))
{
    add_comparison(a, b, n);
    return __real_strncmp(a, b, n);
}

BEFORE(const void *, wf_lookup,
       (const char *what, const char *name, const void *table, struct wf_err *err))
{
    const char *names[TEXT_MAX] = {NULL};

    for (size_t i = 0; i + 1 < TEXT_MAX && ((const char *const *const *)table)[i] != NULL;
         i++) {
        names[i] = *((const char *const *const *)table)[i];
    }
    add_names((const char *)names, sizeof(names[0]));
    return __real_wf_lookup(what, name, table, err);
}

BEFORE(const void *, wf_lookup_row,
       (const char *what, const char *name, const void *rows, size_t size, struct wf_err *err))
{
    add_names(rows, size);
    return __real_wf_lookup_row(what, name, rows, size, err);
}

BEFORE(enum wf_status, wf_param_set,
       (const struct wf_param *table, void *params, const char *scope, const char *name,
        const char *value, struct wf_err *err))
{
    const struct wf_param *row = wf_param_find(table, name);

    add_names((const char *)table, sizeof(*table));
    if (row != NULL && is_constant((const char *)row)) {
        add_value(value, strlen(value), "parameter", row);
    }
    return __real_wf_param_set(table, params, scope, name, value, err);
}

BEFORE(enum wf_status, wf_doc_check_schema,
       (const struct wf_value *schema, struct wf_value *doc, const char *name,
        struct wf_err *err))
{
    if (n_members == 0 && enter()) {
        add_members(schema, false);
        leave();
    }
    return __real_wf_doc_check_schema(schema, doc, name, err);
}

/* NOLINTBEGIN(bugprone-macro-parentheses): types */
#define BEFORE_PARSE(what, type)                                                               \
    BEFORE(enum wf_status, wf_parse_##what, (const char *text, type *out, struct wf_err *err)) \
    {                                                                                          \
        add_value(text, strlen(text), #what, NULL);                                            \
        return __real_wf_parse_##what(text, out, err);                                         \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

BEFORE_PARSE(count, uint64_t)
BEFORE_PARSE(size, uint64_t)
BEFORE_PARSE(time, int64_t)
BEFORE_PARSE(span, int64_t)
BEFORE_PARSE(rate, uint64_t)
BEFORE_PARSE(real, double)

#define BEFORE_NUMBER(type, name, parameters, arguments, what) \
    BEFORE(type, name, parameters)                             \
    {                                                          \
        char *stop;                                            \
        char **end = &stop;                                    \
        type value = __real_##name arguments;                  \
                                                               \
        add_value(text, (size_t)(stop - text), what, NULL);    \
        if (out != NULL) {                                     \
            *out = stop;                                       \
        }                                                      \
        return value;                                          \
    }

BEFORE_NUMBER(double, strtod, (const char *text, char **out), (text, end), "real")
BEFORE_NUMBER(long, strtol, (const char *text, char **out, int base), (text, end, base),
              "count")
BEFORE_NUMBER(unsigned long, strtoul, (const char *text, char **out, int base),
              (text, end, base), "count")
BEFORE_NUMBER(long long, strtoll, (const char *text, char **out, int base), (text, end, base),
              "count")
BEFORE_NUMBER(unsigned long long, strtoull, (const char *text, char **out, int base),
              (text, end, base), "count")

/* ---- mutations ---- */

/* Where a text is in the file, from a place that the seed chooses. */
static bool find(const struct mutate_bytes *file, const char *text, uint64_t *seed,
                 struct mutate_span *out)
{
    size_t n = strlen(text), from = mutate_draw(seed, file->size);
    const uint8_t *at = memmem(file->data + from, file->size - from, text, n);

    at = at != NULL ? at : memmem(file->data, file->size, text, n);
    *out = (struct mutate_span){at != NULL ? (size_t)(at - file->data) : 0, n};
    return at != NULL;
}

/* A value that the type, or the row of the parameter, makes special. */
static const char *limit_of(const struct described_value *value, uint64_t *seed)
{
    static const struct {
        const char *type, *texts[8];
    } types[] = {
        {"count",
         {"0", "1", "4294967295", "4294967296", "9223372036854775807", "18446744073709551615",
          "-1", "1e19"}},
        {"size",
         {"0", "1B", "16EiB", "15EiB", "0.1B", "4GiB", "9223372036854775807B", "-1KiB"}},
        {"time",
         {"0", "1ps", "0.1ps", "2562047h", "9223372s", "9223372036854775807ps", "-1s", "1"}},
        {"span", {"0", "1us", "292471y", "36000y", "0.1us", "1000000y", "-1h", "1"}},
        {"rate",
         {"0", "1bit/s", "1B/s", "1e18B/s", "2e15B/s", "0.001bit/s", "1e-300GB/s", "1"}},
        {"real", {"0", "-0", "1e308", "-1e308", "5e-324", "nan", "inf", "0x1p3"}},
    };
    enum { TYPES = sizeof(types) / sizeof(types[0]), TEXTS = 8 };
    const struct wf_param *row = value->row;
    size_t type = mutate_draw(seed, TYPES), n = 0;

    if (row != NULL && mutate_draw(seed, 2) == 0) {
        const char *of_row[] = {row->min, row->max, row->def, row->word};
        if (row->choices != NULL && row->type == WF_PARAM_ENUM) {
            while (row->choices[n] != NULL) {
                n++;
            }
            return row->choices[mutate_draw(seed, n)];
        }
        const char *text = of_row[mutate_draw(seed, sizeof(of_row) / sizeof(of_row[0]))];
        if (text != NULL) {
            return text;
        }
    }
    /* Mostly its own type. */
    for (size_t i = 0; i < TYPES && mutate_draw(seed, TYPES) != 0; i++) {
        type = strcmp(types[i].type, value->type) == 0 ? i : type;
    }
    return types[type].texts[mutate_draw(seed, TEXTS)];
}

/* A value becomes a limit, or the same as another one of its type: so references go in circles,
 * and counts no longer agree. */
static bool change_value(struct mutate_bytes *file, const struct described *about,
                         uint64_t *seed)
{
    const struct described_value *value = &about->values[mutate_draw(seed, about->n_values)];
    const char *with = limit_of(value, seed);
    struct mutate_span at;

    if (mutate_draw(seed, 3) == 0) {
        const struct described_value *other = value;
        for (int i = 0; i < 16 && (other == value || strcmp(other->type, value->type) != 0);
             i++) {
            other = &about->values[mutate_draw(seed, about->n_values)];
        }
        with = other->text;
    }
    bool found = find(file, value->text, seed, &at);
    if (found) {
        mutate_replace(file, at, (const uint8_t *)with, strlen(with));
    }
    return found;
}

/* A word becomes another one of its group, or comes before or after one. */
static bool change_word(struct mutate_bytes *file, uint64_t *seed)
{
    struct mutate_span at = {.n = 0};
    size_t which = 0;
    bool found = false;

    for (int i = 0; i < 64 && !found; i++) {
        which = mutate_draw(seed, n_words);
        found = find(file, words[which].text, seed, &at);
    }
    size_t with = which;
    for (int i = 0; i < 256 && (with == which || words[with].group != words[which].group);
         i++) {
        with = mutate_draw(seed, n_words);
    }
    if (found) {
        at.n = mutate_draw(seed, 6) == 0 ? 0 : at.n;
        mutate_replace(file, at, (const uint8_t *)words[with].text, strlen(words[with].text));
    }
    return found;
}

/* The value of a member that the schema has becomes one of any type, or the member another one. */
static bool change_member(struct mutate_bytes *file, uint64_t *seed)
{
    static const char *const values[] = {"null",     "true",
                                         "-1",       "18446744073709551615",
                                         "1e308",    "0.5",
                                         "\"\"",     "\"x\"",
                                         "[]",       "{}",
                                         "[null]",   "{\"a\": 1}",
                                         "[[1]]",    "\"18446744073709551615\"",
                                         "[{}, {}]", "\"-1\""};
    const char *other = members[mutate_draw(seed, n_members)];
    const char *with = values[mutate_draw(seed, sizeof(values) / sizeof(values[0]))];
    struct mutate_span at;
    bool found = false;

    for (int i = 0; i < 64 && !found; i++) {
        char quoted[TEXT_MAX];
        (void)snprintf(quoted, sizeof(quoted), "\"%s\"", members[mutate_draw(seed, n_members)]);
        found = find(file, quoted, seed, &at);
    }
    if (!found) {
        return false;
    }
    size_t end = at.at + at.n;
    while (end < file->size && strchr(": \n", file->data[end]) != NULL) {
        end++;
    }
    if (end == file->size || mutate_draw(seed, 4) == 0) {
        mutate_replace(file, (struct mutate_span){at.at + 1, at.n - 2}, (const uint8_t *)other,
                       strlen(other));
        return true;
    }
    bool group_begins = strchr("{[", file->data[end]) != NULL;
    at = group_begins ? mutate_group(file, end)
                      : (struct mutate_span){end, mutate_token_end(file, end) - end};
    mutate_replace(file, at, (const uint8_t *)with, strlen(with));
    return true;
}

/* A number becomes a limit; a part takes the place of another one, is doubled or is lost. */
static bool change_part(struct mutate_bytes *file, const struct described *about,
                        uint64_t *seed)
{
    struct mutate_span part = about->parts[mutate_draw(seed, about->n_parts)];
    struct mutate_span other = about->parts[mutate_draw(seed, about->n_parts)];

    for (int i = 0; i < 16 && other.n != part.n; i++) {
        other = about->parts[mutate_draw(seed, about->n_parts)];
    }
    if (part.at + part.n > file->size || other.at + other.n > file->size) {
        return false;
    }
    switch (mutate_draw(seed, 6)) {
    case 0:
        mutate_replace(file, part, file->data + other.at, other.n);
        break;
    case 1:
        mutate_replace(file, (struct mutate_span){part.at, 0}, file->data + part.at, part.n);
        break;
    case 2:
        mutate_replace(file, part, NULL, 0);
        break;
    default:
        if (part.n > 8) {
            size_t width = (size_t)1 << mutate_draw(seed, 4);
            part = (struct mutate_span){part.at + mutate_draw(seed, part.n - width + 1), width};
        }
        mutate_put(file, part.at, part.n, mutate_draw(seed, 2) == 0, mutate_limit(file, seed));
    }
    return true;
}

bool described_mutate(struct mutate_bytes *file, const struct described *about, uint64_t *seed)
{
    enum { WAYS = 4 };
    bool done = false;

    for (uint64_t i = 0, way = mutate_draw(seed, WAYS); i < WAYS && !done && file->size > 0;
         i++, way = (way + 1) % WAYS) {
        done = way == 0   ? n_members > 0 && change_member(file, seed)
               : way == 1 ? about->n_values > 0 && change_value(file, about, seed)
               : way == 2 ? about->n_parts > 0 && change_part(file, about, seed)
                          : n_words > 0 && change_word(file, seed);
    }
    return done;
}
