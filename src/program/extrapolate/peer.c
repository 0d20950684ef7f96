/* SPDX-License-Identifier: Apache-2.0 */
#include "program/extrapolate/peer.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIELD_BITS = 14, FIELD_HALF = 1 << (FIELD_BITS - 1) };

uint64_t wf_ext_symbol_pack(const struct wf_ext_symbol *symbol)
{
    uint64_t packed = symbol->family;

    for (uint32_t i = 0; i < 4; i++) {
        packed = packed << FIELD_BITS | (uint64_t)(symbol->v[i] + FIELD_HALF);
    }
    return packed;
}

struct wf_ext_symbol wf_ext_symbol_unpack(uint64_t packed)
{
    struct wf_ext_symbol symbol;

    for (uint32_t i = 4; i-- > 0;) {
        symbol.v[i] = (int32_t)(packed & (2 * FIELD_HALF - 1)) - FIELD_HALF;
        packed >>= FIELD_BITS;
    }
    symbol.family = (uint8_t)packed;
    return symbol;
}

/* ---- evaluation ---- */

static uint32_t wrap(int64_t x, uint32_t size)
{
    int64_t left = x % (int64_t)size;

    return (uint32_t)(left < 0 ? left + (int64_t)size : left);
}

/* log2 of a power of two; -1 for another number. */
static int exact_log2(uint32_t x)
{
    int bits = 0;

    if (x == 0 || (x & (x - 1)) != 0) {
        return -1;
    }
    for (; x > 1; x >>= 1) {
        bits++;
    }
    return bits;
}

static uint32_t highest_bit(uint32_t x)
{
    uint32_t bit = 1;

    for (; x > 1; x >>= 1) {
        bit <<= 1;
    }
    return bit;
}

static uint32_t rotated(uint32_t x, int bits, int by)
{
    uint32_t mask = (UINT32_C(1) << bits) - 1;
    int left = bits > 0 ? ((by % bits) + bits) % bits : 0;

    return ((x << left) | (x >> (bits - left))) & mask;
}

static uint32_t reversed(uint32_t x, int bits)
{
    uint32_t out = 0;

    for (int i = 0; i < bits; i++) {
        out = out << 1 | (x >> i & 1);
    }
    return out;
}

/* The new coordinate; a number from X on if there is none. */
static uint32_t new_coord(const struct wf_ext_symbol *s, uint32_t x, uint32_t size)
{
    int bits = exact_log2(size);
    int64_t to = size;

    switch ((enum wf_ext_family)s->family) {
    case WF_EXT_MOVE:
        return wrap((int64_t)x + s->v[1], size);
    case WF_EXT_SET:
        to = s->v[1];
        break;
    case WF_EXT_SET_TOP:
        to = (int64_t)size - 1 - s->v[1];
        break;
    case WF_EXT_XOR:
        to = x ^ (uint32_t)s->v[1];
        break;
    case WF_EXT_XOR_TOP:
        to = bits >= s->v[1] ? x ^ (size >> s->v[1]) : size;
        break;
    case WF_EXT_FRACTION:
        to = size % (uint32_t)s->v[2] == 0
                 ? wrap((int64_t)x + (int64_t)s->v[1] * (size / (uint32_t)s->v[2]) + s->v[3],
                        size)
                 : size;
        break;
    case WF_EXT_MIRROR:
        to = (int64_t)size - 1 - x;
        break;
    case WF_EXT_REVERSE:
        to = bits >= 0 ? reversed(x, bits) : size;
        break;
    case WF_EXT_LOW:
        to = x > 0 ? x & (x - 1) : size;
        break;
    case WF_EXT_HIGH:
        to = x > 0 ? x ^ highest_bit(x) : size;
        break;
    case WF_EXT_LEADER:
        to = x - x % (uint32_t)s->v[1];
        break;
    case WF_EXT_PARENT:
        to = x > 0 ? (x - 1) / (uint32_t)s->v[1] : size;
        break;
    case WF_EXT_CHILD:
        to = (int64_t)x * s->v[1] + s->v[2];
        break;
    case WF_EXT_VECTOR:
    case WF_EXT_SWAP:
    case WF_EXT_ROTATE:
    case WF_EXT_FAMILIES:
        break;
    }
    return to < 0 || to >= (int64_t)size ? size : (uint32_t)to;
}

bool wf_ext_peer(const struct wf_ext_grid *grid, const struct wf_ext_symbol *symbol,
                 uint32_t rank, uint32_t *out)
{
    if (symbol->family == WF_EXT_VECTOR) {
        for (uint32_t d = 0; d < grid->n_dims; d++) {
            uint32_t x = wf_ext_coord(grid, d, rank);
            rank = wf_ext_moved(grid, d, rank, wrap((int64_t)x + symbol->v[d], grid->size[d]));
        }
        *out = rank;
        return true;
    }
    uint32_t d = (uint32_t)symbol->v[0];
    if (symbol->family == WF_EXT_SWAP) {
        uint32_t e = (uint32_t)symbol->v[1];
        uint32_t x = wf_ext_coord(grid, d, rank), y = wf_ext_coord(grid, e, rank);
        uint32_t k = grid->size[d] / grid->size[e];
        if (k == 0 || k * grid->size[e] != grid->size[d]) {
            return false;
        }
        *out = wf_ext_moved(grid, e, wf_ext_moved(grid, d, rank, y * k + x % k), x / k);
        return true;
    }
    if (symbol->family == WF_EXT_ROTATE) {
        int bits = exact_log2(grid->n);
        int by = d == WF_EXT_WHOLE ? symbol->v[1] : exact_log2(grid->size[d]) * symbol->v[1];
        *out = bits > 0 ? rotated(rank, bits, by) : rank;
        return bits > 0 && (d == WF_EXT_WHOLE || exact_log2(grid->size[d]) >= 0);
    }
    uint32_t x = new_coord(symbol, wf_ext_coord(grid, d, rank), grid->size[d]);
    if (x >= grid->size[d]) {
        return false;
    }
    *out = wf_ext_moved(grid, d, rank, x);
    return true;
}

/* ---- finding symbols ---- */

struct list {
    const struct wf_ext_grid *grid;
    uint32_t rank, peer;
    uint64_t *out;
    uint32_t n;
};

static void add(struct list *list, const struct wf_ext_symbol *symbol)
{
    uint32_t peer;

    for (uint32_t i = 0; i < 4; i++) {
        if (symbol->v[i] <= -FIELD_HALF || symbol->v[i] >= FIELD_HALF) {
            return;
        }
    }
    if (list->n < WF_EXT_SYMBOLS_MAX && wf_ext_peer(list->grid, symbol, list->rank, &peer) &&
        peer == list->peer) {
        list->out[list->n++] = wf_ext_symbol_pack(symbol);
    }
}

static void add4(struct list *list, enum wf_ext_family family, uint32_t d, int64_t a, int64_t b)
{
    struct wf_ext_symbol symbol = {.family = (uint8_t)family, .v = {(int32_t)d}};

    if (a > -FIELD_HALF && a < FIELD_HALF && b > -FIELD_HALF && b < FIELD_HALF) {
        symbol.v[1] = (int32_t)a;
        symbol.v[2] = (int32_t)b;
        add(list, &symbol);
    }
}

static uint32_t common(uint32_t a, uint32_t b)
{
    while (b != 0) {
        uint32_t left = a % b;
        a = b;
        b = left;
    }
    return a;
}

/* Moves by a part of the size, such as X/2 - 1. */
static void add_fractions(struct list *list, uint32_t d, uint32_t delta, uint32_t size)
{
    enum { PARTS_MAX = 64, SMALLEST = 4 };

    for (int32_t o = -1; o <= 1; o++) {
        uint32_t part = wrap((int64_t)delta - o, size);
        uint32_t common_part = part > 0 ? common(size, part) : 0;
        if (common_part >= SMALLEST && size / common_part <= PARTS_MAX) {
            const struct wf_ext_symbol symbol = {.family = WF_EXT_FRACTION,
                                                 .v = {(int32_t)d,
                                                       (int32_t)(part / common_part),
                                                       (int32_t)(size / common_part), o}};
            add(list, &symbol);
        }
    }
}

/* The functions of one coordinate. */
static void add_dimension(struct list *list, uint32_t d)
{
    const struct wf_ext_grid *grid = list->grid;
    uint32_t size = grid->size[d];
    uint32_t x = wf_ext_coord(grid, d, list->rank), y = wf_ext_coord(grid, d, list->peer);
    uint32_t delta = wrap((int64_t)y - x, size);

    if (wf_ext_moved(grid, d, list->rank, y) != list->peer) {
        return;
    }
    add4(list, WF_EXT_MOVE, d, delta, 0);
    add4(list, WF_EXT_MOVE, d, (int64_t)delta - size, 0);
    add4(list, WF_EXT_SET, d, y, 0);
    add4(list, WF_EXT_SET_TOP, d, (int64_t)size - 1 - y, 0);
    add4(list, WF_EXT_MIRROR, d, 0, 0);
    add4(list, WF_EXT_REVERSE, d, 0, 0);
    add4(list, WF_EXT_LOW, d, 0, 0);
    add4(list, WF_EXT_HIGH, d, 0, 0);
    if (x != y) {
        int bits = exact_log2(size), bit = exact_log2(x ^ y);
        add4(list, WF_EXT_XOR, d, x ^ y, 0);
        if (bits >= 0 && bit >= 0) {
            add4(list, WF_EXT_XOR_TOP, d, bits - bit, 0);
        }
        add_fractions(list, d, delta, size);
    }
    for (uint32_t k = 2; k <= 16; k++) {
        add4(list, WF_EXT_LEADER, d, k, 0);
        add4(list, WF_EXT_PARENT, d, k, 0);
        if (y >= k * x && y - k * x <= k) {
            add4(list, WF_EXT_CHILD, d, k, y - k * x);
        }
    }
}

/* Moves in several dimensions, around each end or not. */
static void add_vectors(struct list *list)
{
    const struct wf_ext_grid *grid = list->grid;

    for (uint32_t way = 0; way < 1U << grid->n_dims; way++) {
        struct wf_ext_symbol symbol = {.family = WF_EXT_VECTOR};
        uint32_t moved = 0;
        bool fresh = true;
        for (uint32_t d = 0; d < grid->n_dims; d++) {
            uint32_t delta = wrap((int64_t)wf_ext_coord(grid, d, list->peer) -
                                      wf_ext_coord(grid, d, list->rank),
                                  grid->size[d]);
            bool back = (way >> d & 1) != 0;
            fresh = fresh && (delta != 0 || !back);
            symbol.v[d] = (int32_t)(back ? (int64_t)delta - grid->size[d] : delta);
            moved += delta != 0 ? 1 : 0;
        }
        if (fresh && moved > 1) {
            add(list, &symbol);
        }
    }
}

uint32_t wf_ext_symbols(const struct wf_ext_grid *grid, uint32_t rank, uint32_t peer,
                        uint64_t out[WF_EXT_SYMBOLS_MAX])
{
    struct list list = {.grid = grid, .rank = rank, .peer = peer, .out = out};

    for (uint32_t d = 0; grid->n_dims > 1 && d < grid->n_dims; d++) {
        add_dimension(&list, d);
    }
    add_dimension(&list, WF_EXT_WHOLE);
    if (grid->n_dims > 1) {
        add_vectors(&list);
        for (uint32_t d = 0; d < grid->n_dims; d++) {
            add4(&list, WF_EXT_ROTATE, d, 1, 0);
            add4(&list, WF_EXT_ROTATE, d, -1, 0);
            for (uint32_t e = 0; e < grid->n_dims; e++) {
                if (d < e || grid->size[d] > grid->size[e]) {
                    add4(&list, WF_EXT_SWAP, d, e, 0);
                }
            }
        }
    }
    add4(&list, WF_EXT_ROTATE, WF_EXT_WHOLE, 1, 0);
    add4(&list, WF_EXT_ROTATE, WF_EXT_WHOLE, -1, 0);
    return list.n;
}

uint64_t wf_ext_symbol_cost(uint64_t packed)
{
    const struct wf_ext_symbol symbol = wf_ext_symbol_unpack(packed);
    uint64_t cost = 0;

    for (uint32_t i = symbol.family == WF_EXT_VECTOR ? 0 : 1; i < 4; i++) {
        cost += (uint64_t)(2 * abs(symbol.v[i]) + (symbol.v[i] < 0 ? 1 : 0));
    }
    /* Small moves, the ranks at the ends, and then larger numbers. */
    uint64_t dimension = symbol.family == WF_EXT_VECTOR ? 5 : (uint64_t)symbol.v[0];
    return (cost < 8 ? 0 : cost) << 16 | (uint64_t)symbol.family << 8 | dimension << 4 |
           (cost < 8 ? cost : 0);
}

bool wf_ext_symbol_varies(const struct wf_ext_symbol *symbol, uint32_t *which)
{
    static const uint8_t of[WF_EXT_FAMILIES] = {
        [WF_EXT_MOVE] = 1,    [WF_EXT_SET] = 1,      [WF_EXT_SET_TOP] = 1, [WF_EXT_XOR] = 1,
        [WF_EXT_XOR_TOP] = 1, [WF_EXT_FRACTION] = 2, [WF_EXT_CHILD] = 2,   [WF_EXT_LEADER] = 1,
    };

    *which = of[symbol->family];
    return *which != 0;
}

/* ---- text ---- */

const char *wf_ext_symbol_text(const struct wf_ext_symbol *symbol, const char *index,
                               char *text, size_t size)
{
    const int32_t *v = symbol->v;
    const char *x = symbol->family == WF_EXT_VECTOR ? "" : wf_ext_coord_names[v[0]];
    const char *n = symbol->family == WF_EXT_VECTOR ? "" : wf_ext_size_names[v[0]];
    char number[48];
    uint32_t which = 0;

    (void)wf_ext_symbol_varies(symbol, &which);
    (void)snprintf(number, sizeof(number), "%d", v[which]);
    const char *k = index != NULL ? index : number;
    const char *plus = index != NULL || v[1] >= 0 ? "+" : "";
    switch ((enum wf_ext_family)symbol->family) {
    case WF_EXT_MOVE:
        (void)snprintf(text, size, "%s%s%s", x, plus, k);
        break;
    case WF_EXT_VECTOR:
        (void)snprintf(text, size, "(x%+d, y%+d, z%+d, w%+d)", v[0], v[1], v[2], v[3]);
        break;
    case WF_EXT_SET:
        (void)snprintf(text, size, "%s=%s", x, k);
        break;
    case WF_EXT_SET_TOP:
        (void)snprintf(text, size, "%s=%s-1-%s", x, n, k);
        break;
    case WF_EXT_XOR:
        (void)snprintf(text, size, "%s^%s", x, k);
        break;
    case WF_EXT_XOR_TOP:
        (void)snprintf(text, size, "%s^(%s>>%s)", x, n, k);
        break;
    case WF_EXT_FRACTION:
        (void)snprintf(text, size, "%s+%d*%s/%s%+d", x, v[1], n, k, v[3]);
        break;
    case WF_EXT_MIRROR:
        (void)snprintf(text, size, "%s=%s-1-%s", x, n, x);
        break;
    case WF_EXT_SWAP:
        (void)snprintf(text, size, "swap(%s, %s)", x, wf_ext_coord_names[v[1]]);
        break;
    case WF_EXT_ROTATE:
        if (v[0] == WF_EXT_WHOLE) {
            (void)snprintf(text, size, "rotate(rank, %d)", v[1]);
        } else {
            (void)snprintf(text, size, "rotate(rank, %slog2(%s))", v[1] < 0 ? "-" : "", n);
        }
        break;
    case WF_EXT_REVERSE:
        (void)snprintf(text, size, "reverse(%s)", x);
        break;
    case WF_EXT_LOW:
        (void)snprintf(text, size, "%s & (%s-1)", x, x);
        break;
    case WF_EXT_HIGH:
        (void)snprintf(text, size, "%s without its highest bit", x);
        break;
    case WF_EXT_LEADER:
        (void)snprintf(text, size, "%s - %s mod %s", x, x, k);
        break;
    case WF_EXT_PARENT:
        (void)snprintf(text, size, "(%s-1)/%d", x, v[1]);
        break;
    case WF_EXT_CHILD:
        (void)snprintf(text, size, "%d*%s+%s", v[1], x, k);
        break;
    case WF_EXT_FAMILIES:
        text[0] = '\0';
    }
    return text;
}
