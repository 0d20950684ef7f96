/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `weftcc -fweft-check` links with programs: compilers call these functions before loads and
 * stores (-fsanitize=thread, whose run-time library this replaces), and libweftmpi compares them with
 * what MPI does to the same memory. Atomic operations are carried out here, in the strictest order;
 * they are not compared.
 */
#include <stddef.h>
#include <stdint.h>

void weft_mpi_access(const void *place, size_t bytes, int writes, const void *site);

/* The compiler declares the functions. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define SITE __builtin_return_address(0)

void __tsan_init(void)
{
}

void __tsan_func_entry(void *call)
{
    (void)call;
}

void __tsan_func_exit(void)
{
}

#define ACCESS(name, bytes, writes)                      \
    void __tsan_##name(const void *place)                \
    {                                                    \
        weft_mpi_access(place, (bytes), (writes), SITE); \
    }
#define ACCESSES(n)                       \
    ACCESS(read##n, n, 0)                 \
    ACCESS(write##n, n, 1)                \
    ACCESS(read_write##n, n, 1)           \
    ACCESS(unaligned_read##n, n, 0)       \
    ACCESS(unaligned_write##n, n, 1)      \
    ACCESS(unaligned_read_write##n, n, 1) \
    ACCESS(volatile_read##n, n, 0)        \
    ACCESS(volatile_write##n, n, 1)
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
ACCESS(vptr_read, sizeof(void *), 0)

void __tsan_vptr_update(const void *place, const void *value)
{
    (void)value;
    weft_mpi_access(place, sizeof(void *), 1, SITE);
}

void __tsan_read_range(const void *place, size_t bytes)
{
    weft_mpi_access(place, bytes, 0, SITE);
}

void __tsan_write_range(const void *place, size_t bytes)
{
    weft_mpi_access(place, bytes, 1, SITE);
}

/* ---- memory functions, which some compilers replace ---- */

void *__tsan_memcpy(void *to, const void *from, size_t bytes)
{
    weft_mpi_access(from, bytes, 0, SITE);
    weft_mpi_access(to, bytes, 1, SITE);
    return __builtin_memcpy(to, from, bytes);
}

void *__tsan_memmove(void *to, const void *from, size_t bytes)
{
    weft_mpi_access(from, bytes, 0, SITE);
    weft_mpi_access(to, bytes, 1, SITE);
    return __builtin_memmove(to, from, bytes);
}

void *__tsan_memset(void *to, int value, size_t bytes)
{
    weft_mpi_access(to, bytes, 1, SITE);
    return __builtin_memset(to, value, bytes);
}

/* ---- atomic operations ---- */

#define FETCH(bits, name)                                                              \
    uint##bits##_t __tsan_atomic##bits##_fetch_##name(volatile uint##bits##_t *at,     \
                                                      uint##bits##_t value, int order) \
    {                                                                                  \
        (void)order;                                                                   \
        return __atomic_fetch_##name(at, value, __ATOMIC_SEQ_CST);                     \
    }
#define COMPARE(bits, name)                                                          \
    int __tsan_atomic##bits##_compare_exchange_##name(                               \
        volatile uint##bits##_t *at, uint##bits##_t *expected, uint##bits##_t value, \
        int order, int failure)                                                      \
    {                                                                                \
        (void)order, (void)failure;                                                  \
        return __atomic_compare_exchange_n(at, expected, value, 0, __ATOMIC_SEQ_CST, \
                                           __ATOMIC_SEQ_CST);                        \
    }
#define ATOMICS(bits)                                                                          \
    FETCH(bits, add)                                                                           \
    FETCH(bits, sub)                                                                           \
    FETCH(bits, and)                                                                           \
    FETCH(bits, or)                                                                            \
    FETCH(bits, xor)                                                                           \
    FETCH(bits, nand)                                                                          \
    COMPARE(bits, strong)                                                                      \
    COMPARE(bits, weak)                                                                        \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int order)    \
    {                                                                                          \
        (void)order;                                                                           \
        return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                          \
    }                                                                                          \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value,        \
                                     int order)                                                \
    {                                                                                          \
        (void)order;                                                                           \
        __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                         \
    }                                                                                          \
    uint##bits##_t __tsan_atomic##bits##_exchange(volatile uint##bits##_t *at,                 \
                                                  uint##bits##_t value, int order)             \
    {                                                                                          \
        (void)order;                                                                           \
        return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                               \
    }                                                                                          \
    uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                 \
        volatile uint##bits##_t *at, uint##bits##_t expected, uint##bits##_t value, int order, \
        int failure)                                                                           \
    {                                                                                          \
        (void)order, (void)failure;                                                            \
        (void)__atomic_compare_exchange_n(at, &expected, value, 0, __ATOMIC_SEQ_CST,           \
                                          __ATOMIC_SEQ_CST);                                   \
        return expected;                                                                       \
    }
ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)

void __tsan_atomic_thread_fence(int order)
{
    (void)order;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void __tsan_atomic_signal_fence(int order)
{
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
