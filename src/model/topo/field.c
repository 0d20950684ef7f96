/* SPDX-License-Identifier: Apache-2.0 */
#include "model/topo/field.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

/* The smallest prime factor of q >= 2. */
static uint32_t smallest_factor(uint32_t q)
{
    for (uint32_t p = 2; p <= q / p; p++) {
        if (q % p == 0) {
            return p;
        }
    }
    return q;
}

bool wf_topo_field_exists(uint32_t q)
{
    if (q < 2) {
        return false;
    }
    uint32_t p = smallest_factor(q);
    while (q % p == 0) {
        q /= p;
    }
    return q == 1;
}

/* a + n * b, digit by digit. */
static uint32_t add_multiple(const struct wf_topo_field *field, uint32_t a, uint32_t n,
                             uint32_t b)
{
    uint32_t sum = 0;

    for (uint32_t unit = 1; unit < field->q; unit *= field->p) {
        sum += (a / unit + n * (b / unit % field->p)) % field->p * unit;
    }
    return sum;
}

/* Whether the powers of the polynomial x are all elements except 0, given that x^k is
 * `reduced`. The field then consists of the polynomials modulo x^k - reduced, and x is
 * primitive. Fills in powers[]. For k = 1 this makes x the number `reduced` itself. */
static bool is_primitive(struct wf_topo_field *field, uint32_t reduced)
{
    uint32_t top = 1, power = 1; /* top: the unit of the highest digit */

    while (top * field->p < field->q) {
        top *= field->p;
    }
    for (uint32_t e = 0; e < field->q - 1; e++) {
        field->powers[e] = power;
        power = add_multiple(field, power % top * field->p, power / top, reduced);
        if (power <= 1 && e < field->q - 2) {
            return false;
        }
    }
    return power == 1;
}

static void find_primitive(struct wf_topo_field *field)
{
    uint32_t reduced = 1;

    while (!is_primitive(field, reduced)) {
        reduced++;
        assert(reduced < field->q); /* every finite field has a primitive element */
    }
    for (uint32_t e = 0; e < field->q - 1; e++) {
        field->powers[field->q - 1 + e] = field->powers[e];
        field->logs[field->powers[e]] = e;
    }
}

void wf_topo_field_init(struct wf_topo_field *field, uint32_t q)
{
    assert(wf_topo_field_exists(q) && q <= WF_TOPO_FIELD_MAX);
    field->q = q;
    field->p = smallest_factor(q);
    field->sums = wf_xcalloc((size_t)q * q, sizeof(*field->sums));
    field->minus = wf_xcalloc(q, sizeof(*field->minus));
    field->powers = wf_xcalloc(2 * (size_t)q, sizeof(*field->powers));
    field->logs = wf_xcalloc(q, sizeof(*field->logs));
    for (uint32_t a = 0; a < q; a++) {
        field->minus[a] = add_multiple(field, 0, field->p - 1, a);
        for (uint32_t b = 0; b < q; b++) {
            field->sums[a * q + b] = add_multiple(field, a, 1, b);
        }
    }
    find_primitive(field);
}

void wf_topo_field_release(struct wf_topo_field *field)
{
    free(field->sums);
    free(field->minus);
    free(field->powers);
    free(field->logs);
}
