/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The random number generators of the C library, linked into the program so that each rank has
 * its own state. With the C library's, all ranks of a process would draw from one sequence.
 * They return the same numbers as glibc.
 */
#include <stdint.h>
#include <stdlib.h>

/* ---- rand() and random(): each word is the sum of the 3rd and the 31st before it ---- */

enum { WORDS = 31, DISTANCE = 3, WARM_UP = 310 };

static struct {
    uint32_t words[WORDS];
    unsigned next; /* the oldest word, which is replaced next */
    int begun;
} sum;

static uint32_t draw(void)
{
    unsigned at = sum.next;

    sum.words[at] += sum.words[(at + WORDS - DISTANCE) % WORDS];
    sum.next = (at + 1) % WORDS;
    return sum.words[at] >> 1;
}

/* The first words come from a linear congruential generator: 16807 x modulo 2^31 - 1. */
void srandom(unsigned seed)
{
    int64_t word = (int32_t)(seed == 0 ? 1 : seed);

    for (unsigned i = 0; i < WORDS; i++) {
        sum.words[i] = (uint32_t)word;
        word = 16807 * word % INT32_MAX;
        word += word < 0 ? INT32_MAX : 0;
    }
    sum.next = DISTANCE;
    sum.begun = 1;
    for (unsigned i = 0; i < WARM_UP; i++) {
        (void)draw();
    }
}

long random(void)
{
    if (!sum.begun) {
        srandom(1);
    }
    return (long)draw();
}

void srand(unsigned seed)
{
    srandom(seed);
}

int rand(void)
{
    return (int)random();
}

/* ---- drand48() and its like: x = a x + c modulo 2^48 ---- */

static const uint64_t mask = (UINT64_C(1) << 48) - 1, usual_factor = 0x5deece66d;
static const uint64_t usual_term = 0xb;

static struct {
    uint64_t state, factor, term;
    unsigned short before[3]; /* the state that seed48() returns */
} line = {.factor = 0x5deece66d, .term = 0xb};

static uint64_t from_words(const unsigned short *words)
{
    return (uint64_t)words[2] << 32 | (uint64_t)words[1] << 16 | words[0];
}

static uint64_t step(uint64_t state)
{
    return (line.factor * state + line.term) & mask;
}

static uint64_t step_words(unsigned short *words)
{
    uint64_t state = step(from_words(words));

    for (int i = 0; i < 3; i++) {
        words[i] = (unsigned short)(state >> 16 * i);
    }
    return state;
}

static double as_double(uint64_t state)
{
    return (double)state / (double)(UINT64_C(1) << 48);
}

double drand48(void)
{
    return as_double(line.state = step(line.state));
}

double erand48(unsigned short words[3])
{
    return as_double(step_words(words));
}

long lrand48(void)
{
    return (long)((line.state = step(line.state)) >> 17);
}

long nrand48(unsigned short words[3])
{
    return (long)(step_words(words) >> 17);
}

long mrand48(void)
{
    return (int32_t)((line.state = step(line.state)) >> 16);
}

long jrand48(unsigned short words[3])
{
    return (int32_t)(step_words(words) >> 16);
}

void srand48(long seed)
{
    line.state = (uint64_t)(uint32_t)seed << 16 | 0x330e;
    line.factor = usual_factor;
    line.term = usual_term;
}

unsigned short *seed48(unsigned short words[3])
{
    for (int i = 0; i < 3; i++) {
        line.before[i] = (unsigned short)(line.state >> 16 * i);
    }
    line.state = from_words(words);
    line.factor = usual_factor;
    line.term = usual_term;
    return line.before;
}

void lcong48(unsigned short words[7])
{
    line.state = from_words(words);
    line.factor = from_words(words + 3);
    line.term = words[6];
}
