/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/report/output.h"

#include "harness/wf_test.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Every test works in a directory of its own, which it leaves empty. */
static char directory[] = "/tmp/weft-test-XXXXXX";

static unsigned n_files(void)
{
    DIR *dir = opendir(directory);
    unsigned n = 0;

    while (readdir(dir) != NULL) {
        n++;
    }
    (void)closedir(dir);
    return n - 2;
}

static const char *path_of(const char *name, char *buf, size_t size)
{
    (void)snprintf(buf, size, "%s/%s", directory, name);
    return buf;
}

static bool holds(const char *path, const char *words)
{
    char text[64] = "";
    FILE *in = fopen(path, "r");

    if (in == NULL) {
        return false;
    }
    (void)fgets(text, sizeof(text), in);
    (void)fclose(in);
    return strcmp(text, words) == 0;
}

static enum wf_status write_words(const char *path, bool force, const char *words,
                                  struct wf_err *err)
{
    struct wf_output *output = NULL;
    enum wf_status status = wf_output_open(path, force, &output, err);

    if (status != WF_OK) {
        return status;
    }
    (void)fputs(words, wf_output_stream(output));
    return wf_output_commit(output, err);
}

static void a_file_appears_when_it_is_whole(void)
{
    char path[64];
    struct wf_output *output = NULL;

    path_of("a.json", path, sizeof(path));
    CHECK(wf_output_open(path, false, &output, NULL) == WF_OK);
    (void)fputs("words", wf_output_stream(output));
    CHECK(access(path, F_OK) != 0);
    CHECK(wf_output_commit(output, NULL) == WF_OK);
    CHECK(holds(path, "words"));
    CHECK_U64(n_files(), 1);
    CHECK(unlink(path) == 0);
}

static void what_is_discarded_leaves_nothing(void)
{
    char path[64];
    struct wf_output *output = NULL;

    path_of("a.json", path, sizeof(path));
    CHECK(wf_output_check(path, false, NULL) == WF_OK);
    CHECK_U64(n_files(), 0);
    CHECK(wf_output_open(path, false, &output, NULL) == WF_OK);
    wf_output_discard(output);
    wf_output_discard(NULL);
    CHECK_U64(n_files(), 0);
}

static void an_existing_file_is_overwritten_only_by_force(void)
{
    char path[64];
    struct wf_err err;

    path_of("a.json", path, sizeof(path));
    CHECK(write_words(path, false, "old", NULL) == WF_OK);
    CHECK(wf_output_check(path, false, &err) == WF_EIO);
    CHECK(strstr(err.text, "exists") != NULL);
    CHECK(write_words(path, false, "new", &err) == WF_EIO);
    CHECK(holds(path, "old"));
    CHECK(write_words(path, true, "new", NULL) == WF_OK);
    CHECK(holds(path, "new"));
    CHECK_U64(n_files(), 1);
    CHECK(unlink(path) == 0);
}

static void a_file_that_appears_meanwhile_is_not_overwritten(void)
{
    char path[64];
    struct wf_output *output = NULL;

    path_of("a.json", path, sizeof(path));
    CHECK(wf_output_open(path, false, &output, NULL) == WF_OK);
    CHECK(write_words(path, false, "other", NULL) == WF_OK);
    CHECK(wf_output_commit(output, NULL) == WF_EIO);
    CHECK(holds(path, "other"));
    CHECK_U64(n_files(), 1);
    CHECK(unlink(path) == 0);
}

static void a_link_stays_a_link(void)
{
    char path[64], link[64];
    struct stat st;

    path_of("a.json", path, sizeof(path));
    path_of("link.json", link, sizeof(link));
    CHECK(write_words(path, false, "old", NULL) == WF_OK);
    CHECK(symlink(path, link) == 0);
    CHECK(write_words(link, false, "new", NULL) == WF_EIO);
    CHECK(write_words(link, true, "new", NULL) == WF_OK);
    CHECK(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(holds(path, "new"));
    CHECK(unlink(link) == 0 && unlink(path) == 0);
}

static void bad_places_are_refused(void)
{
    static const char *const paths[] = {"/nonexistent/a.json", "", "/dev/null/a.json", "/"};

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct wf_err err;
        CHECK(wf_output_check(paths[i], true, &err) == WF_EIO);
        CHECK(strstr(err.text, "cannot write") != NULL);
    }
}

static void a_pipe_is_refused_before_it_blocks(void)
{
    char path[64];
    struct wf_err err;

    path_of("pipe.json", path, sizeof(path));
    CHECK(mkfifo(path, 0600) == 0);
    CHECK(wf_output_check(path, true, &err) == WF_EIO);
    CHECK(strstr(err.text, "is a pipe") != NULL);
    CHECK(unlink(path) == 0);
}

static void a_device_is_written_directly(void)
{
    CHECK(write_words("/dev/null", false, "words", NULL) == WF_OK);
    CHECK(wf_output_check("/dev/full", false, NULL) == WF_OK);
    CHECK(write_words("/dev/full", false, "words", NULL) == WF_EIO);
}

int main(void)
{
    if (mkdtemp(directory) == NULL) {
        return EXIT_FAILURE;
    }
    RUN(a_file_appears_when_it_is_whole);
    RUN(what_is_discarded_leaves_nothing);
    RUN(an_existing_file_is_overwritten_only_by_force);
    RUN(a_file_that_appears_meanwhile_is_not_overwritten);
    RUN(a_link_stays_a_link);
    RUN(bad_places_are_refused);
    RUN(a_pipe_is_refused_before_it_blocks);
    RUN(a_device_is_written_directly);
    return rmdir(directory) == 0 ? wf_test_done() : EXIT_FAILURE;
}
