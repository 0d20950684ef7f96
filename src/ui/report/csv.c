/* SPDX-License-Identifier: Apache-2.0 */
/* The links of a network as a table. `-p net.stats=links` adds them to the result document;
 * without links the table has no rows, and a line that begins with # says why. Errors are written above the table, in lines that begin
 * with #. */
#include "ui/report/writer.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

/* Only numbers and the class fit into the table. */
static bool is_shown(const struct wf_value *value)
{
    return value->type == WF_VALUE_COUNT || value->type == WF_VALUE_REAL ||
           (value->type == WF_VALUE_TEXT && strcmp(value->name, "class") == 0);
}

static void write_names(const struct wf_value *link, FILE *out)
{
    for (const struct wf_value *v = link->first; v != NULL; v = v->next) {
        if (is_shown(v)) {
            (void)fputs(v == link->first ? "" : ",", out);
            wf_text_csv(out, v->name);
        }
    }
    (void)fputc('\n', out);
}

static void write_row(const struct wf_value *link, FILE *out)
{
    for (const struct wf_value *v = link->first; v != NULL; v = v->next) {
        if (!is_shown(v)) {
            continue;
        }
        (void)fputs(v == link->first ? "" : ",", out);
        if (v->type == WF_VALUE_TEXT) {
            wf_text_csv(out, v->text);
        } else if (v->type == WF_VALUE_COUNT) {
            (void)fprintf(out, "%" PRIu64, v->count);
        } else {
            (void)fprintf(out, "%.3f", v->real);
        }
    }
    (void)fputc('\n', out);
}

static void write_remarks(const struct wf_value *doc, FILE *out)
{
    const struct wf_value *ranks = wf_doc_find(doc, "result.waiting.ranks");
    const char *error = wf_doc_get_text(doc, "error.message", NULL);

    if (error != NULL) {
        wf_text_print(out, "# %s\n", error);
    }
    for (const struct wf_value *v = ranks != NULL ? ranks->first : NULL; v != NULL;
         v = v->next) {
        wf_text_print(out, "# deadlock: rank %" PRIu64 " %s\n", wf_doc_get_count(v, "rank", 0),
                      wf_doc_get_text(v, "waits", "waits"));
    }
}

static void csv_write(const struct wf_value *doc, const struct wf_write_options *options,
                      FILE *out)
{
    const struct wf_value *links = wf_doc_find(doc, "result.network.links");

    write_remarks(doc, out);
    if (links == NULL || links->type != WF_VALUE_LIST || links->first == NULL) {
        (void)fputs(links == NULL
                        ? "# no links were recorded: run with -p net.stats=links, with "
                          "--net packet or --net router\n"
                        : "# no link carried packets\n",
                    out);
        (void)fputs("vertex,port,to,packets,bytes,busy_percent,wait_ps,peak_wait_ps,"
                    "peak_queue_bytes\n",
                    out);
        return;
    }
    write_names(links->first, out);
    for (const struct wf_value *link = links->first; link != NULL; link = link->next) {
        write_row(link, out);
    }
}

const struct wf_writer_ops wf_writer_csv = {
    .name = "csv",
    .extension = ".csv",
    .summary = "the links of the network, with -p net.stats=links",
    .write = csv_write,
};
