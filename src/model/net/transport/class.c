/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of traffic. A message belongs to the first class whose conditions hold, or else to the
 * last class. */
#include "base/param_groups.h"
#include "model/net/transport/model.h"

#include <stdio.h>
#include <string.h>

const char *const wf_transport_class_syntax[] = {"class", "share|priority|max|first|last",
                                                 NULL};

static const struct wf_param properties[] = {
    WF_PARAM_ROW(struct wf_transport_class, share, COUNT, .def = "1", .min = "1",
                 .max = "1000000", .doc = "Weight among classes of the same priority"),
    WF_PARAM_ROW(struct wf_transport_class, priority, COUNT, .def = "0", .max = "1000",
                 .doc = "Classes with a higher one go first"),
    WF_PARAM_ROW(struct wf_transport_class, max, SIZE, .def = "0B",
                 .doc = "Messages of at most this size; 0 is any"),
    WF_PARAM_ROW(struct wf_transport_class, first, COUNT, .def = "0",
                 .doc = "The first node whose messages it has"),
    WF_PARAM_ROW(struct wf_transport_class, last, COUNT, .def = "4294967295",
                 .doc = "The last node whose messages it has"),
    WF_PARAM_END,
};

/* The class of an item; created if there is none. Null if there are too many. */
static struct wf_transport_class *class_at(struct wf_transport_net *net,
                                           const struct wf_param_groups_item *item)
{
    for (uint32_t i = 0; i < net->n_classes; i++) {
        struct wf_transport_class *class = &net->classes[i];
        if (strlen(class->name) == item->group_length &&
            memcmp(class->name, item->group, item->group_length) == 0) {
            return class;
        }
    }
    if (net->n_classes == WF_TRANSPORT_CLASSES_MAX ||
        item->group_length >= sizeof(net->classes[0].name)) {
        return NULL;
    }
    struct wf_transport_class *class = &net->classes[net->n_classes++];

    *class = (struct wf_transport_class){.share = 1, .last = UINT32_MAX};
    memcpy(class->name, item->group, item->group_length);
    return class;
}

static enum wf_status read_item(struct wf_transport_net *net,
                                const struct wf_param_groups_item *item, struct wf_err *err)
{
    struct wf_transport_class *class = class_at(net, item);
    char scope[64], name[64], value[64];

    if (class == NULL) {
        return wf_err_set(err, WF_EUSAGE,
                          "net.classes: at most %d classes with names of at most %zu letters",
                          WF_TRANSPORT_CLASSES_MAX, sizeof(net->classes[0].name) - 1);
    }
    (void)snprintf(scope, sizeof(scope), "net.classes.%s.", class->name);
    (void)snprintf(name, sizeof(name), "%.*s", (int)item->name_length, item->name);
    (void)snprintf(value, sizeof(value), "%.*s", (int)item->value_length, item->value);
    return wf_param_set(properties, class, scope, name, value, err);
}

enum wf_status wf_transport_classes_read(struct wf_transport_net *net, const char *text,
                                         struct wf_err *err)
{
    struct wf_param_groups_item item = {.group = ""};
    size_t at = 0;

    net->n_classes = 0;
    while (text != NULL && wf_param_groups_next(text, &at, &item)) {
        WF_TRY(read_item(net, &item, err));
    }
    if (net->n_classes == 0) {
        (void)class_at(net, &(struct wf_param_groups_item){.group = "all", .group_length = 3});
    }
    for (uint32_t i = 0; i < net->n_classes; i++) {
        net->overtakes = net->overtakes || (net->n_classes > 1 && net->classes[i].max != 0);
        net->has_priorities =
            net->has_priorities || net->classes[i].priority != net->classes[0].priority;
    }
    return WF_OK;
}

uint32_t wf_transport_class_of(const struct wf_transport_net *net,
                               const struct wf_net_message *msg)
{
    for (uint32_t i = 0; i + 1 < net->n_classes; i++) {
        const struct wf_transport_class *class = &net->classes[i];
        if ((class->max == 0 || msg->bytes <= class->max) && msg->src_node >= class->first &&
            msg->src_node <= class->last) {
            return i;
        }
    }
    return net->n_classes - 1;
}
