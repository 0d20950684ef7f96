/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What messages cost the nodes of a configuration: the delays of TraceR
 * (https://github.com/hpcgroup/TraceR) and of the network interfaces of CODES. By TraceR's
 * rules, with s, n, r and c for soft_delay, nic_delay, rdma_delay and copy_per_byte:
 *
 *   a call of MPI takes s; a send, besides, c for each byte of an eager message
 *   an eager message reaches the NIC n after that, and its receiver n and c per byte after it
 *     has left the network
 *   a longer one is sent n + r after both the send and a notice of the receive, of 16 bytes
 *   a NIC of CODES takes nic_seq_delay for a message, one message after another
 *   the ranks of a node copy messages at intra_bandwidth, in node_copy_queues queues
 */
#include "run/import/codes_importer.h"

#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define NOTICE_BYTES "16B" /* of a receive, to the sender of a long message */

enum { COPY_QUEUES_MAX = 1024 };

/* Delays in picoseconds. */
struct costs {
    uint64_t soft, nic, seq, rdma;
    uint64_t eager, queues;
};

static void say_time(struct wf_codes_importer *codes, const char *key, uint64_t ps)
{
    char text[WF_UNITS_TEXT_MAX];

    wf_codes_say(&codes->out->machine, "  %s: %s\n", key, wf_format_time((int64_t)ps, text));
}

/* A whole number of at most 2^31; 0 is allowed. */
static enum wf_status read_whole(struct wf_codes_importer *codes, const char *key,
                                 const char *def, uint64_t *out)
{
    const struct wf_codes_entry *entry = wf_codes_param(codes, key);

    if (wf_parse_count(entry != NULL ? entry->value : def, out, NULL) != WF_OK ||
        *out > UINT64_C(1) << 31) {
        return wf_codes_fail(codes, entry, "a whole number up to 2147483648");
    }
    return WF_OK;
}

/* Reads all numbers. Missing ones have the defaults of TraceR and CODES. */
static enum wf_status read_costs(struct wf_codes_importer *codes, struct costs *costs)
{
    const struct {
        const char *key, *def;
        bool is_time;
        uint64_t *out;
    } rows[] = {
        {"soft_delay", "100", true, &costs->soft},
        {"nic_delay", "400", true, &costs->nic},
        {"nic_seq_delay", "10", true, &costs->seq},
        {"rdma_delay", "1000", true, &costs->rdma},
        {"eager_limit", "8192", false, &costs->eager},
        {"node_copy_queues", "1", false, &costs->queues},
    };
    char missing[192] = "", text[WF_UNITS_TEXT_MAX];
    size_t len = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct wf_codes_entry *entry = wf_codes_param(codes, rows[i].key);

        WF_TRY(rows[i].is_time ? wf_codes_ns(codes, rows[i].key, rows[i].def, text, rows[i].out)
                               : read_whole(codes, rows[i].key, rows[i].def, rows[i].out));
        if (entry == NULL && len < sizeof(missing)) {
            len += (size_t)snprintf(missing + len, sizeof(missing) - len, "%s%s %s%s",
                                    len > 0 ? ", " : "", rows[i].key, rows[i].def,
                                    rows[i].is_time ? " ns" : "");
        }
    }
    if (len > 0) {
        wf_codes_note(codes, NULL, "not given, so as in TraceR: %s", missing);
    }
    return WF_OK;
}

/* Writes the rate at which the CPU copies eager messages, unless that takes no time. */
static enum wf_status write_copies(struct wf_codes_importer *codes)
{
    const struct wf_codes_entry *entry = wf_codes_param(codes, "copy_per_byte");
    char text[WF_UNITS_TEXT_MAX];
    double ns = 0;

    if (entry == NULL) {
        return WF_OK;
    }
    /* A byte per nanosecond is 10^9 bytes per second. */
    double most = (double)UINT64_MAX / 2, rate;
    if (wf_parse_real(entry->value, &ns, NULL) != WF_OK || !(ns >= 0)) {
        return wf_codes_fail(codes, entry, "nanoseconds for each byte, as 0.01");
    }
    rate = ns > 0 ? 1e9 * (double)WF_RATE_BYTE / ns : most;
    if (rate < 1) {
        return wf_codes_fail(codes, entry, "nanoseconds for each byte, as 0.01");
    }
    if (rate >= most) {
        return WF_OK;
    }
    (void)wf_format_rate((uint64_t)llround(rate), text);
    wf_codes_say(&codes->out->machine, "  copy_send: %s\n  copy_recv: %s\n  copies: eager\n",
                 text, text);
    wf_codes_note(codes, entry,
                  "TraceR copies nothing for a message that arrived before its receive; here "
                  "the receiver copies all eager messages");
    return WF_OK;
}

/* Messages between ranks of a node. Their bandwidth is in bytes per nanosecond in all
 * networks; CODES takes cn_bandwidth if there is no other. */
static enum wf_status write_local(struct wf_codes_importer *codes, const struct costs *costs)
{
    const struct wf_codes_entry *given = wf_codes_param(codes, "intra_bandwidth");
    const struct wf_codes_entry *limit = wf_codes_param(codes, "node_eager_limit");
    const struct wf_codes_entry *entry =
        given != NULL ? given : wf_codes_param(codes, "cn_bandwidth");
    char text[WF_UNITS_TEXT_MAX];
    uint64_t rate = 0;

    if (costs->queues < 1 || costs->queues > COPY_QUEUES_MAX) {
        return wf_codes_fail(codes, wf_codes_param(codes, "node_copy_queues"),
                             "a whole number from 1 to 1024");
    }
    int len = snprintf(text, sizeof(text), "%sGB/s", entry != NULL ? entry->value : "20");
    if (len < 0 || len >= (int)sizeof(text) || wf_parse_rate(text, &rate, NULL) != WF_OK) {
        return wf_codes_fail(codes, entry, "a number above 0, as 5.25");
    }
    if (given == NULL) {
        wf_codes_note(
            codes, NULL,
            "intra_bandwidth is not given; messages within a node have %s, as in CODES", text);
    }
    say_time(codes, "local_latency", 2 * costs->nic + 1000);
    wf_codes_say(&codes->out->machine,
                 "  local_bandwidth: %s\n  domains: %" PRIu64 "\n  memory_bandwidth: %s\n",
                 text, costs->queues, text);
    if (limit != NULL) {
        wf_codes_note(codes, limit,
                      "shorter messages within a node do not wait for others in CODES; here "
                      "they do");
    }
    return WF_OK;
}

enum wf_status wf_codes_write_node(struct wf_codes_importer *codes)
{
    struct costs costs = {0};

    WF_TRY(read_costs(codes, &costs));
    wf_codes_say(&codes->out->machine, "node:\n");
    say_time(codes, "o_send", costs.soft);
    say_time(codes, "o_recv", costs.soft);
    say_time(codes, "injection_delay", costs.nic + costs.seq);
    say_time(codes, "ejection_delay", costs.nic);
    say_time(codes, "gap", costs.seq);
    /* Here both sides register memory, one after the other. */
    say_time(codes, "registration", costs.rdma / 2);
    WF_TRY(write_copies(codes));
    WF_TRY(write_local(codes, &costs));
    wf_codes_say(&codes->out->machine,
                 "mpi:\n  eager_max: %" PRIu64 "B\n  control_bytes: " NOTICE_BYTES "\n",
                 costs.eager);
    return WF_OK;
}
