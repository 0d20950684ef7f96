/* SPDX-License-Identifier: Apache-2.0 */
#include "run/import/codes.h"

#include "base/mem.h"
#include "base/units.h"
#include "run/import/codes_importer.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MAX (UINT64_C(1) << 31)

/* ---- helpers ---- */

void wf_codes_say(struct wf_buf *buf, const char *fmt, ...)
{
    char line[512];
    va_list args;

    va_start(args, fmt);
    int len = vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    size_t size = len < 0 ? 0 : (size_t)len;
    wf_buf_append(buf, line, size < sizeof(line) ? size : sizeof(line) - 1);
}

void wf_codes_note(struct wf_codes_importer *codes, const struct wf_codes_entry *entry,
                   const char *fmt, ...)
{
    char words[256];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(words, sizeof(words), fmt, args);
    va_end(args);
    if (entry != NULL) {
        wf_codes_say(&codes->out->notes, "%s:%u:%u: %.64s: %s\n", codes->source->label,
                     (unsigned)entry->line, (unsigned)entry->column, entry->key, words);
    } else {
        wf_codes_say(&codes->out->notes, "%s: %s\n", codes->source->label, words);
    }
}

enum wf_status wf_codes_fail(const struct wf_codes_importer *codes,
                             const struct wf_codes_entry *entry, const char *expected)
{
    if (entry == NULL) {
        return wf_err_set(codes->err, WF_EINVAL, "%s: expected %s", codes->source->label,
                          expected);
    }
    return wf_err_set(codes->err, WF_EINVAL, "%s:%u:%u: %.64s is '%.64s', expected %s",
                      codes->source->label, (unsigned)entry->line, (unsigned)entry->column,
                      entry->key, entry->value, expected);
}

static const struct wf_codes_entry *use(struct wf_codes_importer *codes, const char *section,
                                        const char *key)
{
    const struct wf_codes_entry *entry = wf_codes_find(&codes->text, section, key);

    if (entry != NULL) {
        codes->used[entry - codes->text.entries] = true;
    }
    return entry;
}

const struct wf_codes_entry *wf_codes_param(struct wf_codes_importer *codes, const char *key)
{
    return use(codes, "PARAMS", key);
}

/* The entry with this key in the LP group. Marks it as used. Null if there is none. */
static const struct wf_codes_entry *group_entry(struct wf_codes_importer *codes,
                                                const char *key)
{
    return codes->group != NULL ? use(codes, codes->group, key) : NULL;
}

static enum wf_status count_of(const struct wf_codes_importer *codes,
                               const struct wf_codes_entry *entry, uint64_t *out)
{
    char *end = NULL;
    const char *value = entry->value;
    unsigned long long number = strtoull(value, &end, 10);

    if (value[0] < '0' || value[0] > '9' || *end != '\0' || number == 0 || number > COUNT_MAX) {
        return wf_codes_fail(codes, entry, "a whole number from 1 to 2147483648");
    }
    *out = number;
    return WF_OK;
}

enum wf_status wf_codes_count(struct wf_codes_importer *codes, const char *key, uint64_t def,
                              uint64_t *out)
{
    const struct wf_codes_entry *entry = wf_codes_param(codes, key);
    char expected[96];

    if (entry != NULL) {
        return count_of(codes, entry, out);
    }
    if (def == 0) {
        (void)snprintf(expected, sizeof(expected), "%s in PARAMS", key);
        return wf_codes_fail(codes, NULL, expected);
    }
    wf_codes_note(codes, NULL, "%s is not given; %" PRIu64 " is the default in CODES", key,
                  def);
    *out = def;
    return WF_OK;
}

/* ---- Which network ---- */

static bool is_group(const struct wf_codes_entry *entry)
{
    return strncmp(entry->section, "LPGROUPS/", strlen("LPGROUPS/")) == 0;
}

/* The network is the first name in modelnet_order. */
static enum wf_status find_kind(struct wf_codes_importer *codes)
{
    const struct wf_codes_entry *entry = wf_codes_param(codes, "modelnet_order");
    char name[64], known[256], expected[320];

    if (entry == NULL) {
        return wf_codes_fail(codes, NULL, "modelnet_order in PARAMS, which names the network");
    }
    size_t len = strcspn(entry->value, ",");
    (void)snprintf(name, sizeof(name), "%.*s", len < sizeof(name) ? (int)len : 0, entry->value);
    codes->kind = wf_codes_kind_find(name);
    if (codes->kind == NULL) {
        (void)snprintf(expected, sizeof(expected), "one of %s",
                       wf_codes_kind_names(known, sizeof(known)));
        return wf_codes_fail(codes, entry, expected);
    }
    return WF_OK;
}

/* Finds the LP group that contains the nodes, and their number. */
static enum wf_status find_group(struct wf_codes_importer *codes)
{
    enum wf_status status = WF_OK;

    for (size_t i = 0; i < codes->text.n && codes->group == NULL; i++) {
        const struct wf_codes_entry *entry = &codes->text.entries[i];
        if (is_group(entry) && strcmp(entry->key, codes->kind->terminal) == 0) {
            codes->group = entry->section;
        }
    }
    const struct wf_codes_entry *each = group_entry(codes, codes->kind->terminal);
    const struct wf_codes_entry *repeated = group_entry(codes, "repetitions");
    if (each == NULL || repeated == NULL) {
        wf_codes_note(codes, NULL,
                      "no group of LPGROUPS has %s and repetitions: the size of the network is "
                      "not checked",
                      codes->kind->terminal);
        return WF_OK;
    }
    status = count_of(codes, each, &codes->terminals);
    return status == WF_OK ? count_of(codes, repeated, &codes->repetitions) : status;
}

static enum wf_status check_nodes(struct wf_codes_importer *codes, uint64_t nodes)
{
    char expected[96];

    if (codes->repetitions == 0 || nodes == codes->repetitions * codes->terminals) {
        return WF_OK;
    }
    (void)snprintf(expected, sizeof(expected),
                   "repetitions times %s to be the %" PRIu64 " nodes that PARAMS say",
                   codes->kind->terminal, nodes);
    return wf_codes_fail(codes, group_entry(codes, "repetitions"), expected);
}

/* ---- The network model ---- */

enum wf_status wf_codes_ns(struct wf_codes_importer *codes, const char *key, const char *def,
                           char *text, uint64_t *out)
{
    const struct wf_codes_entry *entry = wf_codes_param(codes, key);
    struct wf_err ignored;
    int64_t ps = 0;

    int len = snprintf(text, WF_UNITS_TEXT_MAX, "%sns", entry != NULL ? entry->value : def);
    if (len < 0 || len >= WF_UNITS_TEXT_MAX || wf_parse_time(text, &ps, &ignored) != WF_OK) {
        return wf_codes_fail(codes, entry, "nanoseconds, as 50 or 1.5");
    }
    *out = (uint64_t)ps;
    return WF_OK;
}

/* Routers in CODES forward chunks; they become our packets. */
static enum wf_status write_packets(struct wf_codes_importer *codes)
{
    const struct wf_codes_entry *packet = wf_codes_param(codes, "packet_size");
    const struct wf_codes_entry *chunk = wf_codes_param(codes, "chunk_size");
    uint64_t most = 0;

    codes->chunk = strtoull(codes->kind->chunk_def, NULL, 10);
    if (chunk != NULL || packet != NULL) {
        WF_TRY(count_of(codes, chunk != NULL ? chunk : packet, &codes->chunk));
    } else {
        wf_codes_note(codes, NULL,
                      "chunk_size is not given; %" PRIu64 " is the default in CODES",
                      codes->chunk);
    }
    if (chunk != NULL && packet != NULL) {
        WF_TRY(count_of(codes, packet, &most));
        if (most != codes->chunk) {
            wf_codes_note(codes, packet,
                          "routers forward chunks of chunk_size, which are packets here");
        }
    }
    wf_codes_say(&codes->out->machine, "  packet: %" PRIu64 "B\n  timing: store_and_forward\n",
                 codes->chunk);
    return WF_OK;
}

static enum wf_status write_routing(struct wf_codes_importer *codes)
{
    const struct wf_codes_entry *entry = wf_codes_param(codes, "routing");
    const char *const(*row)[2] = codes->kind->routings;
    char expected[128] = "";

    for (; entry != NULL && (*row)[0] != NULL && strcmp((*row)[0], entry->value) != 0; row++) {
        size_t len = strlen(expected);
        (void)snprintf(expected + len, sizeof(expected) - len, "%s%s", len > 0 ? ", " : "",
                       (*row)[0]);
    }
    if ((*row)[0] == NULL) {
        return wf_codes_fail(codes, entry, expected);
    }
    wf_codes_say(&codes->out->machine, "  routing: %s\n", (*row)[1]);
    return WF_OK;
}

/* Fat trees have rails, one injection queue for each; no other network here has. */
static enum wf_status check_rails(struct wf_codes_importer *codes)
{
    static const char *const keys[] = {"num_rails", "num_planes"};
    const struct wf_codes_entry *queues = wf_codes_param(codes, "num_injection_queues");
    const struct wf_codes_entry *rails = wf_codes_param(codes, "num_rails");

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && !codes->kind->has_rails; i++) {
        const struct wf_codes_entry *entry = wf_codes_param(codes, keys[i]);
        if (entry != NULL && strcmp(entry->value, "1") != 0) {
            return wf_codes_fail(codes, entry, "1: only fat trees have several rails here");
        }
    }
    if (queues != NULL && strcmp(queues->value, rails != NULL ? rails->value : "1") != 0) {
        wf_codes_note(codes, queues, "left out: a node has one queue for each rail");
    }
    return WF_OK;
}

static enum wf_status write_nic(struct wf_codes_importer *codes)
{
    const struct wf_codes_entry *entry = wf_codes_param(codes, "modelnet_scheduler");

    WF_TRY(check_rails(codes));
    if (entry == NULL || strcmp(entry->value, "fcfs") == 0 ||
        strcmp(entry->value, "fcfs-full") == 0) {
        return WF_OK;
    }
    if (strcmp(entry->value, "round-robin") != 0) {
        wf_codes_note(codes, entry, "'%.32s' has no counterpart: fcfs is used", entry->value);
        return WF_OK;
    }
    wf_codes_say(&codes->out->machine, "  nic: rr\n");
    return WF_OK;
}

static enum wf_status write_network(struct wf_codes_importer *codes)
{
    static enum wf_status (*const parts[])(struct wf_codes_importer * codes) = {
        write_packets,
        write_routing,
        write_nic,
        wf_codes_write_links,
    };
    enum wf_status status = WF_OK;

    wf_codes_say(&codes->out->machine, "network:\n  model: packet\n");
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && status == WF_OK; i++) {
        status = parts[i](codes);
    }
    return status;
}

/* ---- ranks, and keys without a counterpart ---- */

static enum wf_status write_ranks(struct wf_codes_importer *codes)
{
    static const char *const names[] = {"server", "nw-lp"};
    enum wf_status status = WF_OK;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && status == WF_OK; i++) {
        const struct wf_codes_entry *entry = group_entry(codes, names[i]);
        uint64_t servers = 0;

        status = entry != NULL ? count_of(codes, entry, &servers) : WF_OK;
        if (servers != 0 && codes->terminals != 0 && servers % codes->terminals != 0) {
            wf_codes_note(codes, entry, "is not a multiple of %s: one rank per node is used",
                          codes->kind->terminal);
        } else if (servers != 0 && codes->terminals != 0) {
            wf_codes_say(&codes->out->machine, "ranks_per_node: %" PRIu64 "\n",
                         servers / codes->terminals);
            break;
        }
    }
    return status;
}

/* Known keys without a counterpart in weft. */
static const struct {
    const char *key, *why;
} left_out[] = {
    {"message_size", "of events in ROSS"},
    {"num_vcs", "as many as the routing needs"},
    {"cn_credit_delay", "credits travel as links do"},
    {"local_credit_delay", "credits travel as links do"},
    {"global_credit_delay", "credits travel as links do"},
    {"generator_set_X", "follows from num_routers"},
    {"generator_set_X_prime", "follows from num_routers"},
    {"local_channels", "follows from num_routers"},
    {"global_channels", "follows from num_routers"},
    {"intra-group-connections", "not read: all routers of a group are connected"},
    {"inter-group-connections", "not read: groups are connected evenly"},
    {"routing_folder", "not read: net.routing=table reads routes from a file in weft's format"},
    {"dot_file", "not read: net.routing=table reads routes from a file in weft's format"},
    {"dump_topo", "weft topo shows the network"},
    {"cn_sample_file", "not a matter of the machine"},
    {"rt_sample_file", "not a matter of the machine"},
    {"net_startup_ns", "of simplenet"},
    {"net_bw_mbps", "of simplenet"},
};

static void note_left_out(struct wf_codes_importer *codes, const struct wf_codes_entry *entry)
{
    for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++) {
        if (strcmp(left_out[i].key, entry->key) == 0 && strcmp(entry->section, "PARAMS") == 0) {
            wf_codes_note(codes, entry, "left out: %s", left_out[i].why);
            return;
        }
    }
    /* The topology itself places the routers and switches of the group. */
    size_t len = strlen(entry->key);
    bool router = (len > 7 && strcmp(entry->key + len - 7, "_router") == 0) ||
                  strcmp(entry->key, "fattree_switch") == 0;
    if (!(is_group(entry) && router)) {
        wf_codes_note(codes, entry, "unknown, left out");
    }
}

static enum wf_status convert(struct wf_codes_importer *codes)
{
    uint64_t nodes = 0;

    WF_TRY(find_kind(codes));
    WF_TRY(find_group(codes));
    wf_codes_say(&codes->out->machine,
                 "# Made by weft import-codes from a configuration of CODES.\n"
                 "name: %.128s\nsummary: %s as configured for CODES\n\ntopology:\n",
                 codes->source->name, codes->kind->name);
    WF_TRY(codes->kind->write_topology(codes, &nodes));
    WF_TRY(check_nodes(codes, nodes));
    WF_TRY(write_network(codes));
    WF_TRY(write_ranks(codes));
    WF_TRY(wf_codes_write_node(codes));
    for (size_t i = 0; i < codes->text.n; i++) {
        if (!codes->used[i]) {
            note_left_out(codes, &codes->text.entries[i]);
        }
    }
    return WF_OK;
}

/* Finds numbers that do not make a valid network. */
static enum wf_status check_machine(struct wf_codes_importer *codes)
{
    const struct wf_buf *text = &codes->out->machine;
    struct wf_err why = {.status = WF_OK};

    if (codes->source->check((const char *)text->data, text->size, &why) == WF_OK) {
        return WF_OK;
    }
    /* Removes the place from the message: the user has not seen this file. */
    const char *words = strstr(why.text, ": ");
    return wf_err_set(codes->err, WF_EINVAL, "%s: the machine file is not valid: %.300s",
                      codes->source->label, words != NULL ? words + 2 : why.text);
}

enum wf_status wf_codes_import(const struct wf_codes_source *source,
                               struct wf_codes_result *out, struct wf_err *err)
{
    struct wf_codes_importer codes = {.source = source, .out = out, .err = err};

    WF_TRY(wf_codes_read(source->label, source->text, source->size, &codes.text, err));
    codes.used = wf_xcalloc(codes.text.n + 1, sizeof(*codes.used));
    enum wf_status status = convert(&codes);
    WF_THEN(status, check_machine(&codes));
    free(codes.used);
    wf_codes_fini(&codes.text);
    return status;
}

char *wf_codes_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    size_t len = dot != NULL && dot != base ? (size_t)(dot - base) : strlen(base);
    char *name = wf_xcalloc(len + sizeof("codes-"), 1);
    size_t n = 0;

    if (isalnum((unsigned char)base[0]) == 0) {
        n = sizeof("codes-") - 1;
        memcpy(name, "codes-", n);
    }
    for (size_t i = 0; i < len; i++) {
        char c = base[i];
        name[n++] = isalnum((unsigned char)c) != 0 || c == '_' ? c : '-';
    }
    return name;
}
