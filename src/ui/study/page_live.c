/* SPDX-License-Identifier: Apache-2.0 */
/* Pages that simulate: what they need beside the result document, from which they take the
 * scenario itself. */
#include "base/buf.h"
#include "base/file.h"
#include "run/machine/machine.h"
#include "ui/report/page.h"
#include "ui/study/page.h"

#include <weft/weft.h>

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

/* Settings that name files: where the document has them, and what stands before the name. */
static const struct {
    const char *path, *prefix;
} readers[] = {
    {"scenario.source", ""},
    {"scenario.topology", "graph:"},
    {"scenario.placement", "file:"},
    {"scenario.parameters.net.routing_file", ""},
    {"scenario.parameters.gen.file", ""},
};
enum { N_READERS = sizeof(readers) / sizeof(readers[0]), GZIP_WINDOW = 15 + 16 };

/* The file that the setting names; null if it names none. */
static const char *file_of(const struct wf_value *doc, size_t reader)
{
    const char *text = wf_doc_get_text(doc, readers[reader].path, "");
    size_t n = strlen(readers[reader].prefix);
    struct stat st;

    if (strncmp(text, readers[reader].prefix, n) != 0 || stat(text + n, &st) != 0 ||
        !S_ISREG(st.st_mode)) {
        return NULL;
    }
    return text + n;
}

/* Packs bytes as gzip does. */
static void pack(const struct wf_buf *raw, struct wf_buf *packed)
{
    enum { MEMORY_LEVEL = 8 };
    z_stream stream = {.next_in = raw->data, .avail_in = (uInt)raw->size};

    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        wf_panic("no memory to compress a file");
    }
    size_t most = deflateBound(&stream, (uLong)raw->size);
    stream.next_out = wf_buf_extend(packed, most);
    stream.avail_out = (uInt)most;
    (void)deflate(&stream, Z_FINISH);
    packed->size = stream.total_out;
    (void)deflateEnd(&stream);
}

static enum wf_status add_file(const char *path, size_t max_bytes, struct wf_value *list,
                               struct wf_err *err)
{
    struct wf_buf raw = {.data = NULL}, packed = {.data = NULL}, text = {.data = NULL};
    enum wf_status status = wf_file_read(path, max_bytes, &raw, err);

    if (status == WF_OK) {
        struct wf_value *file = wf_doc_section(list, NULL);
        pack(&raw, &packed);
        wf_buf_base64(&text, packed.data, packed.size);
        wf_buf_append(&text, "", 1);
        wf_doc_text(file, "path", path);
        wf_doc_text(file, "gzip", (const char *)text.data);
    }
    wf_buf_fini(&raw);
    wf_buf_fini(&packed);
    wf_buf_fini(&text);
    return status;
}

/* Adds the files of the directory of a trace, which may have `max_bytes` together; at least one. */
static enum wf_status add_directory(const char *path, size_t max_bytes, struct wf_value *list,
                                    struct wf_err *err)
{
    struct dirent **names = NULL;
    int n = scandir(path, &names, NULL, alphasort);
    enum wf_status status = WF_OK;

    for (int i = 0; i < n; i++) {
        char name[PATH_MAX];
        struct stat st;

        int length = snprintf(name, sizeof(name), "%s/%s", path, names[i]->d_name);
        free(names[i]);
        if (status == WF_OK && length < PATH_MAX && stat(name, &st) == 0 &&
            S_ISREG(st.st_mode)) {
            status = add_file(name, max_bytes, list, err);
            max_bytes -= status == WF_OK ? (size_t)st.st_size : 0;
        }
    }
    free(names);
    return status;
}

static bool is_directory(const struct wf_value *doc)
{
    struct stat st;

    return stat(wf_doc_get_text(doc, "scenario.source", ""), &st) == 0 && S_ISDIR(st.st_mode);
}

static enum wf_status has_simulator(struct wf_err *err)
{
    if (wf_page_simulator_size == 0) {
        return wf_err_set(err, WF_EUSAGE,
                          "this build has no live pages; rebuild weft with a compiler for "
                          "WebAssembly installed (Debian: clang, lld, wasi-libc, "
                          "libclang-rt-14-dev-wasm32)");
    }
    return WF_OK;
}

/* Whether a page can repeat the run at all. */
static enum wf_status check(const struct wf_value *doc, struct wf_err *err)
{
    const char *source = wf_doc_get_text(doc, "scenario.source", "");

    WF_TRY(has_simulator(err));
    if (strcmp(wf_doc_get_text(doc, "scenario.command", ""), "replay") != 0) {
        return wf_err_set(err, WF_EUSAGE,
                          "only pages of replays can repeat their runs in a browser");
    }
    if (strncmp(source, "gen:", 4) != 0 && file_of(doc, 0) == NULL && !is_directory(doc)) {
        return wf_err_set(err, WF_EUSAGE,
                          "only traces of one file or directory get into a page; 'weft convert "
                          "%.100s trace.weft' writes such a file",
                          source);
    }
    return WF_OK;
}

enum wf_status wf_study_page_live(const struct wf_value *doc, enum wf_study_live mode,
                                  struct wf_value *extra, struct wf_err *err)
{
    enum { FILE_MAX = 64 << 20 };
    size_t max_bytes = mode == WF_STUDY_LIVE_ALWAYS ? FILE_MAX : WF_STUDY_LIVE_TRACE_MAX;
    struct wf_err own = {.status = WF_OK};
    struct wf_value *files = wf_doc_new(), *list = wf_doc_list(files, "files");

    enum wf_status status = mode == WF_STUDY_LIVE_NEVER ? WF_EUSAGE : check(doc, &own);
    if (status == WF_OK && is_directory(doc)) {
        status =
            add_directory(wf_doc_get_text(doc, "scenario.source", ""), max_bytes, list, &own);
    }
    for (size_t i = 0; i < N_READERS && status == WF_OK; i++) {
        const char *path = file_of(doc, i);
        status = path != NULL ? add_file(path, max_bytes, list, &own) : WF_OK;
    }
    if (status == WF_OK) {
        struct wf_value *live = wf_doc_section(extra, "live");
        live->first = files->first;
        live->last = files->last;
        files->first = files->last = NULL;
    }
    wf_doc_free(files);
    if (status != WF_OK && mode == WF_STUDY_LIVE_ALWAYS) {
        *err = own;
        return status;
    }
    if (status != WF_OK && mode == WF_STUDY_LIVE_AUTO && wf_page_simulator_size > 0) {
        wf_doc_text(extra, "not_live", own.text);
    }
    return WF_OK;
}

/* ---- the page to try weft ---- */

static void add_setting(struct wf_value *list, const struct wf_setting *setting)
{
    struct wf_value *item = wf_doc_section(list, NULL);

    wf_doc_text(item, "key", setting->key);
    wf_doc_text(item, "value", setting->value);
    wf_doc_text(item, "origin", setting->origin);
    if (setting->place != NULL) {
        wf_doc_text(item, "place", setting->place);
    }
    if (setting->model != NULL) {
        wf_doc_text(item, "model", setting->model);
    }
    if (setting->with_topology) {
        wf_doc_bool(item, "with_topology", true);
    }
}

static enum wf_status add_machine(struct wf_value *list, const char *name, struct wf_err *err)
{
    struct wf_machine *machine = NULL;

    WF_TRY(wf_machine_load(name, &machine, err));
    struct wf_value *item = wf_doc_section(list, NULL);
    wf_doc_text(item, "name", name);
    wf_doc_text(item, "summary", machine->summary);
    struct wf_value *settings = wf_doc_list(item, "settings");
    for (size_t i = 0; i < machine->scenario->n; i++) {
        add_setting(settings, &machine->scenario->settings[i]);
    }
    wf_machine_free(machine);
    return WF_OK;
}

enum wf_status wf_study_page_try(struct wf_value **doc, struct wf_value **extra,
                                 struct wf_err *err)
{
    WF_TRY(has_simulator(err));
    struct wf_value *more = wf_doc_new();
    (void)wf_doc_list(wf_doc_section(more, "live"), "files");

    struct wf_value *machines = wf_doc_list(more, "machines");
    for (const struct wf_machine_text *m = wf_machine_library(); m->name != NULL; m++) {
        enum wf_status status = add_machine(machines, m->name, err);
        if (status != WF_OK) {
            wf_doc_free(more);
            return status;
        }
    }
    *doc = wf_doc_new();
    wf_doc_text(*doc, "schema", "weft-try-1");
    wf_doc_text(*doc, "version", weft_version());
    *extra = more;
    return WF_OK;
}
