/* SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"
#include "base/temp.h"

#include "harness/wf_test.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    (void)fputs(text, file);
    (void)fclose(file);
}

static bool has_text(const char *path, const char *expected)
{
    char text[32] = "";
    FILE *file = fopen(path, "r");

    if (file != NULL) {
        (void)fgets(text, sizeof(text), file);
        (void)fclose(file);
    }
    return strcmp(text, expected) == 0;
}

/* A directory with a file in it and one in a directory below it. */
static void fill(const char *directory, const char *text)
{
    char path[512];

    (void)snprintf(path, sizeof(path), "%s/file", directory);
    write_text(path, text);
    (void)snprintf(path, sizeof(path), "%s/inner", directory);
    (void)mkdir(path, 0777);
    (void)snprintf(path, sizeof(path), "%s/inner/file", directory);
    write_text(path, text);
}

static void a_file_moves_to_its_place(void)
{
    char *first = wf_temp_beside("out", false), *second = wf_temp_beside("out", false);

    (void)unlink("out");
    CHECK(first != NULL && second != NULL && strcmp(first, second) != 0);
    write_text(first, "one");
    write_text(second, "two");
    CHECK(wf_temp_move(first, "out", false));
    CHECK(!wf_temp_move(second, "out", false) && errno == EEXIST);
    CHECK(has_text("out", "one") && exists(second));
    CHECK(wf_temp_move(second, "out", true));
    CHECK(has_text("out", "two") && !exists(first) && !exists(second));
    free(first);
    free(second);
    (void)unlink("out");
    CHECK(wf_temp_beside("missing/out", false) == NULL && errno == ENOENT);
}

/* A process that is killed leaves its file; the next one to write there removes it. */
static void what_a_killed_process_left_is_removed(void)
{
    for (int directory = 0; directory < 2; directory++) {
        int ends[2];
        char name[64] = "";

        CHECK(pipe(ends) == 0);
        pid_t child = fork();
        if (child == 0) {
            char *path = wf_temp_beside("killed", directory != 0);
            if (path != NULL && write(ends[1], path, strlen(path) + 1) > 0) {
                pause();
            }
            _exit(1);
        }
        CHECK(read(ends[0], name, sizeof(name)) > 0 && exists(name));
        char *other = wf_temp_beside("killed", false); /* not the one that is in use */
        CHECK(other != NULL && strcmp(other, name) != 0 && exists(name));
        wf_temp_remove(other);
        free(other);
        CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child && exists(name));
        other = wf_temp_beside("killed", directory == 0);
        CHECK(other != NULL && strcmp(other, name) == 0);
        wf_temp_remove(other);
        free(other);
        CHECK(!exists(name));
        (void)close(ends[0]);
        (void)close(ends[1]);
    }
}

static void a_directory_moves_to_its_place(void)
{
    char *first = wf_temp_beside("dir", true), *second = wf_temp_beside("dir", true);

    wf_temp_remove("dir");
    fill(first, "one");
    fill(second, "two");
    CHECK(wf_temp_move(first, "dir", true));
    CHECK(!wf_temp_move(second, "dir", false) && errno == EEXIST);
    CHECK(wf_temp_move(second, "dir", true));
    CHECK(has_text("dir/inner/file", "two") && !exists(first) && !exists(second));
    wf_temp_remove("dir");
    CHECK(!exists("dir"));
    free(first);
    free(second);
}

static void a_file_without_a_name_can_be_written(void)
{
    int fd = wf_temp_unnamed();
    struct stat st;

    CHECK(fd >= 0 && write(fd, "x", 1) == 1 && fstat(fd, &st) == 0);
    CHECK(st.st_nlink == 0 && st.st_size == 1);
    (void)close(fd);
}

/* Files that a process has not removed are removed after its end, however it ended. Files that
 * its parent created are not. */
static void what_is_left_is_removed_at_the_end(void)
{
    char *ours = wf_temp_directory();

    for (int how = 0; how < 3; how++) {
        int ends[2];
        char name[512] = "";

        CHECK(pipe(ends) == 0);
        pid_t child = fork();
        if (child == 0) {
            char *path = wf_temp_directory();
            fill(path, "text");
            (void)!write(ends[1], path, strlen(path) + 1);
            if (how == 1) {
                wf_temp_seal();
                _exit(0);
            }
            if (how == 2) {
                (void)freopen("/dev/null", "w", stderr);
                wf_panic("a test of what it removes");
            }
            exit(0);
        }
        CHECK(read(ends[0], name, sizeof(name)) > 0);
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == (how == 2 ? 70 : 0));
        CHECK(name[0] == '/' && !exists(name) && exists(ours));
        (void)close(ends[0]);
        (void)close(ends[1]);
    }
    wf_temp_remove(ours);
    CHECK(!exists(ours));
    free(ours);
}

int main(void)
{
    RUN(a_file_moves_to_its_place);
    RUN(what_a_killed_process_left_is_removed);
    RUN(a_directory_moves_to_its_place);
    RUN(a_file_without_a_name_can_be_written);
    RUN(what_is_left_is_removed_at_the_end);
    return wf_test_done();
}
