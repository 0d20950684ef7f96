/* SPDX-License-Identifier: Apache-2.0 */
#include "program/extrapolate/guard.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* x: coordinate, X: size, q: distance of the peer, t: round. */
enum test {
    HAS_PEER,
    PEER_ABOVE,
    PEER_BELOW,
    PEER_OTHER,
    SQUARE, /* all dimensions of the grid have the same size */
    NOT_SQUARE,
    DIAGONAL,
    NOT_DIAGONAL,
    IS,
    IS_NOT,
    IS_TOP,
    IS_NOT_TOP,
    LESS,
    NOT_LESS,
    LESS_TOP,
    NOT_LESS_TOP,
    EVEN,
    ODD,
    LOWER_HALF,
    UPPER_HALF,
    MULTIPLE,
    NO_MULTIPLE,
    LAST_OF, /* x mod k = k - 1 */
    NOT_LAST_OF,
    LESS_Q,
    NOT_LESS_Q,
    FITS_Q,
    NOT_FITS_Q,
    MULTIPLE_2Q,
    ODD_MULTIPLE_Q,
    BIT_CLEAR,
    BIT_SET,
    MULTIPLE_Q,
    LESS_2Q,
    IS_T,
    IS_NOT_T,
    ABOVE_T,
    BELOW_T,
    TESTS,
};

/* Writing: the text before the number, and whether there is one. */
static const struct {
    const char *text;
    bool by_dim, by_k, in_rounds;
} tests[TESTS] = {
    [HAS_PEER] = {"the peer exists", false, false, false},
    [PEER_ABOVE] = {"peer > rank", false, false, false},
    [PEER_BELOW] = {"peer < rank", false, false, false},
    [PEER_OTHER] = {"peer != rank", false, false, false},
    [SQUARE] = {"all dimensions are equal", false, false, false},
    [NOT_SQUARE] = {"dimensions differ", false, false, false},
    [DIAGONAL] = {"x = y", false, false, false},
    [NOT_DIAGONAL] = {"x != y", false, false, false},
    [IS] = {"%x = %k", true, true, false},
    [IS_NOT] = {"%x != %k", true, true, false},
    [IS_TOP] = {"%x = %X-1-%k", true, true, false},
    [IS_NOT_TOP] = {"%x != %X-1-%k", true, true, false},
    [LESS] = {"%x < %k", true, true, false},
    [NOT_LESS] = {"%x >= %k", true, true, false},
    [LESS_TOP] = {"%x >= %X-%k", true, true, false},
    [NOT_LESS_TOP] = {"%x < %X-%k", true, true, false},
    [EVEN] = {"%x is even", true, false, false},
    [ODD] = {"%x is odd", true, false, false},
    [LOWER_HALF] = {"%x < %X/2", true, false, false},
    [UPPER_HALF] = {"%x >= %X/2", true, false, false},
    [MULTIPLE] = {"%x mod %k = 0", true, true, false},
    [NO_MULTIPLE] = {"%x mod %k != 0", true, true, false},
    [LAST_OF] = {"%x mod %k = %k-1", true, true, false},
    [NOT_LAST_OF] = {"%x mod %k != %k-1", true, true, false},
    [LESS_Q] = {"%x < q", true, false, true},
    [NOT_LESS_Q] = {"%x >= q", true, false, true},
    [FITS_Q] = {"%x+q < %X", true, false, true},
    [NOT_FITS_Q] = {"%x+q >= %X", true, false, true},
    [MULTIPLE_2Q] = {"%x mod 2q = 0", true, false, true},
    [ODD_MULTIPLE_Q] = {"%x mod 2q = q", true, false, true},
    [BIT_CLEAR] = {"%x mod 2q < q", true, false, true},
    [BIT_SET] = {"%x mod 2q >= q", true, false, true},
    [MULTIPLE_Q] = {"%x mod q = 0", true, false, true},
    [LESS_2Q] = {"%x < 2q", true, false, true},
    [IS_T] = {"%x = t", true, false, true},
    [IS_NOT_T] = {"%x != t", true, false, true},
    [ABOVE_T] = {"%x > t", true, false, true},
    [BELOW_T] = {"%x < t", true, false, true},
};

static bool holds_for_peer(const struct wf_ext_where *where, uint8_t test)
{
    switch (test) {
    case HAS_PEER:
        return where->has_peer;
    case PEER_ABOVE:
        return where->has_peer && where->peer > where->rank;
    case PEER_BELOW:
        return where->has_peer && where->peer < where->rank;
    default:
        return where->has_peer && where->peer != where->rank;
    }
}

static bool is_square(const struct wf_ext_grid *grid)
{
    for (uint32_t d = 1; d < grid->n_dims; d++) {
        if (grid->size[d] != grid->size[0]) {
            return false;
        }
    }
    return grid->n_dims > 1;
}

static bool is_diagonal(const struct wf_ext_where *where)
{
    return where->grid->n_dims > 1 && wf_ext_coord(where->grid, 0, where->rank) ==
                                          wf_ext_coord(where->grid, 1, where->rank);
}

static bool holds_in_round(uint64_t x, uint64_t size, uint64_t q, uint64_t t, uint8_t test)
{
    uint64_t q2 = 2 * q;

    if (q == 0 && test < IS_T) {
        return false;
    }
    switch (test) {
    case LESS_Q:
        return x < q;
    case NOT_LESS_Q:
        return x >= q;
    case FITS_Q:
        return x + q < size;
    case NOT_FITS_Q:
        return x + q >= size;
    case MULTIPLE_2Q:
        return x % q2 == 0;
    case ODD_MULTIPLE_Q:
        return x % q2 == q;
    case BIT_CLEAR:
        return x % q2 < q;
    case BIT_SET:
        return x % q2 >= q;
    case MULTIPLE_Q:
        return x % q == 0;
    case LESS_2Q:
        return x < q2;
    case IS_T:
        return x == t;
    case IS_NOT_T:
        return x != t;
    case ABOVE_T:
        return x > t;
    default:
        return x < t;
    }
}

static bool atom_holds(const struct wf_ext_atom *atom, const struct wf_ext_where *where)
{
    if (atom->test <= PEER_OTHER) {
        return holds_for_peer(where, atom->test);
    }
    if (atom->test <= NOT_SQUARE) {
        /* Other statements must not depend on the number of ranks alone: that could tell any two
         * programs from each other. */
        return where->swaps && is_square(where->grid) == (atom->test == SQUARE);
    }
    if (atom->test <= NOT_DIAGONAL) {
        return is_diagonal(where) == (atom->test == DIAGONAL);
    }
    uint32_t size = where->grid->size[atom->dim];
    uint32_t x = wf_ext_coord(where->grid, atom->dim, where->rank);
    uint32_t top = size - 1 - x, k = atom->k;
    if (atom->test >= LESS_Q) {
        return where->in_rounds &&
               holds_in_round(x, size, where->distance, where->round, atom->test);
    }
    switch (atom->test) {
    case IS:
        return x == k;
    case IS_NOT:
        return x != k;
    case IS_TOP:
        return top == k;
    case IS_NOT_TOP:
        return top != k;
    case LESS:
        return x < k;
    case NOT_LESS:
        return x >= k;
    case LESS_TOP:
        return top < k;
    case NOT_LESS_TOP:
        return top >= k;
    case EVEN:
        return x % 2 == 0;
    case ODD:
        return x % 2 == 1;
    case LOWER_HALF:
        return x < size / 2;
    case UPPER_HALF:
        return x >= size / 2;
    case MULTIPLE:
        return x % k == 0;
    case NO_MULTIPLE:
        return x % k != 0;
    case LAST_OF:
        return x % k == k - 1;
    default:
        return x % k != k - 1;
    }
}

bool wf_ext_guard_holds(const struct wf_ext_guard *guard, const struct wf_ext_where *where)
{
    bool any = guard->n_terms == 0 && !guard->negated;

    for (uint32_t i = 0; i < guard->n_terms && !any; i++) {
        bool all = true;
        for (uint32_t j = 0; j < guard->n_atoms[i] && all; j++) {
            all = atom_holds(&guard->atoms[i][j], where);
        }
        any = all;
    }
    return guard->n_terms > 0 && guard->negated ? !any : any;
}

/* ---- learning ---- */

struct table {
    struct wf_ext_atom *atoms;
    uint32_t n_atoms, n; /* n: examples */
    uint8_t *holds;      /* by atom, then by example */
    uint8_t *wanted;     /* by example: 1 if it is a positive one */
    uint8_t *left;       /* positives that no term holds for yet */
};

struct atoms {
    struct wf_ext_atom *all;
    uint32_t n;
};

/* Adds a test with this number for each dimension that it can be about. */
static void list_dims(struct atoms *atoms, uint32_t n_dims, uint32_t test, uint32_t k)
{
    for (uint32_t d = 0; d <= WF_EXT_WHOLE; d++) {
        if (tests[test].by_dim ? d == WF_EXT_WHOLE || (n_dims > 1 && d < n_dims) : d == 0) {
            atoms->all[atoms->n++] = (struct wf_ext_atom){
                .test = (uint8_t)test, .dim = (uint8_t)d, .k = (uint16_t)k};
        }
    }
}

/* Lists all tests; of two that tell the same examples apart, the first is taken. Tests on a certain
 * coordinate come by their distance from the nearer end: in a dimension of size 4, 3 is the last
 * one rather than the fourth. */
static uint32_t list_atoms(struct wf_ext_atom *all, uint32_t n_dims, bool in_rounds)
{
    enum { K_MAX = 8 };
    struct atoms atoms = {.all = all};

    for (uint32_t test = 0; test < TESTS; test++) {
        if (tests[test].in_rounds && !in_rounds) {
            continue;
        }
        if (!tests[test].by_k) {
            list_dims(&atoms, n_dims, test, 0);
        }
        for (uint32_t k = 0; test == IS && k <= K_MAX; k++) {
            for (uint32_t one = IS; one <= IS_NOT_TOP; one++) {
                list_dims(&atoms, n_dims, one, k);
            }
        }
        for (uint32_t k = 2; tests[test].by_k && test >= LESS && k <= K_MAX; k++) {
            list_dims(&atoms, n_dims, test, k);
        }
    }
    return atoms.n;
}

/* Counts examples with this `wanted` that are alive and, if `atom` is below n_atoms, for which
 * the atom holds. */
static uint32_t count(const struct table *table, const uint8_t *alive, uint8_t wanted,
                      uint32_t atom)
{
    const uint8_t *holds = &table->holds[(size_t)atom * table->n];
    uint32_t n = 0;

    for (uint32_t i = 0; i < table->n; i++) {
        n += alive[i] != 0 && table->wanted[i] == wanted && holds[i] != 0 ? 1 : 0;
    }
    return n;
}

/* Adds atoms until no negative example is alive. With `all`, an atom must hold for every positive
 * example that is left; otherwise for the first one. */
static bool learn_term(const struct table *table, bool all, uint8_t *alive,
                       struct wf_ext_atom *atoms, uint8_t *n_atoms)
{
    uint32_t seed = 0, positives = 0, negatives = 0;

    while (seed < table->n && table->left[seed] == 0) {
        seed++;
    }
    for (uint32_t i = 0; i < table->n; i++) {
        alive[i] = table->wanted[i] == 0 || table->left[i] != 0;
        positives += table->left[i];
        negatives += table->wanted[i] == 0 ? 1 : 0;
    }
    *n_atoms = 0;
    while (negatives > 0 && *n_atoms < WF_EXT_ATOMS) {
        uint32_t best = table->n_atoms;
        int64_t best_points = 0;
        for (uint32_t a = 0; a < table->n_atoms; a++) {
            if (table->holds[(size_t)a * table->n + seed] == 0) {
                continue;
            }
            uint32_t kept = count(table, alive, 1, a);
            if (all && kept != positives) {
                continue;
            }
            int64_t removed = (int64_t)negatives - count(table, alive, 0, a);
            int64_t points = removed * 1024 - (int64_t)(positives - kept) *
                                                  (int64_t)(negatives * 1024) /
                                                  (int64_t)(2 * positives + 1);
            if (removed > 0 && points > best_points) {
                best = a;
                best_points = points;
            }
        }
        if (best == table->n_atoms) {
            return false;
        }
        atoms[(*n_atoms)++] = table->atoms[best];
        positives = negatives = 0;
        for (uint32_t i = 0; i < table->n; i++) {
            alive[i] = alive[i] != 0 && table->holds[(size_t)best * table->n + i] != 0;
            positives += table->wanted[i] != 0 && alive[i] != 0 ? 1 : 0;
            negatives += table->wanted[i] == 0 && alive[i] != 0 ? 1 : 0;
        }
    }
    return negatives == 0;
}

static bool learn_terms(struct table *table, struct wf_ext_guard *out)
{
    uint8_t *alive = wf_xcalloc(table->n, 1);
    bool learnt = true, more = true;

    memset(out, 0, sizeof(*out));
    memcpy(table->left, table->wanted, table->n);
    while (learnt && more && out->n_terms < WF_EXT_TERMS) {
        uint8_t *n_atoms = &out->n_atoms[out->n_terms];
        learnt = learn_term(table, true, alive, out->atoms[out->n_terms], n_atoms) ||
                 learn_term(table, false, alive, out->atoms[out->n_terms], n_atoms);
        out->n_terms++;
        more = false;
        for (uint32_t i = 0; i < table->n; i++) {
            table->left[i] = table->left[i] != 0 && alive[i] == 0;
            more = more || table->left[i] != 0;
        }
    }
    free(alive);
    return learnt && !more;
}

static uint32_t size_of(const struct wf_ext_guard *guard)
{
    uint32_t n = guard->negated ? 1 : 0;

    for (uint32_t i = 0; i < guard->n_terms; i++) {
        n += 2U + guard->n_atoms[i];
    }
    return n;
}

static bool learn_both(struct table *table, struct wf_ext_guard *out)
{
    struct wf_ext_guard other;
    bool learnt = learn_terms(table, out);

    for (uint32_t i = 0; i < table->n; i++) {
        table->wanted[i] = !table->wanted[i];
    }
    if (learn_terms(table, &other)) {
        other.negated = true;
        if (!learnt || size_of(&other) < size_of(out)) {
            *out = other;
        }
        learnt = true;
    }
    return learnt;
}

bool wf_ext_guard_learn(const struct wf_ext_example *examples, uint32_t n,
                        struct wf_ext_guard *out)
{
    enum { ATOMS_MAX = TESTS * (WF_EXT_DIMS + 1) * 10 };
    uint32_t positives = 0;
    bool in_rounds = false;

    memset(out, 0, sizeof(*out));
    for (uint32_t i = 0; i < n; i++) {
        positives += examples[i].holds ? 1 : 0;
        in_rounds = in_rounds || examples[i].where.in_rounds;
    }
    if (positives == n) {
        return true;
    }
    struct table table = {.atoms = wf_xcalloc(ATOMS_MAX, sizeof(*table.atoms)),
                          .n = n,
                          .wanted = wf_xcalloc(n, 1),
                          .left = wf_xcalloc(n, 1)};
    table.n_atoms = list_atoms(table.atoms, examples[0].where.grid->n_dims, in_rounds);
    table.holds = wf_xcalloc((size_t)table.n_atoms * n, 1);
    for (uint32_t a = 0; a < table.n_atoms; a++) {
        for (uint32_t i = 0; i < n; i++) {
            table.holds[(size_t)a * n + i] = atom_holds(&table.atoms[a], &examples[i].where);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        table.wanted[i] = examples[i].holds;
    }
    bool learnt = learn_both(&table, out);
    free(table.atoms);
    free(table.holds);
    free(table.wanted);
    free(table.left);
    return learnt;
}

/* ---- text ---- */

static size_t append_atom(const struct wf_ext_atom *atom, char *text, size_t size)
{
    size_t n = 0;

    for (const char *at = tests[atom->test].text; *at != '\0' && n + 12 < size; at++) {
        if (*at == '%' && at[1] != '\0') {
            at++;
            if (*at == 'k') {
                n += (size_t)snprintf(text + n, size - n, "%u", atom->k);
            } else {
                n += (size_t)snprintf(text + n, size - n, "%s",
                                      *at == 'x' ? wf_ext_coord_names[atom->dim]
                                                 : wf_ext_size_names[atom->dim]);
            }
        } else {
            text[n++] = *at;
        }
    }
    text[n < size ? n : size - 1] = '\0';
    return n;
}

const char *wf_ext_guard_text(const struct wf_ext_guard *guard, char *text, size_t size)
{
    size_t n = 0;

    text[0] = '\0';
    if (guard->negated) {
        n += (size_t)snprintf(text, size, "not (");
    }
    for (uint32_t i = 0; i < guard->n_terms && n + 16 < size; i++) {
        n += (size_t)snprintf(text + n, size - n, "%s", i > 0 ? " or " : "");
        for (uint32_t j = 0; j < guard->n_atoms[i] && n + 16 < size; j++) {
            n += (size_t)snprintf(text + n, size - n, "%s", j > 0 ? " and " : "");
            n += append_atom(&guard->atoms[i][j], text + n, size - n);
        }
    }
    if (guard->negated && n + 2 < size) {
        (void)snprintf(text + n, size - n, ")");
    }
    return text;
}
