/* SPDX-License-Identifier: Apache-2.0 */
#include "base/guard.h"
#include "base/mem.h"

#include "base/guarded_free.h"
#include "harness/wf_test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static int fd = -1;

static bool is_open(int number)
{
    return fcntl(number, F_GETFD) >= 0;
}

static int open_one(void)
{
    return wf_guard_fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

/* Opens within a guard of its own, which does not fail, and then ends the call around it. */
static void fail_after_inner(void (*leave)(struct wf_guard *guard))
{
    struct wf_guard inner;

    if (setjmp(*wf_guard_enter(&inner, WF_GUARD_RELEASE)) == 0) {
        fd = open_one();
        leave(&inner);
    }
    wf_give_up(WF_ELIMIT, "out of memory");
}

static enum wf_status failing_call(void (*leave)(struct wf_guard *guard))
{
    struct wf_guard guard;
    struct wf_err err;

    if (setjmp(*wf_guard_enter(&guard, WF_GUARD_RELEASE)) == 0) {
        fail_after_inner(leave);
    }
    return wf_guard_error(&guard, &err);
}

static void what_a_part_of_a_call_took_goes_with_the_call(void)
{
    CHECK(failing_call(wf_guard_pass) == WF_ELIMIT);
    CHECK(fd >= 0 && !is_open(fd));
    CHECK(failing_call(wf_guard_leave) ==
          WF_ELIMIT); /* the caller's, as a result in a callback */
    CHECK(is_open(fd));
    (void)close(fd);
}

/* The outer call fails when a block of its own was freed, and another one moved, within the inner one. */
static void give_back_and_fail(void)
{
    char *freed = wf_xmalloc(16), *moved = wf_xmalloc(16);
    struct wf_guard inner;

    if (setjmp(*wf_guard_enter(&inner, WF_GUARD_RELEASE)) == 0) {
        free(freed);
        moved = wf_xrealloc(moved, 1 << 20, 1);
        wf_guard_leave(&inner);
    }
    moved[0] = '\0';
    wf_give_up(WF_ELIMIT, "out of memory");
}

static void a_part_may_free_what_the_call_took(void)
{
    struct wf_guard guard;
    struct wf_err err;

    if (setjmp(*wf_guard_enter(&guard, WF_GUARD_RELEASE)) == 0) {
        give_back_and_fail();
    }
    CHECK(wf_guard_error(&guard, &err) == WF_ELIMIT); /* nothing was freed twice */
}

int main(void)
{
    RUN(what_a_part_of_a_call_took_goes_with_the_call);
    RUN(a_part_may_free_what_the_call_took);
    return wf_test_done();
}
