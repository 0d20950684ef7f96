/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routes from a file. Each line has three fields:
 *
 *     <at> <dst> <port>
 *
 * `at` is a vertex and `dst` a node: a number, a range (4-7) or * for all. `port` is a number,
 * or the word minimal for the port of the topology's own route. If several lines apply, the
 * last one counts. A # begins a comment.
 *
 * All routes are followed once: each must have an entry at every vertex that it reaches, and
 * arrive.
 */
#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "model/net/route/policy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Entries of 8 bytes. */
#define ENTRIES_MAX (UINT64_C(1) << 26)
#define FILE_MAX    ((size_t)64 << 20)
enum { FIELDS = 3, NAME_MAX_SHOWN = 160 };

struct entry {
    uint32_t port; /* WF_TOPO_NO_PORT: no entry */
    uint32_t line; /* line of the file, from 1 */
};

struct table {
    struct wf_route route;
    const struct wf_topo *topo;
    struct entry *entries; /* [n_vertices][n_nodes] */
};

struct reader {
    const char *name;
    const struct wf_topo *topo;
    struct entry *entries;
    uint32_t line;
    struct wf_err *err;
};

static const char *shown(const char *name)
{
    size_t len = strlen(name);

    return len <= NAME_MAX_SHOWN ? name : name + len - NAME_MAX_SHOWN;
}

static struct entry *entry_of(const struct reader *reader, uint32_t at, uint32_t dst)
{
    return &reader->entries[(size_t)at * reader->topo->n_nodes + dst];
}

/* ---- Reading ---- */

static enum wf_status fail(const struct reader *reader, const char *field, const char *expected)
{
    return wf_err_set(reader->err, WF_EINVAL, "%s:%" PRIu32 ": '%.32s': expected %s",
                      shown(reader->name), reader->line, field, expected);
}

/* Reads the digits at *text and moves *text after them; false if there are none or the
 * number is above UINT32_MAX. */
static bool read_number(const char **text, uint32_t *out)
{
    uint64_t value = 0;
    const char *at = *text;

    for (; *at >= '0' && *at <= '9' && value <= UINT32_MAX; at++) {
        value = 10 * value + (uint64_t)(*at - '0');
    }
    bool ok = at != *text && value <= UINT32_MAX;
    *text = at;
    *out = (uint32_t)value;
    return ok;
}

struct range {
    uint32_t first, last;
};

static bool read_range(const char *text, uint32_t n, struct range *range)
{
    if (strcmp(text, "*") == 0) {
        *range = (struct range){0, n - 1};
        return true;
    }
    if (!read_number(&text, &range->first)) {
        return false;
    }
    range->last = range->first;
    if (*text == '-') {
        text++;
        if (!read_number(&text, &range->last)) {
            return false;
        }
    }
    return *text == '\0' && range->first <= range->last && range->last < n;
}

static enum wf_status read_fields(const struct reader *reader, char *const *fields)
{
    const struct wf_topo *topo = reader->topo;
    const char *text = fields[2];
    bool is_minimal = strcmp(text, "minimal") == 0;
    uint32_t port = 0;
    struct range at, dst;
    char expected[96];

    if (!read_range(fields[0], topo->n_vertices, &at)) {
        (void)snprintf(expected, sizeof(expected),
                       "a vertex from 0 to %" PRIu32 ", a range or *", topo->n_vertices - 1);
        return fail(reader, fields[0], expected);
    }
    if (!read_range(fields[1], topo->n_nodes, &dst)) {
        (void)snprintf(expected, sizeof(expected), "a node from 0 to %" PRIu32 ", a range or *",
                       topo->n_nodes - 1);
        return fail(reader, fields[1], expected);
    }
    if (!is_minimal && (!read_number(&text, &port) || *text != '\0' || port >= topo->n_ports)) {
        (void)snprintf(expected, sizeof(expected), "a port from 0 to %" PRIu32 ", or minimal",
                       topo->n_ports - 1);
        return fail(reader, fields[2], expected);
    }
    for (uint32_t a = at.first; a <= at.last; a++) {
        for (uint32_t d = dst.first; d <= dst.last; d++) {
            *entry_of(reader, a, d) = (struct entry){
                .port = is_minimal ? topo->ops->next_port(topo, a, d) : port,
                .line = reader->line,
            };
        }
    }
    return WF_OK;
}

/* Reads one line, which ends with a NUL. */
static enum wf_status read_line(const struct reader *reader, char *line)
{
    char *fields[FIELDS + 1], *rest = NULL;
    uint32_t n = 0;

    line[strcspn(line, "#")] = '\0';
    for (char *field = strtok_r(line, " \t\r", &rest); field != NULL && n <= FIELDS;
         field = strtok_r(NULL, " \t\r", &rest)) {
        fields[n++] = field;
    }
    if (n == 0) {
        return WF_OK;
    }
    if (n != FIELDS) {
        return fail(reader, fields[0], "three fields in the line: <at> <dst> <port>");
    }
    return read_fields(reader, fields);
}

static enum wf_status read_text(struct reader *reader, char *text)
{
    enum wf_status status = WF_OK;

    for (char *line = text; line != NULL && status == WF_OK;) {
        char *end = strchr(line, '\n');
        if (end != NULL) {
            *end++ = '\0';
        }
        reader->line++;
        status = read_line(reader, line);
        line = end;
    }
    return status;
}

static enum wf_status read_file(const char *path, struct wf_buf *buf, struct wf_err *err)
{
    enum wf_status status = wf_file_read(path, FILE_MAX, buf, err);

    if (status == WF_OK && memchr(buf->data, '\0', buf->size) != NULL) {
        status = wf_err_set(err, WF_EINVAL, "%s: not a text", shown(path));
    }
    if (status != WF_OK) {
        wf_err_prefix(err, "routing table: ");
    }
    return status;
}

/* ---- Checking ---- */

/* Follows the route from `src` until it reaches its destination or a vertex that an earlier
 * walk to this destination has visited. Marks the others as visited by this walk. */
static enum wf_status walk(const struct reader *reader, uint32_t src, uint32_t dst,
                           uint32_t *seen)
{
    const struct wf_topo *topo = reader->topo;
    uint32_t mark = src + 1;

    for (uint32_t at = src; at != dst && (seen[at] == 0 || seen[at] == mark);) {
        const struct entry *entry = entry_of(reader, at, dst);
        uint32_t next = WF_TOPO_NO_VERTEX;

        if (entry->port == WF_TOPO_NO_PORT) {
            return wf_err_set(reader->err, WF_EINVAL,
                              "%s: no entry for packets at vertex %" PRIu32 " to node %" PRIu32,
                              shown(reader->name), at, dst);
        }
        if (entry->port < wf_topo_ports(topo, at)) {
            next = topo->ops->neighbor(topo, at, entry->port);
        }
        if (next == WF_TOPO_NO_VERTEX) {
            return wf_err_set(reader->err, WF_EINVAL,
                              "%s:%" PRIu32 ": port %" PRIu32 " of vertex %" PRIu32
                              " has no cable",
                              shown(reader->name), entry->line, entry->port, at);
        }
        if (seen[at] == mark) {
            return wf_err_set(reader->err, WF_EINVAL,
                              "%s:%" PRIu32 ": packets to node %" PRIu32 " come back to vertex "
                              "%" PRIu32 " and never arrive",
                              shown(reader->name), entry->line, dst, at);
        }
        seen[at] = mark;
        at = next;
    }
    return WF_OK;
}

/* The hops of a route that is known to arrive. */
static uint32_t length(const struct reader *reader, uint32_t src, uint32_t dst)
{
    const struct wf_topo *topo = reader->topo;
    uint32_t hops = 0;

    for (uint32_t at = src; at != dst; hops++) {
        at = topo->ops->neighbor(topo, at, entry_of(reader, at, dst)->port);
    }
    return hops;
}

/* Follows all routes; removes entries that no route uses. */
static enum wf_status check(const struct reader *reader, uint32_t *hops_max)
{
    const struct wf_topo *topo = reader->topo;
    uint32_t *seen = wf_xcalloc(topo->n_vertices, sizeof(*seen));
    enum wf_status status = WF_OK;

    for (uint32_t dst = 0; dst < topo->n_nodes && status == WF_OK; dst++) {
        memset(seen, 0, topo->n_vertices * sizeof(*seen));
        for (uint32_t src = 0; src < topo->n_nodes && status == WF_OK; src++) {
            status = walk(reader, src, dst, seen);
            uint32_t hops = status == WF_OK ? length(reader, src, dst) : 0;
            *hops_max = hops > *hops_max ? hops : *hops_max;
        }
        for (uint32_t at = 0; at < topo->n_vertices; at++) {
            if (seen[at] == 0) {
                entry_of(reader, at, dst)->port = WF_TOPO_NO_PORT;
            }
        }
    }
    free(seen);
    return status;
}

/* ---- The policy ---- */

static uint32_t lookup(const void *arg, uint32_t at, uint32_t dst)
{
    const struct table *table = arg;
    uint32_t n_nodes = table->topo->n_nodes;

    return dst < n_nodes ? table->entries[(size_t)at * n_nodes + dst].port : WF_TOPO_NO_PORT;
}

static void table_release(struct wf_route *route)
{
    free(((struct table *)route)->entries);
}

static enum wf_status fill(struct table *table, const char *file, struct wf_err *err)
{
    struct reader reader = {
        .name = file, .topo = table->topo, .entries = table->entries, .err = err};
    struct wf_buf buf = {.data = NULL};
    uint32_t hops_max = 0;

    enum wf_status status = read_file(file, &buf, err);
    WF_THEN(status, read_text(&reader, (char *)buf.data));
    WF_THEN(status, check(&reader, &hops_max));
    wf_buf_fini(&buf);
    if (status == WF_OK) {
        wf_vc_plan_given(&table->route.vcs, table->topo, lookup, table, hops_max);
    }
    return status;
}

static enum wf_status table_create(const struct wf_topo *topo, const char *file,
                                   struct wf_route **out, struct wf_err *err)
{
    uint64_t n = (uint64_t)topo->n_vertices * topo->n_nodes;

    if (file[0] == '\0') {
        return wf_err_set(err, WF_EINVAL,
                          "routing 'table' needs a file: net.routing_file=<path>");
    }
    if (n > ENTRIES_MAX) {
        return wf_err_set(err, WF_EINVAL,
                          "routing 'table': a network of %" PRIu32
                          " nodes has more than %" PRIu64 " routes; choose another policy",
                          topo->n_nodes, ENTRIES_MAX);
    }
    struct table *table = wf_xcalloc(1, sizeof(*table));
    table->route.ops = &wf_route_table_ops;
    table->topo = topo;
    table->entries = wf_xmalloc(n * sizeof(*table->entries));
    memset(table->entries, 0xff, n * sizeof(*table->entries));
    enum wf_status status = fill(table, file, err);
    if (status != WF_OK) {
        wf_route_free(&table->route);
        return status;
    }
    *out = &table->route;
    return WF_OK;
}

static uint32_t table_next(const struct wf_route_query *query, struct wf_route_state *state)
{
    struct wf_vc_step step;

    wf_route_step(query, state, &step);
    return wf_vc_take_given(&step, &state->vcs, lookup(query->route, query->at, query->dst));
}

const struct wf_route_ops wf_route_table_ops = {
    .name = "table",
    .summary = "static routes from a file, net.routing_file",
    .is_oblivious = true,
    .create = table_create,
    .release = table_release,
    .next = table_next,
};
