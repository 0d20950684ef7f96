/* SPDX-License-Identifier: Apache-2.0 */
#include "model/topo/damage.h"

#include "base/array.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "model/topo/classes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEM_MAX = 64 };

/* Shares are counted in thousandths of a percent. */
#define WHOLE UINT64_C(100000)

struct reader {
    struct wf_topo_damage *damage;
    char item[ITEM_MAX]; /* the item being read */
    uint64_t seed;
    struct wf_err *err;
};

uint32_t wf_topo_damage_neighbor(const struct wf_topo_damage *damage, uint32_t vertex,
                                 uint32_t port)
{
    const struct wf_topo *topo = damage->topo;
    uint32_t to = topo->ops->neighbor(topo, vertex, port);

    if (to == WF_TOPO_NO_VERTEX || damage->links[wf_topo_first_link(topo, vertex) + port] ||
        damage->vertices[vertex] || damage->vertices[to]) {
        return WF_TOPO_NO_VERTEX;
    }
    return to;
}

static uint32_t find_port(const struct wf_topo *topo, uint32_t from, uint32_t to)
{
    uint32_t n = wf_topo_ports(topo, from);

    for (uint32_t port = 0; port < n; port++) {
        if (topo->ops->neighbor(topo, from, port) == to) {
            return port;
        }
    }
    return WF_TOPO_NO_PORT;
}

/* Cuts both directions of the cable, if it has two. */
static bool cut_cable(struct wf_topo_damage *damage, uint32_t a, uint32_t b)
{
    const struct wf_topo *topo = damage->topo;
    uint32_t there = find_port(topo, a, b), back = find_port(topo, b, a);

    if (there != WF_TOPO_NO_PORT) {
        damage->links[wf_topo_first_link(topo, a) + there] = true;
    }
    if (back != WF_TOPO_NO_PORT) {
        damage->links[wf_topo_first_link(topo, b) + back] = true;
    }
    return there != WF_TOPO_NO_PORT || back != WF_TOPO_NO_PORT;
}

/* ---- Random failures ---- */

static bool has_one_cable(const struct wf_topo *topo, uint32_t vertex)
{
    uint32_t n = 0, n_ports = wf_topo_ports(topo, vertex);

    for (uint32_t port = 0; port < n_ports && n < 2; port++) {
        n += topo->ops->neighbor(topo, vertex, port) != WF_TOPO_NO_VERTEX ? 1 : 0;
    }
    return n < 2;
}

static bool holds_others(const struct wf_topo *topo, uint32_t vertex)
{
    uint32_t n_ports = wf_topo_ports(topo, vertex);

    for (uint32_t port = 0; port < n_ports; port++) {
        uint32_t to = topo->ops->neighbor(topo, vertex, port);
        if (to != WF_TOPO_NO_VERTEX && has_one_cable(topo, to)) {
            return true;
        }
    }
    return false;
}

/* Something that may fail: a cable, given by its two ends, or a switch, given as `a`. */
struct candidate {
    uint64_t key; /* candidates with the lowest keys fail first */
    uint32_t a, b;
};

static int by_key(const void *x, const void *y)
{
    const struct candidate *p = x, *q = y;

    return p->key < q->key ? -1 : p->key > q->key;
}

/* What fails at random. */
struct choice {
    bool cables;    /* false: switches */
    uint32_t class; /* of the cables */
};
#define ANY_CLASS UINT32_MAX

struct candidates {
    struct candidate *list;
    size_t n, capacity;
};

static void add(struct candidates *all, struct candidate candidate)
{
    WF_PUSH(all->list, all->n, all->capacity, candidate);
}

/* The cables of a class of links; of all classes if it is ANY_CLASS. */
static void find_cables(const struct wf_topo *topo, uint64_t seed, uint32_t class,
                        struct candidates *all)
{
    bool *single = wf_xcalloc(topo->n_vertices, sizeof(*single));

    for (uint32_t v = 0; v < topo->n_vertices; v++) {
        single[v] = has_one_cable(topo, v);
    }
    for (uint32_t v = 0; v < topo->n_vertices; v++) {
        uint32_t n_ports = single[v] ? 0 : wf_topo_ports(topo, v);
        for (uint32_t port = 0; port < n_ports; port++) {
            uint32_t to = topo->ops->neighbor(topo, v, port);
            /* A cable is counted at its lower end, a one-way link at the vertex where it
             * begins. */
            if (to != WF_TOPO_NO_VERTEX && !single[to] && (v < to || topo->oneway) &&
                (class == ANY_CLASS || wf_topo_link_class(topo, v, port) == class)) {
                uint64_t ends = (uint64_t)v << 32 | to;
                add(all, (struct candidate){wf_rng_draw(seed, 0, ends), v, to});
            }
        }
    }
    free(single);
}

static void find_switches(const struct wf_topo *topo, uint64_t seed, struct candidates *all)
{
    for (uint32_t v = topo->n_nodes; v < topo->n_vertices; v++) {
        if (!holds_others(topo, v)) {
            add(all, (struct candidate){wf_rng_draw(seed, 1, v), v, v});
        }
    }
}

static void fail_at_random(struct reader *reader, uint64_t number, bool is_share,
                           const struct choice *choice)
{
    bool cables = choice->cables;
    struct wf_topo_damage *damage = reader->damage;
    struct candidates all = {.list = NULL};

    if (cables) {
        find_cables(damage->topo, reader->seed, choice->class, &all);
    } else {
        find_switches(damage->topo, reader->seed, &all);
    }
    uint64_t n = is_share ? (all.n * number + WHOLE / 2) / WHOLE : number;
    WF_SORT(all.list, all.n, by_key);
    for (size_t i = 0; i < all.n && i < n; i++) {
        if (cables) {
            (void)cut_cable(damage, all.list[i].a, all.list[i].b);
        } else {
            damage->vertices[all.list[i].a] = true;
        }
    }
    free(all.list);
}

/* ---- Items ---- */

static enum wf_status fail(const struct reader *reader, const char *expected)
{
    return wf_err_set(reader->err, WF_EINVAL, "damage '%s': expected %s", reader->item,
                      expected);
}

/* Reads digits and moves *text past them; false if there are none or the number is above
 * UINT32_MAX. */
static bool read_number(const char **text, uint64_t *out)
{
    const char *at = *text;

    for (*out = 0; *at >= '0' && *at <= '9' && *out <= UINT32_MAX; at++) {
        *out = 10 * *out + (uint64_t)(*at - '0');
    }
    bool ok = at != *text && *out <= UINT32_MAX;
    *text = at;
    return ok;
}

/* The vertex that the text names, by the user's name for it or by its number; UINT64_MAX: none. */
static uint64_t find_vertex(const struct wf_topo *topo, const char *text, size_t length)
{
    uint64_t number;
    const char *at = text;

    for (uint32_t v = 0; topo->names != NULL && v < topo->n_vertices; v++) {
        if (strlen(topo->names[v]) == length && memcmp(topo->names[v], text, length) == 0) {
            return v;
        }
    }
    return length > 0 && read_number(&at, &number) && at == text + length ? number : UINT64_MAX;
}

static enum wf_status no_vertex(const struct reader *reader, const char *name)
{
    const struct wf_topo *topo = reader->damage->topo;
    char hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    wf_nearest_begin(&nearest, name);
    for (uint32_t v = 0; v < topo->n_vertices; v++) {
        wf_nearest_add(&nearest, topo->names[v]);
    }
    return wf_err_set(reader->err, WF_EINVAL,
                      "damage '%s': the graph file has no vertex '%s'%s", reader->item, name,
                      wf_nearest_hint(&nearest, hint));
}

static enum wf_status read_link(struct reader *reader, const char *value)
{
    const struct wf_topo *topo = reader->damage->topo;
    uint64_t a = UINT64_MAX, b = UINT64_MAX;
    char first[ITEM_MAX];

    /* Names may contain the character between them. */
    for (const char *gap = strchr(value, '-'); gap != NULL && (a | b) == UINT64_MAX;
         gap = strchr(gap + 1, '-')) {
        a = find_vertex(topo, value, (size_t)(gap - value));
        b = find_vertex(topo, gap + 1, strlen(gap + 1));
    }
    if (topo->names != NULL && (a | b) == UINT64_MAX && strchr(value, '-') != NULL) {
        (void)snprintf(first, sizeof(first), "%.*s", (int)strcspn(value, "-"), value);
        return no_vertex(reader, a == UINT64_MAX ? first : strrchr(value, '-') + 1);
    }
    if ((a | b) == UINT64_MAX) {
        return fail(reader, "two vertices, as link:12-13");
    }
    if (a >= topo->n_vertices || b >= topo->n_vertices) {
        return wf_err_set(reader->err, WF_EINVAL, "damage '%s': vertices are 0 to %" PRIu32,
                          reader->item, topo->n_vertices - 1);
    }
    return cut_cable(reader->damage, (uint32_t)a, (uint32_t)b)
               ? WF_OK
               : wf_err_set(reader->err, WF_EINVAL,
                            "damage '%s': there is no cable between these vertices",
                            reader->item);
}

static enum wf_status read_router(struct reader *reader, const char *value)
{
    const struct wf_topo *topo = reader->damage->topo;
    uint64_t v = find_vertex(topo, value, strlen(value));

    if (v == UINT64_MAX && topo->names != NULL) {
        return no_vertex(reader, value);
    }
    if (v >= topo->n_vertices) {
        return wf_err_set(reader->err, WF_EINVAL,
                          "damage '%s': expected a vertex from 0 to %" PRIu32 ", as router:40",
                          reader->item, topo->n_vertices - 1);
    }
    reader->damage->vertices[v] = true;
    return WF_OK;
}

/* A number, or a percentage with up to three decimals. */
static enum wf_status read_share(struct reader *reader, const char *value,
                                 const struct choice *choice)
{
    uint64_t number = 0, place = WHOLE / 1000;

    if (!read_number(&value, &number)) {
        return fail(reader, "a number or a percentage, as links:3 or links:0.5%");
    }
    if (*value == '\0') {
        fail_at_random(reader, number, false, choice);
        return WF_OK;
    }
    number *= WHOLE / 100;
    if (*value == '.') {
        for (value++; *value >= '0' && *value <= '9' && place > 0; value++) {
            number += place * (uint64_t)(*value - '0');
            place /= 10;
        }
    }
    if (strcmp(value, "%") != 0 || number > WHOLE) {
        return fail(reader, "at most 100%, with at most three decimals, as links:0.5%");
    }
    fail_at_random(reader, number, true, choice);
    return WF_OK;
}

/* The class in front of a number: "global:5%". */
static enum wf_status read_class(const struct reader *reader, const char **value,
                                 uint32_t *class)
{
    const struct wf_topo *topo = reader->damage->topo;
    const char *colon = strchr(*value, ':');
    size_t len = colon != NULL ? (size_t)(colon - *value) : 0;
    char name[ITEM_MAX], hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    *class = ANY_CLASS;
    if (colon == NULL) {
        return WF_OK;
    }
    (void)snprintf(name, sizeof(name), "%.*s", (int)len, *value);
    wf_nearest_begin(&nearest, name);
    for (uint32_t i = 0; i < wf_topo_n_classes(topo); i++) {
        const char *other = wf_topo_class_name(topo, i);
        wf_nearest_add(&nearest, other);
        if (strcmp(other, name) == 0) {
            *class = i;
            *value = colon + 1;
            return WF_OK;
        }
    }
    return wf_err_set(
        reader->err, WF_EINVAL,
        "damage '%s': a %s has no links of the class '%s'%s; 'weft topo' lists its "
        "classes",
        reader->item, topo->ops->name, name, wf_nearest_hint(&nearest, hint));
}

static enum wf_status read_links(struct reader *reader, const char *value)
{
    struct choice choice = {.cables = true};

    WF_TRY(read_class(reader, &value, &choice.class));
    return read_share(reader, value, &choice);
}

static enum wf_status read_routers(struct reader *reader, const char *value)
{
    if (wf_topo_is_direct(reader->damage->topo)) {
        return wf_err_set(reader->err, WF_EINVAL,
                          "damage '%s': every router of a %s is a compute node, which would be "
                          "cut off; links can fail",
                          reader->item, reader->damage->topo->ops->name);
    }
    return read_share(reader, value, &(struct choice){.cables = false});
}

static enum wf_status read_seed(struct reader *reader, const char *value)
{
    return read_number(&value, &reader->seed) && *value == '\0' ? WF_OK
                                                                : fail(reader, "a number");
}

/* The kinds of item in the order in which they are read: seeds first. */
static const struct word {
    const char *name;
    enum wf_status (*read)(struct reader *reader, const char *value);
    bool is_seed;
} words[] = {
    {"seed", read_seed, true},        {"link", read_link, false},
    {"router", read_router, false},   {"links", read_links, false},
    {"routers", read_routers, false},
};

enum { N_WORDS = sizeof(words) / sizeof(words[0]) };

static enum wf_status unknown(const struct reader *reader, const char *name)
{
    char hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    wf_nearest_begin(&nearest, name);
    for (size_t i = 0; i < N_WORDS; i++) {
        wf_nearest_add(&nearest, words[i].name);
    }
    return wf_err_set(
        reader->err, WF_EINVAL,
        "damage '%s': expected link:<a>-<b>, router:<v>, links:<n>, links:<class>:<n>, "
        "routers:<n> or "
        "seed:<n>%s",
        reader->item, wf_nearest_hint(&nearest, hint));
}

static enum wf_status read_item(struct reader *reader, bool seeds)
{
    char name[ITEM_MAX];
    const char *colon = strchr(reader->item, ':');
    size_t len = colon != NULL ? (size_t)(colon - reader->item) : strlen(reader->item);

    memcpy(name, reader->item, len);
    name[len] = '\0';
    for (size_t i = 0; i < N_WORDS && colon != NULL; i++) {
        if (strcmp(words[i].name, name) == 0) {
            return words[i].is_seed == seeds ? words[i].read(reader, colon + 1) : WF_OK;
        }
    }
    return unknown(reader, name);
}

static enum wf_status read_items(struct reader *reader, const char *text, bool seeds)
{
    enum wf_status status = WF_OK;

    for (const char *at = text; at != NULL && status == WF_OK;) {
        size_t len = strcspn(at, ",");

        if (len >= ITEM_MAX) {
            return wf_err_set(reader->err, WF_EINVAL, "damage '%.32s...': the item is too long",
                              at);
        }
        memcpy(reader->item, at, len);
        reader->item[len] = '\0';
        status = read_item(reader, seeds);
        at = at[len] == ',' ? at + len + 1 : NULL;
    }
    return status;
}

enum wf_status wf_topo_damage_read(struct wf_topo_damage *damage, const struct wf_topo *topo,
                                   const char *text, struct wf_err *err)
{
    struct reader reader = {.damage = damage, .seed = 1, .err = err};

    *damage = (struct wf_topo_damage){
        .topo = topo,
        .links = wf_xcalloc((size_t)wf_topo_first_link(topo, topo->n_vertices) + 1, 1),
        .vertices = wf_xcalloc(topo->n_vertices, 1),
    };
    enum wf_status status = read_items(&reader, text, true);
    WF_THEN(status, read_items(&reader, text, false));
    if (status != WF_OK) {
        wf_topo_damage_fini(damage);
    }
    return status;
}

void wf_topo_damage_fini(struct wf_topo_damage *damage)
{
    free(damage->links);
    free(damage->vertices);
}
