/* SPDX-License-Identifier: Apache-2.0 */
/* The links of a configuration: bandwidths, latencies and buffers, of all links and of single
 * classes. */
#include "run/import/codes_importer.h"

#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>

/* Values of links; a latency or buffer that is not known is 0. */
struct values {
    char bandwidth[WF_UNITS_TEXT_MAX];
    uint64_t latency, buffer; /* picoseconds, bytes */
};

/* Reads a rate in the unit of the network. */
static enum wf_status read_rate(struct wf_codes_importer *codes, const char *key,
                                const char *def, char *text, uint64_t *rate)
{
    const struct wf_codes_entry *entry = wf_codes_param(codes, key);

    if (entry == NULL) {
        wf_codes_note(codes, NULL, "%s is not given; %s is the default in CODES", key, def);
    }
    int len = snprintf(text, WF_UNITS_TEXT_MAX, "%s%s", entry != NULL ? entry->value : def,
                       codes->kind->unit);
    if (len < 0 || len >= WF_UNITS_TEXT_MAX || wf_parse_rate(text, rate, NULL) != WF_OK) {
        return wf_codes_fail(codes, entry, "a number above 0, as 5.25");
    }
    return WF_OK;
}

/* The latency of links. Some networks use the time of a chunk if no latency is given. */
static enum wf_status read_latency(struct wf_codes_importer *codes,
                                   const struct wf_codes_links *links, uint64_t rate,
                                   uint64_t *out)
{
    char text[WF_UNITS_TEXT_MAX];

    if (links->delay == NULL) {
        return WF_OK;
    }
    if (wf_codes_param(codes, links->delay) == NULL && codes->kind->chunk_latency) {
        *out = (uint64_t)wf_transfer_ps(codes->chunk, rate);
        wf_codes_note(codes, NULL,
                      "%s is not given; the default in CODES is the time of a chunk",
                      links->delay);
        return WF_OK;
    }
    return wf_codes_ns(codes, links->delay, "0", text, out);
}

static enum wf_status read_links(struct wf_codes_importer *codes,
                                 const struct wf_codes_links *links, struct values *out)
{
    const struct wf_codes_entry *buffer =
        links->buffer != NULL ? wf_codes_param(codes, links->buffer) : NULL;
    uint64_t rate = 0;

    *out = (struct values){.latency = 0};
    WF_TRY(read_rate(codes, links->bandwidth, links->bandwidth_def, out->bandwidth, &rate));
    WF_TRY(read_latency(codes, links, rate, &out->latency));
    if (buffer != NULL) {
        WF_TRY(wf_codes_count(codes, links->buffer, 0, &out->buffer));
        out->buffer = out->buffer > codes->chunk ? out->buffer : codes->chunk;
    }
    return WF_OK;
}

/* A network without any latency cannot be simulated in parallel: links then have 1 ns. */
static void give_latency(struct wf_codes_importer *codes, bool is_free, struct values *all,
                         size_t n)
{
    bool gave = false;

    for (size_t i = 0; i < n && is_free; i++) {
        gave |= all[i].latency == 0;
        all[i].latency = all[i].latency == 0 ? 1000 : all[i].latency;
    }
    if (gave) {
        wf_codes_note(codes, NULL, "links have no latency in CODES, and 1 ns here");
    }
}

/* The buffers of links whose class has none of its own: those of the first class with buffers;
 * 0 if there is none. */
static uint64_t common_buffer(const struct values *all, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (all[i].buffer != 0) {
            return all[i].buffer;
        }
    }
    return 0;
}

static void say_classes(struct wf_codes_importer *codes, const struct values *all, size_t n)
{
    struct wf_buf *out = &codes->out->machine;
    char text[WF_UNITS_TEXT_MAX];

    wf_codes_say(out, n > 1 ? "  links:\n" : "");
    for (size_t i = 1; i < n; i++) {
        wf_codes_say(out, "    %s: {bandwidth: %s", codes->kind->links[i].name,
                     all[i].bandwidth);
        if (all[i].latency != all[0].latency) {
            wf_codes_say(out, ", latency: %s", wf_format_time((int64_t)all[i].latency, text));
        }
        if (all[i].buffer != 0) {
            wf_codes_say(out, ", buffer: %" PRIu64 "B", all[i].buffer);
        }
        wf_codes_say(out, "}\n");
    }
}

/* Nodes that are their own routers have a bandwidth into the network. A node with several
 * rails fills them all; otherwise its link limits it. */
static enum wf_status say_injection(struct wf_codes_importer *codes)
{
    char text[WF_UNITS_TEXT_MAX];
    uint64_t rate = 0;

    if (codes->kind->is_direct && wf_codes_param(codes, "cn_bandwidth") != NULL) {
        WF_TRY(read_rate(codes, "cn_bandwidth", "", text, &rate));
        wf_codes_say(&codes->out->machine, "  injection: %s\n", text);
    } else if (codes->rails > 1) {
        wf_codes_say(&codes->out->machine, "  injection: unlimited\n");
    }
    return WF_OK;
}

enum wf_status wf_codes_write_links(struct wf_codes_importer *codes)
{
    struct values all[WF_CODES_CLASSES_MAX];
    char router[WF_UNITS_TEXT_MAX], latency[WF_UNITS_TEXT_MAX];
    uint64_t router_ps = 0;
    size_t n = 0;

    for (; n < WF_CODES_CLASSES_MAX && codes->kind->links[n].bandwidth != NULL; n++) {
        WF_TRY(read_links(codes, &codes->kind->links[n], &all[n]));
    }
    WF_TRY(
        wf_codes_ns(codes, "router_delay", codes->kind->router_delay_def, router, &router_ps));
    give_latency(codes, !codes->kind->is_direct || router_ps == 0, all, n);
    (void)wf_format_time((int64_t)all[0].latency, latency);
    wf_codes_say(&codes->out->machine,
                 "  bandwidth: %s\n  router_delay: %s\n  link_latency: %s\n", all[0].bandwidth,
                 router, latency);
    WF_TRY(say_injection(codes));
    uint64_t buffer = common_buffer(all, n);
    if (buffer != 0) {
        wf_codes_say(&codes->out->machine, "  buffers: credits\n  vc_bytes: %" PRIu64 "B\n",
                     buffer);
    }
    say_classes(codes, all, n);
    return WF_OK;
}
