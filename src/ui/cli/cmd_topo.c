/* SPDX-License-Identifier: Apache-2.0 */
#include "base/result/result.h"
#include "base/units.h"
#include "run/execute/world.h"
#include "ui/cli/cli.h"
#include "ui/cli/opt.h"
#include "ui/draw/draw.h"
#include "ui/report/output.h"
#include "ui/study/topo_facts.h"

#include <weft/weft.h>

#include <inttypes.h>
#include <string.h>

#define TOPO_SCHEMA "weft-topo-1"

/* Files with one line per cable are refused above this number unless forced. */
#define CABLES_MAX UINT64_C(10000000)

struct topo_opts {
    bool json, force;
    const char *routes;
    const char *output;
};

static const struct wf_opt rows[] = {
    WF_OPT_ROW(struct topo_opts, routes, TEXT, "routes", 0, "<A>,<B>",
               .doc = "Show the route from node A to node B, hop by hop"),
    WF_OPT_FILE_ROW(
        struct topo_opts, output, "output", 'o', "<file>", wf_draw_extension,
        "Write the network to a file instead, as a picture, for Graphviz or as a table "
        "of cables:"),
    WF_OPT_ROW(struct topo_opts, force, BOOL, "force", 'f', NULL,
               .doc = "Overwrite that file if it exists, and write it even if it is very long"),
    WF_OPT_ROW(struct topo_opts, json, BOOL, "json", 0, NULL,
               .doc = "Print everything as one JSON document"),
    WF_OPT_END,
};

static struct wf_value *new_document(void)
{
    return wf_result_new_as(TOPO_SCHEMA, weft_version());
}

/* ---- the operands ---- */

/* The operands. */
struct request {
    const char *spec;
    const char *to; /* the second node of "--routes A B", given as an operand; or null */
};

static bool is_number(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

/* A topology is never a number, so the topology and the end of a route may come in any
 * order. */
static enum wf_status sort_operands(const struct topo_opts *opts,
                                    const struct wf_operands *operands, struct request *request,
                                    struct wf_err *err)
{
    bool lacks_end = opts->routes != NULL && is_number(opts->routes);
    size_t topologies = 0;

    for (size_t i = 0; i < operands->args.n; i++) {
        const char *word = operands->args.items[i];

        if (lacks_end && request->to == NULL && is_number(word)) {
            request->to = word;
        } else if (topologies++ == 0) {
            request->spec = word;
        } else {
            return wf_err_set(err, WF_EUSAGE,
                              "topo: one topology expected, but there is also '%.64s'", word);
        }
    }
    if (topologies == 0) {
        return wf_err_set(err, WF_EUSAGE,
                          "topo: no topology; for example: weft topo torus:8x8x8, or weft topo "
                          "list");
    }
    return WF_OK;
}

/* ---- routes ---- */

struct ends {
    uint32_t from, to;
};

static enum wf_status parse_node(const struct wf_topo *topo, const char *text, uint32_t *out,
                                 struct wf_err *err)
{
    uint64_t node = 0;

    if (!is_number(text)) {
        return wf_err_set(err, WF_EUSAGE, "--routes: '%.64s' is not the number of a node",
                          text);
    }
    if (wf_parse_count(text, &node, NULL) != WF_OK || node >= topo->n_nodes) {
        return wf_err_set(err, WF_EUSAGE,
                          "--routes: node %.24s is out of range; expected 0 to %" PRIu32, text,
                          topo->n_nodes - 1);
    }
    *out = (uint32_t)node;
    return WF_OK;
}

static enum wf_status parse_ends(const struct wf_topo *topo, const struct topo_opts *opts,
                                 const struct request *request, struct ends *ends,
                                 struct wf_err *err)
{
    char from[64];
    size_t length = strcspn(opts->routes, ",:");
    const char *to = opts->routes[length] != '\0' ? opts->routes + length + 1 : request->to;

    if (to == NULL) {
        return wf_err_set(err, WF_EUSAGE, "--routes: two nodes expected, as in --routes 0,5");
    }
    (void)snprintf(from, sizeof(from), "%.*s", (int)(length < 63 ? length : 63), opts->routes);
    WF_TRY(parse_node(topo, from, &ends->from, err));
    return parse_node(topo, to, &ends->to, err);
}

/* ---- files ---- */

static enum wf_status write_file(const struct wf_topo *topo, const char *spec,
                                 const struct topo_opts *opts, struct wf_err *err)
{
    const struct wf_draw_format *format = NULL;
    struct wf_output *output = NULL;

    WF_TRY(wf_draw_for_path(opts->output, &format, err));
    if (format->every_cable && topo->n_links > CABLES_MAX && !opts->force) {
        return wf_err_set(err, WF_ELIMIT,
                          "output '%.100s' would have %" PRIu64 " lines, one for each link; -f "
                          "writes it anyway",
                          opts->output, topo->n_links);
    }
    WF_TRY(wf_output_check(opts->output, opts->force, err));
    WF_TRY(wf_output_open(opts->output, opts->force, &output, err));
    format->write(topo, spec, wf_output_stream(output));
    return wf_output_commit(output, err);
}

/* ---- the verb ---- */

static void print(struct wf_cli *cli, const struct wf_topo *topo, const char *spec,
                  const struct topo_opts *opts, const struct ends *ends)
{
    if (!opts->json && opts->routes != NULL) {
        wf_study_topo_route_print(topo, ends->from, ends->to, cli->out);
        return;
    }
    if (!opts->json && opts->output != NULL) {
        return;
    }
    struct wf_value *doc = new_document();
    wf_study_topo_facts_add(topo, spec, doc);
    if (opts->json && opts->routes != NULL) {
        wf_study_topo_route_add(topo, ends->from, ends->to, doc);
    }
    if (opts->json) {
        wf_cli_answer(cli, doc);
    } else {
        wf_study_topo_facts_print(doc, cli->out);
        wf_doc_free(doc);
    }
}

static enum wf_status show(struct wf_cli *cli, const struct request *request,
                           const struct topo_opts *opts, struct wf_err *err)
{
    const struct wf_draw_format *format = NULL;
    struct wf_topo *topo = NULL;
    struct ends ends = {0, 0};
    enum wf_status status = WF_OK;

    /* Reports a file name with an unknown extension first. */
    if (opts->output != NULL) {
        status = wf_draw_for_path(opts->output, &format, err);
    }
    WF_THEN(status, wf_topo_create(request->spec, &topo, err));
    if (status == WF_OK && opts->routes != NULL) {
        status = parse_ends(topo, opts, request, &ends, err);
    }
    if (status == WF_OK && (opts->json || (opts->routes == NULL && opts->output == NULL))) {
        status = wf_study_topo_check_hops(topo, request->spec, err);
    }
    if (status == WF_OK && opts->output != NULL && wf_world_is_first(cli->world)) {
        status = write_file(topo, request->spec, opts, err);
    }
    status = wf_world_agree(cli->world, status, err);
    if (status == WF_OK) {
        print(cli, topo, request->spec, opts, &ends);
    }
    wf_topo_free(topo);
    return status;
}

static enum wf_status topo_run(struct wf_cli *cli, const void *opts_arg,
                               const struct wf_operands *operands, struct wf_err *err)
{
    const struct topo_opts *opts = opts_arg;
    struct request request = {.spec = ""};

    WF_TRY(sort_operands(opts, operands, &request, err));
    if (strcmp(request.spec, "list") == 0) {
        if (opts->routes != NULL || opts->output != NULL) {
            return wf_err_set(err, WF_EUSAGE, "topo list: --%s needs a topology",
                              opts->routes != NULL ? "routes" : "output");
        }
        if (opts->json) {
            struct wf_value *doc = new_document();
            wf_study_topo_list_add(doc);
            wf_cli_answer(cli, doc);
        } else {
            wf_study_topo_list_print(cli->out);
        }
        return WF_OK;
    }
    return show(cli, &request, opts, err);
}

const struct wf_verb wf_verb_topo = {
    .name = "topo",
    .summary = "Show the size, distances, routes or a picture of a topology",
    .help = {.synopsis = "weft topo [options] <topology> | list",
             .summary =
                 "Show the size, distances, routes or a picture of a topology; 'weft topo "
                 "list' shows how topologies are written",
             .examples =
                 {
                     {"weft topo torus:8x8x8", "Nodes, links, diameter, bisection and cost"},
                     {"weft topo torus:8x8 -o torus.svg", "A picture of it"},
                     {"weft topo fattree:4x4 --json", "For a program to read"},
                     {"weft topo dragonfly:2,a=4 -o cables.csv", "A list of cables"},
                     {"weft topo slimfly:5", "Fewer links than a fat tree of as many nodes"},
                 },
             .table = rows},
    .opts_size = sizeof(struct topo_opts),
    .max_operands = SIZE_MAX,
    .run = topo_run,
};
