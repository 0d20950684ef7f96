/* SPDX-License-Identifier: Apache-2.0 */
#include "base/guard.h"

#include "base/guarded_free.h"
#include "base/temp.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#undef free

enum { FIRST_CAPACITY = 64, FREE = 0, FD_BITS = 3 };

enum kind { BLOCK, TEMPORARY, DESCRIPTOR, FILE_STREAM, TEXT_STREAM, MAP, N_KINDS };

/* One thing, in an open hash table. Blocks and maps are known by their address. */
struct wf_taken {
    uintptr_t key;
    union {
        size_t size;
        char **text;
    } more;
    enum kind kind;
};

struct wf_guard_start {
    struct wf_guard_thread thread;
    pthread_t id;
    void *(*run)(void *arg);
    void *arg;
    struct wf_guard_start *next;
};

/* Null: no guard. Not of the model initial-exec: a libweft that Python loads would have no room for it. */
static _Thread_local struct wf_guard_thread *current;

/* ---- the table ---- */

static size_t home_of(const struct wf_guard *guard, uintptr_t key)
{
    return (size_t)((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (guard->capacity - 1);
}

/* Its slot, or the one where it would be. */
static size_t slot_of(const struct wf_guard *guard, uintptr_t key)
{
    size_t at = home_of(guard, key);

    while (guard->taken[at].key != FREE && guard->taken[at].key != key) {
        at = (at + 1) & (guard->capacity - 1);
    }
    return at;
}

static bool grow(struct wf_guard *guard)
{
    size_t capacity = guard->capacity == 0 ? FIRST_CAPACITY : 2 * guard->capacity;
    struct wf_guard bigger = {.taken = calloc(capacity, sizeof(*bigger.taken)),
                              .capacity = capacity};

    if (bigger.taken == NULL) {
        return false;
    }
    for (size_t i = 0; i < guard->capacity; i++) {
        if (guard->taken[i].key != FREE) {
            bigger.taken[slot_of(&bigger, guard->taken[i].key)] = guard->taken[i];
        }
    }
    free(guard->taken);
    guard->taken = bigger.taken;
    guard->capacity = capacity;
    return true;
}

/* Whether the table has a free slot more than it needs, or the key already. */
static bool has_room_for(struct wf_guard *guard, uintptr_t key)
{
    return (guard->capacity > 0 && guard->taken[slot_of(guard, key)].key == key) ||
           2 * (guard->n + 1) <= guard->capacity || grow(guard);
}

static bool put(struct wf_guard *guard, const struct wf_taken *taken)
{
    (void)pthread_mutex_lock(&guard->lock);
    bool has_room = has_room_for(guard, taken->key);
    if (has_room) {
        struct wf_taken *slot = &guard->taken[slot_of(guard, taken->key)];
        guard->n += slot->key == FREE ? 1 : 0;
        *slot = *taken;
    }
    (void)pthread_mutex_unlock(&guard->lock);
    return has_room;
}

/* Fills the gap with what follows and belongs before it. */
static void close_gap(struct wf_guard *guard, size_t gap)
{
    size_t mask = guard->capacity - 1;

    for (size_t at = (gap + 1) & mask; guard->taken[at].key != FREE; at = (at + 1) & mask) {
        size_t home = home_of(guard, guard->taken[at].key);
        if (((at - home) & mask) >= ((at - gap) & mask)) {
            guard->taken[gap] = guard->taken[at];
            gap = at;
        }
    }
    guard->taken[gap].key = FREE;
}

/* False if it was not taken in this guard. */
static bool drop(struct wf_guard *guard, uintptr_t key)
{
    bool known = false;

    (void)pthread_mutex_lock(&guard->lock);
    if (guard->capacity > 0 && key != FREE) {
        size_t at = slot_of(guard, key);
        known = guard->taken[at].key == key;
        if (known) {
            close_gap(guard, at);
            guard->n--;
        }
    }
    (void)pthread_mutex_unlock(&guard->lock);
    return known;
}

static uintptr_t key_of_fd(int fd)
{
    return ((uintptr_t)fd << FD_BITS) | 1; /* no address of anything else */
}

static void release_one(const struct wf_taken *taken)
{
    void *address = (void *)taken->key; /* NOLINT(performance-no-int-to-ptr) */

    switch (taken->kind) {
    case BLOCK:
        free(address);
        break;
    case TEMPORARY:
        wf_temp_remove(address);
        break;
    case DESCRIPTOR:
        (void)close((int)(taken->key >> FD_BITS));
        break;
    case FILE_STREAM:
        (void)fclose(address);
        break;
    case TEXT_STREAM: /* its text is known from now on, in a frame that still exists */
        (void)fclose(address);
        free(*taken->more.text);
        break;
    case MAP:
        (void)munmap(address, taken->more.size);
        break;
    case N_KINDS:
        break;
    }
}

/* What uses memory goes before the memory. */
static void release_all(struct wf_guard *guard)
{
    for (int kind = N_KINDS - 1; kind >= 0; kind--) {
        for (size_t i = 0; i < guard->capacity; i++) {
            if (guard->taken[i].key != FREE && (int)guard->taken[i].kind == kind) {
                release_one(&guard->taken[i]);
            }
        }
    }
}

/* ---- guards ---- */

static bool records_in(const struct wf_guard_thread *thread)
{
    return thread != NULL && thread->guard->kind == WF_GUARD_RELEASE &&
           !atomic_load_explicit(&thread->guard->disarmed, memory_order_relaxed);
}

static bool records(void)
{
    return records_in(current);
}

jmp_buf *wf_guard_enter(struct wf_guard *guard, enum wf_guard_kind kind)
{
    *guard = (struct wf_guard){.kind = kind};
    (void)pthread_mutex_init(&guard->lock, NULL);
    guard->thread.guard = guard;
    guard->thread.outer = current;
    current = &guard->thread;
    return &guard->thread.back;
}

void wf_guard_leave(struct wf_guard *guard)
{
    current = guard->thread.outer;
    free(guard->taken);
    (void)pthread_mutex_destroy(&guard->lock);
}

void wf_guard_pass(struct wf_guard *guard)
{
    const struct wf_guard_thread *outer = guard->thread.outer;

    for (size_t i = 0; records_in(outer) && i < guard->capacity; i++) {
        if (guard->taken[i].key !=
            FREE) { /* what finds no room is lost if that call fails, too */
            (void)put(outer->guard, &guard->taken[i]);
        }
    }
    wf_guard_leave(guard);
}

enum wf_status wf_guard_error(struct wf_guard *guard, struct wf_err *err)
{
    wf_guard_leave(guard);
    return wf_err_set(err, guard->status, "%s", guard->text);
}

static void join_children(struct wf_guard_thread *thread)
{
    while (thread->children != NULL) {
        struct wf_guard_start *child = thread->children;
        thread->children = child->next;
        (void)pthread_join(child->id, NULL);
        free(child);
    }
}

/* Goes back to where this thread began, or entered the guard. The frames that its children use exist until
 * they have ended. */
static WF_NORETURN void unwind(struct wf_guard_thread *thread)
{
    while (thread->n_held > 0) {
        (void)pthread_mutex_unlock(thread->held[--thread->n_held]);
    }
    join_children(thread);
    if (thread == &thread->guard->thread && thread->guard->kind == WF_GUARD_RELEASE) {
        current = NULL;
        release_all(thread->guard);
        current = thread;
    }
    longjmp(thread->back, 1);
}

/* Ends the guarded call. Returns only if there is no guard. */
static void fail(enum wf_status status, const char *text)
{
    struct wf_guard_thread *thread = current;

    if (!wf_guard_is_armed()) {
        return;
    }
    struct wf_guard *guard = thread->guard;
    (void)pthread_mutex_lock(&guard->lock);
    if (!atomic_load(&guard->failed)) {
        guard->status = status;
        (void)snprintf(guard->text, sizeof(guard->text), "%s", text);
        atomic_store(&guard->failed, true);
    }
    (void)pthread_mutex_unlock(&guard->lock);
    unwind(thread);
}

void wf_give_up(enum wf_status status, const char *fmt, ...)
{
    char text[WF_ERR_TEXT_MAX];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    fail(status, text);
    (void)fprintf(stderr, "weft: %s\n", text);
    wf_temp_clean();
    _Exit(wf_status_exit_code(status));
}

void wf_guard_check(void)
{
    if (current != NULL &&
        atomic_load_explicit(&current->guard->failed, memory_order_relaxed)) {
        unwind(current);
    }
}

void wf_guard_disarm(void)
{
    if (current != NULL) {
        atomic_store(&current->guard->disarmed, true);
    }
}

bool wf_guard_is_nested(void)
{
    return current != NULL && current->outer != NULL;
}

bool wf_guard_is_armed(void)
{
    return current != NULL && !atomic_load(&current->guard->disarmed);
}

/* ---- what is taken ---- */

static void take(struct wf_taken taken)
{
    if (records() && !put(current->guard, &taken)) {
        release_one(&taken);
        wf_give_up(WF_ELIMIT, "out of memory");
    }
    wf_guard_check();
}

/* The guard of this thread that knew it, and knows it no more; null: none. */
static struct wf_guard *forget(uintptr_t key)
{
    for (struct wf_guard_thread *at = current; at != NULL; at = at->outer) {
        if (records_in(at) && drop(at->guard, key)) {
            return at->guard;
        }
    }
    return NULL;
}

void wf_guard_block(void *block)
{
    take((struct wf_taken){.key = (uintptr_t)block, .kind = BLOCK});
}

void wf_guard_moved(uintptr_t old, void *block)
{
    const struct wf_taken taken = {.key = (uintptr_t)block, .kind = BLOCK};
    struct wf_guard *guard = old != 0 ? forget(old) : NULL;

    /* One that is older than the call belongs to an older object, which keeps it. */
    if (old == 0 || (guard != NULL && guard == current->guard)) {
        wf_guard_block(block);
    } else if (guard != NULL) { /* it has room: for the old one */
        (void)put(guard, &taken);
    }
}

void wf_guard_temporary(char *path)
{
    const struct wf_taken taken = {.key = (uintptr_t)path, .kind = TEMPORARY};

    if (records()) { /* the block is in the table already: this cannot fail, under a lock */
        (void)put(current->guard, &taken);
    }
}

void wf_guarded_free(void *block)
{
    (void)forget((uintptr_t)block);
    free(block);
}

int wf_guard_fd(int fd)
{
    if (fd >= 0) {
        take((struct wf_taken){.key = key_of_fd(fd), .kind = DESCRIPTOR});
    }
    return fd;
}

int wf_close(int fd)
{
    (void)forget(key_of_fd(fd));
    return close(fd);
}

FILE *wf_guard_file(FILE *file)
{
    if (file != NULL) {
        take((struct wf_taken){.key = (uintptr_t)file, .kind = FILE_STREAM});
    }
    return file;
}

FILE *wf_guard_stream(FILE *stream, char **text)
{
    if (stream == NULL) {
        wf_give_up(WF_ELIMIT, "out of memory");
    }
    take((struct wf_taken){.key = (uintptr_t)stream, .kind = TEXT_STREAM, .more.text = text});
    return stream;
}

int wf_fclose(FILE *file)
{
    (void)forget((uintptr_t)file);
    return fclose(file);
}

void *wf_guard_map(void *base, size_t size)
{
    if (base != MAP_FAILED) {
        take((struct wf_taken){.key = (uintptr_t)base, .kind = MAP, .more.size = size});
    }
    return base;
}

int wf_munmap(void *base, size_t size)
{
    (void)forget((uintptr_t)base);
    return munmap(base, size);
}

/* ---- threads ---- */

static void *thread_main(void *arg)
{
    struct wf_guard_start *start = arg;

    current = &start->thread;
    if (setjmp(start->thread.back) == 0) {
        (void)start->run(start->arg);
    }
    current = NULL;
    return NULL;
}

int wf_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
    struct wf_guard_start *start = NULL;

    if (current == NULL) {
        return pthread_create(thread, NULL, run, arg);
    }
    start = calloc(1, sizeof(*start));
    if (start == NULL) {
        return ENOMEM;
    }
    *start = (struct wf_guard_start){
        .thread.guard = current->guard, .run = run, .arg = arg, .next = current->children};
    int error = pthread_create(&start->id, NULL, thread_main, start);
    if (error != 0) {
        free(start);
        return error;
    }
    *thread = start->id;
    current->children = start;
    return 0;
}

void wf_thread_join(pthread_t thread)
{
    struct wf_guard_start **at = current != NULL ? &current->children : NULL, *found = NULL;

    (void)pthread_join(thread, NULL);
    while (at != NULL && *at != NULL && pthread_equal((*at)->id, thread) == 0) {
        at = &(*at)->next;
    }
    if (at != NULL && *at != NULL) {
        found = *at;
        *at = found->next;
        free(found);
    }
    wf_guard_check();
}

void wf_lock(pthread_mutex_t *mutex)
{
    (void)pthread_mutex_lock(mutex);
    if (current != NULL) {
        assert(current->n_held < WF_GUARD_LOCKS_MAX);
        current->held[current->n_held++] = mutex;
        wf_guard_check();
    }
}

void wf_unlock(pthread_mutex_t *mutex)
{
    if (current != NULL) {
        assert(current->n_held > 0 && current->held[current->n_held - 1] == mutex);
        current->n_held--;
    }
    (void)pthread_mutex_unlock(mutex);
}
