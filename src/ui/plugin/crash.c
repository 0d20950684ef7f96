/* SPDX-License-Identifier: Apache-2.0 */
#include "base/guard.h"
#include "ui/plugin/plugin.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { N_CRASHES = sizeof(crashes) / sizeof(crashes[0]) };

/* Handlers belong to the process: those of the first call are installed, those of the last one removed. */
static struct {
    pthread_mutex_t lock;
    unsigned calls;
    struct sigaction before[N_CRASHES];
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void on_crash(int number)
{
    if (wf_guard_is_armed()) {
        wf_give_up(
            WF_EINVAL,
            "a crash (%s) with the plug-in %.200s%s; 'weft check-plugin' finds mistakes of "
            "plug-ins",
            strsignal(number), wf_plugin_path(0),
            wf_plugin_path(1) != NULL ? " or another one" : "");
    }
    for (int i = 0; i < N_CRASHES; i++) {
        if (crashes[i] == number) {
            (void)sigaction(number, &watch.before[i], NULL);
        }
    }
    (void)raise(number);
}

bool wf_plugin_watch_begin(void)
{
    struct sigaction action = {.sa_handler = on_crash,
                               .sa_flags = SA_ONSTACK | (int)SA_NODEFER};

    if (wf_plugin_path(0) == NULL) {
        return false;
    }
    (void)sigemptyset(&action.sa_mask);
    (void)pthread_mutex_lock(&watch.lock);
    for (int i = 0; watch.calls == 0 && i < N_CRASHES; i++) {
        (void)sigaction(crashes[i], &action, &watch.before[i]);
    }
    watch.calls++;
    (void)pthread_mutex_unlock(&watch.lock);
    return true;
}

void wf_plugin_watch_end(void)
{
    (void)pthread_mutex_lock(&watch.lock);
    watch.calls--;
    for (int i = 0; watch.calls == 0 && i < N_CRASHES; i++) {
        struct sigaction now;
        if (sigaction(crashes[i], NULL, &now) == 0 && now.sa_handler == on_crash) {
            (void)sigaction(crashes[i], &watch.before[i], NULL);
        }
    }
    (void)pthread_mutex_unlock(&watch.lock);
}
