/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of control groups, from files as the system has them. */
#include "base/clock.h"

#include "harness/wf_test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

/* Makes a file, and the folders above it. */
static void put(const char *path, const char *text)
{
    char whole[512];

    (void)snprintf(whole, sizeof(whole), "%s/%s", root, path);
    for (char *slash = strchr(whole + strlen(root) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(whole, 0777);
        *slash = '/';
    }
    FILE *file = fopen(whole, "w");
    (void)fputs(text, file);
    (void)fclose(file);
}

static void start(const char *groups)
{
    (void)snprintf(root, sizeof(root), "clock-XXXXXX");
    CHECK(mkdtemp(root) != NULL);
    put("proc/self/cgroup", groups);
}

static bool finds(uint64_t bytes, uint64_t used)
{
    struct wf_memory_limit limit;

    return wf_clock_memory_limit(root, &limit) && limit.bytes == bytes && limit.used == used;
}

static void version_2_has_one_hierarchy(void)
{
    struct wf_memory_limit limit;

    start("0::/user/job.scope\n");
    CHECK(!wf_clock_memory_limit(root, &limit));
    put("sys/fs/cgroup/user/job.scope/memory.max", "max\n");
    put("sys/fs/cgroup/user/job.scope/memory.current", "5\n");
    CHECK(!wf_clock_memory_limit(root, &limit));
    /* A limit of a group above counts, and the tightest of all. */
    put("sys/fs/cgroup/user/memory.max", "1073741824\n");
    put("sys/fs/cgroup/user/memory.current", "1000000\n");
    put("sys/fs/cgroup/user/memory.stat", "anon 1\ninactive_file 400000\n");
    CHECK(finds(1 << 30, 600000));
    put("sys/fs/cgroup/user/job.scope/memory.max", "2147483648\n");
    CHECK(finds(1 << 30, 600000));
    put("sys/fs/cgroup/user/job.scope/memory.max", "1000\n");
    CHECK(finds(1000, 5));
}

static void a_container_sees_its_own_group_as_the_top(void)
{
    start("0::/\n");
    put("sys/fs/cgroup/memory.max", "1000\n");
    put("sys/fs/cgroup/memory.current", "300\n");
    put("sys/fs/cgroup/memory.stat", "inactive_file 4000\n");
    CHECK(finds(1000, 0));
}

static void version_1_has_a_folder_for_memory(void)
{
    struct wf_memory_limit limit;

    start("9:name=systemd:/\n4:memory:/docker/abc\n1:cpu:/\n0::/\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("sys/fs/cgroup/memory/memory.usage_in_bytes", "7\n");
    CHECK(!wf_clock_memory_limit(root, &limit));
    /* In a container the path is not that of the folder. */
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "5000\n");
    put("sys/fs/cgroup/memory/memory.stat", "cache 9\ntotal_inactive_file 2\n");
    CHECK(finds(5000, 5));
    put("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "4000\n");
    put("sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes", "0\n");
    CHECK(finds(4000, 0));
}

static void odd_files_are_no_limit(void)
{
    struct wf_memory_limit limit;

    start("\n::\n0::\n:memory:\n0::relative\n");
    put("sys/fs/cgroup/memory.max", "\n");
    CHECK(!wf_clock_memory_limit(root, &limit));
    CHECK(!wf_clock_memory_limit("nowhere", &limit));
}

int main(void)
{
    RUN(version_2_has_one_hierarchy);
    RUN(a_container_sees_its_own_group_as_the_top);
    RUN(version_1_has_a_folder_for_memory);
    RUN(odd_files_are_no_limit);
    return wf_test_done();
}
