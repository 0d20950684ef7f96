/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Arithmetic in the finite field of q = p^k elements, where p is a prime; slimfly needs it.
 *
 * An element is the number whose digits to the base p are the coefficients of a polynomial of
 * degree below k, the constant term being the lowest digit. For k = 1 that is arithmetic modulo
 * p. 0 and 1 are the zero and the one.
 */

#include <stdbool.h>
#include <stdint.h>

struct wf_topo_field {
    uint32_t q, p;
    uint32_t *sums;   /* [q * q] a + b */
    uint32_t *minus;  /* [q] -a */
    uint32_t *powers; /* [2 * q] powers of a primitive element x, from x^0 on */
    uint32_t *logs;   /* [q] exponent, below q - 1, of each element except 0 */
};

enum { WF_TOPO_FIELD_MAX = 4096 };

/* Whether a field of q elements exists: q is a prime or a power of one. */
bool wf_topo_field_exists(uint32_t q);

/* Makes the tables of the field of q elements, which must exist; q <= WF_TOPO_FIELD_MAX. */
void wf_topo_field_init(struct wf_topo_field *field, uint32_t q);
void wf_topo_field_release(struct wf_topo_field *field);

static inline uint32_t wf_topo_field_add(const struct wf_topo_field *field, uint32_t a,
                                         uint32_t b)
{
    return field->sums[a * field->q + b];
}

static inline uint32_t wf_topo_field_sub(const struct wf_topo_field *field, uint32_t a,
                                         uint32_t b)
{
    return field->sums[a * field->q + field->minus[b]];
}

static inline uint32_t wf_topo_field_mul(const struct wf_topo_field *field, uint32_t a,
                                         uint32_t b)
{
    return a == 0 || b == 0 ? 0 : field->powers[field->logs[a] + field->logs[b]];
}

/* b is not 0. */
static inline uint32_t wf_topo_field_div(const struct wf_topo_field *field, uint32_t a,
                                         uint32_t b)
{
    return a == 0 ? 0 : field->powers[field->logs[a] + (field->q - 1) - field->logs[b]];
}
