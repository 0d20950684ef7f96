/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Threads where there is one: locks do nothing, and no thread can be started. */

#include <errno.h>
#include <signal.h>
#include <stddef.h>

typedef int pthread_t;
typedef int pthread_mutex_t;

#define PTHREAD_MUTEX_INITIALIZER 0

static inline int pthread_mutex_init(pthread_mutex_t *mutex, const void *attributes)
{
    *mutex = PTHREAD_MUTEX_INITIALIZER;
    return 0;
}

static inline int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    return 0;
}

static inline int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    return 0;
}

static inline int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    return 0;
}

static inline int pthread_create(pthread_t *thread, const void *attributes,
                                 void *(*run)(void *arg), void *arg)
{
    *thread = 0;
    return EAGAIN;
}

static inline int pthread_join(pthread_t thread, void **result)
{
    return ESRCH;
}

static inline int pthread_equal(pthread_t a, pthread_t b)
{
    return a == b;
}

static inline pthread_t pthread_self(void)
{
    return 0;
}
