/* SPDX-License-Identifier: Apache-2.0 */
/* The progress line of a file that is read. Readers know nothing of it: a thread asks the system
 * how much the process has read. */
#include "base/mem.h"
#include "base/units.h"
#include "ui/cli/progress.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct wf_progress_reading {
    struct wf_progress_line *line;
    char *name;
    uint64_t size;   /* of the file, or of all files of a directory; 0: no file */
    uint64_t before; /* bytes that the process had read at the start */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    bool ends;
};

/* The bytes that the process has read so far; 0 if the system does not tell. */
static uint64_t bytes_read(void)
{
    char text[64];
    FILE *file = fopen("/proc/self/io", "re");
    uint64_t bytes = 0;

    if (file == NULL) {
        return 0;
    }
    if (fgets(text, sizeof(text), file) != NULL && strncmp(text, "rchar: ", 7) == 0) {
        bytes = strtoull(text + 7, NULL, 10);
    }
    (void)fclose(file);
    return bytes;
}

/* The size of a file, or of all files of a directory and those in it. Programs are not read from
 * front to back: 0. */
static uint64_t size_of(const char *path, int depth)
{
    struct stat st;
    uint64_t sum = 0;

    if (stat(path, &st) != 0 || (S_ISREG(st.st_mode) && access(path, X_OK) == 0)) {
        return 0;
    }
    if (!S_ISDIR(st.st_mode)) {
        return (uint64_t)st.st_size;
    }
    DIR *directory = depth > 0 ? opendir(path) : NULL;
    for (const struct dirent *entry;
         directory != NULL && (entry = readdir(directory)) != NULL;) {
        char inner[PATH_MAX];
        if (entry->d_name[0] != '.' &&
            snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name) < (int)sizeof(inner)) {
            sum += size_of(inner, depth - 1);
        }
    }
    if (directory != NULL) {
        (void)closedir(directory);
    }
    return sum;
}

char *wf_progress_reading_text(const struct wf_progress_read *read, double elapsed, char *buf)
{
    char percent[16] = "", left[48] = "", bytes[WF_UNITS_TEXT_MAX], rate[WF_UNITS_TEXT_MAX];
    double per_second = elapsed > 0 ? (double)read->bytes / elapsed : 0;

    if (read->size == 0) {
        wf_progress_clock(elapsed, left, sizeof(left));
        (void)snprintf(buf, WF_PROGRESS_TEXT_MAX, "%.100s  %s", read->name, left);
        return buf;
    }
    /* A second pass over the file makes the share meaningless. */
    if (read->bytes > 0 && read->bytes <= read->size) {
        char clock[32];
        (void)snprintf(percent, sizeof(percent), "%3d %%  ",
                       (int)(100 * (double)read->bytes / (double)read->size));
        wf_progress_clock((double)(read->size - read->bytes) / per_second, clock,
                          sizeof(clock));
        (void)snprintf(left, sizeof(left), "  %s left", clock);
    }
    (void)snprintf(buf, WF_PROGRESS_TEXT_MAX, "%sreading %.60s  %s  %s/s%s", percent,
                   read->name, wf_human_size(read->bytes, bytes),
                   wf_human_size((uint64_t)per_second, rate), left);
    return buf;
}

static void draw(struct wf_progress_reading *reading)
{
    uint64_t now = bytes_read();
    const struct wf_progress_read read = {
        .name = reading->name,
        .size = reading->size,
        .bytes = now > reading->before ? now - reading->before : 0,
    };

    wf_progress_reading_draw(reading->line, &read);
}

static void *watch(void *arg)
{
    enum { PAUSE_NS = 200000000, SECOND_NS = 1000000000 };
    struct wf_progress_reading *reading = arg;

    (void)pthread_mutex_lock(&reading->mutex);
    while (!reading->ends) {
        struct timespec until;
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += PAUSE_NS;
        until.tv_sec += until.tv_nsec / SECOND_NS;
        until.tv_nsec %= SECOND_NS;
        if (pthread_cond_timedwait(&reading->ended, &reading->mutex, &until) == ETIMEDOUT) {
            draw(reading);
        }
    }
    (void)pthread_mutex_unlock(&reading->mutex);
    return NULL;
}

/* Signals are for the other threads. */
static bool start(struct wf_progress_reading *reading)
{
    sigset_t all, before;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&reading->thread, NULL, watch, reading) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static void begin(struct wf_progress_line *line, const char *name, uint64_t size)
{
    struct wf_progress_reading *reading = wf_xcalloc(1, sizeof(*reading));
    *reading = (struct wf_progress_reading){
        .line = line, .name = wf_xstrdup(name), .size = size, .before = bytes_read()};
    (void)pthread_mutex_init(&reading->mutex, NULL);
    (void)pthread_cond_init(&reading->ended, NULL);
    line->reading = reading;
    if (!start(reading)) {
        reading->ends = true; /* then there is no line */
    }
}

void wf_progress_read_begin(struct wf_progress_line *line, const char *path)
{
    enum { DEPTH = 2 };
    uint64_t size = line->out != NULL ? size_of(path, DEPTH) : 0;

    if (line->out != NULL && line->reading == NULL && size > 0) {
        begin(line, path, size);
    }
}

void wf_progress_busy_begin(struct wf_progress_line *line, const char *what)
{
    if (line->out != NULL && line->reading == NULL) {
        wf_progress_restart(line);
        begin(line, what, 0);
    }
}

void wf_progress_read_end(struct wf_progress_line *line)
{
    struct wf_progress_reading *reading = line->reading;

    if (reading == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&reading->mutex);
    bool running = !reading->ends;
    reading->ends = true;
    (void)pthread_cond_signal(&reading->ended);
    (void)pthread_mutex_unlock(&reading->mutex);
    if (running) {
        (void)pthread_join(reading->thread, NULL);
    }
    (void)pthread_cond_destroy(&reading->ended);
    (void)pthread_mutex_destroy(&reading->mutex);
    free(reading->name);
    free(reading);
    line->reading = NULL;
    wf_progress_erase(line);
}
