/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/links.h"

#include "base/mem.h"
#include "base/param_groups.h"
#include "model/net/topology.h"
#include "model/topo/classes.h"
#include "model/topo/nested.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct wf_net_link wf_net_link_unset = {.latency = -1, .delay = -1};
const char *const wf_net_links_words[] = {"class", "property", NULL};

/* In the order of enum wf_net_link_property. */
static const struct wf_param properties[] = {
    [WF_NET_LINK_LATENCY] =
        WF_PARAM_ROW(struct wf_net_link, latency, TIME, .min = "0", .max = "1h"),
    [WF_NET_LINK_BANDWIDTH] = WF_PARAM_ROW(struct wf_net_link, bandwidth, RATE, .min = NULL),
    [WF_NET_LINK_DELAY] =
        WF_PARAM_ROW(struct wf_net_link, delay, TIME, .min = "0", .max = "1h"),
    [WF_NET_LINK_BUFFER] =
        WF_PARAM_ROW(struct wf_net_link, buffer, SIZE, .min = "1B", .max = "1GiB"),
    [WF_NET_LINK_PROPERTIES] = WF_PARAM_END,
};

/* Half of a time, or twice a rate; one picosecond cannot be halved. */
static void change(const struct wf_net_links *links, struct wf_net_link *link)
{
    if (links->halves_latency) {
        link->latency = link->latency > 1 ? link->latency / 2 : link->latency;
        link->delay = link->delay > 1 ? link->delay / 2 : link->delay;
    }
    if (links->doubles_bandwidth && link->bandwidth <= UINT64_MAX / 2) {
        link->bandwidth *= 2;
    }
}

/* `a` with the values of `b` where it has none. */
static struct wf_net_link merge(struct wf_net_link a, const struct wf_net_link *b)
{
    return (struct wf_net_link){
        .latency = a.latency >= 0 ? a.latency : b->latency,
        .bandwidth = a.bandwidth != 0 ? a.bandwidth : b->bandwidth,
        .delay = a.delay >= 0 ? a.delay : b->delay,
        .buffer = a.buffer != 0 ? a.buffer : b->buffer,
    };
}

/* ---- reading ---- */

/* `scope` is "net.links.<class>.". */
static enum wf_status read_item(struct wf_net_links *links,
                                const struct wf_net_links_config *config,
                                const struct wf_param_groups_item *item, const char *scope,
                                struct wf_err *err)
{
    char name[64], value[64];
    uint32_t number = 0;

    (void)snprintf(name, sizeof(name), "%.*s", (int)item->name_length, item->name);
    (void)snprintf(value, sizeof(value), "%.*s", (int)item->value_length, item->value);
    if (wf_topo_class_find(links->topo, item->group, item->group_length, &number, err) !=
        WF_OK) {
        wf_err_prefix(err, "%s%s: ", scope, name);
        return WF_EINVAL;
    }
    const struct wf_param *row = wf_param_find(properties, name);
    if (row == NULL) {
        return wf_err_set(err, WF_EINVAL,
                          "%s%s: links have no property '%s'; expected latency, bandwidth, "
                          "delay or buffer",
                          scope, name, name);
    }
    const char *reason = config->refused[row - properties];
    if (reason != NULL) {
        return wf_err_set(err, WF_EINVAL, "%s%s: %s", scope, name, reason);
    }
    return wf_param_set(properties, &links->classes[number], scope, name, value, err);
}

static enum wf_status read_classes(struct wf_net_links *links,
                                   const struct wf_net_links_config *config, struct wf_err *err)
{
    struct wf_param_groups_item item = {.group = ""};
    uint32_t n = wf_topo_n_classes(links->topo);
    size_t at = 0;

    if (config->links == NULL || config->links[0] == '\0') {
        return WF_OK;
    }
    links->classes = wf_xcalloc(n, sizeof(*links->classes));
    for (uint32_t i = 0; i < n; i++) {
        links->classes[i] = wf_net_link_unset;
    }
    while (wf_param_groups_next(config->links, &at, &item)) {
        char scope[96];
        (void)snprintf(scope, sizeof(scope), "net.links.%.*s.",
                       (int)(item.group_length < 64 ? item.group_length : 64), item.group);
        WF_TRY(read_item(links, config, &item, scope, err));
    }
    for (uint32_t i = 0; i < n; i++) {
        change(links, &links->classes[i]);
    }
    return WF_OK;
}

enum wf_status wf_net_links_init(struct wf_net_links *links,
                                 const struct wf_net_links_config *config, struct wf_err *err)
{
    const struct wf_topo *topo = config->env->topo;
    uint32_t n_levels = wf_topo_n_levels(topo);

    *links = (struct wf_net_links){
        .topo = topo,
        .levels = wf_xcalloc(n_levels, sizeof(*links->levels)),
        .first_class = wf_xcalloc(n_levels, sizeof(*links->first_class)),
        .n_levels = n_levels,
        .halves_latency = config->env->halves_latency,
        .doubles_bandwidth = config->env->doubles_bandwidth,
    };
    for (uint32_t i = 0; i < n_levels; i++) {
        links->levels[i] = (struct wf_net_link){
            .latency = -1, .delay = config->delay, .buffer = config->buffer};
        if (config->latency != NULL) {
            links->levels[i].latency = (int64_t)wf_net_level_value(config->latency, i);
        }
        if (config->bandwidth != NULL) {
            links->levels[i].bandwidth = wf_net_level_value(config->bandwidth, i);
        }
        links->first_class[i] = wf_topo_first_class(topo, i);
    }
    enum wf_status status = read_classes(links, config, err);
    if (status != WF_OK) {
        wf_net_links_fini(links);
    }
    return status;
}

void wf_net_links_fini(struct wf_net_links *links)
{
    free(links->classes);
    free(links->levels);
    free(links->first_class);
    memset(links, 0, sizeof(*links));
}

/* ---- answers ---- */

/* Merges the values of class, link and level. */
static struct wf_net_link link_with_class(const struct wf_net_links *links, uint32_t level,
                                          uint32_t number, struct wf_topo_link_props own)
{
    struct wf_net_link link = {.latency = own.latency != 0 ? own.latency : -1,
                               .bandwidth = own.bandwidth,
                               .delay = -1};

    change(links, &link);
    link = merge(links->classes != NULL ? links->classes[number] : wf_net_link_unset, &link);
    return merge(link, &links->levels[level]);
}

static struct wf_topo_link_props props_of(const struct wf_topo *topo, uint32_t vertex,
                                          uint32_t port)
{
    return topo->ops->link_props != NULL ? topo->ops->link_props(topo, vertex, port)
                                         : (struct wf_topo_link_props){0, 0};
}

struct wf_net_link wf_net_links_at(const struct wf_net_links *links, const struct wf_topo *topo,
                                   uint32_t vertex, uint32_t port)
{
    return link_with_class(links, wf_topo_port_level(topo, vertex, port),
                           wf_topo_link_class(topo, vertex, port),
                           props_of(topo, vertex, port));
}

struct wf_net_link wf_net_links_in_level(const struct wf_net_links *links, uint32_t level,
                                         uint32_t vertex, uint32_t port)
{
    const struct wf_topo *topo = wf_topo_level(links->topo, level);

    return link_with_class(links, level,
                           links->first_class[level] + wf_topo_link_class(topo, vertex, port),
                           props_of(topo, vertex, port));
}

struct wf_net_link wf_net_links_of_class(const struct wf_net_links *links, uint32_t level,
                                         uint32_t number)
{
    return link_with_class(links, level, links->first_class[level] + number,
                           (struct wf_topo_link_props){0, 0});
}

bool wf_net_link_is_same(const struct wf_net_link *a, const struct wf_net_link *b)
{
    return a->latency == b->latency && a->bandwidth == b->bandwidth && a->delay == b->delay &&
           a->buffer == b->buffer;
}

bool wf_net_links_are_equal(const struct wf_net_links *links, uint32_t level)
{
    const struct wf_topo *topo = wf_topo_level(links->topo, level);
    const struct wf_net_link first = wf_net_links_of_class(links, level, 0);

    if (topo->ops->link_props != NULL) {
        return false;
    }
    for (uint32_t i = 1; i < wf_topo_n_classes(topo); i++) {
        const struct wf_net_link other = wf_net_links_of_class(links, level, i);
        if (!wf_net_link_is_same(&first, &other)) {
            return false;
        }
    }
    return true;
}

bool wf_net_links_has_router(const struct wf_net_links *links, uint32_t level, uint32_t vertex)
{
    const struct wf_topo *topo = wf_topo_level(links->topo, level);

    return level + 1 < links->n_levels || wf_topo_is_direct(topo) || vertex >= topo->n_nodes ||
           (links->n_levels > 1 && vertex == topo->gate);
}
