/* SPDX-License-Identifier: Apache-2.0 */
/* The section `files`: what programs read and wrote, and what servers of files did. */
#include "base/mem.h"
#include "base/result/doc.h"
#include "model/ranks/tally.h"
#include "model/storage/storage.h"
#include "run/document/document.h"
#include "run/plan/job.h"

static const double PS_PER_SECOND = 1e12;

/* From the first operation to the end of the last one, as IOR counts. */
static void add_times(struct wf_value *section, const char *bytes, const char *rate,
                      const struct wf_file_times *times)
{
    if (times->bytes == 0) {
        return;
    }
    wf_doc_count(section, bytes, times->bytes);
    if (times->last > times->first) {
        wf_doc_real(section, rate,
                    (double)times->bytes * PS_PER_SECOND /
                        (double)(times->last - times->first));
    }
}

static double busy_percent(const struct wf_server_tally *server, uint64_t disks, int64_t end)
{
    return end > 0 ? 100.0 * (double)server->busy_ps / ((double)disks * (double)end) : 0;
}

static void add_server(struct wf_value *list, const struct wf_server_tally *server,
                       const char *what, double busy)
{
    enum { DECIMALS = 3 };
    struct wf_value *item = wf_doc_section(list, NULL);

    wf_doc_text(item, "what", what);
    wf_doc_count(item, "requests", server->requests);
    wf_doc_count(item, "read_bytes", server->read);
    wf_doc_count(item, "written_bytes", server->written);
    wf_doc_measured(item, "busy_percent", busy, DECIMALS);
}

static void add_servers(struct wf_value *section, const struct wf_storage_params *params,
                        const struct wf_server_tally *servers, uint64_t n, uint64_t n_nodes,
                        int64_t end)
{
    enum { DECIMALS = 3 };
    bool has_servers = n > 1;
    uint64_t data = has_servers ? params->servers : 0;
    uint64_t names = has_servers ? params->meta_servers : 0;
    double sum = 0, most = 0;
    uint64_t busiest = 0;
    struct wf_value *list = wf_doc_list(section, "servers");

    for (uint64_t i = 0; i < n; i++) {
        bool is_data = i < data, is_names = !is_data && i < data + names;
        double busy = busy_percent(&servers[i],
                                   is_data    ? params->disks
                                   : is_names ? 1
                                              : n_nodes,
                                   end);

        add_server(list, &servers[i], is_data ? "data" : is_names ? "names" : "nodes", busy);
        if (is_data) {
            sum += busy;
            busiest = busy > most ? i : busiest;
            most = busy > most ? busy : most;
        }
    }
    if (data > 0) {
        struct wf_value *load = wf_doc_section(section, "load");

        wf_doc_count(load, "servers", data);
        wf_doc_measured(load, "mean_percent", sum / (double)data, DECIMALS);
        wf_doc_measured(load, "busiest_percent", most, DECIMALS);
        wf_doc_count(load, "busiest", busiest);
    }
}

void wf_document_files(const struct wf_job *job, const struct wf_ranks_tally *tally,
                       const struct wf_ranks_tally *whole, int64_t end, struct wf_value *result)
{
    const struct wf_job_files *files = &tally->all.files;
    const struct wf_server_tally *servers = wf_tally_servers(wf_unconst(whole));

    if (files->n == 0) {
        return;
    }
    struct wf_value *section = wf_doc_section(result, "files");

    wf_doc_count(section, "operations", files->n);
    add_times(section, "read_bytes", "read_bytes_per_second", &files->read);
    add_times(section, "written_bytes", "written_bytes_per_second", &files->written);
    if (servers != NULL) {
        add_servers(section, wf_plan_values(job->plan, "storage"), servers, whole->at.n_servers,
                    wf_document_nodes_used(job), end);
    }
}
