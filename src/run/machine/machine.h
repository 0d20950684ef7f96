/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Machines: the part of a scenario that describes topology, network and processors, in a YAML
 * file of its own or in the built-in library (share/machines). docs/reference/machine-files.md
 * describes the format. A file may also be a configuration of CODES (run/import/codes.h), which
 * is converted as it is read; what the conversion has to say is in the notes of the scenario.
 *
 * A machine is a list of settings that know their place in the file, so that every error about
 * them, whenever it is found, begins with "file:line:column: ".
 */

#include "run/machine/published.h"
#include "run/scenario/scenario.h"

/* Where a figure comes from, as the comment next to it says. */
enum wf_machine_origin {
    WF_MACHINE_UNKNOWN,   /* no comment, or another one */
    WF_MACHINE_PUBLISHED, /* "[1]": the source with this label has the figure */
    WF_MACHINE_DERIVED,   /* "derived: ...": computed from published figures */
    WF_MACHINE_ESTIMATE,  /* "estimate: ...": not published; how we got it */
    WF_MACHINE_CHOICE,    /* "choice: ...": neither right nor wrong */
    WF_MACHINE_MEASURED,  /* "measured: ...": with which benchmark, in which file */
    WF_MACHINE_N_ORIGINS,
};

extern const char *const wf_machine_origin_names[]; /* null-terminated */

/* A value in a machine file. */
struct wf_machine_figure {
    char *path;  /* "network.link_latency" */
    char *value; /* items of a list are separated by commas */
    char *note;  /* its comment without the '#'; "" if it has none */
    enum wf_machine_origin origin;
};

struct wf_machine_source {
    char *label, *text;
};

struct wf_machine {
    char *name;    /* from the file, or its file name without directory and extension */
    char *summary; /* one line; "" if it has none */
    uint64_t year; /* when the machine was introduced; 0: unknown */
    struct wf_scenario *scenario;
    /* The values of all files, in their order; of equal paths the last one counts. */
    struct wf_machine_figure *figures;
    size_t n_figures, figures_capacity;
    /* Of the file itself, without those of included files. */
    struct wf_machine_source *sources;
    size_t n_sources, sources_capacity;
    struct wf_machine_published *published;
    size_t n_published, published_capacity;
    struct wf_machine_residual *residuals;
    size_t n_residuals, residuals_capacity;
};

/* A file of the library. */
struct wf_machine_text {
    const char *name; /* "bgp" */
    const unsigned char *text;
    size_t size;
};

/* The library in alphabetical order; ends with a null name. */
const struct wf_machine_text *wf_machine_library(void);

/* Loads a machine and all files that it includes. `which` is a file if it contains a '/' or
 * ends in .yaml, .yml or .conf, else a name in the library. Failures are WF_EINVAL, or WF_EIO if
 * the file itself cannot be read. The caller frees *out with wf_machine_free(). */
enum wf_status wf_machine_load(const char *which, struct wf_machine **out, struct wf_err *err);
/* The same for a machine given as text; messages call it `label`. It may include machines of
 * the library only. */
enum wf_status wf_machine_parse(const char *label, const char *text, size_t size,
                                struct wf_machine **out, struct wf_err *err);
/* Whether a text could be parsed so; its place in messages is "machine". */
enum wf_status wf_machine_check(const char *text, size_t size, struct wf_err *err);
void wf_machine_free(struct wf_machine *machine); /* null is allowed */

/* Loads a machine and appends its settings to the scenario. */
enum wf_status wf_machine_apply(const char *which, struct wf_scenario *scenario,
                                struct wf_err *err);

/* The unchanged text of the machine's own file. The caller frees *text, which ends with a
 * NUL. */
enum wf_status wf_machine_read(const char *which, char **text, size_t *size,
                               struct wf_err *err);
