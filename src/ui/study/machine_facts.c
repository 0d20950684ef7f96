/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/machine_facts.h"

#include "base/columns.h"
#include "base/result/doc.h"
#include "base/text.h"
#include "base/units.h"
#include "model/topo/topo.h"
#include "run/machine/machine.h"

#include <inttypes.h>
#include <string.h>

enum { PREFIXES_MAX = 16, VALUE_COLUMN = 32, NOTE_COLUMN = 44 };

/* The sections of the output. A figure belongs to the first one that has a prefix of its path;
 * the rest of the path is its name. */
static const struct section {
    const char *title;
    const char *prefixes[PREFIXES_MAX];
} sections[] = {
    {"Network interfaces and cost of messages",
     {"node.o_", "node.copy_", "node.injection", "node.ejection", "node.gap",
      "node.registration", "node.nic", "node.stripe", NULL}},
    {"Nodes", {"cpu.", "node.", "ranks_per_node", "placement", NULL}},
    {"Network", {"topology", "network", NULL}},
    {"MPI", {"mpi.", NULL}},
    {"Files", {"storage.", NULL}},
    {"Uncertainty (relative standard deviation; used by --runs)", {"uncertainty.", NULL}},
};

enum { N_SECTIONS = sizeof(sections) / sizeof(sections[0]) };

/* The order in which sections are printed. */
static const size_t order[N_SECTIONS] = {1, 0, 2, 3, 4, 5};

static size_t section_of(const char *path)
{
    for (size_t s = 0; s < N_SECTIONS; s++) {
        for (const char *const *prefix = sections[s].prefixes; *prefix != NULL; prefix++) {
            if (strncmp(path, *prefix, strlen(*prefix)) == 0) {
                return s;
            }
        }
    }
    return N_SECTIONS;
}

/* Whether a later file or line sets the same figure again. */
static bool is_overridden(const struct wf_machine *machine, size_t figure)
{
    for (size_t i = figure + 1; i < machine->n_figures; i++) {
        if (strcmp(machine->figures[i].path, machine->figures[figure].path) == 0) {
            return true;
        }
    }
    return false;
}

static void print_figure(const struct wf_machine_figure *figure, FILE *out)
{
    int column = 2 + (int)strlen(figure->path);
    int gap = column < VALUE_COLUMN ? VALUE_COLUMN - column : 1;

    wf_text_print(out, "  %s%*s%s", figure->path, gap, "", figure->value);
    column += gap + (int)strlen(figure->value);
    if (figure->note[0] == '\0') {
        (void)fputc('\n', out);
        return;
    }
    if (column >= NOTE_COLUMN) {
        (void)fputc('\n', out);
        column = 0;
    }
    (void)fprintf(out, "%*s", NOTE_COLUMN - column, "");
    wf_columns_text(out, NOTE_COLUMN, figure->note);
}

static void print_section(const struct wf_machine *machine, size_t section, FILE *out)
{
    bool first = true;

    for (size_t i = 0; i < machine->n_figures; i++) {
        const struct wf_machine_figure *figure = &machine->figures[i];

        if (section_of(figure->path) != section || is_overridden(machine, i)) {
            continue;
        }
        if (first) {
            (void)fprintf(out, "\n%s\n", sections[section].title);
            first = false;
        }
        print_figure(figure, out);
    }
}

static const char *setting(const struct wf_machine *machine, const char *key,
                           const char *fallback)
{
    const struct wf_setting *found = wf_scenario_find(machine->scenario, key);

    return found != NULL ? found->value : fallback;
}

/* The lines at the top: what the machine is. */
static void print_head(const struct wf_machine *machine, uint64_t nodes, FILE *out)
{
    wf_text_print(out, "%s%s", machine->name, machine->summary[0] != '\0' ? ": " : "");
    wf_columns_text(out, 0, machine->summary);
    if (machine->year > 0) {
        (void)fprintf(out, "  %-*s%" PRIu64 "\n", VALUE_COLUMN - 2, "year", machine->year);
    }
    if (nodes > 0) {
        (void)fprintf(out, "  %-*s%" PRIu64 "\n", VALUE_COLUMN - 2, "nodes", nodes);
    }
    wf_text_print(out, "  %-*s%s\n", VALUE_COLUMN - 2, "topology",
                  setting(machine, "topology", "none"));
    wf_text_print(out, "  %-*s%s, routing %s\n", VALUE_COLUMN - 2, "network model",
                  setting(machine, "network", "loggp"),
                  setting(machine, "net.routing", "as the model chooses"));
}

static void print_published(const struct wf_machine *machine, FILE *out)
{
    if (machine->n_published == 0) {
        return;
    }
    (void)fputc('\n', out);
    wf_text_print(out, "Measured on the machine (compare: weft machine check %s)\n",
                  machine->name);
    for (size_t i = 0; i < machine->n_published; i++) {
        const struct wf_machine_published *p = &machine->published[i];
        char text[128];

        wf_machine_published_describe(p, text, sizeof(text));
        wf_text_print(out, "  %s: %s\n", text, p->value);
        (void)fputs("      ", out);
        wf_columns_text(out, 6, p->source);
    }
}

/* Errors by pattern, one line each, and a column for each model. */
static void print_residuals(const struct wf_machine *machine, FILE *out)
{
    const char *pattern = "";

    for (size_t i = 0; i < machine->n_residuals; i++) {
        const struct wf_machine_residual *r = &machine->residuals[i];
        bool is_first = true;

        for (size_t k = 0; k < i; k++) {
            is_first = is_first && strcmp(machine->residuals[k].pattern, r->pattern) != 0;
        }
        if (!is_first) {
            continue;
        }
        if (*pattern == '\0') {
            (void)fprintf(out, "\nHow far models are from the measurements (mean, worst)\n");
        }
        pattern = r->pattern;
        (void)fprintf(out, "  %-12s", pattern);
        for (size_t k = i; k < machine->n_residuals; k++) {
            const struct wf_machine_residual *other = &machine->residuals[k];
            if (strcmp(other->pattern, pattern) == 0) {
                (void)fprintf(out, " %s %.1f, %.1f %% ", other->model, other->mean_percent,
                              other->worst_percent);
            }
        }
        (void)fputc('\n', out);
    }
}

/* How many figures have which origin. */
static void print_origins(const struct wf_machine *machine, FILE *out)
{
    size_t counts[WF_MACHINE_N_ORIGINS] = {0};

    for (size_t i = 0; i < machine->n_figures; i++) {
        if (!is_overridden(machine, i)) {
            counts[machine->figures[i].origin]++;
        }
    }
    char text[256];
    (void)snprintf(
        text, sizeof(text),
        "Origin of the figures: measured %zu, published %zu, derived %zu, estimate %zu, "
        "choice %zu, unknown %zu",
        counts[WF_MACHINE_MEASURED], counts[WF_MACHINE_PUBLISHED], counts[WF_MACHINE_DERIVED],
        counts[WF_MACHINE_ESTIMATE], counts[WF_MACHINE_CHOICE], counts[WF_MACHINE_UNKNOWN]);
    (void)fputc('\n', out);
    wf_columns_text(out, 0, text);
}

void wf_study_machine_sources(const struct wf_machine *machine, FILE *out)
{
    if (machine->n_sources > 0) {
        (void)fputs("\nSources\n", out);
    }
    for (size_t i = 0; i < machine->n_sources; i++) {
        wf_text_print(out, "  [%s]%*s", machine->sources[i].label,
                      strlen(machine->sources[i].label) < 3
                          ? 3 - (int)strlen(machine->sources[i].label)
                          : 1,
                      "");
        wf_columns_text(out, 7, machine->sources[i].text);
    }
}

void wf_study_machine_print(const struct wf_machine *machine, uint64_t nodes, FILE *out)
{
    print_head(machine, nodes, out);
    for (size_t i = 0; i < N_SECTIONS; i++) {
        print_section(machine, order[i], out);
    }
    print_published(machine, out);
    print_residuals(machine, out);
    print_origins(machine, out);
    wf_study_machine_sources(machine, out);
}

/* ---- lists and documents ---- */

enum wf_status wf_study_machine_nodes(const struct wf_machine *machine, uint64_t *nodes,
                                      struct wf_err *err)
{
    const struct wf_setting *topology = wf_scenario_find(machine->scenario, "topology");
    struct wf_topo *topo = NULL;

    *nodes = 0;
    if (topology == NULL) {
        return WF_OK;
    }

    enum wf_status status = wf_topo_create(topology->value, &topo, err);
    if (status == WF_OK) {
        const char *text = setting(machine, "node.nics", NULL);
        uint64_t nics = 0;

        /* Each interface of a node is a node of the topology. */
        *nodes = topo->n_nodes;
        if (text != NULL && wf_parse_count(text, &nics, NULL) == WF_OK && nics > 0) {
            *nodes /= nics;
        }
        wf_topo_free(topo);
    }
    return wf_setting_blame(topology, status, err);
}

/* The kind of the outermost network: "torus" of "torus:8x8/star:2". */
static void network_kind(const struct wf_machine *machine, char *buf, size_t size)
{
    const char *topology = setting(machine, "topology", NULL);

    (void)snprintf(buf, size, "%.*s",
                   topology != NULL ? (int)strcspn(topology, ":/") : (int)sizeof("none") - 1,
                   topology != NULL ? topology : "none");
}

enum wf_status wf_study_machine_describe(const struct wf_machine *machine,
                                         struct wf_value *section, struct wf_err *err)
{
    uint64_t nodes = 0;
    const char *topology = setting(machine, "topology", NULL);
    const char *model = setting(machine, "network", NULL);
    char kind[32];

    network_kind(machine, kind, sizeof(kind));
    wf_doc_text(section, "name", machine->name);
    wf_doc_text(section, "summary", machine->summary);
    enum wf_status status = wf_study_machine_nodes(machine, &nodes, err);
    if (topology != NULL) {
        wf_doc_count(section, "nodes", nodes);
    } else {
        wf_doc_null(section, "nodes");
    }
    if (machine->year > 0) {
        wf_doc_count(section, "year", machine->year);
    } else {
        wf_doc_null(section, "year");
    }
    wf_doc_text(section, "topology", kind);
    wf_doc_text(section, "network", model != NULL ? model : "loggp");
    return status;
}

void wf_study_machine_line(const struct wf_machine *machine, uint64_t nodes, FILE *out)
{
    char kind[32], year[24] = "";

    network_kind(machine, kind, sizeof(kind));
    if (machine->year > 0) {
        (void)snprintf(year, sizeof(year), "%llu", (unsigned long long)machine->year);
    }
    wf_text_print(out, "%-18s %7llu nodes  %-4s  %-10s %s\n", machine->name,
                  (unsigned long long)nodes, year, kind, machine->summary);
}

/* Adds every setting in effect, under its key. */
static void describe_settings(const struct wf_machine *machine, struct wf_value *section)
{
    for (size_t i = 0; i < machine->scenario->n; i++) {
        const struct wf_setting *s = &machine->scenario->settings[i];
        if (wf_scenario_find(machine->scenario, s->key) == s) {
            wf_doc_text(section, s->key, s->value);
        }
    }
}

/* Adds where each figure of the file comes from. */
static void describe_figures(const struct wf_machine *machine, struct wf_value *list)
{
    for (size_t i = 0; i < machine->n_figures; i++) {
        const struct wf_machine_figure *figure = &machine->figures[i];
        struct wf_value *item = wf_doc_section(list, NULL);

        wf_doc_text(item, "figure", figure->path);
        wf_doc_text(item, "value", figure->value);
        wf_doc_text(item, "origin", wf_machine_origin_names[figure->origin]);
        wf_doc_text(item, "note", figure->note);
    }
}

static void describe_sources(const struct wf_machine *machine, struct wf_value *section)
{
    for (size_t i = 0; i < machine->n_sources; i++) {
        wf_doc_text(section, machine->sources[i].label, machine->sources[i].text);
    }
}

static void describe_residuals(const struct wf_machine *machine, struct wf_value *doc)
{
    struct wf_value *list = machine->n_residuals > 0 ? wf_doc_list(doc, "residuals") : NULL;

    for (size_t i = 0; i < machine->n_residuals; i++) {
        const struct wf_machine_residual *residual = &machine->residuals[i];
        struct wf_value *item = wf_doc_section(list, NULL);

        wf_doc_text(item, "model", residual->model);
        wf_doc_text(item, "pattern", residual->pattern);
        wf_doc_real(item, "mean_percent", residual->mean_percent);
        wf_doc_real(item, "worst_percent", residual->worst_percent);
    }
}

enum wf_status wf_study_machine_document(const struct wf_machine *machine, struct wf_value *doc,
                                         struct wf_err *err)
{
    WF_TRY(wf_study_machine_describe(machine, doc, err));
    describe_settings(machine, wf_doc_section(doc, "settings"));
    describe_figures(machine, wf_doc_list(doc, "figures"));
    describe_sources(machine, wf_doc_section(doc, "sources"));
    describe_residuals(machine, doc);
    return WF_OK;
}
