/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/report/command.h"

#include "base/lookup.h"

#include <string.h>

/* Settings with options of their own; others are given with -p. */
static const struct {
    const char *key, *option;
} options[] = {
    {"ranks", "-n"},
    {"network", "--net"},
    {"topology", "--topo"},
    {"seed", "--seed"},
    {"ranks_per_node", "--ranks-per-node"},
    {"placement", "--placement"},
    {"region", "--region"},
    {"iterations", "--iterations"},
    {"runs", "--runs"},
};
enum { N_OPTIONS = sizeof(options) / sizeof(options[0]) };

static const char *option_of(const char *key)
{
    size_t i = WF_LOOKUP_INDEX(options, N_OPTIONS, key);

    return i < N_OPTIONS ? options[i].option : NULL;
}

/* Adds a text in quotes if the shell would not take it as one word. */
static void add_quoted(struct wf_phrase *out, const char *prefix, const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "_.,:=/+@%-";

    if (text[0] != '\0' && text[strspn(text, plain)] == '\0') {
        wf_phrase_add(out, "%s%s", prefix, text);
        return;
    }
    wf_phrase_add(out, "'%s", prefix);
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            wf_phrase_add(out, "'\\''");
        } else {
            wf_phrase_add(out, "%c", *text);
        }
    }
    wf_phrase_add(out, "'");
}

static bool is_yes(const char *text)
{
    static const char *const words[] = {"yes", "true", "on", "1"};

    return WF_LOOKUP_AMONG(words, sizeof(words) / sizeof(words[0]), text) != NULL;
}

static void add_setting(struct wf_phrase *out, const char *key, const char *value)
{
    const char *option = option_of(key);
    char pair[128];

    wf_phrase_add(out, " ");
    if (strcmp(key, "efficiency") == 0 && is_yes(value)) {
        wf_phrase_add(out, "--efficiency");
    } else if (option != NULL) {
        wf_phrase_add(out, "%s ", option);
        add_quoted(out, "", value);
    } else {
        (void)snprintf(pair, sizeof(pair), "%.100s=", key);
        wf_phrase_add(out, "-p ");
        add_quoted(out, pair, value);
    }
}

static const char traffic[] = "traffic:", program[] = "run:";

/* The verb and its source; those of a running program stand at the end, after the options. */
static bool add_verb(const struct wf_value *doc, const char *source, struct wf_phrase *out)
{
    const char *verb = wf_doc_get_text(doc, "scenario.command", "");
    bool runs = strncmp(source, program, strlen(program)) == 0;

    if (strcmp(verb, "replay") != 0 && strcmp(verb, "traffic") != 0) {
        return false;
    }
    wf_phrase_add(out, "weft %s", runs ? "run" : verb);
    if (!runs) {
        bool loads = strncmp(source, traffic, strlen(traffic)) == 0;
        wf_phrase_add(out, " ");
        add_quoted(out, "", source + (loads ? strlen(traffic) : 0));
    }
    return true;
}

bool wf_writer_text_command(const struct wf_value *doc, const char *more, struct wf_phrase *out)
{
    const struct wf_value *settings = wf_doc_find(doc, "scenario.settings");
    const char *source = wf_doc_get_text(doc, "scenario.settings.source", NULL);
    const char *machine = wf_doc_get_text(doc, "scenario.machine", NULL), *args = "";

    if (source == NULL || !add_verb(doc, source, out)) {
        return false;
    }
    if (machine != NULL) {
        wf_phrase_add(out, " --machine ");
        add_quoted(out, "", machine);
    }
    for (const struct wf_value *v = settings->first; v != NULL; v = v->next) {
        if (v->type != WF_VALUE_TEXT || strcmp(v->name, "source") == 0) {
            continue;
        }
        if (strcmp(v->name, "run.args") == 0) {
            args = v->text; /* words of a shell as they are */
        } else {
            add_setting(out, v->name, v->text);
        }
    }
    wf_phrase_add(out, "%s%s", more[0] != '\0' ? " " : "", more);
    if (strncmp(source, program, strlen(program)) == 0) {
        wf_phrase_add(out, " -- ");
        add_quoted(out, "", source + strlen(program));
        wf_phrase_add(out, "%s%s", args[0] != '\0' ? " " : "", args);
    }
    return true;
}
