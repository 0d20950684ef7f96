/* SPDX-License-Identifier: Apache-2.0 */
#include "mpilib/datatype.h"

#include "mpilib/datatype_predefined.h"

#include <complex.h>
#include <string.h>
#include <wchar.h>

/* The runs of bytes of a predefined type begin at 0; those of pairs may have a hole. */
#define PLAIN(place, handle, ctype, kind)                               \
    [place] = {.basic = WL_BASIC_##kind,                                \
               .extent = sizeof(ctype),                                 \
               .true_extent = sizeof(ctype),                            \
               .size = sizeof(ctype),                                   \
               .align = _Alignof(ctype),                                \
               .n_blocks = 1,                                           \
               .contiguous = true,                                      \
               .committed = true,                                       \
               .predefined = true,                                      \
               .blocks = (const struct wl_block[]){{0, sizeof(ctype)}}, \
               .name = #handle},

#define PAIR(place, handle, first, second)                             \
    [place] = {.basic = WL_BASIC_PAIR,                                 \
               .extent = sizeof(struct {                               \
                   first a;                                            \
                   second b;                                           \
               }),                                                     \
               .true_extent = offsetof(                                \
                                  struct {                             \
                                      first a;                         \
                                      second b;                        \
                                  },                                   \
                                  b) +                                 \
                              sizeof(second),                          \
               .size = sizeof(first) + sizeof(second),                 \
               .align = _Alignof(struct {                              \
                   first a;                                            \
                   second b;                                           \
               }),                                                     \
               .n_blocks = 2,                                          \
               .contiguous = sizeof(struct {                           \
                                 first a;                              \
                                 second b;                             \
                             }) == sizeof(first) + sizeof(second),     \
               .committed = true,                                      \
               .predefined = true,                                     \
               .blocks = (const struct wl_block[]){{0, sizeof(first)}, \
                                                   {offsetof(          \
                                                        struct {       \
                                                            first a;   \
                                                            second b;  \
                                                        },             \
                                                        b),            \
                                                    sizeof(second)}},  \
               .name = #handle},

/* The marks of MPI-1 for where a type begins and ends. */
#define MARK(place, handle) \
    [place] = {.committed = true, .predefined = true, .contiguous = true, .name = #handle},

static const struct wl_type predefined[] = {WL_TYPE_MAP(PLAIN) WL_PAIR_MAP(PAIR)
                                                MARK(58, MPI_LB) MARK(59, MPI_UB)};
enum { N_PREDEFINED = sizeof(predefined) / sizeof(predefined[0]) };

const struct wl_type *wl_type_of(const struct wl_rank *rank, MPI_Datatype handle,
                                 const char *function)
{
    uint32_t place = wl_handle_place(handle);

    if ((uint32_t)handle >> WL_KIND_SHIFT == WL_TYPE && place > 0 && place < N_PREDEFINED) {
        return &predefined[place];
    }
    const struct wl_type *type = wl_table_get(&rank->types, WL_TYPE, handle);
    if (type == NULL) {
        wl_fatal(rank, function, "there is no datatype 0x%x", (unsigned)handle);
    }
    return type;
}

MPI_Datatype wl_type_handle(struct wl_rank *rank, const struct wl_type *type)
{
    if (type->predefined) {
        return wl_handle(WL_TYPE, (uint32_t)(type - predefined));
    }
    wl_type_hold(type);
    return wl_table_add(&rank->types, WL_TYPE, (void *)(uintptr_t)type);
}

void wl_pack(const struct wl_type *type, const void *from, size_t count, void *to)
{
    const unsigned char *element = from;
    unsigned char *out = to;

    if (type->contiguous) {
        if (count * type->size > 0) {
            memcpy(to, from, count * type->size);
        }
        return;
    }
    for (size_t i = 0; i < count; i++, element += type->extent) {
        for (uint32_t b = 0; b < type->n_blocks; b++) {
            memcpy(out, element + type->blocks[b].at, type->blocks[b].bytes);
            out += type->blocks[b].bytes;
        }
    }
}

void wl_unpack_bytes(const struct wl_type *type, const void *from, size_t bytes, void *to)
{
    const unsigned char *in = from;
    unsigned char *element = to;

    if (type->contiguous) {
        if (bytes > 0) {
            memcpy(to, from, bytes);
        }
        return;
    }
    for (; bytes > 0; element += type->extent) {
        for (uint32_t b = 0; b < type->n_blocks && bytes > 0; b++) {
            size_t n = type->blocks[b].bytes < bytes ? type->blocks[b].bytes : bytes;
            memcpy(element + type->blocks[b].at, in, n);
            in += n;
            bytes -= n;
        }
    }
}

void wl_unpack(const struct wl_type *type, const void *from, size_t count, void *to)
{
    wl_unpack_bytes(type, from, count * type->size, to);
}
