/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/report/writer.h"

#include "base/result/result.h"
#include "base/text.h"
#include "ui/report/command.h"
#include "ui/report/path_text.h"

#include <inttypes.h>
#include <string.h>

/*
 * The result as text: first the question and the answer, then how the run went. Each line is a
 * row of a table, with a label and a text with values of the document in it, or a function. A verbose report lists every value after that.
 */

/* VALUE_MAX: characters that are shown of a value in a verbose report. */
enum { LABEL_WIDTH = 16, NAME_WIDTH = 28, VALUE_MAX = 255 };

#define PREDICTED "result.predicted_time_ps"

/* ---- the lines ---- */

static bool line_status(const struct wf_value *doc, struct wf_phrase *out)
{
    const char *status = wf_doc_get_text(doc, "result.status", WF_RESULT_COMPLETED);

    if (strcmp(status, WF_RESULT_COMPLETED) == 0) {
        return false;
    }
    wf_phrase_add(out, "%s", status);
    if (wf_doc_find(doc, "result.time_reached_ps") != NULL) {
        (void)wf_phrase_fill(out, doc, " at simulated time {result.time_reached_ps}");
    } else {
        (void)wf_phrase_fill(
            out, doc,
            "[: no rank received {result.unreceived_messages:message|messages}]"
            "[{result.unreceived_messages!}: {result.left_over.what}]");
    }
    if (strcmp(status, WF_RESULT_INTERRUPTED) == 0) {
        wf_phrase_add(out, "; what follows is partial");
    } else if (strcmp(status, WF_RESULT_STOPPED) == 0) {
        (void)wf_phrase_fill(out, doc,
                             " (until), before {result.unfinished_ranks:rank|ranks} ended; "
                             "operations in progress count as a whole");
    }
    return true;
}

/* Says what is uncertain: "2 settings, 95 % of the compute time". */
static bool line_uncertain(const struct wf_value *uncertainty, struct wf_phrase *out)
{
    bool none = wf_doc_find(uncertainty, "none") != NULL;
    bool varied = wf_doc_find(uncertainty, "compute.varied_time_percent") != NULL;

    return wf_phrase_fill(
        out, uncertainty,
        none     ? "none: {none}"
        : varied ? "{settings:setting|settings}, {compute.varied_time_percent:plain} % of the "
                   "compute time[, noise of the nodes{noise?}]"
                 : "{settings:setting|settings}; not compute times: {compute.kept|?}"
                   "[, noise of the nodes{noise?}]");
}

static bool line_command(const struct wf_value *doc, struct wf_phrase *out)
{
    return wf_writer_text_command(doc, "", out);
}

static bool line_latency(const struct wf_value *spread, struct wf_phrase *out)
{
    bool equal = wf_doc_get_count(spread, "min", 0) == wf_doc_get_count(spread, "max", 0);

    return wf_phrase_fill(out, spread,
                          equal ? "{mean:time} each"
                                : "{mean:time} mean ({min:time} .. {max:time})");
}

static bool line_finish(const struct wf_value *ranks, struct wf_phrase *out)
{
    return wf_doc_get_count(ranks, "finished", 1) > 0 &&
           wf_phrase_fill(out, ranks, "{finish_ps:spread}");
}

/* "13.5 kW", "43.6 J" */
static void add_amount(struct wf_phrase *out, double value, const char *unit)
{
    wf_phrase_real(out, value);
    bool has_prefix = out->used > 0 && strchr("0123456789", out->text[out->used - 1]) == NULL;
    wf_phrase_add(out, "%s%s", has_prefix ? "" : " ", unit);
}

static bool line_energy(const struct wf_value *energy, struct wf_phrase *out)
{
    add_amount(out, wf_doc_get_real(energy, "joules", 0), "J");
    wf_phrase_add(out, ", mean power ");
    add_amount(out, wf_doc_get_real(energy, "mean_watts", 0), "W");
    return true;
}

/* ---- synthetic traffic and links ---- */

enum { FILLERS_MAX = 3, PARTS_MAX = 4 }; /* numbers of nodes and of parts that are named */

static bool line_hot_link(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *hot = wf_doc_find(doc, "result.network.hot_links");
    const struct wf_value *link = hot != NULL && hot->type == WF_VALUE_LIST ? hot->first : NULL;

    if (link == NULL) {
        return false;
    }
    const struct wf_value *by = wf_doc_find(link, "filled_by");
    uint64_t bytes = wf_doc_get_count(link, "bytes", 0), n = 0;
    bool exact = wf_doc_get_count(link, "filled_by_more_bytes", 0) == 0;

    (void)wf_phrase_fill(
        out, link,
        "from vertex {vertex:plain} to {to:plain}, busy for {busy_percent:.1} % of the time");
    for (const struct wf_value *v = by != NULL ? by->first : NULL; v != NULL && n < FILLERS_MAX;
         v = v->next, n++) {
        double share =
            (double)wf_doc_get_count(v, "bytes", 0) / (double)(bytes > 0 ? bytes : 1);
        wf_phrase_add(out, "%s %" PRIu64 " (%s%.0f %%)", n == 0 ? "; filled by node" : ",",
                      wf_doc_get_count(v, "node", 0), exact ? "" : "at least ", 100 * share);
    }
    return true;
}

/* Parts that fail during the run, and what became of the packets that met them. */
static bool line_failures(const struct wf_value *failures, struct wf_phrase *out)
{
    const struct wf_value *parts = wf_doc_find(failures, "parts");
    uint64_t n = 0;

    for (const struct wf_value *v = parts != NULL ? parts->first : NULL; v != NULL;
         v = v->next) {
        if (n++ < PARTS_MAX) {
            wf_phrase_add(out, "%s%s", n == 1 ? "" : ", ", wf_doc_get_text(v, "part", "?"));
        }
    }
    if (n > PARTS_MAX) {
        wf_phrase_add(out, " and %" PRIu64 " more", n - PARTS_MAX);
    }
    (void)wf_phrase_fill(out, failures,
                         "; {resent_packets:packet|packets} re-sent[, {lost_packets} lost]");
    return true;
}

/* The flows of a transport. */
static bool line_flows(const struct wf_value *transport, struct wf_phrase *out)
{
    uint64_t n = wf_doc_get_count(transport, "flows", 0);

    return n > 0 &&
           wf_phrase_fill(out, transport,
                          n == 1 ? "{flows}, {flow_time_ps.max}; fairness "
                                   "{fairness:.3} (Jain)"
                                 : "{flows}, from {flow_time_ps.min} to "
                                   "{flow_time_ps.max}; fairness {fairness:.3} (Jain)");
}

/* How busy the links of each class were. */
static bool line_classes(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *list = wf_doc_find(doc, "result.network.link_classes");
    const struct wf_value *first =
        list != NULL && list->type == WF_VALUE_LIST ? list->first : NULL;

    if (first == NULL || wf_doc_find(first, "mean_busy_percent") == NULL) {
        return false;
    }
    for (const struct wf_value *v = first; v != NULL; v = v->next) {
        wf_phrase_add(out, "%s", v == first ? "busy: " : ", ");
        (void)wf_phrase_fill(out, v,
                             "{class} {mean_busy_percent:.1} % (max {max_busy_percent:.1})");
    }
    return true;
}

/* What the run would take on several threads. */
static bool line_forecasts(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *list = wf_doc_find(doc, "run.forecasts");

    if (list == NULL || list->type != WF_VALUE_LIST || list->first == NULL) {
        return false;
    }
    for (const struct wf_value *v = list->first; v != NULL; v = v->next) {
        wf_phrase_add(out, "%s", v == list->first ? "" : ", ");
        (void)wf_phrase_fill(out, v, "{seconds:.3} s on {threads} threads");
    }
    return true;
}

/* ---- the report ---- */

/* The first lines of both reports. */
#define SCENARIO                                                                 \
    {"Scenario", .text = "{scenario.source|?}[ on {scenario.ranks:rank|ranks}]"  \
                         "[, of which {scenario.simulated_ranks} stand for all]" \
                         "[, and other jobs{scenario.jobs?}]"},                  \
        {"Machine", .text = "{scenario.machine}"},                               \
    {                                                                            \
        "Network", .text = "{scenario.network}[ on {scenario.topology}]"         \
    }

/* Times that are 0 in most programs are left out. */
#define IF_ANY "[{:spread}{max?}]"

static const struct wf_phrase_line answer_lines[] = {
    SCENARIO,
    {"Nodes", "result",
     .text = "{nodes_used:node|nodes} used, up to {ranks_on_node_max:rank|ranks} on each"},
    {"Status", .write = line_status},
    {"Predicted time", PREDICTED, .text = "{:time}"},
    {"  90 % of runs", "result",
     .text = "{predicted_time_p05_ps} .. {predicted_time_p95_ps}, median "
             "{predicted_time_p50_ps}, of "
             "{uncertainty.completed:run|runs}"},
    {"  uncertain", "result.uncertainty", .write = line_uncertain},
    {"Collective", "result.collective",
     .text = "{collective} of {bytes}: {time_ps:time} each, algorithm "
             "{algorithm_bytes_per_second:real}B/s, "
             "bus {bus_bytes_per_second:real}B/s"},
    {"Training", "result.training",
     .text = "{step_ps:time} a step, {tokens_per_second:real} tokens/s "
             "({tokens_per_second_and_device:real} each), [MFU {mfu_percent:.1} %, ]"
             "{model_tflops_per_device:.0} TFlop/s each"},
    {"  defaults", "result.training", .text = "[framework {framework}, recompute {recompute}]"},
    {"  kernels", "result.training.kernels",
     .text = "{file}: measured {measured_percent:.0} % of the operations, scaled from near "
             "shapes {scaled_percent:.0} %, the rest counted"},
    {"  of the time", "result.training",
     .text =
         "compute {compute_percent:.1} %, bubbles {bubble_percent:.1} %, exposed communication "
         "{exposed_communication_percent:.1} %"},
    {"  memory", "result.training.memory",
     .text = "{total_bytes}[ of {device_bytes}][, weights {weights_bytes}][, gradients "
             "{gradients_bytes}]"
             "[, optimizer {optimizer_bytes}][, activations {activations_bytes}]"
             "[, keys and values {cache_bytes}]"},
    {"Recorded time", .write = wf_writer_text_recorded},
    {"Simulated time", "result.simulated_time_ps", .text = "{:time}"},
    {"Messages", "result", .text = "{messages}, {bytes}"},
    {"Failed", "result.network.failed",
     .text = "{links} of {of_links:link|links}[, {routers:router|routers}] ({what})"},
    {"Failures", "result.failures", .write = line_failures},
    {"Message latency", "result.message_latency_ps", .write = line_latency},
    {"Ranks finish", "result.ranks", .write = line_finish},
    {"Ranks compute", "result.ranks.compute_ps", .text = "{:spread}"},
    {"Ranks wait", "result.ranks.wait_ps", .text = "{:spread}"},
    {"  in sends", "result.ranks.send_wait_ps", .text = IF_ANY},
    {"  for messages", "result.ranks.receive_wait_ps", .text = IF_ANY},
    {"  in collectives", "result.ranks.collective_wait_ps", .text = IF_ANY},
    {"  for files", "result.ranks.file_wait_ps", .text = IF_ANY},
    {"  for a core", "result.ranks.core_wait_ps", .text = IF_ANY},
    {"Ranks overhead", "result.ranks.overhead_ps", .text = "{:spread}"},
    {"Ranks idle", "result.ranks.idle_ps", .text = IF_ANY},
    {"Longest waits", .write = wf_writer_text_waits},
    {"Iterations", .write = wf_writer_text_iterations},
    {"Files", "result.files",
     .text = "{operations:operation|operations}[, {read_bytes} read[ at "
             "{read_bytes_per_second:real}B/s]][, {written_bytes} written[ at "
             "{written_bytes_per_second:real}B/s]]"},
    {"  servers", "result.files.load",
     .text =
         "{servers}, disks busy for {mean_percent:.1} % of the time, of the busiest (number "
         "{busiest}) {busiest_percent:.1} %"},
    {"Energy", "result.energy", .write = line_energy},
    {"Cost", "result.cost", .text = "{total:.4g}[ {currency}] for {node_hours:.3g} node hours"},
    {"Efficiency", "result.efficiency",
     .text =
         "{parallel_percent:.1} % = load balance {load_balance_percent:.1} % x serialisation "
         "{serialisation_percent:.1} % x transfer {transfer_percent:.1} %"},
    {"  90 % of runs", "result.efficiency",
     .text = "{parallel_p05_percent:.1} .. {parallel_p95_percent:.1} % = load balance "
             "{load_balance_p05_percent:.1} .. {load_balance_p95_percent:.1} % x serialisation "
             "{serialisation_p05_percent:.1} .. {serialisation_p95_percent:.1} % x transfer "
             "{transfer_p05_percent:.1} .. {transfer_p95_percent:.1} %"},
    {"Compute times", "robust",
     .text = "[{corrected_spans} of {spans} spans corrected; the prediction as measured is "
             "{raw_time_ps}, "
             "which changed by {change_percent:+.1} %]"},
    {"Critical path", .write = wf_writer_text_path},
    {"What if", .write = wf_writer_text_what_if},
    {"Load", "result",
     .text =
         "{offered_load:.5} offered, {accepted_load:.5} accepted, in phits per node and cycle"
         "[; saturated{saturated?}]"},
    {"Latency", "result",
     .text =
         "{latency_cycles.mean:.2} cycles mean[, +- {latency_cycles.half_width:.2} with "
         "{latency_cycles.confidence_percent:plain} % confidence[ (not converged){converged!}]]"
         "; p99 {latency_cycles.p99:.0}, max {latency_cycles.max:.0}"},
    {"Links", "result.network",
     .text = "utilisation {mean_link_use:%.1} %, of the busiest {busiest_link_use:%.1} %; "
             "{mean_hops:.3} "
             "hops per packet"},
    {"Link classes", .write = line_classes},
    {"Transport", "result.network.transport",
     .text =
         "{name|?}; longest queue {max_queue_bytes}[, {dropped} dropped][, {trimmed} trimmed]"
         "[, {sent_again} sent again][, {marked} marked][, {pauses} pauses]"},
    {"Flows", "result.network.transport", .write = line_flows},
    {"Busiest link", .write = line_hot_link},
    {"Digest", .text = "{result.digest|-}[ (partial: of the events before the interruption)"
                       "{result.digest_partial?}]"},
    {.label = NULL},
};

static const struct wf_phrase_line run_lines[] = {
    {"Simulation took", "run",
     .text = "{wall_seconds:.3} s, {cpu_seconds:.3} s of CPU, {peak_rss_bytes:size}"},
    {"Program took", "run",
     .text =
         "{program_seconds:.3} s in its own code and MPI calls; {switch_seconds:.3} s for "
         "{context_switches:switch|switches} between ranks[, {idle_polls} of them after polls "
         "that found nothing]"},
    {"Schedule", "run",
     .text = "{scheduler|?}, {threads:thread|threads}[ ({threads_reason})], "
             "{processes:process|processes}"},
    {"Events", "run",
     .text = "{events_committed}[, {events_rolled_back} rolled back (efficiency "
             "{efficiency_percent:.1} "
             "%)], {events_per_wall_second:real}/s"},
    {"Synchronization", "run",
     .text = "[{windows:window|windows}, on average {events_per_window:real} events each"
             "[, {windows_alone} of them on one thread]"
             "[, {gvt_rounds} GVT rounds in {gvt_seconds:.3} s]]"
             "[{windows!}{gvt_rounds} GVT rounds in {gvt_seconds:.3} s]"},
    {"Would take", .write = line_forecasts},
    {.label = NULL},
};

/* In verbose reports. */
static const struct wf_phrase_line more_lines[] = {
    {"Command", .write = line_command},
    {.label = NULL},
};

static const struct wf_phrase_line estimate_lines[] = {
    SCENARIO,
    {"Memory, about", .text = "{estimate.memory_bytes}"},
    {"Messages, about", .text = "{estimate.messages}"},
    {.label = NULL},
};

static void write_lines(const struct wf_value *doc, const struct wf_phrase_line *lines,
                        const struct wf_write_options *options, FILE *out)
{
    for (; lines->label != NULL; lines++) {
        bool bold =
            options->color && lines->path != NULL && strcmp(lines->path, PREDICTED) == 0;
        struct wf_phrase phrase = {.used = 0};

        if (wf_phrase_line(lines, doc, &phrase)) {
            (void)fprintf(out, "%-*s  %s%s%s\n", LABEL_WIDTH, lines->label,
                          bold ? "\033[1m" : "", phrase.text, bold ? "\033[0m" : "");
        }
    }
}

/* What the prediction leaves out. */
static void write_warnings(const struct wf_value *doc, FILE *out)
{
    const struct wf_value *list = wf_doc_find(doc, "warnings");

    for (const struct wf_value *v = list != NULL && list->type == WF_VALUE_LIST ? list->first
                                                                                : NULL;
         v != NULL; v = v->next) {
        if (v->type == WF_VALUE_TEXT) {
            wf_text_print(out, "%-*s  %s\n", LABEL_WIDTH, "Warning", v->text);
        }
    }
}

/* What weft run --check has found. */
static void write_check(const struct wf_value *doc, FILE *out)
{
    const struct wf_value *list = wf_doc_find(doc, "check.findings");

    if (list == NULL || list->type != WF_VALUE_LIST) {
        return;
    }
    if (list->first == NULL) {
        (void)fprintf(out, "%-*s  no errors in the use of MPI\n", LABEL_WIDTH, "Check");
    }
    for (const struct wf_value *v = list->first; v != NULL; v = v->next) {
        wf_text_print(out, "%-*s  %s\n", LABEL_WIDTH, "Error",
                      wf_doc_get_text(v, "words", "unknown"));
    }
    if (wf_doc_find(doc, "check.orders.words") != NULL) {
        wf_text_print(out, "%-*s  %s\n", LABEL_WIDTH, "Orders",
                      wf_doc_get_text(doc, "check.orders.words", ""));
    }
}

/* ---- all values, for a verbose report ---- */

static void write_tree(const struct wf_value *parent, const char *unit_name, int depth,
                       FILE *out)
{
    for (const struct wf_value *v = parent->first; v != NULL; v = v->next) {
        const char *name = v->name != NULL ? v->name : "-";
        /* "min" below "finish_ps" is a time as well. */
        const char *unit = strchr(name, '_') == NULL && wf_phrase_ends_with(unit_name, "_ps")
                               ? unit_name
                               : name;
        struct wf_phrase phrase = {.used = 0};

        if (v->type == WF_VALUE_SECTION || v->type == WF_VALUE_LIST) {
            wf_text_print(out, "%*s%s\n", depth * 2, "", name);
            write_tree(v, unit, depth + 1, out);
            continue;
        }
        wf_phrase_value(&phrase, v, unit);
        wf_text_print(out, "%*s%-*s  %.*s\n", depth * 2, "", NAME_WIDTH - depth * 2, name,
                      VALUE_MAX, phrase.text);
    }
}

static void text_write(const struct wf_value *doc, const struct wf_write_options *options,
                       FILE *out)
{
    const char *message = wf_doc_get_text(doc, "error.message", NULL);
    const struct wf_value *parameters = wf_doc_find(doc, "scenario.parameters");

    if (message != NULL) {
        wf_text_print(out, "error: %s\n", message);
        return;
    }
    if (wf_doc_find(doc, "estimate") != NULL && parameters != NULL) {
        write_lines(doc, estimate_lines, options, out);
        (void)fputs("\nParameters in force:\n", out);
        write_tree(parameters, "", 1, out);
        return;
    }
    write_lines(doc, answer_lines, options, out);
    write_check(doc, out);
    write_warnings(doc, out);
    wf_writer_text_lists(doc, out);
    (void)fputc('\n', out);
    write_lines(doc, run_lines, options, out);
    if (options->verbose) {
        write_lines(doc, more_lines, options, out);
        (void)fputc('\n', out);
        write_tree(doc, "", 0, out);
    }
}

const struct wf_writer_ops wf_writer_text = {
    .name = "text",
    .extension = ".txt",
    .summary = "a short report for people",
    .write = text_write,
};
