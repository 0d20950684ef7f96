/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"
#include "ui/study/calibration_kernels.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Matrices have this leading dimension. Operands begin at random places of a buffer that is larger
 * than a core's cache, as those of programs do. */
enum { LD = 1024, BUFFER = 1 << 23 };

typedef void routine(void);

/* ---- the routines ---- */

#define AS(type, f) ((type)(f))
static const double one = 1, nearly_one = 1.0000001, minus = -1;
static const int step = 1, ld = LD;

static void call_gemm(routine *f, double *at[3], const int v[3])
{
    typedef void gemm(const char *, const char *, const int *, const int *, const int *,
                      const double *, const double *, const int *, const double *, const int *,
                      const double *, double *, const int *);
    AS(gemm *, f)
    ("N", "T", &v[0], &v[1], &v[2], &minus, at[0], &ld, at[1], &ld, &one, at[2], &ld);
}

/* From the left if the triangle has as many rows as the matrix. */
static void call_trsm(routine *f, double *at[3], const int v[3])
{
    typedef void trsm(const char *, const char *, const char *, const char *, const int *,
                      const int *, const double *, const double *, const int *, double *,
                      const int *);
    AS(trsm *, f)
    (v[2] == v[0] ? "L" : "R", "U", "N", "U", &v[0], &v[1], &one, at[0], &ld, at[1], &ld);
}

static void call_syrk(routine *f, double *at[3], const int v[3])
{
    typedef void syrk(const char *, const char *, const int *, const int *, const double *,
                      const double *, const int *, const double *, double *, const int *);
    AS(syrk *, f)("L", "N", &v[0], &v[1], &minus, at[0], &ld, &one, at[1], &ld);
}

static void call_gemv(routine *f, double *at[3], const int v[3])
{
    typedef void gemv(const char *, const int *, const int *, const double *, const double *,
                      const int *, const double *, const int *, const double *, double *,
                      const int *);
    AS(gemv *, f)("N", &v[0], &v[1], &minus, at[0], &ld, at[1], &step, &one, at[2], &step);
}

static void call_ger(routine *f, double *at[3], const int v[3])
{
    typedef void ger(const int *, const int *, const double *, const double *, const int *,
                     const double *, const int *, double *, const int *);
    AS(ger *, f)(&v[0], &v[1], &minus, at[0], &step, at[1], &step, at[2], &ld);
}

static void call_trsv(routine *f, double *at[3], const int v[3])
{
    typedef void trsv(const char *, const char *, const char *, const int *, const double *,
                      const int *, double *, const int *);
    AS(trsv *, f)("U", "N", "U", &v[0], at[0], &ld, at[1], &step);
}

static void call_axpy(routine *f, double *at[3], const int v[3])
{
    typedef void axpy(const int *, const double *, const double *, const int *, double *,
                      const int *);
    AS(axpy *, f)(&v[0], &minus, at[0], &step, at[1], &step);
}

static void call_two_vectors(routine *f, double *at[3], const int v[3])
{
    typedef void copy(const int *, double *, const int *, double *, const int *);
    AS(copy *, f)(&v[0], at[0], &step, at[1], &step);
}

static void call_dot(routine *f, double *at[3], const int v[3])
{
    typedef double dot(const int *, const double *, const int *, const double *, const int *);
    (void)AS(dot *, f)(&v[0], at[0], &step, at[1], &step);
}

static void call_scal(routine *f, double *at[3], const int v[3])
{
    typedef void scal(const int *, const double *, double *, const int *);
    AS(scal *, f)(&v[0], &nearly_one, at[0], &step);
}

static void call_amax(routine *f, double *at[3], const int v[3])
{
    typedef int amax(const int *, const double *, const int *);
    (void)AS(amax *, f)(&v[0], at[0], &step);
}

static void call_laswp(routine *f, double *at[3], const int v[3])
{
    typedef void laswp(const int *, double *, const int *, const int *, const int *,
                       const int *, const int *);
    int rows[LD];

    for (int i = 0; i < v[1]; i++) {
        rows[i] = 1 + (i * 7 + 3) % LD;
    }
    AS(laswp *, f)(&v[0], at[0], &ld, &step, &v[1], rows, &step);
}

/* Terms are powers of the arguments, a digit each. */
#define VECTOR {"n"}, {0, 0x100}, 2, 1e6
const struct wf_calibration_kernel wf_calibration_kernels[] = {
    {"dgemm", {"m", "n", "k"}, {0, 0x111, 0x110, 0x101, 0x011}, 5, LD, call_gemm},
    {"dtrsm", {"m", "n", "k"}, {0, 0x111, 0x110}, 3, LD, call_trsm},
    {"dsyrk", {"n", "k"}, {0, 0x210, 0x200, 0x110}, 4, LD, call_syrk},
    {"dgemv", {"m", "n"}, {0, 0x110, 0x100}, 3, LD, call_gemv},
    {"dger", {"m", "n"}, {0, 0x110, 0x010}, 3, LD, call_ger},
    {"dtrsv", {"n"}, {0, 0x200, 0x100}, 3, LD, call_trsv},
    {"dlaswp", {"n", "(q-p+1)"}, {0, 0x110}, 2, LD, call_laswp},
    {"daxpy", VECTOR, call_axpy},
    {"dcopy", VECTOR, call_two_vectors},
    {"dswap", VECTOR, call_two_vectors},
    {"ddot", VECTOR, call_dot},
    {"dscal", VECTOR, call_scal},
    {"idamax", VECTOR, call_amax},
    {.name = NULL},
};

enum { KERNELS_MAX = 32 };

/* ---- measuring ---- */

struct bench {
    routine *routines[KERNELS_MAX]; /* null: the library does not have it */
    double rate[KERNELS_MAX];       /* seconds for each unit of work, as measured last */
    double *buffer;
    uint64_t random;
    uint32_t node;
    double begin, seconds;
    FILE *out;
};

static double now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double draw(struct bench *bench)
{
    return (double)(wf_rng_draw(1, (uint64_t)getpid(), bench->random++) >> 11) * 0x1p-53;
}

/* Random sizes, evenly by their logarithms; returns the work. */
static double choose_sizes(struct bench *bench, const struct wf_calibration_kernel *kernel,
                           int v[WF_CALIBRATION_ARGUMENTS])
{
    double work = 1;

    for (uint32_t i = 0; i < WF_CALIBRATION_ARGUMENTS; i++) {
        v[i] = kernel->arguments[i] != NULL ? (int)pow(kernel->largest, draw(bench)) : 0;
    }
    if (kernel->call == call_trsm) {
        v[2] = draw(bench) < 0.5 ? v[0] : v[1];
    }
    for (uint32_t i = 0; i < WF_CALIBRATION_ARGUMENTS; i++) {
        work *= pow(v[i], wf_calibration_power(kernel->terms[1], i));
    }
    return work;
}

static void place(struct bench *bench, double *at[3])
{
    const double room = BUFFER - LD * (LD + 1);

    for (uint32_t i = 0; i < 3; i++) {
        at[i] = bench->buffer + (size_t)(draw(bench) * room / 8) * 8;
    }
}

/* Calls shorter than this are repeated, at different places, since clocks are not exact. */
static const double shortest = 20e-6;

/* How often the system has given the core to another process. */
static long interruptions(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}

/* The time of a call; sets *interrupted if it contains that of others. */
static double time_calls(struct bench *bench, uint32_t number,
                         const int v[WF_CALIBRATION_ARGUMENTS], bool *interrupted)
{
    const struct wf_calibration_kernel *kernel = &wf_calibration_kernels[number];
    long before = interruptions();
    double spent = 0, *at[3];
    uint32_t n = 0;

    for (; n < 1000 && spent < shortest; n++) {
        place(bench, at);
        double begin = now();
        kernel->call(bench->routines[number], at, v);
        spent += now() - begin;
    }
    *interrupted = interruptions() != before;
    return spent / n;
}

static void measure_one(struct bench *bench, uint32_t number)
{
    enum { TRIES = 100, REPEATS = 4 };
    const struct wf_calibration_kernel *kernel = &wf_calibration_kernels[number];
    const double longest = bench->seconds / 100;
    int v[WF_CALIBRATION_ARGUMENTS];
    double *at[3], work, time = 0;
    uint32_t tries = 0, repeats = 0;
    bool interrupted = true;

    do {
        work = choose_sizes(bench, kernel, v);
    } while (work * bench->rate[number] > longest && ++tries < TRIES);
    place(bench, at);
    kernel->call(bench->routines[number], at, v); /* code and tables are in the cache then */
    while (interrupted && repeats++ < REPEATS) {
        time = time_calls(bench, number, v, &interrupted);
    }
    bench->rate[number] = time / work;
    (void)fprintf(bench->out, "%s %" PRIu32 " %s %d %d %d %.6e %.4f\n",
                  interrupted ? "interrupted" : "kernel", bench->node, kernel->name, v[0], v[1],
                  v[2], time, (now() - bench->begin) / bench->seconds);
}

static void measure_all(struct bench *bench)
{
    bench->buffer = malloc(BUFFER * sizeof(double));
    for (size_t i = 0; bench->buffer != NULL && i < BUFFER; i++) {
        bench->buffer[i] = (draw(bench) - 0.5) * 1e-3;
    }
    bench->begin = now();
    for (uint32_t i = 0; bench->buffer != NULL && now() - bench->begin < bench->seconds; i++) {
        if (wf_calibration_kernels[i].name == NULL) {
            i = UINT32_MAX;
        } else if (bench->routines[i] != NULL) {
            measure_one(bench, i);
        }
    }
    (void)fflush(bench->out);
    free(bench->buffer);
}

/* ---- the library ---- */

static enum wf_status open_library(const char *name, struct bench *bench, struct wf_err *err)
{
    static const char *const usual[] = {"libopenblas.so.0",  "libmkl_rt.so", "libblis.so.4",
                                        "libflexiblas.so.3", "libblas.so.3", NULL};
    static const char *const threads[] = {"OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                                          "BLIS_NUM_THREADS", "OMP_NUM_THREADS"};
    uint32_t found = 0, at = 0;
    void *library = NULL;

    for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
        (void)setenv(threads[i], "1", 1);
    }
    if (name != NULL && name[0] != '\0') {
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (library == NULL) {
            return wf_err_set(err, WF_EUSAGE, "--blas: cannot load '%.200s': %.200s", name,
                              dlerror());
        }
    }
    for (; library == NULL && usual[at] != NULL; at++) {
        name = usual[at];
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    if (library == NULL) {
        return wf_err_set(err, WF_EUSAGE,
                          "no BLAS library was found (libopenblas.so.0, libmkl_rt.so, "
                          "libblis.so.4, libflexiblas.so.3, libblas.so.3); --blas gives its "
                          "path");
    }
    (void)fprintf(bench->out, "library %s\n", name);
    for (uint32_t i = 0; wf_calibration_kernels[i].name != NULL; i++) {
        char symbol[32];
        (void)snprintf(symbol, sizeof(symbol), "%s_", wf_calibration_kernels[i].name);
        void *address = dlsym(library, symbol);
        memcpy(&bench->routines[i], &address, sizeof(address));
        found += address != NULL;
        if (address == NULL) {
            (void)fprintf(bench->out, "missing %s\n", wf_calibration_kernels[i].name);
        }
    }
    return found > 0 ? WF_OK
                     : wf_err_set(err, WF_EUSAGE,
                                  "'%.200s' has none of the routines of BLAS by their Fortran "
                                  "names, such as dgemm_",
                                  name);
}

/* The number that a launcher of MPI gives to this process. */
static uint32_t own_number(void)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                            "SLURM_PROCID"};
    const char *text = NULL;

    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]) && text == NULL; i++) {
        text = getenv(variables[i]);
    }
    return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

enum wf_status wf_calibration_kernels_measure(const char *library, double seconds,
                                              uint32_t processes, FILE *out, struct wf_err *err)
{
    struct bench bench = {.out = out, .seconds = seconds, .node = own_number()};
    char host[64] = "";
    int how;

    WF_TRY(open_library(library, &bench, err));
    (void)gethostname(host, sizeof(host) - 1);
    (void)fprintf(out, "host %s\n", host);
    (void)fflush(out);
    for (uint32_t i = 1; i < processes; i++) {
        pid_t child = fork();
        if (child == 0) {
            measure_all(&bench);
            _exit(0);
        }
        if (child < 0) {
            return wf_err_set(err, WF_EIO, "cannot start a process: %s", strerror(errno));
        }
    }
    measure_all(&bench);
    while (wait(&how) > 0 || errno == EINTR) {
    }
    return WF_OK;
}
