/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packing in "external32", the data representation that all implementations share (MPI-3.1,
 * 4.3 and 13.5.2): each value with its most significant byte first, in a size that the standard
 * prescribes.
 */
#include "mpi/lib/memory.h"
#include "mpi/lib/type/datatype.h"

#include <stdlib.h>
#include <string.h>

/* How a number is converted. SAME: it has the same size in memory. */
enum form { SAME, SIGNED, UNSIGNED, LONG_DOUBLE };

/* A predefined type is one number, or two. */
struct number {
    size_t here, there; /* bytes in memory and in external32 */
    enum form form;
};

static bool is_little_endian(void)
{
    const uint16_t one = 1;
    unsigned char first;

    memcpy(&first, &one, 1);
    return first == 1;
}

static void swap_bytes(unsigned char *to, const unsigned char *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        to[i] = from[is_little_endian() ? n - 1 - i : i];
    }
}

/* Numbers whose size differs are in the table. */
static struct number number_of(int datatype, size_t size, bool first)
{
    static const struct {
        int datatype;
        struct number number;
    } others[] = {
        {MPI_LONG, {sizeof(long), 4, SIGNED}},
        {MPI_UNSIGNED_LONG, {sizeof(long), 4, UNSIGNED}},
        {MPI_LONG_INT, {sizeof(long), 4, SIGNED}},
        {MPI_WCHAR, {sizeof(wchar_t), 2, UNSIGNED}},
        {MPI_LONG_DOUBLE, {sizeof(long double), 16, LONG_DOUBLE}},
        {MPI_C_LONG_DOUBLE_COMPLEX, {sizeof(long double), 16, LONG_DOUBLE}},
        {MPI_CXX_LONG_DOUBLE_COMPLEX, {sizeof(long double), 16, LONG_DOUBLE}},
        {MPI_LONG_DOUBLE_INT, {sizeof(long double), 16, LONG_DOUBLE}},
    };

    for (size_t i = 0; first && i < sizeof(others) / sizeof(others[0]); i++) {
        if (others[i].datatype == datatype) {
            return others[i].number;
        }
    }
    return (struct number){size, size, SAME};
}

/* The numbers of a predefined type; returns how many. */
static int numbers_of(struct wl_rank *rank, const struct wl_type *type, struct number out[2])
{
    int datatype = wl_type_handle(rank, type);

    if (type->basic == WL_BASIC_PAIR) {
        out[0] = number_of(datatype, type->blocks[0].bytes, true);
        out[1] = number_of(datatype, type->blocks[1].bytes, false);
        return 2;
    }
    bool is_complex = type->basic == WL_BASIC_C32 || type->basic == WL_BASIC_C64 ||
                      type->basic == WL_BASIC_CLONG;
    out[0] = number_of(datatype, is_complex ? type->size / 2 : type->size, true);
    out[1] = out[0];
    return is_complex ? 2 : 1;
}

/* ---- numbers whose size differs ---- */

static void integer_out(unsigned char *to, const unsigned char *from, const struct number *what)
{
    uint64_t value = 0;

    for (size_t i = 0; i < what->here; i++) {
        value = value << 8 | from[is_little_endian() ? what->here - 1 - i : i];
    }
    for (size_t i = what->there; i-- > 0; value >>= 8) {
        to[i] = (unsigned char)value;
    }
}

static void integer_in(unsigned char *to, const unsigned char *from, const struct number *what)
{
    bool negative = what->form == SIGNED && (from[0] & 0x80) != 0;
    unsigned char raw[8];

    memset(raw, negative ? 0xff : 0, sizeof(raw));
    memcpy(raw + what->here - what->there, from, what->there);
    swap_bytes(to, raw, what->here);
}

#ifdef __x86_64__
enum { WIDE = 16 };

static void write_word(unsigned char *to, uint64_t word)
{
    for (int i = 8; i-- > 0; word >>= 8) {
        to[i] = (unsigned char)word;
    }
}

static uint64_t read_word(const unsigned char *from)
{
    uint64_t word = 0;

    for (int i = 0; i < 8; i++) {
        word = word << 8 | from[i];
    }
    return word;
}

/* The 80-bit format of x86 has the same exponent as the 128-bit format, but stores the leading
 * 1 of the fraction: 63 bits follow it here, 112 there. */
static void long_double_out(unsigned char *to, const unsigned char *from)
{
    uint64_t fraction;
    uint16_t head;

    memcpy(&fraction, from, sizeof(fraction));
    memcpy(&head, from + sizeof(fraction), sizeof(head));
    fraction &= UINT64_MAX >> 1;
    write_word(to, (uint64_t)head << 48 | fraction >> 15);
    write_word(to + 8, fraction << 49);
}

static void long_double_in(unsigned char *to, const unsigned char *from)
{
    uint64_t high = read_word(from), low = read_word(from + 8);
    uint16_t head = (uint16_t)(high >> 48);
    uint64_t fraction = (high << 16 >> 1) | low >> 49;

    fraction |= (head & 0x7fff) != 0 ? UINT64_C(1) << 63 : 0;
    memset(to, 0, WIDE);
    memcpy(to, &fraction, sizeof(fraction));
    memcpy(to + sizeof(fraction), &head, sizeof(head));
}
#else
static void long_double_out(unsigned char *to, const unsigned char *from)
{
    swap_bytes(to, from, 16);
}

static void long_double_in(unsigned char *to, const unsigned char *from)
{
    swap_bytes(to, from, 16);
}
#endif

/* ---- all values of a type ---- */

/* A conversion in one direction. Both places advance. */
struct conversion {
    struct wl_rank *rank;
    bool out;
    unsigned char *here, *there; /* both null: only measures */
    size_t bytes;                /* in external32 */
};

static void convert(const struct conversion *conversion, const struct number *number)
{
    unsigned char *here = conversion->here, *there = conversion->there;
    bool out = conversion->out;

    if (number->form == SAME) {
        swap_bytes(out ? there : here, out ? here : there, number->here);
    } else if (number->form == LONG_DOUBLE && out) {
        long_double_out(there, here);
    } else if (number->form == LONG_DOUBLE) {
        long_double_in(here, there);
    } else if (out) {
        integer_out(there, here, number);
    } else {
        integer_in(here, there, number);
    }
}

static void visit(void *arg, const struct wl_type *type)
{
    struct conversion *conversion = arg;
    struct number numbers[2];
    int n = numbers_of(conversion->rank, type, numbers);

    for (int i = 0; i < n; i++) {
        if (conversion->here != NULL) {
            convert(conversion, &numbers[i]);
            conversion->here += numbers[i].here;
            conversion->there += numbers[i].there;
        }
        conversion->bytes += numbers[i].there;
    }
}

/* The bytes of `count` elements in external32. */
static MPI_Aint external_size(struct wl_rank *rank, const char *representation, MPI_Count count,
                              const struct wl_type *type)
{
    struct conversion conversion = {.rank = rank};

    if (strcmp(representation, "external32") != 0) {
        wl_fatal(rank, "there is no data representation \"%s\", only \"external32\"",
                 representation);
    }
    wl_type_visit(type, &(struct wl_visit){visit, &conversion});
    return (MPI_Aint)count * (MPI_Aint)conversion.bytes;
}

static void convert_elements(struct conversion conversion, MPI_Count count,
                             const struct wl_type *type)
{
    for (MPI_Count i = 0; i < count; i++) {
        wl_type_visit(type, &(struct wl_visit){visit, &conversion});
    }
}

int wl_MPI_Pack_external_size(struct wl_rank *rank, const char *representation,
                              MPI_Count incount, MPI_Datatype datatype, MPI_Aint *size)
{
    *size = external_size(rank, representation, incount, wl_type_of(rank, datatype));
    return MPI_SUCCESS;
}

int wl_MPI_Pack_external(struct wl_rank *rank, const char *representation, const void *inbuf,
                         MPI_Count incount, MPI_Datatype datatype, void *outbuf,
                         MPI_Aint outsize, MPI_Aint *position)
{
    const struct wl_type *type = wl_type_of(rank, datatype);
    MPI_Aint bytes = external_size(rank, representation, incount, type);

    if (bytes > outsize - *position) {
        wl_fatal(rank, "%ld bytes do not fit after byte %ld of a buffer of %ld", (long)bytes,
                 (long)*position, (long)outsize);
    }
    unsigned char *packed = wl_malloc((size_t)incount * type->size);
    wl_pack(type, inbuf, (size_t)incount, packed);
    convert_elements(
        (struct conversion){rank, true, packed, (unsigned char *)outbuf + *position, 0},
        incount, type);
    *position += bytes;
    free(packed);
    return MPI_SUCCESS;
}

int wl_MPI_Unpack_external(struct wl_rank *rank, const char *representation, const void *inbuf,
                           MPI_Aint insize, MPI_Aint *position, void *outbuf,
                           MPI_Count outcount, MPI_Datatype datatype)
{
    const struct wl_type *type = wl_type_of(rank, datatype);
    MPI_Aint bytes = external_size(rank, representation, outcount, type);

    if (bytes > insize - *position) {
        wl_fatal(rank, "there are no %ld bytes after byte %ld of a buffer of %ld", (long)bytes,
                 (long)*position, (long)insize);
    }
    unsigned char *packed = wl_malloc((size_t)outcount * type->size);
    convert_elements((struct conversion){rank, false, packed,
                                         (unsigned char *)(uintptr_t)inbuf + *position, 0},
                     outcount, type);
    wl_unpack(type, packed, (size_t)outcount, outbuf);
    *position += bytes;
    free(packed);
    return MPI_SUCCESS;
}
