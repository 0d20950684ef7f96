/* SPDX-License-Identifier: Apache-2.0 */
/* A plug-in with a small part of every kind that chordal.c does not have: docs/howto/write-a-plugin.md.
 *
 *     cc -shared -fPIC $(weft --plugin-cflags) parts.c -o parts.so
 *     weft --plugin ./parts.so replay calls.txt --net packet --topo torus:2x2 \
 *         -p net.routing=last -p mpi.allreduce=star -o result.line
 */
#include <weft/plugin.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a routing policy: of all ports on a shortest path, always the last one ---- */

static uint32_t last_next(const struct wf_route_query *query, struct wf_route_state *state)
{
    uint32_t ports[WF_VC_PORTS_MAX];
    struct wf_vc_step step;

    wf_route_step(query, state, &step);
    uint32_t n = wf_vc_choices(&step, &state->vcs, ports);
    return wf_vc_take(&step, &state->vcs, ports[n - 1]);
}

static const struct wf_route_ops last_ops = {
    .name = "last",
    .summary = "the last port on a shortest path",
    .is_oblivious = true,
    .is_by_flow = true,
    .is_free = true,
    .next = last_next,
};

/* ---- a collective algorithm: everybody sends to rank 0, which answers ---- */

static bool star_step(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    const struct wf_coll_slots all = {.first = 0, .count = 1};
    uint32_t others = args->size - 1;

    if (k >= (args->rank == 0 ? 2 * others : 2) || others == 0) {
        return false;
    }
    bool first = k < (args->rank == 0 ? others : 1); /* to rank 0, then back */
    *out = wf_coll_idle();
    if (first == (args->rank == 0)) {
        out->recv_from = args->rank == 0 ? k + 1 : 0;
        out->recv = all;
        out->take = args->rank == 0 ? WF_COLL_COMBINE : WF_COLL_STORE;
    } else {
        out->send_to = args->rank == 0 ? k - others + 1 : 0;
        out->send = all;
    }
    return true;
}

static const struct wf_coll_ops star_ops = {
    .name = "star",
    .summary = "everybody sends to rank 0, which answers one by one",
    .kind = WF_COLL_ALLREDUCE,
    .n_slots = wf_coll_one_slot,
    .step = star_step,
};

/* ---- a trace format ----
 *
 *     calls 4              the number of ranks
 *     0 compute 25         of a rank, in microseconds
 *     0 send 1 4096        to a rank, bytes
 *     1 recv 0 4096
 *     * allreduce 8        all ranks
 */

enum { LINE = 256, ALL = -1 };

struct call {
    long rank; /* or ALL */
    struct wf_op op;
};

struct calls {
    struct wf_source source;
    struct call *calls;
    uint64_t n;
};

struct calls_params {
    int64_t unit;
};

static const struct wf_param calls_table[] = {
    WF_PARAM_ROW(struct calls_params, unit, TIME, .def = "1us", .min = "1ps",
                 .doc = "The unit of the times in the lines"),
    WF_PARAM_END,
};

static bool calls_next(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                       struct wf_op *op)
{
    const struct calls *calls = (const struct calls *)source;

    for (uint64_t i = cursor->word[0]; i < calls->n; i++) {
        if (calls->calls[i].rank == ALL || calls->calls[i].rank == (long)rank) {
            *op = calls->calls[i].op;
            cursor->word[0] = i + 1;
            return true;
        }
    }
    return false;
}

static void calls_destroy(struct wf_source *source)
{
    free(((struct calls *)source)->calls);
    wf_source_end(source);
}

static const struct wf_source_ops calls_source_ops = {
    .name = "calls",
    .next = calls_next,
    .destroy = calls_destroy,
};

/* Whether the line says something. Texts of sscanf() are at most 31 characters long. */
static bool parse(const char *line, uint32_t ranks, int64_t unit, struct call *out)
{
    char who[32], what[32];
    uint64_t a = 0, b = 0;
    int n = sscanf(line, "%31s %31s %" SCNu64 " %" SCNu64, who, what, &a, &b);
    char *end = NULL;

    out->rank = strcmp(who, "*") == 0 ? ALL : strtol(who, &end, 10);
    if (n < 3 || (end != NULL && *end != '\0') || out->rank < ALL || out->rank >= (long)ranks) {
        return false;
    }
    if (strcmp(what, "compute") == 0 && a <= (uint64_t)(INT64_MAX / unit)) {
        wf_gen_make_compute(&out->op, (int64_t)a * unit);
        return true;
    }
    if (strcmp(what, "allreduce") == 0 && out->rank == ALL) {
        wf_gen_make_collective(&out->op, WF_OP_ALLREDUCE, a);
        return true;
    }
    if (n < 4 || a >= ranks || out->rank == ALL) {
        return false;
    }
    if (strcmp(what, "send") == 0) {
        wf_gen_make_send(&out->op, (uint32_t)a, 0, b);
        return true;
    }
    wf_gen_make_recv(&out->op, (uint32_t)a, 0, b);
    return strcmp(what, "recv") == 0;
}

static enum wf_status read_lines(FILE *in, const char *path, int64_t unit, struct calls *calls,
                                 struct wf_err *err)
{
    char line[LINE];

    for (unsigned number = 2; fgets(line, sizeof(line), in) != NULL; number++) {
        struct call *grown = realloc(calls->calls, (calls->n + 1) * sizeof(*grown));
        if (grown == NULL) {
            return wf_err_set(err, WF_ELIMIT, "%s: no memory", path);
        }
        calls->calls = grown;
        memset(&grown[calls->n], 0, sizeof(*grown));
        if (!parse(line, calls->source.n_ranks, unit, &grown[calls->n])) {
            return wf_err_set(err, WF_EINVAL, "%s:%u: expected a call: 0 send 1 4096", path,
                              number);
        }
        calls->n++;
    }
    return WF_OK;
}

static bool calls_detect(const struct wf_reader_probe *probe)
{
    return !probe->is_directory && probe->n > 6 && memcmp(probe->bytes, "calls ", 6) == 0;
}

static enum wf_status calls_open(const struct wf_reader_probe *probe, const void *params,
                                 struct wf_trace *out, struct wf_err *err)
{
    const struct calls_params *given = params;
    FILE *in = fopen(probe->path, "r");
    char line[LINE];
    unsigned ranks = 0;

    if (in == NULL) {
        return wf_err_set(err, WF_EIO, "cannot read '%s'", probe->path);
    }
    if (fgets(line, sizeof(line), in) == NULL || sscanf(line, "calls %u", &ranks) != 1 ||
        ranks == 0 || ranks > WF_RANKS_MAX) {
        (void)fclose(in);
        return wf_err_set(err, WF_EINVAL, "%s:1: expected the number of ranks: calls 4",
                          probe->path);
    }
    struct calls *calls = wf_gen_new(sizeof(*calls), &calls_source_ops, ranks, &out->source);
    enum wf_status status = read_lines(in, probe->path, given->unit, calls, err);
    (void)fclose(in);
    return status;
}

static const struct wf_reader_ops calls_ops = {
    .name = "calls",
    .summary = "calls in lines of text",
    .params = calls_table,
    .params_size = sizeof(struct calls_params),
    .detect = calls_detect,
    .open = calls_open,
};

/* ---- a scheduling policy: the smallest job first, and nobody waits for a large one ---- */

static bool is_smaller(const struct wf_queue_job *a, const struct wf_queue_job *b)
{
    return a->nodes < b->nodes;
}

static void start_what_fits(struct wf_queue_sim *sim)
{
    for (size_t place = 0; place < sim->n_waiting; place++) {
        if (wf_queue_waiting(sim, place)->nodes <= sim->free) {
            wf_queue_start(sim, place);
        }
    }
}

static const struct wf_queue_policy smallest_ops = {
    .name = "smallest",
    .summary = "The smallest job first; whatever fits is started",
    .before = is_smaller,
    .schedule = start_what_fits,
};

/* ---- a report: a line for a log, and what went wrong ---- */

static void line_write(const struct wf_value *doc, const struct wf_write_options *options,
                       FILE *out)
{
    (void)fprintf(out, "%s %" PRIu64 " ps\n", wf_doc_get_text(doc, "scenario.source", "?"),
                  wf_doc_get_count(doc, "result.predicted_time_ps", 0));
    if (wf_doc_find(doc, "error.message") != NULL) {
        (void)fprintf(out, "# %s\n", wf_doc_get_text(doc, "error.message", ""));
    }
    const struct wf_value *ranks = wf_doc_find(doc, "result.waiting.ranks");
    for (const struct wf_value *v = ranks != NULL ? ranks->first : NULL; v != NULL;
         v = v->next) {
        (void)fprintf(out, "# rank %" PRIu64 " %s\n", wf_doc_get_count(v, "rank", 0),
                      wf_doc_get_text(v, "waits", "waits"));
    }
}

static const struct wf_writer_ops line_ops = {
    .name = "line",
    .extension = ".line",
    .summary = "the program and its predicted time",
    .write = line_write,
};

WEFT_PLUGIN(WEFT_PLUGIN_ROUTING(last_ops), WEFT_PLUGIN_COLLECTIVE(star_ops),
            WEFT_PLUGIN_TRACE(calls_ops), WEFT_PLUGIN_SCHEDULING(smallest_ops),
            WEFT_PLUGIN_OUTPUT(line_ops));
