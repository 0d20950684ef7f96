/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of the module mpi_f08, and functions whose parameters differ between Fortran and C.
 * generate_f08.py writes the others. */
#include "mpi/lib/bindings/fortran_f08.h"

#include <stdbool.h>
#include <stdio.h>

/* ---- arrays ---- */

/* The last extent of an array of assumed size is unknown, and negative. */
static bool is_contiguous(const CFI_cdesc_t *array)
{
    CFI_index_t next = (CFI_index_t)array->elem_len;

    for (int i = 0; i < array->rank && array->dim[i].extent >= 0; i++) {
        if (array->dim[i].extent != 1 && array->dim[i].sm != next) {
            return array->dim[i].extent == 0;
        }
        next *= array->dim[i].extent;
    }
    return true;
}

static void end_program(const char *why)
{
    (void)fprintf(stderr, "weft: an array that is not contiguous: %s; pass a copy of it\n",
                  why);
    (void)MPI_Abort(MPI_COMM_WORLD, 1);
}

void *wl_f08_buffer(const CFI_cdesc_t *array)
{
    if (!is_contiguous(array)) {
        end_program("this call takes contiguous arrays only");
    }
    return wl_f_place(array->base_addr);
}

static MPI_Count n_elements(const CFI_cdesc_t *array)
{
    MPI_Count n = 1;

    for (int i = 0; i < array->rank; i++) {
        n *= array->dim[i].extent;
    }
    return n;
}

/* A type of all elements of the array. */
static MPI_Datatype whole_type(const CFI_cdesc_t *array, MPI_Datatype element)
{
    MPI_Datatype type = element, next;

    for (int i = 0; i < array->rank; i++) {
        (void)MPI_Type_create_hvector_c(array->dim[i].extent, 1, array->dim[i].sm, type, &next);
        if (i > 0) {
            (void)MPI_Type_free(&type);
        }
        type = next;
    }
    return type;
}

/* A type of the first n elements. */
static MPI_Datatype partial_type(const CFI_cdesc_t *array, MPI_Datatype element, MPI_Count n)
{
    MPI_Count *places = calloc((size_t)n + 1, sizeof(MPI_Count));
    MPI_Datatype type = MPI_DATATYPE_NULL;

    for (MPI_Count k = 0; places != NULL && k < n; k++) {
        MPI_Count left = k;
        for (int i = 0; i < array->rank; i++) {
            places[k] += left % array->dim[i].extent * array->dim[i].sm;
            left /= array->dim[i].extent;
        }
    }
    if (places != NULL) {
        (void)MPI_Type_create_hindexed_block_c(n, 1, places, element, &type);
    }
    free(places);
    return type;
}

struct wl_f08_elements wl_f08_elements(const CFI_cdesc_t *array, MPI_Count count,
                                       MPI_Datatype type)
{
    struct wl_f08_elements elements = {wl_f_place(array->base_addr), count, type,
                                       MPI_DATATYPE_NULL};
    MPI_Count size, lb, extent, each = (MPI_Count)array->elem_len;

    if (count <= 0 || is_contiguous(array)) {
        return elements;
    }
    (void)MPI_Type_size_c(type, &size);
    (void)MPI_Type_get_extent_c(type, &lb, &extent);
    if (lb != 0 || size != extent || count * size % each != 0) {
        end_program("its datatype has gaps, or does not fit to the elements of the array");
    }
    MPI_Count n = count * size / each;
    MPI_Datatype element = type, bytes = MPI_DATATYPE_NULL;
    if (n > n_elements(array)) {
        end_program("it has fewer elements than the call names");
    }
    if (size != each) {
        (void)MPI_Type_contiguous_c(each, MPI_BYTE, &bytes);
        element = bytes;
    }
    elements.made =
        n == n_elements(array) ? whole_type(array, element) : partial_type(array, element, n);
    (void)MPI_Type_commit(&elements.made);
    if (bytes != MPI_DATATYPE_NULL) {
        (void)MPI_Type_free(&bytes);
    }
    elements.type = elements.made;
    elements.count = 1;
    return elements;
}

void wl_f08_done(struct wl_f08_elements *elements)
{
    if (elements->made != MPI_DATATYPE_NULL) {
        (void)MPI_Type_free(&elements->made);
    }
}

/* ---- functions ---- */

void mpi_init_(int *ierror);
void mpi_init_thread_(const int *required, int *provided, int *ierror);
void mpi_info_get_(const int *info, const char *key, const int *valuelen, char *value,
                   int *flag, int *ierror, size_t key_length, size_t value_length);

void mpi_init_f08_(int *ierror)
{
    int code;

    mpi_init_(&code);
    wl_f08_code(ierror, code);
}

void mpi_init_thread_f08_(const int *required, int *provided, int *ierror)
{
    int code;

    mpi_init_thread_(required, provided, &code);
    wl_f08_code(ierror, code);
}

void mpi_info_get_f08_(const int *info, const char *key, const int *valuelen, char *value,
                       int *flag, int *ierror, size_t key_length, size_t value_length)
{
    int code;

    mpi_info_get_(info, key, valuelen, value, flag, &code, key_length, value_length);
    wl_f08_code(ierror, code);
}

void mpi_info_get_string_(const int *info, const char *key, int *buflen, char *value, int *flag,
                          int *ierror, size_t key_length, size_t value_length);

void mpi_info_get_string_f08_(const int *info, const char *key, int *buflen, char *value,
                              int *flag, int *ierror, size_t key_length, size_t value_length)
{
    int code;

    mpi_info_get_string_(info, key, buflen, value, flag, &code, key_length, value_length);
    wl_f08_code(ierror, code);
}

void mpi_info_create_env_f08_(int *info, int *ierror)
{
    wl_f08_code(ierror, MPI_Info_create_env(0, NULL, info));
}

typedef void any_function(void);
void mpi_grequest_start_(any_function *query, any_function *free_function, any_function *cancel,
                         MPI_Aint *extra_state, int *request, int *ierror);

void mpi_grequest_start_f08_(any_function *query, any_function *free_function,
                             any_function *cancel, MPI_Aint *extra_state, int *request,
                             int *ierror)
{
    int code;

    mpi_grequest_start_(query, free_function, cancel, extra_state, request, &code);
    wl_f08_code(ierror, code);
}

void mpi_buffer_detach_f08_(void *buffer_addr, int *size, int *ierror)
{
    wl_f08_code(ierror, MPI_Buffer_detach(buffer_addr, size));
}

void mpi_sizeof_f08_(const CFI_cdesc_t *x, int *size, int *ierror)
{
    *size = (int)x->elem_len;
    wl_f08_code(ierror, MPI_SUCCESS);
}

/* The compiler must not keep the array in registers across the call; there is nothing to do. */
void mpi_f_sync_reg_f08_(const CFI_cdesc_t *buf)
{
    (void)buf;
}

#define KEYVALS(name)                                                                        \
    void mpi_##name##_create_keyval_(any_function *copy, any_function *remove, int *keyval,  \
                                     const MPI_Aint *extra_state, int *ierror);              \
    void mpi_##name##_set_attr_(const int *object, const int *keyval, const MPI_Aint *value, \
                                int *ierror);                                                \
    void mpi_##name##_get_attr_(const int *object, const int *keyval, MPI_Aint *value,       \
                                int *flag, int *ierror);                                     \
    void mpi_##name##_create_keyval_f08_(any_function *copy, any_function *remove,           \
                                         int *keyval, const MPI_Aint *extra_state,           \
                                         int *ierror)                                        \
    {                                                                                        \
        int code;                                                                            \
        mpi_##name##_create_keyval_(copy, remove, keyval, extra_state, &code);               \
        wl_f08_code(ierror, code);                                                           \
    }                                                                                        \
    void mpi_##name##_set_attr_f08_(const int *object, const int *keyval,                    \
                                    const MPI_Aint *value, int *ierror)                      \
    {                                                                                        \
        int code;                                                                            \
        mpi_##name##_set_attr_(object, keyval, value, &code);                                \
        wl_f08_code(ierror, code);                                                           \
    }                                                                                        \
    void mpi_##name##_get_attr_f08_(const int *object, const int *keyval, MPI_Aint *value,   \
                                    int *flag, int *ierror)                                  \
    {                                                                                        \
        int code;                                                                            \
        mpi_##name##_get_attr_(object, keyval, value, flag, &code);                          \
        wl_f08_code(ierror, code);                                                           \
    }

KEYVALS(comm)
KEYVALS(type)
KEYVALS(win)
