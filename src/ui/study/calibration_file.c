/* SPDX-License-Identifier: Apache-2.0 */
#include "base/result/doc.h"
#include "ui/study/calibration.h"

#include <inttypes.h>
#include <string.h>

/* ---- the machine file ---- */

/* The sections of a machine file, with the keys of their settings. */
static const struct {
    const char *section, *prefix;
} sections[] = {{"network", "net."}, {"node", "node."}, {"mpi", "mpi."}};

enum { N_SECTIONS = sizeof(sections) / sizeof(sections[0]) };

static bool is_in(const struct wf_calibration_setting *setting, size_t section)
{
    const char *prefix = sections[section].prefix;

    return strncmp(setting->key, prefix, strlen(prefix)) == 0;
}

/* Writes the keys of a section; `comment` is "#" for models that are not in use. Links are
 * mappings of their own. */
static void write_section(const struct wf_calibration_model *model, size_t section,
                          const char *comment, FILE *out)
{
    size_t skip = strlen(sections[section].prefix);
    bool has_links = false;

    for (size_t i = 0; i < model->n; i++) {
        const struct wf_calibration_setting *setting = &model->settings[i];
        const char *name = setting->key + skip;

        if (!is_in(setting, section)) {
            continue;
        }
        if (strncmp(name, "links.", 6) == 0) {
            has_links = true;
            continue;
        }
        (void)fprintf(out, "%s  %s: %s%s%s", comment, name,
                      strchr(setting->text, ':') != NULL ? "\"" : "", setting->text,
                      strchr(setting->text, ':') != NULL ? "\"" : "");
        (void)fprintf(out, "%s%s\n", setting->note != NULL ? " # " : "",
                      setting->note != NULL ? setting->note : "");
    }
    if (!has_links) {
        return;
    }
    (void)fprintf(out, "%s  links:\n", comment);
    for (size_t i = 0; i < model->n; i++) {
        const char *name = model->settings[i].key + strlen("net.links.");
        size_t length = strcspn(name, ".");
        if (strncmp(model->settings[i].key, "net.links.", 10) == 0) {
            (void)fprintf(out, "%s    %.*s: {%s: %s}\n", comment, (int)length, name,
                          name + length + 1, model->settings[i].text);
        }
    }
}

static bool has_section(const struct wf_calibration_model *model, size_t section)
{
    for (size_t i = 0; i < model->n; i++) {
        if (is_in(&model->settings[i], section)) {
            return true;
        }
    }
    return false;
}

static void write_model(const struct wf_calibration_model *model, const char *mpi,
                        const char *comment, FILE *out)
{
    for (size_t s = 0; s < N_SECTIONS; s++) {
        bool is_mpi = strcmp(sections[s].section, "mpi") == 0;

        if (!has_section(model, s) && !is_mpi) {
            continue;
        }
        (void)fprintf(out, "%s%s:\n", comment, sections[s].section);
        if (s == 0) {
            (void)fprintf(out, "%s  model: %s\n", comment, model->name);
        }
        if (is_mpi) {
            (void)fprintf(out, "%s  rules: %s\n", comment, mpi);
        }
        write_section(model, s, comment, out);
    }
}

static void write_uncertainty(const struct wf_calibration_model *model, FILE *out)
{
    (void)fprintf(out, "# Deviation of the measurements from the model, and their own spread.\n"
                       "uncertainty:\n");
    for (size_t i = 0; i < model->n; i++) {
        if (model->settings[i].percent > 0) {
            (void)fprintf(out, "  %s: %.1f%%\n", model->settings[i].key,
                          model->settings[i].percent);
        }
    }
    (void)fprintf(out,
                  "  cpu.scale: %.1f%% # computing that the hosts lost\n"
                  "  model: %.1f%% # nine of ten measurements of long messages are within 1.64 "
                  "times this\n",
                  model->cpu_percent, model->model_percent);
}

static void write_residuals(const struct wf_calibration_fit *fit, FILE *out)
{
    (void)fprintf(out, "# Errors of each model over all sizes of a pattern, in percent.\n"
                       "residuals:\n");
    for (size_t i = 0; i < fit->n; i++) {
        const struct wf_calibration_model *model = &fit->models[i];
        for (int k = 0; k < WF_CALIBRATION_KINDS; k++) {
            if (model->worst[k] > 0) {
                (void)fprintf(
                    out,
                    "  - {model: %s, pattern: %s, mean_percent: %.1f, worst_percent: %.1f}\n",
                    model->name, wf_calibration_kind_names[k], 100 * model->mean[k],
                    100 * model->worst[k]);
            }
        }
    }
}

static void write_measures(const struct wf_calibration *measured,
                           const struct wf_calibration_model *model, FILE *out)
{
    (void)fprintf(
        out,
        "# Measured, and simulated with the model above; microseconds for all rounds:\n"
        "#\n# %-10s %5s %6s %9s %7s %14s %8s %14s %8s\n",
        "pattern", "first", "second", "bytes", "rounds", "measured", "spread", "simulated",
        "error");
    for (size_t i = 0; i < measured->n; i++) {
        const struct wf_calibration_measure *m = &measured->measures[i];
        (void)fprintf(out,
                      "# %-10s %5" PRIu64 " %6" PRIu64 " %9" PRIu64 " %7" PRIu64
                      " %14.3f %7.1f%% %14.3f %+7.1f%%\n",
                      wf_calibration_kind_names[m->kind], m->first, m->second, m->bytes,
                      m->rounds, m->ns / 1e3, 100 * m->spread, model->predicted[i] / 1e3,
                      100 * (model->predicted[i] / m->ns - 1));
    }
    (void)fprintf(out,
                  "#\n# A call that sends a byte takes %.0f ns, one that receives a byte that "
                  "has arrived %.0f ns,\n# one of a stream of messages %.0f ns.\n",
                  measured->send, measured->take, measured->stream);
}

void wf_calibration_write(const struct wf_calibration *measured,
                          const struct wf_calibration_fit *fit, const char *mpi, FILE *out)
{
    const struct wf_calibration_model *best = &fit->models[fit->best];

    (void)fprintf(
        out, "# Written by weft calibrate: %" PRIu64 " ranks of %s, %" PRIu64 " repetitions.\n",
        measured->n_ranks, mpi, measured->repeats);
    if (measured->lost > WF_CALIBRATION_LOST_MAX) {
        (void)fprintf(out,
                      "# The hosts were busy: ranks lost %.0f %% of their time to others.\n",
                      measured->lost);
    }
    (void)fprintf(out, "name: %s\nsummary: measured with %" PRIu64 " ranks of %s%s\n",
                  measured->host, measured->n_ranks, mpi,
                  measured->one_host ? " on one host" : "");
    if (strcmp(best->name, "loggp") != 0) {
        (void)fprintf(out, "topology: \"%s\"\n", fit->topology);
    }
    write_model(best, mpi, "", out);
    write_uncertainty(best, out);
    write_residuals(fit, out);
    for (size_t i = 0; i < fit->n; i++) {
        if (i != fit->best) {
            (void)fprintf(out,
                          "\n# With the model %s, which is off by %.1f %% on average:\n#\n",
                          fit->models[i].name, 100 * fit->models[i].error);
            write_model(&fit->models[i], mpi, "# ", out);
        }
    }
    (void)fprintf(out, "\n");
    write_measures(measured, best, out);
}

/* ---- summaries ---- */

static const char *verdict(const struct wf_calibration_model *model)
{
    return model->error <= WF_CALIBRATION_GOOD ? "describes the machine"
                                               : "does not describe the machine";
}

static void print_errors(const struct wf_calibration_fit *fit, FILE *out)
{
    (void)fprintf(out, "%-11s", "mean error");
    for (size_t i = 0; i < fit->n; i++) {
        (void)fprintf(out, " %10s", fit->models[i].name);
    }
    for (int k = 0; k < WF_CALIBRATION_KINDS; k++) {
        if (!(fit->models[0].worst[k] > 0)) {
            continue;
        }
        (void)fprintf(out, "\n  %-9s", wf_calibration_kind_names[k]);
        for (size_t i = 0; i < fit->n; i++) {
            (void)fprintf(out, " %8.1f %%", 100 * fit->models[i].mean[k]);
        }
    }
    (void)fputc('\n', out);
}

void wf_calibration_print(const struct wf_calibration *measured,
                          const struct wf_calibration_fit *fit, FILE *out)
{
    const struct wf_calibration_model *best = &fit->models[fit->best];

    for (size_t i = 0; i < best->n; i++) {
        const struct wf_calibration_setting *setting = &best->settings[i];
        if (setting->number > 0) {
            (void)fprintf(out, "%-34s %s (+/- %.1f %%)\n", setting->key, setting->text,
                          setting->percent);
        }
    }
    if (measured->has_limit) {
        (void)fprintf(out, "%-34s %" PRIu64 "\n", "eager up to bytes", measured->eager_max);
    }
    print_errors(fit, out);
    for (size_t i = 0; i < fit->n; i++) {
        (void)fprintf(out, "%s %s: off by %.1f %%%s\n", fit->models[i].name,
                      verdict(&fit->models[i]), 100 * fit->models[i].error,
                      i == fit->best ? " (in the file)" : "");
    }
}

void wf_calibration_add(const struct wf_calibration *measured,
                        const struct wf_calibration_fit *fit, struct wf_value *doc)
{
    wf_doc_count(doc, "ranks", measured->n_ranks);
    wf_doc_count(doc, "repetitions", measured->repeats);
    wf_doc_text(doc, "topology", fit->topology);
    wf_doc_measured(doc, "lost_percent", measured->lost, 1);
    if (measured->has_limit) {
        wf_doc_count(doc, "eager_max", measured->eager_max);
    }
    wf_doc_text(doc, "model", fit->models[fit->best].name);
    struct wf_value *models = wf_doc_list(doc, "models");
    for (size_t i = 0; i < fit->n; i++) {
        const struct wf_calibration_model *model = &fit->models[i];
        struct wf_value *item = wf_doc_section(models, NULL);
        wf_doc_text(item, "model", model->name);
        wf_doc_measured(item, "error_percent", 100 * model->error, 2);
        wf_doc_bool(item, "describes_the_machine", model->error <= WF_CALIBRATION_GOOD);
        struct wf_value *settings = wf_doc_section(item, "settings");
        for (size_t k = 0; k < model->n; k++) {
            wf_doc_text(settings, model->settings[k].key, model->settings[k].text);
        }
        struct wf_value *residuals = wf_doc_list(item, "residuals");
        for (int k = 0; k < WF_CALIBRATION_KINDS; k++) {
            if (model->worst[k] > 0) {
                struct wf_value *row = wf_doc_section(residuals, NULL);
                wf_doc_text(row, "pattern", wf_calibration_kind_names[k]);
                wf_doc_measured(row, "mean_percent", 100 * model->mean[k], 2);
                wf_doc_measured(row, "worst_percent", 100 * model->worst[k], 2);
            }
        }
    }
}
