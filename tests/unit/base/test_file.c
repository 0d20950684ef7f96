/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include "harness/wf_test.h"

#include <sys/stat.h>
#include <unistd.h>

enum { LENGTH = 100000 };

static void write_file(const char *path, size_t length)
{
    FILE *file = fopen(path, "w");

    for (size_t i = 0; i < length; i++) {
        (void)fputc('a' + (int)(i % 26), file);
    }
    (void)fclose(file);
}

static void a_file_is_read_up_to_the_limit(void)
{
    struct wf_buf buf = {.data = NULL};
    struct wf_err err;

    write_file("text", LENGTH);
    CHECK(wf_file_read("text", LENGTH, &buf, &err) == WF_OK);
    CHECK_U64(buf.size, LENGTH);
    CHECK(buf.data[LENGTH - 1] == 'a' + (LENGTH - 1) % 26 && buf.data[LENGTH] == '\0');
    CHECK(wf_file_read("text", LENGTH - 1, &buf, &err) == WF_EINVAL);
    CHECK_STR(err.text, "'text' is longer than 99999 bytes");
    CHECK_U64(buf.size, LENGTH); /* nothing of it was read */
    wf_buf_fini(&buf);

    write_file("text", 0);
    CHECK(wf_file_read("text", 0, &buf, &err) == WF_OK);
    CHECK_U64(buf.size, 0);
    CHECK_STR((const char *)buf.data, "");
    wf_buf_fini(&buf);
    (void)unlink("text");
}

static void what_is_no_file_is_an_error(void)
{
    struct wf_buf buf = {.data = NULL};
    struct wf_err err;

    CHECK(wf_file_read("missing", 10, &buf, &err) == WF_EIO);
    CHECK_STR(err.text, "cannot read 'missing': No such file or directory");
    CHECK(wf_file_read(".", 10, &buf, &err) == WF_EIO);
    CHECK_STR(err.text, "cannot read '.': Is a directory");
    CHECK(wf_file_read("/dev/zero", 10, &buf, &err) == WF_EIO);
    CHECK_STR(err.text, "cannot read '/dev/zero': it is a device; expected a file");
    wf_buf_fini(&buf);
}

static void the_head_of_a_file_is_read_and_of_nothing_else(void)
{
    char head[8] = "-------";

    write_file("text", LENGTH);
    CHECK_U64(wf_file_head("text", head, 4), 4);
    CHECK_STR(head, "abcd---");
    write_file("text", 2);
    CHECK_U64(wf_file_head("text", head, 4), 2);
    CHECK_U64(wf_file_head("/dev/zero", head, 4), 0);
    CHECK_U64(wf_file_head(".", head, 4), 0);
    CHECK_U64(wf_file_head("missing", head, 4), 0);
    (void)unlink("text");
}

static void a_pipe_is_read_while_it_has_a_writer(void)
{
    struct wf_buf buf = {.data = NULL};
    struct wf_err err;

    (void)unlink("pipe");
    CHECK(mkfifo("pipe", 0600) == 0);
    CHECK(wf_file_read("pipe", 10, &buf, &err) == WF_EIO);
    CHECK_STR(err.text, "cannot read 'pipe': nothing writes to this pipe");

    pid_t child = fork();
    if (child == 0) {
        FILE *out = fopen("pipe", "w");
        (void)fputs("hello ", out);
        (void)fflush(out);
        (void)usleep(20000);
        (void)fputs("world", out);
        (void)fclose(out);
        _exit(0);
    }
    CHECK(wf_file_read("pipe", 100, &buf, &err) == WF_OK);
    CHECK_STR((const char *)buf.data, "hello world");
    wf_buf_fini(&buf);
    (void)unlink("pipe");
}

int main(void)
{
    RUN(a_file_is_read_up_to_the_limit);
    RUN(what_is_no_file_is_an_error);
    RUN(the_head_of_a_file_is_read_and_of_nothing_else);
    RUN(a_pipe_is_read_while_it_has_a_writer);
    return wf_test_done();
}
