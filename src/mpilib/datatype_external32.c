/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packing in the representation "external32" that all implementations share (MPI-3.1, 13.5.2):
 * each value with its most significant byte first, in the size that the standard says.
 */
#include "mpilib/datatype.h"
#include "mpilib/memory.h"

#include <stdlib.h>
#include <string.h>

/* How a number is written. */
enum form { SAME, SIGNED, UNSIGNED, LONG_DOUBLE };

/* A predefined type is one number, or two. */
struct number {
    size_t here, there; /* bytes in memory and outside */
    enum form form;
};

static bool lasts_first(void)
{
    const uint16_t one = 1;
    unsigned char first;

    memcpy(&first, &one, 1);
    return first == 1;
}

static void turn(unsigned char *to, const unsigned char *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        to[i] = from[lasts_first() ? n - 1 - i : i];
    }
}

/* What is not as long outside as here. */
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

/* ---- numbers that change their size ---- */

static void integer_out(unsigned char *to, const unsigned char *from, const struct number *what)
{
    uint64_t value = 0;
    unsigned char raw[8];

    turn(raw, from, what->here);
    for (size_t i = 0; i < what->here; i++) {
        value = value << 8 | raw[i];
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
    turn(to, raw, what->here);
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

/* The 80 bits of this processor have the exponent of the 128 bits outside, and the leading 1 of
 * the fraction in full: 63 bits behind it here, 112 there. */
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
    turn(to, from, 16);
}

static void long_double_in(unsigned char *to, const unsigned char *from)
{
    turn(to, from, 16);
}
#endif

/* ---- all values of a type ---- */

struct way {
    struct wl_rank *rank;
    unsigned char *here, *there; /* both null: it only measures */
    size_t bytes;                /* outside */
    bool out;
};

static void convert(const struct way *way, const struct number *what)
{
    if (what->form == SAME) {
        turn(way->out ? way->there : way->here, way->out ? way->here : way->there, what->here);
    } else if (what->form == LONG_DOUBLE && way->out) {
        long_double_out(way->there, way->here);
    } else if (what->form == LONG_DOUBLE) {
        long_double_in(way->here, way->there);
    } else if (way->out) {
        integer_out(way->there, way->here, what);
    } else {
        integer_in(way->here, way->there, what);
    }
}

static void visit(void *arg, const struct wl_type *type)
{
    struct way *way = arg;
    struct number numbers[2];
    int n = numbers_of(way->rank, type, numbers);

    for (int i = 0; i < n; i++) {
        if (way->here != NULL) {
            convert(way, &numbers[i]);
            way->here += numbers[i].here;
            way->there += numbers[i].there;
        }
        way->bytes += numbers[i].there;
    }
}

/* What one element takes outside. */
static size_t bytes_of(struct wl_rank *rank, const struct wl_type *type)
{
    struct way way = {.rank = rank};

    wl_type_visit(type, &(struct wl_visit){visit, &way});
    return way.bytes;
}

static void check(const struct wl_rank *rank, const char *representation, const char *function)
{
    if (strcmp(representation, "external32") != 0) {
        wl_fatal(rank, function, "there is no representation \"%s\", only \"external32\"",
                 representation);
    }
}

int MPI_Pack_external_size(const char *representation, int incount, MPI_Datatype datatype,
                           MPI_Aint *size)
{
    static const char function[] = "MPI_Pack_external_size";
    struct wl_rank *rank = wl_enter();

    check(rank, representation, function);
    *size = (MPI_Aint)incount * (MPI_Aint)bytes_of(rank, wl_type_of(rank, datatype, function));
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Pack_external(const char *representation, const void *inbuf, int incount,
                      MPI_Datatype datatype, void *outbuf, MPI_Aint outsize, MPI_Aint *position)
{
    static const char function[] = "MPI_Pack_external";
    struct wl_rank *rank = wl_enter();
    const struct wl_type *type = wl_type_of(rank, datatype, function);
    MPI_Aint bytes = (MPI_Aint)incount * (MPI_Aint)bytes_of(rank, type);

    check(rank, representation, function);
    if (bytes > outsize - *position) {
        wl_fatal(rank, function, "%ld bytes do not fit behind %ld of %ld", (long)bytes,
                 (long)*position, (long)outsize);
    }
    unsigned char *packed = wl_malloc((size_t)incount * type->size);
    struct way way = {rank, packed, (unsigned char *)outbuf + *position, 0, true};
    wl_pack(type, inbuf, (size_t)incount, packed);
    for (int i = 0; i < incount; i++) {
        wl_type_visit(type, &(struct wl_visit){visit, &way});
    }
    *position += bytes;
    free(packed);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Unpack_external(const char *representation, const void *inbuf, MPI_Aint insize,
                        MPI_Aint *position, void *outbuf, int outcount, MPI_Datatype datatype)
{
    static const char function[] = "MPI_Unpack_external";
    struct wl_rank *rank = wl_enter();
    const struct wl_type *type = wl_type_of(rank, datatype, function);
    MPI_Aint bytes = (MPI_Aint)outcount * (MPI_Aint)bytes_of(rank, type);

    check(rank, representation, function);
    if (bytes > insize - *position) {
        wl_fatal(rank, function, "%ld bytes are not there behind %ld of %ld", (long)bytes,
                 (long)*position, (long)insize);
    }
    unsigned char *packed = wl_malloc((size_t)outcount * type->size);
    struct way way = {rank, packed, (unsigned char *)(uintptr_t)inbuf + *position, 0, false};
    for (int i = 0; i < outcount; i++) {
        wl_type_visit(type, &(struct wl_visit){visit, &way});
    }
    wl_unpack(type, packed, (size_t)outcount, outbuf);
    *position += bytes;
    free(packed);
    wl_leave(rank);
    return MPI_SUCCESS;
}
