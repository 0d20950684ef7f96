/* SPDX-License-Identifier: Apache-2.0 */
/* Functions whose parameters differ between Fortran and C. generate.py writes the others. */
#include "mpi/lib/bindings/fortran.h"

#include <stdbool.h>

/* As in the generated code: a program may have functions of its own of these names. */
#define WEAK __attribute__((weak))
void pmpi_init_(int *ierror) __attribute__((alias("mpi_init_")));
void pmpi_init_thread_(const int *required, int *provided, int *ierror)
    __attribute__((alias("mpi_init_thread_")));
void pmpi_pcontrol_(const int *level) __attribute__((alias("mpi_pcontrol_")));

WEAK void mpi_init_(int *ierror)
{
    *ierror = MPI_Init(NULL, NULL);
}

WEAK void mpi_init_thread_(const int *required, int *provided, int *ierror)
{
    *ierror = MPI_Init_thread(NULL, NULL, *required, provided);
}

WEAK double mpi_wtime_(void)
{
    return MPI_Wtime();
}

double pmpi_wtime_(void)
{
    return MPI_Wtime();
}

double pmpi_wtick_(void)
{
    return MPI_Wtick();
}

WEAK double mpi_wtick_(void)
{
    return MPI_Wtick();
}

WEAK void mpi_pcontrol_(const int *level)
{
    (void)MPI_Pcontrol(*level);
}

MPI_Aint mpi_aint_add_(const MPI_Aint *base, const MPI_Aint *displacement)
{
    return *base + *displacement;
}

MPI_Aint mpi_aint_diff_(const MPI_Aint *one, const MPI_Aint *other)
{
    return *one - *other;
}

/* ---- addresses: integers in MPI-1, wide enough for pointers later ---- */

void mpi_address_(const void *location, int *address, int *ierror)
{
    MPI_Aint wide;

    *ierror = MPI_Get_address(location, &wide);
    *address = (int)wide;
}

#define NARROW(name, Name)                                     \
    void mpi_##name##_(const int *type, int *out, int *ierror) \
    {                                                          \
        MPI_Aint wide;                                         \
        *ierror = MPI_##Name(*type, &wide);                    \
        *out = (int)wide;                                      \
    }

NARROW(type_extent, Type_extent)
NARROW(type_lb, Type_lb)
NARROW(type_ub, Type_ub)

void mpi_type_hvector_(const int *count, const int *blocklength, const int *stride,
                       const int *oldtype, int *newtype, int *ierror)
{
    *ierror = MPI_Type_create_hvector(*count, *blocklength, *stride, *oldtype, newtype);
}

static MPI_Aint *widen(const int *list, int n)
{
    MPI_Aint *wide = calloc((size_t)n + 1, sizeof(MPI_Aint));

    for (int i = 0; wide != NULL && i < n; i++) {
        wide[i] = list[i];
    }
    return wide;
}

void mpi_type_hindexed_(const int *count, const int *blocklengths, const int *displacements,
                        const int *oldtype, int *newtype, int *ierror)
{
    MPI_Aint *wide = widen(displacements, *count);

    *ierror = MPI_Type_create_hindexed(*count, blocklengths, wide, *oldtype, newtype);
    free(wide);
}

void mpi_type_struct_(const int *count, const int *blocklengths, const int *displacements,
                      const int *types, int *newtype, int *ierror)
{
    MPI_Aint *wide = widen(displacements, *count);

    *ierror = MPI_Type_create_struct(*count, blocklengths, wide, types, newtype);
    free(wide);
}

void mpi_buffer_detach_(void *buffer, int *size, int *ierror)
{
    void *memory;

    (void)buffer; /* Fortran has no use for the address */
    *ierror = MPI_Buffer_detach(&memory, size);
}

/* ---- attributes of MPI-1: plain integers ---- */

void mpi_attr_put_(const int *comm, const int *keyval, const int *value, int *ierror)
{
    *ierror = weft_mpi_attribute_set(*comm, *keyval, *value);
}

void mpi_attr_get_(const int *comm, const int *keyval, int *value, int *flag, int *ierror)
{
    MPI_Aint wide = *value;

    *ierror = weft_mpi_attribute_get(*comm, *keyval, &wide, flag);
    *value = (int)wide;
}

void mpi_info_get_(const int *info, const char *key, const int *valuelen, char *value,
                   int *flag, int *ierror, size_t key_length, size_t value_length)
{
    char *name = wl_f_text(key, key_length), *text = calloc((size_t)*valuelen + 1, 1);

    *ierror = MPI_Info_get(*info, name, *valuelen, text, flag);
    if (*flag) {
        wl_f_fill(value, value_length, text);
    }
    free(name);
    free(text);
}

/* The text stays as it is if there is no such key. */
void mpi_info_get_string_(const int *info, const char *key, int *buflen, char *value, int *flag,
                          int *ierror, size_t key_length, size_t value_length)
{
    char *name = wl_f_text(key, key_length);
    int room = *buflen;
    char *text = calloc(room > 0 ? (size_t)room + 1 : 1, 1);
    int needs = room > 0 ? room + 1 : 0; /* C counts the byte that ends the string */

    *ierror = MPI_Info_get_string(*info, name, &needs, text, flag);
    if (*flag) {
        if (room > 0) {
            wl_f_fill(value, value_length, text);
        }
        *buflen = needs - 1;
    }
    free(name);
    free(text);
}

void mpi_info_create_env_(int *info, int *ierror)
{
    *ierror = MPI_Info_create_env(0, NULL, info);
}

/* ---- other ranks: lists of texts, each of `length` characters, end with an empty one ---- */

/* `step` texts apart. The caller frees the list with free_texts(). */
static char **texts_of(const char *first, size_t length, size_t step)
{
    char **list = calloc(1, sizeof(*list));

    for (size_t n = 0; list != NULL; n++) {
        char *text = wl_f_text(first + n * step * length, length);
        char **longer = *text != '\0' ? realloc((void *)list, (n + 2) * sizeof(*list)) : NULL;
        if (longer == NULL) {
            free(text);
            break;
        }
        list = longer;
        list[n] = text;
        list[n + 1] = NULL;
    }
    return list;
}

static void free_texts(char **list)
{
    for (size_t i = 0; list != NULL && list[i] != NULL; i++) {
        free(list[i]);
    }
    free((void *)list);
}

static int *codes_of(int *errcodes)
{
    return errcodes == &weft_mpi_errcodes_ignore_ ? MPI_ERRCODES_IGNORE : errcodes;
}

void mpi_comm_spawn_(const char *command, const char *argv, const int *maxprocs,
                     const int *info, const int *root, const int *comm, int *intercomm,
                     int *errcodes, int *ierror, size_t command_length, size_t argv_length)
{
    char *program = wl_f_text(command, command_length);
    char **arguments =
        argv == &weft_mpi_argv_null_ ? MPI_ARGV_NULL : texts_of(argv, argv_length, 1);

    *ierror = MPI_Comm_spawn(program, arguments, *maxprocs, *info, *root, *comm, intercomm,
                             codes_of(errcodes));
    free_texts(arguments);
    free(program);
}

/* Without memory for the lists no ranks are started. */
void mpi_comm_spawn_multiple_(const int *count, const char *commands, const char *argvs,
                              const int *maxprocs, const int *infos, const int *root,
                              const int *comm, int *intercomm, int *errcodes, int *ierror,
                              size_t command_length, size_t argv_length)
{
    size_t n = *count > 0 ? (size_t)*count : 0;
    char **programs = calloc(n + 1, sizeof(*programs));
    char ***arguments = calloc(n + 1, sizeof(*arguments));
    bool whole = programs != NULL && arguments != NULL;

    for (size_t i = 0; whole && i < n; i++) {
        programs[i] = wl_f_text(commands + i * command_length, command_length);
        arguments[i] = argvs == &weft_mpi_argvs_null_
                           ? MPI_ARGV_NULL
                           : texts_of(argvs + i * argv_length, argv_length, n);
    }
    *ierror = MPI_Comm_spawn_multiple(whole ? *count : 0, programs, arguments, maxprocs, infos,
                                      *root, *comm, intercomm, codes_of(errcodes));
    for (size_t i = 0; whole && i < n; i++) {
        free_texts(arguments[i]);
    }
    free_texts(programs);
    free((void *)arguments);
}

/* ---- generalized requests: the program's functions get all arguments by address ---- */

struct grequest {
    void (*query)(MPI_Aint *extra_state, MPI_Status *status, int *ierror);
    void (*free)(MPI_Aint *extra_state, int *ierror);
    void (*cancel)(MPI_Aint *extra_state, const int *complete, int *ierror);
    MPI_Aint *extra_state; /* the program's variable */
};

static int query_grequest(void *extra_state, MPI_Status *status)
{
    const struct grequest *own = extra_state;
    int code = MPI_SUCCESS;

    own->query(own->extra_state, status, &code);
    return code;
}

static int free_grequest(void *extra_state)
{
    struct grequest *own = extra_state;
    int code = MPI_SUCCESS;

    own->free(own->extra_state, &code);
    free(own);
    return code;
}

static int cancel_grequest(void *extra_state, int complete)
{
    const struct grequest *own = extra_state;
    int code = MPI_SUCCESS;

    own->cancel(own->extra_state, &complete, &code);
    return code;
}

void mpi_grequest_start_(void (*query)(MPI_Aint *, MPI_Status *, int *),
                         void (*free_function)(MPI_Aint *, int *),
                         void (*cancel)(MPI_Aint *, const int *, int *), MPI_Aint *extra_state,
                         int *request, int *ierror)
{
    struct grequest *own = malloc(sizeof(*own));

    *ierror = MPI_ERR_NO_MEM;
    if (own != NULL) {
        *own = (struct grequest){query, free_function, cancel, extra_state};
        *ierror =
            MPI_Grequest_start(query_grequest, free_grequest, cancel_grequest, own, request);
    }
}

/* The compiler must not keep the buffer in registers across the call; there is nothing to
 * do. */
void mpi_f_sync_reg_(const void *buf)
{
    (void)buf;
}
