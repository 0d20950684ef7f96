/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/fault/items.h"

#include "base/array.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/units.h"
#include "model/topo/damaged.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS_MAX = 4096 };

struct reader {
    struct wf_fault_items *items;
    const struct wf_topo *topo;
    char seed[WF_FAULT_ITEM_MAX + 8]; /* the item with the seed and a comma, or "" */
    struct wf_err *err;
};

/* ---- Times ---- */

static enum wf_status bad_time(const struct reader *reader, const char *item)
{
    return wf_err_set(reader->err, WF_EINVAL,
                      "net.fail: '%s': expected a time, or two times of which the second is "
                      "later, as link:3-4@2ms or link:3-4@2ms-5ms",
                      item);
}

/* Cuts the times off the text and reads them. */
static enum wf_status read_times(const struct reader *reader, struct wf_fault_item *item,
                                 char *part)
{
    char *at = strchr(part, '@');

    item->from = 0;
    item->until = WF_TIME_MAX;
    item->has_time = at != NULL;
    if (at == NULL) {
        return WF_OK;
    }
    *at++ = '\0';
    char *dash = strchr(at, '-');
    if (dash != NULL) {
        *dash++ = '\0';
    }
    if (wf_parse_time(at, &item->from, NULL) != WF_OK || item->from == WF_TIME_MAX ||
        (dash != NULL && (wf_parse_time(dash, &item->until, NULL) != WF_OK ||
                          item->until <= item->from || item->until == WF_TIME_MAX))) {
        return bad_time(reader, item->text);
    }
    return WF_OK;
}

/* ---- Parts ---- */

/* The numbers of the true entries; the caller frees them. */
static uint32_t *numbers_of(const bool *truths, uint32_t n, uint32_t *n_numbers)
{
    uint32_t *numbers, count = 0;

    for (uint32_t i = 0; i < n; i++) {
        count += truths[i] ? 1 : 0;
    }
    numbers = wf_xcalloc((size_t)count + 1, sizeof(*numbers));
    *n_numbers = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (truths[i]) {
            numbers[(*n_numbers)++] = i;
        }
    }
    return numbers;
}

static uint32_t count_links(const struct wf_topo_damage *damage)
{
    const struct wf_topo *topo = damage->topo;
    uint32_t n = 0;

    for (uint32_t v = 0; v < topo->n_vertices; v++) {
        uint32_t n_ports = wf_topo_ports(topo, v);
        for (uint32_t port = 0; port < n_ports; port++) {
            n += topo->ops->neighbor(topo, v, port) != WF_TOPO_NO_VERTEX &&
                         wf_topo_damage_neighbor(damage, v, port) == WF_TOPO_NO_VERTEX
                     ? 1
                     : 0;
        }
    }
    return n;
}

static enum wf_status read_part(const struct reader *reader, struct wf_fault_item *item,
                                const char *part)
{
    const struct wf_topo *topo = reader->topo;
    char text[2 * WF_FAULT_ITEM_MAX + 8];
    struct wf_topo_damage damage;

    (void)snprintf(text, sizeof(text), "%s%s", reader->seed, part);
    if (wf_topo_damage_read(&damage, topo, text, reader->err) != WF_OK) {
        wf_err_prefix(reader->err, "net.fail: ");
        return WF_EINVAL;
    }
    item->links =
        numbers_of(damage.links, wf_topo_first_link(topo, topo->n_vertices), &item->n_links);
    item->vertices = numbers_of(damage.vertices, topo->n_vertices, &item->n_vertices);
    item->n_all_links = count_links(&damage);
    wf_topo_damage_fini(&damage);
    return WF_OK;
}

/* ---- Overlaps ---- */

static bool have_common(const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b)
{
    uint32_t i = 0, k = 0;

    while (i < n_a && k < n_b && a[i] != b[k]) {
        if (a[i] < b[k]) {
            i++;
        } else {
            k++;
        }
    }
    return i < n_a && k < n_b;
}

static bool do_overlap(const struct wf_fault_item *a, const struct wf_fault_item *b)
{
    return (a->has_time || b->has_time) && a->from < b->until && b->from < a->until &&
           (have_common(a->links, a->n_links, b->links, b->n_links) ||
            have_common(a->vertices, a->n_vertices, b->vertices, b->n_vertices));
}

static enum wf_status check_overlaps(const struct reader *reader)
{
    const struct wf_fault_items *items = reader->items;

    for (uint32_t i = 0; i < items->n; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (do_overlap(&items->at[i], &items->at[k])) {
                return wf_err_set(reader->err, WF_EINVAL,
                                  "net.fail: '%s' and '%s' name the same part at the same "
                                  "time; repair it before it fails again",
                                  items->at[k].text, items->at[i].text);
            }
        }
    }
    return WF_OK;
}

/* ---- The text ---- */

/* Calls `take` for every item of a text. */
static enum wf_status each_item(struct reader *reader, const char *text,
                                enum wf_status (*take)(struct reader *reader, const char *item))
{
    char item[WF_FAULT_ITEM_MAX];

    for (const char *at = text; at != NULL;) {
        size_t len = strcspn(at, ",");
        if (len >= sizeof(item)) {
            return wf_err_set(reader->err, WF_EINVAL,
                              "net.fail: '%.32s...': the item is too long", at);
        }
        memcpy(item, at, len);
        item[len] = '\0';
        WF_TRY(take(reader, item));
        at = at[len] == ',' ? at + len + 1 : NULL;
    }
    return WF_OK;
}

static bool is_seed(const char *item)
{
    return strncmp(item, "seed:", 5) == 0;
}

static enum wf_status take_seed(struct reader *reader, const char *item)
{
    if (is_seed(item) && strchr(item, '@') != NULL) {
        return wf_err_set(reader->err, WF_EINVAL, "net.fail: '%s': a seed has no time", item);
    }
    if (is_seed(item)) {
        (void)snprintf(reader->seed, sizeof(reader->seed), "%s,", item);
    }
    return WF_OK;
}

static enum wf_status take_item(struct reader *reader, const char *item)
{
    struct wf_fault_items *items = reader->items;
    char part[WF_FAULT_ITEM_MAX];

    if (is_seed(item)) {
        return WF_OK;
    }
    if (items->n == ITEMS_MAX) {
        return wf_err_set(reader->err, WF_EINVAL, "net.fail: more than %d items", ITEMS_MAX);
    }
    WF_GROW(items->at, items->n, items->capacity);
    struct wf_fault_item *added = &items->at[items->n++];
    *added = (struct wf_fault_item){.links = NULL};
    (void)snprintf(added->text, sizeof(added->text), "%s", item);
    (void)snprintf(part, sizeof(part), "%s", item);
    WF_TRY(read_times(reader, added, part));
    return read_part(reader, added, part);
}

/* What fails from the start must not cut off a node, as without times. */
static enum wf_status check_start(const struct reader *reader)
{
    struct wf_buf text = {.data = NULL};
    struct wf_topo *topo = NULL;

    wf_buf_append(&text, reader->seed, strlen(reader->seed));
    for (uint32_t i = 0; i < reader->items->n; i++) {
        const struct wf_fault_item *item = &reader->items->at[i];
        if (!item->has_time) {
            wf_buf_append(&text, item->text, strlen(item->text));
            wf_buf_append(&text, ",", 1);
        }
    }
    enum wf_status status = WF_OK;
    if (text.size > strlen(reader->seed)) {
        text.data[text.size - 1] = '\0';
        status =
            wf_topo_damaged_create(reader->topo, (const char *)text.data, &topo, reader->err);
        if (status != WF_OK) {
            wf_err_prefix(reader->err, "net.fail: ");
        }
        wf_topo_free(topo);
    }
    wf_buf_fini(&text);
    return status;
}

enum wf_status wf_fault_items_read(struct wf_fault_items *items, const struct wf_topo *topo,
                                   const char *text, struct wf_err *err)
{
    struct reader reader = {.items = items, .topo = topo, .err = err};

    WF_TRY(each_item(&reader, text, take_seed));
    WF_TRY(each_item(&reader, text, take_item));
    WF_TRY(check_overlaps(&reader));
    return check_start(&reader);
}

void wf_fault_items_fini(struct wf_fault_items *items)
{
    for (uint32_t i = 0; i < items->n; i++) {
        free(items->at[i].links);
        free(items->at[i].vertices);
    }
    free(items->at);
    *items = (struct wf_fault_items){.at = NULL};
}

static bool has(const uint32_t *numbers, uint32_t n, uint32_t number)
{
    uint32_t i = 0;

    while (i < n && numbers[i] != number) {
        i++;
    }
    return i < n;
}

bool wf_fault_item_has(const struct wf_fault_item *item, const struct wf_topo *topo,
                       uint32_t vertex, uint32_t port)
{
    return has(item->links, item->n_links, wf_topo_first_link(topo, vertex) + port) ||
           has(item->vertices, item->n_vertices, vertex) ||
           has(item->vertices, item->n_vertices, topo->ops->neighbor(topo, vertex, port));
}
