/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PLUGIN_H
#define WEFT_PLUGIN_H

/*
 * A plug-in: a shared object that adds to what weft has. It is written like a part of weft itself: a
 * table of functions, which the header of its kind describes.
 *
 *   kind        table                  described in
 *   TOPOLOGY    struct wf_topo_ops     plugin/model/topo/topo.h
 *   ROUTING     struct wf_route_ops    plugin/model/net/route/route.h
 *   COLLECTIVE  struct wf_coll_ops     plugin/model/coll/coll.h
 *   GENERATOR   struct wf_source_ops   plugin/program/ops/source.h
 *   TRACE       struct wf_reader_ops   plugin/program/trace/reader.h
 *   OUTPUT      struct wf_writer_ops   plugin/ui/report/writer.h
 *   SCHEDULING  struct wf_queue_policy plugin/model/queue/policy.h
 *
 * The plug-in names its tables, in one file:
 *
 *     #include <weft/plugin.h>
 *     ...
 *     static const struct wf_topo_ops chain_ops = {.name = "chain", ...};
 *
 *     WEFT_PLUGIN(WEFT_PLUGIN_TOPOLOGY(chain_ops));
 *
 * and is compiled and used so:
 *
 *     cc -shared -fPIC $(weft --plugin-cflags) chain.c -o chain.so
 *     weft --plugin ./chain.so topo chain:8
 *     weft check-plugin ./chain.so
 *
 * It may call what the headers mark with WF_PLUGIN_API. Its tables are written in C; they may call functions in
 * another language.
 */

#ifdef __cplusplus
#error \
    "the tables of a plug-in are written in C: compile this file as C11 and link it with the others"
#endif

#include "base/result/doc.h"
#include "model/coll/coll.h"
#include "model/coll/parts.h"
#include "model/net/route/policy.h"
#include "model/queue/policy.h"
#include "model/topo/classes.h"
#include "model/topo/grid.h"
#include "model/topo/measure.h"
#include "model/topo/topo.h"
#include "program/gen/gen.h"
#include "program/gen/grid.h"
#include "program/gen/make.h"
#include "program/trace/reader.h"
#include "ui/report/writer.h"

/* Grows when a contract changes that sizes of tables do not show. */
#define WEFT_PLUGIN_VERSION 1

/* A table of a plug-in. Sizes tell whether it was compiled with the same table. */
struct weft_plugin_entry {
    const char *kind;
    const void *table;
    size_t size;
};

/* What weft looks for in the shared object, by the name weft_plugin. */
struct weft_plugin {
    size_t size;
    unsigned version;
    const struct weft_plugin_entry *entries; /* ends with a null kind */
};

#define WEFT_PLUGIN(...)                                                                    \
    static const struct weft_plugin_entry weft_plugin_entries[] = {__VA_ARGS__, {0, 0, 0}}; \
    extern const struct weft_plugin weft_plugin;                                            \
    __attribute__((visibility("default"))) const struct weft_plugin weft_plugin = {         \
        sizeof(struct weft_plugin), WEFT_PLUGIN_VERSION, weft_plugin_entries}

#define WEFT_PLUGIN_TOPOLOGY(ops)                      \
    {                                                  \
        "topology", &(ops), sizeof(struct wf_topo_ops) \
    }
#define WEFT_PLUGIN_ROUTING(ops)                              \
    {                                                         \
        "routing policy", &(ops), sizeof(struct wf_route_ops) \
    }
#define WEFT_PLUGIN_COLLECTIVE(ops)                                \
    {                                                              \
        "collective algorithm", &(ops), sizeof(struct wf_coll_ops) \
    }
#define WEFT_PLUGIN_GENERATOR(ops)                        \
    {                                                     \
        "generator", &(ops), sizeof(struct wf_source_ops) \
    }
#define WEFT_PLUGIN_TRACE(ops)                               \
    {                                                        \
        "trace format", &(ops), sizeof(struct wf_reader_ops) \
    }
#define WEFT_PLUGIN_SCHEDULING(ops)                                 \
    {                                                               \
        "scheduling policy", &(ops), sizeof(struct wf_queue_policy) \
    }
#define WEFT_PLUGIN_OUTPUT(ops)                               \
    {                                                         \
        "output format", &(ops), sizeof(struct wf_writer_ops) \
    }

#endif
